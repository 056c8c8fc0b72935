//! Chains of subsets: one category's reports, from the one that tells most to the one that tells
//! least, drawn once.
//!
//! A report of the subset mechanism names k of d categories. It holds the true one with
//! `exp(epsilon)` times the odds of a uniform subset, which is the same as this: with probability
//! `w/(d + w)` it is the true category and k - 1 others, uniform; else it is k uniform categories,
//! which tell nothing. Here `w = k (exp(epsilon) - 1)` is what the report *weighs*. Adding uniform
//! categories to a report keeps what it weighs; replacing it by a uniform one with some probability
//! takes weight away. So a report of size k and weight w becomes one of any size k' >= k and any
//! weight w' <= w by one coin: with probability `(w'/(d + w'))/(w/(d + w))` it is kept and uniform
//! categories are added, else it is drawn afresh.
//!
//! Every report is made from the one before it and from nothing else, so an observer of several
//! reports learns what the first of those tells.

use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::local::chain::{ChainError, ChainLaw, ChainOf, LARGEST};
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
/// - Proves: every report has the law of the subset mechanism of its template, and all reports from
///   one on cost what that one costs
/// - Assumes: the value does not change (caller)
/// - Deviates: nothing; coins are decided bit by bit
/// - Checked by: `reports_of_chains_have_their_law_and_no_set_of_them_tells_more_than_the_first`,
///   `sets_are_uniform_whichever_way_they_are_drawn`
pub type SubsetChain = ChainOf<Template>;

impl ChainLaw for Template {
    type Coin = Keep;

    fn price(&self, categories: u32) -> Result<Amount<Epsilon>, ChainError> {
        let Template { size, weight } = *self;
        if !(1..categories).contains(&size) {
            return Err(ChainError::Size { size, categories });
        }
        if weight.is_zero() {
            return Err(ChainError::Weightless);
        }
        if matches!(weight, Weight::Of { epsilon, .. } if epsilon > LARGEST) {
            return Err(ChainError::Epsilon);
        }
        Ok(self.epsilon())
    }

    fn coin(
        &self,
        before: Option<&Self>,
        place: usize,
        categories: u32,
    ) -> Result<Keep, ChainError> {
        if before.is_some_and(|before| self.size < before.size) {
            return Err(ChainError::Shrinks(place));
        }
        Keep::after(before.map(|before| before.share(categories)), self.share(categories), place)
    }

    fn words(categories: u32) -> usize {
        sets::words(categories)
    }

    fn draw_rows<E: Entropy + ?Sized>(
        chain: &SubsetChain,
        values: &[u32],
        reports: &mut [u64],
        entropy: &mut E,
    ) {
        let mut parts = Parts::new(entropy);
        // Of a length that is known, rows are drawn faster.
        match chain.words() {
            1 => chain.draw_rows_of(values, reports, 1, &mut parts),
            2 => chain.draw_rows_of(values, reports, 2, &mut parts),
            4 => chain.draw_rows_of(values, reports, 4, &mut parts),
            words => chain.draw_rows_of(values, reports, words, &mut parts),
        }
    }
}

impl SubsetChain {
    #[inline(always)]
    fn draw_rows_of<E: Entropy + ?Sized>(
        &self,
        values: &[u32],
        reports: &mut [u64],
        words: usize,
        parts: &mut Parts<'_, E>,
    ) {
        let (row, among) = (words * self.templates.len(), Among::new(self.categories));
        for (&category, reports) in values.iter().zip(reports.chunks_exact_mut(row)) {
            let mut before = None;
            let chain = self.templates.iter().zip(&self.coins);
            for ((template, keep), set) in chain.zip(reports.chunks_exact_mut(words)) {
                let (base, more) = match (keep.flip_part(parts), before) {
                    (false, _) => (Base::Empty, template.size),
                    (true, None) => (Base::One(category), template.size - 1),
                    (true, Some((old, size))) => (Base::Set(old), template.size - size),
                };
                sets::extend(set, base, among, more, parts);
                before = Some((&*set, template.size));
            }
        }
    }
}
