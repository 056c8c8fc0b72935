//! Whether one law of noise can be made of another, against laws computed here in other ways.

use std::f64::consts::PI;

use eke_budget::residual::{
    BochnerMatrix, Doubt, NoResidual, NoiseLaw, ResidualPart, Verdict, residual,
};
use proptest::prelude::*;

fn law(text: &str) -> NoiseLaw {
    text.parse().unwrap()
}

fn verdict(from: &str, to: &str) -> Verdict {
    residual(law(from), law(to))
}

/// The parts of a residual that is known in closed form.
fn parts(from: &str, to: &str) -> Vec<ResidualPart> {
    match verdict(from, to) {
        Verdict::Yes(residual) => residual.parts.unwrap(),
        other => panic!("{from} to {to}: {other:?}"),
    }
}

fn assert_close(found: f64, golden: f64) {
    assert!((found - golden).abs() <= 1e-14 * golden.abs().max(1e-3), "{found} {golden}");
}

/// From mpmath: the discrete Gaussian from 1 to 1.1 at four points, the staircase from 2.8 to 1 at
/// two.
#[test]
fn the_counterexamples_in_print_match_the_golden_values() {
    let (fine, coarse) = (law("discrete-gaussian:1"), law("discrete-gaussian:1.1"));
    let four = BochnerMatrix::new(&fine, &coarse, &[0.0, PI / 2.0, PI, 1.5 * PI]);
    assert_close(four.matrix[0][1], 0.771_728_617_527_185_1);
    assert_close(four.matrix[0][2], 0.354_761_886_485_776_83);
    let golden = [
        -0.188_695_348_568_593_35,
        0.645_238_113_514_223_1,
        0.645_238_113_514_223_1,
        2.898_219_121_540_147,
    ];
    for (found, golden) in four.eigenvalues.iter().zip(golden) {
        assert_close(*found, golden);
    }
    assert!(four.is_witness() && four.error < 1e-13, "{}", four.error);

    let (fine, coarse) = (law("staircase:2.8"), law("staircase:1"));
    let two = BochnerMatrix::new(&fine, &coarse, &[0.0, 5.0 * PI]);
    // 5 pi as a double is off by 1e-15, where R has a slope.
    assert!((two.matrix[0][1] + 1.438_874_149_590_807_7).abs() < 1e-13);
    assert!((two.eigenvalues[0] + 0.438_874_149_590_807_7).abs() < 1e-13);
    assert!((two.eigenvalues[1] - 2.438_874_149_590_808).abs() < 1e-13);
    assert!(two.is_witness());

    for (from, to) in
        [("discrete-gaussian:1", "discrete-gaussian:1.1"), ("staircase:2.8", "staircase:1")]
    {
        let Verdict::No { witness: Some(witness), .. } = verdict(from, to) else {
            panic!("{from} to {to}")
        };
        assert!(witness.is_witness() && witness.points.len() <= 4, "{witness:?}");
    }
}

/// From mpmath: the weights at zero, and the negative binomial probabilities of planar residuals.
#[test]
fn residual_weights_match_the_golden_values() {
    for (fine, coarse, geometric, at_zero, laplace) in [
        ("2", "1", 0.196_611_933_241_481_85, 0.567_871_342_828_543_2, 0.25),
        ("1", "0.5", 0.235_003_712_201_594_5, 0.422_365_579_752_982_9, 0.25),
        ("4", "0.1", 0.000_190_213_006_209_706_15, 0.050_139_085_231_403_59, 0.000_625),
        ("0.8", "0.4", 0.240_260_745_741_529_14, 0.390_214_524_338_224_6, 0.25),
    ] {
        let (from, to) = (format!("geometric:{fine}"), format!("geometric:{coarse}"));
        let Verdict::Yes(found) = verdict(&from, &to) else { panic!("{from} to {to}") };
        let [ResidualPart::Maybe { nothing, times: 1, .. }] = found.parts.unwrap()[..] else {
            panic!("one part")
        };
        assert_close(nothing, geometric);
        assert_close(found.probabilities.unwrap().values[0], at_zero);
        let scale = |rate: &str| 1.0 / rate.parse::<f64>().unwrap();
        let (from, to) = (format!("laplace:{}", scale(fine)), format!("laplace:{}", scale(coarse)));
        let [ResidualPart::Maybe { nothing, times: 1, .. }] = parts(&from, &to)[..] else {
            panic!("one part")
        };
        assert_close(nothing, laplace);
    }
    for (fine, coarse, dimension, golden) in [
        ("2", "1", 2, [0.125, 0.140_625, 0.131_835_937_5, 0.115_356_445_312_5]),
        (
            "1",
            "0.25",
            3,
            [0.003_906_25, 0.007_324_218_75, 0.010_299_682_617_187_5, 0.012_874_603_271_484_375],
        ),
    ] {
        let from = format!("planar-laplace:{fine}:{dimension}");
        let to = format!("planar-laplace:{coarse}:{dimension}");
        let [ResidualPart::PlanarJumps { shape, chance, .. }] = parts(&from, &to)[..] else {
            panic!("one part")
        };
        let mut probability = chance.powf(shape);
        for (count, golden) in golden.into_iter().enumerate() {
            assert_close(probability, golden);
            let count = count as f64;
            probability *= (shape + count) / (count + 1.0) * (1.0 - chance);
        }
    }
}

