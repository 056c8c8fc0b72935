//! Policies that eke drafts: they are read once everything is answered, and not before.

use std::collections::BTreeSet;

use eke_budget::{Adjacency, Delta, Epsilon};
use eke_sql::{Protection, Type};
use proptest::prelude::*;

use super::parse;
use crate::policy::{DraftAnswers, Drafted, draft, suggest_name, suggest_unit_columns};

fn columns(columns: &[(&str, Option<Type>)]) -> Vec<(String, Option<Type>)> {
    columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
}

/// A column of every type.
fn trips() -> Vec<(String, Option<Type>)> {
    columns(&[
        ("rider_id", Some(Type::Int)),
        ("fare", Some(Type::Float)),
        ("seats", Some(Type::Int)),
        ("city", Some(Type::Text)),
        ("shared", Some(Type::Bool)),
        ("day", Some(Type::Date)),
        ("left", Some(Type::Timestamp)),
        ("photo", None),
    ])
}

fn answers() -> DraftAnswers {
    DraftAnswers {
        unit: Some("rider".into()),
        unit_columns: vec!["rider_id".into()],
        period: None,
        looked: None,
        adjacency: Some(Adjacency::AddRemove),
        epsilon: Some(Epsilon::new(2.0).unwrap()),
        delta: Some(Delta::new(1e-7).unwrap()),
        max_groups: Some(3),
        max_rows: Some(20),
        bounds: vec![("fare".into(), 0.0, 200.0), ("seats".into(), -0.0, 8.0)],
        public: BTreeSet::from(["zones".into()]),
    }
}

#[test]
fn a_draft_reads_like_this() {
    let columns = columns(&[
        ("rider_id", Some(Type::Int)),
        ("fare", Some(Type::Float)),
        ("tip", Some(Type::Float)),
        ("city", Some(Type::Text)),
        ("shared", Some(Type::Bool)),
        ("day", Some(Type::Date)),
        ("photo", None),
    ]);
    let trips = Drafted { name: "trips", source: "trips.parquet", columns: &columns, csv: false };
    let zones = columns_of_zones();
    let zones = Drafted { name: "zones", source: "zones.csv", columns: &zones, csv: true };
    let text = draft(&[trips, zones], &answers());
    assert_eq!(text, include_str!("answered.toml"));
    let text = draft(&[trips, zones], &DraftAnswers::default());
    assert_eq!(text, include_str!("open.toml"));
}

fn columns_of_zones() -> Vec<(String, Option<Type>)> {
    columns(&[("zone_id", Some(Type::Int)), ("name", Some(Type::Text)), ("area", None)])
}

#[test]
fn a_draft_is_read_once_everything_is_answered() {
    for csv in [false, true] {
        let columns = trips();
        let trips = Drafted { name: "trips", source: "trips.x", columns: &columns, csv };
        let zones = Drafted { name: "zones", source: "zones.csv", columns: &[], csv: true };
        let text = draft(&[trips, zones], &answers());
        let policy = parse(&text).unwrap();
        let promise = policy.units["rider"].budget.promise().unwrap();
        assert_eq!(promise.to_string(), "epsilon 2.0, delta 1e-7");
        let mut schema = columns.clone();
        let table = policy.datasets["trips"].table(&schema).unwrap();
        let Protection::Private { max_groups: 3, max_rows: 20, unit_column, .. } = table.protection
        else {
            panic!("{:?}", table.protection)
        };
        assert_eq!(unit_column, "rider_id");
        assert_eq!(table.columns[1].bounds, Some((0.0, 200.0)));
        assert_eq!(policy.datasets["zones"].table(&[]).unwrap().protection, Protection::Public);
        // What a CSV holds is what the policy says it does.
        for (name, kind) in schema.drain(..).filter(|(_, kind)| csv && kind.is_some()) {
            assert_eq!(policy.datasets["trips"].columns[&name].kind, kind, "{name}");
        }
    }
}

