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
//! | [`NoisePath`], [`Path`], [`GaussianPath`], [`GeometricPath`], [`LaplacePath`] | one question's answers, coarse to fine, in any order |
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

mod entropy;
mod evidence;
mod law;
mod local;
mod number;
mod path;
mod release;
mod residual;
mod sampler;
mod select;
mod stopping;

pub use entropy::{Entropy, NoEntropy, SystemEntropy};
pub use evidence::bound::{Bound, Norms};
pub use evidence::exact::{Exact, Released, Scores, Truth};
pub use evidence::grid::{Grid, GridError};
pub use law::gaussian::{Centre, DiscreteGaussian};
pub use law::gaussian_step::variance_for;
pub use law::geometric_level::{GeometricLevel, LevelError};
pub use law::laplace::DiscreteLaplace;
pub use law::lazy::Noise;
pub use law::msdlap::{Msdlap, NotWhole, Shifts};
pub use law::planar::PlanarLaplace;
pub use law::radius::Radius;
pub use law::rounded_laplace::Laplace;
pub use law::skellam::Skellam;
pub use law::skellam_level::SkellamLevel;
pub use local::bits::{BitChain, BitTemplate};
pub use local::category::{Categories, Category};
pub use local::category_path::{CategoryPath, ChainPrice, Report};
pub use local::chain::{Chain, ChainError, ChainOf, MOST_CATEGORIES, ReportLaw};
pub use local::hash::{Hash, HashChain, HashTemplate, MOST_BITS};
pub use local::share::{Share, Weight};
pub use local::subset::{SubsetChain, Template};
pub use number::ratio::Ratio;
pub use number::scale::ScaleError;
pub use path::bundle::{Bundle, BundleError, Column, Columns, step_prices};
pub use path::bundle_law::BundleLaw;
pub use path::gaussian::GaussianPath;
pub use path::geometric::GeometricPath;
pub use path::laplace::LaplacePath;
pub use path::msdlap::MsdlapPath;
pub use path::points::{DamagedPath, Path};
pub use path::skellam::SkellamPath;
pub use path::{Integers, Mismatch, MismatchReason, NoisePath};
pub use release::point::{PointRelease, release_point};
pub use release::points::{Lengths, Points, PointsRelease, release_points};
pub use release::tiers::{
    Colluders, Loss, Tier, TierError, TierLaw, TierPlan, Tiers, release_tiers,
};
pub use residual::{
    BochnerMatrix, Doubt, NoResidual, NoiseLaw, NoiseLawError, Probabilities, Residual,
    ResidualPart, Verdict, residual,
};
pub use sampler::audit_cells::Cell;
pub use sampler::coin::{bernoulli, bernoulli_exp_neg, uniform_below};
pub use select::choose::{ChoiceLaw, ChoiceRule, choose};
pub use select::compare::{Comparison, compare};
pub use select::noisy::{NoisyScore, noisy_max};
pub use select::partition::{KeyCounts, KeySelection, Touched, select_keys};
pub use select::prepaid::{Allotment, DrawPrice, Fund, FundError};
pub use select::ranking::{Moves, PickPrice, Ranking, RankingError};
pub use select::sampler::{choose_exponentially, permute_and_flip, uniform_subset};
pub use select::threshold::{Ended, Line, LineError, LineLaw, Run};
pub use stopping::average::{AverageGoal, AverageLook, AverageOf, AverageRule, Part};
pub use stopping::follow::{
    Answer, Ending, Estimate, Look, Next, NoAnswer, Payer, Rule, Till, Unpaid, refine_until, reveal,
};
pub use stopping::gaussian_rule::GaussianRule;
pub use stopping::goal::{Confidence, Goal, GoalError, Steps, Tolerance, Within};
pub use stopping::pure_rule::{GeometricRule, LaplaceRule, PureRule};
pub use stopping::schedule::Schedule;
pub use stopping::sequence::{ConfidenceSequence, deviations};

#[cfg(test)]
#[path = "../../eke-lab/src/fit.rs"]
#[allow(unreachable_pub, dead_code, reason = "the lab exports it")]
mod fit;

/// Runs the examples of `docs/library.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
