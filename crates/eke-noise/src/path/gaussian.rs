//! Paths of Gaussian noise, priced in zCDP.
//!
//! The truth is an integer on a grid. A path is a list of *increments*: independent discrete
//! Gaussian releases of the truth, each as precise as its price. A point at price r is the average,
//! weighted by price, of the increments up to r. Where r lies inside an increment, a coarser
//! version of that increment takes its place: the increment plus residual noise, drawn once and
//! stored, so that every increment carries a chain of its own from fine to coarse. A version
//! between two stored ones is drawn from the bridge between them; independent residuals would
//! average to more than was paid for.
//!
//! Noise is never narrower than 64 steps squared, residuals included. Above that, sums of discrete
//! Gaussians are discrete Gaussians up to a factor within 1e-270 of one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use eke_budget::{Amount, Delta, L2, PathId, Rho};
use serde::{Deserialize, Serialize};

use crate::evidence::exact::{Truth, clamped};
use crate::law::gaussian_step::{GaussianLaw, average, too_wide};
use crate::number::scale::{root, shift};
use crate::path::bundle_law::Taken;
use crate::path::points::{Beside, DamagedPath, Path, PathLaw, Points, Priced, StepRule, sealed};
use crate::path::{Integers, MismatchReason};
use crate::{DiscreteGaussian, Entropy, Ratio};

/// A path of Gaussian noise on an integer truth, or on a vector of integers, priced in rho: a point
/// at rho has variance `sensitivity²/(2 rho)` in every coordinate.
///
/// - Theorem: path-increments (docs/theorems.md)
/// - Proves: everything revealed of the path costs the rho of its finest point
/// - Assumes: the truth has the path's sensitivity and is the same at every step (caller); the step
///   was charged (receipt)
/// - Deviates: truths beyond 2⁶² are clamped to it, which changes no sensitivity; averages are
///   rounded to the grid, which is post-processing
/// - Checked by: `gaussian_points_in_any_order_have_the_covariance_of_one_path`,
///   `a_gaussian_point_has_the_variance_it_was_paid_for`
///
/// Somebody who sees only coarser points sees a law that is a discrete Gaussian up to
/// [`GaussianPath::slack`]:
///
/// - Theorem: gaussian-residuals (docs/theorems.md)
/// - Proves: a coarser version costs its own rho, but for the slack
/// - Assumes: no noise is narrower than 64 steps squared (this type)
/// - Deviates: versions closer than that to a finer one are moved to the next coarser that is not
/// - Checked by: `points_too_close_to_another_are_moved_to_a_coarser_one`,
///   `gaussian_points_in_any_order_have_the_covariance_of_one_path`
///
/// Its state is what has been revealed, and can be stored; the truth is not in it.
pub type GaussianPath<T = i64> = Path<GaussianPoints<T>>;

/// The law of a [`GaussianPath`].
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianPoints<T: Integers> {
    law: GaussianLaw,
    value: PhantomData<fn() -> T>,
}

/// A version of an increment: the release itself, which is the last, or a coarser one.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianPoint<T: Integers> {
    /// The price of the path before the increment.
    from: Amount<Rho>,
    version: T,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Stored<T: Integers> {
    id: PathId,
    sensitivity: L2,
    payer: Option<Arc<str>>,
    increments: Vec<Increment<T>>,
}

/// One independent release, and its coarser versions.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Increment<T: Integers> {
    /// The price of the path before it.
    from: Amount<Rho>,
    /// Values by the price of the path they reach; the last one is the release itself.
    versions: BTreeMap<Amount<Rho>, T>,
}

impl<T: Integers> From<GaussianPath<T>> for Stored<T> {
    fn from(path: GaussianPath<T>) -> Self {
        let Path { id, law, payer, points } = path;
        let mut increments: Vec<Increment<T>> = Vec::new();
        for (at, GaussianPoint { from, version }) in points {
            match increments.last_mut().filter(|last| last.from == from) {
                Some(last) => drop(last.versions.insert(at, version)),
                None => increments.push(Increment { from, versions: [(at, version)].into() }),
            }
        }
        Self { id, sensitivity: law.law.sensitivity, payer, increments }
    }
}

impl GaussianPath {
    /// What coarser points can differ from discrete Gaussians by, as a delta, at most, all those
    /// that could ever be stored together. It is below the unit in the last place of any delta down
    /// to 1e-200, which the conversion of a budget leaves free (docs/theorems.md), so nobody is
    /// charged for it.
    ///
    /// # Panics
    /// Never: it is a constant.
    #[must_use]
    pub fn slack() -> Delta {
        Delta::new(1e-240).expect("a delta")
    }
}

impl<T: Integers> GaussianPath<T> {
    /// A path of which nothing has been revealed. The sensitivity is in steps of the grid.
    #[must_use]
    pub fn open(id: PathId, sensitivity: L2) -> Self {
        Self::new(id, GaussianPoints::of(sensitivity))
    }
}

impl<T: Integers> GaussianPoints<T> {
    fn of(sensitivity: L2) -> Self {
        Self { law: GaussianLaw { sensitivity }, value: PhantomData }
    }