/// The characteristic function of a part, from what its documentation says.
fn transform(part: &ResidualPart, t: f64) -> f64 {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { x.sin() / x };
    match *part {
        ResidualPart::Noise { law } => law.characteristic(t),
        ResidualPart::Maybe { nothing, times, law } => {
            nothing + (1.0 - nothing) * law.characteristic(f64::from(times) * t)
        }
        // E s^N = (chance/(1 - (1 - chance) s))^shape, and s = rate/(rate + t²) for one gamma
        // number of variance.
        ResidualPart::PlanarJumps { shape, chance, rate } => {
            (chance / (1.0 - (1.0 - chance) * rate / (rate + t * t))).powf(shape)
        }
        ResidualPart::Coins { sigma, skip } => {
            let coins = (1..4000u32).step_by(2).filter(|m| m % skip != 0);
            let coin = |m: u32| {
                let odds = (-0.5 * f64::from(m) / (sigma * sigma)).exp();
                let p = odds / (1.0 + odds);
                p * p + (1.0 - p) * (1.0 - p) + 2.0 * p * (1.0 - p) * t.cos()
            };
            coins.map(coin).product()
        }
        ResidualPart::Steps { count, step } => {
            let points = (0..count).map(|i| step * (f64::from(i) - f64::from(count - 1) / 2.0));
            points.map(|x| (x * t).cos()).sum::<f64>() / f64::from(count)
        }
        ResidualPart::Whole { ref probabilities } => {
            let waves = probabilities.values.iter().zip(0u32..).skip(1);
            let twice: f64 = waves.map(|(value, k)| 2.0 * value * (f64::from(k) * t).cos()).sum();
            probabilities.values[0] + twice
        }
        ResidualPart::Tent { scale } => {
            // Simpson's rule.
            let intervals = 20_000;
            let (mut mass, mut sum) = (0.0, 0.0);
            for i in 0..=intervals {
                let x = f64::from(i) / f64::from(intervals);
                let rule =
                    if i == 0 || i == intervals { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                let density = ((1.0 - x) / scale).sinh();
                mass += rule * density;
                sum += rule * density * (x * t).cos();
            }
            sum / mass
        }
        ResidualPart::TwoUniforms { first, widths } => {
            first * sinc(widths.0 * t / 2.0) + (1.0 - first) * sinc(widths.1 * t / 2.0)
        }
        _ => panic!("a part without a transform: {part:?}"),
    }
}

const CLOSED: [(&str, &str); 18] = [
    ("gaussian:1", "gaussian:1.5"),
    ("laplace:0.5", "laplace:3"),
    ("geometric:2", "geometric:0.25"),
    ("geometric:1", "msdlap:0.5:3"),
    ("msdlap:2:3", "msdlap:1:3"),
    ("msdlap:1:2", "msdlap:1:4"),
    ("skellam:3", "skellam:4.5"),
    ("discrete-gaussian:1", "discrete-gaussian:1.7320508075688772"),
    ("discrete-gaussian:0.7", "discrete-gaussian:2.1"),
    ("planar-laplace:2:2", "planar-laplace:0.5:2"),
    ("planar-laplace:2:1", "laplace:3"),
    ("geometric:1", "laplace:1"),
    ("geometric:3", "laplace:2"),
    ("geometric:2", "staircase:1"),
    ("skellam:0.2", "laplace:2"),
    ("discrete-gaussian:0.5", "staircase:0.4"),
    ("msdlap:3:2", "laplace:5"),
    ("uniform:0.5", "uniform:2.5"),
];

#[test]
fn closed_forms_have_the_transform_of_the_residual() {
    for (from, to) in CLOSED {
        let parts = parts(from, to);
        for step in 1..200 {
            let t = f64::from(step) * 0.0437;
            let found: f64 = parts.iter().map(|part| transform(part, t)).product();
            let known = law(to).characteristic(t) / law(from).characteristic(t);
            assert!((found - known).abs() < 1e-9, "{from} to {to} at {t}: {found} {known}");
        }
    }
}

/// The probabilities of a law on the integers from -n to n, from what it is made of.
fn probabilities(text: &str, n: usize) -> Vec<f64> {
    let (name, rest) = text.split_once(':').unwrap();
    let numbers: Vec<f64> = rest.split(':').map(|number| number.parse().unwrap()).collect();
    let size = |index: usize| (index as f64 - n as f64).abs();
    let two_sided = |weight: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let weights: Vec<f64> = (0..=2 * n).map(|index| weight(size(index))).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    };
    match name {
        "geometric" => two_sided(&|k| (-numbers[0] * k).exp()),
        "discrete-gaussian" => two_sided(&|k| (-(k / numbers[0]).powi(2) / 2.0).exp()),
        "skellam" => {
            // Two Poisson laws, one turned around.
            let mut poisson = vec![0.0; 2 * n + 1];
            let mut term = (-numbers[0]).exp();
            for k in 0..=n {
                poisson[n + k] = term;
                term *= numbers[0] / (k + 1) as f64;
            }
            let turned: Vec<f64> = poisson.iter().rev().copied().collect();
            convolved(&poisson, &turned)
        }
        "msdlap" => {
            let one = probabilities(&format!("geometric:{}", numbers[0]), n);
            let mut sum = vec![0.0; 2 * n + 1];
            sum[n] = 1.0;
            let sensitivity = rest.rsplit(':').next().unwrap().parse().unwrap();
            for times in 1..=sensitivity {
                let mut spread = vec![0.0; 2 * n + 1];
                for k in 0..=n / times {
                    spread[n + k * times] = one[n + k];
                    spread[n - k * times] = one[n - k];
                }
                sum = convolved(&sum, &spread);
            }
            sum
        }
        _ => panic!("{name} is not on the integers"),
    }
}

