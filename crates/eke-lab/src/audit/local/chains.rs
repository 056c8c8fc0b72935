//! Chains of reports about one category, by trying everything they can draw.

use std::error::Error;

use eke_budget::{Amount, Epsilon};
use eke_noise::local::{
    BitChain, BitTemplate, Hash, HashChain, HashTemplate, Share, SubsetChain, Template, Weight,
};
use eke_testkit::oracle::{End, Oracle, enumerate};

use crate::audit::{Audit, Finding, Method, law_finding, loss_finding};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("subset-chain", Method::Enumeration, subset_chain)
            .about("every report of a chain has its law, and several tell no more than the first"),
        Audit::once("hash-chain", Method::Enumeration, hash_chain)
            .about("every hashed report has its law, and several tell no more than the first"),
        Audit::once("bit-chain", Method::Enumeration, bit_chain)
            .about("every report of bits has its law, and several tell no more than the first"),
    ]
}

fn epsilon(text: &str) -> Result<Amount<Epsilon>, Box<dyn Error>> {
    Ok(Amount::parse_up(text)?)
}

/// The sets of all reports of a category.
fn reports(chain: &SubsetChain, category: u32, oracle: &mut Oracle) -> Vec<u64> {
    let mut sets = vec![0; chain.templates().len() * chain.words()];
    // There is room for them, and the category is one.
    let _ = chain.draw(category, &mut sets, oracle);
    sets
}

fn subset_chain() -> Result<Vec<Finding>, Box<dyn Error>> {
    let of = |size, text| Ok::<_, Box<dyn Error>>(Template::new(size, epsilon(text)?));
    let chains = [
        SubsetChain::new(3, vec![of(1, "1.5")?, of(1, "0.4")?])?,
        SubsetChain::new(
            4,
            vec![
                of(1, "2")?,
                Template { size: 2, weight: Weight::Of { epsilon: epsilon("2")?, size: 1 } },
                of(2, "0.5")?,
            ],
        )?,
        SubsetChain::new(5, vec![Template { size: 1, weight: Weight::Whole(3) }, of(2, "0.7")?])?,
    ];
    let mut findings = Vec::new();
    for chain in chains {
        let d = chain.categories();
        for (index, template) in chain.templates().iter().enumerate() {
            let (w, k) = (template.weight.to_f64(), f64::from(template.size));
            let total = f64::from(d);
            // Sets with the true category, and without it.
            let sets =
                |n: u32, k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(k - i));
            let hit = (k + w) / (total + w);
            findings.push(law_finding(
                format!("report {index} of {d} categories"),
                1e-7,
                |oracle| reports(&chain, 1, oracle)[index],
                |set| {
                    if set >> 1 & 1 == 1 {
                        hit / sets(d - 1, template.size - 1)
                    } else {
                        (1.0 - hit) / sets(d - 1, template.size)
                    }
                },
            ));
            // All reports from this one on, together.
            let laws = [0, 1].map(|category| {
                enumerate(End::First, 1e-7, |oracle| {
                    reports(&chain, category, oracle)[index..].to_vec()
                })
            });
            let price = template.epsilon().to_f64();
            findings.push(loss_finding(format!("reports from {index} on of {d}"), price, laws));
        }
    }
    Ok(findings)
}

/// For a hash that takes the categories to different values, and for one that does not.
fn hash_chain() -> Result<Vec<Finding>, Box<dyn Error>> {
    let at = |bits, text| Ok::<_, Box<dyn Error>>(HashTemplate::new(bits, epsilon(text)?));
    let merged = HashTemplate { bits: 1, ..at(2, "0.8")? };
    let whole = Share { weight: Weight::Whole(14), among: 16 };
    let chains = [
        HashChain::new(3, vec![at(2, "1.5")?, at(2, "0.8")?, merged, at(1, "0.1")?])?,
        HashChain::new(4, vec![at(4, "3")?, HashTemplate { bits: 4, share: whole }, at(2, "1")?])?,
    ];
    // The first bits of the categories' values: 0, 01 and 10, and the same for all.
    let apart = Hash { multiplier: 1 << 62, addend: 1 << 61 };
    let same = Hash { multiplier: 1 << 10, addend: 1 << 61 };
    let mut findings = Vec::new();
    for chain in chains {
        let values = |hash, category, oracle: &mut Oracle| {
            let mut reports = vec![0; chain.templates().len() * HashChain::WORDS];
            // There is room for them, and the category is one.
            let _ = chain.draw_for(hash, category, &mut reports, oracle);
            reports.chunks(HashChain::WORDS).map(|report| report[2]).collect::<Vec<u64>>()
        };
        for (index, template) in chain.templates().iter().enumerate() {
            let price = template.epsilon().to_f64();
            let (e, g) = (price.exp(), f64::from(1u32 << template.bits));
            for (hash, how) in [(apart, "apart"), (same, "together")] {
                findings.push(law_finding(
                    format!("value {index}, of {} bits, {how}", template.bits),
                    1e-9,
                    |oracle| values(hash, 2, oracle)[index],
                    |&value| {
                        let is_true = value == hash.of(2, template.bits);
                        if is_true { e / (e + g - 1.0) } else { 1.0 / (e + g - 1.0) }
                    },
                ));
            }
            // All reports from this one on, together.
            let laws = [0, 2].map(|category| {
                enumerate(End::First, 1e-9, |oracle| {
                    values(apart, category, oracle)[index..].to_vec()
                })
            });
            findings.push(loss_finding(format!("values from {index} on"), price, laws));
        }
    }
    Ok(findings)
}

fn bit_chain() -> Result<Vec<Finding>, Box<dyn Error>> {
    let at = |text| Ok::<_, Box<dyn Error>>(BitTemplate::new(epsilon(text)?));
    let mut findings = Vec::new();
    for (categories, templates) in
        [(2, vec![at("2")?, at("0.6")?]), (3, vec![at("1.4")?]), (2, vec![at("5")?, at("4.9")?])]
    {
        let chain = BitChain::new(categories, templates)?;
        let draw = |category, oracle: &mut Oracle| {
            let mut reports = vec![0; chain.templates().len()];
            // There is room for them, and the category is one.
            let _ = chain.draw(category, &mut reports, oracle);
            reports
        };
        for (index, template) in chain.templates().iter().enumerate() {
            let price = template.epsilon().to_f64();
            let right = 1.0 / (1.0 + (-price / 2.0).exp());
            findings.push(law_finding(
                format!("report {index} of {categories} bits"),
                1e-9,
                |oracle| draw(1, oracle)[index],
                |report| {
                    let wrong = (report ^ 0b10).count_ones();
                    right.powi((categories - wrong).cast_signed())
                        * (1.0 - right).powi(wrong.cast_signed())
                },
            ));
            // All reports from this one on, together.
            let laws = [0, 1].map(|category| {
                enumerate(End::First, 1e-9, |oracle| draw(category, oracle)[index..].to_vec())
            });
            findings.push(loss_finding(format!("reports from {index} on of bits"), price, laws));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn hashed_reports_have_their_law_and_no_set_of_them_tells_more_than_the_first() {
        for finding in super::hash_chain().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }

    #[test]
    fn reports_of_bits_have_their_law_and_no_set_of_them_tells_more_than_the_first() {
        for finding in super::bit_chain().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }

    #[test]
    fn reports_of_chains_have_their_law_and_no_set_of_them_tells_more_than_the_first() {
        for finding in super::subset_chain().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }
}
