//! Bounds that a question chooses, and the bound on all rows of a unit.

use eke_sql::error::BoundsError;
use eke_sql::{
    AskedBounds, Meet, Plan, Protection, RowSource, SqlError, Summand, Table, Widest, plan,
    plan_open, plan_within,
};

use crate::tables::{tables, tables_of_units};

const CITIES: &str = "SELECT city, COUNT(*), SUM(fare) FROM trips GROUP BY city";

fn bounded(bounds: &str, sql: &str) -> String {
    format!("SET eke.bounds = '{bounds}'; {sql}")
}

fn planned(sql: &str) -> Plan {
    plan(sql, &tables()).unwrap_or_else(|no| panic!("{sql}: {no}")).plan
}

/// The tables with a bound on all rows of a rider.
fn in_all(rows: u32) -> Vec<Table> {
    let mut tables = tables();
    for table in &mut tables {
        if let Protection::Private { max_rows_in_all, .. } = &mut table.protection {
            *max_rows_in_all = Some(rows);
        }
    }
    tables
}

#[test]
fn bounds_are_read_as_they_are_written() {
    for text in ["", "groups=12", "groups=1,rows=2,values=3,rows_in_all=4,fare=0:80,t.x=-1.5:2"] {
        let bounds: AskedBounds = text.parse().unwrap();
        assert_eq!((bounds.to_string().as_str(), bounds.is_empty()), (text, text.is_empty()));
    }
    assert_eq!(
        " rows = 7 , fare = -1 : 2 ".parse::<AskedBounds>().unwrap().to_string(),
        "rows=7,fare=-1:2"
    );
    for wrong in [
        "rows",
        "rows=",
        "rows=0",
        "rows=-1",
        "rows=1.5",
        "row=3",
        "fare=1:1",
        "fare=2:1",
        "fare=a:b",
        "fare=0:inf",
        "=0:1",
    ] {
        let error = wrong.parse::<AskedBounds>().unwrap_err();
        assert!(matches!(error, SqlError::Bounds(BoundsError::NoBound { .. })), "{wrong}: {error}");
    }
}

/// What is chosen is in the plan, what has no part in it changes nothing, and what is the policy's
/// own is the same plan.
#[test]
fn bounds_of_a_question_are_part_of_its_plan() {
    let own = planned(CITIES).digest();
    let of = |bounds: &str| planned(&bounded(bounds, CITIES));
    for same in [
        "",
        "groups=3",
        "groups=2",
        "rows=20",
        "fare=0:200",
        "tip=0:1",
        "values=3",
        "rows_in_all=40",
        "stops=1:2",
    ] {
        assert_eq!(of(same).digest(), own, "{same}");
    }
    for other in
        ["groups=1", "rows=19", "fare=0:199", "fare=1:200", "rows_in_all=39", "rows_in_all=5"]
    {
        assert_ne!(of(other).digest(), own, "{other}");
    }
    let plan = of("groups=2,rows=7,rows_in_all=9,fare=10:20");
    assert_eq!((plan.max_groups, plan.max_rows, plan.max_rows_in_all), (2, 7, Some(9)));
    let Summand::Value { low, high, .. } = plan.sums[1].summand else { panic!("{plan:?}") };
    let step = plan.sums[1].step();
    assert_eq!((low as f64 * step, high as f64 * step), (10.0, 20.0));
    // Later goes before earlier, a question's own before what was set.
    let sql = "SET eke.max_rows = 3; SET eke.bounds = 'rows=4,groups=1'; SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows = 5) city, COUNT(*) FROM trips GROUP BY city";
    assert_eq!((planned(sql).max_rows, planned(sql).max_groups), (5, 1));
    let sql = "SET eke.bounds = 'rows=4'; SET eke.bounds = ''; SELECT COUNT(*) FROM trips";
    assert_eq!(planned(sql).max_rows, 20);
}

/// A bound on all rows has one form: no more than a group allows in a group, and none where groups
/// allow no more or rows are not added up.
#[test]
fn a_bound_on_all_rows_has_one_form() {
    let of = |rows: u32, sql: &str| {
        let plan = plan(sql, &in_all(rows)).unwrap().plan;
        (plan.max_groups, plan.max_rows, plan.max_rows_in_all)
    };
    // Two cities are public.
    assert_eq!(of(40, CITIES), (2, 20, None));
    assert_eq!(of(39, CITIES), (2, 20, Some(39)));
    assert_eq!(of(20, CITIES), (2, 20, Some(20)));
    assert_eq!(of(7, CITIES), (2, 7, Some(7)));
    assert_eq!(of(1, CITIES), (2, 1, Some(1)));
    assert_eq!(of(7, "SELECT COUNT(*) FROM trips"), (1, 7, None));
    let units =
        "SELECT city, COUNT(DISTINCT rider_id), COUNT(DISTINCT zone) FROM trips GROUP BY city";
    assert_eq!(of(7, units), (2, 20, None));
    assert_eq!(plan(units, &in_all(7)).unwrap().plan.digest(), planned(units).digest());
    // One row a rider.
    let one = "SELECT n, COUNT(*) FROM (SELECT rider_id, COUNT(*) AS n FROM trips GROUP BY rider_id) AS t GROUP BY n";
    assert_eq!(of(7, one), (1, 1, None));
    // And none at all is the plan that it was.
    let json = serde_json::to_string(&planned(CITIES)).unwrap();
    assert!(!json.contains("in_all"), "{json}");
}

