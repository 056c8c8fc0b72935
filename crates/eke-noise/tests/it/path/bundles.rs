//! Bundles: all groups of a question, from prices to answers.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use eke_budget::columns::{ColumnReader, ColumnWriter};
use eke_budget::purchase::{GroupPrices, GroupRaise};
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, L1, Metric, NoHistory, PathId, Price, Receipt,
    Rho,
};
use eke_noise::path::{BundleLaw, Column, Columns, MismatchReason};
use eke_noise::{Bundle, Exact};
use eke_testkit::{Fit, Seeded};

fn bound(value: f64) -> L1 {
    L1::new(value).unwrap()
}

/// Who pays for groups: an account and the prices of the groups.
struct Groups<C: Price> {
    account: Account,
    prices: GroupPrices<C>,
}

impl<C: Price + std::fmt::Debug> Groups<C> {
    fn new(groups: u32) -> Self {
        Self::named("riders", groups)
    }

    fn named(name: &str, groups: u32) -> Self {
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap())
            .with_pure(Epsilon::new(1e6).unwrap())
            .resolve(metric)
            .unwrap();
        let account = Account::open(name, budget, &mut NoHistory).unwrap();
        let prices = GroupPrices::new(groups, NonZeroU32::new(2).unwrap(), metric);
        Self { account, prices }
    }

    fn pay(
        &mut self,
        bundle: PathId,
        steps: impl IntoIterator<Item = (u32, Amount<C>)>,
    ) -> Receipt<GroupRaise<C>> {
        let mut round = self.prices.round();
        for (group, to) in steps {
            round.raise(group, to).unwrap();
        }
        let approved = self.account.raise_groups(round.offer(bundle)).unwrap();
        let receipt = self.account.commit(approved, &mut NoHistory).unwrap();
        self.prices.keep(&receipt).unwrap();
        receipt
    }
}

fn at<C: Price>(text: &str) -> Amount<C> {
    text.parse().unwrap()
}

const GROUPS: u32 = 30_000;

fn law(rate: f64, k: i64) -> f64 {
    let p = (-rate).exp();
    (1.0 - p) / (1.0 + p) * p.powf(k.abs() as f64)
}

fn residual(fine: f64, coarse: f64, k: i64) -> f64 {
    let part = (1.0 - (-coarse).exp()) / (1.0 - (-fine).exp());
    let weight = (coarse - fine).exp() * part * part;
    (if k == 0 { weight } else { 0.0 }) + (1.0 - weight) * law(coarse, k)
}

fn columns() -> Vec<Column> {
    vec![
        Column { sensitivity: bound(1024.0), share: 3 },
        Column { sensitivity: bound(5000.0), share: 1 },
    ]
}

/// Group g has the truths 1000 g and -7 g.
fn truth() -> Exact<Columns> {
    let groups = i64::from(GROUPS);
    let columns =
        vec![(0..groups).map(|g| 1000 * g).collect(), (0..groups).map(|g| -7 * g).collect()];
    Exact::new(Columns(columns), vec![bound(1024.0), bound(5000.0)])
}

fn noise<C: BundleLaw>(
    bundle: &Bundle<C>,
    group: u32,
    column: usize,
    to: Amount<C>,
) -> (Amount<C>, f64) {
    let (price, value) = bundle.nearest(group, column, to).unwrap();
    let truth = if column == 0 { 1000 } else { -7 } * i64::from(group);
    (price, (value.get() - truth) as f64)
}

/// Even groups go to rho 1 and then to 2, odd groups stop at 1: every group's answer has the
/// variance of its own price and share, and noise of its own. With 15,000 groups a deviation is 1.2
/// %; eight of them.
#[test]
fn a_bundle_has_the_noise_of_its_prices_group_by_group() {
    let mut entropy = Seeded::new(71);
    let mut groups = Groups::<Rho>::new(GROUPS);
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns(), GROUPS).unwrap();
    let first = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at("1"))));
    bundle.refine(&truth(), first, &mut entropy).unwrap();
    let second = groups.pay(bundle.id(), (0..GROUPS).step_by(2).map(|group| (group, at("2"))));
    bundle.refine(&truth(), second, &mut entropy).unwrap();
    // Of groups at 2, those that one unit touches: two.
    assert_eq!(groups.account.odometer().zcdp().unwrap().spent(), at("4"));
    for (rest, rho) in [(0, 2.0), (1, 1.0)] {
        for (column, sensitivity, share) in [(0, 1024.0f64, 0.75), (1, 5000.0, 0.25)] {
            let variance = sensitivity.powi(2) / (2.0 * rho * share);
            let draws: Vec<f64> = (0..GROUPS)
                .filter(|group| group % 2 == rest)
                .map(|group| noise(&bundle, group, column, at("5")).1)
                .collect();
            let count = draws.len() as f64;
            let found = draws.iter().map(|x| x * x).sum::<f64>() / count / variance;
            assert!((found - 1.0).abs() < 0.1, "{rest} {column}: {found}");
            let beside = draws.windows(2).map(|x| x[0] * x[1]).sum::<f64>() / count / variance;
            assert!(beside.abs() < 0.07, "{rest} {column}: {beside}");
        }
    }
    // The two columns have noise of their own, and a group's earlier point is still there.
    let product: f64 = (0..GROUPS)
        .map(|g| noise(&bundle, g, 0, at("5")).1 * noise(&bundle, g, 1, at("5")).1)
        .sum::<f64>()
        / f64::from(GROUPS);
    assert!(product.abs() / (1024.0 * 5000.0) < 0.05, "{product}");
    assert_eq!(noise(&bundle, 8, 0, at("1.5")).0, at("1"));
    assert_eq!((bundle.finest(8), bundle.finest(9)), (at("2"), at("1")));
    let stored = serde_json::to_string(&bundle).unwrap();
    assert_eq!(serde_json::from_str::<Bundle<Rho>>(&stored).unwrap(), bundle);
}

