//! Which report each tier gets, from one chain of them.
//!
//! A chain's reports grow in size and fall in weight. A tier may see any report whose epsilon is at most its
//! own; the question is which sizes to give them, since a size that is best for one tier takes from what later
//! ones can have. [`Method::Planned`] finds the chain whose worst tier is as close as can be to what it
//! would have alone. The two methods of the paper go through fixed lists of templates.

use eke_budget::{Amount, Epsilon};
use eke_noise::{ChainError, SubsetChain, Template, Weight};
use serde::{Deserialize, Serialize};

use crate::subset;

/// How the templates of a chain are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The sizes that make the worst tier as good as can be, for the tiers given.
    Planned,
    /// One template for every size, as the paper first has it.
    Reference,
    /// The paper's improved list: three templates for every size, and the tiers' own.
    Improved,
    /// Reports of one category: generalized randomized response.
    RandomizedResponse,
}

/// What one tier gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tier {
    /// What it may see.
    pub epsilon: Amount<Epsilon>,
    /// The law of its report.
    pub template: Template,
    /// The variance of its estimates, for one report ([`subset::variance`]).
    pub variance: f64,
    /// How many times that of a report for this tier alone.
    pub ratio: f64,
}

/// One chain of reports for some tiers.
#[derive(Clone, Debug)]
pub struct Plan {
    tiers: Vec<Tier>,
    chain: SubsetChain,
    /// Which report of the chain each tier gets.
    places: Vec<usize>,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There are no tiers.
    #[error("a plan needs at least one tier")]
    NoTiers,
    /// More tiers than are planned for.
    #[error("a plan has at most {MOST_TIERS} tiers")]
    TooManyTiers,
    /// A tier that may see nothing, or everything.
    #[error("the epsilon of a tier is above 0 and at most 500")]
    Epsilon,
    /// The reports would not be a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The most tiers of one plan.
pub const MOST_TIERS: usize = 256;

impl Plan {
    /// Plans the reports of tiers, in whatever order.
    ///
    /// - Theorem: subset-chain (docs/theorems.md)
    /// - Proves: every tier's report costs at most its epsilon, and those of several tiers together at most
    ///   the largest of theirs
    /// - Assumes: nothing: sizes and weights are checked where the chain is made, exactly
    /// - Deviates: sizes are chosen by doubles, which decides how good a plan is and not what it costs
    /// - Checked by: `every_plan_keeps_every_tier_within_its_epsilon`
    ///
    /// # Errors
    /// There are no tiers or too many, or an epsilon or the number of categories is out of range.
    pub fn new(
        categories: u32,
        tiers: &[Amount<Epsilon>],
        method: Method,
    ) -> Result<Self, PlanError> {
        if tiers.is_empty() {
            return Err(PlanError::NoTiers);
        }
        if tiers.len() > MOST_TIERS {
            return Err(PlanError::TooManyTiers);
        }
        let most = Amount::from_grains(500 * Amount::<Epsilon>::ONE.grains());
        if tiers.iter().any(|tier| tier.is_zero() || *tier > most) {
            return Err(PlanError::Epsilon);
        }
        if !(2..=eke_noise::MOST_CATEGORIES).contains(&categories) {
            return Err(ChainError::Categories(categories).into());
        }
        let mut falling = tiers.to_vec();
        falling.sort_unstable_by(|a, b| b.cmp(a));
        falling.dedup();
        let templates = match method {
            Method::Planned => planned(categories, &falling),
            Method::Reference => matched(&falling, &reference(categories, &falling)),
            Method::Improved => matched(&falling, &improved(categories, &falling)),
            Method::RandomizedResponse => {
                falling.iter().map(|&epsilon| Template::new(1, epsilon)).collect()
            }
        };
        let mut distinct = templates.clone();
        distinct.dedup();
        let places = tiers
            .iter()
            .map(|tier| {
                let rank = falling.partition_point(|other| other > tier);
                distinct.iter().position(|template| *template == templates[rank]).unwrap_or(0)
            })
            .collect();
        let chain = SubsetChain::new(categories, distinct)?;
        let tiers = tiers
            .iter()
            .map(|&epsilon| {
                let template = templates[falling.partition_point(|other| *other > epsilon)];
                let variance =
                    subset::variance(categories, template.size, template.weight.to_f64());
                let ratio = variance / subset::best_variance(categories, epsilon.to_f64());
                Tier { epsilon, template, variance, ratio }
            })
            .collect();
        Ok(Self { tiers, chain, places })
    }

