//! Random tables and plans, small and full of special values.

use std::collections::BTreeMap;
use std::sync::Arc;

use eke_budget::Adjacency;
use eke_engine::testing::arrow_array::RecordBatch;
use eke_engine::testing::arrow_schema::{Field, Schema};
use eke_engine::testing::column_of;
use eke_sql::{
    Binary, Chooses, Expr, Function, Gives, Key, Lookup, LookupColumn, Meet, PerUnit, Plan,
    RowSource, Sum, Summand, TotalFunction, Type, Unary, Union, UnitKey, UnitRows, UnitTotal,
    VERSION, Value,
};
use eke_testkit::Dice;

use crate::rows::plain::Row;

/// The columns of random tables. `who` is of a type of its own in each.
pub(crate) fn schema(unit: Type) -> Vec<(String, Type)> {
    let columns = [
        ("who", unit),
        ("city", Type::Text),
        ("age", Type::Int),
        ("fare", Type::Float),
        ("paid", Type::Bool),
        ("day", Type::Date),
        ("at", Type::Timestamp),
    ];
    columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
}

pub(crate) fn table(dice: &mut Dice, unit: Type, rows: usize, units: usize) -> Vec<Row> {
    let mut table: Vec<Row> = Vec::new();
    for _ in 0..rows {
        if !table.is_empty() && dice.roll(8) == 0 {
            let again = dice.pick(&table).clone();
            table.push(again);
            continue;
        }
        let mut row = Row::new();
        for (name, kind) in schema(unit) {
            let null = dice.roll(8) == 0;
            let value = match (name.as_str(), kind) {
                _ if null => Value::Null,
                ("who", Type::Int) => Value::Int(dice.roll(units) as i64 - 1),
                ("who", Type::Float) => {
                    Value::Float(*dice.pick(&[f64::NAN, 0.0, -0.0, 1.0, f64::INFINITY, 2.5]))
                }
                ("who", _) => Value::Text(["", "a", "b", "ab"][dice.roll(units.min(4))].to_owned()),
                (_, Type::Text) => {
                    Value::Text((*dice.pick(&["", "Delft", "Leiden", "é", "a"])).to_owned())
                }
                (_, Type::Int) => Value::Int(*dice.pick(&[
                    i64::MIN,
                    i64::MAX,
                    -1,
                    0,
                    1,
                    7,
                    3_000_000_000,
                    40,
                    41,
                ])),
                (_, Type::Float) => Value::Float(*dice.pick(&[
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    -0.0,
                    0.0,
                    0.5,
                    -0.5,
                    1e300,
                    5e-324,
                    12.25,
                    -3.0,
                    7.125,
                ])),
                (_, Type::Bool) => Value::Bool(dice.roll(2) == 0),
                (_, Type::Date) => Value::Date(*dice.pick(&[i32::MIN, -1, 0, 1, i32::MAX])),
                (_, Type::Timestamp) => Value::Timestamp(*dice.pick(&[i64::MIN, -1, 0, i64::MAX])),
            };
            row.insert(name, value);
        }
        table.push(row);
    }
    table
}

pub(crate) fn column(name: &str) -> Expr {
    Expr::Column(name.to_owned())
}

fn binary(operator: Binary, a: Expr, b: Expr) -> Expr {
    Expr::Binary(operator, Box::new(a), Box::new(b))
}