/// Points at 2, 1 and 0.5, the coarser ones for a circle of its own: covariances are those of one
/// path, `variance(max(r, s))`, in every order, by residual and by bridge.
#[test]
fn coarser_points_of_a_bundle_are_points_of_the_same_paths() {
    let mut entropy = Seeded::new(72);
    for order in [["1", "0.5"], ["0.5", "1"]] {
        let (mut groups, mut circle) = (Groups::<Rho>::new(GROUPS), Groups::<Rho>::new(GROUPS));
        let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns(), GROUPS).unwrap();
        let mut receipt = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at("0.8"))));
        bundle.refine(&truth(), receipt, &mut entropy).unwrap();
        receipt = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at("2"))));
        bundle.refine(&truth(), receipt, &mut entropy).unwrap();
        for to in order {
            // The circle's own history: a lower price again is another circle's.
            let mut other = Groups::<Rho>::new(GROUPS);
            let seen = if to == "1" { &mut circle } else { &mut other };
            let receipt = seen.pay(bundle.id(), (0..GROUPS).map(|group| (group, at(to))));
            bundle.coarsen(receipt, &mut entropy).unwrap();
        }
        let rhos = [2.0f64, 1.0, 0.5];
        let points = |group| ["2", "1", "0.5"].map(|to| noise(&bundle, group, 0, at(to)));
        assert_eq!(points(17).map(|point| point.0), ["2", "1", "0.5"].map(at));
        let variance = |rho: f64| 1024.0f64.powi(2) / (2.0 * rho * 0.75);
        for i in 0..3 {
            for j in 0..3 {
                let sum: f64 = (0..GROUPS).map(|g| points(g)[i].1 * points(g)[j].1).sum();
                let expected = variance(rhos[i].max(rhos[j]));
                let size = (variance(rhos[i]) * variance(rhos[j])).sqrt();
                let off = (sum / f64::from(GROUPS) - expected) / size;
                assert!(off.abs() < 0.065, "{order:?} {i} {j}: {off}");
            }
        }
        // Asking again gives the same.
        let before = bundle.clone();
        let mut again = Groups::<Rho>::new(GROUPS);
        let receipt = again.pay(bundle.id(), (0..GROUPS).map(|group| (group, at("1"))));
        bundle.coarsen(receipt, &mut entropy).unwrap();
        assert_eq!(bundle, before);
    }
}

/// Where a coarser point would be too close to another for one of the columns, all columns stand at
/// a coarser one, never at the finer.
#[test]
fn points_of_a_bundle_too_close_to_another_are_moved_to_a_coarser_one() {
    let mut entropy = Seeded::new(73);
    let columns = vec![
        Column { sensitivity: bound(16.0), share: 1 },
        Column { sensitivity: bound(1024.0), share: 1 },
    ];
    let truth = Exact::new(Columns(vec![vec![5], vec![7]]), vec![bound(16.0), bound(1024.0)]);
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 1).unwrap();
    let receipt = Groups::<Rho>::new(1).pay(bundle.id(), [(0, at("2"))]);
    bundle.refine(&truth, receipt, &mut entropy).unwrap();
    // The first column's variance is 128 at 2, and 192 at the closest: two thirds of the price.
    let receipt = Groups::<Rho>::new(1).pay(bundle.id(), [(0, at("1.9"))]);
    bundle.coarsen(receipt, &mut entropy).unwrap();
    let (price, _) = bundle.nearest(0, 0, at("1.9")).unwrap();
    assert!(price <= at("1.333333333333333333333333333334") && price > at("1.3333"), "{price}");
    assert_eq!(bundle.nearest(0, 1, at("1.9")).unwrap().0, price);
    // The same for what is asked for beside it.
    let points = serde_json::to_string(&bundle).unwrap();
    let receipt = Groups::<Rho>::new(1).pay(bundle.id(), [(0, at("1.8"))]);
    bundle.coarsen(receipt, &mut entropy).unwrap();
    assert_eq!(serde_json::to_string(&bundle).unwrap(), points);
}

