//! Runs along lines, paid by an account: what is set aside, what is charged, and what is refused.

use std::cell::Cell;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Delta, Entry, Epsilon, Journal, L1, Metric, NoHistory,
    Rho,
};
use eke_noise::Exact;
use eke_noise::select::{LineError, LineLaw, NoisyLine};
use eke_select::{
    AboveThreshold, Change, Direction, Filter, GridLine, LineNoise, LineSpec, SelectError,
    SparseError, SparseVector,
};
use eke_testkit::{Counted, Dice};

fn one() -> L1 {
    L1::new(1.0).unwrap()
}

fn spec(deviation: f64) -> LineSpec {
    LineSpec {
        threshold: 100.0,
        range: (0.0, 200.0),
        sensitivity: one(),
        change: Change::General,
        direction: Direction::Above,
        noise: LineNoise::Gaussian { line: deviation, query: 1.75 * deviation },
    }
}

fn line(deviation: f64) -> GridLine {
    GridLine::new(AboveThreshold::new(spec(deviation)).unwrap()).unwrap()
}

fn account(pure: &str, pure_delta: f64) -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(0.5).unwrap())
        .with_delta(Delta::new(1e-2).unwrap())
        .with_pure(pure.parse().unwrap())
        .with_pure_delta(Delta::new(pure_delta).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn purse(account: &Account) -> (Amount<Epsilon>, Amount<Epsilon>, Amount<Delta>) {
    let odometer = account.odometer();
    let purse = odometer.pure().unwrap();
    (purse.spent(), purse.reserved(), purse.delta_spent())
}

fn truth(value: i64) -> Exact<i64> {
    Exact::new(value, one())
}

fn sum(amounts: impl IntoIterator<Item = Amount<Epsilon>>) -> Amount<Epsilon> {
    amounts.into_iter().fold(Amount::ZERO, |sum, amount| sum.plus(amount).unwrap())
}

/// Random truths around the line; the account is charged the price of each hit at its step, and of
/// the steps since the last one, to the grain.
#[test]
fn what_a_search_cost_is_the_sum_of_its_runs() {
    let (mut account, mut entropy) = (account("100", 1e-3), Dice(71));
    let law = line(15.0);
    let mut search = SparseVector::new(law.clone(), Filter::ExPost).unwrap();
    let (mut runs, mut at) = (Vec::new(), 0);
    for step in 0..2000i64 {
        at += 1;
        let truth = truth(step * 37 % 41);
        if search.next(&truth, &mut account, &mut NoHistory, &mut entropy).unwrap().get() {
            runs.push(at);
            at = 0;
        }
        let (spent, _, _) = purse(&account);
        assert_eq!(spent, sum(runs.iter().map(|&steps| law.halted(steps))));
    }
    assert_eq!((search.hits(), search.steps()), (runs.len() as u64, 2000));
    assert!(runs.len() > 5 && runs.iter().any(|&steps| steps > 64), "{runs:?}");
    search.stop(&mut account, &mut NoHistory).unwrap();
    let realised = sum(runs.iter().map(|&steps| law.halted(steps)).chain([law.stopped(at)]));
    assert_eq!(purse(&account), (realised, Amount::ZERO, Amount::ZERO));
    // And stopping again costs nothing.
    search.stop(&mut account, &mut NoHistory).unwrap();
    assert_eq!(purse(&account).0, realised);
}

/// Without a hit, exactly as many steps as are certain to fit, and not one more; the refusal draws
/// nothing and leaves the account as it was.
#[test]
fn a_search_ends_with_the_purse() {
    for budget in ["0.2", "0.16", "0.13"] {
        let mut account = account(budget, 1e-3);
        let mut entropy = Counted::new(Dice(72));
        let law = line(25.0);
        let horizon = law.horizon(budget.parse().unwrap());
        assert!((2..100_000).contains(&horizon), "{budget}: {horizon}");
        let mut search = SparseVector::new(law.clone(), Filter::ExPost).unwrap();
        // Far below the range, and clamped to it: a hit is unlikely, not impossible.
        let below = truth(-1_000_000);
        let mut longest = 0;
        let error = loop {
            match search.next(&below, &mut account, &mut NoHistory, &mut entropy) {
                Ok(hit) => {
                    longest += 1;
                    assert!(!hit.get(), "another seed would have none");
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SparseError::Refused(_)), "{error}");
        assert_eq!(longest, horizon);
        let (before, drawn) = (purse(&account), entropy.words());
        assert!(search.next(&below, &mut account, &mut NoHistory, &mut entropy).is_err());
        assert_eq!((purse(&account), entropy.words()), (before, drawn));
        search.stop(&mut account, &mut NoHistory).unwrap();
        assert_eq!(purse(&account), (law.stopped(horizon), Amount::ZERO, Amount::ZERO));
    }
}

#[test]
fn lines_may_change_after_a_hit_and_not_before() {
    let (mut account, mut entropy) = (account("10", 1e-3), Dice(73));
    let mut search = SparseVector::new(line(5.0), Filter::ExPost).unwrap();
    let mut next = |search: &mut SparseVector, value| {
        search.next(&truth(value), &mut account, &mut NoHistory, &mut entropy).unwrap().get()
    };
    assert!(!next(&mut search, 0));
    assert_eq!(search.aim(line(6.0)).unwrap_err(), SelectError::Running);
    assert!(next(&mut search, 200));
    // A hit, and then a line of another kind: below it, and with Laplace noise.
    let noise = LineNoise::Laplace { line: 2.0, query: 4.0 };
    let other = LineSpec { direction: Direction::Below, noise, ..spec(1.0) };
    let other = GridLine::new(AboveThreshold::new(other).unwrap()).unwrap();
    search.aim(other.clone()).unwrap();
    assert!(!next(&mut search, 200));
    assert!(next(&mut search, 0));
    let halted = sum([line(5.0).halted(2), other.halted(2)]);
    assert_eq!(purse(&account), (halted, Amount::ZERO, Amount::ZERO));
    let other = Exact::new(0, L1::new(2.0).unwrap());
    let error = search.next(&other, &mut account, &mut NoHistory, &mut entropy).unwrap_err();
    assert!(matches!(error, SparseError::NoisyLine(LineError::OtherSensitivity)));
}

/// A run so long that the cap is the smaller price: it is charged the cap, and spends its delta
/// once; and when the deltas are spent there is no other run.
#[test]
fn a_capped_run_is_charged_the_cap_and_its_delta() {
    let delta = Delta::new(4e-4).unwrap();
    let (mut account, mut entropy) = (account("8", 1e-3), Dice(74));
    let narrow = LineSpec { range: (90.0, 110.0), ..spec(12.0) };
    let plain = GridLine::new(AboveThreshold::new(narrow).unwrap()).unwrap();
    let law = plain.clone().capped(delta).unwrap();
    let cap = law.worst(1_000_000_000);
    assert!(cap < plain.worst(1_000_000_000) && law.worst(1) == plain.worst(1), "{cap}");
    let mut search = SparseVector::new(plain.clone(), Filter::Renyi { delta }).unwrap();
    for runs in 1..=3u32 {
        let spent = purse(&account);
        let found = loop {
            match search.next(&truth(100), &mut account, &mut NoHistory, &mut entropy) {
                Ok(hit) if hit.get() => break Ok(()),
                Ok(_) => assert!(purse(&account).1 <= cap),
                Err(error) => break Err(error),
            }
        };
        if runs == 3 {
            assert!(matches!(found, Err(SparseError::Refused(_))));
            assert_eq!(purse(&account), spent);
            break;
        }
        found.unwrap();
        let delta = Amount::at_least(delta).times(runs).unwrap();
        assert_eq!(purse(&account).2, delta);
    }
    // A run so long that its own price is above the cap is charged the cap, exactly.
    let mut account = self::account("8", 1e-3);
    let law = plain.clone().capped(delta).unwrap();
    let enough = plain.horizon(cap) + 1;
    assert!((2..1_000_000).contains(&enough), "{enough}");
    let round = account.reserve(cap, law.delta()).unwrap();
    let round = account.commit(round, &mut NoHistory).unwrap().redeem();
    let mut line = NoisyLine::draw(law.clone(), round, &mut entropy);
    assert!(law.stopped(enough).max(law.halted(enough)) == cap && plain.worst(enough) > cap);
    while line.steps() < enough && !line.is_over() {
        line.next(&truth(90), &mut entropy).unwrap();
    }
    assert!(line.price() <= cap);
}

/// The baseline: every run is charged before it starts, hit or not, and nothing goes back.
#[test]
fn runs_charged_beforehand_cost_their_worst_case_each() {
    let (mut account, mut entropy) = (account("1", 1e-3), Dice(75));
    let law = line(25.0);
    let mut search = SparseVector::new(law.clone(), Filter::ExAnte { steps: 5 }).unwrap();
    let e = law.worst(5).to_f64();
    let rho = e * (e / 2.0).tanh();
    for step in 1..=12u32 {
        search.next(&truth(-500), &mut account, &mut NoHistory, &mut entropy).unwrap();
        let runs = f64::from(step.div_ceil(5));
        let spent = account.odometer().zcdp().unwrap().spent().to_f64();
        assert!((spent / (runs * rho) - 1.0).abs() < 1e-9 && spent >= runs * rho, "{step}");
    }
    assert_eq!(purse(&account), (Amount::ZERO, Amount::ZERO, Amount::ZERO));
    // 0.5 of rho is soon gone.
    let error = loop {
        let next = search.next(&truth(-500), &mut account, &mut NoHistory, &mut entropy);
        if let Err(error) = next {
            break error;
        }
        assert!(search.steps() < 10_000_000);
    };
    assert!(matches!(error, SparseError::Refused(_)), "{error}");
}

/// A journal that fails while its switch is off.
struct Switch<'a>(&'a Cell<bool>);

impl Journal for Switch<'_> {
    type Error = &'static str;

    fn record(&mut self, _: &[Entry]) -> Result<(), &'static str> {
        if self.0.get() { Ok(()) } else { Err("the disk is gone") }
    }
}

