//! Choices, thresholds and keys.

mod choices;
mod keys;
mod lines;
mod prepaid;
mod rankings;
