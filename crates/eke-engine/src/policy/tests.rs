//! Policies as people write them, and what eke says about them.

use std::collections::BTreeSet;
use std::path::Path;

use eke_budget::{Adjacency, Budget, BudgetSpec, Delta, Epsilon, Metric};
use eke_ledger::Address;
use eke_sql::{Protection, Type, Value};

use super::*;

mod drafts;
mod files;
mod mistakes;
mod texts;

/// A policy with everything in it. Goldens below change one piece of it at a time.
const CITY: &str = r#"# A city's trips.
[unit.rider]                              # line 2
adjacency = "add-remove"
budget = { epsilon = 2.0, delta = 1e-7 }

[dataset.trips]                           # line 6
source = "trips.parquet"
unit = "rider"
unit_column = "rider_id"
max_groups = 3
max_rows = 20

[dataset.trips.columns]                   # line 13
fare = { min = 0, max = 200 }
city = { values = ["Delft", "Leiden"] }

[dataset.zones]                           # line 17
source = "zones.csv"
public = true

[tier.internal]                           # line 21
[tier.partner]
finest = { rho = 1e-4 }
budget = { epsilon = 0.5, delta = 1e-8 }

[analyst.ana]                             # line 26
tier = "internal"
[analyst.bob]
tier = "partner"
[analyst.eve]

[circle.partners]                         # line 32
analysts = ["bob", "eve"]
budget = { epsilon = 0.6, delta = 1e-8 }
"#;

fn parse(text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(text, Path::new("eke.toml"))
}

fn city() -> Policy {
    parse(CITY).unwrap()
}

fn promise(epsilon: f64, delta: f64) -> Budget {
    BudgetSpec::promising(Epsilon::new(epsilon).unwrap())
        .with_delta(Delta::new(delta).unwrap())
        .resolve(Metric::Hamming(Adjacency::AddRemove))
        .unwrap()
}

#[test]
fn a_policy_is_what_it_says() {
    let policy = city();
    let rider = policy.unit("rider").unwrap();
    assert_eq!((rider.adjacency, rider.line), (Adjacency::AddRemove, 2));
    assert_eq!(rider.budget, promise(2.0, 1e-7));
    assert_eq!(rider.budget.promise().unwrap().to_string(), "epsilon 2.0, delta 1e-7");

    let trips = policy.dataset("trips").unwrap();
    assert_eq!((trips.source.as_str(), trips.line), ("trips.parquet", 6));
    let private = PolicyProtection::Private {
        unit: "rider".into(),
        adjacency: Adjacency::AddRemove,
        unit_column: "rider_id".into(),
        unit_column_line: 9,
        max_groups: 3,
        max_rows: 20,
        max_values: None,
        max_rows_in_all: None,
    };
    assert_eq!(trips.protection, private);
    let bounds = Some((0.0, 200.0));
    let fare = ColumnPolicy { kind: None, bounds, values: None, values_from: None, line: 14 };
    assert_eq!(trips.columns["fare"], fare);
    let cities = ["Delft", "Leiden"].map(|city| Value::Text(city.into()));
    assert_eq!(trips.columns["city"].values.as_deref(), Some(&cities[..]));
    assert_eq!(policy.dataset("zones").unwrap().protection, PolicyProtection::Public);

    assert_eq!(policy.tiers["internal"].finest, None);
    assert_eq!(policy.tiers["partner"].finest, Some("1e-4".parse().unwrap()));
    assert_eq!(policy.analysts["ana"].tier.as_deref(), Some("internal"));
    assert_eq!(policy.analysts["eve"].tier, None);
    assert_eq!(policy.circles["partners"].analysts, BTreeSet::from(["bob".into(), "eve".into()]));
    assert_eq!(policy.ledger, Address::File("eke.ledger".into()));
}

#[test]
fn the_unit_pays_first_then_the_analyst_then_its_circles() {
    let policy = city();
    let names = |analyst| -> Vec<_> {
        let payers = policy.payers("rider", analyst).unwrap();
        let seen =
            |account: &AccountSpec| (account.name.clone(), account.kind, account.budget.clone());
        payers.iter().map(seen).collect()
    };
    let unit = ("rider".to_owned(), AccountKind::Unit, promise(2.0, 1e-7));
    let own = |name: &str, budget| (format!("rider/analyst/{name}"), AccountKind::Analyst, budget);
    let circle = ("rider/circle/partners".to_owned(), AccountKind::Circle, promise(0.6, 1e-8));
    assert_eq!(names(None), std::slice::from_ref(&unit));
    assert_eq!(names(Some("ana")), [unit.clone(), own("ana", promise(2.0, 1e-7))]);
    assert_eq!(names(Some("bob")), [unit.clone(), own("bob", promise(0.5, 1e-8)), circle.clone()]);
    assert_eq!(names(Some("eve")), [unit, own("eve", promise(2.0, 1e-7)), circle]);

    assert_eq!(policy.finest(None), Ok(None));
    assert_eq!(policy.finest(Some("ana")), Ok(None));
    assert_eq!(policy.finest(Some("bob")), Ok(Some("1e-4".parse().unwrap())));
}

