//! Noise paths: one question's answers, from very noisy to nearly exact, drawn once.
//!
//! A path knows the points that have been revealed, never the truth. To go further it is handed the
//! truth again, as an [`Exact`], and a receipt for the step; to go back it needs a receipt for the
//! coarser point, which is free to the people in the data. Points may be asked for in any order,
//! and what has been revealed has the joint law of one path.

pub(crate) mod bundle;
mod bundle_bytes;
pub(crate) mod bundle_law;
pub(crate) mod gaussian;
pub(crate) mod geometric;
pub(crate) mod laplace;
pub(crate) mod msdlap;
pub(crate) mod points;
pub(crate) mod pure;
pub(crate) mod skellam;

pub use bundle::{Bundle, BundleError, Column, Columns, step_prices};
pub use bundle_law::BundleLaw;
pub use gaussian::GaussianPath;
pub use geometric::GeometricPath;
pub use laplace::LaplacePath;
pub use msdlap::MsdlapPath;
pub use points::{DamagedPath, Path};
pub use skellam::SkellamPath;

use std::fmt;

use eke_budget::number::ParameterError;
use eke_budget::purchase::Coarsen;
use eke_budget::{Amount, L1, L2, PathId, Price, Raise, Receipt};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::evidence::exact::Truth;
use crate::law::geometric_level::LevelError;
use crate::{Entropy, Exact, Released};

/// What noise is added to: an integer, or a vector of them whose coordinates go along the path
/// together, for one price.
pub trait Integers:
    Truth + Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + sealed::Sealed
{
    /// How many coordinates a value with this bound has.
    fn count(bound: &Self::Bound) -> usize;

    /// How many coordinates there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A coordinate; zero beyond the last.
    fn coordinate(&self, index: usize) -> i64;

    /// A value of `count` coordinates, each made from its index.
    ///
    /// # Errors
    /// Those of the function.
    fn make<F>(count: usize, function: impl FnMut(usize) -> Result<i64, F>) -> Result<Self, F>;

    /// Its bound in the sum of absolute differences.
    fn l1(bound: &Self::Bound) -> L1;

    /// Its bound in Euclidean length.
    ///
    /// # Errors
    /// Never for bounds that exist.
    fn l2(bound: &Self::Bound) -> Result<L2, ParameterError>;
}

impl Integers for i64 {
    fn count(_: &L1) -> usize {
        1
    }

    fn len(&self) -> usize {
        1
    }

    fn coordinate(&self, index: usize) -> i64 {
        if index == 0 { *self } else { 0 }
    }

    fn make<F>(_: usize, mut function: impl FnMut(usize) -> Result<i64, F>) -> Result<Self, F> {
        function(0)
    }

    fn l1(bound: &L1) -> L1 {
        *bound
    }

    fn l2(bound: &L1) -> Result<L2, ParameterError> {
        L2::new(bound.get())
    }
}

impl Integers for Vec<i64> {
    fn count(bound: &Self::Bound) -> usize {
        bound.coordinates()
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn coordinate(&self, index: usize) -> i64 {
        self.get(index).copied().unwrap_or(0)
    }

    fn make<F>(count: usize, function: impl FnMut(usize) -> Result<i64, F>) -> Result<Self, F> {
        (0..count).map(function).collect()
    }

    fn l1(bound: &Self::Bound) -> L1 {
        bound.sum()
    }

    fn l2(bound: &Self::Bound) -> Result<L2, ParameterError> {
        Ok(bound.length())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i64 {}
    impl Sealed for Vec<i64> {}
}

/// What every kind of path can do, whatever its law.
pub trait NoisePath {
    /// What its points are priced in.
    type Currency: Price;

    /// What it is a path of.
    type Value: Integers;

    /// Which path it is.
    fn id(&self) -> PathId;

    /// The price of the finest revealed point; zero if there is none.
    fn finest(&self) -> Amount<Self::Currency>;

    /// A point that has been revealed.
    fn point(&self, at: Amount<Self::Currency>) -> Option<Released<Self::Value>>;

    /// The price of the finest revealed point that is not finer than this.
    fn nearest(&self, to: Amount<Self::Currency>) -> Option<Amount<Self::Currency>>;

    /// What a revealed point of this price is as precise as: that price, but for increments that
    /// were paid for and lost before they were drawn.
    fn worth(&self, at: Amount<Self::Currency>) -> Amount<Self::Currency> {
        at
    }

    /// Whether a step to this point could be drawn: something to know before it is paid for.
    ///
    /// # Errors
    /// It is not finer, or its noise is too narrow or too wide.
    fn can_refine(&self, to: Amount<Self::Currency>) -> Result<(), MismatchReason>;

    /// Reveals the finer point that was paid for. The account that pays for the first is the one
    /// that pays for all of them.
    ///
    /// # Errors
    /// The receipt or the truth is not for this step of this path. Nothing is drawn, and the
    /// receipt comes back.
    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<Self::Value>,
        receipt: Receipt<Raise<Self::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<Self::Value>, Mismatch<Raise<Self::Currency>>>;

    /// Reveals the coarser point that was asked for, or the same again; or, where the grid does not
    /// allow that point beside the others, one that is a little coarser. [`NoisePath::nearest`]
    /// says which.
    ///
    /// # Errors
    /// The receipt is not for this path, or the path has not been revealed so far. Nothing is
    /// drawn, and the receipt comes back.
    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Self::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<Self::Value>, Mismatch<Coarsen<Self::Currency>>>;
}

/// A receipt that is for something else.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct Mismatch<P> {
    /// The receipt, to be used where it belongs.
    pub receipt: Box<Receipt<P>>,
    /// Why it was not taken.
    pub reason: MismatchReason,
}

/// Why a receipt was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MismatchReason {
    /// It names another path.
    #[error("the receipt is for another path")]
    OtherPath,
    /// It starts from a point that the path is beyond, or goes to none.
    #[error("the receipt is for another step of the path than its next one")]
    OtherStep,
    /// It was paid for another sensitivity.
    #[error("the receipt or the truth is for another sensitivity than the path's")]
    OtherSensitivity,
    /// It is for another number of coordinates than what has been revealed.
    #[error("the truth is for another number of values than what has been revealed of the path")]
    OtherShape,
    /// It is one of another number of categories.
    #[error("the truth is one of another number of categories than the path's")]
    OtherCategories,
    /// There is no truth, and nothing has been drawn from it yet.
    #[error("nothing has been drawn of the path yet, and what it would be drawn from is gone")]
    NoTruth,
    /// Another account paid than the one that has paid for the path so far.
    #[error("another account has paid for the path so far, and it alone can take it further")]
    OtherAccount,
    /// The account that paid measures distance between inputs in another way.
    #[error("the account that paid protects something else than whole units")]
    OtherMetric,
    /// The noise would be narrower than the grid of the truth allows.
    #[error("the step is too fine for the grid its truth is on: put the truth on a finer grid")]
    TooFine,
    /// It starts beyond what has been revealed: a step before it was paid for and is not there.
    #[error(
        "a step before this one was paid for and is not on the path, which cannot be taken further without \
         it: go on with what was stored last, or open another path"
    )]
    Gap,
    /// The path's law cannot be taken further than where it was opened.
    #[error("the path was opened at its finest point: open another for a finer one")]
    AtItsFinest,
    /// It has no coordinates, or too many, for noise that is the same in all directions.
    #[error("a point has one, two or three coordinates: release other vectors along a path")]
    NotAPoint,
    /// The noise cannot be drawn.
    #[error(transparent)]
    Level(#[from] LevelError),
}
