//! Chains of subsets: one category's reports, from the one that tells most to the one that tells least,
//! drawn once.
//!
//! A report of the subset mechanism names k of d categories. It holds the true one with `exp(epsilon)` times
//! the odds of a uniform subset, which is the same as this: with probability `w/(d + w)` it is the true
//! category and k - 1 others, uniform; else it is k uniform categories, which tell nothing. Here
//! `w = k (exp(epsilon) - 1)` is what the report *weighs*. Adding uniform categories to a report keeps what it
//! weighs; replacing it by a uniform one with some probability takes weight away. So a report of size k and
//! weight w becomes one of any size k' >= k and any weight w' <= w by one coin: with probability
//! `(w'/(d + w'))/(w/(d + w))` it is kept and uniform categories are added, else it is drawn afresh.
//!
//! Every report is made from the one before it and from nothing else, so whoever sees several of them learns
//! what the first of those tells.

use std::cmp::Ordering;

use dashu_int::UBig;
use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::coin::Uniform;
use crate::fixed::Fixed;
use crate::sets::{self, Base};
use crate::{Entropy, Ratio, cells};

/// The most categories there are.
pub const MOST_CATEGORIES: u32 = 1 << 20;

/// The largest epsilon of a report. Beyond it hardly one report in 10²¹⁷ would be drawn afresh.
const LARGEST: Amount<Epsilon> = Amount::from_grains(500 * Amount::<Epsilon>::ONE.grains());

/// What a report weighs: `size (exp(epsilon) - 1)` for one of this size and epsilon, or a whole number.
///
/// Epsilons are decimals, so two weights are the same only if they are written the same (a sum of powers of e
/// with different rational exponents is never rational), and any two can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Weight {
    /// That of a report of this size at this epsilon.
    Of {
        /// Its epsilon.
        epsilon: Amount<Epsilon>,
        /// Its size.
        size: u32,
    },
    /// So much.
    Whole(u32),
}

impl Weight {
    /// As a number, nearly.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Of { epsilon, size } => f64::from(size) * libm::expm1(epsilon.to_f64()),
            Self::Whole(weight) => f64::from(weight),
        }
    }

    fn is_zero(self) -> bool {
        match self {
            Self::Of { epsilon, size } => epsilon.is_zero() || size == 0,
            Self::Whole(weight) => weight == 0,
        }
    }

    /// The probability that a report of this weight is not just uniform: `w/(d + w)`.
    ///
    /// With `x = exp(-epsilon)` that is `(1 - x) k/d` out of `x + (1 - x) k/d`, all between 0 and 1.
    fn share(self, categories: u32, bits: usize) -> Fixed {
        match self {
            Self::Of { epsilon, size } => {
                let Some(epsilon) = Ratio::new(epsilon.grains(), Amount::<Epsilon>::ONE.grains())
                else {
                    return Fixed::zero(bits);
                };
                let rest = Fixed::exp_neg(&epsilon, bits);
                let told = fraction(&rest.complement(), size, categories);
                &told / &(&rest + &told)
            }
            Self::Whole(weight) => {
                fraction(&Fixed::one(bits), weight, weight.saturating_add(categories))
            }
        }
    }

    /// Which weighs more, exactly.
    fn compare(self, other: Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        // Among so many categories as make the shares about a half, whatever the weights are.
        let mut bits = 128;
        loop {
            let [one, two] = [self, other].map(|weight| weight.share(1, bits));
            if one.lo > two.hi {
                return Ordering::Greater;
            }
            if one.hi < two.lo {
                return Ordering::Less;
            }
            bits *= 2;
        }
    }
}

/// A fraction of a number: times one integer, over another.
fn fraction(number: &Fixed, numerator: u32, denominator: u32) -> Fixed {
    let (numerator, denominator) = (UBig::from(numerator), UBig::from(denominator.max(1)));
    Fixed {
        lo: &number.lo * &numerator / &denominator,
        hi: &number.hi * &numerator / &denominator + UBig::ONE,
        bits: number.bits,
    }
}

/// The law of one report: how many categories it names, and what it weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// How many categories.
    pub size: u32,
    /// What it weighs.
    pub weight: Weight,
}

impl Template {
    /// The report of this size at this epsilon.
    #[must_use]
    pub fn new(size: u32, epsilon: Amount<Epsilon>) -> Self {
        Self { size, weight: Weight::Of { epsilon, size } }
    }

    /// What one report of it costs: `ln(1 + weight/size)`, rounded up.
    #[must_use]
    pub fn epsilon(&self) -> Amount<Epsilon> {
        match self.weight {
            Weight::Of { epsilon, size } if size == self.size => epsilon,
            weight => {
                let about = libm::log1p(weight.to_f64() / f64::from(self.size.max(1)));
                Amount::ceil(about * (1.0 + 1e-14)).unwrap_or(Amount::MAX)
            }
        }
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
    /// A heavier report after a lighter one.
    #[error(
        "report {0} tells more than the one it is made from allows: it needs a smaller epsilon or size"
    )]
    Grows(usize),
    /// A category that there is not.
    #[error("the categories are 0 to {last}", last = .0 - 1)]
    Outside(u32),
    /// Rows of another shape.
    #[error("the reports of this chain take {0} words")]
    Room(usize),
}

/// The reports of one category, each made from the one before it.
///
/// - Theorem: subset-chain (docs/theorems.md)
/// - Proves: every report has the law of the subset mechanism of its template, and all reports from one on
///   cost what that one costs
/// - Assumes: the value does not change (caller)
/// - Deviates: nothing; coins are decided bit by bit
/// - Checked by: `reports_of_chains_have_their_law_and_no_set_of_them_tells_more_than_the_first`,
///   `sets_are_uniform_whichever_way_they_are_drawn`
#[derive(Clone, Debug)]
pub struct SubsetChain {
    categories: u32,
    templates: Vec<Template>,
    keeps: Vec<Keep>,
}