/// Geometric noise, a step and a finer step, against the joint law of one path.
#[test]
fn a_bundle_of_geometric_noise_has_the_joint_law_of_its_paths() {
    const GROUPS: u32 = 60_000;
    let mut entropy = Seeded::new(74);
    let columns = vec![Column { sensitivity: bound(1.0), share: 1 }];
    let truth = Exact::new(Columns(vec![vec![40; GROUPS as usize]]), vec![bound(1.0)]);
    let mut bundle = Bundle::<Epsilon>::open(PathId::new([1; 32]), columns, GROUPS).unwrap();
    let mut groups = Groups::<Epsilon>::new(GROUPS);
    for to in ["0.5", "2"] {
        let receipt = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at(to))));
        bundle.refine(&truth, receipt, &mut entropy).unwrap();
    }
    let receipt =
        Groups::<Epsilon>::new(GROUPS).pay(bundle.id(), (0..GROUPS).map(|g| (g, at("1"))));
    bundle.coarsen(receipt, &mut entropy).unwrap();
    assert_eq!(groups.account.odometer().pure().unwrap().spent(), at("4"));
    let draws: Vec<[i64; 3]> = (0..GROUPS)
        .map(|group| {
            ["2", "1", "0.5"].map(|to| bundle.nearest(group, 0, at(to)).unwrap().1.get() - 40)
        })
        .collect();
    let joint = |middle: f64| -> BTreeMap<[i64; 3], f64> {
        let mut joint = BTreeMap::new();
        for fine in -5..=5 {
            for step in -5..=5 {
                for last in -7..=7 {
                    let p =
                        law(2.0, fine) * residual(2.0, middle, step) * residual(middle, 0.5, last);
                    joint.insert([fine, fine + step, fine + step + last], p);
                }
            }
        }
        joint
    };
    let fit = |middle| Fit::of(draws.iter().copied(), &joint(middle));
    fit(1.0).assert(&fit(1.1), "a bundle's geometric paths");
}

#[test]
fn a_bundle_takes_only_its_own_next_receipt() {
    let mut entropy = Seeded::new(75);
    let e = &mut entropy;
    let open = |sensitivity: f64| {
        let columns = vec![Column { sensitivity: bound(sensitivity), share: 1 }];
        Bundle::<Rho>::open(PathId::new([1; 32]), columns, 3).unwrap()
    };
    let truth = |values: Vec<i64>, sensitivity: f64| {
        Exact::new(Columns(vec![values]), vec![bound(sensitivity)])
    };
    let right = || truth(vec![1, 2, 3], 100.0);
    let mut bundle = open(100.0);
    let mut groups = Groups::<Rho>::new(3);
    let receipt = groups.pay(bundle.id(), [(0, at("1")), (2, at("1"))]);
    // Another sensitivity is another bundle.
    let mut wider = open(200.0);
    assert_ne!(wider.id(), bundle.id());
    let mismatch = wider.refine(&truth(vec![1, 2, 3], 200.0), receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherPath);
    let mismatch = bundle.refine(&truth(vec![1, 2, 3], 99.0), *mismatch.receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherSensitivity);
    bundle.refine(&right(), *mismatch.receipt, e).unwrap();
    // Another account cannot take it further.
    let mut others = Groups::<Rho>::named("circle", 3);
    let receipt = others.pay(bundle.id(), [(1, at("1"))]);
    let mismatch = bundle.refine(&right(), receipt, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherAccount);
    // A truth of another shape is not told apart from any other.
    let mut short = open(100.0);
    let receipt = Groups::<Rho>::new(3).pay(short.id(), [(0, at("1")), (2, at("1"))]);
    short.refine(&truth(vec![1], 100.0), receipt, e).unwrap();
    assert!(short.nearest(2, 0, at("1")).is_some() && short.nearest(2, 1, at("1")).is_none());
    assert!(bundle.finest(1).is_zero() && bundle.nearest(1, 0, at("9")).is_none());

    // A receipt whose groups start elsewhere, and one that was drawn for already.
    let mut elsewhere = Groups::<Rho>::new(3);
    let mismatch =
        bundle.refine(&right(), elsewhere.pay(bundle.id(), [(0, at("2"))]), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherStep);
    // Too fine for the grid: 100²/(2 · 80) is below 64.
    let mismatch =
        bundle.refine(&right(), groups.pay(bundle.id(), [(1, at("80"))]), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::TooFine);
    // A circle that is to see further than anybody.
    let mut circle = Groups::<Rho>::new(3);
    let mismatch = bundle.coarsen(circle.pay(bundle.id(), [(0, at("3"))]), e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherStep);
    // A group twice in one round goes through both points.
    let mut twice = Groups::<Rho>::new(3);
    let mut fresh = open(100.0);
    let receipt = twice.pay(fresh.id(), [(0, at("1")), (0, at("2")), (1, at("1"))]);
    fresh.refine(&right(), receipt, e).unwrap();
    assert_eq!(fresh.nearest(0, 0, at("1.5")).unwrap().0, at("1"));
    assert_eq!(fresh.finest(0), at("2"));
}

