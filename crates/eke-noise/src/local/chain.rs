//! Chains of reports about one category, of any kind: from the one that tells most to the one that
//! tells least, drawn once.
//!
//! A chain is a list of laws, one for each report, and every report is made from the one before it
//! and from nothing else. So an observer of several reports learns what the first of those tells,
//! and only that one is paid for. A report is a row of words: a set of categories ([`SubsetChain`];
//! of one category that is generalized randomized response), a hash and a value of it
//! ([`HashChain`]), or one bit for each category ([`BitChain`]).

use std::fmt;

use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::local::{BitChain, BitTemplate, HashChain, HashTemplate, SubsetChain, Template};

/// The most categories there are.
pub const MOST_CATEGORIES: u32 = 1 << 20;

/// The largest epsilon of a report. Beyond it hardly one report in 10²¹⁷ would be drawn afresh.
pub(crate) const LARGEST: Amount<Epsilon> =
    Amount::from_grains(500 * Amount::<Epsilon>::ONE.grains());

/// The law of one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReportLaw {
    /// A set of categories.
    Subset(Template),
    /// A value of a hash.
    Hash(HashTemplate),
    /// A bit for each category.
    Bits(BitTemplate),
}

impl ReportLaw {
    /// What one report of it costs.
    #[must_use]
    pub fn epsilon(&self) -> Amount<Epsilon> {
        match self {
            Self::Subset(template) => template.epsilon(),
            Self::Hash(template) => template.epsilon(),
            Self::Bits(template) => template.epsilon(),
        }
    }
}

/// The law of one report, of one kind.
pub trait ChainLaw: Copy + fmt::Debug + sealed::Sealed {
    /// The coin by which a report is made from the one before it, or from the true category.
    type Coin: Clone + fmt::Debug;

    /// What one report of it costs, if there is such a report over the given number of categories.
    fn price(&self, categories: u32) -> Result<Amount<Epsilon>, ChainError>;

    /// The coin of the report at this place of a chain, if it can be made from the one before it.
    fn coin(
        &self,
        before: Option<&Self>,
        place: usize,
        categories: u32,
    ) -> Result<Self::Coin, ChainError>;

    /// How many words one report takes.
    fn words(categories: u32) -> usize;

    /// Draws the reports of many, in rows one after the other.
    fn draw_rows<E: Entropy + ?Sized>(
        chain: &ChainOf<Self>,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    );
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Template {}
    impl Sealed for super::HashTemplate {}
    impl Sealed for super::BitTemplate {}
}

/// The reports of one category, all of one kind, each made from the one before it.
#[derive(Clone, Debug)]
pub struct ChainOf<L: ChainLaw> {
    pub(super) categories: u32,
    pub(super) templates: Vec<L>,
    pub(super) coins: Vec<L::Coin>,
    /// What each report and all after it cost.
    prices: Vec<Amount<Epsilon>>,
}

