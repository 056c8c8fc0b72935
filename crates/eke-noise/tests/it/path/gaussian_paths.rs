//! Gaussian paths, from account to answer.

use eke_budget::L2;
use eke_noise::path::MismatchReason;
use eke_noise::{GaussianPath, NoisePath};
use eke_testkit::Seeded;

use crate::path::walk::{self, at, id, number};

/// The truth, and what one unit changes it by, in steps of the grid.
const TRUTH: i64 = -40_000;
const SENSITIVITY: f64 = 1024.0;

type Walk = walk::Walk<GaussianPath>;

fn walk() -> Walk {
    let path = GaussianPath::open(id(1), L2::new(SENSITIVITY).unwrap());
    Walk::new(path, number(TRUTH, SENSITIVITY), SENSITIVITY)
}

/// `sensitivity²/(2 rho)`
fn variance(rho: f64) -> f64 {
    SENSITIVITY * SENSITIVITY / (2.0 * rho)
}

type Order = fn(&mut Walk, &mut Seeded) -> [i64; 3];

/// Points at rho 1, 2 and 4, in that order in the result.
const ORDERS: [(&str, Order); 6] = [
    ("coarse to fine", |walk, e| [walk.refine("1", e), walk.refine("2", e), walk.refine("4", e)]),
    ("fine to coarse, within one increment", |walk, e| {
        let fine = walk.refine("4", e);
        let middle = walk.coarsen("2", e);
        [walk.coarsen("1", e), middle, fine]
    }),
    ("the middle last, by the bridge", |walk, e| {
        let fine = walk.refine("4", e);
        let coarse = walk.coarsen("1", e);
        [coarse, walk.coarsen("2", e), fine]
    }),
    ("inside the second increment", |walk, e| {
        let coarse = walk.refine("1", e);
        let fine = walk.refine("4", e);
        [coarse, walk.coarsen("2", e), fine]
    }),
    ("inside the first increment", |walk, e| {
        let middle = walk.refine("2", e);
        let fine = walk.refine("4", e);
        [walk.coarsen("1", e), middle, fine]
    }),
    ("between others inside an increment", |walk, e| {
        let coarser = walk.refine("0.5", e);
        let fine = walk.refine("4", e);
        let _ = (coarser, walk.coarsen("3", e), walk.coarsen("0.75", e));
        [walk.coarsen("1", e), walk.coarsen("2", e), fine]
    }),
];

/// One path has covariances `Cov(y_r, y_s) = variance(max(r, s))`, whatever was asked first. With
/// 40,000 runs each of the nine estimates has a deviation of at most 0.71 % of the geometric mean
/// of the variances; eight deviations for fifty-four estimates is far below one false alarm in 1e9.
/// The control is the same with answers of two paths mixed, as independent draws would be.
#[test]
fn gaussian_points_in_any_order_have_the_covariance_of_one_path() {
    const RUNS: usize = 40_000;
    let rhos = [1.0, 2.0, 4.0];
    let off = |draws: &[[i64; 3]]| -> f64 {
        let mut worst: f64 = 0.0;
        for (i, &first) in rhos.iter().enumerate() {
            for (j, &second) in rhos.iter().enumerate() {
                let sum: f64 =
                    draws.iter().map(|d| (d[i] - TRUTH) as f64 * (d[j] - TRUTH) as f64).sum();
                let size = (variance(first) * variance(second)).sqrt();
                let expected = variance(first.max(second));
                // The deviation of a product of normal numbers, at most sqrt(2) of the size.
                let deviation = size * (2.0 / RUNS as f64).sqrt();
                worst = worst.max((sum / RUNS as f64 - expected).abs() / deviation);
            }
        }
        worst
    };
    let mut entropy = Seeded::new(61);
    for (name, order) in ORDERS {
        let draws: Vec<[i64; 3]> = (0..RUNS).map(|_| order(&mut walk(), &mut entropy)).collect();
        assert!(off(&draws) < 8.0, "{name}: {}", off(&draws));
        let mixed: Vec<[i64; 3]> = draws.windows(2).map(|d| [d[0][0], d[1][1], d[0][2]]).collect();
        assert!(off(&mixed) > 8.0, "{name}: the control passes");
    }
}

/// Marginally, every point is normal with its variance (the grid is a thousandth of it): the shares
/// within half, one and two deviations.
#[test]
fn a_gaussian_point_has_the_variance_it_was_paid_for() {
    const RUNS: usize = 60_000;
    let mut entropy = Seeded::new(62);
    let shares =
        [(0.5, 0.382_924_922_548_026), (1.0, 0.682_689_492_137_086), (2.0, 0.954_499_736_103_642)];
    for (name, order) in ORDERS {
        let draws: Vec<[i64; 3]> = (0..RUNS).map(|_| order(&mut walk(), &mut entropy)).collect();
        for (index, rho) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            let off = |scale: f64| {
                shares
                    .iter()
                    .map(|(deviations, share)| {
                        // Half a step for the rounding.
                        let limit = deviations * variance(rho).sqrt() * scale + 0.5;
                        let within = draws
                            .iter()
                            .filter(|d| ((d[index] - TRUTH) as f64).abs() < limit)
                            .count();
                        let expected = share * RUNS as f64;
                        let deviation = (expected * (1.0 - share)).sqrt();
                        (within as f64 - expected).abs() / deviation
                    })
                    .fold(0.0, f64::max)
            };
            assert!(off(1.0) < 6.0, "{name} at {rho}: {}", off(1.0));
            assert!(off(1.05) > 6.0, "{name} at {rho}: the control passes");
        }
    }
}

