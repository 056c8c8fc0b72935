//! Directions spread evenly over a circle or a sphere: the same ones for everybody.

use std::f64::consts::{PI, TAU};

/// `count` unit vectors in n dimensions, spread evenly: on a circle exactly, on a sphere along a
/// Fibonacci spiral, and in more dimensions by a sequence that fills the cube evenly, bent to
/// normal numbers. In one dimension there are two.
pub(crate) fn directions(dimensions: usize, count: u32) -> Vec<Vec<f64>> {
    let turns = (0..count).map(f64::from);
    let count = f64::from(count.max(1));
    match dimensions {
        1 => vec![vec![-1.0], vec![1.0]],
        2 => turns.map(|turn| on_circle(TAU * turn / count).into()).collect(),
        3 => turns
            .map(|turn| {
                let height = 1.0 - (2.0 * turn + 1.0) / count;
                let [x, y] = on_circle(GOLDEN_ANGLE * turn);
                let radius = (1.0 - height * height).sqrt();
                vec![radius * x, radius * y, height]
            })
            .collect(),
        _ => turns.map(|turn| spread(dimensions, turn)).collect(),
    }
}

/// How far from the nearest direction a point of a sphere of radius one is, nearly: caps of this
/// chord have the area of the sphere together. On a circle nothing is further.
pub(crate) fn chord(dimensions: usize, count: u32) -> f64 {
    let count = f64::from(count.max(1));
    match dimensions {
        1 => 0.0,
        2 => 2.0 * libm::sin(PI / (2.0 * count)),
        _ => {
            let dimensions = dimensions as f64;
            // The volume of a ball in one dimension less, over the surface of the sphere.
            let (ball, _) = libm::lgamma_r((dimensions + 1.0) / 2.0);
            let (sphere, _) = libm::lgamma_r(dimensions / 2.0);
            let log = sphere - ball - libm::log(2.0 * PI.sqrt());
            libm::exp(-(libm::log(count) + log) / (dimensions - 1.0)).min(2.0)
        }
    }
}

/// The angle between neighbours along the spiral: a whole turn over the square of the golden ratio.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

fn on_circle(angle: f64) -> [f64; 2] {
    let (sine, cosine) = libm::sincos(angle);
    [cosine, sine]
}

/// The point of an additive sequence whose steps are powers of the root of `x^(d+1) = x + 1`, two
/// coordinates of it making two normal numbers.
fn spread(dimensions: usize, turn: f64) -> Vec<f64> {
    let pairs = dimensions.div_ceil(2) * 2;
    let power = pairs as f64 + 1.0;
    let mut root = 1.0f64;
    for _ in 0..64 {
        root = libm::pow(1.0 + root, 1.0 / power);
    }
    let mut step = 1.0;
    let uniform: Vec<f64> = (0..pairs)
        .map(|_| {
            step /= root;
            let at = 0.5 + step * (turn + 1.0);
            at - at.floor()
        })
        .collect();
    let mut point: Vec<f64> = uniform
        .chunks_exact(2)
        .flat_map(|pair| {
            let length = (-2.0 * libm::log(pair[0].max(1e-300))).sqrt();
            on_circle(TAU * pair[1]).map(|part| length * part)
        })
        .collect();
    point.truncate(dimensions);
    let length = point.iter().map(|part| part * part).sum::<f64>().sqrt();
    // A point in the middle points nowhere.
    if length < 1e-9 {
        point.fill(0.0);
        point[0] = 1.0;
        return point;
    }
    point.into_iter().map(|part| part / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(one: &[f64], two: &[f64]) -> f64 {
        one.iter().zip(two).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn directions_are_unit_vectors_that_leave_no_large_gaps() {
        for (dimensions, count, factor) in [
            (1, 2, 1.0),
            (2, 3, 1.0),
            (2, 64, 1.0),
            (3, 16, 2.0),
            (3, 200, 2.0),
            (4, 300, 2.5),
            (7, 300, 2.0),
        ] {
            let all = directions(dimensions, count);
            assert_eq!(all.len(), count as usize);
            let origin = vec![0.0; dimensions];
            assert!(all.iter().all(|one| (length(one, &origin) - 1.0).abs() < 1e-12));
            // From other points of the sphere, the nearest direction is about as far as caps of
            // that area reach.
            let farthest = directions(dimensions, 997)
                .iter()
                .map(|point| all.iter().map(|one| length(one, point)).fold(f64::MAX, f64::min))
                .fold(0.0, f64::max);
            let said = chord(dimensions, count) * factor + 1e-9;
            assert!(farthest <= said, "{dimensions} {count}: {farthest} {said}");
        }
    }

    #[test]
    fn chords_on_a_circle_are_half_the_way_between_neighbours() {
        for count in [1, 2, 5, 100] {
            let half = TAU / f64::from(count) / 2.0;
            let [x, y] = on_circle(half);
            assert!((chord(2, count) - libm::hypot(1.0 - x, y)).abs() < 1e-12);
        }
        // And the rule for more dimensions is nearly that of the circle there.
        assert!((chord(3, 100) - 0.2).abs() < 1e-12);
    }
}
