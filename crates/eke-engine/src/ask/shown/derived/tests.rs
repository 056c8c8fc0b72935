use super::*;
use eke_noise::stopping::{AverageOf, Part};
use eke_noise::{DiscreteGaussian, Ratio, Tolerance};
use eke_testkit::Seeded;

const MISS: f64 = 0.05;
const RUNS: u32 = 200;
/// Of 200 runs that miss with probability 0.05, more do with probability 2e-6.
const MOST_MISSES: u32 = 27;

fn measure(index: usize) -> Expr {
    Expr::Measure(index)
}

fn binary(operator: Binary, one: Expr, other: Expr) -> Expr {
    Expr::Binary(operator, Box::new(one), Box::new(other))
}

fn float(number: f64) -> Expr {
    Expr::Literal(Value::float(number))
}

fn count() -> Read {
    Read::Sum { column: 0, step: 1.0 / 1024.0, unit: 1.0, is_count: true }
}

fn sum(unit: f64) -> Read {
    Read::Sum { column: 0, step: unit / 4096.0, unit, is_count: false }
}

fn average(low: f64, high: f64) -> Read {
    let half = (high - low) / 2.0;
    let of = AverageOf {
        sum: Part { sensitivity: half, step: half / 4096.0 },
        count: Part { sensitivity: 1.0, step: 1.0 / 1024.0 },
        centre: low + half,
        low,
        high,
    };
    Read::Average { sum: (0, of.sum.step), count: (1, of.count.step), of }
}

fn goal(accuracy: Accuracy) -> Goal {
    let confidence = Confidence::new(1.0 - MISS).unwrap();
    Goal { accuracy, floor: None, at_most: None, confidence }
}

fn relative(tolerance: f64) -> Accuracy {
    Accuracy::Relative(Tolerance::new(tolerance).unwrap())
}

/// A normal number, on a fine grid.
fn normal(entropy: &mut Seeded) -> f64 {
    let variance = Ratio::from_f64(f64::from(1 << 20).powi(2)).unwrap();
    DiscreteGaussian::once(&variance, entropy).unwrap() as f64 / f64::from(1 << 20)
}

/// A Brownian path: what one unit of noise is at a price, further and further along.
#[derive(Default)]
struct Noise {
    price: f64,
    weighed: f64,
}

impl Noise {
    fn at(&mut self, price: f64, entropy: &mut Seeded) -> f64 {
        let more = price - self.price;
        self.weighed += (more / 2.0).sqrt() * normal(entropy);
        self.price = price;
        self.weighed / price
    }
}

/// A question about parts whose truths are known: of an average, how many and what.
struct Case {
    value: Expr,
    parts: Vec<(Read, f64, f64)>,
}

impl Case {
    fn truth(&self) -> f64 {
        let truth = |leaf: Leaf<'_>| match leaf {
            Leaf::Measure(index) => Value::float(self.parts[index].1),
            _ => Value::Null,
        };
        number_of(evaluate(&self.value, &truth)).unwrap()
    }

    fn rule(&self, accuracy: Accuracy) -> DerivedRule {
        let reads = self.parts.iter().map(|part| part.0).collect();
        let derivation = Derivation::new(&self.value, 0, reads);
        let most = Amount::ceil(1.0).unwrap();
        DerivedRule::new(derivation, &goal(accuracy), most).unwrap().0
    }

    /// What a rule finds on fresh noise.
    fn follow(&self, rule: &DerivedRule, entropy: &mut Seeded) -> Found {
        let mut noise: Vec<[Noise; 2]> = self.parts.iter().map(|_| Default::default()).collect();
        let mut asked = rule.start();
        loop {
            let price = asked.to_f64();
            let looks: Vec<Evidence> = self
                .parts
                .iter()
                .zip(&mut noise)
                .map(|(&(read, truth, rows), [one, other])| {
                    let (sum, count) = match read {
                        Read::Sum { unit, .. } | Read::Total { unit, .. } => {
                            (truth + unit * one.at(price, entropy), None)
                        }
                        Read::Average { of, .. } => {
                            let off = of.sum.sensitivity * one.at(price, entropy);
                            let sum = rows * (truth - of.centre) + off;
                            (sum, Some(rows + other.at(price, entropy)))
                        }
                    };
                    Evidence { worth: asked, sum, count, gamma: rule.gamma() }
                })
                .collect();
            match rule.after(&looks, asked) {
                Step::Look(next) => asked = next,
                Step::Stop(ending) => return rule.found(&looks, ending).0,
            }
        }
    }
}