#[test]
fn a_damaged_bundle_is_not_read() {
    let mut entropy = Seeded::new(76);
    let columns = vec![Column { sensitivity: bound(1024.0), share: 1 }];
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 2).unwrap();
    let receipt = Groups::<Rho>::new(2).pay(bundle.id(), [(0, at("1")), (1, at("1"))]);
    let truth = Exact::new(Columns(vec![vec![0, 0]]), vec![bound(1024.0)]);
    bundle.refine(&truth, receipt, &mut entropy).unwrap();
    let json = serde_json::to_value(&bundle).unwrap();
    let reads = |json: serde_json::Value| serde_json::from_value::<Bundle<Rho>>(json).is_ok();
    assert!(reads(json.clone()));
    assert!(serde_json::from_value::<Bundle<Epsilon>>(json.clone()).is_err(), "another currency");
    for (field, value) in [
        ("coarser", serde_json::json!([0, 1])),
        ("coarser", serde_json::json!([7, u32::MAX])),
        ("finest", serde_json::json!([5, 0])),
        ("finest", serde_json::json!([0])),
        ("ends", serde_json::json!([true, false])),
        ("values", serde_json::json!([1])),
        ("finest", serde_json::json!([1, 1])),
        ("payer", serde_json::Value::Null),
        ("columns", serde_json::json!([])),
        ("columns", serde_json::json!([{"sensitivity": 1.0, "share": 1}])),
    ] {
        let mut damaged = json.clone();
        damaged[field] = value.clone();
        assert!(!reads(damaged), "{field} {value}");
    }
    assert!(Bundle::<Rho>::open(PathId::new([1; 32]), Vec::new(), 2).is_err());
}

/// Two versions inside one increment, in both orders, beside those of an increment before and one
/// after: covariances are those of one path, by the bridge and by averages over what was inserted.
#[test]
fn versions_inside_one_increment_of_a_bundle_are_bridged() {
    let mut entropy = Seeded::new(77);
    for order in [["1.6", "1.2"], ["1.2", "1.6"]] {
        let mut groups = Groups::<Rho>::new(GROUPS);
        let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns(), GROUPS).unwrap();
        for to in ["0.8", "2"] {
            let receipt = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at(to))));
            bundle.refine(&truth(), receipt, &mut entropy).unwrap();
        }
        for to in order {
            let receipt =
                Groups::<Rho>::new(GROUPS).pay(bundle.id(), (0..GROUPS).map(|g| (g, at(to))));
            bundle.coarsen(receipt, &mut entropy).unwrap();
        }
        let receipt = groups.pay(bundle.id(), (0..GROUPS).map(|group| (group, at("3"))));
        bundle.refine(&truth(), receipt, &mut entropy).unwrap();
        let prices = ["3", "2", "1.6", "1.2", "0.8"];
        let rhos = [3.0f64, 2.0, 1.6, 1.2, 0.8];
        for (column, sensitivity, share) in [(0, 1024.0f64, 0.75), (1, 5000.0, 0.25)] {
            let variance = |rho: f64| sensitivity.powi(2) / (2.0 * rho * share);
            let points: Vec<[f64; 5]> =
                (0..GROUPS).map(|g| prices.map(|to| noise(&bundle, g, column, at(to)).1)).collect();
            for i in 0..5 {
                for j in 0..5 {
                    let sum: f64 = points.iter().map(|point| point[i] * point[j]).sum();
                    let expected = variance(rhos[i].max(rhos[j]));
                    let size = (variance(rhos[i]) * variance(rhos[j])).sqrt();
                    let off = (sum / f64::from(GROUPS) - expected) / size;
                    assert!(off.abs() < 0.065, "{order:?} {column} {i} {j}: {off}");
                }
            }
        }
    }
}

