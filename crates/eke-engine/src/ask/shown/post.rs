//! What is done with released values: which groups are shown, in which order, and what of them.
//!
//! Where noisy values decide which rows are shown, those that are shown are flattered by their
//! noise. Their intervals are then made for chosen rows, from what was released and for nothing.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use eke_noise::stopping::ConfidenceSequence;
use eke_sql::{Expr, Leaf, Measure, Output, Query, Shows, Value, evaluate};

use crate::ask::goals::Goals;
use crate::ask::quantile;
use crate::ask::question::Goal;
use crate::ask::read::Read;
use crate::ask::shown::answer::{
    Cell, Chosen, Column, Evidence, Found, Kind, Noise, Ordered, RankOf, Row, Stopped, Suppressed,
    json,
};
use crate::ask::shown::derived::Derivation;

/// What is shown of an answer.
pub(crate) struct Shown {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// The group of each row.
    pub(crate) groups: Vec<u32>,
    /// How rows were chosen, if their noise decided.
    pub(crate) chosen: Option<Chosen>,
    /// The rows that are about too few units to be shown.
    pub(crate) suppressed: Option<Suppressed>,
}

/// The columns and rows of an answer, from what was found for each group.
pub(crate) fn table(
    query: &Query,
    groups: &[Vec<Value>],
    found: &[Vec<Found>],
    goals: &Goals,
) -> Shown {
    let goal = goals.all();
    let ranks = quantile::ranks(query);
    let ordered = |output: &Output| {
        let (_, kind) = ranks.get(&output.shows.measure()?)?;
        Some(Ordered::of(*kind))
    };
    let columns = query.outputs.iter().map(|output| Column {
        name: output.name.clone(),
        quantile: ordered(output),
        kind: match output.shows {
            Shows::Key(_) | Shows::OfKeys(_) | Shows::All => Kind::Key,
            Shows::Measure(_) => Kind::Value,
            Shows::Low(_) => Kind::Low,
            Shows::High(_) => Kind::High,
            Shows::Met(_) => Kind::Met,
        },
        counts: match output.shows {
            Shows::Measure(index) => matches!(
                Read::of(&query.measures[index], &query.plan),
                Some(Read::Sum { is_count: true, .. } | Read::Total { is_count: true, .. })
            ),
            _ => false,
        },
    });
    // Nothing is known of what was not picked. Of keys alone nothing is to be known.
    let (all, keys_alone) = ((0u32..).zip(groups.iter().zip(found)), query.measures.is_empty());
    let measured = || all.clone().filter(|(_, (_, values))| keys_alone || !values.is_empty());
    let mut shown: Vec<_> = measured()
        .filter(|(_, (keys, values))| {
            query
                .having
                .as_ref()
                .is_none_or(|having| matches!(value(having, keys, values), Value::Bool(true)))
        })
        .collect();
    let had = shown.len();
    if let Some(least) = query.least {
        // By the count that was released, never by the true one.
        let is_enough = |found: &Found| found.value.is_some_and(|v| v >= f64::from(least.count));
        shown.retain(|(_, (_, values))| values.get(least.measure).is_some_and(is_enough));
    }
    let suppressed =
        query.least.map(|least| Suppressed { rows: had - shown.len(), min_units: least.count });
    shown.sort_by(|(_, one), (_, other)| {
        let by = query.order.iter().map(|order| {
            let (one, other) = (value(&order.by, one.0, one.1), value(&order.by, other.0, other.1));
            let nulls = |value: &Value| matches!(value, Value::Null);
            match (nulls(&one), nulls(&other)) {
                (false, false) if order.descending => other.cmp(&one),
                (false, false) => one.cmp(&other),
                (one, other) if order.nulls_first => other.cmp(&one),
                (one, other) => one.cmp(&other),
            }
        });
        by.fold(Ordering::Equal, Ordering::then).then_with(|| one.0.cmp(other.0))
    });
    let skip = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let take = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let shown: Vec<_> = shown.into_iter().skip(skip).take(take).collect();
    let of = measured().count();
    let few = suppressed.map_or(0, |suppressed: Suppressed| suppressed.rows);
    let by: Vec<bool> = chosen_by(query, of)
        .into_iter()
        .zip(chosen_by_units(query, few, found))
        .map(|(by_itself, by_units)| by_itself || by_units)
        .collect();
    let miss = (1.0 - goal.confidence.get()) * ratio(shown.len(), of);
    let noise = |index: usize, found: &Found| Noise::of(&query.measures[index], &query.plan, found);
    let cell = |name: &Arc<str>, index: usize, values: &[Found]| {
        let noise = noise(index, &values[index]);
        let found = if by[index] {
            for_a_chosen_row(query, &goals.of(index), (values, index), miss)
        } else {
            values[index]
        };
        Cell {
            name: Arc::clone(name),
            value: found.value,
            low: found.low,
            high: found.high,
            confidence: goal.confidence.get(),
            met: goal.is_one().then(|| found.met()),
            ending: found.ending,
            rank: ranks.contains_key(&index).then(|| RankOf::of(&found)).flatten(),
            dated: ranks.get(&index).and_then(|(_, kind)| Ordered::of(*kind).dated(&found)),
            noise,
        }
    };
    let names: Vec<Arc<str>> = query.outputs.iter().map(|output| (*output.name).into()).collect();
    let is_key = |output: &&Output| output.shows.measure().is_none();
    let keys = query.outputs.iter().filter(is_key).count();
    let cells = query.outputs.len() - keys;
    let row = |(_, (group, values)): &(u32, (&Vec<Value>, &Vec<Found>))| {
        let (keys, values_of) = (Vec::with_capacity(keys), Vec::with_capacity(cells));
        let mut row = Row { keys, values: values_of, over: Vec::new() };
        for (output, name) in query.outputs.iter().zip(&names) {
            match output.shows {
                Shows::Key(index) => row.keys.push(json(&group[index])),
                Shows::OfKeys(index) => row.keys.push(json(&of_keys(query, index, group))),
                Shows::All => row.keys.push(serde_json::Value::Null),
                Shows::Measure(index)
                | Shows::Low(index)
                | Shows::High(index)
                | Shows::Met(index) => row.values.push(cell(name, index, values)),
            }
        }
        row
    };
    let rows: Vec<Row> = shown.iter().map(row).collect();
    let shown_values = query.outputs.iter().filter_map(|output| output.shows.measure());
    let shows_one = shown_values.into_iter().any(|index| by[index]);
    let chosen = (shows_one && !rows.is_empty()).then_some(Chosen {
        rows: rows.len(),
        groups: of,
        level: 1.0 - miss,
    });
    let groups = shown.iter().map(|&(group, _)| group).collect();
    Shown { columns: columns.collect(), rows, groups, chosen, suppressed }
}

