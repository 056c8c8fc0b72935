//! What is released of one person's places: which are nearest, computed exactly or compared with
//! its law, and the parts of hulls, whose noise is measured.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::{Amount, Epsilon, Metres, Rho};
use eke_geo::earth::distance;
use eke_geo::person::{Directions, HullPlan, HullPrices, NearestMethod};
use eke_geo::{Lattice, Nearest, PlacePrice, Places, hull, nearest};
use eke_noise::Entropy;
use eke_noise::select::{Allotment, Prepaid};
use eke_testkit::oracle::{End, Enumerated, enumerate};
use eke_testkit::{Fit, Seeded};

use crate::audit::select::ranking::divergence_by_order;
use crate::audit::{Audit, Finding, Findings, Method, fit_findings};
use crate::laws::double;
use crate::{account, paid};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("nearest-loss", Method::Enumeration, nearest_loss).about(
            "nearest places that are picked cost their rho per square metre or their epsilon \
             per metre, no more and hardly less",
        ),
        Audit::once("nearest-search", Method::Fit, nearest_search).about(
            "nearest places that are searched for have the law of searches along lines of their \
             own, and that costs its price",
        ),
        Audit::once("hull-price", Method::Fit, hull_price)
            .about("the parts of a hull cost their parts of its price, no more and hardly less"),
    ]
}

fn lattice() -> Result<Lattice, Box<dyn Error>> {
    Ok(Lattice::boxed(2, Metres::new(1000.0)?, Metres::ONE)?)
}

fn bought<C: PlacePrice>(price: Amount<C>) -> Option<Prepaid<C>> {
    paid(&mut account(), Allotment { price }).ok().map(Prepaid::open)
}

/// The nearest to the origin; none if they could not be bought.
fn found<C: PlacePrice, E: Entropy>(
    places: &Places,
    (count, method): (u32, NearestMethod),
    price: Amount<C>,
    entropy: &mut E,
) -> Option<Vec<u32>> {
    let question = Nearest { to: vec![0, 0], count, method };
    nearest(places, &question, bought(price)?, entropy).ok().map(eke_noise::Released::get)
}

/// How far every tuple is moved, in metres.
const MOVED: f64 = 10.0;

/// A tuple, one that is as far from it as is said, and how many of them are picked.
type Pair<'a> = (&'a str, u32, &'a [[f64; 2]], &'a [[f64; 2]], f64);

/// One goes nearer and the other away, so that their distances move apart by twice as much.
const PAIRS: [Pair<'_>; 3] = [
    ("one of two", 1, &[[50.0, 0.0], [-50.0, 0.0]], &[[40.0, 0.0], [-60.0, 0.0]], 0.95),
    (
        "one of three, one far away",
        1,
        &[[300.0, 0.0], [0.0, 50.0], [0.0, -50.0]],
        &[[290.0, 0.0], [0.0, 60.0], [0.0, -60.0]],
        0.05,
    ),
    (
        "two of four",
        2,
        &[[60.0, 0.0], [0.0, 60.0], [-60.0, 0.0], [0.0, -60.0]],
        &[[50.0, 0.0], [0.0, 50.0], [-70.0, 0.0], [0.0, -70.0]],
        0.5,
    ),
];

/// The law of what is picked; none if it could not be bought.
type Picked = Enumerated<Option<Vec<u32>>>;

/// The laws of what is picked from each of two tuples, for a price a metre.
fn picked<C: PlacePrice>(
    lattice: Lattice,
    count: u32,
    sides: [&[[f64; 2]]; 2],
    price: f64,
) -> Result<[Picked; 2], Box<dyn Error>> {
    let price: Amount<C> = price.to_string().parse()?;
    Ok(sides.map(|points| {
        let places = Places::new(lattice, points);
        enumerate(End::First, 1e-9, |oracle| {
            found(&places, (count, NearestMethod::Ranked), price, oracle)
        })
    }))
}

