//! Planar Laplace noise, and points released with it.

use std::collections::BTreeMap;

use eke_budget::metric::Reach;
use eke_budget::{
    Account, Adjacency, BudgetSpec, Epsilon, L1, L2, Metres, Metric, NoHistory, Receipt,
};
use eke_noise::evidence::{Bound, Norms};
use eke_noise::law::PlanarLaplace;
use eke_noise::number::ScaleError;
use eke_noise::path::MismatchReason;
use eke_noise::release::{Lengths, PointRelease, Points, PointsRelease, release_points};
use eke_noise::{Exact, Ratio, release_point};
use eke_testkit::{Fit, Seeded};

const DRAWS: usize = 300_000;

fn ratio(rate: f64) -> Ratio {
    Ratio::from_f64(rate).unwrap()
}

/// `P(z)` proportional to `exp(-rate |z|)` for a norm, on the points within reach.
fn law<const N: usize>(
    rate: f64,
    reach: i64,
    norm: fn(&[i64; N]) -> f64,
) -> BTreeMap<[i64; N], f64> {
    let side = 2 * reach + 1;
    let points = (0..side.pow(u32::try_from(N).unwrap())).map(|code| {
        let mut code = code;
        [(); N].map(|()| {
            let coordinate = code % side - reach;
            code /= side;
            coordinate
        })
    });
    let weights: BTreeMap<_, _> =
        points.map(|point| (point, (-rate * norm(&point)).exp())).collect();
    let total: f64 = weights.values().sum();
    weights.into_iter().map(|(point, weight)| (point, weight / total)).collect()
}

fn euclidean<const N: usize>(point: &[i64; N]) -> f64 {
    (point.iter().map(|z| z * z).sum::<i64>() as f64).sqrt()
}

/// The sum of the sizes, over the root of the dimensions: what proposals have.
fn proposed<const N: usize>(point: &[i64; N]) -> f64 {
    point.iter().map(|z| z.abs()).sum::<i64>() as f64 / (N as f64).sqrt()
}

fn largest<const N: usize>(point: &[i64; N]) -> f64 {
    point.iter().map(|z| z.abs()).max().unwrap_or(0) as f64
}

/// The law, and controls: a rate 5 % off, proposals that are all kept, and the largest coordinate
/// for the length.
fn fits<const N: usize>(draws: &[[i64; N]], rate: f64, reach: i64) {
    let fit = |law: BTreeMap<[i64; N], f64>| Fit::of(draws.iter().copied(), &law);
    let what = format!("rate {rate} in {N} dimensions");
    fit(law(rate, reach, euclidean)).assert(&fit(law(rate * 1.05, reach, euclidean)), &what);
    if N > 1 {
        assert!(fit(law(rate, reach, proposed)).is_rejected(), "{what}: proposals pass");
        assert!(fit(law(rate, reach, largest)).is_rejected(), "{what}: another norm passes");
    }
}

fn drawn<const N: usize>(rate: f64, reach: i64, seed: u64) {
    let mut entropy = Seeded::new(seed);
    let noise = PlanarLaplace::<N>::new(&ratio(rate)).unwrap();
    let mut draws = vec![[0; N]; DRAWS];
    noise.fill(&mut draws, &mut entropy);
    fits(&draws, rate, reach);
    let once: Vec<_> = (0..DRAWS / 2)
        .map(|_| PlanarLaplace::<N>::once(&ratio(rate), &mut entropy).unwrap())
        .collect();
    fits(&once, rate, reach);
}

#[test]
fn planar_noise_of_every_rate_has_its_law() {
    drawn::<1>(0.7, 60, 401);
    drawn::<2>(0.5, 60, 402);
    drawn::<2>(1.3, 30, 403);
    drawn::<2>(3.0, 14, 404);
    drawn::<3>(0.9, 24, 405);
    drawn::<3>(2.2, 16, 406);
}

