//! What WHERE says about keys and values: no row that takes part is left out of a list of keys that
//! follows from it, or clamped by bounds that do.

use eke_sql::{Leaf, Plan, Summand, Type, Value, cast, evaluate, plan};
use eke_testkit::Dice;

use crate::tables::tables;

type Row = Vec<(&'static str, Value)>;

fn date(dice: &mut Dice) -> String {
    let (year, month) = (2022 + dice.below(4), 1 + dice.below(12));
    format!("{year}-{month:02}-{:02}", 1 + dice.below(28))
}

fn moment(dice: &mut Dice) -> String {
    let (hour, minute) = (dice.below(24), dice.below(60));
    format!("{} {hour:02}:{minute:02}:07", date(dice))
}

/// A row whose numbers are within the policy's bounds.
fn row(dice: &mut Dice) -> Row {
    let read = |text: String, kind| cast(Value::Text(text), kind);
    let mut row = vec![
        ("rider_id", Value::Int(1)),
        ("city", Value::Text((*dice.pick(&["Delft", "Leiden"])).to_owned())),
        ("zone", Value::Text((*dice.pick(&["a", "A", "b", "c", "ab"])).to_owned())),
        ("fare", Value::Float(dice.below(400) as f64 / 2.0)),
        ("stops", Value::Int(dice.below(13).cast_signed())),
        ("metres", Value::Float(dice.below(4_000) as f64)),
        ("paid", Value::Bool(dice.below(2) == 0)),
        ("day", read(date(dice), Type::Date)),
        ("started", read(moment(dice), Type::Timestamp)),
        ("seats", Value::Int(*dice.pick(&[1, 2, 4]))),
    ];
    if dice.below(6) == 0 {
        let place = dice.roll(row.len());
        row[place].1 = Value::Null;
    }
    row
}

fn condition(dice: &mut Dice) -> String {
    let operator = *dice.pick(&["=", "<", "<=", ">", ">=", "<>"]);
    let (one, other) = (dice.below(13), dice.below(13));
    let (low, high) = (one.min(other), one.max(other));
    match dice.roll(20) {
        0 => format!("stops {operator} {one}"),
        1 => format!("stops BETWEEN {low} AND {high}"),
        2 => format!("stops IN ({one}, {other}, 3)"),
        3 => format!("(stops = {one} OR stops = {other} OR stops IN (1, 2))"),
        4 => format!("{one} {operator} stops"),
        5 => format!("fare {operator} {}.5", dice.below(200)),
        6 => format!("fare BETWEEN {low} AND {}", high * 10),
        7 => format!("metres BETWEEN {low} AND {}", 1000 + high * 100),
        8 => format!("stops {operator} {one}.5"),
        9 => format!("day {operator} '{}'", date(dice)),
        10 => format!("day BETWEEN '{}' AND '2025-12-31'", date(dice)),
        11 => format!("started >= '{}' AND started < '{}'", moment(dice), moment(dice)),
        12 => format!("day >= TIMESTAMP '{}'", moment(dice)),
        13 => format!("EXTRACT(YEAR FROM started) = {}", 2022 + dice.below(4)),
        14 => format!("EXTRACT(YEAR FROM day) BETWEEN 2023 AND {}", 2023 + dice.below(3)),
        15 => "zone IN ('a', 'b', 'nowhere')".to_owned(),
        16 => "lower(zone) = 'a'".to_owned(),
        17 => (*dice.pick(&["paid", "NOT paid", "city <> 'Delft'", "city = 'Leiden'"])).to_owned(),
        18 => format!("EXTRACT(MONTH FROM day) IN ({}, 12)", 1 + dice.below(12)),
        _ => format!("NOT (stops {operator} {one})"),
    }
}

const KEYS: [&str; 17] = [
    "stops",
    "stops / 3",
    "stops % 4",
    "zone",
    "lower(zone)",
    "city",
    "seats",
    "day",
    "date_trunc('month', day)",
    "EXTRACT(YEAR FROM day)",
    "EXTRACT(MONTH FROM day)",
    "date_trunc('week', started)",
    "EXTRACT(YEAR FROM started) * 100 + EXTRACT(MONTH FROM started)",
    "to_char(started, 'YYYY-MM')",
    "started::date",
    "date_bin('6 hours', started, TIMESTAMP '2001-01-01 01:00:00')",
    "paid",
];

fn value(row: &Row, expr: &eke_sql::Expr) -> Value {
    evaluate(expr, &|leaf| match leaf {
        Leaf::Column(name) => {
            row.iter().find(|(own, _)| *own == name).map_or(Value::Null, |(_, value)| value.clone())
        }
        _ => Value::Null,
    })
}

fn takes_part(plan: &Plan, row: &Row) -> bool {
    plan.filter.as_ref().is_none_or(|filter| value(row, filter) == Value::Bool(true))
}

#[test]
fn lists_and_bounds_from_where_leave_no_row_out() {
    let mut dice = Dice::new(71);
    let (mut listed, mut narrowed) = (0, 0);
    for _ in 0..700 {
        let key = KEYS[dice.roll(KEYS.len())];
        let conditions: Vec<String> = (0..=dice.roll(3)).map(|_| condition(&mut dice)).collect();
        let sql = format!(
            "SELECT {key}, SUM(fare + 1) AS a, AVG(stops * 2) AS b, COUNT(*) AS c FROM trips WHERE {} \
             GROUP BY 1",
            conditions.join(" AND ")
        );
        let Ok(query) = plan(&sql, &tables()) else { panic!("{sql}") };
        let key = &query.plan.keys[0];
        let is_listed = ["city", "seats", "paid"].iter().any(|name| key.expr.columns() == [*name]);
        listed += usize::from(key.public.is_some() && !is_listed);
        for sum in &query.plan.sums {
            if let Summand::Value { low, high, centre: 0, .. } = sum.summand {
                let ends = [low, high].map(|end| end as f64 * sum.step());
                narrowed += usize::from(ends[0] > 1.0 || ends[1] < 201.0);
            }
        }
        for row in (0..40).map(|_| row(&mut dice)).filter(|row| takes_part(&query.plan, row)) {
            let own = value(&row, &key.expr);
            if let Some(public) = key.public.as_ref().filter(|_| own != Value::Null) {
                assert!(public.contains(&own), "{sql}: {own:?} of {row:?} is not in {public:?}");
            }
            for sum in &query.plan.sums {
                let Summand::Value { expr, low, high, .. } = &sum.summand else { continue };
                if let Value::Float(number) = cast(value(&row, expr), Type::Float) {
                    let steps = number / sum.step();
                    let is_within = (*low as f64 - 1.0..=*high as f64 + 1.0).contains(&steps);
                    assert!(is_within, "{sql}: {number} of {row:?} is clamped");
                }
            }
        }
    }
    assert!(listed > 100 && narrowed > 50, "{listed} {narrowed}");
}

fn public(sql: &str) -> Option<Vec<String>> {
    let query = plan(sql, &tables()).unwrap();
    let show = |value: &Value| match cast(value.clone(), Type::Text) {
        Value::Text(text) => text,
        _ => "NULL".to_owned(),
    };
    query.plan.keys[0].public.as_ref().map(|values| values.iter().map(show).collect())
}

#[test]
fn keys_that_where_lists_are_public() {
    let asked = |key: &str, condition: &str| {
        public(&format!("SELECT {key}, COUNT(*) FROM trips WHERE {condition} GROUP BY 1"))
    };
    let list = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(asked("zone", "zone IN ('x', 'y')"), list(&["x", "y"]));
    assert_eq!(asked("upper(zone)", "zone = 'x' OR zone = 'y'"), list(&["X", "Y"]));
    assert_eq!(asked("city", "city <> 'Delft'"), list(&["Leiden"]));
    assert_eq!(asked("stops", "stops >= 3 AND stops < 6"), list(&["3", "4", "5"]));
    let year = "EXTRACT(YEAR FROM started)";
    assert_eq!(asked(year, &format!("{year} >= 2020 AND {year} < 2022")), list(&["2020", "2021"]));
    assert_eq!(
        asked("date_trunc('month', day)", "day >= '2024-11-15' AND day < '2025-01-01'"),
        list(&["2024-11-01 00:00:00", "2024-12-01 00:00:00"])
    );
    assert_eq!(
        asked(
            "date_trunc('hour', started)",
            "started >= '2024-01-01 22:30' AND started < '2024-01-02'"
        ),
        list(&["2024-01-01 22:00:00", "2024-01-01 23:00:00"])
    );
    // Conditions that leave it open, that are about something else, or that no row meets.
    assert_eq!(asked("zone", "zone > 'a'"), None);
    assert_eq!(asked("stops", "stops > 3"), None);
    assert_eq!(asked("stops", "stops BETWEEN 0 AND 100000"), None);
    assert_eq!(asked("zone", "zone = 'x' OR paid"), None);
    assert_eq!(asked("started", "started >= '2024-01-01' AND started < '2024-02-01'"), None);
    assert_eq!(asked("city", "city = 'Rome'"), list(&["Delft", "Leiden"]));
}

/// Where a unit changes as much with the policy's bounds, a plan is what it was.
#[test]
fn bounds_from_where_change_a_plan_only_where_noise_is_less() {
    let ends = |sql: &str| {
        let query = plan(sql, &tables()).unwrap();
        let of = |sum: &eke_sql::Sum| match sum.summand {
            Summand::Value { low, high, .. } => {
                Some([low, high].map(|end| end as f64 * sum.step()))
            }
            _ => None,
        };
        query.plan.sums.iter().find_map(of).unwrap()
    };
    assert_eq!(ends("SELECT SUM(fare) FROM trips WHERE fare > 5"), [0.0, 200.0]);
    assert_eq!(ends("SELECT SUM(fare) FROM trips WHERE fare BETWEEN 5 AND 50"), [5.0, 50.0]);
    assert_eq!(ends("SELECT AVG(fare) FROM trips WHERE fare >= 50"), [50.0, 200.0]);
    assert_eq!(ends("SELECT SUM(fare) FROM trips WHERE fare > 500"), [0.0, 200.0]);
    assert_eq!(ends("SELECT SUM(stops) FROM trips WHERE stops < 5"), [0.0, 4.0]);
    assert_eq!(ends("SELECT SUM(metres) FROM trips WHERE metres BETWEEN 0 AND 900"), [0.0, 900.0]);
    let inner = "SELECT AVG(total) FROM (SELECT rider_id, SUM(fare) AS total FROM trips \
                 WHERE fare <= 10 GROUP BY rider_id) AS riders";
    assert_eq!(ends(inner), [0.0, 200.0]);
    assert!(plan("SELECT SUM(metres) FROM trips WHERE metres > 0", &tables()).is_err());
}
