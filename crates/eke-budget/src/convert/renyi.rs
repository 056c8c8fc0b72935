//! Bounds on the moments of the privacy loss that are not plain zCDP.

use super::zcdp::tight_ln_delta;
use crate::Epsilon;
use crate::enclosure::Enclosure;
use crate::parameter::ParameterError;
use crate::{Delta, Rho};

/// A Rényi order, above 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Order(f64);

impl Order {
    /// Checks the order and wraps it; none if it is not a finite number above 1.
    #[must_use]
    pub fn new(order: f64) -> Option<Self> {
        (order.is_finite() && order > 1.0).then_some(Self(order))
    }

    /// The order as a double, for formulas.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A bound on every moment of the privacy loss L:
/// `ln E exp((a-1) L) <= (a-1) shift + a (a-1) rho + constant`.
///
/// Rows of mechanisms that run one after another add up, field by field. Plain zCDP is the row
/// with no shift and no constant.
///
/// - Theorem: moment-rows (docs/theorems.md)
/// - Proves: delta at epsilon is `exp(constant)` times the tight delta of rho at `epsilon - shift`
/// - Assumes: the bound holds for every order used, under adaptive composition (caller)
/// - Deviates: rounded up
/// - Checked by: `rows_and_fixed_orders_match_the_golden_values`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Added to the loss surely (xi in docs/theorems.md).
    pub shift: f64,
    /// The zCDP part.
    pub rho: Rho,
    /// Added to the logarithm of every moment (b in docs/theorems.md).
    pub constant: f64,
}

impl Row {
    /// The natural logarithm of delta at this epsilon; never positive. Where the row is not made of
    /// finite numbers nothing is promised and the answer is 0.
    #[must_use]
    pub fn ln_delta(&self, epsilon: Epsilon) -> f64 {
        if !self.shift.is_finite() || !self.constant.is_finite() {
            return 0.0;
        }
        let left = (Enclosure::written(epsilon.get()) - Enclosure::written(self.shift)).lower();
        let plain = tight_ln_delta(self.rho.get(), left);
        (Enclosure::exact(plain) + Enclosure::written(self.constant)).upper().min(0.0)
    }
}

/// What one shared budget holds at a fixed Rényi order: while `sum (a rho) + sum E` of all zCDP
/// rounds and all ex-post prices stays at or below it, (epsilon, delta) is kept, and the two kinds
/// need no budgets of their own. None where this order leaves nothing.
///
/// - Theorem: fixed-order (docs/theorems.md)
/// - Proves: the budget is `epsilon - (ln(1/delta) + (a-1) ln(a-1) - a ln a)/(a-1)`
/// - Assumes: the order is fixed before the first round (caller)
/// - Deviates: rounded down
/// - Checked by: `rows_and_fixed_orders_match_the_golden_values`
///
/// # Errors
/// The budget is larger than an epsilon can be.
pub fn fixed_order_budget(
    order: Order,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Option<Epsilon>, ParameterError> {
    let order = Enclosure::exact(order.0);
    let less_one = order - Enclosure::exact(1.0);
    let ln_inverse = -Enclosure::written(delta.get()).ln();
    let price = (ln_inverse + less_one * less_one.ln() - order * order.ln()) / less_one;
    let budget = (Enclosure::written(epsilon.get()) - price).lower();
    if budget < f64::MIN_POSITIVE { Ok(None) } else { Epsilon::new(budget).map(Some) }
}