/// Noise that is many steps wide, down to a rate of 1e-12: its length has the gamma law, in twenty
/// cells that are equally likely, and its direction is in every eighth of the plane equally often.
/// Controls: a length 5 % off, and the directions of proposals.
#[test]
fn wide_planar_noise_has_the_length_and_the_direction_of_the_plane() {
    const CELLS: i64 = 20;
    let cells: BTreeMap<i64, f64> = (0..CELLS).map(|cell| (cell, 1.0 / CELLS as f64)).collect();
    // The share of lengths below x/rate in the plane.
    let below = |x: f64| 1.0 - (1.0 + x) * (-x).exp();
    #[expect(clippy::cast_possible_truncation, reason = "below twenty")]
    let cell = |share: f64| ((share * CELLS as f64) as i64).min(CELLS - 1);
    for (seed, rate) in (411..).zip([1e-12, 1e-9, 1e-6, 1e-3]) {
        let mut entropy = Seeded::new(seed);
        let noise = PlanarLaplace::<2>::new(&ratio(rate)).unwrap();
        let mut draws = vec![[0; 2]; DRAWS];
        noise.fill(&mut draws, &mut entropy);
        let length = |[x, y]: &[i64; 2]| (*x as f64).hypot(*y as f64);
        let fit =
            |rate: f64| Fit::of(draws.iter().map(|draw| cell(below(rate * length(draw)))), &cells);
        fit(rate).assert(&fit(rate * 1.05), &format!("length at {rate}"));
        // Within an eighth of the plane, angles in four cells: 45 degrees are cut into equal parts.
        let angle = |draw: &[i64; 2]| {
            let (x, y) = (draw[0].abs() as f64, draw[1].abs() as f64);
            y.min(x).atan2(y.max(x)) / std::f64::consts::FRAC_PI_4
        };
        let quarters: BTreeMap<i64, f64> = (0..4).map(|cell| (cell, 0.25)).collect();
        #[expect(clippy::cast_possible_truncation, reason = "below four")]
        let angles = |angle: &dyn Fn(&[i64; 2]) -> f64| -> Vec<i64> {
            draws.iter().map(|draw| ((angle(draw) * 4.0) as i64).min(3)).collect()
        };
        // If proposals were kept whatever they are, a direction (c, s) would have weight 1/(c +
        // s)².
        let tilted: BTreeMap<i64, f64> = (0..4)
            .map(|cell| {
                let tangent = |part: i64| (part as f64 * std::f64::consts::PI / 16.0).tan();
                let share = |t: f64| 2.0 * t / (1.0 + t);
                (cell, share(tangent(cell + 1)) - share(tangent(cell)))
            })
            .collect();
        let fit = |law| Fit::of(angles(&angle), law);
        fit(&quarters).assert(&fit(&tilted), &format!("direction at {rate}"));
    }
}

#[test]
fn extreme_planar_rates_neither_panic_nor_hang() {
    let mut entropy = Seeded::new(421);
    let e = &mut entropy;
    for rate in [100.0, 1e6, 1e300, f64::MAX] {
        assert_eq!(PlanarLaplace::<2>::new(&ratio(rate)).unwrap().draw(e), [0; 2]);
        assert_eq!(PlanarLaplace::<3>::once(&ratio(rate), e), Ok([0; 3]));
    }
    let widest = PlanarLaplace::<3>::new(&Ratio::new(1, 1 << 42).unwrap()).unwrap();
    assert!((0..100).any(|_| widest.draw(e)[2].abs() > 1 << 42));
    for rate in [5e-324, 1e-300, 1e-14] {
        assert_eq!(PlanarLaplace::<2>::new(&ratio(rate)).unwrap_err(), ScaleError);
        assert_eq!(PlanarLaplace::<1>::once(&ratio(rate), e).unwrap_err(), ScaleError);
    }
}

