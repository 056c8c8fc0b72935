//! What accounts know of noise paths: how far each has been revealed, and what the next step costs.
//!
//! A path is paid once, up to its finest revealed point; a step is charged by the difference. Its
//! price never falls, its sensitivity never changes, and each increment is bought once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Amount, Price, Receipt, Refusal};

/// The identity of a path: a digest of everything its law and its truth depend on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathId([u8; 32]);

impl PathId {
    /// Wraps a digest.
    #[must_use]
    pub const fn new(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathId({self})")
    }
}

/// The text is not the name of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a path is named by 64 hexadecimal digits")]
pub struct NotAPathId;

impl FromStr for PathId {
    type Err = NotAPathId;

    fn from_str(text: &str) -> Result<Self, NotAPathId> {
        let mut digest = [0; 32];
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(NotAPathId);
        }
        for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| NotAPathId)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NotAPathId)?;
        }
        Ok(Self(digest))
    }
}

impl TryFrom<String> for PathId {
    type Error = NotAPathId;

    fn try_from(text: String) -> Result<Self, NotAPathId> {
        text.parse()
    }
}

impl From<PathId> for String {
    fn from(id: PathId) -> String {
        id.to_string()
    }
}

/// How far a path has been revealed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Level<C: Price> {
    /// How many increments have been bought.
    pub increments: u32,
    /// The price of the finest revealed point.
    pub at: Amount<C>,
    /// What one unit can change the truth by, as fixed when the path was opened.
    pub sensitivity: C::Sensitivity,
}

/// One increment of a path, bought: from one point to a finer one. Only an account makes one.
///
/// ```compile_fail,E0451
/// use eke_budget::{Amount, PathId, Raise, Rho};
/// let raise: Raise<Rho> = Raise {
///     path: PathId::new([0; 32]),
///     increment: 0,
///     from: Amount::ZERO,
///     to: Amount::GRAIN,
///     sensitivity: "1".parse().unwrap(),
/// };
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Raise<C: Price> {
    path: PathId,
    increment: u32,
    from: Amount<C>,
    to: Amount<C>,
    sensitivity: C::Sensitivity,
}

impl<C: Price> Raise<C> {
    /// The step from a path's level to a finer point; none if the point is not finer.
    pub(crate) fn from_level(path: PathId, level: Level<C>, to: Amount<C>) -> Option<Self> {
        let Level { increments, at, sensitivity } = level;
        (to > at).then_some(Self { path, increment: increments, from: at, to, sensitivity })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> PathId {
        self.path
    }

    /// Which increment of the path this is, from 0.
    #[must_use]
    pub fn increment(&self) -> u32 {
        self.increment
    }

    /// The price of the point before the step.
    #[must_use]
    pub fn from(&self) -> Amount<C> {
        self.from
    }

    /// The price of the point after the step.
    #[must_use]
    pub fn to(&self) -> Amount<C> {
        self.to
    }

    /// What one unit can change the truth by.
    #[must_use]
    pub fn sensitivity(&self) -> C::Sensitivity {
        self.sensitivity
    }

    /// What the step costs.
    ///
    /// - Theorem: path-increments (docs/theorems.md)
    /// - Proves: going from one point of a path to a finer one costs the difference of their
    ///   prices; the whole path costs the price of its finest revealed point
    /// - Assumes: the draw is the path's own increment (receipt), its price below the limit of the
    ///   law (mechanism)
    /// - Deviates: points are priced in whole grains, so differences are exact
    /// - Checked by: `a_path_costs_its_finest_point_and_its_price_never_falls`
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        self.to.minus(self.from).expect("a step goes to a finer point")
    }
}

/// A coarser point of a path already revealed further, bought for nothing. Only an account makes
/// one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Coarsen<C: Price> {
    path: PathId,
    to: Amount<C>,
    sensitivity: C::Sensitivity,
}

impl<C: Price> Coarsen<C> {
    pub(crate) fn new(path: PathId, level: Level<C>, to: Amount<C>) -> Option<Self> {
        let sensitivity = level.sensitivity;
        (!to.is_zero() && to <= level.at).then_some(Self { path, to, sensitivity })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> PathId {
        self.path
    }

    /// What the point would have cost as the finest of its path.
    #[must_use]
    pub fn to(&self) -> Amount<C> {
        self.to
    }

    /// What one unit can change the truth by.
    #[must_use]
    pub fn sensitivity(&self) -> C::Sensitivity {
        self.sensitivity
    }
}

/// A point of a path, whichever way it lies from what has been revealed. Only an account makes one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub enum Reveal<C: Price> {
    /// A finer point, for the difference.
    Finer(Raise<C>),
    /// A point no finer than what has been revealed, for nothing.
    Coarser(Coarsen<C>),
}

impl<C: Price> Reveal<C> {
    /// The path.
    #[must_use]
    pub fn path(&self) -> PathId {
        match self {
            Self::Finer(raise) => raise.path(),
            Self::Coarser(coarsen) => coarsen.path(),
        }
    }

    /// What the point costs as the finest of its path.
    #[must_use]
    pub fn to(&self) -> Amount<C> {
        match self {
            Self::Finer(raise) => raise.to(),
            Self::Coarser(coarsen) => coarsen.to(),
        }
    }
}

/// The receipt for a point, by the way that the path goes to it.
#[derive(Debug)]
#[must_use = "a receipt is paid for: hand it to the path that draws"]
pub enum RevealReceipt<C: Price> {
    /// For a finer point.
    Finer(Receipt<Raise<C>>),
    /// For a point no finer than what has been revealed.
    Coarser(Receipt<Coarsen<C>>),
}

impl<C: Price> Receipt<Reveal<C>> {
    /// The same receipt, for the verb of the path that takes it.
    pub fn sorted(self) -> RevealReceipt<C> {
        let Self { purchase, entry, metric } = self;
        match purchase {
            Reveal::Finer(purchase) => RevealReceipt::Finer(Receipt { purchase, entry, metric }),
            Reveal::Coarser(purchase) => {
                RevealReceipt::Coarser(Receipt { purchase, entry, metric })
            }
        }
    }
}

/// Why a path could not be taken further.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The step does not fit what is left.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The point is not finer than what has been revealed.
    #[error(
        "path {path} has been revealed up to {at}; {to} is not finer, so ask for a coarser point, which is free"
    )]
    NotFiner {
        /// The path.
        path: PathId,
        /// The price of its finest point, as text.
        at: String,
        /// The price of the point asked for, as text.
        to: String,
    },
    /// The point is not among those revealed.
    #[error("path {path} has not been revealed up to {to}: raise it there first")]
    NotRevealed {
        /// The path.
        path: PathId,
        /// The price of the point asked for, as text.
        to: String,
    },
    /// Another step of the path is approved and not recorded yet.
    #[error("another step of path {path} is under way: commit or cancel it first")]
    UnderWay {
        /// The path.
        path: PathId,
    },
    /// The prices of a bundle's groups are not those the account has recorded.
    #[error(
        "the prices of bundle {path} start from {from}, but {at} is recorded: keep what was paid for, and nothing else"
    )]
    OutOfStep {
        /// The bundle.
        path: PathId,
        /// The price of all its groups together that is recorded, as text.
        at: String,
        /// The price that its groups start from, as text.
        from: String,
    },
    /// The sensitivity is not the one the path was opened with.
    #[error("path {path} was opened with another sensitivity: a changed bound is another path")]
    OtherSensitivity {
        /// The path.
        path: PathId,
    },
}
