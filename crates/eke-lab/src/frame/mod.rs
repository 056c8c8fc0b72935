//! What all experiments share: what they are given, their data, and what they come to.

pub mod context;
pub mod data;
pub mod experiment;
pub mod report;
pub mod summary;
pub mod table;
