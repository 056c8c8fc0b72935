//! What ARCHITECTURE says that no crate does, held against all sources and manifests.
//!
//! A rule is a function of a file's path and its text, so that each is also shown a file that
//! breaks it. Comments and tests are left out first: what is absent is absent from what is shipped.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether a file breaks a rule: the word that breaks it.
type Rule = fn(path: &str, code: &str) -> Option<&'static str>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder with this ending, by its path from the root.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, ending: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                walk(root, &entry, ending, found);
            } else if entry.extension().is_some_and(|extension| extension == ending) {
                let path = entry.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((path, fs::read_to_string(entry).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &root().join(folder), ending, &mut found);
    found.sort();
    found
}

/// What is shipped of a file: no comments, and nothing that is for tests alone. Source is laid out
/// by rustfmt, so an item ends where a brace stands below its first letter.
fn shipped(source: &str) -> String {
    let mut kept = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text.starts_with("//") {
            continue;
        }
        if !text.starts_with("#[cfg(test)]") {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let indent = &line[..line.len() - text.len()];
        let end = [format!("{indent}}}"), format!("{indent}}};")];
        for line in lines.by_ref() {
            let first = line.strip_prefix(indent).is_some_and(|rest| !rest.starts_with([' ', '}']));
            if end.iter().any(|end| line == end) || (first && line.ends_with([';', ','])) {
                break;
            }
        }
    }
    kept
}

/// The files that a file declares for tests alone.
fn for_tests_alone(path: &str, source: &str) -> Vec<String> {
    let file = Path::new(path);
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let folder = match stem {
        "lib" | "mod" | "main" => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    let mut found = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line == "#[cfg(test)]" {
            marked = true;
        } else if !line.starts_with("#[") {
            let name = line.strip_prefix("pub(crate) ").unwrap_or(line).strip_prefix("mod ");
            if let Some(name) = name.and_then(|name| name.strip_suffix(';')).filter(|_| marked) {
                found.push(folder.join(format!("{name}.rs")).to_str().unwrap().to_owned());
            }
            marked = false;
        }
    }
    found
}

/// All that is shipped, by path.
fn sources() -> Vec<(String, String)> {
    let mut all = files("crates", "rs");
    all.retain(|(path, _)| path.split('/').nth(2) == Some("src"));
    let tests: BTreeSet<String> =
        all.iter().flat_map(|(path, source)| for_tests_alone(path, source)).collect();
    all.retain(|(path, _)| !tests.contains(path));
    all.into_iter().map(|(path, source)| (path, shipped(&source))).collect()
}

/// The first of these words that stands in the code as a word.
fn word(code: &str, words: &[&'static str]) -> Option<&'static str> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let stands = |word: &str| {
        code.match_indices(word).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + word.len()..]);
            let starts = !word.starts_with(part) || !before.ends_with(part);
            let ends = !word.ends_with(part) || !after.starts_with(part);
            starts && ends
        })
    };
    words.iter().copied().find(|word| stands(word))
}

fn within(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Crates that are for trying things out and for tests.
const WORKSHOP: [&str; 3] = ["crates/eke-fuzz/", "crates/eke-lab/", "crates/eke-testkit/"];

/// Only `eke-noise` draws randomness: everybody else hands an entropy on, and asks it nothing.
fn draws(path: &str, code: &str) -> Option<&'static str> {
    if within(path, &WORKSHOP) || within(path, &["crates/eke-noise/"]) {
        return None;
    }
    let generators = [
        "getrandom",
        "rand::",
        "rand_core",
        "rand_chacha",
        "rand_distr",
        "ChaCha12Rng",
        "fastrand",
        "oorandom",
        "OsRng",
        "RandomState",
        "urandom",
    ];
    let own = [".word()", "Entropy for", ".word_among("];
    word(code, &generators).or_else(|| word(code, &own))
}

/// `eke-budget`, `eke-select`, `eke-sql`, `eke-noise` and `eke-geo` know no clock and open no file.
fn touches_the_world(path: &str, code: &str) -> Option<&'static str> {
    let pure = ["budget", "select", "sql", "noise", "geo"];
    if !pure.iter().any(|name| path.starts_with(&format!("crates/eke-{name}/"))) {
        return None;
    }
    word(code, &["SystemTime", "Instant", "std::fs", "std::net", "std::process", "std::env"])
}

/// `eke-ledger` reads the time of day in `Moment::now` alone, for stamps that callers make, and
/// measures in `patience.rs` alone how long it has waited.
fn reads_a_clock(path: &str, code: &str) -> Option<&'static str> {
    let path = path.strip_prefix("crates/eke-ledger/src/")?;
    let day = (path != "moment.rs").then(|| word(code, &["SystemTime", "UNIX_EPOCH"])).flatten();
    let stamp = (path != "request.rs").then(|| word(code, &["Moment::now", "Stamp::now"]));
    let wait = (path != "patience.rs").then(|| word(code, &["Instant"])).flatten();
    day.or(stamp.flatten()).or(wait)
}

