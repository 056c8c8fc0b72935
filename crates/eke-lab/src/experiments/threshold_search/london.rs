//! Electricity of London households, day by day.

use super::experiment::SearchPlan;
use super::reported::reported;
use super::stream::Stream;
use crate::frame::experiment::{Experiment, Paper, Trials};

/// Days on which London households use much electricity.
pub(crate) const LONDON: Experiment = Experiment {
    name: "london",
    paper: Paper::Selection,
    figure: "figure 5 and appendix D",
    about: "Days on which London households use much electricity: the same search.",
    data: &["lcl_daily_aggregate.csv.gz"],
    time: "2 min",
    trials: Trials { full: 200, quick: 20, smoke: 3 },
    run: |context| {
        let stream = Stream::london(context.data())?;
        reported(&stream, SearchPlan::london(context.trials()), 0.33, context)
    },
};
