//! Figures of lines: panels side by side, in one style, with one legend for all of them.
//!
//! Colours are those of Okabe and Ito, which people who see fewer colours can tell apart; lines
//! also differ by dashes and marks.

use crate::svg::{Align, Mark, Stroke, Svg};

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By ratios.
    Logarithmic,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// What is on all horizontal axes.
    pub across: String,
    /// What is on all vertical axes.
    pub upwards: String,
    /// How axes are divided, across and upwards.
    pub scales: (Scale, Scale),
    /// Panels in a row.
    pub columns: usize,
    /// What the lines are, in the order in which panels have them.
    pub lines: Vec<String>,
    /// The panels.
    pub panels: Vec<Lines>,
}

/// One panel.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// The points of each line.
    pub lines: Vec<Vec<(f64, f64)>>,
}

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 66.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 62.0;
/// From one line of a title to the next.
const LINE: f64 = 22.0;

/// How the lines look, one after the other.
const LOOKS: [(&str, &str, Mark); 8] = [
    ("#000000", "2 3", Mark::Disc),
    ("#009e73", "", Mark::Disc),
    ("#0072b2", "", Mark::Square),
    ("#56b4e9", "7 3", Mark::Diamond),
    ("#e69f00", "", Mark::Triangle),
    ("#cc79a7", "7 3", Mark::Square),
    ("#d55e00", "", Mark::Diamond),
    ("#777777", "7 3", Mark::Triangle),
];

impl Plot {
    /// The figure, as an SVG file.
    #[must_use]
    pub fn finish(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let beside = self.beside(columns);
        let legend = self.lines.len().div_ceil(beside);
        let [across, down, legend] = [columns, rows, legend].map(|n| n as f64);
        let width = across * (LEFT + WIDTH + RIGHT);
        let titles = wrapped(&self.title, width - LEFT);
        let head = TOP + (titles.len() - 1) as f64 * LINE;
        let height = head + down * (HEIGHT + BELOW) + legend * 22.0 + 18.0;
        let mut svg = Svg::new(width, height);
        let mut below = 26.0;
        for title in titles {
            svg.text((LEFT, below), 16.0, Align::Start, &title);
            below += LINE;
        }
        for (index, lines) in self.panels.iter().enumerate() {
            let (column, row) = ((index % columns) as f64, (index / columns) as f64);
            let corner = (LEFT + column * (LEFT + WIDTH + RIGHT), head + row * (HEIGHT + BELOW));
            self.panel(&mut svg, corner, lines);
        }
        let top = head + down * (HEIGHT + BELOW) + 8.0;
        for (index, label) in self.lines.iter().enumerate() {
            let (column, row) = ((index % beside) as f64, (index / beside) as f64);
            let (x, y) = (LEFT + column * (width - LEFT) / 2.0, top + row * 22.0);
            let (stroke, mark) = look(index);
            svg.line(&[(x, y), (x + 36.0, y)], stroke);
            svg.mark(mark, (x + 18.0, y), stroke.colour);
            svg.text((x + 44.0, y + 4.0), 12.0, Align::Start, label);
        }
        svg.finish()
    }

    /// How many entries of the legend fit beside each other: two, if they are short enough.
    fn beside(&self, columns: usize) -> usize {
        const LETTER: f64 = 6.8;
        let room = (columns as f64 * (LEFT + WIDTH + RIGHT) - LEFT) / 2.0 - 50.0;
        let fits = |label: &String| label.chars().count() as f64 * LETTER <= room;
        if self.lines.iter().all(fits) { 2 } else { 1 }
    }

    fn panel(&self, svg: &mut Svg, corner: (f64, f64), lines: &Lines) {
        let points = || lines.lines.iter().flatten();
        let x = Axis::around(self.scales.0, points().map(|point| point.0));
        let y = Axis::around(self.scales.1, points().map(|point| point.1));
        let at = |(px, py): (f64, f64)| {
            (corner.0 + x.place(px) * WIDTH, corner.1 + (1.0 - y.place(py)) * HEIGHT)
        };
        let (left, bottom) = (corner.0, corner.1 + HEIGHT);
        let grid = Stroke { colour: "#dddddd", width: 1.0, dashes: "" };
        for (value, label) in x.ticks() {
            let place = corner.0 + x.place(value) * WIDTH;
            svg.line(&[(place, bottom), (place, corner.1)], grid);
            svg.text((place, bottom + 15.0), 11.0, Align::Middle, &label);
        }
        for (value, label) in y.ticks() {
            let place = bottom - y.place(value) * HEIGHT;
            svg.line(&[(left, place), (left + WIDTH, place)], grid);
            svg.text((left - 6.0, place + 4.0), 11.0, Align::End, &label);
        }
        let axis = Stroke { colour: "#222222", width: 1.0, dashes: "" };
        svg.line(&[corner, (left, bottom), (left + WIDTH, bottom)], axis);
        svg.text((left + WIDTH / 2.0, corner.1 - 8.0), 13.0, Align::Middle, &lines.title);
        svg.text((left + WIDTH / 2.0, bottom + 32.0), 12.0, Align::Middle, &self.across);
        svg.upright((left - 50.0, corner.1 + HEIGHT / 2.0), 12.0, &self.upwards);
        for (index, line) in lines.lines.iter().enumerate() {
            let (stroke, mark) = look(index);
            let places: Vec<_> = line.iter().map(|&point| at(point)).collect();
            svg.line(&places, stroke);
            for &place in &places {
                svg.mark(mark, place, stroke.colour);
            }
        }
    }
}

