//! What a steward should think about, though nothing is wrong with it.
//!
//! How many people there are in the files is private, so it is not looked at: a delta is compared
//! with the number that the policy states, or with one that is large for most.

use std::collections::BTreeMap;

use eke_budget::Delta;

use super::{Circle, Tier, Unit};

/// A delta above this is large for more than ten thousand people.
const LARGE: f64 = 1e-5;
/// A delta from this on promises little to anybody.
const VERY_LARGE: f64 = 1e-3;
/// How many people a promise may fail altogether, at most.
const FAILED: f64 = 0.1;

pub(super) fn of(
    units: &BTreeMap<String, Unit>,
    tiers: &BTreeMap<String, Tier>,
    circles: &BTreeMap<String, Circle>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for unit in units.values() {
        let title = format!("[unit.{}]", unit.name);
        let delta = unit.budget.promise().and_then(|promise| promise.delta);
        warnings.extend(delta.and_then(|delta| delta_is_large(&title, delta.get(), unit.people)));
        let metric = unit.budget.metric();
        let tiers =
            tiers.values().filter_map(|tier| Some((format!("[tier.{}]", tier.name), tier.budget?)));
        let circles =
            circles.values().map(|circle| (format!("[circle.{}]", circle.name), circle.budget));
        for (title, spec) in tiers.chain(circles) {
            let promise = spec.resolve(metric).ok().and_then(|budget| budget.promise());
            let delta = promise.and_then(|promise| promise.delta);
            warnings
                .extend(delta.and_then(|delta| delta_is_large(&title, delta.get(), unit.people)));
        }
    }
    warnings.dedup();
    warnings
}

/// What to think about a delta before it is written down, where it is not known how many people
/// there are.
pub(super) fn of_delta(title: &str, delta: Delta) -> Option<String> {
    delta_is_large(title, delta.get(), None)
}

fn delta_is_large(title: &str, delta: f64, people: Option<u32>) -> Option<String> {
    match people {
        Some(people) if delta * f64::from(people) > FAILED => Some(format!(
            "the delta {delta:e} of {title} is large for {people} people: a program that shows all about each of them with that probability keeps the promise, so choose one well below 1/{people}, such as {:e}",
            suggested(people)
        )),
        None if delta >= VERY_LARGE => Some(format!(
            "the delta {delta:e} of {title} is so large that little is promised: with that probability a person may be shown altogether; choose one well below one over the number of people, such as 1e-7"
        )),
        None if delta > LARGE => Some(format!(
            "the delta {delta:e} of {title} is large: choose one well below one over the number of people, such as 1e-7, or say beside the unit's budget how many there are about, such as people = 5000"
        )),
        _ => None,
    }
}

/// A power of ten that is at most a hundredth of one over the number of people.
fn suggested(people: u32) -> f64 {
    10f64.powi(-2 - i32::try_from(people.to_string().len()).unwrap_or(10))
}
