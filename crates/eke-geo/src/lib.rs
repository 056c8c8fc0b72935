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
//!
//! No files and no ledgers: those meet the maths in the engine.

mod blur;
mod edges;
mod lattice;
mod level;
mod offset;
mod outline;
mod place;
mod region;
mod shape;
mod tuple;

pub use blur::Blur;
pub use lattice::{Lattice, LatticeError, distance};
pub use level::{Level, epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
pub use place::{Place, PlaceError};
pub use region::{Region, RegionError};
pub use shape::{Rings, Shape, ShapeError};
pub use tuple::{Tuple, TupleError, TupleMetric};
