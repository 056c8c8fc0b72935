//! The numbers privacy is stated in, each a type of its own.
//!
//! A parameter is a double that was checked when it was made: finite, normal (neither zero nor
//! subnormal), not negative and within its range. Constructors, `FromStr` and serde all go through
//! the same check, so a parameter that exists is in range, and two parameters cannot be swapped.
//!
//! There is no magic zero: where a zero would mean "none", the parameter is left out instead.
//! Parameters are what formulas take; what accounts add up is [`Amount`](crate::Amount).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a number is not the parameter it was meant to be. Its text names the parameter, what is
/// wrong with it and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{name} {problem}")]
pub struct ParameterError {
    name: &'static str,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum Problem {
    #[error("is empty: write a number such as {example}")]
    Empty { example: &'static str },
    #[error("`{text}` is not a number: write it like {example} or 1e-3")]
    NotANumber { text: String, example: &'static str },
    #[error("is NaN: write a number such as {example}")]
    Nan { example: &'static str },
    #[error("is infinite: write a number of {range}")]
    Infinite { range: Range },
    #[error("{value} is negative: write a number of {range}")]
    Negative { value: String, range: Range },
    #[error("is zero, which means nothing here: write a number of {range}, or leave it out")]
    Zero { range: Range },
    #[error("{value:?} is too small to compute with: write at least {min:e}", min = f64::MIN_POSITIVE)]
    Subnormal { value: f64 },
    #[error("{value} is too large: write a number of {range}")]
    TooLarge { value: String, range: Range },
}

impl ParameterError {
    /// The parameter that was wrong, as it is called in files and on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn too_large(name: &'static str, value: &str, range: Range) -> Self {
        Self { name, problem: Problem::TooLarge { value: value.to_owned(), range } }
    }

    pub(crate) fn negative(name: &'static str, value: &str, range: Range) -> Self {
        Self { name, problem: Problem::Negative { value: value.to_owned(), range } }
    }

    pub(crate) fn not_a_number(name: &'static str, text: &str) -> Self {
        let text = text.to_owned();
        Self { name, problem: Problem::NotANumber { text, example: "0.5" } }
    }
}

/// The values a parameter may take: above zero, and up to a bound that belongs to it or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) max: f64,
    pub(crate) includes_max: bool,
}

impl Range {
    const fn up_to(max: f64) -> Self {
        Self { max, includes_max: true }
    }

    const fn below(max: f64) -> Self {
        Self { max, includes_max: false }
    }

