//! When to stop on a path: goals, looks, boundaries and confidence sequences.

pub(crate) mod average;
pub(crate) mod boundary;
pub(crate) mod error_spending;
pub(crate) mod follow;
pub(crate) mod gaussian_rule;
pub(crate) mod geometric_rule;
pub(crate) mod goal;
pub(crate) mod laplace_rule;
pub(crate) mod schedule;
pub(crate) mod sequence;