fn account(metric: Metric) -> Account {
    let budget = BudgetSpec::promising(Epsilon::new(1e6).unwrap()).resolve(metric).unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn buy(metric: Metric, epsilon: &str, steps: f64) -> Receipt<PointRelease> {
    let mut account = account(metric);
    let sensitivity = L2::new(steps).unwrap();
    let release = PointRelease { epsilon: epsilon.parse().unwrap(), sensitivity };
    let approved = account.approve(release).unwrap();
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    assert_eq!(account.odometer().pure().unwrap().spent(), epsilon.parse().unwrap());
    receipt
}

fn exact(point: &[i64], steps: f64) -> Exact<Vec<i64>> {
    let norms = Norms::l2(L2::new(steps).unwrap(), point.len()).unwrap();
    Exact::new(point.to_vec(), norms)
}

const UNITS: Metric = Metric::Hamming(Adjacency::AddRemove);

/// A unit that moves a point by up to two and a half steps, for an epsilon of two: the noise has
/// rate 0.8, and of all moves within reach none changes a probability by more than `exp(2)`, and
/// one along an axis by nearly that. The noise around the truth has that law; the control is the
/// rate of a sensitivity that was forgotten.
#[test]
fn a_point_costs_its_epsilon_in_every_direction() {
    let mut entropy = Seeded::new(431);
    let truth = exact(&[100, -7], 2.5);
    let draws: Vec<[i64; 2]> = (0..DRAWS)
        .map(|_| {
            let point = release_point(&truth, buy(UNITS, "2", 2.5), &mut entropy).unwrap().get();
            [point[0] - 100, point[1] + 7]
        })
        .collect();
    fits(&draws, 0.8, 45);
    let law = law(0.8, 30, euclidean::<2>);
    assert!(Fit::of(draws, &self::law(2.0, 30, euclidean::<2>)).is_rejected());
    let mut most = 0.0f64;
    for (x, y) in (-2i64..=2).flat_map(|x| (-2i64..=2).map(move |y| (x, y))) {
        if x * x + y * y > 6 {
            continue;
        }
        for (&[at_x, at_y], probability) in &law {
            let moved = law.get(&[at_x + x, at_y + y]).copied();
            most = most.max(moved.map_or(0.0, |moved| (probability / moved).ln()));
        }
    }
    assert!(most <= 2.0 && most > 0.8 * 5f64.sqrt() - 0.01, "{most}");
}

/// Places on a grid of half a metre, epsilon 0.2 per metre: one metre is two steps, so the rate is
/// 0.1 per step.
#[test]
fn a_place_on_a_grid_is_released_per_metre() {
    const CELLS: i64 = 20;
    let mut entropy = Seeded::new(432);
    let metres = Metric::Euclidean(Reach::Within(Metres::new(1000.0).unwrap()));
    let place = exact(&[2000, -3000], 2.0);
    let cells: BTreeMap<i64, f64> = (0..CELLS).map(|cell| (cell, 1.0 / CELLS as f64)).collect();
    let fit = |rate: f64, lengths: &[f64]| {
        #[expect(clippy::cast_possible_truncation, reason = "below twenty")]
        let cell = |length: &f64| {
            let x = rate * length;
            ((1.0 - (1.0 + x) * (-x).exp()) * CELLS as f64) as i64
        };
        Fit::of(lengths.iter().map(cell), &cells)
    };
    let lengths: Vec<f64> = (0..20_000)
        .map(|_| {
            let point = release_point(&place, buy(metres, "0.2", 2.0), &mut entropy).unwrap().get();
            ((point[0] - 2000) as f64).hypot((point[1] + 3000) as f64)
        })
        .collect();
    // The control is a step that was taken for a metre.
    fit(0.1, &lengths).assert(&fit(0.2, &lengths), "metres");
}

#[test]
fn a_point_is_released_for_its_own_receipt_alone() {
    let mut entropy = Seeded::new(433);
    let e = &mut entropy;
    let point = exact(&[1, 2], 1.0);
    let mismatch = release_point(&exact(&[1, 2], 3.0), buy(UNITS, "1", 1.0), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherSensitivity);
    assert!(release_point(&point, *mismatch.receipt, e).is_ok());
    // A bound on the sum is not one on the length.
    let sum = Norms::new(L1::new(1.2).unwrap(), L2::new(1.0).unwrap(), 2).unwrap();
    assert!(release_point(&Exact::new(vec![1, 2], sum), buy(UNITS, "1", 1.0), e).is_ok());
    let mismatch =
        release_point(&Exact::new(vec![1, 2], sum), buy(UNITS, "1", 1.2), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherSensitivity);
    for coordinates in [0, 4] {
        let vector = exact(&vec![0; coordinates], 1.0);
        let mismatch = release_point(&vector, buy(UNITS, "1", 1.0), e).unwrap_err();
        assert_eq!(mismatch.reason, MismatchReason::NotAPoint);
        assert_eq!(
            mismatch.to_string(),
            "a point has one, two or three coordinates: release other vectors along a path"
        );
        assert_eq!(mismatch.receipt.purchase().radius(coordinates), None);
    }
    let mismatch = release_point(&point, buy(UNITS, "1e-20", 1.0), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Level(ScaleError.into()));
    let free = PointRelease { epsilon: "0".parse().unwrap(), sensitivity: L2::new(1.0).unwrap() };
    assert_eq!(free.can_release(2), Err(MismatchReason::Level(ScaleError.into())));
    let radius = PointRelease { epsilon: "2".parse().unwrap(), ..free }.radius(3).unwrap();
    assert!((radius.mean() - 1.5).abs() < 1e-12);
}

/// How many coordinates a point has is public: one that is shorter counts as padded, one that is
/// longer as cut. At the ends of the range coordinates are clamped before noise is added, so noise
/// is never cut off.
#[test]
fn points_are_shaped_and_clamped_before_the_noise() {
    let mut entropy = Seeded::new(434);
    let norms = Norms::l2(L2::new(1.0).unwrap(), 2).unwrap();
    for vector in [vec![], vec![5], vec![5, 6, 7]] {
        let truth = Exact::new(vector, norms);
        let point = release_point(&truth, buy(UNITS, "1", 1.0), &mut entropy).unwrap().get();
        assert_eq!(point.len(), 2);
    }
    let (mut above, mut below) = (0, 0);
    for _ in 0..200 {
        let truth = exact(&[i64::MAX, i64::MIN], 1.0);
        let point = release_point(&truth, buy(UNITS, "0.1", 1.0), &mut entropy).unwrap().get();
        above += u32::from(point[0] > 1 << 62);
        below += u32::from(point[1] < -(1 << 62));
    }
    assert!(above > 50 && below > 50, "{above} {below}");
}

fn lengths(sum: f64, points: usize, dimensions: usize) -> Lengths {
    Lengths::new(L2::new(sum).unwrap(), points, dimensions)
}

fn buy_points(epsilon: &str, sensitivity: Lengths) -> Receipt<PointsRelease> {
    let mut account = account(UNITS);
    let release = PointsRelease { epsilon: epsilon.parse().unwrap(), sensitivity };
    let approved = account.approve(release).unwrap();
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    assert_eq!(account.odometer().pure().unwrap().spent(), epsilon.parse().unwrap());
    receipt
}

/// Two points in the plane, and a unit that moves them by lengths that add up to four: for an
/// epsilon of six each has noise of rate 1.5, its own. Together their law is the product, of which
/// no move of both within four steps in all changes a probability by more than `exp(6)`, and some
/// by nearly that. Controls: noise of the whole epsilon for each, and noise that both share.
#[test]
fn several_points_cost_their_epsilon_together() {
    let mut entropy = Seeded::new(435);
    let bound = lengths(4.0, 2, 2);
    let truth = Exact::new(Points(vec![100, -7, 3, 4]), bound);
    let draws: Vec<[[i64; 2]; 2]> = (0..DRAWS)
        .map(|_| {
            let points = release_points(&truth, buy_points("6", bound), &mut entropy).unwrap();
            let points = points.get();
            [[points[0] - 100, points[1] + 7], [points[2] - 3, points[3] - 4]]
        })
        .collect();
    let law = law(1.5, 12, euclidean::<2>);
    let pairs: BTreeMap<[[i64; 2]; 2], f64> = law
        .iter()
        .flat_map(|(&one, p)| law.iter().map(move |(&two, q)| ([one, two], p * q)))
        .filter(|(_, probability)| *probability > 1e-6)
        .collect();
    let shared: Vec<_> = draws.iter().map(|[one, _]| [*one, *one]).collect();
    Fit::of(draws.iter().copied(), &pairs).assert(&Fit::of(shared, &pairs), "two points");
    let whole = self::law(6.0, 12, euclidean::<2>);
    assert!(Fit::of(draws.iter().map(|[one, _]| *one), &whole).is_rejected());
    // By the triangle inequality a point's loss is its rate times its move, and both are attained
    // at once.
    let loss = |x: i64| {
        let moved = |at: &[i64; 2]| law.get(&[at[0] - x, at[1]]).copied();
        let losses = law.iter().filter_map(|(at, p)| Some((moved(at)? / p).ln().abs()));
        losses.fold(0.0, f64::max)
    };
    let most = (0..=4).map(|x| loss(x) + loss(4 - x)).fold(0.0, f64::max);
    assert!((5.99..=6.0 + 1e-9).contains(&most), "{most}");
}

#[test]
fn several_points_are_released_for_their_own_receipt_alone() {
    let mut entropy = Seeded::new(436);
    let e = &mut entropy;
    let bound = lengths(1.0, 3, 2);
    let points = |bound| Exact::new(Points(vec![1, 2]), bound);
    for other in [lengths(2.0, 3, 2), lengths(1.0, 2, 2), lengths(1.0, 3, 1)] {
        let mismatch = release_points(&points(other), buy_points("1", bound), e).unwrap_err();
        assert_eq!(mismatch.reason, MismatchReason::OtherSensitivity);
        // How many there are is public: points that are missing count as zero.
        let released = release_points(&points(bound), *mismatch.receipt, e).unwrap();
        assert_eq!(released.get().len(), 6);
    }
    let flat = lengths(1.0, 3, 4);
    let mismatch = release_points(&points(flat), buy_points("1", flat), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::NotAPoint);
    assert_eq!(mismatch.receipt.purchase().radius(), None);
    let none = lengths(1.0, 0, 3);
    assert!(release_points(&points(none), buy_points("1", none), e).unwrap().get().is_empty());
    let one = PointsRelease { epsilon: "2".parse().unwrap(), sensitivity: bound };
    assert!((one.radius().unwrap().mean() - 1.0).abs() < 1e-12);
    let three = bound.times(3).unwrap();
    assert!(three.sum().get() >= 3.0 && (three.points(), three.dimensions()) == (3, 2));
    assert_eq!(format!("{:?}", Points(vec![7])), "Points(..)");
}
