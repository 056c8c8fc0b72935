//! The images that are nearest to one: figure 5.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::crowd::Way;
use eke_geo::earth::distance;
use eke_geo::{Lattice, neighbours};

use super::{Ask, Panels, People, asks, tried};
use crate::frame::context::Context;
use crate::frame::data::PIXELS;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;

/// The images that are nearest to one.
pub(crate) const NEIGHBOURS: Experiment = Experiment {
    name: "neighbours",
    paper: Paper::Budgeting,
    figure: "figure 5",
    about: "The images of digits that are nearest to one: how much further away those found are, and what stopping early saves.",
    data: &["mnist_train.parquet", "mnist_test.parquet"],
    time: "8 min",
    trials: Trials { full: 30, quick: 4, smoke: 2 },
    run,
};

/// What is asked of whom.
struct Part {
    title: &'static str,
    people: People,
    asks: Vec<Ask>,
}

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let (images, tests) = (context.data().digits()?, context.data().test_digits()?);
    let lattice = Lattice::boxed(PIXELS, Metres::new(255.0)?, Metres::ONE)?;
    let put =
        |pixels: &[u8]| lattice.put(&pixels.iter().map(|&grey| grey.into()).collect::<Vec<f64>>());
    let first = |count: usize| {
        let points = images.iter().take(count).flat_map(|image| put(image)).collect();
        People::new(lattice, points)
    };
    // Points of 784 numbers are drawn for fewer people and in fewer rounds: there are a thousand
    // times as many of them.
    let few = asks(Way::Point)?.into_iter().filter(|ask| !ask.label.contains("c64")).collect();
    let parts = [
        Part {
            title: "distances",
            people: first(context.pick(60_000, 20_000, 200)),
            asks: asks(Way::Distance)?,
        },
        Part { title: "points", people: first(context.pick(1000, 500, 50)), asks: few },
    ];
    let ks: &[usize] = context.pick(&[1, 10, 100], &[10], &[5]);
    let rhos: &[f64] = context.pick(&[1e-5, 1e-4, 1e-3, 1e-2], &[1e-4, 1e-3], &[1e-3]);
    let mut panels = Panels::new(
        "nearest images: how much further away those found are, as a share, and what is saved",
        ["images", "k", "way", "rho"],
    );
    for Part { title, people, asks } in &parts {
        for &k in ks {
            let found = tried(
                context,
                people,
                (&format!("{title} {k}"), asks, rhos),
                |seeded| {
                    let to = put(&tests[seeded.roll(tests.len())]);
                    let away: Vec<i64> = people.rows().map(|point| distance(point, &to)).collect();
                    let mut sorted = away.clone();
                    sorted.sort_unstable();
                    Ok((to, away, sorted[..k].iter().sum::<i64>()))
                },
                |crowd, (to, away, best), allowance, plan, entropy| {
                    let found = neighbours(crowd, to, k, allowance, plan, entropy)?;
                    let sum: i64 = found.people.iter().map(|&person| away[person as usize]).sum();
                    let error = (sum - best) as f64 / *best as f64;
                    Ok((error, found.spending.saved()))
                },
            )?;
            let title = format!("{title} of {}, k = {k}", people.count());
            panels.add(title, &[people.count().into(), k.into()], asks, &found);
        }
    }
    let title = format!("nearest images of digits; means of {} images", context.trials());
    Ok(panels.report(&title, "how much further away, as a share").with_note("A metre is one step of grey of one pixel. Points are asked of fewer images, and not in 64 rounds."))
}
