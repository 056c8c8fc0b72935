//! The laws of bundles: what a currency's noise is, for many draws at once.

use eke_budget::{Amount, Epsilon, L1, L2, Price, Rho};

use crate::evidence::exact::clamped;
use crate::law::gaussian_step::{GaussianLaw, Version, average, too_wide};
use crate::number::scale::{root, shift};
use crate::path::MismatchReason;
use crate::{DiscreteGaussian, DiscreteLaplace, Entropy, GeometricLevel, Ratio};

/// A currency in which bundles are priced, and the noise that it pays for.
pub trait BundleLaw: Price + sealed::Sealed {
    /// The law of one step.
    #[doc(hidden)]
    type Law;
    /// The law of one coarser point.
    #[doc(hidden)]
    type Version;
    /// Whether increments are independent, so that one that was paid for and lost can stay a gap. A
    /// point that is drawn around the one before it has no gaps: drawn from an older copy, it would
    /// be worth more than the difference that was paid (docs/theorems.md, path-increments).
    #[doc(hidden)]
    const HAS_GAPS: bool;

    /// The law of a step, prepared if there are many of it. What can be wrong with it is found
    /// here, before anything is drawn.
    #[doc(hidden)]
    fn law(sensitivity: L1, step: Taken<Self>, many: bool) -> Result<Self::Law, MismatchReason>;

    /// What is stored of a step, given the next coarser point.
    #[doc(hidden)]
    fn draw<E: Entropy + ?Sized>(
        law: &Self::Law,
        truth: i64,
        coarse: Option<i64>,
        entropy: &mut E,
    ) -> i64;

    /// The law of a coarser point, and the price that it is at; none if it is the coarser
    /// neighbour.
    #[doc(hidden)]
    fn version(
        sensitivity: L1,
        neighbours: &Neighbours<Self>,
    ) -> Result<(Option<Amount<Self>>, Self::Version), MismatchReason>;

    /// What is stored of a coarser point, given its neighbours.
    #[doc(hidden)]
    fn draw_version<E: Entropy + ?Sized>(
        version: &Self::Version,
        fine: i64,
        coarse: i64,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason>;

    /// What a point is worth, given its price and the sum of what was drawn for it.
    #[doc(hidden)]
    fn worth(price: u128, drawn: u128) -> u128;

    /// What a point says, given its own stored value and those of the increments before it, with
    /// the prices of each.
    #[doc(hidden)]
    fn point(own: (u128, i64), before: impl Iterator<Item = (u128, i64)>) -> i64;
}

/// A step of one column: from the price that was paid before it, to a finer one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Taken<C: Price> {
    /// The price of the finest point that was drawn: less than `from` after a round that was paid
    /// for and lost, where noise has gaps.
    pub(crate) now: Amount<C>,
    pub(crate) from: Amount<C>,
    pub(crate) to: Amount<C>,
}

/// Where a coarser point lies.
#[doc(hidden)]
#[derive(Debug)]
pub struct Neighbours<C: Price> {
    pub(crate) start: Amount<C>,
    pub(crate) at: Amount<C>,
    pub(crate) finer: Amount<C>,
    /// The next coarser point, if it is in the same increment.
    pub(crate) inside: Option<Amount<C>>,
    /// The next coarser point, wherever it is.
    pub(crate) coarser: Option<Amount<C>>,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Rho {}
    impl Sealed for super::Epsilon {}
}

/// A law drawn from once or often.
#[doc(hidden)]
#[derive(Debug)]
pub enum Gaussian {
    Once(Ratio),
    Often(Box<DiscreteGaussian>),
}

impl BundleLaw for Rho {
    type Law = Gaussian;
    type Version = Version;
    const HAS_GAPS: bool = true;

    fn law(sensitivity: L1, step: Taken<Rho>, many: bool) -> Result<Gaussian, MismatchReason> {
        let price = step.to.minus(step.from).ok_or(MismatchReason::OtherStep)?;
        let variance = gaussian(sensitivity)?.increment(price)?;
        shift(root(&variance)).map_err(too_wide)?;
        if many {
            let law = DiscreteGaussian::new(&variance).map_err(too_wide)?;
            return Ok(Gaussian::Often(Box::new(law)));
        }
        Ok(Gaussian::Once(variance))
    }

    fn draw<E: Entropy + ?Sized>(
        law: &Gaussian,
        truth: i64,
        _: Option<i64>,
        entropy: &mut E,
    ) -> i64 {
        let noise = match law {
            Gaussian::Often(law) => law.draw(entropy),
            Gaussian::Once(variance) => {
                DiscreteGaussian::once(variance, entropy).expect("checked when the law was made")
            }
        };
        clamped(truth).saturating_add(noise)
    }

