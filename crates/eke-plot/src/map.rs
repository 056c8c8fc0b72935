//! Maps: what was asked and answered, on a plane in metres, without anything under it.
//!
//! North is up and a metre is as long across as upwards. Everything drawn is public or has been
//! released.

use crate::svg::{Align, Mark, Stroke, Svg};

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// What it shows.
    pub title: String,
    /// What is drawn, from below to above.
    pub layers: Vec<Layer>,
}

/// Things of one kind, with one line in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What they are.
    pub label: String,
    /// The things.
    pub things: Things,
}

/// What is drawn, in metres to the east and to the north.
#[derive(Clone, Debug, PartialEq)]
pub enum Things {
    /// Areas: closed rings with holes where they overlap.
    Areas(Vec<Vec<(f64, f64)>>),
    /// A line that encloses what was found, such as a hull.
    Hull(Vec<(f64, f64)>),
    /// Lines that are not closed.
    Lines(Vec<Vec<(f64, f64)>>),
    /// Points that were released, each with the radius that the true one is within.
    Released(Vec<((f64, f64), f64)>),
    /// Many points, as small dots.
    Dots(Vec<(f64, f64)>),
    /// Where something was asked about.
    Query(Vec<(f64, f64)>),
}

const WIDTH: f64 = 640.0;
const TALLEST: f64 = 640.0;
const SHORTEST: f64 = 240.0;
const LEFT: f64 = 24.0;
const TOP: f64 = 46.0;

const AREA: &str = "#0072b2";
const HULL: &str = "#009e73";
const LINE: &str = "#777777";
const POINT: &str = "#d55e00";
const DOT: &str = "#56b4e9";
const QUERY: &str = "#000000";

impl Map {
    /// The map, as an SVG file.
    #[must_use]
    pub fn finish(&self) -> String {
        let frame = Frame::around(self.layers.iter().flat_map(|layer| layer.things.extent()));
        let legend = self.layers.len().div_ceil(2) as f64;
        let mut svg = Svg::new(WIDTH + 2.0 * LEFT, TOP + frame.size.1 + 26.0 + legend * 22.0);
        svg.text((LEFT, 28.0), 16.0, Align::Start, &self.title);
        svg.cell((LEFT, TOP), frame.size, "#f7f7f7");
        for layer in &self.layers {
            layer.things.draw(&mut svg, &frame);
        }
        let ((left, top), (right, bottom)) = frame.corners();
        let border = Stroke { colour: "#222222", width: 1.0, dashes: "" };
        svg.line(
            &[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)],
            border,
        );
        frame.scale_bar(&mut svg);
        north(&mut svg, (right - 22.0, top + 18.0));
        for (index, layer) in self.layers.iter().enumerate() {
            let (column, row) = ((index % 2) as f64, (index / 2) as f64);
            let at = (LEFT + column * WIDTH / 2.0, bottom + 24.0 + row * 22.0);
            layer.things.sample(&mut svg, at);
            svg.text((at.0 + 44.0, at.1 + 4.0), 12.0, Align::Start, &layer.label);
        }
        svg.finish()
    }
}

