//! Our side of the work, in this process: what a user of the library would call, with the system's
//! randomness.

use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroU32;

use eke_budget::convert::{Curve, Method};
use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, Charge, Delta, Epsilon, L1, Metric, PathId, Rho};
use eke_local::worth::subset;
use eke_local::{Law, Tally};
use eke_noise::evidence::Scores;
use eke_noise::law::PlanarLaplace;
use eke_noise::local::{Chain, ReportLaw, Template};
use eke_noise::path::{Column, Columns};
use eke_noise::{Bundle, DiscreteGaussian, DiscreteLaplace, Exact, Ratio, SystemEntropy, choose};
use eke_select::{Change, Choice, MaxNoise, NoisyMax, NoisyMaxSpec};

use super::clock::timed;
use super::work::CATEGORIES;
use super::{BenchRow, Data, Done, Task, Work};
use crate::{account, paid, paid_groups};

/// Our ways to do a piece of work; none for what the engine does.
///
/// # Errors
/// A library refused, which would be a mistake here.
pub fn rows(task: &Task, data: &Data, turns: usize) -> Result<Vec<BenchRow>, Box<dyn Error>> {
    let bench = Bench { task, data, turns };
    match task.work {
        Work::Gaussian => Ok(vec![bench.gaussian()?, bench.bundle()?]),
        Work::Laplace => Ok(vec![bench.laplace()?]),
        Work::Convert => Ok(vec![bench.convert()?]),
        Work::Compose => Ok(vec![bench.compose()?]),
        Work::Pick => bench.pick(),
        Work::GroupBy | Work::Bounding(_) => Ok(Vec::new()),
        Work::Local => Ok(vec![bench.local()?]),
        Work::Points => Ok(vec![bench.points()?]),
    }
}

struct Bench<'a> {
    task: &'a Task,
    data: &'a Data,
    turns: usize,
}

