//! Keys that nobody has listed.
//!
//! | test | n | false alarms | critical value | control |
//! |---|---|---|---|---|
//! | `keys_show_as_often_as_their_counts_say` | 40,000 a count | 1e-7 | 5.5 deviations | counts one less |

use std::num::NonZeroU32;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Delta, Metric, NoHistory, Purchase, Receipt,
    Rho,
};
use eke_noise::Exact;
use eke_noise::path::MismatchReason;
use eke_noise::select::{KeyCounts, KeySelection, Touched, select_keys};
use eke_testkit::Seeded;

fn selection(rho: &str, delta: &str, most: u32) -> KeySelection {
    KeySelection {
        rho: rho.parse().unwrap(),
        delta: delta.parse().unwrap(),
        most: NonZeroU32::new(most).unwrap(),
        adjacency: Adjacency::AddRemove,
    }
}

fn pay(selection: KeySelection) -> Receipt<KeySelection> {
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap())
        .with_delta(Delta::new(0.5).unwrap())
        .with_zcdp_delta(Delta::new(0.4).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap();
    let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
    let approved = account.approve(selection).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// The probability that discrete Gaussian noise is at least this, summed term by term.
fn tail(variance: f64, from: i64) -> f64 {
    let weight = |k: i64| (-(k as f64).powi(2) / (2.0 * variance)).exp();
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let reach = (40.0 * variance.sqrt()).ceil() as i64 + 2;
    let whole: f64 = (-reach..=reach).map(weight).sum();
    (from..=from.max(reach) + reach).rev().map(weight).sum::<f64>() / whole
}

/// Exactly, for many prices: never more than delta over the number of keys, and one lower would be
/// more, but for the one step that the bound on discrete noise gives away.
#[test]
fn a_key_of_one_unit_shows_with_the_probability_that_is_paid_for() {
    for rho in ["0.00003", "0.0007", "0.02", "0.3", "5"] {
        for delta in ["0.1", "1e-5", "1e-9", "1e-14"] {
            for most in [1, 3, 50] {
                let selection = selection(rho, delta, most);
                let threshold = selection.threshold().unwrap();
                let variance = 1.0 / (2.0 * rho.parse::<f64>().unwrap());
                let each = delta.parse::<f64>().unwrap() / f64::from(most);
                assert!(tail(variance, threshold - 1) <= each, "{rho} {delta} {most}");
                assert!(tail(variance, threshold - 3) > each, "{rho} {delta} {most}");
            }
        }
    }
}

/// With many keys of the same count, as many show as the law says.
#[test]
fn keys_show_as_often_as_their_counts_say() {
    const KEYS: usize = 40_000;
    let selection = selection("0.02", "0.001", 3);
    let threshold = selection.threshold().unwrap();
    let mut entropy = Seeded::new(91);
    let mut rate = |count: i64| {
        let counts = KeyCounts((0..KEYS).map(|key| (key, count)).collect());
        let counts = Exact::new(counts, Touched(selection.most));
        let keys = select_keys(&counts, pay(selection), &mut entropy).unwrap().get();
        assert!(keys.is_sorted());
        keys.len() as f64 / KEYS as f64
    };
    assert!(rate(0) == 0.0);
    for count in [threshold - 6, threshold, threshold + 4] {
        let expected = tail(25.0, threshold - count);
        let deviation = (expected * (1.0 - expected) / KEYS as f64).sqrt();
        let found = rate(count);
        assert!((found - expected).abs() < 5.5 * deviation, "{count}: {found} {expected}");
        let control = tail(25.0, threshold - count + 1);
        assert!((found - control).abs() > 5.5 * deviation, "{count}: {found} {control}");
    }
}

#[test]
fn a_selection_costs_all_keys_that_one_unit_has() {
    let selection = selection("0.25", "1e-6", 4);
    let (rho, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
    assert_eq!(selection.charge(), Charge::Zcdp { rho, delta });
    let replace = KeySelection { adjacency: Adjacency::Replace, ..selection };
    let (rho, delta) = ("4".parse().unwrap(), "2e-6".parse().unwrap());
    assert_eq!(replace.charge(), Charge::Zcdp { rho, delta });
}

#[test]
fn a_receipt_for_fewer_keys_selects_nothing() {
    let paid = selection("0.25", "1e-6", 1);
    let counts = Exact::new(KeyCounts(vec![("a", 1000)]), Touched(NonZeroU32::new(2).unwrap()));
    let refused = select_keys(&counts, pay(paid), &mut Seeded::new(92)).unwrap_err();
    assert_eq!(refused.reason, MismatchReason::OtherSensitivity);
    assert_eq!(format!("{counts:?}"), "Exact(..)");
    // Without a delta no threshold is high enough, and without a price no noise is wide enough.
    assert_eq!(KeySelection { delta: Amount::ZERO, ..paid }.threshold(), None);
    assert_eq!(KeySelection { rho: Amount::ZERO, ..paid }.threshold(), None);
}
