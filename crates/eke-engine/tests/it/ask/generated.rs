//! Generated questions about neighbouring tables: what is shown besides noisy values does not
//! depend on one person's rows.
//!
//! Every question is asked about some rows, and about the same rows with those of one more rider,
//! who has cells of every kind that does not belong there: other types, infinities, ends of ranges,
//! keys that nobody else has, long texts, quotes. Both must be answered or both refused, in the same
//! words, with the same columns, keys, endings and prices; and no cell of that rider is shown. Goals
//! are prices and keys are public, so this holds whatever noise is drawn: no tape is needed.

use std::fmt::Write as _;

use eke_engine::{Answer, Engine};
use eke_testkit::Dice;

use crate::trips::{Folder, price, question};

const POLICY: &str = r#"
[unit.rider]
adjacency = "ADJACENCY"
budget = { epsilon = 60.0, delta = 1e-5 }

[dataset.trips]
source = "trips.csv"
unit = "rider"
unit_column = "rider_id"
max_groups = 3
max_rows = 4

[dataset.trips.columns]
city = { type = "text", values = ["Delft", "Leiden", "Utrecht"] }
started = { type = "timestamp" }
fare = { type = "float", min = 0, max = 60 }
tip = { type = "float", min = 0, max = 20 }
metres = { type = "int", min = 0, max = 20000 }
paid = { type = "bool" }
zone = { type = "int" }

[dataset.profiles]
source = "profiles.csv"
unit = "rider"
unit_column = "id"
max_groups = 1
max_rows = 1

[dataset.profiles.columns]
born = { type = "int", min = 1900, max = 2020 }
club = { type = "text", values = ["gold", "none"] }

[dataset.zones]
source = "zones.csv"
public = true

[dataset.zones.columns]
zone = { type = "int" }
area = { type = "text" }
"#;

/// A part of every cell of the one more rider that is a text.
const CANARY: &str = "CANARY";

/// How many questions there are of each kind of neighbours.
const QUESTIONS: usize = 2_500;

#[test]
fn one_more_unit_changes_nothing_but_noisy_values() {
    std::thread::scope(|scope| {
        scope.spawn(|| compare("add-remove", 41));
        compare("replace", 42);
    });
}

fn compare(adjacency: &str, seed: u64) {
    let mut dice = Dice::new(seed);
    let policy = POLICY.replace("ADJACENCY", adjacency);
    let (trips, profiles) = rows(&mut dice);
    let folder = |more_trips: &str, more_profiles: &str| {
        let folder = Folder::new();
        folder.write("eke.toml", &policy);
        folder.write("trips.csv", &format!("{trips}{more_trips}"));
        folder.write("profiles.csv", &format!("{profiles}{more_profiles}"));
        folder.write("zones.csv", "zone,area\n0,north\n1,north\n2,south\n3,south\n");
        folder
    };
    // Neighbours that replace have a plain rider in the place of the odd one.
    let (odd_trips, odd_profile) = canary();
    let plain = match adjacency {
        "replace" => (format!("{CANARY}-RIDER,Delft,2025-01-02 08:15:00,12,1,900,true,2\n"), ""),
        _ => (String::new(), ""),
    };
    let folders = [folder(&plain.0, plain.1), folder(&odd_trips, &odd_profile)];
    let engines = [folders[0].engine(), folders[1].engine()];
    let mut answered = 0;
    for number in 0..QUESTIONS {
        let sql = generated(&mut dice);
        let [one, other] = engines.each_ref().map(|engine| shown(engine, &sql));
        assert_eq!(one, other, "{number}: {sql}");
        assert!(!one.text.contains(CANARY), "{sql}: {}", one.text);
        answered += usize::from(one.is_answer);
    }
    println!("{adjacency}: {answered} of {QUESTIONS} generated questions were answered");
    // Most of the grammar is answered: refusals alone would be the same as well.
    assert!(answered * 10 > QUESTIONS * 7, "{answered} of {QUESTIONS} were answered");
}

