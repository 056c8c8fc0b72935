//! Where values lie: the grid that quantiles are searched on, and which quantile is asked for.
//!
//! The grid is public: it follows from the bounds of what is asked about. Its places are whole
//! numbers of steps, and a cut is a place: rows are at most there, or beyond. Which quantile is
//! asked for is no part of the grid, nor of what is counted at a cut.

use serde::{Deserialize, Serialize};

use crate::error::BoundsError;
use crate::plan::grid;
use crate::{Expr, SqlError, Sum, Summand, Type};

/// How many steps the range of a float has, about: two to this power.
const FLOAT_BITS: i32 = 20;
/// No range has more steps than two to this power.
const MOST_BITS: i32 = 32;

/// Which of the values of a group, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// The least value that this share of the rows is at most, strictly between nothing and all
    /// (quantile).
    #[doc(alias = "quantile")]
    Share(f64),
    /// The least of all.
    Least,
    /// The largest of all.
    Greatest,
}

impl Rank {
    /// As a share of the rows.
    #[must_use]
    pub fn share(self) -> f64 {
        match self {
            Self::Share(share) => share,
            Self::Least => 0.0,
            Self::Greatest => 1.0,
        }
    }
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Share(share) => write!(f, "the {share} quantile"),
            Self::Least => f.write_str("the least"),
            Self::Greatest => f.write_str("the largest"),
        }
    }
}

/// Counts at the cuts of a grid between two ends of numbers.
pub(crate) fn numbers(
    (expr, kind): (Expr, Type),
    (low, high): (f64, f64),
    max_rows: u32,
    written: &str,
) -> Result<Sum, SqlError> {
    if low >= high {
        return Err(BoundsError::OneValue { written: written.to_owned() }.into());
    }
    let wide = || BoundsError::TooManySteps { written: written.to_owned() };
    // Whole numbers have places of their own, as long as these are not too many.
    let exponent = match kind {
        Type::Int => grid::of_range((low, high), MOST_BITS).map(|exponent| exponent.max(0)),
        _ => grid::of_range((low, high), FLOAT_BITS),
    };
    let exponent = exponent.ok_or_else(wide)?;
    let ends = grid::steps_outwards((low, high), exponent).ok_or_else(wide)?;
    ranks((expr, kind), ends, exponent, max_rows, written)
}

/// The same between two days, or two moments in microseconds.
pub(crate) fn moments(
    of: (Expr, Type),
    (low, high): (i64, i64),
    max_rows: u32,
    written: &str,
) -> Result<Sum, SqlError> {
    let mut exponent = 0;
    while high.abs_diff(low) >> exponent >= 1 << MOST_BITS {
        exponent += 1;
    }
    // Outwards, so that no moment within the bounds is moved to an end.
    let low = low >> exponent;
    let high = -(-high >> exponent);
    ranks(of, (low, high), exponent, max_rows, written)
}

fn ranks(
    (expr, kind): (Expr, Type),
    (low, high): (i64, i64),
    grid: i32,
    max_rows: u32,
    written: &str,
) -> Result<Sum, SqlError> {
    if low >= high {
        return Err(BoundsError::OneValue { written: written.to_owned() }.into());
    }
    Ok(grid::count(Summand::Ranks { expr, kind, low, high, grid }, max_rows))
}
