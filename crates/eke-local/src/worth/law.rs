//! The law of reports as a collector sees it: which categories a report supports, and how likely it
//! does.
//!
//! Whatever the mechanism, a report *supports* some of the categories: the true one with
//! probability t, any other with probability f, which is smaller. A set supports what it holds, a
//! row of bits the categories whose bits are set, a hashed value those that have it. Estimates need
//! to know no more.

use eke_noise::local::{Chain, ChainError, Hash, ReportLaw};
use serde::{Deserialize, Serialize};

use crate::worth::bits;
use crate::worth::hash;
use crate::worth::subset;

/// The law of a report about one of n categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Plain")]
pub struct Law {
    categories: u32,
    report: ReportLaw,
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
    /// A value that a hash does not have.
    #[error("a report of this law has a value of {0} bits, and this one's is larger")]
    Value(u32),
}

impl Law {
    /// The law of reports about one of n categories.
    ///
    /// # Errors
    /// There is no such report.
    pub fn new(categories: u32, report: ReportLaw) -> Result<Self, ChainError> {
        Chain::new(categories, &[report])?;
        Ok(Self { categories, report })
    }

    /// The law of a report of a chain; none if it has no such report.
    pub(crate) fn of(chain: &Chain, report: usize) -> Option<Self> {
        Some(Self { categories: chain.categories(), report: chain.law(report)? })
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// How a report is drawn.
    #[must_use]
    pub fn report(&self) -> ReportLaw {
        self.report
    }

    /// How many words a report takes, as chains write them.
    #[must_use]
    pub fn words(&self) -> usize {
        match self.report {
            ReportLaw::Subset(_) | ReportLaw::Bits(_) => words(self.categories),
            ReportLaw::Hash(_) => eke_noise::local::HashChain::WORDS,
        }
    }

    /// That a row of words is a report of this law.
    ///
    /// # Errors
    /// It is not: it has another length, names too many categories or too few, or something that
    /// there is not.
    #[inline]
    pub fn check(&self, report: &[u64]) -> Result<(), ReportError> {
        let Some(&last) = report.last().filter(|_| report.len() == self.words()) else {
            return Err(ReportError::Room(self.words()));
        };
        if let ReportLaw::Hash(template) = self.report {
            let fits = last >> template.bits == 0;
            return if fits { Ok(()) } else { Err(ReportError::Value(template.bits)) };
        }
        if last & !(u64::MAX >> (self.categories.wrapping_neg() % 64)) != 0 {
            return Err(ReportError::Outside(self.categories));
        }
        if let ReportLaw::Subset(template) = self.report {
            let (size, found) = (template.size, report.iter().map(|word| word.count_ones()).sum());
            if found != size {
                return Err(ReportError::Size { size, found });
            }
        }
        Ok(())
    }

    /// How likely a report supports the true category.
    #[must_use]
    pub fn hit(&self) -> f64 {
        match self.report {
            ReportLaw::Subset(template) => {
                subset::hit(self.categories, template.size, template.weight.to_f64())
            }
            ReportLaw::Hash(template) => hash::hit(template.bits, hash::odds(&template.share)),
            ReportLaw::Bits(template) => bits::hit(template.each().to_f64()),
        }
    }

    /// How likely a report supports any one other category.
    #[must_use]
    pub fn miss(&self) -> f64 {
        match self.report {
            ReportLaw::Subset(template) => {
                subset::miss(self.categories, template.size, template.weight.to_f64())
            }
            ReportLaw::Hash(template) => hash::miss(template.bits),
            ReportLaw::Bits(template) => bits::miss(template.each().to_f64()),
        }
    }

    /// How much likelier the first is than the second: their difference, also where it is tiny.
    #[must_use]
    pub fn gap(&self) -> f64 {
        match self.report {
            ReportLaw::Subset(template) => {
                subset::gap(self.categories, template.size, template.weight.to_f64())
            }
            ReportLaw::Hash(template) => {
                template.share.to_f64() * (1.0 - hash::miss(template.bits))
            }
            ReportLaw::Bits(template) => template.share().to_f64(),
        }
    }
}

/// How many words a bit for each category takes.
pub(crate) fn words(categories: u32) -> usize {
    (categories as usize).div_ceil(64)
}

/// Writes the categories that a hashed value supports, as a set.
///
/// The value of category x is the first bits of `a x + c`; less the value reported, they are zero
/// for those that have it.
pub(crate) fn supported(hash: Hash, value: u64, bits: u32, categories: u32, set: &mut [u64]) {
    let shift = 64 - bits;
    let mut sum = hash.addend.wrapping_sub(value << shift);
    for word in &mut *set {
        let mut support = 0;
        for bit in 0..64 {
            support |= u64::from(sum >> shift == 0) << bit;
            sum = sum.wrapping_add(hash.multiplier);
        }
        *word = support;
    }
    if let Some(last) = set.last_mut() {
        *last &= u64::MAX >> (categories.wrapping_neg() % 64);
    }
}

/// As it is stored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    categories: u32,
    report: ReportLaw,
}

impl TryFrom<Plain> for Law {
    type Error = ChainError;

    fn try_from(Plain { categories, report }: Plain) -> Result<Self, ChainError> {
        Self::new(categories, report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_noise::local::HashTemplate;

    /// Against the hash itself, over one word and several, with a last one that is not full.
    #[test]
    fn a_hashed_value_supports_the_categories_that_have_it() {
        let hash = Hash { multiplier: 0x9e37_79b9_7f4a_7c15, addend: 0xbf58_476d_1ce4_e5b9 };
        for categories in [2, 64, 65, 200, 1 << 12] {
            for bits in [1, 3, 20] {
                let mut set = vec![u64::MAX; words(categories)];
                let value = hash.of(1, bits);
                supported(hash, value, bits, categories, &mut set);
                for category in 0..categories.next_multiple_of(64) {
                    let expected = category < categories && hash.of(category, bits) == value;
                    let found = set[category as usize / 64] >> (category % 64) & 1 == 1;
                    assert_eq!(found, expected, "{categories} {bits} {category}");
                }
            }
        }
    }

    #[test]
    fn laws_that_there_are_not_do_not_construct_and_not_from_text_either() {
        let hash = |bits| ReportLaw::Hash(HashTemplate::new(bits, "1".parse().unwrap()));
        assert_eq!(Law::new(10, hash(0)), Err(ChainError::Bits(0)));
        assert_eq!(Law::new(1, hash(2)), Err(ChainError::Categories(1)));
        let text = serde_json::to_string(&Law::new(10, hash(2)).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Law>(&text).unwrap(), Law::new(10, hash(2)).unwrap());
        assert!(serde_json::from_str::<Law>(&text.replace("10", "1")).is_err());
    }
}
