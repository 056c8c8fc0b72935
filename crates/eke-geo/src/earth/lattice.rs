//! Where points are put before noise is added: a lattice of whole steps.
//!
//! Noise is drawn in integers, so points are too. Being put on a lattice moves a point by half a
//! diagonal of a cell, and two points a hair apart may come to lie on either side of an edge. So a
//! promise per metre cannot hold for points that are closer than a cell; it is made for a least
//! distance, by default a metre, and points that are closer count as that far apart. From there on
//! the lattice, the projection and what doubles round are part of how many steps a metre is, which
//! is the sensitivity that all noise is priced for.

use eke_budget::number::ParameterError;
use eke_budget::{L2, Metres};
use eke_noise::evidence::Norms;
use eke_noise::{Exact, Grid};
use serde::{Deserialize, Serialize};

use crate::earth::region::SLACK;
use crate::{Place, Region};

/// A lattice in the plane of a region, or in a space of any number of dimensions.
///
/// - Theorem: lattice (docs/theorems.md)
/// - Proves: points that are r metres apart, r at least the least distance, are at most
///   `sensitivity · r` steps apart on the lattice, and rounded values of a K-Lipschitz function of
///   them at most `of_function(K) · r`
/// - Assumes: the region, the bounds and the least distance are public (caller)
/// - Deviates: rounded up; points that are closer than the least distance count as that far apart
/// - Checked by: `points_are_no_further_apart_on_a_lattice_than_stated`,
///   `places_are_no_further_apart_on_a_lattice_than_stated`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lattice {
    grid: Grid,
    dimensions: usize,
    least: Metres,
    space: Space,
}

/// What the lattice is laid in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Space {
    /// The plane of a region.
    Earth(Region),
    /// A box: coordinates beyond this are clamped.
    Box(Metres),
}