/// The same parts, as if a unit changed them by a third of what it can.
fn surer(parts: &[(Read, f64, f64)]) -> Vec<(Read, f64, f64)> {
    let surer = |read: Read| match read {
        Read::Sum { column, step, unit, is_count } => {
            Read::Sum { column, step, unit: unit / 3.0, is_count }
        }
        Read::Total { .. } => read,
        Read::Average { sum, count, of } => {
            let third = |part: Part| Part { sensitivity: part.sensitivity / 3.0, ..part };
            let of = AverageOf { sum: third(of.sum), count: third(of.count), ..of };
            Read::Average { sum, count, of }
        }
    };
    parts.iter().map(|&(read, truth, rows)| (surer(read), truth, rows)).collect()
}

fn cases() -> Vec<Case> {
    let quotient = || binary(Binary::Divide, measure(0), measure(1));
    let variance = |centre: f64| {
        let off = binary(Binary::Subtract, measure(1), float(centre));
        let square = Expr::Call(Function::Power, vec![off, float(2.0)]);
        Expr::Call(Function::Sqrt, vec![binary(Binary::Subtract, measure(0), square)])
    };
    vec![
        Case { value: quotient(), parts: vec![(sum(50.0), 4e5, 0.0), (count(), 2e4, 0.0)] },
        Case { value: quotient(), parts: vec![(count(), 300.0, 0.0), (count(), 2e3, 0.0)] },
        Case { value: quotient(), parts: vec![(count(), 40.0, 0.0), (count(), 3.0, 0.0)] },
        Case {
            value: binary(Binary::Subtract, measure(0), measure(1)),
            parts: vec![(count(), 9e3, 0.0), (count(), 7e3, 0.0)],
        },
        Case {
            value: binary(Binary::Add, measure(0), float(1.0)),
            parts: vec![(count(), 1e3, 0.0)],
        },
        Case {
            value: variance(50.0),
            parts: vec![(average(0.0, 2500.0), 500.0, 3e4), (average(0.0, 100.0), 40.0, 3e4)],
        },
    ]
}

#[test]
fn what_is_made_of_parts_holds_for_every_truth() {
    let mut entropy = Seeded::new(97);
    let mut too_many = 0;
    for (number, case) in cases().iter().enumerate() {
        let truth = case.truth();
        for accuracy in [relative(0.05), relative(0.2), Accuracy::Absolute(truth.abs() / 8.0)] {
            let rule = case.rule(accuracy);
            // The control takes all noise for a third of what it is.
            let wrong = Case { value: case.value.clone(), parts: surer(&case.parts) };
            let wrong = wrong.rule(accuracy);
            let (mut misses, mut wrongs) = (0, 0);
            for _ in 0..RUNS {
                let found = case.follow(&rule, &mut entropy);
                let holds = found.low.is_none_or(|low| low <= truth)
                    && found.high.is_none_or(|high| truth <= high);
                misses += u32::from(!holds);
                if let (true, true, Some(value)) = (found.met(), holds, found.value) {
                    let error = match accuracy {
                        Accuracy::Relative(tolerance) => tolerance.get() * truth.abs(),
                        Accuracy::Absolute(error) => error,
                        Accuracy::Price(_) => f64::INFINITY,
                    };
                    assert!((value - truth).abs() <= error * (1.0 + 1e-6), "{number}: {found:?}");
                }
                let found = case.follow(&wrong, &mut entropy);
                wrongs += u32::from(
                    found.low.is_some_and(|low| low > truth)
                        || found.high.is_some_and(|high| truth > high),
                );
            }
            assert!(misses <= MOST_MISSES, "{number} {accuracy:?}: {misses}");
            too_many += u32::from(wrongs > MOST_MISSES);
        }
    }
    assert!(too_many > 0, "the control passes");
}

/// All parts hold at once but for the miss of the whole: each has its share of it.
#[test]
fn parts_share_the_miss() {
    let evidence = |sum: f64| Evidence {
        worth: Amount::ceil(0.01).unwrap(),
        sum,
        count: None,
        gamma: Some(1e-4),
    };
    let (reads, looks) = ([count(), sum(10.0), count()], [50.0, 7.0, 9.0].map(evidence));
    let product = binary(Binary::Multiply, measure(0), measure(1));
    let value = binary(Binary::Divide, product, measure(2));
    let derivation = Derivation::new(&value, 0, reads.to_vec());
    let found = derivation.legs(&looks, 0.06).each;
    assert_eq!(found.len(), 3);
    for ((read, look), (_, ends)) in reads.iter().zip(&looks).zip(found) {
        // What is counted is not below zero; a sum may be.
        let least = if matches!(read, Read::Sum { is_count: true, .. }) { 0.0 } else { -1e9 };
        assert_eq!(read.interval(look, 0.02).map(|own| own.map(|end| end.max(least))), Some(ends));
    }
}

