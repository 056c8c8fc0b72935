//! Shapes on the plane, and how far points are inside or outside of them.
//!
//! A shape's corners are put on the lattice, and so are the points that are compared with it. From
//! there on everything is integers: the distance from a shape's boundary, negative inside, is
//! computed exactly and rounded down to whole steps. It changes by no more than a point moves,
//! rounding apart, for every shape there can be, which is what its price rests on. What a shape is
//! worth to people (its area, where to cut for counting) is public and in doubles.
//!
//! Edges are straight on the plane of the region. The shortest way on the earth between two corners
//! bends away from such an edge by about `L² h/12 b²` at most, for an edge of length L at a
//! distance h from the centre of the region and b the earth's radius: a centimetre for 10 km at 50
//! km, 21 m for 100 km at 1000 km.

pub(crate) mod convex;
pub(crate) mod direction;
pub(crate) mod edges;
pub(crate) mod offset;
pub(crate) mod outline;

use std::sync::OnceLock;

use eke_budget::Metres;
use eke_noise::Grid;

use crate::shape::edges::{Edges, FURTHEST, Point, Rounded, side, square};
use crate::shape::offset::{Offsets, shoelace, square_cut};
use crate::shape::outline::Outline;
use crate::{Lattice, Place, Region};

/// A part of the plane of a lattice: a rectangle, a circle, polygons with holes, or a half-plane.
/// ```
/// use eke_budget::Metres;
/// use eke_geo::{Lattice, Place, Region, Shape};
/// let city = Region::new(Place::new(-122.42, 37.77)?, Metres::new(20_000.0)?)?;
/// let lattice = Lattice::of(city, Metres::ONE)?;
/// let square = Shape::rectangle(&lattice, [0.0, 0.0], [Metres::new(500.0)?; 2], 0.0)?;
/// let [inside, outside] = [[0.0, 0.0], [300.0, 0.0]].map(|point| lattice.put(&point));
/// let metres = |point: &[i64]| lattice.grid().length(square.signed_distance(point));
/// assert_eq!((metres(&inside), metres(&outside)), (-250.0, 50.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shape {
    grid: Grid,
    form: Form,
    /// How large it is when it grows or shrinks, once somebody asked.
    offsets: OnceLock<Offsets>,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// Four corners, and the two sides in metres.
    Rectangle(Outline, [f64; 2]),
    /// All within a radius of a point, in steps.
    Circle(Point, i64),
    /// What is within an odd number of rings.
    Polygons(Outline),
    /// What is to the left of the way from one point to another.
    HalfPlane(Point, Point),
}

/// A polygon in metres: its outer ring, and then its holes.
pub type Rings<T = [f64; 2]> = Vec<Vec<T>>;

/// Why there is no such shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The lattice has another number of dimensions, or no region where one is needed.
    #[error("shapes lie on a plane: take a lattice of two dimensions")]
    Dimensions,
    /// Places without a region.
    #[error("places need a region to lie in: take the lattice of a region")]
    NoRegion,
    /// A number is not one.
    #[error("a shape's coordinates are finite numbers")]
    NotFinite,
    /// Too far for the lattice.
    #[error(
        "a shape reaches too far for the lattice: take a smaller one, or a larger least distance"
    )]
    TooFar,
    /// A corner is too far from the region.
    #[error(
        "corner {corner} of ring {ring} is more than 1000 km from the centre of the region: cut the shape off before"
    )]
    Outside {
        /// Which ring, from one.
        ring: usize,
        /// Which corner, from one.
        corner: usize,
    },
    /// No ring at all.
    #[error("a polygon has at least one ring")]
    Empty,
    /// Too few corners.
    #[error(
        "ring {ring} has no area on the lattice: a ring has at least three corners, apart from each other"
    )]
    Degenerate {
        /// Which ring, from one.
        ring: usize,
    },
    /// Nothing is left of it on the lattice.
    #[error(
        "a shape is smaller than a step of the lattice: make it larger, or take a smaller least distance"
    )]
    TooSmall,
    /// Too many corners.
    #[error("a shape has at most {} corners: simplify it", crate::shape::outline::MOST_CORNERS)]
    Corners,
    /// A ring meets itself.
    #[error("ring {ring} crosses or touches itself: a ring is simple")]
    NotSimple {
        /// Which ring, from one.
        ring: usize,
    },
    /// Two rings meet.
    #[error("rings {ring} and {other} cross or touch each other: rings lie apart")]
    Touching {
        /// Which ring, from one.
        ring: usize,
        /// The other.
        other: usize,
    },
    /// A ring does not lie where it should.
    #[error(
        "ring {ring} does not lie where it should: holes lie inside the first ring of their polygon and beside each other, and polygons do not overlap"
    )]
    Hole {
        /// Which ring, from one.
        ring: usize,
    },
}

