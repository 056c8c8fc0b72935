//! What may be asked about: tables, their columns and the budgets that pay, as an asker may see
//! them. All of it is in the policy, or is a name or a type of a column; no row is read, and no
//! ledger.

use eke_budget::Adjacency;
use eke_sql::{AskedBounds, Widest};
use serde::Serialize;

use crate::ask::question::Who;
use crate::ask::shown::answer::json;
use crate::data::ground::read_schema;
use crate::error::EngineError;
use crate::policy::{OverPeriods, Policy, PolicyProtection, SHOWN_PERIODS};
use crate::report::Promised;

/// A table that may be asked about, or one that is public.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableInfo {
    /// Its name in SQL.
    pub name: String,
    /// Whose privacy it is about; none if it is public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitInfo>,
    /// Its columns, in the order of its files.
    pub columns: Vec<ColumnInfo>,
    /// What may be spent on questions about it: the budgets that the asker sees.
    pub budgets: Vec<BudgetInfo>,
    /// The furthest point that the asker sees of any one path, in rho; none if there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finest: Option<f64>,
}

/// Whose privacy a table is about (privacy unit), and how much of each counts (contribution
/// bounding).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitInfo {
    /// What they are called.
    pub name: String,
    /// The column that says whose a row is; none where each row is a unit of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What is hidden: that a unit is there at all, or what its rows contain.
    pub adjacency: Adjacency,
    /// How many groups of an answer one may count in.
    pub max_groups: u32,
    /// With how many rows in each.
    pub max_rows: u32,
    /// With how many different values in each, where these are counted; none if as many as rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_values: Option<u32>,
    /// With how many rows in all groups together; none if as many as groups allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rows_in_all: Option<u32>,
    /// The widest bounds that questions may choose, where they are wider: as questions write them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widest: Option<String>,
    /// What somebody is promised who is in several periods, where a unit is a person in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_periods: Option<OverPeriods>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its type; none if it cannot be asked about.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// What its values are clamped to in sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// All keys that it is grouped by, where they are public; otherwise they are selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<serde_json::Value>>,
}

/// A budget that an asker sees: all of it, whatever was spent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetInfo {
    /// The account that has it.
    pub account: String,
    /// What it promises; none for a rho that was given no delta.
    pub promise: Option<Promised>,
    /// In rho; none if it is pure alone.
    pub rho: Option<f64>,
    /// The pure part, in epsilon; none if there is none.
    pub pure: Option<f64>,
}

/// The tables of a policy, by name, as an asker may see them.
///
/// # Errors
/// There is no such analyst, or files are not as the policy says.
pub fn tables(policy: &Policy, who: &Who) -> Result<Vec<TableInfo>, EngineError> {
    if let Some(analyst) = who.analyst() {
        policy.analyst(analyst)?;
    }
    let mut tables = Vec::new();
    for dataset in policy.datasets.values() {
        let read = read_schema(&policy.folder, dataset).map_err(EngineError::from);
        let (table, _) = read.map_err(|error| error.told_to(who))?;
        let columns = table.columns.into_iter().map(|column| ColumnInfo {
            name: column.name,
            kind: column.kind.map(|kind| kind.to_string()),
            bounds: column.bounds.map(|(min, max)| [min, max]),
            values: column.values.map(|values| values.iter().map(json).collect()),
        });
        let (name, columns) = (dataset.name.clone(), columns.collect());
        let PolicyProtection::Private {
            unit,
            adjacency,
            max_groups,
            max_rows,
            max_values,
            max_rows_in_all,
            ..
        } = &dataset.protection
        else {
            let (unit, budgets, finest) = (None, Vec::new(), None);
            tables.push(TableInfo { name, unit, columns, budgets, finest });
            continue;
        };
        let payers = policy.payers(unit, who.analyst())?;
        let budgets = payers.shown().iter().map(|account| BudgetInfo {
            account: account.name.clone(),
            promise: Promised::by(&account.budget),
            rho: account.budget.zcdp().map(|limits| limits.budget.to_f64()),
            pure: account.budget.pure().map(|limits| limits.budget.to_f64()),
        });
        // As the budget that the asker sees first promises it.
        let over_periods = policy.period_of(unit).and_then(|period| {
            let account = payers.shown().first()?;
            OverPeriods::of(&account.budget, period, SHOWN_PERIODS)
        });
        let unit = UnitInfo {
            over_periods,
            name: unit.clone(),
            column: dataset.protection.unit_column().map(str::to_owned),
            adjacency: *adjacency,
            max_groups: *max_groups,
            max_rows: *max_rows,
            max_values: *max_values,
            max_rows_in_all: *max_rows_in_all,
            widest: widest(&dataset.widest),
        };
        let finest = policy.finest(who.analyst())?.map(|finest| finest.to_f64());
        tables.push(TableInfo {
            name,
            unit: Some(unit),
            columns,
            budgets: budgets.collect(),
            finest,
        });
    }
    Ok(tables)
}

/// The widest bounds as a question writes them; none if the policy says nothing of them.
fn widest(widest: &Widest) -> Option<String> {
    let bounds = AskedBounds {
        groups: widest.max_groups,
        rows: widest.max_rows,
        values: widest.max_values,
        rows_in_all: widest.max_rows_in_all,
        clamps: widest.clamps.clone(),
    };
    (!bounds.is_empty()).then(|| bounds.to_string())
}
