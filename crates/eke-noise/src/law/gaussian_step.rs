//! How one value goes along a path of Gaussian noise: what a price pays for, what a coarser version
//! of an increment is drawn from, and how increments are averaged.

use dashu_int::IBig;
use eke_budget::{Amount, L2, Rho};

use crate::law::Centre;
use crate::number::ScaleError;
use crate::path::MismatchReason;
use crate::{DiscreteGaussian, Entropy, Ratio};

/// The narrowest noise on the grid, as a variance in steps squared. Above it, sums of discrete
/// Gaussians are discrete Gaussians up to a factor within 1e-270 of one.
const NARROWEST: u128 = 64;

/// The widest noise that is drawn, as a variance in steps squared: a little below the square of the
/// widest scale, which is compared as a double.
const WIDEST: u128 = (1 << 86) - (1 << 56);

/// The variance that a price pays for, in steps squared: `sensitivity²/(2 price)`, exactly. None
/// for a price of nothing.
///
/// - Theorem: gaussian-release (docs/theorems.md)
/// - Proves: a discrete Gaussian of this variance costs the price, for a truth of this sensitivity
/// - Assumes: the truth has the sensitivity (caller)
/// - Deviates: nothing; the double is taken at its exact value
/// - Checked by: `a_gaussian_point_has_the_variance_it_was_paid_for`
#[must_use]
pub fn variance_for(sensitivity: L2, price: Amount<Rho>) -> Option<Ratio> {
    GaussianLaw { sensitivity }.variance(price)
}

/// The law of a truth that one unit changes by at most a sensitivity, in steps of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GaussianLaw {
    pub(crate) sensitivity: L2,
}

impl GaussianLaw {
    /// The variance that a price pays for: `sensitivity²/(2 price)`.
    pub(crate) fn variance(self, price: Amount<Rho>) -> Option<Ratio> {
        let sensitivity = Ratio::from_f64(self.sensitivity.get())?;
        let twice = Ratio::new(price.grains(), Amount::<Rho>::ONE.grains())?.times(&2u8.into());
        Some(sensitivity.squared().over(&twice))
    }

    /// The variance of a new increment of this price.
    pub(crate) fn increment(self, price: Amount<Rho>) -> Result<Ratio, MismatchReason> {
        let variance = self.variance(price).ok_or(MismatchReason::OtherStep)?;
        if variance.is_below(NARROWEST) { Err(MismatchReason::TooFine) } else { Ok(variance) }
    }

    /// The least and the most that one increment may cost, so that its noise is neither too wide
    /// nor too fine.
    pub(crate) fn increments(self) -> (Amount<Rho>, Amount<Rho>) {
        let price = |variance: u128| Ratio::new(variance, 1).and_then(|wide| self.price_of(&wide));
        let least = price(WIDEST).and_then(|price| price.plus(Amount::GRAIN));
        (least.unwrap_or(Amount::MAX), price(NARROWEST).unwrap_or(Amount::MAX))
    }

    /// What a version at a price inside an increment is drawn from, given that the increment starts
    /// at `from` and has versions stored at the prices `finer` and, if any, `coarser`.
    pub(crate) fn version(
        self,
        from: Amount<Rho>,
        at: Amount<Rho>,
        finer: Amount<Rho>,
        coarser: Option<Amount<Rho>>,
    ) -> Result<Version, MismatchReason> {
        let variance = |at: Amount<Rho>| {
            let price = at.minus(from).ok_or(MismatchReason::OtherStep)?;
            self.variance(price).ok_or(MismatchReason::OtherStep)
        };
        let fine_variance = variance(finer)?;
        // No closer to the finer version than the narrowest noise.
        let limit = self.price_of(&fine_variance.plus_whole(NARROWEST));
        let at = limit.and_then(|price| from.plus(price)).map_or(at, |limit| at.min(limit));
        if at <= from {
            return Err(MismatchReason::OtherStep);
        }
        // Nor to the coarser one: then that is the answer. The first of these two also where the
        // limit was beyond it.
        if coarser.is_some_and(|coarser| at <= coarser) {
            return Ok(Version::Coarser);
        }
        let residual = variance(at)?.minus(&fine_variance).ok_or(MismatchReason::OtherStep)?;
        let Some(coarser) = coarser else { return Ok(Version::Residual { at, residual }) };
        let beyond = variance(coarser)?.minus(&variance(at)?);
        let Some(beyond) = beyond.filter(|beyond| !beyond.is_below(NARROWEST)) else {
            return Ok(Version::Coarser);
        };
        // Around the part of the way that the residual is of both, with their harmonic sum.
        let part = residual.over(&residual.plus(&beyond));
        let variance = part.by(&beyond);
        Ok(Version::Bridge { at, part, variance })
    }

