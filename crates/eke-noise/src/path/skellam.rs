//! Paths of Skellam noise, priced in zCDP and opened at their finest point.
//!
//! Charging what the divergence grows by from point to point, while whoever pays looks at each before the
//! next, is unsound for this noise. So a path has one purchase, at the finest point that anybody will ever
//! see of it, charged in full before anything is drawn. All other points are coarser, and free.
//!
//! Invariants: a point has the variance it was drawn with beside its price, so that a path read back has
//! the law it had, also where prices have been worked out more closely since; of two points the one of the
//! larger price has no larger variance; where their variances are equal so are their values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use eke_budget::convert::{SkellamCurve, SkellamError};
use eke_budget::{Amount, Coarsen, L1, L2, PathId, Raise, Receipt, Rho, Variance};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::skellam_level::SkellamLevel;
use crate::path::gaussian::DamagedPath;
use crate::path::{Integers, Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Released};

/// How many variances are remembered.
const KNOWN: usize = 256;

thread_local! {
    /// Variances by price and sensitivity: they are public, take a while to work out, and many paths have
    /// the same.
    static VARIANCES: RefCell<BTreeMap<(Amount<Rho>, u64), Variance>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// A path of Skellam noise on an integer truth, priced in rho: a point at rho has the least variance, nearly,
/// that is seen to cost no more.
///
/// - Theorem: skellam-stopping (docs/theorems.md)
/// - Proves: everything revealed of the path costs the rho of its finest point, which is paid for first
/// - Assumes: the truth has the path's sensitivity (caller); the step was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity; a point whose variance
///   would be outside those of its neighbours is the neighbour
/// - Checked by: `skellam_points_revealed_in_any_order_have_one_joint_law`,
///   `a_skellam_path_is_opened_once_at_its_finest_point`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct SkellamPath {
    id: PathId,
    sensitivity: L2,
    /// Who has paid for it.
    payer: Option<Arc<str>>,
    /// Points by their price.
    points: BTreeMap<Amount<Rho>, Point>,
}

/// A revealed point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    /// Of the noise it has.
    variance: Variance,
    value: Released<i64>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    id: PathId,
    sensitivity: L2,
    payer: Option<Arc<str>>,
    points: BTreeMap<Amount<Rho>, Point>,
}

impl TryFrom<Stored> for SkellamPath {
    type Error = DamagedPath;

    /// Points have a price that could pay for their variance, are in order, and are equal where their
    /// variances are.
    fn try_from(stored: Stored) -> Result<Self, DamagedPath> {
        let Stored { id, sensitivity, payer, points } = stored;
        let mut path = Self::open(id, sensitivity).map_err(|_| DamagedPath)?;
        let length = sensitivity.get();
        // No Skellam noise costs less than half of what Gaussian noise of its variance does, but where it
        // is narrower than a step.
        let paid = points.iter().all(|(at, point)| {
            let variance = point.variance.get();
            variance < 1.0 || at.to_f64() >= length * length / (4.0 * variance)
        });
        let in_order = points.values().zip(points.values().skip(1)).all(|(coarse, fine)| {
            coarse.variance > fine.variance
                || (coarse.variance == fine.variance && coarse.value == fine.value)
        });
        let priced = points.keys().all(|at| !at.is_zero());
        if !paid || !in_order || !priced || payer.is_none() != points.is_empty() {
            return Err(DamagedPath);
        }
        (path.payer, path.points) = (payer, points);
        Ok(path)
    }
}

impl From<SkellamPath> for Stored {
    fn from(path: SkellamPath) -> Self {
        let SkellamPath { id, sensitivity, payer, points } = path;
        Self { id, sensitivity, payer, points }
    }
}

impl SkellamPath {
    /// A path of which nothing has been revealed.
    ///
    /// # Errors
    /// The sensitivity is not a whole number, or too large.
    pub fn open(id: PathId, sensitivity: L2) -> Result<Self, SkellamError> {
        // Any variance will do to see it.
        SkellamCurve::new(Variance::new(1.0)?, L1::new(sensitivity.get())?)?;
        Ok(Self { id, sensitivity, payer: None, points: BTreeMap::new() })
    }

