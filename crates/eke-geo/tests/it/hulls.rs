//! Hulls of one person's places.

use eke_budget::Amount;
use eke_geo::person::{Directions, HullPlan, PlacesError};
use eke_geo::shape::Convex;
use eke_geo::{Hull, Lattice, PlacePrice, Places, hull};
use eke_noise::Confidence;

use crate::{Dice, Nothing, disc, epsilon, fund, metres, plane, rho};

fn true_hull(points: &[[f64; 2]]) -> Convex {
    let lattice = plane();
    Convex::around(points.iter().map(|point| lattice.put(point).try_into().unwrap()))
}

#[test]
fn with_much_to_spend_a_hull_is_nearly_the_true_one() {
    let points = disc(2000, 8000.0, 3);
    let (places, truth) = (Places::new(plane(), &points), true_hull(&points));
    let mut bits = Dice(31);
    for plan in [HullPlan::default(), HullPlan::published()] {
        let found = hull(&places, &plan, fund(rho("10")), &mut bits).unwrap();
        let near = found.outline.as_ref().unwrap().jaccard(&truth);
        assert!(near > 0.97, "{near}");
        let found = hull(&places, &plan, fund(epsilon("1000")), &mut bits).unwrap();
        assert!(found.outline.unwrap().jaccard(&truth) > 0.97);
        assert!(found.anchors.is_sorted() && found.anchors.len() == found.points.len());
        assert_eq!(found.supports.len(), found.directions as usize);
    }
}

#[test]
fn better_picks_make_better_hulls() {
    let points = disc(2000, 8000.0, 4);
    let (places, truth) = (Places::new(plane(), &points), true_hull(&points));
    let mean = |plan: &HullPlan| {
        let mut bits = Dice(32);
        let near = |_| {
            let found = hull(&places, plan, fund(rho("0.00005")), &mut bits).unwrap();
            found.outline.unwrap().jaccard(&truth)
        };
        (0..24).map(near).sum::<f64>() / 24.0
    };
    let (ours, theirs) = (mean(&HullPlan::default()), mean(&HullPlan::published()));
    assert!(ours > theirs + 0.03, "{ours} {theirs}");
}

/// How far outside of a polygon a point is, in steps: the farthest along all directions across its
/// edges.
fn outside(polygon: &[[f64; 2]], point: [f64; 2]) -> f64 {
    let along = |at: [f64; 2], unit: (f64, f64)| at[0] * unit.0 + at[1] * unit.1;
    (0..720)
        .map(|turn| (f64::from(turn) * std::f64::consts::PI / 360.0).sin_cos())
        .map(|unit| {
            let reach = polygon.iter().map(|&at| along(at, unit)).fold(f64::MIN, f64::max);
            along(point, unit) - reach
        })
        .fold(0.0, f64::max)
}

/// In 60 hulls a tenth may be further off than is said; more than 18 has a probability below 1e-5.
/// (The bounds are loose, so that hardly any is.)
#[test]
fn hulls_are_within_what_is_said_of_them() {
    fn off<C: PlacePrice + std::fmt::Debug>(price: Amount<C>, plan: &HullPlan, seed: u64) -> f64 {
        let points = disc(60, 6000.0, seed);
        let places = Places::new(plane(), &points);
        let mut bits = Dice(seed);
        let is_off = |found: Hull| {
            let released: Vec<[f64; 2]> =
                found.points.iter().map(|at| plane().metres(at).try_into().unwrap()).collect();
            let far = points.iter().map(|&at| outside(&released, at)).fold(0.0, f64::max);
            let out = released.iter().map(|&at| outside(&points, at)).fold(0.0, f64::max);
            far > found.error.total() || out > found.error.points
        };
        let runs = (0..60).filter(|_| is_off(hull(&places, plan, fund(price), &mut bits).unwrap()));
        runs.count() as f64 / 60.0
    }
    let confidence = Confidence::new(0.9).unwrap();
    for plan in [HullPlan { confidence, ..HullPlan::default() }, HullPlan::published()] {
        assert!(off(rho("0.0005"), &plan, 33) <= 0.3);
        assert!(off(epsilon("0.1"), &plan, 34) <= 0.3);
    }
}

#[test]
fn a_hull_spends_no_more_than_its_fund() {
    let places = Places::new(plane(), disc(40, 500.0, 5));
    let mut bits = Dice(35);
    // A draw beyond what is left would be refused.
    for price in ["0.0001", "0.000123456789", "7"] {
        for directions in [Directions::Exactly(7), Directions::Exactly(64), Directions::Best] {
            let plan = HullPlan { directions, ..HullPlan::default() };
            hull(&places, &plan, fund(rho(price)), &mut bits).unwrap();
            hull(&places, &plan, fund(epsilon(price)), &mut bits).unwrap();
        }
    }
    let none = Places::new(plane(), Vec::<[f64; 2]>::new());
    let error = hull(&none, &HullPlan::default(), fund(rho("1")), &mut Nothing).unwrap_err();
    assert_eq!(error, PlacesError::Count { asked: 1, there: 0 });
    let error =
        hull(&places, &HullPlan::default(), fund(Amount::<eke_budget::Rho>::GRAIN), &mut Nothing);
    assert_eq!(error.unwrap_err(), PlacesError::Price);
}

#[test]
fn hulls_of_other_dimensions_are_points_and_how_far_they_reach() {
    let mut bits = Dice(36);
    let ball = Lattice::boxed(3, metres(1000.0), metres(1.0)).unwrap();
    let corners = (0..8).map(|corner| [0, 1, 2].map(|axis| f64::from(corner >> axis & 1) * 200.0));
    let places = Places::new(ball, corners);
    let plan = HullPlan { directions: Directions::Exactly(40), ..HullPlan::default() };
    let found = hull(&places, &plan, fund(rho("100000")), &mut bits).unwrap();
    assert!(found.outline.is_none() && found.anchors == [0, 1, 2, 3, 4, 5, 6, 7]);
    for support in &found.supports {
        let reach: f64 = support.direction.iter().map(|part| 100.0 * part.abs()).sum();
        assert!((support.reach - reach).abs() < 1.0, "{support:?} {reach}");
    }
    let found = hull(&places, &plan, fund(epsilon("100000")), &mut bits).unwrap();
    assert_eq!(found.anchors.len(), 8);

    let line = Lattice::boxed(1, metres(1000.0), metres(1.0)).unwrap();
    let places = Places::new(line, [[-30.0], [500.0], [7.0]]);
    let found = hull(&places, &HullPlan::default(), fund(rho("1000")), &mut bits).unwrap();
    assert_eq!((found.directions, found.anchors), (2, vec![0, 1]));

    let many = Lattice::boxed(6, metres(1000.0), metres(1.0)).unwrap();
    let places = Places::new(many, (0..20).map(|at| vec![f64::from(at) * 40.0 - 400.0; 6]));
    let found = hull(&places, &plan, fund(rho("1000")), &mut bits).unwrap();
    assert!(found.anchors.len() > 2 && found.outline.is_none() && found.supports.len() == 40);
    // Noise that is the same in all directions is drawn in up to three dimensions.
    let error = hull(&places, &plan, fund(epsilon("1000")), &mut Nothing).unwrap_err();
    assert_eq!(error, PlacesError::Pure);
}
