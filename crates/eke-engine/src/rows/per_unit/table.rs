//! Units with their rows: for each unit the combinations of keys that it has, each with its totals.
//!
//! A unit has a public number of rows at most, those with the smallest keyed hash of (unit, keys).
//! As where groups are kept, the largest hash that is kept only ever falls: so what is kept in the
//! end was never let go on the way, and merging what several tables kept is exact.

use std::mem::size_of;
use std::sync::Arc;

use eke_sql::scalar::Datum;

use crate::rows::column::encoding::take;
use crate::rows::pass::kept::{push_name, take_name};
use crate::rows::pass::names::{NameTable, TableHash};
use crate::rows::pass::shards::Shard;
use crate::rows::per_unit::UnitEntry;
use crate::rows::per_unit::total::{Total, TotalOf};

/// What the rows of units are brought together to.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) totals: Vec<TotalOf>,
    /// How many rows a unit has at most.
    pub(crate) most_rows: usize,
}

/// Some units, each with its rows.
pub(crate) struct UnitTable {
    shape: Arc<Shape>,
    units: NameTable,
    /// The rows of each unit, sorted by their order.
    rows: Vec<Vec<UnitRow>>,
    /// How many bytes rows hold, about.
    bytes: usize,
}

/// A combination of keys of a unit.
struct UnitRow {
    /// What rows are kept by, and then by their keys.
    order: u64,
    /// The bytes of the keys.
    keys: Box<[u8]>,
    totals: Box<[Total]>,
}

impl UnitTable {
    pub(crate) fn new(shape: Arc<Shape>, hash: TableHash) -> Self {
        Self { shape, units: NameTable::new(hash), rows: Vec::new(), bytes: 0 }
    }

    /// Adds a row to a unit. `values` are those that totals are of, none for NULL. None if there
    /// are more units than can be numbered.
    pub(crate) fn add(
        &mut self,
        UnitEntry { hash, unit, order, keys }: UnitEntry<'_>,
        values: &mut dyn Iterator<Item = Option<Datum<'_>>>,
    ) -> Option<()> {
        let shape = Arc::clone(&self.shape);
        let Some(row) = self.row(hash, unit, order, keys)? else { return Some(()) };
        let (mut before, mut after) = (0, 0);
        for ((of, total), value) in shape.totals.iter().zip(&mut row.totals).zip(values) {
            let Some(value) = value else { continue };
            before += total.held();
            of.add(total, value);
            after += total.held();
        }
        self.bytes = (self.bytes + after).saturating_sub(before);
        Some(())
    }

    /// A row of a unit; none inside if it is not kept.
    fn row(
        &mut self,
        hash: u64,
        unit: &[u8],
        order: u64,
        keys: &[u8],
    ) -> Option<Option<&mut UnitRow>> {
        let unit = self.units.number(hash, unit)?;
        if unit == self.rows.len() {
            self.rows.push(Vec::new());
        }
        let rows = &mut self.rows[unit];
        let found = rows.binary_search_by(|row| (row.order, &*row.keys).cmp(&(order, keys)));
        let place = match found {
            Ok(place) => return Some(Some(&mut rows[place])),
            Err(place) if place >= self.shape.most_rows => return Some(None),
            Err(place) => place,
        };
        let totals: Box<[Total]> = self.shape.totals.iter().map(|of| of.nothing()).collect();
        if rows.len() == self.shape.most_rows
            && let Some(last) = rows.pop()
        {
            self.bytes = self.bytes.saturating_sub(last.held());
        }
        let row = UnitRow { order, keys: keys.into(), totals };
        self.bytes += row.held();
        rows.insert(place, row);
        Some(Some(&mut rows[place]))
    }

    /// How many units there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The name of a unit.
    pub(crate) fn name(&self, unit: usize) -> &[u8] {
        self.units.bytes(unit)
    }

    /// The number of a unit, if it has rows.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        self.units.find(name)
    }

    /// The rows of a unit in the order that they are kept by: the keys and the totals.
    pub(crate) fn rows(&self, unit: usize) -> impl Iterator<Item = (&[u8], &[Total])> {
        self.rows[unit].iter().map(|row| (&*row.keys, &*row.totals))
    }

    /// Shows all rows: the unit, the keys, and the totals.
    pub(crate) fn each<E>(
        &self,
        mut look: impl FnMut(&[u8], &[u8], &[Total]) -> Result<(), E>,
    ) -> Result<(), E> {
        for (unit, rows) in self.rows.iter().enumerate() {
            for row in rows {
                look(self.units.bytes(unit), &row.keys, &row.totals)?;
            }
        }
        Ok(())
    }
}

impl UnitRow {
    fn held(&self) -> usize {
        size_of::<Self>()
            + self.keys.len()
            + self.totals.len() * size_of::<Total>()
            + self.totals.iter().map(Total::held).sum::<usize>()
    }
}

impl Shard for UnitTable {
    fn held(&self) -> usize {
        self.units.held() + self.rows.capacity() * size_of::<Vec<UnitRow>>() + self.bytes
    }