impl Shape {
    /// A rectangle around a point, its first side turned by the given degrees from east towards
    /// north.
    ///
    /// # Errors
    /// It is too small or too large for the lattice, or a number is not one.
    pub fn rectangle(
        lattice: &Lattice,
        centre: [f64; 2],
        sides: [Metres; 2],
        turned: f64,
    ) -> Result<Self, ShapeError> {
        let [length, width] = sides.map(Metres::get);
        if !turned.is_finite() {
            return Err(ShapeError::NotFinite);
        }
        // Quarter turns are exact.
        let quarters = (turned / 90.0).round();
        let (sine, cosine) = libm::sincos((turned - 90.0 * quarters).to_radians());
        let (sine, cosine) = match quarters.rem_euclid(4.0) {
            n if n < 0.5 => (sine, cosine),
            n if n < 1.5 => (cosine, -sine),
            n if n < 2.5 => (-sine, -cosine),
            _ => (-cosine, sine),
        };
        let corner = |(along, across): (f64, f64)| {
            let (along, across) = (along * length / 2.0, across * width / 2.0);
            let [x, y] = centre;
            [x + along * cosine - across * sine, y + along * sine + across * cosine]
        };
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner);
        let outline = outline(lattice, &[vec![corners.to_vec()]]).map_err(|error| match error {
            ShapeError::Degenerate { .. } | ShapeError::NotSimple { .. } => ShapeError::TooSmall,
            error => error,
        })?;
        Ok(Self::new(lattice, Form::Rectangle(outline, [length, width])))
    }

    /// All points within a radius of one.
    ///
    /// # Errors
    /// It is too small or too large for the lattice, or a number is not one.
    pub fn circle(lattice: &Lattice, centre: [f64; 2], radius: Metres) -> Result<Self, ShapeError> {
        let centre = put(lattice, centre)?;
        let radius = lattice.grid().steps(radius.get());
        match radius {
            ..1 => Err(ShapeError::TooSmall),
            1..=FURTHEST => Ok(Self::new(lattice, Form::Circle(centre, radius))),
            _ => Err(ShapeError::TooFar),
        }
    }

    /// A polygon: its outer ring, and then its holes. Which way rings turn does not matter, and the
    /// last corner may be the first again.
    ///
    /// # Errors
    /// A ring is not simple, has no area, or does not lie where it should; the sentence has its
    /// number, from one.
    pub fn polygon(lattice: &Lattice, rings: &Rings) -> Result<Self, ShapeError> {
        Self::polygons(lattice, std::slice::from_ref(rings))
    }

    /// Polygons that do not overlap.
    ///
    /// # Errors
    /// As for one; rings are counted through all of them.
    pub fn polygons(lattice: &Lattice, polygons: &[Rings]) -> Result<Self, ShapeError> {
        Ok(Self::new(lattice, Form::Polygons(outline(lattice, polygons)?)))
    }

    /// All that is to the left of the straight line from one point to another.
    ///
    /// # Errors
    /// The points are one on the lattice, or too far away.
    pub fn half_plane(lattice: &Lattice, from: [f64; 2], to: [f64; 2]) -> Result<Self, ShapeError> {
        let (from, to) = (put(lattice, from)?, put(lattice, to)?);
        if from == to {
            return Err(ShapeError::TooSmall);
        }
        Ok(Self::new(lattice, Form::HalfPlane(from, to)))
    }

    /// Polygons on the earth, with edges that are straight on the plane of the lattice's region.
    /// They may reach beyond the region; people do not.
    ///
    /// # Errors
    /// As for polygons; a corner is more than 1000 km away; or the lattice has no region.
    pub fn of_places(lattice: &Lattice, polygons: &[Rings<Place>]) -> Result<Self, ShapeError> {
        let mut number = 0;
        let mut ring = |ring: &Vec<Place>| -> Result<Vec<[f64; 2]>, ShapeError> {
            number += 1;
            let corner = |(at, &place): (usize, &Place)| {
                flat(lattice, place)?.ok_or(ShapeError::Outside { ring: number, corner: at + 1 })
            };
            ring.iter().enumerate().map(corner).collect()
        };
        let mut polygon = |rings: &Rings<Place>| rings.iter().map(&mut ring).collect();
        let polygons: Vec<Rings> = polygons.iter().map(&mut polygon).collect::<Result<_, _>>()?;
        Self::polygons(lattice, &polygons)
    }

    /// All places within a radius of one.
    ///
    /// # Errors
    /// As for a circle; the place is more than 1000 km away; or the lattice has no region.
    pub fn around(lattice: &Lattice, place: Place, radius: Metres) -> Result<Self, ShapeError> {
        let outside = ShapeError::Outside { ring: 1, corner: 1 };
        Self::circle(lattice, flat(lattice, place)?.ok_or(outside)?, radius)
    }

    /// How far a point of the lattice is from the boundary, in whole steps, rounded down: below
    /// zero inside, zero or more outside and on the boundary.
    ///
    /// - Theorem: signed-distance (docs/theorems.md)
    /// - Proves: it is the largest whole number that is at most a function which changes by no more
    ///   than a point moves, so it is `lattice.of_function(1.0)` steps a metre at most
    /// - Assumes: the shape is public (caller); nothing about the shape or the point
    /// - Deviates: coordinates beyond 2⁶¹ steps are clamped
    /// - Checked by: `signed_distances_move_no_more_than_points`,
    ///   `signed_distances_are_those_of_a_plain_search`, `doubles_decide_only_what_integers_say`
    ///
    /// # Panics
    /// The point does not have two coordinates.
    #[must_use]
    pub fn signed_distance(&self, point: &[i64]) -> i64 {
        let &[x, y] = point else { panic!("a point of the plane has two coordinates") };
        let point = [x, y].map(|steps| steps.clamp(-2 * FURTHEST, 2 * FURTHEST));
        match &self.form {
            Form::Rectangle(outline, _) | Form::Polygons(outline) => within(outline.edges(), point),
            &Form::Circle(centre, radius) => Rounded::Down.root(square(centre, point)) - radius,
            &Form::HalfPlane(from, to) => {
                let (left, length) = (side(from, to, point), square(from, to));
                if left > 0 {
                    -Rounded::Up.quotient(left.unsigned_abs(), length)
                } else {
                    Rounded::Down.quotient(left.unsigned_abs(), length)
                }
            }
        }
    }

    /// Whether a point of the lattice is inside, and not on the boundary.
    ///
    /// # Panics
    /// The point does not have two coordinates.
    #[must_use]
    pub fn contains(&self, point: &[i64]) -> bool {
        self.signed_distance(point) < 0
    }

    /// The steps it is on.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Its area in square metres; none for a half-plane.
    #[must_use]
    pub fn area(&self) -> Option<f64> {
        match &self.form {
            Form::HalfPlane(..) => None,
            Form::Circle(..) => self.offsets().area(0.0),
            Form::Rectangle(outline, _) | Form::Polygons(outline) => {
                let signed = |(ring, is_hole): (&[Point], bool)| {
                    let area = shoelace(&self.metres(ring)).abs();
                    if is_hole { -area } else { area }
                };
                Some(outline.holes().map(signed).sum())
            }
        }
    }

    /// The length of its boundary in metres, holes included; none for a half-plane.
    #[must_use]
    pub fn perimeter(&self) -> Option<f64> {
        match &self.form {
            Form::HalfPlane(..) => None,
            &Form::Circle(_, radius) => Some(std::f64::consts::TAU * self.grid.length(radius)),
            Form::Rectangle(outline, _) | Form::Polygons(outline) => Some(
                outline
                    .edges()
                    .ends()
                    .map(|(from, to)| {
                        let [x, y] = [to[0] - from[0], to[1] - from[1]];
                        libm::hypot(self.grid.length(x), self.grid.length(y))
                    })
                    .sum(),
            ),
        }
    }

    /// The corners of its rings in metres, each ring once around, for drawing: a circle has 128,
    /// and of a half-plane there is the line, as far as somebody says.
    #[must_use]
    pub fn outline(&self, reach: Metres) -> Rings {
        let metres = |point: Point| point.map(|steps| self.grid.length(steps));
        match &self.form {
            Form::Rectangle(outline, _) | Form::Polygons(outline) => {
                outline.rings().iter().map(|ring| self.metres(ring)).collect()
            }
            &Form::Circle(centre, radius) => {
                let (centre, radius) = (metres(centre), self.grid.length(radius));
                let corner = |n: u32| {
                    let (sine, cosine) = libm::sincos(f64::from(n) * std::f64::consts::TAU / 128.0);
                    [centre[0] + radius * cosine, centre[1] + radius * sine]
                };
                vec![(0..128).map(corner).collect()]
            }
            &Form::HalfPlane(from, to) => {
                let (from, to) = (metres(from), metres(to));
                let way = [to[0] - from[0], to[1] - from[1]];
                let far = reach.get() / libm::hypot(way[0], way[1]);
                vec![
                    [-far, far]
                        .map(|far| [from[0] + far * way[0], from[1] + far * way[1]])
                        .to_vec(),
                ]
            }
        }
    }

    /// Where to cut a noisy distance for counting who is inside, in metres: people who are outside
    /// and within the noise's reach of the cut are as many as those inside, were they spread
    /// evenly. `deviation` is that of the noise in metres, and people whose noisy distance is below
    /// the cut count.
    ///
    /// - Theorem: counting-cut (docs/theorems.md)
    /// - Proves: the area outside that is less than `deviation + cut` away is that inside that is
    ///   less than `deviation - cut` deep
    /// - Assumes: nothing; it is a matter of how good a count is, and not of privacy
    /// - Deviates: areas of rectangles, circles and convex polygons are exact, others are sampled
    /// - Checked by: `cuts_of_rectangles_match_the_golden_values`,
    ///   `areas_on_both_sides_of_a_cut_are_equal`
    ///
    /// # Panics
    /// The deviation is negative or not a number.
    #[must_use]
    pub fn shift(&self, deviation: f64) -> f64 {
        self.offsets().cut(deviation)
    }

    /// Where the paper cuts for a rectangle: as [`Shape::shift`], but with what is outside grown to
    /// a larger rectangle, corners and all. Shapes other than rectangles are cut as there.
    ///
    /// - Theorem: counting-cut (docs/theorems.md)
    /// - Proves: the two areas are equal when corners stay square
    /// - Assumes: nothing; it is a matter of how good a count is, and not of privacy
    /// - Deviates: the paper changes from one formula to the other at the wrong deviation
    /// - Checked by: `cuts_of_rectangles_match_the_golden_values`
    ///
    /// # Panics
    /// The deviation is negative or not a number.
    #[must_use]
    pub fn square_shift(&self, deviation: f64) -> f64 {
        match self.form {
            Form::Rectangle(_, sides) => square_cut(sides, deviation),
            _ => self.shift(deviation),
        }
    }

    fn new(lattice: &Lattice, form: Form) -> Self {
        Self { grid: lattice.grid(), form, offsets: OnceLock::new() }
    }

    fn offsets(&self) -> &Offsets {
        self.offsets.get_or_init(|| match &self.form {
            &Form::Rectangle(_, sides) => Offsets::Rectangle(sides),
            &Form::Circle(_, radius) => Offsets::Circle(self.grid.length(radius)),
            Form::HalfPlane(..) => Offsets::HalfPlane,
            Form::Polygons(outline) => match outline.convex() {
                Some(corners) => Offsets::convex(self.metres(&corners)),
                None => {
                    let rings: Rings =
                        outline.rings().iter().map(|ring| self.metres(ring)).collect();
                    let area = self.area().unwrap_or(0.0);
                    Offsets::sampled(&rings, area, |point| {
                        let steps = point.map(|metres| self.grid.steps(metres));
                        self.grid.length(within(outline.edges(), steps))
                    })
                }
            },
        })
    }

    fn metres(&self, points: &[Point]) -> Vec<[f64; 2]> {
        points.iter().map(|point| point.map(|steps| self.grid.length(steps))).collect()
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.grid == other.grid && self.form == other.form
    }
}

