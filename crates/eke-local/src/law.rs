//! The law of one kind of report: what it holds of the true category, and of the others.
//!
//! Whatever the mechanism, a report *supports* some of the categories: the true one with probability t, any
//! other with probability f, which is smaller. That is all that estimates need to know.

use eke_noise::{ChainError, SubsetChain, Template};
use serde::{Deserialize, Serialize};

use crate::subset;

/// The law of a report about one of so many categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Law {
    categories: u32,
    kind: Kind,
}

/// What reports are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Sets of one size, which support what they hold.
    Subset(Template),
}

impl Law {
    /// The law of sets of this template.
    ///
    /// # Errors
    /// There is no such report.
    pub fn subset(categories: u32, template: Template) -> Result<Self, ChainError> {
        SubsetChain::new(categories, vec![template])?;
        Ok(Self { categories, kind: Kind::Subset(template) })
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// What reports are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many words a report takes.
    #[must_use]
    pub fn words(&self) -> usize {
        match self.kind {
            Kind::Subset(_) => (self.categories as usize).div_ceil(64),
        }
    }

    /// That a row of words is a report of this law.
    ///
    /// # Errors
    /// It is not: it has another length, or names too many categories, too few, or none that there is.
    #[inline]
    pub fn check(&self, report: &[u64]) -> Result<(), ReportError> {
        let Some(last) = report.last().filter(|_| report.len() == self.words()) else {
            return Err(ReportError::Room(self.words()));
        };
        if last & !(u64::MAX >> (self.categories.wrapping_neg() % 64)) != 0 {
            return Err(ReportError::Outside(self.categories));
        }
        let Kind::Subset(Template { size, .. }) = self.kind;
        let found = report.iter().map(|word| word.count_ones()).sum();
        if found != size {
            return Err(ReportError::Size { size, found });
        }
        Ok(())
    }

    /// How likely a report supports the true category.
    #[must_use]
    pub fn hit(&self) -> f64 {
        match self.kind {
            Kind::Subset(Template { size, weight }) => {
                subset::hit(self.categories, size, weight.to_f64())
            }
        }
    }

    /// How likely a report supports any one other category.
    #[must_use]
    pub fn miss(&self) -> f64 {
        match self.kind {
            Kind::Subset(Template { size, weight }) => {
                subset::miss(self.categories, size, weight.to_f64())
            }
        }
    }

    /// How much likelier the first is than the second: their difference, also where it is tiny.
    #[must_use]
    pub fn gap(&self) -> f64 {
        match self.kind {
            Kind::Subset(Template { size, weight }) => {
                subset::gap(self.categories, size, weight.to_f64())
            }
        }
    }
}

/// Why something is not a report of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Not the right number of words.
    #[error("a report of this law takes {0} words")]
    Room(usize),
    /// A category that there is not.
    #[error("a report of this law names categories from 0 to {last} only", last = .0 - 1)]
    Outside(u32),
    /// Too many or too few of them.
    #[error("a report of this law names {size} categories, and this one {found}")]
    Size {
        /// How many it should name.
        size: u32,
        /// How many it does.
        found: u32,
    },
}

/// As it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    categories: u32,
    kind: Kind,
}

impl TryFrom<Plain> for Law {
    type Error = ChainError;

    fn try_from(Plain { categories, kind }: Plain) -> Result<Self, ChainError> {
        match kind {
            Kind::Subset(template) => Self::subset(categories, template),
        }
    }
}

impl From<Law> for Plain {
    fn from(Law { categories, kind }: Law) -> Self {
        Self { categories, kind }
    }
}
