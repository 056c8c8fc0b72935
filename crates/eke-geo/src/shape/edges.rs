//! How far points are from straight edges, in whole steps, exactly.
//!
//! A distance is the root of a ratio of integers. It is computed in doubles first, with a bound on
//! what they round, and where that does not decide which two whole steps it lies between, integers
//! of 256 bits do. So what comes out is the distance rounded down or up, and nothing else, whatever
//! the edges look like.

/// A point of a lattice in the plane, in steps.
pub(crate) type Point = [i64; 2];

/// The furthest that ends of edges are from zero, in steps. Points may be twice as far and are
/// clamped there.
pub(crate) const FURTHEST: i64 = 1 << 60;

/// What doubles may be off by when a distance is computed, for each step of the largest coordinate:
/// 46 roundings of 2⁻⁵³ at most.
const OFF: f64 = 64.0 * f64::EPSILON / 2.0;

/// Edges, each with two different ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edges {
    edges: Vec<Edge>,
    /// The same in doubles.
    rough: Vec<Rough>,
    /// The largest coordinate.
    largest: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    from: Point,
    to: Point,
}

/// An edge in doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rough {
    start: [f64; 2],
    way: [f64; 2],
    /// One over the square of its length.
    inverse: f64,
}

/// Which way a distance is rounded to whole steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounded {
    Down,
    Up,
}

impl Edges {
    /// Edges between pairs of different points that are no further than [`FURTHEST`].
    pub(crate) fn new(pairs: impl Iterator<Item = (Point, Point)>) -> Self {
        let edges: Vec<Edge> = pairs.map(|(from, to)| Edge { from, to }).collect();
        let coordinates = edges.iter().flat_map(|edge| edge.from.into_iter().chain(edge.to));
        let largest = coordinates.map(|steps| double(steps).abs()).fold(0.0, f64::max);
        let rough = edges.iter().map(Edge::rough).collect();
        Self { edges, rough, largest }
    }

    /// The ends of all edges.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        self.edges.iter().map(|edge| (edge.from, edge.to))
    }

    /// Whether a ray from the point to the east meets an odd number of edges. It changes only where
    /// a point moves over an edge.
    pub(crate) fn is_odd(&self, point: Point) -> bool {
        let crosses = |edge: &&Edge| {
            let Edge { from, to } = **edge;
            if (from[1] > point[1]) == (to[1] > point[1]) {
                return false;
            }
            // Both to the west or both to the east need no product.
            if from[0].max(to[0]) < point[0] {
                return false;
            }
            from[0].min(to[0]) > point[0] || (side(from, to, point) > 0) == (to[1] > from[1])
        };
        self.edges.iter().filter(crosses).count() % 2 == 1
    }

    /// The distance from the closest point of all edges.
    pub(crate) fn distance(&self, point: Point, rounded: Rounded) -> i64 {
        let at = point.map(double);
        let least = self.rough.iter().map(|edge| edge.square(at)).fold(f64::INFINITY, f64::min);
        let off = OFF * self.largest.max(at[0].abs()).max(at[1].abs());
        let least = least.sqrt();
        rounded.decided(least, off).unwrap_or_else(|| {
            // One of those that may be the closest is.
            let most = least + 3.0 * off;
            let close = |(_, rough): &(&Edge, &Rough)| rough.square(at) <= most * most;
            let edges = self.edges.iter().zip(&self.rough).filter(close);
            edges.map(|(edge, _)| edge.distance(point, rounded)).min().unwrap_or(i64::MAX)
        })
    }
}

impl Edge {
    fn rough(&self) -> Rough {
        let way = [0, 1].map(|axis| double(self.to[axis] - self.from[axis]));
        let inverse = 1.0 / (way[0] * way[0] + way[1] * way[1]);
        Rough { start: self.from.map(double), way, inverse }
    }

