//! Numbers that are made of several released values: ratios, shares, differences, spreads.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `shares_of_chosen_rows_hold_as_often_as_they_say` (300 groups a run, 4 runs; 1e-7; 5 % and 5.3
//!   deviations; the intervals that all rows have where none is hidden)

use eke_engine::ask::Kind;
use eke_engine::{Accuracy, Answer, Engine, Goal, Stopped};

use crate::trips::{Folder, goal, policy, price, question, relative, trips};

fn ask(engine: &Engine, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question("steward", sql, goal), &()).unwrap()
}

fn folder(zones: u32, sizes: &[u32]) -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(zones)));
    folder.write("trips.csv", &trips(sizes));
    folder
}

/// Fares go round from 10 to 49: their mean, their variance, and how many are above 29.
const MEAN: f64 = 29.5;
const VARIANCE: f64 = 133.25;

#[test]
fn what_is_shown_has_the_goal() {
    let folder = folder(1, &[40_000]);
    for (sql, truth, goal) in [
        ("SELECT SUM(fare) / COUNT(*) FROM trips", MEAN, relative(0.05)),
        ("SELECT ROUND(AVG(fare), 1) FROM trips", MEAN, relative(0.05)),
        (
            "SELECT 100.0 * COUNT(*) FILTER (WHERE fare > 29) / COUNT(*) FROM trips",
            50.0,
            goal(Accuracy::Absolute(2.0)),
        ),
        (
            "SELECT COUNT(*) - COUNT(*) FILTER (WHERE fare > 39) FROM trips",
            30_000.0,
            relative(0.02),
        ),
        (
            "SELECT COUNT(*) - 2 * COUNT(*) FILTER (WHERE fare > 39) FROM trips",
            20_000.0,
            goal(Accuracy::Absolute(200.0)),
        ),
        ("SELECT SUM(fare) / 1000 FROM trips", 1_180.0, goal(Accuracy::Absolute(20.0))),
        ("SELECT VAR_POP(fare) FROM trips", VARIANCE, relative(0.1)),
        ("SELECT STDDEV(fare) FROM trips", VARIANCE.sqrt(), relative(0.1)),
        ("SELECT CORR(fare, 100 - fare) FROM trips", -1.0, relative(0.2)),
    ] {
        let engine = folder.fresh();
        let goal = Goal { at_most: Some("1".parse().unwrap()), ..goal };
        let answer = ask(&engine, sql, goal);
        let [cell] = &*answer.rows[0].values else { panic!("{sql}: {answer:?}") };
        assert_eq!(cell.met, Some(true), "{sql}: {cell:?}");
        let (value, low, high) = (cell.value.unwrap(), cell.low.unwrap(), cell.high.unwrap());
        assert!(low <= value && value <= high, "{sql}: {cell:?}");
        // A miss has a probability of 5 %; one that is twice as far off, of less than 1e-4.
        let off = (value - truth).abs() / 2.0;
        assert!(off <= (value - low).max(high - value), "{sql}: {cell:?}");
        // The same again is the same, and costs nothing.
        let again = ask(&engine, sql, goal);
        assert!(again.free && again.rows == answer.rows, "{sql}: {again:?}");
    }
}

/// An absolute goal of a sum of multiples has its price in advance, as a sum alone has: that of
/// the noise of all of them together.
#[test]
fn a_sum_of_multiples_costs_what_its_noise_does() {
    let folder = folder(1, &[5_000]);
    let ask = |sql: &str| ask(&folder.fresh(), sql, goal(Accuracy::Absolute(150.0))).cost.rho;
    let one = ask("SELECT COUNT(*) FROM trips");
    let both = ask("SELECT COUNT(*) - COUNT(*) FILTER (WHERE fare > 20) FROM trips");
    // Twice the variance, on two columns.
    assert!((both / one - 4.0).abs() < 0.01, "{one} {both}");
    let plus = ask("SELECT COUNT(*) + 7 FROM trips");
    assert!((plus / one - 1.0).abs() < 0.01, "{one} {plus}");
    let tenth = ask("SELECT COUNT(*) / 10 FROM trips");
    assert!((tenth / one - 0.01).abs() < 0.001, "{one} {tenth}");
}

#[test]
fn a_quotient_by_nothing_is_not_known() {
    let folder = folder(2, &[4_000, 0]);
    // What is an average of rows is somewhere between its bounds.
    for (value, ends) in [
        ("SUM(fare) / SUM(fare + 1)", (None, None)),
        ("SUM(fare) / COUNT(*)", (Some(0.0), Some(100.0))),
    ] {
        let sql = format!("SELECT zone, {value} AS ratio FROM trips GROUP BY zone");
        let answer = ask(&folder.fresh(), &sql, relative(0.1));
        let [some, none] = [0, 1].map(|row| &answer.rows[row].values[0]);
        assert_eq!(some.met, Some(true), "{answer:?}");
        assert_eq!((none.met, (none.low, none.high)), (Some(false), ends), "{answer:?}");
        assert!(matches!(none.ending, Stopped::OutOfReach | Stopped::HighestPrice), "{none:?}");
    }
}

#[test]
fn ends_of_intervals_are_columns_of_their_own() {
    let folder = folder(1, &[4_000]);
    let sql = "SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, DP_INTERVAL_HIGH(n), DP_MET(n) \
               FROM trips";
    let engine = folder.fresh();
    let answer = ask(&engine, sql, relative(0.1));
    let kinds: Vec<Kind> = answer.columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [Kind::Value, Kind::Low, Kind::High, Kind::Met]);
    let cells = &answer.rows[0].values;
    assert!(cells.iter().all(|cell| (cell.low, cell.high) == (cells[0].low, cells[0].high)));
    let again = ask(&engine, sql, relative(0.1));
    assert!(again.free && again.rows == answer.rows && again.columns == answer.columns);
}

/// Of 300 groups with the same share, the largest ten are shown for their noise alone.
#[test]
fn shares_of_chosen_rows_hold_as_often_as_they_say() {
    const GROUPS: u32 = 300;
    let folder = folder(GROUPS, &[80; GROUPS as usize]);
    let all = "SELECT zone, COUNT(*) FILTER (WHERE fare > 29) / COUNT(*) AS share FROM trips \
               GROUP BY zone";
    let largest = format!("{all} ORDER BY share DESC LIMIT 10");
    let (mut misses, mut cells, mut ordinary) = (0.0, 0.0, 0.0);
    let missed = |cell: &eke_engine::Cell| {
        let within = |truth: f64| {
            cell.low.is_none_or(|low| low <= truth) && cell.high.is_none_or(|high| truth <= high)
        };
        f64::from(u8::from(!within(0.5)))
    };
    for _ in 0..4 {
        let engine = folder.fresh();
        let plain = ask(&engine, all, price("0.05"));
        let shown = ask(&engine, &largest, price("0.05"));
        assert!(shown.free && shown.chosen.is_some(), "{shown:?}");
        for row in &shown.rows {
            let before = plain.rows.iter().find(|plain| plain.keys == row.keys).unwrap();
            misses += missed(&row.values[0]);
            ordinary += missed(&before.values[0]);
            cells += 1.0;
            let width = |cell: &eke_engine::Cell| cell.high.zip(cell.low).map(|(h, l)| h - l);
            let (before, now) = (width(&before.values[0]), width(&row.values[0]));
            assert!(now.is_none() || now > before, "{before:?} {now:?}");
        }
    }
    let most = 0.05 * cells + 5.3 * f64::sqrt(0.05 * 0.95 * cells);
    assert!(misses <= most, "{misses} of {cells}, ordinary {ordinary}");
}