impl Bench<'_> {
    /// Measures one way of doing the given number of items.
    fn row<T>(
        &self,
        how: &str,
        items: usize,
        run: impl FnMut() -> Result<T, Box<dyn Error>>,
        result: impl FnOnce(T) -> f64,
    ) -> Result<BenchRow, Box<dyn Error>> {
        let (times, out) = timed(self.turns, run)?;
        let (items, result) = (items as u64, result(out));
        let versions = [("eke".to_owned(), env!("CARGO_PKG_VERSION").to_owned())].into();
        let how = how.to_owned();
        let done = Done { how, items, of: items, times, result, memory: None, ledger: None };
        Ok(BenchRow::new(self.task, self.data, "eke", versions, done))
    }

    fn gaussian(&self) -> Result<BenchRow, Box<dyn Error>> {
        let deviation = self.task.number("deviation");
        let mut entropy = SystemEntropy::new()?;
        let truth = &self.data.integers;
        self.row(
            "DiscreteGaussian; exact",
            truth.len(),
            || {
                let law = DiscreteGaussian::new(&ratio(deviation * deviation)?)?;
                let mut noisy = vec![0; truth.len()];
                law.fill(&mut noisy, &mut entropy);
                add(&mut noisy, truth);
                Ok(black_box(noisy))
            },
            |noisy| deviation_of(&noisy, truth),
        )
    }

    /// Every integer is a group of one question: priced, bought from an account, and drawn.
    fn bundle(&self) -> Result<BenchRow, Box<dyn Error>> {
        let deviation = self.task.number("deviation");
        let mut entropy = SystemEntropy::new()?;
        let truth = &self.data.integers;
        let groups = u32::try_from(truth.len())?;
        let one = L1::new(1.0)?;
        let each = Amount::at_least(Rho::new(0.5 / (deviation * deviation))?);
        let exact = Exact::new(Columns(vec![truth.clone()]), vec![one]);
        self.row(
            "Bundle: priced, charged, drawn; exact",
            truth.len(),
            || {
                let mut account = account();
                let metric = Metric::Hamming(Adjacency::AddRemove);
                let touched = NonZeroU32::MIN;
                let mut prices = GroupPrices::<Rho>::new(groups, touched, metric);
                let columns = vec![Column { sensitivity: one, share: 1 }];
                let mut bundle = Bundle::open(PathId::new([1; 32]), columns, groups)?;
                let points = (0..groups).map(|group| (group, each));
                let receipt = paid_groups(&mut account, &mut prices, bundle.id(), points)?;
                bundle.refine(&exact, receipt, &mut entropy)?;
                Ok(black_box(bundle))
            },
            |bundle| {
                let noisy: Vec<i64> = (0..groups)
                    .filter_map(|group| bundle.nearest(group, 0, each))
                    .map(|(_, value)| value.get())
                    .collect();
                deviation_of(&noisy, truth)
            },
        )
    }

    fn laplace(&self) -> Result<BenchRow, Box<dyn Error>> {
        let scale = self.task.number("scale");
        let mut entropy = SystemEntropy::new()?;
        let truth = &self.data.integers;
        self.row(
            "DiscreteLaplace; exact",
            truth.len(),
            || {
                let law = DiscreteLaplace::new(&ratio(scale)?)?;
                let mut noisy = vec![0; truth.len()];
                law.fill(&mut noisy, &mut entropy);
                add(&mut noisy, truth);
                Ok(black_box(noisy))
            },
            |noisy| mean(noisy.iter().zip(truth).map(|(a, b)| float(a - b).abs())),
        )
    }

    fn convert(&self) -> Result<BenchRow, Box<dyn Error>> {
        let delta = Delta::new(self.task.number("delta"))?;
        self.row(
            "tight; rounded outward",
            self.data.rhos.len(),
            || {
                let mut epsilons = Vec::new();
                for &rho in &self.data.rhos {
                    epsilons.push(Method::Tight.epsilon(Rho::new(rho)?, delta)?.get());
                }
                Ok(epsilons)
            },
            |epsilons| mean(epsilons.iter().copied()),
        )
    }

    fn compose(&self) -> Result<BenchRow, Box<dyn Error>> {
        let delta = Delta::new(self.task.number("delta"))?;
        self.row(
            "Account: a filter before each; exact",
            1,
            || {
                let mut account = account();
                for &rho in &self.data.charges {
                    paid(&mut account, Charge::Zcdp { rho, delta: Amount::ZERO })?.redeem();
                }
                let spent = account.odometer().zcdp().ok_or("no purse")?.spent();
                Ok(Method::Tight.epsilon(spent.to_parameter()?, delta)?.get())
            },
            |epsilon| epsilon,
        )
    }

    fn pick(&self) -> Result<Vec<BenchRow>, Box<dyn Error>> {
        let rate = self.task.number("rate");
        let one = L1::new(1.0)?;
        let candidates = self.data.scores.len() as u64;
        let spec = NoisyMaxSpec {
            candidates,
            range: (0.0, 10_000.0),
            sensitivity: one,
            change: Change::Monotone,
            noise: MaxNoise::Gaussian(20.0),
        };
        Ok(vec![
            self.chosen("permute and flip, charged; exact", || {
                Ok(Choice::permute_and_flip(rate, one, Change::Monotone)?)
            })?,
            self.chosen("exponential, charged; exact", || {
                Ok(Choice::exponential(rate, one, Change::Monotone)?)
            })?,
            self.chosen("Gaussian of deviation 20, charged; exact", || {
                let choice = Choice::noisy_max(&NoisyMax::new(spec)?)?;
                Ok(choice.concentrated().ok_or("no price")?)
            })?,
        ])
    }

    fn chosen(
        &self,
        how: &str,
        choice: impl Fn() -> Result<Choice, Box<dyn Error>>,
    ) -> Result<BenchRow, Box<dyn Error>> {
        let mut entropy = SystemEntropy::new()?;
        let scores = &self.data.scores;
        let exact = Exact::new(Scores(scores.clone()), L1::new(1.0)?);
        let best = scores.iter().copied().max().unwrap_or(0);
        self.row(
            how,
            1,
            || {
                let receipt = paid(&mut account(), choice()?)?;
                Ok(choose(&exact, receipt, &mut entropy)?.get())
            },
            |chosen| chosen.map_or(f64::NAN, |at| float(best - scores[at])),
        )
    }

    fn local(&self) -> Result<BenchRow, Box<dyn Error>> {
        let epsilon: Amount<Epsilon> = Amount::at_least(Epsilon::new(self.task.number("epsilon"))?);
        let size = subset::best_size(CATEGORIES, epsilon.to_f64());
        let law = Law::new(CATEGORIES, ReportLaw::Subset(Template::new(size, epsilon)))?;
        let mut entropy = SystemEntropy::new()?;
        let values = &self.data.categories;
        self.row(
            "subset selection; exact",
            values.len(),
            || {
                let chain = Chain::new(CATEGORIES, &[law.report()])?;
                let mut reports = vec![0; values.len() * law.words()];
                chain.fill(values, &mut reports, &mut entropy)?;
                let mut tally = Tally::new(law);
                tally.add(&reports)?;
                Ok(tally.estimates().all_users())
            },
            |users| {
                let mut truth = vec![0.0; CATEGORIES as usize];
                for &category in values {
                    truth[category as usize] += 1.0;
                }
                let many = values.len() as f64;
                mean(users.iter().zip(&truth).map(|(a, b)| (a - b) * (a - b) / many)).sqrt()
            },
        )
    }

    fn points(&self) -> Result<BenchRow, Box<dyn Error>> {
        let rate = self.task.number("rate");
        let mut entropy = SystemEntropy::new()?;
        let places = &self.data.places;
        self.row(
            "PlanarLaplace on a lattice; exact",
            places.len(),
            || {
                let law = PlanarLaplace::<2>::new(&ratio(rate)?)?;
                let mut noisy = vec![[0; 2]; places.len()];
                law.fill(&mut noisy, &mut entropy);
                for (noisy, place) in noisy.iter_mut().zip(places) {
                    noisy[0] += place[0];
                    noisy[1] += place[1];
                }
                Ok(black_box(noisy))
            },
            |noisy| {
                let pairs = noisy.iter().zip(places);
                mean(pairs.map(|(a, b)| float(a[0] - b[0]).hypot(float(a[1] - b[1]))))
            },
        )
    }
}

fn ratio(value: f64) -> Result<Ratio, Box<dyn Error>> {
    Ratio::from_f64(value).ok_or_else(|| format!("{value} is not positive").into())
}

fn add(noise: &mut [i64], truth: &[i64]) {
    for (noise, truth) in noise.iter_mut().zip(truth) {
        *noise += truth;
    }
}

/// The root mean square of what was added.
fn deviation_of(noisy: &[i64], truth: &[i64]) -> f64 {
    mean(noisy.iter().zip(truth).map(|(a, b)| float(a - b).powi(2))).sqrt()
}

fn float(number: i64) -> f64 {
    number as f64
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let many = values.len() as f64;
    values.sum::<f64>() / many
}
