//! The local model: one category's reports, fine to coarse.

pub(crate) mod bits;
pub(crate) mod category;
pub(crate) mod category_path;
pub(crate) mod chain;
pub(crate) mod hash;
pub(crate) mod sets;
pub(crate) mod share;
pub(crate) mod subset;
