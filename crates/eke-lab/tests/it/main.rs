//! Sessions with the lab, kept true, and every audit.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod audits;
#[cfg(feature = "experiments")]
mod bench;
mod boundaries;
#[cfg(feature = "experiments")]
mod experiments;
mod planar;

#[test]
fn sessions_with_the_lab_are_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md").case("tests/cmd/*.toml");
}
