//! Releasing once: histograms, points, one answer per tier, many people's rows.

pub(crate) mod histograms;
pub(crate) mod point;
pub(crate) mod points;
pub(crate) mod rows;
pub(crate) mod tiers;

pub use histograms::{
    HistogramPrice, HistogramRelease, Histograms, OneCellEach, release_histograms,
};
pub use point::{PointRelease, release_point};
pub use points::{Lengths, Points, PointsRelease, release_points};
pub use rows::{RowBound, RowError, RowNoise, Rows, release_rows};
pub use tiers::{Colluders, Loss, Tier, TierError, TierLaw, TierPlan, Tiers, release_tiers};