fn look(index: usize) -> (Stroke, Mark) {
    let (colour, dashes, mark) = LOOKS[index % LOOKS.len()];
    (Stroke { colour, width: 1.8, dashes }, mark)
}

/// What an axis spans, and how.
#[derive(Clone, Copy, Debug)]
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis with some room around all values.
    fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        match scale {
            Scale::Linear => {
                let room = ((high - low) * 0.04).max(high.abs() * 1e-6).max(1e-9);
                Self { scale, low: low - room, high: high + room }
            }
            Scale::Logarithmic => {
                let low = low.max(1e-300);
                let room = (high / low).max(1.0).powf(0.05).max(1.02);
                Self { scale, low: low / room, high: high.max(low) * room }
            }
        }
    }

    /// Where a value is, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln(),
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// Round values on it, with their labels: three to eight of them.
    fn ticks(&self) -> Vec<(f64, String)> {
        let inside = |value: &f64| *value >= self.low && *value <= self.high;
        if self.scale == Scale::Logarithmic && self.high / self.low > 8.0 {
            let decades = (self.low.log10().floor(), self.high.log10().ceil());
            let each: &[f64] =
                if self.high / self.low <= 100.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let step = ((decades.1 - decades.0) / 6.0).ceil().max(1.0);
            let mut values = Vec::new();
            let mut decade = decades.0;
            while decade <= decades.1 {
                values.extend(each.iter().map(|digit| digit * 10f64.powf(decade)));
                decade += step;
            }
            return values.into_iter().filter(inside).map(|v| (v, label(v))).collect();
        }
        let raw = (self.high - self.low) / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|digit| digit * power)
            .find(|step| *step >= raw)
            .unwrap_or(10.0 * power);
        let first = (self.low / step).ceil();
        (0..12)
            .map(|n| (first + f64::from(n)) * step)
            .filter(inside)
            .map(|value| (value, label(value)))
            .collect()
    }
}

/// A title in lines that fit a width: words are never cut, and their widths are guessed.
fn wrapped(title: &str, width: f64) -> Vec<String> {
    const LETTER: f64 = 8.8;
    let mut lines = vec![String::new()];
    for word in title.split(' ') {
        let line = lines.last_mut().expect("never empty");
        let long = (line.chars().count() + 1 + word.chars().count()) as f64 * LETTER;
        if line.is_empty() {
            line.push_str(word);
        } else if long > width {
            lines.push(word.to_owned());
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines
}

/// A number in few digits.
fn label(value: f64) -> String {
    // Longer ones would reach what the axis is called.
    if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    if value.abs() >= 1e4 {
        let (thousands, rest) = ((value / 1000.0).trunc(), (value.abs() % 1000.0).round());
        return format!("{thousands:.0},{rest:03}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::well_formed;

    #[test]
    fn axes_have_round_numbers_inside() {
        for (scale, values, labels) in [
            (Scale::Linear, [1.0, 20.0], "5 10 15 20"),
            (Scale::Linear, [0.1, 0.5], "0.1 0.2 0.3 0.4 0.5"),
            (Scale::Logarithmic, [3.0, 40_000.0], "10 100 1000 10,000"),
            (Scale::Logarithmic, [1.0, 2.0], "1 1.5 2"),
            (Scale::Logarithmic, [2.0, 30.0], "2 5 10 20"),
        ] {
            let axis = Axis::around(scale, values.into_iter());
            let found: Vec<String> = axis.ticks().into_iter().map(|tick| tick.1).collect();
            assert_eq!(found.join(" "), labels, "{scale:?} {values:?}");
        }
    }

    #[test]
    fn large_numbers_have_commas_and_larger_ones_are_powers() {
        let shown = [0.0, 0.5, -20.0, 9999.0, 20_000.0, 13_700.0, 150_000.0, 1e8, 1e-4].map(label);
        assert_eq!(shown.join(" "), "0 0.5 -20 9999 20,000 13,700 1.5e5 1e8 1e-4");
    }

    #[test]
    fn titles_are_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 8.8 * 7.5), ["one two", "three"]);
        assert_eq!(wrapped("", 100.0), [""]);
        assert_eq!(wrapped("extraordinary", 10.0), ["extraordinary"]);
    }

    #[test]
    fn a_plot_is_a_file_that_can_be_read() {
        let plot = Plot {
            title: "a < b".to_owned(),
            across: "x".to_owned(),
            upwards: "y".to_owned(),
            scales: (Scale::Linear, Scale::Logarithmic),
            columns: 2,
            lines: vec!["one".to_owned(), "two & more".to_owned()],
            panels: (0..3)
                .map(|n| Lines {
                    title: format!("panel {n}"),
                    lines: vec![vec![(1.0, 2.0), (2.0, 30.0)], vec![(1.0, f64::NAN)]],
                })
                .collect(),
        };
        let svg = plot.finish();
        assert_eq!(well_formed(&svg), Ok(()));
        assert_eq!(svg.matches("panel ").count(), 3);
        assert!(!svg.contains("NaN"));
    }
}
