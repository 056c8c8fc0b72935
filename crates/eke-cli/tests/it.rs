//! Sessions at the command line, kept true: what stands in these files is what is printed.
//! `TRYCMD=overwrite cargo test -p eke` writes what is printed now; read the difference.

#[test]
fn sessions_at_the_command_line_are_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md").case("../../README.md");
}
