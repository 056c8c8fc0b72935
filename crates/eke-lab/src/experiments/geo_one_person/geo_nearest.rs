//! The nearest of one person's places, over prices and over how many places there are.

use super::experiment::reported;
use crate::frame::experiment::{Experiment, Paper, Trials};

/// The nearest of one person's places.
pub(crate) const NEAREST: Experiment = Experiment {
    name: "geo-nearest",
    paper: Paper::Concentrated,
    figure: "figures 3 and 4",
    about: "The nearest of one person's places to a point: how much further away the released places are than the nearest.",
    data: &["cabspotting_part1.parquet"],
    time: "1 min",
    trials: Trials { full: 200, quick: 20, smoke: 3 },
    run: |context| reported(context, true),
};
