//! What a search costs, by each way of accounting for it, and how far a budget reaches.
//!
//! Prices are those of `eke-select` and conversions those of `eke-budget`, so that what is compared
//! is what an account would say.

use std::error::Error;

use eke_budget::convert::{Curve, Method, Row, gaussian_release, pure_to_zcdp};
use eke_budget::number::ParameterError;
use eke_budget::{Adjacency, Amount, Delta, Epsilon, L2, Metric, Rho, Variance};
use eke_noise::select::LineLaw;
use eke_select::{Change, GridLine, LineNoise, RenyiLine};

use super::mechanism::SearchMechanism;
use super::stream::Stream;
use super::transcript::Transcript;

/// A way of accounting for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Accounting {
    /// After the fact: every run at the pure price of what came of it, the last one at the price of
    /// its days without a hit. Delta is zero.
    ExPost,
    /// The same, knowing that one person moves all counts one way.
    OneWay,
    /// That, along lines whose answers are clamped to their neighbourhood.
    Narrow,
    /// After the fact, with Laplace noise.
    Laplace,
    /// Before: the worst pure price of a run of limited length, as zCDP, for every run that is
    /// started.
    Whole,
    /// Before: the price that a run stays below but for a share of delta (Zhu and Wang), as zCDP,
    /// for every run that is started. Half of delta is split over as many runs as there are days,
    /// and half converts.
    Split,
    /// Before: the moments that Zhu and Wang bound, added up over the runs that are started, and
    /// converted at the end.
    Moments,
    /// No search: noise on every answer, as zCDP.
    Every,
}

impl Accounting {
    /// All of them, in the order they are shown in.
    pub(crate) const ALL: [Self; 8] = [
        Self::ExPost,
        Self::OneWay,
        Self::Narrow,
        Self::Laplace,
        Self::Whole,
        Self::Split,
        Self::Moments,
        Self::Every,
    ];

    /// What it is called in tables and figures.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::ExPost => "ex-post",
            Self::OneWay => "ex-post, one-way counts",
            Self::Narrow => "ex-post, one-way, narrow range",
            Self::Laplace => "ex-post, Laplace noise",
            Self::Whole => "ex-ante, capped runs, zCDP",
            Self::Split => "ex-ante, Rényi tail, zCDP filter",
            Self::Moments => "ex-ante, Rényi moments added up",
            Self::Every => "noise on every count, zCDP",
        }
    }

    /// Whether it is without a delta.
    pub(crate) fn is_pure(self) -> bool {
        matches!(self, Self::ExPost | Self::OneWay | Self::Narrow | Self::Laplace)
    }

    /// Those that account for a mechanism.
    pub(crate) fn of(mechanism: &SearchMechanism) -> &'static [Self] {
        match mechanism {
            SearchMechanism::Line { .. } => {
                &[Self::ExPost, Self::OneWay, Self::Split, Self::Moments]
            }
            SearchMechanism::Narrow { .. } => &[Self::Narrow],
            SearchMechanism::Laplace { .. } => &[Self::Laplace],
            SearchMechanism::Capped { .. } => &[Self::Whole],
            SearchMechanism::Every { .. } => &[Self::Every],
        }
    }
}

/// The prices of one mechanism, by one accounting.
pub(crate) struct Bill(Prices);

enum Prices {
    /// Of every run by what came of it.
    After { law: Box<GridLine>, known: Vec<Option<Price>> },
    /// Of every run that is started, as zCDP.
    Concentrated { each: Rho, delta: Delta },
    /// Of every run that is started, as a row of moments.
    Moments { each: Row, delta: Delta },
}

#[derive(Clone, Copy)]
struct Price {
    halted: Amount<Epsilon>,
    stopped: Amount<Epsilon>,
}

