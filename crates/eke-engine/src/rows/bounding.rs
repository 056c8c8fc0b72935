//! Bounding: what each privacy unit may add to a question (contribution bounding), in one pass over
//! the rows.
//!
//! An aggregate function of our own, grouped by unit. Of each unit's groups it keeps the
//! `max_groups` with the smallest keyed hash of (unit, group), and adds up rows and steps in each.
//! A group that is kept in the end was never let go on the way, since the largest hash that is kept
//! only ever falls; so one pass is exact, and so is merging what several passes kept. What is kept
//! follows from the unit's own rows and the key alone: not from their order, nor from batches,
//! partitions or other units.
//!
//! The hash is keyed BLAKE3: a person who can choose the names of groups or units, but does not
//! know the key, cannot choose which groups are kept. It is computed once for a group that a unit
//! keeps, and again only for rows of groups that it does not.

use std::collections::HashMap;
use std::fmt;
use std::mem::size_of;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Int64Array, LargeBinaryBuilder,
    ListArray, StructArray,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use datafusion::common::{DataFusionError, Result, internal_datafusion_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use eke_sql::Type;

use crate::rows::column::{Column, canonical};
use crate::rows::encoding::{self, Builder, take};

/// The key of the hash that groups are kept by. Shows itself to nobody.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct HashKey(pub(crate) [u8; 32]);

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// How much one unit may add, and to what. As an aggregate function its arguments are the unit, the
/// keys of the group, and the columns of steps; it returns a list of what is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bounding {
    signature: Signature,
    limits: Arc<Limits>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    pub(crate) unit: Type,
    pub(crate) keys: Vec<Type>,
    /// How many columns of steps are added up.
    pub(crate) steps: usize,
    pub(crate) max_groups: u32,
    pub(crate) max_rows: u32,
    pub(crate) hash_key: HashKey,
}

/// The name of a key in what is kept.
pub(crate) fn key_name(index: usize) -> String {
    format!("key{index}")
}

/// The name of a sum in what is kept.
pub(crate) fn sum_name(index: usize) -> String {
    format!("sum{index}")
}

/// The name of the count of rows in what is kept: at most `max_rows` of each unit.
pub(crate) const ROWS: &str = "rows";

/// What sums are, on the way: 128 bits.
const WIDE: DataType = DataType::Decimal128(38, 0);

impl Bounding {
    pub(crate) fn new(limits: Limits) -> Self {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Self { signature, limits: Arc::new(limits) }
    }
}

impl Limits {
    fn fields(&self) -> Fields {
        let keys = self.keys.iter().enumerate();
        let keys = keys.map(|(index, of)| Field::new(key_name(index), canonical(*of), true));
        let sums = (0..self.steps).map(|index| Field::new(sum_name(index), WIDE, false));
        keys.chain([Field::new(ROWS, DataType::Int64, false)]).chain(sums).collect()
    }

    fn item(&self) -> FieldRef {
        Arc::new(Field::new("item", DataType::Struct(self.fields()), false))
    }
}

impl AggregateUDFImpl for Bounding {
    fn name(&self) -> &'static str {
        "eke_bound"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(self.limits.item()))
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("units are bounded in groups only")
    }

    fn state_fields(&self, _: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new("kept", DataType::LargeBinary, false))])
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Kept::new(Arc::clone(&self.limits))))
    }
}

/// No entry.
const NONE: u32 = u32::MAX;
/// From this number of groups per unit on, a group is looked up rather than searched for.
const MANY: u32 = 24;

/// What is kept of each unit so far.
pub(crate) struct Kept {
    limits: Arc<Limits>,
    units: Vec<Unit>,
    entries: Vec<Entry>,
    /// The sums of every entry, one after the other.
    sums: Vec<i128>,
    names: Names,
    /// Entries by unit and name, where units have many.
    index: Option<HashMap<(u32, u32), u32>>,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Unit {
    /// Its first entry.
    first: u32,
    /// Its entry with the largest hash.
    worst: u32,
    /// How many it has.
    entries: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u128,
    rows: u64,
    name: u32,
    /// The next entry of the same unit.
    next: u32,
}

impl Kept {
    pub(crate) fn new(limits: Arc<Limits>) -> Self {
        let index = (limits.max_groups > MANY).then(HashMap::new);
        Self {
            limits,
            units: Vec::new(),
            entries: Vec::new(),
            sums: Vec::new(),
            names: Names::default(),
            index,
            scratch: Vec::new(),
        }
    }

    fn grow(&mut self, units: usize) {
        if units > self.units.len() {
            self.units.resize(units, Unit { first: NONE, worst: NONE, entries: 0 });
        }
    }

