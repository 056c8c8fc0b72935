//! How dense collisions are around a point: figure 4.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::crowd::Way;
use eke_geo::earth::distance;
use eke_geo::{Place, density};
use eke_testkit::Seeded;

use super::{Panels, People, asks, tried};
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;

/// How dense collisions are around a point.
pub(crate) const DENSITY: Experiment = Experiment {
    name: "density",
    paper: Paper::Budgeting,
    figure: "figure 4",
    about: "How dense collisions in New York are around a point: how far off densities are, and what stopping early saves.",
    data: &["nyc_collisions_sample.parquet"],
    time: "3 min",
    trials: Trials { full: 100, quick: 10, smoke: 3 },
    run,
};

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let people = People::of(Place::new(-73.95, 40.7)?, &context.data().collisions()?)?;
    let bandwidths: &[f64] = context.pick(&[200.0, 500.0, 2000.0], &[500.0, 2000.0], &[1000.0]);
    let rhos: &[f64] = context.pick(&[1e-7, 1e-6, 1e-5, 1e-4], &[1e-6, 1e-5, 1e-4], &[1e-5]);
    let ways = [("points", asks(Way::Point)?), ("distances", asks(Way::Distance)?)];
    let mut panels = Panels::new(
        "density around a point: how far off it is, and what is saved",
        ["bandwidth in m", "way", "rho"],
    );
    for (noisy, asks) in &ways {
        for &bandwidth in bandwidths {
            let reach = Metres::new(bandwidth)?;
            let found = tried(
                context,
                &people,
                (&format!("{bandwidth}"), asks, rhos),
                |seeded| Ok(asked_about(&people, bandwidth, seeded)),
                |crowd, (at, truth), allowance, plan, entropy| {
                    let found = density(crowd, at, reach, allowance, plan, entropy)?;
                    Ok(((found.estimate - truth).abs(), found.spending.saved()))
                },
            )?;
            let title = format!("{noisy}, bandwidth {bandwidth} m");
            panels.add(title, &[bandwidth.into()], asks, &found);
        }
    }
    let title =
        format!("density of {} collisions; means of {} points", people.count(), context.trials());
    Ok(panels.report(&title, "error of the density").with_note("Points are within 500 m of a collision, to either side. The paper has 200,000 collisions; here are those of a sample."))
}

/// A point close to a collision, and how dense they are there.
fn asked_about(people: &People, bandwidth: f64, seeded: &mut Seeded) -> (Vec<i64>, f64) {
    let at = people.lattice.metres(people.row(seeded.roll(people.count())));
    let off = [0, 1].map(|axis: usize| at[axis] + 1000.0 * (seeded.unit() - 0.5));
    let at = people.lattice.put(&off);
    let kernel = |point: &[i64]| {
        let away = people.lattice.grid().length(distance(point, &at)) / bandwidth;
        (-away * away / 2.0).exp()
    };
    let truth = people.rows().map(kernel).sum::<f64>() / people.count() as f64;
    (at, truth)
}
