//! What an account may spend, and the promise that follows from it.
//!
//! A budget is settled when the account is opened and never changes: how much of the promised
//! epsilon goes to which purse, and how much of delta is kept for mechanisms, cannot depend on
//! anything that was released. (A split chosen as one goes breaks the promise: docs/theorems.md,
//! no-split-on-the-fly.)

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::convert::{ConvertError, Curve, Method};
use crate::enclosure::Enclosure;
use crate::parameter::ParameterError;
use crate::{Amount, Currency, Delta, Epsilon, Limits, Metres, Metric, Rho};

/// What is promised to every unit whatever is asked: (epsilon, delta), per unit of distance and
/// within a reach where places are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The bound on the privacy loss.
    pub epsilon: Epsilon,
    /// The probability that it fails; none where it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// How far apart places may be; none outside a metric, and where the promise has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Metres>,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epsilon {}", self.epsilon)?;
        if let Some(delta) = self.delta {
            write!(f, ", delta {delta}")?;
        }
        if let Some(reach) = self.reach {
            write!(f, ", within {reach} m")?;
        }
        Ok(())
    }
}

/// A budget as people write it: a target (epsilon, delta), or a rho, and how it is divided.
///
/// ```
/// use eke_budget::{Adjacency, BudgetSpec, Delta, Epsilon, Metric};
/// let budget = BudgetSpec::promising(Epsilon::new(2.0)?)
///     .with_delta(Delta::new(1e-7)?)
///     .with_pure(Epsilon::new(0.5)?)
///     .resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// assert_eq!(budget.promise().unwrap().to_string(), "epsilon 2.0, delta 1e-7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSpec {
    /// The epsilon promised in all. Without a delta it is all pure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epsilon: Option<Epsilon>,
    /// The zCDP budget, in place of a promised epsilon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rho: Option<Rho>,
    /// The delta promised in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delta: Option<Delta>,
    /// The part of epsilon kept for pure and ex-post mechanisms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pure: Option<Epsilon>,
    /// The part of delta kept for mechanisms in the zCDP purse; a tenth unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    zcdp_delta: Option<Delta>,
    /// The part of delta kept for mechanisms in the pure purse; none unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pure_delta: Option<Delta>,
    /// How rho and (epsilon, delta) are converted; tight unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<Method>,
}