    /// The entry of a unit's group, which is there or is made; none if the group is not kept.
    fn place(
        &mut self,
        unit: usize,
        group: &[u8],
        hash: impl FnOnce() -> u128,
    ) -> Result<Option<usize>> {
        let number = index(unit)?;
        if let Some(entry) =
            self.names.find(group).and_then(|name| self.find(number, self.units[unit].first, name))
        {
            return Ok(Some(entry as usize));
        }
        let (hash, of) = (hash(), self.units[unit]);
        let slot = if of.entries < self.limits.max_groups {
            let slot = index(self.entries.len())?;
            let name = self.names.take(group)?;
            self.entries.push(Entry { hash, rows: 0, name, next: of.first });
            self.sums.resize(self.sums.len() + self.limits.steps, 0);
            let larger = of.worst == NONE || self.order(slot) > self.order(of.worst);
            let worst = if larger { slot } else { of.worst };
            self.units[unit] = Unit { first: slot, worst, entries: of.entries + 1 };
            slot
        } else {
            if of.worst == NONE || self.order(of.worst) <= (hash, group) {
                return Ok(None);
            }
            let slot = of.worst;
            let old = self.entries[slot as usize];
            if let Some(index) = &mut self.index {
                index.remove(&(number, old.name));
            }
            // The new name first: the last use of the old one frees its number.
            let name = self.names.take(group)?;
            self.names.release(old.name);
            self.entries[slot as usize] = Entry { hash, rows: 0, name, next: old.next };
            let sums = slot as usize * self.limits.steps;
            self.sums[sums..sums + self.limits.steps].fill(0);
            self.units[unit].worst = self.worst(of.first);
            slot
        };
        if let Some(index) = &mut self.index {
            index.insert((number, self.entries[slot as usize].name), slot);
        }
        Ok(Some(slot as usize))
    }

    fn find(&self, unit: u32, first: u32, name: u32) -> Option<u32> {
        if let Some(index) = &self.index {
            return index.get(&(unit, name)).copied();
        }
        self.chain(first).find(|entry| self.entries[*entry as usize].name == name)
    }

    fn chain(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let entry = |entry: u32| (entry != NONE).then_some(entry);
        std::iter::successors(entry(first), move |at| entry(self.entries[*at as usize].next))
    }

    /// What entries of one unit are ordered by: their hash, and where hashes are equal their bytes.
    fn order(&self, entry: u32) -> (u128, &[u8]) {
        let entry = &self.entries[entry as usize];
        (entry.hash, self.names.bytes(entry.name))
    }

    fn worst(&self, first: u32) -> u32 {
        self.chain(first)
            .reduce(|a, b| if self.order(b) > self.order(a) { b } else { a })
            .unwrap_or(NONE)
    }

    fn add(&mut self, entry: usize, rows: u64, steps: impl Iterator<Item = i128>) {
        self.entries[entry].rows = self.entries[entry].rows.saturating_add(rows);
        let from = entry * self.limits.steps;
        for (sum, step) in self.sums[from..].iter_mut().zip(steps) {
            *sum = sum.saturating_add(step);
        }
    }

    /// Takes the first units out, with what is kept of them (and, unseen, entries of others).
    fn take(&mut self, emit: EmitTo) -> Result<Self> {
        let mut rest = Self::new(Arc::clone(&self.limits));
        if let EmitTo::First(count) = emit {
            // What stays moves to a new arena. The order of entries within a unit has no meaning.
            for unit in count..self.units.len() {
                rest.grow(unit - count + 1);
                for at in self.chain(self.units[unit].first) {
                    let entry = self.entries[at as usize];
                    let group = self.names.bytes(entry.name);
                    let to = rest.place(unit - count, group, || entry.hash)?.ok_or_else(damaged)?;
                    let from = at as usize * self.limits.steps;
                    let sums = self.sums[from..from + self.limits.steps].iter().copied();
                    rest.add(to, entry.rows, sums);
                }
            }
            self.units.truncate(count);
        }
        std::mem::swap(self, &mut rest);
        Ok(rest)
    }

