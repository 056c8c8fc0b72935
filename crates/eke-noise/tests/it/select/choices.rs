//! Choosing by score, and choosing some of many.

use std::collections::BTreeMap;

use eke_noise::Ratio;
use eke_noise::law::Noise;
use eke_noise::select::{
    NoisyScore, choose_exponentially, noisy_max, permute_and_flip, uniform_subset,
};
use eke_testkit::{Fit, Seeded};

const SCORES: [i64; 4] = [3, 5, 5, 0];

/// Probabilities proportional to `exp(rate · score)`.
fn exponential(rate: f64) -> BTreeMap<usize, f64> {
    let weights: Vec<f64> = SCORES.iter().map(|&score| (rate * score as f64).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).enumerate().collect()
}

/// Permute and flip's law, by going through all orders.
fn flipped(rate: f64) -> BTreeMap<usize, f64> {
    fn walk(left: &[usize], reached: f64, rate: f64, law: &mut BTreeMap<usize, f64>) {
        for &item in left {
            let seen = reached / left.len() as f64;
            let heads = (-rate * (5 - SCORES[item]) as f64).exp();
            *law.entry(item).or_default() += seen * heads;
            let rest: Vec<usize> = left.iter().copied().filter(|&other| other != item).collect();
            walk(&rest, seen * (1.0 - heads), rate, law);
        }
    }
    let mut law = BTreeMap::new();
    walk(&[0, 1, 2, 3], 1.0, rate, &mut law);
    law
}

#[test]
fn the_exponential_mechanism_has_its_law() {
    let mut entropy = Seeded::new(11);
    let rate = Ratio::new(1, 2).unwrap();
    let draws: Vec<usize> =
        (0..400_000).map(|_| choose_exponentially(&SCORES, &rate, &mut entropy).unwrap()).collect();
    let fit = |law| Fit::of(draws.iter().copied(), &law);
    fit(exponential(0.5)).assert(&fit(exponential(0.525)), "exponential");
    assert!(fit(flipped(0.5)).is_rejected(), "the two mechanisms are told apart");
    assert_eq!(choose_exponentially(&[], &rate, &mut entropy), None);
}

/// Of twenty thousand candidates, by how far behind the best they are, in classes.
#[test]
fn one_of_many_has_its_law() {
    let scores: Vec<i64> = (0..20_000i64).map(|item| -(item * 7919 % 20_011)).collect();
    let rate = Ratio::new(1, 700).unwrap();
    let mut entropy = Seeded::new(15);
    let class = |score: i64| -score / 250;
    let draws: Vec<i64> = (0..3000)
        .map(|_| class(scores[choose_exponentially(&scores, &rate, &mut entropy).unwrap()]))
        .collect();
    let law = |rate: f64| -> BTreeMap<i64, f64> {
        let total: f64 = scores.iter().map(|&score| (rate * score as f64).exp()).sum();
        let mut law = BTreeMap::new();
        for &score in &scores {
            *law.entry(class(score)).or_default() += (rate * score as f64).exp() / total;
        }
        law
    };
    let fit = |rate| Fit::of(draws.iter().copied(), &law(rate));
    fit(1.0 / 700.0).assert(&fit(1.3 / 700.0), "one of many");
}

#[test]
fn permute_and_flip_has_its_law() {
    let mut entropy = Seeded::new(12);
    let rate = Ratio::new(1, 2).unwrap();
    let draws: Vec<usize> =
        (0..400_000).map(|_| permute_and_flip(&SCORES, &rate, &mut entropy).unwrap()).collect();
    let fit = |law| Fit::of(draws.iter().copied(), &law);
    fit(flipped(0.5)).assert(&fit(flipped(0.525)), "permute and flip");
    assert_eq!(permute_and_flip(&[], &rate, &mut entropy), None);
}

