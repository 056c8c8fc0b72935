//! How a hull is looked for: how its price is shared out, in how many directions, and how far off
//! it may be.

use std::f64::consts::PI;

use eke_budget::Amount;
use eke_noise::Confidence;
use serde::{Deserialize, Serialize};

use crate::person::nearest::{part, slack, unit};
use crate::person::{NearestMethod, PlacesError};
use crate::shape::direction::chord;
use crate::width::search_error::{number, published};
use crate::{Lattice, PlacePrice};

/// How a hull is looked for. All of it is public.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HullPlan {
    /// How places near the circle are found.
    pub method: NearestMethod,
    /// In how many directions.
    pub directions: Directions,
    /// How sure what is said of the error is.
    pub confidence: Confidence,
}

/// In how many directions a hull is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// As many as make what is said of the error smallest, and as many as there are dimensions and
    /// one at least.
    Best,
    /// The same, but no fewer and no more than these.
    Between(u32, u32),
    /// This number.
    Exactly(u32),
}

/// What the parts of a hull cost. Together they are no more than the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HullPrices<C: PlacePrice> {
    /// Of the centre.
    pub centre: Amount<C>,
    /// Of the radius.
    pub radius: Amount<C>,
    /// Of finding places, in all directions together.
    pub anchors: Amount<C>,
    /// Of their points, together.
    pub points: Amount<C>,
}

/// How far a hull is off, in metres on the plane, with the confidence of its plan: no place is
/// further outside of it than all three together, and no corner of it further outside of the
/// places' own hull than the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HullError {
    /// For places that are found a little further from the circle than the nearest.
    pub anchors: f64,
    /// For what lies between two directions.
    pub directions: f64,
    /// For the noise of points.
    pub points: f64,
}

impl HullError {
    /// How far outside of the hull a place may be.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.anchors + self.directions + self.points
    }
}

impl Default for HullPlan {
    fn default() -> Self {
        let confidence = Confidence::new(0.9).expect("a confidence");
        Self { method: NearestMethod::Ranked, directions: Directions::Best, confidence }
    }
}

impl HullPlan {
    /// The most directions that a hull is looked for in.
    pub const MOST_DIRECTIONS: u32 = 1024;

    /// The published plan: searches along a line, and between 16 and 128 directions.
    ///
    /// # Panics
    /// Never: it is a constant.
    #[must_use]
    pub fn published() -> Self {
        let directions = Directions::Between(16, 128);
        Self { method: NearestMethod::Paper { margin: None }, directions, ..Self::default() }
    }

    /// How a price is shared out: half of it for finding places, of which a twentieth is for the
    /// circle, and the rest for their points.
    ///
    /// - Theorem: hull-parts (docs/theorems.md)
    /// - Proves: parts that add up to at most the price
    /// - Assumes: nothing
    /// - Deviates: parts are rounded down
    /// - Checked by: `parts_of_a_hull_add_up_to_its_price`
    #[must_use]
    pub fn prices<C: PlacePrice>(&self, price: Amount<C>) -> HullPrices<C> {
        let finding = part(price, 2);
        let circle = part(finding, 20);
        let radius = part(circle, 3);
        let less = |whole: Amount<C>, part: Amount<C>| whole.minus(part).unwrap_or(Amount::ZERO);
        HullPrices {
            centre: less(circle, radius),
            radius,
            anchors: less(finding, circle),
            points: less(price, finding),
        }
    }

    /// Whether a hull can be bought at a price: something to know before it is paid for.
    ///
    /// # Errors
    /// There are no places, no directions or too many, or the price is too low.
    pub fn check<C: PlacePrice>(
        &self,
        lattice: &Lattice,
        there: usize,
        price: Amount<C>,
    ) -> Result<(), PlacesError> {
        if there == 0 {
            return Err(PlacesError::Count { asked: 1, there });
        }
        let most = match self.directions {
            Directions::Best => Self::MOST_DIRECTIONS,
            Directions::Between(least, most) if least <= most => most,
            Directions::Between(..) => return Err(PlacesError::Directions),
            Directions::Exactly(count) => count,
        };
        if !(1..=Self::MOST_DIRECTIONS).contains(&most) {
            return Err(PlacesError::Directions);
        }
        let prices = self.prices(price);
        let each = part(prices.anchors, most);
        let dimensions = lattice.dimensions();
        let widest = [
            6.0 / C::search_epsilon(each),
            C::reach(part(prices.points, most), dimensions, 0.1),
            C::reach(prices.centre, dimensions, 0.1) * number(dimensions).sqrt(),
            C::reach(prices.radius, 1, 0.1),
        ];
        if widest[1].is_infinite() && !each.is_zero() {
            return Err(PlacesError::Pure);
        }
        let widest = widest.into_iter().fold(0.0, f64::max) / lattice.grid().step();
        if widest < crate::person::nearest::WIDEST { Ok(()) } else { Err(PlacesError::Price) }
    }

