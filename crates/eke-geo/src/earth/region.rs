//! A part of the earth, laid out flat in metres.
//!
//! A region is a disc: a centre and a radius, both public. A place is drawn on a plane at its own
//! distance and in its own direction from the centre, as one steps out from there. On the plane
//! distances from the centre are those of the earth, and distances across are a little longer, by
//! at most the [stretch](Region::stretch): one part in a hundred thousand for a city. A place
//! outside is moved to the rim, straight towards the centre. What is on the other side of the
//! earth, where all directions meet again, is moved to the centre.

use std::f64::consts::{FRAC_PI_2, PI};

use eke_budget::Metres;
use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic};
use serde::{Deserialize, Serialize};

use crate::Place;
use crate::earth::PlaceError;

/// Half the axis of the earth, the smallest radius of curvature being larger everywhere but on the
/// equator.
const POLAR_RADIUS: f64 = 6_356_752.314_245;

/// How far geodesics that are computed in doubles may be from the true ones, in metres: a hundred
/// times what they are known to be.
pub(crate) const SLACK: f64 = 2e-6;

/// A disc on the earth that places are laid out flat in.
///
/// - Theorem: disc-projection (docs/theorems.md)
/// - Proves: places that are r metres apart along the earth, wherever on it, are at most
///   `stretch · r` apart on the plane
/// - Assumes: nothing about the places; the centre and the radius are public (caller)
/// - Deviates: geodesics are computed in doubles, which moves a place by less than a thousandth of
///   a millimetre; a [`Lattice`](crate::Lattice) accounts for it
/// - Checked by: `no_two_places_on_earth_are_stretched_by_more_than_stated`,
///   `places_come_back_from_the_plane`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Region {
    centre: Place,
    radius: Metres,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    centre: Place,
    radius: Metres,
}

/// Why a region is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The radius is too large.
    #[error("a region's radius is at most 1000 km: {0} m would stretch distances too much")]
    Radius(Metres),
    /// A corner is not a place.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The corners are in the wrong order.
    #[error(
        "a box is west,south,east,north in degrees, with south below north and west before east"
    )]
    Corners,
}

impl Region {
    /// The largest radius, in metres: distances are stretched by 0.4 % at most.
    pub const LARGEST: f64 = 1_000_000.0;

    /// The disc of this radius around a place.
    ///
    /// # Errors
    /// The radius is above [`Region::LARGEST`].
    pub fn new(centre: Place, radius: Metres) -> Result<Self, RegionError> {
        if radius.get() > Self::LARGEST {
            return Err(RegionError::Radius(radius));
        }
        Ok(Self { centre, radius })
    }

    /// The disc around a box of longitudes and latitudes.
    ///
    /// # Errors
    /// The corners are not those of a box, or it is too large.
    pub fn around(west: f64, south: f64, east: f64, north: f64) -> Result<Self, RegionError> {
        let centre = Place::new(f64::midpoint(west, east), f64::midpoint(south, north))?;
        if south >= north || west >= east || east - west > 180.0 {
            return Err(RegionError::Corners);
        }
        // A parallel is longest where it is closest to the equator.
        let widest = 0.0f64.clamp(south, north);
        let corners = [south, widest, north].map(|latitude| [(west, latitude), (east, latitude)]);
        let mut radius = 0.0f64;
        for (longitude, latitude) in corners.into_iter().flatten() {
            radius = radius.max(polar(centre, Place::new(longitude, latitude)?).0);
        }
        let radius = Metres::new(radius.ceil()).map_err(|_| RegionError::Corners)?;
        Self::new(centre, radius)
    }

    /// The middle.
    #[must_use]
    pub fn centre(&self) -> Place {
        self.centre
    }

    /// How far it reaches.
    #[must_use]
    pub fn radius(&self) -> Metres {
        self.radius
    }

    /// How many times longer than on the earth a distance on the plane can be, rounded up.
    #[must_use]
    pub fn stretch(&self) -> f64 {
        let angle = self.radius.get() / POLAR_RADIUS;
        (angle / libm::sin(angle)).max(1.0) * (1.0 + 1e-14)
    }

    /// Where a place is on the plane, in metres to the east and to the north of the centre.
    #[must_use]
    pub fn project(&self, place: Place) -> [f64; 2] {
        let (distance, direction) = polar(self.centre, place);
        let back = (PI * POLAR_RADIUS - distance).max(0.0);
        let distance = distance.min(self.radius.get()).min(back);
        let (east, north) = libm::sincos(direction);
        [distance * east, distance * north]
    }

    /// The place that a point of the plane stands for; beyond a quarter of the way around the earth
    /// that is as far as it goes.
    #[must_use]
    pub fn place(&self, [east, north]: [f64; 2]) -> Place {
        let distance = libm::hypot(east, north).min(FRAC_PI_2 * POLAR_RADIUS);
        let direction = libm::atan2(east, north).to_degrees();
        let (latitude, longitude): (f64, f64) = Geodesic::wgs84().direct(
            self.centre.latitude(),
            self.centre.longitude(),
            direction,
            distance,
        );
        Place::new(longitude, latitude.clamp(-90.0, 90.0)).unwrap_or(self.centre)
    }