    /// In integers.
    fn distance(&self, point: Point, rounded: Rounded) -> i64 {
        let Self { from, to } = *self;
        // Edges along an axis, of which distances are whole, are many.
        for (axis, other) in [(0, 1), (1, 0)] {
            let range = from[other].min(to[other])..=from[other].max(to[other]);
            if from[axis] == to[axis] && range.contains(&point[other]) {
                return (point[axis] - from[axis]).abs();
            }
        }
        let length = square(from, to);
        let along = product(from, to, point);
        if along <= 0 {
            rounded.root(square(from, point))
        } else if along.unsigned_abs() >= length {
            rounded.root(square(to, point))
        } else {
            rounded.quotient(side(from, to, point).unsigned_abs(), length)
        }
    }
}

impl Rough {
    /// The square of the distance of a point.
    fn square(&self, at: [f64; 2]) -> f64 {
        let Self { start, way, inverse } = self;
        let from = [at[0] - start[0], at[1] - start[1]];
        let along = (from[0] * way[0] + from[1] * way[1]) * inverse;
        let along = along.clamp(0.0, 1.0);
        let apart = [from[0] - along * way[0], from[1] - along * way[1]];
        apart[0] * apart[0] + apart[1] * apart[1]
    }
}

impl Rounded {
    /// A number that is known to be within `off` of a double, rounded, if that decides it.
    pub(crate) fn decided(self, value: f64, off: f64) -> Option<i64> {
        let (low, high) = (value - off, value + off);
        if !(0.0..9e18).contains(&low) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "in range, and saturates")]
        let (whole, last) = (low as i64, high as i64);
        match self {
            _ if whole != last => None,
            Self::Down => Some(whole),
            // A whole number at the lower end is not above itself.
            Self::Up => (low > double(whole)).then_some(whole + 1),
        }
    }

    /// The root of a whole number, in integers where doubles do not decide.
    pub(crate) fn root(self, square: u128) -> i64 {
        let about = (square as f64).sqrt();
        if let Some(decided) = self.decided(about, about * 2.0 * f64::EPSILON) {
            return decided;
        }
        let root = square.isqrt();
        let up = self == Self::Up && root * root < square;
        i64::try_from(root + u128::from(up)).unwrap_or(i64::MAX)
    }

    /// A whole number divided by the root of a square, in integers where doubles do not decide.
    pub(crate) fn quotient(self, value: u128, square: u128) -> i64 {
        let about = value as f64 / (square as f64).sqrt();
        if let Some(decided) = self.decided(about, about * 4.0 * f64::EPSILON) {
            return decided;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least zero, and saturates"
        )]
        let about = about as u128;
        let room = (about >> 48) + 2;
        let value = wide(value, value);
        // The largest number whose square times `square` is at most that of the value: above `low`,
        // up to `high`.
        let (mut low, mut high) = (about.saturating_sub(room), about + room);
        debug_assert!(wide(low * low, square) <= value && wide(high * high, square) > value);
        while low + 1 < high {
            let middle = u128::midpoint(low, high);
            if wide(middle * middle, square) <= value {
                low = middle;
            } else {
                high = middle;
            }
        }
        let up = self == Self::Up && wide(low * low, square) < value;
        i64::try_from(low + u128::from(up)).unwrap_or(i64::MAX)
    }
}

/// Twice the area to the left of the way from one point to another, as far as a third: positive on
/// the left.
pub(crate) fn side(from: Point, to: Point, point: Point) -> i128 {
    let [way, off] = [apart(from, to), apart(from, point)];
    way[0] * off[1] - way[1] * off[0]
}

/// The square of the distance of two points.
pub(crate) fn square(one: Point, two: Point) -> u128 {
    let apart = apart(one, two).map(i128::unsigned_abs);
    apart[0] * apart[0] + apart[1] * apart[1]
}

/// How far along the way from one point to another a third is, times the square of the way's
/// length.
pub(crate) fn product(from: Point, to: Point, point: Point) -> i128 {
    let [way, off] = [apart(from, to), apart(from, point)];
    way[0] * off[0] + way[1] * off[1]
}

