//! A plain reading of a plan, row by row, for the engine to agree with. Slow, and easy to believe.

use std::collections::{BTreeMap, BTreeSet};

use eke_sql::{
    Binary, Chooses, Expr, Function, Gives, Lookup, Meet, PerUnit, Plan, RowSource, Sum, Summand,
    TotalFunction, Type, Unary, UnitRows, UnitTotal, Value,
};

/// Values by the names of their columns.
pub(crate) type Row = BTreeMap<String, Value>;

/// For each group, the sums of the plan.
pub(crate) type Groups = BTreeMap<Vec<Value>, Vec<i128>>;

/// The rows of datasets, by their names.
pub(crate) type Tables = BTreeMap<String, Vec<Row>>;

/// What the plan says.
pub(crate) fn bounded(rows: &[Row], plan: &Plan, hash_key: &[u8; 32]) -> Groups {
    bounded_of(&Tables::from([(plan.dataset.clone(), rows.to_vec())]), plan, hash_key)
}

/// The same of several datasets.
pub(crate) fn bounded_of(tables: &Tables, plan: &Plan, hash_key: &[u8; 32]) -> Groups {
    let of_tree = plan.rows.as_ref().map(|tree| of(tree, tables, &plan.unit_column, hash_key));
    let rows = of_tree.as_deref().unwrap_or(&tables[&plan.dataset]);
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
    let mut found: BTreeMap<(Vec<Value>, usize), BTreeSet<Value>> = BTreeMap::new();
    for (unit, of_unit) in units {
        let mut kept: Vec<_> = of_unit.into_iter().collect();
        kept.sort_by_key(|(keys, _)| {
            let mut bytes = Vec::new();
            keys.iter().for_each(|key| bytes.extend(encode(key)));
            let group = bytes.clone();
            bytes.extend(encode(&unit));
            (blake3::keyed_hash(hash_key, &bytes).as_bytes()[..16].to_vec(), group)
        });
        kept.truncate(plan.max_groups as usize);
        // How many rows count in all groups, before these are bounded together.
        let in_all: usize =
            kept.iter().map(|(_, rows)| rows.len().min(plan.max_rows as usize)).sum();
        for (keys, rows) in kept {
            for (place, sum) in plan.sums.iter().enumerate() {
                if let Summand::Distinct { expr, most, .. } = &sum.summand {
                    let all = rows.iter().map(|row| evaluate(expr, row));
                    let all = all.filter(|value| *value != Value::Null).collect();
                    let brought = brought(all, &keys, &unit, *most, hash_key);
                    found.entry((keys.clone(), place)).or_default().extend(brought);
                }
            }
            let sums = groups.entry(keys).or_insert_with(|| vec![0; plan.sums.len()]);
            for (total, sum) in sums.iter_mut().zip(&plan.sums) {
                let one = i128::from(sum.one());
                let steps = |row: &&Row| match &sum.summand {
                    Summand::Rows => one,
                    Summand::Units | Summand::Distinct { .. } | Summand::Ranks { .. } => 0,
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
                    let all = if n > most { all * most / n } else { all };
                    match plan.max_rows_in_all {
                        Some(most) if in_all > most as usize => {
                            all * i128::from(most) / in_all as i128
                        }
                        _ => all,
                    }
                };
            }
        }
    }
    // What several units have counts once.
    for ((keys, place), values) in found {
        let sums = groups.get_mut(&keys).expect("a group with values");
        sums[place] = values.len() as i128 * i128::from(plan.sums[place].one());
    }
    groups
}

