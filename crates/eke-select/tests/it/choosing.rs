//! Choices by score, bought and drawn.

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Epsilon, L1, Metric, NoHistory, Purchase,
    Receipt, Rho,
};
use eke_noise::evidence::Scores;
use eke_noise::select::{ChoiceLaw, ChoiceRule};
use eke_noise::{Exact, choose};
use eke_select::{Change, Choice, MaxNoise, NoisyMax, NoisyMaxSpec, SelectError};
use eke_testkit::Dice;

fn one() -> L1 {
    L1::new(1.0).unwrap()
}

fn buy(choice: Choice) -> Receipt<Choice> {
    let budget = BudgetSpec::zcdp(Rho::new(100.0).unwrap())
        .with_pure(Epsilon::new(1e6).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
    let approved = account.approve(choice).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

fn spec(noise: MaxNoise) -> NoisyMaxSpec {
    NoisyMaxSpec {
        candidates: 4,
        range: (0.0, 100.0),
        sensitivity: one(),
        change: Change::General,
        noise,
    }
}

fn all() -> Vec<Choice> {
    let max = |noise| Choice::noisy_max(&NoisyMax::new(spec(noise)).unwrap()).unwrap();
    vec![
        Choice::exponential(3.0, one(), Change::General).unwrap(),
        Choice::permute_and_flip(3.0, one(), Change::General).unwrap(),
        max(MaxNoise::Gaussian(2.0)),
        max(MaxNoise::Laplace(2.0)),
    ]
}

#[test]
fn a_choice_draws_what_its_receipt_is_for() {
    let mut entropy = Dice(81);
    let scores = Exact::new(Scores(vec![0, 90, 0, 10]), one());
    for choice in all() {
        let winner = choose(&scores, buy(choice.clone()), &mut entropy).unwrap();
        assert_eq!(winner.get(), Some(1), "{choice:?}");
        // Another sensitivity is another price: the receipt comes back, and still works.
        let other = Exact::new(Scores(vec![0, 90, 0, 10]), L1::new(2.0).unwrap());
        let mismatch = choose(&other, buy(choice), &mut entropy).unwrap_err();
        assert_eq!(choose(&scores, *mismatch.receipt, &mut entropy).unwrap().get(), Some(1));
        let none = Exact::new(Scores(Vec::new()), one());
        assert_eq!(choose(&none, buy(all()[0].clone()), &mut entropy).unwrap().get(), None);
    }
}

/// Scores beyond the range count as its ends, and candidates beyond those that were priced do not
/// count.
#[test]
fn noisy_maxima_are_drawn_from_what_was_priced() {
    let mut entropy = Dice(82);
    for noise in [MaxNoise::Gaussian(0.5), MaxNoise::Laplace(0.5)] {
        let choice = Choice::noisy_max(&NoisyMax::new(spec(noise)).unwrap()).unwrap();
        let scores = Exact::new(Scores(vec![0, i64::MAX, 5000, 101, i64::MAX]), one());
        let mut wins = [0; 5];
        for _ in 0..3000 {
            let winner = choose(&scores, buy(choice.clone()), &mut entropy).unwrap();
            wins[winner.get().unwrap()] += 1;
        }
        // Three that are equal: each within six deviations of a thousand.
        assert!(wins[0] == 0 && wins[4] == 0, "{wins:?}");
        assert!(wins[1..4].iter().all(|wins| (845..1155).contains(wins)), "{wins:?}");
    }
}

/// Twice as much if scores may move apart, and what is concentrated for less.
#[test]
fn general_scores_cost_twice_what_monotone_ones_do() {
    let pure = |choice: &Choice| match choice.charge() {
        Charge::Pure { epsilon, .. } => epsilon.to_f64(),
        Charge::Zcdp { .. } => panic!("a pure price"),
    };
    for (by, name) in [
        (Choice::exponential as fn(f64, L1, Change) -> Result<Choice, SelectError>, "exponential"),
        (Choice::permute_and_flip, "permute and flip"),
    ] {
        let [monotone, general] =
            [Change::Monotone, Change::General].map(|change| by(0.25, one(), change).unwrap());
        assert!((pure(&monotone) - 0.25).abs() < 1e-12, "{name}");
        assert!((pure(&general) - 0.5).abs() < 1e-12, "{name}");
        assert_eq!(monotone.rule(), general.rule());
        let concentrated = general.concentrated().map(|choice| choice.charge());
        let rho = concentrated.map(|charge| match charge {
            Charge::Zcdp { rho, delta } => (rho.to_f64(), delta),
            Charge::Pure { .. } => panic!("a concentrated price"),
        });
        if name == "exponential" {
            let (rho, delta) = rho.unwrap();
            assert!((rho - 0.5 * 0.5 / 8.0).abs() < 1e-12 && delta == Amount::ZERO);
        } else {
            assert_eq!(rho, None);
        }
    }
    let laplace = |change| {
        let spec = NoisyMaxSpec { change, ..spec(MaxNoise::Laplace(4.0)) };
        pure(&Choice::noisy_max(&NoisyMax::new(spec).unwrap()).unwrap())
    };
    assert!((laplace(Change::Monotone) - 0.25).abs() < 1e-12);
    assert!((laplace(Change::General) - 0.5).abs() < 1e-12);
    let half = NoisyMaxSpec { range: (0.0, 0.5), ..spec(MaxNoise::Gaussian(1.0)) };
    let error = Choice::noisy_max(&NoisyMax::new(half).unwrap()).unwrap_err();
    assert!(matches!(error, SelectError::NotWhole { name: "range", .. }), "{error}");
    assert!(matches!(all()[2].rule(), ChoiceRule::NoisyMax { candidates: 4, range: (0, 100), .. }));
}