/// Why there is no such lattice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// A point of no coordinates, or of too many.
    #[error("points have 1 to {} coordinates", Lattice::MOST_DIMENSIONS)]
    Dimensions,
    /// More steps than fit.
    #[error(
        "coordinates up to {bound} at a least distance of {least} are more steps than are counted: take a larger least distance"
    )]
    TooFine {
        /// The bound on coordinates.
        bound: Metres,
        /// The least distance.
        least: Metres,
    },
    /// A sensitivity is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Lattice {
    /// The most coordinates that a point may have.
    pub const MOST_DIMENSIONS: usize = 1 << 16;

    /// Bounds the part of the price that is for the lattice. Its cells are small enough that they
    /// lengthen a least distance by less than one part in this number.
    const CELLS: f64 = 1024.0;

    /// The lattice on the plane of a region.
    ///
    /// # Errors
    /// The least distance is too small for the region.
    pub fn of(region: Region, least: Metres) -> Result<Self, LatticeError> {
        Self::new(2, least, Space::Earth(region))
    }

    /// The lattice in a space of n dimensions whose coordinates are within a bound of zero;
    /// whatever they are measured in is a metre here.
    ///
    /// # Errors
    /// There are no dimensions or too many, or the least distance is too small for the bound.
    pub fn boxed(dimensions: usize, bound: Metres, least: Metres) -> Result<Self, LatticeError> {
        Self::new(dimensions, least, Space::Box(bound))
    }

    fn new(dimensions: usize, least: Metres, space: Space) -> Result<Self, LatticeError> {
        if !(1..=Self::MOST_DIMENSIONS).contains(&dimensions) {
            return Err(LatticeError::Dimensions);
        }
        let bound = match space {
            Space::Earth(region) => region.radius(),
            Space::Box(bound) => bound,
        };
        let too_fine = LatticeError::TooFine { bound, least };
        let step = least.get() / (Self::CELLS * root(dimensions));
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is checked")]
        let grid = Grid::new(libm::log2(step).floor() as i32).map_err(|_| too_fine.clone())?;
        // Squares of differences, summed over all coordinates, are within 126 bits.
        if bound.get() / grid.step() * root(dimensions) > libm::ldexp(1.0, 61) {
            return Err(too_fine);
        }
        let lattice = Self { grid, dimensions, least, space };
        lattice.steps_per_metre(1.0, 1.0)?;
        Ok(lattice)
    }

    /// How many coordinates a point has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The steps.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The distance from which on the promise per metre holds.
    #[must_use]
    pub fn least(&self) -> Metres {
        self.least
    }

    /// The region, if it is one.
    #[must_use]
    pub fn region(&self) -> Option<Region> {
        match self.space {
            Space::Earth(region) => Some(region),
            Space::Box(_) => None,
        }
    }

    /// What coordinates are within, in steps from zero.
    #[must_use]
    pub fn bound(&self) -> i64 {
        match self.space {
            Space::Earth(region) => self.grid.steps(region.radius().get()).saturating_add(1),
            Space::Box(bound) => self.grid.steps(bound.get()),
        }
    }

    /// How many steps one metre moves a point: the sensitivity of the point, in Euclidean length.
    #[must_use]
    pub fn sensitivity(&self) -> L2 {
        self.steps_per_metre(1.0, 0.0).expect("checked when made")
    }

    /// How many steps one metre moves a function of points on the lattice that is K-Lipschitz,
    /// rounded to whole steps.
    ///
    /// # Errors
    /// The factor is out of range.
    pub fn of_function(&self, factor: f64) -> Result<L2, ParameterError> {
        self.steps_per_metre(factor, 1.0)
    }

    /// `factor` times what a point moves by, and less than `rounding` steps more, for each least
    /// distance.
    fn steps_per_metre(&self, factor: f64, rounding: f64) -> Result<L2, ParameterError> {
        let (stretch, slack) = match self.space {
            Space::Earth(region) => (region.stretch(), SLACK),
            Space::Box(_) => (1.0, 0.0),
        };
        let step = self.grid.step();
        let each = slack / step + root(self.dimensions);
        let steps =
            factor * (stretch / step + each / self.least.get()) + rounding / self.least.get();
        L2::new(steps * (1.0 + 1e-14))
    }

    /// Where a point is on the lattice: clamped, and each coordinate at the nearest step.
    /// Coordinates that are missing or not numbers count as zero.
    #[must_use]
    pub fn put(&self, point: &[f64]) -> Vec<i64> {
        let bound = self.bound();
        let coordinate = |at: usize| {
            let steps = point.get(at).map_or(0, |&metres| self.grid.steps(metres));
            steps.clamp(-bound, bound)
        };
        (0..self.dimensions).map(coordinate).collect()
    }

    /// Where a place is on the lattice of a region; none on a lattice of no region.
    #[must_use]
    pub fn put_place(&self, place: Place) -> Option<Vec<i64>> {
        self.region().map(|region| self.put(&region.project(place)))
    }

    /// A point that has been put on the lattice, as what it is: somebody's, and moved by at most
    /// the sensitivity a metre.
    ///
    /// # Errors
    /// The sum of the coordinates' moves would be out of range.
    pub fn exact(&self, point: Vec<i64>) -> Result<Exact<Vec<i64>>, ParameterError> {
        Ok(Exact::new(point, Norms::l2(self.sensitivity(), self.dimensions)?))
    }

    /// A point of the lattice in metres.
    #[must_use]
    pub fn metres(&self, point: &[i64]) -> Vec<f64> {
        point.iter().map(|&steps| self.grid.length(steps)).collect()
    }
}

fn root(dimensions: usize) -> f64 {
    let dimensions = dimensions as f64;
    dimensions.sqrt()
}

/// The distance of two points of one lattice, in whole steps, rounded down: so functions of points
/// that are made of distances are computed in integers.
///
/// # Panics
/// The points have different numbers of coordinates.
#[must_use]
pub fn distance(one: &[i64], two: &[i64]) -> i64 {
    assert_eq!(one.len(), two.len(), "points of one lattice have the same coordinates");
    if let ([x, y], [other_x, other_y]) = (one, two)
        && let Some(steps) = on_plane(x.abs_diff(*other_x), y.abs_diff(*other_y))
    {
        return steps;
    }
    let square = one.iter().zip(two).fold(0u128, |sum, (&one, &two)| {
        let apart = u128::from(one.abs_diff(two));
        sum.saturating_add(apart * apart)
    });
    i64::try_from(square.isqrt()).unwrap_or(i64::MAX)
}

/// The distance of two points of a plane, given how many steps they are apart along its axes; none
/// if that is 2^31 or more.
#[inline]
pub(crate) fn on_plane(across: u64, up: u64) -> Option<i64> {
    let is_near = (across | up) >> 31 == 0;
    is_near.then(|| root_of((across * across + up * up).cast_signed()))
}

