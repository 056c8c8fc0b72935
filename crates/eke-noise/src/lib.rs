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
//! In [`entropy`]:
//!
//! - [`Entropy`], [`SystemEntropy`]: where randomness comes from.
//!
//! In [`evidence`]:
//!
//! - [`Exact`], [`Released`]: what has touched private rows, and what may leave.
//! - [`Grid`]: where truths that are not integers are put, with their sensitivity.
//!
//! In [`law`]:
//!
//! - [`DiscreteGaussian`], [`DiscreteLaplace`], [`Laplace`], [`Skellam`]: noise on the integers,
//!   one draw or many.
//! - [`Msdlap`](law::Msdlap): noise on the integers for whole sensitivities above one.
//! - [`PlanarLaplace`](law::PlanarLaplace), [`Radius`](law::Radius): noise on lattices of up to
//!   three dimensions, the same in all directions, and how far it reaches.
//! - [`GeometricLevel`](law::GeometricLevel): how geometric noise of several levels is related:
//!   coarser, finer, in between.
//! - [`SkellamLevel`](law::SkellamLevel): the same for Skellam noise.
//! - [`Noise`](law::Noise), [`NoisyScore`](select::NoisyScore): normal and Laplace noise on the
//!   real line, exact, as far as a comparison needs it.
//!
//! In [`local`]:
//!
//! - [`Category`], [`CategoryPath`], [`Report`](local::Report): one category's reports, fine to
//!   coarse, drawn once on a device.
//! - [`Chain`](local::Chain): [`SubsetChain`](local::SubsetChain), [`HashChain`](local::HashChain),
//!   [`BitChain`](local::BitChain): one category's reports, fine to coarse, in the local model.
//!
//! In [`number`]:
//!
//! - [`Ratio`]: scales and variances, exact.
//!
//! In [`path`]:
//!
//! - [`NoisePath`], [`Path`](path::Path), [`GaussianPath`], [`GeometricPath`], [`LaplacePath`]: one
//!   question's answers, coarse to fine, in any order.
//! - [`SkellamPath`]: the same, opened at its finest point.
//! - [`MsdlapPath`](path::MsdlapPath): the same for whole sensitivities above one, from fine to
//!   coarse.
//! - [`Bundle`]: the paths of all groups of a question, refined together.
//!
//! In [`release`]:
//!
//! - [`release_point`], [`release_points`](release::release_points): verbs that open an [`Exact`]
//!   for one answer.
//! - [`release_rows`](release::release_rows), [`Rows`](release::Rows): many people's numbers, each
//!   with noise that the person paid for.
//! - [`release_tiers`], [`TierPlan`]: one answer per tier, for the price of the finest.
//!
//! In [`sampler`]:
//!
//! - [`bernoulli`](sampler::bernoulli), [`bernoulli_exp_neg`](sampler::bernoulli_exp_neg),
//!   [`uniform_below`](sampler::uniform_below), [`uniform_subset`](select::uniform_subset): coins
//!   and fair draws.
//!
//! In [`select`]:
//!
//! - [`choose`], [`compare`]: verbs that open an [`Exact`] for one answer.
//! - [`Allotment`](select::Allotment), [`Prepaid`](select::Prepaid): several draws that are bought
//!   as one, each taking its part.
//! - [`Ranking`]: candidates by score, largest first, as far as was paid for.
//! - [`choose_exponentially`](select::choose_exponentially),
//!   [`permute_and_flip`](select::permute_and_flip), [`noisy_max`](select::noisy_max): choosing by
//!   score.
//! - [`NoisyLine`](select::NoisyLine), [`LineLaw`](select::LineLaw): above threshold (sparse
//!   vector): answers compared with one noisy line.
//!
//! In [`stopping`]:
//!
//! - [`refine_until`], [`Goal`], [`Schedule`],
//!   [`ConfidenceSequence`](stopping::ConfidenceSequence): following a path until its answer is
//!   good enough.
//! - [`search::Search`](stopping::search::Search): quantiles, as a search along the paths of cuts.
//! - [`which_side`](stopping::which_side): on which side of a line a count is, in as few looks as
//!   it takes.

pub mod entropy;
pub mod evidence;
pub mod law;
pub mod local;
pub mod number;
pub mod path;
pub mod release;
pub mod sampler;
pub mod select;
pub mod stopping;

#[cfg(test)]
mod kit;

pub use entropy::{Entropy, SystemEntropy};
pub use evidence::exact::{Exact, Released};
pub use evidence::grid::Grid;
pub use law::gaussian::DiscreteGaussian;
pub use law::laplace::DiscreteLaplace;
pub use law::rounded_laplace::Laplace;
pub use law::skellam::Skellam;
pub use local::category::Category;
pub use local::category_path::CategoryPath;
pub use number::ratio::Ratio;
pub use path::NoisePath;
pub use path::bundle::Bundle;
pub use path::gaussian::GaussianPath;
pub use path::geometric::GeometricPath;
pub use path::laplace::LaplacePath;
pub use path::skellam::SkellamPath;
pub use release::point::release_point;
pub use release::tiers::{TierPlan, release_tiers};
pub use select::choose::choose;
pub use select::compare::compare;
pub use select::ranking::Ranking;
pub use stopping::follow::{AccountPayer, refine_until, reveal};
pub use stopping::goal::{Confidence, Goal, Tolerance, Within};
pub use stopping::schedule::Schedule;

/// Runs the examples of `docs/library.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;
