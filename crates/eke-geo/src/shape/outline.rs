//! Outlines of polygons: closed rings of straight edges on the lattice.
//!
//! Counting how many edges a ray meets says what is inside, so that every edge parts inside from
//! outside whatever the rings are. That they are simple, and holes lie where holes do, is for
//! people's sake: other rings are drawn by mistake, and mean something else to everybody.

use crate::shape::ShapeError;
use crate::shape::edges::{Edges, FURTHEST, Point, product, side};

/// The most corners that all rings of a shape have.
pub(crate) const MOST_CORNERS: usize = 1 << 16;

/// The rings of one polygon or more, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    rings: Vec<Vec<Point>>,
    /// Which of them are holes.
    holes: Vec<bool>,
    edges: Edges,
}

impl Outline {
    /// Polygons, each as its outer ring and then its holes. The last corner of a ring may be the
    /// first again.
    ///
    /// # Errors
    /// A ring has fewer than three different corners, touches itself or another, or does not lie
    /// where it should.
    pub(crate) fn new(polygons: Vec<Vec<Vec<Point>>>) -> Result<Self, ShapeError> {
        let mut rings: Vec<Vec<Point>> = Vec::new();
        let (mut owners, mut holes) = (Vec::new(), Vec::new());
        for (owner, polygon) in polygons.into_iter().enumerate() {
            if polygon.is_empty() {
                return Err(ShapeError::Empty);
            }
            for (at, ring) in polygon.into_iter().enumerate() {
                owners.push(owner);
                holes.push(at > 0);
                rings.push(tidied(ring, rings.len() + 1)?);
            }
        }
        if rings.is_empty() {
            return Err(ShapeError::Empty);
        }
        if rings.iter().map(Vec::len).sum::<usize>() > MOST_CORNERS {
            return Err(ShapeError::Corners);
        }
        check_contacts(&rings)?;
        check_nesting(&rings, &holes, &owners)?;
        let edges = Edges::new(rings.iter().flat_map(|ring| sides(ring)));
        Ok(Self { rings, holes, edges })
    }

    /// The corners of all rings.
    pub(crate) fn rings(&self) -> &[Vec<Point>] {
        &self.rings
    }

    /// The corners of all rings, and whether they are a hole's.
    pub(crate) fn holes(&self) -> impl Iterator<Item = (&[Point], bool)> {
        self.rings.iter().map(Vec::as_slice).zip(self.holes.iter().copied())
    }

    /// All edges.
    pub(crate) fn edges(&self) -> &Edges {
        &self.edges
    }

    /// The corners against the clock, if it is one ring that never turns the other way.
    pub(crate) fn convex(&self) -> Option<Vec<Point>> {
        let [ring] = self.rings.as_slice() else { return None };
        let turn = |at: usize| {
            side(ring[at], ring[(at + 1) % ring.len()], ring[(at + 2) % ring.len()]).signum()
        };
        let turns: Vec<i128> = (0..ring.len()).map(turn).collect();
        let ring = ring.iter().copied();
        // A simple ring turns around once.
        if turns.iter().all(|&turn| turn >= 0) {
            Some(ring.collect())
        } else if turns.iter().all(|&turn| turn <= 0) {
            Some(ring.rev().collect())
        } else {
            None
        }
    }
}

/// The edges of a ring.
fn sides(ring: &[Point]) -> impl Iterator<Item = (Point, Point)> + Clone + '_ {
    ring.iter().copied().zip(ring.iter().copied().cycle().skip(1))
}

/// A ring without corners that are where the one before is.
fn tidied(mut ring: Vec<Point>, number: usize) -> Result<Vec<Point>, ShapeError> {
    if ring.iter().flatten().any(|steps| steps.unsigned_abs() > FURTHEST.unsigned_abs()) {
        return Err(ShapeError::TooFar);
    }
    ring.dedup();
    while ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    if ring.len() < 3 { Err(ShapeError::Degenerate { ring: number }) } else { Ok(ring) }
}