    /// Whether a place is inside: something to tell people about public places, and about their
    /// own.
    #[must_use]
    pub fn contains(&self, place: Place) -> bool {
        polar(self.centre, place).0 <= self.radius.get()
    }
}

/// How far, and in which direction from north, in radians.
fn polar(from: Place, to: Place) -> (f64, f64) {
    let (distance, direction, _, _): (f64, f64, f64, f64) =
        Geodesic::wgs84().inverse(from.latitude(), from.longitude(), to.latitude(), to.longitude());
    (distance, direction.to_radians())
}

impl TryFrom<Stored> for Region {
    type Error = RegionError;

    fn try_from(Stored { centre, radius }: Stored) -> Result<Self, RegionError> {
        Self::new(centre, radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apart(one: [f64; 2], two: [f64; 2]) -> f64 {
        libm::hypot(one[0] - two[0], one[1] - two[1])
    }

    fn region(longitude: f64, latitude: f64, radius: f64) -> Region {
        let centre = Place::new(longitude, latitude).unwrap();
        Region::new(centre, Metres::new(radius).unwrap()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Anywhere on earth: near, on the rim, far outside, on the other side, across a pole.
        #[test]
        fn no_two_places_on_earth_are_stretched_by_more_than_stated(
            centre in (-180.0f64..180.0, -90.0f64..=90.0),
            log_radius in 2.0f64..13.815,
            place in (0.0f64..360.0, prop_oneof![0.0f64..1.1, 0.9f64..1.1, 1.0f64..40.0, Just(f64::NAN)]),
            step in (0.0f64..360.0, -4.0f64..16.0),
        ) {
            let region = region(centre.0, centre.1, log_radius.exp());
            let away = |from: Place, direction: f64, distance: f64| {
                let (latitude, longitude): (f64, f64) = Geodesic::wgs84()
                    .direct(from.latitude(), from.longitude(), direction, distance);
                Place::new(longitude, latitude.clamp(-90.0, 90.0)).unwrap()
            };
            // Not a number: close to the other side.
            let distance = if place.1.is_nan() {
                PI * POLAR_RADIUS + step.1 * 3_000.0
            } else {
                (place.1 * region.radius().get()).min(2.0e7)
            };
            let one = away(region.centre(), place.0, distance);
            let two = away(one, step.0, step.1.exp());
            let ground = polar(one, two).0;
            let plane = apart(region.project(one), region.project(two));
            prop_assert!(
                plane <= region.stretch() * ground + SLACK,
                "{region:?} {one} {two}: {plane} {ground}"
            );
            for point in [region.project(one), region.project(two)] {
                prop_assert!(apart(point, [0.0; 2]) <= region.radius().get() * (1.0 + 1e-14));
            }
        }

        #[test]
        fn places_come_back_from_the_plane(
            centre in (-180.0f64..180.0, -89.0f64..89.0),
            radius in 10.0f64..1e6,
            place in (0.0f64..1.0, 0.0f64..std::f64::consts::TAU),
        ) {
            let region = region(centre.0, centre.1, radius);
            let point = [place.0 * radius * place.1.sin(), place.0 * radius * place.1.cos()];
            let place = region.place(point);
            prop_assert!(apart(region.project(place), point) < SLACK, "{place}");
            prop_assert!((polar(region.centre(), place).0 - libm::hypot(point[0], point[1])).abs() < SLACK);
        }
    }

    /// Metres are metres: in San Francisco Mercator's would be 1.26 times as long.
    #[test]
    fn a_kilometre_in_san_francisco_is_a_kilometre() {
        let city = Region::around(-122.6, 37.5, -122.2, 37.9).unwrap();
        assert!((1.0..1.00001).contains(&city.stretch()), "{}", city.stretch());
        let one = Place::new(-122.419, 37.775).unwrap();
        let two = Place::new(-122.407_648, 37.775).unwrap();
        let ground = polar(one, two).0;
        assert!((ground - 1000.0).abs() < 1.0, "{ground}");
        let plane = apart(city.project(one), city.project(two));
        assert!((plane / ground - 1.0).abs() < 1e-5, "{plane} {ground}");
    }

    #[test]
    fn what_is_no_region_is_refused_in_a_sentence() {
        let centre = Place::new(0.0, 0.0).unwrap();
        let error = Region::new(centre, Metres::new(1.1e6).unwrap()).unwrap_err();
        assert!(error.to_string().starts_with("a region's radius is at most 1000 km"), "{error}");
        assert!(Region::around(1.0, 1.0, 0.0, 2.0).is_err());
        assert!(Region::around(0.0, 2.0, 1.0, 1.0).is_err());
        let region = Region::new(centre, Metres::new(1e6).unwrap()).unwrap();
        assert!(region.stretch() < 1.0042);
        let text = serde_json::to_string(&region).unwrap();
        assert_eq!(text, r#"{"centre":[0.0,0.0],"radius":1000000.0}"#);
        assert_eq!(serde_json::from_str::<Region>(&text).unwrap(), region);
        assert!(serde_json::from_str::<Region>(&text.replace("1000000", "2000000")).is_err());
    }
}
