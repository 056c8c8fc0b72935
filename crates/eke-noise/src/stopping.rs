//! Following a path until its answer is good enough.
//!
//! A rule sees what has been released and says where to look next, or that this is it: [`GaussianRule`]
//! and [`GeometricRule`] for the two kinds of paths. It draws nothing and pays nothing, so that whoever
//! follows many paths at once can ask it for each; [`refine_until`] follows one.

use eke_budget::{
    Account, Amount, Coarsen, CommitError, Epsilon, Journal, L1, L2, PathError, PathId, Price,
    Raise, Receipt, Refusal, Rho,
};

use crate::boundary::{Boundary, END};
use crate::goal::{Goal, Within};
use crate::path::{Mismatch, NoisePath};
use crate::schedule::{Schedule, times};
use crate::sequence::ConfidenceSequence;
use crate::{Entropy, Exact, Released};

/// One look at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look<C: Price> {
    /// Which look this is of the question, from 1.
    pub number: u32,
    /// The price that was asked for.
    pub asked: Amount<C>,
    /// The price of the point: that, or a little less where the grid does not allow it.
    pub price: Amount<C>,
    /// What was released there.
    pub value: Released<i64>,
}

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next<C: Price> {
    /// Look there.
    Look(Amount<C>),
    /// Stop with this.
    Stop(Estimate),
}

/// An answer with its interval, in steps of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The answer.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// Why it ended.
    pub ending: Ending,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The goal is met.
    Met,
    /// The absolute error that is good enough is reached.
    Floor,
    /// The highest price is reached.
    HighestPrice,
    /// The next look does not fit the budget.
    Refused,
    /// The goal would not be met at the highest price either.
    OutOfReach,
    /// The grid does not allow a point so fine beside those that have been revealed.
    Grid,
}

/// When to look, and when to stop. It sees released values alone.
pub trait Rule {
    /// What points are priced in.
    type Currency: Price;

    /// The first look.
    fn first(&self) -> Amount<Self::Currency>;

    /// What to do after a look.
    fn after(&self, look: Look<Self::Currency>) -> Next<Self::Currency>;

    /// What to say after a look that has to be the last.
    fn end(&self, look: Look<Self::Currency>, ending: Ending) -> Estimate;
}

/// When to stop on a Gaussian path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianRule {
    goal: Goal<Rho>,
    schedule: Schedule<Rho>,
    /// Precision for a price of one: `2/sensitivity²`.
    per_price: f64,
    /// The last price, and why.
    last: (Amount<Rho>, Ending),
    /// The price of the one look of an absolute goal.
    planned: Option<Amount<Rho>>,
    quantile: f64,
    boundary: Option<Boundary>,
    sequence: ConfidenceSequence,
    is_thrifty: bool,
    is_by_hand: bool,
}

/// The price at which the confidence sequence of whoever goes on by hand is tightest.
pub(crate) const BY_HAND: f64 = 1e-5;

/// The widest noise that a first look has, as a scale in steps: 2^35. What comes between later looks may be
/// some hundred times wider, and can still be drawn.
pub(crate) const WIDEST: f64 = 34_359_738_368.0;

/// How many times as dear as the one before a look of a thrifty rule is at most.
const LEAP: f64 = 4.0;

/// How far an answer moves from a look on, in its own deviations: more has probability 4e-9.
const MOVES: f64 = 6.0;