/// What an asker sees of an answer besides noisy values.
#[derive(Debug, PartialEq)]
struct Shown {
    is_answer: bool,
    text: String,
}

fn shown(engine: &Engine, sql: &str) -> Shown {
    match engine.ask(&question("steward", sql, price("1e-4")), &()) {
        Ok(answer) => {
            // The whole answer for the canary; the rest is compared without noisy values.
            let whole = serde_json::to_string(&answer).unwrap();
            assert!(!whole.contains(CANARY), "{sql}: {whole}");
            Shown { is_answer: true, text: without_values(&answer) }
        }
        Err(error) => Shown { is_answer: false, text: format!("{:?}: {error}", error.kind()) },
    }
}

fn without_values(answer: &Answer) -> String {
    let mut text = format!("{:?} {:?} {:?}\n", answer.columns, answer.cost, answer.left);
    let _ = writeln!(text, "{:?} {:?} {:?}", answer.looks, answer.chosen, answer.fewer);
    // Rows that noise sorts come in any order.
    let mut rows: Vec<String> = Vec::new();
    for row in &answer.rows {
        let endings: Vec<_> = row.values.iter().map(|cell| (cell.met, cell.ending)).collect();
        rows.push(format!("{:?} {endings:?}", row.keys));
    }
    rows.sort();
    text + &rows.join("\n")
}

fn rows(dice: &mut Dice) -> (String, String) {
    let mut trips = String::from("rider_id,city,started,fare,tip,metres,paid,zone\n");
    let mut profiles = String::from("id,born,club\n");
    for unit in 0..60 {
        for _ in 0..=dice.below(5) {
            let city = *dice.pick(&["Delft", "Leiden", "Utrecht"]);
            let (month, day, hour) = (1 + dice.below(6), 1 + dice.below(28), dice.below(24));
            let (fare, metres, zone) = (dice.below(50), dice.below(15_000), dice.below(5));
            let tip = if dice.below(4) == 0 { String::new() } else { dice.below(9).to_string() };
            let paid = dice.below(2) == 0;
            let started = format!("2025-{month:02}-{day:02} {hour:02}:15:00");
            writeln!(trips, "r{unit},{city},{started},{fare},{tip},{metres},{paid},{zone}")
                .unwrap();
        }
        if dice.below(5) > 0 {
            let (born, club) = (1930 + dice.below(80), *dice.pick(&["gold", "none"]));
            writeln!(profiles, "r{unit},{born},{club}").unwrap();
        }
    }
    (trips, profiles)
}

/// The rows of the odd rider.
fn canary() -> (String, String) {
    let long = format!("{CANARY}{}", "x".repeat(5_000));
    let odd = [
        ("Delft", "2025-01-02 08:15:00", "1e308", "-1e308", "9223372036854775807", "true", "99"),
        ("Leiden", "9999-12-31 23:59:59", "nan", "inf", "-9223372036854775808", "false", "-7"),
        (&*long, "0001-01-01 00:00:00", "-inf", "", "0", "", "3"),
        ("\"CANARY, \"\"quoted\"\"\"", "CANARY", "CANARY", "CANARY", "CANARY", "CANARY", "CANARY"),
        ("", "", "", "", "", "", ""),
        ("CANARY-CITY", "2025-02-29 25:61:61", "5e-324", "-0.0", "1e3", "yes", "1.5"),
        ("Utrecht", "2025-06-30 12:00:00", "59.999", "20", "20000", "true", "2147483648"),
    ];
    let mut trips = String::new();
    for turn in 0..70 {
        let (city, started, fare, tip, metres, paid, zone) = odd[turn % odd.len()];
        let line = format!("{CANARY}-RIDER,{city},{started},{fare},{tip},{metres},{paid},{zone}");
        writeln!(trips, "{line}").unwrap();
    }
    let profiles = format!("{CANARY}-RIDER,99999,{CANARY}\n{CANARY}-RIDER,,gold\n");
    (trips, profiles)
}

