//! Exact noise.
//!
//! The only crate of eke's that draws randomness, and it draws exactly: every law here is sampled
//! with integer arithmetic, or with floating point whose error is known and that hands over to
//! integers where it cannot decide. No output depends on a rounding.
//!
//! ```
//! use eke_noise::{DiscreteGaussian, Ratio, SystemEntropy};
//!
//! let mut entropy = SystemEntropy::new()?;
//! let noise = DiscreteGaussian::new(&Ratio::new(400, 1).unwrap())?;
//! let mut draws = [0; 1000];
//! noise.fill(&mut draws, &mut entropy);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Entropy`], [`SystemEntropy`] | where randomness comes from |
//! | [`DiscreteGaussian`], [`DiscreteLaplace`], [`Laplace`], [`Skellam`] | noise on the integers, one draw or many |
//! | [`Msdlap`] | noise on the integers for whole sensitivities above one |
//! | [`PlanarLaplace`], [`Radius`] | noise on lattices of up to three dimensions, the same in all directions, and how far it reaches |
//! | [`Exact`], [`Released`] | what has touched private rows, and what may leave |
//! | [`Grid`] | where truths that are not integers are put, with their sensitivity |
//! | [`choose`], [`compare`], [`release_point`], [`release_points`] | the verbs that open an [`Exact`] for one answer |
//! | [`Allotment`], [`Fund`] | several draws that are bought as one, each taking its part |
//! | [`NoisePath`], [`GaussianPath`], [`GeometricPath`], [`LaplacePath`] | one question's answers, coarse to fine, in any order |
//! | [`MsdlapPath`] | the same for whole sensitivities above one, from fine to coarse |
//! | [`Category`], [`CategoryPath`], [`Report`] | one category's reports, fine to coarse, drawn once on a device |
//! | [`Bundle`] | the paths of all groups of a question, refined together |
//! | [`refine_until`], [`Goal`], [`Schedule`], [`ConfidenceSequence`] | following a path until its answer is good enough |
//! | [`release_tiers`], [`TierPlan`] | one answer per tier, for the price of the finest |
//! | [`Ranking`] | candidates by score, largest first, as far as was paid for |
//! | [`Chain`]: [`SubsetChain`], [`HashChain`], [`BitChain`] | one category's reports, fine to coarse, in the local model |
//! | [`GeometricLevel`] | how geometric noise of several levels hangs together: coarser, finer, in between |
//! | [`SkellamLevel`], [`SkellamPath`] | the same for Skellam noise, and its path, opened at its finest point |
//! | [`bernoulli`], [`bernoulli_exp_neg`], [`uniform_below`], [`uniform_subset`] | coins and fair draws |
//! | [`choose_exponentially`], [`permute_and_flip`], [`noisy_max`] | choosing by score |
//! | [`Noise`], [`NoisyScore`] | normal and Laplace noise on the real line, exact, as far as a comparison needs it |
//! | [`Line`], [`LineLaw`] | above threshold: answers held against one noisy line |
//! | [`residual()`], [`NoiseLaw`], [`Verdict`] | whether one law of noise can be made of another by adding noise |
//! | [`Ratio`] | scales and variances, exact |

mod average;
mod binned;
mod bit_chain;
mod bound;
mod boundary;
mod bundle;
mod bundle_law;
mod category;
mod category_path;
mod cells;
mod chain;
mod choice;
mod choosing;
mod coin;
mod comparison;
mod convolution;
mod entropy;
mod exact;
mod fixed;
mod fund;
mod gaussian;
mod gaussian_law;
mod gaussian_path;
mod gaussian_rule;
mod geometric;
mod geometric_path;
mod geometric_rule;
mod goal;
mod grid;
mod hash_chain;
mod keys;
mod ladder;
mod laplace;
mod laplace_level;
mod laplace_path;
mod laplace_rule;
mod lazy;
mod line;
mod msdlap;
mod msdlap_path;
mod noisy;
mod parts;
mod path;
mod planar;
mod point;
mod points;
mod radius;
mod ranking;
mod ratio;
mod real;
mod residual;
mod rounded_laplace;
mod scale;
mod schedule;
mod sequence;
mod sets;
mod share;
mod skellam;
mod skellam_level;
mod skellam_path;
mod spending;
mod stopping;
mod subset_chain;
mod table;
mod tiers;
mod urn;