/// Refuses edges that meet, but for those of one ring at the corner between them.
fn check_contacts(rings: &[Vec<Point>]) -> Result<(), ShapeError> {
    struct Side {
        ring: usize,
        at: usize,
        ends: (Point, Point),
    }
    let mut sides: Vec<Side> = rings
        .iter()
        .enumerate()
        .flat_map(|(ring, corners)| {
            sides(corners).enumerate().map(move |(at, ends)| Side { ring, at, ends })
        })
        .collect();
    // From west to east, so that each is held only against those that begin before it ends.
    sides.sort_by_key(|side| side.ends.0[0].min(side.ends.1[0]));
    for (index, one) in sides.iter().enumerate() {
        let east = one.ends.0[0].max(one.ends.1[0]);
        for two in &sides[index + 1..] {
            if two.ends.0[0].min(two.ends.1[0]) > east {
                break;
            }
            let corners = rings[one.ring].len();
            let are_neighbours =
                |one: &Side, two: &Side| one.ring == two.ring && (one.at + 1) % corners == two.at;
            let meet = if are_neighbours(one, two) {
                folds(one.ends, two.ends)
            } else if are_neighbours(two, one) {
                folds(two.ends, one.ends)
            } else {
                meet(one.ends, two.ends)
            };
            if meet && one.ring == two.ring {
                return Err(ShapeError::NotSimple { ring: one.ring + 1 });
            }
            if meet {
                let (ring, other) = (one.ring.min(two.ring) + 1, one.ring.max(two.ring) + 1);
                return Err(ShapeError::Touching { ring, other });
            }
        }
    }
    Ok(())
}

/// Whether an edge goes back over the one before it.
fn folds(one: (Point, Point), two: (Point, Point)) -> bool {
    side(one.0, one.1, two.1) == 0 && product(one.1, one.0, two.1) > 0
}

/// Whether two edges have a point in common.
fn meet(one: (Point, Point), two: (Point, Point)) -> bool {
    let apart = |axis: usize| {
        one.0[axis].max(one.1[axis]) < two.0[axis].min(two.1[axis])
            || two.0[axis].max(two.1[axis]) < one.0[axis].min(one.1[axis])
    };
    let parted = |line: (Point, Point), ends: (Point, Point)| {
        let [a, b] = [side(line.0, line.1, ends.0), side(line.0, line.1, ends.1)];
        (a > 0 && b > 0) || (a < 0 && b < 0)
    };
    !(apart(0) || apart(1) || parted(one, two) || parted(two, one))
}

