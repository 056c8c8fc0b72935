//! Places: privacy that is measured by distance.
//!
//! Close places look alike, and the further apart two places are the better they may be told apart: by `epsilon`
//! per metre, or by `rho` per square metre. The same accounts serve as elsewhere, with metres as their metric.
//!
//! | | |
//! |---|---|
//! | [`Place`], [`Region`] | longitude and latitude, and a part of the earth laid out flat in metres |
//! | [`Lattice`] | where points are put before noise is added, and what a metre is there |
//! | [`Shape`] | rectangles, circles, polygons, half-planes, and how far points are inside or outside |
//!
//! No files and no ledgers: those meet the maths in the engine.

mod edges;
mod lattice;
mod offset;
mod outline;
mod place;
mod region;
mod shape;

pub use lattice::{Lattice, LatticeError, distance};
pub use place::{Place, PlaceError};
pub use region::{Region, RegionError};
pub use shape::{Rings, Shape, ShapeError};
