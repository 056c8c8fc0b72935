//! One of a number of categories, as a truth.
//!
//! In the local model a device's whole answer may be replaced by any other, so what bounds a
//! category is how many there are. A value out of range does not construct.

use std::fmt;

use eke_budget::number::ParameterError;
use serde::{Deserialize, Serialize};

use crate::Exact;
use crate::evidence::Bound;
use crate::evidence::exact::Truth;
use crate::local::chain::{ChainError, MOST_CATEGORIES};

/// One of a number of categories. It shows itself to nobody.
#[derive(Clone, Copy)]
pub struct Category {
    index: u32,
}

impl Category {
    /// A category by its index, from 0, among the given number.
    ///
    /// # Errors
    /// There are too few categories or too many, or this is not one of them. The sentence does not
    /// name it.
    pub fn exact(index: u32, categories: Categories) -> Result<Exact<Self>, ChainError> {
        if index >= categories.get() {
            return Err(ChainError::Outside(categories.get()));
        }
        Ok(Exact::new(Self { index }, categories))
    }

    pub(crate) fn index(self) -> u32 {
        self.index
    }
}

impl Truth for Category {
    type Bound = Categories;
}

impl fmt::Debug for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Category(..)")
    }
}

/// How many categories there are, from 2 to [`MOST_CATEGORIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct Categories(u32);

impl Categories {
    /// This number of categories.
    ///
    /// # Errors
    /// Too few, or too many.
    pub fn new(categories: u32) -> Result<Self, ChainError> {
        if (2..=MOST_CATEGORIES).contains(&categories) {
            Ok(Self(categories))
        } else {
            Err(ChainError::Categories(categories))
        }
    }

    /// How many.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Categories {
    type Error = ChainError;

    fn try_from(categories: u32) -> Result<Self, ChainError> {
        Self::new(categories)
    }
}

/// Any two categories are as far apart as can be, and so is what a function makes of them.
impl Bound for Categories {
    fn times(&self, _: u32) -> Result<Self, ParameterError> {
        Ok(*self)
    }
}
