//! What stands in `FROM`: tables, rows written out, unions, joins, and whose their rows are.

pub(crate) mod comma;
pub(crate) mod inline;
pub(crate) mod join;
pub(crate) mod meet;
pub(crate) mod parts;
pub(crate) mod relations;
pub(crate) mod union;
