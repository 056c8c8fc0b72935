//! Texts that mean the same, files that cannot be read, and texts that nobody would write.

use std::path::Path;

use eke_budget::{Adjacency, BudgetSpec, Metric};
use eke_ledger::Address;
use proptest::prelude::*;

use super::files::trips;
use super::{CITY, parse};
use crate::policy::Policy;

#[test]
fn a_policy_protects_somebody_and_has_something_to_ask_about() {
    let unit = "[unit.rider]\nadjacency = \"replace\"\nbudget = { rho = 0.5 }\n";
    let nobody = "eke.toml:1: nobody's privacy is protected here: add a [unit.NAME] with an adjacency and a budget";
    let nothing = "eke.toml:1: there is nothing to ask about: add a [dataset.NAME] with a source";
    let neither = &format!("{nobody}\n{nothing}");
    for (text, expected) in [("", neither), ("\n# nothing\n", neither), (unit, &nothing.to_owned())]
    {
        assert_eq!(parse(text).unwrap_err().to_string(), *expected);
    }
    let public = format!("{unit}[dataset.zones]\nsource = \"zones.csv\"\npublic = true\n");
    let policy = parse(&public).unwrap();
    assert_eq!(policy.units["rider"].adjacency, Adjacency::Replace);
    assert_eq!(policy.units["rider"].budget.promise(), None);
    let error = parse(&format!("{public}[analyst.ana]\ntier = \"x\"\n")).unwrap_err();
    assert_eq!(error.to_string(), "eke.toml:8: there is no [tier.x]: add it");
    // The line ends and the mark of Windows count for nothing.
    let windows = format!("\u{feff}{}", public.replace('\n', "\r\n"));
    assert_eq!(parse(&windows).unwrap(), policy);
}

#[test]
fn the_policy_of_the_document_is_one() {
    let document = include_str!("../../../../../docs/policy.md");
    let (_, example) = document.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let policy = parse(example).unwrap();
    assert_eq!((policy.units.len(), policy.datasets.len(), policy.circles.len()), (1, 2, 1));
    // The sentence about an unknown key lists those that there are: the document has them all.
    for (after, title) in [
        ("[unit.rider]\n", "[unit.rider]"),
        ("[dataset.trips]\n", "[dataset.trips]"),
        ("[tier.partner]\n", "[tier.partner]"),
        ("[analyst.ana]\n", "[analyst.ana]"),
        ("[circle.partners]\n", "[circle.partners]"),
        ("[ledger]\n", "[ledger]"),
        ("budget = { ", "a budget"),
        ("fare = { ", "a column"),
    ] {
        let comma = if after.ends_with('\n') { "\n" } else { ", " };
        let text = example.replacen(after, &format!("{after}zzzzzzzz = 1{comma}"), 1);
        let told = parse(&text).unwrap_err().to_string();
        let (_, keys) = told.split_once(&format!("{title} has ")).unwrap();
        for key in keys.split('`').skip(1).step_by(2).filter(|key| *key != "columns") {
            assert!(document.contains(&format!("`{key}`")), "{key}");
        }
    }
}

#[test]
fn a_budget_is_the_same_however_it_is_written() {
    let budget = |written: &str| {
        let text = CITY.replace("budget = { epsilon = 2.0, delta = 1e-7 }", written);
        parse(&text).unwrap().units["rider"].budget.clone()
    };
    let plain = budget("budget = { epsilon = 2.0, delta = 1e-7 }");
    for same in [
        "budget = { epsilon = 2, delta = 0.0000001 }",
        "budget.epsilon = 2e0\nbudget.delta = 1_0.0e-8",
        "budget = { epsilon = +2.0, delta = 1e-7, zcdp_delta = 1e-8, method = \"tight\" }",
        "zcdp_delta = 1e-8\nbudget = { epsilon = 2.0, delta = 1e-7 }",
    ] {
        assert_eq!(budget(same), plain, "{same}");
    }
    let divided = budget("budget = { epsilon = 2.0, delta = 1e-7 }\npure = 0.5\npure_delta = 1e-9");
    let inside = "budget = { epsilon = 2.0, delta = 1e-7, pure = 0.5, pure_delta = 1e-9 }";
    assert_eq!(divided, budget(inside));
    assert_eq!(divided.promise(), plain.promise());
    assert!(divided.pure().is_some() && divided.zcdp() != plain.zcdp());
    let json = r#"{"epsilon": 2.0, "delta": 1e-7, "pure": 0.5, "pure_delta": 1e-9}"#;
    let spec: BudgetSpec = serde_json::from_str(json).unwrap();
    assert_eq!(divided, spec.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap());
}

