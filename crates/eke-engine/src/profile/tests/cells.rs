//! Which cells units are in: neighbours, a plain reading, and how rows are shared out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use eke_sql::Type;
use eke_testkit::Dice;

use crate::data::ids::Ids;
use crate::profile::layout::{Layout, ROW_BINS, VALUE_BINS, power_bin};
use crate::profile::pass::{ProfileInput, ProfileOptions, UnitCells, unit_cells};
use crate::profile::proposal::{Chosen, ValueBounds};
use crate::rows::pass::bounding::HashKey;
use crate::rows::scan::Piece;

/// A row: its unit if it has one, a key, and two numbers.
type Row = (Option<i64>, Option<u8>, Option<f64>, i64);

fn layout() -> Layout {
    Layout { keys: vec!["zone".into()], columns: vec!["fare".into(), "stops".into()] }
}

fn batch(rows: &[Row]) -> RecordBatch {
    let zones = rows.iter().map(|row| row.1.map(|zone| format!("zone {zone}")));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("who", Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>())),
        ("zone", Arc::new(zones.collect::<StringArray>())),
        ("fare", Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>())),
        ("stops", Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Int64Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

struct Shared {
    pieces: usize,
    batches: usize,
    workers: usize,
    memory: usize,
}

const ALONE: Shared = Shared { pieces: 1, batches: 1, workers: 1, memory: 1 << 30 };

fn cells_with(rows: &[Row], key: u8, by_unit: bool, shared: &Shared) -> UnitCells {
    let size = rows.len().div_ceil(shared.pieces).max(1);
    let pieces: Vec<Piece> = rows
        .chunks(size)
        .map(|rows| {
            let size = rows.len().div_ceil(shared.batches).max(1);
            Piece::Batches(rows.chunks(size).map(batch).collect())
        })
        .collect();
    let schema =
        [("who", Type::Int), ("zone", Type::Text), ("fare", Type::Float), ("stops", Type::Int)];
    let input = ProfileInput {
        layout: layout(),
        schema: schema.map(|(name, kind)| (name.to_owned(), Some(kind))).into(),
        unit: by_unit.then(|| ("who".to_owned(), Ids::Value(Type::Int))),
        pieces: Box::new(move || Ok(pieces)),
        hash_key: HashKey([key; 32]),
    };
    let options = ProfileOptions {
        memory: shared.memory,
        workers: shared.workers,
        batch_rows: 1_000,
        spill: None,
        progress: None,
    };
    unit_cells(input, &options).unwrap_or_else(|error| panic!("{}", error.detail()))
}

fn cells(rows: &[Row], key: u8) -> Vec<i64> {
    cells_with(rows, key, true, &ALONE).truths().to_vec()
}

/// Rows of a few units, many of them alike.
fn random_rows(dice: &mut Dice, units: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for unit in 0..units {
        let most = 1 << (dice.below(6) + 1);
        for _ in 0..1 + dice.below(most) {
            let zone = dice.below(6);
            let zone = (zone > 0).then(|| u8::try_from(zone).unwrap());
            let fare = match dice.below(6) {
                0 => None,
                1 => Some(0.0),
                n => Some([-300.0, -0.2, 7.5, 1e30][usize::try_from(n - 2).unwrap()]),
            };
            let unit = i64::try_from(unit).unwrap();
            rows.push((Some(unit), zone, fare, i64::try_from(dice.below(3)).unwrap()));
        }
    }
    rows
}

/// How the cells of each histogram differ: those with one less, and those with one more.
fn moved(one: &[i64], other: &[i64]) -> Vec<(usize, usize)> {
    let mut start = 0;
    let table = |&cells: &usize| {
        let (one, other) = (&one[start..start + cells], &other[start..start + cells]);
        start += cells;
        let steps: Vec<i64> = one.iter().zip(other).map(|(one, other)| other - one).collect();
        assert!(steps.iter().all(|step| step.abs() <= 1), "a cell moved by more than one");
        let count = |step: i64| steps.iter().filter(|&&one| one == step).count();
        (count(-1), count(1))
    };
    layout().cells().iter().map(table).collect()
}

#[test]
fn removing_or_replacing_a_unit_moves_one_cell_of_each_histogram() {
    let mut dice = Dice::new(71);
    for round in 0..60u8 {
        let rows = random_rows(&mut dice, 6);
        let whole = cells_with(&rows, round, true, &ALONE);
        let without: Vec<Row> = rows.iter().filter(|row| row.0 != Some(3)).copied().collect();
        let less = cells_with(&without, round, true, &ALONE);
        assert_eq!(moved(whole.truths(), less.truths()), [(1, 0); 4]);
        // Another unit of the same name, in between the others.
        let mut other = without.clone();
        for row in random_rows(&mut dice, 1) {
            other.insert(other.len() / 2, (Some(3), row.1, row.2, row.3));
        }
        let other = cells_with(&other, round, true, &ALONE);
        for (less, more) in moved(whole.truths(), other.truths()) {
            assert!(less == more && less <= 1);
        }
        // And so for what bounds would cut off.
        let values = |below, above| ValueBounds { below, above };
        let chosen = Chosen {
            row_bin: usize::from(round % 6),
            group_bins: vec![usize::from(round % 3)],
            values: vec![values(Some(20), Some(33)), values(None, None)],
        };
        let cut = |cells: &UnitCells| cells.cut_truths(&chosen);
        let mut start = 0;
        for count in chosen.cells() {
            let before = cut(&whole);
            let steps = |other: &[i64]| {
                let range = start..start + count;
                let steps = before[range.clone()].iter().zip(&other[range]);
                steps.map(|(one, other)| other - one).filter(|step| *step != 0).collect::<Vec<_>>()
            };
            assert!(matches!(steps(&cut(&less))[..], [] | [-1]));
            assert!(matches!(steps(&cut(&other))[..], [] | [-1] | [1] | [-1, 1] | [1, -1]));
            start += count;
        }
        assert_eq!(cut(&whole)[0], 6);
    }
}

#[test]
fn order_batches_parts_and_disk_change_nothing() {
    let mut dice = Dice::new(72);
    let mut rows = random_rows(&mut dice, 4_000);
    rows.push((None, Some(1), Some(3.0), 2));
    let expected = cells(&rows, 9);
    assert_eq!(expected[..ROW_BINS].iter().sum::<i64>(), 4_000);
    for (pieces, batches, workers, memory) in
        [(1, 9, 1, 1 << 30), (7, 3, 4, 1 << 30), (5, 40, 2, 0), (1, 100, 1, 0)]
    {
        for place in (1..rows.len()).rev() {
            rows.swap(place, usize::try_from(dice.below(place as u64 + 1)).unwrap());
        }
        let shared = Shared { pieces, batches, workers, memory };
        let found = cells_with(&rows, 9, true, &shared);
        assert_eq!(found.truths(), expected, "{pieces} {batches} {workers} {memory}");
        assert_eq!(found.nobodys(), 1);
        assert!(found.spills > 0 || memory > 0 || workers > 1);
    }
    // Another key chooses other rows, and nothing else changes.
    let other = cells(&rows, 10);
    let counts = ROW_BINS + layout().cells()[1];
    assert_eq!(other[..counts], expected[..counts]);
    assert_ne!(other, expected);
}

/// Everything anew, with maps and lists.
#[test]
fn cells_agree_with_a_plain_reading() {
    let mut dice = Dice::new(73);
    for key in 0..20u8 {
        let rows = random_rows(&mut dice, 12);
        let mut units: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
        for row in &rows {
            units.entry(row.0.unwrap()).or_default().push(*row);
        }
        let mut expected = vec![0i64; layout().cells().iter().sum()];
        for (unit, rows) in &units {
            let zones: BTreeSet<Option<u8>> = rows.iter().map(|row| row.1).collect();
            let chosen = chosen(*unit, rows, key);
            let fare = match chosen.2 {
                None => 0,
                Some(0.0) => 1,
                // Up to 512 and up to a quarter below zero; up to 8, and beyond, above.
                Some(-300.0) => 2 + 96 + 31 + 9,
                Some(-0.2) => 2 + 96 + 31 - 2,
                Some(7.5) => 2 + 31 + 3,
                Some(_) => 2 + 95,
            };
            let stops = [1, 2 + 31, 2 + 31 + 1][usize::try_from(chosen.3).unwrap()];
            let bin = power_bin(rows.len() as u64, ROW_BINS);
            expected[bin] += 1;
            expected[ROW_BINS + power_bin(zones.len() as u64, 18)] += 1;
            let start = ROW_BINS + 18;
            expected[start + bin * VALUE_BINS + fare] += 1;
            expected[start + (ROW_BINS + bin) * VALUE_BINS + stops] += 1;
        }
        assert_eq!(cells(&rows, key), expected, "{key}");
    }
}

/// The row with the smallest hash of (unit, row bytes, copy number), by the words of the design.
fn chosen(unit: i64, rows: &[Row], key: u8) -> Row {
    let derived = |what: &str| blake3::derive_key(&format!("eke profile 1: {what}"), &[key; 32]);
    let (of_rows, of_copies) = (derived("rows"), derived("copies"));
    let first = |bytes: &[u8], key: &[u8; 32]| -> [u8; 16] {
        blake3::keyed_hash(key, bytes).as_bytes()[..16].try_into().unwrap()
    };
    let mut copies: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut best: Option<([u8; 16], Row)> = None;
    for row in rows {
        let mut bytes = 9u64.to_le_bytes().to_vec();
        bytes.push(2);
        bytes.extend(unit.to_le_bytes());
        match row.2 {
            None => bytes.push(0),
            Some(fare) => {
                bytes.push(3);
                bytes.extend(fare.to_le_bytes());
            }
        }
        bytes.push(2);
        bytes.extend(row.3.to_le_bytes());
        let copy = copies.entry(bytes.clone()).or_default();
        let line = u128::from_be_bytes(first(&bytes, &of_rows));
        let mut of_copy = 16u64.to_le_bytes().to_vec();
        of_copy.extend(line.to_le_bytes());
        of_copy.extend(copy.to_le_bytes());
        *copy += 1;
        let order = first(&of_copy, &of_copies);
        if best.is_none_or(|(least, _)| order < least) {
            best = Some((order, *row));
        }
    }
    best.unwrap().1
}

/// Three copies of one row and one other: the other is chosen once in four times.
#[test]
fn each_row_of_a_unit_is_chosen_equally_often() {
    const UNITS: i64 = 4_000;
    let rows: Vec<Row> = (0..UNITS)
        .flat_map(|unit| [0, 0, 0, 2].map(|stops| (Some(unit), None, Some(1.0), stops)))
        .collect();
    let counts = cells(&rows, 1);
    let start = ROW_BINS + 18 + ROW_BINS * VALUE_BINS + 2 * VALUE_BINS;
    let (zeros, twos) = (counts[start + 1], counts[start + 2 + 31 + 1]);
    assert_eq!(zeros + twos, UNITS);
    let fits = |part: f64| {
        let units = UNITS as f64;
        (twos as f64 - part * units).abs() < 5.4 * (part * (1.0 - part) * units).sqrt()
    };
    assert!(fits(0.25), "{twos}");
    // If copies counted once it would be one in two.
    assert!(!fits(0.5));
}

#[test]
fn rows_that_are_units_are_in_cells_of_their_own() {
    let rows: Vec<Row> =
        vec![(None, Some(1), Some(7.5), 2), (Some(4), None, None, 0), (Some(4), None, None, 0)];
    let counts = cells_with(&rows, 3, false, &ALONE);
    assert_eq!((counts.truths()[0], counts.truths()[ROW_BINS], counts.nobodys()), (3, 3, 0));
    assert_eq!(counts.truths()[ROW_BINS + 18], 2);
    assert_eq!(counts.truths().iter().sum::<i64>(), 12);
}
