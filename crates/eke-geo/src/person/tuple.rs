//! Several places of one person: how far apart two tuples of them are, and how far on a lattice.
//!
//! The number of points of a tuple is public. Two tuples are as far apart as the farthest two of
//! their points, or as all distances added up, or as the root of the sum of their squares. The
//! first is the strictest: whatever is private by it is private by the others, which are never
//! shorter.
//!
//! Every point that moves at all may cross the edges of its cell. So a tuple of n points is put on
//! a lattice that is finer than that of a single point, n times or the root of that, unless the
//! farthest point counts: the promise is for tuples that are a least distance apart, however that
//! is shared out among their points.

use std::fmt;

use eke_budget::number::ParameterError;
use eke_budget::{L2, Metres};
use eke_noise::Exact;
use eke_noise::evidence::Norms;
use eke_noise::release::{Lengths, Points};
use serde::{Deserialize, Serialize};

use crate::earth::LatticeError;
use crate::{Lattice, Place, Region};

/// How far apart two tuples of places are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TupleMetric {
    /// As the farthest two of their points (dist-infinity).
    Farthest,
    /// As all distances between their points added up (dist-1).
    Sum,
    /// As the root of the sum of the squares of these (dist-2).
    Root,
}

impl fmt::Display for TupleMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Farthest => "farthest",
            Self::Sum => "sum",
            Self::Root => "root",
        })
    }
}

/// Where tuples of n points are put, and how many steps a metre moves them there.
///
/// - Theorem: tuples (docs/theorems.md)
/// - Proves: tuples that are r metres apart, r at least the least distance, are at most
///   `length · r` steps apart on the lattice in Euclidean length, all coordinates together, and the
///   steps that their points are apart add up to at most `lengths · r`
/// - Assumes: the number of points, the region, the bounds and the least distance are public
///   (caller)
/// - Deviates: rounded up; tuples that are closer than the least distance count as that far apart
/// - Checked by: `tuples_are_no_further_apart_on_a_lattice_than_stated`
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tuple {
    lattice: Lattice,
    points: usize,
    metric: TupleMetric,
    least: Metres,
}

