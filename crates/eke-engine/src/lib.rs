//! Policies, datasets, analysts: questions to answers.

pub mod policy;
pub mod registry;
mod bounding;
mod cast;
mod column;
mod contribution;
mod encoding;
mod lower;
mod moment;
mod pattern;
mod rows;
mod scan;
mod source;
mod step;
#[doc(hidden)]
pub mod testing;
mod total;
