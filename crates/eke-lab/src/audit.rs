//! Audits: what a mechanism claims, next to what was found when it was tried.
//!
//! Five methods. *Enumeration* works out a law, or the largest privacy loss between neighbouring
//! inputs, exactly. *Integration* works out the probabilities of continuous noise, and the largest
//! loss between all neighbours of a small range. *Fit* compares draws with a law, beside a control
//! that must be rejected. *Neighbours* runs a mechanism on neighbouring inputs and bounds its
//! privacy loss from below, with confidence 1 - 1e-6: a bound above the claim refutes it, and one
//! far below it where the mechanism is tight means that the audit is blind. *Coverage* counts how
//! often an answer is not within its goal. An audit that passes has not refuted the claim; it
//! proves nothing.

mod accounts;
mod bounds;
mod chains;
mod copies;
mod covered;
mod devices;
mod eliminated;
mod enumerated;
mod estimated;
mod fitted;
mod integrated;
mod msdlap;
pub mod mutants;
mod nearest;
mod neighbours;
mod places;
mod planar;
mod ranked;
mod reduced;
mod selected;
mod shapes;
mod skellam;
mod steps;
mod tiers;

use std::error::Error;

use eke_testkit::Fit;
use eke_testkit::oracle::{End, Enumerated, Oracle, enumerate};
use serde::Serialize;

/// What auditing something takes: a name, and a way to go about it.
pub struct Audit {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it checks.
    pub about: &'static str,
    /// How.
    pub method: Method,
    run: Run,
}

type Findings = Result<Vec<Finding>, Box<dyn Error>>;

/// What is done.
#[derive(Clone, Copy)]
enum Run {
    /// Something of one size.
    Once(fn() -> Findings),
    /// So many runs on either of two inputs; this many unless said.
    Sampled(fn(u32) -> Findings, u32),
}

/// How an audit goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By trying everything that can be drawn.
    Enumeration,
    /// By integrating over the noise, for all inputs of a small range.
    Integration,
    /// By comparing draws with a law.
    Fit,
    /// By running on neighbouring inputs.
    Neighbours,
    /// By counting how often a stated interval does not hold.
    Coverage,
}

impl Method {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enumeration => "enumeration",
            Self::Integration => "integration",
            Self::Fit => "fit",
            Self::Neighbours => "neighbours",
            Self::Coverage => "coverage",
        }
    }
}

/// One claim and what was found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was tried.
    pub what: String,
    /// What the numbers are.
    pub measure: &'static str,
    /// What is claimed: the most that may be found.
    pub claim: f64,
    /// The least that must be found, where the mechanism is tight; finding less means that the
    /// audit is blind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// What was found.
    pub found: f64,
}

impl Finding {
    /// Whether the claim is not refuted, and the audit not blind.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.found <= self.claim && self.at_least.is_none_or(|least| self.found >= least)
    }
}

/// Every audit there is.
#[must_use]
pub fn all() -> Vec<Audit> {
    [
        enumerated::audits(),
        msdlap::audits(),
        planar::audits(),
        places::audits(),
        shapes::audits(),
        ranked::audits(),
        nearest::audits(),
        integrated::audits(),
        fitted::audits(),
        neighbours::audits(),
        selected::audits(),
        skellam::audits(),
        covered::audits(),
        reduced::audits(),
        chains::audits(),
        copies::audits(),
        tiers::audits(),
        estimated::audits(),
        devices::audits(),
        accounts::audits(),
        eliminated::audits(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Audit {
    /// Runs it, with so many runs on either of two neighbouring inputs if it samples them: with
    /// more it sees more.
    ///
    /// # Errors
    /// It could not be run.
    pub fn run(&self, samples: Option<u32>) -> Findings {
        match self.run {
            Run::Once(run) => run(),
            Run::Sampled(run, usual) => run(samples.unwrap_or(usual)),
        }
    }
}

/// The law of a mechanism against a known one, from both ends of its cells.
fn law_finding<K: Ord>(
    what: impl Into<String>,
    least: f64,
    mechanism: impl Fn(&mut Oracle) -> K,
    known: impl Fn(&K) -> f64,
) -> Finding {
    let off = [End::First, End::Last]
        .map(|end| {
            let law = enumerate(end, least, &mechanism);
            // A law of which much was left out was not worked out.
            if law.lost > 0.02 { f64::INFINITY } else { law.off(&known) }
        })
        .into_iter()
        .fold(0.0, f64::max);
    Finding {
        what: what.into(),
        measure: "error of probability",
        claim: 1e-12,
        at_least: None,
        found: off,
    }
}

/// The largest privacy loss of a mechanism between two inputs, against what is claimed.
fn loss_finding<K: Ord>(
    what: impl Into<String>,
    epsilon: f64,
    laws: [Enumerated<K>; 2],
) -> Finding {
    let [one, two] = laws;
    Finding {
        what: what.into(),
        measure: "epsilon",
        // But for rounding.
        claim: epsilon + 1e-9,
        at_least: Some(0.95 * epsilon),
        found: one.loss(&two),
    }
}

/// A fit that must not be rejected, and beside it a control that must be.
fn fit_findings(what: &str, right: Fit, wrong: Fit) -> [Finding; 2] {
    let finding = |what: String, fit: Fit| Finding {
        what,
        measure: "chi-square",
        claim: fit.critical,
        at_least: None,
        found: fit.statistic,
    };
    let mut control = finding(format!("control: {what}"), wrong);
    (control.at_least, control.claim) = (Some(wrong.critical), f64::INFINITY);
    [finding(what.to_owned(), right), control]
}
