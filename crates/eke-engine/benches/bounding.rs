//! What bounding costs: `cargo bench -p eke-engine`. Two million trips of a hundred thousand
//! people, in memory, all cores. `eke-lab bench` measures it beside others.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::sync::{Arc, LazyLock};

use divan::Bencher;
use eke_budget::Adjacency;
use eke_engine::testing::arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use eke_engine::testing::{RowsOptions, bounded_in_memory};
use eke_sql::{Expr, Key, Plan, Sum, Summand, Type, VERSION};
use eke_testkit::Dice;

static PIECES: LazyLock<Vec<Vec<RecordBatch>>> = LazyLock::new(|| {
    let batch = |part: u64| {
        let rows = (0..8_192).map(|row| Dice(part * 8_192 + row).word());
        let who: Int64Array = rows.clone().map(|row| i64::try_from(row % 100_000).ok()).collect();
        let city: StringViewArray =
            rows.clone().map(|row| Some(format!("city {}", (row >> 20) % 50))).collect();
        let fare: Float64Array = rows
            .map(|row| u32::try_from((row >> 40) % 20_000).ok().map(|v| f64::from(v) / 100.0))
            .collect();
        let columns: [(&str, ArrayRef); 3] =
            [("who", Arc::new(who)), ("city", Arc::new(city)), ("fare", Arc::new(fare))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    (0..4).map(|piece| (0..61).map(|part| batch(piece * 61 + part)).collect()).collect()
});

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 10)]
fn one_pass(bencher: Bencher) {
    bencher.bench_local(bounded);
}

fn bounded() {
    let column = |name: &str| Expr::Column(name.to_owned());
    let fare = Summand::Value { expr: column("fare"), low: 0, high: 200 << 10, centre: 100 << 10 };
    let sums = vec![
        Sum { summand: Summand::Rows, exponent: 0 },
        Sum { summand: Summand::Units, exponent: 0 },
        Sum { summand: fare, exponent: -10 },
    ];
    let plan = Plan {
        version: VERSION,
        dataset: "trips".to_owned(),
        unit_column: "who".to_owned(),
        adjacency: Adjacency::AddRemove,
        rows: None,
        filter: None,
        keys: vec![Key { expr: column("city"), kind: Type::Text, public: None }],
        sums,
        max_groups: 3,
        max_rows: 20,
        max_rows_in_all: None,
    };
    let schema = [("who", Type::Int), ("city", Type::Text), ("fare", Type::Float)];
    let schema = schema.map(|(name, kind)| (name.to_owned(), Some(kind)));
    let bounded =
        bounded_in_memory(PIECES.clone(), &schema, &plan, &[1; 32], RowsOptions::usual()).unwrap();
    assert_eq!(bounded.unit_counts().len(), 50);
}
