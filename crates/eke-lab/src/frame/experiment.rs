//! Experiments: what each is called, what it shows of which paper, and how it is run. Every one is
//! in the list of [`experiments`]; the command line, the tests and the nightly run know them from
//! there alone.
//!
//! An experiment gets a [`Context`] (how much, from which seed, on which data) and gives a
//! [`Report`]. The same seed gives the same report, on however many cores.

use std::error::Error;

use serde::Serialize;

use crate::frame::context::Context;
use crate::frame::report::Report;

/// An experiment.
pub struct Experiment {
    /// What it is called on the command line, and what its files are called.
    pub name: &'static str,
    /// Whose claims it looks into.
    pub paper: Paper,
    /// Which figures or tables of that paper.
    pub figure: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    /// The files that it needs of the folder of the data.
    pub data: &'static [&'static str],
    /// How long a full run takes on two cores, about.
    pub time: &'static str,
    /// Trials where nobody says how many.
    pub trials: Trials,
    /// Runs it.
    pub run: fn(&Context) -> Result<Report, Box<dyn Error>>,
}

/// Trials of each size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// For results that are written down.
    pub full: u32,
    /// For a rough look.
    pub quick: u32,
    /// For a test.
    pub smoke: u32,
}

impl Trials {
    /// Those of a size.
    #[must_use]
    pub fn of(self, size: Size) -> u32 {
        size.pick(self.full, self.quick, self.smoke)
    }
}

/// How much of an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// All of it.
    Full,
    /// A part small enough that all experiments together take minutes.
    Quick,
    /// A part small enough that each takes seconds, on data that are made up from the seed.
    Smoke,
}

impl Size {
    /// What is meant for this size.
    pub(crate) fn pick<T>(self, full: T, quick: T, smoke: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
            Self::Smoke => smoke,
        }
    }
}

/// A paper whose claims are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Paper {
    /// Liang, Yi: *Adaptive privacy budgeting*.
    #[serde(rename = "LY-B")]
    Budgeting,
    /// Liang, Yi: *Concentrated geo-privacy*.
    #[serde(rename = "LY23")]
    Concentrated,
    /// Lebensold, Precup, Balle: *On the privacy of selection mechanisms with Gaussian noise*.
    #[serde(rename = "LPB24")]
    Selection,
    /// Wang and others: *Multi-tier differential private query release*.
    #[serde(rename = "W26")]
    Tiers,
    /// Rogers, Samorodnitsky, Wu, Ramdas: *Adaptive privacy composition for accuracy-first
    /// mechanisms*.
    #[serde(rename = "RSW23")]
    AccuracyFirst,
    /// Nobody else's: claims of our own.
    #[serde(rename = "ours")]
    Ours,
}

impl Paper {
    /// As tables and `docs/theorems.md` call it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Budgeting => "LY-B",
            Self::Concentrated => "LY23",
            Self::Selection => "LPB24",
            Self::Tiers => "W26",
            Self::AccuracyFirst => "RSW23",
            Self::Ours => "ours",
        }
    }
}

/// Every experiment there is.
#[must_use]
pub fn experiments() -> &'static [Experiment] {
    EXPERIMENTS
}

/// The experiment of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

/// By paper, and there by name.
static EXPERIMENTS: &[Experiment] = &[
    // Adaptive privacy budgeting.
    crate::experiments::elimination::DENSITY,
    crate::experiments::elimination::MANY_QUERIES,
    crate::experiments::elimination::NEIGHBOURS,
    crate::experiments::elimination::RANGE,
    crate::experiments::elimination::THRESHOLD,
    // Concentrated geo-privacy.
    crate::experiments::geo_one_person::HULL,
    crate::experiments::geo_identity::IDENTITY,
    crate::experiments::geo_one_person::NEAREST,
    crate::experiments::gp_vs_cgp::REACH,
    // Selection mechanisms with Gaussian noise.
    crate::experiments::threshold_search::BIKES,
    crate::experiments::threshold_search::LONDON,
    crate::experiments::selection_prices::ABOVE_THRESHOLD_BOUNDS,
    crate::experiments::noisy_max::NOISY_MAX,
    crate::experiments::selection_prices::NOISY_MAX_BOUNDS,
    // Multi-tier release.
    crate::experiments::tiers_count::COUNT,
    crate::experiments::tiers_subset::SUBSET,
    // Accuracy-first mechanisms.
    crate::experiments::central_savings::SAVINGS,
    crate::experiments::toplist::REDDIT,
    crate::experiments::toplist::ZIPF,
    // Ours.
    crate::experiments::quantiles::QUANTILES,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn names_are_unique_and_can_be_typed() {
        let names: BTreeSet<_> = experiments().iter().map(|experiment| experiment.name).collect();
        assert_eq!(names.len(), experiments().len());
        for experiment in experiments() {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(experiment.name.chars().all(plain), "{}", experiment.name);
            assert!(experiment.about.ends_with('.'), "{}", experiment.about);
            assert!(find(experiment.name).is_some());
        }
    }

    #[test]
    fn every_experiment_has_a_file_of_its_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/experiments");
        let folders = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).chain([folder]).collect();
        for experiment in experiments() {
            let file = format!("{}.rs", experiment.name.replace('-', "_"));
            let found = folders.iter().any(|folder| folder.join(&file).exists());
            assert!(found, "{file}");
        }
    }

    #[test]
    fn papers_are_written_as_they_are_called() {
        for paper in [
            Paper::Budgeting,
            Paper::Concentrated,
            Paper::Selection,
            Paper::Tiers,
            Paper::AccuracyFirst,
            Paper::Ours,
        ] {
            let written = serde_json::to_string(&paper).unwrap();
            assert_eq!(written, format!("\"{}\"", paper.key()));
        }
    }
}
