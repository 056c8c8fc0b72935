//! The pieces of work, their sizes and numbers, and what must come out of each.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::convert::{Curve, Method};
use eke_budget::{Amount, Delta, Rho};
use indicatif::HumanCount;
use serde::Serialize;

use super::binary::{AGAIN, WITHIN};
use super::events::CAP;
use super::{Data, EventOptions, EventSet, EventSizes};

/// A piece of work that several libraries do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Discrete Gaussian noise on integers.
    Gaussian,
    /// Discrete Laplace noise on integers.
    Laplace,
    /// From rho to epsilon.
    Convert,
    /// Many charges, and what they come to.
    Compose,
    /// The best of many candidates.
    Pick,
    /// A count by group, of rows that people own.
    GroupBy,
    /// Counts and sums by group of what bounds let through, of rows in a Parquet file.
    Bounding(EventSet),
    /// Frequencies of categories in the local model.
    Local,
    /// Planar Laplace noise on places.
    Points,
}

impl Work {
    /// All of it, in the order of the table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::Gaussian,
            Self::Laplace,
            Self::Convert,
            Self::Compose,
            Self::Pick,
            Self::GroupBy,
            Self::Local,
            Self::Points,
        ];
        all.extend(EventSet::ALL.map(Self::Bounding));
        all
    }

    /// Whether it is measured without being named.
    #[must_use]
    pub fn is_usual(self) -> bool {
        match self {
            Self::Bounding(set) => set.is_usual(),
            _ => true,
        }
    }

    /// Whether it is counts and sums of what bounds let through, whatever the rows.
    #[must_use]
    pub fn is_bounding(self) -> bool {
        matches!(self, Self::Bounding(_))
    }

    /// Its name on the command line, and in the scripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Laplace => "laplace",
            Self::Convert => "convert",
            Self::Compose => "compose",
            Self::Pick => "pick",
            Self::GroupBy => "group-by",
            Self::Bounding(set) => set.work_name(),
            Self::Local => "local",
            Self::Points => "points",
        }
    }

    /// What the one number of what came out is.
    #[must_use]
    pub fn result(self) -> &'static str {
        match self {
            Self::Gaussian => "deviation",
            Self::Laplace => "mean size",
            Self::Convert => "mean epsilon",
            Self::Compose => "epsilon",
            Self::Pick => "short of best",
            Self::GroupBy => "error of a count",
            Self::Bounding(_) => "sum of all groups",
            Self::Local => "error × √users",
            Self::Points => "mean metres",
        }
    }

    /// Whether processor time is what to compare. Spark does not say its own.
    #[must_use]
    pub fn compares_cpu(self) -> bool {
        self != Self::GroupBy
    }

    /// Whom the README shows beside eke: the library, how its way begins, and what it leaves out;
    /// none for work that the README does not show.
    #[must_use]
    pub fn beside(self) -> Option<PeerRow> {
        let beside = |who, how, lacks| Some(PeerRow { who, how, lacks });
        match self {
            Self::Gaussian | Self::Pick => beside("opendp", "", ""),
            Self::Convert => beside("dp-accounting", "", ""),
            Self::Compose => beside("opendp", "", "no filter"),
            Self::GroupBy => beside("pipelinedp", "", "no ledger"),
            Self::Bounding(_) => beside("polars", "bounded", "no noise, no ledger"),
            Self::Points => beside("numpy", "", "doubles"),
            Self::Laplace | Self::Local => None,
        }
    }

    /// What does not compare.
    #[must_use]
    pub fn note(self) -> &'static str {
        match self {
            Self::Gaussian | Self::Laplace => {
                "OpenDP draws exactly as eke does; NumPy's and diffprivlib's noise is made of doubles, and PyDP's of doubles and a grid that hides their last bits. \
                 From Python, libraries that take one value at a time pay for each call."
            }
            Self::Convert => {
                "eke rounds outward, so that its epsilon is proven; the others work in doubles, and dp-accounting at a list of orders. OpenDP's measurements are made beforehand."
            }
            Self::Compose => {
                "eke asks a filter before each charge, as a library in use must, and adds exactly; the others add up what they are given. OpenDP's measurements are made beforehand."
            }
            Self::Pick => {
                "eke's and OpenDP's choices are exact; the others' are in doubles. eke's include the charge, and for Gaussian noise the certified price."
            }
            Self::GroupBy => {
                "From a CSV file to the noisy counts. eke is a program of its own, started anew and with a new ledger each time, and makes its charge durable first; the others run inside a \
                 warm Python, keep no ledger, and PipelineDP draws Gaussian noise for (epsilon, delta) and not for rho. Polars and DuckDB count without bounds and without privacy, for scale. \
                 OpenDP keeps one group fewer of everybody than it is asked to, so its counts are a third too small."
            }
            Self::Bounding(_) => {
                "From a Parquet file to counts and sums. eke is a new process with a new ledger in each turn, reads the list of groups from its policy, keeps the groups of a unit that a keyed \
                 hash chooses, charges durably, adds exact noise, stores the answer and prints it as CSV. The others run inside a warm Python, add no noise and keep no ledger; \
                 bounded, they choose groups by a hash without a key. Capped, a unit counts for a bounded number of rows in each group, and in as many groups as it has. \
                 Memory is the most of one process: of eke in any turn, of the others in their first, Python included."
            }
            Self::Local => {
                "Subset selection on both sides, devices and collector. eke draws exactly; multi-freq-ldpy draws in doubles, and clips and normalises its estimates."
            }
            Self::Points => {
                "eke draws exactly on a lattice of metres; NumPy turns doubles by Lambert's W. The one library found for it, privkit, goes point by point and is not measured: it needs system libraries for cameras."
            }
        }
    }
}