pub(crate) fn plan(dice: &mut Dice) -> Plan {
    let text = |text: &str| Value::Text(text.to_owned());
    let older = || binary(Binary::Less, Expr::Literal(Value::Int(0)), column("age"));
    let filter = match dice.roll(5) {
        0 => Some(older()),
        1 => Some(Expr::Unary(Unary::IsNull, Box::new(column("fare")))),
        2 => Some(binary(
            Binary::Less,
            binary(Binary::Divide, Expr::Literal(Value::Float(1.0)), column("fare")),
            Expr::Literal(Value::Float(3.0)),
        )),
        _ => None,
    };
    let mut keys = Vec::new();
    for _ in 0..dice.roll(3) {
        let (expr, kind, values) = match dice.roll(7) {
            0 | 1 => {
                (column("city"), Type::Text, vec![Value::Null, text(""), text("Delft"), text("é")])
            }
            2 => (column("age"), Type::Int, vec![Value::Null, Value::Int(i64::MIN), Value::Int(7)]),
            3 => (
                column("fare"),
                Type::Float,
                vec![
                    Value::Null,
                    Value::Float(0.0),
                    Value::Float(12.25),
                    Value::Float(f64::INFINITY),
                ],
            ),
            4 => (column("paid"), Type::Bool, vec![Value::Bool(false), Value::Bool(true)]),
            5 => (
                column("at"),
                Type::Timestamp,
                vec![Value::Timestamp(i64::MIN), Value::Timestamp(0)],
            ),
            _ => (
                Expr::Case {
                    branches: vec![(older(), Expr::Literal(text("old")))],
                    otherwise: Some(Box::new(column("city"))),
                },
                Type::Text,
                vec![Value::Null, text("Leiden"), text("old")],
            ),
        };
        let public = match dice.roll(3) {
            0 => None,
            1 => Some(values),
            // Of public values any subset.
            _ => Some(values.into_iter().filter(|_| dice.roll(2) == 0).collect()),
        };
        keys.push(Key { expr, kind, public });
    }
    let mut sums: Vec<Sum> = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let exponent = *dice.pick(&[-3, 0, 2]);
        let bounds =
            *dice.pick(&[(0, 10, 0), (-8, 56, 24), (-5, -2, -3), (3, 3, 3), (-100, 100, 0)]);
        let value = |expr| {
            let (low, high, centre) = bounds;
            Summand::Value { expr, low, high, centre }
        };
        let summand = match dice.roll(9) {
            7 | 8 => distinct(dice, &schema(Type::Int)[1..]),
            0 => Summand::Rows,
            1 => Summand::Units,
            2 => {
                let name: &str = ["fare", "day", "city"][dice.roll(3)];
                Summand::Present(column(name))
            }
            3 => value(column("age")),
            4 => value(binary(Binary::Multiply, column("age"), column("age"))),
            5 => value(binary(Binary::Add, column("fare"), column("fare"))),
            _ => value(column("fare")),
        };
        // The exponent of counts is not positive.
        let exponent =
            if matches!(summand, Summand::Value { .. }) { exponent } else { exponent.min(0) };
        let sum = Sum { summand, exponent };
        if !sums.contains(&sum) {
            sums.push(sum);
        }
    }
    let plan = Plan {
        version: VERSION,
        dataset: "trips".to_owned(),
        unit_column: "who".to_owned(),
        adjacency: Adjacency::AddRemove,
        rows: None,
        filter,
        keys,
        sums,
        max_groups: 1 + dice.roll(3) as u32,
        max_rows: 1 + dice.roll(3) as u32,
        max_rows_in_all: None,
    };
    in_all(dice, plan)
}

/// A plan with a bound on all rows of a unit, or without. Parts of rows count then, in the steps of
/// the one column that counts rows.
pub(crate) fn in_all(dice: &mut Dice, plan: Plan) -> Plan {
    let rows = plan.sums.iter().filter(|sum| sum.summand == Summand::Rows).count();
    let most = plan.max_groups * plan.max_rows;
    let in_all = 1 + dice.roll(most as usize) as u32;
    let max_rows_in_all = Some(in_all).filter(|_| rows < 2 && dice.roll(2) == 0);
    Plan { max_rows_in_all, ..plan }
}

/// Different values of one of these columns.
pub(crate) fn distinct(dice: &mut Dice, columns: &[(String, Type)]) -> Summand {
    let (name, kind) = dice.pick(columns).clone();
    Summand::Distinct { expr: column(&name), kind, most: 1 + dice.roll(3) as u32 }
}

