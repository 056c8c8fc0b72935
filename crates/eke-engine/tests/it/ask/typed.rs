//! Questions as analysts type them, asked about made-up rows: how many are answered as typed.
//!
//! `tests/typed/questions.sql` has them: what people ask of trips, and what the tutorials of other
//! systems ask, in our own words. `tests/typed/fresh/` has more, which were written without a look
//! at those. What is not answered is listed here, so that a question which stops to be answered is
//! seen, and one that begins to be is taken off.

use std::fmt::Write as _;
use std::path::Path;

use eke_engine::policy::Policy;
use eke_engine::{Engine, Who};
use eke_testkit::Dice;

use crate::trips::{Folder, price, question};

/// How those begin that are refused, with what comes for them.
const NOT_YET: [(&str, &str); 0] = [];

/// The same of the other questions.
const NOT_FRESH: [(&str, &str); 5] = [
    ("SELECT driver_id, COUNT(*)", "it is about single units"),
    ("SELECT ward, AVG(discharged - admitted)", "it needs bounds"),
    ("SELECT ward, AVG(DATE_DIFF(", "it needs bounds"),
    ("SELECT payment, AVG(tip / NULLIF(fare, 0))", "it needs bounds"),
    ("SELECT AVG(EXTRACT(EPOCH FROM (dropoff - pickup))", "it needs bounds"),
];

#[test]
fn questions_as_people_type_them_are_answered() {
    let folder = Folder::new();
    write_rows(&folder);
    assert!(answered("tests/typed", &folder, &NOT_YET) >= 100);
}

#[test]
fn questions_of_newcomers_are_answered() {
    let folder = Folder::new();
    write_fresh_rows(&folder);
    assert!(answered("tests/typed/fresh", &folder, &NOT_FRESH) >= 55);
}

