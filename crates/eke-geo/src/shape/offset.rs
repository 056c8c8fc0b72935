//! How large a shape is when its boundary is moved out or in, and where that says to cut when
//! counting.
//!
//! Public numbers in doubles: what a cut is worth, and nothing that privacy rests on.

use std::f64::consts::{PI, SQRT_2};

use crate::shape::{Rings, bounds, pairs};

/// Areas of a shape by how far its boundary is moved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Offsets {
    /// On one side of a line there is as much as on the other.
    HalfPlane,
    /// By its two sides.
    Rectangle([f64; 2]),
    /// By its radius.
    Circle(f64),
    /// By its corners, against the clock, its area and its perimeter.
    Convex(Vec<[f64; 2]>, f64, f64),
    /// By signed distances at many points.
    Sampled(Samples),
}

/// Signed distances all over a shape and around it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples {
    /// From the innermost.
    sorted: Vec<f64>,
    /// The area that each stands for, and the area of the shape.
    cell: f64,
    area: f64,
    perimeter: f64,
    /// How much more than along a straight boundary there is when it is moved a little: outwards
    /// and inwards, for each square of how far. Only corners matter.
    bend: [f64; 2],
}

/// How many points are sampled.
const SAMPLES: u32 = 1 << 15;

impl Offsets {
    pub(crate) fn convex(corners: Vec<[f64; 2]>) -> Self {
        let (area, perimeter) = (shoelace(&corners), around(&corners));
        Self::Convex(corners, area, perimeter)
    }

    /// From a signed distance in metres, for rings with this area between them.
    pub(crate) fn sampled(rings: &Rings, area: f64, distance: impl Fn([f64; 2]) -> f64) -> Self {
        let corners = rings.concat();
        let [low, high] = bounds(&corners);
        // A shape of twice the area is nowhere further out than a circle's would be.
        let room = (SQRT_2 - 1.0) * (area / PI).sqrt() * 1.05;
        let size = [0, 1].map(|axis| high[axis] - low[axis] + 2.0 * room);
        // Fractions of multiples of two numbers spread evenly, and stand in no rows.
        let fraction = |n: u32, times: f64| (f64::from(n) * times).fract();
        let point = |n: u32| {
            let parts =
                [fraction(n, 0.754_877_666_246_692_7), fraction(n, 0.569_840_290_998_053_2)];
            [0, 1].map(|axis| low[axis] - room + parts[axis] * size[axis])
        };
        let mut sorted: Vec<f64> = (0..SAMPLES).map(|n| distance(point(n))).collect();
        sorted.sort_by(f64::total_cmp);
        let perimeter = rings.iter().map(|ring| around(ring)).sum();
        let bends = rings.iter().map(|ring| bend(ring, 1e-6 * size[0].min(size[1]), &distance));
        let bend = bends.fold([0.0; 2], |sum, bend| [sum[0] + bend[0], sum[1] + bend[1]]);
        let cell = size[0] * size[1] / f64::from(SAMPLES);
        Self::Sampled(Samples { sorted, cell, area, perimeter, bend })
    }

    /// The area with the boundary moved out by the given number of metres, or in.
    pub(crate) fn area(&self, by: f64) -> Option<f64> {
        match self {
            Self::HalfPlane => None,
            &Self::Rectangle([length, width]) => Some(if by >= 0.0 {
                length * width + 2.0 * (length + width) * by + PI * by * by
            } else {
                (length + 2.0 * by).max(0.0) * (width + 2.0 * by).max(0.0)
            }),
            &Self::Circle(radius) => {
                let radius = (radius + by).max(0.0);
                Some(PI * radius * radius)
            }
            Self::Convex(corners, area, perimeter) => Some(if by >= 0.0 {
                area + perimeter * by + PI * by * by
            } else {
                shoelace(&eroded(corners, -by))
            }),
            Self::Sampled(samples) => Some(samples.area(by)),
        }
    }

