//! Paths of geometric noise, priced in pure epsilon.

use std::collections::BTreeMap;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::geometric::GeometricLevel;
use crate::path::{Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Ratio, Released};

/// A path of two-sided geometric noise, priced in pure epsilon: a point at epsilon has noise of rate
/// epsilon over the sensitivity, on an integer truth.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
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
            .and_then(|()| self.draw_finer(truth.clamped(), to, entropy));
        match drawn {
            Ok(value) => {
                receipt.redeem();
                self.points.insert(to, Released::new(value));
                Ok(Released::new(value))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
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
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