/// Several columns and a period are written so that the policy has them, and in this order.
#[test]
fn a_draft_has_all_columns_of_a_unit_and_its_period() {
    use eke_sql::{PeriodLength, UnitColumns, UnitPeriod, ZoneOffset};
    let columns = trips();
    let trips = Drafted { name: "trips", source: "trips.x", columns: &columns, csv: false };
    let period = UnitPeriod {
        every: PeriodLength::Week,
        time_column: "left".to_owned(),
        zone: ZoneOffset::read("-03:00").unwrap(),
    };
    let unit_columns = vec!["seats".to_owned(), "rider_id".to_owned()];
    for period in [None, Some(period)] {
        let unit = UnitColumns { columns: unit_columns.clone(), period: period.clone() };
        let answers = DraftAnswers { unit_columns: unit_columns.clone(), period, ..answers() };
        let answers = DraftAnswers { bounds: Vec::new(), ..answers };
        let policy = parse(&draft(&[trips], &answers)).unwrap();
        assert_eq!(policy.datasets["trips"].unit_columns(), unit);
    }
}

/// A column that looks like a measurement is named, going by its name and type alone.
#[test]
fn a_unit_column_that_looks_like_a_measurement_is_pointed_out() {
    let odd = |name: &str, kind| {
        let answers = DraftAnswers { unit_columns: vec![name.into()], ..DraftAnswers::default() };
        answers.odd_columns(&columns(&[(name, kind)])).pop()
    };
    for (name, kind) in [
        ("fare", Some(Type::Int)),
        ("Total Amount", None),
        ("age", Some(Type::Text)),
        ("trip_date", None),
        ("x", Some(Type::Float)),
        ("rider", Some(Type::Timestamp)),
        ("member", Some(Type::Bool)),
    ] {
        let told = odd(name, kind).unwrap();
        assert!(told.contains("looks like a"), "{told}");
    }
    for name in ["rider_id", "rider", "serialno", "sporder", "price_id", "agent", "household"] {
        assert_eq!(odd(name, Some(Type::Int)), None, "{name}");
    }
}

/// A draft says whether rows were looked at for types, and what has bounds is a number.
#[test]
fn a_draft_says_whether_rows_were_looked_at() {
    let open = columns(&[("rider_id", None), ("fare", None)]);
    let trips = Drafted { name: "trips", source: "trips.csv", columns: &open, csv: true };
    let text = draft(&[trips], &answers());
    assert!(text.contains("No row was looked at"), "{text}");
    assert!(text.contains("fare = { type = \"float\", min = 0, max = 200 }"), "{text}");
    let looked = DraftAnswers { looked: Some("2026-11-18".into()), ..answers() };
    let text = draft(&[Drafted { columns: &self::trips(), ..trips }], &looked);
    assert!(text.contains("the steward had them looked at on 2026-11-18"), "{text}");
    assert!(!text.contains("No row was looked at"), "{text}");
}

#[test]
fn what_is_not_answered_is_asked_for_by_its_line() {
    let columns = trips();
    let trips = Drafted { name: "trips", source: "trips.parquet", columns: &columns, csv: false };
    let told = |change: fn(&mut DraftAnswers)| {
        let mut answers = answers();
        change(&mut answers);
        let text = draft(&[trips], &answers);
        let told = parse(&text).unwrap_err().to_string();
        assert!(text.contains("# decide"));
        told.split_once(": ").unwrap().1.split_once(':').unwrap().0.to_owned()
    };
    assert_eq!(told(|it| it.adjacency = None), "[unit.rider] has no `adjacency`");
    assert_eq!(told(|it| it.epsilon = None), "[unit.rider] has no `budget`");
    assert_eq!(told(|it| it.delta = None), "[unit.rider] has no `budget`");
    assert_eq!(told(|it| it.max_rows = None), "[dataset.trips] has no `max_rows`");
    let whose = "[dataset.trips] does not say whose rows it has";
    assert_eq!(told(|it| it.unit_columns.clear()), whose);
    assert_eq!(told(|it| it.unit_columns = vec!["other".into()]), whose);
}

