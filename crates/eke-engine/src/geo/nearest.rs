//! Which of somebody's places are nearest to a public place: which rows of the file, and not where
//! they are.

use eke_budget::{Amount, Price};
use eke_geo::person::NearestMethod;
use eke_geo::{Lattice, Nearest, Place, Places, Region, nearest};
use eke_noise::Confidence;
use eke_noise::select::{Allotment, Prepaid};
use serde::Serialize;

use super::person::{Person, PersonStanding, PlacePrice};
use super::release::{damaged, entropy};
use super::{PlaceFile, PlacesError, WrongAsking};

/// The nearest places, as rows of their file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearestPlaces {
    /// Which rows, from one, the nearest first.
    pub rows: Vec<u32>,
    /// How many there are to choose from.
    pub among: usize,
    /// What it cost in all, and now: rho per square metre or epsilon per metre.
    pub price: f64,
    /// What it cost now.
    pub cost: f64,
    /// With 95 %, a place that was found is at most this many metres further away than the one
    /// that should have been found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// What the account has spent and has left.
    #[serde(flatten)]
    pub standing: PersonStanding,
}

impl Person {
    /// Releases which places of a file are nearest to a public place. The function gets the number
    /// of rows read so far.
    ///
    /// # Errors
    /// The budget does not allow it, or something does not work; the error says what.
    pub fn nearest(
        &mut self,
        file: &PlaceFile,
        region: Region,
        asked: (Place, u32, NearestMethod),
        price: PlacePrice,
        seen: &dyn Fn(u64),
    ) -> Result<NearestPlaces, PlacesError> {
        let (to, count, method) = asked;
        let lattice = Lattice::of(region, self.least())?;
        let to = lattice.put_place(to).ok_or_else(|| damaged("a lattice of no region"))?;
        let question = Nearest { to, count, method };
        match price {
            PlacePrice::Rho(rho) => self.nearest_at(file, &lattice, &question, rho, seen),
            PlacePrice::Epsilon(epsilon) => {
                self.nearest_at(file, &lattice, &question, epsilon, seen)
            }
        }
    }

    fn nearest_at<C: eke_geo::PlacePrice + Price + Send + Sync>(
        &mut self,
        file: &PlaceFile,
        lattice: &Lattice,
        question: &Nearest,
        price: Amount<C>,
        seen: &dyn Fn(u64),
    ) -> Result<NearestPlaces, PlacesError> {
        let among = self.snapshot(file)?;
        question.check(lattice, among, price).map_err(cannot)?;
        let charge = C::charge(price, Amount::ZERO);
        let name = self.path("nearest", file, &(lattice, question, charge.to_string()))?;
        let text = format!(
            "the {} nearest of {among} places of `{}`, for {charge}",
            question.count,
            file.name()
        );
        let (body, is_free) = self.spend(&text, name, &Allotment { price }, |receipt| {
            let places = self.places(file, lattice, among, seen)?;
            let fund = Prepaid::open(receipt);
            let found = nearest(&places, question, fund, &mut entropy()?).map_err(cannot)?;
            serde_json::to_vec(&found).map_err(damaged)
        })?;
        let found: Vec<u32> = serde_json::from_slice(&body).map_err(damaged)?;
        let confidence = Confidence::new(0.95).ok();
        Ok(NearestPlaces {
            rows: found.into_iter().map(|row| row.saturating_add(1)).collect(),
            among,
            price: price.to_f64(),
            cost: if is_free { 0.0 } else { price.to_f64() },
            error: confidence.and_then(|sure| question.error(lattice, among, price, sure)),
            standing: self.standing()?,
        })
    }

    /// The first `count` places of a file on a lattice; what is no place or missing is in the
    /// middle.
    pub(super) fn places(
        &self,
        file: &PlaceFile,
        lattice: &Lattice,
        count: usize,
        seen: &dyn Fn(u64),
    ) -> Result<Places, PlacesError> {
        let region = lattice.region().ok_or_else(|| damaged("a lattice of no region"))?;
        let rows = file.rows(seen)?.into_iter().map(|row| row.place.unwrap_or(region.centre()));
        let places = rows.chain(std::iter::repeat(region.centre())).take(count);
        Places::on_earth(*lattice, places).ok_or_else(|| damaged("a lattice of no region"))
    }
}

pub(super) fn cannot(error: eke_geo::person::PlacesError) -> PlacesError {
    WrongAsking::from(error).into()
}