/// Refuses holes outside and polygons inside others, of rings that nowhere meet: one corner of each
/// tells.
fn check_nesting(rings: &[Vec<Point>], holes: &[bool], owners: &[usize]) -> Result<(), ShapeError> {
    if rings.len() == 1 {
        return Ok(());
    }
    let edges: Vec<Edges> = rings.iter().map(|ring| Edges::new(sides(ring))).collect();
    for (ring, corners) in rings.iter().enumerate() {
        let corner = corners[0];
        let mut depth = 0usize;
        for (other, edges) in edges.iter().enumerate().filter(|(other, _)| *other != ring) {
            let is_inside = edges.is_odd(corner);
            depth += usize::from(is_inside);
            let is_own = owners[other] == owners[ring];
            if is_own && holes[ring] && is_inside == holes[other] {
                return Err(ShapeError::Hole { ring: ring + 1 });
            }
        }
        // What is inside an even number of rings is outside of what they enclose, and a hole is
        // inside.
        if depth % 2 != usize::from(holes[ring]) {
            return Err(ShapeError::Hole { ring: ring + 1 });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: i64, y: i64, side: i64) -> Vec<Point> {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    fn polygon(rings: Vec<Vec<Point>>) -> Result<Outline, ShapeError> {
        Outline::new(vec![rings])
    }

    #[test]
    fn rings_may_be_closed_repeat_corners_and_turn_either_way() {
        let plain = polygon(vec![square(0, 0, 10)]).unwrap();
        let mut closed = square(0, 0, 10);
        closed.insert(1, closed[0]);
        closed.push(closed[0]);
        assert_eq!(polygon(vec![closed]).unwrap(), plain);
        let turned = polygon(vec![square(0, 0, 10).into_iter().rev().collect()]).unwrap();
        assert!(turned.edges().is_odd([5, 5]) && !turned.edges().is_odd([15, 5]));
        assert_eq!(turned.convex().unwrap().len(), 4);
        // A corner on a straight side is one.
        let mut straight = square(0, 0, 10);
        straight.insert(1, [5, 0]);
        assert!(polygon(vec![straight]).unwrap().convex().is_some());
        let notched = vec![[0, 0], [10, 0], [10, 10], [5, 1], [0, 10]];
        assert!(polygon(vec![notched]).unwrap().convex().is_none());
    }

    #[test]
    fn rings_that_are_not_simple_are_refused() {
        for ring in [
            vec![[0, 0], [10, 10], [10, 0], [0, 10]],
            // A spike, a ring along a line, one that touches itself at a corner, and one at the
            // middle of a side.
            vec![[0, 0], [10, 0], [20, 0], [10, 0], [5, 5]],
            vec![[0, 0], [10, 0], [5, 0]],
            vec![[0, 0], [5, 5], [0, 10], [10, 10], [5, 5], [10, 0]],
            vec![[0, 0], [10, 0], [10, 10], [5, 0], [0, 10]],
        ] {
            let error = polygon(vec![ring.clone()]).unwrap_err();
            assert_eq!(error, ShapeError::NotSimple { ring: 1 }, "{ring:?}");
        }
        for ring in [vec![], vec![[1, 1]; 5], vec![[0, 0], [1, 0], [0, 0]]] {
            assert_eq!(polygon(vec![ring]).unwrap_err(), ShapeError::Degenerate { ring: 1 });
        }
        let far = vec![[0, 0], [FURTHEST + 1, 0], [0, 1]];
        assert_eq!(polygon(vec![far]).unwrap_err(), ShapeError::TooFar);
        assert_eq!(polygon(vec![]).unwrap_err(), ShapeError::Empty);
        assert_eq!(Outline::new(vec![]).unwrap_err(), ShapeError::Empty);
        let many = (0..40_000).flat_map(|n| [[2 * n, 0], [2 * n + 1, 1]]).chain([[0, 9]]);
        assert_eq!(polygon(vec![many.collect()]).unwrap_err(), ShapeError::Corners);
    }

    #[test]
    fn holes_lie_inside_and_apart() {
        let outer = square(0, 0, 100);
        let good = polygon(vec![outer.clone(), square(10, 10, 20), square(50, 50, 20)]).unwrap();
        assert!(good.edges().is_odd([5, 5]) && !good.edges().is_odd([20, 20]));
        assert!(good.edges().is_odd([40, 40]) && !good.edges().is_odd([60, 60]));
        for (hole, error) in [
            (square(200, 0, 10), ShapeError::Hole { ring: 2 }),
            (square(-10, -10, 200), ShapeError::Hole { ring: 1 }),
            (square(90, 90, 20), ShapeError::Touching { ring: 1, other: 2 }),
            (square(0, 10, 20), ShapeError::Touching { ring: 1, other: 2 }),
        ] {
            assert_eq!(polygon(vec![outer.clone(), hole]).unwrap_err(), error);
        }
        let nested = vec![outer.clone(), square(10, 10, 50), square(20, 20, 5)];
        assert!(matches!(polygon(nested).unwrap_err(), ShapeError::Hole { .. }));
        // An island in a lake is a polygon of its own, and one on land is none.
        let lake = vec![outer.clone(), square(10, 10, 50)];
        assert!(Outline::new(vec![lake, vec![square(20, 20, 5)]]).is_ok());
        let island = Outline::new(vec![vec![outer], vec![square(20, 20, 5)]]).unwrap_err();
        assert_eq!(island, ShapeError::Hole { ring: 2 });
    }
}
