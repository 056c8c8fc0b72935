//! Convex polygons with whole coordinates: the hull of points, its area, and how much of it another
//! one shares.
//!
//! Which points are corners is decided in integers, exactly. Areas that two polygons share have
//! corners between the lattice's, and are computed in doubles.

use serde::{Deserialize, Serialize};

/// A convex polygon: its corners, counter-clockwise from the first in order of their coordinates,
/// none of them between two others. It may be two points, one, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<[i64; 2]>", into = "Vec<[i64; 2]>")]
pub struct Convex {
    corners: Vec<[i64; 2]>,
}

/// Coordinates are within this of zero, so that products of differences fit.
const BOUND: i64 = 1 << 61;

impl Convex {
    /// The hull of points. Coordinates beyond 2⁶¹ are clamped to it.
    #[must_use]
    pub fn around(points: impl IntoIterator<Item = [i64; 2]>) -> Self {
        let clamped = |point: [i64; 2]| point.map(|at| at.clamp(-BOUND, BOUND));
        let mut points: Vec<[i64; 2]> = points.into_iter().map(clamped).collect();
        points.sort_unstable();
        points.dedup();
        if points.len() < 3 {
            return Self { corners: points };
        }
        // The lower side from left to right, and the upper side from right to left.
        let mut corners: Vec<[i64; 2]> = Vec::with_capacity(points.len() + 1);
        for side in 0..2 {
            let start = corners.len();
            for &point in &points {
                while let [.., before, last] = corners[start..] {
                    if turn(before, last, point) > 0 {
                        break;
                    }
                    corners.pop();
                }
                corners.push(point);
            }
            // The end of a side is the beginning of the other.
            corners.pop();
            if side == 0 {
                points.reverse();
            }
        }
        Self { corners }
    }

    /// The corners.
    #[must_use]
    pub fn corners(&self) -> &[[i64; 2]] {
        &self.corners
    }

    /// The area, in square steps.
    #[must_use]
    pub fn area(&self) -> f64 {
        let Some((&first, others)) = self.corners.split_first() else { return 0.0 };
        // Every part is exact, and their sum is at most twice the area of the largest square.
        let twice: u128 =
            others.windows(2).map(|pair| turn(first, pair[0], pair[1]).unsigned_abs()).sum();
        let twice = twice as f64;
        twice / 2.0
    }

    /// The area that it shares with another one, in square steps.
    #[must_use]
    pub fn shared(&self, other: &Self) -> f64 {
        if self.corners.len() < 3 || other.corners.len() < 3 {
            return 0.0;
        }
        // From a corner of the one, so that coordinates are as small as the polygons are.
        let origin = self.corners[0];
        let near = |point: [i64; 2]| {
            let apart = |axis: usize| {
                let apart = i128::from(point[axis]) - i128::from(origin[axis]);
                apart as f64
            };
            [apart(0), apart(1)]
        };
        let mut left: Vec<[f64; 2]> = self.corners.iter().copied().map(near).collect();
        for [from, to] in other.edges() {
            left = cut(&left, near(from), near(to));
        }
        let Some((first, others)) = left.split_first() else { return 0.0 };
        let area = |pair: &[[f64; 2]]| across(*first, pair[0], pair[1]) / 2.0;
        others.windows(2).map(area).sum::<f64>().clamp(0.0, self.area().min(other.area()))
    }

    /// What it shares with another one, as a part of what both cover together: one if they are the
    /// same. Two without an area are the same, or share nothing.
    #[must_use]
    pub fn jaccard(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        let together = self.area() + other.area() - shared;
        if together > 0.0 { shared / together } else { f64::from(u8::from(self == other)) }
    }

    fn edges(&self) -> impl Iterator<Item = [[i64; 2]; 2]> + '_ {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().zip(next).map(|(from, to)| [*from, *to])
    }
}

/// Twice the area of a triangle; positive if its corners turn left.
fn turn(one: [i64; 2], two: [i64; 2], three: [i64; 2]) -> i128 {
    let apart = |from: i64, to: i64| i128::from(to) - i128::from(from);
    apart(one[0], two[0]) * apart(one[1], three[1])
        - apart(one[1], two[1]) * apart(one[0], three[0])
}

fn across(one: [f64; 2], two: [f64; 2], three: [f64; 2]) -> f64 {
    (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])
}

/// What of a polygon is to the left of a line.
fn cut(polygon: &[[f64; 2]], from: [f64; 2], to: [f64; 2]) -> Vec<[f64; 2]> {
    let mut left = Vec::with_capacity(polygon.len() + 1);
    let next = polygon.iter().cycle().skip(1);
    for (one, two) in polygon.iter().zip(next) {
        let (at_one, at_two) = (across(from, to, *one), across(from, to, *two));
        if at_one >= 0.0 {
            left.push(*one);
        }
        if (at_one > 0.0 && at_two < 0.0) || (at_one < 0.0 && at_two > 0.0) {
            let part = at_one / (at_one - at_two);
            let between = |axis: usize| one[axis] + part * (two[axis] - one[axis]);
            left.push([between(0), between(1)]);
        }
    }
    left
}