/// The law of a sum, on the same range.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = a.len() / 2;
    let mut sum = vec![0.0; a.len()];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x != 0.0) {
        for (j, y) in b.iter().enumerate() {
            if let Some(to) = (i + j).checked_sub(n).and_then(|to| sum.get_mut(to)) {
                *to += x * y;
            }
        }
    }
    sum
}

/// How far `from` plus the numeric residual is from `to`, in total variation.
fn distance(from: &str, to: &str) -> f64 {
    let Verdict::Yes(found) = verdict(from, to) else { panic!("{from} to {to}") };
    let values = found.probabilities.unwrap().values;
    let n = 400;
    assert!(values.len() <= n, "{from} to {to}: {}", values.len());
    let mut residual = vec![0.0; 2 * n + 1];
    for (k, value) in values.iter().enumerate() {
        residual[n + k] = *value;
        residual[n - k] = *value;
    }
    let total: f64 = residual.iter().sum();
    assert!((total - 1.0).abs() < 1e-12, "{from} to {to}: {total}");
    let made = convolved(&probabilities(from, n), &residual);
    let known = probabilities(to, n);
    made.iter().zip(&known).map(|(made, known)| (made - known).abs()).sum::<f64>() / 2.0
}

#[test]
fn fine_noise_and_the_residual_make_the_coarse_law() {
    let closed =
        CLOSED.iter().filter(|(from, to)| law(from).is_on_integers() && law(to).is_on_integers());
    let numeric = [
        ("skellam:0.2", "geometric:1"),
        ("skellam:0.5", "geometric:0.3"),
        ("discrete-gaussian:0.4", "geometric:0.8"),
        ("discrete-gaussian:0.5", "msdlap:1:2"),
        ("skellam:0.3", "msdlap:1:2"),
    ];
    for (from, to) in closed.chain(&numeric) {
        let far = distance(from, to);
        assert!(far < 1e-12, "{from} to {to}: {far}");
    }
    for (from, to) in numeric {
        let Verdict::Yes(found) = verdict(from, to) else { panic!("{from} to {to}") };
        assert_eq!(found.parts, None);
        let probabilities = found.probabilities.unwrap();
        assert!(probabilities.values.iter().all(|value| *value >= -probabilities.error));
        assert!(probabilities.error < 1e-13, "{}", probabilities.error);
    }
}