    /// What each tier gets, in the order they were given.
    #[must_use]
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The chain that all of it is drawn from.
    #[must_use]
    pub fn chain(&self) -> &SubsetChain {
        &self.chain
    }

    /// Which report of the chain a tier gets.
    #[must_use]
    pub fn place(&self, tier: usize) -> Option<usize> {
        self.places.get(tier).copied()
    }

    /// How far the worst tier is from what it would have alone: the largest ratio.
    #[must_use]
    pub fn worst(&self) -> f64 {
        self.tiers.iter().map(|tier| tier.ratio).fold(0.0, f64::max)
    }
}

/// The templates whose largest ratio is smallest, for epsilons that fall.
///
/// For a ratio that is to be kept, the heaviest report of every size that a tier can have is worked out tier
/// after tier: it is as heavy as the heaviest of the reports before it that are no larger, and no heavier
/// than the tier allows. Heavier is better for this tier and all later ones, so nothing else needs to be
/// remembered. The ratio is found by bisection.
fn planned(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let largest = (categories / 2).max(1);
    let alone: Vec<(f64, f64)> = falling
        .iter()
        .map(|tier| {
            let epsilon = tier.to_f64();
            (epsilon, subset::best_variance(categories, epsilon))
        })
        .collect();
    // One size for all is always possible.
    let (mut low, mut high) = (1.0, f64::INFINITY);
    let mut best = None;
    let mut limit = 1.0;
    for _ in 0..60 {
        match feasible(categories, largest, &alone, limit) {
            Some(sizes) => {
                best = Some(sizes);
                high = limit;
            }
            None => low = limit,
        }
        limit = if high.is_finite() { f64::midpoint(low, high) } else { limit * 2.0 };
        if high - low < 1e-9 * low {
            break;
        }
    }
    let sizes = best.unwrap_or_else(|| vec![1; falling.len()]);
    // The weight of a report is the least that any tier so far allows.
    let mut templates: Vec<Template> = Vec::with_capacity(falling.len());
    for (&epsilon, size) in falling.iter().zip(sizes) {
        let own = Weight::Of { epsilon, size };
        let weight = match templates.last() {
            Some(before) if before.weight.to_f64() <= own.to_f64() => before.weight,
            _ => own,
        };
        templates.push(Template { size, weight });
    }
    templates
}

/// Sizes that keep every tier's ratio within a limit, if there are any.
fn feasible(categories: u32, largest: u32, alone: &[(f64, f64)], limit: f64) -> Option<Vec<u32>> {
    let sizes = largest as usize;
    // The heaviest report of each size at each tier; none where the limit would be exceeded.
    let mut heaviest: Vec<Vec<f64>> = Vec::with_capacity(alone.len());
    let mut before = vec![f64::INFINITY; sizes];
    for &(epsilon, variance) in alone {
        let mut reach = 0.0f64;
        let row: Vec<f64> = (1..=largest)
            .zip(&before)
            .map(|(size, &from)| {
                reach = reach.max(from);
                let weight = reach.min(subset::weight(size, epsilon));
                let ratio = subset::variance(categories, size, weight) / variance;
                if weight > 0.0 && ratio <= limit * (1.0 + 1e-12) { weight } else { 0.0 }
            })
            .collect();
        if row.iter().all(|weight| *weight <= 0.0) {
            return None;
        }
        before.clone_from(&row);
        heaviest.push(row);
    }
    // Backwards: the last tier takes the size that is best for it, every tier before it the size that is best
    // for it among those that leave the next one its weight.
    let mut chosen = vec![0u32; alone.len()];
    let (mut size_limit, mut needed) = (largest, 0.0);
    for (tier, row) in heaviest.iter().enumerate().rev() {
        let (epsilon, _) = alone[tier];
        let of = |size: u32| row[size as usize - 1];
        let size = (1..=size_limit).filter(|&size| of(size) > 0.0 && of(size) >= needed).min_by(
            |&a, &b| {
                let variance = |size| subset::variance(categories, size, of(size));
                variance(a).total_cmp(&variance(b))
            },
        )?;
        chosen[tier] = size;
        // What comes before has to be as heavy as this report is, unless this tier is what limits it.
        needed = of(size);
        size_limit = size;
        debug_assert!(needed <= subset::weight(size, epsilon) * (1.0 + 1e-12));
    }
    Some(chosen)
}

/// The first template, in order of what they tell, that each tier may see.
fn matched(falling: &[Amount<Epsilon>], templates: &[Template]) -> Vec<Template> {
    falling
        .iter()
        .map(|&tier| {
            let found = templates.iter().find(|template| template.epsilon() <= tier);
            // There always is one: lists end with the tiers themselves. If not, this is no chain.
            found.copied().unwrap_or_else(|| Template::new(1, tier))
        })
        .collect()
}

/// The weight at which a report of size k is at `ln((d + more)/k - 1)`: `d + more - 2k`.
fn milestone(categories: u32, more: i64, size: u32) -> Option<Weight> {
    let weight = i64::from(categories) + more - 2 * i64::from(size);
    u32::try_from(weight).ok().filter(|&weight| weight > 0).map(Weight::Whole)
}

/// The paper's first list: the tiers above all reports of one category; a template at
/// `ln(d/k - 1)` for each size below half of the categories; for even d one of half of them; the tiers
/// below it.
fn reference(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let mut list = List::new(categories);
    list.high(falling);
    for size in 1..=(categories - 1) / 2 {
        list.expand(size, false);
        if let Some(weight) = milestone(categories, 0, size) {
            list.lower(weight);
        }
    }
    list.finish(falling)
}

/// The paper's improved list: for each size also a template right after it was reached, one at
/// `ln((d+1)/k - 1)`, and the tiers in between.
fn improved(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let mut list = List::new(categories);
    list.high(falling);
    let last = (categories - 1) / 2;
    for size in 1..=last {
        list.expand(size, true);
        let least = if size == last { 0 } else { -1 };
        let Some(end) = milestone(categories, least, size).or(milestone(categories, 0, size))
        else {
            continue;
        };
        // Levels of other sizes lie outside of this size's stretch.
        let mut weights: Vec<Weight> = falling
            .iter()
            .map(|&epsilon| Weight::Of { epsilon, size })
            .chain([0, 1].into_iter().filter_map(|more| milestone(categories, more, size)))
            .filter(|weight| weight.to_f64() >= end.to_f64())
            .collect();
        weights.sort_by(|a, b| b.to_f64().total_cmp(&a.to_f64()));
        for weight in weights {
            list.lower(weight);
        }
    }
    list.finish(falling)
}

/// A list of templates as it is made.
struct List {
    categories: u32,
    size: u32,
    /// None before anything has been drawn: the true category itself.
    weight: Option<Weight>,
    templates: Vec<Template>,
}

impl List {
    fn new(categories: u32) -> Self {
        Self { categories, size: 1, weight: None, templates: Vec::new() }
    }

