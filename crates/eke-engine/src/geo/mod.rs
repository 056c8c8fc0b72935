//! Places in files, and accounts that pay for what is released about them.
//!
//! Everything here is about places by longitude and latitude; the maths is `eke-geo`'s. Regions,
//! least distances and everything else that sensitivities rest on come from the asker, and never
//! from a file.

mod crowd;
mod error;
mod geojson;
mod hull;
mod input;
mod nearest;
mod output;
mod people;
mod person;
mod release;
mod share;

pub use crowd::{
    Area, CrowdAnswer, CrowdAnswered, CrowdAsking, CrowdEstimate, CrowdQuestion, CrowdRound, Near,
    Savings,
};
pub use error::{PlaceColumn, PlacesError, WrongAsking};
pub use geojson::{Fault, Features, GeoJsonError, PointFeature, read_points, read_shapes};
pub use hull::{HullOfPlaces, ToldHull};
pub use input::{PlaceColumns, PlaceFile};
pub use nearest::NearestPlaces;
pub use output::write_whole;
pub use people::{People, PeopleOpening, PeopleStanding};
pub use person::{Opening, Person, PersonStanding, PlacePrice};
pub use release::ReleasedPlaces;
pub use share::{ShareAnswer, ShareAnswered, ShareAsking, ShareOf};
