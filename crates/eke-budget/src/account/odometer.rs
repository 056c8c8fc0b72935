//! What has been spent so far, in whatever form the reader wants.
//!
//! Running totals are kept as charges are made, so reading is as cheap as charging. The (epsilon,
//! delta) promise is the budget's ([`Budget::promise`](crate::Budget::promise)); a running total
//! converted at the end is *not* one, because when to look may depend on what was seen. What may be
//! shown meanwhile is the totals themselves, or [`Odometer::bound`], which holds at all times at
//! once.

use crate::account::Purse;
use crate::number::Currency;
use crate::number::enclosure::Enclosure;
use crate::number::parameter::ParameterError;
use crate::{Amount, Delta, Epsilon, Metres, Metric, Rho};

/// A reading of an account.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "privacy odometer")]
pub struct Odometer<'a> {
    pub(crate) zcdp: Option<&'a Purse<Rho>>,
    pub(crate) pure: Option<&'a Purse<Epsilon>>,
    pub(crate) metric: Metric,
}

impl<'a> Odometer<'a> {
    /// The zCDP purse as it is now.
    #[must_use]
    pub fn zcdp(&self) -> Option<&'a Purse<Rho>> {
        self.zcdp
    }

    /// The pure purse as it is now.
    #[must_use]
    pub fn pure(&self) -> Option<&'a Purse<Epsilon>> {
        self.pure
    }

    /// A bound on the loss so far that holds at all times at once, so that looking at it, and
    /// stopping because of it, breaks nothing. None where distances have no limit and there is a
    /// zCDP purse.
    ///
    /// The shape must be fixed before the first charge.
    ///
    /// - Theorem: time-uniform (docs/theorems.md)
    /// - Proves: with `V = 2 rho`, with probability 1 - delta the loss stays below
    ///   `V/2 + sqrt((V + gamma) ln((V + gamma)/(delta² gamma)))` at all times
    /// - Assumes: charges are fixed before their release (receipts); gamma and delta before all
    ///   (caller)
    /// - Deviates: in a metric gamma scales with the distance squared; reserved worst cases count
    ///   as spent; pure prices and used deltas are added; rounded up
    /// - Checked by: `the_time_uniform_bound_matches_the_golden_values`,
    ///   `the_time_uniform_bound_survives_an_adversary_who_stops_at_the_worst_moment`
    ///
    /// # Errors
    /// The bound is larger than an epsilon can be.
    pub fn bound(&self, shape: TimeUniform) -> Result<Option<RunningBound>, ParameterError> {
        let mut epsilon = Enclosure::exact(0.0);
        let mut delta = Enclosure::written(shape.delta.get());
        if let Some(purse) = self.zcdp {
            let Some(reach) = self.metric.reach() else { return Ok(None) };
            let reach = Enclosure::written(reach.get());
            let variance =
                (Enclosure::exact(2.0) * enclose(purse.spent()) * reach.square()).not_negative();
            epsilon = shape.loss(variance) / reach;
            delta = delta + enclose(purse.delta_spent());
        }
        if let Some(purse) = self.pure {
            epsilon = epsilon + enclose(purse.spent()) + enclose(purse.reserved());
            delta = delta + enclose(purse.delta_spent());
        }
        Ok(Some(RunningBound {
            epsilon: Epsilon::new(epsilon.upper().max(Epsilon::FLOOR.get()))?,
            delta: Delta::new(delta.upper())?,
            reach: if self.metric.has_small_distances() { self.metric.reach() } else { None },
        }))
    }
}

fn enclose<C: Currency>(amount: Amount<C>) -> Enclosure {
    Enclosure::written(amount.to_f64())
}

/// A bound on what has been lost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RunningBound {
    /// The bound on the loss.
    pub epsilon: Epsilon,
    /// What had to be given up for it: but for the deltas of the charges and an event of
    /// probability that of the shape, the loss was below the bound at this and all earlier times.
    pub delta: Delta,
    /// How far apart places may be; none outside a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Metres>,
}

/// The shape of a time-uniform bound: how sure it is, and where it is tight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUniform {
    gamma: f64,
    delta: Delta,
}

impl TimeUniform {
    /// A bound that fails with probability delta and is tightest when about this rho is spent.
    #[must_use]
    pub fn tightest_at(rho: Rho, delta: Delta) -> Self {
        let twice = -2.0 * libm::log(delta.get());
        let gamma = 2.0 * rho.get() / (twice + libm::log1p(twice) + 1.0);
        Self { gamma: gamma.max(1e-30), delta }
    }

    /// A bound with the mixture's own parameter; none unless gamma is a normal number above 0.
    #[must_use]
    pub fn with_gamma(gamma: f64, delta: Delta) -> Option<Self> {
        (gamma.is_normal() && gamma > 0.0).then_some(Self { gamma, delta })
    }

    /// The loss that is not exceeded while `variance` (twice the rho) is spent.
    fn loss(self, variance: Enclosure) -> Enclosure {
        let gamma = Enclosure::exact(self.gamma);
        let total = (variance + gamma).max(gamma);
        let ln_inverse = -Enclosure::written(self.delta.get()).ln();
        let ln_term = (total / gamma).ln() + Enclosure::exact(2.0) * ln_inverse;
        variance / Enclosure::exact(2.0) + (total * ln_term.not_negative()).not_negative().sqrt()
    }
}