    /// Where the area outside and within `deviation + cut` is that inside and within
    /// `deviation - cut`.
    pub(crate) fn cut(&self, deviation: f64) -> f64 {
        assert!(deviation >= 0.0, "a deviation is not negative");
        match self {
            Self::HalfPlane => 0.0,
            &Self::Rectangle([length, width]) => {
                let half = length + width;
                // Inside there is a rectangle left in the middle: one quadratic equation; or
                // nothing: another.
                let (b, c) = (4.0 * half + 2.0 * (PI - 4.0) * deviation, (PI + 4.0) * deviation);
                let root = b * b - 4.0 * c * c;
                let cut = -2.0 * c * deviation / (b + root.max(0.0).sqrt());
                if root >= 0.0 && deviation - cut <= length.min(width) / 2.0 {
                    return cut;
                }
                let area = length * width;
                area / f64::midpoint(half, (half * half + PI * area).sqrt()) / 2.0 - deviation
            }
            &Self::Circle(radius) => {
                if deviation <= radius / SQRT_2 {
                    -deviation * deviation
                        / (radius + ((radius - deviation) * (radius + deviation)).sqrt())
                } else {
                    (SQRT_2 - 1.0) * radius - deviation
                }
            }
            Self::Sampled(samples) if deviation < 4.0 * samples.cell.sqrt() => {
                samples.small_cut(deviation)
            }
            Self::Convex(..) | Self::Sampled(_) => {
                let area = |by: f64| self.area(by).unwrap_or(0.0);
                let twice = 2.0 * area(0.0);
                let (mut low, mut high) = (-deviation, deviation);
                for _ in 0..60 {
                    let middle = f64::midpoint(low, high);
                    if area(middle + deviation) + area(middle - deviation) < twice {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                f64::midpoint(low, high)
            }
        }
    }
}

impl Samples {
    fn area(&self, by: f64) -> f64 {
        let cells = |by: f64| self.sorted.partition_point(|&distance| distance < by) as f64;
        self.area + self.cell * (cells(by) - cells(0.0))
    }

    /// For noise that is finer than the cells: straight boundaries and corners alone.
    fn small_cut(&self, deviation: f64) -> f64 {
        let [out, inwards] = self.bend;
        -(out + inwards) * deviation * deviation / (2.0 * self.perimeter)
    }
}

/// What a ring's corners put on or take off when it is moved out, and in, by a little: times the
/// square of how far.
fn bend(ring: &[[f64; 2]], near: f64, distance: impl Fn([f64; 2]) -> f64) -> [f64; 2] {
    // Inside may be to the left or to the right, whichever way the ring is written.
    let (one, two) = (ring[0], ring[1]);
    let way = [two[0] - one[0], two[1] - one[1]];
    let part = near / libm::hypot(way[0], way[1]);
    let beside = |side: f64| {
        [
            f64::midpoint(one[0], two[0]) - side * part * way[1],
            f64::midpoint(one[1], two[1]) + side * part * way[0],
        ]
    };
    let is_inside_left = distance(beside(1.0)) < distance(beside(-1.0));
    let mut sum = [0.0; 2];
    for at in 0..ring.len() {
        let way = |n: usize| {
            let [from, to] = [n, n + 1].map(|n| ring[(at + n) % ring.len()]);
            [to[0] - from[0], to[1] - from[1]]
        };
        let (one, two) = (way(0), way(1));
        let turn =
            libm::atan2(one[0] * two[1] - one[1] * two[0], one[0] * two[0] + one[1] * two[1]);
        // At a corner that points out a sector is gained outside, and a kite is lost only once
        // inside.
        let (sector, kite) = (turn.abs() / 2.0, libm::tan(turn.abs() / 2.0));
        let points_out = (turn >= 0.0) == is_inside_left;
        let more = if points_out { [sector, kite] } else { [-kite, -sector] };
        sum = [sum[0] + more[0], sum[1] + more[1]];
    }
    sum
}

/// Where the paper cuts for a rectangle.
pub(crate) fn square_cut([length, width]: [f64; 2], deviation: f64) -> f64 {
    assert!(deviation >= 0.0, "a deviation is not negative");
    let half = length + width;
    let reach = length * width / ((half * half + 4.0 * length * width).sqrt() + half);
    let switch = reach / 2.0 + length.min(width) / 4.0;
    if deviation <= switch {
        -4.0 * deviation * deviation
            / (half + (half * half - 16.0 * deviation * deviation).max(0.0).sqrt())
    } else {
        reach - deviation
    }
}

/// The area of a ring, positive if it turns against the clock.
pub(crate) fn shoelace(ring: &[[f64; 2]]) -> f64 {
    let Some(&first) = ring.first() else { return 0.0 };
    let term = |(one, two): ([f64; 2], [f64; 2])| {
        (one[0] - first[0]) * (two[1] - first[1]) - (one[1] - first[1]) * (two[0] - first[0])
    };
    pairs(ring).map(term).sum::<f64>() / 2.0
}

/// The length of a ring.
fn around(ring: &[[f64; 2]]) -> f64 {
    pairs(ring).map(|(one, two)| libm::hypot(two[0] - one[0], two[1] - one[1])).sum()
}

/// What is left of a convex ring, against the clock, when all within the given number of metres of
/// its edges is taken off.
fn eroded(ring: &[[f64; 2]], by: f64) -> Vec<[f64; 2]> {
    let mut left = ring.to_vec();
    for (from, to) in pairs(ring) {
        let way = [to[0] - from[0], to[1] - from[1]];
        let length = libm::hypot(way[0], way[1]);
        let inside = |point: [f64; 2]| {
            (way[0] * (point[1] - from[1]) - way[1] * (point[0] - from[0])) / length - by
        };
        let mut kept = Vec::with_capacity(left.len() + 1);
        for (one, two) in pairs(&left) {
            let (a, b) = (inside(one), inside(two));
            if a >= 0.0 {
                kept.push(one);
            }
            if (a >= 0.0) != (b >= 0.0) {
                let part = a / (a - b);
                kept.push([0, 1].map(|axis| one[axis] + part * (two[axis] - one[axis])));
            }
        }
        left = kept;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From mpmath, at forty digits: sides, deviation, the cut with square corners and with round
    /// ones.
    const GOLDEN: [([f64; 2], f64, f64, f64); 12] = [
        ([1.0, 1.0], 0.05, -0.002_506_281_446_690_022_6, -0.002_260_565_613_229_360_5),
        ([1.0, 1.0], 0.2, -0.041_742_430_504_416, -0.038_706_720_849_002_764),
        ([1.0, 1.0], 0.45, -0.242_893_218_813_452_47, -0.235_976_121_504_811_56),
        ([1.0, 2.0], 0.05, -0.001_668_522_645_211_722_8, -0.001_499_900_049_856_210_7),
        ([1.0, 2.0], 0.36, -0.092_048_634_016_160_73, -0.085_952_945_313_328_2),
        ([1.0, 2.0], 0.45, -0.169_223_593_595_584_86, -0.160_538_070_204_431_56),
        ([1.0, 2.0], 0.6, -0.319_223_593_595_584_9, -0.310_538_070_204_431_6),
        ([1.0, 2.0], 2.0, -1.719_223_593_595_584_9, -1.710_538_070_204_431_5),
        ([1000.0, 1000.0], 50.0, -2.506_281_446_690_022_7, -2.260_565_613_229_360_3),
        ([1000.0, 1000.0], 200.0, -41.742_430_504_416, -38.706_720_849_002_764),
        ([1000.0, 1000.0], 360.0, -152.893_218_813_452_48, -145.976_121_504_811_57),
        ([1000.0, 1000.0], 600.0, -392.893_218_813_452_45, -385.976_121_504_811_54),
    ];

    #[test]
    fn cuts_of_rectangles_match_the_golden_values() {
        for (sides, deviation, square, round) in GOLDEN {
            for sides in [sides, [sides[1], sides[0]]] {
                let found = square_cut(sides, deviation);
                assert!((found / square - 1.0).abs() < 1e-13, "{sides:?} {deviation}: {found}");
                let found = Offsets::Rectangle(sides).cut(deviation);
                assert!((found / round - 1.0).abs() < 1e-13, "{sides:?} {deviation}: {found}");
            }
        }
        // The square cut does not jump where it changes: at the golden switch.
        for (sides, switch) in
            [([1.0, 1.0], 0.353_553_390_593_273_8), ([1.0, 2.0], 0.390_388_203_202_207_6)]
        {
            let [below, above] = [1.0 - 1e-9, 1.0 + 1e-9].map(|f| square_cut(sides, switch * f));
            assert!((below - above).abs() < 1e-8, "{below} {above}");
            // From there on it follows the deviation, and not before.
            let out = |part: f64| square_cut(sides, part * switch) + part * switch;
            assert!((out(1.001) - out(1.5)).abs() < 1e-12 && out(0.9) < out(1.001) - 1e-3);
        }
    }

    fn rectangle([length, width]: [f64; 2]) -> Vec<[f64; 2]> {
        vec![[0.0, 0.0], [length, 0.0], [length, width], [0.0, width]]
    }

    /// A U: outside and inside bend both ways.
    fn notched() -> Vec<[f64; 2]> {
        [(0., 0.), (30., 0.), (30., 30.), (20., 30.), (20., 10.), (10., 10.), (10., 30.), (0., 30.)]
            .map(|(x, y)| [x, y])
            .to_vec()
    }

    fn by_hand(ring: &[[f64; 2]], point: [f64; 2]) -> f64 {
        let mut least = f64::INFINITY;
        let mut odd = false;
        for (from, to) in pairs(ring) {
            let way = [to[0] - from[0], to[1] - from[1]];
            let off = [point[0] - from[0], point[1] - from[1]];
            let along = (way[0] * off[0] + way[1] * off[1]) / (way[0] * way[0] + way[1] * way[1]);
            let along = along.clamp(0.0, 1.0);
            least = least.min(libm::hypot(off[0] - along * way[0], off[1] - along * way[1]));
            if (from[1] > point[1]) != (to[1] > point[1]) {
                let x = from[0] + (point[1] - from[1]) / way[1] * way[0];
                odd ^= x > point[0];
            }
        }
        if odd { -least } else { least }
    }

    #[test]
    fn areas_on_both_sides_of_a_cut_are_equal() {
        let convex = Offsets::convex(vec![[0.0, 0.0], [40.0, 0.0], [55.0, 30.0], [10.0, 45.0]]);
        let ring = notched();
        let sampled = Offsets::sampled(&vec![ring.clone()], 700.0, |point| by_hand(&ring, point));
        for (offsets, size, slack) in [
            (Offsets::Rectangle([10.0, 30.0]), 10.0, 1e-9),
            (Offsets::Circle(7.0), 7.0, 1e-9),
            (convex, 40.0, 1e-9),
            (sampled, 30.0, 5e-3),
        ] {
            let whole = offsets.area(0.0).unwrap();
            for part in [0.01, 0.1, 0.3, 0.5, 0.9, 2.0, 10.0] {
                let deviation = part * size;
                let cut = offsets.cut(deviation);
                assert!(cut <= 0.0 && cut >= -deviation, "{cut} {deviation}");
                let outside = offsets.area(deviation + cut).unwrap() - whole;
                let inside = whole - offsets.area(cut - deviation).unwrap();
                assert!((outside - inside).abs() <= slack * whole, "{part}: {outside} {inside}");
            }
        }
        assert!(Offsets::HalfPlane.cut(3.0) == 0.0);
    }

    #[test]
    fn one_shape_has_one_cut_however_it_is_described() {
        let sides = [30.0, 50.0];
        let ring = rectangle(sides);
        let sampled = Offsets::sampled(&vec![ring.clone()], 1500.0, |point| by_hand(&ring, point));
        let mut back = ring.clone();
        back.reverse();
        let reversed = Offsets::sampled(&vec![back], 1500.0, |point| by_hand(&ring, point));
        for deviation in [0.1, 0.5, 2.0, 5.0, 9.0, 14.0, 30.0] {
            let exact = Offsets::Rectangle(sides).cut(deviation);
            let convex = Offsets::convex(ring.clone()).cut(deviation);
            assert!((convex - exact).abs() < 1e-9 * 30.0, "{deviation}: {convex} {exact}");
            for sampled in [&sampled, &reversed] {
                let sampled = sampled.cut(deviation);
                assert!((sampled - exact).abs() < 0.15, "{deviation}: {sampled} {exact}");
            }
        }
        // A polygon with many corners is a circle.
        let corner = |n: u32| {
            let (sine, cosine) = libm::sincos(f64::from(n) * std::f64::consts::TAU / 400.0);
            [20.0 * cosine, 20.0 * sine]
        };
        let many = Offsets::convex((0..400).map(corner).collect());
        for deviation in [1.0, 10.0, 14.0, 15.0, 50.0] {
            let (exact, found) = (Offsets::Circle(20.0).cut(deviation), many.cut(deviation));
            assert!((found - exact).abs() < 2e-3, "{deviation}: {found} {exact}");
        }
        // And a ring with a hole is cut less than without: what is lost outside is won in the hole.
        let hole: Vec<[f64; 2]> =
            [(10., 10.), (20., 10.), (20., 40.), (10., 40.)].map(|(x, y)| [x, y]).into();
        let rings = vec![ring.clone(), hole.clone()];
        let distance = |point| {
            let (outer, inner) = (by_hand(&ring, point), by_hand(&hole, point));
            outer.max(-inner)
        };
        let holed = Offsets::sampled(&rings, 1200.0, distance);
        for deviation in [0.3, 2.0] {
            assert!(holed.cut(deviation) > Offsets::Rectangle(sides).cut(deviation));
        }
    }
}
