//! Distances from shapes: how much points that are close to each other differ in them, next to what
//! a metre costs.
//!
//! Shapes of all kinds, and points where it matters: on both sides of edges, at corners, at the
//! edges of cells of the lattice, moved straight towards the boundary. Of the worst pair the Rényi
//! divergence is added up over the noise that a distance gets.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::shape::Rings;
use eke_geo::{Lattice, Shape};
use eke_testkit::Seeded;

use crate::audit::{Audit, Finding, Findings, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("distance-to-shape", Method::Integration, distance_to_shape).about(
            "a noisy distance from a shape costs its price per metre, for shapes of all kinds",
        ),
    ]
}

/// For a rho that makes noise of a hundred steps.
fn distance_to_shape() -> Findings {
    const TRIES: u32 = 6000;
    let metre = Metres::new(1.0)?;
    let lattice = Lattice::boxed(2, Metres::new(1e5)?, metre)?;
    let sensitivity = lattice.of_function(1.0)?.get();
    let deviation = 100.0;
    let rho = sensitivity * sensitivity / (2.0 * deviation * deviation);
    let mut uniform = Uniform(Seeded::new(921));
    let mut findings = Vec::new();
    for (what, shapes) in shapes(&lattice, &mut uniform)? {
        // The largest move for each metre, and how far it was.
        let (mut moved, mut apart) = (0u64, 1.0f64);
        for shape in &shapes {
            let rings = shape.outline(Metres::new(1000.0)?);
            for _ in 0..TRIES {
                let [one, two] = uniform.neighbours(&rings);
                let metres = (one[0] - two[0]).hypot(one[1] - two[1]).max(1.0);
                let [a, b] = [one, two].map(|point| shape.signed_distance(&lattice.put(&point)));
                let steps = a.abs_diff(b);
                if steps as f64 / metres > moved as f64 / apart {
                    (moved, apart) = (steps, metres);
                }
            }
        }
        let price = rho * apart * apart;
        let found = [1.5, 2.0, 8.0]
            .map(|order| renyi(order, moved, deviation) / (order * price))
            .into_iter()
            .fold(0.0, f64::max);
        findings.push(
            Finding::new(what, "Rényi divergence over its price", found).within(0.99..=1.0 + 1e-9),
        );
    }
    Ok(findings)
}

/// The divergence of discrete Gaussian noise from the same that is moved by the given number of
/// steps.
fn renyi(order: f64, moved: u64, deviation: f64) -> f64 {
    let moved = moved as f64;
    // Where the terms are largest, and around it.
    let middle = (order * moved).round();
    let log = |off: f64| -off * off / (2.0 * deviation * deviation);
    let terms = || (-1500i32..=1500).map(f64::from);
    let weight = |step: f64| {
        let at = middle + step;
        order * log(at - moved) - (order - 1.0) * log(at)
    };
    let top = weight(0.0);
    let sum: f64 = terms().map(|step| (weight(step) - top).exp()).sum();
    let whole: f64 = terms().map(|step| log(step).exp()).sum();
    (top + (sum / whole).ln()) / (order - 1.0)
}

struct Uniform(Seeded);

impl Uniform {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.unit() * (high - low)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.word() % end.max(1) as u64).unwrap_or(0)
    }

    /// Points close to each other: from beside an edge, most of them straight across it and a metre
    /// apart.
    fn neighbours(&mut self, rings: &Rings) -> [[f64; 2]; 2] {
        let ring = &rings[self.below(rings.len())];
        let at = self.below(ring.len());
        let (from, to) = (ring[at], ring[(at + 1) % ring.len()]);
        let way = [to[0] - from[0], to[1] - from[1]];
        let length = way[0].hypot(way[1]).max(1e-9);
        let mut normal = [-way[1] / length, way[0] / length];
        if self.below(8) == 0 {
            let turn = self.between(0.0, std::f64::consts::TAU);
            normal = [turn.cos(), turn.sin()];
        }
        let part = if self.below(8) == 0 { 0.0 } else { self.between(-0.1, 1.1) };
        let apart = if self.below(4) == 0 { self.between(1.0, 40.0) } else { 1.0 };
        let away = self.between(-2.0, 2.0) * apart;
        [away, away + apart]
            .map(|by| [0, 1].map(|axis| from[axis] + part * way[axis] + by * normal[axis]))
    }
}

/// Shapes of one kind.
type Kind = (&'static str, Vec<Shape>);

/// Kinds of shapes, a few of each.
fn shapes(lattice: &Lattice, uniform: &mut Uniform) -> Result<Vec<Kind>, Box<dyn Error>> {
    let square = |corner: f64, side: f64| {
        let (low, high) = (corner, corner + side);
        vec![[low, low], [high, low], [high, high], [low, high]]
    };
    let mut rectangles = Vec::new();
    for turned in [0.0, 17.0, 45.0] {
        let sides = [Metres::new(200.0)?, Metres::new(90.0)?];
        rectangles.push(Shape::rectangle(lattice, [12.3, -45.6], sides, turned)?);
    }
    let mut lines = vec![Shape::half_plane(lattice, [0.0, 0.0], [1.0, 1.0])?];
    let mut polygons = Vec::new();
    for _ in 0..4 {
        let end = [uniform.between(-500.0, 500.0), uniform.between(-500.0, 500.0)];
        lines.push(Shape::half_plane(lattice, [0.0, 0.0], end)?);
        let mut star = |size: f64| -> Vec<[f64; 2]> {
            let corner = |n: u32| {
                let turn = f64::from(n) * std::f64::consts::TAU / 9.0;
                let far = size * uniform.between(0.5, 1.0);
                [far * turn.cos(), far * turn.sin()]
            };
            (0..9).map(corner).collect()
        };
        polygons.push(Shape::polygon(lattice, &vec![star(300.0), star(100.0)])?);
    }
    let thin = |width: f64| vec![vec![[0.0, 0.0], [800.0, 1.0], [400.0, 0.5 + width]]];
    let island = [vec![square(-300.0, 600.0), square(-200.0, 400.0)], vec![square(-50.0, 60.0)]];
    Ok(vec![
        ("rectangles", rectangles),
        ("circles", vec![Shape::circle(lattice, [1.0, 2.0], Metres::new(150.0)?)?]),
        ("half-planes", lines),
        ("polygons with holes", polygons),
        (
            "slivers",
            vec![Shape::polygon(lattice, &thin(0.01))?, Shape::polygon(lattice, &thin(3.0))?],
        ),
        ("an island in a lake", vec![Shape::polygons(lattice, &island)?]),
    ])
}