/// Whether noise may have a part in which of these groups are shown.
pub(crate) fn may_choose(query: &Query, found: &[Vec<Found>]) -> bool {
    let measured = found.iter().filter(|values| !values.is_empty()).count();
    query.least.is_some() || chosen_by(query, measured).contains(&true)
}

/// Of the measures of a question, those whose noise decides which of the `measured` groups are
/// shown: what HAVING looks at, what ORDER BY sorts by where LIMIT or OFFSET cut, and what is made
/// of the same columns.
fn chosen_by(query: &Query, measured: usize) -> Vec<bool> {
    let limit =
        query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let cuts = query.offset > 0 || limit < measured;
    let sorting = query.order.iter().filter(|_| cuts).map(|order| &order.by);
    let mut decides = vec![false; query.measures.len()];
    let mut left: Vec<&Expr> = query.having.iter().chain(sorting).collect();
    while let Some(expr) = left.pop() {
        if let Expr::Measure(index) = expr
            && let Some(decides) = decides.get_mut(*index)
        {
            *decides = true;
        }
        left.extend(expr.children());
    }
    let places = || 0..query.measures.len();
    let deciding: Vec<usize> =
        places().filter(|&place| decides[place]).flat_map(|place| columns(query, place)).collect();
    let is_near = |place: usize| columns(query, place).iter().any(|of| deciding.contains(of));
    places().map(is_near).collect()
}