/// The whole part of a root, of less than 2^63: that of doubles is off by one at most.
#[inline]
fn root_of(square: i64) -> i64 {
    let about = (square as f64).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "below 2^32")]
    let about = about as i64;
    // Squares of what is below 2^32 may wrap once, to what is below zero.
    let root = about - i64::from(about.wrapping_mul(about).wrapping_sub(square) > 0);
    let next = root + 1;
    root + i64::from(next.wrapping_mul(next).wrapping_sub(square) <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_on_a_plane_are_whole_roots(
            one in (-(1i64 << 40)..1 << 40, -(1i64 << 40)..1 << 40),
            two in (-(1i64 << 40)..1 << 40, -(1i64 << 40)..1 << 40),
            shift in 0u32..40,
        ) {
            let (one, two) = ([one.0 >> shift, one.1 >> shift], [two.0 >> shift, two.1 >> shift]);
            // With a third coordinate, as integers of twice the width work it out.
            let [a, b] = [one, two].map(|[x, y]| [x, y, 0]);
            prop_assert_eq!(distance(&one, &two), distance(&a, &b));
        }

        #[test]
        fn roots_are_whole_parts(root in prop_oneof![0u64..3_037_000_499, Just(3_037_000_499)], off in 0u64..3) {
            let square = i64::try_from((root * root + off).saturating_sub(1)).unwrap();
            prop_assert_eq!(root_of(square), square.isqrt());
        }
    }

    fn metres(value: f64) -> Metres {
        Metres::new(value).unwrap()
    }

    fn length(one: &[f64], two: &[f64]) -> f64 {
        one.iter().zip(two).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    proptest! {
        #[test]
        fn points_are_no_further_apart_on_a_lattice_than_stated(
            pairs in prop::collection::vec((-60.0f64..60.0, -2.0f64..2.0), 1..9),
            least in prop_oneof![Just(1.0), 0.01f64..3.0],
            probe in -100.0f64..100.0,
        ) {
            let lattice = Lattice::boxed(pairs.len(), metres(50.0), metres(least)).unwrap();
            let one: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            let two: Vec<f64> = pairs.iter().map(|pair| pair.0 + pair.1).collect();
            let apart = length(&one, &two).max(least) * (1.0 + 1e-12);
            let (a, b) = (lattice.put(&one), lattice.put(&two));
            let steps = a.iter().zip(&b).map(|(a, b)| ((a - b) as f64).powi(2)).sum::<f64>().sqrt();
            prop_assert!(steps <= lattice.sensitivity().get() * apart);
            // A distance from anywhere, rounded down.
            let from = vec![lattice.grid().steps(probe); pairs.len()];
            let moved = distance(&a, &from).abs_diff(distance(&b, &from));
            prop_assert!(moved as f64 <= lattice.of_function(1.0).unwrap().get() * apart);
            // And the lattice itself costs less than a part in a thousand of a least distance,
            // twice.
            let off = lattice.sensitivity().get() * lattice.grid().step() - 1.0;
            prop_assert!((0.0..=1.001 / 1024.0).contains(&off), "{off}");
        }

        #[test]
        fn places_are_no_further_apart_on_a_lattice_than_stated(
            one in (-122.6f64..-122.2, 37.5f64..37.9),
            two in (-1e-4f64..1e-4, -1e-4f64..1e-4),
            radius in 1000.0f64..30_000.0,
        ) {
            let centre = Place::new(-122.4, 37.7).unwrap();
            let lattice = Lattice::of(Region::new(centre, metres(radius)).unwrap(), Metres::ONE).unwrap();
            let (a, b) = (Place::new(one.0, one.1).unwrap(), Place::new(one.0 + two.0, one.1 + two.1).unwrap());
            let wide = Region::new(centre, metres(50_000.0)).unwrap();
            // On a wide plane no two are closer than on the earth, but for what is rounded.
            let ground = length(&wide.project(a), &wide.project(b)) / wide.stretch() - SLACK;
            let steps = distance(&lattice.put_place(a).unwrap(), &lattice.put_place(b).unwrap());
            prop_assert!(steps as f64 <= lattice.sensitivity().get() * ground.max(1.0) * (1.0 + 2e-5));
        }
    }

    #[test]
    fn lattices_are_fine_and_bounded() {
        let digits = Lattice::boxed(784, metres(255.0), Metres::ONE).unwrap();
        assert!(digits.grid().step() * 28.0 <= 1.0 / 1024.0);
        assert_eq!(digits.put(&[1e9, f64::NAN, -1e9])[..3], [digits.bound(), 0, -digits.bound()]);
        assert_eq!(digits.put(&[]).len(), 784);
        assert!(Lattice::boxed(0, Metres::ONE, Metres::ONE).is_err());
        assert!(Lattice::boxed(2, metres(1e150), Metres::ONE).is_err());
        let one = Lattice::boxed(1, metres(8.0), Metres::ONE).unwrap();
        assert_eq!(one.metres(&one.put(&[2.5])), [2.5]);
        assert!(one.exact(one.put(&[2.5])).is_ok());
    }
}
