//! One person's places: a tuple of points on a lattice, and what can be asked of it.
//!
//! How many points there are is public, and where each of them is in the tuple; where they are on
//! the earth is not. So nothing here shows a point: what is computed comes as an [`Exact`], with
//! what a metre changes it by.
//!
//! Distances between tuples are those of their farthest points (dist-infinity). What is private by
//! them is private by sums and by roots of sums of squares too, which are never shorter.

use std::fmt;

use eke_budget::number::ParameterError;
use eke_budget::{L1, L2};
use eke_noise::Exact;
use eke_noise::evidence::{Norms, Scores};

use crate::earth::distance;
use crate::earth::lattice::on_plane;
use crate::{Lattice, Place};

/// One person's places.
///
/// They cannot be looked at:
/// ```compile_fail,E0616
/// fn look(places: eke_geo::Places) -> Vec<i64> {
///     places.points
/// }
/// ```
#[derive(Clone)]
pub struct Places {
    lattice: Lattice,
    /// The coordinates of one point after the other.
    points: Vec<i64>,
}

impl Places {
    /// Points in metres, put on a lattice.
    #[must_use]
    pub fn new<P: AsRef<[f64]>>(lattice: Lattice, points: impl IntoIterator<Item = P>) -> Self {
        let points = points.into_iter().flat_map(|point| lattice.put(point.as_ref())).collect();
        Self { lattice, points }
    }

    /// Places on the earth, put on the lattice of a region; none on a lattice of no region.
    #[must_use]
    pub fn on_earth(lattice: Lattice, places: impl IntoIterator<Item = Place>) -> Option<Self> {
        let region = lattice.region()?;
        Some(Self::new(lattice, places.into_iter().map(|place| region.project(place))))
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.points.len() / self.lattice.dimensions()
    }

    /// The lattice that they are on.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// How near every place is to a public point of the lattice: minus its distance, in steps.
    ///
    /// - Theorem: choosing-by-distance (docs/theorems.md)
    /// - Proves: tuples r metres apart have distances that differ by at most `of_function(1) · r`
    ///   steps each, some up and some down
    /// - Assumes: the point is public, or was released (caller)
    /// - Deviates: distances are rounded down to whole steps, which is in what a metre is
    /// - Checked by: `what_is_worked_out_of_places_moves_no_further_than_stated`,
    ///   `nearest_places_cost_their_price`
    ///
    /// # Errors
    /// The sensitivity would be out of range.
    ///
    /// # Panics
    /// The point has another number of coordinates than the lattice.
    pub fn nearness(&self, to: &[i64]) -> Result<Exact<Scores>, ParameterError> {
        let sensitivity = L1::new(self.lattice.of_function(1.0)?.get())?;
        let nearness = self.distances(to).into_iter().map(|steps| -steps).collect();
        Ok(Exact::new(Scores(nearness), sensitivity))
    }

    /// The sum of the largest and the smallest coordinate, in every dimension: twice the middle of
    /// a box around all places.
    ///
    /// - Theorem: hull-parts (docs/theorems.md)
    /// - Proves: it moves by at most twice the root of the number of dimensions times what a point
    ///   moves by
    /// - Assumes: nothing
    /// - Deviates: rounded up
    /// - Checked by: `what_is_worked_out_of_places_moves_no_further_than_stated`
    ///
    /// # Errors
    /// The sensitivity would be out of range.
    pub fn extremes(&self) -> Result<Exact<Vec<i64>>, ParameterError> {
        let dimensions = self.lattice.dimensions();
        let sum = |axis: usize| {
            let coordinates = || self.points.iter().skip(axis).step_by(dimensions).copied();
            coordinates().min().unwrap_or(0) + coordinates().max().unwrap_or(0)
        };
        let root = (dimensions as f64).sqrt();
        let sensitivity = 2.0 * root * self.lattice.sensitivity().get() * (1.0 + 1e-14);
        let bound = Norms::l2(L2::new(sensitivity)?, dimensions)?;
        Ok(Exact::new((0..dimensions).map(sum).collect(), bound))
    }

    /// How far the farthest place is from a public point of the lattice, in steps.
    ///
    /// - Theorem: hull-parts (docs/theorems.md)
    /// - Proves: it moves by no more than a distance does
    /// - Assumes: the point is public, or was released (caller)
    /// - Deviates: rounded down to whole steps, which is in what a metre is
    /// - Checked by: `what_is_worked_out_of_places_moves_no_further_than_stated`
    ///
    /// # Errors
    /// The sensitivity would be out of range.
    ///
    /// # Panics
    /// The point has another number of coordinates than the lattice.
    pub fn farthest(&self, from: &[i64]) -> Result<Exact<Vec<i64>>, ParameterError> {
        let bound = Norms::l2(self.lattice.of_function(1.0)?, 1)?;
        Ok(Exact::new(vec![self.distances(from).into_iter().max().unwrap_or(0)], bound))
    }

    /// One of the places, by where it is in the tuple; one that is not there is the origin.
    ///
    /// # Errors
    /// The sensitivity would be out of range.
    pub fn point(&self, item: u32) -> Result<Exact<Vec<i64>>, ParameterError> {
        let dimensions = self.lattice.dimensions();
        let start = (item as usize).saturating_mul(dimensions);
        let point = self.points.get(start..start.saturating_add(dimensions));
        self.lattice.exact(point.map_or_else(|| vec![0; dimensions], <[i64]>::to_vec))
    }

    fn distances(&self, to: &[i64]) -> Vec<i64> {
        let dimensions = self.lattice.dimensions();
        let points = self.points.chunks_exact(dimensions);
        let &[x, y] = to else { return points.map(|point| distance(point, to)).collect() };
        assert_eq!(dimensions, 2, "points of one lattice have the same coordinates");
        let (points, _) = self.points.as_chunks();
        let from = |point: &[i64; 2]| {
            let near = on_plane(point[0].abs_diff(x), point[1].abs_diff(y));
            near.unwrap_or_else(|| distance(point, to))
        };
        points.iter().map(from).collect()
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Places(..)")
    }
}
