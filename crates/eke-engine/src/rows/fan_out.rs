//! How many rows one row becomes, and how much is done with them.
//!
//! What a row takes in time must not depend on what is in it, and whether it meets anything does.
//! So the most that a row can become in joins with public tables is known before anything is
//! charged, and so is how often texts are gone through for all of that: a question beyond either is
//! refused. Pairs of rows of one unit, where private tables meet, end earlier the more is done with
//! each.
//!
//! Mutants that tests must catch: tables that only choose left out of the product, texts that are
//! gone through for one row only, pairs that do not end earlier.

use eke_sql::{Plan, RowSource};

use crate::error::{EngineError, NotAnswered};
use crate::rows::column::lower::LowerError;
use crate::rows::lookup::{PublicRows, lookups};

/// How many rows one row may become in the joins with public tables of a question, all of them
/// together.
const MOST_ROWS: usize = 256;
/// How often all rows that one row becomes may together be gone through as texts: each of these
/// takes as many steps as a text has bytes.
const MOST_PASSES: usize = 2_048;

/// How many rows one row becomes at most in the joins with public tables of a plan, all of them
/// together.
pub(crate) fn fan_out(plan: &Plan, public: &[PublicRows]) -> Result<usize, LowerError> {
    let mut product = 1usize;
    for (lookup, rows) in lookups(plan.rows.as_ref()).into_iter().zip(public) {
        if lookup.chooses.is_none() {
            product = product.saturating_mul(rows.most_matches(lookup)?.max(1));
        }
    }
    Ok(product)
}

/// Refuses joins in which one row would become very many, or in which texts would be gone through
/// very often for what it becomes; `passes` is how often they are for one row.
pub(crate) fn check(plan: &Plan, passes: usize, public: &[PublicRows]) -> Result<(), EngineError> {
    let sources = plan.rows.as_ref().map_or(1, leaves);
    let mut product = 1usize;
    for (lookup, rows) in lookups(plan.rows.as_ref()).into_iter().zip(public) {
        // What only chooses rows, without a further condition, looks at no match.
        if lookup.chooses.is_some() && lookup.condition.is_none() {
            continue;
        }
        let most = rows.most_matches(lookup).map_err(EngineError::damaged)?;
        let all = product.saturating_mul(most.max(1));
        // Branches of a union are several rows.
        let texts = all.saturating_mul(sources).saturating_mul(passes);
        if all > MOST_ROWS || texts > MOST_PASSES {
            let each = passes.saturating_mul(sources);
            let most = MOST_PASSES.checked_div(each).map_or(MOST_ROWS, |most| most.min(MOST_ROWS));
            let table = lookup.table.clone();
            return Err(NotAnswered::FanOut { table, rows: all, most, passes }.into());
        }
        if lookup.chooses.is_none() {
            product = all;
        }
    }
    Ok(())
}

/// How many times rows of datasets are taken.
fn leaves(rows: &RowSource) -> usize {
    match rows {
        RowSource::Dataset(_) => 1,
        _ => rows.sources().into_iter().map(leaves).sum(),
    }
}
