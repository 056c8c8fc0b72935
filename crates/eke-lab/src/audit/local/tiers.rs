//! Plans for tiers: what every set of tiers learns together, against the epsilon of the one of them
//! that may see most.

use std::collections::BTreeMap;
use std::error::Error;

use eke_budget::{Amount, Epsilon};
use eke_local::{Method as Planning, Plan};
use eke_noise::Entropy;
use eke_noise::local::{BitTemplate, Chain, Hash, HashTemplate, ReportLaw, Template};
use eke_noise::sampler::uniform_below;
use eke_testkit::oracle::{End, Enumerated, Oracle, enumerate};
use eke_testkit::{Fit, Seeded};

use super::steps::{Rescale, Steps, alone, loss};
use crate::audit::{Audit, Finding, Findings, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("tier-plans", Method::Enumeration, tier_plans).about(
            "no set of tiers of a plan learns more than its first may, as reports are drawn",
        ),
        Audit::once("tier-steps", Method::Enumeration, tier_steps).about(
            "every plan is made of known steps, and no set of its tiers learns more than its \
             first may",
        ),
        Audit::once("chain-fit", Method::Fit, chain_fit).about(
            "pairs of reports fit the law of known steps, and not that of the steps in print",
        ),
    ]
}

/// A hash whose values of one, two and three bits differ for the first two, four and eight
/// categories.
const SPREAD: Hash = Hash { multiplier: 0xa000_0000_0000_0000, addend: 0x9000_0000_0000_0000 };

/// A list of at most `most` tiers, from a twentieth to four.
fn tiers(most: u64, entropy: &mut Seeded) -> Result<Vec<Amount<Epsilon>>, Box<dyn Error>> {
    (0..=uniform_below(most, entropy))
        .map(|_| {
            // Small epsilons as often as large ones.
            let thousandths = 50 + uniform_below(1 + uniform_below(3950, entropy), entropy);
            Ok(Amount::parse_up(&format!("{thousandths}e-3"))?)
        })
        .collect()
}

/// All sets of places but the empty one.
fn sets(places: usize) -> impl Iterator<Item = Vec<usize>> {
    (1u32..1 << places).map(move |set| (0..places).filter(|i| set >> i & 1 == 1).collect())
}

/// The least epsilon of the tiers that get each report.
fn claims(plan: &Plan) -> Vec<f64> {
    let mut claims = vec![f64::INFINITY; plan.chain().reports()];
    for (index, tier) in plan.tiers().iter().enumerate() {
        if let Some(place) = plan.place(index) {
            claims[place] = claims[place].min(tier.epsilon.to_f64());
        }
    }
    claims
}

/// What was found over many plans.
#[derive(Default)]
struct Worst {
    plans: u32,
    /// The most that any set of tiers learns beyond what its first may see.
    beyond: f64,
    /// The least part of its price that one report tells.
    tightest: Option<f64>,
    /// The furthest that a report's law is from what it would be alone.
    off: f64,
}

impl Worst {
    fn add(&mut self, loss: f64, claim: f64) {
        self.beyond = self.beyond.max(loss - claim);
    }

    fn add_alone(&mut self, loss: f64, price: f64) {
        self.tightest = Some(self.tightest.unwrap_or(1.0).min(loss / price));
    }

    fn findings(&self, what: &str) -> Vec<Finding> {
        let (sets, each) = (
            format!("{} plans, {what}: sets of tiers", self.plans),
            format!("{} plans, {what}: each report", self.plans),
        );
        let tightest = self.tightest.unwrap_or(0.0);
        vec![
            Finding::new(sets, "epsilon beyond", self.beyond).at_most(1e-9),
            Finding::new(&each, "error of probability", self.off).at_most(1e-9),
            Finding::new(each, "part of its price", tightest).within(0.95..=1.0 + 1e-9),
        ]
    }
}

/// All reports of a category: what there is of them beside the hash, which is given.
fn reports(chain: &Chain, category: u32, oracle: &mut Oracle) -> Vec<u64> {
    let mut words = vec![0; chain.reports() * chain.words()];
    // There is room for them, and the category is one.
    let _ = match chain {
        Chain::Hash(chain) => chain.draw_for(SPREAD, category, &mut words, oracle),
        chain => chain.draw(category, &mut words, oracle),
    };
    // Few categories: one word each, or the last of three.
    words.chunks(chain.words()).filter_map(|report| report.last().copied()).collect()
}

/// Some of the reports of a law over all.
fn only(law: &Enumerated<Vec<u64>>, places: &[usize]) -> Enumerated<Vec<u64>> {
    let mut outcomes = BTreeMap::new();
    for (reports, probability) in &law.outcomes {
        let some: Vec<u64> = places.iter().map(|&place| reports[place]).collect();
        *outcomes.entry(some).or_insert(0.0) += probability;
    }
    Enumerated { outcomes, ..*law }
}

/// As it is drawn, for few categories: everything that can be drawn is tried.
fn tier_plans() -> Findings {
    let mut findings = Vec::new();
    let mut entropy = Seeded::new(21);
    for planning in Planning::ALL {
        // Bits draw more words: three categories would be too many.
        let cases: &[(u32, u64)] = match planning {
            Planning::Bits => &[(2, 2), (2, 2)],
            Planning::Hash | Planning::HashReference => &[(2, 4), (3, 4), (4, 4), (4, 4)],
            _ => &[(2, 3), (3, 3), (3, 3), (4, 2)],
        };
        let mut worst = Worst::default();
        for &(categories, most) in cases {
            let plan = Plan::new(categories, &tiers(most, &mut entropy)?, planning)?;
            let chain = plan.chain();
            let laws: Vec<_> = (0..categories)
                .map(|x| enumerate(End::First, 1e-7, |oracle| reports(chain, x, oracle)))
                .collect();
            add(&mut worst, &plan, &laws);
        }
        findings.extend(worst.findings(&format!("{planning:?}")));
    }
    Ok(findings)
}