/// Every decision that is left open is a line that is right once it is not a comment any more.
#[test]
fn the_lines_to_decide_are_right_without_their_comment_sign() {
    for csv in [false, true] {
        let mut columns = trips();
        columns.retain(|(_, kind)| kind.is_some());
        let trips = Drafted { name: "trips", source: "trips.x", columns: &columns, csv };
        let text = draft(&[trips], &DraftAnswers::default());
        let mut decided = String::new();
        for line in text.lines().filter(|line| !line.contains("public = true")) {
            // A line that is a comment, or one that says what to add to it.
            let open =
                ["# decide", "# needed", "# if these"].iter().any(|open| line.contains(open));
            let line =
                match (line.strip_prefix("# ").filter(|_| open), line.split_once("   # add ")) {
                    (Some(open), _) => open.to_owned(),
                    (None, Some((before, add))) => {
                        let (add, _) = add.split_once(": ").unwrap();
                        format!("{}, {add} }}", before.strip_suffix(" }").unwrap())
                    }
                    (None, None) => line.to_owned(),
                };
            decided.push_str(&line.replace("[\"…\", \"…\"]", "[\"a\", \"b\"]"));
            decided.push('\n');
        }
        let policy = parse(&decided).unwrap();
        let table = policy.datasets["trips"].table(&columns).unwrap();
        assert_eq!(table.columns[1].bounds, Some((0.0, 100.0)));
        assert_eq!(table.columns[3].values.as_ref().map(Vec::len), Some(2));
    }
}

#[test]
fn columns_that_could_be_units_are_suggested_by_their_names() {
    let cases = columns(&[
        ("zone_id", Some(Type::Int)),
        ("fare", Some(Type::Float)),
        ("user", Some(Type::Text)),
        ("Patient_ID", Some(Type::Int)),
        ("id", None),
        ("device_id", Some(Type::Float)),
        ("fluid", Some(Type::Int)),
    ]);
    assert_eq!(suggest_unit_columns(&cases), ["Patient_ID", "user", "zone_id", "id"]);
}

#[test]
fn files_suggest_names_that_sql_can_use() {
    let cases = [
        ("trips.parquet", "trips"),
        ("data/Trips-2026.csv.gz", "trips_2026"),
        ("2026.csv", "data_2026"),
        ("order.parquet", "order_data"),
        ("trips/", "trips"),
        ("trips/*.parquet", "data"),
        ("", "data"),
        ("é.csv", "data"),
    ];
    for (source, name) in cases {
        assert_eq!(suggest_name(source), name, "{source}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A file can call its columns what it likes: it does not write the policy.
    #[test]
    fn names_of_columns_stay_names(
        names in prop::collection::btree_set("(\\PC|[\n\r\t\"'\\\\#=\\[\\]{}\u{0}\u{7f}\u{85}\u{202e}]){0,12}", 1..5),
        source in "\\PC{1,12}",
        csv: bool,
        kind in prop::sample::select(vec![None, Some(Type::Int), Some(Type::Text), Some(Type::Bool), Some(Type::Float)]),
    ) {
        let mut columns: Vec<_> = names.into_iter().map(|name| (name, kind)).collect();
        columns.retain(|(name, _)| name != "rider_id");
        columns.push(("rider_id".into(), Some(Type::Int)));
        let drafted = Drafted { name: "trips", source: &source, columns: &columns, csv };
        let mut answers = answers();
        if matches!(kind, Some(Type::Int | Type::Float)) {
            let others = columns.iter().filter(|(name, _)| name != "rider_id");
            answers.bounds = others.map(|(name, _)| (name.clone(), 0.0, 1.0)).collect();
        }
        let policy = parse(&draft(&[drafted], &answers)).unwrap();
        prop_assert_eq!(&policy.datasets["trips"].source, &source);
        let table = policy.datasets["trips"].table(&columns).unwrap();
        let private = matches!(table.protection, Protection::Private { max_rows: 20, .. });
        prop_assert!(private);
        let open = draft(&[drafted], &DraftAnswers::default());
        prop_assert!(parse(&open).unwrap_err().to_string().contains("has no `adjacency`"));
    }
}

#[test]
fn any_suggested_name_is_one() {
    for source in ["select", "a b", "___", "x".repeat(300).as_str(), "..", "./a", "C:\\data\\t.csv"]
    {
        crate::policy::name::check_table(&suggest_name(source)).unwrap();
    }
}
