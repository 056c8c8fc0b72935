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
//!
//! No files and no ledgers: those meet the maths in the engine.

mod convex;
mod direction;
mod hull;
mod hull_plan;
mod lattice;
mod nearest;
mod place;
mod places;
mod region;
mod search_error;

pub use convex::Convex;
pub use hull::{Hull, Support, hull};
pub use hull_plan::{Directions, HullError, HullPlan, HullPrices};
pub use lattice::{Lattice, LatticeError, distance};
pub use nearest::{Nearest, NearestMethod, PlacePrice, PlacesError, nearest};
pub use place::{Place, PlaceError};
pub use places::Places;
pub use region::{Region, RegionError};
