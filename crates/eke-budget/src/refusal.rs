//! A no from a filter.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::{Charge, Currency, Epsilon, Rho};

/// A charge that did not fit. The account is as it was before it was asked, and goes on working.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The account that was asked.
    pub account: Arc<str>,
    /// What was asked.
    pub asked: Charge,
    /// What the purse in question held when it was opened; none if the account has no such purse.
    pub budget: Option<Charge>,
    /// The largest charge that would still fit: all that is left of the purse, in its currency and
    /// in delta.
    pub fits: Option<Charge>,
}

impl Refusal {
    fn currency(&self) -> &'static str {
        match self.asked {
            Charge::Zcdp { .. } => <Rho as Currency>::NAME,
            Charge::Pure { .. } => <Epsilon as Currency>::NAME,
        }
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { account, asked, .. } = self;
        let currency = self.currency();
        match (self.budget, self.fits) {
            (Some(budget), Some(fits)) => write!(
                f,
                "refused: {asked} was asked of account `{account}`; the largest charge that fits is \
                 {fits}, all that is left of {budget}"
            ),
            _ => write!(
                f,
                "refused: {asked} was asked of account `{account}`, which was opened without a \
                 budget in {currency}; nothing in {currency} fits"
            ),
        }
    }
}
