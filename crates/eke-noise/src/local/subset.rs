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

use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::local::chain::{self, ChainError, LARGEST};
use crate::local::sets::{self, Among, Base};
use crate::local::share::{Keep, Share, Weight};
use crate::sampler::parts::Parts;

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
        self.weight.price(1, self.size)
    }

    pub(crate) fn share(&self, categories: u32) -> Share {
        Share { weight: self.weight, among: categories }
    }
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
    among: Among,
    templates: Vec<Template>,
    prices: Vec<Amount<Epsilon>>,
    keeps: Vec<Keep>,
}

impl SubsetChain {
    /// The chain of these templates, the one that tells most first.
    ///
    /// # Errors
    /// Sizes fall, weights rise, or one of them is out of range.
    pub fn new(categories: u32, templates: Vec<Template>) -> Result<Self, ChainError> {
        chain::check(categories, templates.len())?;
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
            if pair[1].share(categories).compare(pair[0].share(categories)).is_gt() {
                return Err(ChainError::Grows(index + 1));
            }
        }
        let keeps = Keep::chain(templates.iter().map(|template| template.share(categories)));
        let prices = chain::prices(templates.iter().map(Template::epsilon).collect());
        Ok(Self { categories, among: Among::new(categories), templates, prices, keeps })
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
        *self.prices.first().expect("a chain has a report")
    }

    /// What each report and all after it cost.
    pub(crate) fn prices(&self) -> &[Amount<Epsilon>] {
        &self.prices
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
        self.fill(&[category], reports, entropy)
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
        let mut parts = Parts::new(entropy);
        // Of a length that is known, rows are drawn faster.
        match words {
            1 => self.draw_rows(values, reports, 1, &mut parts),
            2 => self.draw_rows(values, reports, 2, &mut parts),
            4 => self.draw_rows(values, reports, 4, &mut parts),
            words => self.draw_rows(values, reports, words, &mut parts),
        }
        Ok(())
    }

    #[inline(always)]
    fn draw_rows<E: Entropy + ?Sized>(
        &self,
        values: &[u32],
        reports: &mut [u64],
        words: usize,
        parts: &mut Parts<'_, E>,
    ) {
        let row = words * self.templates.len();
        for (&category, reports) in values.iter().zip(reports.chunks_exact_mut(row)) {
            let mut before = None;
            let chain = self.templates.iter().zip(&self.keeps);
            for ((template, keep), set) in chain.zip(reports.chunks_exact_mut(words)) {
                let (base, more) = match (keep.flip_part(parts), before) {
                    (false, _) => (Base::Empty, template.size),
                    (true, None) => (Base::One(category), template.size - 1),
                    (true, Some((old, size))) => (Base::Set(old), template.size - size),
                };
                sets::extend(set, base, self.among, more, parts);
                before = Some((&*set, template.size));
            }
        }
    }
}
