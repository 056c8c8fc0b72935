//! What holds for every expression and every text.

use eke_sql::{Expr, MAX_TEXT, Query, Shows, Summand, Type, Value, canonical, evaluate, plan};
use proptest::prelude::*;
use proptest::sample::select;

use crate::tables::tables;
use eke_testkit::expressions::{any_expr, expr, look, row};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn an_expression_has_a_value_of_its_type_for_every_row((kind, expr) in any_expr(3), row in row()) {
        let value = evaluate(&expr, &|leaf| look(&row, leaf));
        prop_assert!(value.kind().is_none_or(|own| own == kind), "{expr} is {value}");
        if let Value::Text(text) = &value {
            prop_assert!(text.len() <= MAX_TEXT, "{expr} has {} bytes", text.len());
        }
        if let Value::Float(float) = value {
            prop_assert!(!float.is_nan() && (float != 0.0 || float.is_sign_positive()));
        }
    }

    #[test]
    fn the_canonical_form_has_the_same_value(
        (_, expr) in any_expr(4),
        rows in prop::collection::vec(row(), 8),
    ) {
        let form = canonical(expr.clone());
        for row in &rows {
            let (before, after) =
                (evaluate(&expr, &|leaf| look(row, leaf)), evaluate(&form, &|leaf| look(row, leaf)));
            prop_assert_eq!(before, after, "{} became {}", expr, form);
        }
        prop_assert_eq!(canonical(form.clone()), form.clone(), "{}", form);
    }

}

proptest! {
    // These parse, with a parser that is built without optimisation here.
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn what_is_written_out_is_read_back(condition in expr(Type::Bool, 3)) {
        let form = canonical(condition);
        let sql = format!("SELECT COUNT(*) FROM trips WHERE {form}");
        match plan(&sql, &tables()) {
            Ok(query) => {
                let all = Expr::Literal(Value::Bool(true));
                prop_assert_eq!(query.plan.filter.unwrap_or(all), form, "{}", sql);
            }
            Err(refusal) => {
                prop_assert!(matches!(refusal, eke_sql::SqlError::Limit(_)), "{sql}: {refusal}");
            }
        }
    }

    #[test]
    fn every_row_has_a_public_key_or_none_and_what_is_counted_as_present_is(
        (_, key) in any_expr(2),
        rows in prop::collection::vec(row(), 16),
    ) {
        // A column whose values are listed may have others, whose rows are left out.
        prop_assume!(!key.columns().contains(&"city"));
        let sql = format!("SELECT COUNT({key}) FROM trips GROUP BY coalesce({key})");
        let Ok(query) = plan(&sql, &tables()) else { return Ok(()) };
        let [key] = query.plan.keys.as_slice() else { return Err(TestCaseError::fail("one key")) };
        for row in &rows {
            let value = evaluate(&key.expr, &|leaf| look(row, leaf));
            if query.plan.sums[0].summand == Summand::Rows {
                prop_assert_ne!(&value, &Value::Null, "{}", key.expr);
            }
            // One that is NULL may be left out: that it is listed where it should be is tested one
            // by one.
            if let (Some(values), true) = (&key.public, value != Value::Null) {
                prop_assert!(values.contains(&value), "{} is {value}", key.expr);
            }
        }
    }

    #[test]
    fn values_within_the_policys_bounds_are_within_the_clamp(
        number in expr(Type::Float, 2),
        rows in prop::collection::vec(row(), 16),
    ) {
        // Through LEAST and GREATEST there always are bounds.
        let sums = [format!("SUM({number})"), format!("AVG(LEAST(GREATEST({number}, -7.0), 1e5))")];
        let plans = sums.map(|sum| plan(&format!("SELECT {sum} FROM trips"), &tables()));
        for sum in plans.iter().flatten().flat_map(|query| &query.plan.sums) {
            let Summand::Value { expr, low, high, .. } = &sum.summand else { continue };
            for row in &rows {
                let mut row = row.clone();
                // What the policy says of fare, tip and stops is so.
                for (place, low, high) in [(2, 0.0, 200.0), (3, -5.0, 50.0)] {
                    if let Value::Float(float) = row[place] {
                        row[place] = Value::float(float.clamp(low, high));
                    }
                }
                if let Value::Int(int) = row[1] {
                    row[1] = Value::Int(int.clamp(0, 12));
                }
                if let Value::Float(float) = evaluate(expr, &|leaf| look(&row, leaf)) {
                    let (low, high) = (*low as f64 * sum.step(), *high as f64 * sum.step());
                    let slack = 1e-9 * low.abs().max(high.abs());
                    prop_assert!(low - slack <= float && float <= high + slack, "{expr} is {float}");
                }
            }
        }
    }
}