/// What the rows of a unit are brought together to, of rows with these columns, and the columns
/// that come out.
fn level(
    dice: &mut Dice,
    (of, unit): (RowSource, &str),
    columns: &[(String, Type)],
    filter: Option<Expr>,
    depth: usize,
) -> (PerUnit, Vec<(String, Type)>) {
    let mut keys: Vec<UnitKey> = Vec::new();
    for number in 0..dice.roll(3) {
        let (name, kind) = dice.pick(columns).clone();
        if name != unit && keys.iter().all(|key| key.expr != column(&name)) {
            let expr = column(&name);
            keys.push(UnitKey { name: format!("k{depth}{number}"), expr, kind });
        }
    }
    let mut totals = Vec::new();
    for number in 0..1 + dice.roll(4) {
        let (of, kind) = dice.pick(columns).clone();
        let is_number = matches!(kind, Type::Int | Type::Float) && of != unit;
        let function = *dice.pick(match is_number {
            true => &[
                TotalFunction::Sum,
                TotalFunction::Average,
                TotalFunction::Count,
                TotalFunction::CountDistinct,
                TotalFunction::Least,
                TotalFunction::Greatest,
            ][..],
            false => &[
                TotalFunction::Count,
                TotalFunction::CountDistinct,
                TotalFunction::Least,
                TotalFunction::Greatest,
            ],
        });
        let rows = function == TotalFunction::Count && dice.roll(2) == 0;
        let expr = (!rows).then(|| column(&of));
        totals.push(UnitTotal { name: format!("t{depth}{number}"), function, expr, kind });
    }
    // The unit stays a column, as the front end has it.
    let (name, function) = (unit.to_owned(), TotalFunction::Least);
    let unit = columns.iter().find(|(column, _)| *column == name);
    totals.extend(unit.map(|(_, kind)| {
        let (expr, kind) = (Some(column(&name)), *kind);
        UnitTotal { name: name.clone(), function, expr, kind }
    }));
    let out = keys.iter().map(|key| (key.name.clone(), key.kind));
    let out = out.chain(totals.iter().map(|total| (total.name.clone(), total.result())));
    let out: Vec<_> = out.collect();
    (PerUnit { of, filter, keys, totals }, out)
}

/// A public table, with names that are there twice and some that are missing.
pub(crate) fn zones() -> Vec<Row> {
    let text = |text: &str| Value::Text(text.to_owned());
    let zone = |place, area, rank, weight| {
        let cells = [("place", place), ("area", area), ("rank", rank), ("weight", weight)];
        cells.map(|(name, value): (&str, Value)| (name.to_owned(), value)).into_iter().collect()
    };
    vec![
        zone(text("Delft"), text("south"), Value::Int(7), Value::Float(0.5)),
        zone(text("Delft"), text("west"), Value::Int(40), Value::Float(12.25)),
        zone(text("Leiden"), Value::Null, Value::Int(7), Value::Null),
        zone(Value::Null, text("north"), Value::Null, Value::Float(-0.0)),
        zone(text(""), text("south"), Value::Int(i64::MIN), Value::Float(f64::INFINITY)),
        zone(text("Delft"), text("south"), Value::Int(7), Value::Float(0.5)),
    ]
}

/// Its columns.
pub(crate) fn zone_columns() -> Vec<(String, Type)> {
    let columns =
        [("place", Type::Text), ("area", Type::Text), ("rank", Type::Int), ("weight", Type::Float)];
    columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
}

/// Rows with these columns joined with the public table, and the columns that come out; none if
/// nothing can be equal.
fn looked_up(
    dice: &mut Dice,
    of: RowSource,
    columns: &[(String, Type)],
    depth: usize,
) -> Result<(RowSource, Vec<(String, Type)>), RowSource> {
    let own = zone_columns().into_iter().map(|(column, kind)| {
        let name = format!("z{depth}.{column}");
        LookupColumn { column, name, kind, cells: None }
    });
    let own: Vec<LookupColumn> = own.collect();
    let mut pairs = Vec::new();
    for (name, kind) in columns {
        let same = own.iter().filter(|column| column.kind == *kind);
        pairs.extend(same.map(|zone| (column(name), column(&zone.name))));
    }
    if pairs.is_empty() {
        return Err(of);
    }
    let mut equal = vec![dice.pick(&pairs).clone()];
    if dice.roll(3) == 0 {
        equal.push(dice.pick(&pairs).clone());
    }
    let light = || {
        let weight = column(&format!("z{depth}.weight"));
        binary(Binary::Less, weight, Expr::Literal(Value::Float(3.0)))
    };
    let condition = (dice.roll(3) == 0).then(light);
    let keeps_unmatched = dice.roll(2) == 0;
    let more = own.iter().map(|column| (column.name.clone(), column.kind));
    let out = columns.iter().cloned().chain(more).collect();
    let table = "zones".to_owned();
    let chooses = None;
    let lookup = Lookup { of, table, columns: own, equal, condition, keeps_unmatched, chooses };
    Ok((RowSource::Lookup(Box::new(lookup)), out))
}

