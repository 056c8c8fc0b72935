//! The figure of the experiment: above, how far off the finest of m evenly spaced tiers is, lines
//! computed and marks drawn; below, how much worse than alone the worst of m random ones fares.
//!
//! Colours are those of Okabe and Ito, which people who see fewer colours can tell apart; lines
//! also differ by dashes and marks.

use super::experiment::{OnGrid, OnLists, Results};
use super::way::Way;
use eke_plot::svg::{Align, Mark, Stroke, Svg};

/// The figure, as an SVG file.
pub(crate) fn figure(results: &Results) -> String {
    let columns = results.grids.len().max(results.random.len()).max(2) as f64;
    let lower = TOP + HEIGHT + BETWEEN;
    let mut svg = Svg::new(LEFT + columns * (WIDTH + GAP), lower + HEIGHT + 150.0);
    let title = format!(
        "A count in tiers: errors worked out (lines) and of {} draws (marks above); {} random lists",
        results.runs, results.lists
    );
    svg.text((LEFT, 26.0), 16.0, Align::Start, &title);
    let count = results.grids.iter().flat_map(|grid| &grid.points).map(|point| point.tiers).max();
    let mut left = LEFT;
    for OnGrid { spacing, points } in &results.grids {
        let y = around(points.iter().map(|point| point.exact));
        let frame = Frame { corner: (left, TOP), count: count.unwrap_or(1), y };
        frame.axes(&mut svg, &format!("tiers {spacing} apart"), "tiers; the finest is shown");
        for way in Way::ALL {
            let own = || points.iter().filter(move |point| point.way == way);
            frame.line(&mut svg, way, own().map(|point| (point.tiers, point.exact)));
            // Means of a few draws that were off say little.
            let drawn = own().filter(|point| point.drawn.error < 0.2 * point.drawn.mean);
            frame.marks(&mut svg, way, drawn.map(|point| (point.tiers, point.drawn.mean)));
        }
        left += WIDTH + GAP;
    }
    let mut left = LEFT;
    for OnLists { lists, ratios } in &results.random {
        let frame = Frame {
            corner: (left, lower),
            count: count.unwrap_or(1),
            y: around(ratios.iter().map(|ratio| ratio.ratio.mean)),
        };
        frame.axes(&mut svg, lists, "tiers; the worst is shown");
        for way in Way::ALL {
            let own = ratios.iter().filter(|ratio| ratio.way == way);
            let points: Vec<_> = own.map(|ratio| (ratio.tiers, ratio.ratio.mean)).collect();
            frame.line(&mut svg, way, points.iter().copied());
            frame.marks(&mut svg, way, points.into_iter());
        }
        left += WIDTH + GAP;
    }
    svg.upright((18.0, TOP + HEIGHT / 2.0), 12.0, "mean squared error");
    svg.upright((18.0, lower + HEIGHT / 2.0), 12.0, "error over that of a single tier");
    legend(&mut svg, lower + HEIGHT + 68.0, results.delta);
    svg.finish()
}

const LEFT: f64 = 74.0;
const TOP: f64 = 66.0;
const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 230.0;
const GAP: f64 = 52.0;
const BETWEEN: f64 = 84.0;

/// A part of the picture: numbers of tiers from left to right, errors upwards by their logarithm.
struct Frame {
    corner: (f64, f64),
    count: usize,
    y: (f64, f64),
}

impl Frame {
    const AXIS: Stroke = Stroke { colour: "#222222", width: 1.0, dashes: "" };
    const GRID: Stroke = Stroke { colour: "#dddddd", width: 1.0, dashes: "" };

    fn at(&self, tiers: usize, value: f64) -> (f64, f64) {
        let across = (tiers.max(1) - 1) as f64 / (self.count.max(2) - 1) as f64;
        let up = (value / self.y.0).ln() / (self.y.1 / self.y.0).ln();
        let (left, top) = self.corner;
        (left + across * WIDTH, top + (1.0 - up.clamp(0.0, 1.0)) * HEIGHT)
    }

