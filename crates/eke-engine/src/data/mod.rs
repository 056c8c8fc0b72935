//! A steward's data: files, how they are read, and what a ledger knows of them.

pub(crate) mod anchored;
pub(crate) mod blocks;
pub(crate) mod city;
pub(crate) mod footer;
pub(crate) mod ground;
pub(crate) mod ids;
pub(crate) mod lines;
pub(crate) mod pins;
pub mod registry;
pub(crate) mod source;

pub use city::{City, Truth, write_city};
pub use source::{Source, SourceError};