fn nearest_loss() -> Findings {
    let lattice = lattice()?;
    let mut findings = Vec::new();
    for (what, count, one, two, least) in PAIRS {
        // A rate of 0.025 a metre in either currency: a range of a half at ten metres.
        let (rho, epsilon) = (0.000_312_5 * f64::from(count), 0.05 * f64::from(count));
        let [here, there] = picked::<Rho>(lattice, count, [one, two], rho)?;
        let largest = divergence_by_order(&[1.1, 2.0, 4.0, 8.0, 32.0], &here, &there);
        let part = largest / (rho * MOVED * MOVED);
        let of_rho = Finding::new(format!("{what}, rho"), "of the price", part);
        let [here, there] = picked::<Epsilon>(lattice, count, [one, two], epsilon)?;
        let part = here.loss(&there).max(there.loss(&here)) / (epsilon * MOVED);
        let of_epsilon = Finding::new(format!("{what}, epsilon"), "of the price", part);
        let far = if count == 1 && one.len() == 3 { 0.95 } else { 0.4 };
        findings.push(of_rho.within(least..=1.0 + 1e-6));
        findings.push(of_epsilon.within(far..=1.0 + 1e-6));
    }
    Ok(findings)
}

/// The law of one search among distances in metres, by integrating over the noise of its line.
fn searched(epsilon: f64, distances: &[f64]) -> Vec<f64> {
    let scale = 3.0 / epsilon;
    let below = |x: f64| {
        let x = x / (2.0 * scale);
        if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 }
    };
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let mut law = vec![0.0; distances.len()];
    const PARTS: u32 = 200;
    for part in 0..40 * PARTS {
        // Two Laplace numbers together, in scales.
        let size = (f64::from(part) + 0.5) / f64::from(PARTS);
        let weight = (1.0 + size) * (-size).exp() / 4.0 / f64::from(PARTS);
        for noise in [size, -size] {
            let line = least + noise * scale;
            let hits = distances.iter().map(|distance| below(line - distance));
            let misses: f64 = hits.clone().map(|hit| 1.0 - hit).product();
            // In a round, or in one of those after it.
            let round = if misses < 0.5 {
                1.0 - misses
            } else {
                -hits.clone().map(|hit| (-hit).ln_1p()).sum::<f64>().exp_m1()
            };
            let mut before = weight / round;
            for (chance, hit) in law.iter_mut().zip(hits) {
                *chance += before * hit;
                before *= 1.0 - hit;
            }
        }
    }
    law
}

/// The law of two searches, the second without what the first has found.
fn searched_twice(epsilon: f64, distances: &[f64]) -> Enumerated<Vec<u32>> {
    let mut outcomes = BTreeMap::new();
    for (first, of_first) in (0u32..).zip(searched(epsilon, distances)) {
        let left: Vec<u32> = (0u32..).take(distances.len()).filter(|item| *item != first).collect();
        let among: Vec<f64> = left.iter().map(|&item| distances[item as usize]).collect();
        for (second, of_second) in left.iter().zip(searched(epsilon, &among)) {
            outcomes.insert(vec![first, *second], of_first * of_second);
        }
    }
    Enumerated { outcomes, lost: 0.0, runs: 0 }
}

fn nearest_search() -> Findings {
    const RUNS: u32 = 60_000;
    const EPSILON: f64 = 0.05;
    let (lattice, mut seeded) = (lattice()?, Seeded::new(141));
    let distances = [160.0, 100.0, 220.0];
    let places = Places::new(lattice, distances.map(|distance| [distance, 0.0]));
    let searching = (2, NearestMethod::Paper { margin: None });
    let metre = lattice.of_function(1.0)?.get() * lattice.grid().step();
    // Twice epsilon, and in rho twice `5 epsilon²/18`.
    let pure: Amount<Epsilon> = (2.0 * EPSILON).to_string().parse()?;
    let concentrated: Amount<Rho> = Amount::ceil(5.0 / 9.0 * EPSILON * EPSILON)?;
    let mut findings = Vec::new();
    for in_rho in [false, true] {
        let draws: Option<Vec<Vec<u32>>> = (0..RUNS)
            .map(|_| {
                if in_rho {
                    found(&places, searching, concentrated, &mut seeded)
                } else {
                    found(&places, searching, pure, &mut seeded)
                }
            })
            .collect();
        let draws = draws.unwrap_or_default();
        let fit = |epsilon: f64| {
            Fit::of(draws.iter().cloned(), &searched_twice(epsilon / metre, &distances).outcomes)
        };
        let what = if in_rho { "two of three, rho" } else { "two of three, epsilon" };
        findings.extend(fit_findings(what, fit(EPSILON), fit(EPSILON * 1.25)));
    }
    // What that law costs where places come nearer and go away, in all ways.
    let (mut largest, mut widest) = (0.0f64, 0.0f64);
    let here = searched_twice(EPSILON, &distances);
    for ways in 0..27u32 {
        let way = |place: u32| f64::from(ways / 3u32.pow(place) % 3) - 1.0;
        let moved = [0, 1, 2].map(|place| distances[place as usize] + 3.0 * way(place));
        let there = searched_twice(EPSILON, &moved);
        largest = largest.max(here.loss(&there)).max(there.loss(&here));
        widest = widest.max(divergence_by_order(&[1.1, 2.0, 8.0], &here, &there));
    }
    let finding =
        |what: &str, found: f64| Finding::new(what, "of the price", found).within(0.03..=1.0);
    findings.push(finding("loss of two searches, epsilon", largest / (2.0 * EPSILON * 3.0)));
    let price = 5.0 / 9.0 * EPSILON * EPSILON * 9.0;
    findings.push(finding("divergence of two searches, rho", widest / price));
    Ok(findings)
}

