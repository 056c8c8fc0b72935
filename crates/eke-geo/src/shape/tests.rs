//! Shapes of all kinds against what is plain: sampled boundaries, angles added up, and pairs of
//! points.

use std::f64::consts::{PI, TAU};

use proptest::prelude::*;

use super::*;
use crate::earth::distance;

fn metres(value: f64) -> Metres {
    Metres::new(value).unwrap()
}

fn plane() -> Lattice {
    Lattice::boxed(2, metres(1e7), Metres::ONE).unwrap()
}

/// A ring around a point, its corners at these parts of a radius.
fn star(centre: [f64; 2], radius: f64, parts: &[f64]) -> Vec<[f64; 2]> {
    let corner = |(n, part): (usize, &f64)| {
        let (sine, cosine) = libm::sincos(n as f64 * TAU / parts.len() as f64);
        [centre[0] + radius * part * cosine, centre[1] + radius * part * sine]
    };
    parts.iter().enumerate().map(corner).collect()
}

/// From a few steps to thousands of kilometres, slivers and combs too, with and without holes.
fn shapes() -> impl Strategy<Value = Shape> {
    let size = (-2.0f64..6.0).prop_map(|exponent| 10f64.powf(exponent));
    let centre = || (-1.0f64..1.0, -1.0f64..1.0);
    let polygon = (
        centre(),
        prop::collection::vec(0.3f64..1.0, 3..12),
        prop::option::of(prop::collection::vec(0.1f64..0.8, 3..9)),
    )
        .prop_map(|((x, y), outer, hole)| {
            let mut rings = vec![star([x, y], 1.0, &outer)];
            // Inside the circle that touches the closest edge, if there is room.
            let deep = outer.iter().copied().fold(1.0, f64::min) * (PI / outer.len() as f64).cos();
            rings.extend(hole.map(|hole| star([x, y], 0.5 * deep, &hole)));
            rings
        });
    // Three corners that are nearly in line, and a comb of thin teeth.
    let sliver = (centre(), -6.0f64..0.0, 0.0f64..TAU).prop_map(|((x, y), thin, turn)| {
        let (sine, cosine) = libm::sincos(turn);
        let thin = 10f64.powf(thin);
        let corner = |(a, b): (f64, f64)| [x + a * cosine - b * sine, y + a * sine + b * cosine];
        vec![[(-1.0, 0.0), (1.0, 0.0), (0.3, thin)].map(corner).to_vec()]
    });
    let comb = (1u32..6, 0.01f64..0.4).prop_map(|(teeth, thin)| {
        let mut ring = vec![[0.0, -0.2], [f64::from(teeth), -0.2]];
        for n in (0..teeth).rev() {
            let left = f64::from(n);
            ring.extend([[left + thin, 0.0], [left + thin / 2.0, 1.0], [left, 0.0]]);
        }
        ring.pop();
        ring.push([0.0, -0.1]);
        vec![ring]
    });
    let polygons = (size.clone(), prop_oneof![3 => polygon, 1 => sliver, 1 => comb]);
    let polygons = polygons.prop_filter_map("no area on the lattice", |(size, mut rings)| {
        for coordinate in rings.iter_mut().flatten().flatten() {
            *coordinate *= size;
        }
        Shape::polygon(&plane(), &rings).ok()
    });
    let rectangles = (size.clone(), centre(), 1e-3f64..1.0, -400.0f64..400.0).prop_filter_map(
        "no area on the lattice",
        |(size, (x, y), part, turned)| {
            let sides = [metres(size), metres(size * part)];
            Shape::rectangle(&plane(), [x * size, y * size], sides, turned).ok()
        },
    );
    let circles = (size.clone(), centre()).prop_map(|(size, (x, y))| {
        Shape::circle(&plane(), [x * size, y * size], metres(size)).unwrap()
    });
    let halves =
        (size, centre(), 0.0f64..TAU).prop_filter_map("one point", |(size, (x, y), turn)| {
            let from = [x * size, y * size];
            let to = [from[0] + size * turn.cos(), from[1] + size * turn.sin()];
            Shape::half_plane(&plane(), from, to).ok()
        });
    prop_oneof![4 => polygons, 1 => rectangles, 1 => circles, 1 => halves]
}

/// Corners, or what stands in for them.
fn corners(shape: &Shape) -> Vec<Point> {
    match &shape.form {
        Form::Rectangle(outline, _) | Form::Polygons(outline) => outline.rings().concat(),
        Form::Circle([x, y], radius) => vec![[*x, *y], [x + radius, *y], [*x, y - radius]],
        Form::HalfPlane(from, to) => vec![*from, *to],
    }
}