/// Rows with these columns that the public table chooses; the same if nothing can be equal.
fn chosen(dice: &mut Dice, of: RowSource, columns: &[(String, Type)], depth: usize) -> RowSource {
    match looked_up(dice, of, columns, depth) {
        Ok((RowSource::Lookup(mut lookup), _)) => {
            lookup.keeps_unmatched = false;
            let all = [Chooses::With, Chooses::Without, Chooses::NotIn];
            lookup.chooses = Some(*dice.pick(&all));
            lookup.equal.truncate(1);
            RowSource::Lookup(lookup)
        }
        Ok((same, _)) | Err(same) => same,
    }
}

/// The columns of a second table of the same units, which are called otherwise in it.
pub(crate) fn visit_schema(unit: Type) -> Vec<(String, Type)> {
    let columns = [
        ("guest", unit),
        ("town", Type::Text),
        ("years", Type::Int),
        ("cost", Type::Float),
        ("paid", Type::Bool),
    ];
    columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
}

pub(crate) fn visits(dice: &mut Dice, unit: Type, rows: usize, units: usize) -> Vec<Row> {
    let names =
        [("who", "guest"), ("city", "town"), ("age", "years"), ("fare", "cost"), ("paid", "paid")];
    let visit = |row: Row| {
        names.iter().map(|(from, to)| ((*to).to_owned(), row[*from].clone())).collect::<Row>()
    };
    table(dice, unit, rows, units).into_iter().map(visit).collect()
}

/// Rows of units, whose unit is a column, and their columns.
struct Source {
    rows: RowSource,
    unit: String,
    columns: Vec<(String, Type)>,
}

/// Some columns under other names, and a filter.
fn side(dice: &mut Dice, of: &Source, name: &dyn Fn(&str) -> String) -> UnitRows {
    let mut columns = Vec::new();
    for (place, (own, kind)) in of.columns.iter().enumerate() {
        // One at least, and the unit if it is there.
        if place == 0 || *own == of.unit || dice.roll(3) > 0 {
            columns.push(UnitKey { name: name(own), expr: column(own), kind: *kind });
        }
    }
    let (about, _) = dice.pick(&of.columns).clone();
    let null = Expr::Unary(Unary::IsNull, Box::new(column(&about)));
    let filter = (dice.roll(4) == 0).then(|| Expr::Unary(Unary::Not, Box::new(null)));
    UnitRows { of: of.rows.clone(), unit: of.unit.clone(), filter, columns }
}

fn meet(dice: &mut Dice, left: &Source, right: &Source, depth: usize) -> Source {
    let one = side(dice, left, &|name| name.to_owned());
    let other = side(dice, right, &|name| format!("r{depth}.{name}"));
    let mut pairs = Vec::new();
    for a in &one.columns {
        let same = other.columns.iter().filter(|b| b.kind == a.kind);
        pairs.extend(same.map(|b| (column(&a.name), column(&b.name))));
    }
    let mut equal = Vec::new();
    if !pairs.is_empty() && dice.roll(3) == 0 {
        equal.push(dice.pick(&pairs).clone());
    }
    let condition = if !pairs.is_empty() && dice.roll(3) == 0 {
        let (a, b) = dice.pick(&pairs).clone();
        Some(binary(*dice.pick(&[Binary::Less, Binary::Greater]), a, b))
    } else {
        None
    };
    let gives = *dice.pick(&[
        Gives::Pairs,
        Gives::PairsAndLeft,
        Gives::PairsAndBoth,
        Gives::LeftWith,
        Gives::LeftWithout,
    ]);
    let of_side = |side: &UnitRows| {
        let columns = side.columns.iter().map(|column| (column.name.clone(), column.kind));
        columns.collect::<Vec<_>>()
    };
    let (mut columns, mut unit) = (of_side(&one), left.unit.clone());
    if !matches!(gives, Gives::LeftWith | Gives::LeftWithout) {
        columns.extend(of_side(&other));
    }
    let mut either = None;
    if gives == Gives::PairsAndBoth {
        unit = format!("u{depth}");
        let names = [left.unit.clone(), format!("r{depth}.{}", right.unit)];
        let kind = columns.iter().find(|(name, _)| *name == left.unit);
        if let Some((_, kind)) =
            kind.cloned().filter(|_| other.columns.iter().any(|c| c.name == names[1]))
        {
            let expr = Expr::Call(Function::Coalesce, names.map(|name| column(&name)).into());
            either = Some(UnitKey { name: unit.clone(), expr, kind });
            columns.push((unit.clone(), kind));
        }
    }
    let rows = Meet { left: one, right: other, equal, condition, gives, either, most_pairs: None };
    Source { rows: RowSource::Meet(Box::new(rows)), unit, columns }
}