/// What of a search lies in each place of its grid, group by group: every unit's weight, divided as
/// its rows are.
pub(crate) fn lying(
    rows: &[Row],
    plan: &Plan,
    search: &Sum,
    hash_key: &[u8; 32],
) -> BTreeMap<Vec<Value>, BTreeMap<i64, i128>> {
    let Summand::Ranks { expr, low, high, grid, .. } = &search.summand else {
        panic!("{search:?} searches nothing");
    };
    let tables = Tables::from([(plan.dataset.clone(), rows.to_vec())]);
    let of_tree = plan.rows.as_ref().map(|tree| of(tree, &tables, &plan.unit_column, hash_key));
    let rows = of_tree.as_deref().unwrap_or(rows);
    let plan = &Plan { rows: None, ..plan.clone() };
    let mut groups: BTreeMap<Vec<Value>, BTreeMap<i64, i128>> = BTreeMap::new();
    let present = Sum { summand: Summand::Present(expr.clone()), exponent: search.exponent };
    let place = |row: &&Row| match evaluate(expr, row) {
        Value::Int(value) => Some(nearest(value as f64, *grid)),
        Value::Float(value) => Some(nearest(value, *grid)),
        _ => None,
    };
    let units: BTreeSet<Value> = match plan.unit_column.as_str() {
        "" => (0..rows.len() as i64).map(Value::Int).collect(),
        column => rows.iter().map(|row| normal(&row[column])).collect(),
    };
    for unit in units {
        let of_unit: Vec<Row> = match (&unit, plan.unit_column.as_str()) {
            (Value::Int(number), "") => vec![rows[*number as usize].clone()],
            (unit, column) => {
                rows.iter().filter(|row| normal(&row[column]) == *unit).cloned().collect()
            }
        };
        // What it counts for is what it counts for in a count of rows that are not NULL.
        let alone = Plan { sums: vec![present.clone()], ..plan.clone() };
        for (keys, sums) in bounded(&of_unit, &alone, hash_key) {
            let is_in = |row: &&Row| {
                let own: Vec<Value> =
                    plan.keys.iter().map(|key| evaluate(&key.expr, row)).collect();
                let filter = plan.filter.as_ref();
                own == keys && filter.is_none_or(|filter| truth(filter, row) == Some(true))
            };
            let mut places: Vec<i128> =
                of_unit.iter().filter(is_in).filter_map(|r| place(&r)).collect();
            places.sort_unstable();
            let count = places.len() as i128;
            let group = groups.entry(keys).or_default();
            let mut before = 0;
            for (at, place) in (1i128..).zip(places) {
                let place = place.clamp(i128::from(*low), i128::from(*high)) as i64;
                let below = sums[0] * at / count;
                *group.entry(place).or_default() += below - before;
                before = below;
            }
        }
    }
    groups
}

/// How many units are cut: those in the question, by groups or rows, by groups, with a key that is
/// not listed, and by rows in bins of twice as many each, the last without an end.
pub(crate) fn cuts(tables: &Tables, plan: &Plan, hash_key: &[u8; 32], bins: usize) -> Vec<u64> {
    let of_tree = plan.rows.as_ref().map(|tree| of(tree, tables, &plan.unit_column, hash_key));
    let rows = of_tree.as_deref().unwrap_or(&tables[&plan.dataset]);
    let mut units: BTreeMap<Value, (BTreeMap<Vec<Value>, u64>, bool)> = BTreeMap::new();
    for row in rows {
        let unit = normal(&row[&plan.unit_column]);
        let filter = plan.filter.as_ref().is_none_or(|filter| truth(filter, row) == Some(true));
        if unit == Value::Null || !filter {
            continue;
        }
        let (groups, unlisted) = units.entry(unit).or_default();
        let keys: Vec<Value> = plan.keys.iter().map(|key| evaluate(&key.expr, row)).collect();
        let is_listed = |key: &eke_sql::Key, value: &Value| {
            key.public.as_ref().is_none_or(|public| public.contains(value))
        };
        if plan.keys.iter().zip(&keys).all(|(key, value)| is_listed(key, value)) {
            *groups.entry(keys).or_default() += 1;
        } else {
            *unlisted = true;
        }
    }
    let mut counts = vec![0; 4 + bins];
    for (unit, (groups, unlisted)) in units {
        let mut kept: Vec<_> = groups.iter().collect();
        kept.sort_by_key(|(keys, _)| {
            let mut bytes: Vec<u8> = keys.iter().flat_map(encode).collect();
            bytes.extend(encode(&unit));
            blake3::keyed_hash(hash_key, &bytes).as_bytes()[..16].to_vec()
        });
        let by_groups = kept.len() > plan.max_groups as usize;
        let fullest = kept.iter().take(plan.max_groups as usize).map(|(_, rows)| **rows).max();
        let times = fullest.unwrap_or(0) as f64 / f64::from(plan.max_rows);
        let by_rows = (times > 1.0).then(|| (times.log2().ceil() as usize).min(bins));
        counts[0] += 1;
        counts[1] += u64::from(by_groups || by_rows.is_some());
        counts[2] += u64::from(by_groups);
        counts[3] += u64::from(unlisted);
        if let Some(bin) = by_rows {
            counts[3 + bin] += 1;
        }
    }
    counts
}

