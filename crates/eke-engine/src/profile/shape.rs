//! What a published profile says of a dataset, for rows that are made up: how many units there are,
//! and how many rows, groups and which values they have.

use std::collections::BTreeMap;

use crate::ask::question::Who;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::PolicyProtection;
use crate::profile::ProfilePlan;
use crate::profile::buying::{StoredCuts, StoredValues};
use crate::profile::layout::{self, GROUP_BINS, Layout, NULL, ROW_BINS, VALUE_BINS};
use crate::purchase::request_key::{ProfileName, ProfilePart};

/// The shape of a dataset, as it was published. Counts are as they were drawn, those below zero as
/// zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatasetShape {
    /// How many units there are.
    pub(crate) units: u64,
    /// Units by how many rows they have: bin j up to 2^j.
    pub(crate) rows: Vec<u64>,
    /// Units by how many values of a key they have.
    pub(crate) keys: BTreeMap<String, Vec<u64>>,
    /// The values of a column.
    pub(crate) values: BTreeMap<String, Vec<ValueRange>>,
}

/// Values in a range, whose end that is nearer to zero comes first, and how many units have one;
/// no range for NULL.
pub(crate) type ValueRange = (Option<(f64, f64)>, u64);

impl Engine {
    /// The shapes of datasets with a published profile that this asker may see and has paid for.
    /// Nothing is charged, opened or written, and no row is read.
    ///
    /// # Errors
    /// The ledger does not work.
    pub fn published_shapes(
        &self,
        who: &Who,
    ) -> Result<BTreeMap<String, DatasetShape>, EngineError> {
        let mut shapes = BTreeMap::new();
        for name in self.policy().datasets.keys() {
            if let Some(SeenProfile { plan, values, cuts, .. }) = self.seen_profile(name, who)? {
                shapes.insert(name.clone(), shape(&plan.layout, &values.cells, &cuts.cells));
            }
        }
        Ok(shapes)
    }

    /// The profile of a dataset that was bought last, if this asker may see it and has paid for it.
    /// Nothing is charged, opened or written, and no row is read.
    pub(crate) fn seen_profile(
        &self,
        name: &str,
        who: &Who,
    ) -> Result<Option<SeenProfile>, EngineError> {
        let Some(dataset) = self.policy().datasets.get(name) else { return Ok(None) };
        let PolicyProtection::Private { unit, .. } = &dataset.protection else { return Ok(None) };
        let Some(registry) = self.registry(unit)? else { return Ok(None) };
        let published = registry.published();
        let Some(known) = published.iter().rev().find(|one| one.dataset == name) else {
            return Ok(None);
        };
        let layout = Layout { keys: known.keys.clone(), columns: known.columns.clone() };
        let adjacency = self.policy().unit(unit)?.adjacency;
        let name_of = ProfileName::listed(&known.name);
        let plan = ProfilePlan { name: name_of, layout, adjacency, rho: known.rho };
        let values = self.stored_part::<StoredValues>(&plan.name, ProfilePart::Values)?;
        let cuts = self.stored_part::<StoredCuts>(&plan.name, ProfilePart::Cuts)?;
        let Some((values, cuts)) = values.zip(cuts) else { return Ok(None) };
        if let Some(analyst) = who.analyst() {
            let payers = self.policy().payers(unit, Some(analyst))?;
            let has_paid = payers.others.iter().all(|one| known.payers.contains(&one.name));
            let may_see =
                dataset.publishes_profile && self.sees_profile(analyst, &plan, &cuts).is_ok();
            if !has_paid || !may_see {
                return Ok(None);
            }
        }
        Ok(Some(SeenProfile { plan, values, cuts, snapshot: known.snapshot }))
    }
}

/// A profile that was bought, and that an asker may see.
pub(crate) struct SeenProfile {
    pub(crate) plan: ProfilePlan,
    pub(crate) values: StoredValues,
    pub(crate) cuts: StoredCuts,
    pub(crate) snapshot: u32,
}

/// The shape that follows from the cells of both parts of a profile.
fn shape(layout: &Layout, cells: &[i64], cuts: &[i64]) -> DatasetShape {
    let drawn = |cell: i64| u64::try_from(cell).unwrap_or(0);
    let (rows, mut rest) = cells.split_at(ROW_BINS.min(cells.len()));
    let mut shape = DatasetShape {
        units: cuts.first().map_or(0, |&units| drawn(units)),
        rows: rows.iter().map(|&cell| drawn(cell)).collect(),
        ..DatasetShape::default()
    };
    for key in &layout.keys {
        let (groups, others) = rest.split_at(GROUP_BINS.min(rest.len()));
        shape.keys.insert(key.clone(), groups.iter().map(|&cell| drawn(cell)).collect());
        rest = others;
    }
    for (column, cells) in layout.columns.iter().zip(rest.chunks(ROW_BINS * VALUE_BINS)) {
        let of_bin = |bin: usize| drawn(cells.iter().skip(bin).step_by(VALUE_BINS).sum());
        let mut values = vec![(None, of_bin(usize::from(NULL))), (Some((0.0, 0.0)), of_bin(1))];
        for is_negative in [false, true] {
            let sign = if is_negative { -1.0 } else { 1.0 };
            // What is beyond all powers has no end that a number could be drawn from.
            for place in 0..layout::powers() - 1 {
                let end = layout::power_at(place);
                let range = (sign * end / 2.0, sign * end);
                values.push((Some(range), of_bin(layout::bin_of_power(is_negative, place))));
            }
        }
        shape.values.insert(column.clone(), values);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_the_counts_of_a_profile() {
        let layout = Layout { keys: vec!["zone".into()], columns: vec!["fare".into()] };
        let mut cells = vec![0i64; layout.cells().iter().sum()];
        let bin =
            |is_negative, place| u8::try_from(layout::bin_of_power(is_negative, place)).unwrap();
        // Two bins of rows that have values up to 8, one unit without a value, and noise below zero.
        for (rows, groups, value) in
            [(1, 1, bin(false, 34)), (5, 2, bin(false, 34)), (5, 2, NULL), (5, 1, bin(true, 31))]
        {
            for cell in layout.cells_of(rows, &[groups], &[value]) {
                cells[cell] += 10;
            }
        }
        cells[2] = -7;
        let shape = shape(&layout, &cells, &[38, 0, 0]);
        assert_eq!((shape.units, shape.rows[0], shape.rows[2], shape.rows[3]), (38, 10, 0, 30));
        assert_eq!(shape.keys["zone"][..3], [20, 20, 0]);
        let there: Vec<_> = shape.values["fare"].iter().filter(|(_, units)| *units > 0).collect();
        let expected = [(None, 10), (Some((4.0, 8.0)), 20), (Some((-0.5, -1.0)), 10)];
        assert_eq!(there, expected.iter().collect::<Vec<_>>());
    }
}
