//! Paths of Skellam noise, priced in zCDP and opened at their finest point.
//!
//! Charging what the divergence grows by from point to point, while the buyer looks at each before
//! the next, is unsound for this noise. So a path has one purchase, at the finest point that
//! anybody will ever see of it, charged in full before anything is drawn. All other points are
//! coarser, and free.
//!
//! Invariants: a point has the variance it was drawn with beside its price, so that a path read
//! back has the law it had, even if prices have been computed more closely since; of two points the
//! one of the larger price has no larger variance; where their variances are equal so are their
//! values.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eke_budget::convert::{SkellamCurve, SkellamError};
use eke_budget::{Amount, L1, L2, PathId, Rho, Variance};
use serde::{Deserialize, Serialize};

use crate::Entropy;
use crate::evidence::exact::clamped;
use crate::law::skellam_level::SkellamLevel;
use crate::path::bundle_law::Taken;
use crate::path::points::{
    Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, Stored, sealed,
};
use crate::path::{Integers, MismatchReason};

/// How many variances are remembered.
const KNOWN: usize = 256;

thread_local! {
    /// Variances by price and sensitivity: they are public and slow to compute, and many paths
    /// share them.
    static VARIANCES: RefCell<BTreeMap<(Amount<Rho>, u64), Variance>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// A path of Skellam noise on an integer truth, priced in rho: a point at rho has the least
/// variance, nearly, that is seen to cost no more.
///
/// - Theorem: skellam-stopping (docs/theorems.md)
/// - Proves: everything revealed of the path costs the rho of its finest point, which is paid for
///   first
/// - Assumes: the truth has the path's sensitivity (caller); the step was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity; a point whose
///   variance would be outside those of its neighbours is the neighbour
/// - Checked by: `skellam_points_revealed_in_any_order_have_one_joint_law`,
///   `a_skellam_path_is_opened_once_at_its_finest_point`,
///   `laws_for_whole_units_take_nothing_paid_by_the_metre`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
pub type SkellamPath = Path<SkellamPoints>;

/// The law of a [`SkellamPath`].
#[derive(Clone, Debug, PartialEq)]
pub struct SkellamPoints {
    sensitivity: L2,
}

/// A revealed point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkellamPoint {
    /// Of the noise it has.
    variance: Variance,
    value: i64,
}

impl SkellamPath {
    /// A path of which nothing has been revealed.
    ///
    /// # Errors
    /// The sensitivity is not a whole number, or too large.
    pub fn open(id: PathId, sensitivity: L2) -> Result<Self, SkellamError> {
        Ok(Self::new(id, SkellamPoints::of(sensitivity)?))
    }

    /// The variance of the noise that a revealed point has: it may be a neighbour's.
    pub(crate) fn noise(&self, at: Amount<Rho>) -> Option<Variance> {
        self.points.get(&at).map(|point| point.variance)
    }
}

impl SkellamPoints {
    fn of(sensitivity: L2) -> Result<Self, SkellamError> {
        // Any variance will do to see whether there is such noise.
        SkellamCurve::new(Variance::new(1.0)?, L1::new(sensitivity.get())?)?;
        Ok(Self { sensitivity })
    }

    /// The variance that a price pays for.
    fn variance(&self, at: Amount<Rho>) -> Result<Variance, MismatchReason> {
        let key = (at, self.sensitivity.get().to_bits());
        if let Some(found) = VARIANCES.with_borrow(|known| known.get(&key).copied()) {
            return Ok(found);
        }
        let variance = L1::new(self.sensitivity.get())
            .ok()
            .and_then(|sensitivity| SkellamCurve::variance(at, sensitivity).ok())
            .ok_or(MismatchReason::OtherStep)?;
        VARIANCES.with_borrow_mut(|known| {
            if known.len() >= KNOWN {
                known.clear();
            }
            known.insert(key, variance);
        });
        Ok(variance)
    }
}

/// The level of a variance.
fn level(variance: Variance) -> Result<SkellamLevel, MismatchReason> {
    SkellamLevel::of_variance(variance.get()).ok_or(MismatchReason::OtherStep)
}

impl sealed::Sealed for SkellamPoints {}

impl PathLaw for SkellamPoints {
    type Currency = Rho;
    type Value = i64;
    type Point = SkellamPoint;
    /// The variance, and its level.
    type Step = (Variance, SkellamLevel);
    type Stored = Stored<Self>;

    const STEPS: StepRule = StepRule::Once;
    /// A whole step at a fraction of a unit of distance costs more than that fraction, squared, of
    /// the price.
    const WHOLE_UNITS: bool = true;

    fn sensitivity(&self) -> L2 {
        self.sensitivity
    }

    fn norm(bound: &L1) -> Option<L2> {
        i64::l2(bound).ok()
    }

    fn step(&self, step: Taken<Rho>) -> Result<Self::Step, MismatchReason> {
        let variance = self.variance(step.to)?;
        let level = level(variance)?;
        level.can_be_drawn()?;
        Ok((variance, level))
    }

    fn finer<E: Entropy + ?Sized>(
        &self,
        (variance, level): Self::Step,
        _: Option<&SkellamPoint>,
        (&truth, _): (&i64, usize),
        entropy: &mut E,
    ) -> Result<SkellamPoint, MismatchReason> {
        let value = clamped(truth).saturating_add(level.draw(entropy)?);
        Ok(SkellamPoint { variance, value })
    }

    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (_, finer), coarser }: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Rho>, SkellamPoint), MismatchReason> {
        let coarser = coarser.map(|(_, point)| point);
        let variance = self.variance(to)?;
        if variance <= finer.variance {
            return Ok((to, finer.clone()));
        }
        if let Some(coarser) = coarser.filter(|coarser| variance >= coarser.variance) {
            return Ok((to, coarser.clone()));
        }
        let (at, fine) = (level(variance)?, level(finer.variance)?);
        at.can_be_drawn()?;
        // The noise of every point is off by the same truth, which cancels.
        let value = match coarser {
            None => fine.coarser(finer.value, &at, entropy)?,
            Some(coarser) => {
                let coarse = level(coarser.variance)?;
                let beyond = (&coarse, coarser.value);
                at.between((&fine, finer.value), beyond, entropy)?
            }
        };
        Ok((to, SkellamPoint { variance, value }))
    }

    fn value(&self, _: &Points<Self>, (_, point): Priced<'_, Self>) -> i64 {
        point.value
    }

    /// Points have a price that could pay for their variance, are in order, and are equal where
    /// their variances are.
    fn could_have_drawn(&self, points: &Points<Self>) -> bool {
        let length = self.sensitivity.get();
        // No Skellam noise costs less than half of what Gaussian noise of its variance does, but
        // where it is narrower than a step.
        let paid = points.iter().all(|(at, point)| {
            let variance = point.variance.get();
            variance < 1.0 || at.to_f64() >= length * length / (4.0 * variance)
        });
        let in_order = points.values().zip(points.values().skip(1)).all(|(coarse, fine)| {
            coarse.variance > fine.variance
                || (coarse.variance == fine.variance && coarse.value == fine.value)
        });
        paid && in_order
    }

    fn read(stored: Stored<Self>) -> Result<Path<Self>, DamagedPath> {
        let law = Self::of(stored.sensitivity).map_err(|_| DamagedPath)?;
        stored.with(law)
    }
}
