//! What a steward writes: the policy; and what the engine keeps in a ledger: the registry.

use std::path::Path;

use eke_engine::policy::{Policy, PolicyError};
use eke_engine::registry::Registry;

/// A policy that is read holds together: every analyst has accounts that pay, and lines that say
/// nothing change nothing. One that is refused is refused at a line that it has.
pub(crate) fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let file = Path::new("eke.toml");
    match Policy::parse(text, file) {
        Ok(policy) => {
            for unit in policy.units.keys() {
                let analysts = policy.analysts.keys().map(|name| Some(name.as_str()));
                for analyst in analysts.chain([None]) {
                    let payers = policy.payers(unit, analyst);
                    assert!(payers.is_ok(), "no account to pay");
                }
            }
            let longer = format!("{text}\n# nothing\n");
            let again = Policy::parse(&longer, file).expect("a comment does no harm");
            assert_eq!(again, policy, "a comment changes a policy");
        }
        Err(error) => refused(text, &error),
    }
}

fn refused(text: &str, error: &PolicyError) {
    let sentence = error.to_string();
    assert!(!sentence.is_empty(), "a refusal says nothing");
    let lines = text.lines().count() + 1;
    assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)), "there is no such line");
}

/// What is read of a registry is written as it was read.
pub(crate) fn read_registry(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(registry) = Registry::read(text) else { return };
    let written = registry.write();
    let again = Registry::read(&written).expect("what was written is read");
    assert_eq!(again.write(), written, "a registry is read as another one");
}
