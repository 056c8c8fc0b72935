//! A plain reading of a plan, row by row, for the engine to agree with. Slow, and easy to believe.

use std::collections::BTreeMap;

use eke_sql::{Binary, Expr, Plan, Summand, Unary, Value};

/// Values by the names of their columns.
pub(crate) type Row = BTreeMap<String, Value>;

/// For each group, the sums of the plan.
pub(crate) type Groups = BTreeMap<Vec<Value>, Vec<i128>>;

/// What the plan says.
pub(crate) fn bounded(rows: &[Row], plan: &Plan, hash_key: &[u8; 32]) -> Groups {
    let mut units: BTreeMap<Value, BTreeMap<Vec<Value>, Vec<&Row>>> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        // Without a column, each row is a unit.
        let unit = match plan.unit_column.as_str() {
            "" => Value::Int(number as i64),
            column => normal(&row[column]),
        };
        let filter = plan.filter.as_ref().is_none_or(|filter| truth(filter, row) == Some(true));
        let keys: Vec<Value> = plan.keys.iter().map(|key| evaluate(&key.expr, row)).collect();
        let listed =
            plan.keys.iter().zip(&keys).all(|(key, value)| {
                key.public.as_ref().is_none_or(|public| public.contains(value))
            });
        if unit != Value::Null && filter && listed {
            units.entry(unit).or_default().entry(keys).or_default().push(row);
        }
    }
    let mut groups = Groups::new();
    for (unit, of_unit) in units {
        let mut kept: Vec<_> = of_unit.into_iter().collect();
        kept.sort_by_key(|(keys, _)| {
            let mut bytes = Vec::new();
            keys.iter().for_each(|key| bytes.extend(encode(key)));
            let group = bytes.clone();
            bytes.extend(encode(&unit));
            (blake3::keyed_hash(hash_key, &bytes).as_bytes()[..16].to_vec(), group)
        });
        for (keys, rows) in kept.into_iter().take(plan.max_groups as usize) {
            let sums = groups.entry(keys).or_insert_with(|| vec![0; plan.sums.len()]);
            for (total, sum) in sums.iter_mut().zip(&plan.sums) {
                let one = i128::from(sum.one());
                let steps = |row: &&Row| match &sum.summand {
                    Summand::Rows => one,
                    Summand::Units => 0,
                    Summand::Present(expr) => {
                        if evaluate(expr, row) == Value::Null {
                            0
                        } else {
                            one
                        }
                    }
                    Summand::Value { expr, low, high, centre } => {
                        let steps = match evaluate(expr, row) {
                            Value::Int(value) => nearest(value as f64, sum.exponent),
                            Value::Float(value) => nearest(value, sum.exponent),
                            _ => return 0,
                        };
                        steps.max(i128::from(*low)).min(i128::from(*high)) - i128::from(*centre)
                    }
                };
                *total += if sum.summand == Summand::Units {
                    one
                } else {
                    let all: i128 = rows.iter().map(steps).sum();
                    let (n, most) = (rows.len() as i128, i128::from(plan.max_rows));
                    if n > most { all * most / n } else { all }
                };
            }
        }
    }
    groups
}

/// The nearest step, halves up. Integers of the tests are exact as doubles, or so large that they
/// are clamped.
fn nearest(value: f64, exponent: i32) -> i128 {
    (value * 2f64.powi(-exponent) + 0.5).floor() as i128
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Float(value) => Value::float(*value),
        other => other.clone(),
    }
}

fn truth(expr: &Expr, row: &Row) -> Option<bool> {
    match evaluate(expr, row) {
        Value::Bool(value) => Some(value),
        _ => None,
    }
}

/// The few expressions that random plans have.
fn evaluate(expr: &Expr, row: &Row) -> Value {
    match expr {
        Expr::Literal(value) => value.clone(),
        Expr::Column(name) => normal(&row[name]),
        Expr::Unary(Unary::IsNull, a) => Value::Bool(evaluate(a, row) == Value::Null),
        Expr::Unary(Unary::Not, a) => truth(a, row).map_or(Value::Null, |a| Value::Bool(!a)),
        Expr::Binary(operator, a, b) => match (operator, evaluate(a, row), evaluate(b, row)) {
            (_, Value::Null, _) | (_, _, Value::Null) => Value::Null,
            (Binary::Less, a, b) => Value::Bool(a < b),
            (Binary::Equal, a, b) => Value::Bool(a == b),
            (Binary::Multiply, Value::Int(a), Value::Int(b)) => {
                a.checked_mul(b).map_or(Value::Null, Value::Int)
            }
            (Binary::Divide, Value::Float(a), Value::Float(b)) => {
                if b == 0.0 {
                    Value::Null
                } else {
                    Value::float(a / b)
                }
            }
            (Binary::Add, Value::Float(a), Value::Float(b)) => Value::float(a + b),
            other => panic!("no plain reading of {other:?}"),
        },
        Expr::Case { branches, otherwise } => branches
            .iter()
            .find(|(when, _)| truth(when, row) == Some(true))
            .map(|(_, then)| then)
            .or(otherwise.as_deref())
            .map_or(Value::Null, |expr| evaluate(expr, row)),
        other => panic!("no plain reading of {other:?}"),
    }
}

fn encode(value: &Value) -> Vec<u8> {
    let tagged = |tag: u8, bytes: &[u8]| [&[tag], bytes].concat();
    match value {
        Value::Null => vec![0],
        Value::Bool(value) => vec![1, u8::from(*value)],
        Value::Int(value) => tagged(2, &value.to_le_bytes()),
        Value::Float(value) => tagged(3, &value.to_le_bytes()),
        Value::Text(value) => {
            assert!(value.len() < 128);
            tagged(4, &[&[value.len() as u8], value.as_bytes()].concat())
        }
        Value::Date(value) => tagged(5, &value.to_le_bytes()),
        Value::Timestamp(value) => tagged(6, &value.to_le_bytes()),
    }
}