/// The coin by which a report is made from the one before it, or from the true category.
#[derive(Clone, Debug)]
enum Keep {
    /// The weights are the same.
    Always,
    /// The first words that 64 bits do not decide, the last of them, and what the probability is made of.
    Coin { low: u64, high: u64, from: Option<Weight>, to: Weight },
}

impl Keep {
    fn new(categories: u32, from: Option<Weight>, to: Weight) -> Self {
        if from == Some(to) {
            return Self::Always;
        }
        let fixed = probability(categories, from, to, 192);
        let word = |end: &UBig| u64::try_from(end >> 128).unwrap_or(u64::MAX);
        Self::Coin { low: word(&fixed.lo), high: word(&fixed.hi), from, to }
    }

    #[inline]
    fn flip<E: Entropy + ?Sized>(&self, categories: u32, entropy: &mut E) -> bool {
        let Self::Coin { low, high, from, to } = *self else { return true };
        let word = cells::word(entropy, || cells::cut([&probability(categories, from, to, 128)]));
        if word < low {
            return true;
        }
        if word > high {
            return false;
        }
        let mut uniform = Uniform::new(word);
        loop {
            uniform.refine(entropy);
            let exact = probability(categories, from, to, uniform.bits);
            if uniform.lowest_above() <= exact.lo {
                return true;
            }
            if uniform.lowest >= exact.hi {
                return false;
            }
        }
    }
}

/// The probability that a report is kept.
fn probability(categories: u32, from: Option<Weight>, to: Weight, bits: usize) -> Fixed {
    let to = to.share(categories, bits);
    match from {
        None => to,
        Some(from) => &to / &from.share(categories, bits),
    }
}

impl SubsetChain {
    /// The chain of these templates, the one that tells most first.
    ///
    /// # Errors
    /// Sizes fall, weights rise, or one of them is out of range.
    pub fn new(categories: u32, templates: Vec<Template>) -> Result<Self, ChainError> {
        if !(2..=MOST_CATEGORIES).contains(&categories) {
            return Err(ChainError::Categories(categories));
        }
        if templates.is_empty() {
            return Err(ChainError::Empty);
        }
        for &Template { size, weight } in &templates {
            if !(1..categories).contains(&size) {
                return Err(ChainError::Size { size, categories });
            }
            if weight.is_zero() {
                return Err(ChainError::Weightless);
            }
            if matches!(weight, Weight::Of { epsilon, .. } if epsilon > LARGEST) {
                return Err(ChainError::Epsilon);
            }
        }
        for (index, pair) in templates.windows(2).enumerate() {
            if pair[1].size < pair[0].size {
                return Err(ChainError::Shrinks(index + 1));
            }
            if pair[1].weight.compare(pair[0].weight).is_gt() {
                return Err(ChainError::Grows(index + 1));
            }
        }
        let mut from = None;
        let keeps = templates
            .iter()
            .map(|template| Keep::new(categories, from.replace(template.weight), template.weight))
            .collect();
        Ok(Self { categories, templates, keeps })
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The laws of its reports.
    #[must_use]
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// What the whole chain costs: what its first report does.
    ///
    /// # Panics
    /// Never: a chain has a report.
    #[must_use]
    pub fn price(&self) -> Amount<Epsilon> {
        self.templates.first().expect("a chain has a report").epsilon()
    }

    /// How many words the set of one report takes. Category i is bit `i % 64` of word `i / 64`.
    #[must_use]
    pub fn words(&self) -> usize {
        sets::words(self.categories)
    }

    /// Draws all reports of a category: their sets, one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the sets. Nothing is drawn.
    pub fn draw<E: Entropy + ?Sized>(
        &self,
        category: u32,
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        if category >= self.categories {
            return Err(ChainError::Outside(self.categories));
        }
        let words = self.words();
        if reports.len() != words * self.templates.len() {
            return Err(ChainError::Room(words * self.templates.len()));
        }
        self.draw_row(category, reports, words, entropy);
        Ok(())
    }

    /// Draws the reports of many, in rows one after the other.
    ///
    /// # Errors
    /// There is no such category, or no room for the sets. Nothing is drawn.
    pub fn fill<E: Entropy + ?Sized>(
        &self,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        if values.iter().any(|&category| category >= self.categories) {
            return Err(ChainError::Outside(self.categories));
        }
        let words = self.words();
        let row = words * self.templates.len();
        if reports.len() != row * values.len() {
            return Err(ChainError::Room(row * values.len()));
        }
        for (&category, reports) in values.iter().zip(reports.chunks_exact_mut(row)) {
            self.draw_row(category, reports, words, entropy);
        }
        Ok(())
    }

    #[inline]
    fn draw_row<E: Entropy + ?Sized>(
        &self,
        category: u32,
        reports: &mut [u64],
        words: usize,
        entropy: &mut E,
    ) {
        let mut before = 0;
        for (index, (template, keep)) in self.templates.iter().zip(&self.keeps).enumerate() {
            let (done, rest) = reports.split_at_mut(index * words);
            let set = &mut rest[..words];
            let (base, more) = match (keep.flip(self.categories, entropy), index) {
                (false, _) => (Base::EMPTY, template.size),
                (true, 0) => (Base { set: None, without: Some(category) }, template.size - 1),
                (true, _) => {
                    let old = &done[(index - 1) * words..];
                    (Base { set: Some(old), without: None }, template.size - before)
                }
            };
            sets::extend(set, base, self.categories, more, entropy);
            if let Some(category) = base.without {
                sets::put(set, category);
            }
            before = template.size;
        }
    }
}
