//! The nearest of one person's places to a public point: which ones, in their order, and not how
//! near they are.
//!
//! What is released is where in the tuple they are. Two ways: by picking, which is ours and the
//! default, and by searching along a noisy line as in the paper (LY23, algorithms 1 to 3), to
//! compare with.

use eke_budget::number::ParameterError;
use eke_budget::{Amount, Epsilon, Metres, Rho};
use eke_noise::select::{DrawPrice, Moves, Prepaid, PrepaidError};
use eke_noise::{Confidence, Entropy, Released};
use serde::{Deserialize, Serialize};

use crate::width::search_error;
use crate::{Lattice, Places};

/// A question for the nearest places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nearest {
    /// The point of the lattice that they are to be near to. It is public.
    pub to: Vec<i64>,
    /// How many.
    pub count: u32,
    /// How they are found.
    #[serde(default)]
    pub method: NearestMethod,
}

/// How nearest places are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NearestMethod {
    /// By picks, each nearer ones more likely by an exponential of their distance: about a sixth of
    /// the error.
    #[default]
    Ranked,
    /// By searches along a noisy line, as published.
    Paper {
        /// How far beyond the nearest the line is laid, before its noise; not at all unless said.
        #[serde(default)]
        margin: Option<Metres>,
    },
}

/// Why places were not asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacesError {
    /// No places, or fewer than are asked for.
    #[error(
        "{asked} of {there} places were asked for: ask for at least one, and no more than there are"
    )]
    Count {
        /// How many were asked for.
        asked: u32,
        /// How many there are.
        there: usize,
    },
    /// The point has another number of coordinates.
    #[error("the point has {0} coordinates, and the places have {1}")]
    Dimensions(usize, usize),
    /// The price is so low that some step of it would be free, or that its noise cannot be drawn.
    #[error(
        "the price is too low: the noise would reach further than can be drawn; take a higher price"
    )]
    Price,
    /// There is no such noise in this number of dimensions.
    #[error(
        "at a pure price points have one, two or three coordinates: pay in rho for points of more"
    )]
    Pure,
    /// No directions, or too many.
    #[error("a hull is looked for in 1 to {} directions", crate::person::HullPlan::MOST_DIRECTIONS)]
    Directions,
    /// A draw did not fit.
    #[error(transparent)]
    Prepaid(#[from] PrepaidError),
    /// A sensitivity is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// What questions about places can be priced in: rho per square metre, or epsilon per metre.
pub trait PlacePrice: DrawPrice {
    /// With probability `1 - beta`, what is picked at a price is no further beyond the nearest of
    /// `among` places than this, in metres if a metre is a metre.
    ///
    /// - Theorem: choosing-by-distance (docs/theorems.md)
    /// - Proves: the weights of those further beyond add up to little
    /// - Assumes: nothing
    /// - Deviates: in floating point; for information
    /// - Checked by: `picks_are_within_what_is_said_of_them`
    fn pick_error(each: Amount<Self>, among: usize, beta: f64) -> f64;

    /// The epsilon of a search at a price.
    fn search_epsilon(each: Amount<Self>) -> f64;

    /// The epsilon that is published for a search at a price: that, or less.
    fn published_epsilon(each: Amount<Self>) -> f64;

    /// What the noise of a point of n coordinates at a price is beyond with probability `beta` at
    /// most, in metres if a metre is a metre, and not on a lattice; infinite where there is no such
    /// noise.
    ///
    /// - Theorem: hull-containment (docs/theorems.md)
    /// - Proves: tails of normal, chi-square and planar Laplace laws
    /// - Assumes: noise that is many steps wide
    /// - Deviates: in floating point; from three dimensions on a bound and not a quantile for
    ///   Gaussian noise; for information
    /// - Checked by: `noise_reaches_as_far_as_is_said`
    fn reach(price: Amount<Self>, dimensions: usize, beta: f64) -> f64;
}

impl Nearest {
    /// Whether the question can be asked of n places at a price, which the caller should know
    /// before it pays.
    ///
    /// # Errors
    /// There are fewer places, or the price is too low.
    pub fn check<C: PlacePrice>(
        &self,
        lattice: &Lattice,
        there: usize,
        price: Amount<C>,
    ) -> Result<(), PlacesError> {
        if self.count == 0 || self.count as usize > there {
            return Err(PlacesError::Count { asked: self.count, there });
        }
        if self.to.len() != lattice.dimensions() {
            return Err(PlacesError::Dimensions(self.to.len(), lattice.dimensions()));
        }
        let widest = 6.0 / C::search_epsilon(part(price, self.count)) / lattice.grid().step();
        if widest < WIDEST { Ok(()) } else { Err(PlacesError::Price) }
    }

    /// With a confidence, how much further than the j-th nearest place the j-th that is found is at
    /// most, in metres, for one j. For all of them at once, divide the probability of a miss by
    /// their number. None unless the price can be drawn.
    ///
    /// - Theorem: choosing-by-distance (docs/theorems.md), and searching-along-a-line for searches
    /// - Proves: the tails of picks and of searches
    /// - Assumes: places are inside of the region
    /// - Deviates: in floating point, on the plane; for information
    /// - Checked by: `picks_are_within_what_is_said_of_them`, `errors_match_the_golden_values`
    #[must_use]
    pub fn error<C: PlacePrice>(
        &self,
        lattice: &Lattice,
        there: usize,
        price: Amount<C>,
        confidence: Confidence,
    ) -> Option<f64> {
        self.check(lattice, there, price).ok()?;
        let (each, beta) = (part(price, self.count), 1.0 - confidence.get());
        let error = match self.method {
            NearestMethod::Ranked => C::pick_error(each, there, beta),
            NearestMethod::Paper { margin } => search_error::of(
                C::search_epsilon(each),
                there,
                beta,
                margin.map_or(0.0, Metres::get),
            ),
        };
        Some(error * unit(lattice) + slack(lattice))
    }
}

/// The nearest places, by where they are in the tuple, for the whole of a prepaid.
///
/// - Theorem: choosing-by-distance (docs/theorems.md)
/// - Proves: picks at `rho/count` or `epsilon/count` each cost the price, per square metre or per
///   metre
/// - Assumes: the point is public (caller)
/// - Deviates: parts are rounded down
/// - Checked by: `nearest_places_cost_their_price`,
///   `the_nearest_are_found_where_there_is_much_to_spend`
///
/// # Errors
/// The question cannot be asked of these places at this price. Nothing is drawn.
pub fn nearest<C: PlacePrice, E: Entropy + ?Sized>(
    places: &Places,
    question: &Nearest,
    mut prepaid: Prepaid<C>,
    entropy: &mut E,
) -> Result<Released<Vec<u32>>, PlacesError> {
    let price = prepaid.left();
    question.check(places.lattice(), places.count(), price)?;
    let each = part(price, question.count);
    find(places, &question.to, question.method, question.count, each, &mut prepaid, entropy)
}

/// The given number of places near to a point, at a price each.
pub(crate) fn find<C: PlacePrice, E: Entropy + ?Sized>(
    places: &Places,
    to: &[i64],
    method: NearestMethod,
    count: u32,
    each: Amount<C>,
    prepaid: &mut Prepaid<C>,
    entropy: &mut E,
) -> Result<Released<Vec<u32>>, PlacesError> {
    let scores = places.nearness(to)?;
    let found = match method {
        NearestMethod::Ranked => prepaid.pick(&scores, Moves::EitherWay, count, each, entropy),
        NearestMethod::Paper { margin } => {
            let steps = margin.map_or(0, |margin| places.lattice().grid().steps(margin.get()));
            prepaid.search(&scores, steps.unsigned_abs(), count, each, entropy)
        }
    };
    Ok(found?)
}

/// One of n equal parts of a price, rounded down.
pub(crate) fn part<C: PlacePrice>(price: Amount<C>, parts: u32) -> Amount<C> {
    Amount::from_grains(price.grains() / u128::from(parts.max(1)))
}

/// How many metres a metre is, on the lattice.
pub(crate) fn unit(lattice: &Lattice) -> f64 {
    lattice.of_function(1.0).map_or(f64::INFINITY, |steps| steps.get() * lattice.grid().step())
}

/// How far off distances can be for having been put on the lattice and rounded, twice.
pub(crate) fn slack(lattice: &Lattice) -> f64 {
    let root = (lattice.dimensions() as f64).sqrt();
    2.0 * (1.0 + root) * lattice.grid().step()
}

/// The widest noise, in steps: well below what can be drawn.
pub(crate) const WIDEST: f64 = 1e12;

impl PlacePrice for Rho {
    fn pick_error(each: Amount<Self>, among: usize, beta: f64) -> f64 {
        // Those further beyond than t weigh at most `(n-1) exp(-rate t)` beside the nearest's one.
        let rate = (8.0 * each.to_f64()).sqrt() / 2.0;
        (libm::log(others(among) * (1.0 - beta) / beta) / rate).max(0.0)
    }

    fn search_epsilon(each: Amount<Self>) -> f64 {
        (3.6 * each.to_f64()).sqrt()
    }

    fn published_epsilon(each: Amount<Self>) -> f64 {
        (2.0 * each.to_f64()).sqrt()
    }

    fn reach(price: Amount<Self>, dimensions: usize, beta: f64) -> f64 {
        let deviation = 1.0 / (2.0 * price.to_f64()).sqrt();
        let log = libm::log(1.0 / beta);
        deviation
            * match dimensions {
                1 => Confidence::new(1.0 - beta).map_or((2.0 * log).sqrt(), Confidence::quantile),
                2 => (2.0 * log).sqrt(),
                more => {
                    let more = more as f64;
                    (more + 2.0 * (more * log).sqrt() + 2.0 * log).sqrt()
                }
            }
    }
}

impl PlacePrice for Epsilon {
    fn pick_error(each: Amount<Self>, among: usize, beta: f64) -> f64 {
        // The place that is taken was seen before the nearest, and its coin showed heads.
        let rate = each.to_f64() / 2.0;
        (libm::log(others(among) / (2.0 * beta)) / rate).max(0.0)
    }

    fn search_epsilon(each: Amount<Self>) -> f64 {
        each.to_f64()
    }

    fn published_epsilon(each: Amount<Self>) -> f64 {
        each.to_f64()
    }

    fn reach(price: Amount<Self>, dimensions: usize, beta: f64) -> f64 {
        let radius = eke_noise::law::Radius::new(price.to_f64(), dimensions);
        radius.and_then(|radius| radius.quantile(beta)).unwrap_or(f64::INFINITY)
    }
}

fn others(among: usize) -> f64 {
    among.saturating_sub(1) as f64
}