impl Bill {
    /// The bill of a mechanism.
    ///
    /// # Errors
    /// The accounting has no price for it.
    pub(crate) fn new(
        accounting: Accounting,
        mechanism: &SearchMechanism,
        stream: &Stream,
        threshold: f64,
    ) -> Result<Self, Box<dyn Error>> {
        let delta = stream.delta()?;
        let law = |change| -> Result<GridLine, Box<dyn Error>> {
            Ok(mechanism.law(stream, threshold, change)?.ok_or("no line")?)
        };
        let renyi = || -> Result<RenyiLine, Box<dyn Error>> {
            let law = law(Change::General)?;
            let spec = law.prices().spec();
            let LineNoise::Gaussian { line, query } = spec.noise else {
                return Err("not Gaussian".into());
            };
            Ok(RenyiLine::new(spec.threshold - spec.range.0, spec.sensitivity, line, query)?)
        };
        let after = |change| -> Result<Prices, Box<dyn Error>> {
            Ok(Prices::After { law: Box::new(law(change)?), known: Vec::new() })
        };
        let metric = Metric::Hamming(Adjacency::AddRemove);
        Ok(Self(match accounting {
            Accounting::ExPost | Accounting::Laplace => after(Change::General)?,
            Accounting::OneWay | Accounting::Narrow => after(Change::Monotone)?,
            Accounting::Whole => {
                let SearchMechanism::Capped { steps, .. } = *mechanism else {
                    return Err("not capped".into());
                };
                let worst = law(Change::General)?.worst(steps).to_parameter()?;
                Prices::Concentrated { each: pure_to_zcdp(worst, metric)?, delta }
            }
            Accounting::Split => {
                let half = Delta::new(delta.get() / 2.0)?;
                let share = Delta::new(half.get() / stream.answers.len() as f64)?;
                let tail = renyi()?.reserve(share).amount().to_parameter()?;
                Prices::Concentrated { each: pure_to_zcdp(tail, metric)?, delta: half }
            }
            Accounting::Moments => Prices::Moments { each: renyi()?.row()?, delta },
            Accounting::Every => {
                let variance = Variance::new(stream.deviation(mechanism.deviation()).powi(2))?;
                let each = gaussian_release(L2::new(f64::from(stream.each))?, variance)?;
                Prices::Concentrated { each: each.to_parameter()?, delta }
            }
        }))
    }

    /// What a search cost in the end.
    ///
    /// # Errors
    /// More than an epsilon can be.
    pub(crate) fn total(&mut self, transcript: &Transcript) -> Result<f64, Box<dyn Error>> {
        if let Prices::After { law, known } = &mut self.0 {
            let mut sum = Amount::ZERO;
            for stretch in &transcript.0 {
                let Price { halted, stopped } = price(law, known, stretch.steps);
                let price = if stretch.hit { halted } else { stopped };
                sum = sum.plus(price).ok_or("more than an amount holds")?;
            }
            return Ok(sum.to_f64());
        }
        Ok(self.started(transcript.0.len())?)
    }

    /// How many days of a search a budget pays for: none is drawn that might cost more than is
    /// left.
    pub(crate) fn reach(&mut self, transcript: &Transcript, budget: Epsilon) -> u64 {
        let Prices::After { law, known } = &mut self.0 else {
            let starts = transcript.0.len();
            let fits = |runs: usize| self.started_fits(runs, budget);
            if fits(starts) {
                return transcript.days();
            }
            let (mut low, mut high) = (0, starts);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if fits(middle) { low = middle } else { high = middle }
            }
            return transcript.days_of(low);
        };
        let mut left = Amount::at_most(budget);
        let mut days = 0;
        for stretch in &transcript.0 {
            let mut worst = |steps| {
                let Price { halted, stopped } = price(law, known, steps);
                halted.max(stopped)
            };
            if worst(stretch.steps) > left {
                let (mut low, mut high) = (0, stretch.steps);
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if worst(middle) <= left { low = middle } else { high = middle }
                }
                return days + low;
            }
            let Price { halted, stopped } = price(law, known, stretch.steps);
            let price = if stretch.hit { halted } else { stopped };
            left = left.minus(price).unwrap_or(Amount::ZERO);
            days += stretch.steps;
        }
        days
    }

    /// The epsilon of n runs that were charged before they started.
    fn started(&self, runs: usize) -> Result<f64, ParameterError> {
        match &self.0 {
            _ if runs == 0 => Ok(0.0),
            Prices::After { .. } => Ok(f64::INFINITY),
            Prices::Concentrated { each, delta } => {
                let epsilon = Method::Tight.epsilon(times(*each, runs)?, *delta);
                Ok(epsilon.map_or(f64::INFINITY, Epsilon::get))
            }
            Prices::Moments { .. } => {
                let fits = |epsilon: f64| {
                    Epsilon::new(epsilon).is_ok_and(|epsilon| self.started_fits(runs, epsilon))
                };
                let (mut low, mut high) = (1e-9f64, 1e6f64);
                while high / low > 1.0 + 1e-9 {
                    let middle = (low * high).sqrt();
                    if fits(middle) { high = middle } else { low = middle }
                }
                Ok(high)
            }
        }
    }

    fn started_fits(&self, runs: usize, budget: Epsilon) -> bool {
        match &self.0 {
            _ if runs == 0 => true,
            Prices::Moments { each, delta } => times(each.rho, runs).is_ok_and(|rho| {
                let factor = count(runs);
                let (shift, constant) = (each.shift * factor, each.constant * factor);
                Row { shift, rho, constant }.ln_delta(budget) <= delta.get().ln()
            }),
            _ => self.started(runs).is_ok_and(|epsilon| epsilon <= budget.get()),
        }
    }
}

