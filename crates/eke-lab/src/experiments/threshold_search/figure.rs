//! The figure of an experiment: a column a line; above, what the paper's noise costs, and below,
//! the best within budgets.
//!
//! Colours are those of Okabe and Ito, which people who see fewer colours can tell apart; lines
//! also differ by dashes and marks.

use super::accounting::Accounting;
use super::experiment::{AtThreshold, Best, Results, Spread};
use eke_plot::svg::{Align, Mark, Panel, Stroke, Svg};

/// The figure, as an SVG file.
pub(crate) fn figure(results: &Results) -> String {
    let columns = results.thresholds.len().max(2) as f64;
    let width = LEFT + columns * (WIDTH + GAP);
    let mut svg = Svg::new(width, TOP + 2.0 * HEIGHT + BETWEEN + 182.0);
    let title = format!(
        "{}: {} days, {} people; means of {} searches",
        results.stream, results.days, results.people, results.runs
    );
    svg.text((LEFT, 26.0), 16.0, Align::Start, &title);
    let lower = TOP + HEIGHT + BETWEEN;
    let (within, all) = (costs(results), spans(results));
    let mut left = LEFT;
    for line in &results.thresholds {
        let name = format!("line at {}: {} days above", line.threshold, line.above);
        svg.text((left + WIDTH / 2.0, TOP - 12.0), 13.0, Align::Middle, &name);
        let upper = Panel { corner: (left, TOP), size: (WIDTH, HEIGHT), x: all.0, y: all.1 };
        upper.axes(&mut svg, &ticks(all.0), &tenths(all.1));
        title_below(&mut svg, &upper, "epsilon of all days, with the paper's noise");
        spreads(&mut svg, &upper, line);
        let x = (results.budgets[0], results.budgets[results.budgets.len() - 1]);
        let panel = Panel { corner: (left, lower), size: (WIDTH, HEIGHT), x, y: within };
        panel.axes(&mut svg, &ticks(x), &tenths(within));
        title_below(&mut svg, &panel, "budget of epsilon");
        for accounting in Accounting::ALL {
            curve(&mut svg, &panel, line, accounting);
        }
        left += WIDTH + GAP;
    }
    svg.upright((20.0, TOP + HEIGHT / 2.0), 12.0, "F1, all days answered");
    svg.upright((20.0, lower + HEIGHT / 2.0), 12.0, "best F1 within the budget");
    legend(&mut svg, lower + HEIGHT + 66.0, results.delta);
    svg.finish()
}

const LEFT: f64 = 62.0;
const TOP: f64 = 64.0;
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 250.0;
const GAP: f64 = 44.0;
const BETWEEN: f64 = 60.0;

struct Look {
    stroke: Stroke,
    mark: Mark,
    /// Whether the middle 80 % are shaded.
    shaded: bool,
}

fn look(accounting: Accounting) -> Look {
    let (colour, dashes, mark, shaded) = match accounting {
        Accounting::ExPost => ("#009e73", "", Mark::Disc, true),
        Accounting::OneWay => ("#56b4e9", "", Mark::Square, false),
        Accounting::Narrow => ("#0072b2", "", Mark::Diamond, true),
        Accounting::Laplace => ("#cc79a7", "", Mark::Triangle, false),
        Accounting::Whole => ("#e69f00", "7 3", Mark::Square, false),
        Accounting::Split => ("#d55e00", "7 3", Mark::Triangle, true),
        Accounting::Moments => ("#777777", "7 3", Mark::Diamond, false),
        Accounting::Every => ("#000000", "2 3", Mark::Disc, false),
    };
    Look { stroke: Stroke { colour, width: 2.0, dashes }, mark, shaded }
}

fn title_below(svg: &mut Svg, panel: &Panel, title: &str) {
    let ((left, top), (width, height)) = (panel.corner, panel.size);
    svg.text((left + width / 2.0, top + height + 34.0), 12.0, Align::Middle, title);
}

fn spreads(svg: &mut Svg, panel: &Panel, line: &AtThreshold) {
    for Spread { accounting, epsilon, f1, .. } in &line.spreads {
        let Look { stroke, mark, .. } = look(*accounting);
        let thin = Stroke { width: 1.0, dashes: "", ..stroke };
        let bar = |svg: &mut Svg, from: (f64, f64), to: (f64, f64)| {
            svg.line(&[panel.at(from.0, from.1), panel.at(to.0, to.1)], thin);
        };
        bar(svg, (epsilon.low, f1.mean()), (epsilon.high, f1.mean()));
        bar(svg, (epsilon.mean(), f1.low), (epsilon.mean(), f1.high));
        svg.mark(mark, panel.at(epsilon.mean(), f1.mean()), stroke.colour);
    }
}