    /// What is kept of each unit, as bytes that can be merged.
    fn states(&self) -> LargeBinaryBuilder {
        let mut states = LargeBinaryBuilder::new();
        let mut bytes = Vec::new();
        for unit in &self.units {
            bytes.clear();
            for entry in self.chain(unit.first) {
                let from = entry as usize * self.limits.steps;
                let entry = &self.entries[entry as usize];
                let sums = &self.sums[from..from + self.limits.steps];
                push_state(self.names.bytes(entry.name), entry.hash, entry.rows, sums, &mut bytes);
            }
            states.append_value(&bytes);
        }
        states
    }
}

impl GroupsAccumulator for Kept {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let limits = Arc::clone(&self.limits);
        let rows = Rows::new(&limits, values)?;
        let mut bytes = std::mem::take(&mut self.scratch);
        for (row, &unit) in group_indices.iter().enumerate() {
            if opt_filter.is_some_and(|filter| filter.is_null(row) || !filter.value(row)) {
                continue;
            }
            rows.group(row, &mut bytes);
            let entry = self.place(unit, &bytes, || rows.hash(row, &bytes))?;
            if let Some(entry) = entry {
                self.add(entry, 1, rows.steps(row));
            }
        }
        self.scratch = bytes;
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let taken = self.take(emit_to)?;
        let limits = &taken.limits;
        let count = taken.units.iter().map(|unit| unit.entries as usize).sum();
        let mut keys: Vec<_> = limits.keys.iter().map(|of| Builder::new(*of, count)).collect();
        let mut rows = Vec::with_capacity(count);
        let mut sums = vec![Vec::with_capacity(count); limits.steps];
        let mut lengths = Vec::with_capacity(taken.units.len());
        for unit in &taken.units {
            lengths.push(unit.entries as usize);
            for at in taken.chain(unit.first) {
                let entry = &taken.entries[at as usize];
                let mut bytes = taken.names.bytes(entry.name);
                for key in &mut keys {
                    key.take(&mut bytes).ok_or_else(damaged)?;
                }
                let kept = entry.rows.min(u64::from(limits.max_rows));
                rows.push(i64::try_from(kept).map_err(|_| damaged())?);
                for (index, column) in sums.iter_mut().enumerate() {
                    let sum = taken.sums[at as usize * limits.steps + index];
                    column.push(scaled(sum, entry.rows, limits.max_rows));
                }
            }
        }
        // The entries of all units at once must have 32-bit offsets.
        index(count).and_then(|count| i32::try_from(count).map_err(|_| too_many()))?;
        let mut columns: Vec<ArrayRef> = keys.into_iter().map(Builder::finish).collect();
        columns.push(Arc::new(Int64Array::from(rows)));
        for column in sums {
            let column = Decimal128Array::from(column).with_data_type(WIDE);
            columns.push(Arc::new(column));
        }
        let entries = StructArray::try_new_with_length(limits.fields(), columns, None, count)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        Ok(Arc::new(ListArray::try_new(limits.item(), offsets, Arc::new(entries), None)?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![Arc::new(self.take(emit_to)?.states().finish())])
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let states = values.first().and_then(|values| values.as_binary_opt::<i64>());
        let states = states.ok_or_else(damaged)?;
        let mut sums = vec![0; self.limits.steps];
        for (row, &unit) in group_indices.iter().enumerate() {
            if states.is_null(row) {
                continue;
            }
            let mut bytes = states.value(row);
            while !bytes.is_empty() {
                let (group, hash, rows) = take_state(&mut bytes, &mut sums).ok_or_else(damaged)?;
                if let Some(entry) = self.place(unit, group, || hash)? {
                    self.add(entry, rows, sums.iter().copied());
                }
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = Rows::new(&self.limits, values)?;
        let mut states = LargeBinaryBuilder::new();
        let (mut group, mut bytes) = (Vec::new(), Vec::new());
        for row in 0..values.first().map_or(0, |values| values.len()) {
            bytes.clear();
            // A row that does not count is a unit of which nothing is kept.
            if opt_filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row)) {
                rows.group(row, &mut group);
                let steps: Vec<_> = rows.steps(row).collect();
                push_state(&group, rows.hash(row, &group), 1, &steps, &mut bytes);
            }
            states.append_value(&bytes);
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        let index = self.index.as_ref().map_or(0, |index| index.capacity() * 16);
        size_of::<Self>()
            + self.units.capacity() * size_of::<Unit>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.sums.capacity() * size_of::<i128>()
            + self.names.size()
            + index
            + self.scratch.capacity()
    }
}

/// A sum over `rows` rows, scaled to that over `max_rows` of them: cut off towards zero, exactly.
fn scaled(sum: i128, rows: u64, max_rows: u32) -> i128 {
    if rows <= u64::from(max_rows) {
        return sum;
    }
    // A product of all of `sum` might not fit. Quotient and remainder have the sign of the sum, so
    // cutting off the second part alone cuts off the whole.
    let (rows, most) = (i128::from(rows), i128::from(max_rows));
    sum / rows * most + sum % rows * most / rows
}

/// The rows of a batch, as what they are grouped by and what they add.
struct Rows<'a> {
    limits: &'a Limits,
    unit: Column,
    keys: Vec<Column>,
    steps: Vec<&'a Int64Array>,
}

impl<'a> Rows<'a> {
    fn new(limits: &'a Limits, values: &'a [ArrayRef]) -> Result<Self> {
        if values.len() != 1 + limits.keys.len() + limits.steps {
            return Err(damaged());
        }
        let read = |(array, of): (&ArrayRef, &Type)| Column::read(array, *of).ok_or_else(damaged);
        let (unit, rest) = (&values[0], &values[1..]);
        let (keys, steps) = rest.split_at(limits.keys.len());
        let steps = steps.iter().map(|array| array.as_primitive_opt::<Int64Type>());
        Ok(Self {
            limits,
            unit: read((unit, &limits.unit))?,
            keys: keys.iter().zip(&limits.keys).map(read).collect::<Result<_>>()?,
            steps: steps.collect::<Option<_>>().ok_or_else(damaged)?,
        })
    }

