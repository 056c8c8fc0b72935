//! The collector's side.

pub(crate) mod coordinator;

pub use coordinator::{Coordinator, Left, Question, ReplyError};