#[test]
fn closed_forms_are_what_the_coefficients_say() {
    let Verdict::Yes(found) = verdict("geometric:2", "geometric:1") else { panic!() };
    let [ResidualPart::Maybe { nothing, .. }] = found.parts.unwrap()[..] else { panic!() };
    let coarse = probabilities("geometric:1", 60);
    for (k, value) in found.probabilities.unwrap().values.iter().enumerate().take(60) {
        let known = (1.0 - nothing) * coarse[60 + k] + if k == 0 { nothing } else { 0.0 };
        assert!((value - known).abs() < 1e-14, "{k}: {value} {known}");
    }
    let Verdict::Yes(found) = verdict("skellam:3", "skellam:4.5") else { panic!() };
    let known = probabilities("skellam:1.5", 60);
    for (k, value) in found.probabilities.unwrap().values.iter().enumerate().take(60) {
        assert!((value - known[60 + k]).abs() < 1e-14, "{k}: {value}");
    }
}

/// The triple product makes a discrete Gaussian a sum of coins, those of a law of an odd multiple
/// of the variance among them.
#[test]
fn discrete_gaussians_have_residuals_for_odd_ratios_alone() {
    for (sigma, ratio, is) in [
        (1.0, 3.0, true),
        (1.0, 5.0, true),
        (0.6, 7.0, true),
        (2.0, 9.0, true),
        (1.0, 2.0, false),
        (0.5, 4.0, false),
        (1.0, 2.999, false),
        (1.0, 3.001, false),
        (3.0, 1.21, false),
        (40.0, 1.5, false),
    ] {
        let to = sigma * f64::sqrt(ratio);
        let (from, to) = (format!("discrete-gaussian:{sigma}"), format!("discrete-gaussian:{to}"));
        match verdict(&from, &to) {
            Verdict::Yes(_) => assert!(is && distance(&from, &to) < 1e-12, "{from} to {to}"),
            Verdict::No { reason, .. } => {
                assert!(!is && matches!(reason, NoResidual::Zero { .. }), "{from} to {to}");
            }
            Verdict::Undecided(doubt) => panic!("{from} to {to}: {doubt}"),
        }
    }
}

/// The characteristic function of a law, by summing or integrating it.
fn summed(text: &str, t: f64) -> f64 {
    if law(text).is_on_integers() {
        let n = 300;
        let wave = |index: usize| ((index as f64 - n as f64) * t).cos();
        return probabilities(text, n).iter().enumerate().map(|(i, p)| p * wave(i)).sum();
    }
    let (name, rest) = text.split_once(':').unwrap();
    let numbers: Vec<f64> = rest.split(':').map(|number| number.parse().unwrap()).collect();
    if name == "staircase" {
        // Flat pieces, each integrated.
        let gamma = 1.0 / (1.0 + (numbers[0] / 2.0).exp());
        let (mut mass, mut sum) = (0.0, 0.0);
        for stair in 0..200 {
            let stair = f64::from(stair);
            for (start, end, level) in
                [(stair, stair + gamma, stair), (stair + gamma, stair + 1.0, stair + 1.0)]
            {
                let density = (-numbers[0] * level).exp();
                mass += density * (end - start);
                sum += density * ((end * t).sin() - (start * t).sin()) / t;
            }
        }
        return sum / mass;
    }
    // The midpoint rule.
    let (steps, width) = (400_000, if name == "uniform" { numbers[0] / 2.0 } else { 60.0 });
    let density = |x: f64| match name {
        "gaussian" => (-(x / numbers[0]).powi(2) / 2.0).exp(),
        "laplace" => (-x / numbers[0]).exp(),
        "uniform" => 1.0,
        _ => panic!("no density of {name}"),
    };
    let (mut mass, mut sum) = (0.0, 0.0);
    for step in 0..steps {
        let x = width * (f64::from(step) + 0.5) / f64::from(steps);
        mass += density(x);
        sum += density(x) * (x * t).cos();
    }
    sum / mass
}

