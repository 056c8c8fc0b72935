//! Places in files, and accounts that pay for what is told about them.
//!
//! Everything here is about places by longitude and latitude; the maths is `eke-geo`'s. Regions, least distances and
//! everything else that sensitivities rest on come from whoever asks, and never from a file.

mod error;
mod input;
mod output;
mod person;
mod release;

pub use error::PlacesError;
pub use input::{PlaceColumns, PlaceFile};
pub use output::write_whole;
pub use person::{Opening, Person, PersonStanding, PlacePrice};
pub use release::ReleasedPlaces;
