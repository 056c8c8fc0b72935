//! SQL to a private plan. Nothing here can read a row.
//!
//! [`plan()`] takes a question's text and what the policy says about the tables, and gives what is
//! to be added up, what each unit can change it by, and what is done with it once it is released;
//! or it refuses, with a sentence that says what to write instead. `docs/sql.md` says what SQL
//! there is.
//!
//! ```
//! use eke_budget::Adjacency;
//! use eke_sql::{Column, Protection, Table, Type, plan};
//!
//! let trips = Table {
//!     name: "trips".to_owned(),
//!     columns: vec![
//!         Column { name: "rider_id".to_owned(), kind: Some(Type::Int), bounds: None, values: None },
//!         Column {
//!             name: "fare".to_owned(),
//!             kind: Some(Type::Float),
//!             bounds: Some((0.0, 200.0)),
//!             values: None,
//!         },
//!     ],
//!     protection: Protection::Private {
//!         unit: "rider".to_owned(),
//!         unit_column: "rider_id".to_owned(),
//!         adjacency: Adjacency::AddRemove,
//!         max_groups: 3,
//!         max_rows: 20,
//!         max_values: None,
//!         max_rows_in_all: None,
//!     },
//! };
//! let tables = [trips];
//! let query = plan("SELECT SUM(fare) FROM trips WHERE fare > 10", &tables)?;
//! let sum = &query.plan.sums[0];
//! assert_eq!(sum.sensitivity(query.plan.max_rows) as f64 * sum.step(), 200.0 * 20.0);
//!
//! let refusal = plan("SELECT fare FROM trips", &tables).unwrap_err().to_string();
//! assert!(refusal.starts_with("`fare` is neither a key nor an aggregate, and would show rows"));
//! # Ok::<(), eke_sql::SqlError>(())
//! ```
//!
//! What is where, by room:
//!
//! - `expr`: what a row's [`Value`]s are and what an [`Expr`] over them means: [`evaluate`],
//!   [`canonical`], [`scalar`].
//! - `frontend`: from text to a plan, through words, syntax, rows and typed expressions:
//!   [`plan()`], [`plan_with`], [`plan_open`], [`plan_within`], [`relations`].
//! - `plan`: a [`Query`] has a private [`Plan`] with its [`Sum`]s and [`Key`]s, and what is done
//!   with released values (post-processing).
//! - `table`: what the policy says about a [`Table`]: its [`Column`]s and its [`Protection`]
//!   (privacy unit, contribution bounding).
//! - `unit`: what says which unit a row belongs to ([`UnitColumns`]).
//! - [`error`]: why a question is refused ([`SqlError`]).

mod expr;
mod frontend;
mod plan;
mod table;
mod unit;

pub mod error;

pub use error::SqlError;
pub use expr::canonical::canonical;
pub use expr::evaluate::{Leaf, cast, evaluate};
pub use expr::scalar;
pub use expr::text::MAX_TEXT;
pub use expr::value::{Type, Value};
pub use expr::{Binary, Expr, Function, Syntax, Unary};
pub use frontend::asked_bounds::{AskedBounds, Widest};
pub use frontend::from::relations::relations;
pub use frontend::question::{plan, plan_level, plan_open, plan_unasked, plan_with, plan_within};
pub use frontend::sets::levels;
pub use frontend::settings::{Setting, settings};
pub use plan::bounds::interval;
pub use plan::rows::{
    Chooses, Gives, Lookup, LookupColumn, Meet, PerUnit, RowSource, TotalFunction, Union, UnitKey,
    UnitRows, UnitTotal,
};
pub use plan::{
    Key, LeastUnits, Measure, Order, Output, Plan, Query, Rank, Shows, Sum, Summand, VERSION,
};
pub use table::{Column, Protection, Table};
pub use unit::{PeriodLength, UnitColumns, UnitPeriod, ZoneOffset};
