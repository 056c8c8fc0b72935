//! What "close" means: whose data may differ, and by how much.
//!
//! Differential privacy is privacy in a metric: two datasets that differ in one unit are at
//! distance 1. Local and geographic privacy use other distances; the same purses serve all three.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Metres, Price};

/// Which datasets are neighbours in the central model. Constants depend on it, so it is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[doc(alias = "neighbouring relation")]
#[doc(alias = "neighboring")]
pub enum Adjacency {
    /// One dataset has one unit more than the other.
    AddRemove,
    /// The datasets differ in the rows of one unit.
    Replace,
}

impl fmt::Display for Adjacency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::Replace => "replace",
        })
    }
}

/// How far apart two inputs may be and still be promised to look alike (Lambda in the papers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[doc(alias = "Lambda")]
pub enum Reach {
    /// The promise holds for places at most this far apart.
    Within(Metres),
    /// The promise holds at any distance. Only pure budgets have one; concentrated budgets have no
    /// (epsilon, delta) promise at unlimited reach.
    Unlimited,
}

/// The distance that privacy is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The central model: the number of units in which two datasets differ. Promises are for one.
    Hamming(Adjacency),
    /// The local model: any two answers of one unit are at distance 1.
    Discrete,
    /// Places: metres. Epsilon is per metre, rho per metre squared.
    Euclidean(Reach),
}

impl Metric {
    /// The largest distance the promise covers, in the metric's unit; none if there is no largest.
    #[must_use]
    pub fn reach(self) -> Option<Metres> {
        match self {
            Self::Hamming(_) | Self::Discrete => Some(Metres::ONE),
            Self::Euclidean(Reach::Within(reach)) => Some(reach),
            Self::Euclidean(Reach::Unlimited) => None,
        }
    }

    /// How many times its add-remove price a set of groups costs here (see
    /// [`Price::REPLACE_FACTOR`]). Changing an answer or a place replaces it.
    #[must_use]
    pub fn group_factor<C: Price>(self) -> u32 {
        match self {
            Self::Hamming(Adjacency::AddRemove) => 1,
            Self::Hamming(Adjacency::Replace) | Self::Discrete | Self::Euclidean(_) => {
                C::REPLACE_FACTOR
            }
        }
    }

    /// Whether two inputs can be closer than 1 without being equal. Bounds that hold at distance
    /// 1 only are not valid then.
    #[must_use]
    pub fn has_small_distances(self) -> bool {
        matches!(self, Self::Euclidean(_))
    }
}
