//! Chains of reports about one category, by trying everything they can draw.

use std::error::Error;

use eke_budget::{Amount, Epsilon};
use eke_noise::{SubsetChain, Template, Weight};

use super::{Audit, Finding, Method, law_finding, loss_finding};
use crate::oracle::{End, Oracle, enumerate};

pub(super) fn audits() -> Vec<Audit> {
    vec![Audit {
        name: "subset-chain",
        about: "every report of a chain has its law, and several tell no more than the first",
        method: Method::Enumeration,
        run: subset_chain,
    }]
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

#[cfg(test)]
mod tests {
    #[test]
    fn reports_of_chains_have_their_law_and_no_set_of_them_tells_more_than_the_first() {
        for finding in super::subset_chain().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }
}