/// The noise of the parts of hulls, from what is released and what is true: what they cost where a
/// metre moves them by as much as it can. 4000 hulls, seed 142; six deviations of what is estimated
/// are 14 %.
fn hull_price() -> Findings {
    const RUNS: u32 = 4000;
    let (lattice, mut seeded) = (lattice()?, Seeded::new(142));
    let points = [[-300.0, 20.0], [280.0, -10.0], [10.0, 310.0], [-40.0, -290.0]];
    let truth = points.map(|point| lattice.put(&point));
    let places = Places::new(lattice, points);
    let plan = HullPlan { directions: Directions::Exactly(5), ..HullPlan::default() };
    let price: Amount<Rho> = "0.01".parse()?;
    let prices = plan.prices(price);
    let HullPrices { centre, radius, anchors, points } = prices;
    let step = lattice.grid().step();
    let [mut of_centre, mut of_radius, mut of_points] = [(); 3].map(|()| Spread::default());
    let middle = [0, 1].map(|axis| {
        let along = truth.iter().map(|point| point[axis]);
        let ends = along.clone().min().zip(along.max());
        ends.map_or(0.0, |(least, most)| double(least + most) / 2.0)
    });
    for _ in 0..RUNS {
        let Some(found) =
            bought(price).and_then(|money| hull(&places, &plan, money, &mut seeded).ok())
        else {
            break;
        };
        for (at, middle) in found.centre.iter().zip(middle) {
            of_centre.add((double(*at) - middle) * step);
        }
        let far = truth.iter().map(|point| distance(point, &found.centre)).max().unwrap_or(0);
        of_radius.add(double(found.radius - far) * step);
        let share = double(i64::try_from(found.anchors.len())?).sqrt();
        for (anchor, point) in found.anchors.iter().zip(&found.points) {
            for (at, true_at) in point.iter().zip(&truth[*anchor as usize]) {
                of_points.add(double(at - true_at) * step / share);
            }
        }
    }
    // A metre moves the middle by a metre along both axes, the radius and a point by one.
    let finding = |what: &str, moved: f64, spread: &Spread, part: Amount<Rho>| {
        Finding::new(
            what,
            "of its part of the price",
            moved / (2.0 * spread.variance()) / part.to_f64(),
        )
        .within(0.86..=1.14)
    };
    let whole = [centre, radius, anchors, points].iter().map(|part| part.to_f64()).sum::<f64>();
    Ok(vec![
        finding("the centre, moved along both axes", 2.0, &of_centre, centre),
        finding("the radius", 1.0, &of_radius, radius),
        finding("the points of all anchors", 1.0, &of_points, points),
        Finding::new("all parts", "of the price", whole / price.to_f64())
            .within(1.0 - 1e-9..=1.0 + 1e-12),
    ])
}

/// Numbers and how far they spread.
#[derive(Default)]
struct Spread {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn variance(&self) -> f64 {
        let mean = self.sum / self.count;
        self.squares / self.count - mean * mean
    }
}