/// A coarser point that one column cannot have is had by none, and nothing after it is shifted.
#[test]
fn a_coarser_point_too_wide_for_one_column_leaves_the_others_as_they_were() {
    let mut entropy = Seeded::new(78);
    let columns = vec![
        Column { sensitivity: bound(1024.0), share: 1 },
        Column { sensitivity: bound(1e6), share: 1 },
    ];
    let truth = || {
        let values = vec![vec![0, 5_000_000_000], vec![0, 7_000_000_000]];
        Exact::new(Columns(values), vec![bound(1024.0), bound(1e6)])
    };
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 2).unwrap();
    let mut groups = Groups::<Rho>::new(2);
    let receipt = groups.pay(bundle.id(), [(0, at("1"))]);
    bundle.refine(&truth(), receipt, &mut entropy).unwrap();
    let receipt = Groups::<Rho>::new(2).pay(bundle.id(), [(0, at("1e-14"))]);
    bundle.coarsen(receipt, &mut entropy).unwrap();
    let receipt = groups.pay(bundle.id(), [(1, at("1000"))]);
    bundle.refine(&truth(), receipt, &mut entropy).unwrap();
    assert!(bundle.nearest(0, 0, at("1e-6")).is_none());
    let (_, value) = bundle.nearest(1, 1, at("1000")).unwrap();
    assert!((value.get() - 7_000_000_000).abs() < 1_000_000, "{value:?}");
    let json = serde_json::to_string(&bundle).unwrap();
    assert!(serde_json::from_str::<Bundle<Rho>>(&json).is_ok());
}

/// A round that was paid for and lost stays a gap: groups go on after it, as precise as what was
/// drawn.
#[test]
fn a_lost_round_of_a_bundle_stays_a_gap() {
    let mut entropy = Seeded::new(80);
    let mut groups = Groups::<Rho>::new(GROUPS);
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns(), GROUPS).unwrap();
    let all = |to: &str| {
        let to: Amount<Rho> = at(to);
        (0..GROUPS).map(move |group| (group, to))
    };
    let receipt = groups.pay(bundle.id(), all("1"));
    bundle.refine(&truth(), receipt, &mut entropy).unwrap();
    drop(groups.pay(bundle.id(), all("2")));
    let receipt = groups.pay(bundle.id(), all("4"));
    bundle.refine(&truth(), receipt, &mut entropy).unwrap();
    // A point inside the last increment, and one inside the gap, where there is what was before it.
    for to in ["3", "1.5"] {
        let receipt = Groups::<Rho>::new(GROUPS).pay(bundle.id(), all(to));
        bundle.coarsen(receipt, &mut entropy).unwrap();
    }
    assert_eq!(bundle.nearest(7, 0, at("1.5")).unwrap().0, at("1"));
    let prices = ["4", "3", "1"];
    let drawn = [3.0f64, 2.0, 1.0];
    assert_eq!(prices.map(|to| bundle.worth(7, 0, at(to))), ["2.25", "1.5", "0.75"].map(at));
    let variance = |rho: f64| 1024.0f64.powi(2) / (2.0 * rho * 0.75);
    for i in 0..3 {
        for j in 0..3 {
            let point = |group, i: usize| noise(&bundle, group, 0, at(prices[i])).1;
            let sum: f64 = (0..GROUPS).map(|g| point(g, i) * point(g, j)).sum();
            let size = (variance(drawn[i]) * variance(drawn[j])).sqrt();
            let off = (sum / f64::from(GROUPS) - variance(drawn[i].max(drawn[j]))) / size;
            assert!(off.abs() < 0.065, "{i} {j}: {off}");
        }
    }
    let json = serde_json::to_string(&bundle).unwrap();
    assert_eq!(serde_json::from_str::<Bundle<Rho>>(&json).unwrap(), bundle);
}