impl GaussianRule {
    /// The rule of a goal, for a truth of this sensitivity in steps.
    #[must_use]
    pub fn new(goal: Goal<Rho>, schedule: Schedule<Rho>, sensitivity: L2) -> Self {
        let per_price = 2.0 / (sensitivity.get() * sensitivity.get());
        let quantile = goal.confidence.quantile();
        let price = |half_width: f64, factor: f64| {
            let precision = (factor * quantile / (half_width - 0.5)).powi(2);
            Amount::ceil(precision / per_price).unwrap_or(Amount::MAX)
        };
        let good_enough = match (goal.within, goal.floor) {
            (Within::Absolute(steps), _) => Some((price(steps.get(), 1.0), Ending::Met)),
            (_, Some(floor)) => Some((price(floor.get(), END), Ending::Floor)),
            _ => None,
        };
        let last = good_enough
            .filter(|&(price, _)| price <= goal.most)
            .unwrap_or((goal.most, Ending::HighestPrice));
        let boundary = match (goal.within, schedule.ratio()) {
            (Within::Relative(tolerance), Some(ratio)) => {
                Boundary::new(tolerance.get(), goal.confidence.get(), quantile, ratio)
            }
            _ => None,
        };
        let middle = (schedule.first().to_f64() * last.0.to_f64()).sqrt() * per_price;
        let sequence = ConfidenceSequence::tightest_at(middle, goal.confidence);
        let planned = good_enough.filter(|(_, ending)| *ending == Ending::Met);
        let planned = planned.map(|(price, _)| price);
        let (is_thrifty, is_by_hand) = (false, false);
        Self {
            goal,
            schedule,
            per_price,
            last,
            planned,
            quantile,
            boundary,
            sequence,
            is_thrifty,
            is_by_hand,
        }
    }

    /// The same rule, which stops where it is as soon as a relative goal is out of reach of the highest
    /// price, in place of going on to that price. Its interval is then the one that always holds.
    #[must_use]
    pub fn thrifty(self) -> Self {
        Self { is_thrifty: true, ..self }
    }

    /// The price of the one look that an absolute goal plans, be it above the highest price or not; none for
    /// other goals.
    #[must_use]
    pub fn planned(&self) -> Option<Amount<Rho>> {
        self.planned
    }

    /// Where a relative goal stops, K, and what is taken off its answer, b: at the first look of
    /// `|y| sqrt(u) >= K` it answers `y (1 - b)`. None if the goal stops by the confidence sequence: for
    /// looks that are not geometrically spaced, and for tolerances so wide that K would be below 8.
    #[must_use]
    pub fn boundary(&self) -> Option<(f64, f64)> {
        self.boundary.map(|Boundary { k, b }| (k, b))
    }

    /// The same rule, for a path of which something was seen before. Whoever goes on by hand stops when it looks
    /// right, so intervals are those of one confidence sequence for all goals of the path, and an absolute goal
    /// plans its look by it.
    #[must_use]
    pub fn by_hand(self) -> Self {
        let Goal { within, confidence, floor, most } = self.goal;
        let sequence = ConfidenceSequence::tightest_at(BY_HAND * self.per_price, confidence);
        let mut rule = Self { sequence, is_by_hand: true, ..self };
        let good_enough = match (within, floor) {
            (Within::Absolute(steps), _) => Some((steps, Ending::Met)),
            (Within::Relative(_) | Within::Heuristic(_), Some(floor)) => {
                Some((floor, Ending::Floor))
            }
            _ => None,
        };
        let good_enough =
            good_enough.map(|(steps, ending)| (rule.price_by_hand(steps.get()), ending));
        rule.planned = good_enough.filter(|(_, ending)| *ending == Ending::Met).map(|(at, _)| at);
        rule.last =
            good_enough.filter(|&(price, _)| price <= most).unwrap_or((most, Ending::HighestPrice));
        rule
    }

    /// The least price, nearly, at which the sequence is as narrow as this.
    fn price_by_hand(&self, half_width: f64) -> Amount<Rho> {
        let (mut low, mut high) = (-150.0, 150.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            let half = self.sequence.half_width(libm::exp(middle) * self.per_price);
            if half > half_width { low = middle } else { high = middle }
        }
        Amount::ceil(libm::exp(high)).unwrap_or(Amount::MAX)
    }

    /// The first look, on a path that has been revealed up to a price before: there, if that is further.
    #[must_use]
    pub fn first_from(&self, revealed: Amount<Rho>) -> Amount<Rho> {
        self.first().max(revealed)
    }

    fn precision(&self, price: Amount<Rho>) -> f64 {
        price.to_f64() * self.per_price
    }

