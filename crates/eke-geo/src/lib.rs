//! Places: privacy that is measured by distance.
//!
//! Close places look alike, and the further apart two places are the better they may be told apart:
//! by `epsilon` per metre, or by `rho` per square metre. The same accounts serve as elsewhere, with
//! metres as their metric.
//!
//! In [`crowd`]:
//!
//! - [`Crowd`], [`Plan`], [`Allowance`], [`Spending`]: many people with one place and one account
//!   each, how they are asked, and what that took.
//! - [`count()`], [`density()`], [`neighbours()`]: who is inside a shape, how dense people are, who
//!   is nearest: people whose answer is clear stop paying.
//! - [`Series`](crowd::Series), [`Carry`](crowd::Carry): many questions to the same people.
//!
//! In [`earth`]:
//!
//! - [`Place`], [`Region`]: longitude and latitude, and a part of the earth laid out flat in
//!   metres.
//! - [`Lattice`]: where points are put before noise is added, and what a metre is there.
//! - [`Level`], [`Blur`]: what a price means: how well places are distinguished, and how far
//!   released ones are off.
//!
//! In [`person`]:
//!
//! - [`Places`]: one person's places, and what can be computed from them.
//! - [`nearest()`], [`Nearest`]: which of them are nearest to a public point.
//! - [`hull()`], [`HullPlan`](person::HullPlan), [`Hull`]: their convex hull, nearly.
//! - [`Tuple`], [`TupleMetric`]: several places of one person, and how far apart two of these are.
//!
//! In [`shape`]:
//!
//! - [`Convex`](shape::Convex): convex polygons: areas, and what two of them share.
//! - [`Shape`]: rectangles, circles, polygons, half-planes, and how far points are inside or
//!   outside.
//!
//! In [`width`]:
//!
//! - [`chi_width`](width::chi_width): how wide noise is.
//! - [`AnytimeBall`](width::AnytimeBall), [`SignBoundary`](width::SignBoundary): what holds at
//!   every look at once.
//!
//! No files and no ledgers: those meet the maths in the engine.

pub mod crowd;
pub mod earth;
pub mod person;
pub mod shape;
pub mod width;

pub use crowd::Crowd;
pub use crowd::count::{Count, count};
pub use crowd::density::{Density, density};
pub use crowd::neighbours::{Neighbours, neighbours};
pub use crowd::plan::{Allowance, Plan};
pub use crowd::walk::Spending;
pub use earth::lattice::Lattice;
pub use earth::level::Level;
pub use earth::place::Place;
pub use earth::region::Region;
pub use person::hull::{Hull, hull};
pub use person::nearest::{Nearest, PlacePrice, nearest};
pub use person::places::Places;
pub use person::tuple::{Tuple, TupleMetric};
pub use shape::Shape;
pub use width::blur::Blur;