/// A step of geometric noise is drawn around the point before it, so there are no gaps: what was
/// lost is paid for again, from where the bundle stands, and the points have the joint law of one
/// path.
#[test]
fn a_lost_round_of_geometric_noise_is_paid_for_again() {
    const GROUPS: u32 = 60_000;
    let mut entropy = Seeded::new(85);
    let columns = vec![Column { sensitivity: bound(1.0), share: 1 }];
    let truth = Exact::new(Columns(vec![vec![40; GROUPS as usize]]), vec![bound(1.0)]);
    let mut bundle = Bundle::<Epsilon>::open(PathId::new([1; 32]), columns, GROUPS).unwrap();
    let mut groups = Groups::<Epsilon>::new(GROUPS);
    let all = |to: &str| {
        let to: Amount<Epsilon> = at(to);
        (0..GROUPS).map(move |group| (group, to))
    };
    let first = groups.pay(bundle.id(), all("0.5"));
    bundle.refine(&truth, first, &mut entropy).unwrap();
    drop(groups.pay(bundle.id(), all("1.5")));
    let after = groups.pay(bundle.id(), all("2"));
    let mismatch = bundle.refine(&truth, after, &mut entropy).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Gap);
    assert_eq!(bundle.finest(3), at("0.5"));
    // Two groups of 2 each have been paid for, and two of 0.5 are there.
    let metric = Metric::Hamming(Adjacency::AddRemove);
    let stands =
        GroupPrices::at(&vec![at("0.5"); GROUPS as usize], NonZeroU32::new(2).unwrap(), metric);
    groups.prices = stands.unwrap().and_lost(at("3")).unwrap();
    let again = groups.pay(bundle.id(), all("2"));
    bundle.refine(&truth, again, &mut entropy).unwrap();
    assert_eq!(groups.account.odometer().pure().unwrap().spent(), at("7"));
    let draws: Vec<[i64; 2]> = (0..GROUPS)
        .map(|g| ["2", "0.5"].map(|to| bundle.nearest(g, 0, at(to)).unwrap().1.get() - 40))
        .collect();
    let joint = |coarse: f64| -> BTreeMap<[i64; 2], f64> {
        let both = (-5..=5).flat_map(|fine| (-9..=9).map(move |step| (fine, step)));
        both.map(|(fine, step)| ([fine, fine + step], law(2.0, fine) * residual(2.0, coarse, step)))
            .collect()
    };
    let fit = |coarse| Fit::of(draws.iter().copied(), &joint(coarse));
    fit(0.5).assert(&fit(0.55), "a bundle's geometric paths after a loss");
    assert_eq!(bundle.worth(3, 0, at("2")), at("2"));
}

/// To 0.5, a copy, the original to 1.5, the copy to 2: charged 2, and by enumeration the three
/// points would lose 4.
#[test]
fn an_older_copy_of_a_geometric_bundle_takes_no_later_step() {
    let mut entropy = Seeded::new(86);
    let columns = vec![Column { sensitivity: bound(1.0), share: 1 }];
    let truth = || Exact::new(Columns(vec![vec![40; 3]]), vec![bound(1.0)]);
    let mut bundle = Bundle::<Epsilon>::open(PathId::new([1; 32]), columns, 3).unwrap();
    let mut groups = Groups::<Epsilon>::new(3);
    let fresh = bundle.clone();
    let first = groups.pay(bundle.id(), [(0, at("0.5")), (1, at("0.5"))]);
    bundle.refine(&truth(), first, &mut entropy).unwrap();
    let older = bundle.clone();
    let next = groups.pay(bundle.id(), [(0, at("1.5"))]);
    bundle.refine(&truth(), next, &mut entropy).unwrap();
    let mut receipt = groups.pay(bundle.id(), [(0, at("2")), (1, at("2")), (2, at("2"))]);
    for copy in [older, fresh] {
        let mut taken = copy.clone();
        let mismatch = taken.refine(&truth(), receipt, &mut entropy).unwrap_err();
        assert_eq!(mismatch.reason, MismatchReason::Gap);
        // Not in part either.
        assert_eq!(taken, copy);
        receipt = *mismatch.receipt;
    }
    bundle.refine(&truth(), receipt, &mut entropy).unwrap();
    assert_eq!(bundle.finest(0), at("2"));
}

/// A circle that has seen 0.5 pays for 0.6. On a copy without the first point it would get a
/// version of its own of the second, and the two would average to more than 0.6.
#[test]
fn an_older_copy_of_a_bundle_draws_no_second_coarser_point() {
    fn check<C: BundleLaw + std::fmt::Debug + PartialEq>(sensitivity: f64, seed: u64) {
        let mut entropy = Seeded::new(seed);
        let columns = vec![Column { sensitivity: bound(sensitivity), share: 1 }];
        let truth = Exact::new(Columns(vec![vec![40; 2]]), vec![bound(sensitivity)]);
        let mut bundle = Bundle::<C>::open(PathId::new([1; 32]), columns, 2).unwrap();
        let paid = Groups::<C>::new(2).pay(bundle.id(), [(0, at("2")), (1, at("2"))]);
        bundle.refine(&truth, paid, &mut entropy).unwrap();
        let older = bundle.clone();
        let mut circle = Groups::<C>::named("circle", 2);
        let first = circle.pay(bundle.id(), [(0, at("0.5"))]);
        bundle.coarsen(first, &mut entropy).unwrap();
        // Group 1 twice in one round: the second step starts where the first one ends.
        let next = circle.pay(bundle.id(), [(0, at("0.6")), (1, at("0.4")), (1, at("0.6"))]);
        let mut stale = older.clone();
        let mismatch = stale.coarsen(next, &mut entropy).unwrap_err();
        assert_eq!(mismatch.reason, MismatchReason::Gap);
        assert_eq!(stale, older);
        bundle.coarsen(*mismatch.receipt, &mut entropy).unwrap();
        assert_eq!(bundle.nearest(0, 0, at("0.6")).unwrap().0, at("0.6"));
        assert_eq!(bundle.nearest(1, 0, at("0.5")).unwrap().0, at("0.4"));
    }
    check::<Rho>(1024.0, 87);
    check::<Epsilon>(1.0, 88);
}