fn union(dice: &mut Dice, sources: &[Source], depth: usize) -> Source {
    let unit = format!("w{depth}");
    let mut columns: Vec<(String, Type)> = Vec::new();
    for number in 0..1 + dice.roll(4) {
        let kind = *dice.pick(&[Type::Text, Type::Int, Type::Float, Type::Bool]);
        columns.push((format!("c{depth}{number}"), kind));
    }
    let branches = sources.iter().map(|of| {
        let mut own: Vec<UnitKey> = Vec::new();
        for (name, kind) in &columns {
            let same: Vec<_> = of.columns.iter().filter(|(_, own)| own == kind).collect();
            let expr = match same.is_empty() {
                true => Expr::Literal(Value::Null),
                false => column(&dice.pick(&same).0),
            };
            own.push(UnitKey { name: name.clone(), expr, kind: *kind });
        }
        UnitRows { columns: own, ..side(dice, of, &|name| name.to_owned()) }
    });
    let branches = branches.collect();
    Source { rows: RowSource::Union(Box::new(Union { branches })), unit, columns }
}

/// Rows of both tables, joined, brought together and put one after the other as the dice fall.
fn of_units(dice: &mut Dice, unit: Type, depth: usize) -> Source {
    let leaf = depth == 0 || dice.roll(4) == 0;
    let mut source = match (leaf, dice.roll(3)) {
        (true, 0) => {
            let (rows, columns) = (RowSource::Dataset("visits".to_owned()), visit_schema(unit));
            Source { rows, unit: "guest".to_owned(), columns }
        }
        (true, _) => {
            let (rows, columns) = (RowSource::Dataset("trips".to_owned()), schema(unit));
            Source { rows, unit: "who".to_owned(), columns }
        }
        (false, 0) => {
            let branches: Vec<Source> =
                (0..2 + dice.roll(2)).map(|_| of_units(dice, unit, depth - 1)).collect();
            union(dice, &branches, depth)
        }
        (false, _) => {
            let (left, right) = (of_units(dice, unit, depth - 1), of_units(dice, unit, depth - 1));
            meet(dice, &left, &right, depth)
        }
    };
    match dice.roll(6) {
        0 => source.rows = chosen(dice, source.rows, &source.columns, 10 + depth),
        1 => match looked_up(dice, source.rows, &source.columns, 20 + depth) {
            Ok((joined, more)) => (source.rows, source.columns) = (joined, more),
            Err(same) => source.rows = same,
        },
        2 => {
            let of = (source.rows, source.unit.as_str());
            let (per_unit, out) = level(dice, of, &source.columns, None, 30 + depth);
            (source.rows, source.columns) = (RowSource::PerUnit(Box::new(per_unit)), out);
        }
        _ => {}
    }
    source
}

/// A plan over rows of two tables of the same units.
pub(crate) fn plan_of_units(dice: &mut Dice, unit: Type) -> Plan {
    let plan = plan(dice);
    let Source { rows, unit: unit_column, columns } = of_units(dice, unit, 2);
    let (filter, keys, sums) = bounded_over(dice, &columns);
    let dataset = rows.datasets()[0].to_owned();
    Plan { dataset, unit_column, rows: Some(rows), filter, keys, sums, ..plan }
}

