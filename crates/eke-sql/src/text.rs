//! What expressions do with text: parts of it, and numbers and truths written out.

/// Whether a pattern ends with a `\` that escapes nothing.
pub(crate) fn ends_with_escape(pattern: &str) -> bool {
    pattern.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// The characters from `from` on, counted from 1, so many of them if `count` says so: as PostgreSQL has it,
/// places before the first count too. None for a negative count.
#[must_use]
pub fn substring(text: &str, from: i64, count: Option<i64>) -> Option<String> {
    let from = i128::from(from);
    let end = match count {
        Some(count) if count < 0 => return None,
        Some(count) => from + i128::from(count),
        None => i128::MAX,
    };
    let places = (1i128..).zip(text.chars());
    Some(places.filter(|(place, _)| *place >= from && *place < end).map(|(_, c)| c).collect())
}

/// A text as an int: blanks at both ends do not matter.
#[must_use]
pub fn int(text: &str) -> Option<i64> {
    let text = trimmed(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// A text as a finite double: digits, perhaps a point and an exponent.
#[must_use]
pub fn float(text: &str) -> Option<f64> {
    let text = trimmed(text);
    let plain =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    if !plain {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A text as a truth.
#[must_use]
pub fn truth(text: &str) -> Option<bool> {
    match trimmed(text).to_ascii_lowercase().as_str() {
        "true" | "t" | "1" => Some(true),
        "false" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// Without ASCII blanks at both ends.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_are_counted_as_in_postgresql() {
        assert_eq!(substring("Leiden", 2, Some(3)).as_deref(), Some("eid"));
        assert_eq!(substring("Leiden", -1, Some(4)).as_deref(), Some("Le"));
        assert_eq!(substring("Leiden", 0, None).as_deref(), Some("Leiden"));
        assert_eq!(substring("Leiden", 5, Some(i64::MAX)).as_deref(), Some("en"));
        assert_eq!(substring("Leiden", i64::MIN, Some(1)).as_deref(), Some(""));
        assert_eq!(substring("Leiden", 1, Some(-1)), None);
    }

    #[test]
    fn only_whole_numbers_and_finite_doubles_are_read() {
        assert_eq!(int(" +5\t"), Some(5));
        for text in ["", "+", "5.0", "1_000", "0x10", "9223372036854775808", "٣"] {
            assert_eq!(int(text), None, "{text}");
        }
        assert_eq!(float("1e3"), Some(1_000.0));
        for text in ["NaN", "inf", "-infinity", "1e999", "", ".", "1e", "--1"] {
            assert_eq!(float(text), None, "{text}");
        }
    }
}
