//! Texts that are listed once, with rows that say which they have (dictionary columns): the same
//! comes out as without lists.

use std::fs::File;
use std::sync::Arc;

use eke_engine::testing::arrow_array::cast::AsArray;
use eke_engine::testing::arrow_array::types::Int32Type;
use eke_engine::testing::arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
use eke_engine::testing::parquet::arrow::ArrowWriter;
use eke_engine::testing::parquet::file::properties::WriterProperties;
use eke_engine::testing::{self, Bounded, RowsOptions, Source, bounded, bounded_in_memory};
use eke_sql::{Plan, Type};
use eke_testkit::Dice;

use crate::rows::files::Folder;
use crate::rows::neighbours::{HASH_KEY, UNITS, assert_close, groups};
use crate::rows::plain::{self, Groups, Row};
use crate::rows::random;

/// The same rows with lists of texts.
pub(crate) fn listed(batch: &RecordBatch) -> RecordBatch {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
        let list = |texts: DictionaryArray<Int32Type>| -> ArrayRef { Arc::new(texts) };
        let array = match (array.as_string_view_opt(), array.as_string_opt::<i32>()) {
            (Some(texts), _) => list(texts.iter().collect()),
            (None, Some(texts)) => list(texts.iter().collect()),
            (None, None) => Arc::clone(array),
        };
        (field.name().clone(), array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns.collect::<Vec<_>>()).unwrap()
}

/// Pieces with a list each, which their batches share, and some without.
fn pieces(rows: &[Row], unit: Type, dice: &mut Dice) -> Vec<Vec<RecordBatch>> {
    let schema = random::schema(unit);
    let size = 1 + dice.roll(rows.len() + 1);
    let piece = |rows: &[Row]| {
        let whole = random::batch(rows, &schema);
        let whole = if dice.roll(4) == 0 { whole } else { listed(&whole) };
        let size = 1 + dice.roll(rows.len());
        let starts = (0..rows.len()).step_by(size);
        starts.map(|from| whole.slice(from, size.min(rows.len() - from))).collect()
    };
    rows.chunks(size).map(piece).collect()
}

fn run(pieces: Vec<Vec<RecordBatch>>, plan: &Plan, unit: Type, partitions: usize) -> Bounded {
    let options = RowsOptions { partitions, batch_rows: 3, ..RowsOptions::usual() };
    let schema = random::known(&random::schema(unit));
    bounded_in_memory(pieces, &schema, plan, &HASH_KEY, options)
        .unwrap_or_else(|error| panic!("{}", error.detail()))
}

fn case(number: u64, rows: usize) -> (Dice, Type, Vec<Row>, Plan) {
    let mut dice = Dice(number);
    let unit = *dice.pick(&UNITS);
    let rows = 1 + dice.roll(rows);
    let table = random::table(&mut dice, unit, rows, 5);
    let plan = random::plan(&mut dice);
    (dice, unit, table, plan)
}

#[test]
fn rows_with_lists_agree_with_a_plain_reading() {
    for number in 7_000_000..7_001_500 {
        let (mut dice, unit, table, plan) = case(number, 40);
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        let pieces = pieces(&table, unit, &mut dice);
        let schema = random::known(&random::schema(unit));
        let found =
            testing::driven(&pieces, &schema, &plan, &HASH_KEY, &mut |sides| dice.roll(sides));
        assert_eq!(groups(&found, &expected), expected, "case {number}: {plan:?}");
        if number % 10 == 0 {
            let partitions = *dice.pick(&[1, 2, 7]);
            let found = run(pieces, &plan, unit, partitions);
            assert_eq!(found.unit_counts().len(), expected.len(), "case {number}: {plan:?}");
            assert_eq!(groups(&found, &expected), expected, "case {number}: {plan:?}");
        }
    }
}

#[test]
fn removing_a_unit_of_rows_with_lists_changes_no_more_than_the_plan_says() {
    let nobody = Groups::new();
    for number in 7_100_000..7_100_030 {
        let (mut dice, unit, table, plan) = case(number, 30);
        let all = groups(&run(pieces(&table, unit, &mut dice), &plan, unit, 2), &nobody);
        for gone in random::units(&table) {
            let mut rest = random::without(&table, &gone);
            dice.shuffle(&mut rest);
            let rest = run(pieces(&rest, unit, &mut dice), &plan, unit, 2);
            assert_close(&all, &groups(&rest, &nobody), &plan, number);
        }
    }
}

/// Files whose pages list their texts, all of them or only the first, and files that list none.
#[test]
fn files_give_the_same_whether_their_pages_list_texts_or_not() {
    let properties = [
        WriterProperties::builder(),
        WriterProperties::builder().set_dictionary_enabled(false),
        // A list that is full soon: the pages after it have texts.
        WriterProperties::builder().set_dictionary_page_size_limit(30).set_write_batch_size(4),
    ];
    let properties = properties.map(|one| one.set_max_row_group_row_count(Some(17)).build());
    for number in 7_200_000..7_200_030 {
        let (_, unit, table, plan) = case(number, 60);
        if unit == Type::Float {
            // No unit of a file.
            continue;
        }
        let expected = plain::bounded(&table, &plan, &HASH_KEY);
        let batch = random::batch(&table, &random::schema(unit));
        for properties in &properties {
            let folder = Folder::new();
            let file = File::create(folder.path().join("rows.parquet")).unwrap();
            let mut writer =
                ArrowWriter::try_new(file, batch.schema(), Some(properties.clone())).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let source = Source::find(folder.path(), "rows.parquet").unwrap();
            let schema = random::known(&random::schema(unit));
            let options = RowsOptions { batch_rows: 5, ..RowsOptions::usual() };
            let found = bounded(&source, &schema, &plan, &HASH_KEY, options)
                .unwrap_or_else(|error| panic!("{}", error.detail()));
            assert_eq!(groups(&found, &expected), expected, "case {number}: {plan:?}");
        }
    }
}