/// Of the measures of a question, those whose noise has a part in which rows are about enough
/// units, where so many are about too few: the count of units, what is made of the same columns,
/// and what stopped by its noise where the count beside it is read where that stopped.
///
/// - Theorem: chosen-rows (docs/theorems.md)
/// - Proves: where no row is left out, ordinary intervals keep the average: whether the others are
///   shown does not depend on a group's own noise
/// - Assumes: the noise of groups is independent (bundle); a share of a total, whose noise all rows
///   have in common, is always among them
/// - Deviates: groups that wait for others start where these ended, so that the noise of those that
///   went ahead has a part in the noise of others' counts
/// - Checked by: `rows_of_few_units_choose_what_stopped_by_its_noise`,
///   `intervals_hold_of_rows_that_are_shown_for_having_enough_units`
fn chosen_by_units(query: &Query, few: usize, found: &[Vec<Found>]) -> Vec<bool> {
    let Some(least) = query.least else { return vec![false; query.measures.len()] };
    let deciding =
        query.measures.get(least.measure).map_or_else(Vec::new, |_| columns(query, least.measure));
    let is_beside = matches!(query.measures.get(least.measure), Some(Measure::Beside(_)));
    let made_of = |place: usize| match query.measures[place] {
        Measure::Derived { parts, .. } => place..=place + parts,
        _ => place..=place,
    };
    let stopped = |found: &Found| found.evidence.is_none_or(|evidence| evidence.gamma.is_some());
    let has_stopped =
        |place: usize| found.iter().filter_map(|values| values.get(place)).any(stopped);
    let is_chosen = |place: usize| {
        let measures = &query.measures[made_of(place)];
        let is_near = columns(query, place).iter().any(|of| deciding.contains(of));
        let is_share = measures.iter().any(|part| matches!(part, Measure::Total(_)));
        let is_followed = is_beside
            && made_of(place)
                .filter(|&part| Read::of(&query.measures[part], &query.plan).is_some())
                .any(has_stopped);
        (is_near && (few > 0 || is_share)) || (is_followed && few > 0)
    };
    (0..query.measures.len()).map(is_chosen).collect()
}

/// The columns that a measure is made of.
fn columns(query: &Query, place: usize) -> Vec<usize> {
    match query.measures[place] {
        Measure::Sum(sum) | Measure::Total(sum) | Measure::Beside(sum) => vec![sum],
        Measure::Average { sum, count } => vec![sum, count],
        // Its paths are none of the columns.
        Measure::Quantile { .. } => Vec::new(),
        Measure::Derived { parts, .. } => {
            (place + 1..=place + parts).flat_map(|part| columns(query, part)).collect()
        }
    }
}

