//! Coins and fair draws.

use std::collections::BTreeMap;

use eke_noise::Ratio;
use eke_noise::sampler::{bernoulli, bernoulli_exp_neg, uniform_below};
use eke_testkit::{Fit, Seeded, Tape};

fn coin(heads: f64) -> BTreeMap<bool, f64> {
    BTreeMap::from([(true, heads), (false, 1.0 - heads)])
}

#[test]
fn coins_of_exponential_probability_have_it() {
    for (seed, (numerator, denominator)) in (1..).zip([(1, 100), (1, 3), (1, 1), (5, 2), (6, 1)]) {
        let mut entropy = Seeded::new(seed);
        let x = Ratio::new(numerator, denominator).unwrap();
        let heads = (-(numerator as f64) / denominator as f64).exp();
        let flips: Vec<bool> = (0..400_000).map(|_| bernoulli_exp_neg(&x, &mut entropy)).collect();
        // The control is off by a third of the rarer side.
        let off = heads - heads.min(1.0 - heads) * 0.33;
        let fit = |heads| Fit::of(flips.iter().copied(), &coin(heads));
        fit(heads).assert(&fit(off), &format!("exp(-{numerator}/{denominator})"));
    }
}

/// The bits of exp(-1), from its decimals: 0x5E2D58D8B3BCDF1A BADEC7829054F90D ...
#[test]
fn a_coin_that_64_bits_do_not_decide_takes_more() {
    let one = Ratio::new(1, 1).unwrap();
    let first = 0x5E2D_58D8_B3BC_DF1A;
    let second = 0xBADE_C782_9054_F90D;
    for (words, heads, drawn) in [
        // Far from the edge one word does.
        (vec![first - (1 << 20)], true, 1),
        (vec![first + (1 << 20)], false, 1),
        // On it, the next one decides, and on its edge the ones after that.
        (vec![first, second - 1], true, 2),
        (vec![first, second + 1], false, 2),
        (vec![first, second, 0, 0], true, 4),
        (vec![first, second, u64::MAX, u64::MAX], false, 4),
    ] {
        let mut tape = Tape::new(&words).then(0);
        assert_eq!(bernoulli_exp_neg(&one, &mut tape), heads, "{words:x?}");
        assert_eq!(tape.used(), drawn, "{words:x?}");
    }
}

#[test]
fn fair_draws_are_fair() {
    for bound in [2u64, 3, 7, 10] {
        let mut entropy = Seeded::new(bound);
        let draws: Vec<u64> = (0..200_000).map(|_| uniform_below(bound, &mut entropy)).collect();
        let law = |weight: fn(u64) -> f64| {
            let total: f64 = (0..bound).map(weight).sum();
            (0..bound).map(|k| (k, weight(k) / total)).collect::<BTreeMap<_, _>>()
        };
        let fit = |law| Fit::of(draws.iter().copied(), &law);
        let skewed = |k: u64| if k == 0 { 1.1 } else { 1.0 };
        fit(law(|_| 1.0)).assert(&fit(law(skewed)), &format!("below {bound}"));
    }
}

/// Every word but those left over is used, and each outcome has equally many.
#[test]
fn left_over_words_are_drawn_again() {
    for bound in [3u64, 6, 10, u64::MAX, (1 << 63) + 1] {
        let left_over = u64::try_from((1u128 << 64) % u128::from(bound)).unwrap();
        let mut tape = [left_over - 1, left_over];
        if left_over == 0 {
            continue;
        }
        let mut words = Tape::new(tape);
        assert_eq!(uniform_below(bound, &mut words), left_over % bound);
        assert_eq!(words.used(), 2);
        tape[0] = u64::MAX;
        let mut words = Tape::new(tape);
        assert_eq!(uniform_below(bound, &mut words), u64::MAX % bound);
        assert_eq!(words.used(), 1);
    }
    assert_eq!(uniform_below(0, &mut Tape::new([5])), 0);
    assert_eq!(uniform_below(1, &mut Tape::new([5])), 0);
    assert_eq!(uniform_below(1 << 10, &mut Tape::new([5])), 5);
}

#[test]
fn rational_coins_are_exact() {
    for word in 0..12 {
        assert_eq!(bernoulli(1, 4, &mut Tape::new([word])), word % 4 < 1);
    }
    let mut entropy = Seeded::new(1);
    assert!((0..100).all(|_| bernoulli(3, 3, &mut entropy)));
    assert!((0..100).all(|_| !bernoulli(0, 3, &mut entropy)));
}
