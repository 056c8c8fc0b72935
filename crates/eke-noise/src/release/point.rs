//! Releasing a point: a verb beside the paths that opens an [`Exact`], for a receipt of its own.

use eke_budget::{Amount, Charge, Epsilon, L2, Purchase, Receipt};

use crate::evidence::exact::clamped;
use crate::law::PlanarLaplace;
use crate::law::radius::Radius;
use crate::number::ScaleError;
use crate::path::{Integers, Mismatch, MismatchReason};
use crate::{Entropy, Exact, Ratio, Released};

/// A point of one, two or three coordinates with planar Laplace noise, to be bought.
///
/// Epsilon is per unit of the account's metric, and the sensitivity is how far, in steps of the
/// lattice, one unit of the metric moves the point. That serves two uses:
///
/// - *The central model*: the point is computed from everybody's rows. One unit moves it by at most
///   the sensitivity, and the release is epsilon-private for units.
/// - *Places*: the point is where somebody is, on a grid with a step of g metres. One metre is 1/g
///   steps, which is the sensitivity, and epsilon is per metre: places r metres apart on the grid
///   are distinguished by at most `epsilon · r` (geo-indistinguishability). Being put on the grid
///   moves a place by half a diagonal of a cell at most, so for places that are r apart before it,
///   it is `epsilon (r + sqrt(N) g)` in N dimensions: places a hair apart may be on either side of
///   an edge. Take a grid far finer than the noise, and say so. The grid, and the region that
///   places are clamped to, are public.
#[doc(alias = "geo-indistinguishability")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointRelease {
    /// The price, per unit of the metric.
    pub epsilon: Amount<Epsilon>,
    /// How far one unit of the metric can move the point, in steps.
    pub sensitivity: L2,
}

impl Purchase for PointRelease {
    fn charge(&self) -> Charge {
        Charge::Pure { epsilon: self.epsilon, delta: Amount::ZERO }
    }
}

impl PointRelease {
    /// Whether a point of n coordinates could be released, which the caller should know before it
    /// pays.
    ///
    /// # Errors
    /// There are too many coordinates or none, or the noise is too wide.
    pub fn can_release(&self, coordinates: usize) -> Result<(), MismatchReason> {
        if !(1..=3).contains(&coordinates) {
            return Err(MismatchReason::NotAPoint);
        }
        crate::number::scale::shift(2.0 / self.rate()?.approximate()).map_err(too_wide)?;
        Ok(())
    }

    /// How far the noise of a point of n coordinates reaches, in steps; none if it cannot be
    /// released.
    #[must_use]
    pub fn radius(&self, coordinates: usize) -> Option<Radius> {
        self.can_release(coordinates).ok()?;
        Radius::new(self.rate().ok()?.approximate(), coordinates)
    }

    /// The rate of the noise per step: epsilon over the sensitivity, exactly.
    pub(crate) fn rate(&self) -> Result<Ratio, MismatchReason> {
        let epsilon = Ratio::new(self.epsilon.grains(), Amount::<Epsilon>::ONE.grains());
        let rate = epsilon.zip(Ratio::from_f64(self.sensitivity.get()));
        rate.map(|(epsilon, steps)| epsilon.over(&steps)).ok_or(too_wide(ScaleError))
    }
}

/// The point with noise whose density falls by `epsilon/sensitivity` per step of distance, the same
/// in all directions.
///
/// - Theorem: planar-lattice (docs/theorems.md)
/// - Proves: epsilon per unit of the metric, pure
/// - Assumes: one unit of the metric moves the point by at most the sensitivity, in Euclidean
///   length (caller)
/// - Deviates: coordinates beyond 2⁶² are clamped to it, which moves no two points further apart
/// - Checked by: `a_point_costs_its_epsilon_in_every_direction`,
///   `a_point_is_released_for_its_own_receipt_alone`
///
/// # Errors
/// The receipt is for another sensitivity, the truth has other than one, two or three coordinates,
/// or the noise is too wide. The receipt comes back; nothing is drawn.
pub fn release_point<E: Entropy + ?Sized>(
    truth: &Exact<Vec<i64>>,
    receipt: Receipt<PointRelease>,
    entropy: &mut E,
) -> Result<Released<Vec<i64>>, Mismatch<PointRelease>> {
    match noisy_point(truth, *receipt.purchase(), entropy) {
        Ok(point) => {
            receipt.redeem();
            Ok(Released::new(point))
        }
        Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
    }
}

pub(crate) fn noisy_point<E: Entropy + ?Sized>(
    truth: &Exact<Vec<i64>>,
    release: PointRelease,
    entropy: &mut E,
) -> Result<Vec<i64>, MismatchReason> {
    if truth.sensitivity().length() != release.sensitivity {
        return Err(MismatchReason::OtherSensitivity);
    }
    let coordinates = truth.sensitivity().coordinates();
    release.can_release(coordinates)?;
    let rate = release.rate()?;
    let noise = match coordinates {
        1 => PlanarLaplace::<1>::once(&rate, entropy).map(Vec::from),
        2 => PlanarLaplace::<2>::once(&rate, entropy).map(Vec::from),
        _ => PlanarLaplace::<3>::once(&rate, entropy).map(Vec::from),
    };
    let noise = noise.map_err(too_wide)?;
    let point = noise.into_iter().enumerate();
    let point = point.map(|(at, noise)| clamped(truth.open().coordinate(at)).saturating_add(noise));
    Ok(point.collect())
}

pub(crate) fn too_wide(error: ScaleError) -> MismatchReason {
    MismatchReason::Level(error.into())
}
