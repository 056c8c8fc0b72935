//! What an odometer shows while the account runs.

use eke_budget::account::TimeUniform;
use eke_budget::metric::Reach;
use eke_budget::{Account, BudgetSpec, Charge, Delta, Epsilon, Metres, Metric, NoHistory, Rho};
use eke_testkit::Dice;

use crate::{CENTRAL, account, amount, buy};

/// A Gaussian mechanism charged rho adds N(rho, 2 rho) to the loss. An adversary watches it and
/// stops the moment it is above the bound; that may happen in at most a share delta of all runs.
///
/// Seed 7, 10,000 runs of 300 charges, delta 0.05. With 10,000 runs a true rate of 0.05 gives more
/// than 611 crossings with probability below 1e-6 (normal tail at 5.1 deviations). The control is
/// the bound as printed in the paper, without V/2, which must cross that line.
#[test]
fn the_time_uniform_bound_survives_an_adversary_who_stops_at_the_worst_moment() {
    const RUNS: u32 = 10_000;
    const CRITICAL: u32 = 611;
    let delta = Delta::new(0.05).unwrap();
    let shape = TimeUniform::with_gamma(1.0, delta).unwrap();
    let budget = BudgetSpec::zcdp(Rho::new(1000.0).unwrap()).resolve(CENTRAL).unwrap();
    let mut account = Account::open("adversary", budget, &mut NoHistory).unwrap();

    // The bound after each charge does not depend on the loss, so it is read once.
    let rhos: Vec<f64> = (0..300).map(|step| 0.001 * 1.03f64.powi(step % 150)).collect();
    let mut spent = 0.0;
    let bounds: Vec<(f64, f64)> = rhos
        .iter()
        .map(|&rho| {
            let charge = Charge::zcdp(Rho::new(rho).unwrap());
            let approved = account.approve(charge).unwrap();
            buy(&mut account, approved, &mut NoHistory);
            spent += rho;
            (account.odometer().bound(shape).unwrap().unwrap().epsilon.get(), spent)
        })
        .collect();

    let mut random = Dice(7);
    let (mut crossed, mut crossed_without_half) = (0, 0);
    for _ in 0..RUNS {
        let (mut loss, mut above, mut above_without_half) = (0.0, false, false);
        for (&rho, &(bound, spent)) in rhos.iter().zip(&bounds) {
            loss += rho + (2.0 * rho).sqrt() * random.normal();
            above |= loss > bound;
            above_without_half |= loss > bound - spent;
        }
        crossed += u32::from(above);
        crossed_without_half += u32::from(above_without_half);
    }
    assert!(crossed <= CRITICAL, "{crossed} of {RUNS} crossed");
    assert!(crossed > 0, "the adversary never came near: the test is blind");
    assert!(
        crossed_without_half > CRITICAL,
        "the control crossed only {crossed_without_half} times"
    );
}

#[test]
fn the_bound_adds_pure_prices_reservations_and_deltas() {
    let (mut account, _) = account();
    let delta = Delta::new(1e-6).unwrap();
    let shape = TimeUniform::tightest_at(Rho::new(1.0).unwrap(), delta);
    let at_start = account.odometer().bound(shape).unwrap().unwrap();
    let _ = account.approve("epsilon=0.25,delta=1e-7".parse::<Charge>().unwrap()).unwrap();
    let _ = account.reserve(amount("0.5"), amount("0.0000002")).unwrap();
    let now = account.odometer().bound(shape).unwrap().unwrap();
    let more = now.epsilon.get() - at_start.epsilon.get();
    assert!((0.75..0.750_000_1).contains(&more), "{more}");
    assert!((now.delta.get() - 1.3e-6).abs() < 1e-15);
    let _ = account.approve("rho=0.1,delta=5e-7".parse::<Charge>().unwrap()).unwrap();
    let later = account.odometer().bound(shape).unwrap().unwrap();
    assert!(later.epsilon > now.epsilon && (later.delta.get() - 1.8e-6).abs() < 1e-15);
}

#[test]
fn in_a_metric_the_bound_is_per_metre_and_within_reach() {
    let reach = Metres::new(100.0).unwrap();
    let charge = Charge::zcdp(Rho::new(5e-5).unwrap());
    let shape = TimeUniform::with_gamma(0.1, Delta::new(1e-6).unwrap()).unwrap();
    let bound_of = |metric, charge| {
        let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap()).resolve(metric).unwrap();
        let mut account = Account::open("phones", budget, &mut NoHistory).unwrap();
        let _ = account.approve(charge).unwrap();
        account.odometer().bound(shape).unwrap()
    };
    let per_metre = bound_of(Metric::Euclidean(Reach::Within(reach)), charge).unwrap();
    assert_eq!(per_metre.reach, Some(reach));
    // 5e-5 per square metre at 100 m is a rho of 0.5.
    let at_reach = bound_of(CENTRAL, Charge::zcdp(Rho::new(0.5).unwrap())).unwrap();
    let ratio = per_metre.epsilon.get() * 100.0 / at_reach.epsilon.get();
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    // No concentrated bound holds at any distance.
    assert_eq!(bound_of(Metric::Euclidean(Reach::Unlimited), charge), None);
}

#[test]
fn a_bound_is_tightest_near_the_rho_it_was_made_for() {
    let delta = Delta::new(1e-6).unwrap();
    let at = |tuned: f64| {
        let budget = BudgetSpec::zcdp(Rho::new(10.0).unwrap()).resolve(CENTRAL).unwrap();
        let mut account = Account::open("tuned", budget, &mut NoHistory).unwrap();
        let _ = account.approve(Charge::zcdp(Rho::new(0.5).unwrap())).unwrap();
        let shape = TimeUniform::tightest_at(Rho::new(tuned).unwrap(), delta);
        account.odometer().bound(shape).unwrap().unwrap().epsilon
    };
    assert!(at(0.5) < at(5.0) && at(0.5) < at(0.05));
    // The smallest budgets have a bound as well, if not a tight one.
    assert!(at(1e-300).get().is_finite());
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324] {
        assert_eq!(TimeUniform::with_gamma(wrong, delta), None);
    }
}

#[test]
fn a_pure_account_loses_what_it_spent_and_no_more() {
    let budget = BudgetSpec::promising(Epsilon::new(1.0).unwrap())
        .resolve(Metric::Euclidean(Reach::Unlimited))
        .unwrap();
    let mut account = Account::open("phones", budget, &mut NoHistory).unwrap();
    let _ = account.approve(Charge::pure(Epsilon::new(0.3).unwrap())).unwrap();
    let shape = TimeUniform::with_gamma(1.0, Delta::new(1e-6).unwrap()).unwrap();
    let bound = account.odometer().bound(shape).unwrap().unwrap();
    assert!((bound.epsilon.get() - 0.3).abs() < 1e-15 && bound.reach.is_none());
    assert!(account.odometer().zcdp().is_none());
}
