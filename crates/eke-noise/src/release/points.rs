//! Releasing several points at once: a verb that opens an [`Exact`], for one receipt.
//!
//! Every point gets planar Laplace noise of its own, of one rate. What that costs is the rate times
//! the sum of the lengths that the points move by, so the bound of several points is on that sum.

use eke_budget::number::ParameterError;
use eke_budget::{Amount, Charge, Epsilon, L2, Purchase, Receipt};

use crate::evidence::bound::Bound;
use crate::evidence::exact::{Truth, clamped};
use crate::law::PlanarLaplace;
use crate::law::radius::Radius;
use crate::path::{Mismatch, MismatchReason};
use crate::release::point::{PointRelease, too_wide};
use crate::{Entropy, Exact, Ratio, Released};

/// From this number of points on it pays to prepare the law. (Which way is taken is public, and
/// changes no probability.)
const PREPARED: usize = 64;

/// Several points of as many coordinates each, one after the other.
#[derive(Clone)]
pub struct Points(pub Vec<i64>);

/// How far one unit can move several points: the sum of the Euclidean lengths that they move by.
///
/// How many points there are, and of how many coordinates, is part of the bound, and public.
/// Coordinates that are missing count as zero, and those beyond are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    sum: L2,
    points: usize,
    dimensions: usize,
}

impl Lengths {
    /// A bound on the sum of lengths of the given number of points of `dimensions` coordinates.
    #[must_use]
    pub fn new(sum: L2, points: usize, dimensions: usize) -> Self {
        Self { sum, points, dimensions }
    }

    /// The sum.
    #[must_use]
    pub fn sum(&self) -> L2 {
        self.sum
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many coordinates each of them has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }
}

impl Bound for Lengths {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        let product = self.sum.get() * f64::from(factor);
        let sum = L2::new(if factor == 1 { product } else { product.next_up() })?;
        Ok(Self { sum, ..*self })
    }
}

/// Several points: a unit moves them by lengths that add up to at most the bound.
impl Truth for Points {
    type Bound = Lengths;
}

impl std::fmt::Debug for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Points(..)")
    }
}

/// Several points of one, two or three coordinates with planar Laplace noise, to be bought. Epsilon
/// and the bound are per unit of the account's metric, as for a [`PointRelease`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointsRelease {
    /// The price of all of them, per unit of the metric.
    pub epsilon: Amount<Epsilon>,
    /// How far one unit of the metric can move them, in steps.
    pub sensitivity: Lengths,
}

impl Purchase for PointsRelease {
    fn charge(&self) -> Charge {
        Charge::Pure { epsilon: self.epsilon, delta: Amount::ZERO }
    }
}

impl PointsRelease {
    /// Whether they could be released: something to know before it is paid for.
    ///
    /// # Errors
    /// They have too many coordinates or none, or the noise is too wide.
    pub fn can_release(&self) -> Result<(), MismatchReason> {
        self.each().can_release(self.sensitivity.dimensions)
    }

    /// How far the noise of each point reaches, in steps; none if they cannot be released.
    #[must_use]
    pub fn radius(&self) -> Option<Radius> {
        self.each().radius(self.sensitivity.dimensions)
    }

    /// A release of one of them, with the noise that each of them has.
    fn each(&self) -> PointRelease {
        PointRelease { epsilon: self.epsilon, sensitivity: self.sensitivity.sum }
    }
}

/// The points, each with noise of its own whose density falls by `epsilon/sum` per step of
/// distance.
///
/// - Theorem: planar-points (docs/theorems.md)
/// - Proves: epsilon per unit of the metric, pure, for all points together
/// - Assumes: one unit of the metric moves the points by lengths that add up to at most the bound
///   (caller)
/// - Deviates: coordinates beyond 2⁶² are clamped to it, which moves no two points further apart
/// - Checked by: `several_points_cost_their_epsilon_together`,
///   `several_points_are_released_for_their_own_receipt_alone`
///
/// # Errors
/// The receipt is for another bound, the points have other than one, two or three coordinates, or
/// the noise is too wide. The receipt comes back; nothing is drawn.
pub fn release_points<E: Entropy + ?Sized>(
    truth: &Exact<Points>,
    receipt: Receipt<PointsRelease>,
    entropy: &mut E,
) -> Result<Released<Vec<i64>>, Mismatch<PointsRelease>> {
    match draw(truth, *receipt.purchase(), entropy) {
        Ok(points) => {
            receipt.redeem();
            Ok(Released::new(points))
        }
        Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
    }
}

fn draw<E: Entropy + ?Sized>(
    truth: &Exact<Points>,
    release: PointsRelease,
    entropy: &mut E,
) -> Result<Vec<i64>, MismatchReason> {
    if *truth.sensitivity() != release.sensitivity {
        return Err(MismatchReason::OtherSensitivity);
    }
    release.can_release()?;
    let rate = release.each().rate()?;
    let Lengths { points, dimensions, .. } = release.sensitivity;
    match dimensions {
        1 => noisy::<1, E>(truth, points, &rate, entropy),
        2 => noisy::<2, E>(truth, points, &rate, entropy),
        _ => noisy::<3, E>(truth, points, &rate, entropy),
    }
}

fn noisy<const N: usize, E: Entropy + ?Sized>(
    truth: &Exact<Points>,
    points: usize,
    rate: &Ratio,
    entropy: &mut E,
) -> Result<Vec<i64>, MismatchReason> {
    let mut noise = vec![[0; N]; points];
    if points < PREPARED {
        for draw in &mut noise {
            *draw = PlanarLaplace::once(rate, entropy).map_err(too_wide)?;
        }
    } else {
        PlanarLaplace::new(rate).map_err(too_wide)?.fill(&mut noise, entropy);
    }
    let Points(truth) = truth.open();
    let coordinate = |at: usize| clamped(truth.get(at).copied().unwrap_or(0));
    let noise = noise.as_flattened().iter().enumerate();
    Ok(noise.map(|(at, &noise)| coordinate(at).saturating_add(noise)).collect())
}