/// A question of the grammar, over trips of riders.
fn generated(dice: &mut Dice) -> String {
    match dice.roll(13) {
        0..=3 => {
            let (keys, values) = (keys(dice, "city"), values(dice));
            let filter = filter(dice);
            select(dice, &keys, &values, &format!("trips{filter}"))
        }
        4 | 5 => {
            let inner = per_rider(dice);
            let (keys, values) = per_rider_outer(dice);
            select(dice, &keys, &values, &format!("({inner}) AS p"))
        }
        6 => {
            let (inner, outer) = (per_rider(dice), per_rider_outer(dice));
            let body = select(dice, &outer.0, &outer.1, "p WHERE trips > 1");
            format!("WITH p AS ({inner}) {body}")
        }
        7 | 8 => {
            let join = *dice.pick(&["JOIN", "LEFT JOIN"]);
            let key = *dice.pick(&["z.area", "city", "COALESCE(z.area, 'none')"]);
            let on = *dice.pick(&["USING (zone)", "ON z.zone = t.zone", "ON z.zone = t.zone + 1"]);
            let values = values(dice);
            let keys = if dice.below(3) == 0 { Vec::new() } else { vec![key.to_owned()] };
            select(dice, &keys, &values, &format!("trips t {join} zones z {on}"))
        }
        9 => {
            let condition = condition(dice, 1);
            let exists = *dice.pick(&[
                "EXISTS (SELECT 1 FROM profiles p WHERE p.id = t.rider_id AND p.club = 'gold')",
                "NOT EXISTS (SELECT 1 FROM profiles p WHERE p.id = t.rider_id AND p.born < 1980)",
                "rider_id IN (SELECT id FROM profiles WHERE born > 1970)",
                "rider_id NOT IN (SELECT id FROM profiles)",
                "zone IN (SELECT zone FROM zones WHERE area = 'north')",
            ]);
            let (keys, values) = (keys(dice, "city"), values(dice));
            select(dice, &keys, &values, &format!("trips t WHERE {exists} AND {condition}"))
        }
        10 => {
            let (one, other) = (condition(dice, 1), condition(dice, 1));
            let both = format!(
                "(SELECT rider_id, city, fare FROM trips WHERE {one} UNION ALL \
                 SELECT rider_id, city, tip FROM trips WHERE {other}) AS u"
            );
            let keys = if dice.below(2) == 0 { vec!["city".to_owned()] } else { Vec::new() };
            let values = vec!["COUNT(*) AS n".to_owned(), "COUNT(fare) AS f".to_owned()];
            select(dice, &keys, &values, &both)
        }
        11 => {
            let (key, condition) = *dice.pick(&LISTED);
            let values = values(dice);
            let filter = filter(dice).replacen(" WHERE ", " AND ", 1);
            let from = format!("trips WHERE {condition}{filter}");
            select(dice, &[key.to_owned()], &values, &from)
        }
        _ => {
            let key = *dice.pick(&["p.club", "t.city"]);
            let join = *dice.pick(&["JOIN", "LEFT JOIN"]);
            let keys = vec![key.to_owned()];
            let values = vec!["COUNT(*) AS n".to_owned(), "AVG(t.fare) AS fare".to_owned()];
            let from = format!("trips t {join} profiles p ON p.id = t.rider_id");
            select(dice, &keys, &values, &from)
        }
    }
}

fn select(dice: &mut Dice, keys: &[String], values: &[String], from: &str) -> String {
    let items: Vec<&str> = keys.iter().chain(values).map(String::as_str).collect();
    let mut sql = format!("SELECT {} FROM {from}", items.join(", "));
    if !keys.is_empty() {
        let by: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
        let _ = write!(sql, " GROUP BY {}", by.join(", "));
        match dice.roll(6) {
            0 => sql.push_str(" ORDER BY 1"),
            1 => sql.push_str(" ORDER BY 1 LIMIT 2"),
            2 => sql.push_str(" HAVING COUNT(*) > -1e12 ORDER BY 1 DESC"),
            _ => {}
        }
    }
    sql
}

