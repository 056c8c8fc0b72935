//! When to stop on a Laplace path.

use eke_budget::{Amount, Epsilon, L1};

use crate::stopping::error_spending::{Spending, Tail};
use crate::stopping::follow::{Ending, Estimate, Look, Next, Rule};
use crate::stopping::goal::Goal;
use crate::stopping::schedule::Schedule;

/// When to stop on a Laplace path: every look has an interval of its own, and the error is spent over
/// them, `6 alpha/(pi² k²)` for the k-th.
///
/// - Theorem: spending (docs/theorems.md)
/// - Proves: with the confidence, the truth is in the intervals of all looks at once
/// - Assumes: noise at a look has its law, whenever the look is (path)
/// - Deviates: half-widths are rounded up to whole numbers
/// - Checked by: `laplace_goals_hold_for_every_truth`, `half_widths_are_the_least_that_hold`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaplaceRule(Spending);

impl LaplaceRule {
    /// The rule of a goal, for a truth of this sensitivity in steps.
    #[must_use]
    pub fn new(goal: Goal<Epsilon>, schedule: Schedule<Epsilon>, sensitivity: L1) -> Self {
        Self(Spending::new(goal, schedule, sensitivity, Tail::Laplace))
    }
}

impl Rule for LaplaceRule {
    type Currency = Epsilon;

    fn first(&self) -> Amount<Epsilon> {
        self.0.first()
    }

    fn after(&self, look: Look<Epsilon>) -> Next<Epsilon> {
        self.0.after(look)
    }

    fn end(&self, look: Look<Epsilon>, ending: Ending) -> Estimate {
        self.0.end(look, ending)
    }
}
