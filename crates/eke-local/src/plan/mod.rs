//! Which report each tier gets, from one chain of them.
//!
//! A chain's reports grow coarser and fall in weight. A tier may see any report whose epsilon is at
//! most its own; the question is which sizes (or bits of a hash) to give them, since a size that is
//! best for one tier takes from what later ones can have. [`Method::Planned`] and [`Method::Hash`]
//! find the chain whose worst tier is as close as can be to what it would have alone. The methods
//! of the paper go through fixed lists of templates.

pub(crate) mod choices;
pub(crate) mod hash_templates;
pub(crate) mod subset_templates;

use eke_budget::{Amount, Epsilon};
use eke_noise::{BitTemplate, Chain, ChainError, ReportLaw, Template};
use serde::{Deserialize, Serialize};

use crate::worth::bits;
use crate::worth::hash;
use crate::worth::subset;

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
    /// Values of a hash, with the bits that make the worst tier as good as can be, for the tiers
    /// given.
    Hash,
    /// Values of a hash, as the paper has them: one template for each number of bits.
    HashReference,
    /// A bit for each category: binary randomized response.
    Bits,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Planned,
        Self::Improved,
        Self::Reference,
        Self::RandomizedResponse,
        Self::Hash,
        Self::HashReference,
        Self::Bits,
    ];

    /// The laws of all reports that it goes through for these tiers, the one that tells most first.
    /// Each tier gets the first of them that it may see.
    ///
    /// # Errors
    /// There are no tiers or too many, or an epsilon or the number of categories is out of range.
    pub fn list(
        self,
        categories: u32,
        tiers: &[Amount<Epsilon>],
    ) -> Result<Vec<ReportLaw>, PlanError> {
        let falling = falling(categories, tiers)?;
        let subsets = |templates: Vec<_>| templates.into_iter().map(ReportLaw::Subset).collect();
        let hashes = |templates: Vec<_>| templates.into_iter().map(ReportLaw::Hash).collect();
        Ok(match self {
            Self::Planned => subsets(subset_templates::planned(categories, &falling)),
            Self::Reference => subsets(subset_templates::reference(categories, &falling)),
            Self::Improved => subsets(subset_templates::improved(categories, &falling)),
            Self::RandomizedResponse => {
                subsets(falling.iter().map(|&epsilon| Template::new(1, epsilon)).collect())
            }
            Self::Hash => hashes(hash_templates::planned(categories, &falling)),
            Self::HashReference => hashes(hash_templates::reference(&falling)),
            Self::Bits => falling.iter().map(|&e| ReportLaw::Bits(BitTemplate::new(e))).collect(),
        })
    }
}

/// The epsilons of tiers, each once, the largest first.
fn falling(categories: u32, tiers: &[Amount<Epsilon>]) -> Result<Vec<Amount<Epsilon>>, PlanError> {
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
    Ok(falling)
}

/// What one tier gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tier {
    /// What it may see.
    pub epsilon: Amount<Epsilon>,
    /// The law of its report.
    pub law: ReportLaw,
    /// What the estimates of all categories from one report are off by, squared and summed, on
    /// average ([`subset::variance`], [`hash::variance`], [`bits::variance`]).
    pub variance: f64,
    /// How many times that of the best report for this tier alone, which is a subset.
    pub ratio: f64,
}

/// One chain of reports for some tiers.
#[derive(Clone, Debug)]
pub struct Plan {
    tiers: Vec<Tier>,
    chain: Chain,
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
    /// - Theorem: subset-chain (docs/theorems.md), and hash-chain and bit-chain for those methods
    /// - Proves: every tier's report costs at most its epsilon, and those of several tiers together
    ///   at most the largest of theirs
    /// - Assumes: nothing: sizes and weights are checked where the chain is made, exactly
    /// - Deviates: sizes are chosen by doubles, which decides how good a plan is and not what it
    ///   costs
    /// - Checked by: `every_plan_keeps_every_tier_within_its_epsilon`,
    ///   `every_set_of_reports_costs_what_its_first_does`
    ///
    /// # Errors
    /// There are no tiers or too many, or an epsilon or the number of categories is out of range.
    pub fn new(
        categories: u32,
        tiers: &[Amount<Epsilon>],
        method: Method,
    ) -> Result<Self, PlanError> {
        let list = method.list(categories, tiers)?;
        let mut chain: Vec<ReportLaw> = Vec::new();
        let mut places = vec![0; tiers.len()];
        let mut order: Vec<usize> = (0..tiers.len()).collect();
        order.sort_by(|&a, &b| tiers[b].cmp(&tiers[a]));
        for tier in order {
            // What tells more than this tier may see comes first. There always is one that does
            // not: lists end with the tiers themselves.
            let first = list.partition_point(|law| law.epsilon() > tiers[tier]);
            let mut within = list[first..].iter().filter(|law| law.epsilon() <= tiers[tier]);
            let law = *within.next().ok_or(PlanError::Epsilon)?;
            if chain.last() != Some(&law) {
                chain.push(law);
            }
            places[tier] = chain.len() - 1;
        }
        let chain = Chain::new(categories, &chain)?;
        let tiers = tiers
            .iter()
            .zip(&places)
            .filter_map(|(&epsilon, &place)| {
                let law = chain.law(place)?;
                let variance = variance(categories, &law);
                let ratio = variance / subset::best_variance(categories, epsilon.to_f64());
                Some(Tier { epsilon, law, variance, ratio })
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
    pub fn chain(&self) -> &Chain {
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

/// What the estimates of all categories from one report are off by, squared and summed, on average.
#[must_use]
pub fn variance(categories: u32, law: &ReportLaw) -> f64 {
    match law {
        ReportLaw::Subset(template) => {
            subset::variance(categories, template.size, template.weight.to_f64())
        }
        ReportLaw::Hash(template) => {
            hash::variance(categories, template.bits, hash::odds(&template.share))
        }
        ReportLaw::Bits(template) => bits::variance(categories, template.each().to_f64()),
    }
}
