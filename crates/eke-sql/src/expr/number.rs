//! What functions of numbers come to, value by value.

use crate::expr::scalar::float;

/// A float with this many decimal digits, the rest taken away or rounded, halves away from zero;
/// a negative number counts digits before the point.
///
/// The float is taken as the shortest decimal that reads back as it, which is what was written: as
/// PostgreSQL's `numeric`, 1.005 has a half to round, though the double is a little less.
#[must_use]
pub(crate) fn to_digits(value: f64, digits: i64, rounds: bool) -> f64 {
    if !value.is_finite() || value.abs() <= 0.0 {
        return value;
    }
    let written = format!("{:e}", value.abs());
    let Some((mantissa, exponent)) = written.split_once('e') else { return value };
    let all: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let Ok(exponent) = exponent.parse::<i64>() else { return value };
    // How many of its digits are before the one that is the first to go.
    let kept = digits.saturating_add(exponent + 1);
    let Ok(kept) = usize::try_from(kept) else { return 0.0 };
    if kept >= all.len() {
        return value;
    }
    let whole = all[..kept].iter().fold(0u64, |whole, digit| whole * 10 + u64::from(digit - b'0'));
    let whole = whole + u64::from(rounds && all[kept] >= b'5');
    // At most 17 digits: between those of the float and none, so that the exponent is small.
    let rounded: f64 = format!("{whole}e{}", digits.saturating_neg()).parse().unwrap_or(value);
    if value < 0.0 { 0.0 - rounded } else { rounded }
}

/// -1, 0 or 1.
#[must_use]
pub(crate) fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// A float to the power of another; none where PostgreSQL has an error.
#[must_use]
pub(crate) fn power(base: f64, exponent: f64) -> Option<f64> {
    if base.abs() <= 0.0 && exponent < 0.0 {
        return None;
    }
    float(libm::pow(base, exponent))
}

/// The bucket of a value, among `count` equal ones from `low` to `high`; none if there are none.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "between 0 and the number of buckets")]
pub(crate) fn width_bucket(value: f64, low: f64, high: f64, count: i64) -> Option<i64> {
    let beyond = count.checked_add(1)?;
    if count < 1 || !low.is_finite() || !high.is_finite() || (high - low).abs() <= 0.0 {
        return None;
    }
    let (is_below, is_beyond) =
        if low < high { (value < low, value >= high) } else { (value > low, value <= high) };
    if is_below {
        return Some(0);
    }
    if is_beyond {
        return Some(beyond);
    }
    let width = high - low;
    let share = if width.is_finite() {
        (value - low) / width
    } else {
        (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    };
    let place = (count as f64 * share) as i64;
    Some(place.clamp(0, count - 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As PostgreSQL has them for `numeric`.
    #[test]
    fn digits_are_those_of_the_decimal_that_was_written() {
        for (value, digits, rounded, cut) in [
            (1.005, 2, 1.01, 1.0),
            (-2.675, 2, -2.68, -2.67),
            (42.4382, 2, 42.44, 42.43),
            (1_234.56, -2, 1_200.0, 1_200.0),
            (1_250.0, -2, 1_300.0, 1_200.0),
            (50.0, -2, 100.0, 0.0),
            (49.0, -2, 0.0, 0.0),
            (0.5, 0, 1.0, 0.0),
            (9.99, 1, 10.0, 9.9),
            (0.05, 0, 0.0, 0.0),
            (5e-324, 323, 1e-323, 0.0),
            (f64::MAX, -308, f64::INFINITY, 1e308),
            (1e22, 400, 1e22, 1e22),
            (3.0, i64::MAX, 3.0, 3.0),
            (3.0, i64::MIN, 0.0, 0.0),
        ] {
            assert_eq!(
                Some(to_digits(value, digits, true)),
                Some(rounded),
                "round({value}, {digits})"
            );
            assert_eq!(
                Some(to_digits(value, digits, false)),
                Some(cut),
                "trunc({value}, {digits})"
            );
        }
        assert_eq!(Some(to_digits(f64::INFINITY, 2, true)), Some(f64::INFINITY));
    }

    #[test]
    fn buckets_are_postgresqls() {
        for (value, low, high, count, bucket) in [
            (5.35, 0.024, 10.06, 5, Some(3)),
            (-1.0, 0.0, 10.0, 5, Some(0)),
            (10.0, 0.0, 10.0, 5, Some(6)),
            (0.0, 10.0, 0.0, 5, Some(6)),
            (10.0, 10.0, 0.0, 5, Some(1)),
            (11.0, 10.0, 0.0, 5, Some(0)),
            (1.0, 2.0, 2.0, 5, None),
            (1.0, 0.0, 2.0, 0, None),
            (1.0, 0.0, 2.0, i64::MAX, None),
            (0.0, -1e308, 1e308, 4, Some(3)),
            (1.0, f64::NEG_INFINITY, 2.0, 4, None),
        ] {
            assert_eq!(width_bucket(value, low, high, count), bucket, "{value} in {low}..{high}");
        }
    }

    #[test]
    fn powers_that_postgresql_refuses_are_none() {
        assert_eq!(power(0.0, -1.0), None);
        assert_eq!(power(-8.0, 1.0 / 3.0), None);
        assert_eq!(power(-2.0, 3.0), Some(-8.0));
        assert_eq!(power(0.0, 0.0), Some(1.0));
        assert_eq!(power(10.0, 400.0), Some(f64::INFINITY));
    }
}
