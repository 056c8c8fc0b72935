//! Telling where somebody's places are, each with noise.
//!
//! Gaussian noise is a path over all coordinates: telling the same places more precisely later
//! costs the difference, and less precisely nothing. Planar Laplace noise has no path here: each
//! price is a release of its own, and the same one again is the same and free.

use eke_budget::purchase::RevealReceipt;
use eke_budget::{Amount, Charge, Epsilon, Metres, Rho};
use eke_geo::{Blur, Place, Region, Tuple, TupleMetric};
use eke_ledger::Show;
use eke_noise::path::{Mismatch, MismatchReason};
use eke_noise::release::{PointsRelease, release_points};
use eke_noise::{GaussianPath, NoisePath, SystemEntropy};
use serde::Serialize;

use super::person::{Person, PersonStanding, PlacePrice};
use super::{PlaceFile, PlacesError, WrongAsking};

/// Places as they were released, and how far they may be off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReleasedPlaces {
    /// As many as there are, in their order.
    pub places: Vec<Place>,
    /// The noise: `gaussian` or `planar-laplace`.
    pub noise: &'static str,
    /// What they cost in all: rho per square metre or epsilon per metre.
    pub price: f64,
    /// What they cost now.
    pub cost: f64,
    /// How far apart two tuples of places are.
    pub metric: TupleMetric,
    /// The distance from which on the price per metre holds.
    pub least: Metres,
    /// How far a place is off on average, in metres.
    pub mean: f64,
    /// What 19 of 20 places are within, in metres.
    pub within: f64,
    /// What all places are within with probability 95 %, in metres.
    pub all_within: f64,
    /// What the account has spent and has left.
    #[serde(flatten)]
    pub standing: PersonStanding,
}

/// The probability that places are further off than is said.
const BETA: f64 = 0.05;

impl Person {
    /// Releases the places of a file with noise, at a price. The function gets the number of rows
    /// read so far.
    ///
    /// # Errors
    /// The budget does not allow it, or something does not work; the error says what.
    pub fn release(
        &mut self,
        file: &PlaceFile,
        region: Region,
        price: PlacePrice,
        seen: &dyn Fn(u64),
    ) -> Result<ReleasedPlaces, PlacesError> {
        let places = self.snapshot(file)?;
        let tuple = Tuple::of(region, self.least(), places, self.metric())?;
        let released = match price {
            PlacePrice::Rho(rho) => self.gaussian(file, &tuple, rho, seen)?,
            PlacePrice::Epsilon(epsilon) => self.planar(file, &tuple, epsilon, seen)?,
        };
        let Told { points, blur, noise, price, cost } = released;
        let radius = |of: Option<f64>| of.unwrap_or(f64::INFINITY);
        Ok(ReleasedPlaces {
            places: tuple.places(&points).unwrap_or_default(),
            noise,
            price,
            cost,
            metric: tuple.metric(),
            least: tuple.least(),
            mean: blur.map_or(f64::INFINITY, |blur| blur.mean()),
            within: radius(blur.and_then(|blur| blur.within(BETA))),
            all_within: radius(blur.and_then(|blur| blur.all_within(BETA))),
            standing: self.standing()?,
        })
    }