/// A point of the lattice close to a corner, to an edge, to the line through an edge, or anywhere.
fn point(shape: &Shape, (kind, at, part): (u8, usize, f64), by: (i64, i64)) -> Point {
    let corners = corners(shape);
    let (one, two) = (corners[at % corners.len()], corners[(at + 1) % corners.len()]);
    let part = match kind {
        0 => 0.0,
        1 => part,
        _ => 6.0 * part - 3.0,
    };
    let between = |axis: usize| {
        let way = two[axis].wrapping_sub(one[axis]) as f64;
        one[axis] + Grid::WHOLE.steps(part * way)
    };
    let size = corners.iter().flatten().map(|steps| steps.abs()).max().unwrap_or(1).max(1);
    if kind == 3 {
        return [(by.0 % 1000) * (size / 300).max(1), (by.1 % 1000) * (size / 300).max(1)];
    }
    let near = if kind == 4 { 1 } else { 3 };
    [between(0) + by.0 % near, between(1) + by.1 % near]
}

/// By how much signed distances differ, less one for rounding, is below how far points are apart.
fn is_lipschitz(shape: &Shape, one: Point, two: Point) -> bool {
    let moved = shape.signed_distance(&one).abs_diff(shape.signed_distance(&two));
    let less = u128::from(moved.saturating_sub(1));
    moved == 0 || less * less < square(one, two)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn signed_distances_move_no_more_than_points(
        shape in shapes(),
        one in (0u8..5, any::<prop::sample::Index>(), 0.0f64..1.0),
        two in (0u8..5, any::<prop::sample::Index>(), 0.0f64..1.0),
        by in prop::collection::vec((-1000i64..1000, -1000i64..1000), 4),
    ) {
        let [one, two] = [one, two].map(|(kind, at, part)| (kind, at.index(1 << 20), part));
        let points = [point(&shape, one, by[0]), point(&shape, one, by[1]), point(&shape, two, by[2])];
        let step = [points[0][0] + by[3].0 % 4, points[0][1] + by[3].1 % 4];
        for (one, two) in [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (points[a], points[b])) {
            prop_assert!(is_lipschitz(&shape, one, two), "{shape:?} {one:?} {two:?}");
        }
        prop_assert!(is_lipschitz(&shape, points[0], step), "{shape:?} {step:?}");
    }

    #[test]
    fn signed_distances_are_those_of_a_plain_search(
        shape in shapes(),
        at in (0u8..5, any::<prop::sample::Index>(), 0.0f64..1.0),
        by in (-1000i64..1000, -1000i64..1000),
    ) {
        let point = point(&shape, (at.0, at.1.index(1 << 20), at.2), by);
        let found = shape.signed_distance(&point);
        let rings: Rings = match &shape.form {
            Form::Rectangle(outline, _) | Form::Polygons(outline) => outline
                .rings()
                .iter()
                .map(|ring| ring.iter().map(|corner| corner.map(|steps| steps as f64)).collect())
                .collect(),
            Form::Circle(centre, radius) => {
                prop_assert_eq!(found, distance(centre, &point) - radius);
                return Ok(());
            }
            Form::HalfPlane(from, to) => {
                // Far along the line both ways, it is a long edge.
                let [way, off] = [to, &point].map(|end| [0, 1].map(|n| (end[n] - from[n]) as f64));
                let plain = (way[1] * off[0] - way[0] * off[1]) / libm::hypot(way[0], way[1]);
                let off = 1e-14 * libm::hypot(off[0], off[1]);
                prop_assert!((plain - off).floor() <= found as f64 && found as f64 <= plain + off);
                return Ok(());
            }
        };
        let at = point.map(|steps| steps as f64);
        let (mut turns, mut low, mut high) = (0.0, f64::INFINITY, f64::INFINITY);
        for ring in &rings {
            for (one, two) in pairs(ring) {
                const PARTS: u32 = 400;
                let [a, b] = [one, two].map(|end| [end[0] - at[0], end[1] - at[1]]);
                let cross = a[0] * b[1] - a[1] * b[0];
                turns += libm::atan2(cross, a[0] * b[0] + a[1] * b[1]) / TAU;
                let length = libm::hypot(two[0] - one[0], two[1] - one[1]);
                for n in 0..=PARTS {
                    let part = f64::from(n) / f64::from(PARTS);
                    let far = libm::hypot(a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]));
                    high = high.min(far);
                    low = low.min(far - length / f64::from(2 * PARTS));
                }
            }
        }
        let size = 1e-12 * at.iter().chain(rings.iter().flatten().flatten()).fold(1.0, |a, b| f64::max(a, b.abs()));
        let depth = found.unsigned_abs() as f64;
        prop_assert!(depth >= (low - size).floor() && depth <= (high + size).ceil(), "{low} {found} {high}");
        // Rings turn one way, and a hole the same: inside the outer ring it is one turn, in the
        // hole two.
        if depth > 2.0 + 10.0 * size {
            let is_odd = turns.abs().round() % 2.0 > 0.5;
            prop_assert_eq!(found < 0, is_odd, "{}", turns);
            prop_assert_eq!(shape.contains(&point), found < 0);
        }
    }

    #[test]
    fn shapes_move_and_turn_with_their_points(
        shape in (prop::collection::vec(0.3f64..1.0, 3..9), 1.0f64..1e4),
        by in (-100_000i64..100_000, -100_000i64..100_000),
        at in (-3000i64..3000, -3000i64..3000),
    ) {
        let ring = star([0.0, 0.0], shape.1, &shape.0);
        let here = Shape::polygon(&plane(), &vec![ring.clone()]).unwrap();
        let step = plane().grid().step();
        let moved: Vec<_> =
            ring.iter().map(|[x, y]| [x + by.0 as f64 * step, y + by.1 as f64 * step]).collect();
        let there = Shape::polygon(&plane(), &vec![moved.into_iter().rev().collect()]).unwrap();
        let (x, y) = (at.0 * 7, at.1 * 7);
        // Corners in the middle between steps may be put on either.
        let off = here.signed_distance(&[x, y]).abs_diff(there.signed_distance(&[x + by.0, y + by.1]));
        prop_assert!(off <= 2, "{off}");
    }
}

