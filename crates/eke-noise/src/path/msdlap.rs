//! Paths of `MSDLap` noise, priced in pure epsilon, from fine to coarse.
//!
//! A coarser point is a finer one plus residual noise in every part, each times its shift. The
//! residuals do not depend on the truth, nor on the noise of the finest point. So they can be
//! stored: their reader knows no more than an observer of the finest point. A point in between is
//! drawn from them. A finer point than the first would depend on how the noise of the first is
//! divided among its parts, which is as good as the truth and kept nowhere. So a path is opened at
//! its finest point, and goes one way.

use std::collections::BTreeMap;
use std::sync::Arc;

use eke_budget::{Amount, Epsilon, L1, PathId};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::clamped;
use crate::law::geometric_level::GeometricLevel;
use crate::law::msdlap::{NotWhole, Shifts};
use crate::path::MismatchReason;
use crate::path::bundle_law::Taken;
use crate::path::points::{Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, sealed};
use crate::{Entropy, Ratio};

/// A path of `MSDLap` noise, priced in pure epsilon: a point at epsilon has the noise of [`Msdlap`]
/// at epsilon and the path's sensitivity, on an integer truth.
///
/// [`Msdlap`]: crate::law::Msdlap
///
/// - Theorem: msdlap-path (docs/theorems.md)
/// - Proves: everything revealed of the path costs the epsilon of its first point, which is its
///   finest
/// - Assumes: one unit changes the truth by a whole number up to the sensitivity (caller); the
///   first point was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity
/// - Checked by: `msdlap_points_have_one_joint_law_in_every_order`,
///   `a_path_takes_only_its_own_next_receipt`,
///   `laws_for_whole_units_take_nothing_paid_by_the_metre`
///
/// Its state is what has been revealed, and does not hold the truth. Any party that may see the
/// finest point may store it.
pub type MsdlapPath = Path<MsdlapPoints>;

/// The law of an [`MsdlapPath`].
#[derive(Clone, Debug, PartialEq)]
pub struct MsdlapPoints {
    sensitivity: L1,
    shifts: Shifts,
}

/// A revealed point.
#[derive(Clone, Debug, PartialEq)]
pub struct MsdlapPoint {
    /// The value of the finest point.
    finest: i64,
    /// How far the noise of each shift is from that of the finest point.
    parts: Vec<i64>,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    id: PathId,
    sensitivity: L1,
    opened: Option<Opened>,
}

/// What there is of a path from its first point on.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opened {
    /// Who paid for it.
    payer: Arc<str>,
    /// The price of the finest point.
    at: Amount<Epsilon>,
    /// The value there.
    value: i64,
    /// By the price of a coarser point, how far the noise of each shift is from that of the finest.
    coarser: BTreeMap<Amount<Epsilon>, Vec<i64>>,
}

impl From<MsdlapPath> for Stored {
    fn from(path: MsdlapPath) -> Self {
        let Path { id, law, payer, mut points } = path;
        let opened = payer.zip(points.pop_last()).map(|(payer, (at, point))| {
            let coarser = points.into_iter().map(|(at, point)| (at, point.parts)).collect();
            Opened { payer, at, value: point.finest, coarser }
        });
        Self { id, sensitivity: law.sensitivity, opened }
    }
}

impl MsdlapPath {
    /// A path of which nothing has been revealed.
    ///
    /// # Errors
    /// The sensitivity is not a whole number, or too large.
    pub fn open(id: PathId, sensitivity: L1) -> Result<Self, NotWhole> {
        Ok(Self::new(id, MsdlapPoints { sensitivity, shifts: Shifts::of(sensitivity)? }))
    }
}

/// The level of every shift's noise at a price: its rate is epsilon, whatever the sensitivity.
fn level(at: Amount<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
    let epsilon = Ratio::new(at.grains(), Amount::<Epsilon>::ONE.grains());
    Ok(GeometricLevel::new(&epsilon.ok_or(MismatchReason::OtherStep)?))
}

impl sealed::Sealed for MsdlapPoints {}

impl PathLaw for MsdlapPoints {
    type Currency = Epsilon;
    type Value = i64;
    type Point = MsdlapPoint;
    type Step = GeometricLevel;
    type Stored = Stored;

    const STEPS: StepRule = StepRule::Once;
    /// At a fraction of a unit of distance a truth may still move by a whole step, which costs all
    /// of epsilon.
    const WHOLE_UNITS: bool = true;

    fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    fn norm(bound: &L1) -> Option<L1> {
        Some(*bound)
    }

    fn step(&self, step: Taken<Epsilon>) -> Result<GeometricLevel, MismatchReason> {
        let level = level(step.to)?;
        level.can_follow(None)?;
        Ok(level)
    }

    fn finer<E: Entropy + ?Sized>(
        &self,
        level: GeometricLevel,
        _: Option<&MsdlapPoint>,
        (&truth, _): (&i64, usize),
        entropy: &mut E,
    ) -> Result<MsdlapPoint, MismatchReason> {
        let noise = self.shifts.each().map(|_| level.draw(entropy));
        let noise = noise.collect::<Result<Vec<i64>, _>>()?;
        let finest = self.shifts.around(clamped(truth), noise);
        Ok(MsdlapPoint { finest, parts: vec![0; self.shifts.count()] })
    }

    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (at, finer), coarser }: Beside<'_, Self>,
        entropy: &mut E,
    ) -> Result<(Amount<Epsilon>, MsdlapPoint), MismatchReason> {
        let (wanted, fine) = (level(to)?, level(at)?);
        let coarser = match coarser {
            None => None,
            Some((at, point)) => Some((level(at)?, point)),
        };
        let parts = (0..self.shifts.count())
            .map(|part| {
                let fine = (&fine, finer.parts[part]);
                let coarser = coarser.as_ref().map(|(level, point)| (level, point.parts[part]));
                wanted.beside(fine, coarser, entropy)
            })
            .collect::<Result<Vec<i64>, _>>()?;
        Ok((to, MsdlapPoint { finest: finer.finest, parts }))
    }

    fn value(&self, _: &Points<Self>, (_, point): Priced<'_, Self>) -> i64 {
        self.shifts.around(point.finest, point.parts.iter().copied())
    }

    /// Points have a part for every shift.
    fn could_have_drawn(&self, points: &Points<Self>) -> bool {
        points.values().all(|point| point.parts.len() == self.shifts.count())
    }

    /// The sensitivity is whole, and coarser points have a price below the finest one's.
    fn read(stored: Stored) -> Result<MsdlapPath, DamagedPath> {
        let Stored { id, sensitivity, opened } = stored;
        let shifts = Shifts::of(sensitivity).map_err(|_| DamagedPath)?;
        let law = Self { sensitivity, shifts };
        let Some(Opened { payer, at, value, coarser }) = opened else {
            return Ok(Path::new(id, law));
        };
        if coarser.keys().any(|&coarser| coarser >= at) {
            return Err(DamagedPath);
        }
        let all = coarser.into_iter().chain([(at, vec![0; shifts.count()])]);
        let points = all.map(|(at, parts)| (at, MsdlapPoint { finest: value, parts }));
        Path::stored(id, law, Some(payer), points.collect())
    }
}
