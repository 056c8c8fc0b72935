//! The nearest of one person's places.

use eke_budget::{Amount, Epsilon, Rho};
use eke_geo::person::{NearestMethod, PlacesError};
use eke_geo::{Lattice, Nearest, PlacePrice, Places, nearest};
use eke_noise::evidence::Scores;
use eke_noise::{Confidence, Exact};
use proptest::prelude::*;

use crate::{Dice, Nothing, disc, epsilon, fund, metres, plane, rho};

const PAPER: NearestMethod = NearestMethod::Paper { margin: None };

fn question(count: u32, method: NearestMethod) -> Nearest {
    Nearest { to: vec![0, 0], count, method }
}

#[test]
fn the_nearest_are_found_where_there_is_much_to_spend() {
    let lattice = plane();
    let points = [[900.0, 0.0], [0.0, -10.0], [300.0, 300.0], [-40.0, 30.0], [5000.0, 1.0]];
    let places = Places::new(lattice, points);
    assert_eq!((places.count(), format!("{places:?}").as_str()), (5, "Places(..)"));
    let mut bits = Dice(1);
    for method in [NearestMethod::Ranked, PAPER] {
        let found = nearest(&places, &question(3, method), fund(rho("1000")), &mut bits).unwrap();
        assert_eq!(found.get(), [1, 3, 2], "{method:?}");
        let found =
            nearest(&places, &question(3, method), fund(epsilon("1000")), &mut bits).unwrap();
        assert_eq!(found.get(), [1, 3, 2], "{method:?}");
    }
    // In more dimensions as well.
    let cube = Lattice::boxed(5, metres(100.0), metres(1.0)).unwrap();
    let points = (0..6u8).map(|at| vec![f64::from(at) * 10.0; 5]);
    let near = Nearest { to: cube.put(&[31.0; 5]), count: 2, method: NearestMethod::Ranked };
    let found = nearest(&Places::new(cube, points), &near, fund(rho("1000")), &mut bits).unwrap();
    assert_eq!(found.get(), [3, 4]);
}

#[test]
fn what_cannot_be_asked_is_refused_in_a_sentence() {
    let places = Places::new(plane(), [[1.0, 2.0], [3.0, 4.0]]);
    let refused = |question: &Nearest, price: Amount<Rho>| {
        nearest(&places, question, fund(price), &mut Nothing).unwrap_err()
    };
    let error = refused(&question(3, NearestMethod::Ranked), rho("1"));
    assert_eq!(error, PlacesError::Count { asked: 3, there: 2 });
    assert_eq!(
        error.to_string(),
        "3 of 2 places were asked for: ask for at least one, and no more than there are"
    );
    assert!(matches!(refused(&question(0, PAPER), rho("1")), PlacesError::Count { .. }));
    let flat = Nearest { to: vec![1], ..question(1, PAPER) };
    assert_eq!(refused(&flat, rho("1")), PlacesError::Dimensions(1, 2));
    assert_eq!(refused(&question(1, PAPER), Amount::GRAIN), PlacesError::Price);
}

/// What two tuples' values are apart, read with hardly any noise.
fn apart(one: &Exact<Vec<i64>>, two: &Exact<Vec<i64>>) -> f64 {
    let mut bits = Dice(2);
    let mut read = |exact| {
        let mut money = fund(rho("100000000"));
        money.release(exact, rho("99999999"), &mut bits).unwrap().get()
    };
    let (one, two) = (read(one), read(two));
    let square = |(a, b): (&i64, &i64)| ((a - b) as f64).powi(2);
    one.iter().zip(&two).map(square).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A lattice so coarse that a hundred million for a draw leaves no noise.
    #[test]
    fn what_is_worked_out_of_places_moves_no_further_than_stated(
        moved in prop::collection::vec((-90.0f64..90.0, -90.0f64..90.0, 0.0f64..6.3, 0.0f64..=1.0), 1..6),
        far in 1.0f64..30.0,
        from in (-100.0f64..100.0, -100.0f64..100.0),
    ) {
        let lattice = Lattice::boxed(2, metres(100.0), metres(1.0)).unwrap();
        let one = Places::new(lattice, moved.iter().map(|&(x, y, ..)| [x, y]));
        let two = Places::new(lattice, moved.iter().map(|&(x, y, angle, part)| {
            [x + far * part * angle.cos(), y + far * part * angle.sin()]
        }));
        let from = lattice.put(&[from.0, from.1]);
        let pairs = [
            (one.extremes().unwrap(), two.extremes().unwrap()),
            (one.farthest(&from).unwrap(), two.farthest(&from).unwrap()),
            (one.point(0).unwrap(), two.point(0).unwrap()),
        ];
        for (one, two) in pairs {
            let bound = one.sensitivity().length().get() * far;
            // The little that is left of noise: four deviations of a thousandth of the sensitivity,
            // in two values.
            let noise = 0.001 * one.sensitivity().length().get();
            prop_assert!(apart(&one, &two) <= bound + noise);
        }
    }
}