/// Closer to a finer version than 64 steps squared, a point is moved to a coarser place; closer
/// than that to a coarser version, it is that version. It is never the finer one.
#[test]
fn points_too_close_to_another_are_moved_to_a_coarser_one() {
    let mut entropy = Seeded::new(65);
    let mut walk = walk();
    let fine = walk.refine("4", &mut entropy);
    // Variances: 131,072 at rho 4, and 131,072.03 a millionth below that.
    let close = walk.coarsen("3.999999", &mut entropy);
    let prices: Vec<String> = stored_prices(&walk.path);
    assert_eq!(prices.len(), 2, "{prices:?}");
    assert!(prices[0].starts_with("3.998"), "{prices:?}");
    // The same place again for what is as close, and for what is just above the moved one.
    for again in ["3.9999999", "3.999", "3.9981"] {
        assert_eq!(walk.coarsen(again, &mut entropy), close, "{again}");
    }
    assert_eq!(stored_prices(&walk.path).len(), 2);
    // 13 steps squared finer than a stored version: that version. 100 steps squared: its own.
    let stored = walk.coarsen("2", &mut entropy);
    assert_eq!(walk.coarsen("2.0001", &mut entropy), stored);
    assert_eq!(stored_prices(&walk.path).len(), 3);
    walk.coarsen("2.0008", &mut entropy);
    assert_eq!(stored_prices(&walk.path).len(), 4);
    assert_eq!(walk.coarsen("4", &mut entropy), fine);
}

fn stored_prices(path: &GaussianPath) -> Vec<String> {
    let json: serde_json::Value = serde_json::to_value(path).unwrap();
    let versions = json["increments"][0]["versions"].as_object().unwrap();
    let mut prices: Vec<String> = versions.keys().cloned().collect();
    prices.sort();
    prices
}

/// A price so high that the noise would be narrower than the grid allows: 1024²/(2 · 8192) = 64.
#[test]
fn a_gaussian_step_too_fine_for_its_grid_is_not_taken() {
    let mut entropy = Seeded::new(66);
    walk().refine("8192", &mut entropy);
    let mut walk = walk();
    let receipt = walk.pay("8193");
    let mismatch = walk.path.refine(&walk.truth, receipt, &mut entropy).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::TooFine);
    assert!(mismatch.to_string().ends_with("put the truth on a finer grid"));
    assert!(GaussianPath::slack().get() > 1e-270);
}

#[test]
fn a_damaged_gaussian_path_is_not_read() {
    let mut entropy = Seeded::new(67);
    let mut walk = walk();
    walk.refine("1", &mut entropy);
    walk.refine("2", &mut entropy);
    let json = serde_json::to_value(&walk.path).unwrap();
    let reads = |json: serde_json::Value| serde_json::from_value::<GaussianPath>(json).is_ok();
    assert!(reads(json.clone()));
    for increments in [
        serde_json::json!([{"from": "2", "versions": {"1": 5}}]),
        serde_json::json!([{"from": "0", "versions": {"1": 5}}, {"from": "0.5", "versions": {"2": 5}}]),
        serde_json::json!([{"from": "0", "versions": {}}]),
        serde_json::json!([]),
    ] {
        let mut damaged = json.clone();
        damaged["increments"] = increments.clone();
        assert!(!reads(damaged), "{increments}");
    }
}

/// A step that was paid for and lost stays a gap: the path goes on after it, as precise as what was
/// drawn, and what was lost is never drawn.
#[test]
fn a_lost_increment_stays_a_gap() {
    const RUNS: usize = 20_000;
    let mut entropy = Seeded::new(68);
    let (mut fine, mut coarse, mut both) = (0.0, 0.0, 0.0);
    for run in 0..RUNS {
        let mut walk = walk();
        walk.refine("1", &mut entropy);
        drop(walk.pay("2"));
        let after = (walk.refine("4", &mut entropy) - TRUTH) as f64;
        let inside = (walk.coarsen("3", &mut entropy) - TRUTH) as f64;
        fine += after * after;
        coarse += inside * inside;
        both += after * inside;
        if run == 0 {
            // Inside the gap there is what was before it.
            let before = walk.path.point(at("1")).unwrap().get();
            assert_eq!(walk.coarsen("1.5", &mut entropy), before);
            assert_eq!(walk.path.point(at("1.5")), None);
            assert_eq!(walk.path.worth(at("4")), at("3"));
            walk.store_and_read();
        }
    }
    // A rho of 3 and of 2 was drawn; eight deviations of 1 %.
    for (sum, rho) in [(fine, 3.0), (coarse, 2.0), (both, 3.0)] {
        let found = sum / RUNS as f64 / variance(rho);
        assert!((found - 1.0).abs() < 0.09, "{rho}: {found}");
    }
}