#[test]
fn known_shapes_have_known_distances_areas_and_outlines() {
    let lattice = plane();
    let at = |shape: &Shape, x: f64, y: f64| {
        lattice.grid().length(shape.signed_distance(&lattice.put(&[x, y])))
    };
    let rectangle =
        Shape::rectangle(&lattice, [10.0, 20.0], [metres(100.0), metres(50.0)], 90.0).unwrap();
    for (x, y, far) in [
        (10.0, 20.0, -25.0),
        (10.0, 69.0, -1.0),
        (35.0, 20.0, 0.0),
        (38.0, 74.0, 5.0),
        (-15.0, -30.0, 0.0),
    ] {
        assert!((at(&rectangle, x, y) - far).abs() < 1e-9, "{x} {y}");
    }
    assert_eq!(rectangle.area(), Some(5000.0));
    assert_eq!(rectangle.perimeter(), Some(300.0));
    let circle = Shape::circle(&lattice, [3.0, 4.0], metres(10.0)).unwrap();
    assert!(
        (at(&circle, 0.0, 0.0) + 5.0).abs() < 1e-9 && (at(&circle, 3.0, 24.0) - 10.0).abs() < 1e-9
    );
    assert!((circle.area().unwrap() - 100.0 * PI).abs() < 1e-9);
    assert!((circle.perimeter().unwrap() - 20.0 * PI).abs() < 1e-9);
    let half = Shape::half_plane(&lattice, [0.0, 0.0], [3.0, 4.0]).unwrap();
    assert!(
        (at(&half, -4.0, 3.0) + 5.0).abs() < 1e-9 && (at(&half, 8.0, -6.0) - 10.0).abs() < 1e-9
    );
    assert_eq!((half.area(), half.perimeter()), (None, None));
    assert_eq!(half.outline(metres(5.0)), [[[-3.0, -4.0], [3.0, 4.0]]]);
    assert!(half.shift(3.0) == 0.0);
    let square = |corner: f64, side: f64| {
        let (low, high) = (corner, corner + side);
        vec![[low, low], [high, low], [high, high], [low, high], [low, low]]
    };
    let lake = Shape::polygons(
        &lattice,
        &[vec![square(0.0, 100.0), square(20.0, 40.0)], vec![square(30.0, 10.0)]],
    )
    .unwrap();
    assert_eq!(lake.area(), Some(10_000.0 - 1600.0 + 100.0));
    assert_eq!(lake.perimeter(), Some(600.0));
    assert!(
        lake.contains(&lattice.put(&[10.0, 10.0])) && lake.contains(&lattice.put(&[35.0, 35.0]))
    );
    assert!(
        (at(&lake, 25.0, 25.0) - 5.0).abs() < 1e-9,
        "in the lake, by its shore and the island's"
    );
    assert_eq!(lake.outline(Metres::ONE).len(), 3);
    assert_eq!(lake, lake.clone());
    assert!(lake != rectangle);
    assert!(lake.shift(1.0).abs() < 1.0 && rectangle.square_shift(5.0) < rectangle.shift(5.0));
}