/// What one plan shows, given the law of all its reports for each category.
fn add(worst: &mut Worst, plan: &Plan, laws: &[Enumerated<Vec<u64>>]) {
    let claims = claims(plan);
    worst.plans += 1;
    for places in sets(claims.len()) {
        let some: Vec<_> = laws.iter().map(|law| only(law, &places)).collect();
        let pairs = || some.iter().flat_map(|one| some.iter().map(move |two| one.loss(two)));
        worst.add(pairs().fold(0.0, f64::max), claims[places[0]]);
        let (1, Some(law)) = (places.len(), plan.chain().law(places[0])) else { continue };
        worst.add_alone(pairs().fold(0.0, f64::max), law.epsilon().to_f64());
        for (x, found) in (0..).zip(&some) {
            let categories = plan.chain().categories();
            let known = |value: &Vec<u64>| alone(categories, &law, true_one(&law, x), value[0]);
            // Much left out is as bad as much that is wrong.
            let lost = if found.lost > 0.02 { f64::INFINITY } else { 0.0 };
            worst.off = worst.off.max(found.off(known)).max(lost);
        }
    }
}

/// What a report of a category is that is nothing but true.
fn true_one(law: &ReportLaw, category: u32) -> u64 {
    match law {
        ReportLaw::Hash(template) => SPREAD.of(category, template.bits),
        _ => 1 << category,
    }
}

/// On paper, for up to eight categories.
fn tier_steps() -> Findings {
    let mut findings = Vec::new();
    let mut entropy = Seeded::new(22);
    for planning in Planning::ALL {
        let mut worst = Worst::default();
        for categories in 2..=8 {
            for _ in 0..12 {
                let plan = Plan::new(categories, &tiers(5, &mut entropy)?, planning)?;
                let laws = plan.chain().laws();
                let steps = Steps::new(categories, &laws, SPREAD, Rescale::Right)
                    .ok_or("a report tells more than the one before it leaves")?;
                let claims = claims(&plan);
                worst.plans += 1;
                for places in sets(claims.len()).filter(|set| steps.outcomes(set) <= 20_000) {
                    let joint = steps.joint(&places);
                    worst.add(loss(&joint), claims[places[0]]);
                    let &[place] = &places[..] else { continue };
                    let law = &laws[place];
                    worst.add_alone(loss(&joint), law.epsilon().to_f64());
                    for (reports, of) in &joint {
                        for (x, found) in (0..).zip(of) {
                            let known = alone(categories, law, true_one(law, x), reports[0]);
                            worst.off = worst.off.max((found - known).abs());
                        }
                    }
                }
            }
        }
        findings.extend(worst.findings(&format!("{planning:?}")));
    }
    Ok(findings)
}

/// Pairs of reports of more categories than can be tried, drawn many times.
fn chain_fit() -> Findings {
    const DRAWS: usize = 200_000;
    let at = |text: &str| Amount::<Epsilon>::parse_up(text);
    let subset =
        |size, text| Ok::<_, Box<dyn Error>>(ReportLaw::Subset(Template::new(size, at(text)?)));
    let hash =
        |bits, text| Ok::<_, Box<dyn Error>>(ReportLaw::Hash(HashTemplate::new(bits, at(text)?)));
    let bits = |text| Ok::<_, Box<dyn Error>>(ReportLaw::Bits(BitTemplate::new(at(text)?)));
    let mut findings = Vec::new();
    for (kind, categories, laws) in [
        ("subsets", 8, [subset(2, "1.5")?, subset(3, "0.8")?]),
        ("hashed values", 8, [hash(3, "2")?, hash(2, "0.9")?]),
        ("bits", 6, [bits("3")?, bits("1")?]),
    ] {
        let chain = Chain::new(categories, &laws)?;
        let mut entropy = Seeded::new(23);
        let draws: Vec<Vec<u64>> = (0..DRAWS)
            .map(|_| pair(&chain, &mut entropy))
            .collect::<Result<_, Box<dyn Error>>>()?;
        let fit = |rescale| {
            let steps = Steps::new(categories, &laws, SPREAD, rescale).ok_or("no chain")?;
            // The category that was drawn for.
            let of = steps.joint(&[0, 1]).into_iter().map(|(reports, of)| (reports, of[1]));
            let law: BTreeMap<Vec<u64>, f64> = of.collect();
            Ok::<_, Box<dyn Error>>(Fit::of(draws.iter().cloned(), &law))
        };
        let what = format!("{kind} of {categories} categories");
        findings.push(Finding::fits(&what, fit(Rescale::Right)?));
        let in_print = format!("{what} against the steps in print");
        findings.push(Finding::control(&in_print, fit(Rescale::Printed)?));
    }
    Ok(findings)
}

/// Two reports of the second category.
fn pair<E: Entropy>(chain: &Chain, entropy: &mut E) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut words = vec![0; 2 * chain.words()];
    match chain {
        Chain::Hash(chain) => chain.draw_for(SPREAD, 1, &mut words, entropy)?,
        chain => chain.draw(1, &mut words, entropy)?,
    }
    Ok(words.chunks(chain.words()).filter_map(|report| report.last().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all(findings: Findings) {
        for finding in findings.unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }

    #[test]
    fn every_set_of_reports_costs_what_its_first_does() {
        assert_all(tier_plans());
        assert_all(tier_steps());
    }

    #[test]
    fn pairs_of_reports_fit_their_law() {
        assert_all(chain_fit());
    }
}
