//! What reports of each mechanism are worth, and the law of a report.

pub mod bits;
pub mod hash;
pub(crate) mod law;
pub mod subset;

pub use law::{Law, ReportError};