#[test]
fn circles_and_tiers_have_the_metric_of_the_unit() {
    let policy = parse(&CITY.replace("add-remove", "replace")).unwrap();
    for account in policy.payers("rider", Some("bob")).unwrap().iter() {
        assert_eq!(account.budget.metric(), Metric::Hamming(Adjacency::Replace));
    }
}

#[test]
fn the_ledger_lies_beside_the_policy_unless_it_says_where() {
    let ledger = |address: &str, path: &str| {
        let text = format!("{CITY}\n[ledger]\n{address}");
        Policy::parse(&text, Path::new(path)).unwrap().ledger
    };
    let file = |path: &str| Address::File(path.into());
    assert_eq!(ledger("", "eke.toml"), file("eke.ledger"));
    assert_eq!(ledger("", "data/eke.toml"), file("data/eke.ledger"));
    assert_eq!(ledger("address = \"l/x.db\"", "data/eke.toml"), file("data/l/x.db"));
    assert_eq!(ledger("address = \"/l/x.db\"", "data/eke.toml"), file("/l/x.db"));
    let url = "postgresql://eke@db/ledger";
    let address = ledger(&format!("address = \"{url}\""), "data/eke.toml");
    assert_eq!(address, Address::Postgres(url.into()));
    let policy = Policy::parse(CITY, Path::new("data/eke.toml")).unwrap();
    assert_eq!(policy.path(), Path::new("data/eke.toml"));
}

#[test]
fn a_password_in_the_address_is_not_printed() {
    let text = format!("{CITY}\n[ledger]\naddress = \"postgresql://eke:hunter2@db/ledger\"");
    assert!(!format!("{:?}", parse(&text).unwrap()).contains("hunter2"));
}

#[test]
fn a_file_that_cannot_be_read_says_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let shown = folder.display();
    let path = folder.join("eke.toml");
    let told = || Policy::read(&path).unwrap_err().to_string();
    let missing = "there is no such file: draft a policy with `eke init FILE`, or say where it is";
    assert_eq!(told(), format!("{shown}/eke.toml: {missing}"));
    std::fs::write(&path, b"# a\n# b \xff\n").unwrap();
    let binary = "this is not UTF-8 text: save the file as UTF-8";
    assert_eq!(told(), format!("{shown}/eke.toml:2: {binary}"));
    std::fs::write(&path, CITY).unwrap();
    assert_eq!(Policy::read(&path).unwrap().ledger, Address::File(folder.join("eke.ledger")));
    assert_eq!(
        Policy::read(folder).unwrap_err().to_string(),
        format!("{shown}: this is a folder: name the file in it, such as {shown}/eke.toml")
    );
}

#[test]
fn nesting_without_end_is_an_error_and_not_a_crash() {
    for text in ["a = ".to_owned() + &"[".repeat(100_000), "a.".repeat(100_000) + "b = 1"] {
        assert!(parse(&text).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is written: a policy that holds together, or sentences about lines that there are,
    /// in their order.
    #[test]
    fn changed_text_is_a_policy_or_an_error_on_one_of_its_lines(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, piece()), 1..6),
    ) {
        let mut text: Vec<char> = CITY.chars().collect();
        for (at, removed, put) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(policy) => {
                prop_assert!(!policy.units.is_empty() && !policy.datasets.is_empty());
                for dataset in policy.datasets.values() {
                    let _ = dataset.table(&trips());
                }
                for unit in policy.units.keys() {
                    for analyst in policy.analysts.keys() {
                        prop_assert!(policy.payers(unit, Some(analyst)).is_ok());
                    }
                }
            }
            Err(error) => {
                let told = error.to_string();
                let number = |told: &str| told.split(':').nth(1).and_then(|n| n.parse().ok());
                let lines: Vec<Option<usize>> = told.lines().map(number).collect();
                prop_assert_eq!(error.line(), lines[0]);
                let there = 1..=text.lines().count().max(1);
                prop_assert!(
                    lines.iter().all(|line| line.is_some_and(|line| there.contains(&line))),
                    "{}", told
                );
                prop_assert!(lines.is_sorted(), "{}", told);
            }
        }
    }
}

/// Pieces of policies, and of anything else.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "nan",
        "-inf",
        "1e999",
        "true",
        "2026-01-01",
        "\"\"\"",
        "'''",
        "[[",
        "rider",
        "\u{0}",
        "\r",
        "\u{feff}",
        "99999999999999999999",
        "max_rows = 1\n",
        "[analyst.zed]\n",
        "budget = {}\n",
        "pure = 1\n",
        "[dataset.other]\nsource = \"x\"\n",
    ];
    prop_oneof![
        Just(String::new()),
        "\\PC{0,4}",
        "[-\\[\\]{}=\".,#\n 0-9e]{1,5}",
        prop::sample::select(pieces.map(str::to_owned).to_vec()),
    ]
}
