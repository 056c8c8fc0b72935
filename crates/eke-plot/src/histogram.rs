//! Histograms: how many there are of each kind, as bars side by side.

use crate::svg::{Align, Stroke, Svg};

/// A histogram.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// What it shows.
    pub title: String,
    /// What the bars are of.
    pub across: String,
    /// What is counted.
    pub upwards: String,
    /// The bars, from left to right, with what stands below each.
    pub bars: Vec<(String, f64)>,
}

const HEIGHT: f64 = 200.0;
const BAR: f64 = 52.0;
const LEFT: f64 = 80.0;
const TOP: f64 = 54.0;
/// How high one histogram is, with what stands around it.
const WHOLE: f64 = TOP + HEIGHT + 58.0;

impl Histogram {
    /// The figure, as an SVG file.
    #[must_use]
    pub fn finish(&self) -> String {
        Self::stacked(std::slice::from_ref(self))
    }

    /// Several, one below the other, as one SVG file.
    #[must_use]
    pub fn stacked(all: &[Self]) -> String {
        let most = all.iter().map(|one| one.bars.len()).max().unwrap_or(0);
        let width = LEFT + most as f64 * BAR + 24.0;
        let mut svg = Svg::new(width, all.len().max(1) as f64 * WHOLE);
        for (number, one) in all.iter().enumerate() {
            one.draw(&mut svg, number as f64 * WHOLE);
        }
        svg.finish()
    }

    fn draw(&self, svg: &mut Svg, above: f64) {
        let width = self.bars.len() as f64 * BAR;
        svg.text((LEFT, above + 26.0), 16.0, Align::Start, &self.title);
        let most = self.bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
        let top = if most > 0.0 { most } else { 1.0 };
        let bottom = above + TOP + HEIGHT;
        let grid = Stroke { colour: "#dddddd", width: 1.0, dashes: "" };
        for part in [0.25, 0.5, 0.75, 1.0] {
            let y = bottom - part * HEIGHT;
            svg.line(&[(LEFT, y), (LEFT + width, y)], grid);
        }
        for (number, (label, count)) in self.bars.iter().enumerate() {
            let x = LEFT + number as f64 * BAR;
            let height = count / top * HEIGHT;
            svg.cell((x + 4.0, bottom - height), (BAR - 8.0, height), "#0072b2");
            svg.text(
                (x + BAR / 2.0, bottom - height - 5.0),
                11.0,
                Align::Middle,
                &count.to_string(),
            );
            svg.text((x + BAR / 2.0, bottom + 15.0), 11.0, Align::Middle, label);
        }
        let axis = Stroke { colour: "#333333", width: 1.0, dashes: "" };
        svg.line(&[(LEFT, bottom), (LEFT + width, bottom)], axis);
        svg.text((LEFT + width / 2.0, bottom + 40.0), 12.0, Align::Middle, &self.across);
        svg.upright((28.0, above + TOP + HEIGHT / 2.0), 12.0, &self.upwards);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::well_formed;

    #[test]
    fn bars_are_as_high_as_what_they_count() {
        let histogram = |counts: &[f64]| Histogram {
            title: "a < b".into(),
            across: "kept".into(),
            upwards: "people".into(),
            bars: counts.iter().map(|count| (format!("{count} %"), *count)).collect(),
        };
        let text = histogram(&[3.0, 0.0, 6.0]).finish();
        well_formed(&text).unwrap();
        assert!(text.contains("height=\"200.00\"") && text.contains("height=\"100.00\""), "{text}");
        for counts in [&[][..], &[0.0]] {
            well_formed(&histogram(counts).finish()).unwrap();
        }
    }
}
