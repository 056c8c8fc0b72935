//! What choosing costs: noisy maxima, exponential choices, and the first above a line.
//!
//! What is bought at these prices is drawn by `eke-noise`, exactly, on the real line: they are the
//! prices of continuous noise.
//!
//! ```
//! use eke_budget::L1;
//! use eke_select::{AboveThreshold, Change, Direction, LineNoise, LineSpec};
//!
//! // Counts between 0 and 1000 against a line at 500; one person changes each by at most one.
//! let line = AboveThreshold::new(LineSpec {
//!     threshold: 500.0,
//!     range: (0.0, 1000.0),
//!     sensitivity: L1::new(1.0)?,
//!     change: Change::General,
//!     direction: Direction::Above,
//!     noise: LineNoise::Gaussian { line: 100.0, query: 173.2 },
//! })?;
//! // A hit at the fifth step, and what must be set aside before the sixth.
//! assert!((line.halting_at(5).epsilon - 0.0724).abs() < 1e-3);
//! assert!(line.worst(6).epsilon > line.halting_at(5).epsilon);
//! // With 0.1 to spend, ten steps are certain.
//! assert_eq!(line.horizon("0.1".parse()?), 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is where:
//!
//! - [`AboveThreshold`], [`LineSpec`], [`LineNoise`]: the first answer above (or below) a line,
//!   priced after the fact.
//! - [`NoisyMax`], [`MaxNoise`]: the largest of several noisy scores, priced before.
//! - [`Exponential`], [`PermuteAndFlip`]: choices with probabilities that are exponential in
//!   scores.
//! - [`Change`], [`Direction`]: how one unit moves answers, and which side of a line is a hit.
//! - [`RenyiLine`]: the price of a line without a horizon, with a delta.
//! - [`GridLine`], [`Choice`]: what is drawn with its price: for a run of steps, and to be bought.
//! - [`SparseVector`]: run after run, for as long as an account pays.
//! - [`Certified`]: a price that is never too low, and how much too high it may be.
//!
//! No randomness of its own, no I/O. The statements behind the code are in `docs/theorems.md`.

mod above_threshold;
mod calibrate;
mod certified;
mod choice;
mod error;
mod exponential;
mod integrand;
mod laplace;
mod line;
mod noisy_max;
mod quadrature;
mod renyi;
mod sparse_vector;

pub use above_threshold::{AboveThreshold, Direction, LineNoise, LineSpec, Slope};
pub use certified::Certified;
pub use choice::Choice;
pub use error::SelectError;
pub use exponential::{Exponential, PermuteAndFlip};
pub use line::GridLine;
pub use noisy_max::{MaxNoise, NoisyMax, NoisyMaxSpec};
pub use renyi::RenyiLine;
pub use sparse_vector::{Filter, SparseError, SparseVector};

use serde::{Deserialize, Serialize};

/// How one unit can change the answers to several questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// All of them up, or all of them down, each by at most the sensitivity: counts, under
    /// add-remove.
    Monotone,
    /// Each by at most the sensitivity, either way.
    General,
}