/// A point that was moved to a coarser one for the grid's sake is the point that the next step
/// starts from.
#[test]
fn a_coarser_step_starts_from_a_point_that_was_moved() {
    let mut entropy = Seeded::new(89);
    let columns = vec![
        Column { sensitivity: bound(16.0), share: 1 },
        Column { sensitivity: bound(1024.0), share: 2 },
    ];
    let truth = Exact::new(Columns(vec![vec![5], vec![7]]), vec![bound(16.0), bound(1024.0)]);
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 1).unwrap();
    let receipt = Groups::<Rho>::new(1).pay(bundle.id(), [(0, at("2"))]);
    bundle.refine(&truth, receipt, &mut entropy).unwrap();
    let mut circle = Groups::<Rho>::new(1);
    for to in ["1.7", "1.8", "1.99", "2"] {
        let receipt = circle.pay(bundle.id(), [(0, at(to))]);
        bundle.coarsen(receipt, &mut entropy).unwrap();
    }
    assert_eq!(bundle.nearest(0, 0, at("2")).unwrap().0, at("2"));
    // Nor is a point missing that is too wide to be drawn, at the very start of an increment.
    let mut far = Groups::<Rho>::new(1);
    for to in ["1e-16", "1e-3", "1"] {
        let receipt = far.pay(bundle.id(), [(0, at(to))]);
        bundle.coarsen(receipt, &mut entropy).unwrap();
    }
}

/// What is prepared before a charge is what is drawn after it: the same steps, and the same reasons
/// against them.
#[test]
fn what_is_prepared_is_what_can_be_drawn() {
    let sensitivities = [bound(1024.0), bound(f64::from(1 << 23)), bound(2.0)];
    let columns: Vec<Column> =
        sensitivities.iter().map(|&sensitivity| Column { sensitivity, share: 1 }).collect();
    let bundle = Bundle::<Rho>::open(PathId::new([9; 32]), columns, 1).unwrap();
    let (least, most) = bundle.step_prices();
    let truth = || Exact::new(Columns(vec![vec![5]; 3]), sensitivities.to_vec());
    let below = Amount::from_grains(least.grains() / 100 * 99);
    let above = Amount::from_grains(most.grains() / 99 * 100);
    for (to, fits) in [(least, true), (most, true), (below, false), (above, false)] {
        let mut groups = Groups::<Rho>::new(1);
        let mut round = groups.prices.round();
        round.raise(0, to).unwrap();
        let offer = round.offer(bundle.id());
        let prepared = bundle.prepare(offer.steps(), offer.steps());
        assert_eq!(prepared.is_ok(), fits, "{to}: {prepared:?}");
        let receipt = groups.pay(bundle.id(), [(0, to)]);
        let mut drawn = bundle.clone();
        let refined = drawn.refine(&truth(), receipt, &mut Seeded::new(7));
        assert_eq!(refined.map_err(|mismatch| mismatch.reason), prepared, "{to}");
    }
    // Nobody else is offered a point that will not be there.
    let mut groups = Groups::<Rho>::new(1);
    let mut round = groups.prices.round();
    round.raise(0, most).unwrap();
    let further = round.offer(bundle.id());
    assert_eq!(bundle.prepare(&[], further.steps()), Err(MismatchReason::OtherStep));
    assert_eq!(bundle.prepare(further.steps(), further.steps()), Ok(()));
}

/// A coarser point so close to the start of its increment that its noise is too wide to draw: the
/// point before it stands for it, and who paid for it goes on from there.
#[test]
fn a_point_that_is_too_wide_to_draw_is_the_one_before_it() {
    let mut entropy = Seeded::new(90);
    let sensitivity = bound(f64::from(1 << 23));
    let columns = vec![Column { sensitivity, share: 1 }];
    let truth = Exact::new(Columns(vec![vec![40]]), vec![sensitivity]);
    let mut bundle = Bundle::<Rho>::open(PathId::new([1; 32]), columns, 1).unwrap();
    let mut unit = Groups::<Rho>::new(1);
    for to in ["0.5", "1"] {
        let receipt = unit.pay(bundle.id(), [(0, at(to))]);
        bundle.refine(&truth, receipt, &mut entropy).unwrap();
    }
    let mut circle = Groups::<Rho>::named("circle", 1);
    for to in ["0.50000000000000001", "0.7"] {
        let receipt = circle.pay(bundle.id(), [(0, at(to))]);
        bundle.coarsen(receipt, &mut entropy).unwrap();
    }
    assert_eq!(bundle.nearest(0, 0, at("0.6")).unwrap().0, at("0.5"));
    assert_eq!(bundle.nearest(0, 0, at("0.7")).unwrap().0, at("0.7"));
}

