//! The grid that sums are taken on: steps of a power of two, chosen from public information.
//!
//! A sum's sensitivity is about 2^22 to 2^23 steps, so that rounding a row to a step is far below
//! any noise that is affordable, and a sum over 2^39 units still fits 64 bits.

use crate::error::BoundsError;
use crate::{Expr, SqlError, Sum, Summand};

/// Sensitivities have this many bits, about.
const BITS: i32 = 22;
/// The most bits of a count's fraction.
const COUNT_BITS: u32 = 10;
/// The most bits that an end of a clamp may have: as many as a double.
const END_BITS: i32 = 52;
/// No step is finer or coarser than two to this power.
const STEEPEST: i32 = 500;
/// The most rows that one unit may count for in a group.
pub(crate) const MAX_ROWS: u32 = 1 << BITS;

/// A count: steps of 2^-10, or coarser so that what one unit counts for is 2^22 of them at most.
/// Among units it counts for one, however many rows it has.
pub(crate) fn count(summand: Summand, max_rows: u32) -> Sum {
    let most = match summand {
        Summand::Units => 1,
        Summand::Distinct { most, .. } => most,
        _ => max_rows,
    };
    let rows = most.max(1).next_power_of_two().trailing_zeros();
    let bits = COUNT_BITS.min(BITS.unsigned_abs().saturating_sub(rows));
    Sum { summand, exponent: -i32::try_from(bits).unwrap_or(0) }
}

/// A sum of numbers between two ends. The clamp is rounded outwards to steps, so that no value
/// within the bounds is cut. A centred one is for averages: it takes off the middle step.
pub(crate) fn value(
    expr: Expr,
    (low, high): (f64, f64),
    max_rows: u32,
    centred: bool,
    written: &str,
) -> Result<Sum, SqlError> {
    let farthest = low.abs().max(high.abs());
    let reach = if centred { high / 2.0 - low / 2.0 } else { farthest };
    if reach <= 0.0 || !reach.is_finite() {
        let (written, is_average) = (written.to_owned(), centred);
        return Err(BoundsError::Nothing { written, low, high, is_average }.into());
    }
    let wanted = log2(reach) + log2(f64::from(max_rows)) - BITS;
    // The product of the two can be a power of two more than the sum of their logarithms.
    let scaled = scale(reach, -wanted) * f64::from(max_rows);
    let wanted = if scaled >= f64::from(1u32 << (BITS + 1)) { wanted + 1 } else { wanted };
    let exponent = wanted.max(log2(farthest) + 1 - END_BITS);
    if exponent.abs() > STEEPEST {
        let written = written.to_owned();
        return Err(match exponent {
            1.. => BoundsError::TooLarge { written },
            _ => BoundsError::TooSmall { written },
        }
        .into());
    }
    let Some((low, high)) = steps_outwards((low, high), exponent) else {
        return Err(BoundsError::TooManySteps { written: written.to_owned() }.into());
    };
    let centre = if centred { (low + high).div_euclid(2) } else { 0 };
    let sum = Sum { summand: Summand::Value { expr, low, high, centre }, exponent };
    if sum.sensitivity(max_rows) == 0 {
        return Err(BoundsError::TooClose { written: written.to_owned() }.into());
    }
    Ok(sum)
}

/// The exponent of the steps of which a range has two to this power, about, or fewer where doubles
/// are too coarse for that; none if there is no such range.
pub(crate) fn of_range((low, high): (f64, f64), bits: i32) -> Option<i32> {
    let range = high / 2.0 - low / 2.0;
    if range <= 0.0 || !range.is_finite() {
        return None;
    }
    let exponent = log2(range) + 1 - bits;
    let exponent = exponent.max(log2(low.abs().max(high.abs())) + 1 - END_BITS);
    (exponent.abs() <= STEEPEST).then_some(exponent)
}

/// Two ends in whole steps, rounded outwards; none if they are too large.
pub(crate) fn steps_outwards((low, high): (f64, f64), exponent: i32) -> Option<(i64, i64)> {
    let steps = |end: f64| {
        crate::expr::evaluate::int_of_float(end).filter(|end| end.unsigned_abs() <= 1 << 53)
    };
    Some((steps(scale(low, -exponent).floor())?, steps(scale(high, -exponent).ceil())?))
}