impl<L: ChainLaw> ChainOf<L> {
    /// The chain of these templates, the one that tells most first.
    ///
    /// # Errors
    /// One of them is out of range, or tells more than the one before it.
    pub fn new(categories: u32, templates: Vec<L>) -> Result<Self, ChainError> {
        check(categories, templates.len())?;
        let alone = templates.iter().map(|template| template.price(categories));
        let prices = prices(alone.collect::<Result<_, _>>()?);
        let before = [None].into_iter().chain(templates.iter().map(Some));
        let coins = templates.iter().zip(before).enumerate();
        let coins = coins
            .map(|(place, (template, before))| template.coin(before, place, categories))
            .collect::<Result<_, _>>()?;
        Ok(Self { categories, templates, coins, prices })
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The laws of its reports.
    #[must_use]
    pub fn templates(&self) -> &[L] {
        &self.templates
    }

    /// What the whole chain costs: what its first report does.
    #[must_use]
    pub fn price(&self) -> Amount<Epsilon> {
        self.prices.first().copied().unwrap_or(Amount::MAX)
    }

    /// How many words one report takes. Where it has a bit for each category, that of category i is
    /// bit `i % 64` of word `i / 64`.
    #[must_use]
    pub fn words(&self) -> usize {
        L::words(self.categories)
    }

    /// Draws all reports of a category, one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the reports. Nothing is drawn.
    pub fn draw<E: Entropy + ?Sized>(
        &self,
        category: u32,
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        self.fill(&[category], reports, entropy)
    }

    /// Draws the reports of many, in rows one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the reports. Nothing is drawn.
    pub fn fill<E: Entropy + ?Sized>(
        &self,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        self.has_room(values, reports)?;
        L::draw_rows(self, values, reports, entropy);
        Ok(())
    }

    /// How many words the reports of one category take.
    pub(super) fn row(&self) -> usize {
        self.words() * self.templates.len()
    }

    /// Whether the values are categories, and there is room for a row of reports of each.
    pub(super) fn has_room(&self, values: &[u32], reports: &[u64]) -> Result<(), ChainError> {
        if values.iter().any(|&category| category >= self.categories) {
            return Err(ChainError::Outside(self.categories));
        }
        let needed = self.row() * values.len();
        if reports.len() == needed { Ok(()) } else { Err(ChainError::Room(needed)) }
    }
}

/// One category's reports, each made from the one before it.
#[derive(Clone, Debug)]
pub enum Chain {
    /// Sets of categories.
    Subset(SubsetChain),
    /// Values of a hash.
    Hash(HashChain),
    /// A bit for each category.
    Bits(BitChain),
}

/// The same of whichever kind of chain it is.
macro_rules! whichever {
    ($any:expr, $chain:ident => $what:expr) => {
        match $any {
            Chain::Subset($chain) => $what,
            Chain::Hash($chain) => $what,
            Chain::Bits($chain) => $what,
        }
    };
}

impl Chain {
    /// The chain of these laws, all of one kind, the one that tells most first.
    ///
    /// # Errors
    /// They are not a chain: of several kinds, out of range, or one tells more than the one before
    /// it.
    pub fn new(categories: u32, laws: &[ReportLaw]) -> Result<Self, ChainError> {
        /// The chain of the templates of one kind, if all are of it.
        fn all<L: ChainLaw>(
            categories: u32,
            laws: &[ReportLaw],
            of: impl Fn(&ReportLaw) -> Option<L>,
        ) -> Result<ChainOf<L>, ChainError> {
            let one = |(place, law)| of(law).ok_or(ChainError::Mixed(place));
            ChainOf::new(categories, laws.iter().enumerate().map(one).collect::<Result<_, _>>()?)
        }
        macro_rules! all {
            ($kind:path) => {
                all(categories, laws, |law| if let $kind(law) = law { Some(*law) } else { None })
            };
        }
        match laws.first() {
            None => Err(check(categories, 0).err().unwrap_or(ChainError::Empty)),
            Some(ReportLaw::Subset(_)) => all!(ReportLaw::Subset).map(Self::Subset),
            Some(ReportLaw::Hash(_)) => all!(ReportLaw::Hash).map(Self::Hash),
            Some(ReportLaw::Bits(_)) => all!(ReportLaw::Bits).map(Self::Bits),
        }
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> u32 {
        whichever!(self, chain => chain.categories())
    }

    /// How many reports it has.
    #[must_use]
    pub fn reports(&self) -> usize {
        whichever!(self, chain => chain.templates().len())
    }

    /// The law of one of its reports.
    #[must_use]
    pub fn law(&self, report: usize) -> Option<ReportLaw> {
        match self {
            Self::Subset(chain) => chain.templates().get(report).copied().map(ReportLaw::Subset),
            Self::Hash(chain) => chain.templates().get(report).copied().map(ReportLaw::Hash),
            Self::Bits(chain) => chain.templates().get(report).copied().map(ReportLaw::Bits),
        }
    }

    /// The laws of its reports.
    #[must_use]
    pub fn laws(&self) -> Vec<ReportLaw> {
        (0..self.reports()).filter_map(|report| self.law(report)).collect()
    }

    /// What a report and all that come after it cost: what that one does ([`ReportLaw::epsilon`]),
    /// or, where rounding has made a later one dearer, what the dearest does. None if there is no
    /// such report. It was computed when the chain was made.
    #[must_use]
    pub fn epsilon(&self, report: usize) -> Option<Amount<Epsilon>> {
        whichever!(self, chain => chain.prices.get(report).copied())
    }

    /// What the whole chain costs: what its first report does.
    #[must_use]
    pub fn price(&self) -> Amount<Epsilon> {
        whichever!(self, chain => chain.price())
    }

    /// How many words one report takes.
    #[must_use]
    pub fn words(&self) -> usize {
        whichever!(self, chain => chain.words())
    }

    /// Draws all reports of a category, one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the reports. Nothing is drawn.
    pub fn draw<E: Entropy + ?Sized>(
        &self,
        category: u32,
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        self.fill(&[category], reports, entropy)
    }

    /// Draws the reports of many, in rows one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the reports. Nothing is drawn.
    pub fn fill<E: Entropy + ?Sized>(
        &self,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        whichever!(self, chain => chain.fill(values, reports, entropy))
    }
}

impl From<SubsetChain> for Chain {
    fn from(chain: SubsetChain) -> Self {
        Self::Subset(chain)
    }
}

impl From<HashChain> for Chain {
    fn from(chain: HashChain) -> Self {
        Self::Hash(chain)
    }
}

impl From<BitChain> for Chain {
    fn from(chain: BitChain) -> Self {
        Self::Bits(chain)
    }
}

/// Why templates are not a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// Too few categories, or too many.
    #[error("a chain is over 2 to 2^20 categories, not {0}")]
    Categories(u32),
    /// There are no templates.
    #[error("a chain has at least one report")]
    Empty,
    /// A size that subsets do not have.
    #[error("a report names 1 to {most} categories, not {size}", most = .categories - 1)]
    Size {
        /// The size.
        size: u32,
        /// Of how many categories.
        categories: u32,
    },
    /// A report that says nothing.
    #[error("a report has to weigh something: its epsilon is above zero")]
    Weightless,
    /// An absurd epsilon.
    #[error("the epsilon of a report is at most 500: beyond that it hides nothing")]
    Epsilon,
    /// A smaller report after a larger one.
    #[error(
        "report {0} names fewer categories than the one it is made from: categories can only be added"
    )]
    Shrinks(usize),
    /// A hash of no bits, or of too many.
    #[error("a hash has 1 to 20 bits, not {0}")]
    Bits(u32),
    /// A longer hash after a shorter one.
    #[error("report {0} has more bits than the one it is made from: bits can only be dropped")]
    Lengthens(usize),
    /// A heavier report after a lighter one.
    #[error(
        "report {0} tells more than the one it is made from allows: it needs a smaller epsilon or size"
    )]
    Grows(usize),
    /// Reports of different kinds.
    #[error("report {0} is of another kind than the first: a chain has one")]
    Mixed(usize),
    /// A category that there is not.
    #[error("the categories are 0 to {last}", last = .0 - 1)]
    Outside(u32),
    /// Rows of another shape.
    #[error("the reports of this chain take {0} words")]
    Room(usize),
}