/// The smallest eigenvalue, by powers of the matrix taken from a multiple of one.
fn smallest_by_powers(matrix: &[Vec<f64>]) -> f64 {
    let size = matrix.len();
    let most =
        matrix.iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let times = |vector: &[f64]| -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
    };
    let mut vector: Vec<f64> = (0..size).map(|index| 1.0 / (index + 1) as f64 - 0.4).collect();
    for _ in 0..200_000 {
        let image = times(&vector);
        let next: Vec<f64> = vector.iter().zip(image).map(|(v, image)| most * v - image).collect();
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector = next.iter().map(|x| x / length).collect();
    }
    times(&vector).iter().zip(&vector).map(|(a, b)| a * b).sum()
}

/// Where there is no residual, and how many points show it.
const NONE: [(&str, &str, Option<usize>); 12] = [
    ("geometric:1", "geometric:2", Some(2)),
    ("skellam:4", "skellam:3", Some(2)),
    ("discrete-gaussian:1", "discrete-gaussian:1.1", Some(4)),
    ("discrete-gaussian:0.7", "discrete-gaussian:0.9", None),
    ("staircase:2.8", "staircase:1", Some(2)),
    ("gaussian:1", "laplace:2", Some(2)),
    ("laplace:1", "gaussian:3", None),
    ("laplace:1", "staircase:0.5", Some(2)),
    ("geometric:1", "discrete-gaussian:2", None),
    ("geometric:1", "skellam:2", None),
    ("skellam:2", "geometric:0.5", None),
    ("uniform:1", "laplace:2", Some(2)),
];

#[test]
fn witnesses_have_a_negative_form_when_it_is_worked_out_again() {
    for (from, to, points) in NONE {
        let Verdict::No { reason, witness } = verdict(from, to) else { panic!("{from} to {to}") };
        let witness = witness.unwrap_or_else(|| panic!("{from} to {to}: {reason}"));
        if let Some(points) = points {
            assert_eq!(witness.points.len(), points, "{from} to {to}");
        }
        let again: Vec<Vec<f64>> = witness
            .points
            .iter()
            .map(|s| {
                let ratio = |t: &f64| {
                    if (s - t).abs() < 1e-12 {
                        1.0
                    } else {
                        summed(to, s - t) / summed(from, s - t)
                    }
                };
                witness.points.iter().map(ratio).collect()
            })
            .collect();
        let smallest = smallest_by_powers(&again);
        let is_close = (smallest - witness.smallest()).abs() < 1e-4 * (1.0 + smallest.abs());
        assert!(smallest < 0.0 && is_close, "{from} to {to}: {smallest} {}", witness.smallest());
    }
}

#[test]
fn laws_that_do_not_go_together_get_an_answer_too() {
    assert_eq!(
        verdict("planar-laplace:1:2", "planar-laplace:1:3"),
        Verdict::Undecided(Doubt::Dimensions)
    );
    let Verdict::No { reason: NoResidual::Continuous, witness } =
        verdict("gaussian:1", "geometric:0.1")
    else {
        panic!("continuous noise does not become whole")
    };
    assert!(witness.unwrap().is_witness());
    let Verdict::Yes(same) = verdict("msdlap:1:1", "geometric:1") else { panic!("the same law") };
    assert_eq!(same.parts, Some(Vec::new()));
    let probabilities = same.probabilities.unwrap().values;
    assert!(probabilities.len() == 1 && (probabilities[0] - 1.0).abs() < 1e-14);
    // Zeros that the coarser law, tiny there, does not have.
    for from in ["uniform:0.4", "staircase:20"] {
        let found = verdict(from, "gaussian:30");
        let is_zero = matches!(
            found,
            Verdict::No {
                reason: NoResidual::Zero { imaginary: 0.0, .. } | NoResidual::Moment { .. },
                ..
            }
        );
        assert!(is_zero, "{from}: {found:?}");
    }
    // No witness that doubles could show, but no doubt either.
    let Verdict::No { reason: NoResidual::Zero { .. }, witness: None } =
        verdict("discrete-gaussian:40", "discrete-gaussian:50")
    else {
        panic!("discrete Gaussians have no residual")
    };
}

fn family() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["gaussian", "laplace", "geometric", "skellam", "uniform"])
}