/// Columns in their order, a period with its column and zone, and what their files must have.
#[test]
fn units_can_be_several_columns_and_a_period() {
    let dataset = |more: &str| {
        let text = format!(
            "[unit.rider]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 1.0, delta = 1e-6 }}\n\
             [dataset.trips]\nsource = \"trips.csv\"\nunit = \"rider\"\nmax_rows = 1\n{more}"
        );
        parse(&text).unwrap().datasets["trips"].clone()
    };
    let name = |more: &str| dataset(more).protection.unit_column().unwrap().to_owned();
    assert_eq!(name("unit_columns = [\"b\", \"a\"]"), "(b, a)");
    assert_eq!(name("unit_columns = [\"a\"]"), "a");
    let month = "unit_period = \"month\"\ntime_column = \"t\"\n";
    assert_eq!(name(&format!("unit_column = \"a\"\n{month}")), "(month UTC of t, a)");
    let zoned = format!("unit_columns = [\"a\", \"B c\"]\n{month}unit_zone = \"-03:30\"");
    assert_eq!(name(&zoned), "(month -03:30 of t, a, \"B c\")");

    let told = |more: &str, schema: &[(&str, Type)]| {
        let schema: Vec<_> =
            schema.iter().map(|(name, kind)| ((*name).to_owned(), Some(*kind))).collect();
        let error = dataset(more).table(&schema).unwrap_err().to_string();
        error.split_once(": ").unwrap().1.to_owned()
    };
    let (a, b) = (("a", Type::Text), ("b", Type::Int));
    let several = "unit_columns = [\"a\", \"b\"]";
    assert!(told(several, &[a]).starts_with("`trips.csv` has no unit column `b`"));
    assert!(
        told(several, &[a, b, ("(a, b)", Type::Int)]).contains("which is what its units go by")
    );
    let by_month = format!("unit_column = \"a\"\n{month}");
    assert!(told(&by_month, &[a]).starts_with("`trips.csv` has no time column `t`"));
    let text = told(&by_month, &[a, ("t", Type::Text)]);
    assert!(text.contains("neither a date nor a timestamp: for CSV say so"), "{text}");
    let zoned = format!("{by_month}unit_zone = \"+01:00\"");
    assert!(told(&zoned, &[a, ("t", Type::Date)]).contains("leave out `unit_zone`"));
    for kind in [Type::Date, Type::Timestamp] {
        let schema = [("a".to_owned(), Some(Type::Text)), ("t".to_owned(), Some(kind))];
        assert!(dataset(&by_month).table(&schema).is_ok());
    }
    // A part may be public, where it names nobody by itself.
    let listed = format!("{several}\n[dataset.trips.columns]\nb = {{ values = [1, 2] }}");
    assert_eq!(dataset(&listed).columns["b"].values.as_ref().map(Vec::len), Some(2));
}

#[test]
fn rows_can_be_units_of_their_own() {
    let policy = |more: &str| {
        parse(&format!(
            "[unit.row]\nadjacency = \"add-remove\"\nbudget = {{ epsilon = 1.0, delta = 1e-6 }}\n\
             [dataset.homes]\nsource = \"homes.csv\"\nunit = \"row\"\n{more}"
        ))
    };
    let homes = &policy("").unwrap().datasets["homes"];
    assert_eq!(homes.protection.unit_column(), None);
    let table = homes.table(&[("rooms".to_owned(), Some(Type::Int))]).unwrap();
    let Protection::Private { unit_column, max_groups, max_rows, .. } = table.protection else {
        panic!("rows are private")
    };
    assert_eq!((unit_column.as_str(), max_groups, max_rows), ("", 1, 1));
    policy("max_groups = 1\nmax_rows = 1").unwrap();
    for (more, said) in [
        ("unit_column = \"id\"", "leave out `unit_column`"),
        ("max_groups = 2", "leave out `max_groups`"),
        ("max_rows = 7", "leave out `max_rows`"),
        ("max_values = 7", "leave out `max_values`"),
    ] {
        let error = policy(more).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn who_is_not_in_the_policy_is_told_where_people_are_named() {
    let policy = city();
    let expected =
        "there is no analyst `zed`: the steward names analysts as [analyst.NAME] in eke.toml";
    assert_eq!(policy.payers("rider", Some("zed")).unwrap_err().to_string(), expected);
    assert_eq!(policy.finest(Some("zed")).unwrap_err().to_string(), expected);
    assert!(policy.payers("rider", Some("steward")).is_err());
    assert_eq!(
        policy.payers("driver", None).unwrap_err().to_string(),
        "there is no unit `driver`: units are named as [unit.NAME] in eke.toml"
    );
    assert_eq!(
        policy.dataset("rides").unwrap_err().to_string(),
        "there is no dataset `rides`: datasets are named as [dataset.NAME] in eke.toml"
    );
    assert_eq!(
        policy.analyst("a\u{1b}[2J\u{202e}").unwrap_err().to_string(),
        "there is no analyst `a\\u{1b}[2J\\u{202e}`: the steward names analysts as [analyst.NAME] in eke.toml"
    );
}