/// Of three hundred candidates, one of those with heads is taken, all of them equally likely:
/// `w ∫ prod (1 - w_j + w_j t) dt` over the others. Seeds 16 and 17, 20,000 draws, in classes; the
/// control has a rate 20 % off.
#[test]
fn permute_and_flip_among_many_has_its_law() {
    let scores: Vec<i64> = (0..300i64).map(|item| -(item * 101 % 307)).collect();
    // Few heads, so that most are seen, and many.
    for (seed, scale) in [(16, 5u32), (17, 60)] {
        let mut entropy = Seeded::new(seed);
        let rate = Ratio::new(1, scale.into()).unwrap();
        let class = |item: usize| -scores[item] / 8;
        let draws: Vec<i64> = (0..20_000)
            .map(|_| class(permute_and_flip(&scores, &rate, &mut entropy).unwrap()))
            .collect();
        let law = |rate: f64| -> BTreeMap<i64, f64> {
            let best = *scores.iter().max().unwrap();
            let weights: Vec<f64> =
                scores.iter().map(|&score| (rate * (score - best) as f64).exp()).collect();
            let mut law = BTreeMap::new();
            // The midpoint rule, finer where all but few are tails.
            let parts = 4000;
            for part in 0..parts {
                let root = (f64::from(part) + 0.5) / f64::from(parts);
                let (t, width) = (1.0 - root * root, 2.0 * root / f64::from(parts));
                let all: f64 = weights.iter().map(|w| 1.0 - w + w * t).product();
                for (item, w) in weights.iter().enumerate() {
                    *law.entry(class(item)).or_default() += width * all * w / (1.0 - w + w * t);
                }
            }
            law
        };
        let right = law(1.0 / f64::from(scale));
        assert!((right.values().sum::<f64>() - 1.0).abs() < 1e-4);
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(right).assert(&fit(law(1.2 / f64::from(scale))), "permute and flip among many");
    }
}

#[test]
fn scores_at_the_ends_of_the_range_do_not_overflow() {
    let mut entropy = Seeded::new(13);
    let rate = Ratio::new(1, 1).unwrap();
    let scores = [i64::MIN, i64::MAX, -1];
    for _ in 0..100 {
        assert_eq!(choose_exponentially(&scores, &rate, &mut entropy), Some(1));
        assert_eq!(permute_and_flip(&scores, &rate, &mut entropy), Some(1));
    }
}

#[test]
fn every_subset_is_equally_likely() {
    let mut entropy = Seeded::new(14);
    let subsets: Vec<Vec<usize>> = (0..200_000)
        .map(|_| {
            let mut subset = uniform_subset(5, 2, &mut entropy);
            subset.sort_unstable();
            subset
        })
        .collect();
    let law = |first: f64| {
        let mut law = BTreeMap::new();
        for low in 0..5 {
            for high in low + 1..5 {
                law.insert(
                    vec![low, high],
                    if law.is_empty() { first } else { (1.0 - first) / 9.0 },
                );
            }
        }
        law
    };
    let fit = |law| Fit::of(subsets.iter().cloned(), &law);
    fit(law(0.1)).assert(&fit(law(0.11)), "subsets");

    // Three of four, in order: twenty-four orders, all equally likely.
    let orders: Vec<Vec<usize>> =
        (0..200_000).map(|_| uniform_subset(4, 3, &mut entropy)).collect();
    let all_orders = |first: f64| {
        let mut law: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for code in 0..64 {
            let order = vec![code / 16, code / 4 % 4, code % 4];
            if order[0] != order[1] && order[1] != order[2] && order[0] != order[2] {
                law.insert(order, (1.0 - first) / 23.0);
            }
        }
        *law.values_mut().next().unwrap() = first;
        law
    };
    let fit = |first| Fit::of(orders.iter().cloned(), &all_orders(first));
    fit(1.0 / 24.0).assert(&fit(1.2 / 24.0), "orders");

    let mut all = uniform_subset(4, 9, &mut entropy);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    assert_eq!(uniform_subset(0, 3, &mut entropy), Vec::<usize>::new());
    assert_eq!(uniform_subset(1_000_000_000_000, 3, &mut entropy).len(), 3);
}

/// The difference of two is normal with the deviations' squares added, so the larger score wins
/// with probability Phi of the gap in those units, which is in every table.
#[test]
fn noisy_comparisons_have_the_law_of_normal_numbers() {
    let coin = |heads: f64| BTreeMap::from([(true, heads), (false, 1.0 - heads)]);
    // Deviations of 3 and 4, and of 6 and 5/2, are 5 and 13/2 together.
    for (seed, (gap, deviations, heads)) in (21..).zip([
        (3, [(3, 1), (4, 1)], 0.725_746_882_249_926_4), // 3/5 deviations
        (5, [(3, 1), (4, 1)], 0.841_344_746_068_542_9), // 1
        (13, [(12, 2), (5, 2)], 0.977_249_868_051_820_8), // 2
    ]) {
        let mut entropy = Seeded::new(seed);
        let [first, second] = deviations.map(|(n, d)| Noise::gaussian(Ratio::new(n, d).unwrap()));
        let wins: Vec<bool> = (0..200_000)
            .map(|_| {
                let mut high = NoisyScore::new(gap, &first, &mut entropy);
                let mut low = NoisyScore::new(0, &second, &mut entropy);
                high.compare(&mut low, &mut entropy).is_gt()
            })
            .collect();
        let fit = |heads| Fit::of(wins.iter().copied(), &coin(heads));
        let off = heads + (1.0 - heads) * 0.2;
        fit(heads).assert(&fit(off), &format!("a gap of {gap}"));
    }
}

