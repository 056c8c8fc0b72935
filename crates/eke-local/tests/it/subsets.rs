//! What subset reports are worth, against values made with mpmath.

use std::collections::BTreeMap;

use eke_local::worth::subset;
use serde::Deserialize;

use crate::sets;

#[derive(Deserialize)]
struct Golden {
    name: String,
    inputs: BTreeMap<String, String>,
    value: Vec<String>,
}

impl Golden {
    fn input<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, name: &str) -> T {
        self.inputs[name].parse().unwrap()
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.value.iter().map(|value| value.parse().unwrap())
    }
}

fn golden(name: &str) -> Vec<Golden> {
    let all: Vec<Golden> = serde_json::from_str(include_str!("../data/subset.json")).unwrap();
    let named: Vec<Golden> = all.into_iter().filter(|golden| golden.name == name).collect();
    assert!(!named.is_empty(), "{name}");
    named
}

#[test]
fn variances_are_the_tabulated_ones() {
    for golden in golden("subset_V") {
        let (d, k, epsilon) = (golden.input("d"), golden.input("k"), golden.input("eps"));
        let found = subset::variance(d, k, subset::weight(k, epsilon));
        let expected = golden.values().next().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-13, "{:?}: {found}", golden.inputs);
        // The same from what estimates use: those of the true category and of the others.
        let law = sets(d, k, &golden.inputs["eps"]);
        let (hit, miss, gap) = (law.hit(), law.miss(), law.gap());
        assert!((hit - miss - gap).abs() < 1e-15);
        let others = f64::from(d - 1) * miss * (1.0 - miss);
        let from_law = (hit * (1.0 - hit) + others) / (gap * gap);
        assert!((from_law / expected - 1.0).abs() < 1e-12, "{:?}: {from_law}", golden.inputs);
    }
}

#[test]
fn best_sizes_are_the_tabulated_ones() {
    for golden in golden("subset_kopt") {
        let found = subset::best_size(golden.input("d"), golden.input("eps"));
        assert_eq!(vec![found.to_string()], golden.value, "{:?}", golden.inputs);
    }
}

#[test]
fn best_sizes_change_where_they_should() {
    for golden in golden("subset_switch_eps") {
        let d = golden.input("d");
        for (size, switch) in (1..).zip(golden.values()) {
            assert_eq!(subset::best_size(d, switch * (1.0 + 1e-9)), size);
            assert_eq!(subset::best_size(d, switch * (1.0 - 1e-9)), size + 1);
        }
    }
}

/// An epsilon at which a report hides nothing, and one at which it tells nothing.
#[test]
fn hits_and_misses_keep_their_digits_at_both_ends() {
    for (categories, size) in [(10, 1), (10, 3), (1 << 20, 1000)] {
        let law = sets(categories, size, "500");
        assert!((law.hit() - 1.0).abs() < 1e-12 && law.miss() > 0.0 && law.gap() > 0.0);
        let law = sets(categories, size, "1e-20");
        assert!(law.gap() > 0.0 && (law.hit() / law.miss() - 1.0).abs() < 1e-12);
    }
}
