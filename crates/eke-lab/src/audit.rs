//! Audits: what a mechanism claims, next to what was found when it was tried.
//!
//! Five methods. *Enumeration* computes a law, or the largest privacy loss between neighbouring
//! inputs, exactly. *Integration* computes the probabilities of continuous noise, and the largest
//! loss between all neighbours of a small range. *Fit* compares draws with a law, beside a control
//! that must be rejected. *Neighbours* runs a mechanism on neighbouring inputs and bounds its
//! privacy loss from below, with confidence 1 - 1e-6: a bound above the claim refutes it, and one
//! far below it where the mechanism is tight means that the audit is blind. *Coverage* counts how
//! often an answer is not within its goal. An audit that passes has not refuted the claim; it
//! proves nothing.

mod accounts;
mod bounds;
pub mod mutants;
mod neighbours;

/// Laws of noise and their samplers.
mod law {
    pub(super) mod enumeration;
    pub(super) mod fit;
    pub(super) mod msdlap;
    pub(super) mod planar;
    pub(super) mod skellam;
}

/// The local model: chains of reports, devices, tiers, estimates.
mod local {
    pub(super) mod chains;
    pub(super) mod devices;
    pub(super) mod estimates;
    mod steps;
    pub(super) mod tiers;
}

/// Noise paths: taken further, stopped, copied.
mod path {
    pub(super) mod copies;
    pub(super) mod coverage;
    pub(super) mod reduction;
}

/// Places of one person and of many.
mod place {
    pub(super) mod elimination;
    pub(super) mod nearest;
    pub(super) mod places;
    pub(super) mod shapes;
}

/// Choosing: maxima, lines, rankings.
mod select {
    pub(super) mod integration;
    pub(super) mod outcomes;
    pub(super) mod ranking;
}

use std::error::Error;
use std::ops::RangeInclusive;

use eke_budget::L1;
use eke_noise::{Exact, NoisePath};
use eke_testkit::Fit;
use eke_testkit::oracle::{End, Enumerated, Oracle, enumerate};
use serde::Serialize;

use crate::{account, shown};

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
    /// A given number of runs on either of two inputs, and the default of that number.
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
    /// Something that was measured; nothing is claimed of it yet.
    fn new(what: impl Into<String>, measure: &'static str, found: f64) -> Self {
        Self { what: what.into(), measure, claim: f64::INFINITY, at_least: None, found }
    }

    /// Draws that must fit a law.
    fn fits(what: impl Into<String>, fit: Fit) -> Self {
        Self::new(what, "chi-square", fit.statistic).at_most(fit.critical)
    }

    /// Draws beside a law that they must not fit.
    fn control(what: &str, fit: Fit) -> Self {
        Self::new(format!("control: {what}"), "chi-square", fit.statistic).at_least(fit.critical)
    }

    /// With the most that may be found.
    fn at_most(self, claim: f64) -> Self {
        Self { claim, ..self }
    }

    /// With the least that must be found.
    fn at_least(self, least: f64) -> Self {
        Self { at_least: Some(least), ..self }
    }

    /// With the least that must be found, and the most that may be.
    fn within(self, range: RangeInclusive<f64>) -> Self {
        self.at_least(*range.start()).at_most(*range.end())
    }

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
        law::enumeration::audits(),
        law::msdlap::audits(),
        law::planar::audits(),
        place::places::audits(),
        place::shapes::audits(),
        select::ranking::audits(),
        place::nearest::audits(),
        select::integration::audits(),
        law::fit::audits(),
        neighbours::audits(),
        select::outcomes::audits(),
        law::skellam::audits(),
        path::coverage::audits(),
        path::reduction::audits(),
        local::chains::audits(),
        path::copies::audits(),
        local::tiers::audits(),
        local::estimates::audits(),
        local::devices::audits(),
        accounts::audits(),
        place::elimination::audits(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Audit {
    /// An audit of one size.
    fn once(name: &'static str, method: Method, run: fn() -> Findings) -> Self {
        Self { name, about: "", method, run: Run::Once(run) }
    }

    /// An audit of neighbouring inputs, with the usual number of runs on either of them.
    fn sampled(name: &'static str, run: fn(u32) -> Findings, usual: u32) -> Self {
        Self { name, about: "", method: Method::Neighbours, run: Run::Sampled(run, usual) }
    }

    /// And what it checks.
    fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Runs it. If it samples, `samples` is the number of runs on either of two neighbouring
    /// inputs: with more it sees more.
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
            // A law of which much was left out counts as not computed.
            if law.lost > 0.02 { f64::INFINITY } else { law.off(&known) }
        })
        .into_iter()
        .fold(0.0, f64::max);
    Finding::new(what, "error of probability", off).at_most(1e-12)
}

/// What is paid for and drawn, in the order given, of a path of a truth of sensitivity one.
fn walk<P: NoisePath<Value = i64>>(
    mut path: P,
    truth: i64,
    order: &[&str],
    oracle: &mut Oracle,
) -> Option<Vec<i64>> {
    let (mut account, truth) = (account(), Exact::new(truth, L1::new(1.0).ok()?));
    let point = |to: &&str| shown(&mut account, &mut path, &truth, to.parse().ok()?, oracle).ok();
    order.iter().map(point).collect()
}

/// Three points of a path, the finest first, revealed in an order, against their joint law.
fn order_finding<P: NoisePath<Value = i64>>(
    what: &str,
    prices: [&str; 3],
    order: [usize; 3],
    open: impl Fn() -> Option<P>,
    known: impl Fn([i64; 3]) -> f64,
) -> Finding {
    const TRUTH: i64 = 5;
    let names = order.map(|index| prices[index]);
    let mechanism = |oracle: &mut Oracle| {
        let mut values = [0; 3];
        for (index, value) in order.into_iter().zip(walk(open()?, TRUTH, &names, oracle)?) {
            values[index] = value - TRUTH;
        }
        Some(values)
    };
    let what = format!("{what} {}", names.join(", "));
    law_finding(what, 1e-6, mechanism, |noise| noise.map_or(0.0, &known))
}

/// The largest privacy loss of a mechanism between two inputs, against what is claimed.
fn loss_finding<K: Ord>(
    what: impl Into<String>,
    epsilon: f64,
    laws: [Enumerated<K>; 2],
) -> Finding {
    let [one, two] = laws;
    // But for rounding.
    Finding::new(what, "epsilon", one.loss(&two)).within(0.95 * epsilon..=epsilon + 1e-9)
}

/// A fit that must not be rejected, and beside it a control that must be.
fn fit_findings(what: &str, right: Fit, wrong: Fit) -> [Finding; 2] {
    [Finding::fits(what, right), Finding::control(what, wrong)]
}
