//! Prices: what one release takes from an account.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number::parameter::ParameterError;
use crate::{Amount, Delta, Epsilon, Rho};

/// A price in one currency, per unit of the metric. It may be zero: a group that rises below the
/// dearest ones costs nothing.
///
/// As text it is written `rho=0.2`, `epsilon=0.5` or `rho=0.2,delta=1e-9`, and read exactly:
/// ```
/// use eke_budget::{Charge, Rho};
/// let charge: Charge = "rho=0.2,delta=1e-9".parse()?;
/// assert_eq!(charge.to_string(), "rho=0.2,delta=1e-9");
/// assert_eq!(charge, Charge::zcdp(Rho::new(0.2)?).with_delta("1e-9".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[doc(alias = "privacy loss")]
pub enum Charge {
    /// Delta-approximate rho-zCDP, paid from the zCDP purse.
    Zcdp {
        /// The concentrated price.
        rho: Amount<Rho>,
        /// The weight of what rho does not cover.
        delta: Amount<Delta>,
    },
    /// (epsilon, delta)-DP, or an ex-post bound that fails with probability delta; paid from the
    /// pure purse.
    Pure {
        /// The pure price.
        epsilon: Amount<Epsilon>,
        /// The delta of it.
        delta: Amount<Delta>,
    },
}

impl Charge {
    /// The price of a rho-zCDP release, rounded up.
    #[must_use]
    pub fn zcdp(rho: Rho) -> Self {
        Self::Zcdp { rho: Amount::at_least(rho), delta: Amount::ZERO }
    }

    /// The price of an epsilon-private release, rounded up.
    #[must_use]
    pub fn pure(epsilon: Epsilon) -> Self {
        Self::Pure { epsilon: Amount::at_least(epsilon), delta: Amount::ZERO }
    }

    /// The same price with this delta, rounded up, in place of the one it had.
    #[must_use]
    pub fn with_delta(self, delta: Delta) -> Self {
        let delta = Amount::at_least(delta);
        match self {
            Self::Zcdp { rho, .. } => Self::Zcdp { rho, delta },
            Self::Pure { epsilon, .. } => Self::Pure { epsilon, delta },
        }
    }

    /// The delta of the price, in either currency.
    #[must_use]
    pub fn delta(self) -> Amount<Delta> {
        match self {
            Self::Zcdp { delta, .. } | Self::Pure { delta, .. } => delta,
        }
    }

    /// The price without its delta, in grains of its own currency.
    #[must_use]
    pub fn grains(self) -> u128 {
        in_currency!(self, price => price.grains())
    }
}

/// The same of a charge's amount, whatever its currency.
macro_rules! in_currency {
    ($charge:expr, $amount:ident => $what:expr) => {
        match $charge {
            $crate::Charge::Zcdp { rho: $amount, .. } => $what,
            $crate::Charge::Pure { epsilon: $amount, .. } => $what,
        }
    };
}
pub(crate) use in_currency;

impl fmt::Display for Charge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zcdp { rho, .. } => write!(f, "rho={rho}")?,
            Self::Pure { epsilon, .. } => write!(f, "epsilon={epsilon}")?,
        }
        if !self.delta().is_zero() {
            write!(f, ",delta={}", self.delta())?;
        }
        Ok(())
    }
}

/// Why a text is not a charge.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChargeError {
    /// The text is empty.
    #[error("the charge is empty: write it like rho=0.1 or epsilon=0.5,delta=1e-9")]
    Empty,
    /// A part is not `name=number`.
    #[error("`{0}` is not part of a charge: write it like rho=0.1 or epsilon=0.5,delta=1e-9")]
    NotAPair(String),
    /// A name that charges do not have.
    #[error("charges have no `{0}`: write rho or epsilon, and delta if there is one")]
    UnknownName(String),
    /// A name that occurs twice.
    #[error("`{0}` is written twice in one charge: write it once, or write two charges")]
    Twice(&'static str),
    /// Both currencies at once.
    #[error("a charge is in rho or in epsilon, not both: write two charges")]
    BothCurrencies,
    /// Only a delta.
    #[error("a charge needs rho or epsilon beside its delta")]
    OnlyDelta,
    /// A number out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl FromStr for Charge {
    type Err = ChargeError;

    fn from_str(text: &str) -> Result<Self, ChargeError> {
        if text.trim().is_empty() {
            return Err(ChargeError::Empty);
        }
        let (mut rho, mut epsilon, mut delta) = (None, None, None);
        for part in text.split(',') {
            let (name, number) = part
                .split_once('=')
                .ok_or_else(|| ChargeError::NotAPair(part.trim().to_owned()))?;
            // The parameter checks the range, the amount reads the digits exactly.
            match name.trim() {
                Rho::NAME => {
                    number.parse::<Rho>()?;
                    set(&mut rho, Amount::parse_up(number)?, Rho::NAME)?;
                }
                Epsilon::NAME => {
                    number.parse::<Epsilon>()?;
                    set(&mut epsilon, Amount::parse_up(number)?, Epsilon::NAME)?;
                }
                Delta::NAME => {
                    number.parse::<Delta>()?;
                    set(&mut delta, Amount::parse_up(number)?, Delta::NAME)?;
                }
                other => return Err(ChargeError::UnknownName(other.to_owned())),
            }
        }
        let delta_or_none = delta.unwrap_or(Amount::ZERO);
        match (rho, epsilon) {
            (Some(rho), None) => Ok(Self::Zcdp { rho, delta: delta_or_none }),
            (None, Some(epsilon)) => Ok(Self::Pure { epsilon, delta: delta_or_none }),
            (Some(_), Some(_)) => Err(ChargeError::BothCurrencies),
            (None, None) => Err(ChargeError::OnlyDelta),
        }
    }
}

fn set<T>(slot: &mut Option<T>, value: T, name: &'static str) -> Result<(), ChargeError> {
    if slot.replace(value).is_some() { Err(ChargeError::Twice(name)) } else { Ok(()) }
}

/// What a mechanism buys: it names its price, and the receipt for it carries it to the draw.
///
/// A purchase should hold everything the price depends on (paths, points, sensitivities), so that
/// the mechanism that uses up the receipt draws exactly what was paid for.
pub trait Purchase {
    /// The price, known before anything is drawn.
    fn charge(&self) -> Charge;
}

/// A charge bought as it is, for mechanisms whose price says everything about them.
impl Purchase for Charge {
    fn charge(&self) -> Charge {
        *self
    }
}
