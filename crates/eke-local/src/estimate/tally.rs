//! How often each category is supported by the reports that came in.
//!
//! A tally takes reports of one law. Reports of several tiers about the same users are made from
//! each other: the coarser ones add nothing to the finest, and adding them up as if they were of
//! other users would make intervals too narrow. So there is one tally for each question and
//! template, and estimates are made from the finest one that somebody has. Tallies of other users'
//! reports of the same law can be merged.

use eke_noise::local::{Hash, ReportLaw};

use crate::device::wire::{Wire, WireError};
use crate::estimate::Estimates;
use crate::estimate::counters::Counters;
use crate::worth::law::{self, Law, ReportError};

/// The reports of one law, counted.
#[derive(Clone, Debug)]
pub struct Tally {
    law: Law,
    reports: u64,
    counters: Counters,
}

/// A report that is not of a tally's law, or a tally of another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TallyError {
    /// One that does not belong here.
    #[error("report {row} cannot be counted: {error}")]
    Report {
        /// Which, the first being 0.
        row: usize,
        /// Why.
        error: ReportError,
    },
    /// Not the same question, or not the same tier.
    #[error(
        "only reports of one law can be counted together: these have other categories or another template"
    )]
    OtherLaw,
}

impl Tally {
    /// No reports yet.
    #[must_use]
    pub fn new(law: Law) -> Self {
        Self { law, reports: 0, counters: Counters::new(law::words(law.categories())) }
    }

    /// The law of its reports.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// How many reports it has counted.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// Counts the report of one user, such as a device's reply.
    ///
    /// # Errors
    /// It is not one report of this law: several of them in a row are not, and neither is nothing.
    /// Nothing is counted.
    pub fn add_one(&mut self, report: &[u64]) -> Result<(), TallyError> {
        self.law.check(report).map_err(|error| TallyError::Report { row: 0, error })?;
        self.count(report);
        Ok(())
    }

    /// Counts reports of as many users as there are rows, one after the other as
    /// [`eke_noise::local::Chain::fill`] writes them for a chain of one law. The caller vouches for
    /// the number of users: what one user sends is for [`Tally::add_one`].
    ///
    /// # Errors
    /// One of them is not of this law. Nothing is counted.
    pub fn add(&mut self, reports: &[u64]) -> Result<(), TallyError> {
        let words = self.law.words();
        for (row, report) in reports.chunks(words).enumerate() {
            self.law.check(report).map_err(|error| TallyError::Report { row, error })?;
        }
        self.count(reports);
        Ok(())
    }

    /// Counts the reports of a frame.
    ///
    /// # Errors
    /// The bytes are not a frame of this law's reports about this question. Nothing is counted.
    pub fn add_frame(&mut self, question: &[u8; 32], bytes: &[u8]) -> Result<(), WireError> {
        Wire::new(self.law).read_frame(question, bytes, |report| self.count(report))?;
        Ok(())
    }

    /// Counts what another tally has counted, of other users.
    ///
    /// # Errors
    /// It is of another law. Nothing is counted.
    pub fn merge(&mut self, mut other: Self) -> Result<(), TallyError> {
        if other.law != self.law {
            return Err(TallyError::OtherLaw);
        }
        self.counters.add_counts(other.counters.totals());
        self.reports += other.reports;
        Ok(())
    }

    /// How often each category was supported.
    #[must_use]
    pub fn counts(&mut self) -> &[u64] {
        &self.counters.totals()[..self.law.categories() as usize]
    }

    /// What the reports say about how many users hold each category.
    #[must_use]
    pub fn estimates(&mut self) -> Estimates {
        Estimates::new(self.law, self.reports, self.counts().to_vec())
    }

    /// Counts what has been checked.
    fn count(&mut self, reports: &[u64]) {
        let words = self.law.words();
        match self.law.report() {
            ReportLaw::Subset(_) | ReportLaw::Bits(_) => self.counters.add(reports),
            ReportLaw::Hash(template) => {
                let categories = self.law.categories();
                let set = law::words(categories);
                // A few at a time are counted faster than one.
                let mut sets = vec![0; set * ROWS.min(reports.len() / words)];
                for reports in reports.chunks(words * ROWS) {
                    let mut rows = 0;
                    for (report, set) in reports.chunks_exact(words).zip(sets.chunks_exact_mut(set))
                    {
                        let hash = Hash { multiplier: report[0], addend: report[1] };
                        law::supported(hash, report[2], template.bits, categories, set);
                        rows += 1;
                    }
                    self.counters.add(&sets[..rows * set]);
                }
            }
        }
        self.reports += (reports.len() / words) as u64;
    }
}

/// How many hashed reports are looked at together.
const ROWS: usize = 16;
