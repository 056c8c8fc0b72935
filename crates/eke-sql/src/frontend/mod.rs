//! From a question's text to its plan.

pub(crate) mod bind;
pub(crate) mod chosen;
pub(crate) mod clauses;
pub(crate) mod dialect;
pub(crate) mod inline;
pub(crate) mod join;
pub(crate) mod limits;
pub(crate) mod meet;
pub(crate) mod names;
pub(crate) mod parse;
pub(crate) mod per_unit;
pub(crate) mod question;
pub(crate) mod relations;
pub(crate) mod rows;
pub(crate) mod sets;
pub(crate) mod settings;
pub(crate) mod union;
