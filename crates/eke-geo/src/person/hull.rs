//! The convex hull of one person's places, nearly.
//!
//! A circle is laid around the places, its centre and radius with noise; places near to points of
//! the circle are found, in all directions; and the points of those are released with noise. Their
//! hull is the answer. In other dimensions than two the circle is a sphere, and the answer is the
//! points and how far they reach in each direction.

use std::collections::BTreeSet;

use eke_noise::Entropy;
use eke_noise::select::Prepaid;
use serde::Serialize;

use crate::person::PlacesError;
use crate::person::hull_plan::{HullError, HullPlan};
use crate::person::nearest::{find, part, unit};
use crate::shape::Convex;
use crate::shape::direction::directions;
use crate::{Lattice, PlacePrice, Places};

/// A hull that was released, with everything that was on the way to it. Coordinates are steps of
/// the lattice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hull {
    /// The middle of the circle.
    pub centre: Vec<i64>,
    /// Its radius, made larger by as much as its noise may have made it smaller.
    pub radius: i64,
    /// In how many directions places were looked for.
    pub directions: u32,
    /// Which places were found, each once.
    pub anchors: Vec<u32>,
    /// Where those are, with noise, in the same order.
    pub points: Vec<Vec<i64>>,
    /// The hull of these points, on the plane; none in other dimensions.
    pub outline: Option<Convex>,
    /// How far the points reach from the centre in each direction, in metres.
    pub supports: Vec<Support>,
    /// How far it is off, with the confidence of its plan.
    pub error: HullError,
}

/// How far something reaches in a direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Support {
    /// The direction, a unit vector.
    pub direction: Vec<f64>,
    /// How far, in metres.
    pub reach: f64,
}

/// The hull of places, for the whole of a prepaid.
///
/// - Theorem: hull-parts (docs/theorems.md)
/// - Proves: centre, radius, anchors and points cost their parts of the price, per square metre or
///   per metre, so all of it costs the price
/// - Assumes: the number of places is public (caller)
/// - Deviates: parts are rounded down; different anchors share what is for points, as they are
///   public by then
/// - Checked by: `a_hull_spends_no_more_than_its_fund`, `hulls_are_within_what_is_said_of_them`,
///   `a_hull_costs_its_price_part_by_part`
///
/// # Errors
/// The plan cannot be followed with these places at this price. Nothing is drawn.
pub fn hull<C: PlacePrice, E: Entropy + ?Sized>(
    places: &Places,
    plan: &HullPlan,
    mut prepaid: Prepaid<C>,
    entropy: &mut E,
) -> Result<Hull, PlacesError> {
    let (lattice, price) = (*places.lattice(), prepaid.left());
    plan.check(&lattice, places.count(), price)?;
    let prices = plan.prices(price);

    let twice = prepaid.release(&places.extremes()?, prices.centre, entropy)?.get();
    let centre: Vec<i64> = twice.into_iter().map(|sum| sum.div_euclid(2)).collect();
    let farthest = prepaid.release(&places.farthest(&centre)?, prices.radius, entropy)?;
    // Noise makes it smaller by more than this in a quarter of the cases that may go wrong.
    let short = C::reach(prices.radius, 1, (1.0 - plan.confidence.get()) / 2.0) * unit(&lattice);
    let farthest = farthest.get().first().copied().unwrap_or(0);
    let radius = farthest.saturating_add(lattice.grid().steps(short)).max(1);

    let metres = lattice.grid().length(radius);
    let count = plan.count(&lattice, places.count(), price, metres);
    let towards = directions(lattice.dimensions(), count);
    let each = part(prices.anchors, count);
    let mut found = BTreeSet::new();
    for direction in &towards {
        let to = on_sphere(&lattice, &centre, metres, direction);
        let near = find(places, &to, plan.method, 1, each, &mut prepaid, entropy)?;
        found.extend(near.get());
    }

    let anchors: Vec<u32> = found.into_iter().collect();
    let among = u32::try_from(anchors.len()).unwrap_or(u32::MAX);
    let each = part(prices.points, among);
    let mut points = Vec::with_capacity(anchors.len());
    for &anchor in &anchors {
        points.push(prepaid.release(&places.point(anchor)?, each, entropy)?.get());
    }
    let error = plan.error(&lattice, places.count(), price, metres, [count, among]);
    let plane = |point: &Vec<i64>| point.as_slice().try_into().ok();
    let outline = points.iter().map(plane).collect::<Option<Vec<[i64; 2]>>>().map(Convex::around);
    let supports = supports(&lattice, &centre, &points, towards);
    Ok(Hull { centre, radius, directions: count, anchors, points, outline, supports, error })
}

/// The point of the lattice in a direction from a centre, the given number of metres away.
fn on_sphere(lattice: &Lattice, centre: &[i64], metres: f64, direction: &[f64]) -> Vec<i64> {
    let steps = direction.iter().map(|part| lattice.grid().steps(metres * part));
    centre.iter().zip(steps).map(|(at, steps)| at.saturating_add(steps)).collect()
}

/// How far points reach from a centre in every direction.
fn supports(
    lattice: &Lattice,
    centre: &[i64],
    points: &[Vec<i64>],
    towards: Vec<Vec<f64>>,
) -> Vec<Support> {
    let from = lattice.metres(centre);
    let apart = |point: &Vec<i64>| -> Vec<f64> {
        lattice.metres(point).iter().zip(&from).map(|(at, from)| at - from).collect()
    };
    let apart: Vec<Vec<f64>> = points.iter().map(apart).collect();
    let along = |direction: &[f64], point: &[f64]| -> f64 {
        direction.iter().zip(point).map(|(one, two)| one * two).sum()
    };
    towards
        .into_iter()
        .map(|direction| {
            let reaches = apart.iter().map(|point| along(&direction, point));
            let reach = reaches.fold(f64::NEG_INFINITY, f64::max);
            Support { direction, reach }
        })
        .collect()
}