/// The difference of two Laplace numbers of scales a and b exceeds g with probability
/// `(a² exp(-g/a) - b² exp(-g/b))/(2 (a² - b²))`.
#[test]
fn noisy_comparisons_have_the_law_of_laplace_numbers() {
    let coin = |heads: f64| BTreeMap::from([(true, heads), (false, 1.0 - heads)]);
    for (seed, (gap, a, b)) in (41..).zip([(0, 3.0, 1.0), (2, 3.0, 1.0), (7, 2.5, 4.0)]) {
        let mut entropy = Seeded::new(seed);
        let [first, second] = [a, b].map(|scale| Noise::laplace(Ratio::from_f64(scale).unwrap()));
        let wins: Vec<bool> = (0..200_000)
            .map(|_| {
                let mut high = NoisyScore::new(gap, &first, &mut entropy);
                let mut low = NoisyScore::new(0, &second, &mut entropy);
                high.compare(&mut low, &mut entropy).is_gt()
            })
            .collect();
        let tail = |scale: f64| scale * scale * (-gap as f64 / scale).exp();
        let heads = 1.0 - (tail(a) - tail(b)) / (2.0 * (a * a - b * b));
        let fit = |heads| Fit::of(wins.iter().copied(), &coin(heads));
        let off = heads + (1.0 - heads) * 0.1;
        fit(heads).assert(&fit(off), &format!("a gap of {gap}"));
    }
}

/// Against whole numbers, a Laplace number has the law of its whole part and sign, which is known.
#[test]
fn laplace_numbers_fall_between_integers_as_often_as_they_should() {
    let mut entropy = Seeded::new(44);
    let noise = Noise::laplace(Ratio::new(2, 1).unwrap());
    let draws: Vec<i64> = (0..200_000)
        .map(|_| {
            let mut noisy = NoisyScore::new(0, &noise, &mut entropy);
            let (mut low, mut high) = (-200i64, 200i64);
            while high - low > 1 {
                let middle = i64::midpoint(low, high);
                if noisy.is_at_least(middle, &mut entropy) { low = middle } else { high = middle }
            }
            low
        })
        .collect();
    let law = |scale: f64| -> BTreeMap<i64, f64> {
        let below = |x: f64| {
            if x < 0.0 { (x / scale).exp() / 2.0 } else { 1.0 - (-x / scale).exp() / 2.0 }
        };
        (-60..60).map(|k| (k, below(k as f64 + 1.0) - below(k as f64))).collect()
    };
    let fit = |scale| Fit::of(draws.iter().copied(), &law(scale));
    fit(2.0).assert(&fit(2.1), "Laplace between integers");
}

/// Against two rivals a score that is ahead wins as often as integrating says, by the trapezoid
/// rule on the density and distribution of the noise.
#[test]
fn the_noisy_maximum_has_its_law() {
    type Law = (fn(f64) -> f64, fn(f64) -> f64);
    let normal: Law = (
        |z| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt(),
        |z| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2),
    );
    let laplace: Law = (
        |z: f64| (-z.abs()).exp() / 2.0,
        |z| if z < 0.0 { z.exp() / 2.0 } else { 1.0 - (-z).exp() / 2.0 },
    );
    let two = Ratio::new(2, 1).unwrap();
    for (seed, noise, (density, below)) in
        [(31, Noise::gaussian(two.clone()), normal), (32, Noise::laplace(two), laplace)]
    {
        let mut entropy = Seeded::new(seed);
        let draws: Vec<usize> =
            (0..200_000).map(|_| noisy_max(&[3, 0, 0], &noise, &mut entropy).unwrap()).collect();
        // E[F(z + gap)²], gap 3/2.
        let winning = |gap: f64| -> f64 {
            let at = |z: f64| density(z) * below(z + gap).powi(2);
            (-40_000..40_000).map(|step| at((f64::from(step) + 0.5) / 1000.0)).sum::<f64>() / 1000.0
        };
        let law = |gap: f64| {
            let first = winning(gap);
            BTreeMap::from([(0, first), (1, (1.0 - first) / 2.0), (2, (1.0 - first) / 2.0)])
        };
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        fit(law(1.5)).assert(&fit(law(1.575)), "noisy max");
        assert_eq!(noisy_max(&[], &noise, &mut entropy), None);
    }
}
