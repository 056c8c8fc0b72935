//! Policies that are written: drafts, names that are suggested, and lines that are changed.

pub(super) mod draft;
pub(super) mod edit;
pub(super) mod suggest;