impl From<Vec<[i64; 2]>> for Convex {
    fn from(points: Vec<[i64; 2]>) -> Self {
        Self::around(points)
    }
}

impl From<Convex> for Vec<[i64; 2]> {
    fn from(polygon: Convex) -> Self {
        polygon.corners
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Convex {
        /// Whether a point is inside or on the edge.
        fn contains(&self, point: [i64; 2]) -> bool {
            match self.corners[..] {
                [] => false,
                [only] => only == point,
                [one, two] => {
                    let within = |axis: usize| {
                        (one[axis].min(two[axis])..=one[axis].max(two[axis])).contains(&point[axis])
                    };
                    within(0)
                        && within(1)
                        && turn(one, two, point.map(|at| at.clamp(-BOUND, BOUND))) == 0
                }
                _ => {
                    let point = point.map(|at| at.clamp(-BOUND, BOUND));
                    self.edges().all(|[from, to]| turn(from, to, point) >= 0)
                }
            }
        }
    }

    fn square(x: i64, y: i64, side: i64) -> Convex {
        Convex::around([[x, y], [x + side, y], [x, y + side], [x + side, y + side]])
    }

    #[test]
    fn squares_have_the_areas_that_squares_have() {
        let (one, two) = (square(0, 0, 10), square(5, 5, 10));
        assert_eq!(one.corners(), [[0, 0], [10, 0], [10, 10], [0, 10]]);
        assert_eq!((one.area(), one.shared(&two), two.shared(&one)), (100.0, 25.0, 25.0));
        assert!((one.jaccard(&two) - 25.0 / 175.0).abs() < 1e-12);
        assert_eq!((one.jaccard(&one), one.jaccard(&square(20, 0, 3))), (1.0, 0.0));
        // Turned by an eighth, with the corners of the one on the edges of the other.
        let turned = Convex::around([[5, -5], [15, 5], [5, 15], [-5, 5]]);
        assert_eq!((turned.area(), turned.shared(&one)), (200.0, 100.0));
        // As large as they come.
        let whole = square(i64::MIN, i64::MIN, i64::MAX);
        assert_eq!(whole.corners()[0], [-BOUND, -BOUND]);
        let far = Convex::around([[i64::MIN, i64::MIN], [i64::MAX, i64::MIN], [0, i64::MAX]]);
        assert!((far.area() / 2f64.powi(123) - 1.0).abs() < 1e-12);
        assert!(far.contains([0, 0]) && !far.contains([i64::MIN, i64::MAX]));
    }

    #[test]
    fn hulls_of_few_points_are_themselves() {
        for points in [vec![], vec![[3, 4]], vec![[3, 4], [5, 1]]] {
            let hull = Convex::around(points.iter().copied().chain(points.iter().copied()));
            assert_eq!((hull.corners(), hull.area()), (&points[..], 0.0));
            assert!(points.iter().all(|&point| hull.contains(point)) && !hull.contains([0, 0]));
        }
        let line = Convex::around([[0, 0], [4, 8], [1, 2], [3, 6]]);
        assert_eq!(line.corners(), [[0, 0], [4, 8]]);
        assert!(line.contains([2, 4]) && !line.contains([2, 5]) && !line.contains([5, 10]));
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<Convex>(&text).unwrap(), line);
    }

    proptest! {
        /// All points are inside, all corners are points, every corner turns left, and no point
        /// that is left out was needed.
        #[test]
        fn a_hull_is_the_least_polygon_around_its_points(
            points in prop::collection::vec([-20i64..20, -20i64..20], 1..40),
        ) {
            let hull = Convex::around(points.iter().copied());
            prop_assert!(points.iter().all(|&point| hull.contains(point)));
            prop_assert!(hull.corners().iter().all(|corner| points.contains(corner)));
            let corners = hull.corners();
            if corners.len() > 2 {
                for at in 0..corners.len() {
                    let [one, two, three] = [0, 1, 2].map(|next| corners[(at + next) % corners.len()]);
                    prop_assert!(turn(one, two, three) > 0);
                }
            }
            let again = Convex::around(corners.iter().copied());
            prop_assert_eq!(&again, &hull);
        }

        /// What two polygons share, against counting cells.
        #[test]
        fn shared_areas_are_those_of_the_cells_in_both(
            one in prop::collection::vec([-300i64..300, -300i64..300], 3..12),
            two in prop::collection::vec([-300i64..300, -300i64..300], 3..12),
        ) {
            let (one, two) = (Convex::around(one), Convex::around(two));
            let cells = (-300..300).step_by(4).flat_map(|x| (-300..300).step_by(4).map(move |y| [x, y]));
            let counted = cells.filter(|&cell| one.contains(cell) && two.contains(cell)).count();
            let shared = one.shared(&two);
            prop_assert!((shared - 16.0 * counted as f64).abs() < 10_000.0, "{} {}", shared, counted);
            prop_assert!((shared - two.shared(&one)).abs() < 1e-6 * (1.0 + shared));
        }
    }
}
