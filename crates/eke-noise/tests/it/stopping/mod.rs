//! Following a path until an answer is good enough.

mod averages;
mod quantiles;
mod rules;
