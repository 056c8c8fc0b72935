//! Questions as analysts type them, asked about made-up rows: how many are answered as typed.
//!
//! `tests/typed/questions.sql` has them: what people ask of trips, and what the tutorials of other
//! systems ask, in our own words. What is not answered yet is listed here, so that a question
//! which stops to be answered is seen, and one that begins to be is taken off.

use std::fmt::Write as _;
use std::path::Path;

use eke_engine::Engine;
use eke_testkit::Dice;

use crate::trips::{Folder, price, question};

/// How those begin that are refused, with what comes for them.
const NOT_YET: [(&str, &str); 4] = [
    ("SELECT MEDIAN(fare)", "quantiles"),
    ("SELECT PERCENTILE_CONT(0.9)", "quantiles"),
    ("SELECT MIN(fare), MAX(fare)", "quantiles"),
    ("SELECT PERCENTILE_DISC(0.5)", "quantiles"),
];

#[test]
fn questions_as_people_type_them_are_answered() {
    let typed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/typed");
    let folder = Folder::new();
    folder.write("eke.toml", &std::fs::read_to_string(typed.join("eke.toml")).unwrap());
    write_rows(&folder);
    let engine = folder.engine();
    let text = std::fs::read_to_string(typed.join("questions.sql")).unwrap();
    let (mut asked, mut answered) = (0, 0);
    let mut wrong = String::new();
    for sql in text.split(';').map(without_remarks).filter(|sql| !sql.is_empty()) {
        asked += 1;
        let expected = NOT_YET.iter().find(|(start, _)| sql.starts_with(start));
        match (answer(&engine, &sql), expected) {
            (Ok(()), None) => answered += 1,
            (Err(_), Some(_)) => {}
            (Err(refusal), None) => writeln!(wrong, "{sql}\n  {refusal}").unwrap(),
            (Ok(()), Some((_, why))) => writeln!(wrong, "{sql}\n  now answered: {why}").unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(asked >= 100, "{asked} questions are too few");
    println!("{answered} of {asked} questions are answered as typed");
    assert_eq!(answered, asked - NOT_YET.len());
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

fn pick<'a>(dice: &mut Dice, all: &[&'a str]) -> &'a str {
    all[dice.roll(all.len())]
}