/// Of the values of a unit in a group, those that take part.
fn brought(
    values: BTreeSet<Value>,
    keys: &[Value],
    unit: &Value,
    most: u32,
    hash_key: &[u8; 32],
) -> Vec<Value> {
    let derived = |context: &str| blake3::derive_key(context, hash_key);
    let digest_key = derived("eke 2026-11-18 digests of values that are counted once");
    let order_key = derived("eke 2026-11-18 which values of a unit take part");
    let name: Vec<u8> = keys.iter().chain([unit]).flat_map(encode).collect();
    let order = |value: &Value| {
        let digest = blake3::keyed_hash(&digest_key, &encode(value));
        // Two halves, each as a number: the least byte first.
        let mut halves: Vec<u8> = digest.as_bytes()[..16].to_vec();
        halves.chunks_mut(8).for_each(<[u8]>::reverse);
        let order = blake3::keyed_hash(&order_key, &[&halves[..], &name].concat());
        order.as_bytes()[..8].to_vec()
    };
    let mut values: Vec<Value> = values.into_iter().collect();
    values.sort_by_cached_key(order);
    values.truncate(most as usize);
    values
}

/// The rows that a plan's rows come from.
fn of(tree: &RowSource, tables: &Tables, unit_column: &str, hash_key: &[u8; 32]) -> Vec<Row> {
    match tree {
        RowSource::Dataset(name) => tables[name].clone(),
        RowSource::PerUnit(level) => {
            let rows = of(&level.of, tables, unit_column, hash_key);
            per_unit(level, &rows, unit_column, hash_key)
        }
        RowSource::Lookup(lookup) => joined(lookup, &of(&lookup.of, tables, unit_column, hash_key)),
        RowSource::Meet(meet) => {
            let left = side(&meet.left, tables, hash_key);
            let right = side(&meet.right, tables, hash_key);
            met(meet, &left, &right, unit_column)
        }
        RowSource::Union(union) => {
            let mut all = Vec::new();
            for branch in &union.branches {
                for (unit, mut row) in side(branch, tables, hash_key) {
                    row.insert(unit_column.to_owned(), unit);
                    all.push(row);
                }
            }
            all
        }
    }
}

/// The rows of a side that take part, each with its unit and its columns from then on.
fn side(side: &UnitRows, tables: &Tables, hash_key: &[u8; 32]) -> Vec<(Value, Row)> {
    let mut all = Vec::new();
    for row in of(&side.of, tables, &side.unit, hash_key) {
        let unit = normal(&row[&side.unit]);
        let filter = side.filter.as_ref().is_none_or(|filter| truth(filter, &row) == Some(true));
        if unit != Value::Null && filter {
            let columns = side.columns.iter();
            let columns = columns.map(|column| (column.name.clone(), evaluate(&column.expr, &row)));
            all.push((unit, columns.collect()));
        }
    }
    all
}

/// Every pair of a row of the left and one of the right, looked at one by one: whatever their
/// number.
fn met(meet: &Meet, left: &[(Value, Row)], right: &[(Value, Row)], unit_column: &str) -> Vec<Row> {
    let mut by_unit: BTreeMap<&Value, Vec<usize>> = BTreeMap::new();
    for (place, (unit, _)) in right.iter().enumerate() {
        by_unit.entry(unit).or_default().push(place);
    }
    let nulls = |side: &UnitRows| -> Row {
        side.columns.iter().map(|column| (column.name.clone(), Value::Null)).collect()
    };
    let together = |unit: &Value, one: &Row, other: &Row| {
        let mut both: Row = one.clone();
        both.extend(other.clone());
        if let Some(either) = &meet.either {
            let value = evaluate(&either.expr, &both);
            both.insert(either.name.clone(), value);
        }
        both.insert(unit_column.to_owned(), unit.clone());
        both
    };
    let (mut out, mut met_right) = (Vec::new(), vec![false; right.len()]);
    for (unit, one) in left {
        let mut is_met = false;
        for &place in by_unit.get(unit).into_iter().flatten() {
            let both = together(unit, one, &right[place].1);
            let equal = |(one, other): &(Expr, Expr)| {
                let (one, other) = (evaluate(one, &both), evaluate(other, &both));
                one != Value::Null && one == other
            };
            let condition = meet.condition.as_ref();
            if meet.equal.iter().all(equal)
                && condition.is_none_or(|condition| truth(condition, &both) == Some(true))
            {
                (is_met, met_right[place]) = (true, true);
                if !matches!(meet.gives, Gives::LeftWith | Gives::LeftWithout) {
                    out.push(both);
                }
            }
        }
        match meet.gives {
            Gives::LeftWith if is_met => out.push(together(unit, one, &Row::new())),
            Gives::LeftWithout if !is_met => out.push(together(unit, one, &Row::new())),
            Gives::PairsAndLeft | Gives::PairsAndBoth if !is_met => {
                out.push(together(unit, one, &nulls(&meet.right)));
            }
            _ => {}
        }
    }
    if meet.gives == Gives::PairsAndBoth {
        for ((unit, other), is_met) in right.iter().zip(met_right) {
            if !is_met {
                out.push(together(unit, &nulls(&meet.left), other));
            }
        }
    }
    out
}