impl Things {
    /// Points that must be on the map.
    fn extent(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Areas(rings) | Self::Lines(rings) => rings.concat(),
            Self::Hull(points) | Self::Dots(points) | Self::Query(points) => points.clone(),
            Self::Released(points) => points
                .iter()
                .flat_map(|&((x, y), radius)| {
                    // Nothing is drawn of a radius that is not known.
                    let radius = if radius.is_finite() { radius } else { 0.0 };
                    [(x - radius, y - radius), (x + radius, y + radius)]
                })
                .collect(),
        }
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let places = |points: &[(f64, f64)]| -> Vec<_> {
            points.iter().filter(|point| is_finite(point)).map(|&point| frame.at(point)).collect()
        };
        match self {
            Self::Areas(rings) => {
                let rings: Vec<Vec<_>> = rings.iter().map(|ring| closed(places(ring))).collect();
                svg.rings(&rings, AREA);
                for ring in rings {
                    svg.line(&ring, Stroke { colour: AREA, width: 1.8, dashes: "" });
                }
            }
            Self::Hull(points) => {
                let ring = closed(places(points));
                svg.rings(std::slice::from_ref(&ring), HULL);
                svg.line(&ring, Stroke { colour: HULL, width: 2.0, dashes: "7 3" });
            }
            Self::Lines(lines) => {
                for line in lines {
                    svg.line(&places(line), Stroke { colour: LINE, width: 1.8, dashes: "7 3" });
                }
            }
            Self::Released(points) => {
                let points = || points.iter().filter(|(point, _)| is_finite(point));
                for &(point, radius) in points().filter(|(_, radius)| radius.is_finite()) {
                    let stroke = Stroke { colour: POINT, width: 1.0, dashes: "3 2" };
                    svg.circle(frame.at(point), radius * frame.scale, stroke);
                }
                for &(point, _) in points() {
                    svg.mark(Mark::Disc, frame.at(point), POINT);
                }
            }
            Self::Dots(points) => {
                for place in places(points) {
                    svg.dot(place, 1.2, DOT);
                }
            }
            Self::Query(points) => {
                for place in places(points) {
                    svg.mark(Mark::Diamond, place, QUERY);
                }
            }
        }
    }

    /// What it looks like, in the legend.
    fn sample(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        let line = [(x, y), (x + 36.0, y)];
        match self {
            Self::Areas(_) | Self::Hull(_) => {
                let ring = [(x, y - 6.0), (x + 36.0, y - 6.0), (x + 36.0, y + 6.0), (x, y + 6.0)];
                let ring = closed(ring.to_vec());
                let (colour, dashes) =
                    if matches!(self, Self::Areas(_)) { (AREA, "") } else { (HULL, "7 3") };
                svg.rings(std::slice::from_ref(&ring), colour);
                svg.line(&ring, Stroke { colour, width: 1.8, dashes });
            }
            Self::Lines(_) => svg.line(&line, Stroke { colour: LINE, width: 1.8, dashes: "7 3" }),
            Self::Released(points) => {
                if points.iter().any(|point| point.1.is_finite() && point.1 > 0.0) {
                    let stroke = Stroke { colour: POINT, width: 1.0, dashes: "3 2" };
                    svg.circle((x + 18.0, y), 8.0, stroke);
                }
                svg.mark(Mark::Disc, (x + 18.0, y), POINT);
            }
            Self::Dots(_) => {
                for across in [6.0, 14.0, 20.0, 29.0] {
                    svg.dot((x + across, y + (across * 7.0) % 5.0 - 2.0), 1.2, DOT);
                }
            }
            Self::Query(_) => svg.mark(Mark::Diamond, (x + 18.0, y), QUERY),
        }
    }
}

/// Which part of the plane is drawn, and where.
#[derive(Clone, Copy, Debug)]
struct Frame {
    low: (f64, f64),
    /// Pixels for a metre.
    scale: f64,
    size: (f64, f64),
}

impl Frame {
    /// Around all points, with some room; what is not a number does not count.
    fn around(points: impl Iterator<Item = (f64, f64)>) -> Self {
        let start = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        let (low, high) = points.filter(is_finite).fold(start, |(low, high), (x, y)| {
            ((low.0.min(x), low.1.min(y)), (high.0.max(x), high.1.max(y)))
        });
        let (low, high) = if low.0 <= high.0 { (low, high) } else { ((-1.0, -1.0), (1.0, 1.0)) };
        let (width, height) = ((high.0 - low.0).max(1e-3), (high.1 - low.1).max(1e-3));
        let scale = (0.9 * WIDTH / width).min(0.9 * TALLEST / height);
        let size = (WIDTH, (height * scale / 0.9).clamp(SHORTEST, TALLEST));
        let centre = (f64::midpoint(low.0, high.0), f64::midpoint(low.1, high.1));
        let low = (centre.0 - size.0 / scale / 2.0, centre.1 - size.1 / scale / 2.0);
        Self { low, scale, size }
    }

    /// Where a point is.
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (_, bottom) = self.corners().1;
        (LEFT + (x - self.low.0) * self.scale, bottom - (y - self.low.1) * self.scale)
    }

    /// The upper left and the lower right.
    fn corners(&self) -> ((f64, f64), (f64, f64)) {
        ((LEFT, TOP), (LEFT + self.size.0, TOP + self.size.1))
    }

    /// A round number of metres, about a fifth of the map.
    fn scale_bar(&self, svg: &mut Svg) {
        let wanted = self.size.0 / self.scale / 5.0;
        let power = 10f64.powf(wanted.log10().floor());
        let metres = [5.0, 2.0, 1.0].map(|digit| digit * power);
        let metres = metres.into_iter().find(|metres| *metres <= wanted).unwrap_or(power);
        let (left, bottom) = (LEFT + 14.0, TOP + self.size.1 - 14.0);
        let right = left + metres * self.scale;
        let ends = [(left, bottom - 6.0), (left, bottom), (right, bottom), (right, bottom - 6.0)];
        svg.shade((left - 6.0, bottom - 24.0), (right - left + 12.0, 30.0), "#ffffff", 0.75);
        svg.line(&ends, Stroke { colour: "#222222", width: 1.6, dashes: "" });
        svg.text((f64::midpoint(left, right), bottom - 8.0), 11.0, Align::Middle, &length(metres));
    }
}