fn apart(one: Point, two: Point) -> [i128; 2] {
    [0, 1].map(|at| i128::from(two[at]) - i128::from(one[at]))
}

pub(crate) fn double(steps: i64) -> f64 {
    steps as f64
}

/// A product in two parts, the upper 128 bits first, so that products compare as pairs.
fn wide(one: u128, two: u128) -> (u128, u128) {
    const LOWER: u128 = u64::MAX as u128;
    let [one_high, one_low] = [one >> 64, one & LOWER];
    let [two_high, two_low] = [two >> 64, two & LOWER];
    let low = one_low * two_low;
    let middle = one_high * two_low + (low >> 64);
    let other = one_low * two_high + (middle & LOWER);
    (one_high * two_high + (middle >> 64) + (other >> 64), (other << 64) | (low & LOWER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(centre: i64) -> impl Strategy<Value = i64> {
        prop_oneof![
            -4i64..4,
            -1000i64..1000,
            -(1i64 << 31)..(1i64 << 31),
            -(1i64 << 60)..(1i64 << 60),
            Just(centre),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn products_of_wide_numbers_are_exact(one: u128, two: u128, shift in 0u32..128) {
            let (one, two) = (one >> shift, two >> (shift / 2));
            let (high, low) = wide(one, two);
            prop_assert_eq!(low, one.wrapping_mul(two));
            // By a prime: the product of the rests is the rest of the product.
            const PRIME: u128 = 4_294_967_291;
            let two_128 = (u128::MAX % PRIME + 1) % PRIME;
            let rest = (high % PRIME * two_128 + low % PRIME) % PRIME;
            prop_assert_eq!(rest, (one % PRIME) * (two % PRIME) % PRIME);
        }

        /// What doubles decide is what integers say, and rounding up and down are one apart unless
        /// it is whole.
        #[test]
        fn doubles_decide_only_what_integers_say(
            from in (near(0), near(7)),
            to in (near(0), near(7)),
            point in (near(0), near(7)),
            slide in -3i64..4,
        ) {
            let (from, to) = ([from.0, from.1], [to.0, to.1]);
            prop_assume!(from != to);
            // Also points that are close to the line.
            let middle = [0, 1].map(|at| i64::midpoint(from[at], to[at]) + slide);
            for point in [[point.0, point.1], middle] {
                let edges = Edges::new([(from, to)].into_iter());
                for rounded in [Rounded::Down, Rounded::Up] {
                    let exact = edges.edges[0].distance(point, rounded);
                    prop_assert_eq!(edges.distance(point, rounded), exact);
                }
                let [down, up] = [Rounded::Down, Rounded::Up].map(|way| edges.distance(point, way));
                prop_assert!(up == down || up == down + 1);
            }
        }
    }

    #[test]
    fn distances_to_an_edge_are_rounded_as_said() {
        let edges = Edges::new([([0, 0], [3, 4])].into_iter());
        for (point, down, up) in [
            ([0, 0], 0, 0),
            ([3, 4], 0, 0),
            ([-3, -4], 5, 5),
            ([-1, -1], 1, 2),
            // At a right angle to its ends, and to a point between.
            ([-1, 7], 5, 5),
            ([-8, 6], 10, 10),
            ([-2, 4], 4, 4),
            ([1, 1], 0, 1),
            ([6, 8], 5, 5),
        ] {
            assert_eq!(edges.distance(point, Rounded::Down), down, "{point:?}");
            assert_eq!(edges.distance(point, Rounded::Up), up, "{point:?}");
        }
        // Whole only in integers of more than 128 bits.
        let far = 1i64 << 60;
        let edge = Edge { from: [-far, -far], to: [far, far - 1] };
        let [down, up] = [Rounded::Down, Rounded::Up].map(|way| edge.distance([far, -far], way));
        assert_eq!(up, down + 1);
        assert_eq!(down, 1_630_477_228_166_597_776);
    }
}
