//! Above threshold: what is drawn, what must be set aside for it, and what goes back.

use std::cell::Cell;
use std::collections::BTreeMap;

use eke_budget::purchase::Round;
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Delta, Epsilon, L1, Metric, NoHistory, Rho,
};
use eke_noise::law::Noise;
use eke_noise::select::{Ended, LineError, LineLaw, NoisyLine, Run};
use eke_noise::{Exact, Ratio};
use eke_testkit::{Counted, Fit, Seeded};

/// Prices that are made up, and grow with the steps.
#[derive(Clone, Debug)]
struct Rising {
    noise: (Noise, Noise),
    above: bool,
    range: (i64, i64),
    delta: Amount<Delta>,
}

fn rising() -> Rising {
    let scale = |n| Ratio::new(n, 1).unwrap();
    let noise = (Noise::gaussian(scale(3)), Noise::gaussian(scale(4)));
    Rising { noise, above: true, range: (-1000, 1000), delta: Amount::ZERO }
}

impl LineLaw for Rising {
    fn threshold(&self) -> i64 {
        10
    }

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn sensitivity(&self) -> L1 {
        L1::new(1.0).unwrap()
    }

    fn is_above(&self) -> bool {
        self.above
    }

    fn noise(&self) -> (Noise, Noise) {
        self.noise.clone()
    }

    fn worst(&self, steps: u64) -> Amount<Epsilon> {
        hundredths(3 * steps)
    }

    fn halted(&self, steps: u64) -> Amount<Epsilon> {
        hundredths(2 * steps + 1)
    }

    fn stopped(&self, steps: u64) -> Amount<Epsilon> {
        hundredths(steps)
    }

    fn delta(&self) -> Amount<Delta> {
        self.delta
    }
}

fn hundredths(count: u64) -> Amount<Epsilon> {
    Amount::from_grains(u128::from(count) * 10u128.pow(28))
}

fn account() -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(10.0).unwrap())
        .with_pure(Epsilon::new(20.0).unwrap())
        .with_delta("1e-5".parse().unwrap())
        .with_pure_delta("1e-6".parse().unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn reserve(account: &mut Account, worst: Amount<Epsilon>, delta: Amount<Delta>) -> Round {
    let approved = account.reserve(worst, delta).unwrap();
    account.commit(approved, &mut NoHistory).unwrap().redeem()
}

fn spent(account: &Account) -> (Amount<Epsilon>, Amount<Epsilon>) {
    let odometer = account.odometer();
    let purse = odometer.pure().unwrap();
    (purse.spent(), purse.reserved())
}

fn settle(account: &mut Account, ended: Ended) {
    for settlement in ended.settlements {
        account.settle(settlement, &mut NoHistory).unwrap();
    }
}

fn one(value: i64) -> Exact<i64> {
    Exact::new(value, L1::new(1.0).unwrap())
}

const FAR_BELOW: i64 = -1000;
const FAR_ABOVE: i64 = 1000;

#[test]
fn a_step_that_is_not_paid_for_draws_nothing() {
    let mut entropy = Counted::new(Seeded::new(51));
    let mut account = account();
    let round = reserve(&mut account, hundredths(6), Amount::ZERO);
    let mut line = NoisyLine::draw(rising(), round, &mut entropy);
    for _ in 0..2 {
        assert!(!line.next(&one(FAR_BELOW), &mut entropy).unwrap().get());
    }
    let before = entropy.words();
    let error = line.next(&one(FAR_BELOW), &mut entropy).unwrap_err();
    assert_eq!(
        error.to_string(),
        "step 3 needs epsilon=0.09 set aside, and epsilon=0.06 is: set aside more, or end the run"
    );
    let other = Exact::new(FAR_BELOW, L1::new(2.0).unwrap());
    line.pay(reserve(&mut account, hundredths(3), Amount::ZERO)).unwrap();
    assert_eq!(line.next(&other, &mut entropy).unwrap_err(), LineError::OtherSensitivity);
    assert_eq!(entropy.words(), before);
    assert_eq!(line.steps(), 2);
    // What was added is enough for one step.
    assert!(!line.next(&one(FAR_BELOW), &mut entropy).unwrap().get());
    assert!(matches!(
        line.next(&one(FAR_BELOW), &mut entropy),
        Err(LineError::Unpaid { step: 4, .. })
    ));
    assert_eq!(line.price(), hundredths(3));
    settle(&mut account, line.end().unwrap());
    assert_eq!(spent(&account), (hundredths(3), Amount::ZERO));
}

#[test]
fn a_line_is_not_used_again_after_a_hit() {
    let mut entropy = Counted::new(Seeded::new(52));
    let mut account = account();
    let round = reserve(&mut account, hundredths(30), Amount::ZERO);
    let mut line = NoisyLine::draw(rising(), round, &mut entropy);
    assert!(!line.next(&one(FAR_BELOW), &mut entropy).unwrap().get());
    assert!(line.next(&one(FAR_ABOVE), &mut entropy).unwrap().get());
    assert!(line.is_over());
    let before = entropy.words();
    let error = line.next(&one(FAR_ABOVE), &mut entropy).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the line was hit, and the run is over: end it, and start another"
    );
    // Also not after more has been paid.
    line.pay(reserve(&mut account, hundredths(30), Amount::ZERO)).unwrap();
    assert_eq!(line.next(&one(FAR_BELOW), &mut entropy).unwrap_err(), LineError::Over);
    assert_eq!((entropy.words(), line.steps()), (before, 2));
    settle(&mut account, line.end().unwrap());
    assert_eq!(spent(&account), (hundredths(5), Amount::ZERO));
}

