//! Places and tuples of them: how far apart they come to lie on a lattice, and what that and their
//! noise tell.
//!
//! Distances on the earth are computed here, by geodesics between the places themselves; nothing of
//! the plane that places are laid out on is used for them. Neighbours are the worst that a few
//! thousand tries find: far from the middle, across, along the axes, at the edges of cells.

use std::collections::BTreeMap;

use eke_budget::{Amount, Epsilon, Metres, NoHistory, PathId, Rho};
use eke_geo::{Lattice, Place, Region, Tuple, TupleMetric};
use eke_noise::release::{PointsRelease, release_points};
use eke_noise::{GaussianPath, NoisePath};
use eke_testkit::oracle::Oracle;
use eke_testkit::{Fit, Seeded};
use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic};

use crate::audit::{Audit, Finding, Findings, Method, fit_findings, law_finding};
use crate::laws::{gaussian, planar};
use crate::{account, paid};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("places-noise", Method::Enumeration, noise)
            .about("tuples of points have the noise that their price pays for, each point its own"),
        Audit::once("places-identity", Method::Neighbours, identity).about(
            "tuples of places tell no more per metre than they cost, by each of three distances",
        ),
        Audit::once("projection", Method::Neighbours, projection)
            .about("places are no further apart on a plane and on a lattice than is accounted for"),
    ]
}

const METRICS: [TupleMetric; 3] = [TupleMetric::Farthest, TupleMetric::Sum, TupleMetric::Root];

/// Two points on a line for an epsilon that makes noise of rate 2 a step, enumerated; and
/// coordinates of three points in the plane along a Gaussian path of variance 100, beside a control
/// that is 5 % off.
fn noise() -> Findings {
    const RUNS: u32 = 20_000;
    let mut findings = Vec::new();
    let metre = Metres::new(1.0)?;
    for metric in METRICS {
        let tuple = Tuple::boxed(1, metre, metre, 2, metric)?;
        let sensitivity = tuple.lengths();
        let epsilon: Amount<Epsilon> = format!("{}", 2.0 * sensitivity.sum().get()).parse()?;
        let release = PointsRelease { epsilon, sensitivity };
        let told = |oracle: &mut Oracle| {
            let receipt = paid(&mut account(), release).ok()?;
            let points = release_points(&tuple.exact_points(vec![5, -9]), receipt, oracle).ok()?;
            points.get().first_chunk().map(|[one, two]| [one - 5, two + 9])
        };
        let known = planar::<1>(epsilon.to_f64() / sensitivity.sum().get());
        let law = |points: &Option<[i64; 2]>| {
            points.map_or(0.0, |[one, two]| known([one]) * known([two]))
        };
        findings.push(law_finding(format!("two points, {metric}"), 1e-6, told, law));
    }
    let mut entropy = Seeded::new(911);
    for metric in METRICS {
        let tuple = Tuple::boxed(2, metre, metre, 3, metric)?;
        let rho: Amount<Rho> = format!("{}", tuple.length().get().powi(2) / 200.0).parse()?;
        let (id, truth) = (PathId::new([7; 32]), tuple.exact(vec![3; 6]));
        let mut draws = Vec::new();
        for _ in 0..RUNS {
            let mut account = account();
            let mut path = GaussianPath::<Vec<i64>>::open(id, tuple.length());
            let approved = account.raise(id, rho, tuple.length())?;
            let receipt = account.commit(approved, &mut NoHistory)?;
            let told = path.refine(&truth, receipt, &mut entropy)?;
            draws.extend(told.get().into_iter().map(|coordinate| coordinate - 3));
        }
        let law = |variance: f64| -> BTreeMap<i64, f64> {
            let known = gaussian(0.0, variance);
            (-80..=80).map(|z| (z, known(z))).collect()
        };
        let fit = |variance: f64| Fit::of(draws.iter().copied(), &law(variance));
        let what = format!("coordinates of three points, {metric}");
        findings.extend(fit_findings(&what, fit(100.0), fit(105.0)));
    }
    Ok(findings)
}

