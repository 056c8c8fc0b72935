//! Prints the figure of the README: one noise path, and three audiences along it.
//!
//! ```sh
//! cargo run -p eke-plot --example noise_path > docs/noise-path.svg
//! ```
//!
//! The path is an illustration, drawn in floating point from a fixed seed. It has the law of a
//! Gaussian path: from precision u to u' it adds a draw of variance 1/(u' - u) around the truth, by
//! inverse variance. eke itself draws integers.

use eke_plot::svg::{Align, Mark, Panel, Stroke, Svg};

/// The answer without noise.
const TRUTH: f64 = 1234.0;
/// The price at the left edge of the figure, and how many decades it spans.
const FIRST: f64 = 1e-4;
const DECADES: i32 = 3;
/// Points of the path in a decade.
const POINTS: i32 = 48;
/// The seed: of a path that shows what paths do.
const SEED: u64 = 5;
const GRID: Stroke = Stroke { colour: "#dddddd", width: 1.0, dashes: "" };

/// An audience: what it is called, its place on the path in decades of rho, and how it is drawn.
struct Audience {
    name: &'static str,
    decades: f64,
    colour: &'static str,
    mark: Mark,
}

const AUDIENCES: [Audience; 3] = [
    Audience { name: "the public", decades: 0.25, colour: "#0072b2", mark: Mark::Disc },
    Audience { name: "partners", decades: 1.25, colour: "#009e73", mark: Mark::Square },
    Audience { name: "the ministry", decades: 2.5, colour: "#d55e00", mark: Mark::Diamond },
];

/// One point of the path: what it has cost, and the answer there.
#[derive(Clone, Copy)]
struct Point {
    rho: f64,
    answer: f64,
}

impl Point {
    /// The standard deviation of the noise, for sensitivity one.
    fn deviation(self) -> f64 {
        1.0 / (2.0 * self.rho).sqrt()
    }
}

/// Numbers that look random and are the same everywhere (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number from 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }

    /// A nearly normal number of deviation one: twelve uniform ones, which need no logarithm.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The path, from the left edge to the right one.
fn path() -> Vec<Point> {
    let mut dice = Dice(SEED);
    let mut points: Vec<Point> = Vec::new();
    for number in 0..=DECADES * POINTS {
        let rho = FIRST * 10f64.powf(f64::from(number) / f64::from(POINTS));
        let before = points.last().copied().unwrap_or(Point { rho: 0.0, answer: TRUTH });
        let step = Point { rho: rho - before.rho, answer: 0.0 };
        let drawn = TRUTH + step.deviation() * dice.normal();
        let answer = (before.rho * before.answer + step.rho * drawn) / rho;
        points.push(Point { rho, answer });
    }
    points
}

/// The point of the path that is nearest to what an audience may see.
fn standing(path: &[Point], audience: &Audience) -> Point {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let number = (audience.decades * f64::from(POINTS)).round() as usize;
    path[number]
}

