//! Sessions with the lab, kept true.

#[test]
fn sessions_with_the_lab_are_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