/// Only `eke-geo`, and what reads, writes and shows places (the `geo` of engine and command line),
/// name longitude and latitude.
fn knows_longitude(path: &str, code: &str) -> Option<&'static str> {
    let known =
        ["crates/eke-geo/", "crates/eke-engine/src/geo/", "crates/eke-cli/src/commands/geo"];
    if within(path, &WORKSHOP) || within(path, &known) {
        return None;
    }
    word(code, &["longitude", "latitude", "longitudes", "latitudes", "geographiclib_rs"])
}

/// The command line and figures name no `Exact`, and nothing that makes or opens one.
fn names_a_truth(path: &str, code: &str) -> Option<&'static str> {
    if !within(path, &["crates/eke-cli/", "crates/eke-plot/", "crates/eke-server/"]) {
        return None;
    }
    let verbs = ["Exact", "Scores", "Category", "evidence", "release_tiers", "release_rows"];
    word(code, &verbs)
}

/// Nothing but the lab names the lab.
fn names_the_lab(path: &str, code: &str) -> Option<&'static str> {
    (!within(path, &["crates/eke-lab/"])).then(|| word(code, &["eke_lab", "eke-lab"])).flatten()
}

/// Only the engine, and the lab for its data, name Arrow and Parquet.
fn names_arrow(path: &str, code: &str) -> Option<&'static str> {
    let known = ["crates/eke-engine/", "crates/eke-lab/"];
    let names = ["arrow::", "arrow_array", "arrow_ipc", "arrow_select", "parquet::"];
    (!within(path, &known)).then(|| word(code, &names)).flatten()
}

/// Many people's points are in one file of `eke-geo`, which hands out truths and no numbers; and
/// nothing in a crowd makes a truth but that file.
fn holds_points(path: &str, code: &str) -> Option<&'static str> {
    let path = path.strip_prefix("crates/eke-geo/src/crowd/")?;
    (path != "positions.rs").then(|| word(code, &["Exact::new"])).flatten()
}

/// A path, and what could stand in the file.
type Sample = (&'static str, &'static str);

/// Every rule, with a file that breaks it and one that does not.
const RULES: &[(Rule, Sample, Sample)] = &[
    (
        draws,
        ("crates/eke-engine/src/ask/mod.rs", "getrandom::fill(&mut nonce)?;"),
        ("crates/eke-noise/src/entropy.rs", "getrandom::fill(&mut key)?;"),
    ),
    (
        draws,
        ("crates/eke-geo/src/crowd/walk.rs", "let coin = entropy.word() & 1;"),
        ("crates/eke-geo/src/crowd/walk.rs", "let operand = strand(entropy);"),
    ),
    (
        draws,
        ("crates/eke-local/src/device/mod.rs", "impl Entropy for Counter {"),
        ("crates/eke-local/src/device/mod.rs", "fn ask<E: Entropy + ?Sized>(entropy: &mut E) {"),
    ),
    (
        touches_the_world,
        ("crates/eke-budget/src/account/mod.rs", "let now = std::time::SystemTime::now();"),
        ("crates/eke-ledger/src/moment.rs", "let now = SystemTime::now();"),
    ),
    (
        touches_the_world,
        ("crates/eke-sql/src/frontend/mod.rs", "std::fs::read_to_string(table)"),
        ("crates/eke-engine/src/data/source.rs", "std::fs::read_to_string(table)"),
    ),
    (
        reads_a_clock,
        ("crates/eke-ledger/src/writer/task.rs", "let at = Moment::now();"),
        ("crates/eke-ledger/src/request.rs", "Self::new(who, Moment::now())"),
    ),
    (
        reads_a_clock,
        ("crates/eke-ledger/src/journal/line.rs", "SystemTime::now()"),
        ("crates/eke-ledger/src/patience.rs", "Self(Instant::now())"),
    ),
    (
        knows_longitude,
        ("crates/eke-engine/src/rows/scan.rs", "let longitude = row.get(3);"),
        ("crates/eke-engine/src/geo/input.rs", "let longitude = row.get(3);"),
    ),
    (
        names_a_truth,
        ("crates/eke-cli/src/commands/tiers.rs", "use eke_noise::{Exact, TierPlan};"),
        ("crates/eke-cli/src/commands/tiers.rs", "let exactly = Exactly(1);"),
    ),
    (
        names_the_lab,
        ("crates/eke-noise/src/lib.rs", "#[path = \"../../eke-lab/src/fit.rs\"]\nmod fit;"),
        ("crates/eke-lab/src/main.rs", "use eke_lab::seeded::Seeded;"),
    ),
    (
        names_arrow,
        ("crates/eke-sql/src/plan/mod.rs", "use arrow_array::Array;"),
        ("crates/eke-engine/src/rows/mod.rs", "use arrow_array::Array;"),
    ),
    (
        holds_points,
        ("crates/eke-geo/src/crowd/count.rs", "Exact::new(Rows(points), bound)"),
        ("crates/eke-geo/src/crowd/positions.rs", "Exact::new(Rows(points), bound)"),
    ),
];

