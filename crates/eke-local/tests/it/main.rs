//! Everything about `eke-local` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "a test that cannot go on should stop")]

mod chains;
mod coordinators;
mod devices;
mod estimates;
mod fleets;
mod plans;
mod requests;
mod storages;
mod subsets;
mod tallies;
mod wire;

use eke_budget::{Amount, Epsilon};
use eke_local::Law;
use eke_noise::local::{BitTemplate, Chain, HashTemplate, ReportLaw, Template};
use eke_testkit::Dice;

fn epsilon(text: &str) -> Amount<Epsilon> {
    Amount::parse_up(text).unwrap()
}

/// The law of sets of this size at this epsilon.
fn sets(categories: u32, size: u32, text: &str) -> Law {
    Law::new(categories, ReportLaw::Subset(Template::new(size, epsilon(text)))).unwrap()
}

/// The law of hashed values of n bits at this epsilon.
fn hashes(categories: u32, bits: u32, text: &str) -> Law {
    Law::new(categories, ReportLaw::Hash(HashTemplate::new(bits, epsilon(text)))).unwrap()
}

/// The law of rows of bits at this epsilon.
fn bits(categories: u32, text: &str) -> Law {
    Law::new(categories, ReportLaw::Bits(BitTemplate::new(epsilon(text)))).unwrap()
}

/// Reports of these values.
fn reports(law: &Law, values: &[u32], entropy: &mut Dice) -> Vec<u64> {
    let chain = Chain::new(law.categories(), &[law.report()]).unwrap();
    let mut reports = vec![0; values.len() * law.words()];
    chain.fill(values, &mut reports, entropy).unwrap();
    reports
}
