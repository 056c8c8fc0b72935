//! Places: privacy that is measured by distance.
//!
//! Close places look alike, and the further apart two places are the better they may be told apart: by `epsilon`
//! per metre, or by `rho` per square metre. The same accounts serve as elsewhere, with metres as their metric.
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

mod anytime;
mod bell;
mod blur;
mod convex;
mod count;
mod crowd;
mod density;
mod direction;
mod edges;
mod gamma;
mod hull;
mod hull_plan;
mod interval;
mod lattice;
mod level;
mod nearest;
mod neighbours;
mod offset;
mod outline;
mod place;
mod places;
mod plan;
mod region;
mod reports;
mod schedule;
mod search_error;
#[cfg(test)]
mod seeded;
mod series;
mod shape;
mod threshold;
mod tuple;
mod walk;
mod widths;

pub use anytime::{AnytimeBall, SignBoundary};
pub use blur::Blur;
pub use convex::Convex;
pub use count::{Count, count};
pub use crowd::{Crowd, CrowdError, Seen};
pub use density::{Density, density};
pub use hull::{Hull, Support, hull};
pub use hull_plan::{Directions, HullError, HullPlan, HullPrices};
pub use interval::DistanceInterval;
pub use lattice::{Lattice, LatticeError, distance};
pub use level::{Level, epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
pub use nearest::{Nearest, NearestMethod, PlacePrice, PlacesError, nearest};
pub use neighbours::{Neighbours, neighbours};
pub use place::{Place, PlaceError};
pub use places::Places;
pub use plan::{Allowance, Plan, PlanError, Rule, Split, Way};
pub use region::{Region, RegionError};
pub use series::{Carry, Series};
pub use shape::{Rings, Shape, ShapeError};
pub use threshold::{Line, Threshold, ThresholdError, threshold};
pub use tuple::{Tuple, TupleError, TupleMetric};
pub use walk::{Round, Spending};
pub use widths::{Miss, MissError, chi_width, normal_width, two_sided_width};
