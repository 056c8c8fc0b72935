//! What expressions do with single values, for engines that work on columns: the same functions
//! that [`evaluate`](crate::evaluate()) uses, so that there is one meaning.

pub use crate::expr::call::{Datum, call};
pub use crate::expr::civil::{
    date_of_text, date_to_text, shift, timestamp_of_text, timestamp_to_text,
};
pub use crate::expr::evaluate::{
    float_arithmetic, float_function, float_of_int, int_arithmetic, int_of_float, moment,
};
pub use crate::expr::format::MomentFormat;
pub use crate::expr::pattern::Pattern;
pub use crate::expr::regex::Regex;
pub use crate::expr::text::{
    concat, cut, float as float_of_text, int as int_of_text, lower, truth as truth_of_text, upper,
};

/// A double that is a value: NaN is none, and -0 is 0.
#[must_use]
pub fn float(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value + 0.0)
}

/// The midnight that a day starts with; none beyond 64 bits of microseconds.
#[must_use]
pub fn midnight(day: i32) -> Option<i64> {
    i64::from(day).checked_mul(crate::expr::civil::DAY)
}

/// The day that a moment lies on.
#[must_use]
pub fn day_of(moment: i64) -> Option<i32> {
    i32::try_from(moment.div_euclid(crate::expr::civil::DAY)).ok()
}