/// Every pair of a row and a row of the public table, looked at one by one.
fn joined(lookup: &Lookup, rows: &[Row]) -> Vec<Row> {
    let mut out = Vec::new();
    for row in rows {
        let mut is_met = false;
        if lookup.chooses == Some(Chooses::NotIn) {
            if not_in(lookup, row) == Some(true) {
                out.push(row.clone());
            }
            continue;
        }
        let with = |cells: Option<&Row>| {
            let mut both = row.clone();
            both.extend(lookup.columns.iter().map(|column| {
                let cell = cells.map_or(Value::Null, |cells| normal(&cells[&column.column]));
                (column.name.clone(), cell)
            }));
            both
        };
        for zone in &crate::rows::random::zones() {
            let both = with(Some(zone));
            let equal = |(one, other): &(Expr, Expr)| {
                let (one, other) = (evaluate(one, &both), evaluate(other, &both));
                one != Value::Null && one == other
            };
            let condition = lookup.condition.as_ref();
            if lookup.equal.iter().all(equal)
                && condition.is_none_or(|condition| truth(condition, &both) == Some(true))
            {
                is_met = true;
                if lookup.chooses.is_none() {
                    out.push(both);
                }
            }
        }
        match lookup.chooses {
            Some(Chooses::With) if is_met => out.push(row.clone()),
            Some(Chooses::Without) if !is_met => out.push(row.clone()),
            _ => {}
        }
        if !is_met && lookup.keeps_unmatched {
            out.push(with(None));
        }
    }
    out
}