/// A bundle that grows has the draws of one whose groups were there from the start, keeps its name,
/// takes receipts for groups that were there before and after, and is stored and read as it is,
/// both ways.
#[test]
fn groups_that_are_added_change_nothing_of_those_before() {
    let columns = || vec![Column { sensitivity: bound(1024.0), share: 1 }];
    let truth = |groups: i64| {
        let values = (0..groups).map(|group| 1000 * group).collect();
        Exact::new(Columns(vec![values]), vec![bound(1024.0)])
    };
    let question = PathId::new([1; 32]);
    let mut bundle = Bundle::<Rho>::growing(question, columns()).unwrap();
    let name = bundle.id();
    assert!(bundle.grows() && bundle.groups() == 0);
    let mut groups = Groups::<Rho>::new(4);
    let too_early = groups.pay(name, [(0, at("1"))]);
    let mut entropy = Seeded::new(701);
    let refused = bundle.refine(&truth(4), too_early, &mut entropy).unwrap_err();
    assert_eq!(refused.reason, MismatchReason::OtherShape);
    bundle.extend(2).unwrap();
    bundle.refine(&truth(2), *refused.receipt, &mut entropy).unwrap();
    let first = bundle.nearest(0, 0, at("1")).unwrap().1.get();
    let (before, points) = (bundle.clone(), bundle.points());
    bundle.extend(2).unwrap();
    assert_eq!((bundle.id(), bundle.groups()), (name, 4));
    assert_eq!(bundle.nearest(0, 0, at("1")).unwrap().1.get(), first);
    let second = groups.pay(name, [(0, at("2")), (3, at("1"))]);
    bundle.refine(&truth(4), second, &mut entropy).unwrap();
    assert_eq!(bundle.nearest(0, 0, at("1")).unwrap().1.get(), first);
    assert_eq!(bundle.finest(3), at("1"));
    // The same draws as where all groups are there from the start.
    let mut fixed = Bundle::<Rho>::open(question, columns(), 4).unwrap();
    assert!(fixed.id() != name && !fixed.grows() && fixed.extend(1).is_err());
    let mut others = Groups::<Rho>::new(4);
    let mut again = Seeded::new(701);
    let receipt = others.pay(fixed.id(), [(0, at("1"))]);
    fixed.refine(&truth(4), receipt, &mut again).unwrap();
    let receipt = others.pay(fixed.id(), [(0, at("2")), (3, at("1"))]);
    fixed.refine(&truth(4), receipt, &mut again).unwrap();
    for (group, to) in [(0, "1"), (0, "2"), (3, "1")] {
        let value = |bundle: &Bundle<Rho>| bundle.nearest(group, 0, at(to)).unwrap().1.get();
        assert_eq!(value(&bundle), value(&fixed), "{group} {to}");
    }
    // Both stored forms: JSON, and what a round has added.
    let json = serde_json::to_value(&bundle).unwrap();
    let read: Bundle<Rho> = serde_json::from_value(json.clone()).unwrap();
    assert!(read == bundle && read.grows());
    let read: Bundle<Rho> = serde_json::from_value(serde_json::to_value(&fixed).unwrap()).unwrap();
    assert!(read == fixed && !read.grows());
    let mut to = ColumnWriter::new();
    bundle.write_since(points, &mut to);
    let bytes = to.into_bytes();
    let add = |mut bundle: Bundle<Rho>| bundle.add(&mut ColumnReader::new(&bytes)).map(|()| bundle);
    assert!(add(before.clone()).is_err(), "its groups come first");
    let mut grown = before;
    grown.extend(2).unwrap();
    assert_eq!(add(grown), Ok(bundle));
    // A stored bundle whose groups are fixed does not become another by having more of them.
    let mut more = serde_json::to_value(&fixed).unwrap();
    more["finest"].as_array_mut().unwrap().push(u32::MAX.into());
    assert!(serde_json::from_value::<Bundle<Rho>>(more).is_err());
    let mut more = json;
    more["finest"].as_array_mut().unwrap().push(u32::MAX.into());
    assert!(serde_json::from_value::<Bundle<Rho>>(more).is_ok());
}