    fn gaussian(
        &self,
        file: &PlaceFile,
        tuple: &Tuple,
        to: Amount<Rho>,
        seen: &dyn Fn(u64),
    ) -> Result<Told, PlacesError> {
        let id = self.path("identity", file, tuple)?;
        let load = || -> Result<GaussianPath<Vec<i64>>, PlacesError> {
            let Some(state) = self.stored(id)? else {
                return Ok(GaussianPath::open(id, tuple.length()));
            };
            let path: GaussianPath<Vec<i64>> = serde_json::from_slice(&state).map_err(damaged)?;
            if path.id() == id { Ok(path) } else { Err(damaged("it is another path's")) }
        };
        let mut path = load()?;
        let worth = |path: &GaussianPath<Vec<i64>>| path.worth(path.finest());
        let mut cost = Amount::ZERO;
        if let Some(more) = to.minus(worth(&path)).filter(|more| !more.is_zero()) {
            let too_much = || damaged("more has been spent on it than is counted");
            let next = path.finest().plus(more).ok_or_else(too_much)?;
            path.can_refine(next).map_err(cannot)?;
            // What was paid for and lost before it was drawn stays paid, and is a gap in the path.
            let paid = self.level(id)?.max(path.finest());
            let to = paid.plus(more).ok_or_else(too_much)?;
            let question = asked("tell", file, tuple, &format!("rho={to}"));
            let show = Show { path: id, to, sensitivity: tuple.length() };
            self.along(&question, show, |receipt| {
                let RevealReceipt::Finer(receipt) = receipt.sorted() else {
                    return Err(damaged("what is paid for is not what was asked for"));
                };
                cost = receipt.purchase().price();
                // From here on nobody else changes it.
                path = load()?;
                let truth = tuple.exact(self.put(file, tuple, seen)?);
                path.refine(&truth, receipt, &mut entropy()?)
                    .map_err(|Mismatch { reason, .. }| cannot(reason))?;
                serde_json::to_vec(&path).map_err(damaged)
            })?;
        }
        let at = path.finest();
        let points = path.point(at).ok_or_else(|| damaged("a point is missing"))?.get();
        Ok(Told {
            points,
            blur: Blur::gaussian(tuple, worth(&path)),
            noise: "gaussian",
            price: worth(&path).to_f64(),
            cost: cost.to_f64(),
        })
    }

    fn planar(
        &self,
        file: &PlaceFile,
        tuple: &Tuple,
        epsilon: Amount<Epsilon>,
        seen: &dyn Fn(u64),
    ) -> Result<Told, PlacesError> {
        let release = PointsRelease { epsilon, sensitivity: tuple.lengths() };
        release.can_release().map_err(cannot)?;
        let name = self.path("identity", file, &(tuple, epsilon.to_string()))?;
        let charge = Charge::Pure { epsilon, delta: Amount::ZERO };
        let question = asked("tell", file, tuple, &charge.to_string());
        let (body, is_free) = self.spend(&question, name, &release, |receipt| {
            let truth = tuple.exact_points(self.put(file, tuple, seen)?);
            let points = release_points(&truth, receipt, &mut entropy()?)
                .map_err(|Mismatch { reason, .. }| cannot(reason))?;
            serde_json::to_vec(&points).map_err(damaged)
        })?;
        Ok(Told {
            points: serde_json::from_slice(&body).map_err(damaged)?,
            blur: Blur::planar(tuple, epsilon),
            noise: "planar-laplace",
            price: epsilon.to_f64(),
            cost: if is_free { 0.0 } else { epsilon.to_f64() },
        })
    }

    /// The places of a file on the lattice.
    pub(super) fn put(
        &self,
        file: &PlaceFile,
        tuple: &Tuple,
        seen: &dyn Fn(u64),
    ) -> Result<Vec<i64>, PlacesError> {
        Ok(tuple.put_places(file.rows(seen)?.into_iter().map(|row| row.place)))
    }
}

struct Told {
    points: Vec<i64>,
    blur: Option<Blur>,
    noise: &'static str,
    price: f64,
    cost: f64,
}

/// What is asked, for the journal.
pub(super) fn asked(what: &str, file: &PlaceFile, tuple: &Tuple, price: &str) -> String {
    let region = tuple.lattice().region();
    let region = region.map_or_else(String::new, |region| {
        format!(" within {} m of {}", region.radius(), region.centre())
    });
    format!("{what} {} places of `{}`{region}, by {price}", tuple.points(), file.name())
}

pub(super) fn entropy() -> Result<SystemEntropy, PlacesError> {
    SystemEntropy::new().map_err(|error| PlacesError::Entropy(error.to_string()))
}

pub(super) fn damaged(why: impl std::fmt::Display) -> PlacesError {
    PlacesError::Stored(why.to_string())
}

fn cannot(reason: MismatchReason) -> PlacesError {
    WrongAsking::Undrawable(reason).into()
}