/// Why a budget cannot be what it says.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// Neither a promise nor a rho.
    #[error("the budget is empty: give it an epsilon and a delta, or a rho")]
    Empty,
    /// Both a promise and a rho.
    #[error("the budget has an epsilon and a rho: give it one of them; the other follows")]
    BothTargets,
    /// A pure share without a delta.
    #[error("without a delta all of epsilon is pure: add a delta, or leave out `{0}`")]
    NeedsDelta(&'static str),
    /// The pure share takes everything.
    #[error("pure {pure} must be less than epsilon {epsilon}: lower it, or leave out the delta")]
    PureTooLarge {
        /// The share.
        pure: Epsilon,
        /// The whole.
        epsilon: Epsilon,
    },
    /// The parts of delta kept for mechanisms take everything.
    #[error("the deltas kept for mechanisms must add up to less than delta {delta}: lower them")]
    KeptDeltaTooLarge {
        /// The whole.
        delta: Delta,
    },
    /// A delta for the pure purse where there is none.
    #[error("`pure_delta` needs a `pure` budget beside it")]
    NoPurePurse,
    /// A budget that rounds down to nothing.
    #[error("{0} is less than the 1e-30 that eke counts in: give a larger budget")]
    RoundsToNothing(&'static str),
    /// A concentrated budget for all distances.
    #[error(
        "at unlimited reach only a pure budget keeps an epsilon: leave out the delta, or set a reach"
    )]
    UnlimitedReach,
    /// No rho keeps the promise.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A part is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl BudgetSpec {
    const EMPTY: Self = Self {
        epsilon: None,
        rho: None,
        delta: None,
        pure: None,
        zcdp_delta: None,
        pure_delta: None,
        method: None,
    };

    /// A budget that keeps this epsilon in all. Add a delta, or it is a pure one.
    #[must_use]
    pub fn promising(epsilon: Epsilon) -> Self {
        Self { epsilon: Some(epsilon), ..Self::EMPTY }
    }

    /// A budget of this rho. Add a delta, and it states an epsilon.
    #[must_use]
    pub fn zcdp(rho: Rho) -> Self {
        Self { rho: Some(rho), ..Self::EMPTY }
    }

    /// With this delta, in all.
    #[must_use]
    pub fn with_delta(self, delta: Delta) -> Self {
        Self { delta: Some(delta), ..self }
    }

    /// With this part of epsilon (or this epsilon beside rho) for pure and ex-post mechanisms.
    #[must_use]
    pub fn with_pure(self, epsilon: Epsilon) -> Self {
        Self { pure: Some(epsilon), ..self }
    }

    /// With this part of delta for mechanisms in the zCDP purse, such as choosing keys.
    #[must_use]
    pub fn with_zcdp_delta(self, delta: Delta) -> Self {
        Self { zcdp_delta: Some(delta), ..self }
    }

    /// With this part of delta for mechanisms in the pure purse.
    #[must_use]
    pub fn with_pure_delta(self, delta: Delta) -> Self {
        Self { pure_delta: Some(delta), ..self }
    }

    /// With this conversion instead of the tight one.
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Works out the purses, once and for all.
    ///
    /// - Theorem: two-purses (docs/theorems.md)
    /// - Proves: a zCDP purse worth `conv(rho, delta'')` and a pure purse of epsilon together keep
    ///   `conv(rho, delta'') + epsilon` at the sum of all deltas, whatever depends on whatever
    /// - Assumes: both budgets are fixed before the first charge (this type)
    /// - Deviates: every share rounds down
    /// - Checked by: `a_budget_keeps_the_promise_it_was_made_from`
    ///
    /// # Errors
    /// The parts do not fit together; the error says which.
    pub fn resolve(self, metric: Metric) -> Result<Budget, BudgetError> {
        let method = self.method.unwrap_or(Method::Tight);
        if self.pure_delta.is_some() && self.pure.is_none() {
            return Err(BudgetError::NoPurePurse);
        }
        match (self.epsilon, self.rho) {
            (None, None) => Err(BudgetError::Empty),
            (Some(_), Some(_)) => Err(BudgetError::BothTargets),
            (Some(epsilon), None) => match self.delta {
                None => self.resolve_pure(epsilon, metric),
                Some(delta) => {
                    let deltas = Deltas::divide(delta, self)?;
                    let reach = metric.reach().ok_or(BudgetError::UnlimitedReach)?;
                    let concentrated = match self.pure {
                        None => epsilon,
                        Some(pure) => less(epsilon, pure)?,
                    };
                    let rho = method.rho_within(concentrated, deltas.conversion, reach)?;
                    let promise = Promise::new(epsilon, Some(delta), metric);
                    self.assemble(rho, Some((deltas, promise)), metric)
                }
            },
            (None, Some(rho)) => {
                let promised = match self.delta {
                    None => match (self.zcdp_delta, self.pure_delta) {
                        (None, None) => None,
                        (Some(_), _) => return Err(BudgetError::NeedsDelta("zcdp_delta")),
                        (None, Some(_)) => return Err(BudgetError::NeedsDelta("pure_delta")),
                    },
                    Some(delta) => {
                        let deltas = Deltas::divide(delta, self)?;
                        let reach = metric.reach().ok_or(BudgetError::UnlimitedReach)?;
                        let concentrated = method.epsilon_within(rho, deltas.conversion, reach)?;
                        let epsilon = match self.pure {
                            None => concentrated,
                            Some(pure) => sum(concentrated, pure)?,
                        };
                        Some((deltas, Promise::new(epsilon, Some(delta), metric)))
                    }
                };
                self.assemble(rho, promised, metric)
            }
        }
    }

    fn resolve_pure(self, epsilon: Epsilon, metric: Metric) -> Result<Budget, BudgetError> {
        let alone = [
            (self.pure.is_some(), "pure"),
            (self.zcdp_delta.is_some(), "zcdp_delta"),
            (self.method.is_some(), "method"),
        ];
        if let Some((_, name)) = alone.into_iter().find(|(given, _)| *given) {
            return Err(BudgetError::NeedsDelta(name));
        }
        let pure = Limits { budget: not_nothing(Amount::at_most(epsilon))?, delta: Amount::ZERO };
        let promise = Some(Promise::new(epsilon, None, metric));
        Ok(Budget { metric, zcdp: None, pure: Some(pure), promise })
    }

    fn assemble(
        self,
        rho: Rho,
        promised: Option<(Deltas, Promise)>,
        metric: Metric,
    ) -> Result<Budget, BudgetError> {
        let (zcdp_delta, pure_delta) =
            promised.map_or((Amount::ZERO, Amount::ZERO), |(deltas, _)| (deltas.zcdp, deltas.pure));
        let pure = match self.pure {
            None => None,
            Some(epsilon) => {
                Some(Limits { budget: not_nothing(Amount::at_most(epsilon))?, delta: pure_delta })
            }
        };
        Ok(Budget {
            metric,
            zcdp: Some(Limits { budget: not_nothing(Amount::at_most(rho))?, delta: zcdp_delta }),
            pure,
            promise: promised.map(|(_, promise)| promise),
        })
    }
}