/// A plan over rows of units that are brought together first, once, twice or not at all, and joined
/// with a public table before and after.
pub(crate) fn plan_per_unit(dice: &mut Dice, unit: Type) -> Plan {
    let plan = plan(dice);
    let mut columns = schema(unit);
    let mut rows = RowSource::Dataset(plan.dataset.clone());
    for depth in 1..=3 {
        if dice.roll(3) == 0 {
            match looked_up(dice, rows, &columns, depth) {
                Ok((joined, more)) => (rows, columns) = (joined, more),
                Err(same) => rows = same,
            }
        }
        if dice.roll(2) == 0 && depth < 3 {
            let (name, _) = dice.pick(&columns).clone();
            let there = Expr::Unary(Unary::IsNull, Box::new(column(&name)));
            let filter = (dice.roll(3) == 0).then(|| Expr::Unary(Unary::Not, Box::new(there)));
            let (per_unit, out) = level(dice, (rows, "who"), &columns, filter, depth);
            (rows, columns) = (RowSource::PerUnit(Box::new(per_unit)), out);
        }
    }
    let (filter, keys, sums) = bounded_over(dice, &columns);
    Plan { rows: Some(rows), filter, keys, sums, ..plan }
}

/// What is bounded of rows with these columns.
fn bounded_over(dice: &mut Dice, columns: &[(String, Type)]) -> (Option<Expr>, Vec<Key>, Vec<Sum>) {
    let mut keys = Vec::new();
    for _ in 0..dice.roll(3) {
        let (name, kind) = dice.pick(columns).clone();
        keys.push(Key { expr: column(&name), kind, public: None });
    }
    let mut sums: Vec<Sum> = vec![Sum { summand: Summand::Units, exponent: -2 }];
    for _ in 0..1 + dice.roll(3) {
        let (name, kind) = dice.pick(columns).clone();
        let expr = column(&name);
        let (low, high, centre) = *dice.pick(&[(0, 10, 0), (-8, 56, 24), (-100, 100, 0)]);
        let summand = match kind {
            _ if dice.roll(3) == 0 => {
                Summand::Distinct { expr, kind, most: 1 + dice.roll(3) as u32 }
            }
            Type::Int | Type::Float => Summand::Value { expr, low, high, centre },
            _ => Summand::Present(expr),
        };
        let sum = Sum { summand, exponent: *dice.pick(&[-3, 0]) };
        if !sums.contains(&sum) {
            sums.push(sum);
        }
    }
    let filter = match dice.roll(3) {
        0 => {
            let (name, _) = dice.pick(columns).clone();
            let null = Expr::Unary(Unary::IsNull, Box::new(column(&name)));
            Some(Expr::Unary(Unary::Not, Box::new(null)))
        }
        _ => None,
    };
    (filter, keys, sums)
}

/// Rows as a batch.
pub(crate) fn batch(rows: &[Row], schema: &[(String, Type)]) -> RecordBatch {
    let arrays =
        schema.iter().map(|(name, kind)| column_of(*kind, rows.iter().map(|row| &row[name])));
    let arrays: Vec<_> = arrays.collect();
    let fields = schema
        .iter()
        .zip(&arrays)
        .map(|((name, _), array)| Field::new(name, array.data_type().clone(), true));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays).unwrap()
}

/// Types that may be asked about.
pub(crate) fn known(schema: &[(String, Type)]) -> Vec<(String, Option<Type>)> {
    schema.iter().map(|(name, kind)| (name.clone(), Some(*kind))).collect()
}

/// The rows without those of a unit.
pub(crate) fn without(rows: &[Row], unit: &Value) -> Vec<Row> {
    let unit_of = |row: &Row| match &row["who"] {
        Value::Float(value) => Value::float(*value),
        other => other.clone(),
    };
    rows.iter().filter(|row| unit_of(row) != *unit).cloned().collect()
}

/// The units of a table.
pub(crate) fn units(rows: &[Row]) -> Vec<Value> {
    let unit = |row: &Row| match &row["who"] {
        Value::Float(value) => Value::float(*value),
        other => other.clone(),
    };
    let units: BTreeMap<Value, ()> = rows.iter().map(|row| (unit(row), ())).collect();
    units.into_keys().filter(|unit| *unit != Value::Null).collect()
}
