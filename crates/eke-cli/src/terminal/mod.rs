//! What a terminal has beside its text: progress, and the key that stops a program.

pub(crate) mod progress;
pub(crate) mod stop;
