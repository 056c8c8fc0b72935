//! Skellam noise of several levels as one draw: the laws that take a noise path from one point to
//! another.
//!
//! Noise at a level is the difference of two Poisson numbers of mean lambda: the smaller lambda,
//! the finer the level. A coarser level is a finer one plus Skellam noise of what lambda grows by;
//! backwards, each of the counts behind the coarser noise is kept with the ratio of the lambdas.
//! (What finer noise is *of*, the truth, does not come in here: these are laws of the noise alone.)

use crate::law::geometric_level::LevelError;
use crate::law::skellam::{check, difference};
use crate::sampler::ladder::Ladder;
use crate::{Entropy, Ratio, Skellam};

/// A level of Skellam noise, by its lambda: half its variance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkellamLevel {
    lambda: Ratio,
}

/// Noise further out than this is of no level: it has a probability below 2^-1000000000.
const FURTHEST: u64 = 1 << 32;

impl SkellamLevel {
    /// The level of this lambda.
    #[must_use]
    pub fn new(lambda: &Ratio) -> Self {
        Self { lambda: lambda.clone() }
    }

    /// The level of this variance: half of it is lambda.
    pub(crate) fn of_variance(variance: f64) -> Option<Self> {
        Some(Self { lambda: Ratio::from_f64(variance / 2.0)? })
    }

    /// Whether noise of this level can be drawn.
    pub(crate) fn can_be_drawn(&self) -> Result<(), LevelError> {
        check(&self.lambda)
    }

    /// Noise at this level, from nothing.
    ///
    /// # Errors
    /// The noise is too wide.
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> Result<i64, LevelError> {
        Skellam::once(&self.lambda, entropy)
    }

    /// Noise at a coarser level, given this level's.
    ///
    /// - Theorem: skellam-thinning (docs/theorems.md)
    /// - Proves: Skellam noise of the difference of the lambdas is the independent residual between
    ///   the levels
    /// - Assumes: the noise given has this level's law (caller)
    /// - Deviates: nothing
    /// - Checked by: `skellam_levels_drawn_in_any_order_have_one_joint_law`
    ///
    /// # Errors
    /// The other level is not coarser, or its noise too wide.
    pub fn coarser<E: Entropy + ?Sized>(
        &self,
        noise: i64,
        coarser: &Self,
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        let residual = coarser.above(self)?;
        Ok(noise.saturating_add(residual.draw(entropy)?))
    }

    /// Noise at a finer level, given this level's.
    ///
    /// - Theorem: skellam-thinning (docs/theorems.md)
    /// - Proves: drawing the smaller of both counts, and keeping each of both counts' with the
    ///   ratio of the lambdas, is the law of the finer noise given the coarser
    /// - Assumes: the noise given has this level's law (caller)
    /// - Deviates: nothing; every count is decided bit by bit
    /// - Checked by: `skellam_levels_drawn_in_any_order_have_one_joint_law`,
    ///   `the_smaller_of_two_poisson_numbers_has_the_golden_law`
    ///
    /// # Errors
    /// The other level is not finer, the noise too wide, or what is given not noise of this level.
    pub fn finer<E: Entropy + ?Sized>(
        &self,
        noise: i64,
        finer: &Self,
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        self.above(finer)?;
        check(&self.lambda)?;
        let apart = noise.unsigned_abs();
        if apart > FURTHEST {
            return Err(LevelError::TooFar);
        }
        let smaller = Ladder::Smaller { mean: self.lambda.clone(), apart }.draw(entropy);
        let share = finer.lambda.over(&self.lambda);
        let kept =
            |of: u64, entropy: &mut E| Ladder::Kept { of, share: share.clone() }.draw(entropy);
        let (smaller, larger) = (kept(smaller, entropy), kept(smaller + apart, entropy));
        Ok(if noise < 0 { difference(smaller, larger) } else { difference(larger, smaller) })
    }

    /// Noise at this level, given that of a finer and of a coarser one.
    ///
    /// - Theorem: skellam-thinning (docs/theorems.md)
    /// - Proves: the finer law on the difference of both noises is the law of the level in between
    /// - Assumes: both noises are of one path (caller)
    /// - Deviates: nothing; every count is decided bit by bit
    /// - Checked by: `skellam_levels_drawn_in_any_order_have_one_joint_law`
    ///
    /// # Errors
    /// The levels are not in order, the noise too wide, or what is given not noise of these levels.
    pub fn between<E: Entropy + ?Sized>(
        &self,
        (finer, fine_noise): (&Self, i64),
        (coarser, coarse_noise): (&Self, i64),
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        coarser.above(self)?;
        let (whole, part) = (coarser.above(finer)?, self.above(finer)?);
        let step = whole.finer(coarse_noise.saturating_sub(fine_noise), &part, entropy)?;
        Ok(fine_noise.saturating_add(step))
    }

    /// The level of the residual from a finer level to this one.
    fn above(&self, finer: &Self) -> Result<Self, LevelError> {
        let lambda = self.lambda.minus(&finer.lambda).ok_or(LevelError::NotInOrder)?;
        Ok(Self { lambda })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skellam_levels_out_of_order_are_errors() {
        let level = |lambda| SkellamLevel::new(&Ratio::new(lambda, 2).unwrap());
        let (fine, coarse) = (level(1), level(3));
        let mut entropy = crate::SystemEntropy::new().unwrap();
        assert_eq!(fine.finer(0, &coarse, &mut entropy), Err(LevelError::NotInOrder));
        assert_eq!(coarse.coarser(0, &fine, &mut entropy), Err(LevelError::NotInOrder));
        assert_eq!(fine.coarser(0, &fine, &mut entropy), Err(LevelError::NotInOrder));
        let between = fine.between((&coarse, 0), (&fine, 0), &mut entropy);
        assert_eq!(between, Err(LevelError::NotInOrder));
        assert_eq!(coarse.finer(i64::MIN, &fine, &mut entropy), Err(LevelError::TooFar));
    }
}
