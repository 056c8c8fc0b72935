//! Every target reads its corpus, and a fixed number of mutants of it.

mod mutation;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use eke_fuzz::{TARGETS, Target};
use mutation::Mutations;

/// The seeds of a target, in the order of their names.
fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let entries = fs::read_dir(&folder).expect("a target has a corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a seed is read")).collect()
}

/// Reads bytes, and says which they were if that panics.
fn read(target: &Target, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| target.read(bytes))).is_err() {
        panic!("{} breaks on {:?}", target.name, String::from_utf8_lossy(bytes));
    }
}

/// How many mutants each target is tried on: those that open files are slower.
fn tries(target: &Target) -> usize {
    match target.name {
        "csv" => 150,
        "sql" => 1_500,
        _ => 3_000,
    }
}

#[test]
fn every_target_has_a_corpus_and_every_corpus_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(found, names);
    for target in TARGETS {
        assert!(!corpus(target).is_empty(), "{}", target.name);
    }
}

#[test]
fn every_target_reads_its_corpus() {
    for target in TARGETS {
        for bytes in corpus(target) {
            read(target, &bytes);
        }
    }
}

#[test]
fn every_target_reads_mutants_of_its_corpus() {
    for target in TARGETS {
        let mut mutations = Mutations::new(corpus(target), 20);
        for _ in 0..tries(target) {
            let bytes = mutations.next();
            read(target, &bytes);
        }
    }
}

#[test]
fn mutants_are_the_same_in_every_run_and_differ_from_each_other() {
    let seeds = || vec![b"SELECT 1".to_vec(), b"SELECT city FROM trips".to_vec()];
    let run = |seed| {
        let mut mutations = Mutations::new(seeds(), seed);
        (0..100).map(|_| mutations.next()).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let different: std::collections::BTreeSet<_> = run(1).into_iter().collect();
    assert!(different.len() > 60, "{} of 100 differ", different.len());
}
