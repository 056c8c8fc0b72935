//! Noise paths: one question's answers, from very noisy to nearly exact, drawn once.
//!
//! A path knows the points that have been revealed, never the truth. To go further it is handed the
//! truth again, as an [`Exact`], and a receipt for the step; to go back it needs a receipt for the
//! coarser point, which is free to the people in the data. Points may be asked for in any order, and
//! what has been revealed has the joint law of one path.

use std::collections::BTreeMap;
use std::fmt;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Price, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::geometric::{GeometricLevel, LevelError};
use crate::{Entropy, Exact, Ratio, Released};

/// What every kind of path can do, whatever its law.
pub trait NoisePath {
    /// What its points are priced in.
    type Currency: Price;

    /// Which path it is.
    fn id(&self) -> PathId;

    /// The price of the finest revealed point; zero if there is none.
    fn finest(&self) -> Amount<Self::Currency>;

    /// A point that has been revealed.
    fn point(&self, at: Amount<Self::Currency>) -> Option<Released<i64>>;

    /// Reveals the finer point that was paid for.
    ///
    /// # Errors
    /// The receipt or the truth is not for this step of this path. Nothing is drawn, and the receipt
    /// comes back.
    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        receipt: Receipt<Raise<Self::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Raise<Self::Currency>>>;

    /// Reveals the coarser point that was asked for, or the same again.
    ///
    /// # Errors
    /// The receipt is not for this path, or the path has not been revealed so far. Nothing is drawn, and
    /// the receipt comes back.
    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Self::Currency>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Coarsen<Self::Currency>>>;
}

/// A receipt that is for something else.
#[derive(Debug)]
pub struct Mismatch<P> {
    /// The receipt, to be used where it belongs.
    pub receipt: Receipt<P>,
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
    /// It starts from, or goes to, another point.
    #[error("the receipt is for another step of the path than its next one")]
    OtherStep,
    /// It was paid for another sensitivity.
    #[error("the receipt or the truth is for another sensitivity than the path's")]
    OtherSensitivity,
    /// The noise cannot be drawn.
    #[error(transparent)]
    Level(#[from] LevelError),
}

impl<P> fmt::Display for Mismatch<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<P: fmt::Debug> std::error::Error for Mismatch<P> {}

/// A path of two-sided geometric noise, priced in pure epsilon: a point at epsilon has noise of rate
/// epsilon over the sensitivity, on an integer truth.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: values beyond 64-bit integers saturate, which is post-processing
/// - Checked by: `points_revealed_in_any_order_have_one_joint_law`,
///   `a_path_takes_only_its_own_next_receipt`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometricPath {
    id: PathId,
    sensitivity: L1,
    /// Values by the price of their point.
    points: BTreeMap<Amount<Epsilon>, Released<i64>>,
}

impl GeometricPath {
    /// A path of which nothing has been revealed.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L1) -> Self {
        Self { id, sensitivity, points: BTreeMap::new() }
    }

    /// The level of noise at a price: epsilon over the sensitivity, exactly.
    fn level(&self, at: Amount<Epsilon>) -> Option<GeometricLevel> {
        let epsilon = Ratio::new(at.grains(), Amount::<Epsilon>::ONE.grains())?;
        let sensitivity = Ratio::from_f64(self.sensitivity.get())?;
        Some(GeometricLevel::new(&epsilon.over(&sensitivity)))
    }

    fn check_raise(
        &self,
        truth: &Exact<i64>,
        raise: &Raise<Epsilon>,
    ) -> Result<(), MismatchReason> {
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if raise.sensitivity() != self.sensitivity || truth.sensitivity() != self.sensitivity {
            return Err(MismatchReason::OtherSensitivity);
        }
        if raise.from() != self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        Ok(())
    }

    /// The value of a finer point than all revealed ones.
    fn draw_finer<E: Entropy + ?Sized>(
        &self,
        truth: i64,
        to: Amount<Epsilon>,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let level = self.level(to).ok_or(MismatchReason::OtherStep)?;
        let noise = match self.points.last_key_value() {
            None => level.draw(entropy)?,
            Some((&at, value)) => {
                let coarser = self.level(at).ok_or(MismatchReason::OtherStep)?;
                coarser.finer(value.get().saturating_sub(truth), &level, entropy)?
            }
        };
        Ok(truth.saturating_add(noise))
    }

    /// The value of a point that is not finer than the finest.
    fn draw_coarser<E: Entropy + ?Sized>(
        &self,
        to: Amount<Epsilon>,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let level = self.level(to).ok_or(MismatchReason::OtherStep)?;
        let finer = self.points.range(to..).next().ok_or(MismatchReason::OtherStep)?;
        let fine_level = self.level(*finer.0).ok_or(MismatchReason::OtherStep)?;
        let fine = finer.1.get();
        // The noise of both neighbours is off by the same truth, which cancels.
        let value = match self.points.range(..to).next_back() {
            None => fine_level.coarser(fine, &level, entropy)?,
            Some((&at, coarser)) => {
                let coarse_level = self.level(at).ok_or(MismatchReason::OtherStep)?;
                level.between((&fine_level, fine), (&coarse_level, coarser.get()), entropy)?
            }
        };
        Ok(value)
    }
}

impl NoisePath for GeometricPath {
    type Currency = Epsilon;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Epsilon> {
        self.points.last_key_value().map_or(Amount::ZERO, |(&at, _)| at)
    }

    fn point(&self, at: Amount<Epsilon>) -> Option<Released<i64>> {
        self.points.get(&at).copied()
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        receipt: Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Raise<Epsilon>>> {
        let to = receipt.purchase().to();
        let drawn = self
            .check_raise(truth, receipt.purchase())
            .and_then(|()| self.draw_finer(*truth.open(), to, entropy));
        match drawn {
            Ok(value) => {
                receipt.redeem();
                self.points.insert(to, Released::new(value));
                Ok(Released::new(value))
            }
            Err(reason) => Err(Mismatch { receipt, reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Coarsen<Epsilon>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let value = if path != self.id {
            Err(MismatchReason::OtherPath)
        } else if let Some(stored) = self.point(to) {
            Ok(stored.get())
        } else {
            self.draw_coarser(to, entropy)
        };
        match value {
            Ok(value) => {
                receipt.redeem();
                self.points.insert(to, Released::new(value));
                Ok(Released::new(value))
            }
            Err(reason) => Err(Mismatch { receipt, reason }),
        }
    }
}