    fn axes(&self, svg: &mut Svg, title: &str, below: &str) {
        let (left, top) = self.corner;
        svg.text((left + WIDTH / 2.0, top - 12.0), 13.0, Align::Middle, title);
        svg.text((left + WIDTH / 2.0, top + HEIGHT + 34.0), 12.0, Align::Middle, below);
        for tiers in [1, 5, 10, 15, 20].into_iter().filter(|&tiers| tiers <= self.count) {
            let (bottom, top) = (self.at(tiers, self.y.0), self.at(tiers, self.y.1));
            svg.line(&[bottom, top], Self::GRID);
            svg.text((bottom.0, bottom.1 + 16.0), 11.0, Align::Middle, &tiers.to_string());
        }
        for tick in ticks(self.y) {
            let (left, right) = (self.at(1, tick), self.at(self.count, tick));
            svg.line(&[left, right], Self::GRID);
            let label = if tick < 0.001 { format!("{tick:e}") } else { tick.to_string() };
            svg.text((left.0 - 6.0, left.1 + 4.0), 11.0, Align::End, &label);
        }
        let corners = [(1, self.y.1), (1, self.y.0), (self.count, self.y.0)];
        svg.line(&corners.map(|(tiers, value)| self.at(tiers, value)), Self::AXIS);
    }

    fn line(&self, svg: &mut Svg, way: Way, points: impl Iterator<Item = (usize, f64)>) {
        let points: Vec<_> = points.map(|(tiers, value)| self.at(tiers, value)).collect();
        if points.len() > 1 {
            svg.line(&points, look(way).0);
        }
    }

    /// Marks of lines that lie on each other take turns.
    fn marks(&self, svg: &mut Svg, way: Way, points: impl Iterator<Item = (usize, f64)>) {
        let (stroke, mark) = look(way);
        let turn = Way::ALL.iter().position(|&other| other == way).unwrap_or(0) % 4;
        for (tiers, value) in points.filter(|(tiers, _)| tiers % 4 == turn) {
            svg.mark(mark, self.at(tiers, value), stroke.colour);
        }
    }
}

fn look(way: Way) -> (Stroke, Mark) {
    let (colour, dashes, mark, width) = match way {
        Way::Single => ("#777777", "2 3", Mark::Square, 4.0),
        Way::Geometric => ("#009e73", "", Mark::Disc, 2.0),
        Way::Laplace => ("#cc79a7", "", Mark::Diamond, 2.0),
        Way::Gaussian => ("#0072b2", "", Mark::Triangle, 2.0),
        Way::Skellam => ("#e69f00", "2 3", Mark::Diamond, 3.0),
        Way::Gradual => ("#d55e00", "7 3", Mark::Square, 2.0),
    };
    (Stroke { colour, width, dashes }, mark)
}

/// What a scale spans: all values, and a little more.
fn around(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    if !(low > 0.0 && low.is_finite()) {
        return (0.1, 10.0);
    }
    let (low, high) = (low * 0.8, high * 1.25);
    (low, high.max(low * 4.0))
}

/// Powers of ten, and their doubles and halves where there is room.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let wide = high / low > 300.0;
    let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers =
        (-8..8).map(|power| if power < 0 { 1.0 / 10f64.powi(-power) } else { 10f64.powi(power) });
    powers
        .flat_map(|power| steps.iter().map(move |step| step * power))
        .map(|tick| (tick * 1e9).round() / 1e9)
        .filter(|&tick| tick >= low && tick <= high)
        .collect()
}

fn legend(svg: &mut Svg, top: f64, delta: f64) {
    let half = Way::ALL.len().div_ceil(2);
    for (index, way) in Way::ALL.into_iter().enumerate() {
        let (stroke, mark) = look(way);
        let (x, y) = (LEFT + (index / half) as f64 * 380.0, top + (index % half) as f64 * 22.0);
        svg.line(&[(x, y), (x + 34.0, y)], stroke);
        svg.mark(mark, (x + 17.0, y), stroke.colour);
        let delta = if way.has_delta() { format!(", at delta {delta:e}") } else { String::new() };
        let label = format!("{}{delta}", way.label());
        svg.text((x + 44.0, y + 4.0), 12.0, Align::Start, &label);
    }
}

#[cfg(test)]
mod tests {
    use super::super::COUNT;
    use super::super::experiment::{CountPlan, run};
    use super::*;
    use crate::frame::context::Context;
    use crate::frame::experiment::Size;
    use eke_testkit::well_formed;

    #[test]
    fn a_figure_is_well_formed_and_names_every_way() {
        let plan = CountPlan { runs: 50, lists: 5, most: 5, ..CountPlan::paper(50) };
        let context = Context::new(&COUNT, Size::Smoke);
        let svg = figure(&run(&plan, &context).unwrap());
        assert_eq!(well_formed(&svg), Ok(()));
        for way in Way::ALL {
            assert!(svg.contains(way.label()), "{way:?}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn ticks_are_round_numbers_inside() {
        assert_eq!(ticks((0.9, 12.0)), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks((0.0001, 10.0)), [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]);
    }
}
