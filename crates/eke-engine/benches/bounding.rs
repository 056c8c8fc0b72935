//! What bounding costs: `cargo bench -p eke-engine`. Two million trips of a hundred thousand
//! people, in memory, all cores: our one pass, beside the same question unbounded, at once and by
//! unit first.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use divan::Bencher;
use eke_budget::Adjacency;
use eke_engine::testing::arrow::array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use eke_engine::testing::datafusion::common::DataFusionError;
use eke_engine::testing::datafusion::dataframe::DataFrame;
use eke_engine::testing::datafusion::datasource::MemTable;
use eke_engine::testing::datafusion::functions_aggregate::expr_fn::{count, count_distinct, sum};
use eke_engine::testing::datafusion::logical_expr::lit;
use eke_engine::testing::datafusion::prelude::{SessionContext, col};
use eke_engine::testing::{RowsOptions, bounded_in_memory};
use eke_sql::{Expr, Key, Plan, Sum, Summand, Type, VERSION};
use eke_testkit::Dice;
use tokio::runtime::Runtime;

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

static ENGINE: LazyLock<(Runtime, SessionContext)> = LazyLock::new(|| {
    let context = SessionContext::new();
    let schema = PIECES[0][0].schema();
    let table = MemTable::try_new(schema, PIECES.clone()).unwrap();
    context.register_table("trips", Arc::new(table)).unwrap();
    (Runtime::new().unwrap(), context)
});

fn main() {
    // Only when it is measured, and not when it is merely tried.
    if std::env::args().any(|argument| argument == "--bench") {
        ratios();
    }
    divan::main();
}

fn ratios() {
    let names = ["bounded in one pass", "unbounded", "unbounded, by unit first"];
    let runs: [&dyn Fn(); 3] = [&bounded, &plain, &units_first];
    // In turns, so that what else the machine does meets all of them.
    let mut times = vec![Vec::new(); runs.len()];
    for _ in 0..7 {
        for (run, times) in runs.iter().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    for (name, median) in names.iter().zip(&medians) {
        println!("{name}: {:.0} ms, {:.2} of our one pass", median * 1e3, median / medians[0]);
    }
}

#[divan::bench(sample_count = 10)]
fn one_pass(bencher: Bencher) {
    bencher.bench_local(bounded);
}

#[divan::bench(sample_count = 10)]
fn unbounded(bencher: Bencher) {
    bencher.bench_local(plain);
}

#[divan::bench(sample_count = 10)]
fn unbounded_by_unit_first(bencher: Bencher) {
    bencher.bench_local(units_first);
}

/// Counts, people and fares by city, as they are.
fn plain() {
    run(|trips| {
        let sums = vec![count(lit(1)), count_distinct(col("who")), sum(col("fare"))];
        trips.aggregate(vec![col("city")], sums)
    });
}

/// The same, by person and city first.
fn units_first() {
    run(|trips| {
        let sums = vec![count(lit(1)).alias("n"), sum(col("fare")).alias("s")];
        let sums = trips.aggregate(vec![col("who"), col("city")], sums)?;
        let all = vec![sum(col("n")), count(lit(1)).alias("people"), sum(col("s"))];
        sums.aggregate(vec![col("city")], all)
    });
}

fn run(question: impl Fn(DataFrame) -> Result<DataFrame, DataFusionError>) {
    let (runtime, context) = &*ENGINE;
    let rows = runtime.block_on(async {
        question(context.table("trips").await.unwrap()).unwrap().collect().await.unwrap()
    });
    assert!(rows.iter().map(RecordBatch::num_rows).sum::<usize>() > 30);
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
        filter: None,
        keys: vec![Key { expr: column("city"), kind: Type::Text, public: None }],
        sums,
        max_groups: 3,
        max_rows: 20,
    };
    let schema = [("who", Type::Int), ("city", Type::Text), ("fare", Type::Float)];
    let schema = schema.map(|(name, kind)| (name.to_owned(), Some(kind)));
    let bounded =
        bounded_in_memory(PIECES.clone(), &schema, &plan, &[1; 32], RowsOptions::usual()).unwrap();
    assert_eq!(bounded.unit_counts().len(), 50);
}
