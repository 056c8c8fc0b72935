//! How many taxis are inside a square: figure 3.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::crowd::Way;
use eke_geo::{Place, Shape, count};
use eke_testkit::Seeded;

use super::{Panels, People, asks, tried};
use crate::frame::context::Context;
use crate::frame::data::Taxi;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;

/// How many taxis are inside a square.
pub(crate) const RANGE: Experiment = Experiment {
    name: "range",
    paper: Paper::Budgeting,
    figure: "figure 3",
    about: "How many taxis of Beijing are inside a square: how far off counts are, and what stopping early saves.",
    data: &["tdrive_1h_20080202.parquet"],
    time: "4 min",
    trials: Trials { full: 300, quick: 30, smoke: 3 },
    run,
};

/// The centre of the city.
pub(super) fn centre() -> Result<Place, Box<dyn Error>> {
    Ok(Place::new(116.4, 39.9)?)
}

/// Where each taxi was last.
pub(super) fn last(taxis: &[Taxi]) -> Vec<Place> {
    taxis.iter().filter_map(|taxi| taxi.fixes.last()).map(|fix| fix.place).collect()
}

/// A square of a width that has some of the people in it, around a place close to one of them; and
/// how many those are.
pub(super) fn square(
    people: &People,
    width: f64,
    seeded: &mut Seeded,
) -> Result<(Shape, f64), Box<dyn Error>> {
    loop {
        let at = people.lattice.metres(people.row(seeded.roll(people.count())));
        let off = [0, 1].map(|_| width * (seeded.unit() - 0.5));
        let sides = [Metres::new(width)?; 2];
        let shape =
            Shape::rectangle(&people.lattice, [at[0] + off[0], at[1] + off[1]], sides, 0.0)?;
        let inside = people.rows().filter(|point| shape.contains(point)).count();
        if inside >= 10 {
            return Ok((shape, inside as f64));
        }
    }
}

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let people = People::of(centre()?, &last(&context.data().beijing()?))?;
    let widths: &[f64] = context.pick(&[2000.0, 5000.0, 10_000.0], &[2000.0, 10_000.0], &[8000.0]);
    let rhos: &[f64] = context.pick(&[1e-8, 1e-7, 1e-6, 1e-5, 1e-4], &[1e-7, 1e-6, 1e-5], &[1e-6]);
    let ways = [("points", asks(Way::Point)?), ("distances", asks(Way::Distance)?)];
    let mut panels = Panels::new(
        "taxis in a square: how far off their count is, as a share of it, and what is saved",
        ["width in m", "way", "rho"],
    );
    for (noisy, asks) in &ways {
        for &width in widths {
            let found = tried(
                context,
                &people,
                (&format!("{width}"), asks, rhos),
                |seeded| square(&people, width, seeded),
                |crowd, (shape, truth), allowance, plan, entropy| {
                    let counted = count(crowd, shape, allowance, plan, entropy)?;
                    Ok(((counted.estimate - truth).abs() / truth, counted.spending.saved()))
                },
            )?;
            let title = format!("{noisy}, squares of {width} m");
            panels.add(title, &[width.into()], asks, &found);
        }
    }
    let title =
        format!("{} taxis in a square; means of {} squares", people.count(), context.trials());
    Ok(panels.report(&title, "error of the count, as a share").with_note("The last place of every taxi in the hour. Squares are around places close to a taxi, and have ten taxis or more."))
}