    /// The estimate, if the goal is met.
    fn met(&self, look: Look<Rho>) -> Option<Estimate> {
        let (value, precision) = (double(look.value.get()), self.precision(look.price));
        let root = precision.sqrt();
        match (self.goal.within, self.boundary) {
            (Within::Relative(tolerance), Some(Boundary { k, b })) => {
                (value.abs() * root >= k).then(|| relative(value * (1.0 - b), tolerance.get()))
            }
            (Within::Relative(tolerance), None) => {
                let half = self.sequence.half_width(precision);
                within(value, half, tolerance.get())
            }
            (Within::Heuristic(tolerance), _) => {
                let k = (2.0 + tolerance.get()) / tolerance.get();
                (value * root >= k)
                    .then(|| around(value, self.sequence.half_width(precision), Ending::Met))
            }
            (Within::Absolute(_) | Within::Price, _) => None,
        }
    }

    /// The least price at which the goal might be met, given a look at which it was not.
    fn reachable(&self, look: Look<Rho>) -> Amount<Rho> {
        let k = match (self.boundary, self.goal.within) {
            (Some(Boundary { k, .. }), _) => k,
            // No interval that always holds is narrower than that of one look.
            (None, Within::Relative(tolerance)) if self.is_thrifty => {
                self.quantile / tolerance.get()
            }
            _ => return Amount::ZERO,
        };
        let deviation = 1.0 / self.precision(look.price).sqrt();
        let furthest = double(look.value.get()).abs() + MOVES * deviation;
        Amount::floor((k / furthest).powi(2) / self.per_price).unwrap_or(Amount::MAX)
    }
}

impl Rule for GaussianRule {
    type Currency = Rho;

    fn first(&self) -> Amount<Rho> {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.last.0,
            Within::Relative(_) | Within::Heuristic(_) => {
                let widest = Amount::ceil(1.0 / (WIDEST * WIDEST * self.per_price));
                let first = self.schedule.first().max(widest.unwrap_or(self.last.0));
                first.min(self.last.0)
            }
        }
    }

    fn after(&self, look: Look<Rho>) -> Next<Rho> {
        if let Some(met) = self.met(look) {
            return Next::Stop(met);
        }
        if look.asked >= self.last.0 {
            return Next::Stop(self.end(look, self.last.1));
        }
        let is_hopeless = self.last.1 == Ending::HighestPrice && self.reachable(look) > self.last.0;
        if self.is_thrifty && is_hopeless {
            return Next::Stop(self.end(look, Ending::OutOfReach));
        }
        let mut next = self.schedule.after(look.asked, self.last.0);
        if let Some(ratio) = self.schedule.ratio() {
            // On along the schedule, as far as the goal cannot be met.
            let mut reachable = self.reachable(look).min(self.last.0);
            if self.is_thrifty {
                // In leaps that leave room for giving up.
                reachable = reachable.min(times(look.asked, LEAP));
            }
            let steps = (reachable.to_f64() / next.to_f64()).ln() / ratio.ln();
            if steps >= 1.0 {
                next = times(next, ratio.powf(steps.floor())).min(self.last.0);
            }
            // The last look is a whole step from the one before it, or more: two looks close to each other
            // would be two chances to stop at a flattering one.
            if self.boundary.is_some() && times(next, ratio) > self.last.0 {
                next = self.last.0;
            }
        }
        Next::Look(next)
    }

    fn end(&self, look: Look<Rho>, ending: Ending) -> Estimate {
        let precision = self.precision(look.price);
        let plain = self.quantile / precision.sqrt() + 0.5;
        let half = match (self.goal.within, self.boundary) {
            _ if ending == Ending::OutOfReach || self.is_by_hand => {
                self.sequence.half_width(precision)
            }
            // One look, wherever it was planned.
            (Within::Absolute(_) | Within::Price, _) => plain,
            (Within::Relative(_), Some(_)) => END * self.quantile / precision.sqrt() + 0.5,
            _ => self.sequence.half_width(precision),
        };
        // A point that was moved for the grid's sake says less than was planned.
        let promised = match (ending, self.goal.within, self.goal.floor) {
            (Ending::Met, Within::Absolute(steps), _) | (Ending::Floor, _, Some(steps)) => {
                steps.get()
            }
            _ => f64::INFINITY,
        };
        let ending = if half > promised * (1.0 + 1e-9) { Ending::Grid } else { ending };
        around(double(look.value.get()), half, ending)
    }
}