#[test]
fn wider_bounds_are_chosen_up_to_the_widest() {
    let widest = Widest {
        table: "trips".to_owned(),
        max_groups: Some(5),
        max_rows: Some(50),
        max_values: Some(30),
        max_rows_in_all: Some(60),
        clamps: vec![("fare".to_owned(), -10.0, 500.0)],
    };
    let ask = |bounds: &str, sql: &str| {
        plan_within(&bounded(bounds, sql), &tables(), std::slice::from_ref(&widest))
    };
    let zones = "SELECT zone, COUNT(*), SUM(fare), COUNT(DISTINCT note) FROM trips GROUP BY zone";
    for taken in [
        "groups=5",
        "rows=50",
        "values=30",
        "rows_in_all=60",
        "fare=-10:500",
        "metres=-1e6:1e6",
        "FARE=0:1",
        "trips.fare=0:1",
    ] {
        assert!(ask(taken, zones).is_ok(), "{taken}");
    }
    for beyond in [
        "groups=6",
        "rows=51",
        "values=31",
        "rows_in_all=61",
        "fare=-11:0",
        "fare=0:501",
        "tip=-6:0",
    ] {
        let error = ask(beyond, zones).unwrap_err();
        assert!(matches!(error, SqlError::Bounds(BoundsError::BeyondWidest { .. })), "{beyond}");
    }
    // Different values follow the rows, and no further than they may.
    let most = |bounds: &str| match ask(bounds, zones).unwrap().plan.sums.last().unwrap().summand {
        Summand::Distinct { most, .. } => most,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(
        [most(""), most("rows=25"), most("rows=50"), most("rows=50,values=7")],
        [20, 25, 30, 7]
    );
    // Without bounds in the policy a question may give them.
    let metres = "SELECT SUM(metres) FROM trips";
    assert!(ask("", metres).is_err() && ask("metres=0:9", metres).is_ok());
    assert!(matches!(
        ask("nothing=0:9", metres),
        Err(SqlError::Bounds(BoundsError::NoColumn { .. }))
    ));
    assert!(matches!(
        ask("note=0:9", metres),
        Err(SqlError::Bounds(BoundsError::NoNumbers { .. }))
    ));
}

/// Where rows of several tables come together, each of them must allow the bounds.
#[test]
fn bounds_hold_for_all_tables_of_a_question() {
    let sql = "SELECT COUNT(*) FROM trips JOIN riders ON trips.rider_id = riders.id";
    let both = plan(sql, &tables_of_units()).unwrap().plan;
    let fewer = plan(&bounded("rows=1", sql), &tables_of_units()).unwrap().plan;
    assert!(both.max_rows > 1 && fewer.max_rows == 1);
    let error = plan(&bounded(&format!("rows={}", both.max_rows + 1), sql), &tables_of_units());
    assert!(matches!(error, Err(SqlError::Bounds(BoundsError::BeyondWidest { .. }))));
}

#[test]
fn what_is_watched_takes_the_bounds_of_the_policy() {
    let sql = "SELECT COUNT(*) FROM trips WHERE day = $1";
    let day = ["2026-01-30".to_owned()];
    let plan = |bounds: &str| plan_open(&bounded(bounds, sql), &tables(), &day);
    assert!(plan("").is_ok() && plan("rows=20").is_ok());
    assert!(matches!(plan("rows=19"), Err(SqlError::Bounds(BoundsError::NotHere))));
}

/// Where texts are gone through for pairs of rows of one unit, fewer pairs are looked at: what a
/// unit with many rows takes in time stays small.
#[test]
fn pairs_end_earlier_where_texts_are_gone_through() {
    let tables = tables_of_units();
    let most = |condition: &str| {
        let sql =
            format!("SELECT COUNT(*) FROM riders a JOIN rides b ON a.id = b.rider_id {condition}");
        let query = plan(&sql, &tables).unwrap_or_else(|error| panic!("{sql}: {error}"));
        match query.plan.rows {
            Some(RowSource::Meet(meet)) => meet.most_pairs(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(most(""), Meet::MOST_PAIRS);
    let (once, often) = ("AND b.zone LIKE '%x%'", "AND upper(rpad(b.zone, 9, a.home)) ~ 'x+y'");
    assert!(most(once) < Meet::MOST_PAIRS / 16);
    assert!(most(often) < most(once) && most(often) > 0);
}