/// A row that stands beside eke's in a short table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerRow {
    /// The library.
    pub who: &'static str,
    /// How its way of doing the work begins.
    pub how: &'static str,
    /// What it leaves out; nothing if it is the same work.
    pub lacks: &'static str,
}

/// How much of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Integers that get noise, and points that do.
    pub integers: u32,
    /// Rhos that are converted.
    pub rhos: u32,
    /// Charges that are composed.
    pub charges: u32,
    /// Candidates to pick from.
    pub candidates: u32,
    /// Rows that are counted, ten for a person.
    pub rows: u32,
    /// Users who report.
    pub users: u32,
    /// Rows that are bounded: what is not as their set has it.
    pub events: EventOptions,
}

impl Sizes {
    /// What is shown.
    pub const FULL: Self = Self {
        integers: 1_000_000,
        rhos: 1_000,
        charges: 10_000,
        candidates: 10_000,
        rows: 1_000_000,
        users: 100_000,
        events: EventOptions::FULL,
    };
    /// What can be tried in seconds.
    pub const QUICK: Self = Self {
        integers: 10_000,
        rhos: 100,
        charges: 100,
        candidates: 1_000,
        rows: 10_000,
        users: 10_000,
        events: EventOptions { quick: true, ..EventOptions::FULL },
    };

    /// People who own the rows.
    #[must_use]
    pub fn people(&self) -> u32 {
        self.rows.div_ceil(10)
    }
}

/// Cities of the rows.
pub const CITIES: u32 = 50;
/// Cities that one person is in, and may count in.
pub const MAX_GROUPS: u32 = 3;
/// Rows that one person may count for in a city; nobody has more.
pub const MAX_ROWS: u32 = 20;
/// Categories of the local model.
pub const CATEGORIES: u32 = 128;
const DEVIATION: f64 = 10.0;
const SCALE: f64 = 10.0;
const DELTA: f64 = 1e-6;
const PICK_RATE: f64 = 0.1;
const PRICE: f64 = 0.1;
/// Of counts and sums by many groups: so much that their noise does not hide what was counted.
const BOUNDING_PRICE: f64 = 100.0;
const EPSILON: f64 = 1.0;
const PLACE_RATE: f64 = 0.01;

/// One piece of work with its numbers.
#[derive(Clone, Debug)]
pub struct Task {
    /// Which.
    pub work: Work,
    /// What it asks for, by names that the scripts know.
    pub numbers: BTreeMap<&'static str, f64>,
    /// The rows that it bounds, if it does.
    pub events: Option<EventSizes>,
    about: String,
}