fn curve(svg: &mut Svg, panel: &Panel, line: &AtThreshold, accounting: Accounting) {
    let Look { stroke, mark, shaded } = look(accounting);
    let best: Vec<&Best> = line.best.iter().filter(|best| best.accounting == accounting).collect();
    if shaded {
        let low = best.iter().map(|best| panel.at(best.budget, best.f1.low));
        let high = best.iter().rev().map(|best| panel.at(best.budget, best.f1.high));
        svg.area(&low.chain(high).collect::<Vec<_>>(), stroke.colour);
    }
    let points: Vec<_> = best.iter().map(|best| panel.at(best.budget, best.f1.mean())).collect();
    svg.line(&points, stroke);
    // A mark at every budget that is a power of two.
    for &point in points.iter().step_by(2) {
        svg.mark(mark, point, stroke.colour);
    }
}

fn legend(svg: &mut Svg, top: f64, delta: f64) {
    let half = Accounting::ALL.len() / 2;
    for (index, accounting) in Accounting::ALL.into_iter().enumerate() {
        let Look { stroke, mark, .. } = look(accounting);
        let (column, row) = (index / half, index % half);
        let (x, y) = (LEFT + column as f64 * 340.0, top + row as f64 * 22.0);
        svg.line(&[(x, y), (x + 36.0, y)], stroke);
        svg.mark(mark, (x + 18.0, y), stroke.colour);
        let promise =
            if accounting.is_pure() { "δ = 0".to_owned() } else { format!("δ = {delta:.1e}") };
        let label = format!("{} ({promise})", accounting.label());
        svg.text((x + 44.0, y + 4.0), 12.0, Align::Start, &label);
    }
    let below = top + half as f64 * 22.0 + 8.0;
    let note = "Bars and shades are the middle 80 % of searches; not all lines are shaded.";
    svg.text((LEFT, below), 11.0, Align::Start, note);
}

/// What the lower panels span upwards.
fn costs(results: &Results) -> (f64, f64) {
    let best = results.thresholds.iter().flat_map(|line| &line.best);
    (floor(best.map(|best| best.f1.mean())), 1.0)
}

/// What the upper panels span across and upwards.
fn spans(results: &Results) -> ((f64, f64), (f64, f64)) {
    let all = || results.thresholds.iter().flat_map(|line| &line.spreads);
    let low = all().map(|spread| spread.epsilon.low).fold(1.0, f64::min);
    let high = all().map(|spread| spread.epsilon.high).fold(1.0, f64::max);
    let x = (2f64.powf(low.log2().floor()), 2f64.powf(high.log2().ceil()));
    let top = all().map(|spread| spread.f1.high).fold(0.0, f64::max);
    let top = ((top * 10.0).ceil() / 10.0).min(1.0);
    let bottom = floor(all().map(|spread| spread.f1.low));
    (x, (bottom, if top > bottom { top } else { bottom + 0.1 }))
}

fn floor(values: impl Iterator<Item = f64>) -> f64 {
    (values.fold(0.9, f64::min) * 10.0).floor() / 10.0
}

/// Powers of two.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    (-10..12).map(|k| 2f64.powi(k)).filter(|&tick| tick >= low && tick <= high).collect()
}

fn tenths((low, high): (f64, f64)) -> Vec<f64> {
    let inside = |tick: &f64| *tick >= low - 1e-9 && *tick <= high + 1e-9;
    (0..=10).map(|k| f64::from(k) / 10.0).filter(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::threshold_search::BIKES;
    use crate::experiments::threshold_search::experiment::{SearchPlan, run};
    use crate::experiments::threshold_search::stream::made_up;
    use crate::frame::context::Context;
    use crate::frame::experiment::Size;
    use eke_testkit::well_formed;

    #[test]
    fn a_figure_is_well_formed_and_names_every_accounting() {
        let plan = SearchPlan {
            thresholds: vec![0.5, 0.6],
            printed: vec![0.1],
            wide: vec![0.05],
            budgets: vec![0.5, 1.0, 2.0],
            runs: 4,
            seed: 1,
        };
        let context = Context::new(&BIKES, Size::Smoke);
        let results = run(&made_up(), &plan, &context).unwrap();
        let svg = figure(&results);
        assert_eq!(well_formed(&svg), Ok(()));
        for accounting in Accounting::ALL {
            assert!(svg.contains(accounting.label()), "{accounting:?}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
