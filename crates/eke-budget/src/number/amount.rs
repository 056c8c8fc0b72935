//! Money: exact amounts in one currency, as whole numbers of grains.
//!
//! The grain may never change: ledgers outlive code.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::account::book::{Book, Books};
use crate::number::parameter::{ParameterError, Range};
use crate::{Charge, Delta, Epsilon, L1, L2, Rho};

/// The number of decimals an amount keeps.
const DECIMALS: i64 = 30;
const GRAINS_PER_ONE: u128 = 10_u128.pow(30);
/// The odd part of it.
const FIVES: u128 = 5_u128.pow(30);
const RANGE: Range = Range { max: 3e8, includes_max: true };

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Rho {}
    impl Sealed for crate::Epsilon {}
    impl Sealed for crate::Delta {}
}

/// What amounts are counted in: [`Rho`], [`Epsilon`] or [`Delta`].
pub trait Currency: sealed::Sealed + Copy + Into<f64> + 'static {
    /// The currency's name in files, messages and on the command line.
    const NAME: &'static str;
}

/// A currency that releases are priced in: [`Rho`] or [`Epsilon`].
pub trait Price: Currency {
    /// The sensitivity that a price in this currency refers to.
    type Sensitivity: Copy
        + fmt::Debug
        + PartialEq
        + Into<f64>
        + TryFrom<f64, Error = ParameterError>
        + Serialize
        + for<'de> Deserialize<'de>;

    /// How many times the add-remove price of a set of groups replacing one unit costs.
    ///
    /// - Theorem: groups-replace (docs/theorems.md)
    /// - Proves: replacing a unit leaves k groups and enters k others, or swings a group by twice
    ///   its sensitivity; loss is linear in the shift for epsilon and quadratic for rho, so twice
    ///   and four times the k largest prices cover it
    /// - Assumes: every group's price is for its add-remove sensitivity (caller)
    /// - Deviates: nothing
    /// - Checked by: `replace_covers_leaving_entering_and_swinging`
    const REPLACE_FACTOR: u32;

    /// The charge of an amount in this currency.
    fn charge(amount: Amount<Self>, delta: Amount<Delta>) -> Charge;

    #[doc(hidden)]
    fn book(books: &Books) -> Option<&Book<Self>>;

    #[doc(hidden)]
    fn book_mut(books: &mut Books) -> Option<&mut Book<Self>>;
}

impl Currency for Rho {
    const NAME: &'static str = Rho::NAME;
}

impl Currency for Epsilon {
    const NAME: &'static str = Epsilon::NAME;
}

impl Currency for Delta {
    const NAME: &'static str = Delta::NAME;
}

impl Price for Rho {
    type Sensitivity = L2;
    const REPLACE_FACTOR: u32 = 4;

    fn charge(rho: Amount<Self>, delta: Amount<Delta>) -> Charge {
        Charge::Zcdp { rho, delta }
    }

    fn book(books: &Books) -> Option<&Book<Self>> {
        books.zcdp.as_ref()
    }

    fn book_mut(books: &mut Books) -> Option<&mut Book<Self>> {
        books.zcdp.as_mut()
    }
}

impl Price for Epsilon {
    type Sensitivity = L1;
    const REPLACE_FACTOR: u32 = 2;

    fn charge(epsilon: Amount<Self>, delta: Amount<Delta>) -> Charge {
        Charge::Pure { epsilon, delta }
    }

    fn book(books: &Books) -> Option<&Book<Self>> {
        books.pure.as_ref()
    }

    fn book_mut(books: &mut Books) -> Option<&mut Book<Self>> {
        books.pure.as_mut()
    }
}

