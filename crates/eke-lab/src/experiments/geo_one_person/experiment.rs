//! What both experiments do: over prices, and over how many places there are.

use std::error::Error;

use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use super::trace::Traces;
use super::way::Way;
use crate::frame::context::Context;
use crate::frame::experiment::Size;
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::{Table, TableKey};

/// Where everything is tried that is not varied.
const PRICE: f64 = 5e-5;
const PLACES: usize = 20_000;

/// What is varied.
#[derive(Clone, Copy)]
enum Varied {
    Price(f64),
    Places(usize),
}

pub(super) fn reported(context: &Context, is_nearest: bool) -> Result<Report, Box<dyn Error>> {
    let traces = Traces::new(context)?;
    let prices: &[f64] = context.pick(
        &[5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4],
        &[1e-5, 5e-5, 5e-4],
        &[5e-5, 5e-4],
    );
    let places: &[usize] =
        context.pick(&[1000, 2000, 5000, 10_000, 20_000], &[2000, 20_000], &[50, 200]);
    let counts: &[usize] = match (is_nearest, context.size()) {
        (false, _) => &[0],
        (true, Size::Full) => &[1, 10, 100],
        (true, Size::Quick) => &[1, 10],
        (true, Size::Smoke) => &[5],
    };
    let measure = if is_nearest { "times the nearest" } else { "Jaccard index" };
    let table = |title: String, key: &'static str| {
        let table = match is_nearest {
            true => Table::new(title, ["nearest", "way", key], [measure, "metres further"]),
            false => Table::new(title, ["way", key], [measure]),
        };
        table.across(key)
    };
    let mut by_price = table(format!("by price, {PLACES} places"), "rho per square metre");
    let title = format!("by places, rho {PRICE:e} per square metre");
    let mut by_places = table(title, "places");
    let mut plots = Vec::new();
    for is_by_price in [true, false] {
        let mut panels = Vec::new();
        for &count in counts {
            let mut lines = Vec::new();
            for way in Way::ALL {
                let mut line = Vec::new();
                let points: Vec<Varied> = if is_by_price {
                    prices.iter().map(|&price| Varied::Price(price)).collect()
                } else {
                    places.iter().map(|&places| Varied::Places(places)).collect()
                };
                for varied in points {
                    let found = tried(context, &traces, way, count, varied)?;
                    let (at, table) = match varied {
                        Varied::Price(price) => (price, &mut by_price),
                        Varied::Places(places) => {
                            (f64::from(u32::try_from(places)?), &mut by_places)
                        }
                    };
                    line.push((at, found[0].mean));
                    let [label, at] = [TableKey::from(way.label()), at.into()];
                    match found[..] {
                        [ratio, further] => {
                            table.row([count.into(), label, at], [ratio.into(), further.into()]);
                        }
                        _ => table.row([label, at], [found[0].into()]),
                    }
                }
                lines.push(line);
            }
            let title = if is_nearest { format!("{count} nearest") } else { "hull".to_owned() };
            panels.push(Lines { title, lines });
        }
        let upwards = if is_nearest { Scale::Logarithmic } else { Scale::Linear };
        plots.push(Plot {
            title: format!(
                "{}; means of {} trials",
                if is_nearest { "nearest places of taxis" } else { "hulls of places of taxis" },
                context.trials()
            ),
            across: if is_by_price { "rho per square metre" } else { "places" }.to_owned(),
            upwards: measure.to_owned(),
            scales: (Scale::Logarithmic, upwards),
            columns: 3,
            lines: Way::ALL.iter().map(|way| way.label().to_owned()).collect(),
            panels,
        });
    }
    let report = Report::new(plots[0].title.clone()).with_table(by_price).with_table(by_places);
    Ok(report.with_svg("", plots[0].finish()).with_svg("places", plots[1].finish()))
}

/// One point of a line: every trial has a taxi, some of its places and a point of its own, the same
/// for all ways.
fn tried(
    context: &Context,
    traces: &Traces,
    way: Way,
    count: usize,
    varied: Varied,
) -> Result<Vec<Summary>, Box<dyn Error>> {
    let (rho, places) = match varied {
        Varied::Price(price) => (price, PLACES),
        Varied::Places(places) => (PRICE, places),
    };
    let point = format!("{} {count} {rho} {places}", way.label());
    let found = context.each_trial(&point, context.trials(), |trial, seeded| {
        let mut same: Seeded = context.entropy("tuples", trial);
        let tuple = traces.tuple(places, &mut same);
        if count == 0 {
            return Ok(vec![way.shared(traces.lattice, &tuple, rho, seeded)?]);
        }
        let to = traces.on_the_way(&mut same);
        Ok(way.ratio(traces.lattice, &tuple, to, (count, rho), seeded)?.to_vec())
    })?;
    let measures = found.first().map_or(0, Vec::len);
    let measured = |measure: usize| Summary::of(found.iter().map(|trial| trial[measure]));
    Ok((0..measures).map(measured).collect())
}
