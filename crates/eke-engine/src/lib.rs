//! Policies, datasets, analysts: questions to answers.

mod answer;
mod ask;
mod bounding;
mod cast;
mod city;
mod column;
mod contribution;
mod encoding;
mod engine;
mod error;
mod explain;
mod keys;
mod lower;
mod moment;
mod pattern;
pub mod policy;
mod post;
mod process;
mod question;
pub mod registry;
mod report;
mod pool;
mod rows;
mod scan;
mod source;
mod state;
mod step;
#[doc(hidden)]
pub mod testing;
mod total;
mod walk;

pub use answer::{Answer, Cell, Column, Cost, Kind, Row, Stopped};
pub use ask::Watch;
pub use city::{City, Truth, write_city};
pub use engine::{Declared, Engine};
pub use error::{EngineError, Refused};
pub use explain::{ErrorAt, Explanation, Keys, SizeAt, explain};
pub use question::{Accuracy, Goal, Question, Who};
pub use report::{Asked, Of, Outcome, Promised, Standing};
pub use rows::RowsError;
pub use source::{Source, SourceError};