/// All corners of a box a metre along its own axis: the root of two is all used.
#[test]
fn the_middle_of_a_box_moves_by_the_root_of_its_dimensions() {
    let lattice = Lattice::boxed(2, metres(1000.0), metres(1.0)).unwrap();
    let corners = [[-500.0, 0.0], [500.0, 0.0], [0.0, -500.0], [0.0, 500.0]];
    let moved = [[-400.0, 0.0], [600.0, 0.0], [0.0, -400.0], [0.0, 600.0]];
    let [one, two] =
        [corners, moved].map(|points| Places::new(lattice, points).extremes().unwrap());
    let used = apart(&one, &two) / one.sensitivity().length().get() / 100.0;
    assert!((0.998..=1.0).contains(&used), "{used}");
}

/// How much further than the nearest a place that was found is, on average and beyond what is said.
fn excess<C: PlacePrice + std::fmt::Debug>(
    price: Amount<C>,
    method: NearestMethod,
    seed: u64,
) -> (f64, f64) {
    const RUNS: u32 = 400;
    let points = disc(500, 10_000.0, 7);
    let (lattice, question) = (plane(), question(1, method));
    let places = Places::new(lattice, &points);
    let length = |at: &[f64; 2]| at[0].hypot(at[1]);
    let best = points.iter().map(length).fold(f64::MAX, f64::min);
    let said = question.error(&lattice, 500, price, Confidence::new(0.9).unwrap()).unwrap();
    let mut bits = Dice(seed);
    let (mut sum, mut beyond) = (0.0, 0.0);
    for _ in 0..RUNS {
        let found = nearest(&places, &question, fund(price), &mut bits).unwrap().get()[0];
        let excess = length(&points[found as usize]) - best;
        sum += excess;
        beyond += f64::from(u8::from(excess > said));
    }
    (sum / f64::from(RUNS), beyond / f64::from(RUNS))
}

/// 400 runs a seed. A tenth may be beyond what is said: more than 0.175 of them has a probability
/// below 1e-6.
#[test]
fn picks_are_within_what_is_said_of_them() {
    let (ours, beyond) = excess::<Rho>(rho("0.00005"), NearestMethod::Ranked, 11);
    assert!(beyond <= 0.175, "{beyond}");
    let (theirs, _) = excess::<Rho>(rho("0.00005"), PAPER, 12);
    assert!(theirs > 2.0 * ours, "{ours} {theirs}");
    let (pure, beyond) = excess::<Epsilon>(epsilon("0.01"), NearestMethod::Ranked, 13);
    assert!(beyond <= 0.175, "{beyond}");
    let (theirs, _) = excess::<Epsilon>(epsilon("0.01"), PAPER, 14);
    assert!(theirs > 2.0 * pure, "{pure} {theirs}");
    // Rho 1/8 is a rate of a half: of a thousand others, one more than `2 ln(1000)` beyond is
    // picked half of the time at most.
    assert!((Rho::pick_error(rho("0.125"), 1001, 0.5) - 2.0 * 1000f64.ln()).abs() < 1e-9);
}

/// 400 runs a seed: as above.
#[test]
fn searches_end_within_what_is_said_of_them() {
    let (_, beyond) = excess::<Rho>(rho("0.0005"), PAPER, 15);
    assert!(beyond <= 0.175, "{beyond}");
    let lifted = NearestMethod::Paper { margin: Some(metres(2500.0)) };
    let (_, beyond) = excess::<Rho>(rho("0.0005"), lifted, 16);
    assert!(beyond <= 0.175, "{beyond}");
}

/// Noise of a point against what is said of it: 1000 draws, of which a fifth may be beyond; more
/// than 0.265 or fewer than 0.14 has a probability below 1e-6 where it is a quantile.
#[test]
fn noise_reaches_as_far_as_is_said() {
    fn beyond<C: PlacePrice + std::fmt::Debug>(
        price: Amount<C>,
        dimensions: usize,
        seed: u64,
    ) -> f64 {
        let lattice = Lattice::boxed(dimensions, metres(1000.0), metres(1.0)).unwrap();
        let truth = lattice.exact(vec![0; dimensions]).unwrap();
        let reach = C::reach(price, dimensions, 0.2) * lattice.sensitivity().get();
        let mut bits = Dice(seed);
        let mut money = fund(Amount::from_grains(price.grains() * 1000));
        let outside = (0..1000).filter(|_| {
            let noise = money.release(&truth, price, &mut bits).unwrap().get();
            noise.iter().map(|&at| (at as f64).powi(2)).sum::<f64>().sqrt() > reach
        });
        outside.count() as f64 / 1000.0
    }
    for dimensions in [1, 2] {
        let part = beyond::<Rho>(rho("0.01"), dimensions, 21);
        assert!((0.14..=0.265).contains(&part), "{dimensions}: {part}");
    }
    assert!(beyond::<Rho>(rho("0.01"), 9, 22) <= 0.265);
    for dimensions in [1, 2, 3] {
        let part = beyond::<Epsilon>(epsilon("0.1"), dimensions, 23);
        assert!((0.14..=0.265).contains(&part), "{dimensions}: {part}");
    }
}

/// The scores of places carry what a metre moves them by, and no place shows.
#[test]
fn scores_of_places_show_nothing() {
    let places = Places::new(plane(), [[1.0, 2.0]]);
    let scores: Exact<Scores> = places.nearness(&[0, 0]).unwrap();
    assert_eq!(format!("{scores:?}"), "Exact(..)");
    let metre = scores.sensitivity().get() * plane().grid().step();
    assert!((1.0..1.003).contains(&metre), "{metre}");
}
