//! The boundaries of goals, worked out again.

use eke_budget::{L2, Rho};
use eke_lab::calibrate::{Boundary, Looks};
use eke_noise::stopping::GaussianRule;
use eke_noise::{Confidence, Goal, Schedule, Tolerance, Within};

/// The boundary that the rule of a goal uses, in the units of the table.
fn boundary(looks: Looks) -> Option<Boundary> {
    let goal = Goal {
        within: Within::Relative(Tolerance::new(looks.tolerance).unwrap()),
        confidence: Confidence::new(looks.confidence).unwrap(),
        floor: None,
        most: "1".parse().unwrap(),
    };
    let schedule = Schedule::<Rho>::geometric("1e-9".parse().unwrap(), looks.ratio).unwrap();
    let (k, b) = GaussianRule::new(goal, schedule, L2::new(1.0).unwrap()).boundary()?;
    assert!((b / looks.tolerance.powi(2) - 1.0).abs() < 1e-12);
    Some(Boundary { kappa: k * looks.tolerance / looks.quantile() })
}

/// Goals and spacings that are in no row: the neighbours' constants cover, also where a highest
/// price ends the looks; and 3 % less than them would not.
#[test]
fn boundaries_cover_between_the_rows_of_the_table() {
    for (tolerance, confidence, ratio) in [
        (0.004, 0.95, 1.1),
        (0.013, 0.92, 1.3),
        (0.03, 0.97, 1.1),
        (0.04, 0.85, 1.2),
        (0.07, 0.95, 1.3),
        (0.07, 0.994, 2.0),
        (0.1, 0.95, 1.7),
        (0.12, 0.9, 1.15),
        (0.15, 0.95, 1.3),
        (0.01, 0.95, 3.0),
        (0.025, 0.83, 1.6),
        (0.06, 0.88, 1.45),
        (0.015, 0.98, 1.25),
        (0.035, 0.995, 1.15),
        (0.08, 0.93, 1.9),
        (0.018, 0.81, 1.12),
        (0.011, 0.86, 1.07),
    ] {
        let looks = Looks { tolerance, confidence, ratio };
        let boundary = boundary(looks).unwrap();
        let found = looks.performance(boundary);
        assert!(found.coverage >= confidence, "{looks:?} {boundary:?} {found:?}");
        let end = looks.coverage_at_the_end(boundary);
        assert!(end >= confidence, "{looks:?} {boundary:?} {end}");
    }
    // The rows themselves, where eight phases missed the worst: 94.83 % within 1 %, with the 1.005
    // of then.
    for (tolerance, eight_phases) in [(0.003, 1.005), (0.005, 1.005), (0.01, 1.005), (0.02, 1.010)]
    {
        let looks = Looks { tolerance, confidence: 0.95, ratio: 1.05 };
        let boundary = boundary(looks).unwrap();
        let found = looks.coverage(boundary);
        assert!(found >= 0.95 && boundary.kappa < 1.03, "{looks:?} {boundary:?} {found}");
        let before = looks.coverage(Boundary { kappa: eight_phases });
        assert!(before < 0.95, "the control passes: {looks:?} {before}");
    }
    let looks = Looks { tolerance: 0.05, confidence: 0.95, ratio: 1.05 };
    let lower = Boundary { kappa: boundary(looks).unwrap().kappa * 0.97 };
    assert!(looks.performance(lower).coverage < 0.95, "the control passes");
}

/// Where a path is looked at for the first time does not matter, as long as its own noise does not
/// decide it: what is released from there on is within the tolerance as often. The control has a
/// boundary that is 5 % lower.
#[test]
fn boundaries_hold_wherever_the_first_look_is() {
    for (tolerance, confidence) in [
        (0.2, 0.95),
        (0.2, 0.99),
        (0.1, 0.95),
        (0.1, 0.8),
        (0.05, 0.95),
        (0.05, 0.999),
        (0.01, 0.9),
    ] {
        let looks = Looks { tolerance, confidence, ratio: 1.05 };
        let boundary = boundary(looks).unwrap();
        let found = looks.coverage_from_a_later_look(boundary);
        assert!(found >= confidence, "{looks:?} {boundary:?} {found}");
        let lower = Boundary { kappa: boundary.kappa * 0.95 };
        let control = looks.coverage_from_a_later_look(lower);
        assert!(control < confidence, "the control passes: {looks:?} {control}");
    }
}

/// Rows that are quick to compute, computed again.
#[test]
fn the_table_is_what_the_program_works_out() {
    for (tolerance, confidence, ratio) in
        [(0.01, 0.95, 1.1), (0.05, 0.95, 1.3), (0.1, 0.99, 2.0), (0.02, 0.8, 2.0)]
    {
        let looks = Looks { tolerance, confidence, ratio };
        let (worked_out, used) = (looks.calibrate(), boundary(looks).unwrap());
        assert!((worked_out.kappa - used.kappa).abs() < 1e-9, "{looks:?} {worked_out:?} {used:?}");
    }
    for (tolerance, confidence, ratio) in
        [(0.3, 0.95, 1.1), (0.05, 0.9999, 1.1), (0.05, 0.95, 1.01)]
    {
        assert!(boundary(Looks { tolerance, confidence, ratio }).is_none());
    }
}
