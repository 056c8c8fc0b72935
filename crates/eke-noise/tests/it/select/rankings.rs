//! Rankings: exponential choices one after the other, for receipts.

use std::collections::BTreeMap;

use eke_budget::{
    Account, Adjacency, BudgetSpec, Epsilon, L1, Metric, NoHistory, PathId, Raise, Receipt, Rho,
};
use eke_noise::evidence::Scores;
use eke_noise::path::MismatchReason;
use eke_noise::select::Moves;
use eke_noise::{Exact, Ranking};
use eke_testkit::{Fit, Nothing, Seeded};

const SCORES: [i64; 4] = [3, 5, 5, 0];

/// The law of the first two picks: exponential choices, one after the other.
fn ranked(rate: f64) -> BTreeMap<Vec<u32>, f64> {
    let weight = |item: u32| (rate * SCORES[item as usize] as f64).exp();
    let total: f64 = (0..4).map(weight).sum();
    let mut law = BTreeMap::new();
    for first in 0..4 {
        for second in (0..4).filter(|&second| second != first) {
            let left = total - weight(first);
            law.insert(vec![first, second], weight(first) / total * weight(second) / left);
        }
    }
    law
}

fn account(name: &str) -> Account {
    let budget = BudgetSpec::zcdp(Rho::new(1000.0).unwrap());
    let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
    Account::open(name, budget, &mut NoHistory).unwrap()
}

/// Price `rate² spread²/8` at rate 1/2 and a spread of one step: 1/32.
const EACH: &str = "0.03125";

fn ranking(id: u8, moves: Moves) -> Ranking {
    let sensitivity = L1::new(1.0).unwrap();
    Ranking::open(PathId::new([id; 32]), 4, &sensitivity, moves, EACH.parse().unwrap()).unwrap()
}

