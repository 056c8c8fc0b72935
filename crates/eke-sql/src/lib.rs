//! SQL to a private plan. Nothing here can read a row.

mod expr;
mod plan;
mod table;
mod value;

pub use expr::{Binary, Expr, Function, Unary};
pub use plan::{Key, Measure, Order, Output, Plan, Query, Shows, Sum, Summand, VERSION};
pub use table::{Column, Protection, Table};
pub use value::{Type, Value};
