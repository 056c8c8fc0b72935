//! Paths of Gaussian, geometric and Laplace noise side by side, in one account with two purses.

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Delta, Epsilon, L1, L2, Metric, NoHistory, PathId,
    Price, Rho,
};
use eke_noise::stopping::NoAnswer;
use eke_noise::{AccountPayer, Exact, GaussianPath, GeometricPath, LaplacePath, NoisePath, reveal};
use eke_testkit::Seeded;

/// What one unit changes each of the truths by, in steps.
const STEPS: f64 = 1024.0;

fn l1() -> L1 {
    L1::new(STEPS).unwrap()
}

fn l2() -> L2 {
    L2::new(STEPS).unwrap()
}

fn budget(rho: f64) -> BudgetSpec {
    BudgetSpec::zcdp(Rho::new(rho).unwrap()).with_delta(Delta::new(1e-7).unwrap())
}

fn account(rho: f64, epsilon: f64) -> Account {
    let budget = budget(rho)
        .with_pure(Epsilon::new(epsilon).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

/// What both purses have spent.
fn spent(account: &Account) -> (Amount<Rho>, Amount<Epsilon>) {
    let odometer = account.odometer();
    (odometer.zcdp().unwrap().spent(), odometer.pure().unwrap().spent())
}

/// A look at a path; whether it was paid for.
fn look<P: NoisePath<Value = i64>>(
    path: &mut P,
    account: &mut Account,
    sensitivity: <P::Currency as Price>::Sensitivity,
    to: Amount<P::Currency>,
    entropy: &mut Seeded,
) -> Option<i64> {
    let truth = Exact::new(5000, l1());
    let mut payer = AccountPayer { account, journal: &mut NoHistory };
    match reveal(path, &truth, sensitivity, to, &mut payer, entropy) {
        Ok(released) => Some(released.get()),
        Err(NoAnswer::Refused(_)) => None,
        Err(other) => panic!("{other}"),
    }
}

struct Three {
    gaussian: GaussianPath,
    geometric: GeometricPath,
    laplace: LaplacePath,
}

fn three() -> Three {
    let id = |number| PathId::new([number; 32]);
    Three {
        gaussian: GaussianPath::open(id(1), l2()),
        geometric: GeometricPath::open(id(2), l1()),
        laplace: LaplacePath::open(id(3), l1()),
    }
}

fn rho(price: &str) -> Amount<Rho> {
    price.parse().unwrap()
}

fn epsilon(price: &str) -> Amount<Epsilon> {
    price.parse().unwrap()
}

/// Which path goes on, and how far, depends on everything that was seen of all three. Whatever is
/// seen, the zCDP purse has paid the finest Gaussian point, and the pure one the sum of the finest
/// geometric and the finest Laplace point. Seed 341.
#[test]
fn each_purse_pays_for_the_finest_points_of_its_paths() {
    let mut entropy = Seeded::new(341);
    let e = &mut entropy;
    let mut ends = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let mut account = account(2.0, 4.0);
        let Three { mut gaussian, mut geometric, mut laplace } = three();
        let mut sum = 0;
        for round in 1..=8u128 {
            let to = |part: u128| part * round * 10u128.pow(28);
            let (low, middle, high) = (to(2), to(3), to(4));
            // What was seen decides what is looked at next, finer or coarser.
            let seen = match sum % 3 {
                0 => look(&mut gaussian, &mut account, l2(), Amount::from_grains(low), e),
                1 => look(&mut geometric, &mut account, l1(), Amount::from_grains(middle), e),
                _ => look(&mut laplace, &mut account, l1(), Amount::from_grains(high), e),
            };
            sum += seen.unwrap();
            let half = Amount::from_grains(laplace.finest().grains() / 2);
            if round % 3 == 0 && !half.is_zero() {
                sum += look(&mut laplace, &mut account, l1(), half, e).unwrap();
            }
            sum = sum.abs();
            let pure = geometric.finest().grains() + laplace.finest().grains();
            assert_eq!(spent(&account), (gaussian.finest(), Amount::from_grains(pure)));
        }
        ends.insert((gaussian.finest(), geometric.finest(), laplace.finest()));
    }
    assert!(ends.len() > 50, "{}", ends.len());
}

/// A purse that is used up refuses, leaves its paths as they were, and leaves the other purse
/// alone.
#[test]
fn a_refusal_in_one_purse_leaves_the_other_usable() {
    let mut entropy = Seeded::new(342);
    let e = &mut entropy;
    let mut account = account(0.5, 1.0);
    let Three { mut gaussian, mut geometric, mut laplace } = three();
    assert!(look(&mut geometric, &mut account, l1(), epsilon("0.6"), e).is_some());
    assert!(look(&mut laplace, &mut account, l1(), epsilon("0.4"), e).is_some());
    let before = (geometric.clone(), laplace.clone());
    assert_eq!(look(&mut laplace, &mut account, l1(), epsilon("0.41"), e), None);
    assert_eq!(look(&mut geometric, &mut account, l1(), epsilon("2"), e), None);
    assert_eq!((geometric.clone(), laplace.clone()), before);
    // The Gaussian path goes on, and then its purse is used up too.
    assert!(look(&mut gaussian, &mut account, l2(), rho("0.2"), e).is_some());
    assert!(look(&mut gaussian, &mut account, l2(), rho("0.5"), e).is_some());
    assert_eq!(look(&mut gaussian, &mut account, l2(), rho("0.51"), e), None);
    // What is coarser is free on all of them.
    assert!(look(&mut gaussian, &mut account, l2(), rho("0.1"), e).is_some());
    assert!(look(&mut geometric, &mut account, l1(), epsilon("0.3"), e).is_some());
    assert!(look(&mut laplace, &mut account, l1(), epsilon("0.1"), e).is_some());
    assert_eq!(spent(&account), (rho("0.5"), epsilon("1")));
}

/// The promise of both is that of the zCDP purse, and the epsilon of the pure one on top.
#[test]
fn the_promise_of_two_purses_is_the_sum_of_theirs() {
    let alone = budget(0.5).resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
    let (alone, both) = (alone.promise().unwrap(), account(0.5, 1.0).promise().unwrap());
    assert_eq!(alone.delta, both.delta);
    let more = both.epsilon.get() - alone.epsilon.get() - 1.0;
    assert!((0.0..1e-12).contains(&more), "{more}");
}