/// When to stop on a geometric path: every look has an interval of its own, and the error is spent over
/// them, `6 alpha/(pi² k²)` for the k-th.
///
/// - Theorem: spending (docs/theorems.md)
/// - Proves: with the confidence, the truth is in the intervals of all looks at once
/// - Assumes: noise at a look has its law, whenever the look is (path)
/// - Deviates: half-widths are rounded up to whole numbers
/// - Checked by: `geometric_goals_hold_for_every_truth`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricRule {
    goal: Goal<Epsilon>,
    schedule: Schedule<Epsilon>,
    sensitivity: f64,
    last: (Amount<Epsilon>, Ending),
}

impl GeometricRule {
    /// The rule of a goal, for a truth of this sensitivity.
    #[must_use]
    pub fn new(goal: Goal<Epsilon>, schedule: Schedule<Epsilon>, sensitivity: L1) -> Self {
        let mut rule = Self {
            goal,
            schedule,
            sensitivity: sensitivity.get(),
            last: (goal.most, Ending::HighestPrice),
        };
        let good_enough = match (goal.within, goal.floor) {
            (Within::Absolute(steps), _) => {
                Some((rule.price(steps.get(), rule.alpha()), Ending::Met))
            }
            // As if it were the hundredth look, which it hardly ever is.
            (_, Some(floor)) => Some((rule.price(floor.get(), rule.spend(100)), Ending::Floor)),
            _ => None,
        };
        if let Some(good_enough) = good_enough.filter(|&(price, _)| price <= goal.most) {
            rule.last = good_enough;
        }
        rule
    }

    fn alpha(&self) -> f64 {
        1.0 - self.goal.confidence.get()
    }

    /// What the k-th look may spend.
    fn spend(&self, number: u32) -> f64 {
        let pi = std::f64::consts::PI;
        6.0 * self.alpha() / (pi * pi * f64::from(number.max(1)).powi(2))
    }

    /// The least whole number that noise exceeds with probability alpha at most: `2 p^(h+1)/(1+p)`.
    fn half_width(&self, price: Amount<Epsilon>, alpha: f64) -> f64 {
        let rate = price.to_f64() / self.sensitivity;
        let power = libm::exp(-rate);
        ((libm::log((1.0 + power) * alpha / 2.0) / -rate).ceil() - 1.0).max(0.0)
    }

    /// The price at which noise is within a half-width, but for alpha.
    fn price(&self, half_width: f64, alpha: f64) -> Amount<Epsilon> {
        let rate = libm::log(2.0 / alpha) / (half_width.floor() + 1.0);
        Amount::ceil(rate * self.sensitivity).unwrap_or(Amount::MAX)
    }

    fn look_alpha(&self, look: Look<Epsilon>) -> f64 {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.alpha(),
            Within::Relative(_) | Within::Heuristic(_) => self.spend(look.number),
        }
    }
}

impl Rule for GeometricRule {
    type Currency = Epsilon;

    fn first(&self) -> Amount<Epsilon> {
        match self.goal.within {
            Within::Absolute(_) | Within::Price => self.last.0,
            Within::Relative(_) | Within::Heuristic(_) => {
                let widest = Amount::ceil(self.sensitivity / WIDEST);
                let first = self.schedule.first().max(widest.unwrap_or(self.last.0));
                first.min(self.last.0)
            }
        }
    }

    fn after(&self, look: Look<Epsilon>) -> Next<Epsilon> {
        let value = double(look.value.get());
        let half = self.half_width(look.price, self.look_alpha(look));
        let tolerance = match self.goal.within {
            Within::Relative(tolerance) | Within::Heuristic(tolerance) => Some(tolerance.get()),
            Within::Absolute(_) | Within::Price => None,
        };
        if let Some(met) = tolerance.and_then(|tolerance| within(value, half, tolerance)) {
            return Next::Stop(met);
        }
        if look.asked >= self.last.0 {
            return Next::Stop(self.end(look, self.last.1));
        }
        // Where the goal would be met if the truth were as large as it can be, or the next look.
        let next = self.schedule.after(look.asked, self.last.0);
        let reachable = tolerance.map_or(next, |tolerance| {
            let largest = value.abs() + half;
            self.price(tolerance * largest, self.spend(look.number + 1))
        });
        Next::Look(next.max(reachable).min(self.last.0))
    }