/// How many of the questions in a folder are answered: all but those that are listed.
fn answered(typed: &str, folder: &Folder, not_yet: &[(&str, &str)]) -> usize {
    let typed = Path::new(env!("CARGO_MANIFEST_DIR")).join(typed);
    folder.write("eke.toml", &std::fs::read_to_string(typed.join("eke.toml")).unwrap());
    let engine = folder.engine();
    let text = std::fs::read_to_string(typed.join("questions.sql")).unwrap();
    let (mut asked, mut answered) = (0, 0);
    let mut wrong = String::new();
    for sql in text.split(';').map(without_remarks).filter(|sql| !sql.is_empty()) {
        asked += 1;
        let expected = not_yet.iter().find(|(start, _)| sql.starts_with(start));
        match (answer(&engine, &sql), expected) {
            (Ok(()), None) => answered += 1,
            (Err(_), Some(_)) => {}
            (Err(refusal), None) => writeln!(wrong, "{sql}\n  {refusal}").unwrap(),
            (Ok(()), Some((_, why))) => writeln!(wrong, "{sql}\n  now answered: {why}").unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    println!("{answered} of {asked} questions are answered as typed");
    assert_eq!(answered, asked - not_yet.len());
    answered
}

/// What every question is planned as, what a unit changes, and what it costs: golden. To write the
/// files anew: `EKE_GOLDEN=overwrite cargo test -p eke-engine --test it prices_of_questions`, and
/// read the difference.
#[test]
fn plans_and_prices_of_questions_are_what_their_files_say() {
    let mut wrong = String::new();
    for (typed, write) in [
        ("tests/typed", write_rows as fn(&Folder)),
        ("tests/typed/fresh", write_fresh_rows as fn(&Folder)),
    ] {
        let typed = Path::new(env!("CARGO_MANIFEST_DIR")).join(typed);
        let folder = Folder::new();
        folder.write("eke.toml", &std::fs::read_to_string(typed.join("eke.toml")).unwrap());
        write(&folder);
        let policy = Policy::read(&folder.path().join("eke.toml")).unwrap();
        let text = std::fs::read_to_string(typed.join("questions.sql")).unwrap();
        let mut now = String::new();
        for sql in text.split(';').map(without_remarks).filter(|sql| !sql.is_empty()) {
            writeln!(now, "{sql}\n----\n{}", priced(&policy, &sql)).unwrap();
        }
        let file = typed.join("prices.txt");
        if std::env::var("EKE_GOLDEN").is_ok_and(|value| value == "overwrite") {
            std::fs::write(&file, &now).unwrap();
        }
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let mut known = before.split("\n\n");
        for case in now.split("\n\n") {
            let known = known.next().unwrap_or("nothing");
            if case != known {
                write!(wrong, "{known}\n---- now\n{case}\n\n").unwrap();
            }
        }
        wrong.extend(known);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The plan of a question, how its keys come about, what an error of 5 % is expected to cost, and
/// the error of each value at the least price that is told.
fn priced(policy: &Policy, sql: &str) -> String {
    let explained = match eke_engine::explain(policy, sql, &Who::Steward) {
        Ok(explained) => explained,
        Err(refusal) => return format!("refused: {refusal}\n"),
    };
    let mut text = explained.plan.join("\n");
    write!(text, "\nkeys: {:?}", explained.keys).unwrap();
    for total in &explained.totals {
        let (units, rho) = (total.units.unwrap_or(0.0), total.cost.map_or(0.0, |cost| cost.rho));
        write!(text, "\nwithin 5 %, {units} units: rho {rho:.3e}").unwrap();
    }
    for error in &explained.errors {
        let (name, rho, off) = (&error.name, error.cost.rho, error.error);
        write!(text, "\n{name}: within {off:.4e} for rho {rho:.3e}").unwrap();
    }
    text + "\n"
}

fn answer(engine: &Engine, sql: &str) -> Result<(), String> {
    let answer = engine.ask(&question("steward", sql, price("0.002")), &());
    let answer = answer.map_err(|refusal| refusal.to_string())?;
    let is_known = |cell: &eke_engine::Cell| cell.value.is_none_or(f64::is_finite);
    let cells = answer.rows.iter().flat_map(|row| &row.values);
    if !cells.into_iter().all(is_known) {
        return Err(format!("{answer:?}"));
    }
    Ok(())
}

fn without_remarks(sql: &str) -> String {
    let lines = sql.lines().filter(|line| !line.starts_with("--"));
    lines.collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// Rows of all tables, by the same dice every time.
fn write_rows(folder: &Folder) {
    let mut dice = Dice::new(22);
    let dice = &mut dice;
    let (cities, genres) = (["Delft", "Leiden", "Utrecht"], ["crime", "history", "poetry"]);
    let mut trips = String::from("rider_id,city,started,fare,tip,metres,paid,zone\n");
    let mut members =
        String::from("id,age,gender,education_level,zip_code,books_borrowed,joined\n");
    let mut checkouts = String::from("member_id,genre,checkout_date\n");
    let mut people = String::from("id,age,sex,educ,race,income,married\n");
    let mut orders = String::from("user_id,item,quantity\n");
    for unit in 0..600 {
        for _ in 0..=dice.below(4) {
            let (city, month, day) = (pick(dice, &cities), 1 + dice.below(6), 1 + dice.below(28));
            let (hour, fare, metres) = (dice.below(24), dice.below(50), dice.below(15_000));
            let tip = if dice.below(4) == 0 { String::new() } else { dice.below(9).to_string() };
            let (paid, zone) = (dice.below(2) == 0, dice.below(6));
            writeln!(
                trips,
                "r{unit},{city},2025-{month:02}-{day:02} {hour:02}:15:00,{fare},{tip},{metres},{paid},{zone}"
            )
            .unwrap();
        }
        let gender = pick(dice, &["female", "male", "nonbinary"]);
        let level = pick(dice, &["bachelors", "masters", "school"]);
        let (age, zip, books, year) =
            (dice.below(90), 1000 + dice.below(4), dice.below(60), 2015 + dice.below(10));
        writeln!(members, "{unit},{age},{gender},{level},{zip},{books},{year}-05-04").unwrap();
        for _ in 0..dice.below(4) {
            let (genre, day) = (pick(dice, &genres), 1 + dice.below(28));
            writeln!(checkouts, "{unit},{genre},2025-02-{day:02}").unwrap();
        }
        let (age, sex, educ, race) =
            (dice.below(90), dice.below(2), 1 + dice.below(4), dice.below(5));
        let (income, married) = (dice.below(90_000), dice.below(2) == 0);
        writeln!(people, "{unit},{age},{sex},{educ},{race},{income},{married}").unwrap();
        for _ in 0..=dice.below(3) {
            let item = pick(dice, &["pen", "pencil", "scissors"]);
            writeln!(orders, "{unit},{item},{}", dice.below(40)).unwrap();
        }
    }
    folder.write("trips.csv", &trips);
    folder
        .write("zones.csv", "zone,area\n0,north\n1,north\n2,south\n3,south\n4,centre\n5,centre\n");
    folder.write("members.csv", &members);
    folder.write("checkouts.csv", &checkouts);
    folder.write("people.csv", &people);
    folder.write("orders.csv", &orders);
}

/// Rows of the other tables.
fn write_fresh_rows(folder: &Folder) {
    let dice = &mut Dice::new(23);
    let mut census =
        String::from("person_id,age,sex,education,income,state,married,hours,occupation\n");
    let mut visits =
        String::from("patient_id,hospital,ward,admitted,discharged,cost,diagnosis,emergency\n");
    let mut flights = String::from(
        "passenger_id,flight_date,carrier,origin,dest,dep_delay,arr_delay,distance,fare,cancelled\n",
    );
    let mut rides = String::from("driver_id,pickup,dropoff,zone_id,fare,tip,passengers,payment\n");
    for unit in 0..600 {
        let (age, sex) = (dice.below(95), pick(dice, &["female", "male"]));
        let education = pick(dice, &["Bachelors", "Masters", "School"]);
        let (income, state) = (dice.below(150_000), pick(dice, &["CA", "NY", "TX"]));
        let (married, hours) = (dice.below(2) == 0, dice.below(60));
        let job = pick(dice, &["cook", "nurse", "pilot"]);
        writeln!(census, "{unit},{age},{sex},{education},{income},{state},{married},{hours},{job}")
            .unwrap();
        for _ in 0..=dice.below(4) {
            let (hospital, ward) = (pick(dice, &["north", "south"]), pick(dice, &["A", "B", "C"]));
            let (year, month) = (2023 + dice.below(2), 1 + dice.below(12));
            let (day, stay) = (1 + dice.below(14), dice.below(14));
            let (cost, code) = (dice.below(4_000), pick(dice, &["J10", "J18", "S72"]));
            let date = |day: u64| format!("{year}-{month:02}-{day:02}");
            let (from, to, urgent) = (date(day), date(day + stay), dice.below(3) == 0);
            writeln!(visits, "{unit},{hospital},{ward},{from},{to},{cost},{code},{urgent}")
                .unwrap();
            let (carrier, year) = (pick(dice, &["KL", "LH", "SN"]), 2020 + dice.below(5));
            let (from, to) =
                (pick(dice, &["AMS", "BRU", "CDG"]), pick(dice, &["JFK", "BOS", "LHR"]));
            let (late, later) = (dice.below(90), dice.below(120));
            let (distance, fare, off) = (dice.below(8_000), dice.below(1_500), dice.below(20) == 0);
            let date = format!("{year}-{month:02}-{day:02}");
            writeln!(
                flights,
                "{unit},{date},{carrier},{from},{to},{late},{later},{distance},{fare},{off}"
            )
            .unwrap();
            let (hour, minutes, zone) = (dice.below(23), dice.below(60), dice.below(4));
            let (fare, tip, seats) = (dice.below(80), dice.below(12), 1 + dice.below(5));
            let paid = pick(dice, &["card", "cash"]);
            let (from, to) =
                (format!("{date} {hour:02}:00:00"), format!("{date} {hour:02}:{minutes:02}:30"));
            writeln!(rides, "{unit},{from},{to},{zone},{fare},{tip},{seats},{paid}").unwrap();
        }
    }
    folder.write("census.csv", &census);
    folder.write("visits.csv", &visits);
    folder.write("flights.csv", &flights);
    folder.write("rides.csv", &rides);
    folder.write("zones.csv", "zone_id,borough\n0,Bronx\n1,Queens\n2,Queens\n3,Unknown\n");
    folder.write("carriers.csv", "carrier,name\nKL,KLM\nLH,Lufthansa\nSN,Brussels Airlines\n");
}

fn pick<'a>(dice: &mut Dice, all: &[&'a str]) -> &'a str {
    all[dice.roll(all.len())]
}
