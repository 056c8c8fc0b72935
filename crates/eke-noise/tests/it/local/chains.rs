//! Chains of reports, as a device that is asked for one meets them: laws from strangers, and many
//! draws.

use std::collections::BTreeMap;

use eke_budget::{Amount, Epsilon};
use eke_noise::local::{
    BitTemplate, Chain, Hash, HashChain, HashTemplate, ReportLaw, Share, Template, Weight,
};
use eke_testkit::{Fit, Seeded};
use proptest::prelude::*;

/// Amounts from nothing to everything, with ordinary ones among them.
fn amounts() -> impl Strategy<Value = Amount<Epsilon>> {
    prop_oneof![
        (1u64..6_000).prop_map(|n| Amount::parse_up(&format!("{n}e-3")).unwrap()),
        (0u128..4).prop_map(Amount::from_grains),
        any::<u128>().prop_map(Amount::from_grains),
        (0u32..700).prop_map(|n| Amount::parse_up(&n.to_string()).unwrap()),
    ]
}

fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..10, any::<u32>(), Just(1 << 20), Just(u32::MAX)]
}

fn weights() -> impl Strategy<Value = Weight> {
    prop_oneof![
        (amounts(), numbers()).prop_map(|(epsilon, size)| Weight::Of { epsilon, size }),
        numbers().prop_map(Weight::Whole),
    ]
}

fn laws() -> impl Strategy<Value = ReportLaw> {
    prop_oneof![
        (numbers(), weights())
            .prop_map(|(size, weight)| ReportLaw::Subset(Template { size, weight })),
        (numbers(), weights(), numbers()).prop_map(|(bits, weight, among)| {
            ReportLaw::Hash(HashTemplate { bits, share: Share { weight, among } })
        }),
        amounts().prop_map(|epsilon| ReportLaw::Bits(BitTemplate { epsilon })),
    ]
}

/// A law of each kind that makes sense, at an epsilon in thousandths.
fn sensible(kind: u8, thousandths: u32, size: u32) -> ReportLaw {
    let epsilon = Amount::parse_up(&format!("{thousandths}e-3")).unwrap();
    match kind {
        0 => ReportLaw::Subset(Template::new(size, epsilon)),
        1 => ReportLaw::Hash(HashTemplate::new(6 - size.min(5), epsilon)),
        _ => ReportLaw::Bits(BitTemplate::new(epsilon)),
    }
}

/// What a chain that was accepted promises.
fn check(chain: &Chain) -> Result<(), TestCaseError> {
    let laws = chain.laws();
    let most = Amount::parse_up("501").unwrap();
    prop_assert_eq!(laws[0].epsilon(), chain.price());
    prop_assert!(laws.windows(2).all(|pair| pair[1].epsilon() <= pair[0].epsilon()));
    prop_assert!(
        laws.iter().all(|law| !law.epsilon().is_zero() && law.epsilon() <= most.times(2).unwrap())
    );
    if chain.categories() > 4096 {
        return Ok(());
    }
    let mut words = vec![u64::MAX; laws.len() * chain.words()];
    chain.draw(chain.categories() - 1, &mut words, &mut Seeded::new(1)).unwrap();
    for (law, report) in laws.iter().zip(words.chunks(chain.words())) {
        let ones: u32 = report.iter().map(|word| word.count_ones()).sum();
        match law {
            ReportLaw::Subset(template) => prop_assert_eq!(ones, template.size),
            ReportLaw::Hash(template) => prop_assert!(report[2] < 1 << template.bits),
            ReportLaw::Bits(_) => prop_assert!(ones <= chain.categories()),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn laws_that_make_no_sense_are_refused_and_never_panic(
        categories in numbers(),
        laws in prop::collection::vec(laws(), 0..4),
    ) {
        for law in &laws {
            let _ = law.epsilon();
        }
        if let Ok(chain) = Chain::new(categories, &laws) {
            check(&chain)?;
        }
        for law in laws {
            if let Ok(chain) = Chain::new(categories, &[law]) {
                check(&chain)?;
            }
        }
    }

    #[test]
    fn chains_of_falling_laws_are_accepted_and_of_rising_ones_are_not(
        kind in 0u8..3,
        high in 1u32..6_000,
        low in 1u32..6_000,
        size in 1u32..5,
        more in 0u32..5,
    ) {
        let laws = [sensible(kind, high, size), sensible(kind, low, size + more)];
        match Chain::new(10, &laws) {
            Ok(chain) => {
                check(&chain)?;
                prop_assert!(low <= high || (kind != 2 && laws[1].epsilon() <= laws[0].epsilon()));
            }
            Err(error) => {
                let text = error.to_string();
                prop_assert!(text.contains("report 1 tells more"), "{}", text);
                // It would tell more than what is left when categories are added or bits dropped.
                prop_assert!(low > high || more > 0);
            }
        }
        // The same again is always possible.
        prop_assert!(Chain::new(10, &[laws[0], laws[0]]).is_ok());
    }
}

/// Hashes are the device's own and independent of the category: a report supports the true category
/// with probability t and another with probability 1/8, whichever they are; 200 000 draws of seed
/// 31.
#[test]
fn hashed_reports_support_every_category_as_often() {
    let epsilon = Amount::parse_up("1.2").unwrap();
    let chain = HashChain::new(1 << 20, vec![HashTemplate::new(3, epsilon)]).unwrap();
    let (first, second) = (3, (1 << 20) - 1);
    let values = vec![first; 200_000];
    let mut words = vec![0; values.len() * HashChain::WORDS];
    chain.fill(&values, &mut words, &mut Seeded::new(31)).unwrap();
    let draws = words.chunks(HashChain::WORDS).map(|report| {
        let hash = Hash { multiplier: report[0], addend: report[1] };
        [first, second].map(|category| hash.of(category, 3) == report[2])
    });
    let law = |e: f64| {
        let t = e / (e + 7.0);
        let mut law = BTreeMap::new();
        for one in [false, true] {
            for two in [false, true] {
                // Values are independent, so the other category has the report's with one in eight.
                let part = if one { t } else { 1.0 - t };
                law.insert([one, two], part * if two { 0.125 } else { 0.875 });
            }
        }
        law
    };
    let (right, wrong) = (law(1.2f64.exp()), law(1.25f64.exp()));
    let draws: Vec<_> = draws.collect();
    Fit::of(draws.clone(), &right).assert(&Fit::of(draws, &wrong), "hashed reports");
}