/// NOT IN as SQL has it, in three values: `x <> a AND x <> b AND …` over the rows of the table.
fn not_in(lookup: &Lookup, row: &Row) -> Option<bool> {
    let mut result = Some(true);
    for zone in &crate::rows::random::zones() {
        let mut both = row.clone();
        let cells = lookup.columns.iter();
        both.extend(cells.map(|column| (column.name.clone(), normal(&zone[&column.column]))));
        let listed = lookup.condition.as_ref();
        if listed.is_some_and(|condition| truth(condition, &both) != Some(true)) {
            continue;
        }
        for (one, other) in &lookup.equal {
            let differs = match (evaluate(one, &both), evaluate(other, &both)) {
                (Value::Null, _) | (_, Value::Null) => None,
                (one, other) => Some(one != other),
            };
            result = match (result, differs) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
    }
    result
}

fn per_unit(level: &PerUnit, rows: &[Row], unit_column: &str, hash_key: &[u8; 32]) -> Vec<Row> {
    let mut units: BTreeMap<Value, BTreeMap<Vec<Value>, Vec<&Row>>> = BTreeMap::new();
    for row in rows {
        let unit = normal(&row[unit_column]);
        let filter = level.filter.as_ref().is_none_or(|filter| truth(filter, row) == Some(true));
        if unit != Value::Null && filter {
            let keys = level.keys.iter().map(|key| evaluate(&key.expr, row)).collect();
            units.entry(unit).or_default().entry(keys).or_default().push(row);
        }
    }
    let mut out = Vec::new();
    for (unit, of_unit) in units {
        let mut kept: Vec<_> = of_unit.into_iter().collect();
        kept.sort_by_key(|(keys, _)| {
            let group: Vec<u8> = keys.iter().flat_map(encode).collect();
            let name = [&group[..], &encode(&unit)].concat();
            (blake3::keyed_hash(hash_key, &name).as_bytes()[..8].to_vec(), group)
        });
        for (keys, rows) in kept.into_iter().take(PerUnit::MOST_ROWS) {
            let mut row = Row::from([(unit_column.to_owned(), unit.clone())]);
            let keys = level.keys.iter().zip(keys);
            row.extend(keys.map(|(key, value)| (key.name.clone(), value)));
            let totals = level.totals.iter();
            row.extend(totals.map(|total| (total.name.clone(), of_unit_rows(total, &rows))));
            out.push(row);
        }
    }
    out
}

/// A total of the rows of one unit.
fn of_unit_rows(total: &UnitTotal, rows: &[&Row]) -> Value {
    let Some(expr) = &total.expr else { return Value::Int(rows.len() as i64) };
    let values = rows.iter().map(|row| evaluate(expr, row));
    let mut values: Vec<Value> = values.filter(|value| *value != Value::Null).collect();
    values.sort();
    let count = values.len() as i64;
    let sum = || match total.kind {
        Type::Int => {
            let ints = values.iter().map(|value| match value {
                Value::Int(value) => i128::from(*value),
                other => panic!("{other:?} is no int"),
            });
            Ok(ints.sum::<i128>())
        }
        _ => {
            let floats = values.iter().map(|value| match value {
                Value::Float(value) => *value,
                other => panic!("{other:?} is no float"),
            });
            Err(exact_sum(&floats.collect::<Vec<_>>()))
        }
    };
    match total.function {
        TotalFunction::Count => Value::Int(count),
        TotalFunction::CountDistinct => {
            values.dedup();
            Value::Int(values.len() as i64)
        }
        TotalFunction::Least => values.first().cloned().unwrap_or(Value::Null),
        TotalFunction::Greatest => values.last().cloned().unwrap_or(Value::Null),
        TotalFunction::Sum | TotalFunction::Average if count == 0 => Value::Null,
        TotalFunction::Sum => match sum() {
            Ok(int) => i64::try_from(int).map_or(Value::Null, Value::Int),
            Err(float) => Value::float(float),
        },
        TotalFunction::Average => match sum() {
            Ok(int) => Value::float(int as f64 / count as f64),
            Err(float) => Value::float(float / count as f64),
        },
    }
}

/// The nearest double to a sum: partial sums that do not overlap (Shewchuk), the largest last.
fn exact_sum(values: &[f64]) -> f64 {
    let (mut partials, mut rest): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for &value in values {
        if value.is_infinite() {
            rest += value;
            continue;
        }
        let mut x = value;
        let mut kept = Vec::new();
        for &partial in &partials {
            let (mut large, mut small) = (x, partial);
            if large.abs() < small.abs() {
                std::mem::swap(&mut large, &mut small);
            }
            let high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        partials = kept;
    }
    if rest != 0.0 || rest.is_nan() {
        return rest;
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    let mut low = 0.0;
    while let Some(next) = partials.pop() {
        let before = high;
        high = before + next;
        low = next - (high - before);
        if low != 0.0 {
            break;
        }
    }
    // Exactly between two doubles, what is left decides.
    if let Some(&last) = partials.last()
        && ((low < 0.0 && last < 0.0) || (low > 0.0 && last > 0.0))
    {
        let (twice, up) = (low * 2.0, high + low * 2.0);
        if twice == up - high {
            high = up;
        }
    }
    high
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
        Expr::Binary(Binary::Or, a, b) => match (truth(a, row), truth(b, row)) {
            (Some(true), _) | (_, Some(true)) => Value::Bool(true),
            (Some(false), Some(false)) => Value::Bool(false),
            _ => Value::Null,
        },
        Expr::Binary(operator, a, b) => match (operator, evaluate(a, row), evaluate(b, row)) {
            (_, Value::Null, _) | (_, _, Value::Null) => Value::Null,
            (Binary::Less, a, b) => Value::Bool(a < b),
            (Binary::Greater, a, b) => Value::Bool(a > b),
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
        Expr::Call(Function::Coalesce, all) => {
            let mut values = all.iter().map(|one| evaluate(one, row));
            values.find(|value| *value != Value::Null).unwrap_or(Value::Null)
        }
        // Days and moments are read plainly elsewhere.
        Expr::Call(function, _) if function.to_string().starts_with("date_trunc") => {
            moment(expr, row)
        }
        Expr::Shift { .. } | Expr::Cast(_, Type::Timestamp) => moment(expr, row),
        other => panic!("no plain reading of {other:?}"),
    }
}

/// A function of moments.
fn moment(expr: &Expr, row: &Row) -> Value {
    eke_sql::evaluate(expr, &|leaf| match leaf {
        eke_sql::Leaf::Column(name) => row[name].clone(),
        _ => Value::Null,
    })
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