/// The signed distance from edges that part inside from outside.
fn within(edges: &Edges, point: Point) -> i64 {
    if edges.is_odd(point) {
        -edges.distance(point, Rounded::Up)
    } else {
        edges.distance(point, Rounded::Down)
    }
}

/// The lowest and the highest coordinates.
pub(crate) fn bounds(points: &[[f64; 2]]) -> [[f64; 2]; 2] {
    let over = |start: f64, pick: fn(f64, f64) -> f64| {
        [0, 1].map(|axis| points.iter().map(|point| point[axis]).fold(start, pick))
    };
    [over(f64::INFINITY, f64::min), over(f64::NEG_INFINITY, f64::max)]
}

/// Each corner of a ring with the next.
pub(crate) fn pairs<T: Copy>(ring: &[T]) -> impl Iterator<Item = (T, T)> + '_ {
    ring.iter().copied().zip(ring.iter().copied().cycle().skip(1))
}

/// A point in metres on the lattice, wherever it is.
fn put(lattice: &Lattice, point: [f64; 2]) -> Result<Point, ShapeError> {
    if lattice.dimensions() != 2 {
        return Err(ShapeError::Dimensions);
    }
    if !point.iter().all(|metres| metres.is_finite()) {
        return Err(ShapeError::NotFinite);
    }
    let point = point.map(|metres| lattice.grid().steps(metres));
    let is_far = point.iter().any(|steps| steps.unsigned_abs() > FURTHEST.unsigned_abs());
    if is_far { Err(ShapeError::TooFar) } else { Ok(point) }
}

fn outline(lattice: &Lattice, polygons: &[Rings]) -> Result<Outline, ShapeError> {
    let ring = |ring: &Vec<[f64; 2]>| -> Result<Vec<Point>, ShapeError> {
        ring.iter().map(|&corner| put(lattice, corner)).collect()
    };
    let polygon = |rings: &Rings| rings.iter().map(ring).collect::<Result<Vec<_>, _>>();
    Outline::new(polygons.iter().map(polygon).collect::<Result<_, _>>()?)
}

/// Where a place is on the plane, also outside of the region; none if it is too far from it.
fn flat(lattice: &Lattice, place: Place) -> Result<Option<[f64; 2]>, ShapeError> {
    let region = lattice.region().ok_or(ShapeError::NoRegion)?;
    let largest = Metres::new(Region::LARGEST).ok();
    let wide = largest.and_then(|radius| Region::new(region.centre(), radius).ok());
    Ok(wide.filter(|wide| wide.contains(place)).map(|wide| wide.project(place)))
}

#[cfg(test)]
mod tests;

pub use convex::Convex;