fn keys(dice: &mut Dice, listed: &str) -> Vec<String> {
    let one = match dice.roll(8) {
        0 => format!("UPPER({listed})"),
        1 => format!("LEFT({listed}, 1)"),
        2 => format!("CASE WHEN {} THEN 'yes' ELSE 'no' END", condition(dice, 1)),
        3 => format!("({}) IS TRUE", condition(dice, 1)),
        4 => "width_bucket(fare, 0, 60, 6)".to_owned(),
        5 => "EXTRACT(hour FROM started)".to_owned(),
        _ => listed.to_owned(),
    };
    match dice.roll(4) {
        0 => Vec::new(),
        1 => vec![one, format!("CASE WHEN {} THEN 1 ELSE 0 END", condition(dice, 1))],
        _ => vec![one],
    }
}

/// Conditions that list keys and bound values.
const NARROWING: [&str; 7] = [
    "zone IN (1, 2, 3)",
    "zone BETWEEN 0 AND 4",
    "fare BETWEEN 2 AND 30",
    "metres >= 100 AND metres < 5000",
    "started >= '2025-01-01' AND started < '2025-05-01'",
    "EXTRACT(YEAR FROM started) = 2025",
    "city IN ('Delft', 'Leiden')",
];

/// Keys with a condition that lists them.
const LISTED: [(&str, &str); 6] = [
    ("zone", "zone IN (1, 2, 3)"),
    ("zone % 2", "zone BETWEEN 0 AND 4"),
    ("zone", "(zone = 1 OR zone = 99)"),
    ("date_trunc('month', started)", "started >= '2025-01-01' AND started < '2025-05-01'"),
    ("to_char(started, 'YYYY-MM')", "EXTRACT(YEAR FROM started) = 2025"),
    ("EXTRACT(YEAR FROM started)", "EXTRACT(YEAR FROM started) BETWEEN 2024 AND 2026"),
];

fn values(dice: &mut Dice) -> Vec<String> {
    let mut values = Vec::new();
    for place in 0..=dice.roll(3) {
        let value = match dice.roll(20) {
            0 | 1 => "COUNT(*)".to_owned(),
            2 => format!("COUNT({})", number(dice, 1)),
            3 => "COUNT(DISTINCT rider_id)".to_owned(),
            4 => format!("COUNT(*) FILTER (WHERE {})", condition(dice, 1)),
            5 => "SUM(fare)".to_owned(),
            6 => format!("SUM(LEAST(GREATEST({}, 0), 50))", number(dice, 2)),
            7 => "AVG(tip)".to_owned(),
            8 => format!("AVG(CASE WHEN {} THEN fare END)", condition(dice, 1)),
            9 => "100.0 * SUM(tip) / SUM(fare)".to_owned(),
            10 => "ROUND(AVG(fare), 1)".to_owned(),
            11 => "STDDEV(fare)".to_owned(),
            12 => "COUNT(DISTINCT zone)".to_owned(),
            13 => format!("1.0 * COUNT(*) FILTER (WHERE {}) / COUNT(*)", condition(dice, 1)),
            14 => format!("100 * COUNTIF({}) / NULLIF(COUNT(tip), 0)", condition(dice, 1)),
            15 => {
                format!("SUM(CASE WHEN {} THEN 1 ELSE 0 END) * 1.0 / COUNT(*)", condition(dice, 1))
            }
            16 => "100.0 * COUNT(*) / SUM(COUNT(*)) OVER ()".to_owned(),
            17 => "SAFE_DIVIDE(SUM(tip), COUNT(*))".to_owned(),
            18 => "APPROX_COUNT_DISTINCT(zone)".to_owned(),
            _ => "CORR(fare, tip)".to_owned(),
        };
        values.push(format!("{value} AS v{place}"));
    }
    values
}