/// An exact amount in one currency, never negative.
///
/// It counts *grains* of 10⁻³⁰ in a `u128`, so it reaches 3.4 × 10⁸. Why an integer, why decimal,
/// why so fine:
///
/// - Sums of integers are exact, so totals do not depend on the order of charges and nothing
///   drifts: ten million charges of 1e-9 are 0.01, not 0.009999999999919473.
/// - People write decimals. "0.1" is exactly a tenth here, so ten charges of 0.1 fit a budget of 1.
/// - A count of ten million within 5 % costs about 1e-11 rho; a grain is nineteen digits below
///   that, so rounding every charge up costs nothing that matters.
/// - It is an integer, so a database can hold it and check it again.
///
/// What is not a whole number of grains is rounded against the spender: charges up, budgets down.
/// A double stands for the shortest decimal that reads back as it, which is the one people wrote
/// ([`Amount::at_least`], [`Amount::at_most`]); numbers that were computed are taken at their exact
/// binary value ([`Amount::ceil`], [`Amount::floor`]).
///
/// ```
/// use eke_budget::{Amount, Rho};
/// let tenth: Amount<Rho> = "0.1".parse()?;
/// let total = (0..10).try_fold(Amount::ZERO, |sum: Amount<Rho>, _| sum.plus(tenth));
/// assert_eq!(total, Some("1".parse()?));
/// # Ok::<(), eke_budget::number::ParameterError>(())
/// ```
///
/// Amounts of different currencies do not add up:
/// ```compile_fail,E0308
/// use eke_budget::{Amount, Epsilon, Rho};
/// let _ = Amount::<Rho>::ZERO.plus(Amount::<Epsilon>::ZERO);
/// ```
pub struct Amount<C> {
    grains: u128,
    currency: PhantomData<fn() -> C>,
}

#[derive(Clone, Copy)]
enum Rounding {
    Up,
    Down,
    /// More decimals than there are grains is an error.
    Refuse,
}

impl<C> Amount<C> {
    /// Nothing.
    pub const ZERO: Self = Self::from_grains(0);
    /// One.
    pub const ONE: Self = Self::from_grains(GRAINS_PER_ONE);
    /// One grain, the smallest amount there is.
    pub const GRAIN: Self = Self::from_grains(1);
    /// The largest amount there is.
    pub const MAX: Self = Self::from_grains(u128::MAX);

    /// The amount of that many grains of 10⁻³⁰.
    #[must_use]
    pub const fn from_grains(grains: u128) -> Self {
        Self { grains, currency: PhantomData }
    }

    /// How many grains of 10⁻³⁰ this is.
    #[must_use]
    pub const fn grains(self) -> u128 {
        self.grains
    }

    /// Whether this is nothing.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.grains == 0
    }

    /// The sum, or nothing where it is more than an amount holds.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        self.grains.checked_add(other.grains).map(Self::from_grains)
    }

    /// The difference, or nothing where it would be negative.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        self.grains.checked_sub(other.grains).map(Self::from_grains)
    }

    /// That many times this, or nothing where it is more than an amount holds.
    #[must_use]
    pub fn times(self, factor: u32) -> Option<Self> {
        self.grains.checked_mul(u128::from(factor)).map(Self::from_grains)
    }
}

impl<C: Currency> Amount<C> {
    /// What a parameter costs when it is charged: never less than the decimal it was written as.
    #[must_use]
    pub fn at_least(parameter: C) -> Self {
        Self::from_parameter(parameter, Rounding::Up)
    }

    /// What a parameter is worth as a budget: never more than the decimal it was written as.
    #[must_use]
    pub fn at_most(parameter: C) -> Self {
        Self::from_parameter(parameter, Rounding::Down)
    }

    fn from_parameter(parameter: C, rounding: Rounding) -> Self {
        let decimal = format!("{:e}", parameter.into());
        // Parameters are positive decimals of at most 1e8 (checked when they were made).
        Self::from_decimal(&decimal, rounding).expect("a parameter is within the range of amounts")
    }

    /// The least amount that is not below a computed number.
    ///
    /// # Errors
    /// The number is not finite, negative, or more than an amount holds.
    pub fn ceil(computed: f64) -> Result<Self, ParameterError> {
        Self::from_binary(computed, Rounding::Up)
    }

