//! Releasing once: points, and one answer per tier.

pub(crate) mod point;
pub(crate) mod points;
pub(crate) mod tiers;
