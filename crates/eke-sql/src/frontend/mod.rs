//! From a question's text to its plan.

pub(crate) mod bind;
pub(crate) mod clauses;
pub(crate) mod dialect;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod parse;
pub(crate) mod question;
pub(crate) mod relations;
pub(crate) mod rows;
