//! Averages on two paths, followed until they are good enough.
//!
//! | test | n | false alarms | critical value | control |
//! |---|---|---|---|---|
//! | `averages_hold_for_every_truth` | 400 a truth, 8 truths, 4 goals | 2e-7 each | 43 misses of 5 % | a sum taken for a tenth as noisy |

use eke_budget::{Amount, Rho};
use eke_noise::stopping::{
    AverageGoal, AverageLook, AverageOf, AverageRule, Ending, Estimate, Next, Part,
};
use eke_noise::{Confidence, DiscreteGaussian, Ratio, Schedule, Tolerance};
use eke_testkit::Seeded;

const STEP: f64 = 1.0 / 1024.0;

fn of() -> AverageOf {
    let part = |sensitivity| Part { sensitivity, step: STEP };
    AverageOf { sum: part(500.0), count: part(10.0), centre: 50.0, low: 0.0, high: 100.0 }
}

fn goal(relative: Option<f64>, absolute: Option<f64>) -> AverageGoal {
    AverageGoal {
        relative: relative.map(|t| Tolerance::new(t).unwrap()),
        absolute,
        confidence: Confidence::new(0.95).unwrap(),
        most: "0.05".parse().unwrap(),
    }
}

/// Noise that is added up as a path does: independent increments, weighed by their price.
struct Noise {
    sensitivity: f64,
    price: f64,
    weighed: f64,
}

impl Noise {
    fn at(&mut self, price: f64, entropy: &mut Seeded) -> f64 {
        let more = price - self.price;
        let deviation = self.sensitivity / STEP / (2.0 * more).sqrt();
        let law = Ratio::from_f64(deviation * deviation).unwrap();
        let draw = DiscreteGaussian::once(&law, entropy).unwrap() as f64 * STEP;
        (self.price, self.weighed) = (price, self.weighed + more * draw);
        self.weighed / price
    }
}

/// Follows a rule for a truth of `count` values of this average.
fn follow(rule: &AverageRule, count: f64, average: f64, entropy: &mut Seeded) -> (Estimate, f64) {
    let noise = |sensitivity| Noise { sensitivity, price: 0.0, weighed: 0.0 };
    let (mut of_sum, mut of_count) = (noise(of().sum.sensitivity), noise(of().count.sensitivity));
    let mut asked = rule.first();
    loop {
        let price = asked.to_f64();
        let look = AverageLook {
            asked,
            price: asked,
            sum: count * (average - of().centre) + of_sum.at(price, entropy),
            count: count + of_count.at(price, entropy),
        };
        match rule.after(look) {
            Next::Look(next) => asked = next,
            Next::Stop(estimate) => return (estimate, price),
        }
    }
}

fn schedule() -> Schedule<Rho> {
    Schedule::geometric("1e-9".parse::<Amount<Rho>>().unwrap(), 1.05).unwrap()
}

#[test]
fn averages_hold_for_every_truth() {
    const RUNS: u32 = 400;
    let mut entropy = Seeded::new(95);
    for (relative, absolute) in
        [(Some(0.05), None), (None, Some(2.0)), (None, None), (Some(0.1), Some(1.0))]
    {
        let goal = goal(relative, absolute);
        let rule = AverageRule::new(goal, schedule(), of()).thrifty();
        // The control takes the sum for a tenth as noisy as it is.
        let sure = Part { sensitivity: 50.0, ..of().sum };
        let wrong = AverageRule::new(goal, schedule(), AverageOf { sum: sure, ..of() });
        let mut too_many = 0;
        for (count, average) in [
            (1e6, 20.0),
            (3e4, 80.0),
            (2e4, 99.9),
            (1e4, 0.0),
            (1e5, 50.0),
            (500.0, 30.0),
            (0.0, 50.0),
            (2e3, 3.0),
        ] {
            let (mut misses, mut wrongs, mut met, mut price) = (0, 0, 0, 0.0);
            for _ in 0..RUNS {
                let (estimate, at) = follow(&rule, count, average, &mut entropy);
                let Estimate { value, low, high, ending } = estimate;
                assert!(
                    low <= value && value <= high && 0.0 <= low && high <= 100.0,
                    "{estimate:?}"
                );
                let within = low <= average && average <= high;
                misses += u32::from(!within);
                if let (Some(tolerance), Ending::Met) = (relative, ending) {
                    met += 1;
                    let close = (value - average).abs() <= tolerance * average;
                    assert!(close || !within, "{estimate:?} {average}");
                }
                if let (Some(error), Ending::Floor) = (absolute, ending) {
                    assert!((value - average).abs() <= error || !within);
                }
                price += at / f64::from(RUNS);
                let (wrong, _) = follow(&wrong, count, average, &mut entropy);
                wrongs += u32::from(!(wrong.low <= average && average <= wrong.high));
            }
            too_many += u32::from(wrongs > 43);
            assert!(misses <= 43, "{relative:?} {absolute:?} {count} {average}: {misses}");
            println!(
                "{relative:?} {absolute:?} {count} of {average}: {misses} misses, {met} met, {price:.5}"
            );
        }
        assert!(too_many > 0, "the control passes: {too_many}");
    }
}

/// Nothing to average: the interval is all there can be, and hardly anything is spent.
#[test]
fn an_average_of_nothing_gives_up_early() {
    let mut entropy = Seeded::new(96);
    let rule = AverageRule::new(goal(Some(0.05), None), schedule(), of()).thrifty();
    let mut spent = 0.0;
    for _ in 0..200 {
        let (estimate, price) = follow(&rule, 0.0, 50.0, &mut entropy);
        assert_eq!(estimate.ending, Ending::OutOfReach);
        spent += price / 200.0;
    }
    assert!(spent < 0.005, "{spent} of 0.05");
}

/// What was asked for is met, at not much more than the price of one look planned with the truth.
#[test]
fn an_average_stops_when_it_is_good_enough() {
    let mut entropy = Seeded::new(97);
    let rule = AverageRule::new(goal(Some(0.05), None), schedule(), of()).thrifty();
    let (count, average) = (2e4, 40.0);
    let mut price = 0.0;
    for _ in 0..300 {
        let (estimate, at) = follow(&rule, count, average, &mut entropy);
        assert_eq!(estimate.ending, Ending::Met);
        price += at / 300.0;
    }
    // One look: 1.96 deviations of the combination are 5 % of the average.
    let unit = (500.0f64.powi(2) + (10.0f64 * 10.0).powi(2)).sqrt();
    let oracle = (1.96 * unit / (0.05 * average * count)).powi(2) / 2.0;
    assert!((1.5..4.0).contains(&(price / oracle)), "{}", price / oracle);
    println!("{:.2} times the price of one look", price / oracle);
}
