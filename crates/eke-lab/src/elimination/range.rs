//! How many taxis are inside a square: figure 3.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::{Allowance, Place, Shape, count};

use super::{People, all_asks, figures, price};
use crate::context::Context;
use crate::data::Taxi;
use crate::experiment::{Experiment, Paper, Trials};
use crate::report::Report;
use crate::seeded::Seeded;
use crate::summary::Summary;
use crate::table::Table;

/// How many taxis are inside a square.
pub const RANGE: Experiment = Experiment {
    name: "range",
    paper: Paper::Budgeting,
    figure: "figure 3",
    about: "How many taxis of Beijing are inside a square: how far off counts are, and what stopping early saves.",
    data: &["tdrive_1h_20080202.parquet"],
    time: "10 min",
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

/// A square of a width that has some of the people in it, around a place close to one of them; and how many those are.
pub(super) fn square(
    people: &People,
    width: f64,
    seeded: &mut Seeded,
) -> Result<(Shape, f64), Box<dyn Error>> {
    loop {
        let person = usize::try_from(seeded.below(u32::try_from(people.count())?))?;
        let at = people.lattice.metres(people.row(person));
        let off = [0, 1].map(|_| width * (seeded.unit() - 0.5));
        let sides = [Metres::new(width)?; 2];
        let shape =
            Shape::rectangle(&people.lattice, [at[0] + off[0], at[1] + off[1]], sides, 0.0)?;
        let inside = people.rows().filter(|point| shape.contains(point)).count();
        if inside >= 10 {
            #[expect(clippy::cast_precision_loss, reason = "people")]
            return Ok((shape, inside as f64));
        }
    }
}

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let people = People::of(centre()?, &last(&context.data().beijing()?))?;
    let widths: &[f64] = context.pick(&[2000.0, 5000.0, 10_000.0], &[2000.0, 10_000.0], &[8000.0]);
    let rhos: &[f64] = context.pick(&[1e-8, 1e-7, 1e-6, 1e-5, 1e-4], &[1e-7, 1e-6, 1e-5], &[1e-6]);
    let asks = all_asks()?;
    let mut table = Table::new(
        "taxis in a square: how far off their count is, as a share of it, and what is saved",
        ["width in m", "way", "rho"],
        ["error", "saved"],
    )
    .across("rho");
    let mut panels = Vec::new();
    for &width in widths {
        let mut lines = Vec::new();
        for ask in &asks {
            let mut line = Vec::new();
            for &rho in rhos {
                let allowance = Allowance::Same(price(rho)?);
                // All ways are asked about the same squares.
                let found = context.each_trial(
                    &format!("{width}"),
                    context.trials(),
                    |trial, seeded| {
                        let (shape, truth) = square(&people, width, seeded)?;
                        let mut entropy =
                            context.entropy(&format!("{width} {rho} {}", ask.label), trial);
                        people.ask(|crowd| {
                            let counted =
                                count(crowd, &shape, &allowance, &ask.plan, &mut entropy)?;
                            let error = (counted.estimate - truth).abs() / truth;
                            Ok((error, counted.spending.saved()))
                        })
                    },
                )?;
                let error = Summary::of(found.iter().map(|found| found.0));
                let saved = Summary::of(found.iter().map(|found| found.1));
                table.row(
                    [width.into(), ask.label.into(), rho.into()],
                    [error.into(), saved.into()],
                );
                line.push((rho, [error, saved]));
            }
            lines.push(line);
        }
        panels.push((format!("squares of {width} m"), lines));
    }
    let labels: Vec<&str> = asks.iter().map(|ask| ask.label).collect();
    let title =
        format!("{} taxis in a square; means of {} squares", people.count(), context.trials());
    let [errors, saved] = figures(&title, "error of the count, as a share", &labels, &panels);
    Ok(Report::new(title)
        .with_table(table)
        .with_plot(&errors)
        .with_svg("saved", saved.finish())
        .with_note("The last place of every taxi in the hour. Squares are around places close to a taxi, and have ten taxis or more."))
}
