//! What a device is asked to draw from: the laws of a chain's reports, said in full.
//!
//! A plan is the collector's business, and so are its doubles. A device gets the laws that came of
//! it, which it checks exactly and prices itself. Limits bound what a device has to compute and to
//! keep, for every collector.

use eke_budget::{Amount, Charge, Epsilon, Rho};
use eke_noise::local::{Chain, ChainError, ChainPrice, HashChain, ReportLaw, Weight};
use serde::{Deserialize, Serialize};

use crate::Plan;
use crate::worth::law;

/// The most reports of a chain that a device draws.
pub const MOST_REPORTS: usize = 256;

/// The most words that all reports of a chain may take on a device: half a mebibyte.
pub const MOST_WORDS: usize = 1 << 16;

/// The least that a report costs. One for less tells nothing, and would only fill the device.
const LEAST: Amount<Epsilon> = Amount::from_grains(Amount::<Epsilon>::ONE.grains() / 1_000_000);

/// The most that a report costs, and the largest epsilon that its law may name. One for more hides
/// nothing, and the larger an epsilon the longer its price takes to compute.
const MOST: Amount<Epsilon> = Amount::from_grains(64 * Amount::<Epsilon>::ONE.grains());

/// The laws of the reports of one chain, the one that tells most first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// How many categories there are.
    pub categories: u32,
    /// The laws.
    pub laws: Vec<ReportLaw>,
}

/// Which purse pays for a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Currency {
    /// Pure epsilon: a report costs what it adds to those shown before.
    Pure,
    /// zCDP: the whole chain is paid for with its first report.
    Zcdp,
}

/// Why a device does not draw from some laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// The laws are no chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Too many reports.
    #[error("a device draws at most {MOST_REPORTS} reports of one chain: leave some out")]
    TooManyReports,
    /// Too much to keep.
    #[error(
        "the reports of a chain take at most {MOST_WORDS} words on a device: ask for fewer reports or categories"
    )]
    TooLarge,
    /// A report that says nothing.
    #[error("a report costs an epsilon of at least 1e-6: one for less says nothing")]
    TooCheap,
    /// A report that hides nothing.
    #[error(
        "a report costs an epsilon of at most 64, and its law names none above: one for more hides nothing"
    )]
    TooDear,
    /// A report that there is not.
    #[error("the chain has reports 0 to {last}, not {report}", last = .reports - 1)]
    NoReport {
        /// The report asked for.
        report: usize,
        /// How many there are.
        reports: usize,
    },
    /// A price beyond what is counted.
    #[error("the chain costs more than any account holds")]
    NoPrice,
}

impl Mechanism {
    /// The laws of a chain.
    #[must_use]
    pub fn of(chain: &Chain) -> Self {
        Self { categories: chain.categories(), laws: chain.laws() }
    }

    /// The chain of these laws, if a device draws from it. What is cheap to check is checked before
    /// anything is computed, and each law is priced once.
    ///
    /// # Errors
    /// The laws are no chain, or beyond a limit.
    pub fn chain(&self) -> Result<Chain, MechanismError> {
        self.fits()?;
        let chain = Chain::new(self.categories, &self.laws)?;
        if chain.price() > MOST {
            return Err(MechanismError::TooDear);
        }
        // Prices fall: the last is the least.
        if chain.epsilon(chain.reports() - 1).is_none_or(|last| last < LEAST) {
            return Err(MechanismError::TooCheap);
        }
        Ok(chain)
    }

    /// Whether it is within the limits that can be checked before anything is computed.
    pub(crate) fn fits(&self) -> Result<(), MechanismError> {
        if self.laws.len() > MOST_REPORTS {
            return Err(MechanismError::TooManyReports);
        }
        if self.words() > MOST_WORDS {
            return Err(MechanismError::TooLarge);
        }
        if self.laws.iter().any(|law| named(law) > MOST) {
            return Err(MechanismError::TooDear);
        }
        Ok(())
    }

    /// How many words all reports take.
    pub(crate) fn words(&self) -> usize {
        let words = match self.laws.first() {
            Some(ReportLaw::Hash(_)) => HashChain::WORDS,
            _ => law::words(self.categories),
        };
        words.saturating_mul(self.laws.len())
    }

    /// Whether these are the laws of a chain.
    pub(crate) fn is_of(&self, chain: &Chain) -> bool {
        self.categories == chain.categories() && self.laws == chain.laws()
    }
}

/// The epsilon that a law names, which is not always what it costs.
fn named(law: &ReportLaw) -> Amount<Epsilon> {
    let weight = match law {
        ReportLaw::Subset(template) => template.weight,
        ReportLaw::Hash(template) => template.share.weight,
        ReportLaw::Bits(template) => return template.epsilon(),
    };
    match weight {
        Weight::Of { epsilon, .. } => epsilon,
        Weight::Whole(_) => Amount::ZERO,
    }
}

impl From<&Plan> for Mechanism {
    fn from(plan: &Plan) -> Self {
        Self::of(plan.chain())
    }
}

impl Currency {
    /// What a charge is in.
    #[must_use]
    pub fn of(charge: Charge) -> Self {
        match charge {
            Charge::Pure { .. } => Self::Pure,
            Charge::Zcdp { .. } => Self::Zcdp,
        }
    }

    /// What a device has paid for a chain once this report has been shown, and none before it.
    ///
    /// # Errors
    /// There is no such report.
    pub fn price(self, chain: &Chain, report: usize) -> Result<Charge, MechanismError> {
        let reports = chain.reports();
        if report >= reports {
            return Err(MechanismError::NoReport { report, reports });
        }
        let delta = Amount::ZERO;
        match self {
            Self::Pure => <Epsilon as ChainPrice>::price(chain, report)
                .map(|epsilon| Charge::Pure { epsilon, delta }),
            Self::Zcdp => {
                <Rho as ChainPrice>::price(chain, report).map(|rho| Charge::Zcdp { rho, delta })
            }
        }
        .ok_or(MechanismError::NoPrice)
    }
}
