//! Paths of `MSDLap` noise, priced in pure epsilon, from fine to coarse.
//!
//! A coarser point is a finer one plus residual noise in every part, each times its shift. The residuals
//! do not depend on the truth, nor on the noise of the finest point. So they can be stored, and whoever reads
//! them knows no more than whoever sees the finest point; they are what a point in between is drawn from.
//! A finer point than the first would depend on how the noise of the first is divided among its parts, which
//! is as good as the truth and kept nowhere. So a path is opened at its finest point, and goes one way.

use std::collections::BTreeMap;
use std::sync::Arc;

use eke_budget::{Amount, Coarsen, Epsilon, L1, PathId, Raise, Receipt};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::geometric_level::GeometricLevel;
use crate::law::msdlap::{NotWhole, Shifts};
use crate::path::gaussian::DamagedPath;
use crate::path::{Mismatch, MismatchReason, NoisePath};
use crate::{Entropy, Exact, Ratio, Released};

/// A path of `MSDLap` noise, priced in pure epsilon: a point at epsilon has the noise of [`Msdlap`] at
/// epsilon and the path's sensitivity, on an integer truth.
///
/// [`Msdlap`]: crate::Msdlap
///
/// - Theorem: msdlap-path (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its first point, which is its finest
/// - Assumes: one unit changes the truth by a whole number up to the sensitivity (caller); the first point
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `msdlap_points_have_one_joint_law_in_every_order`,
///   `an_msdlap_path_takes_only_its_own_receipts`, `an_msdlap_path_is_for_whole_units_alone`
///
/// Its state is what has been revealed, and can be stored with whoever may see its finest point; the truth is
/// not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct MsdlapPath {
    id: PathId,
    sensitivity: L1,
    shifts: Shifts,
    opened: Option<Opened>,
}

/// What there is of a path from its first point on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opened {
    /// Who paid for it.
    payer: Arc<str>,
    /// The price of the finest point.
    at: Amount<Epsilon>,
    /// The value there.
    value: Released<i64>,
    /// By the price of a coarser point, how far the noise of each shift is from that of the finest.
    coarser: BTreeMap<Amount<Epsilon>, Vec<i64>>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    id: PathId,
    sensitivity: L1,
    opened: Option<Opened>,
}

impl TryFrom<Stored> for MsdlapPath {
    type Error = DamagedPath;

    /// The sensitivity is whole; points have a price below the finest one's, and a part for every shift.
    fn try_from(stored: Stored) -> Result<Self, DamagedPath> {
        let Stored { id, sensitivity, opened } = stored;
        let shifts = Shifts::of(sensitivity).map_err(|_| DamagedPath)?;
        let fits = opened.as_ref().is_none_or(|opened| {
            !opened.at.is_zero()
                && opened.coarser.iter().all(|(at, parts)| {
                    !at.is_zero() && *at < opened.at && parts.len() == shifts.count()
                })
        });
        if fits { Ok(Self { id, sensitivity, shifts, opened }) } else { Err(DamagedPath) }
    }
}

impl From<MsdlapPath> for Stored {
    fn from(path: MsdlapPath) -> Self {
        let MsdlapPath { id, sensitivity, shifts: _, opened } = path;
        Self { id, sensitivity, opened }
    }
}

impl MsdlapPath {
    /// A path of which nothing has been revealed.
    ///
    /// # Errors
    /// The sensitivity is not a whole number, or too large.
    pub fn open(id: PathId, sensitivity: L1) -> Result<Self, NotWhole> {
        Ok(Self { id, sensitivity, shifts: Shifts::of(sensitivity)?, opened: None })
    }

    /// The first point, which is the finest.
    fn draw_first<E: Entropy + ?Sized>(
        &self,
        truth: &Exact<i64>,
        receipt: &Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let raise = receipt.purchase();
        if raise.path() != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if self.opened.as_ref().is_some_and(|opened| opened.payer != receipt.entry().account) {
            return Err(MismatchReason::OtherAccount);
        }
        // At a fraction of a unit of distance a truth may still move by a whole step, which costs all of epsilon.
        if receipt.metric().has_small_distances() {
            return Err(MismatchReason::OtherMetric);
        }
        if raise.sensitivity() != self.sensitivity || *truth.sensitivity() != self.sensitivity {
            return Err(MismatchReason::OtherSensitivity);
        }
        self.can_refine(raise.to())?;
        // All of the point is paid for by this receipt, or it is not the path's first.
        if raise.from() != self.finest() {
            return Err(MismatchReason::Gap);
        }
        let level = level(raise.to())?;
        let parts = self.shifts.each().map(|_| level.draw(entropy));
        let parts = parts.collect::<Result<Vec<i64>, _>>()?;
        Ok(self.shifts.around(clamped(*truth.open()), parts))
    }

