//! Random questions: everything that SQL in eke has, in any combination, with texts that grow,
//! numbers at their ends, and predicates about one person.

use eke_testkit::Dice;

/// A question, and how exact its answer must be.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) sql: String,
    pub(crate) goal: [&'static str; 2],
}

impl Question {
    /// Whether everything but the values is the same however the noise falls.
    pub(crate) fn is_priced(&self) -> bool {
        self.goal[0] == "--price"
    }

    pub(crate) fn random(number: u64) -> Self {
        let mut dice = Dice(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let goals = [
            ["--price", "rho=2000"],
            ["--price", "rho=0.5"],
            ["--within", "9%"],
            ["--within", "40"],
        ];
        let goal = *dice.pick(&[0, 0, 0, 0, 1, 1, 2, 3].map(|index| goals[index]));
        Self { sql: sql(&mut dice), goal }
    }
}

fn sql(dice: &mut Dice) -> String {
    let (mut with, mut from) = (String::new(), "trips".to_owned());
    match dice.roll(4) {
        0 => {
            let (new, filter) = (text(dice, 3), condition(dice, 2));
            with = format!("WITH t AS (SELECT *, {new} AS grown FROM trips WHERE {filter}) ");
            from = "t".to_owned();
        }
        1 => from = format!("(SELECT * FROM trips WHERE {}) AS t", condition(dice, 2)),
        _ => {}
    }
    let keys: Vec<String> = (0..dice.roll(3)).map(|_| key(dice)).collect();
    let aggregates: Vec<String> = (0..1 + dice.roll(3)).map(|_| aggregate(dice)).collect();
    let shown: Vec<String> = keys.iter().chain(&aggregates).cloned().collect();
    let mut sql = format!("{with}SELECT {} FROM {from}", shown.join(", "));
    if dice.roll(2) == 0 {
        sql += &format!(" WHERE {}", condition(dice, 3));
    }
    if !keys.is_empty() {
        sql += &format!(" GROUP BY {}", keys.join(", "));
    }
    if dice.roll(8) == 0 {
        sql += &format!(" ORDER BY {} DESC", keys.len() + 1);
    }
    sql
}

fn key(dice: &mut Dice) -> String {
    match dice.roll(10) {
        0 | 1 => "district".to_owned(),
        2 => "word".to_owned(),
        3 => format!("CASE WHEN {} THEN 'a' ELSE 'b' END", condition(dice, 2)),
        4 => format!("EXTRACT({} FROM at)", dice.pick(&["hour", "month", "dow", "year"])),
        5 => condition(dice, 1),
        6 => format!("CASE WHEN rider = 'alice' THEN {} ELSE district END", text(dice, 2)),
        7 => format!("date_trunc('{}', at)", dice.pick(&["month", "day"])),
        8 => text(dice, 2),
        _ => format!("upper({})", text(dice, 1)),
    }
}

fn aggregate(dice: &mut Dice) -> String {
    match dice.roll(7) {
        0 | 1 => "COUNT(*)".to_owned(),
        2 => format!("COUNT({})", text(dice, 2)),
        3 => "COUNT(DISTINCT rider)".to_owned(),
        4 => format!("SUM({})", bounded(dice)),
        5 => format!("AVG({})", bounded(dice)),
        _ => "AVG(fare)".to_owned(),
    }
}

/// A number that eke can tell the bounds of.
fn bounded(dice: &mut Dice) -> String {
    match dice.roll(5) {
        0 => "fare".to_owned(),
        1 => "stops".to_owned(),
        2 => "fare * stops - 3".to_owned(),
        3 => format!("LEAST(GREATEST({}, -10), 1000)", number(dice, 2)),
        _ => format!("CASE WHEN {} THEN 100 ELSE fare END", condition(dice, 2)),
    }
}

fn number(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["fare", "stops", "1", "0", "-7", "1e308", "9223372036854775807"]))
            .to_owned();
    }
    let one = |dice: &mut Dice| number(dice, depth - 1);
    match dice.roll(10) {
        0 => format!("({} + {})", one(dice), one(dice)),
        1 => format!("({} * {})", one(dice), one(dice)),
        2 => format!("({} / {})", one(dice), one(dice)),
        3 => format!("({} - {})", one(dice), one(dice)),
        4 => {
            format!("{}({})", dice.pick(&["abs", "floor", "ceil", "sqrt", "ln", "exp"]), one(dice))
        }
        5 => format!("length({})", text(dice, depth - 1)),
        6 => format!("CAST({} AS {})", text(dice, depth - 1), dice.pick(&["int", "float"])),
        7 => format!("EXTRACT(year FROM {})", dice.pick(&["at", "day"])),
        8 => format!("coalesce({}, {})", one(dice), one(dice)),
        _ => one(dice),
    }
}

fn text(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["word", "note", "district", "'x'", "'aä'", "rider"])).to_owned();
    }
    let one = |dice: &mut Dice| text(dice, depth - 1);
    match dice.roll(8) {
        0 => {
            let part = one(dice);
            format!("({})", vec![part.as_str(); 2 + dice.roll(6)].join(" || "))
        }
        1 => format!("{}({})", dice.pick(&["lower", "upper", "trim"]), one(dice)),
        2 => format!("substring({}, {}, {})", one(dice), dice.roll(9), dice.roll(9_000)),
        3 => format!("CAST({} AS text)", number(dice, depth - 1)),
        4 => format!("CASE WHEN {} THEN {} ELSE {} END", condition(dice, 1), one(dice), one(dice)),
        5 => format!("coalesce({}, {})", one(dice), one(dice)),
        6 => format!("CAST({} AS text)", dice.pick(&["day", "at", "paid"])),
        _ => one(dice),
    }
}

fn condition(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return (*dice.pick(&["rider = 'alice'", "stops > 3", "fare IS NULL", "day IS NOT NULL"]))
            .to_owned();
    }
    let one = |dice: &mut Dice| condition(dice, depth - 1);
    match dice.roll(9) {
        0 => format!("({} AND {})", one(dice), one(dice)),
        1 => format!("({} OR NOT {})", one(dice), one(dice)),
        2 => format!("{} < {}", number(dice, depth - 1), number(dice, depth - 1)),
        3 => format!("{} LIKE '{}'", text(dice, depth - 1), pattern(dice)),
        4 => format!("{} ILIKE '{}'", text(dice, depth - 1), pattern(dice)),
        5 => format!("{} = {}", text(dice, depth - 1), text(dice, depth - 1)),
        6 => format!("day >= '{}'", dice.pick(&["2026-03-01", "0001-01-01", "9999-12-31"])),
        7 => format!("{} IN ('x', 'bus', {})", text(dice, depth - 1), text(dice, 0)),
        _ => format!("({}) IS NOT TRUE", one(dice)),
    }
}

fn pattern(dice: &mut Dice) -> String {
    match dice.roll(4) {
        0 => format!("%{}b", "a".repeat(1 + dice.roll(200))),
        1 => "%a".repeat(1 + dice.roll(100)) + "b",
        2 => "%".to_owned() + &"_".repeat(1 + dice.roll(200)) + "b%",
        _ => "%a_%".to_owned(),
    }
}