fn pay(account: &mut Account, ranking: &Ranking, to: &str) -> Receipt<Raise<Rho>> {
    let approved = account.raise(ranking.id(), to.parse().unwrap(), ranking.spread()).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

#[test]
fn a_ranking_has_its_law() {
    let mut entropy = Seeded::new(17);
    let scores = Exact::new(Scores(SCORES.to_vec()), L1::new(1.0).unwrap());
    for moves in [Moves::OneWay, Moves::EitherWay] {
        let mut draws = Vec::new();
        for round in 0..100_000u32 {
            // Both at once, or one after the other and stored in between.
            let (mut account, mut ranking) = (account("riders"), ranking(1, moves));
            let picks = if round % 2 == 0 { &["0.0625"][..] } else { &[EACH, "0.0625"] };
            for to in picks {
                let receipt = pay(&mut account, &ranking, to);
                ranking.pick(&scores, receipt, &mut entropy).unwrap();
                let stored = serde_json::to_string(&ranking).unwrap();
                ranking = serde_json::from_str(&stored).unwrap();
            }
            draws.push(ranking.picked().to_vec());
        }
        // Scores that move either way have half the rate.
        let rate = 0.5 / f64::from(moves.spread());
        let fit = |law| Fit::of(draws.iter().cloned(), &law);
        fit(ranked(rate)).assert(&fit(ranked(rate * 1.08)), "ranking");
    }
}

/// Permute and flip's law among some candidates, by going through all orders.
fn flipped(rate: f64, left: &[u32], reached: f64, best: i64, law: &mut BTreeMap<u32, f64>) {
    for &item in left {
        let seen = reached / left.len() as f64;
        let heads = (-rate * (best - SCORES[item as usize]) as f64).exp();
        *law.entry(item).or_default() += seen * heads;
        let rest: Vec<u32> = left.iter().copied().filter(|&other| other != item).collect();
        flipped(rate, &rest, seen * (1.0 - heads), best, law);
    }
}

/// The law of the first two picks by permute and flip, the best being that of those that are left.
fn flipped_twice(rate: f64) -> BTreeMap<Vec<u32>, f64> {
    let among = |left: &[u32]| {
        let best = left.iter().map(|&item| SCORES[item as usize]).max().unwrap();
        let mut law = BTreeMap::new();
        flipped(rate, left, 1.0, best, &mut law);
        law
    };
    let mut law = BTreeMap::new();
    for (first, of_first) in among(&[0, 1, 2, 3]) {
        let left: Vec<u32> = (0..4).filter(|&item| item != first).collect();
        for (second, of_second) in among(&left) {
            law.insert(vec![first, second], of_first * of_second);
        }
    }
    law
}

#[test]
fn a_pure_ranking_has_its_law() {
    let mut entropy = Seeded::new(19);
    let sensitivity = L1::new(1.0).unwrap();
    let scores = Exact::new(Scores(SCORES.to_vec()), sensitivity);
    let budget = BudgetSpec::promising(Epsilon::new(1e6).unwrap());
    let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
    for moves in [Moves::OneWay, Moves::EitherWay] {
        let mut draws = Vec::new();
        for round in 0..100_000u32 {
            let mut account = Account::open("riders", budget.clone(), &mut NoHistory).unwrap();
            let each = "0.5".parse().unwrap();
            let id = PathId::new([1; 32]);
            let mut ranking = Ranking::<Epsilon>::open(id, 4, &sensitivity, moves, each).unwrap();
            let picks = if round % 2 == 0 { &["1"][..] } else { &["0.5", "1"] };
            for to in picks {
                let approved = account.raise(id, to.parse().unwrap(), ranking.spread()).unwrap();
                let receipt = account.commit(approved, &mut NoHistory).unwrap();
                ranking.pick(&scores, receipt, &mut entropy).unwrap();
                let stored = serde_json::to_string(&ranking).unwrap();
                ranking = serde_json::from_str(&stored).unwrap();
            }
            draws.push(ranking.picked().to_vec());
        }
        let rate = 0.5 / f64::from(moves.spread());
        let fit = |law| Fit::of(draws.iter().cloned(), &law);
        fit(flipped_twice(rate)).assert(&fit(flipped_twice(rate * 1.08)), "a pure ranking");
        assert!(fit(ranked(rate)).is_rejected(), "the two kinds are told apart");
    }
}

#[test]
fn a_ranking_takes_no_receipt_but_its_own() {
    let mut entropy = Seeded::new(18);
    let scores =
        |sensitivity: f64| Exact::new(Scores(SCORES.to_vec()), L1::new(sensitivity).unwrap());
    let (mut account, mut stranger) = (account("riders"), account("others"));
    let mut mine = ranking(1, Moves::OneWay);
    let other = ranking(2, Moves::OneWay);
    let reason = |ranking: &mut Ranking, scores: &Exact<Scores>, receipt| {
        ranking.pick(scores, receipt, &mut Nothing).unwrap_err().reason
    };
    let receipt = pay(&mut account, &other, EACH);
    assert_eq!(reason(&mut mine, &scores(1.0), receipt), MismatchReason::OtherPath);
    // Half a pick, and a truth that one unit changes by more.
    let receipt = pay(&mut account, &mine, "0.015625");
    assert_eq!(reason(&mut mine, &scores(1.0), receipt), MismatchReason::OtherStep);
    let receipt = pay(&mut account, &mine, "0.046875");
    assert_eq!(reason(&mut mine, &scores(2.0), receipt), MismatchReason::OtherSensitivity);
    // That one is lost, and what comes after it is taken.
    let receipt = pay(&mut account, &mine, "0.078125");
    assert_eq!(mine.pick(&scores(1.0), receipt, &mut entropy).unwrap().get().len(), 1);
    // More than there are.
    let receipt = pay(&mut account, &mine, "0.203125");
    assert_eq!(reason(&mut mine, &scores(1.0), receipt), MismatchReason::OtherStep);
    let receipt = pay(&mut account, &mine, "0.296875");
    mine.pick(&scores(1.0), receipt, &mut entropy).unwrap();
    assert_eq!(mine.left(), 0);
    let mut all = mine.picked().to_vec();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    // Another account that has paid as much.
    let mut theirs = ranking(3, Moves::OneWay);
    let receipt = pay(&mut account, &theirs, EACH);
    theirs.pick(&scores(1.0), receipt, &mut entropy).unwrap();
    let receipt = pay(&mut stranger, &theirs, "0.0625");
    assert_eq!(reason(&mut theirs, &scores(1.0), receipt), MismatchReason::OtherAccount);
}

#[test]
fn a_damaged_ranking_is_not_read() {
    let stored = serde_json::to_value(ranking(1, Moves::OneWay)).unwrap();
    for (field, value) in [
        ("picked", serde_json::json!([1, 1])),
        ("picked", serde_json::json!([4])),
        ("each", serde_json::json!("0")),
    ] {
        let mut damaged = stored.clone();
        damaged[field] = value;
        assert!(serde_json::from_value::<Ranking>(damaged).is_err(), "{field}");
    }
}