fn figure() -> String {
    let path = path();
    let last = FIRST * 10f64.powi(DECADES);
    let panel = Panel {
        corner: (78.0, 72.0),
        size: (760.0, 270.0),
        x: (FIRST, last),
        y: (TRUTH - 150.0, TRUTH + 150.0),
    };
    let mut svg = Svg::new(880.0, 412.0);
    svg.text((78.0, 26.0), 16.0, Align::Start, "One noise path, three audiences");
    let together = "All three together know what the ministry knows. That point is paid for, once.";
    svg.text((78.0, 48.0), 13.0, Align::Start, together);
    axes(&mut svg, &panel);

    // What 95 % of paths are within, and the truth.
    let upper = path.iter().map(|point| panel.at(point.rho, TRUTH + 1.96 * point.deviation()));
    let lower = path.iter().map(|point| panel.at(point.rho, TRUTH - 1.96 * point.deviation()));
    svg.area(&upper.chain(lower.rev()).collect::<Vec<_>>(), "#777777");
    let truth = Stroke { colour: "#222222", width: 1.2, dashes: "4 4" };
    svg.line(&[panel.at(FIRST, TRUTH), panel.at(last, TRUTH)], truth);
    let (right, height) = panel.at(last, TRUTH);
    svg.text((right - 2.0, height + 34.0), 12.0, Align::End, "the truth");
    svg.line(&[(right - 22.0, height + 22.0), (right - 22.0, height + 3.0)], GRID);

    // The path as far as somebody has seen it, and as it would go on.
    let finest = AUDIENCES.last().map_or(last, |audience| standing(&path, audience).rho);
    let places = |inside: fn(f64, f64) -> bool| -> Vec<(f64, f64)> {
        let points = path.iter().filter(|point| inside(point.rho, finest));
        points.map(|point| panel.at(point.rho, point.answer)).collect()
    };
    let seen = Stroke { colour: "#555555", width: 1.6, dashes: "" };
    svg.line(&places(|rho, finest| rho <= finest), seen);
    svg.line(&places(|rho, finest| rho >= finest), Stroke { dashes: "2 4", ..seen });

    for audience in &AUDIENCES {
        stands(&mut svg, &panel, audience, standing(&path, audience));
    }
    svg.finish()
}

/// The two axes: what a point costs, and what it says.
fn axes(svg: &mut Svg, panel: &Panel) {
    panel.axes(svg, &[], &[]);
    for (rho, label) in [(1e-4, "0.0001"), (1e-3, "0.001"), (1e-2, "0.01"), (1e-1, "0.1")] {
        let (place, bottom) = panel.at(rho, panel.y.0);
        svg.line(&[(place, bottom), panel.at(rho, panel.y.1)], GRID);
        svg.text((place, bottom + 18.0), 12.0, Align::Middle, label);
    }
    for answer in [1100, 1150, 1200, 1250, 1300, 1350] {
        let (left, place) = panel.at(panel.x.0, f64::from(answer));
        svg.line(&[(left, place), panel.at(panel.x.1, f64::from(answer))], GRID);
        let label = format!("{},{:03}", answer / 1000, answer % 1000);
        svg.text((left - 8.0, place + 4.0), 12.0, Align::End, &label);
    }
    let (left, bottom) = panel.at(panel.x.0, panel.y.0);
    let middle = left + panel.size.0 / 2.0;
    let across = "what the people in the data pay for a point of the path (rho)";
    svg.text((middle, bottom + 44.0), 13.0, Align::Middle, across);
    svg.upright((left - 58.0, bottom - panel.size.1 / 2.0), 13.0, "the answer");
}

/// An audience at its point, with its interval and what it sees.
fn stands(svg: &mut Svg, panel: &Panel, audience: &Audience, point: Point) {
    let half = 1.96 * point.deviation();
    let (low, high) = (point.answer - half, point.answer + half);
    let stroke = Stroke { colour: audience.colour, width: 2.4, dashes: "" };
    svg.line(&[panel.at(point.rho, low), panel.at(point.rho, high)], stroke);
    svg.mark(audience.mark, panel.at(point.rho, point.answer), audience.colour);
    let (x, top) = panel.at(point.rho, high);
    let thousands = (point.answer / 1000.0).floor();
    let rest = point.answer - 1000.0 * thousands;
    let seen = format!("{thousands:.0},{rest:03.0} \u{b1} {half:.0}");
    svg.text((x + 8.0, top - 24.0), 13.0, Align::Start, audience.name);
    svg.text((x + 8.0, top - 8.0), 12.0, Align::Start, &seen);
}

fn main() {
    print!("{}", figure());
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_figure_of_the_readme_is_what_this_prints() {
        assert_eq!(super::figure(), include_str!("../../../docs/noise-path.svg"));
        assert_eq!(eke_testkit::well_formed(&super::figure()), Ok(()));
    }
}