/// Why there is no such tuple.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TupleError {
    /// No points, or too many.
    #[error("a tuple has 1 to {} points", Tuple::MOST_POINTS)]
    Points,
    /// There is no lattice for it.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// A number is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl Tuple {
    /// The most points that a tuple may have.
    pub const MOST_POINTS: usize = 1 << 24;

    /// Tuples of places in a region.
    ///
    /// # Errors
    /// There are no points or too many, or the least distance is too small for the region.
    pub fn of(
        region: Region,
        least: Metres,
        points: usize,
        metric: TupleMetric,
    ) -> Result<Self, TupleError> {
        Self::on(points, metric, least, |least| Lattice::of(region, least))
    }

    /// Tuples of points of n coordinates within a bound of zero; whatever they are measured in is a
    /// metre here.
    ///
    /// # Errors
    /// There are no points or no dimensions, or too many, or the least distance is too small for
    /// the bound.
    pub fn boxed(
        dimensions: usize,
        bound: Metres,
        least: Metres,
        points: usize,
        metric: TupleMetric,
    ) -> Result<Self, TupleError> {
        Self::on(points, metric, least, |least| Lattice::boxed(dimensions, bound, least))
    }

    fn on(
        points: usize,
        metric: TupleMetric,
        least: Metres,
        lattice: impl Fn(Metres) -> Result<Lattice, LatticeError>,
    ) -> Result<Self, TupleError> {
        if !(1..=Self::MOST_POINTS).contains(&points) {
            return Err(TupleError::Points);
        }
        // Rounded down, so that all of them together are within the least distance.
        let parts = match metric {
            TupleMetric::Farthest => 1.0,
            TupleMetric::Sum => number(points),
            TupleMetric::Root => number(points).sqrt().next_up(),
        };
        let each = if points == 1 { least.get() } else { (least.get() / parts).next_down() };
        let tuple = Self { lattice: lattice(Metres::new(each)?)?, points, metric, least };
        tuple.norms()?;
        tuple.steps(number(points))?;
        Ok(tuple)
    }

    /// The lattice that every point is put on. Its own least distance is that of one point's share.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many coordinates there are in all.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.points.saturating_mul(self.lattice.dimensions())
    }

    /// How far apart two tuples are.
    #[must_use]
    pub fn metric(&self) -> TupleMetric {
        self.metric
    }

    /// The distance of tuples from which on the promise per metre holds.
    #[must_use]
    pub fn least(&self) -> Metres {
        self.least
    }

    /// How many steps one metre moves the tuple, as one vector, in Euclidean length: what Gaussian
    /// noise is priced for.
    ///
    /// # Panics
    /// Never: it was looked at when the tuple was made.
    #[must_use]
    pub fn length(&self) -> L2 {
        self.norms().expect("checked when made").length()
    }

    /// How many steps one metre moves the points, all together: what planar noise on each of them
    /// is priced for.
    ///
    /// # Panics
    /// Never: it was looked at when the tuple was made.
    #[must_use]
    pub fn lengths(&self) -> Lengths {
        let factor = match self.metric {
            TupleMetric::Farthest => number(self.points),
            TupleMetric::Sum => 1.0,
            TupleMetric::Root => number(self.points).sqrt(),
        };
        let sum = self.steps(factor).expect("checked when made");
        Lengths::new(sum, self.points, self.lattice.dimensions())
    }

    fn norms(&self) -> Result<Norms, ParameterError> {
        let factor = match self.metric {
            TupleMetric::Farthest => number(self.points).sqrt(),
            TupleMetric::Sum | TupleMetric::Root => 1.0,
        };
        Norms::l2(self.steps(factor)?, self.coordinates())
    }

    /// `factor` times what a point moves by, rounded up.
    fn steps(&self, factor: f64) -> Result<L2, ParameterError> {
        let steps = self.lattice.sensitivity().get() * factor;
        L2::new(if self.points == 1 { steps } else { steps * (1.0 + 4.0 * f64::EPSILON) })
    }

    /// Where places are on the lattice, one after the other; as many as the tuple has points, and
    /// those that are missing or no places in the middle of the region.
    #[must_use]
    pub fn put_places(&self, places: impl IntoIterator<Item = Option<Place>>) -> Vec<i64> {
        let middle = || vec![0; self.lattice.dimensions()];
        let on = |place: Option<Place>| place.and_then(|place| self.lattice.put_place(place));
        let places = places.into_iter().map(on).chain(std::iter::repeat(None));
        places.take(self.points).flat_map(|point| point.unwrap_or_else(middle)).collect()
    }

    /// A tuple that has been put on the lattice, as what it is: somebody's, and moved by at most
    /// [`Tuple::length`] a metre.
    ///
    /// # Panics
    /// Never: its bounds were looked at when the tuple was made.
    #[must_use]
    pub fn exact(&self, points: Vec<i64>) -> Exact<Vec<i64>> {
        Exact::new(points, self.norms().expect("checked when made"))
    }

    /// The same as points that are noised one by one: moved by at most [`Tuple::lengths`] a metre.
    #[must_use]
    pub fn exact_points(&self, points: Vec<i64>) -> Exact<Points> {
        Exact::new(Points(points), self.lengths())
    }

    /// Released coordinates as points in metres.
    #[must_use]
    pub fn metres(&self, released: &[i64]) -> Vec<Vec<f64>> {
        released.chunks(self.lattice.dimensions()).map(|point| self.lattice.metres(point)).collect()
    }

    /// Released coordinates as places of the region; none of a lattice of no region.
    #[must_use]
    pub fn places(&self, released: &[i64]) -> Option<Vec<Place>> {
        let region = self.lattice.region()?;
        let place =
            |point: &[i64; 2]| region.place(point.map(|steps| self.lattice.grid().length(steps)));
        Some(released.as_chunks::<2>().0.iter().map(place).collect())
    }
}