    fn record(&mut self, weight: Weight) {
        self.weight = Some(weight);
        self.templates.push(Template { size: self.size, weight });
    }

    /// Tiers for which one category is best: `exp(epsilon) + 1 > d`.
    fn high(&mut self, falling: &[Amount<Epsilon>]) {
        let edge = (f64::from(self.categories) - 1.0).ln();
        for &epsilon in falling.iter().filter(|tier| tier.to_f64() > edge) {
            self.lower(Weight::Of { epsilon, size: 1 });
        }
    }

    fn expand(&mut self, size: u32, recorded: bool) {
        if size > self.size {
            self.size = size;
            if let (true, Some(weight)) = (recorded, self.weight) {
                self.record(weight);
            }
        }
    }

    /// Takes weight away, if there is more.
    fn lower(&mut self, weight: Weight) {
        if self.weight.is_none_or(|before| weight.to_f64() < before.to_f64()) {
            self.record(weight);
        }
    }

    fn finish(mut self, falling: &[Amount<Epsilon>]) -> Vec<Template> {
        if self.categories.is_multiple_of(2) && self.size < self.categories / 2 {
            self.expand(self.categories / 2, true);
        }
        for &epsilon in falling {
            self.lower(Weight::Of { epsilon, size: self.size });
        }
        self.templates
    }
}