/// Any law, from very little noise to very much.
fn any_law() -> impl Strategy<Value = String> {
    let size = || (-3.0f64..3.0).prop_map(|power| 10f64.powf(power));
    let one = |name: &'static str, size: BoxedStrategy<f64>| {
        size.prop_map(move |size| format!("{name}:{size}")).boxed()
    };
    prop_oneof![
        one("gaussian", size().boxed()),
        one("laplace", size().boxed()),
        one("geometric", (0.01f64..10.0).boxed()),
        one("discrete-gaussian", (0.1f64..10.0).boxed()),
        one("skellam", size().boxed()),
        one("uniform", size().boxed()),
        one("staircase", (0.01f64..10.0).boxed()),
        (0.05f64..10.0, 1..5u32).prop_map(|(epsilon, times)| format!("msdlap:{epsilon}:{times}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn closed_families_have_residuals_in_one_order_and_witnesses_in_the_other(
        family in family(), size in 0.05f64..8.0, factor in 1.02f64..6.0,
    ) {
        // A larger rate is less noise.
        let more = if family == "geometric" { size / factor } else { size * factor };
        let more = if family == "uniform" { size * factor.ceil() } else { more };
        let (fine, coarse) = (format!("{family}:{size}"), format!("{family}:{more}"));
        prop_assert!(matches!(verdict(&fine, &coarse), Verdict::Yes(_)), "{fine} to {coarse}");
        let back = verdict(&coarse, &fine);
        let Verdict::No { reason: NoResidual::Variance { .. }, witness: Some(witness) } = back else {
            return Err(TestCaseError::fail(format!("{coarse} to {fine}: {back:?}")));
        };
        prop_assert_eq!(witness.points.len(), 2);
        let [s, t] = witness.points[..] else { unreachable!() };
        let again = law(&fine).characteristic(s - t) / law(&coarse).characteristic(s - t);
        prop_assert!((1.0 - again.abs() - witness.smallest()).abs() < 1e-9 * again.abs());
        prop_assert!(again.abs() > 1.0);
    }

    #[test]
    fn discrete_gaussians_of_other_ratios_never_have_residuals(
        sigma in 0.2f64..20.0, factor in 1.01f64..4.0,
    ) {
        let (fine, coarse) = (sigma, sigma * factor);
        let odd = ((factor * factor - 1.0) / 2.0).round() * 2.0 + 1.0;
        prop_assume!((factor * factor - odd).abs() > 1e-9);
        let found = verdict(&format!("discrete-gaussian:{fine}"), &format!("discrete-gaussian:{coarse}"));
        let is_zero = matches!(found, Verdict::No { reason: NoResidual::Zero { .. }, .. });
        prop_assert!(is_zero, "{fine} to {coarse}: {found:?}");
    }

    /// The search finds a matrix where doubles can show one.
    #[test]
    fn narrow_discrete_gaussians_have_witnesses(sigma in 0.35f64..1.0, factor in 1.05f64..1.4) {
        let found = verdict(
            &format!("discrete-gaussian:{sigma}"),
            &format!("discrete-gaussian:{}", sigma * factor),
        );
        let is = matches!(&found, Verdict::No { witness: Some(witness), .. } if witness.is_witness());
        prop_assert!(is, "{sigma} {factor}: {found:?}");
    }

    /// Whatever the laws: a witness shows it, a no without one has a reason, and where the answer
    /// is yes no matrix at points of any kind has a negative eigenvalue.
    #[test]
    fn no_matrix_speaks_against_a_residual(
        from in any_law(), to in any_law(), points in prop::collection::vec(-20.0f64..20.0, 2..7),
    ) {
        let (from, to) = (law(&from), law(&to));
        let matrix = BochnerMatrix::new(&from, &to, &points);
        match residual(from, to) {
            Verdict::Yes(_) => prop_assert!(!matrix.is_witness(), "{from} to {to}: {matrix:?}"),
            Verdict::No { witness: Some(witness), .. } => prop_assert!(witness.is_witness()),
            Verdict::No { reason, .. } => prop_assert!(reason != NoResidual::Indefinite),
            Verdict::Undecided(doubt) => {
                let is_mixed = !(from.is_on_integers() && to.is_on_integers());
                prop_assert!(is_mixed || doubt != Doubt::NotFound, "{from} to {to}");
            }
        }
    }
}