fn number(points: usize) -> f64 {
    points as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const METRICS: [TupleMetric; 3] = [TupleMetric::Farthest, TupleMetric::Sum, TupleMetric::Root];

    fn metres(value: f64) -> Metres {
        Metres::new(value).unwrap()
    }

    fn distance(metric: TupleMetric, lengths: &[f64]) -> f64 {
        match metric {
            TupleMetric::Farthest => lengths.iter().copied().fold(0.0, f64::max),
            TupleMetric::Sum => lengths.iter().sum(),
            TupleMetric::Root => lengths.iter().map(|r| r * r).sum::<f64>().sqrt(),
        }
    }

    proptest! {
        /// Also moves of a hair for each of many points, which all cross an edge.
        #[test]
        fn tuples_are_no_further_apart_on_a_lattice_than_stated(
            points in prop::collection::vec(((-60.0f64..60.0, -60.0f64..60.0), (-1.0f64..1.0, -1.0f64..1.0)), 1..40),
            log_size in -12.0f64..1.0,
            least in prop_oneof![Just(1.0), 0.01f64..3.0],
            on_edges in any::<bool>(),
        ) {
            for metric in METRICS {
                let tuple = Tuple::boxed(2, metres(50.0), metres(least), points.len(), metric).unwrap();
                let step = tuple.lattice().grid().step();
                let (mut moved, mut length, mut sum) = (Vec::new(), 0.0, 0.0);
                for &((x, y), (dx, dy)) in &points {
                    let edge = |z: f64| if on_edges { ((z / step).floor() + 0.5) * step } else { z };
                    let one = [edge(x), edge(y)];
                    let two = [one[0] + dx * log_size.exp(), one[1] + dy * log_size.exp()];
                    moved.push((two[0] - one[0]).hypot(two[1] - one[1]));
                    let (a, b) = (tuple.lattice().put(&one), tuple.lattice().put(&two));
                    let steps = ((a[0] - b[0]) as f64).hypot((a[1] - b[1]) as f64);
                    length += steps * steps;
                    sum += steps;
                }
                let apart = distance(metric, &moved).max(least) * (1.0 + 1e-12);
                prop_assert!(length.sqrt() <= tuple.length().get() * apart, "{metric}");
                prop_assert!(sum <= tuple.lengths().sum().get() * apart, "{metric}");
            }
        }
    }

    /// Each bound is attained, but for the lattice: by all points moving alike, or by one of them
    /// alone.
    #[test]
    fn no_metric_costs_more_than_it_must() {
        for points in [1, 2, 9, 400] {
            for metric in METRICS {
                let tuple = Tuple::boxed(2, metres(5e4), metres(1.0), points, metric).unwrap();
                let step = tuple.lattice().grid().step();
                let all = vec![100.0; points];
                let mut one = vec![0.0; points];
                one[0] = 100.0;
                let most = |of: &dyn Fn(&[f64]) -> f64| {
                    [&all, &one]
                        .map(|moves| of(moves) / distance(metric, moves))
                        .into_iter()
                        .fold(0.0, f64::max)
                };
                let length = most(&|moves| distance(TupleMetric::Root, moves) / step);
                let sum = most(&|moves| distance(TupleMetric::Sum, moves) / step);
                for (stated, attained) in [(tuple.length(), length), (tuple.lengths().sum(), sum)] {
                    let excess = stated.get() / attained;
                    assert!((1.0..1.001).contains(&excess), "{excess} {metric} {points}");
                }
            }
        }
    }

    #[test]
    fn tuples_are_padded_and_cut_to_their_number_of_points() {
        let centre = Place::new(-122.4, 37.7).unwrap();
        let region = Region::new(centre, metres(1e4)).unwrap();
        let tuple = Tuple::of(region, Metres::ONE, 3, TupleMetric::Farthest).unwrap();
        let near = Place::new(-122.41, 37.71).unwrap();
        let put = tuple.put_places([Some(near), None]);
        assert_eq!((put.len(), &put[2..]), (6, &[0; 4][..]));
        assert_eq!(tuple.put_places([Some(near); 9]).len(), 6);
        let back = tuple.places(&put).unwrap();
        assert!((back[0].longitude() - near.longitude()).abs() < 1e-7, "{}", back[0]);
        assert!(tuple.metres(&put)[2].iter().all(|&coordinate| coordinate == 0.0));
        assert!(Tuple::of(region, Metres::ONE, 0, TupleMetric::Sum).is_err());
        assert!(Tuple::of(region, Metres::ONE, Tuple::MOST_POINTS + 1, TupleMetric::Sum).is_err());
        let many = Tuple::of(region, Metres::ONE, Tuple::MOST_POINTS, TupleMetric::Sum);
        assert!(many.is_ok(), "{many:?}");
        let text = serde_json::to_string(&TupleMetric::Farthest).unwrap();
        assert_eq!(text, r#""farthest""#);
    }
}
