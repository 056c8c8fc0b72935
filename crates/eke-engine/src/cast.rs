//! Casts, value by value: a value as another type, or nothing.
//!
//! What a cast means may never change: answers that were paid for are named by it.

/// A double that is a value: NaN is nothing, and -0 is 0.
pub(crate) fn float(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value + 0.0)
}

/// The nearest integer, halves away from zero; nothing outside 64 bits.
pub(crate) fn float_to_int(value: f64) -> Option<i64> {
    let rounded = value.round();
    // 2⁶³ is a double, 2⁶³-1 is not. NaN is in no range.
    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number in range")]
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0)
        .contains(&rounded)
        .then_some(rounded as i64)
}

/// The nearest double.
#[expect(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
pub(crate) fn int_to_float(value: i64) -> f64 {
    value as f64
}

/// An ordinary decimal integer; nothing if it is none, or has more than 64 bits.
pub(crate) fn text_to_int(text: &str) -> Option<i64> {
    text.trim_ascii().parse().ok()
}

/// An ordinary decimal number, as the nearest double; nothing if it is none.
pub(crate) fn text_to_float(text: &str) -> Option<f64> {
    let text = text.trim_ascii();
    // Letters but for an exponent's make "inf", "infinity" and "nan".
    let ordinary = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !text.bytes().all(ordinary) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    // A number too large for a double is none, rather than infinite.
    if value.is_finite() { float(value) } else { None }
}

/// True or false, in the usual spellings.
pub(crate) fn text_to_bool(text: &str) -> Option<bool> {
    let text = text.trim_ascii();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") || is("t") || is("1") {
        Some(true)
    } else if is("false") || is("f") || is("0") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_go_to_the_nearest_integer_in_range() {
        let cases = [
            (0.5, Some(1)),
            (-0.5, Some(-1)),
            (0.499_999_999_999_999_94, Some(0)),
            (2.5, Some(3)),
            (9_223_372_036_854_774_784.0, Some(9_223_372_036_854_774_784)),
            (9_223_372_036_854_775_808.0, None),
            (-9_223_372_036_854_775_808.0, Some(i64::MIN)),
            (-9_223_372_036_854_777_856.0, None),
            (f64::INFINITY, None),
            (f64::NEG_INFINITY, None),
            (f64::NAN, None),
        ];
        for (value, expected) in cases {
            assert_eq!(float_to_int(value), expected, "{value}");
        }
    }

    #[test]
    fn only_ordinary_numbers_are_numbers() {
        for text in ["", " ", "nan", "inf", "-Infinity", "1e", "0x10", "1_000", "1,5", "--1", "1 2"]
        {
            assert_eq!((text_to_float(text), text_to_int(text)), (None, None), "{text}");
        }
        assert_eq!(text_to_float("1e400"), None);
        assert_eq!(text_to_float(" -1.5e1\t"), Some(-15.0));
        assert_eq!(text_to_float("-0").map(f64::to_bits), Some(0));
        assert_eq!((text_to_int(" +12 "), text_to_int("12.0")), (Some(12), None));
        assert_eq!(text_to_int("9223372036854775808"), None);
        assert_eq!(text_to_int("-9223372036854775808"), Some(i64::MIN));
    }

    #[test]
    fn truth_has_six_spellings() {
        for text in ["true", " T ", "1", "TRUE"] {
            assert_eq!(text_to_bool(text), Some(true), "{text}");
        }
        for text in ["false", "F", "0"] {
            assert_eq!(text_to_bool(text), Some(false), "{text}");
        }
        for text in ["", "yes", "2", "truee"] {
            assert_eq!(text_to_bool(text), None, "{text}");
        }
    }
}
