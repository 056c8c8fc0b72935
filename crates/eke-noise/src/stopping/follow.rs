//! Following a path until its answer is good enough.
//!
//! A rule sees what has been released and says where to look next, or that this is it:
//! [`GaussianRule`](crate::stopping::GaussianRule),
//! [`GeometricRule`](crate::stopping::GeometricRule) and
//! [`LaplaceRule`](crate::stopping::LaplaceRule) for the kinds of paths. It draws nothing and pays
//! nothing, so that a caller that follows many paths at once can ask it for each; [`refine_until`]
//! follows one.

use eke_budget::evidence::CommitError;
use eke_budget::purchase::{Coarsen, PathError};
use eke_budget::{Account, Amount, Journal, PathId, Price, Raise, Receipt, Refusal};

use crate::path::{Mismatch, NoisePath};
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

/// The widest noise that a first look has, as a scale in steps: 2^35. What comes between later
/// looks may be some hundred times wider, and can still be drawn.
pub(crate) const WIDEST: f64 = 34_359_738_368.0;

/// An answer within a relative error: the truth is between `value/(1 + t)` and `value/(1 - t)`.
pub(crate) fn relative(value: f64, tolerance: f64) -> Estimate {
    let (one, other) = (value / (1.0 + tolerance), value / (1.0 - tolerance));
    Estimate { value, low: one.min(other), high: one.max(other), ending: Ending::Met }
}

/// An answer whose truth is within a half-width, if that makes it good enough: with
/// `|y - truth| <= h`, `(y² - h²)/y` is within `h/|y|` of the truth, relatively.
pub(crate) fn within(value: f64, half: f64, tolerance: f64) -> Option<Estimate> {
    (half <= tolerance * value.abs() && half < value.abs()).then(|| Estimate {
        value: value - half * half / value,
        ..around(value, half, Ending::Met)
    })
}

pub(crate) fn around(value: f64, half: f64, ending: Ending) -> Estimate {
    Estimate { value, low: value - half, high: value + half, ending }
}

pub(crate) fn double(value: i64) -> f64 {
    value as f64
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
pub struct AccountPayer<'a, J> {
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

impl<C: Price, J: Journal> Payer<C> for AccountPayer<'_, J> {
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
    Mismatch(crate::path::MismatchReason),
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

/// Follows a path until a rule says stop. A goal that was asked for before, or a coarser one, is
/// answered from what has been revealed, for nothing.
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
        // A step too small to be drawn, from where an earlier question has left the path, is not
        // taken.
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