    fn end(&self, look: Look<Epsilon>, ending: Ending) -> Estimate {
        let half = self.half_width(look.price, self.look_alpha(look));
        around(double(look.value.get()), half, ending)
    }
}

/// An answer within a relative error: the truth is between `value/(1 + t)` and `value/(1 - t)`.
fn relative(value: f64, tolerance: f64) -> Estimate {
    let (one, other) = (value / (1.0 + tolerance), value / (1.0 - tolerance));
    Estimate { value, low: one.min(other), high: one.max(other), ending: Ending::Met }
}

/// An answer whose truth is within a half-width, if that makes it good enough: with `|y - truth| <= h`,
/// `(y² - h²)/y` is within `h/|y|` of the truth, relatively.
fn within(value: f64, half: f64, tolerance: f64) -> Option<Estimate> {
    (half <= tolerance * value.abs() && half < value.abs()).then(|| Estimate {
        value: value - half * half / value,
        ..around(value, half, Ending::Met)
    })
}

fn around(value: f64, half: f64, ending: Ending) -> Estimate {
    Estimate { value, low: value - half, high: value + half, ending }
}

fn double(value: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let value = value as f64;
    value
}

/// Who pays for the points of a path.
pub trait Payer<C: Price> {
    /// How paying fails, other than by a refusal.
    type Error;

    /// Pays for the next step of a path, to this point.
    ///
    /// # Errors
    /// It does not fit, or could not be paid for.
    fn raise(
        &mut self,
        path: PathId,
        to: Amount<C>,
        sensitivity: C::Sensitivity,
    ) -> Result<Receipt<Raise<C>>, Unpaid<Self::Error>>;

    /// Pays for a point that is no finer than what has been revealed.
    ///
    /// # Errors
    /// It could not be paid for.
    fn coarsen(
        &mut self,
        path: PathId,
        to: Amount<C>,
    ) -> Result<Receipt<Coarsen<C>>, Unpaid<Self::Error>>;
}

/// Why something was not paid for.
#[derive(Debug, thiserror::Error)]
pub enum Unpaid<E> {
    /// It does not fit the budget.
    #[error(transparent)]
    Refused(Refusal),
    /// It could not be paid for.
    #[error(transparent)]
    Failed(E),
}

/// An account that pays, and the journal that records it.
#[derive(Debug)]
pub struct Till<'a, J> {
    /// The account.
    pub account: &'a mut Account,
    /// Its journal.
    pub journal: &'a mut J,
}

/// Why an account did not pay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TillError<E> {
    /// The path cannot be taken there.
    #[error(transparent)]
    Path(PathError),
    /// The journal failed.
    #[error("the charge could not be recorded, so nothing was spent or drawn: {0}")]
    Journal(E),
    /// The approval was another account's.
    #[error("the approval belongs to another account")]
    OtherAccount,
}

impl<C: Price, J: Journal> Payer<C> for Till<'_, J> {
    type Error = TillError<J::Error>;

    fn raise(
        &mut self,
        path: PathId,
        to: Amount<C>,
        sensitivity: C::Sensitivity,
    ) -> Result<Receipt<Raise<C>>, Unpaid<Self::Error>> {
        let approved = self.account.raise(path, to, sensitivity).map_err(unpaid)?;
        self.account.commit(approved, self.journal).map_err(unrecorded)
    }

    fn coarsen(
        &mut self,
        path: PathId,
        to: Amount<C>,
    ) -> Result<Receipt<Coarsen<C>>, Unpaid<Self::Error>> {
        let approved = self.account.coarsen(path, to).map_err(unpaid)?;
        self.account.commit(approved, self.journal).map_err(unrecorded)
    }
}

fn unpaid<E>(error: PathError) -> Unpaid<TillError<E>> {
    match error {
        PathError::Refused(refusal) => Unpaid::Refused(refusal),
        other => Unpaid::Failed(TillError::Path(other)),
    }
}

