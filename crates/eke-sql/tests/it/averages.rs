//! Ratios that are averages: they come to what the ratio does, for all rows.

use eke_sql::{Leaf, Measure, Plan, Query, Sum, Summand, Type, Value, cast, evaluate, plan};
use eke_testkit::Dice;

use crate::tables::tables;

type Row = Vec<(&'static str, Value)>;

fn row(dice: &mut Dice) -> Row {
    let mut row = vec![
        ("rider_id", Value::Int(1)),
        ("city", Value::Text((*dice.pick(&["Delft", "Leiden"])).to_owned())),
        ("fare", Value::Float(dice.below(400) as f64 / 2.0)),
        ("tip", Value::Float(dice.below(100) as f64 / 2.0 - 5.0)),
        ("stops", Value::Int(dice.below(13).cast_signed())),
        ("paid", Value::Bool(dice.below(2) == 0)),
    ];
    for cell in row.iter_mut().skip(1) {
        if dice.below(4) == 0 {
            cell.1 = Value::Null;
        }
    }
    row
}

/// What an expression comes to in a row.
fn value(row: &Row, expr: &eke_sql::Expr) -> Value {
    evaluate(expr, &|leaf| match leaf {
        Leaf::Column(name) => {
            let cell = row.iter().find(|(own, _)| *own == name);
            cell.map_or(Value::Null, |(_, value)| value.clone())
        }
        _ => Value::Null,
    })
}

/// A sum of a plan over rows, without bounds.
fn sum(plan: &Plan, index: usize, rows: &[Row]) -> f64 {
    let sum = &plan.sums[index];
    let adds = |row: &Row| match &sum.summand {
        Summand::Rows => 1.0,
        Summand::Present(expr) => f64::from(u8::from(value(row, expr) != Value::Null)),
        Summand::Value { expr, centre, .. } => match cast(value(row, expr), Type::Float) {
            Value::Float(number) => number - *centre as f64 * sum.step(),
            _ => 0.0,
        },
        other => panic!("{other:?}"),
    };
    rows.iter().map(adds).sum()
}

fn average(query: &Query, rows: &[Row]) -> Option<f64> {
    let is_average = |measure: &&Measure| matches!(measure, Measure::Average { .. });
    let Measure::Average { sum: of, count } = query.measures.iter().find(is_average)? else {
        return None;
    };
    let Summand::Value { centre, .. } = query.plan.sums[*of].summand else { return None };
    let centre = centre as f64 * query.plan.sums[*of].step();
    Some(centre + sum(&query.plan, *of, rows) / sum(&query.plan, *count, rows))
}

#[test]
fn ratios_that_are_averages_come_to_the_same() {
    let mut dice = Dice::new(72);
    let ratios = [
        ("COUNT(*) FILTER (WHERE paid)", "COUNT(*)"),
        ("COUNT(tip)", "COUNT(*)"),
        ("COUNTIF(fare > 50)", "NULLIF(COUNT(*), 0)"),
        ("SUM(CASE WHEN stops > 3 THEN 1 ELSE 0 END)", "COUNT(*)"),
        ("SUM(CASE WHEN stops > 3 THEN 1 END)", "COUNT(*)"),
        ("SUM(paid::int)", "COUNT(*)"),
        ("SUM(fare)", "COUNT(*)"),
        ("SUM(fare)", "COUNT(fare)"),
        ("SUM(tip * 2)", "COUNT(tip * 2)"),
        ("SUM(stops)", "COUNT(*)"),
        ("COUNT(*) FILTER (WHERE paid AND fare > 20)", "COUNT(*) FILTER (WHERE paid)"),
        ("SUM(fare) FILTER (WHERE paid AND stops < 9)", "COUNT(*) FILTER (WHERE paid)"),
        ("SUM(CASE WHEN paid AND fare > 9 THEN 2 ELSE 0 END)", "COUNT(*) FILTER (WHERE paid)"),
    ];
    for (above, below) in ratios {
        for times in ["", " * 1.0", " * 100"] {
            let sql = format!("SELECT {above}{times} / {below} AS share FROM trips");
            let ratio = plan(&sql, &tables()).unwrap();
            assert_eq!(ratio.plan.sums.len(), 2, "{sql}");
            let apart =
                plan(&format!("SELECT {above}, {below} + 0 FROM trips"), &tables()).unwrap();
            let parts: Vec<usize> = (apart.measures.iter())
                .filter_map(|measure| match measure {
                    Measure::Sum(index) => Some(*index),
                    _ => None,
                })
                .collect();
            let [above, below] = *parts.as_slice() else { panic!("{sql}: {apart:?}") };
            for _ in 0..40 {
                let rows: Vec<Row> = (0..=dice.below(30)).map(|_| row(&mut dice)).collect();
                let parts = [above, below].map(|index| sum(&apart.plan, index, &rows));
                if parts[1] > 0.0 {
                    let found = average(&ratio, &rows).unwrap_or_else(|| panic!("{sql}"));
                    let truth = parts[0] / parts[1];
                    assert!((found - truth).abs() < 1e-9, "{sql}: {found} {truth}");
                }
            }
        }
    }
    // Rows that are added up and not counted; a numerator that is asked for by itself.
    for sql in [
        "SELECT SUM(fare) / COUNT(tip) FROM trips",
        "SELECT COUNT(*) FILTER (WHERE fare > 20) / COUNT(*) FILTER (WHERE paid) FROM trips",
        "SELECT SUM(fare) / SUM(tip) FROM trips",
        "SELECT COUNT(*) / COUNT(fare) FROM trips",
        "SELECT SUM(fare), SUM(fare) / COUNT(*) FROM trips",
        "SELECT SUM(fare) / COUNT(*) FROM trips HAVING SUM(fare) > 3",
        "SELECT COUNT(DISTINCT rider_id) / COUNT(*) FROM trips",
    ] {
        let query = plan(sql, &tables()).unwrap();
        let is_average = |measure: &Measure| matches!(measure, Measure::Average { .. });
        assert!(!query.measures.iter().any(is_average), "{sql}");
    }
}

/// Where zero is beyond the bounds of a number, rows that add nothing count as zero, and a number
/// that is there is cut off at its own bounds: one expression has one truth.
#[test]
fn a_number_is_cut_off_before_it_is_zero_for_others() {
    let mut tables = tables();
    let columns = &mut tables[0].columns;
    for (name, ends) in [("fare", (15.0, 20.0)), ("stops", (-9.0, -2.0))] {
        let column = columns.iter_mut().find(|column| column.name == name);
        column.unwrap().bounds = Some(ends);
    }
    for (sql, name, values) in [
        ("SUM(fare) / COUNT(*)", "fare", [(2.0, 15.0), (18.5, 18.5), (90.0, 20.0)]),
        ("SUM(stops) / COUNT(*)", "stops", [(-30.0, -9.0), (-4.0, -4.0), (7.0, -2.0)]),
        (
            "SUM(fare) FILTER (WHERE paid) / COUNT(*)",
            "fare",
            [(2.0, 15.0), (18.5, 18.5), (90.0, 20.0)],
        ),
    ] {
        let query = plan(&format!("SELECT {sql} AS mean FROM trips"), &tables).unwrap();
        let is_value = |sum: &&Sum| matches!(sum.summand, Summand::Value { .. });
        let sum = query.plan.sums.iter().find(is_value).unwrap();
        let Summand::Value { expr, low, high, .. } = &sum.summand else { panic!("{sum:?}") };
        let holding = |cell: Value| vec![("paid", Value::Bool(true)), (name, cell)];
        for (held, counts) in values {
            let held = match name {
                "stops" => cast(Value::Float(held), Type::Int),
                _ => Value::Float(held),
            };
            let found = cast(value(&holding(held), expr), Type::Float);
            assert_eq!(found, Value::Float(counts), "{sql}");
        }
        let found = cast(value(&holding(Value::Null), expr), Type::Float);
        assert_eq!(found, Value::Float(0.0), "{sql}");
        let step = sum.step();
        assert!(*low as f64 * step <= 0.0 && *high as f64 * step >= 0.0, "{sql}: {low} {high}");
    }
}
