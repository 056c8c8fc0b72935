//! Releasing once: points, and one answer per tier.

pub(crate) mod point;
pub(crate) mod points;
pub(crate) mod tiers;

pub use point::{PointRelease, release_point};
pub use points::{Lengths, Points, PointsRelease, release_points};
pub use tiers::{Colluders, Loss, Tier, TierError, TierLaw, TierPlan, Tiers, release_tiers};
