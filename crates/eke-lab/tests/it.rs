//! Sessions with the lab, kept true, and every audit.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[test]
fn sessions_with_the_lab_are_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}

fn run(names: &[&str]) {
    for audit in eke_lab::audit::all() {
        if names.contains(&audit.name) {
            for finding in audit.run().unwrap() {
                println!("{:24} {finding:?}", audit.name);
                assert!(finding.passes(), "{}: {finding:?}", audit.name);
            }
        }
    }
}

#[test]
fn samplers_have_their_laws_exactly() {
    run(&["laplace-law", "gaussian-law", "laplace-loss"]);
}

#[test]
fn choices_have_their_laws_exactly() {
    run(&["choice-law"]);
}

#[test]
fn a_choice_costs_its_epsilon_and_no_less() {
    run(&["choice-loss"]);
}

#[test]
fn geometric_paths_have_one_law_in_every_order_and_cost_their_finest_point() {
    run(&["geometric-orders", "geometric-path-loss"]);
}

#[test]
fn wide_laws_fit() {
    run(&["wide-laws", "normal-law", "gaussian-path-law"]);
}

#[test]
fn gaussian_paths_cost_their_finest_point_and_no_less() {
    run(&["gaussian-path", "gaussian-tiers", "two-paths"]);
}

#[test]
fn a_comparison_costs_its_rho_and_no_less() {
    run(&["laplace", "comparison"]);
}
