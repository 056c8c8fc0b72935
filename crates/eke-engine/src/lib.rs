//! Policies, datasets, analysts: questions to answers.

pub mod policy;
pub mod registry;
