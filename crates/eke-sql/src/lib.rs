//! SQL to a private plan. Nothing here can read a row.

mod aggregate;
mod bind;
mod bounds;
mod canonical;
mod civil;
mod describe;
mod dialect;
mod display;
mod error;
mod evaluate;
mod expr;
mod grid;
mod keys;
mod limits;
mod names;
mod parse;
mod plan;
mod question;
mod rows;
mod shape;
mod table;
mod text;
mod value;

pub use canonical::canonical;
pub use error::SqlError;
pub use evaluate::{Leaf, cast, evaluate};
pub use expr::{Binary, Expr, Function, Unary};
pub use plan::{Key, Measure, Order, Output, Plan, Query, Shows, Sum, Summand, VERSION};
pub use question::plan;
pub use table::{Column, Protection, Table};
pub use value::{Type, Value};