    /// In how many directions to look, with a circle of this radius in metres.
    #[must_use]
    pub fn count<C: PlacePrice>(
        &self,
        lattice: &Lattice,
        there: usize,
        price: Amount<C>,
        radius: f64,
    ) -> u32 {
        let dimensions = lattice.dimensions();
        let (least, most) = match self.directions {
            _ if dimensions == 1 => return 2,
            Directions::Exactly(count) => return count,
            Directions::Between(least, most) => (least.max(1), most),
            Directions::Best => {
                let simplex = u32::try_from(dimensions + 1).unwrap_or(Self::MOST_DIRECTIONS);
                (simplex.min(Self::MOST_DIRECTIONS), Self::MOST_DIRECTIONS)
            }
        };
        // It falls and then rises, but for what is rounded.
        let (mut best, mut smallest) = (least, f64::INFINITY);
        for count in least..=most {
            let error = self.planned(dimensions, there, price, radius, count);
            if error < smallest {
                (best, smallest) = (count, error);
            } else if count > best + 8 {
                break;
            }
        }
        best
    }

    /// What the number of directions makes smallest: what is said of the error where all directions
    /// find another place.
    fn planned<C: PlacePrice>(
        &self,
        dimensions: usize,
        there: usize,
        price: Amount<C>,
        radius: f64,
        count: u32,
    ) -> f64 {
        let prices = self.prices(price);
        let (each, beta) = (part(prices.anchors, count), 1.0 - self.confidence.get());
        let points =
            C::reach(part(prices.points, count), dimensions, beta / (2.0 * f64::from(count)));
        match self.method {
            NearestMethod::Ranked => {
                let anchors = C::pick_error(each, there, beta / (4.0 * f64::from(count)));
                anchors + 2.0 * radius * chord(dimensions, count) + points
            }
            // As published: its constants, and the length of an arc for that of its chord.
            NearestMethod::Paper { .. } => {
                let log = 4.0 * (4.0 * number(there) + 2.0) * f64::from(count) / beta;
                let anchors = published(C::published_epsilon(each), libm::log(log));
                let between = match dimensions {
                    2 => 2.0 * PI * radius / f64::from(count),
                    _ => 2.0 * radius * chord(dimensions, count),
                };
                anchors + between + points
            }
        }
    }

