//! How fast single functions are, next to a baseline in the same run: `cargo bench -p eke-lab`, or
//! a part of it by its name, such as `cargo bench -p eke-lab -- noise`. Medians are what to quote.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

mod crowd;
mod fleet;
mod geo;
mod local;
mod noise;
mod selection;

fn main() {
    divan::main();
}