#[test]
fn what_cannot_be_recorded_is_not_drawn_and_is_settled_later() {
    let (mut account, works) = (account("100", 1e-3), Cell::new(false));
    let mut entropy = Counted::new(Dice(76));
    let law = line(10.0);
    let mut search = SparseVector::new(law.clone(), Filter::ExPost).unwrap();
    let mut journal = Switch(&works);
    let error = search.next(&truth(0), &mut account, &mut journal, &mut entropy).unwrap_err();
    assert!(matches!(error, SparseError::Journal("the disk is gone")));
    assert_eq!((entropy.words(), purse(&account).1), (0, Amount::ZERO));
    works.set(true);
    assert!(!search.next(&truth(0), &mut account, &mut journal, &mut entropy).unwrap().get());
    works.set(false);
    // A step that was paid for is drawn, and its hit told, though it cannot be settled yet.
    assert!(search.next(&truth(200), &mut account, &mut journal, &mut entropy).unwrap().get());
    assert_eq!(purse(&account), (Amount::ZERO, law.worst(64), Amount::ZERO));
    let error = search.next(&truth(0), &mut account, &mut journal, &mut entropy).unwrap_err();
    assert!(matches!(error, SparseError::Unsettled(_)));
    works.set(true);
    search.stop(&mut account, &mut journal).unwrap();
    assert_eq!(purse(&account), (law.halted(2), Amount::ZERO, Amount::ZERO));
}