    /// The variance of the noise that a revealed point has: it may be a neighbour's.
    pub(crate) fn noise(&self, at: Amount<Rho>) -> Option<Variance> {
        self.points.get(&at).map(|point| point.variance)
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

    /// The finest point there will be.
    fn draw_finest<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<i64>,
        receipt: &Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Point, MismatchReason> {
        let raise = receipt.purchase();
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if self.payer.as_ref().is_some_and(|payer| *payer != receipt.entry().account) {
            return Err(MismatchReason::OtherAccount);
        }
        if raise.sensitivity() != self.sensitivity
            || i64::l2(truth.sensitivity()) != Ok(self.sensitivity)
        {
            return Err(MismatchReason::OtherSensitivity);
        }
        // A whole step at a fraction of a unit of distance costs more than that fraction, squared, of the price.
        if receipt.metric().has_small_distances() {
            return Err(MismatchReason::OtherMetric);
        }
        self.can_refine(raise.to())?;
        // All of the point is paid for by this receipt, or it is not the path's first.
        if raise.from() != self.finest() {
            return Err(MismatchReason::Gap);
        }
        let variance = self.variance(raise.to())?;
        let noise = level(variance)?.draw(entropy)?;
        let value = clamped(*truth.open()).saturating_add(noise);
        Ok(Point { variance, value: Released::new(value) })
    }

    /// A point that is not finer than the finest.
    fn draw_coarser<E: Entropy + ?Sized>(
        &self,
        to: Amount<Rho>,
        entropy: &mut E,
    ) -> Result<Point, MismatchReason> {
        let finer = self.points.range(to..).next().ok_or(MismatchReason::OtherStep)?.1;
        let coarser = self.points.range(..to).next_back().map(|(_, point)| point);
        let variance = self.variance(to)?;
        if variance <= finer.variance {
            return Ok(finer.clone());
        }
        if let Some(coarser) = coarser.filter(|coarser| variance >= coarser.variance) {
            return Ok(coarser.clone());
        }
        let (at, fine) = (level(variance)?, level(finer.variance)?);
        at.can_be_drawn()?;
        // The noise of every point is off by the same truth, which cancels.
        let value = match coarser {
            None => fine.coarser(finer.value.get(), &at, entropy)?,
            Some(coarser) => {
                let coarse = level(coarser.variance)?;
                let beyond = (&coarse, coarser.value.get());
                at.between((&fine, finer.value.get()), beyond, entropy)?
            }
        };
        Ok(Point { variance, value: Released::new(value) })
    }
}

/// The level of a variance.
fn level(variance: Variance) -> Result<SkellamLevel, MismatchReason> {
    SkellamLevel::of_variance(variance.get()).ok_or(MismatchReason::OtherStep)
}

impl NoisePath for SkellamPath {
    type Currency = Rho;
    type Value = i64;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Rho> {
        self.points.last_key_value().map_or(Amount::ZERO, |(&at, _)| at)
    }

    fn point(&self, at: Amount<Rho>) -> Option<Released<i64>> {
        self.points.get(&at).map(|point| point.value)
    }

    fn nearest(&self, to: Amount<Rho>) -> Option<Amount<Rho>> {
        Some(*self.points.range(..=to).next_back()?.0)
    }

    fn can_refine(&self, to: Amount<Rho>) -> Result<(), MismatchReason> {
        if to <= self.finest() {
            return Err(MismatchReason::OtherStep);
        }
        if !self.points.is_empty() {
            return Err(MismatchReason::AtItsFinest);
        }
        Ok(level(self.variance(to)?)?.can_be_drawn()?)
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        receipt: Receipt<Raise<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Raise<Rho>>> {
        let to = receipt.purchase().to();
        match self.draw_finest(truth, &receipt, entropy) {
            Ok(point) => {
                self.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
                receipt.redeem();
                let released = point.value;
                self.points.insert(to, point);
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Rho>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Coarsen<Rho>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let point = if path != self.id {
            Err(MismatchReason::OtherPath)
        } else if let Some(stored) = self.points.get(&to) {
            Ok(stored.clone())
        } else {
            self.draw_coarser(to, entropy)
        };
        match point {
            Ok(point) => {
                receipt.redeem();
                let released = point.value;
                self.points.insert(to, point);
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