/// Who goes on by hand has one sequence for all goals of a path: what a goal allows does not
/// choose it.
#[test]
fn by_hand_all_goals_have_one_sequence() {
    let rules = |most: f64| {
        let quotient = binary(Binary::Divide, measure(0), measure(1));
        let derivation = Derivation::new(&quotient, 0, vec![count(), count()]);
        let most = Amount::ceil(most).unwrap();
        DerivedRule::new(derivation, &goal(relative(0.1)), most).unwrap()
    };
    let ((one, parts), (other, _)) = (rules(1.0), rules(0.01));
    assert_ne!(one.gamma(), other.gamma());
    let gamma = one.by_hand().gamma();
    assert!(gamma.is_some() && gamma == other.by_hand().gamma());
    assert!(parts.iter().all(|part| part.by_hand().gamma() == gamma));
}

/// A multiple of one value keeps that value's rule, with a goal that is as many times smaller;
/// its rounding is of what is shown alone.
#[test]
fn multiples_are_followed_as_what_they_are_multiples_of() {
    let percent = binary(Binary::Multiply, float(-100.0), measure(1));
    let rounded = Expr::Call(
        Function::Round,
        vec![binary(Binary::Divide, percent, float(4.0)), Expr::Literal(Value::Int(1))],
    );
    let derivation = Derivation::new(&rounded, 1, vec![count()]);
    assert_eq!(derivation.multiple(), Some(-25.0));
    let most = Amount::ceil(1.0).unwrap();
    let goal = goal(Accuracy::Absolute(5.0));
    let (rule, parts) = DerivedRule::new(derivation, &goal, most).unwrap();
    assert!(rule.is_multiple() && parts.len() == 1);
    let alone =
        MeasureRule::new(count(), &super::Goal { accuracy: Accuracy::Absolute(0.2), ..goal }, most);
    assert_eq!(parts[0].planned(), alone.unwrap().planned());
    let part = Found {
        value: Some(10.012),
        low: Some(9.99),
        high: Some(10.034),
        ending: Stopped::Met,
        evidence: None,
    };
    let found = rule.multiplied(&part);
    assert_eq!((found.value, found.low, found.high), (Some(-250.3), Some(-250.9), Some(-249.8)));
    for other in [
        binary(Binary::Add, measure(1), float(1.0)),
        binary(Binary::Multiply, measure(1), measure(1)),
        binary(Binary::Multiply, measure(1), float(0.0)),
        binary(Binary::Divide, float(1.0), measure(1)),
    ] {
        assert_eq!(Derivation::new(&other, 1, vec![count()]).multiple(), None);
    }
}

/// A sum of multiples has one interval, as wide as the noise of all of them together: at a
/// planned look by the normal quantile, whatever the parts.
#[test]
fn sums_of_multiples_have_the_noise_of_one_path() {
    let twice = binary(Binary::Multiply, float(2.0), measure(1));
    let value = binary(Binary::Subtract, measure(0), twice);
    let value = binary(Binary::Add, value, float(7.0));
    let derivation = Derivation::new(&value, 0, vec![count(), sum(10.0)]);
    assert_eq!(derivation.weights, Some((vec![1.0, -2.0], 7.0)));
    let worth = Amount::ceil(0.02).unwrap();
    let looks = [50.0, 30.0].map(|sum| Evidence { worth, sum, count: None, gamma: None });
    let (value, [low, high]) = derivation.exact(&looks, MISS).unwrap();
    let half = 1.959_964 * (401.0f64 / 0.04).sqrt() + 0.5 * (1.0 / 1024.0 + 20.0 / 4096.0);
    assert!((value + 3.0).abs() < 1e-9 && (high - value - half).abs() < 1e-3, "{value} {high}");
    assert!((value - low - half).abs() < 1e-3);
    let most = Amount::ceil(1.0).unwrap();
    let (rule, _) = DerivedRule::new(derivation, &goal(Accuracy::Absolute(half)), most).unwrap();
    let planned = rule.planned().unwrap().to_f64();
    assert!((planned / 0.02 - 1.0).abs() < 1e-4, "{planned}");
    let by_hand = rule.by_hand().planned().unwrap();
    let error = |price: Amount<Rho>| {
        let gamma = rule.by_hand().gamma();
        let look = |sum| Evidence { worth: price, sum, count: None, gamma };
        let (value, [_, high]) = rule.derivation.exact(&[look(0.0), look(0.0)], MISS).unwrap();
        high - value
    };
    assert!(error(by_hand) <= half * (1.0 + 1e-6) && by_hand.to_f64() > planned);
}