#[test]
fn no_source_breaks_an_invariant() {
    let sources = sources();
    assert!(sources.len() > 200, "{} files are found", sources.len());
    for (rule, ..) in RULES {
        let broken: Vec<_> = sources
            .iter()
            .filter_map(|(path, code)| rule(path, code).map(|word| (path, word)))
            .collect();
        assert!(broken.is_empty(), "{broken:?}");
    }
}

#[test]
fn every_rule_tells_a_file_that_breaks_it_from_one_that_does_not() {
    for (rule, (path, code), (fine, other)) in RULES {
        assert!(rule(path, &shipped(code)).is_some(), "{path}: {code}");
        assert_eq!(rule(fine, &shipped(other)), None, "{fine}: {other}");
    }
}

/// Comments and tests may say anything; what stands after a test is read again.
#[test]
fn only_what_is_shipped_is_held_against_rules() {
    let source = "\
//! getrandom
use one;
#[cfg(test)]
use getrandom::fill;
#[cfg(test)]
#[allow(dead_code)]
mod fit;
mod two {
    #[cfg(test)]
    fn seeded() {
        getrandom();
    }
    fn three() {}
}
#[cfg(test)]
mod tests {
    fn rand() {
    }
}
fn four() {}
";
    let code = "use one;\nmod two {\n    fn three() {}\n}\nfn four() {}\n";
    assert_eq!(shipped(source), code);
    assert_eq!(for_tests_alone("crates/a/src/b.rs", source), ["crates/a/src/b/fit.rs"]);
    assert_eq!(for_tests_alone("crates/a/src/lib.rs", source), ["crates/a/src/fit.rs"]);
}

/// The crates that a manifest names to be built with, not those for its tests.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut counts = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            counts = section.ends_with("dependencies]") && !section.contains("dev-dependencies");
        } else if counts && let Some((name, _)) = line.split_once(['.', '=', ' ']) {
            names.insert(name);
        }
    }
    names
}

/// Why a manifest may not be: the crate it depends on, and may not.
fn wrong_dependency<'a>(path: &str, manifest: &'a str) -> Option<&'a str> {
    let allowed = |name: &str| match name {
        "getrandom" | "rand_chacha" => {
            within(path, &["crates/eke-noise/"]) || within(path, &WORKSHOP)
        }
        "rand" | "rand_core" | "rand_distr" | "fastrand" => within(path, &WORKSHOP),
        "geographiclib-rs" => within(path, &["crates/eke-geo/", "crates/eke-lab/"]),
        name if name.starts_with("arrow") => within(path, &["crates/eke-engine/"]),
        "eke-lab" | "eke-testkit" => within(path, &WORKSHOP),
        "eke-local" => !within(path, &["crates/eke-geo/", "crates/eke-engine/"]),
        name if name.starts_with("eke-") => !within(path, &["crates/eke-budget/"]),
        _ => true,
    };
    dependencies(manifest).into_iter().find(|name| !allowed(name))
}

#[test]
fn no_manifest_breaks_an_invariant() {
    let manifests = files("crates", "toml");
    let manifests: Vec<_> =
        manifests.iter().filter(|(path, _)| path.ends_with("Cargo.toml")).collect();
    assert!(manifests.len() >= 11, "{} manifests are found", manifests.len());
    for (path, manifest) in manifests {
        assert_eq!(wrong_dependency(path, manifest), None, "{path}");
    }
    let bad = "[dependencies]\nserde.workspace = true\ngetrandom = \"0.3\"\n";
    assert_eq!(wrong_dependency("crates/eke-engine/Cargo.toml", bad), Some("getrandom"));
    let bad = "[target.'cfg(unix)'.dependencies]\neke-lab = { path = \"../eke-lab\" }\n";
    assert_eq!(wrong_dependency("crates/eke-noise/Cargo.toml", bad), Some("eke-lab"));
    let fine = "[dev-dependencies]\neke-testkit.workspace = true\n";
    assert_eq!(wrong_dependency("crates/eke-noise/Cargo.toml", fine), None);
}
