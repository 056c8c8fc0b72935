//! What tiers cost, whatever they are priced in.

use eke_budget::budget::BudgetError;
use eke_budget::convert::{Curve, Method};
use eke_budget::{
    Account, Adjacency, Amount, Budget, BudgetSpec, Delta, Epsilon, Metric, Price, Rho,
};
use serde::Serialize;

use super::TierError;

/// What something tells about one unit, at most. Never below the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Epsilon.
    pub epsilon: Epsilon,
    /// The delta that goes with it; none where it is pure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// The rho that it is converted from, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<Rho>,
}

/// A currency that tiers are paid in.
pub(super) trait Purse: Price {
    /// The largest price that keeps a tier's promise.
    fn price(tier: Epsilon, delta: Delta) -> Result<Amount<Self>, TierError>;

    /// What a price promises.
    fn loss(price: Amount<Self>, delta: Delta) -> Result<Loss, TierError>;

    /// What a price promises that was computed from a tier: that tier.
    fn promised(tier: Epsilon, price: Amount<Self>, delta: Delta) -> Result<Loss, TierError>;

    /// A budget of a price and no more.
    fn budget(price: Amount<Self>) -> Result<Budget, BudgetError>;

    /// What an account has spent.
    fn spent(account: &Account) -> Amount<Self>;
}

impl Purse for Epsilon {
    fn price(tier: Epsilon, _: Delta) -> Result<Amount<Self>, TierError> {
        Ok(Amount::at_most(tier))
    }

    fn loss(price: Amount<Self>, _: Delta) -> Result<Loss, TierError> {
        Ok(Loss { epsilon: price.to_parameter()?, delta: None, rho: None })
    }

    fn promised(tier: Epsilon, _: Amount<Self>, _: Delta) -> Result<Loss, TierError> {
        Ok(Loss { epsilon: tier, delta: None, rho: None })
    }

    fn budget(price: Amount<Self>) -> Result<Budget, BudgetError> {
        BudgetSpec::promising(price.to_parameter()?).resolve(WHOLE)
    }

    fn spent(account: &Account) -> Amount<Self> {
        account.odometer().pure().map_or(Amount::ZERO, eke_budget::account::Purse::spent)
    }
}

impl Purse for Rho {
    fn price(tier: Epsilon, delta: Delta) -> Result<Amount<Self>, TierError> {
        Ok(Amount::at_most(Method::Tight.rho(tier, delta)?))
    }

    fn loss(price: Amount<Self>, delta: Delta) -> Result<Loss, TierError> {
        let rho = price.to_parameter()?;
        let epsilon = Method::Tight.epsilon(rho, delta)?;
        Ok(Loss { epsilon, delta: Some(delta), rho: Some(rho) })
    }

    fn promised(tier: Epsilon, price: Amount<Self>, delta: Delta) -> Result<Loss, TierError> {
        Ok(Loss { epsilon: tier, delta: Some(delta), rho: Some(price.to_parameter()?) })
    }

    fn budget(price: Amount<Self>) -> Result<Budget, BudgetError> {
        BudgetSpec::zcdp(price.to_parameter()?).resolve(WHOLE)
    }

    fn spent(account: &Account) -> Amount<Self> {
        account.odometer().zcdp().map_or(Amount::ZERO, eke_budget::account::Purse::spent)
    }
}

/// Whole units.
const WHOLE: Metric = Metric::Hamming(Adjacency::AddRemove);