    fn version(
        sensitivity: L1,
        neighbours: &Neighbours<Rho>,
    ) -> Result<(Option<Amount<Rho>>, Version), MismatchReason> {
        let Neighbours { start, at, finer, inside, .. } = *neighbours;
        let law = gaussian(sensitivity)?;
        let version = law.version(start, at, finer, inside)?;
        // So close to the start of the increment that its noise could not be drawn: the coarser
        // neighbour stands for it.
        let (least, _) = law.increments();
        let is_too_wide = |at: Amount<Rho>| at.minus(start).is_none_or(|price| price < least);
        if version.at().is_some_and(is_too_wide) {
            return Ok((None, Version::Coarser));
        }
        Ok((version.at(), version))
    }

    fn draw_version<E: Entropy + ?Sized>(
        version: &Version,
        fine: i64,
        coarse: i64,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        version.draw(fine, coarse, entropy)
    }

    fn worth(_: u128, drawn: u128) -> u128 {
        drawn
    }

    fn point(own: (u128, i64), before: impl Iterator<Item = (u128, i64)>) -> i64 {
        average(own, before)
    }
}

fn gaussian(sensitivity: L1) -> Result<GaussianLaw, MismatchReason> {
    let sensitivity = L2::new(sensitivity.get()).map_err(|_| MismatchReason::OtherSensitivity)?;
    Ok(GaussianLaw { sensitivity })
}

/// A level, and the one before it or a table for the first.
#[doc(hidden)]
#[derive(Debug)]
pub struct Geometric {
    level: GeometricLevel,
    coarser: Option<GeometricLevel>,
    first: Option<Box<DiscreteLaplace>>,
}

/// A level beside others.
#[doc(hidden)]
#[derive(Debug)]
pub struct Between {
    level: GeometricLevel,
    finer: GeometricLevel,
    coarser: Option<GeometricLevel>,
}

impl BundleLaw for Epsilon {
    type Law = Geometric;
    type Version = Between;
    const HAS_GAPS: bool = false;

    fn law(sensitivity: L1, step: Taken<Epsilon>, many: bool) -> Result<Geometric, MismatchReason> {
        let level = level(step.to, sensitivity)?;
        // A finer point is drawn around the finest that was released, which is where the step
        // starts.
        let coarser = GeometricLevel::at(step.now, sensitivity);
        level.can_follow(coarser.as_ref())?;
        let first = match coarser {
            None if many => Some(Box::new(DiscreteLaplace::new(&level.scale()).map_err(too_wide)?)),
            _ => None,
        };
        Ok(Geometric { level, coarser, first })
    }

    fn draw<E: Entropy + ?Sized>(
        law: &Geometric,
        truth: i64,
        coarse: Option<i64>,
        entropy: &mut E,
    ) -> i64 {
        let truth = clamped(truth);
        match &law.first {
            Some(first) => truth.saturating_add(first.draw(entropy)),
            None => {
                let coarser = law.coarser.as_ref().zip(coarse);
                law.level.around(truth, coarser, entropy).expect("checked when the law was made")
            }
        }
    }

    fn version(
        sensitivity: L1,
        neighbours: &Neighbours<Epsilon>,
    ) -> Result<(Option<Amount<Epsilon>>, Between), MismatchReason> {
        let between = Between {
            level: level(neighbours.at, sensitivity)?,
            finer: level(neighbours.finer, sensitivity)?,
            coarser: neighbours.coarser.map(|at| level(at, sensitivity)).transpose()?,
        };
        between.level.can_follow(None)?;
        Ok((Some(neighbours.at), between))
    }

    fn draw_version<E: Entropy + ?Sized>(
        version: &Between,
        fine: i64,
        coarse: i64,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let coarser = version.coarser.as_ref().map(|level| (level, coarse));
        Ok(version.level.beside((&version.finer, fine), coarser, entropy)?)
    }

    fn worth(price: u128, _: u128) -> u128 {
        price
    }

    fn point(own: (u128, i64), _: impl Iterator<Item = (u128, i64)>) -> i64 {
        own.1
    }
}

fn level(at: Amount<Epsilon>, sensitivity: L1) -> Result<GeometricLevel, MismatchReason> {
    GeometricLevel::at(at, sensitivity).ok_or(MismatchReason::OtherStep)
}