/// Where a denominator may be zero nothing is said, and nothing is met.
#[test]
fn a_quotient_by_what_may_be_zero_has_no_interval() {
    let value = binary(Binary::Divide, measure(0), measure(1));
    let case = Case { value, parts: vec![(count(), 500.0, 0.0), (count(), 0.0, 0.0)] };
    let rule = case.rule(relative(0.1));
    let mut entropy = Seeded::new(98);
    for _ in 0..50 {
        let found = case.follow(&rule, &mut entropy);
        assert!(!found.met() && found.low.is_none() && found.high.is_none(), "{found:?}");
    }
}

fn total() -> Read {
    Read::Total { column: 0, step: 1.0 / 1024.0, unit: 1.0, is_count: true }
}

/// How many of the runs miss where the first of many groups is half of all, and a total is said to
/// be of so many groups.
fn missed_shares(accuracy: Accuracy, said: f64, entropy: &mut Seeded) -> u32 {
    const GROUPS: usize = 40;
    const FIRST: f64 = 2_000.0;
    let value = binary(Binary::Divide, measure(0), measure(1));
    let most = Amount::ceil(1.0).unwrap();
    let derivation = Derivation::new(&value, 0, vec![count(), total()]);
    let rule = DerivedRule::new(derivation, &goal(accuracy), most).unwrap().0;
    let mut misses = 0;
    for _ in 0..RUNS {
        let mut noise: Vec<Noise> = (0..GROUPS).map(|_| Noise::default()).collect();
        let mut asked = rule.start();
        let found = loop {
            let off: Vec<f64> =
                noise.iter_mut().map(|one| one.at(asked.to_f64(), entropy)).collect();
            let gamma = rule.gamma();
            let own = Evidence { worth: asked, sum: FIRST + off[0], count: None, gamma };
            let sum = 2.0 * FIRST + off.iter().sum::<f64>();
            let looks = [own, Evidence { sum, count: Some(said), ..own }];
            match rule.after(&looks, asked) {
                Step::Look(next) => asked = next,
                Step::Stop(ending) => break rule.found(&looks, ending).0,
            }
        };
        let is_in = |ends: (f64, f64)| ends.0 <= 0.5 && 0.5 <= ends.1;
        misses += u32::from(found.low.zip(found.high).is_some_and(|ends| !is_in(ends)));
    }
    misses
}

/// Statistical (200 runs each; 2e-6; control: the noise of the total taken for that of one group).
#[test]
fn shares_of_groups_that_go_together_hold() {
    let mut entropy = Seeded::new(94);
    for accuracy in [relative(0.05), relative(0.3), Accuracy::Absolute(0.02)] {
        let misses = missed_shares(accuracy, -40.0, &mut entropy);
        assert!(misses <= MOST_MISSES, "{accuracy:?}: {misses}");
        let control = missed_shares(accuracy, -1.0, &mut entropy);
        assert!(control > MOST_MISSES, "{accuracy:?}: {control} of the control");
    }
}

/// One interval for both is narrower than what follows from two.
#[test]
fn a_ratio_is_narrower_than_its_parts() {
    let value = binary(Binary::Divide, measure(0), measure(1));
    for (above, below, gamma) in
        [(50_000.0, 100_000.0, None), (50_000.0, 100_000.0, Some(1e-4)), (-900.0, 1_000.0, None)]
    {
        let parts = vec![sum(1.0), count()];
        let look =
            |sum: f64| Evidence { worth: Amount::ceil(0.01).unwrap(), sum, count: None, gamma };
        let looks = [look(above), look(below)];
        let derivation = Derivation::new(&value, 0, parts.clone());
        let (ratio, [low, high]) = derivation.exact(&looks, MISS).unwrap();
        assert!(low < ratio && ratio < high && (ratio - above / below).abs() < 1e-12);
        let ends: Vec<[f64; 2]> =
            parts.iter().zip(&looks).map(|(read, look)| leg(read, look, MISS / 2.0).1).collect();
        let quotients = ends[0].map(|one| ends[1].map(|other| one / other)).concat();
        let widest = quotients.iter().copied().fold(f64::MIN, f64::max)
            - quotients.iter().copied().fold(f64::MAX, f64::min);
        assert!(high - low < 0.85 * widest, "{} {widest}", high - low);
        // In so many deviations of the numerator less the ratio times the denominator.
        let factor = deviations(MISS, gamma.map(|gamma| 0.01 / gamma));
        let deviation = (1.0 + ratio * ratio).sqrt() / (2.0f64 * 0.01).sqrt() / below.abs();
        assert!(((high - low) / (2.0 * factor * deviation) - 1.0).abs() < 0.01);
    }
    // By what may be zero there is none.
    let look =
        |sum: f64| Evidence { worth: Amount::ceil(1e-6).unwrap(), sum, count: None, gamma: None };
    let derivation = Derivation::new(&value, 0, vec![sum(1.0), count()]);
    assert!(derivation.exact(&[look(5.0), look(10.0)], MISS).is_none());
}