    fn contains(self, value: f64) -> bool {
        value < self.max || (self.includes_max && value <= self.max)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.includes_max {
            write!(f, "more than 0 and at most {:e}", self.max)
        } else {
            write!(f, "more than 0 and less than {}", self.max)
        }
    }
}

/// The largest epsilon or rho that eke counts. Far beyond any promise worth making, and far inside
/// what [`Amount`](crate::Amount) holds.
const LARGEST_PRICE: Range = Range::up_to(1e8);
/// Sensitivities, variances and distances have no natural bound; this one keeps squares finite.
const LARGEST_SIZE: Range = Range::up_to(1e150);

fn check(
    name: &'static str,
    range: Range,
    example: &'static str,
    value: f64,
) -> Result<f64, ParameterError> {
    let problem = if value.is_nan() {
        Problem::Nan { example }
    } else if value.is_sign_negative() && !value.is_infinite() {
        Problem::Negative { value: format!("{value:?}"), range }
    } else if value.is_infinite() {
        Problem::Infinite { range }
    } else if value == 0.0 {
        Problem::Zero { range }
    } else if value.is_subnormal() {
        Problem::Subnormal { value }
    } else if !range.contains(value) {
        Problem::TooLarge { value: format!("{value:?}"), range }
    } else {
        return Ok(value);
    };
    Err(ParameterError { name, problem })
}

fn parse(
    name: &'static str,
    range: Range,
    example: &'static str,
    text: &str,
) -> Result<f64, ParameterError> {
    let text = text.trim();
    let problem = if text.is_empty() {
        Problem::Empty { example }
    } else {
        match text.parse::<f64>() {
            // A decimal beyond the largest double reads as infinity, one below the least as zero.
            Ok(value) if value.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => {
                if value < 0.0 {
                    Problem::Negative { value: text.to_owned(), range }
                } else {
                    Problem::TooLarge { value: text.to_owned(), range }
                }
            }
            Ok(value) => return check(name, range, example, value),
            Err(_) => Problem::NotANumber { text: text.to_owned(), example },
        }
    };
    Err(ParameterError { name, problem })
}

macro_rules! parameter {
    ($(#[$doc:meta])* $type:ident, $name:literal, $range:expr, such as $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $type(f64);

        impl $type {
            /// What the parameter is called in files, messages and on the command line.
            pub const NAME: &'static str = $name;

            /// Checks the value and wraps it.
            ///
            /// # Errors
            /// The value is NaN, infinite, negative (also -0.0), zero, subnormal or out of range.
            pub fn new(value: f64) -> Result<Self, ParameterError> {
                check($name, $range, $example, value).map(Self)
            }

            /// The value as a double, for formulas.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl FromStr for $type {
            type Err = ParameterError;

            fn from_str(text: &str) -> Result<Self, ParameterError> {
                parse($name, $range, $example, text).map(Self)
            }
        }

        impl TryFrom<f64> for $type {
            type Error = ParameterError;

            fn try_from(value: f64) -> Result<Self, ParameterError> {
                Self::new(value)
            }
        }

        impl From<$type> for f64 {
            fn from(parameter: $type) -> f64 {
                parameter.0
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($type), self.0)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }

        // No NaN and no -0.0 can be inside, so the total order is the order of the numbers.
        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for $type {}
    };
}

parameter! {
    /// A bound on the privacy loss: pure differential privacy, or the first half of (epsilon,
    /// delta). In a metric it is the loss per unit of distance.
    ///
    /// ```
    /// use eke_budget::Epsilon;
    /// assert_eq!("0.5".parse::<Epsilon>()?, Epsilon::new(0.5)?);
    /// let error = Epsilon::new(-1.0).unwrap_err().to_string();
    /// assert_eq!(error, "epsilon -1.0 is negative: write a number of more than 0 and at most 1e8");
    /// # Ok::<(), eke_budget::ParameterError>(())
    /// ```
    ///
    /// A bare number is not one, and one is not another:
    /// ```compile_fail,E0308
    /// let epsilon: eke_budget::Epsilon = 0.5;
    /// ```
    /// ```compile_fail,E0308
    /// fn spend(rho: eke_budget::Rho) {}
    /// spend(eke_budget::Epsilon::new(0.5).unwrap());
    /// ```
    Epsilon, "epsilon", LARGEST_PRICE, such as "0.5"
}

parameter! {
    /// The probability that a promise fails, strictly between 0 and 1. Where there is no such
    /// probability there is no `Delta`: it is left out, not zero.
    Delta, "delta", Range::below(1.0), such as "1e-6"
}

parameter! {
    /// Zero-concentrated differential privacy: the Rényi divergence of every order `a > 1` is at
    /// most `a` times rho. In a metric it is per unit of distance squared.
    Rho, "rho", LARGEST_PRICE, such as "0.1"
}

parameter! {
    /// L1 sensitivity: how far one unit can move a vector, in the sum of absolute differences.
    L1, "L1 sensitivity", LARGEST_SIZE, such as "1"
}

parameter! {
    /// L2 sensitivity: how far one unit can move a vector, in Euclidean length.
    L2, "L2 sensitivity", LARGEST_SIZE, such as "1"
}

parameter! {
    /// L-infinity sensitivity: how far one unit can move any single coordinate.
    LInf, "L-infinity sensitivity", LARGEST_SIZE, such as "1"
}

parameter! {
    /// The variance of noise.
    Variance, "variance", LARGEST_SIZE, such as "100"
}

parameter! {
    /// A distance between places.
    Metres, "distance", LARGEST_SIZE, such as "100"
}

parameter! {
    /// The width of the range of privacy losses a mechanism can have (largest minus smallest).
    BoundedRange, "range", LARGEST_PRICE, such as "0.5"
}

impl Epsilon {
    /// The smallest epsilon a conversion reports. A conversion whose true answer is zero (delta
    /// alone covers the loss) says this instead, which is safe, and keeps zero from meaning
    /// anything.
    pub const FLOOR: Self = Self(1e-30);
}

impl Rho {
    pub(crate) const LARGEST: Self = Self(LARGEST_PRICE.max);
}

impl Delta {
    /// The smallest delta that can be written. Bounds below it are reported as this one.
    pub const FLOOR: Self = Self(f64::MIN_POSITIVE);
}

impl Metres {
    /// One unit of distance: in the central and the local model, the distance of neighbours.
    pub const ONE: Self = Self(1.0);
}