    /// The name of the group that a row is in.
    fn group(&self, row: usize, bytes: &mut Vec<u8>) {
        bytes.clear();
        for key in &self.keys {
            encoding::push(key, row, bytes);
        }
    }

    /// The hash of a row's group and unit.
    fn hash(&self, row: usize, group: &[u8]) -> u128 {
        let mut bytes = Vec::with_capacity(group.len() + 32);
        bytes.extend_from_slice(group);
        encoding::push(&self.unit, row, &mut bytes);
        let hash = blake3::keyed_hash(&self.limits.hash_key.0, &bytes);
        hash.as_bytes().first_chunk().map_or(0, |first| u128::from_be_bytes(*first))
    }

    fn steps(&self, row: usize) -> impl Iterator<Item = i128> + '_ {
        let step = move |steps: &&Int64Array| {
            if steps.is_null(row) { 0 } else { i128::from(steps.value(row)) }
        };
        self.steps.iter().map(step)
    }
}

/// The names of groups that are kept by some unit, each with a number.
#[derive(Default)]
struct Names {
    numbers: HashMap<Arc<[u8]>, u32>,
    names: Vec<(Arc<[u8]>, u32)>,
    free: Vec<u32>,
    bytes: usize,
}

impl Names {
    fn find(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn bytes(&self, number: u32) -> &[u8] {
        &self.names[number as usize].0
    }

    /// The number of a name, for one more use.
    fn take(&mut self, name: &[u8]) -> Result<u32> {
        if let Some(&number) = self.numbers.get(name) {
            self.names[number as usize].1 += 1;
            return Ok(number);
        }
        let shared: Arc<[u8]> = name.into();
        self.bytes += name.len();
        let number = if let Some(number) = self.free.pop() {
            self.names[number as usize] = (Arc::clone(&shared), 1);
            number
        } else {
            self.names.push((Arc::clone(&shared), 1));
            index(self.names.len() - 1)?
        };
        self.numbers.insert(shared, number);
        Ok(number)
    }

    /// One use less; with the last one the name goes.
    fn release(&mut self, number: u32) {
        let (name, uses) = &mut self.names[number as usize];
        *uses -= 1;
        if *uses == 0 {
            let name = std::mem::replace(name, Arc::new([]));
            self.bytes -= name.len();
            self.numbers.remove(&name);
            self.free.push(number);
        }
    }

    fn size(&self) -> usize {
        // A shared name has two counters before its bytes, and an allocation a few bytes of its
        // own.
        let entry = size_of::<(Arc<[u8]>, u32)>() + 1;
        self.numbers.capacity() * entry
            + self.names.capacity() * size_of::<(Arc<[u8]>, u32)>()
            + self.numbers.len() * 32
            + self.bytes
            + self.free.capacity() * 4
    }
}

fn push_state(group: &[u8], hash: u128, rows: u64, sums: &[i128], bytes: &mut Vec<u8>) {
    bytes.extend((group.len() as u64).to_le_bytes());
    bytes.extend_from_slice(group);
    bytes.extend(hash.to_le_bytes());
    bytes.extend(rows.to_le_bytes());
    sums.iter().for_each(|sum| bytes.extend(sum.to_le_bytes()));
}

fn take_state<'a>(bytes: &mut &'a [u8], sums: &mut [i128]) -> Option<(&'a [u8], u128, u64)> {
    let length = usize::try_from(u64::from_le_bytes(take(bytes)?)).ok()?;
    let (group, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let (hash, rows) = (u128::from_le_bytes(take(bytes)?), u64::from_le_bytes(take(bytes)?));
    for sum in sums {
        *sum = i128::from_le_bytes(take(bytes)?);
    }
    Some((group, hash, rows))
}

fn index(index: usize) -> Result<u32> {
    u32::try_from(index).ok().filter(|index| *index != NONE).ok_or_else(too_many)
}

fn too_many() -> DataFusionError {
    DataFusionError::ResourcesExhausted("more units or groups than can be numbered".to_owned())
}

fn damaged() -> DataFusionError {
    internal_datafusion_err!("columns that are not those of the plan")
}
