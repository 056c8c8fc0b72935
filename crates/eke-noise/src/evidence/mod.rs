//! What has touched private rows, what one unit can change it by, and where it is put.

pub(crate) mod bound;
pub(crate) mod exact;
pub(crate) mod grid;

pub use bound::{Bound, Norms};
pub use exact::{Exact, Released, Scores, Truth};
pub use grid::{Grid, GridError};