/// What was found, as that of a row which its noise has chosen: an interval at a higher level, and
/// whether it is as good as was asked for with that.
///
/// - Theorem: chosen-rows (docs/theorems.md)
/// - Proves: of the intervals shown for a measure, a part of at most one minus the confidence
///   misses on average
/// - Assumes: `miss` is one minus the confidence, times the rows shown over the groups measured
///   (caller)
/// - Deviates: nothing
/// - Checked by: `intervals_of_chosen_rows_hold_as_often_as_they_say`
fn for_a_chosen_row(
    query: &Query,
    goal: &Goal,
    (values, place): (&[Found], usize),
    miss: f64,
) -> Found {
    let found = &values[place];
    let shown = |ends: Option<[f64; 2]>, is_met: bool| {
        let ending = if is_met { found.ending } else { worse(found) };
        let [low, high] = ends.map_or([None, None], |ends| ends.map(Some));
        Found { low, high, ending, ..*found }
    };
    let read = |measure: &Measure| Read::of(measure, &query.plan);
    if let Measure::Derived { value, parts } = &query.measures[place] {
        let within = place + 1..=place + parts;
        let reads: Vec<Read> = query.measures[within.clone()].iter().filter_map(read).collect();
        let mut looks: Vec<Evidence> =
            values[within.clone()].iter().filter_map(|part| part.evidence).collect();
        let has_total = query.measures[within].iter().any(|part| matches!(part, Measure::Total(_)));
        if has_total && query.least.is_some() {
            // All rows share the noise of the total, and how many are shown depends on it: only a
            // confidence sequence holds whatever depends on what.
            for look in looks.iter_mut().filter(|look| look.gamma.is_none()) {
                let worth = look.worth.to_f64();
                let tightest = ConfidenceSequence::tightest_at(worth, goal.confidence);
                look.gamma = Some(tightest.gamma());
            }
        }
        if reads.len() != *parts || looks.len() != *parts {
            return shown(None, false);
        }
        let derivation = Derivation::new(value, place + 1, reads);
        let exact = derivation.exact(&looks, miss);
        let floor = goal.floor.unwrap_or_else(|| derivation.floor());
        let is_met = exact.is_some_and(|(value, ends)| goal.is_met_by(value, ends, floor));
        return shown(exact.and_then(|exact| derivation.shown(exact).1), is_met);
    }
    let (read, evidence) = (read(&query.measures[place]), found.evidence);
    let ends = read.zip(evidence).and_then(|(read, evidence)| read.interval(&evidence, miss));
    let floor = goal.floor.or_else(|| read.map(|read| read.floor())).unwrap_or(0.0);
    let is_met =
        ends.zip(found.value).is_some_and(|(ends, value)| goal.is_met_by(value, ends, floor));
    shown(ends.filter(|_| found.value.is_some()), is_met)
}

/// What was found, without averages of which nothing is known: where all that an average can be is
/// in its interval, its value is no estimate but the middle of its bounds. It is unknown, and comes
/// last.
pub(crate) fn known<'f>(query: &Query, found: &'f [Vec<Found>]) -> Cow<'f, [Vec<Found>]> {
    let is_unknown = |place: usize, values: &[Found]| {
        let (Some(measure), Some(found)) = (query.measures.get(place), values.get(place)) else {
            return false;
        };
        match (Read::of(measure, &query.plan), found.low.zip(found.high)) {
            (Some(Read::Average { of, .. }), Some((low, high))) => {
                !found.met() && low <= of.low && high >= of.high
            }
            _ => false,
        }
    };
    let made_of = |place: usize| match query.measures[place] {
        Measure::Derived { parts, .. } => place..=place + parts,
        _ => place..=place,
    };
    let nothing = |place: usize, values: &[Found]| {
        values.get(place).is_some_and(|found| found.value.is_some())
            && made_of(place).any(|part| is_unknown(part, values))
    };
    let places = || 0..query.measures.len();
    let has_averages = query.measures.iter().any(|one| matches!(one, Measure::Average { .. }));
    if !has_averages || !found.iter().any(|values| places().any(|place| nothing(place, values))) {
        return found.into();
    }
    let mut all = found.to_vec();
    for (values, before) in all.iter_mut().zip(found) {
        for place in places().filter(|&place| nothing(place, before)) {
            values[place].value = None;
        }
    }
    all.into()
}

fn worse(found: &Found) -> Stopped {
    if found.met() { Stopped::Chosen } else { found.ending }
}