fn price(law: &GridLine, known: &mut Vec<Option<Price>>, steps: u64) -> Price {
    let index = usize::try_from(steps).unwrap_or(usize::MAX);
    if known.len() <= index {
        known.resize(index + 1, None);
    }
    *known[index]
        .get_or_insert_with(|| Price { halted: law.halted(steps), stopped: law.stopped(steps) })
}

fn times(rho: Rho, runs: usize) -> Result<Rho, ParameterError> {
    Rho::new((rho.get() * count(runs)).next_up())
}

fn count(runs: usize) -> f64 {
    runs as f64
}

#[cfg(test)]
mod tests {
    use eke_budget::{Account, BudgetSpec, NoHistory};
    use eke_testkit::Seeded;

    use super::*;
    use crate::experiments::threshold_search::stream::made_up;
    use crate::experiments::threshold_search::transcript::Stretch;

    const AFTER: [(Accounting, SearchMechanism); 3] = [
        (Accounting::ExPost, SearchMechanism::Line { deviation: 0.1 }),
        (Accounting::Laplace, SearchMechanism::Laplace { deviation: 0.1 }),
        // Its own prices, though what is drawn does not depend on them.
        (Accounting::OneWay, SearchMechanism::Line { deviation: 0.1 }),
    ];

    /// The account of a promise that is kept after the fact.
    fn promising(epsilon: f64) -> Account {
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let budget = BudgetSpec::promising(Epsilon::new(epsilon).unwrap()).resolve(metric).unwrap();
        Account::open("lab", budget, &mut NoHistory).unwrap()
    }

    fn drawn(
        accounting: Accounting,
        mechanism: &SearchMechanism,
        seed: u64,
        account: &mut Account,
    ) -> Transcript {
        let stream = made_up();
        let change =
            if accounting == Accounting::OneWay { Change::Monotone } else { Change::General };
        let law = mechanism.law(&stream, 0.6, change).unwrap();
        mechanism.draw(&stream, 0.6, law.as_ref(), account, &mut Seeded::new(seed)).unwrap()
    }

    #[test]
    fn a_bill_after_the_fact_is_what_the_account_was_charged() {
        for (accounting, mechanism) in AFTER {
            let mut bill = Bill::new(accounting, &mechanism, &made_up(), 0.6).unwrap();
            for seed in 0..5 {
                let mut account = promising(1e6);
                let transcript = drawn(accounting, &mechanism, seed, &mut account);
                let spent = account.odometer().pure().unwrap().spent().to_f64();
                let total = bill.total(&transcript).unwrap();
                assert!((total - spent).abs() < 1e-15, "{accounting:?} {total} {spent}");
                assert!(total > 0.0);
            }
        }
    }

    #[test]
    fn a_budget_ends_a_search_where_the_account_does() {
        let mut cut = 0;
        for (accounting, mechanism) in AFTER {
            let mut bill = Bill::new(accounting, &mechanism, &made_up(), 0.6).unwrap();
            for seed in 0..5 {
                let all = drawn(accounting, &mechanism, seed, &mut promising(1e6));
                for budget in [0.01, 0.1, 0.3, 1.0, 3.0] {
                    let refused = drawn(accounting, &mechanism, seed, &mut promising(budget));
                    let reach = bill.reach(&all, Epsilon::new(budget).unwrap());
                    assert_eq!(reach, refused.days(), "{accounting:?} {seed} {budget}");
                    cut += u32::from(reach > 0 && reach < all.days());
                }
            }
        }
        assert!(cut > 20, "{cut} budgets ended a search on the way");
    }

    /// Near the lower end of the range a miss costs more than a hit.
    #[test]
    fn a_step_that_may_miss_is_not_drawn_for_the_price_of_a_hit() {
        let (stream, mechanism) = (made_up(), SearchMechanism::Line { deviation: 0.04 });
        let mut bill = Bill::new(Accounting::ExPost, &mechanism, &stream, 0.2).unwrap();
        let mut total = |hit| bill.total(&Transcript(vec![Stretch { steps: 1, hit }])).unwrap();
        let (hit, miss) = (total(true), total(false));
        assert!(hit * 1.5 < miss, "{hit} {miss}");
        let first = Transcript(vec![Stretch { steps: 1, hit: true }]);
        assert_eq!(bill.reach(&first, Epsilon::new(hit * 1.4).unwrap()), 0);
        assert_eq!(bill.reach(&first, Epsilon::new(miss * 1.01).unwrap()), 1);
    }

