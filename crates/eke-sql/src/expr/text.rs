//! What expressions do with text: how much of it there is, parts of it, and numbers and truths
//! written out.

/// The most bytes that a text has, wherever an expression meets or makes one: a cell, a constant, a
/// key, what is put together. A longer one ends there, before the first character that does not fit
/// as a whole.
///
/// It is public, and the same for every row. So no row can make a text that fills memory, or that
/// takes long.
pub const MAX_TEXT: usize = 4_096;

/// The most bytes of a text that is read as a double, blanks at both ends aside: those that doubles
/// are written in have fewer than 330. Reading a number takes longer the more digits it has.
const NUMBER: usize = 400;

/// A text as far as it counts: all of it, or its first [`MAX_TEXT`] bytes without a part of a
/// character.
#[must_use]
pub fn cut(text: &str) -> &str {
    start(text, MAX_TEXT)
}

/// Two texts, one after the other, as far as they count.
#[must_use]
pub fn concat(left: &str, right: &str) -> String {
    let left = cut(left);
    let right = start(right, MAX_TEXT - left.len());
    let mut both = String::with_capacity(left.len() + right.len());
    both.push_str(left);
    both.push_str(right);
    both
}

/// A text in lower case, as far as it counts: the lower case may be longer.
#[must_use]
pub fn lower(text: &str) -> String {
    owned(cut(text).to_lowercase())
}

/// A text in upper case, as far as it counts: the upper case may be longer.
#[must_use]
pub fn upper(text: &str) -> String {
    owned(cut(text).to_uppercase())
}

/// A text as far as it counts, without a copy.
pub(crate) fn owned(mut text: String) -> String {
    text.truncate(cut(&text).len());
    text
}

/// The first `most` bytes of a text, or fewer: no character is cut in two.
fn start(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// Whether a pattern ends with a `\` that escapes nothing.
pub(crate) fn ends_with_escape(pattern: &str) -> bool {
    pattern.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// The characters from `from` on, counted from 1, `count` of them if it is given. As in PostgreSQL,
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

/// A text as a finite double: digits, perhaps a point and an exponent, 400 bytes at most.
#[must_use]
pub fn float(text: &str) -> Option<f64> {
    let text = trimmed(text);
    if text.len() > NUMBER {
        return None;
    }
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

    #[test]
    fn every_double_is_read_from_its_own_digits_and_no_number_is_longer() {
        for number in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -2.225_073_858_507_201e-308] {
            let digits = number.to_string();
            assert!(digits.len() < 330);
            assert_eq!(float(&digits), Some(number));
        }
        assert_eq!(float(&format!("{}1{}", " ".repeat(2_000), " ".repeat(2_000))), Some(1.0));
        assert_eq!(float(&"1".repeat(NUMBER + 1)), None);
        assert_eq!(float(&format!("0.{}", "0".repeat(NUMBER))), None);
    }

    #[test]
    fn a_text_ends_before_the_first_character_that_does_not_fit() {
        let most = "a".repeat(MAX_TEXT);
        assert_eq!(cut(&most), most);
        assert_eq!(cut(&format!("{most}b")), most);
        assert_eq!(cut("é"), "é");
        for (odd, kept) in [(0, 4_096), (1, 4_095), (2, 4_096), (3, 4_095)] {
            assert_eq!(cut(&format!("{}{}", "a".repeat(odd), "é".repeat(4_096))).len(), kept);
        }
        for odd in 0..4 {
            let text = format!("{}{}", "a".repeat(odd), "🦀".repeat(2_000));
            assert_eq!(cut(&text).len(), MAX_TEXT - (MAX_TEXT - odd) % 4);
            assert!(text.starts_with(cut(&text)));
        }
    }

    #[test]
    fn texts_that_are_put_together_end_where_texts_end() {
        let (long, short) = ("a".repeat(4_000), "é".repeat(100));
        assert_eq!(concat(&short, "b"), format!("{short}b"));
        assert_eq!(concat(&long, &short), format!("{long}{}", "é".repeat(48)));
        assert_eq!(concat(&"b".repeat(9_000), &short), "b".repeat(MAX_TEXT));
        assert_eq!(concat("", &"b".repeat(9_000)).len(), MAX_TEXT);
        // What grows in another case ends there too.
        assert_eq!(upper(&"ΐ".repeat(2_000)).len(), MAX_TEXT);
        assert_eq!(lower(&"Ⱥ".repeat(2_000)).len(), MAX_TEXT - 1);
        assert_eq!(upper(&"a".repeat(9_000)), "A".repeat(MAX_TEXT));
    }
}