/// Tuples in a city and in a region of the largest size, of three places and of two thousand that
/// move by next to nothing each: the largest loss per metre that is found, for an epsilon of 0.01
/// per metre and a rho of 1e-5 per square metre.
fn identity() -> Findings {
    let (epsilon, rho) = ("0.01".parse::<Amount<Epsilon>>()?, "0.00001".parse::<Amount<Rho>>()?);
    let mut findings = Vec::new();
    let mut tries = Tries(Seeded::new(912));
    for (radius, points, count) in [(2e4, 3, 4000), (1e6, 3, 4000), (2e4, 2000, 4)] {
        let region = Region::new(Place::new(-122.43, 37.77)?, Metres::new(radius)?)?;
        for metric in METRICS {
            let tuple = Tuple::of(region, Metres::new(1.0)?, points, metric)?;
            let release = PointsRelease { epsilon, sensitivity: tuple.lengths() };
            let rate = 2.0 / release.radius().ok_or("noise of no radius")?.mean();
            let deviation = tuple.length().get() / (2.0 * rho.to_f64()).sqrt();
            let (mut pure, mut concentrated) = (0.0f64, 0.0f64);
            for number in 0..count {
                // Some bounds are attained by one place that moves alone, and some by all of them.
                let moves = tries.tuple(region, points, metric, number % 3 == 0);
                let on = |which: fn(&Move) -> Place| {
                    tuple.put_places(moves.iter().map(|one| Some(which(one))))
                };
                let steps = lengths(&on(|one| one.from), &on(|one| one.to));
                let apart: Vec<f64> = moves.iter().map(Move::metres).collect();
                let metres = combined(metric, &apart).max(1.0);
                let square: f64 = steps.iter().map(|steps| steps * steps).sum();
                pure = pure.max(rate * steps.iter().sum::<f64>() / metres);
                concentrated =
                    concentrated.max(square / (2.0 * deviation * deviation * metres * metres));
            }
            let what = format!("{points} places within {} km, {metric}", radius / 1000.0);
            for (measure, claim, found) in [
                ("epsilon per metre", epsilon.to_f64(), pure),
                ("rho per square metre", rho.to_f64(), concentrated),
            ] {
                // But for rounding.
                let range = 0.98 * claim..=claim * (1.0 + 1e-9);
                findings.push(Finding::new(&what, measure, found).within(range));
            }
        }
    }
    Ok(findings)
}

/// Pairs of places from a metre to ten kilometres apart: the largest ratio of their distance on the
/// plane to that on the earth, and the most steps a metre on the lattice.
fn projection() -> Findings {
    let mut findings = Vec::new();
    let mut tries = Tries(Seeded::new(913));
    for (what, centre, radius) in [
        ("a city", (-122.43, 37.77), 2e4),
        ("a country", (8.0, -3.0), 3e5),
        ("the largest region", (-100.0, 40.0), 1e6),
        ("across the pole", (20.0, 86.0), 1e6),
    ] {
        let region = Region::new(Place::new(centre.0, centre.1)?, Metres::new(radius)?)?;
        let lattice = Lattice::of(region, Metres::new(1.0)?)?;
        let (mut stretched, mut most) = (0.0f64, 0.0f64);
        for _ in 0..20_000 {
            let one = tries.one(region);
            let apart = one.metres();
            let [from, to] = [one.from, one.to].map(|place| region.project(place));
            stretched = stretched.max((from[0] - to[0]).hypot(from[1] - to[1]) / apart);
            let [from, to] = [one.from, one.to].map(|place| lattice.put_place(place));
            let (from, to) = from.zip(to).ok_or("a lattice of no region")?;
            most = most.max(lengths(&from, &to)[0] / apart.max(1.0));
        }
        let stretch = region.stretch();
        // And what doubles round, for a metre.
        let range = 1.0 + 0.9 * (stretch - 1.0)..=stretch + 2e-6;
        let plane = format!("the plane of {what}");
        findings.push(Finding::new(plane, "stretch", stretched).within(range));
        let claim = lattice.sensitivity().get();
        findings.push(
            Finding::new(format!("the lattice of {what}"), "steps a metre", most)
                .within(0.999 * claim..=claim),
        );
    }
    Ok(findings)
}