    /// The largest amount that is not above a computed number.
    ///
    /// # Errors
    /// The number is not finite, negative, or more than an amount holds.
    pub fn floor(computed: f64) -> Result<Self, ParameterError> {
        Self::from_binary(computed, Rounding::Down)
    }

    fn from_binary(value: f64, rounding: Rounding) -> Result<Self, ParameterError> {
        if value.is_nan() {
            return Err(ParameterError::not_a_number(C::NAME, "NaN"));
        }
        if value < 0.0 {
            return Err(ParameterError::negative(C::NAME, &value.to_string(), RANGE));
        }
        let too_large = || ParameterError::too_large(C::NAME, &value.to_string(), RANGE);
        if value.is_infinite() {
            return Err(too_large());
        }
        // value = mantissa · 2^exponent, so grains = mantissa · 5^30 · 2^(exponent + 30), and
        // mantissa · 5^30 < 2^53 · 2^70 fits.
        let bits = value.to_bits();
        let biased = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = if biased == 0 {
            (fraction, -1074)
        } else {
            (fraction | (1 << 52), i64::from(u16::try_from(biased).expect("11 bits")) - 1075)
        };
        let scaled = u128::from(mantissa) * 5_u128.pow(30);
        let shift = exponent + DECIMALS;
        if let Ok(left) = u32::try_from(shift) {
            if left > scaled.leading_zeros() {
                return Err(too_large());
            }
            return Ok(Self::from_grains(scaled << left));
        }
        let right = u32::try_from(-shift).expect("exponents are small");
        let whole = scaled.checked_shr(right).unwrap_or(0);
        let exact = scaled == 0 || scaled.trailing_zeros() >= right;
        let up = matches!(rounding, Rounding::Up) && !exact;
        Ok(Self::from_grains(whole + u128::from(up)))
    }

    /// Reads a decimal such as `0.2` or `1e-9` as a charge: digits beyond a grain round it up.
    ///
    /// # Errors
    /// The text is not a decimal number, is negative, or is more than an amount holds.
    pub fn parse_up(text: &str) -> Result<Self, ParameterError> {
        Self::from_decimal(text.trim(), Rounding::Up)
    }

    /// Reads a decimal such as `0.2` or `1e-9` as a budget: digits beyond a grain are dropped.
    ///
    /// # Errors
    /// The text is not a decimal number, is negative, or is more than an amount holds.
    pub fn parse_down(text: &str) -> Result<Self, ParameterError> {
        Self::from_decimal(text.trim(), Rounding::Down)
    }

