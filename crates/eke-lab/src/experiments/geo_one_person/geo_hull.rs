//! The hull of one person's places, over prices and over how many places there are.

use super::experiment::reported;
use crate::frame::experiment::{Experiment, Paper, Trials};

/// The hull of one person's places.
pub(crate) const HULL: Experiment = Experiment {
    name: "geo-hull",
    paper: Paper::Concentrated,
    figure: "figure 5",
    about: "The convex hull of one person's places: what the released one shares with the true one.",
    data: &["cabspotting_part1.parquet"],
    time: "1 min",
    trials: Trials { full: 200, quick: 20, smoke: 3 },
    run: |context| reported(context, false),
};