/// A place, and where it moves to.
struct Move {
    from: Place,
    to: Place,
}

impl Move {
    /// How far that is on the earth.
    fn metres(&self) -> f64 {
        let Self { from, to } = self;
        let (metres, _, _, _): (f64, f64, f64, f64) = Geodesic::wgs84().inverse(
            from.latitude(),
            from.longitude(),
            to.latitude(),
            to.longitude(),
        );
        metres
    }
}

/// How far tuples are apart whose points are apart by these.
fn combined(metric: TupleMetric, metres: &[f64]) -> f64 {
    match metric {
        TupleMetric::Farthest => metres.iter().copied().fold(0.0, f64::max),
        TupleMetric::Sum => metres.iter().sum(),
        TupleMetric::Root => metres.iter().map(|metres| metres * metres).sum::<f64>().sqrt(),
    }
}

/// How many steps every point of the plane moves by.
fn lengths(from: &[i64], to: &[i64]) -> Vec<f64> {
    let apart = |from: i64, to: i64| (from - to) as f64;
    let points = from.as_chunks::<2>().0.iter().zip(to.as_chunks::<2>().0);
    points.map(|(from, to)| apart(from[0], to[0]).hypot(apart(from[1], to[1]))).collect()
}

/// Neighbours to be tried.
struct Tries(Seeded);

impl Tries {
    /// A place in a region, half of the time close to its rim, that moves by the given distance:
    /// across, along an axis, or anywhere.
    fn by(&mut self, region: Region, metres: f64) -> Move {
        let part = if self.0.unit() < 0.5 { 0.99 } else { self.0.unit() };
        let outwards = 360.0 * self.0.unit();
        let from = away(region.centre(), outwards, part * region.radius().get());
        let direction = match self.0.unit() {
            choice if choice < 0.4 => outwards + 90.0,
            choice if choice < 0.7 => 90.0 * (4.0 * self.0.unit()).floor(),
            _ => 360.0 * self.0.unit(),
        };
        Move { from, to: away(from, direction, metres) }
    }

    /// A metre, half of the time; up to ten kilometres otherwise, and not beyond a hundredth of the
    /// region.
    fn distance(&mut self, region: Region) -> f64 {
        let most = (region.radius().get() / 100.0).min(1e4);
        if self.0.unit() < 0.5 { 1.0 } else { most.powf(self.0.unit()) }
    }

    fn one(&mut self, region: Region) -> Move {
        let metres = self.distance(region);
        self.by(region, metres)
    }

    /// A tuple that moves by the given distance in all: every place alike, or one of them alone.
    fn tuple(
        &mut self,
        region: Region,
        points: usize,
        metric: TupleMetric,
        alone: bool,
    ) -> Vec<Move> {
        let metres = self.distance(region);
        let share = metres / combined(metric, &vec![1.0; points]);
        let part = |at: usize| match (alone, at) {
            (true, 0) => metres,
            (true, _) => 0.0,
            (false, _) => share,
        };
        (0..points).map(|at| self.by(region, part(at))).collect()
    }
}

/// Where one gets from a place.
fn away(from: Place, direction: f64, metres: f64) -> Place {
    let (latitude, longitude): (f64, f64) =
        Geodesic::wgs84().direct(from.latitude(), from.longitude(), direction, metres);
    Place::new(longitude, latitude.clamp(-90.0, 90.0)).unwrap_or(from)
}
