//! Figures as SVG, written by hand: a few shapes, and panels with axes.
//!
//! Text is escaped, and numbers have two decimals, so that the same results give the same file.

use std::fmt::{Display, Write};

/// A picture under way.
pub struct Svg {
    size: (f64, f64),
    body: String,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// Its colour.
    pub colour: &'static str,
    /// Its width.
    pub width: f64,
    /// Lengths of dashes and gaps; empty for none.
    pub dashes: &'static str,
}

/// Where text stands to its point.
#[derive(Clone, Copy, Debug)]
pub enum Align {
    /// Begins there.
    Start,
    /// Is centred there.
    Middle,
    /// Ends there.
    End,
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A square on its corner.
    Diamond,
}

impl Svg {
    /// An empty picture of a width and height in pixels.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        Self { size: (width, height), body: String::new() }
    }

    /// A line through points.
    pub fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let Stroke { colour, width, dashes } = stroke;
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dashes}\"")
        };
        self.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>",
            path(points)
        ));
    }

    /// An area in a light shade of a colour.
    pub fn area(&mut self, points: &[(f64, f64)], colour: &str) {
        self.add(format_args!(
            "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.15\"/>",
            path(points)
        ));
    }

    /// A box filled with a colour.
    pub fn cell(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
        self.add(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{colour}\"/>"
        ));
    }

    /// An area in a light shade of a colour, between closed rings: what is in an even number of
    /// them is left out.
    pub fn rings(&mut self, rings: &[Vec<(f64, f64)>], colour: &str) {
        let rings: Vec<String> = rings
            .iter()
            .filter(|ring| !ring.is_empty())
            .map(|ring| format!("M{} Z", path(ring)))
            .collect();
        if !rings.is_empty() {
            self.add(format_args!(
                "<path d=\"{}\" fill=\"{colour}\" fill-opacity=\"0.15\" fill-rule=\"evenodd\"/>",
                rings.join(" ")
            ));
        }
    }

    /// A box in a shade of a colour, from 0 to 1.
    pub fn shade(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        colour: &str,
        shade: f64,
    ) {
        self.add(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{colour}\" fill-opacity=\"{shade:.2}\"/>"
        ));
    }

    /// An area in a colour.
    pub fn solid(&mut self, points: &[(f64, f64)], colour: &str) {
        self.add(format_args!("<polygon points=\"{}\" fill=\"{colour}\"/>", path(points)));
    }

    /// A circle with a light shade inside.
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, stroke: Stroke) {
        let Stroke { colour, width, dashes } = stroke;
        self.add(format_args!(
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{colour}\" fill-opacity=\"0.08\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/>"
        ));
    }

    /// A small disc.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &str) {
        self.add(format_args!(
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\" fill=\"{colour}\"/>"
        ));
    }

    /// A point.
    pub fn mark(&mut self, mark: Mark, (x, y): (f64, f64), colour: &str) {
        let corners: &[(f64, f64)] = match mark {
            Mark::Disc => {
                self.add(format_args!(
                    "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3.50\" fill=\"{colour}\"/>"
                ));
                return;
            }
            Mark::Square => &[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)],
            Mark::Triangle => &[(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0)],
            Mark::Diamond => &[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)],
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        self.add(format_args!("<polygon points=\"{}\" fill=\"{colour}\"/>", path(&corners)));
    }

    /// Text of a size, in pixels.
    pub fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Align, text: &str) {
        self.add(format_args!(
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" text-anchor=\"{}\">{}</text>",
            anchor.name(),
            escaped(text)
        ));
    }

    /// Text that reads upwards, centred at a point.
    pub fn upright(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        self.add(format_args!(
            "<text transform=\"translate({x:.2} {y:.2}) rotate(-90)\" font-size=\"{size}\" text-anchor=\"middle\">{}</text>",
            escaped(text)
        ));
    }

    /// The file.
    #[must_use]
    pub fn finish(self) -> String {
        let (width, height) = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#222222\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn add(&mut self, element: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{element}");
    }
}

impl Align {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A part of a picture with axes: logarithmic from left to right, linear upwards.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Its upper left corner.
    pub corner: (f64, f64),
    /// Its size.
    pub size: (f64, f64),
    /// What it spans from left to right.
    pub x: (f64, f64),
    /// What it spans from bottom to top.
    pub y: (f64, f64),
}

impl Panel {
    const AXIS: Stroke = Stroke { colour: "#222222", width: 1.0, dashes: "" };
    const GRID: Stroke = Stroke { colour: "#dddddd", width: 1.0, dashes: "" };

    /// Where a value is.
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = (x / self.x.0).ln() / (self.x.1 / self.x.0).ln();
        let up = (y - self.y.0) / (self.y.1 - self.y.0);
        let ((left, top), (width, height)) = (self.corner, self.size);
        (left + across.clamp(0.0, 1.0) * width, top + (1.0 - up.clamp(0.0, 1.0)) * height)
    }

    /// Axes, a grid and numbers.
    pub fn axes(&self, svg: &mut Svg, x: &[f64], y: &[f64]) {
        for &value in x {
            let (bottom, top) = (self.at(value, self.y.0), self.at(value, self.y.1));
            svg.line(&[bottom, top], Self::GRID);
            svg.text((bottom.0, bottom.1 + 16.0), 11.0, Align::Middle, &value.to_string());
        }
        for &value in y {
            let (left, right) = (self.at(self.x.0, value), self.at(self.x.1, value));
            svg.line(&[left, right], Self::GRID);
            svg.text((left.0 - 6.0, left.1 + 4.0), 11.0, Align::End, &format!("{value:.1}"));
        }
        let corners = [(self.x.0, self.y.1), (self.x.0, self.y.0), (self.x.1, self.y.0)];
        svg.line(&corners.map(|(x, y)| self.at(x, y)), Self::AXIS);
    }
}

fn path(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::well_formed;

    #[test]
    fn text_is_escaped() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text((1.0, 1.0), 5.0, Align::Start, "a < b & c > d");
        let svg = svg.finish();
        assert!(svg.contains("a &lt; b &amp; c &gt; d"));
        assert_eq!(well_formed(&svg), Ok(()));
        // The check sees what is wrong.
        assert!(well_formed(&svg.replace("&lt;", "<")).is_err());
        assert!(well_formed(&svg.replace("&amp;", "&")).is_err());
        assert!(well_formed(&svg.replace("</text>", "")).is_err());
    }

    #[test]
    fn a_panel_is_logarithmic_across_and_linear_upwards() {
        let panel =
            Panel { corner: (10.0, 20.0), size: (100.0, 50.0), x: (0.25, 4.0), y: (0.0, 1.0) };
        let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-9;
        assert!(near(panel.at(1.0, 0.5), (60.0, 45.0)));
        assert!(near(panel.at(0.25, 0.0), (10.0, 70.0)));
        // What is outside stays at the edge.
        assert!(near(panel.at(100.0, 2.0), (110.0, 20.0)));
    }
}