/// How a promised delta is divided: what mechanisms may use, and what the conversion uses up.
#[derive(Clone, Copy)]
struct Deltas {
    zcdp: Amount<Delta>,
    pure: Amount<Delta>,
    conversion: Delta,
}

impl Deltas {
    fn divide(delta: Delta, spec: BudgetSpec) -> Result<Self, BudgetError> {
        let zcdp = match spec.zcdp_delta {
            Some(kept) => Amount::at_most(kept),
            // At delta 1e-6 a tenth costs the zCDP purse less than one per cent; it lets keys be
            // chosen.
            None => Amount::from_grains(Amount::at_most(delta).grains() / 10),
        };
        let pure = spec.pure_delta.map_or(Amount::ZERO, Amount::at_most);
        let too_large = BudgetError::KeptDeltaTooLarge { delta };
        let kept = zcdp.plus(pure).ok_or(too_large.clone())?;
        let conversion = if kept.is_zero() {
            delta
        } else {
            // Exact in grains; one step down, so that the double is not above them.
            let left = Amount::at_most(delta).minus(kept).ok_or(too_large.clone())?;
            Delta::new(left.to_f64().next_down()).map_err(|_| too_large)?
        };
        Ok(Self { zcdp, pure, conversion })
    }
}

fn less(epsilon: Epsilon, pure: Epsilon) -> Result<Epsilon, BudgetError> {
    // The purse holds the decimal of `pure`, which may be half a step above its double.
    let left = Enclosure::exact(epsilon.get()) - Enclosure::exact(pure.get().next_up());
    Epsilon::new(left.lower()).map_err(|_| BudgetError::PureTooLarge { pure, epsilon })
}

fn sum(concentrated: Epsilon, pure: Epsilon) -> Result<Epsilon, ParameterError> {
    Epsilon::new((Enclosure::exact(concentrated.get()) + Enclosure::exact(pure.get())).upper())
}

fn not_nothing<C: Currency>(amount: Amount<C>) -> Result<Amount<C>, BudgetError> {
    if amount.is_zero() { Err(BudgetError::RoundsToNothing(C::NAME)) } else { Ok(amount) }
}

impl Promise {
    fn new(epsilon: Epsilon, delta: Option<Delta>, metric: Metric) -> Self {
        let reach = if metric.has_small_distances() { metric.reach() } else { None };
        Self { epsilon, delta, reach }
    }
}

/// The purses of an account as they are when it is opened, and what they promise together. Made by
/// [`BudgetSpec::resolve`], or read back from a journal in the exact amounts it was opened with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    metric: Metric,
    zcdp: Option<Limits<Rho>>,
    pure: Option<Limits<Epsilon>>,
    promise: Option<Promise>,
}

impl Budget {
    /// What distance the budget is about.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What the zCDP purse holds.
    #[must_use]
    pub fn zcdp(&self) -> Option<Limits<Rho>> {
        self.zcdp
    }

    /// What the pure purse holds.
    #[must_use]
    pub fn pure(&self) -> Option<Limits<Epsilon>> {
        self.pure
    }

    /// What the budget promises, all of it spent; none for a rho that was given no delta.
    #[must_use]
    pub fn promise(&self) -> Option<Promise> {
        self.promise
    }
}