pub use average::{AverageGoal, AverageLook, AverageOf, AverageRule, Part};
pub use bit_chain::{BitChain, BitTemplate};
pub use bound::{Bound, Norms};
pub use bundle::{Bundle, BundleError, Column, Columns};
pub use bundle_law::BundleLaw;
pub use category::{Categories, Category};
pub use category_path::{CategoryPath, ChainPrice, Report};
pub use cells::Cell;
pub use chain::{Chain, ChainError, MOST_CATEGORIES, ReportLaw};
pub use choice::{choose_exponentially, permute_and_flip, uniform_subset};
pub use choosing::{ChoiceLaw, ChoiceRule, choose};
pub use coin::{bernoulli, bernoulli_exp_neg, uniform_below};
pub use comparison::{Comparison, compare};
pub use entropy::{Entropy, NoEntropy, SystemEntropy};
pub use exact::{Exact, Released, Scores, Truth};
pub use fund::{Allotment, DrawPrice, Fund, FundError};
pub use gaussian::{Centre, DiscreteGaussian};
pub use gaussian_law::variance_for;
pub use gaussian_path::{DamagedPath, GaussianPath};
pub use gaussian_rule::GaussianRule;
pub use geometric::{GeometricLevel, LevelError};
pub use geometric_path::GeometricPath;
pub use geometric_rule::GeometricRule;
pub use goal::{Confidence, Goal, GoalError, Steps, Tolerance, Within};
pub use grid::{Grid, GridError};
pub use hash_chain::{Hash, HashChain, HashTemplate, MOST_BITS};
pub use keys::{KeyCounts, KeySelection, Touched, select_keys};
pub use laplace::DiscreteLaplace;
pub use laplace_path::LaplacePath;
pub use laplace_rule::LaplaceRule;
pub use lazy::Noise;
pub use line::{Ended, Line, LineError, LineLaw, Run};
pub use msdlap::{Msdlap, NotWhole, Shifts};
pub use msdlap_path::MsdlapPath;
pub use noisy::{NoisyScore, noisy_max};
pub use path::{Integers, Mismatch, MismatchReason, NoisePath};
pub use planar::PlanarLaplace;
pub use point::{PointRelease, release_point};
pub use points::{Lengths, Points, PointsRelease, release_points};
pub use radius::Radius;
pub use ranking::{Moves, PickPrice, Ranking, RankingError};
pub use ratio::Ratio;
pub use residual::{
    BochnerMatrix, Doubt, NoResidual, NoiseLaw, NoiseLawError, Probabilities, Residual,
    ResidualPart, Verdict, residual,
};
pub use rounded_laplace::Laplace;
pub use scale::ScaleError;
pub use schedule::Schedule;
pub use sequence::{ConfidenceSequence, deviations};
pub use share::{Share, Weight};
pub use skellam::Skellam;
pub use skellam_level::SkellamLevel;
pub use skellam_path::SkellamPath;
pub use stopping::{
    Answer, Ending, Estimate, Look, Next, NoAnswer, Payer, Rule, Till, Unpaid, refine_until, reveal,
};
pub use tiers::{Colluders, Loss, Tier, TierError, TierLaw, TierPlan, Tiers, release_tiers};

#[cfg(test)]
#[path = "../../eke-lab/src/fit.rs"]
#[allow(unreachable_pub, dead_code, reason = "the lab exports it")]
mod fit;
pub use subset_chain::{SubsetChain, Template};

/// Runs the examples in the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