/// The largest power of two that is not larger, for a positive finite double.
fn log2(value: f64) -> i32 {
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    if exponent == 0 { -1022 } else { exponent - 1023 }
}

/// A double times a power of two, in two exact halves.
fn scale(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * power(half) * power(exponent - half)
}

/// Two to a power between -1022 and 1023.
pub(crate) fn power(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent.clamp(-1022, 1023) + 1023).unwrap_or(0);
    f64::from_bits(biased << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    fn sum(low: f64, high: f64, max_rows: u32, centred: bool) -> Result<Sum, SqlError> {
        value(Expr::Literal(Value::Null), (low, high), max_rows, centred, "x")
    }

    #[test]
    fn sensitivities_have_about_23_bits_whatever_the_bounds() {
        for max_rows in [1, 2, 3, 20, 1_000, 4_096] {
            for (low, high) in [
                (0.0, 200.0),
                (-1e-9, 3e-9),
                (-1e30, 1.0),
                (5.0, 5.0),
                (0.0, 1.0),
                (0.1, 0.7),
                (-f64::from(1u32 << 20), f64::from(1u32 << 20)),
            ] {
                for centred in [false, true] {
                    let Ok(sum) = sum(low, high, max_rows, centred) else {
                        assert!(centred && low.total_cmp(&high).is_eq());
                        continue;
                    };
                    let sensitivity = sum.sensitivity(max_rows);
                    let rounding = 2 * u64::from(max_rows);
                    assert!(sensitivity >= 1 << 22, "{low} {high} {max_rows}: {sensitivity}");
                    assert!(
                        sensitivity < (1 << 23) + rounding,
                        "{low} {high} {max_rows}: {sensitivity}"
                    );
                    let Summand::Value { low: least, high: most, centre, .. } = sum.summand else {
                        panic!("a value")
                    };
                    let step = power(sum.exponent);
                    let natural = |steps: i64| crate::expr::evaluate::float_of_int(steps) * step;
                    assert!(natural(least) <= low && low < natural(least + 1));
                    assert!(natural(most - 1) < high && high <= natural(most));
                    assert!(if centred {
                        (least + most).div_euclid(2) == centre
                    } else {
                        centre == 0
                    });
                }
            }
        }
    }

    #[test]
    fn an_average_far_from_zero_has_no_finer_steps_than_a_double() {
        let sum = sum(1e15, 1e15 + 1.0, 1, true).unwrap();
        assert_eq!(sum.exponent, -2);
        let Summand::Value { low, high, centre, .. } = sum.summand else { panic!("a value") };
        assert_eq!((high - low, centre - low), (4, 2));
    }

    #[test]
    fn bounds_that_leave_nothing_to_add_up_or_no_grid_are_refused() {
        for (low, high, centred) in [
            (0.0, 0.0, false),
            (3.0, 3.0, true),
            (0.0, 1e200, false),
            (0.0, 1e-200, false),
            (-1e308, 1e308, true),
        ] {
            assert!(sum(low, high, 1, centred).is_err(), "{low} {high}");
        }
    }

    #[test]
    fn counts_have_ten_bits_of_fraction_or_fewer_where_many_rows_count() {
        for (max_rows, bits) in
            [(1, 10), (20, 10), (4_096, 10), (4_097, 9), (1 << 21, 1), (1 << 22, 0)]
        {
            let sum = count(Summand::Rows, max_rows);
            assert_eq!(sum.exponent, -bits);
            assert!(sum.sensitivity(max_rows) <= 1 << 22);
        }
    }

    #[test]
    fn units_are_counted_in_the_same_steps_however_many_rows_they_have() {
        for max_rows in [1, 20, 4_096, 4_097, 4_000_000, MAX_ROWS] {
            let sum = count(Summand::Units, max_rows);
            assert_eq!((sum.exponent, sum.sensitivity(max_rows)), (-10, 1 << 10), "{max_rows}");
        }
    }
}