#[test]
fn a_run_of_no_steps_costs_nothing() {
    let mut account = account();
    let round = reserve(&mut account, hundredths(30), Amount::ZERO);
    let line = NoisyLine::draw(rising(), round, &mut Seeded::new(53));
    assert_eq!(format!("{line:?}"), "NoisyLine(..)");
    let ended = line.end().unwrap();
    assert_eq!((ended.realised, ended.steps, ended.hit), (Amount::ZERO, 0, false));
    settle(&mut account, ended);
    assert_eq!(spent(&account), (Amount::ZERO, Amount::ZERO));
}

/// A law whose price has a delta runs only on rounds that have spent it.
#[test]
fn the_delta_of_a_law_is_set_aside_with_its_rounds() {
    let mut entropy = Seeded::new(54);
    let mut account = account();
    let law = || Rising { delta: "1e-7".parse().unwrap(), ..rising() };
    let round = reserve(&mut account, hundredths(30), Amount::ZERO);
    let mut line = NoisyLine::draw(law(), round, &mut entropy);
    let error = line.next(&one(FAR_BELOW), &mut entropy).unwrap_err();
    assert!(matches!(error, LineError::Unpaid { step: 1, .. }), "{error}");
    let round = reserve(&mut account, hundredths(30), "1e-7".parse().unwrap());
    let mut line = NoisyLine::draw(law(), round, &mut entropy);
    assert!(line.next(&one(FAR_BELOW), &mut entropy).is_ok());
}

/// However the steps are paid, each is drawn if and only if its worst case is covered, and few
/// prices are asked for.
#[test]
fn steps_are_drawn_as_far_as_what_was_set_aside_reaches() {
    struct Asked<'a>(Rising, &'a Cell<u32>);
    impl LineLaw for Asked<'_> {
        fn threshold(&self) -> i64 {
            self.0.threshold()
        }
        fn range(&self) -> (i64, i64) {
            self.0.range()
        }
        fn sensitivity(&self) -> L1 {
            self.0.sensitivity()
        }
        fn is_above(&self) -> bool {
            true
        }
        fn noise(&self) -> (Noise, Noise) {
            self.0.noise()
        }
        fn worst(&self, steps: u64) -> Amount<Epsilon> {
            self.1.set(self.1.get() + 1);
            self.0.worst(steps)
        }
        fn halted(&self, steps: u64) -> Amount<Epsilon> {
            self.0.halted(steps)
        }
        fn stopped(&self, steps: u64) -> Amount<Epsilon> {
            self.0.stopped(steps)
        }
    }
    for block in [1u64, 2, 7, 64, 100] {
        let (mut account, asked) = (account(), Cell::new(0));
        let mut entropy = Seeded::new(55);
        let round = reserve(&mut account, hundredths(3 * block), Amount::ZERO);
        let mut line = NoisyLine::draw(Asked(rising(), &asked), round, &mut entropy);
        for blocks in 1..=3 {
            for _ in 0..block {
                line.next(&one(FAR_BELOW), &mut entropy).unwrap();
            }
            let error = line.next(&one(FAR_BELOW), &mut entropy).unwrap_err();
            assert!(matches!(error, LineError::Unpaid { step, .. } if step == block * blocks + 1));
            line.pay(reserve(&mut account, hundredths(3 * block), Amount::ZERO)).unwrap();
        }
        assert!(asked.get() <= 3 * (4 * block.ilog2() + 6), "{block}: {}", asked.get());
        drop(line);
    }
}