    /// The largest price whose variance is not below this one.
    fn price_of(self, variance: &Ratio) -> Option<Amount<Rho>> {
        let sensitivity = Ratio::from_f64(self.sensitivity.get())?;
        let price = sensitivity.squared().over(&variance.times(&2u8.into()));
        let grains = price.times(&Amount::<Rho>::ONE.grains().into());
        u128::try_from(&grains.numerator / &grains.denominator).ok().map(Amount::from_grains)
    }
}

/// Where a coarser version of an increment comes from.
#[doc(hidden)]
#[derive(Debug)]
pub enum Version {
    /// It is the stored coarser one.
    Coarser,
    /// The finer version and a residual.
    Residual { at: Amount<Rho>, residual: Ratio },
    /// In between: this part of the way from the finer to the coarser one, and noise.
    Bridge { at: Amount<Rho>, part: Ratio, variance: Ratio },
}

impl Version {
    /// The price it is really at, not above the one asked for; none if it is stored already.
    pub(crate) fn at(&self) -> Option<Amount<Rho>> {
        match self {
            Self::Coarser => None,
            Self::Residual { at, .. } | Self::Bridge { at, .. } => Some(*at),
        }
    }

    /// The value, given those of its neighbours.
    pub(crate) fn draw<E: Entropy + ?Sized>(
        &self,
        fine: i64,
        coarse: i64,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let noise = match self {
            Self::Coarser => return Ok(coarse),
            Self::Residual { residual, .. } => DiscreteGaussian::once(residual, entropy),
            Self::Bridge { part, variance, .. } => {
                let way = IBig::from(coarse) - IBig::from(fine);
                let way = way * IBig::from(part.numerator.clone());
                let centre = Centre::from_ratio(&way, &part.denominator);
                DiscreteGaussian::once_around(&centre, variance, entropy)
            }
        };
        Ok(fine.saturating_add(noise.map_err(too_wide)?))
    }
}

