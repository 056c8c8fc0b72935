//! When to stop on a path: goals, looks, boundaries and confidence sequences.

pub(crate) mod average;
pub(crate) mod boundary;
pub(crate) mod follow;
pub(crate) mod gaussian_rule;
pub(crate) mod goal;
pub(crate) mod pure_rule;
pub(crate) mod schedule;
pub mod search;
pub(crate) mod sequence;
pub(crate) mod side;

pub use average::{AverageGoal, AverageLook, AverageOf, AverageRule, Part};
pub use follow::{
    AccountPayer, Answer, Ending, Estimate, Look, Next, NoAnswer, Payer, Rule, Unpaid,
    refine_until, reveal,
};
pub use gaussian_rule::GaussianRule;
pub use goal::{Confidence, Goal, GoalError, Steps, Tolerance, Within};
pub use pure_rule::{GeometricRule, LaplaceRule, PureRule};
pub use schedule::Schedule;
pub use sequence::{ConfidenceSequence, deviations};
pub use side::{Side, SideQuestion, SideStop, which_side};
