//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `intervals_of_tables_that_add_up_hold` (400 tables of 12 rows; 1e-7; 5 % and 5.3 deviations of
//!   the rate, tables as units; intervals half as wide, and those of a table that was taken for
//!   independent rows of one variance)

use super::*;
use crate::ask::shown::answer::Stopped;
use serde_json::json;

/// Normal deviates, by dice.
fn deviate(dice: &mut eke_testkit::Dice) -> f64 {
    let uniform = |dice: &mut eke_testkit::Dice| (dice.below(1 << 52) as f64 + 0.5) / 2f64.powi(52);
    let (one, other) = (uniform(dice), uniform(dice));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// The rows of CUBE (a, b) with these numbers of values: keys, and what they are over.
fn cube(of_a: usize, of_b: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for a in (0..of_a).map(Some).chain([None]) {
        for b in (0..of_b).map(Some).chain([None]) {
            let over = [(a, "a"), (b, "b")].into_iter().filter(|(key, _)| key.is_none());
            let over = over.map(|(_, name)| name.into()).collect();
            rows.push(Row { keys: vec![json!(a), json!(b)], values: Vec::new(), over });
        }
    }
    rows
}

fn keys() -> Vec<String> {
    vec!["a".to_owned(), "b".to_owned()]
}

fn noise(variance: f64) -> Noise {
    Noise { variance, step: 2f64.powi(-10), from_zero: true, is_planned: true }
}

fn assert_adds_up(table: &TableOfSums, values: &[f64]) {
    let cells: Vec<f64> = table.cells.iter().map(|&cell| values[cell]).collect();
    for (sum, value) in table.sums(&cells).iter().zip(values) {
        assert!((sum - value).abs() < 1e-8 * (1.0 + value.abs()), "{sum} {value}");
    }
}

/// Whatever the variances are; what is nearest without being below zero is so by its own conditions
/// (Karush, Kuhn, Tucker).
#[test]
fn tables_add_up() {
    let mut dice = eke_testkit::Dice::new(7);
    for (of_a, of_b) in [(1, 1), (2, 3), (7, 5), (30, 20)] {
        let rows = cube(of_a, of_b);
        let table = TableOfSums::new(&keys(), &rows).unwrap();
        assert_eq!((table.cells.len(), table.sets.len()), (of_a * of_b, 4));
        let noises: Vec<Noise> =
            rows.iter().map(|_| noise(10f64.powf(dice.below(5) as f64 - 2.0))).collect();
        // Most cells are empty, so that many are drawn below zero.
        let drawn: Vec<f64> =
            noises.iter().map(|noise| 0.3 + deviate(&mut dice) * noise.variance.sqrt()).collect();
        let values = |nonnegative: bool| -> Vec<f64> {
            let all = table.adjusted(&drawn, &noises, nonnegative);
            all.iter().map(|one| one.value).collect()
        };
        let free = values(false);
        assert_adds_up(&table, &free);
        let from_zero = values(true);
        assert_adds_up(&table, &from_zero);
        assert!(from_zero.iter().all(|value| *value >= 0.0));
        // At the nearest point no cell is pulled: without a bound at all, with it up from zero.
        for (values, is_bound) in [(&free, false), (&from_zero, true)] {
            let misfit: Vec<f64> = (values.iter().zip(&drawn).zip(&noises))
                .map(|((value, drawn), noise)| (drawn - value) / noise.variance)
                .collect();
            for (pull, &cell) in table.over_cells(&misfit).iter().zip(&table.cells) {
                let is_held = is_bound && values[cell] == 0.0;
                assert!(if is_held { *pull < 1e-5 } else { pull.abs() < 1e-5 }, "{pull}");
            }
        }
    }
}

/// Cells of very different variances and totals of several looks: of the intervals of one table 5 %
/// miss on average, for cells and totals alike, and they are narrower than those before.
#[test]
fn intervals_of_tables_that_add_up_hold() {
    const TABLES: u32 = 400;
    let rows = cube(3, 2);
    let table = TableOfSums::new(&keys(), &rows).unwrap();
    let mut dice = eke_testkit::Dice::new(11);
    let truth = table.sums(&[5.0, 40.0, 300.0, 12.0, 0.0, 77.0]);
    let noises: Vec<Noise> = (0..rows.len()).map(|row| noise([4.0, 9.0, 25.0][row % 3])).collect();
    let (mut missed, mut narrow, mut alike) = (0u32, 0u32, 0u32);
    for _ in 0..TABLES {
        let drawn: Vec<f64> = (truth.iter().zip(&noises))
            .map(|(truth, noise)| truth + deviate(&mut dice) * noise.variance.sqrt())
            .collect();
        for (row, adjusted) in table.adjusted(&drawn, &noises, false).into_iter().enumerate() {
            let variance = adjusted.variance.unwrap();
            assert!(variance < noises[row].variance * 0.999, "{row}: {variance}");
            let off = (adjusted.free - truth[row]).abs() / deviations(0.05, None);
            missed += u32::from(off > variance.sqrt());
            narrow += u32::from(off > variance.sqrt() / 2.0);
            // As if the mean of all sets had been taken.
            alike += u32::from(off > (noises[row].variance / 4.0).sqrt());
        }
    }
    let all = f64::from(TABLES) * rows.len() as f64;
    // Rows of a table depend on each other: at worst all of them miss together.
    let off = 5.3 * (0.05 * 0.95 / f64::from(TABLES)).sqrt() * all;
    let is_rejected = |missed: u32| (f64::from(missed) - 0.05 * all).abs() > off;
    assert!(!is_rejected(missed), "{missed} of {all}");
    assert!(is_rejected(narrow) && is_rejected(alike), "{narrow} {alike}");
}

fn cell(value: f64, variance: f64, is_planned: bool) -> Cell {
    Cell {
        rank: None,
        dated: None,
        name: "n".into(),
        value: Some(value),
        low: Some(0.0),
        high: Some(value + 1.0),
        confidence: 0.95,
        met: Some(true),
        ending: Stopped::Met,
        noise: Some(Noise { is_planned, ..noise(variance) }),
    }
}

/// Where looks depended on what was seen there is no interval, and nothing is said to be met.
#[test]
fn values_that_stopped_by_what_they_saw_have_no_interval() {
    let rows = cube(2, 1);
    let table = TableOfSums::new(&keys(), &rows).unwrap();
    for is_planned in [true, false] {
        let cells: Vec<Cell> =
            (0..rows.len()).map(|row| cell(row as f64, 4.0, is_planned || row > 0)).collect();
        let noises: Vec<Noise> = cells.iter().map(|cell| cell.noise.unwrap()).collect();
        let drawn: Vec<f64> = cells.iter().map(|cell| cell.value.unwrap()).collect();
        let adjusted = table.adjusted(&drawn, &noises, false);
        for ((cell, noise), value) in cells.iter().zip(&noises).zip(adjusted) {
            let shown = value.shown(cell, noise, false);
            assert_eq!(shown.low.is_some() && shown.met == Some(true), is_planned);
            assert!(shown.value.is_some());
        }
    }
}

/// A value that is moved to zero, or for others to be there, is in its interval: of one cell drawn
/// far above zero and twenty far below, whose total is known to be near zero.
#[test]
fn a_value_that_is_not_below_zero_is_in_its_interval() {
    let rows = cube(21, 1);
    let table = TableOfSums::new(&keys(), &rows).unwrap();
    let is_total = |row: &Row| row.over.iter().any(|over| **over == *"a");
    let noises: Vec<Noise> =
        rows.iter().map(|row| noise(if is_total(row) { 1.0 } else { 100.0 })).collect();
    let drawn: Vec<f64> = (rows.iter())
        .map(|row| match (is_total(row), row.keys[0] == rows[0].keys[0]) {
            (true, _) => 0.0,
            (false, true) => 60.0,
            (false, false) => -60.0,
        })
        .collect();
    let mut moved = 0;
    for (row, value) in table.adjusted(&drawn, &noises, true).into_iter().enumerate() {
        let shown = value.shown(&cell(drawn[row], 100.0, true), &noises[row], true);
        let (low, high) = (shown.low.unwrap(), shown.high.unwrap());
        assert!((low..=high).contains(&shown.value.unwrap()) && low >= 0.0, "{shown:?}");
        moved += u32::from((value.value - value.free).abs() > 60.0);
    }
    assert!(moved > 0, "one is moved beyond its interval");
}
