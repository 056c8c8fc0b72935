//! Rows of one unit that meet: joins on the unit, EXISTS and IN.
//!
//! Both sides have brought the rows of each unit together, with how often each is there, and lie
//! side by side: all of the right is there before a row of the left is looked at. What comes out of
//! a unit follows from its own rows and the key of the hash alone, in the order that rows are kept
//! by, and ends after a public number of pairs.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::UInt32Array;
use eke_sql::{Gives, Meet, Type};

use crate::rows::RowsError;
use crate::rows::column::Column;
use crate::rows::column::encoding::Builder;
use crate::rows::column::expr::ColumnExpr;
use crate::rows::column::lower::{self, LowerError};
use crate::rows::lookup::{key, pick};
use crate::rows::per_unit::table::UnitTable;
use crate::rows::per_unit::total::Total;

/// Takes rows that come out: their columns, and then the unit.
pub(crate) type TakeRows<'t> = dyn FnMut((Vec<Column>, usize)) -> Result<(), RowsError> + 't;

/// Two sides whose rows meet.
pub(crate) struct MeetStep {
    /// The stages that bring the rows of the sides together.
    pub(crate) left: usize,
    pub(crate) right: usize,
    gives: Gives,
    /// What is equal besides the unit, over the columns of each side.
    equal: [Vec<ColumnExpr>; 2],
    /// What must be true besides, over the columns of both.
    condition: Option<ColumnExpr>,
    /// The unit of either, over the columns of both.
    either: Option<ColumnExpr>,
    /// The types of the columns of each side, and of the unit.
    kinds: [Vec<Type>; 2],
    unit: Type,
    /// How many pairs of a unit are looked at, and how many rows come out, at most.
    most_pairs: usize,
}

/// Some units with the rows of both sides.
struct Chunk {
    sides: [SideRows; 2],
    units: Builder,
    /// Which rows are of each unit.
    ranges: Vec<[Range<usize>; 2]>,
}

struct SideRows {
    columns: Vec<Builder>,
    /// How often each row is there.
    counts: Vec<u64>,
}

/// The same, to be computed with.
struct Loaded {
    columns: [Vec<Column>; 2],
    counts: [Vec<u64>; 2],
    unit: Column,
}

/// A unit on its way through.
struct Met {
    unit: u32,
    /// The rows of the left that were looked at.
    left: Range<usize>,
    right: Range<usize>,
    /// Whether these are all.
    is_whole: bool,
}

/// Rows that come out: of which unit, and which rows of each side.
#[derive(Default)]
struct Outgoing {
    units: Vec<u32>,
    left: Vec<Option<u32>>,
    right: Vec<Option<u32>>,
}

impl MeetStep {
    /// Rows of two stages that meet, and the columns that come out.
    pub(crate) fn new(
        meet: &Meet,
        [left, right]: [usize; 2],
        unit: Type,
        fan_out: usize,
    ) -> Result<(Self, Vec<(String, Type)>), LowerError> {
        let sides = [&meet.left, &meet.right].map(|side| {
            let columns = side.columns.iter().map(|column| (column.name.clone(), column.kind));
            columns.collect::<Vec<(String, Type)>>()
        });
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        for (one, other) in &meet.equal {
            let (one, kind) = lower::lower(one, &sides[0])?;
            let Some(kind) = kind else { return Err(LowerError::Types("a join".to_owned())) };
            of_left.push(one);
            of_right.push(lower::typed(other, kind, &sides[1])?);
        }
        let both = sides.concat();
        let condition = meet.condition.as_ref().map(|expr| lower::condition(expr, &both));
        let either = meet.either.as_ref();
        let of_either = either.map(|either| lower::typed(&either.expr, either.kind, &both));
        let kinds = [0, 1].map(|side: usize| sides[side].iter().map(|(_, kind)| *kind).collect());
        let step = Self {
            left,
            right,
            gives: meet.gives,
            equal: [of_left, of_right],
            condition: condition.transpose()?,
            either: of_either.transpose()?,
            kinds,
            unit,
            // What each becomes in joins with public tables counts.
            most_pairs: (meet.most_pairs() / fan_out.max(1)).max(1),
        };
        let mut columns =
            if step.chooses() { sides.into_iter().next().unwrap_or_default() } else { both };
        columns.extend(either.map(|either| (either.name.clone(), either.kind)));
        Ok((step, columns))
    }

    /// Whether rows of the right only choose.
    fn chooses(&self) -> bool {
        matches!(self.gives, Gives::LeftWith | Gives::LeftWithout)
    }

    /// How many texts are computed for each pair.
    pub(crate) fn texts(&self) -> usize {
        let own = self.kinds.iter().flatten().filter(|kind| **kind == Type::Text).count();
        let equal = self.equal.iter().flatten().chain(&self.condition).chain(&self.either);
        own + equal.map(ColumnExpr::texts).sum::<usize>()
    }

