//! The documents and the code name each other, and both must exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust source of the workspace, each file as text.
fn sources() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                walk(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(fs::read_to_string(entry).unwrap());
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("crates"), &mut found);
    found
}

/// The names of all test functions.
fn tests(sources: &[String]) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for source in sources {
        let mut is_test = false;
        for line in source.lines().map(str::trim) {
            if line == "#[test]" {
                is_test = true;
            } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
                names.insert(rest.split('(').next().unwrap());
                is_test = false;
            }
        }
    }
    names
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text of a field of a theorem's docs, over its lines.
fn field(docs: &[&str], at: usize, name: &str) -> String {
    let mut text = docs[at].split_once(name).unwrap().1.to_owned();
    for line in &docs[at + 1..] {
        match line.trim().strip_prefix("///").map(str::trim) {
            Some(more) if !more.is_empty() && !more.starts_with("- ") => {
                text.push(' ');
                text.push_str(more);
            }
            _ => break,
        }
    }
    text
}

#[test]
fn every_theorem_in_the_code_is_in_the_documents_and_has_its_tests() {
    let sources = sources();
    let tests = tests(&sources);
    let theorems = fs::read_to_string(root().join("docs/theorems.md")).unwrap();
    let (mut used, mut checks) = (BTreeSet::new(), 0);
    for source in &sources {
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.trim().starts_with("/// - Theorem: ") {
                let text = field(&lines, at, "Theorem: ");
                let name = text.split_whitespace().next().unwrap().to_owned();
                assert!(theorems.contains(&format!("### {name}\n")), "no theorem `{name}`");
                used.insert(name);
            } else if line.trim().starts_with("/// - Checked by: ") {
                let text = field(&lines, at, "Checked by: ");
                let named: Vec<&str> = quoted(&text).collect();
                assert!(!named.is_empty(), "no test in: {text}");
                for name in named {
                    assert!(tests.contains(name), "no test `{name}`");
                }
                checks += 1;
            }
        }
    }
    assert!(used.len() >= 12 && checks >= used.len(), "{used:?}");
}

#[test]
fn the_threats_name_tests_that_exist() {
    let sources = sources();
    let tests = tests(&sources);
    let threats = fs::read_to_string(root().join("docs/THREATS.md")).unwrap();
    let rows: Vec<&str> = threats.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 5);
    for row in rows {
        let test_column = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = quoted(test_column).collect();
        assert!(!named.is_empty(), "no test in: {row}");
        for name in named {
            assert!(tests.contains(name) || root().join(name).exists(), "nothing called `{name}`");
        }
    }
}

#[test]
fn nothing_depends_on_the_lab() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let manifest = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let uses = manifest.lines().any(|line| line.starts_with("eke-lab"));
        assert!(!uses, "{manifest}");
    }
}
