//! Places: privacy that is measured by distance.
//!
//! Close places look alike, and the further apart two places are the better they may be told apart:
//! by `epsilon` per metre, or by `rho` per square metre. The same accounts serve as elsewhere, with
//! metres as their metric.
//!
//! | | |
//! |---|---|
//! | [`Place`], [`Region`] | longitude and latitude, and a part of the earth laid out flat in metres |
//! | [`Lattice`] | where points are put before noise is added, and what a metre is there |
//! | [`Places`] | one person's places, and what can be worked out of them |
//! | [`nearest()`], [`Nearest`] | which of them are nearest to a public point |
//! | [`hull()`], [`HullPlan`], [`Hull`] | their convex hull, nearly |
//! | [`Convex`] | convex polygons: areas, and what two of them share |
//! | [`Tuple`], [`TupleMetric`] | several places of one person, and how far apart two of these are |
//! | [`Level`], [`Blur`] | what a price means: how well places are told apart, and how far released ones are off |
//! | [`Shape`] | rectangles, circles, polygons, half-planes, and how far points are inside or outside |
//! | [`Crowd`], [`Plan`], [`Allowance`], [`Spending`] | many people with one place and one account each, how they are asked, and what that took |
//! | [`count()`], [`density()`], [`neighbours()`] | who is inside a shape, how dense people are, who is nearest: people whose answer is clear stop paying |
//! | [`Series`], [`Carry`] | many questions to the same people |
//! | [`threshold()`] | whether a count is below a line, in the central model |
//! | [`chi_width`], [`DistanceInterval`] | how wide noise is, and how far away what was released with it |
//! | [`AnytimeBall`], [`SignBoundary`] | what holds at every look at once |
//!
//! No files and no ledgers: those meet the maths in the engine.

mod crowd;
mod earth;
mod person;
#[cfg(test)]
mod seeded;
mod shape;
mod width;

pub use crowd::count::{Count, count};
pub use crowd::density::{Density, density};
pub use crowd::neighbours::{Neighbours, neighbours};
pub use crowd::plan::{Allowance, Plan, PlanError, Rule, Split, Way};
pub use crowd::series::{Carry, Series};
pub use crowd::threshold::{Line, Threshold, ThresholdError, threshold};
pub use crowd::walk::{Round, Spending};
pub use crowd::{Crowd, CrowdError, Seen};
pub use earth::lattice::{Lattice, LatticeError, distance};
pub use earth::level::{Level, epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
pub use earth::place::{Place, PlaceError};
pub use earth::region::{Region, RegionError};
pub use person::hull::{Hull, Support, hull};
pub use person::hull_plan::{Directions, HullError, HullPlan, HullPrices};
pub use person::nearest::{Nearest, NearestMethod, PlacePrice, PlacesError, nearest};
pub use person::places::Places;
pub use person::tuple::{Tuple, TupleError, TupleMetric};
pub use shape::convex::Convex;
pub use shape::{Rings, Shape, ShapeError};
pub use width::anytime::{AnytimeBall, SignBoundary};
pub use width::blur::Blur;
pub use width::interval::DistanceInterval;
pub use width::quantiles::{Miss, MissError, chi_width, normal_width, two_sided_width};