    /// Hands on the rows that come out, some at a time: their columns, and then the unit.
    pub(crate) fn hand_on(
        &self,
        [left, right]: [&UnitTable; 2],
        batch_rows: usize,
        take: &mut TakeRows<'_>,
    ) -> Result<(), RowsError> {
        let mut chunk = Chunk::new(self, batch_rows);
        let of_left = (0..left.len()).map(|unit| (Some(unit), right.find(left.name(unit))));
        let keeps_right = self.gives == Gives::PairsAndBoth;
        let alone =
            (0..right.len()).filter(|unit| keeps_right && left.find(right.name(*unit)).is_none());
        for units in of_left.chain(alone.map(|unit| (None, Some(unit)))) {
            if matches!((units, self.gives), ((_, None), Gives::Pairs | Gives::LeftWith)) {
                continue;
            }
            let (one, other) = units;
            let name = one.map(|unit| left.name(unit)).or(other.map(|unit| right.name(unit)));
            let sides = [(left, one), (right, other)];
            chunk.add(name.unwrap_or_default(), sides).ok_or_else(damaged)?;
            if chunk.rows() >= batch_rows {
                let full = std::mem::replace(&mut chunk, Chunk::new(self, batch_rows));
                self.pair(full, batch_rows, take)?;
            }
        }
        self.pair(chunk, batch_rows, take)
    }