/// Words that SQL is made of.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "WITH",
    "AS",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "LIKE",
    "BETWEEN",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "EXTRACT",
    "DISTINCT",
    "UNION",
    "JOIN",
    "ON",
    "OVER",
    "FILTER",
    "INTERVAL",
    "DATE",
    "TIMESTAMP",
    "TRUE",
    "ASC",
    "DESC",
    "COUNT(*)",
    "COUNT",
    "SUM",
    "AVG",
    "least",
    "coalesce",
    "date_trunc",
    "substring",
    "left",
    "to_char",
    "width_bucket",
    "date_bin",
    "INTERVAL '1 day'",
    "AT TIME ZONE",
    "SYMMETRIC",
    "SIMILAR TO",
    "'(a|b)*'",
    "'YYYY'",
    "trips",
    "t",
    "people",
    "zones",
    "fare",
    "tip",
    "stops",
    "city",
    "zone",
    "paid",
    "day",
    "started",
    "rider_id",
    "*",
    "+",
    "-",
    "/",
    "%",
    "||",
    "::",
    "=",
    "<>",
    "<",
    ">=",
    "(",
    ")",
    "(",
    ")",
    ",",
    ".",
    ";",
    "1",
    "0",
    "2.5",
    "'a'",
    "'month'",
    "'2024-01-01'",
    "$1",
    "\"fare\"",
    "int",
    "text",
    "FOR",
    "UPDATE",
    "ALL",
    "ANY",
    "EXISTS",
    "ARRAY",
    "[",
    "]",
    "LATERAL",
    "VALUES",
    "ROLLUP",
    "~",
    "@",
    "{",
    "}",
    "E'\\n'",
    "--",
    "/*",
    "*/",
];

const QUESTIONS: &[&str] = &[
    "SELECT city, COUNT(*) AS n FROM trips WHERE fare > 10 GROUP BY city HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 3",
    "WITH a AS (SELECT *, fare + tip AS total FROM trips) SELECT AVG(total), SUM(least(fare, 3)) FROM a WHERE paid",
    "SELECT CASE WHEN fare < 1 THEN 'a' ELSE 'b' END AS k, SUM(stops) FROM trips GROUP BY k",
    "SELECT date_trunc('month', started), COUNT(DISTINCT rider_id) FROM trips WHERE day IN ('2024-01-01') GROUP BY 1",
    "SELECT DISTINCT LEFT( zone , 2 ) , SUM( ROUND( fare , 1 ) ) FILTER ( WHERE zone ~ '(a|b)*' ) FROM trips GROUP BY ALL",
    "SELECT COUNT(*) FROM trips WHERE started + INTERVAL '1 day' AT TIME ZONE 'UTC' > day - 7 AND fare BETWEEN SYMMETRIC 1 AND 0",
    "SELECT EXTRACT(DOW FROM day) AS d, AVG(-fare / 2) FROM trips WHERE city LIKE 'D%' GROUP BY d ORDER BY 2, d",
];

/// What a plan says of itself is in order.
fn in_order(query: &Query) {
    let plan = &query.plan;
    let is_of_keys = query.measures.is_empty() && !plan.keys.is_empty();
    assert!(plan.sums.is_empty() == is_of_keys && !query.describe().is_empty());
    for sum in &plan.sums {
        let sensitivity = sum.sensitivity(plan.max_rows);
        assert!(sensitivity > 0 && sensitivity < 1 << 24, "{sensitivity}");
        assert!(sum.step() > 0.0);
    }
    for output in &query.outputs {
        match output.shows {
            Shows::Key(index) => assert!(index < plan.keys.len()),
            Shows::OfKeys(index) => assert!(index < query.of_keys.len()),
            shows => assert!(shows.measure().unwrap() < query.measures.len()),
        }
    }
    for key in &plan.keys {
        assert!(key.public.as_ref().is_none_or(|values| values.is_sorted() && !values.is_empty()));
    }
    let json = serde_json::to_string(query).unwrap();
    assert_eq!(serde_json::from_str::<Query>(&json).unwrap(), *query);
}

fn ask(sql: &str) {
    match plan(sql, &tables()) {
        Ok(query) => in_order(&query),
        Err(refusal) => {
            let sentence = refusal.to_string();
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "{sentence}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn no_text_makes_the_planner_panic(sql in "\\PC{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        ask(&sql);
        ask(&format!("SELECT COUNT(*) FROM trips WHERE {sql}"));
        ask(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_heap_of_words_makes_the_planner_panic(words in prop::collection::vec(select(WORDS), 0..40)) {
        let words = words.join(" ");
        ask(&words);
        ask(&format!("SELECT COUNT(*) FROM trips WHERE {words}"));
        ask(&format!("SELECT {words} FROM trips"));
    }

    #[test]
    fn no_change_to_a_question_makes_the_planner_panic(
        question in select(QUESTIONS),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..4, select(WORDS)), 1..6),
    ) {
        let mut words: Vec<&str> = question.split(' ').collect();
        for (place, what, word) in changes {
            let place = place.index(words.len());
            match what {
                0 => words[place] = word,
                1 => words.insert(place, word),
                2 if words.len() > 1 => drop(words.remove(place)),
                _ => words.swap(0, place),
            }
        }
        ask(&words.join(" "));
    }
}