/// What every kind of chain needs.
fn check(categories: u32, reports: usize) -> Result<(), ChainError> {
    if !(2..=MOST_CATEGORIES).contains(&categories) {
        return Err(ChainError::Categories(categories));
    }
    if reports == 0 {
        return Err(ChainError::Empty);
    }
    Ok(())
}

/// What each report and all after it cost, of what each costs alone: the dearest of them.
fn prices(mut epsilons: Vec<Amount<Epsilon>>) -> Vec<Amount<Epsilon>> {
    for report in (1..epsilons.len()).rev() {
        epsilons[report - 1] = epsilons[report - 1].max(epsilons[report]);
    }
    epsilons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(text: &str) -> Amount<Epsilon> {
        Amount::parse_up(text).unwrap()
    }

    #[test]
    fn chains_of_one_kind_are_made_from_their_laws_and_others_are_not() {
        let subset = |text| ReportLaw::Subset(Template::new(2, epsilon(text)));
        let hash = |text| ReportLaw::Hash(HashTemplate::new(3, epsilon(text)));
        let bits = |text| ReportLaw::Bits(BitTemplate::new(epsilon(text)));
        for laws in [[subset("2"), subset("1")], [hash("2"), hash("1")], [bits("2"), bits("1")]] {
            let chain = Chain::new(10, &laws).unwrap();
            assert_eq!(chain.laws(), laws);
            assert_eq!((chain.categories(), chain.reports()), (10, 2));
            assert_eq!(chain.price(), epsilon("2"));
            assert_eq!(chain.law(1).map(|law| law.epsilon()), Some(epsilon("1")));
            assert_eq!(chain.law(2), None);
            let text = serde_json::to_string(&laws).unwrap();
            assert_eq!(serde_json::from_str::<[ReportLaw; 2]>(&text).unwrap(), laws);
        }
        let error = |laws: &[ReportLaw]| Chain::new(10, laws).map(|_| ()).unwrap_err();
        assert_eq!(error(&[subset("2"), hash("1")]), ChainError::Mixed(1));
        assert_eq!(error(&[bits("2"), bits("1"), hash("1")]), ChainError::Mixed(2));
        assert_eq!(error(&[]), ChainError::Empty);
        assert_eq!(error(&[bits("1"), bits("2")]), ChainError::Grows(1));
    }
}
