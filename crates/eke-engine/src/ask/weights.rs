//! What of the prices of a question's groups one unit pays.

use std::num::NonZeroU32;

use eke_budget::purchase::{AddedBy, GroupWeights, RowBounds};
use eke_budget::{Metric, Rho};
use eke_sql::{Plan, Sum};

/// The weights of the groups of a plan, whose columns share a group's price evenly.
pub(crate) fn weights(plan: &Plan) -> GroupWeights<Rho> {
    let most = NonZeroU32::new(plan.max_groups).unwrap_or(NonZeroU32::MIN);
    let metric = Metric::Hamming(plan.adjacency);
    let Some(in_all) = plan.max_rows_in_all else { return GroupWeights::touching(most, metric) };
    let in_group = NonZeroU32::new(plan.max_rows).unwrap_or(NonZeroU32::MIN);
    // A unit counts once in a column of units, also where its rows hardly count.
    let added_by = |sum: &Sum| match sum.adds_rows() {
        true => AddedBy::Rows { one_way: sum.is_one_way() },
        false => AddedBy::Units,
    };
    let columns: Vec<(u16, AddedBy)> = plan.sums.iter().map(|sum| (1, added_by(sum))).collect();
    GroupWeights::with_rows_in_all(most, metric, RowBounds { in_group, in_all }, &columns)
}