    /// The releases of all increments up to a price at which one ends, in the order of their
    /// prices.
    fn releases(points: &Points<Self>, to: Amount<Rho>) -> impl Iterator<Item = Priced<'_, Self>> {
        let next = points.range(..=to).skip(1).map(Some).chain([None]);
        let is_last = |point: &GaussianPoint<T>, next: Option<(_, &GaussianPoint<T>)>| {
            next.is_none_or(|(_, next)| next.from != point.from)
        };
        let versions = points.range(..=to).zip(next);
        versions.filter_map(move |((&at, point), next)| is_last(point, next).then_some((at, point)))
    }
}

impl<T: Integers> sealed::Sealed for GaussianPoints<T> {}

impl<T: Integers> PathLaw for GaussianPoints<T> {
    type Currency = Rho;
    type Value = T;
    type Point = GaussianPoint<T>;
    /// Where an increment starts, and its variance.
    type Step = (Amount<Rho>, Ratio);
    type Stored = Stored<T>;

    const STEPS: StepRule = StepRule::WithGaps;
    const WHOLE_UNITS: bool = false;

    fn sensitivity(&self) -> L2 {
        self.law.sensitivity
    }

    fn norm(bound: &<T as Truth>::Bound) -> Option<L2> {
        T::l2(bound).ok()
    }

    fn coordinates(point: &GaussianPoint<T>) -> usize {
        point.version.len()
    }

    fn step(&self, step: Taken<Rho>) -> Result<Self::Step, MismatchReason> {
        let price = step.to.minus(step.from).ok_or(MismatchReason::OtherStep)?;
        let variance = self.law.increment(price)?;
        shift(root(&variance)).map_err(too_wide)?;
        Ok((step.from, variance))
    }

    /// A new increment: the truth with noise of its own.
    fn finer<E: Entropy + ?Sized>(
        &self,
        (from, variance): Self::Step,
        _: Option<&GaussianPoint<T>>,
        (truth, count): (&T, usize),
        entropy: &mut E,
    ) -> Result<GaussianPoint<T>, MismatchReason> {
        let version = T::make(count, |coordinate| {
            let noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?;
            Ok(clamped(truth.coordinate(coordinate)).saturating_add(noise))
        });
        version.map(|version| GaussianPoint { from, version })
    }

    /// A version of the increment that the price is in, at that price or a lower one; in a gap,
    /// what is before it.
    fn coarser<E: Entropy + ?Sized>(
        &self,
        Beside { to, finer: (finer, GaussianPoint { from, version: fine }), coarser }: Beside<
            '_,
            Self,
        >,
        entropy: &mut E,
    ) -> Result<(Amount<Rho>, GaussianPoint<T>), MismatchReason> {
        if *from >= to {
            let (at, before) = coarser.ok_or(MismatchReason::OtherStep)?;
            return Ok((at, before.clone()));
        }
        let coarser = coarser.filter(|(_, point)| point.from == *from);
        let price = coarser.map(|(price, _)| price);
        let version = self.law.version(*from, to, finer, price)?;
        let value = T::make(fine.len(), |coordinate| {
            let fine = fine.coordinate(coordinate);
            let coarse = coarser.map_or(fine, |(_, point)| point.version.coordinate(coordinate));
            version.draw(fine, coarse, entropy)
        })?;
        let at = version.at().or(price).unwrap_or(finer);
        Ok((at, GaussianPoint { from: *from, version: value }))
    }

    /// The average of the increments before a version of one, and of that version.
    fn value(&self, points: &Points<Self>, (at, point): Priced<'_, Self>) -> T {
        let weight = at.grains() - point.from.grains();
        let Ok(average) = T::make(point.version.len(), |coordinate| {
            let before = Self::releases(points, point.from).map(|(to, increment)| {
                let release = increment.version.coordinate(coordinate);
                (to.grains() - increment.from.grains(), release)
            });
            Ok::<_, Infallible>(average((weight, point.version.coordinate(coordinate)), before))
        });
        average
    }

    fn worth(points: &Points<Self>, at: Amount<Rho>) -> Amount<Rho> {
        let drawn = Self::releases(points, Amount::MAX)
            .map(|(to, increment)| to.min(at).grains().saturating_sub(increment.from.grains()));
        Amount::from_grains(drawn.sum())
    }

    /// Increments come after each other, and each ends beyond its start.
    fn read(stored: Stored<T>) -> Result<GaussianPath<T>, DamagedPath> {
        let Stored { id, sensitivity, payer, increments } = stored;
        let (mut at, mut points) = (Amount::ZERO, BTreeMap::new());
        for Increment { from, versions } in increments {
            let inside = versions.keys().all(|&version| version > from);
            let to = versions.last_key_value().map(|(&to, _)| to).ok_or(DamagedPath)?;
            if from < at || !inside {
                return Err(DamagedPath);
            }
            at = to;
            let versions = versions.into_iter();
            points.extend(versions.map(|(at, version)| (at, GaussianPoint { from, version })));
        }
        Path::stored(id, GaussianPoints::of(sensitivity), payer, points)
    }
}