#[test]
fn a_run_bought_whole_costs_its_worst_case_and_gives_nothing_back() {
    let mut entropy = Seeded::new(56);
    let mut account = account();
    let run = Run::new(rising(), 2).unwrap();
    let approved = account.approve(run).unwrap();
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    // Epsilon 0.06 is 0.06 tanh(0.03) zCDP.
    let Charge::Zcdp { rho, .. } = eke_budget::Purchase::charge(receipt.purchase()) else {
        panic!()
    };
    let known = 0.06 * 0.03f64.tanh();
    assert!(rho.to_f64() >= known && rho.to_f64() < known * (1.0 + 1e-12));
    let mut line = NoisyLine::bought(receipt, &mut entropy).unwrap();
    assert!(line.pay(reserve(&mut account, hundredths(3), Amount::ZERO)).is_err());
    for _ in 0..2 {
        assert!(!line.next(&one(FAR_BELOW), &mut entropy).unwrap().get());
    }
    assert_eq!(
        line.next(&one(FAR_BELOW), &mut entropy).unwrap_err(),
        LineError::Whole { steps: 2 }
    );
    assert!(line.end().unwrap().settlements.is_empty());
    let odometer = account.odometer();
    assert_eq!(odometer.zcdp().unwrap().spent(), rho);
}

/// The step of the first hit, or none in three: against the integral over the noise of the line, in
/// both directions, with both laws, and with answers beyond their range. The controls have a line a
/// fifth of a deviation off.
#[test]
fn hits_come_as_often_as_the_law_says() {
    type Laws = (fn(Ratio) -> Noise, fn(f64) -> f64, fn(f64) -> f64);
    let normal: Laws = (
        Noise::gaussian,
        |z| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt(),
        |z| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2),
    );
    let laplace: Laws = (
        Noise::laplace,
        |z: f64| (-z.abs()).exp() / 2.0,
        |z| if z < 0.0 { z.exp() / 2.0 } else { 1.0 - (-z).exp() / 2.0 },
    );
    let truths = [8i64, 40, 11];
    for (seed, (law, density, below)) in [(57, normal), (58, laplace)] {
        for above in [true, false] {
            let scale = |n| law(Ratio::new(n, 1).unwrap());
            // The second answer is clamped, to 12 or to 9.
            let range = if above { (0, 12) } else { (9, 60) };
            let noise = (scale(3), scale(4));
            let rising = Rising { noise, above, range, delta: Amount::ZERO };
            let mut entropy = Seeded::new(seed);
            let firsts: Vec<usize> = (0..200_000)
                .map(|_| {
                    let mut account = account();
                    let round = reserve(&mut account, hundredths(9), Amount::ZERO);
                    let mut line = NoisyLine::draw(rising.clone(), round, &mut entropy);
                    truths
                        .iter()
                        .position(|&truth| line.next(&one(truth), &mut entropy).unwrap().get())
                        .unwrap_or(3)
                })
                .collect();
            let known = |off: f64| -> BTreeMap<usize, f64> {
                let mut law = BTreeMap::from([(0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0)]);
                for step in -20_000..20_000 {
                    let z = (f64::from(step) + 0.5) / 500.0;
                    let line = 10.0 + off + 3.0 * z;
                    let mut left = density(z) / 500.0;
                    for (index, &truth) in truths.iter().enumerate() {
                        let truth = truth.clamp(range.0, range.1) as f64;
                        let under = below((line - truth) / 4.0);
                        let hit = if above { 1.0 - under } else { under };
                        *law.get_mut(&index).unwrap() += left * hit;
                        left *= 1.0 - hit;
                    }
                    *law.get_mut(&3).unwrap() += left;
                }
                law
            };
            let fit = |off| Fit::of(firsts.iter().copied(), &known(off));
            fit(0.0).assert(&fit(0.6), "first hits");
        }
    }
}
