//! When to stop on a path: goals, looks, boundaries and confidence sequences.

pub(crate) mod average;
pub(crate) mod boundary;
pub(crate) mod follow;
pub(crate) mod gaussian_rule;
pub(crate) mod goal;
pub(crate) mod pure_rule;
pub(crate) mod schedule;
pub(crate) mod sequence;