#[test]
fn a_run_stays_with_the_account_that_pays_for_it() {
    let (mut ours, mut theirs) = (account("1", 1e-3), account("1", 1e-3));
    let mut entropy = Dice(77);
    let mut search = SparseVector::new(line(25.0), Filter::ExPost).unwrap();
    let below = truth(-500);
    for _ in 0..64 {
        search.next(&below, &mut ours, &mut NoHistory, &mut entropy).unwrap();
    }
    let error = search.next(&below, &mut theirs, &mut NoHistory, &mut entropy).unwrap_err();
    assert!(matches!(error, SparseError::OtherAccount), "{error}");
    assert_eq!(purse(&theirs), (Amount::ZERO, Amount::ZERO, Amount::ZERO));
    search.next(&below, &mut ours, &mut NoHistory, &mut entropy).unwrap();
}

#[test]
fn lines_that_are_not_on_the_grid_have_no_draws() {
    for (threshold, range) in [(0.5, (0.0, 1.0)), (1.0, (0.0, 1.5)), (1e17, (0.0, 1e18))] {
        let prices = AboveThreshold::new(LineSpec { threshold, range, ..spec(1.0) }).unwrap();
        let error = GridLine::new(prices).unwrap_err();
        assert!(matches!(error, SelectError::NotWhole { .. }), "{error}");
    }
}

/// A mechanism that reveals everything with probability delta and nothing otherwise is within
/// (epsilon, delta) for any epsilon, and its realised price is zero whenever it has revealed
/// nothing. A filter that checks realised prices and not the sum of deltas lets a thousand of them
/// pass.
#[test]
fn the_published_filter_breaks_its_promise_and_ours_does_not() {
    const ROUNDS: i32 = 1000;
    let (delta, epsilon): (f64, Amount<Epsilon>) = (1e-3, "1".parse().unwrap());
    let worst: Amount<Epsilon> = "0.5".parse().unwrap();

    // As printed: go on while what was realised and the next worst case fit epsilon.
    let (mut rounds, realised) = (0, Amount::<Epsilon>::ZERO);
    while rounds < ROUNDS && realised.plus(worst).unwrap() < epsilon {
        rounds += 1;
    }
    let revealed = |rounds: i32| 1.0 - (1.0 - delta).powi(rounds);
    assert_eq!(rounds, ROUNDS);
    assert!(revealed(rounds) > 0.63 && revealed(rounds) > 600.0 * delta);

    // An account: the deltas of started rounds add up, whatever the rounds come to.
    let mut account = account("1", delta);
    let mut rounds = 0;
    while rounds < ROUNDS {
        let Ok(approved) = account.reserve(worst, Amount::at_least(Delta::new(delta).unwrap()))
        else {
            break;
        };
        let round = account.commit(approved, &mut NoHistory).unwrap().redeem();
        account.settle(round.settle_at(Amount::ZERO).unwrap(), &mut NoHistory).unwrap();
        rounds += 1;
    }
    assert_eq!(rounds, 1);
    assert!(revealed(rounds) <= delta * (1.0 + 1e-9));

    // And so for searches with a delta of their own.
    let (mut account, mut entropy) = (self::account("60", delta), Dice(78));
    let filter = Filter::Renyi { delta: Delta::new(delta / 4.0).unwrap() };
    let mut search = SparseVector::new(line(15.0), filter).unwrap();
    while search.next(&truth(150), &mut account, &mut NoHistory, &mut entropy).is_ok() {
        assert!(search.hits() <= 4);
    }
    assert_eq!((search.hits(), search.is_running()), (4, false));
}
