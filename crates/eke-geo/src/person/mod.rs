//! One person's places, and what can be asked of them.

pub(crate) mod hull;
pub(crate) mod hull_plan;
pub(crate) mod nearest;
pub(crate) mod places;
pub(crate) mod tuple;

pub use hull::{Hull, Support, hull};
pub use hull_plan::{Directions, HullError, HullPlan, HullPrices};
pub use nearest::{Nearest, NearestMethod, PlacePrice, PlacesError, nearest};
pub use places::Places;
pub use tuple::{Tuple, TupleError, TupleMetric};