fn unrecorded<P, E>(error: CommitError<P, E>) -> Unpaid<TillError<E>> {
    Unpaid::Failed(match error {
        CommitError::Journal(error) => TillError::Journal(error),
        CommitError::OtherAccount(_) | CommitError::Mismatched => TillError::OtherAccount,
    })
}

/// An answer, and what it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<C: Price> {
    /// The answer and its interval.
    pub estimate: Estimate,
    /// The price of the point it was read at.
    pub price: Amount<C>,
    /// How many looks were taken.
    pub looks: u32,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer<E> {
    /// Not even the first look fits.
    #[error(transparent)]
    Refused(Refusal),
    /// A look could not be paid for.
    #[error(transparent)]
    Unpaid(E),
    /// A receipt was not for the path.
    #[error("{0}")]
    Mismatch(crate::MismatchReason),
}

/// Reveals one point of a path, finer or coarser than what there is.
///
/// # Errors
/// It was not paid for, or the path did not take what was.
pub fn reveal<P, Y, E>(
    path: &mut P,
    truth: &Exact<P::Value>,
    sensitivity: <P::Currency as Price>::Sensitivity,
    to: Amount<P::Currency>,
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Released<P::Value>, NoAnswer<Y::Error>>
where
    P: NoisePath,
    Y: Payer<P::Currency>,
    E: Entropy + ?Sized,
{
    let paid = |unpaid| match unpaid {
        Unpaid::Refused(refusal) => NoAnswer::Refused(refusal),
        Unpaid::Failed(error) => NoAnswer::Unpaid(error),
    };
    if to > path.finest() {
        // Nothing is paid for that could not be drawn.
        path.can_refine(to).map_err(NoAnswer::Mismatch)?;
        let receipt = payer.raise(path.id(), to, sensitivity).map_err(paid)?;
        path.refine(truth, receipt, entropy)
            .map_err(|Mismatch { reason, .. }| NoAnswer::Mismatch(reason))
    } else {
        let receipt = payer.coarsen(path.id(), to).map_err(paid)?;
        path.coarsen(receipt, entropy).map_err(|Mismatch { reason, .. }| NoAnswer::Mismatch(reason))
    }
}

/// Follows a path until a rule says stop. A goal that was asked for before, or a coarser one, is answered
/// from what has been revealed, for nothing.
///
/// Where the budget ends on the way, the answer so far is given, and says so.
///
/// # Errors
/// Not even the first look fits, a look could not be paid for, or the truth is not the path's.
pub fn refine_until<P, R, Y, E>(
    path: &mut P,
    truth: &Exact<i64>,
    sensitivity: <P::Currency as Price>::Sensitivity,
    rule: &R,
    payer: &mut Y,
    entropy: &mut E,
) -> Result<Answer<P::Currency>, NoAnswer<Y::Error>>
where
    P: NoisePath<Value = i64>,
    R: Rule<Currency = P::Currency>,
    Y: Payer<P::Currency>,
    E: Entropy + ?Sized,
{
    let (mut asked, mut last, mut looks) = (rule.first(), None, 0);
    loop {
        // A step too small to be drawn, from where an earlier question has left the path, is not taken.
        let finest = path.finest();
        let crumb = asked > finest && !finest.is_zero() && {
            let step = asked.minus(finest).unwrap_or(Amount::ZERO);
            step.grains() < finest.grains() / 1000 && path.can_refine(asked).is_err()
        };
        let to = if crumb { finest } else { asked };
        let value = match reveal(path, truth, sensitivity, to, payer, entropy) {
            Ok(value) => value,
            Err(NoAnswer::Refused(refusal)) => {
                let Some(look) = last else { return Err(NoAnswer::Refused(refusal)) };
                let estimate = rule.end(look, Ending::Refused);
                return Ok(Answer { estimate, price: look.price, looks });
            }
            Err(error) => return Err(error),
        };
        looks += 1;
        let price = path.worth(path.nearest(to).unwrap_or(to));
        let look = Look { number: looks, asked, price, value };
        match rule.after(look) {
            Next::Look(next) => (asked, last) = (next, Some(look)),
            Next::Stop(estimate) => return Ok(Answer { estimate, price, looks }),
        }
    }
}
