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
    for (folder, manifest) in manifests() {
        assert!(!names(&dependencies(&manifest), "eke-lab"), "{folder}");
    }
}

/// The manifests of all crates, by the names of their folders.
fn manifests() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        found.push((folder.file_name().unwrap().to_str().unwrap().to_owned(), manifest));
    }
    found
}

/// The lines of a manifest that name a dependency, also for tests.
fn dependencies(manifest: &str) -> Vec<&str> {
    let sections = manifest.split("\n[").filter(|section| {
        section.lines().next().is_some_and(|head| head.ends_with("dependencies]"))
    });
    sections.flat_map(|section| section.lines().skip(1)).filter(|line| !line.is_empty()).collect()
}

/// Whether a dependency of this name is among them.
fn names(dependencies: &[&str], name: &str) -> bool {
    let is_it = |line: &&str| line.split(['.', ' ', '=']).next() == Some(name);
    dependencies.iter().any(is_it)
}

/// All source of one crate, without its tests.
fn source(name: &str) -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                walk(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&entry).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
                found.push((entry, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("crates").join(name).join("src"), &mut found);
    assert!(!found.is_empty());
    found
}

#[test]
fn only_the_engine_reads_rows() {
    for (folder, manifest) in manifests() {
        let all = dependencies(&manifest);
        assert_eq!(names(&all, "arrow-array"), folder == "eke-engine", "{folder}");
        if folder == "eke-sql" {
            for reader in
                ["arrow-array", "arrow-schema", "parquet", "csv", "eke-noise", "eke-ledger"]
            {
                assert!(!names(&all, reader), "{folder} {reader}");
            }
        }
    }
}

#[test]
fn the_ledger_knows_no_noise_and_no_rows() {
    let all = manifests();
    let (_, manifest) = all.iter().find(|(folder, _)| folder == "eke-ledger").unwrap();
    for name in
        ["eke-noise", "eke-select", "eke-sql", "eke-engine", "arrow-array", "parquet", "getrandom"]
    {
        assert!(!names(&dependencies(manifest), name), "{name}");
    }
    assert!(names(&dependencies(manifest), "eke-budget"), "the check sees dependencies");
}

#[test]
fn plot_depends_on_nothing() {
    let all = manifests();
    let (_, manifest) = all.iter().find(|(folder, _)| folder == "eke-plot").unwrap();
    // Its tests use what tests share.
    assert_eq!(dependencies(manifest), ["eke-testkit.workspace = true"]);
    assert!(manifest.contains("\n[dev-dependencies]\neke-testkit"));
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(workspace.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\""));
    for (folder, manifest) in manifests() {
        assert!(manifest.contains("[lints]\nworkspace = true"), "{folder}");
    }
}

#[test]
fn the_budget_has_no_files_randomness_or_clock() {
    let far =
        ["std::fs", "std::net", "std::time", "std::process", "std::env", "getrandom", "rand::"];
    for (path, text) in source("eke-budget") {
        for name in far {
            assert!(!text.contains(name), "{}: {name}", path.display());
        }
    }
}

#[test]
fn the_command_line_names_no_exact() {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    for (path, text) in source("eke-cli") {
        let named = text.split(|c: char| !is_letter(c)).any(|word| word == "Exact");
        assert!(!named, "{}", path.display());
    }
}

/// A name that may be a path, not another word of code.
fn is_path(name: &str) -> bool {
    let ends = [".rs", ".md", ".toml", ".sql", ".svg", ".txt", ".csv", ".json"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    name.chars().all(plain)
        && (name.ends_with('/') || name.contains('/') || ends.iter().any(|end| name.ends_with(end)))
}

#[test]
fn what_the_architecture_names_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let map = text.split_once("## Codemap").unwrap();
    let mut looked = 0;
    let mut check = |name: &str, places: &[PathBuf]| {
        looked += 1;
        assert!(places.iter().any(|place| place.join(name).exists()), "there is no `{name}`");
    };
    for name in quoted(map.0).filter(|name| is_path(name)) {
        check(name, &[root()]);
    }
    // Links, wherever they are.
    for target in text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap()) {
        if !target.is_empty() && !target.contains("://") {
            check(target, &[root()]);
        }
    }
    let mut mapped = BTreeSet::new();
    for section in map.1.split("\n### ").skip(1) {
        let section = section.split("\n## ").next().unwrap();
        let head = section.lines().next().unwrap();
        let folder = quoted(head).last().map(|name| name.trim_start_matches("crates/"));
        let Some(folder) = folder.filter(|folder| root().join("crates").join(folder).is_dir())
        else {
            continue;
        };
        let source = root().join("crates").join(folder).join("src");
        for line in section.lines() {
            // A file may be named from the folder that its line is about.
            let about = quoted(line).next().filter(|name| name.ends_with('/'));
            let mut places = vec![root(), source.clone()];
            places.extend(about.map(|name| source.join(name)));
            for name in quoted(line).filter(|name| is_path(name)) {
                check(name, &places);
            }
        }
        // Every folder has a line.
        for entry in fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_str().unwrap();
            let is_named = section.contains(&format!("`{name}/`"));
            assert!(!entry.is_dir() || is_named, "ARCHITECTURE.md has no line for {folder}/{name}");
        }
        mapped.insert(folder.to_owned());
    }
    let all: BTreeSet<String> = manifests().into_iter().map(|(folder, _)| folder).collect();
    assert_eq!(mapped, all, "every crate has a section");
    assert!(looked > 100, "{looked}");
}

#[test]
fn the_front_page_is_short_and_within_a_hundred_columns() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 160);
    for line in readme.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// A heading as links name it.
fn slug(heading: &str) -> String {
    let plain = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut pages = Vec::new();
    for folder in [root(), root().join("docs")] {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|file| file.extension().is_some_and(|end| end == "md")));
    }
    let mut looked = 0;
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        // Code is not looked at: what is in backquotes is no link.
        let prose: String = text.split('`').step_by(2).collect();
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            looked += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            assert!(file.exists(), "{}: {target}", page.display());
            if !heading.is_empty() {
                let there = fs::read_to_string(&file).unwrap();
                let mut headings = there.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|line| slug(line) == heading), "{}: {target}", page.display());
            }
        }
    }
    assert!(looked > 60, "{looked}");
}

/// The tests that stand beside invariants exist.
#[test]
fn the_architecture_names_tests_that_exist() {
    let sources = sources();
    let tests = tests(&sources);
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, map) = text.split_once("## Codemap").unwrap();
    let (map, _) = map.split_once("\n## ").unwrap();
    let is_test = |name: &&str| {
        name.matches('_').count() >= 3 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    let named: Vec<&str> = quoted(map).filter(is_test).collect();
    assert!(named.len() > 30, "{named:?}");
    for name in named {
        assert!(tests.contains(name), "no test `{name}`");
    }
}