    /// For each unit its name, how many rows it has, and these.
    fn write(&self, bytes: &mut Vec<u8>) {
        for (unit, rows) in self.rows.iter().enumerate() {
            push_name(self.units.bytes(unit), bytes);
            bytes.extend((rows.len() as u64).to_le_bytes());
            for row in rows {
                bytes.extend(row.order.to_le_bytes());
                push_name(&row.keys, bytes);
                row.totals.iter().for_each(|total| total.write(bytes));
            }
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        let bytes = &mut bytes;
        let shape = Arc::clone(&self.shape);
        while !bytes.is_empty() {
            let unit = take_name(bytes)?;
            let hash = self.units.hash(unit);
            for _ in 0..u64::from_le_bytes(take(bytes)?) {
                let order = u64::from_le_bytes(take(bytes)?);
                let keys = take_name(bytes)?;
                let (mut before, mut after) = (0, 0);
                if let Some(row) = self.row(hash, unit, order, keys)? {
                    for (of, total) in shape.totals.iter().zip(&mut row.totals) {
                        before += total.held();
                        of.read(total, bytes)?;
                        after += total.held();
                    }
                } else {
                    for of in &shape.totals {
                        of.read(&mut of.nothing(), bytes)?;
                    }
                }
                self.bytes = (self.bytes + after).saturating_sub(before);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_sql::{TotalFunction, Type};

    fn shape(most_rows: usize, most_values: usize) -> Arc<Shape> {
        let of = |function| TotalOf { function, kind: Type::Int, most_values };
        let totals = vec![of(TotalFunction::CountDistinct), of(TotalFunction::Sum)];
        Arc::new(Shape { totals, most_rows })
    }

    fn add(table: &mut UnitTable, unit: u8, key: u64, value: i64) {
        let order = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
        let unit = [unit];
        let (hash, keys) = (table.units.hash(&unit), key.to_le_bytes());
        let entry = UnitEntry { hash, unit: &unit, order, keys: &keys };
        let values = [Datum::Int(value), Datum::Int(value)];
        table.add(entry, &mut values.into_iter().map(Some)).unwrap();
    }

    /// Of each unit the keys and the values of its totals.
    fn rows(table: &UnitTable) -> Vec<(Vec<u8>, Vec<u8>, Vec<eke_sql::Value>)> {
        let mut all = Vec::new();
        let shown = table.each(|unit, keys, totals| {
            let values = table.shape.totals.iter().zip(totals).map(|(of, total)| of.value(total));
            all.push((unit.to_vec(), keys.to_vec(), values.collect()));
            Ok::<_, ()>(())
        });
        shown.unwrap();
        all.sort();
        all
    }

    /// However many keys and values a unit has, in which order they come and where they are merged.
    #[test]
    fn a_unit_has_a_public_number_of_rows_and_of_values() {
        let shape = shape(100, 50);
        let make = || UnitTable::new(Arc::clone(&shape), TableHash::default());
        let all = |numbers: &mut dyn Iterator<Item = u64>, parts: usize| {
            let mut tables: Vec<UnitTable> = (0..parts).map(|_| make()).collect();
            for number in numbers {
                let table = &mut tables[usize::try_from(number).unwrap() % parts];
                let value = i64::try_from(number / 7).unwrap();
                // One with many keys, one with few keys and many values, and one with little.
                add(table, 1, number % 977, value);
                add(table, 2, number % 3, value);
                if number < 5 {
                    add(table, 3, number, value);
                }
            }
            let mut merged = tables.pop().unwrap();
            for table in tables {
                let mut bytes = Vec::new();
                table.write(&mut bytes);
                merged.read(&bytes).unwrap();
            }
            assert!(merged.held() < 1 << 20, "{}", merged.held());
            rows(&merged)
        };
        let whole = all(&mut (0..5_000), 1);
        assert_eq!(whole, all(&mut (0..5_000).rev(), 1));
        assert_eq!(whole, all(&mut (0..5_000), 7));
        let of = |unit: u8| whole.iter().filter(move |(own, ..)| *own == [unit]);
        assert_eq!([1, 2, 3].map(|unit| of(unit).count()), [100, 3, 5]);
        for (_, keys, values) in of(2) {
            let key = u64::from_le_bytes(keys[..].try_into().unwrap());
            let sum = (0..5_000u64).filter(|number| number % 3 == key).map(|number| number / 7);
            let sum = i64::try_from(sum.sum::<u64>()).unwrap();
            assert_eq!(values[..], [eke_sql::Value::Int(50), eke_sql::Value::Int(sum)]);
        }
        assert!(of(3).all(|(.., values)| values[0] == eke_sql::Value::Int(1)));
    }

    #[test]
    fn what_is_not_a_table_is_not_read() {
        let shape = shape(10, 10);
        let mut table = UnitTable::new(Arc::clone(&shape), TableHash::default());
        (0..20).for_each(|number| add(&mut table, 1, number, 3));
        let mut bytes = Vec::new();
        table.write(&mut bytes);
        for length in (1..bytes.len()).step_by(5) {
            let mut other = UnitTable::new(Arc::clone(&shape), TableHash::default());
            assert!(other.read(&bytes[..length]).is_none(), "{length}");
        }
    }
}
