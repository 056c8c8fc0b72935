//! Watching: the same question step after step, and whether its answer is beyond a line.
//!
//! A watch is above threshold, run by run. A run draws one noisy line, holds the answer of step
//! after step against it with fresh noise, and ends at a hit; the next step begins another run with
//! a fresh line. What a run costs is known afterwards, so the worst that the next step can come to
//! is set aside in every account that will see it before it is drawn.
//!
//! The same watch has the same verdicts for every asker, and however often it is asked: they are
//! stored, step by step, before they are shown. What is stored is read back by later versions:
//! fields are added, never changed.

mod law;
mod plan;
mod run;
mod session;
mod steps;
mod stored;
mod viewing;

use std::fmt;

use eke_budget::Charge;
use eke_noise::{Confidence, Tolerance};
use serde::{Serialize, Serializer};

use crate::ask::question::Who;
use crate::error::short;

pub use plan::{PriceAt, WatchPlan};
pub use steps::{Steps, WrongSteps};

/// A question whose answer is compared with a line, step by step (sparse vector, above threshold).
#[doc(alias = "sparse vector")]
#[doc(alias = "above threshold")]
#[derive(Clone, Debug, PartialEq)]
pub struct WatchQuestion {
    /// What is asked at every step, in SQL: one COUNT or SUM, with parameters `$1`, `$2`, … in
    /// WHERE.
    pub sql: String,
    /// What is given for the parameters.
    pub steps: Steps,
    /// Where the line is, in the unit of the answer. It is taken at the nearest step of the
    /// answer's grid.
    pub line: f64,
    /// Which side of the line is a hit.
    pub side: Side,
    /// How far off the line an answer must be for its verdict to be right.
    pub closeness: Closeness,
    /// How surely.
    pub confidence: Confidence,
    /// The law of the noise.
    pub noise: NoiseLaw,
    /// What answers are clamped to, in their unit. Without it they are clamped so far from
    /// the line that their side is still recognised.
    pub range: Option<(f64, f64)>,
    /// How it is paid for.
    pub charging: Charging,
    /// Who watches.
    pub who: Who,
}

/// Which side of a line is a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Answers above it.
    Above,
    /// Answers below it.
    Below,
}

/// How far off the line an answer must be for its verdict to be right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closeness {
    /// A part of the line.
    Relative(Tolerance),
    /// A distance, in the unit of the answer.
    Absolute(f64),
}

/// The law of the noise of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseLaw {
    /// Laplace noise: the price does not grow with the steps, whatever the range.
    Laplace,
    /// Normal noise: rarely far off, at a price that grows with the range and slowly with the
    /// steps.
    Gaussian,
}

/// How a watch is paid for: settled after a run by its outcome (ex post), or before it (ex ante).
#[doc(alias = "ex-post privacy")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charging {
    /// In epsilon, from pure purses, at what each run came to.
    ExPost,
    /// In rho, each run before it starts, at the worst that it can come to. Nothing goes back.
    ExAnte,
}

/// What was paid, in the currency of the watch.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paid {
    /// Epsilon, from pure purses.
    Epsilon(f64),
    /// Rho.
    Rho(f64),
}

impl Paid {
    /// The number, whatever the currency.
    #[must_use]
    pub fn get(self) -> f64 {
        match self {
            Self::Epsilon(amount) | Self::Rho(amount) => amount,
        }
    }
}

/// What came of one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The number of the step, from 1.
    pub step: u64,
    /// What was given for its parameters.
    pub values: Vec<String>,
    /// Whether the answer was beyond the line, or nearly.
    pub hit: bool,
    /// Which step of its run it is, from 1.
    pub place: u64,
    /// What the asker would have paid since the watch started this time, if it stopped here.
    pub cost: Paid,
}

/// What came of a watch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Watched {
    /// How many steps were shown.
    pub steps: u64,
    /// How many of them were hits.
    pub hits: u64,
    /// What the asker has paid, this time.
    pub cost: Paid,
    /// What the asker has left.
    pub left: Paid,
    /// Whether it cost nothing.
    pub free: bool,
    /// Why it ended.
    pub ended: WatchEnd,
}

/// Why a watch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WatchEnd {
    /// There are no more steps.
    Over,
    /// The asker has seen enough.
    Enough,
    /// A budget does not allow the next step; what was shown stays.
    Refused(StepRefused),
}

/// A step that a budget does not allow, as the asker may see it. It is serialised as its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRefused {
    /// Whose budget it is, in words.
    pub whose: String,
    /// What the step may cost and how much of it fits, where the asker may see this account's
    /// numbers.
    pub charges: Option<(Charge, Option<Charge>)>,
}

impl fmt::Display for StepRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whose, charges } = self;
        let Some((asked, fits)) = charges else {
            return write!(f, "{whose} does not allow the next step any more: ask the steward");
        };
        let text = |charge: Charge| match charge {
            Charge::Zcdp { rho, .. } => format!("rho={}", short(rho)),
            Charge::Pure { epsilon, .. } => format!("epsilon={}", short(epsilon)),
        };
        let fits = fits.map_or_else(|| "nothing".to_owned(), text);
        write!(f, "the next step may cost {}, and {whose} has {fits} left for it", text(*asked))
    }
}

impl Serialize for StepRefused {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
