//! Every audit.

fn run(names: &[&str]) {
    for audit in eke_lab::audit::all() {
        if names.contains(&audit.name) {
            for finding in audit.run(None).unwrap() {
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
fn msdlap_noise_and_tiers_have_their_laws() {
    run(&["msdlap-law", "msdlap-loss", "msdlap-tiers"]);
}

#[test]
fn planar_noise_and_points_have_their_laws() {
    run(&["planar-law", "planar-loss", "planar-point"]);
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
fn a_pick_costs_its_rho_and_no_less() {
    run(&["ranking-loss"]);
}

#[test]
fn nearest_places_cost_their_price() {
    run(&["nearest-loss", "nearest-search"]);
}

#[test]
fn a_hull_costs_its_price_part_by_part() {
    run(&["hull-price"]);
}

#[test]
fn selection_costs_its_price_for_all_inputs_of_a_small_range() {
    run(&["line-loss", "noisy-max-loss", "filter-deltas"]);
}

#[test]
fn above_threshold_costs_its_price_and_no_less() {
    run(&["above-threshold", "sparse-vector"]);
}

#[test]
fn a_noisy_maximum_costs_its_price_and_no_less() {
    run(&["noisy-max"]);
}

#[test]
fn geometric_paths_have_one_law_in_every_order_and_cost_their_finest_point() {
    run(&["geometric-orders", "geometric-path-loss"]);
}

#[test]
fn laplace_paths_have_one_law_in_every_order_and_cost_their_finest_point() {
    run(&["rounded-laplace", "laplace-path-law", "laplace-path"]);
}

#[test]
fn stopping_costs_what_was_charged_and_two_purses_keep_their_promise() {
    run(&["pure-stopping", "two-purses"]);
}

#[test]
fn skellam_paths_have_one_law_in_every_order_and_cost_their_finest_point_up_front() {
    run(&["skellam-law", "skellam-orders", "skellam-loss", "skellam-stopping"]);
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
fn a_bundle_costs_what_the_account_was_charged_and_no_less() {
    run(&["bundle", "bundle-in-all", "bundle-tiers", "histograms"]);
}

#[test]
fn goals_are_met_as_often_as_they_say() {
    run(&["coverage", "sequence"]);
}

#[test]
fn a_comparison_costs_its_rho_and_no_less() {
    run(&["laplace", "comparison"]);
}

/// All that no test above names.
#[test]
fn every_other_audit_passes() {
    let named = include_str!("audits.rs");
    let others: Vec<&str> = eke_lab::audit::all()
        .iter()
        .map(|audit| audit.name)
        .filter(|name| !named.contains(&format!("\"{name}\"")))
        .collect();
    run(&others);
}