fn per_rider(dice: &mut Dice) -> String {
    let filter = filter(dice);
    let number = number(dice, 1);
    format!(
        "SELECT rider_id, SUM(fare) AS total, COUNT(*) AS trips, MIN(city) AS first, \
         MAX({number}) AS most, AVG(tip) AS tip, COUNT(DISTINCT city) AS cities \
         FROM trips{filter} GROUP BY rider_id"
    )
}

fn per_rider_outer(dice: &mut Dice) -> (Vec<String>, Vec<String>) {
    let keys = match dice.roll(5) {
        0 => vec!["width_bucket(total, 0, 200, 4)".to_owned()],
        1 => vec!["first".to_owned()],
        2 => vec!["CASE WHEN most > 10 THEN 'much' ELSE 'little' END".to_owned()],
        3 => vec!["LEAST(cities, 3) = 1".to_owned()],
        _ => Vec::new(),
    };
    let value = match dice.roll(5) {
        0 => "AVG(total) AS a",
        1 => "SUM(trips) AS s",
        2 => "COUNT(tip) AS c",
        3 => "AVG(LEAST(GREATEST(most, 0), 100)) AS m",
        _ => "AVG(cities) AS c",
    };
    (keys, vec!["COUNT(*) AS n".to_owned(), value.to_owned()])
}

fn filter(dice: &mut Dice) -> String {
    if dice.below(3) == 0 { String::new() } else { format!(" WHERE {}", condition(dice, 2)) }
}

fn condition(dice: &mut Dice, depth: u32) -> String {
    let deeper = if depth == 0 { 9 } else { 12 };
    if dice.below(6) == 0 {
        return (*dice.pick(&NARROWING)).to_owned();
    }
    match dice.roll(deeper) {
        0 => format!("{} > {}", number(dice, depth), dice.below(40)),
        1 => format!("city = '{}'", dice.pick(&["Delft", "Leiden", "Rome"])),
        2 => format!("city LIKE '{}'", dice.pick(&["%e%", "_elft", "", "%"])),
        3 => format!("city ~ '{}'", dice.pick(&["^[A-L]", "t$", "(e|i)+", "."])),
        4 => "paid".to_owned(),
        5 => format!("{} IS NULL", dice.pick(&["tip", "zone", "started", "city"])),
        6 => format!("{} BETWEEN 1 AND 30", number(dice, depth)),
        7 => "city IN ('Delft', 'Utrecht')".to_owned(),
        8 => format!("started >= '2025-0{}-01'", 1 + dice.below(6)),
        9 => format!("NOT ({})", condition(dice, depth - 1)),
        10 => format!("({} AND {})", condition(dice, depth - 1), condition(dice, depth - 1)),
        _ => format!("({} OR {})", condition(dice, depth - 1), condition(dice, depth - 1)),
    }
}

fn number(dice: &mut Dice, depth: u32) -> String {
    let deeper = if depth == 0 { 6 } else { 18 };
    let next = |dice: &mut Dice| number(dice, depth.saturating_sub(1));
    match dice.roll(deeper) {
        0 => "fare".to_owned(),
        1 => "tip".to_owned(),
        2 => "metres".to_owned(),
        3 => "zone".to_owned(),
        4 => dice.below(100).to_string(),
        5 => format!("{}.5", dice.below(9)),
        6 => format!("({} + {})", next(dice), next(dice)),
        7 => format!("({} * {})", next(dice), next(dice)),
        8 => format!("({} - {})", next(dice), next(dice)),
        9 => format!("{} / {}", next(dice), next(dice)),
        10 => format!("ABS({})", next(dice)),
        11 => format!("ROUND({}, 1)", next(dice)),
        12 => format!("POWER({}, 2)", next(dice)),
        13 => format!("SQRT({})", next(dice)),
        14 => "LENGTH(city)".to_owned(),
        15 => "EXTRACT(hour FROM started)".to_owned(),
        16 => format!("COALESCE({}, 0)", next(dice)),
        _ => format!("CASE WHEN {} THEN {} ELSE 1 END", condition(dice, 0), next(dice)),
    }
}
