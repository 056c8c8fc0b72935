//! Public words that mean two things.
//!
//! A type of one name in two crates makes a reader ask which one is meant. `tests/doubles.toml`
//! lists those that there are, with the crates and the reason to keep each; this test fails when
//! there is another one, and when one of them is gone. Types are found line by line, as they are
//! declared: `pub struct`, `pub enum`, `pub trait` and `pub type`, also inside private modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

use crate::{crates, sources};

type Words = BTreeMap<String, BTreeSet<String>>;

/// The public type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let (kind, rest) = rest.split_once(' ')?;
    if !["struct", "enum", "trait", "type"].contains(&kind) {
        return None;
    }
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The names of public types that are in more crates than one, and these crates.
fn doubles<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> Words {
    let mut words = Words::new();
    for (name, line) in lines {
        if let Some(word) = declared(line) {
            words.entry(word.to_owned()).or_default().insert(name.to_owned());
        }
    }
    words.retain(|_, crates| crates.len() > 1);
    words
}

/// Where what is found is not what is listed.
fn differences(found: &Words, listed: &Words) -> Vec<String> {
    let words: BTreeSet<&String> = found.keys().chain(listed.keys()).collect();
    let told = |word: &String| match (found.get(word), listed.get(word)) {
        (Some(found), None) => {
            Some(format!("`{word}` means two things, in {found:?}: rename one, or list it"))
        }
        (None, Some(_)) => {
            Some(format!("`{word}` does not mean two things any more: take it off the list"))
        }
        (Some(found), Some(listed)) if found != listed => {
            Some(format!("`{word}` is in {found:?} and listed for {listed:?}"))
        }
        _ => None,
    };
    words.into_iter().filter_map(told).collect()
}

#[test]
fn public_words_that_mean_two_things_are_listed_with_a_reason() {
    let mut files = Vec::new();
    for (name, folder) in crates() {
        for file in sources(&folder.join("src")) {
            files.push((name.clone(), fs::read_to_string(file).unwrap()));
        }
    }
    let lines = files.iter().flat_map(|(name, text)| text.lines().map(|line| (&**name, line)));
    let found = doubles(lines);
    let list: Table = include_str!("../doubles.toml").parse().unwrap();
    let listed: Words = list
        .iter()
        .map(|(word, entry)| {
            let why = entry.get("why").and_then(Value::as_str).unwrap_or_default();
            assert!(why.len() > 20, "`{word}` is listed without a reason");
            let crates = entry.get("in").and_then(Value::as_array).unwrap();
            let crates = crates.iter().map(|name| name.as_str().unwrap().to_owned());
            (word.clone(), crates.collect())
        })
        .collect();
    let wrong = differences(&found, &listed);
    assert!(wrong.is_empty(), "tests/doubles.toml is out of date:\n{}", wrong.join("\n"));
}

#[test]
fn a_new_double_and_a_stale_entry_are_both_told() {
    let found = doubles([
        ("eke-noise", "pub struct Path<L> {"),
        ("eke-budget", "    pub enum Path {"),
        ("eke-budget", "pub trait Price: Copy {"),
        ("eke-budget", "pub trait Price: Clone {"),
        ("eke-sql", "pub(crate) struct Price;"),
        ("eke-sql", "/// pub struct Price"),
        ("eke-geo", "pub type Pair = (i64, i64);"),
        ("eke-local", "pub type Pair=(u32, u32);"),
        ("eke-local", "pub fn Price() {"),
    ]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["Pair", "Path"]);
    let crates = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let listed = Words::from([
        ("Path".to_owned(), crates(&["eke-budget", "eke-geo"])),
        ("Price".to_owned(), crates(&["eke-budget", "eke-sql"])),
    ]);
    let told = differences(&found, &listed);
    assert!(told.len() == 3, "{told:?}");
    assert!(told[0].contains("`Pair` means two things"), "{told:?}");
    assert!(told[1].contains("`Path` is in"), "{told:?}");
    assert!(told[2].contains("`Price` does not mean two things any more"), "{told:?}");
    assert_eq!(differences(&found, &found), Vec::<String>::new());
}
