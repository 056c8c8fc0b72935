//! The convex hull of somebody's places, nearly: around a circle, through places that were found
//! near it.

use eke_budget::{Amount, Price};
use eke_geo::person::{HullError, HullPlan};
use eke_geo::{Hull, Lattice, Place, Region, hull};
use eke_noise::select::{Allotment, Prepaid};
use serde::{Deserialize, Serialize};

use super::nearest::cannot;
use super::person::{Person, PersonStanding, PlacePrice};
use super::release::{damaged, entropy};
use super::{PlaceFile, PlacesError};

/// A hull as it was released.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HullOfPlaces {
    /// What was released.
    #[serde(flatten)]
    pub told: ToldHull,
    /// What it cost in all: rho per square metre or epsilon per metre.
    pub price: f64,
    /// What it cost now.
    pub cost: f64,
    /// What the account has spent and has left.
    #[serde(flatten)]
    pub standing: PersonStanding,
}

/// What a hull tells, on the earth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldHull {
    /// Its corners, one after the other around it.
    pub corners: Vec<Place>,
    /// Its area, in square metres.
    pub area: f64,
    /// The middle of the circle that it was looked for on.
    pub centre: Place,
    /// The radius of that, in metres.
    pub radius: f64,
    /// In how many directions it was looked for.
    pub directions: u32,
    /// Which rows were found, from one.
    pub rows: Vec<u32>,
    /// Where these are, with noise.
    pub points: Vec<Place>,
    /// How far it is off, in metres, with the confidence of its plan.
    pub error: HullError,
}

impl Person {
    /// Releases an approximate convex hull of the places of a file. The function gets the number of
    /// rows read so far.
    ///
    /// # Errors
    /// The budget does not allow it, or something does not work; the error says what.
    pub fn hull(
        &mut self,
        file: &PlaceFile,
        region: Region,
        plan: &HullPlan,
        price: PlacePrice,
        seen: &dyn Fn(u64),
    ) -> Result<HullOfPlaces, PlacesError> {
        let lattice = Lattice::of(region, self.least())?;
        match price {
            PlacePrice::Rho(rho) => self.hull_at(file, &lattice, plan, rho, seen),
            PlacePrice::Epsilon(epsilon) => self.hull_at(file, &lattice, plan, epsilon, seen),
        }
    }

    fn hull_at<C: eke_geo::PlacePrice + Price + Send + Sync>(
        &mut self,
        file: &PlaceFile,
        lattice: &Lattice,
        plan: &HullPlan,
        price: Amount<C>,
        seen: &dyn Fn(u64),
    ) -> Result<HullOfPlaces, PlacesError> {
        let among = self.snapshot(file)?;
        plan.check(lattice, among, price).map_err(cannot)?;
        let charge = C::charge(price, Amount::ZERO);
        let name = self.path("hull", file, &(lattice, plan, charge.to_string()))?;
        let text = format!("the hull of {among} places of `{}`, for {charge}", file.name());
        let (body, is_free) = self.spend(&text, name, &Allotment { price }, |receipt| {
            let places = self.places(file, lattice, among, seen)?;
            let found = hull(&places, plan, Prepaid::open(receipt), &mut entropy()?);
            let told = ToldHull::new(lattice, &found.map_err(cannot)?)?;
            serde_json::to_vec(&told).map_err(damaged)
        })?;
        Ok(HullOfPlaces {
            told: serde_json::from_slice(&body).map_err(damaged)?,
            price: price.to_f64(),
            cost: if is_free { 0.0 } else { price.to_f64() },
            standing: self.standing()?,
        })
    }
}

impl ToldHull {
    fn new(lattice: &Lattice, hull: &Hull) -> Result<Self, PlacesError> {
        let region = lattice.region().ok_or_else(|| damaged("a lattice of no region"))?;
        let step = lattice.grid().step();
        let place = |point: &[i64]| {
            let metres = |at: usize| lattice.grid().length(point.get(at).copied().unwrap_or(0));
            region.place([metres(0), metres(1)])
        };
        let outline = hull.outline.as_ref();
        let corners = outline.map_or(&[][..], |outline| outline.corners());
        Ok(Self {
            corners: corners.iter().map(|corner| place(corner)).collect(),
            area: outline.map_or(0.0, |outline| outline.area() * step * step),
            centre: place(&hull.centre),
            radius: lattice.grid().length(hull.radius),
            directions: hull.directions,
            rows: hull.anchors.iter().map(|row| row.saturating_add(1)).collect(),
            points: hull.points.iter().map(|point| place(point)).collect(),
            error: hull.error,
        })
    }
}
