//! Several draws for one receipt.

use std::collections::BTreeMap;
use std::fmt::Debug;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, L1, L2, Metric, NoHistory, Price, Rho,
};
use eke_noise::Exact;
use eke_noise::evidence::{Norms, Scores};
use eke_noise::path::MismatchReason;
use eke_noise::select::{Allotment, DrawPrice, Moves, Prepaid, PrepaidError};
use eke_testkit::{Fit, Nothing, Seeded};

fn account() -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(1e7).unwrap()).with_pure(Epsilon::new(1e7).unwrap());
    let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn prepaid<C: DrawPrice + Debug>(account: &mut Account, price: Amount<C>) -> Prepaid<C> {
    let approved = account.approve(Allotment { price }).unwrap();
    Prepaid::open(account.commit(approved, &mut NoHistory).unwrap())
}

fn amount<C: Price>(text: &str) -> Amount<C> {
    Amount::parse_up(text).unwrap()
}

fn scores(scores: &[i64]) -> Exact<Scores> {
    Exact::new(Scores(scores.to_vec()), L1::new(1.0).unwrap())
}

fn point(sensitivity: f64, coordinates: &[i64]) -> Exact<Vec<i64>> {
    let bound = Norms::l2(L2::new(sensitivity).unwrap(), coordinates.len()).unwrap();
    Exact::new(coordinates.to_vec(), bound)
}

#[test]
fn a_fund_is_never_spent_twice() {
    let (mut account, mut entropy) = (account(), Seeded::new(41));
    let mut money = prepaid::<Rho>(&mut account, amount("0.5"));
    money.release(&point(3.0, &[5, 6]), amount("0.1"), &mut entropy).unwrap();
    money.pick(&scores(&[1, 2, 3]), Moves::EitherWay, 2, amount("0.1"), &mut entropy).unwrap();
    money.search(&scores(&[1, 2, 3]), 0, 1, amount("0.1"), &mut entropy).unwrap();
    assert_eq!(money.left(), amount("0.1"));
    // What does not fit takes nothing, and draws nothing.
    let more = amount("0.05000000000000000000000000001");
    let overdrawn = |error| assert!(matches!(error, PrepaidError::Overdrawn { .. }), "{error}");
    overdrawn(money.pick(&scores(&[1, 2]), Moves::OneWay, 2, more, &mut Nothing).unwrap_err());
    overdrawn(money.search(&scores(&[1, 2]), 0, 2, more, &mut Nothing).unwrap_err());
    let dear = amount("0.10000000000000000000000000001");
    overdrawn(money.release(&point(3.0, &[5, 6]), dear, &mut Nothing).unwrap_err());
    overdrawn(money.pick(&scores(&[1]), Moves::OneWay, u32::MAX, dear, &mut Nothing).unwrap_err());
    // Nor is anything had for nothing.
    let nothing = Amount::ZERO;
    let free = money.pick(&scores(&[1]), Moves::OneWay, 1, nothing, &mut Nothing).unwrap_err();
    assert_eq!(free, PrepaidError::Price);
    assert!(money.release(&point(3.0, &[5]), nothing, &mut Nothing).is_err());
    assert!(money.search(&scores(&[1]), 0, 1, nothing, &mut Nothing).is_err());
    assert_eq!(money.left(), amount("0.1"));
    money.release(&point(3.0, &[5, 6]), amount("0.1"), &mut entropy).unwrap();
    assert!(money.left().is_zero());

    let mut pure = prepaid::<Epsilon>(&mut account, amount("1"));
    let many = pure.release(&point(1.0, &[0; 4]), amount("0.5"), &mut Nothing).unwrap_err();
    assert_eq!(many, PrepaidError::Reason(MismatchReason::NotAPoint));
    let wide = pure.release(&point(1e20, &[0]), amount("0.5"), &mut Nothing).unwrap_err();
    assert!(wide.to_string().starts_with("the noise is too wide"), "{wide}");
    assert_eq!(pure.left(), amount("1"));
}

/// Seeds 42 and 43, 40,000 draws each; controls have noise 5 % off.
#[test]
fn points_of_a_fund_have_their_noise() {
    const DRAWS: u32 = 40_000;
    let mut account = account();
    // Rho 1/2 at a sensitivity of 3: variance 9. In one coordinate of two, and of twenty.
    for coordinates in [2, 20] {
        let mut entropy = Seeded::new(42);
        let mut money = prepaid::<Rho>(&mut account, amount("100000"));
        let truth = point(3.0, &vec![7; coordinates]);
        let draws: Vec<i64> = (0..DRAWS)
            .map(|_| money.release(&truth, amount("0.5"), &mut entropy).unwrap().get()[1] - 7)
            .collect();
        let law = |variance: f64| -> BTreeMap<i64, f64> {
            let weight = |at: i64| (-(at * at) as f64 / 2.0 / variance).exp();
            let total: f64 = (-60..=60).map(weight).sum();
            (-60..=60).map(|at| (at, weight(at) / total)).collect()
        };
        let fit = |variance| Fit::of(draws.iter().copied(), &law(variance));
        fit(9.0).assert(&fit(9.0 * 1.1), "Gaussian noise of a prepaid");
    }
    // Epsilon 1/2 at a sensitivity of 2: rate 1/4, by length.
    let mut entropy = Seeded::new(43);
    let mut money = prepaid::<Epsilon>(&mut account, amount("100000"));
    let truth = point(2.0, &[7, -3]);
    let square = |at: &[i64]| (at[0] - 7).pow(2) + (at[1] + 3).pow(2);
    let draws: Vec<i64> = (0..DRAWS)
        .map(|_| square(&money.release(&truth, amount("0.5"), &mut entropy).unwrap().get()))
        .collect();
    let law = |rate: f64| {
        let mut law: BTreeMap<i64, f64> = BTreeMap::new();
        for (x, y) in (-90..=90i64).flat_map(|x| (-90..=90i64).map(move |y| (x, y))) {
            let square = x * x + y * y;
            *law.entry(square).or_default() += (-rate * (square as f64).sqrt()).exp();
        }
        let total: f64 = law.values().sum();
        law.values_mut().for_each(|weight| *weight /= total);
        law
    };
    let fit = |rate| Fit::of(draws.iter().copied(), &law(rate));
    fit(0.25).assert(&fit(0.2625), "planar noise of a prepaid");
}

