//! Nothing that ships depends on the test kit or on the lab, and no file is part of two crates.

use std::fs;

use toml::{Table, Value};

use crate::{crates, sources};

/// The one crate that may use the kit outside of tests: a tool for research, on which nothing
/// depends.
const LAB: &str = "eke-lab";

/// What is wrong with the dependencies of a crate.
fn wrong(name: &str, manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut found = Vec::new();
    for part in std::iter::once(manifest).chain(targets) {
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let Some(dependencies) = part.get(kind).and_then(Value::as_table) else { continue };
            for (key, value) in dependencies {
                // A dependency may go by another name here.
                let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
                let kit = package == "eke-testkit" && kind != "dev-dependencies" && name != LAB;
                if kit || package == LAB {
                    found.push(format!("{name} has {package} in its {kind}"));
                }
            }
        }
    }
    found
}

#[test]
fn nothing_that_ships_depends_on_the_kit_or_on_the_lab() {
    let mut looked = 0;
    for (name, folder) in crates() {
        let manifest: Table =
            fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        assert_eq!(wrong(&name, &manifest), Vec::<String>::new());
        looked += usize::from(manifest.contains_key("dev-dependencies"));
    }
    assert!(looked > 5, "{looked} have dev-dependencies");
}

#[test]
fn a_manifest_that_breaks_the_rule_is_found() {
    for (text, expected) in [
        ("[dependencies]\neke-testkit.workspace = true", "eke-testkit in its dependencies"),
        ("[build-dependencies]\neke-testkit = { path = \"..\" }", "eke-testkit in its build-dep"),
        (
            "[target.'cfg(unix)'.dependencies]\neke-testkit = { workspace = true, optional = true }",
            "eke-testkit in its dependencies",
        ),
        (
            "[dependencies]\nkit = { package = \"eke-testkit\", path = \"..\" }",
            "eke-testkit in its dependencies",
        ),
        ("[dev-dependencies]\neke-lab.workspace = true", "eke-lab in its dev-dependencies"),
    ] {
        let found = wrong("eke-engine", &text.parse().unwrap());
        assert!(found.len() == 1 && found[0].contains(expected), "{text}: {found:?}");
    }
    let fine = "[dependencies]\neke-noise.workspace = true\n\
                [dev-dependencies]\neke-testkit.workspace = true";
    assert_eq!(wrong("eke-engine", &fine.parse().unwrap()), Vec::<String>::new());
}

/// A module is in one crate: two that need it share a crate, and do not include each other's files.
#[test]
fn no_file_is_included_from_elsewhere() {
    let attribute = concat!("#", "[path");
    let mut looked = 0;
    for (_, folder) in crates() {
        for file in sources(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            let found = text.lines().find(|line| line.trim_start().starts_with(attribute));
            assert_eq!(found, None, "{}", file.display());
            looked += 1;
        }
    }
    assert!(looked > 300, "{looked} files");
}
