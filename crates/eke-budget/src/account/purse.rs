//! A budget in one currency, and the filter that guards it.
//!
//! Invariant: spent plus reserved never exceeds the budget, in the currency and in delta. Nothing
//! here moves a budget after it was set, and nothing moves money between purses.

use serde::{Deserialize, Serialize};

use crate::account::Totals;
use crate::number::Currency;
use crate::{Amount, Delta};

/// What a purse holds when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Limits<C: Currency> {
    /// The budget in the currency.
    pub budget: Amount<C>,
    /// The delta that mechanisms may use.
    pub delta: Amount<Delta>,
}

/// A budget in one currency and what has been taken from it.
///
/// For [`Rho`](crate::Rho) this is the filter of concentrated privacy (also in a metric):
///
/// - Theorem: zcdp-filter (docs/theorems.md)
/// - Proves: while the sums of rho and of delta stay within the budget, everything released so far
///   is delta-approximate rho-zCDP for the whole budget, however adaptively the charges were chosen
/// - Assumes: every charge is fixed from public history before its release is drawn (receipts)
/// - Deviates: charges round up, budgets down; a charge that does not fit is denied and the purse
///   stays usable
/// - Checked by: `no_interleaving_ever_exceeds_a_purse`
///
/// For [`Epsilon`](crate::Epsilon) it is the filter of pure and ex-post privacy:
///
/// - Theorem: ex-post-filter (docs/theorems.md)
/// - Proves: while realised prices plus the worst case of what runs stay within the budget, and all
///   deltas of started rounds add up to at most theirs, everything released is (epsilon, delta)-DP
/// - Assumes: a round's price bounds its loss for every output and neighbour (mechanism)
/// - Deviates: the worst case counts until the round is settled
/// - Checked by: `no_interleaving_ever_exceeds_a_purse`, `the_deltas_of_started_rounds_stay_spent`
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound = "")]
#[doc(alias = "privacy filter")]
pub struct Purse<C: Currency> {
    #[serde(flatten)]
    limits: Limits<C>,
    spent: Amount<C>,
    reserved: Amount<C>,
    delta_spent: Amount<Delta>,
}

impl<C: Currency> Purse<C> {
    pub(crate) fn new(limits: Limits<C>) -> Self {
        let (spent, reserved, delta_spent) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
        Self { limits, spent, reserved, delta_spent }
    }

    /// A purse from which this much has been taken; none if that is more than it held.
    pub(crate) fn standing(limits: Limits<C>, totals: Totals<C>) -> Option<Self> {
        let Totals { spent, reserved, delta_spent } = totals;
        let within = totals.taken()? <= limits.budget && delta_spent <= limits.delta;
        within.then_some(Self { limits, spent, reserved, delta_spent })
    }

    /// What has been taken from it.
    #[must_use]
    pub fn totals(&self) -> Totals<C> {
        let Self { spent, reserved, delta_spent, .. } = *self;
        Totals { spent, reserved, delta_spent }
    }

    /// What the purse held when it was opened.
    #[must_use]
    pub fn budget(&self) -> Amount<C> {
        self.limits.budget
    }

    /// What has been paid for good.
    #[must_use]
    pub fn spent(&self) -> Amount<C> {
        self.spent
    }

    /// The worst case of rounds that have not been settled.
    #[must_use]
    pub fn reserved(&self) -> Amount<C> {
        self.reserved
    }

    /// What can still be charged: the budget less what is spent and reserved.
    #[must_use]
    pub fn left(&self) -> Amount<C> {
        Amount::from_grains(self.budget().grains() - self.spent.grains() - self.reserved.grains())
    }

    /// The delta that mechanisms may use.
    #[must_use]
    pub fn delta_budget(&self) -> Amount<Delta> {
        self.limits.delta
    }

    /// The delta that mechanisms have used.
    #[must_use]
    pub fn delta_spent(&self) -> Amount<Delta> {
        self.delta_spent
    }

    /// The delta that mechanisms may still use.
    #[must_use]
    pub fn delta_left(&self) -> Amount<Delta> {
        Amount::from_grains(self.delta_budget().grains() - self.delta_spent.grains())
    }

    /// Whether a charge fits what is left.
    #[must_use]
    pub fn fits(&self, price: Amount<C>, delta: Amount<Delta>) -> bool {
        price <= self.left() && delta <= self.delta_left()
    }

    /// Takes the charge if it fits, and says whether it did.
    pub(crate) fn spend(&mut self, price: Amount<C>, delta: Amount<Delta>) -> bool {
        let fits = self.fits(price, delta);
        if fits {
            self.spent = add(self.spent, price);
            self.delta_spent = add(self.delta_spent, delta);
        }
        fits
    }

    /// Sets the worst case aside if it fits, and says whether it did. The delta is spent.
    pub(crate) fn reserve(&mut self, worst: Amount<C>, delta: Amount<Delta>) -> bool {
        let fits = self.fits(worst, delta);
        if fits {
            self.reserved = add(self.reserved, worst);
            self.delta_spent = add(self.delta_spent, delta);
        }
        fits
    }

    /// Undoes a charge that was never recorded.
    pub(crate) fn unspend(&mut self, price: Amount<C>, delta: Amount<Delta>) {
        self.spent = subtract(self.spent, price);
        self.delta_spent = subtract(self.delta_spent, delta);
    }

    /// Undoes a reservation that was never recorded.
    pub(crate) fn unreserve(&mut self, worst: Amount<C>, delta: Amount<Delta>) {
        self.reserved = subtract(self.reserved, worst);
        self.delta_spent = subtract(self.delta_spent, delta);
    }

    /// Turns a reservation into a realised price that is no larger. Its delta stays spent.
    pub(crate) fn settle(&mut self, worst: Amount<C>, realised: Amount<C>) {
        debug_assert!(realised <= worst);
        self.reserved = subtract(self.reserved, worst);
        self.spent = add(self.spent, realised);
    }
}

// Both stay within the budget, which fits an amount, so neither can fail; if a defect made them,
// stopping is better than a wrong total.
fn add<C>(total: Amount<C>, part: Amount<C>) -> Amount<C> {
    total.plus(part).expect("what is spent stays within a budget")
}

fn subtract<C>(total: Amount<C>, part: Amount<C>) -> Amount<C> {
    total.minus(part).expect("what is given back was taken before")
}