/// An arrow that points up, with its letter.
fn north(svg: &mut Svg, (x, y): (f64, f64)) {
    svg.shade((x - 12.0, y - 10.0), (24.0, 46.0), "#ffffff", 0.75);
    let arrow = [(x, y - 6.0), (x + 6.0, y + 14.0), (x, y + 9.0), (x - 6.0, y + 14.0)];
    svg.solid(&arrow, "#222222");
    svg.text((x, y + 30.0), 12.0, Align::Middle, "N");
}

/// A length as people write it.
fn length(metres: f64) -> String {
    let number = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if metres >= 1000.0 {
        format!("{} km", number(metres / 1000.0))
    } else if metres >= 1.0 {
        format!("{} m", number(metres))
    } else {
        format!("{} mm", number(metres * 1000.0))
    }
}

fn closed(mut ring: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    ring.extend(ring.first().copied());
    ring
}

fn is_finite((x, y): &(f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::well_formed;

    fn square(corner: f64, side: f64) -> Vec<(f64, f64)> {
        let (low, high) = (corner, corner + side);
        vec![(low, low), (high, low), (high, high), (low, high)]
    }

    fn layer(label: &str, things: Things) -> Layer {
        Layer { label: label.to_owned(), things }
    }

    /// One of everything.
    fn example() -> Map {
        let dots = (0..2000u32).map(|n| {
            let (a, b) =
                ((f64::from(n) * 0.754_877_67).fract(), (f64::from(n) * 0.569_840_29).fract());
            (a * a * 9000.0 - 1500.0, b * (2.0 - b) * 6000.0 - 1500.0)
        });
        let released = [(500.0, 700.0), (2600.0, 900.0), (1500.0, 2600.0)];
        Map {
            title: "who was in the park & <near> it?".to_owned(),
            layers: vec![
                layer("people", Things::Dots(dots.collect())),
                layer(
                    "the park, with its lake",
                    Things::Areas(vec![square(0.0, 3000.0), square(1200.0, 800.0)]),
                ),
                layer(
                    "hull",
                    Things::Hull(vec![
                        (-800.0, -500.0),
                        (3600.0, -700.0),
                        (4200.0, 2500.0),
                        (900.0, 3900.0),
                    ]),
                ),
                layer("a street", Things::Lines(vec![vec![(-1500.0, 3400.0), (7000.0, 3900.0)]])),
                layer(
                    "released, 95 % within",
                    Things::Released(released.map(|at| (at, 420.0)).to_vec()),
                ),
                layer("asked about", Things::Query(vec![(5200.0, 1200.0)])),
            ],
        }
    }

    #[test]
    fn a_map_is_a_file_that_can_be_read() {
        let svg = example().finish();
        assert_eq!(well_formed(&svg), Ok(()));
        assert!(svg.contains("1 km") && svg.contains(">N<") && svg.contains("&lt;near&gt;"));
    }

    #[test]
    fn metres_are_as_long_across_as_upwards_and_north_is_up() {
        for (width, height) in [(100.0, 100.0), (100.0, 1.0), (1.0, 100.0), (1e-9, 0.0), (1e6, 3e5)]
        {
            let frame = Frame::around([(5.0, -3.0), (5.0 + width, -3.0 + height)].into_iter());
            let (one, two) = (frame.at((5.0, -3.0)), frame.at((5.0 + width, -3.0 + height)));
            let scale = ((two.0 - one.0) / width, (one.1 - two.1) / height.max(1e-300));
            if height > 0.0 && width > 1e-6 {
                assert!((scale.0 / scale.1 - 1.0).abs() < 1e-6, "{scale:?}");
            }
            assert!(two.1 <= one.1);
            let ((left, top), (right, bottom)) = frame.corners();
            for (x, y) in [one, two] {
                assert!(x >= left && x <= right && y >= top && y <= bottom, "{x} {y}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_left_out() {
        let map = Map {
            title: String::new(),
            layers: vec![
                layer(
                    "",
                    Things::Released(vec![((f64::NAN, 0.0), 1.0), ((1.0, 1.0), f64::INFINITY)]),
                ),
                layer("", Things::Dots(vec![(f64::INFINITY, 2.0), (3.0, 4.0)])),
                layer("", Things::Areas(vec![vec![]])),
            ],
        };
        let svg = map.finish();
        assert_eq!(well_formed(&svg), Ok(()));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(
            well_formed(&Map { title: "empty".to_owned(), layers: vec![] }.finish()),
            Ok(())
        );
    }

    #[test]
    fn scale_bars_are_round() {
        for (metres, text) in
            [(2000.0, "2 km"), (500.0, "500 m"), (0.05, "50 mm"), (100_000.0, "100 km")]
        {
            assert_eq!(length(metres), text);
        }
    }
}