impl Task {
    /// The work at these sizes.
    ///
    /// # Errors
    /// Never for the numbers above.
    pub fn new(work: Work, sizes: &Sizes) -> Result<Self, Box<dyn Error>> {
        let many = |number: u32| HumanCount(number.into());
        let (integers, rhos, charges) =
            (many(sizes.integers), many(sizes.rhos), many(sizes.charges));
        let (candidates, rows, users) =
            (many(sizes.candidates), many(sizes.rows), many(sizes.users));
        let mut events = None;
        let (numbers, about) = match work {
            Work::Gaussian => (
                vec![("deviation", DEVIATION)],
                format!("discrete Gaussian noise of deviation {DEVIATION} on {integers} integers"),
            ),
            Work::Laplace => (
                vec![("scale", SCALE)],
                format!("discrete Laplace noise of scale {SCALE} on {integers} integers"),
            ),
            Work::Convert => (
                vec![("delta", DELTA)],
                format!("{rhos} rhos turned into epsilons at delta {DELTA:e}"),
            ),
            Work::Compose => (
                vec![("delta", DELTA)],
                format!("{charges} charges composed, and their epsilon at delta {DELTA:e}"),
            ),
            Work::Pick => (
                vec![("rate", PICK_RATE)],
                format!("the best of {candidates} candidates at epsilon {PICK_RATE}"),
            ),
            Work::GroupBy => (
                vec![
                    ("rho", PRICE),
                    ("delta", DELTA),
                    ("epsilon", Method::Tight.epsilon(Rho::new(PRICE)?, Delta::new(DELTA)?)?.get()),
                    ("max_groups", f64::from(MAX_GROUPS)),
                    ("max_rows", f64::from(MAX_ROWS)),
                ],
                format!(
                    "{rows} rows of {} people counted by {CITIES} cities, each person in at most \
                     {MAX_GROUPS} of them with {MAX_ROWS} rows, at rho {PRICE}",
                    many(sizes.people())
                ),
            ),
            Work::Bounding(set) => {
                let sizes = *events.insert(EventSizes::new(set, &sizes.events));
                let numbers = vec![
                    ("rho", BOUNDING_PRICE),
                    ("kept", f64::from(sizes.kept)),
                    ("cap", f64::from(CAP)),
                ];
                (numbers, sizes.about())
            }
            Work::Local => (
                vec![("epsilon", EPSILON), ("categories", f64::from(CATEGORIES))],
                format!(
                    "frequencies of {CATEGORIES} categories from {users} users at epsilon {EPSILON}"
                ),
            ),
            Work::Points => (
                vec![("rate", PLACE_RATE)],
                format!(
                    "planar Laplace noise of epsilon {PLACE_RATE} a metre on {integers} places"
                ),
            ),
        };
        Ok(Self { work, numbers: numbers.into_iter().collect(), events, about })
    }

    /// One number of it.
    ///
    /// # Panics
    /// It has no such number.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        self.numbers[name]
    }

    /// What is done, in a line.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Whether a result is what the work asks for, give or take what chance and other methods may
    /// make of it. False alarms have a chance of about one in a million.
    #[must_use]
    pub fn plausible(&self, data: &Data, how: &str, items: u64, result: f64) -> bool {
        let chance = 0.01 + 6.0 / (items as f64).sqrt();
        let around = |expected: f64| (result / expected - 1.0).abs() <= chance;
        match self.work {
            Work::Gaussian => around(DEVIATION),
            // The mean size of discrete Laplace noise.
            Work::Laplace => around(1.0 / (1.0 / SCALE).sinh()),
            Work::Points => around(2.0 / PLACE_RATE),
            Work::Convert => {
                let items = usize::try_from(items).unwrap_or(usize::MAX).min(data.rhos.len());
                epsilons(&data.rhos[..items])
                    .is_some_and(|ours| (0.98..1.3).contains(&(result / ours)))
            }
            Work::Compose => {
                let total = data.charges.iter().map(|charge| charge.to_f64()).sum();
                epsilons(&[total]).is_some_and(|ours| (0.98..1.3).contains(&(result / ours)))
            }
            // A candidate that is (ln m + 14)/rate short has a chance of less than one in a
            // million.
            Work::Pick => {
                let candidates = f64::from(u32::try_from(data.scores.len()).unwrap_or(u32::MAX));
                (0.0..=(candidates.ln() + 14.0) / PICK_RATE).contains(&result)
            }
            Work::GroupBy if how.starts_with("not private") => result.abs() < f64::EPSILON,
            Work::GroupBy => {
                let deviation =
                    f64::from(MAX_ROWS) * (f64::from(MAX_GROUPS) / (2.0 * PRICE)).sqrt();
                (0.5..2.0).contains(&(result / deviation))
            }
            Work::Bounding(_) => data.events(self).is_some_and(|events| {
                let (expected, close) = match how {
                    how if how.starts_with("not bounded") => (events.sums.all, 1e-9),
                    how if how.starts_with("capped") => (events.sums.capped, 1e-9),
                    how if how.starts_with("bounded") => (events.sums.bounded, events.chance()),
                    // Within an error, answers are a little too small by their rule, and their
                    // noise is what the rule stops at.
                    WITHIN | AGAIN => (events.sums.bounded, events.chance() + 0.02),
                    _ => (events.sums.bounded, events.chance() + events.noise(BOUNDING_PRICE)),
                };
                (result / expected - 1.0).abs() <= close
            }),
            Work::Local => {
                let size = eke_local::worth::subset::best_size(CATEGORIES, EPSILON);
                let (d, k) = (f64::from(CATEGORIES), f64::from(size));
                let hit = k * EPSILON.exp() / (k * EPSILON.exp() + d - k);
                let miss = (k - hit) / (d - 1.0);
                let deviation = (miss * (1.0 - miss)).sqrt() / (hit - miss);
                (0.4..1.5).contains(&(result / deviation))
            }
        }
    }
}