/// The average of values by weight, to the nearest step: the value that is passed first, moved by
/// what the others differ from it. Differences are of the size of the noise, so doubles are near
/// enough; and what is computed from released values alone needs no care for privacy.
pub(crate) fn average(first: (u128, i64), others: impl IntoIterator<Item = (u128, i64)>) -> i64 {
    let (weight, value) = first;
    let (mut total, mut moved) = (double(weight), 0.0);
    for (weight, other) in others {
        let weight = double(weight);
        total += weight;
        let apart = (i128::from(other) - i128::from(value)) as f64;
        moved += weight * apart;
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    value.saturating_add((moved / total + 0.5).floor() as i64)
}

fn double(weight: u128) -> f64 {
    weight as f64
}

pub(crate) fn too_wide(error: ScaleError) -> MismatchReason {
    MismatchReason::Level(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_weighted_and_rounded_to_the_nearest_step() {
        assert_eq!(average((1, 10), []), 10);
        assert_eq!(average((1, 10), [(1, 13)]), 12);
        assert_eq!(average((1, -10), [(1, -13)]), -11);
        assert_eq!(average((3, 0), [(1, 10)]), 3);
        assert_eq!(
            average((10u128.pow(38), 1 << 62), [(10u128.pow(38), (1 << 62) + 8)]),
            (1 << 62) + 4
        );
        assert_eq!(average((1, i64::MAX), [(1, i64::MIN)]), -1);
        assert_eq!(average((1, i64::MAX), [(0, i64::MIN)]), i64::MAX);
    }

    /// Variances of 100 and 400, and what they cost at a sensitivity of 1000.
    fn price(variance: f64) -> Amount<Rho> {
        Amount::ceil(1e6 / (2.0 * variance)).unwrap()
    }

    /// From mpmath: given y = 12.5 at variance 4 and y = 10.2 at variance 1, a point of variance 2
    /// has mean 10.9666... and variance 0.6666...; here with a hundred steps for one, from one
    /// increment.
    #[test]
    fn bridges_match_the_golden_values() {
        let law = GaussianLaw { sensitivity: L2::new(1000.0).unwrap() };
        let version = law
            .version(Amount::ZERO, price(20_000.0), price(10_000.0), Some(price(40_000.0)))
            .unwrap();
        let Version::Bridge { part, variance, .. } = version else { panic!("not a bridge") };
        let mean = 10.2 + (12.5 - 10.2) * part.approximate();
        assert!((mean - 10.966_666_666_666_667).abs() < 1e-12, "{mean}");
        assert!((variance.approximate() / 1e4 - 0.666_666_666_666_666_6).abs() < 1e-12);
    }

    #[test]
    fn increments_are_drawn_from_the_least_price_to_the_most_and_no_further() {
        for sensitivity in [1.0, 3.0, 1024.0, 20_480.0, 5_898_240.0, f64::from(1 << 23)] {
            let law = GaussianLaw { sensitivity: L2::new(sensitivity).unwrap() };
            let (least, most) = law.increments();
            let drawn = |price: Amount<Rho>| {
                let variance = law.increment(price)?;
                crate::number::scale::shift(crate::number::scale::root(&variance)).map_err(too_wide)
            };
            assert!(drawn(least).is_ok() && drawn(most).is_ok(), "{sensitivity}");
            // A millionth less, and more, is not.
            let part = |price: Amount<Rho>| price.grains() / 1_000_000 + 1;
            assert!(drawn(Amount::from_grains(least.grains() - part(least))).is_err());
            if most < Amount::MAX {
                let more = Amount::from_grains(most.grains() + part(most));
                assert_eq!(drawn(more), Err(MismatchReason::TooFine));
            }
        }
    }

    /// From mpmath: a finer point given a coarser one has mean 10.625 and variance 0.75 for truth
    /// 10, answer 12.5, variances 4 and 1; and mean -0.48 and variance 0.336 for 0, -3, 2.5 and
    /// 0.4. An increment of the difference in price, averaged in, has that law.
    #[test]
    fn increments_match_the_golden_values_of_finer_points() {
        let law = GaussianLaw { sensitivity: L2::new(1000.0).unwrap() };
        for (truth, coarse, from, to, mean, variance) in
            [(10.0, 12.5, 4.0, 1.0, 10.625, 0.75), (0.0, -3.0, 2.5, 0.4, -0.48, 0.336)]
        {
            let (from, to) = (price(from * 1e4), price(to * 1e4));
            let step = to.minus(from).unwrap();
            // Weights are prices.
            let (old, new) = (from.to_f64() / to.to_f64(), step.to_f64() / to.to_f64());
            assert!((old * coarse + new * truth - mean).abs() < 1e-9);
            let own = law.increment(step).unwrap().approximate() / 1e4;
            assert!((new * new * own - variance).abs() < 1e-9, "{own}");
            // And that is how they are averaged.
            #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
            let steps = |value: f64| (value * 1e6) as i64;
            let (coarse_steps, release) = (steps(coarse), steps(truth));
            let point = average((step.grains(), release), [(from.grains(), coarse_steps)]);
            assert!((point as f64 / 1e6 - mean).abs() < 1e-6, "{point}");
        }
    }
}
