//! Places: privacy that is measured by distance.
//!
//! Close places look alike, and the further apart two places are the better they may be told apart: by `epsilon`
//! per metre, or by `rho` per square metre. The same accounts serve as elsewhere, with metres as their metric.
//!
//! | | |
//! |---|---|
//! | [`Place`], [`Region`] | longitude and latitude, and a part of the earth laid out flat in metres |
//! | [`Lattice`] | where points are put before noise is added, and what a metre is there |
//! | [`Tuple`], [`TupleMetric`] | several places of one person, and how far apart two of these are |
//! | [`Level`], [`Blur`] | what a price means: how well places are told apart, and how far released ones are off |
//! | [`Shape`] | rectangles, circles, polygons, half-planes, and how far points are inside or outside |
//! | [`chi_width`], [`DistanceInterval`] | how wide noise is, and how far away what was released with it |
//! | [`AnytimeBall`], [`SignBoundary`] | what holds at every look at once |
//! | [`Places`] | one person's places, and what can be worked out of them |
//! | [`nearest()`], [`Nearest`] | which of them are nearest to a public point |
//! | [`hull()`], [`HullPlan`], [`Hull`] | their convex hull, nearly |
//! | [`Convex`] | convex polygons: areas, and what two of them share |
//!
//! No files and no ledgers: those meet the maths in the engine.

mod anytime;
mod blur;
mod convex;
mod direction;
mod edges;
mod gamma;
mod hull;
mod hull_plan;
mod interval;
mod lattice;
mod level;
mod nearest;
mod offset;
mod outline;
mod place;
mod places;
mod region;
mod search_error;
#[cfg(test)]
mod seeded;
mod shape;
mod tuple;
mod widths;

pub use anytime::{AnytimeBall, SignBoundary};
pub use blur::Blur;
pub use convex::Convex;
pub use hull::{Hull, Support, hull};
pub use hull_plan::{Directions, HullError, HullPlan, HullPrices};
pub use interval::DistanceInterval;
pub use lattice::{Lattice, LatticeError, distance};
pub use level::{Level, epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
pub use nearest::{Nearest, NearestMethod, PlacePrice, PlacesError, nearest};
pub use place::{Place, PlaceError};
pub use places::Places;
pub use region::{Region, RegionError};
pub use shape::{Rings, Shape, ShapeError};
pub use tuple::{Tuple, TupleError, TupleMetric};
pub use widths::{Miss, MissError, chi_width, normal_width, two_sided_width};
