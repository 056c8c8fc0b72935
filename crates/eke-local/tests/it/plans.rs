//! Plans: what they cost, and how good they are.

use eke_budget::{Amount, Epsilon};
use eke_local::{Method, Plan, PlanError, hash, subset};
use eke_noise::MOST_BITS;
use proptest::prelude::*;

fn epsilon(text: &str) -> Amount<Epsilon> {
    Amount::parse_up(text).unwrap()
}

/// The paper's list of twenty tiers: its two ways, and ours.
#[test]
fn the_planner_is_closer_to_single_tiers_than_the_paper() {
    let list: Vec<_> = (1..=20).map(|n| epsilon(&format!("{}e-1", 4 * n))).collect();
    let worst = |method| Plan::new(128, &list, method).unwrap().worst();
    assert!((worst(Method::Reference) - 2.252).abs() < 1e-3);
    assert!((worst(Method::Improved) - 2.211).abs() < 1e-3);
    assert!(worst(Method::Planned) < 1.3771, "{}", worst(Method::Planned));
}

#[test]
fn bad_tiers_get_a_sentence() {
    let plan = |categories, tiers: &[&str]| {
        let tiers: Vec<_> = tiers.iter().map(|text| epsilon(text)).collect();
        Plan::new(categories, &tiers, Method::Planned).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(plan(10, &[]), PlanError::NoTiers.to_string());
    assert_eq!(plan(10, &["0"]), "the epsilon of a tier is above 0 and at most 500");
    assert_eq!(plan(10, &["501"]), "the epsilon of a tier is above 0 and at most 500");
    assert_eq!(plan(1, &["1"]), "a chain is over 2 to 2^20 categories, not 1");
    assert_eq!(plan(10, &["1"; 257]), "a plan has at most 256 tiers");
}

/// Hashed values collide however much a tier may see, so they are hopeless for the largest. The
/// others are not to suffer from it: what comes out is no worse than the best that goes through
/// every choice of bits finds.
#[test]
fn a_tier_that_no_report_suits_does_not_spoil_the_others() {
    for (categories, large) in [(128, "100"), (128, "500"), (2, "500"), (5000, "45")] {
        for small in ["1e-6", "0.5", "1", "8", "40"] {
            let tiers = [epsilon(large), epsilon(small)];
            let plan = Plan::new(categories, &tiers, Method::Hash).unwrap();
            let mut best = [f64::INFINITY; 2];
            for first in 1..=MOST_BITS {
                for second in 1..=first {
                    let ratio = |bits: u32, odds: f64, tier: usize| {
                        let alone = subset::best_variance(categories, tiers[tier].to_f64());
                        hash::variance(categories, bits, odds) / alone
                    };
                    let odds = hash::odds_at(first, tiers[0].to_f64());
                    let one = ratio(first, odds, 0);
                    let two = ratio(second, odds.min(hash::odds_at(second, tiers[1].to_f64())), 1);
                    // The larger first, then the smaller.
                    let both = [one.max(two), one.min(two)];
                    best = if both < best { both } else { best };
                }
            }
            let mut found = [plan.tiers()[0].ratio, plan.tiers()[1].ratio];
            found.sort_by(|a, b| b.total_cmp(a));
            for (found, best) in found.iter().zip(best) {
                assert!(
                    *found <= best * (1.0 + 1e-8),
                    "{categories} {large} {small}: {found} {best}"
                );
            }
        }
    }
    let list: Vec<_> = ["500", "499", "120", "30", "4", "1", "1e-3"].map(epsilon).into();
    for method in [Method::Hash, Method::Planned] {
        let plan = Plan::new(128, &list, method).unwrap();
        for tier in &plan.tiers()[4..] {
            assert!(tier.ratio < 3.0, "{method:?}: {tier:?}");
        }
    }
}

proptest! {
    /// Chains are checked exactly where they are made; here every tier's report is one that it may
    /// see, and no plan of ours is worse than the paper's.
    #[test]
    fn every_plan_keeps_every_tier_within_its_epsilon(
        categories in 2u32..200,
        tiers in prop::collection::vec(1u32..100_000, 1..24),
    ) {
        let tiers: Vec<_> = tiers.iter().map(|n| epsilon(&format!("{n}e-4"))).collect();
        let mut worst = Vec::new();
        for method in Method::ALL {
            let plan = Plan::new(categories, &tiers, method).unwrap();
            for (index, tier) in plan.tiers().iter().enumerate() {
                prop_assert_eq!(tier.epsilon, tiers[index]);
                prop_assert!(tier.law.epsilon() <= tier.epsilon, "{:?}", tier);
                let place = plan.place(index).unwrap();
                prop_assert_eq!(plan.chain().law(place), Some(tier.law));
            }
            worst.push(plan.worst());
        }
        prop_assert!(worst.iter().all(|other| worst[0] <= other * (1.0 + 1e-9)), "{:?}", worst);
    }
}