    #[test]
    fn runs_that_are_charged_before_they_start_are_counted_by_the_account() {
        let stream = made_up();
        let mechanism = SearchMechanism::Capped { deviation: 0.1, steps: 4 };
        let mut bill = Bill::new(Accounting::Whole, &mechanism, &stream, 0.6).unwrap();
        let Prices::Concentrated { each, delta } = bill.0 else { panic!("not zCDP") };
        // Money for five runs and a half.
        let rho = Rho::new(each.get() * 5.5).unwrap();
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let budget = BudgetSpec::zcdp(rho).resolve(metric).unwrap();
        let mut account = Account::open("lab", budget, &mut NoHistory).unwrap();
        let all = drawn(Accounting::Whole, &mechanism, 1, &mut crate::account());
        let refused = drawn(Accounting::Whole, &mechanism, 1, &mut account);
        assert_eq!(refused.0.len(), 5);
        let promise = Method::Tight.epsilon(rho, delta).unwrap();
        assert_eq!(bill.reach(&all, promise), refused.days());
    }

    /// All runs together, straight from the formula of the moments, at the best of many orders.
    #[test]
    fn moments_add_up_with_their_constants() {
        let stream = made_up();
        let mechanism = SearchMechanism::Line { deviation: 0.1 };
        let mut bill = Bill::new(Accounting::Moments, &mechanism, &stream, 0.6).unwrap();
        let (line, query) = (100.0, 100.0 * 3f64.sqrt());
        let moment =
            RenyiLine::new(600.0, stream.sensitivity().unwrap(), line, query).unwrap().ln_moment();
        for runs in [1u32, 7, 60] {
            let transcript =
                Transcript(vec![Stretch { steps: 2, hit: true }; usize::try_from(runs).unwrap()]);
            let n = f64::from(runs);
            let formula = (1..40_000)
                .map(|k| {
                    let less_one = 1.001f64.powi(k) * 1e-6;
                    let a = 1.0 + less_one;
                    let plain = (a - 0.5) / (line * line) + 2.0 * a / (query * query);
                    n * plain
                        + (n * moment / 2.0 + 1000f64.ln() - a.ln()) / less_one
                        + (less_one / a).ln()
                })
                .fold(f64::INFINITY, f64::min);
            let total = bill.total(&transcript).unwrap();
            assert!((total / formula - 1.0).abs() < 1e-4, "{runs}: {total} {formula}");
        }
    }

    #[test]
    fn the_split_filter_pays_for_every_run_with_its_share_of_delta() {
        let stream = made_up();
        let mechanism = SearchMechanism::Line { deviation: 0.1 };
        let mut bill = Bill::new(Accounting::Split, &mechanism, &stream, 0.6).unwrap();
        let line = RenyiLine::new(600.0, stream.sensitivity().unwrap(), 100.0, 100.0 * 3f64.sqrt());
        // Half of a thousandth over 120 days, and the other half at the end.
        let each = line.unwrap().reserve(Delta::new(0.0005 / 120.0).unwrap()).epsilon;
        let rho = Rho::new(9.0 * each * (each / 2.0).tanh()).unwrap();
        let formula = Method::Tight.epsilon(rho, Delta::new(0.0005).unwrap()).unwrap().get();
        let total = bill.total(&Transcript(vec![Stretch { steps: 1, hit: true }; 9])).unwrap();
        assert!((total / formula - 1.0).abs() < 1e-9, "{total} {formula}");
    }

    #[test]
    fn knowing_more_never_costs_more() {
        let stream = made_up();
        let transcript = Transcript(vec![
            Stretch { steps: 1, hit: true },
            Stretch { steps: 9, hit: true },
            Stretch { steps: 4, hit: false },
        ]);
        let total = |accounting, mechanism| {
            Bill::new(accounting, &mechanism, &stream, 0.6).unwrap().total(&transcript).unwrap()
        };
        let deviation = 0.1;
        let general = total(Accounting::ExPost, SearchMechanism::Line { deviation });
        let one_way = total(Accounting::OneWay, SearchMechanism::Line { deviation });
        let narrow = total(Accounting::Narrow, SearchMechanism::Narrow { deviation, reach: 1.0 });
        assert!(narrow < one_way && one_way < general, "{narrow} {one_way} {general}");
    }

    #[test]
    fn a_budget_of_the_total_pays_for_all_days_and_one_below_does_not() {
        let stream = made_up();
        for mechanism in [
            SearchMechanism::Line { deviation: 0.1 },
            SearchMechanism::Capped { deviation: 0.1, steps: 4 },
            SearchMechanism::Every { deviation: 0.1 },
        ] {
            let all = drawn(Accounting::ExPost, &mechanism, 3, &mut crate::account());
            for &accounting in Accounting::of(&mechanism) {
                let mut bill = Bill::new(accounting, &mechanism, &stream, 0.6).unwrap();
                let total = bill.total(&all).unwrap();
                // The last run may set aside more than it comes to.
                let above = Epsilon::new(total * 1.3).unwrap();
                let below = Epsilon::new(total * 0.999).unwrap();
                assert_eq!(bill.reach(&all, above), 120, "{accounting:?}");
                assert!(bill.reach(&all, below) < 120, "{accounting:?}");
            }
        }
    }
}