fn ratio(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

/// What an expression over keys and measures comes to for one group.
/// A constant, or what follows from keys.
pub(crate) fn of_keys(query: &Query, index: usize, keys: &[Value]) -> Value {
    query.of_keys.get(index).map_or(Value::Null, |expr| value(expr, keys, &[]))
}

fn value(expr: &Expr, keys: &[Value], values: &[Found]) -> Value {
    evaluate(expr, &|leaf| match leaf {
        Leaf::Key(index) => keys.get(index).cloned().unwrap_or(Value::Null),
        Leaf::Measure(index) => {
            let found = values.get(index).and_then(|found| found.value);
            found.map_or(Value::Null, Value::float)
        }
        Leaf::Column(_) => Value::Null,
    })
}

#[cfg(test)]
mod tests {
    use eke_budget::Amount;
    use eke_noise::{Confidence, Tolerance};
    use eke_sql::{Column as TableColumn, Protection, Table, Type};

    use super::*;
    use crate::ask::question::{Accuracy, ColumnGoals};

    fn query(sql: &str, max_rows: u32) -> Query {
        let column = |name: &str, kind, values| TableColumn {
            name: name.to_owned(),
            kind: Some(kind),
            bounds: None,
            values,
        };
        let zones = (0..4).map(Value::Int).collect();
        let protection = Protection::Private {
            unit: "rider".to_owned(),
            unit_column: "rider".to_owned(),
            adjacency: eke_budget::Adjacency::AddRemove,
            max_groups: 1,
            max_rows,
            max_values: None,
            max_rows_in_all: None,
        };
        let columns =
            vec![column("rider", Type::Text, None), column("zone", Type::Int, Some(zones))];
        let table = Table { name: "trips".to_owned(), columns, protection };
        eke_sql::plan(sql, &[table]).unwrap().with_least_units(10)
    }

    fn found(value: f64, gamma: Option<f64>) -> Found {
        let worth = Amount::ceil(0.005).unwrap();
        let evidence = Some(Evidence { worth, sum: value, count: None, gamma });
        let (low, high) = (Some(value - 20.0), Some(value + 20.0));
        Found { value: Some(value), low, high, ending: Stopped::Met, evidence }
    }

    fn goals(query: &Query, accuracy: Accuracy) -> Goals {
        let confidence = Confidence::new(0.95).unwrap();
        let goal = Goal { accuracy, floor: None, at_most: None, confidence };
        Goals::new(goal, &ColumnGoals::default(), query).unwrap()
    }

    /// A count beside what stopped by its noise is read where that stopped: where rows are left out
    /// by it, the rest were chosen. At planned looks, and where none is left out, they were not.
    #[test]
    fn rows_of_few_units_choose_what_stopped_by_its_noise() {
        let sql = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone";
        let groups: Vec<Vec<Value>> = (0..4).map(|zone| vec![Value::Int(zone)]).collect();
        let beside = query(sql, 3);
        assert!(matches!(beside.measures[..], [Measure::Sum(0), Measure::Beside(1)]));
        let relative = goals(&beside, Accuracy::Relative(Tolerance::new(0.2).unwrap()));
        let shown = |units: [f64; 4], gamma: Option<f64>| {
            let found = units.map(|units| vec![found(100.0, gamma), self::found(units, None)]);
            table(&beside, &groups, &found, &relative)
        };
        let is_as_found = |shown: &Shown| {
            let cells = shown.rows.iter().map(|row| &row.values[0]);
            shown.chosen.is_none() && cells.into_iter().all(|cell| cell.low == Some(80.0))
        };
        let some = shown([9.0, 30.0, 8.0, 30.0], Some(0.01));
        let chosen = some.chosen.unwrap();
        assert_eq!((some.rows.len(), chosen.rows, chosen.groups), (2, 2, 4));
        assert!((chosen.level - 0.975).abs() < 1e-12, "{chosen:?}");
        let is_wider = |row: &Row| row.values[0].low.unwrap() < 80.0 - 5.0;
        assert!(some.rows.iter().all(is_wider), "{:?}", some.rows);
        assert!(is_as_found(&shown([9.0, 30.0, 8.0, 30.0], None)));
        assert!(is_as_found(&shown([10.0, 30.0, 12.0, 30.0], Some(0.01))));
        // The count of units itself decides by its own noise.
        let units = query(sql, 1);
        assert!(matches!(units.measures[..], [Measure::Sum(0)]));
        let price = goals(&units, Accuracy::Price(Amount::ceil(0.01).unwrap()));
        let own = |counts: [f64; 4]| {
            let found = counts.map(|count| vec![found(count, None)]);
            table(&units, &groups, &found, &price)
        };
        assert!(own([9.0, 30.0, 8.0, 30.0]).chosen.is_some());
        assert!(own([10.0, 30.0, 12.0, 30.0]).chosen.is_none());
    }
}