    fn pair(
        &self,
        chunk: Chunk,
        batch_rows: usize,
        take: &mut TakeRows<'_>,
    ) -> Result<(), RowsError> {
        let ranges = chunk.ranges.clone();
        let loaded = chunk.loaded(self).ok_or_else(damaged)?;
        let keys = [0, 1].map(|side: usize| {
            let rows = loaded.counts[side].len();
            let keys = self.equal[side].iter();
            keys.map(|key| key.compute(&loaded.columns[side], rows)).collect::<Vec<_>>()
        });
        // Where nothing else decides, one is enough to be chosen.
        let most = if self.chooses() && self.condition.is_none() { 1 } else { usize::MAX };
        let (mut units, mut pairs): (Vec<Met>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        let mut out = Outgoing::default();
        for (unit, [left, right]) in ranges.into_iter().enumerate() {
            let all: Vec<u32> = right.clone().map(number).collect();
            let mut index: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
            if !keys[1].is_empty() {
                for row in right.clone() {
                    if let Some(key) = key(&keys[1], row) {
                        index.entry(key).or_default().push(number(row));
                    }
                }
            }
            let (mut looked, mut end) = (0, left.start);
            for row in left.clone() {
                let met: &[u32] = if keys[0].is_empty() {
                    &all
                } else {
                    key(&keys[0], row).and_then(|key| index.get(&key)).map_or(&[], |met| met)
                };
                let met = &met[..met.len().min(most)];
                looked += met.len();
                if looked > self.most_pairs {
                    break;
                }
                pairs.extend(met.iter().map(|&other| (number(row), other)));
                end = row + 1;
            }
            let is_whole = end == left.end;
            units.push(Met { unit: number(unit), left: left.start..end, right, is_whole });
            if pairs.len() >= batch_rows {
                let (units, pairs) = (std::mem::take(&mut units), std::mem::take(&mut pairs));
                let pairs = self.holding(&loaded, pairs, batch_rows)?;
                self.emit(&loaded, &units, &pairs, batch_rows, &mut out, take)?;
            }
        }
        let pairs = self.holding(&loaded, pairs, batch_rows)?;
        self.emit(&loaded, &units, &pairs, batch_rows, &mut out, take)?;
        self.flush(&loaded, &mut out, take)
    }

    /// The pairs that the condition is true of.
    fn holding(
        &self,
        loaded: &Loaded,
        pairs: Vec<(u32, u32)>,
        batch_rows: usize,
    ) -> Result<Vec<(u32, u32)>, RowsError> {
        let Some(condition) = &self.condition else { return Ok(pairs) };
        let mut held = Vec::new();
        for some in pairs.chunks(batch_rows.max(1)) {
            let left: UInt32Array = some.iter().map(|(left, _)| *left).collect();
            let right: UInt32Array = some.iter().map(|(_, right)| *right).collect();
            let columns = loaded.both([&left, &right])?;
            let holds = condition.holds(&columns, some.len());
            held.extend(holds.set_indices().map(|place| some[place]));
        }
        Ok(held)
    }

    /// Puts out what comes of some units, where these pairs hold.
    fn emit(
        &self,
        loaded: &Loaded,
        units: &[Met],
        pairs: &[(u32, u32)],
        batch_rows: usize,
        out: &mut Outgoing,
        take: &mut TakeRows<'_>,
    ) -> Result<(), RowsError> {
        let [of_left, of_right] = &loaded.counts;
        let mut next = 0;
        for Met { unit, left, right, is_whole } in units {
            let mut room = self.most_pairs as u64;
            let mut put = |left: Option<usize>, right: Option<usize>| {
                let count = |counts: &[u64], row: Option<usize>| row.map_or(1, |row| counts[row]);
                let times = count(of_left, left).saturating_mul(count(of_right, right)).min(room);
                room -= times;
                for _ in 0..times {
                    out.units.push(*unit);
                    out.left.push(left.map(number));
                    out.right.push(right.map(number));
                    if out.units.len() >= batch_rows {
                        self.flush(loaded, out, take)?;
                    }
                }
                Ok::<_, RowsError>(())
            };
            let mut met_right = vec![false; right.len()];
            for row in left.clone() {
                let from = next;
                while pairs.get(next).is_some_and(|(left, _)| *left == number(row)) {
                    next += 1;
                }
                let met = &pairs[from..next];
                match self.gives {
                    Gives::LeftWith if met.is_empty() => {}
                    Gives::LeftWithout if !met.is_empty() => {}
                    Gives::LeftWith | Gives::LeftWithout => put(Some(row), None)?,
                    Gives::PairsAndLeft | Gives::PairsAndBoth if met.is_empty() => {
                        put(Some(row), None)?;
                    }
                    Gives::Pairs | Gives::PairsAndLeft | Gives::PairsAndBoth => {
                        for (_, other) in met {
                            let other = *other as usize;
                            met_right[other - right.start] = true;
                            put(Some(row), Some(other))?;
                        }
                    }
                }
            }
            if self.gives == Gives::PairsAndBoth && *is_whole {
                for (row, is_met) in right.clone().zip(&met_right) {
                    if !is_met {
                        put(None, Some(row))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands on what waits.
    fn flush(
        &self,
        loaded: &Loaded,
        out: &mut Outgoing,
        take: &mut TakeRows<'_>,
    ) -> Result<(), RowsError> {
        let Outgoing { units, left, right } = std::mem::take(out);
        let rows = units.len();
        if rows == 0 {
            return Ok(());
        }
        let (left, right) = (UInt32Array::from(left), UInt32Array::from(right));
        let mut columns = if self.chooses() {
            loaded.columns[0].iter().map(|column| pick(column, &left)).collect::<Result<_, _>>()?
        } else {
            loaded.both([&left, &right])?
        };
        if let Some(either) = &self.either {
            let either = either.compute(&columns, rows);
            columns.push(either);
        }
        columns.push(pick(&loaded.unit, &UInt32Array::from(units))?);
        take((columns, rows))
    }
}

impl Chunk {
    fn new(step: &MeetStep, rows: usize) -> Self {
        let side = |kinds: &Vec<Type>| SideRows {
            columns: kinds.iter().map(|kind| Builder::new(*kind, rows)).collect(),
            counts: Vec::new(),
        };
        let [left, right] = &step.kinds;
        let units = Builder::new(step.unit, 0);
        Self { sides: [side(left), side(right)], units, ranges: Vec::new() }
    }

    fn rows(&self) -> usize {
        self.sides.iter().map(|side| side.counts.len()).sum()
    }

    /// Takes in a unit, with what each side has of it.
    fn add(&mut self, mut name: &[u8], units: [(&UnitTable, Option<usize>); 2]) -> Option<()> {
        self.units.take(&mut name)?;
        let mut ranges = [0..0, 0..0];
        for ((side, range), (table, unit)) in self.sides.iter_mut().zip(&mut ranges).zip(units) {
            let from = side.counts.len();
            for (mut keys, totals) in unit.into_iter().flat_map(|unit| table.rows(unit)) {
                side.columns.iter_mut().try_for_each(|column| column.take(&mut keys))?;
                let Some(Total::Count(count)) = totals.first() else { return None };
                side.counts.push(*count);
            }
            *range = from..side.counts.len();
        }
        self.ranges.push(ranges);
        Some(())
    }

    fn loaded(self, step: &MeetStep) -> Option<Loaded> {
        let Self { sides: [left, right], units, .. } = self;
        let read = |columns: Vec<Builder>, kinds: &[Type]| {
            let columns = columns.into_iter().zip(kinds);
            columns.map(|(builder, kind)| Column::read(&builder.finish(), *kind)).collect()
        };
        let [of_left, of_right] = &step.kinds;
        let columns: [Option<Vec<Column>>; 2] =
            [read(left.columns, of_left), read(right.columns, of_right)];
        let [left_columns, right_columns] = columns;
        Some(Loaded {
            columns: [left_columns?, right_columns?],
            counts: [left.counts, right.counts],
            unit: Column::read(&units.finish(), step.unit)?,
        })
    }
}

impl Loaded {
    /// The columns of pairs: those of the left, and then those of the right.
    fn both(&self, places: [&UInt32Array; 2]) -> Result<Vec<Column>, RowsError> {
        let sides = self.columns.iter().zip(places);
        sides.flat_map(|(columns, at)| columns.iter().map(move |column| pick(column, at))).collect()
    }
}

/// A row of a chunk, which has fewer than can be numbered.
fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

fn damaged() -> RowsError {
    RowsError::failed("rows of a unit are not as they were")
}
