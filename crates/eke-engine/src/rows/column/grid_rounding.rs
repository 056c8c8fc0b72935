//! Steps: numbers on the grid of a sum, as integers.

/// What a number adds to a sum, in steps of `2^exponent`: its nearest step (halves up), clamped to
/// `low..=high`, less `centre`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridRounding {
    pub(crate) exponent: i32,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) centre: i64,
}

impl GridRounding {
    /// The steps of an integer.
    pub(crate) fn of_int(self, value: i64) -> i64 {
        self.finish(scaled(i128::from(value), -i64::from(self.exponent)))
    }

    /// The steps of a double. Infinite ones are clamped; NaN, of which there is none, counts as
    /// low.
    pub(crate) fn of_float(self, value: f64) -> i64 {
        if value.is_infinite() || value.is_nan() {
            return self.finish(if value > 0.0 { i128::MAX } else { i128::MIN });
        }
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52) & 0x7ff, i128::from(bits & ((1 << 52) - 1)));
        let (mantissa, power) = if biased == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, i64::try_from(biased).unwrap_or(0) - 1075)
        };
        let mantissa = if value < 0.0 { -mantissa } else { mantissa };
        self.finish(scaled(mantissa, power - i64::from(self.exponent)))
    }

    /// Clamping comes last, so that whatever came before stays within the bounds. A difference too
    /// large for 64 bits is cut off, towards zero.
    fn finish(self, steps: i128) -> i64 {
        let clamped = steps.max(self.low.into()).min(self.high.into());
        let clamped =
            i64::try_from(clamped).unwrap_or(if clamped < 0 { i64::MIN } else { i64::MAX });
        clamped.saturating_sub(self.centre)
    }
}

/// A number below 2⁶⁴ times `2^power`, to the nearest integer, halves up; beyond 2⁶³ it is only as
/// large as that.
fn scaled(number: i128, power: i64) -> i128 {
    if power >= 0 {
        // One, times 2⁶³, is already outside 64 bits.
        return number << power.min(63);
    }
    let shift = -power;
    if shift > 65 {
        // Less than half a step.
        return 0;
    }
    (number + (1 << (shift - 1))) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: GridRounding =
        GridRounding { exponent: 0, low: i64::MIN, high: i64::MAX, centre: 0 };

    #[test]
    fn a_number_goes_to_its_nearest_step_and_halves_go_up() {
        let cases = [
            (0, 0.5, 1),
            (0, -0.5, 0),
            (0, -0.51, -1),
            (0, 1.49, 1),
            (1, 3.0, 2),
            (1, -3.0, -1),
            (-2, 0.3, 1),
            (-2, 0.375, 2),
            (-62, 1.0, 1 << 62),
            (-1074, 5e-324, 1),
            (-1074, 1.0, i64::MAX),
            (1023, f64::MAX, 2),
            (1023, 1e-300, 0),
            (0, f64::INFINITY, i64::MAX),
            (0, f64::NEG_INFINITY, i64::MIN),
            (0, 0.499_999_999_999_999_94, 0),
            (0, 9_007_199_254_740_993.0, 9_007_199_254_740_992),
        ];
        for (exponent, value, expected) in cases {
            assert_eq!(
                GridRounding { exponent, ..WIDE }.of_float(value),
                expected,
                "{value} {exponent}"
            );
        }
        let cases = [
            (0, i64::MIN, i64::MIN),
            (0, i64::MAX, i64::MAX),
            (1, 3, 2),
            (1, -3, -1),
            (62, i64::MAX, 2),
            (63, i64::MAX, 1),
            (64, i64::MAX, 0),
            (64, i64::MIN, 0),
            (65, i64::MIN, 0),
            (1 << 30, i64::MIN, 0),
            (-1, 3, 6),
            (-63, -1, i64::MIN),
            (-63, 1, i64::MAX),
            (i32::MIN, 1, i64::MAX),
            (i32::MIN, 0, 0),
        ];
        for (exponent, value, expected) in cases {
            assert_eq!(
                GridRounding { exponent, ..WIDE }.of_int(value),
                expected,
                "{value} {exponent}"
            );
        }
    }

    #[test]
    fn steps_stay_within_their_bounds_whatever_the_number() {
        let values = [0.0, 1.0, -1.0, 1e308, -1e308, f64::INFINITY, f64::NEG_INFINITY, 5e-324];
        for exponent in [-1100, -60, 0, 60, 1100, i32::MIN, i32::MAX] {
            let step = GridRounding { exponent, low: -3, high: 7, centre: 2 };
            for value in values {
                assert!((-5..=5).contains(&step.of_float(value)));
            }
            for value in [i64::MIN, -1, 0, 1, i64::MAX] {
                assert!((-5..=5).contains(&step.of_int(value)));
            }
        }
        let far = GridRounding { exponent: 0, low: i64::MIN, high: i64::MAX, centre: i64::MAX };
        assert_eq!(far.of_int(i64::MIN), i64::MIN);
        // Bounds the wrong way round break nothing.
        assert_eq!(GridRounding { exponent: 0, low: 5, high: -5, centre: 0 }.of_int(0), -5);
    }
}