    fn from_decimal(text: &str, rounding: Rounding) -> Result<Self, ParameterError> {
        let wrong = || ParameterError::not_a_number(C::NAME, text);
        let too_large = || ParameterError::too_large(C::NAME, text, RANGE);
        if let Some(size) = text.strip_prefix('-') {
            let is_number = size
                .starts_with(['.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
                && size.parse::<f64>().is_ok();
            return Err(if is_number {
                ParameterError::negative(C::NAME, text, RANGE)
            } else {
                wrong()
            });
        }
        let text = text.strip_prefix('+').unwrap_or(text);
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..]).ok_or_else(wrong)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return Err(wrong());
        }
        // The number is `digits` (read as an integer) times 10^(exponent - fraction.len()); in
        // grains, its first `keep` digits stand before the point.
        let digits = whole.bytes().chain(fraction.bytes());
        let length = |part: &str| i64::try_from(part.len()).unwrap_or(i64::MAX);
        let keep = length(whole).saturating_add(exponent).saturating_add(DECIMALS);
        let mut grains: u128 = 0;
        let mut rest = false;
        let mut position: i64 = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return Err(wrong());
            }
            let value = u128::from(digit - b'0');
            if position < keep {
                grains = grains
                    .checked_mul(10)
                    .and_then(|g| g.checked_add(value))
                    .ok_or_else(too_large)?;
            } else {
                rest |= value != 0;
            }
            position += 1;
        }
        if grains != 0 {
            let zeros =
                u32::try_from(keep.saturating_sub(position).max(0)).map_err(|_| too_large())?;
            grains = 10_u128
                .checked_pow(zeros)
                .and_then(|p| grains.checked_mul(p))
                .ok_or_else(too_large)?;
        }
        match (rest, rounding) {
            (false, _) | (true, Rounding::Down) => {}
            (true, Rounding::Up) => grains = grains.checked_add(1).ok_or_else(too_large)?,
            (true, Rounding::Refuse) => return Err(wrong()),
        }
        Ok(Self::from_grains(grains))
    }

    /// The least parameter that is not below this amount, for formulas and promises.
    ///
    /// # Errors
    /// The amount is zero, or out of the parameter's range.
    pub fn to_parameter(self) -> Result<C, ParameterError>
    where
        C: TryFrom<f64, Error = ParameterError>,
    {
        C::try_from(self.to_f64_up())
    }

    /// The least double whose decimal is not below this amount, for showing what was spent.
    #[must_use]
    pub fn to_f64_up(self) -> f64 {
        let nearest = self.to_f64();
        let decimal = Self::from_decimal(&format!("{nearest:e}"), Rounding::Up);
        if decimal.is_ok_and(|decimal| decimal >= self) { nearest } else { nearest.next_up() }
    }

    /// The nearest double, for showing. What is computed from it does not go back into an account.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        if self.grains == 0 {
            return 0.0;
        }
        // Over 10^30 is over 5^30 and 2^30. With its highest bit set, what is divided leaves a
        // quotient of 58 or 59 bits: six more than a double has. If there is a rest, the last of
        // them says so, and the conversion rounds as the whole quotient would be.
        let shift = self.grains.leading_zeros();
        let (quotient, rest) = ((self.grains << shift) / FIVES, (self.grains << shift) % FIVES);
        let quotient = u64::try_from(quotient).unwrap_or(u64::MAX) | u64::from(rest != 0);
        let bits = 1023 - 30 - u64::from(shift);
        quotient as f64 * f64::from_bits(bits << 52)
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // An exponent too long for an i64 is as good as the largest one.
    let size = digits.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if text.starts_with('-') { -size } else { size })
}

impl<C: Currency> FromStr for Amount<C> {
    type Err = ParameterError;

    /// Reads a decimal exactly; one with more than thirty decimals is refused.
    fn from_str(text: &str) -> Result<Self, ParameterError> {
        Self::from_decimal(text, Rounding::Refuse)
    }
}

impl<C> fmt::Display for Amount<C> {
    /// The exact decimal; scientific below a ten-thousandth, like doubles. It reads back as the
    /// same amount.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.grains != 0 && self.grains < GRAINS_PER_ONE / 10_000 {
            let digits = self.grains.to_string();
            let (first, rest) = digits.split_at(1);
            let rest = rest.trim_end_matches('0');
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e-{}", 31 - digits.len())
        } else {
            let (whole, part) = (self.grains / GRAINS_PER_ONE, self.grains % GRAINS_PER_ONE);
            let fraction = format!("{part:030}");
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{whole}{point}{fraction}")
        };
        f.pad(&text)
    }
}

impl<C> fmt::Debug for Amount<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

// Derives would ask the same of the currency, which is only a name here.
impl<C> Clone for Amount<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Amount<C> {}

/// Nothing.
impl<C> Default for Amount<C> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<C> PartialEq for Amount<C> {
    fn eq(&self, other: &Self) -> bool {
        self.grains == other.grains
    }
}

impl<C> Eq for Amount<C> {}

impl<C> PartialOrd for Amount<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C> Ord for Amount<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.grains.cmp(&other.grains)
    }
}

impl<C> Hash for Amount<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.grains.hash(state);
    }
}

/// As its exact decimal in a string: a JSON number would not survive readers that use doubles.
impl<C> Serialize for Amount<C> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, C: Currency> Deserialize<'de> for Amount<C> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