/// Inside is below zero, however close the boundary is, and the boundary itself is not.
#[test]
fn signed_distances_are_rounded_down_on_both_sides() {
    let corners: [Point; 3] = [[0, 0], [8, 0], [0, 8]];
    let edges = Edges::new(pairs(&corners));
    for (point, steps) in [([3, 4], -1), ([4, 4], 0), ([4, 5], 0), ([5, 5], 1), ([2, 2], -2)] {
        assert_eq!(within(&edges, point), steps, "{point:?}");
    }
}

#[test]
fn what_is_no_shape_is_refused_in_a_sentence() {
    let lattice = plane();
    let tiny = Shape::rectangle(&lattice, [0.0, 0.0], [metres(1e-9); 2], 0.0).unwrap_err();
    assert_eq!(tiny, ShapeError::TooSmall);
    assert_eq!(
        Shape::circle(&lattice, [0.0, 0.0], metres(1e-9)).unwrap_err(),
        ShapeError::TooSmall
    );
    assert_eq!(Shape::circle(&lattice, [0.0, 0.0], metres(1e30)).unwrap_err(), ShapeError::TooFar);
    assert_eq!(
        Shape::circle(&lattice, [f64::NAN, 0.0], Metres::ONE).unwrap_err(),
        ShapeError::NotFinite
    );
    let nan = Shape::rectangle(&lattice, [0.0, 0.0], [Metres::ONE; 2], f64::NAN);
    assert_eq!(nan.unwrap_err(), ShapeError::NotFinite);
    assert_eq!(
        Shape::half_plane(&lattice, [1.0, 1.0], [1.0, 1.0]).unwrap_err(),
        ShapeError::TooSmall
    );
    let line = Lattice::boxed(3, metres(10.0), Metres::ONE).unwrap();
    assert_eq!(Shape::circle(&line, [0.0, 0.0], Metres::ONE).unwrap_err(), ShapeError::Dimensions);
    let place = Place::new(4.0, 52.0).unwrap();
    assert_eq!(Shape::around(&lattice, place, Metres::ONE).unwrap_err(), ShapeError::NoRegion);
    let bow = vec![vec![[0.0, 0.0], [9.0, 9.0], [9.0, 0.0], [0.0, 9.0]]];
    let error = Shape::polygon(&lattice, &bow).unwrap_err();
    assert_eq!(error.to_string(), "ring 1 crosses or touches itself: a ring is simple");
}

#[test]
fn shapes_of_places_are_straight_on_the_plane_and_nearly_so_on_earth() {
    let centre = Place::new(4.36, 52.01).unwrap();
    let lattice = Lattice::of(Region::new(centre, metres(60_000.0)).unwrap(), Metres::ONE).unwrap();
    let corner = |longitude, latitude| Place::new(longitude, latitude).unwrap();
    let ring = vec![corner(4.0, 51.9), corner(4.9, 51.9), corner(4.9, 52.3), corner(4.0, 52.3)];
    let shape = Shape::of_places(&lattice, &[vec![ring.clone()]]).unwrap();
    assert!(shape.contains(&lattice.put_place(centre).unwrap()));
    let area = shape.area().unwrap();
    assert!((area / (61_800.0 * 44_500.0) - 1.0).abs() < 0.01, "{area}");
    // Beyond the region, but on its plane.
    let far = Place::new(9.0, 52.0).unwrap();
    assert!(Shape::around(&lattice, far, metres(500_000.0)).unwrap().contains(&[0, 0]));
    let error = Shape::of_places(&lattice, &[vec![vec![ring[0], corner(60.0, 0.0), ring[2]]]]);
    assert_eq!(error.unwrap_err(), ShapeError::Outside { ring: 1, corner: 2 });
    // How far the middle of the shortest way between two corners is from the edge, against what is
    // said.
    for (radius, length) in [(50_000.0, 10_000.0), (50_000.0, 60_000.0), (900_000.0, 100_000.0)] {
        let wide = Region::new(centre, metres(Region::LARGEST)).unwrap();
        let ends = [[radius, -length / 2.0], [radius, length / 2.0]].map(|end| wide.place(end));
        let (latitude, longitude) = middle(ends);
        let point = wide.project(corner(longitude, latitude));
        let said = length * length * radius / (12.0 * 6.37e6f64.powi(2));
        let bend = (point[0] - radius).abs();
        assert!(bend < 1.1 * said + 1e-5 && bend > 0.8 * said, "{bend} {said}");
    }
}

/// Half way between two places on earth.
fn middle([one, two]: [Place; 2]) -> (f64, f64) {
    use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic};
    let earth = Geodesic::wgs84();
    let (far, direction, _, _): (f64, f64, f64, f64) =
        earth.inverse(one.latitude(), one.longitude(), two.latitude(), two.longitude());
    earth.direct(one.latitude(), one.longitude(), direction, far / 2.0)
}
