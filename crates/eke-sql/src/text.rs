//! What expressions do with text: patterns, parts, and numbers and truths written out.

/// Whether a text is like a pattern: `%` is any text, `_` one character, and a character after `\` is
/// itself (a lone `\` at the end as well).
pub(crate) fn like(text: &str, pattern: &str, ignore_case: bool) -> bool {
    if ignore_case {
        return like(&text.to_lowercase(), &pattern.to_lowercase(), false);
    }
    let text: Vec<char> = text.chars().collect();
    let parts = parts(pattern);
    // Two cursors, and where to go back to: the last `%` takes one character more each time.
    let (mut at, mut part) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                back = Some((at, part));
                part += 1;
                continue;
            }
            Some(Part::One) => {
                at += 1;
                part += 1;
                continue;
            }
            Some(Part::Char(c)) if *c == text[at] => {
                at += 1;
                part += 1;
                continue;
            }
            _ => {}
        }
        let Some((from, any)) = back else { return false };
        back = Some((from + 1, any));
        at = from + 1;
        part = any + 1;
    }
    parts[part..].iter().all(|part| matches!(part, Part::Any))
}

/// Whether a pattern ends with a `\` that escapes nothing.
pub(crate) fn ends_with_escape(pattern: &str) -> bool {
    pattern.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

enum Part {
    Any,
    One,
    Char(char),
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut chars = pattern.chars();
    let mut parts = Vec::new();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '%' => Part::Any,
            '_' => Part::One,
            '\\' => Part::Char(chars.next().unwrap_or('\\')),
            c => Part::Char(c),
        });
    }
    parts
}

/// The characters from `from` on, counted from 1, so many of them if `count` says so: as PostgreSQL has it,
/// places before the first count too. None for a negative count.
pub(crate) fn substring(text: &str, from: i64, count: Option<i64>) -> Option<String> {
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
pub(crate) fn int(text: &str) -> Option<i64> {
    let text = trimmed(text);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// A text as a finite double: digits, perhaps a point and an exponent.
pub(crate) fn float(text: &str) -> Option<f64> {
    let text = trimmed(text);
    let plain =
        text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    if !plain {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A text as a truth.
pub(crate) fn truth(text: &str) -> Option<bool> {
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
    fn patterns_mean_what_sql_says() {
        for (text, pattern, is) in [
            ("Delft", "D%", true),
            ("Delft", "%f_", true),
            ("Delft", "d%", false),
            ("", "%", true),
            ("", "_", false),
            ("a%b", r"a\%b", true),
            ("axb", r"a\%b", false),
            ("mississippi", "%iss%ip%", true),
            ("abc", "a%b", false),
            (r"a\", r"a\", true),
            ("éa", "_a", true),
        ] {
            assert_eq!(like(text, pattern, false), is, "{text} {pattern}");
        }
        assert!(like("DELFT", "d%T", true));
    }

    #[test]
    fn a_pattern_of_many_wildcards_takes_no_exponential_time() {
        let text = "a".repeat(2_000);
        let pattern = format!("{}b", "%a".repeat(1_000));
        assert!(!like(&text, &pattern, false));
    }

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
