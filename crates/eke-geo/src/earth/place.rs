//! Where somebody is on the earth.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A place by its longitude and latitude, in degrees on the ellipsoid of GPS (WGS 84).
///
/// As text it is `longitude,latitude`, in the order of GeoJSON; in JSON it is a list of the two.
/// ```
/// use eke_geo::Place;
/// let pier: Place = "-122.41,37.808".parse()?;
/// assert_eq!(pier, Place::new(-122.41, 37.808)?);
/// let error = Place::new(37.808, -122.41).unwrap_err().to_string();
/// assert_eq!(error, "latitude -122.41 is not between -90 and 90 degrees: write longitude first");
/// # Ok::<(), eke_geo::earth::PlaceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[f64; 2]", into = "[f64; 2]")]
pub struct Place {
    longitude: f64,
    latitude: f64,
}

/// Why two numbers are not a place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The longitude is out of range.
    #[error("longitude {0} is not between -360 and 360 degrees")]
    Longitude(f64),
    /// The latitude is out of range.
    #[error("latitude {0} is not between -90 and 90 degrees: write longitude first")]
    Latitude(f64),
    /// The text is not two numbers.
    #[error("`{0}` is not a place: write longitude,latitude in degrees, as in -122.41,37.808")]
    Text(String),
}

impl Place {
    /// A place.
    ///
    /// # Errors
    /// A number is not finite or out of range.
    pub fn new(longitude: f64, latitude: f64) -> Result<Self, PlaceError> {
        if !(-360.0..=360.0).contains(&longitude) {
            return Err(PlaceError::Longitude(longitude));
        }
        if !(-90.0..=90.0).contains(&latitude) {
            return Err(PlaceError::Latitude(latitude));
        }
        Ok(Self { longitude, latitude })
    }

    /// Degrees to the east.
    #[must_use]
    pub fn longitude(self) -> f64 {
        self.longitude
    }

    /// Degrees to the north.
    #[must_use]
    pub fn latitude(self) -> f64 {
        self.latitude
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.longitude, self.latitude)
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let parsed = text.split_once(',').and_then(|(longitude, latitude)| {
            Some((longitude.trim().parse().ok()?, latitude.trim().parse().ok()?))
        });
        let (longitude, latitude) = parsed.ok_or_else(|| PlaceError::Text(text.to_owned()))?;
        Self::new(longitude, latitude)
    }
}

impl TryFrom<[f64; 2]> for Place {
    type Error = PlaceError;

    fn try_from([longitude, latitude]: [f64; 2]) -> Result<Self, PlaceError> {
        Self::new(longitude, latitude)
    }
}

impl From<Place> for [f64; 2] {
    fn from(place: Place) -> Self {
        [place.longitude, place.latitude]
    }
}
