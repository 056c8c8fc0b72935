//! Plans: what they cost, and how good they are.

use eke_budget::{Amount, Epsilon};
use eke_local::{Method, Plan, PlanError};
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

proptest! {
    /// Chains are checked exactly where they are made; here every tier's report is one that it may see, and
    /// no plan of ours is worse than the paper's.
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