/// Seed 44, 100,000 draws; the control has a rate 8 % off.
#[test]
fn picks_of_a_fund_have_the_law_of_a_ranking() {
    let mut entropy = Seeded::new(44);
    let values = [3, 5, 5, 0];
    let mut account = account();
    let mut money = prepaid::<Rho>(&mut account, amount("100000"));
    // At a spread of two, rho 1/8 is a rate of 1/2.
    let draws: Vec<Vec<u32>> = (0..100_000)
        .map(|_| {
            let picked =
                money.pick(&scores(&values), Moves::EitherWay, 2, amount("0.125"), &mut entropy);
            picked.unwrap().get()
        })
        .collect();
    let law = |rate: f64| {
        let weight = |item: u32| (rate * values[item as usize] as f64).exp();
        let total: f64 = (0..4).map(weight).sum();
        let mut law = BTreeMap::new();
        for first in 0..4 {
            for second in (0..4).filter(|&second| second != first) {
                let both = weight(first) / total * weight(second) / (total - weight(first));
                law.insert(vec![first, second], both);
            }
        }
        law
    };
    let fit = |rate| Fit::of(draws.iter().cloned(), &law(rate));
    fit(0.5).assert(&fit(0.54), "picks of a prepaid");
    let all = money.pick(&scores(&values), Moves::OneWay, 9, amount("1"), &mut entropy).unwrap();
    assert_eq!(all.get().len(), 4, "no more than there are");
}

/// The law of a search among two, by integrating over the noise of the line.
fn searched(epsilon: f64, values: [f64; 2], margin: f64) -> [f64; 2] {
    let scale = 3.0 / epsilon;
    let above = |x: f64, scale: f64| {
        if x < 0.0 { 1.0 - (x / scale).exp() / 2.0 } else { (-x / scale).exp() / 2.0 }
    };
    let best = values[0].max(values[1]) - margin;
    let ratio = (-1.0 / scale).exp();
    let mut law = [0.0; 2];
    for laid in -400..=400 {
        let of_line = (1.0 - ratio) / (1.0 + ratio) * ratio.powi(i32::abs(laid));
        // The midpoint rule on the density of the line's second noise, in two halves.
        let step = 0.02;
        for part in 0..8000 {
            let size = (f64::from(part) + 0.5) * step;
            for noise in [size, -size] {
                let weight = of_line * (-size / scale).exp() / (2.0 * scale) * step;
                let at = best + f64::from(laid) + noise;
                let [one, two] = values.map(|value| above(at - value, 2.0 * scale));
                let ends = one + two - one * two;
                law[0] += weight * one / ends;
                law[1] += weight * (1.0 - one) * two / ends;
            }
        }
    }
    law
}

/// Seed 45, 200,000 searches; the control has noise 25 % off.
#[test]
fn searches_have_their_law() {
    let mut entropy = Seeded::new(45);
    let mut account = account();
    let mut money = prepaid::<Rho>(&mut account, amount("1000000"));
    // An epsilon of 3/2 is `18 rho/5 = 9/4`: rho is 5/8.
    let price = amount("0.625");
    for margin in [0, 4] {
        let draws: Vec<u32> = (0..100_000)
            .map(|_| {
                let found = money.search(&scores(&[0, 5]), margin, 1, price, &mut entropy);
                found.unwrap().get()[0]
            })
            .collect();
        let law = |epsilon: f64| {
            let [one, two] = searched(epsilon, [0.0, 5.0], margin as f64);
            BTreeMap::from([(0, one), (1, two)])
        };
        let total: f64 = law(1.5).values().sum();
        assert!((total - 1.0).abs() < 1e-4, "{total}");
        let fit = |epsilon| Fit::of(draws.iter().copied(), &law(epsilon));
        fit(1.5).assert(&fit(1.2), "a search");
    }
}

#[test]
fn a_search_among_few_ends_with_each_of_them() {
    let (mut account, mut entropy) = (account(), Seeded::new(46));
    let mut money = prepaid::<Epsilon>(&mut account, amount("100000"));
    let mut found =
        money.search(&scores(&[4, 9, 1]), 0, 7, amount("100"), &mut entropy).unwrap().get();
    assert_eq!(found, [1, 0, 2], "with much to spend, in their order");
    found = money.search(&scores(&[4, 9, 1]), 0, 3, amount("0.01"), &mut entropy).unwrap().get();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2]);
    assert!(money.search(&scores(&[]), 0, 2, amount("1"), &mut entropy).unwrap().get().is_empty());
}
