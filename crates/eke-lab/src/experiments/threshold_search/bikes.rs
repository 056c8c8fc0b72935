//! Bikes rented in a city, day by day.

use super::experiment::SearchPlan;
use super::reported::reported;
use super::stream::Stream;
use crate::frame::experiment::{Experiment, Paper, Trials};

/// Days on which many bikes are rented.
pub(crate) const BIKES: Experiment = Experiment {
    name: "bikes",
    paper: Paper::Selection,
    figure: "figures 4 and 17",
    about: "Days on which many bikes are rented: F1 of a search, against what it costs.",
    data: &["bike_day.csv.gz"],
    time: "2 min",
    trials: Trials { full: 200, quick: 20, smoke: 3 },
    run: |context| {
        let stream = Stream::bikes(context.data())?;
        reported(&stream, SearchPlan::bikes(context.trials()), 0.575, context)
    },
};