    /// How far a hull is off that was looked for in the given number of directions on a circle of
    /// this radius in metres, and for which the given number of different places was found.
    ///
    /// - Theorem: hull-containment (docs/theorems.md)
    /// - Proves: but for the confidence, all places are within the total of the hull, and its
    ///   corners within the noise of points of theirs
    /// - Assumes: places are inside of the region; in three dimensions and more, that the
    ///   directions are as even as caps of equal area would be, which is not proven: there it is an
    ///   estimate
    /// - Deviates: in floating point; for information
    /// - Checked by: `hulls_are_within_what_is_said_of_them`, `directions_match_the_golden_values`
    #[must_use]
    pub fn error<C: PlacePrice>(
        &self,
        lattice: &Lattice,
        there: usize,
        price: Amount<C>,
        radius: f64,
        [count, found]: [u32; 2],
    ) -> HullError {
        let (prices, dimensions) = (self.prices(price), lattice.dimensions());
        let beta = 1.0 - self.confidence.get();
        let (each, part_of_beta) = (part(prices.anchors, count), beta / (4.0 * f64::from(count)));
        let anchors = match self.method {
            NearestMethod::Ranked => C::pick_error(each, there, part_of_beta),
            NearestMethod::Paper { margin } => {
                let margin = margin.map_or(0.0, eke_budget::Metres::get);
                crate::width::search_error::of(C::search_epsilon(each), there, part_of_beta, margin)
            }
        };
        let noise =
            C::reach(part(prices.points, found), dimensions, beta / (2.0 * f64::from(found)));
        HullError {
            anchors: anchors * unit(lattice) + slack(lattice),
            directions: 2.0 * radius * chord(dimensions, count) + slack(lattice),
            points: noise * unit(lattice) + slack(lattice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{Epsilon, Rho};
    use proptest::prelude::*;

    /// The published expression, minimised over all numbers of directions, and its least value.
    fn published<C: PlacePrice>(price: &str, there: usize, radius: f64, beta: f64) -> (u32, f64)
    where
        Amount<C>: std::str::FromStr<Err: std::fmt::Debug>,
    {
        let confidence = Confidence::new(1.0 - beta).unwrap();
        let plan = HullPlan { confidence, ..HullPlan::published() };
        let error = |count: u32| plan.planned::<C>(2, there, price.parse().unwrap(), radius, count);
        let best = (1..200).min_by(|one, two| error(*one).total_cmp(&error(*two))).unwrap();
        (best, error(best))
    }

    #[test]
    fn directions_match_the_golden_values() {
        for (price, there, radius, beta, best, error) in [
            ("0.00005", 20_000, 1e4, 0.1, 2, 83_642.442_454_068_47),
            ("0.0005", 20_000, 5e4, 0.1, 12, 71_146.850_342_927_54),
            ("0.01", 5000, 2e4, 0.05, 18, 19_115.280_384_403_064),
        ] {
            let (count, least) = published::<Rho>(price, there, radius, beta);
            assert!((least / error - 1.0).abs() < 1e-9, "{least} {error}");
            assert_eq!(count, best);
        }
        for (price, there, radius, beta, best, error) in [
            ("0.07456680117817373217850516", 20_000, 1e4, 0.1, 3, 43_297.534_684_268_474),
            ("0.2358009295559559810385852", 20_000, 5e4, 0.1, 11, 56_598.310_985_715_98),
            ("1.054533815289513747635544", 5000, 2e4, 0.05, 15, 16_781.197_383_288_003),
        ] {
            let (count, least) = published::<Epsilon>(price, there, radius, beta);
            assert!((least / error - 1.0).abs() < 1e-9, "{least} {error}");
            assert_eq!(count, best);
        }
    }

    #[test]
    fn better_picks_are_worth_more_directions() {
        let region =
            Lattice::boxed(2, eke_budget::Metres::new(5e4).unwrap(), eke_budget::Metres::ONE);
        let (lattice, price) = (region.unwrap(), "0.00005".parse::<Amount<Rho>>().unwrap());
        let ours = HullPlan::default().count(&lattice, 20_000, price, 1e4);
        let theirs = HullPlan { directions: Directions::Best, ..HullPlan::published() };
        let theirs = theirs.count(&lattice, 20_000, price, 1e4);
        assert!(theirs == 3 && (8..=16).contains(&ours), "{theirs} {ours}");
        assert_eq!(HullPlan::published().count(&lattice, 20_000, price, 1e4), 16);
        let plan = |directions| HullPlan { directions, ..HullPlan::default() };
        assert_eq!(plan(Directions::Exactly(7)).count(&lattice, 20_000, price, 1e4), 7);
        for wrong in [Directions::Exactly(0), Directions::Exactly(2000), Directions::Between(9, 8)]
        {
            assert_eq!(plan(wrong).check(&lattice, 10, price), Err(PlacesError::Directions));
        }
        assert!(plan(Directions::Best).check(&lattice, 0, price).is_err());
        let least = Amount::<Rho>::GRAIN;
        assert_eq!(plan(Directions::Best).check(&lattice, 10, least), Err(PlacesError::Price));
    }

    proptest! {
        #[test]
        fn parts_of_a_hull_add_up_to_its_price(grains in 1u128..1 << 100, count in 1u32..1024) {
            let price = Amount::<Rho>::from_grains(grains);
            let HullPrices { centre, radius, anchors, points } = HullPlan::default().prices(price);
            let sum = [centre, radius, anchors, points].iter().map(|part| part.grains()).sum::<u128>();
            prop_assert_eq!(sum, grains);
            prop_assert!(part(anchors, count).grains() * u128::from(count) <= anchors.grains());
        }
    }
}
