//! From a question's text to its plan.

pub(crate) mod asked_bounds;
pub(crate) mod bind;
pub(crate) mod chosen;
pub(crate) mod clauses;
pub(crate) mod dialect;
pub(crate) mod from;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod parse;
pub(crate) mod per_unit;
pub(crate) mod question;
pub(crate) mod rewrite;
pub(crate) mod rows;
pub(crate) mod sets;
pub(crate) mod settings;