/// The mean of what rhos come to.
fn epsilons(rhos: &[f64]) -> Option<f64> {
    let delta = Delta::new(DELTA).ok()?;
    let mut sum = 0.0;
    for &rho in rhos {
        sum += Method::Tight.epsilon(Rho::new(rho).ok()?, delta).ok()?.get();
    }
    let many = rhos.len() as f64;
    Some(sum / many)
}

/// A charge of the work on composition, by its rho.
pub(super) fn charge(rho: f64) -> Result<Amount<Rho>, Box<dyn Error>> {
    Ok(Amount::at_least(Rho::new(rho)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    /// Half the noise, no noise, an epsilon without its square root, the worst candidate: none of
    /// it is the work.
    #[test]
    fn other_work_is_not_taken_for_the_work() {
        let sizes = Sizes::QUICK;
        let data = Data::new(&sizes).unwrap();
        let many = u64::from(sizes.integers);
        for (work, items, good, bad) in [
            (Work::Gaussian, many, vec![10.0, 10.05], vec![0.0, 5.0, 9.0, 11.0, f64::NAN]),
            (Work::Laplace, many, vec![9.98], vec![0.0, 5.0, 9.0, 14.1]),
            (Work::Points, many, vec![200.0], vec![0.0, 100.0, 180.0, 400.0]),
            (Work::Pick, 1, vec![0.0, 20.0], vec![-1.0, 5000.0]),
            (Work::GroupBy, 1, vec![77.0, 100.0], vec![0.0, 20.0, 1000.0]),
            (Work::Local, u64::from(sizes.users), vec![1.9, 1.2], vec![0.0, 0.5, 100.0]),
        ] {
            let task = Task::new(work, &sizes).unwrap();
            for result in good {
                assert!(task.plausible(&data, "", items, result), "{work:?} {result}");
            }
            for result in bad {
                assert!(!task.plausible(&data, "", items, result), "{work:?} {result}");
            }
        }
        for work in [Work::Convert, Work::Compose] {
            let task = Task::new(work, &sizes).unwrap();
            assert!(!task.plausible(&data, "", 100, 0.1), "{work:?}");
            assert!(!task.plausible(&data, "", 100, 10.0), "{work:?}");
        }
        let counted = Task::new(Work::GroupBy, &sizes).unwrap();
        assert!(counted.plausible(&data, "not private", 1, 0.0));
        assert!(!counted.plausible(&data, "not private", 1, 77.0));
    }

    /// All rows, capped rows, bounded rows: none is taken for another, wherever they differ.
    #[test]
    fn other_bounds_are_not_taken_for_the_bounds() {
        let sizes = Sizes::QUICK;
        let mut data = Data::new(&sizes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for set in EventSet::ALL {
            let bounding = Task::new(Work::Bounding(set), &sizes).unwrap();
            data.find_events(&bounding, folder.path()).unwrap();
            let sums = data.events(&bounding).unwrap().sums;
            for (how, good, others) in [
                ("not bounded", sums.all, [sums.capped, sums.bounded]),
                ("capped per unit and group", sums.capped, [sums.all, sums.bounded]),
                ("bounded", sums.bounded, [sums.all, sums.capped]),
                ("eke", sums.bounded, [sums.all, sums.capped]),
            ] {
                assert!(bounding.plausible(&data, how, 1, good), "{set:?} {how}");
                let twice = |bad: &f64| !(0.5..2.0).contains(&(bad / good));
                let bad = [0.0, 0.4 * good, 2.0 * good, f64::NAN];
                for bad in others.into_iter().filter(twice).chain(bad) {
                    assert!(!bounding.plausible(&data, how, 1, bad), "{set:?} {how} {bad}");
                }
            }
        }
    }
}