    /// A point that is coarser than the finest, and has not been revealed.
    fn draw_coarser<E: Entropy + ?Sized>(
        &mut self,
        to: Amount<Epsilon>,
        entropy: &mut E,
    ) -> Result<Released<i64>, MismatchReason> {
        let shifts = self.shifts;
        let opened = self.opened.as_mut().filter(|opened| to < opened.at);
        let opened = opened.ok_or(MismatchReason::OtherStep)?;
        let wanted = level(to)?;
        let finer = opened.coarser.range(to..).next();
        let fine = level(finer.map_or(opened.at, |(&at, _)| at))?;
        let coarser = match opened.coarser.range(..to).next_back() {
            None => None,
            Some((&at, parts)) => Some((level(at)?, parts)),
        };
        let of = |parts: &[i64], part: usize| parts.get(part).copied().unwrap_or(0);
        let parts = (0..shifts.count())
            .map(|part| {
                let fine = (&fine, finer.map_or(0, |(_, parts)| of(parts, part)));
                let coarser = coarser.as_ref().map(|(level, parts)| (level, of(parts, part)));
                wanted.beside(fine, coarser, entropy)
            })
            .collect::<Result<Vec<i64>, _>>()?;
        let value = shifts.around(*opened.value.peek(), parts.iter().copied());
        opened.coarser.insert(to, parts);
        Ok(Released::new(value))
    }
}

/// The level of every shift's noise at a price: its rate is epsilon, whatever the sensitivity.
fn level(at: Amount<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
    let epsilon = Ratio::new(at.grains(), Amount::<Epsilon>::ONE.grains());
    Ok(GeometricLevel::new(&epsilon.ok_or(MismatchReason::OtherStep)?))
}

impl NoisePath for MsdlapPath {
    type Currency = Epsilon;
    type Value = i64;

    fn id(&self) -> PathId {
        self.id
    }

    fn finest(&self) -> Amount<Epsilon> {
        self.opened.as_ref().map_or(Amount::ZERO, |opened| opened.at)
    }

    fn point(&self, at: Amount<Epsilon>) -> Option<Released<i64>> {
        let opened = self.opened.as_ref()?;
        if at == opened.at {
            return Some(opened.value);
        }
        let parts = opened.coarser.get(&at)?;
        Some(Released::new(self.shifts.around(*opened.value.peek(), parts.iter().copied())))
    }

    fn nearest(&self, to: Amount<Epsilon>) -> Option<Amount<Epsilon>> {
        let opened = self.opened.as_ref()?;
        if to >= opened.at {
            return Some(opened.at);
        }
        Some(*opened.coarser.range(..=to).next_back()?.0)
    }

    fn can_refine(&self, to: Amount<Epsilon>) -> Result<(), MismatchReason> {
        if self.opened.is_some() {
            return Err(MismatchReason::AtItsFinest);
        }
        level(to)?.can_follow(None)
    }

    fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<i64>,
        receipt: Receipt<Raise<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Raise<Epsilon>>> {
        match self.draw_first(truth, &receipt, entropy) {
            Ok(value) => {
                let (at, value) = (receipt.purchase().to(), Released::new(value));
                let payer = Arc::clone(&receipt.entry().account);
                receipt.redeem();
                self.opened = Some(Opened { payer, at, value, coarser: BTreeMap::new() });
                Ok(value)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<Coarsen<Epsilon>>,
        entropy: &mut E,
    ) -> Result<Released<i64>, Mismatch<Coarsen<Epsilon>>> {
        let (path, to) = (receipt.purchase().path(), receipt.purchase().to());
        let released = if path != self.id {
            Err(MismatchReason::OtherPath)
        } else if let Some(stored) = self.point(to) {
            Ok(stored)
        } else {
            self.draw_coarser(to, entropy)
        };
        match released {
            Ok(released) => {
                receipt.redeem();
                Ok(released)
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }
}
