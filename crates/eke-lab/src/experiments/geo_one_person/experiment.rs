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
    let by_price: Vec<_> = prices.iter().map(|&price| (price, price, PLACES)).collect();
    let by_places: Vec<_> = places.iter().map(|&places| (places as f64, PRICE, places)).collect();
    let title = format!(
        "{}; means of {} trials",
        if is_nearest { "nearest places of taxis" } else { "hulls of places of taxis" },
        context.trials()
    );
    let mut report = Report::new(&title);
    for (suffix, key, about, points) in [
        ("", "rho per square metre", format!("by price, {PLACES} places"), by_price),
        ("places", "places", format!("by places, rho {PRICE:e} per square metre"), by_places),
    ] {
        let table = match is_nearest {
            true => Table::new(about, ["nearest", "way", key], [measure, "metres further"]),
            false => Table::new(about, ["way", key], [measure]),
        };
        let mut table = table.across(key);
        let mut panels = Vec::new();
        for &count in counts {
            let mut lines = Vec::new();
            for way in Way::ALL {
                let mut line = Vec::new();
                for &(at, rho, places) in &points {
                    let found = tried(context, &traces, way, count, (rho, places))?;
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
        let plot = Plot {
            title: title.clone(),
            across: key.to_owned(),
            upwards: measure.to_owned(),
            scales: (Scale::Logarithmic, upwards),
            columns: 3,
            lines: Way::ALL.iter().map(|way| way.label().to_owned()).collect(),
            panels,
        };
        report = report.with_table(table).with_svg(suffix, plot.finish());
    }
    Ok(report)
}

/// One point of a line: every trial has a taxi, some of its places and a point of its own, the same
/// for all ways.
fn tried(
    context: &Context,
    traces: &Traces,
    way: Way,
    count: usize,
    (rho, places): (f64, usize),
) -> Result<Vec<Summary>, Box<dyn Error>> {
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
