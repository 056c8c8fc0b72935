//! What expressions do with text: how much of it there is, parts of it, and numbers and truths
//! written out.

use crate::Function;

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

/// The first `count` characters, or all but as many of the last if it is negative.
#[must_use]
pub(crate) fn left(text: &str, count: i64) -> &str {
    &text[..place_of(text, kept(text, count))]
}

/// The last `count` characters, or all but as many of the first if it is negative.
#[must_use]
pub(crate) fn right(text: &str, count: i64) -> &str {
    let all = text.chars().count();
    &text[place_of(text, all - kept(text, count))..]
}

/// How many characters `left` and `right` keep.
fn kept(text: &str, count: i64) -> usize {
    let all = text.chars().count();
    let many = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 { all.saturating_sub(many) } else { all.min(many) }
}

/// The byte that a character starts at, or the end.
fn place_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(place, _)| place)
}

/// A text without the characters of another at both ends, or at one.
#[must_use]
pub(crate) fn trim<'a>(function: Function, text: &'a str, characters: &str) -> &'a str {
    let mut sorted: Vec<char> = characters.chars().collect();
    sorted.sort_unstable();
    let goes = |c: char| sorted.binary_search(&c).is_ok();
    match function {
        Function::LeftTrim => text.trim_start_matches(goes),
        Function::RightTrim => text.trim_end_matches(goes),
        _ => text.trim_matches(goes),
    }
}

/// A text with `to` wherever it has `from`; as it is if `from` is empty.
#[must_use]
pub(crate) fn replace(text: &str, from: &str, to: &str) -> String {
    if from.is_empty() {
        return text.to_owned();
    }
    let mut result = Growing::default();
    for (place, part) in text.split(from).enumerate() {
        if place > 0 {
            result.push(to);
        }
        result.push(part);
    }
    result.text
}

/// The part with this number, from 1 or, if it is negative, from the end; none for 0. Beyond the
/// parts there is the empty text. Nothing parts by an empty text.
#[must_use]
pub(crate) fn split_part<'a>(text: &'a str, by: &str, place: i64) -> Option<&'a str> {
    let parts: Vec<&str> = if by.is_empty() { vec![text] } else { text.split(by).collect() };
    let place = match usize::try_from(place.unsigned_abs()) {
        Ok(0) => return None,
        Ok(from_start) if place > 0 => Some(from_start - 1),
        Ok(from_end) => parts.len().checked_sub(from_end),
        Err(_) => None,
    };
    Some(place.and_then(|place| parts.get(place)).copied().unwrap_or(""))
}

/// The character, from 1, at which `sought` begins first; 0 if it does not occur.
#[must_use]
pub(crate) fn position(text: &str, sought: &str) -> i64 {
    text.find(sought)
        .map_or(0, |at| i64::try_from(text[..at].chars().count()).unwrap_or(i64::MAX - 1) + 1)
}

/// A text of `length` characters: with `fill` again and again before it or after it, or cut.
#[must_use]
pub(crate) fn pad(text: &str, length: i64, fill: &str, before: bool) -> String {
    let all = text.chars().count();
    let length = usize::try_from(length).unwrap_or(if length < 0 { 0 } else { usize::MAX });
    let Some(missing) = length.checked_sub(all).filter(|missing| *missing > 0) else {
        return text[..place_of(text, length)].to_owned();
    };
    let mut result = Growing::default();
    if !before {
        result.push(text);
    }
    for character in fill.chars().cycle().take(missing) {
        if result.is_full {
            break;
        }
        result.push(character.encode_utf8(&mut [0; 4]));
    }
    if before {
        result.push(text);
    }
    result.text
}

/// A text again and again.
#[must_use]
pub(crate) fn repeat(text: &str, times: i64) -> String {
    let mut result = Growing::default();
    let mut left = if text.is_empty() { 0 } else { times };
    while left > 0 && !result.is_full {
        result.push(text);
        left -= 1;
    }
    result.text
}

/// A text whose words, of letters and digits, start with a capital and go on in lower case.
#[must_use]
pub(crate) fn initcap(text: &str) -> String {
    let mut result = Growing::default();
    let mut within = false;
    for character in text.chars() {
        let mut push = |c: char| result.push(c.encode_utf8(&mut [0; 4]));
        if within {
            character.to_lowercase().for_each(&mut push);
        } else {
            character.to_uppercase().for_each(&mut push);
        }
        within = character.is_alphanumeric();
    }
    result.text
}

/// The texts that are there, with the first between them; none if that is not there.
pub(crate) fn concat_with<'a>(mut texts: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let between = texts.next()??;
    let mut result = Growing::default();
    for (place, text) in texts.flatten().enumerate() {
        if place > 0 {
            result.push(between);
        }
        result.push(text);
    }
    Some(result.text)
}

/// A text that is put together as far as it counts: after the first character that does not fit
/// nothing is added.
#[derive(Default)]
struct Growing {
    text: String,
    is_full: bool,
}

impl Growing {
    fn push(&mut self, more: &str) {
        if self.is_full {
            return;
        }
        let fits = start(more, MAX_TEXT - self.text.len());
        self.is_full = fits.len() < more.len();
        self.text.push_str(fits);
    }
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

    /// The examples of PostgreSQL's documentation, and what it does at the ends.
    #[test]
    fn functions_of_text_are_postgresqls() {
        assert_eq!((left("abcde", 2), left("abcde", -2), left("été", 9)), ("ab", "abc", "été"));
        assert_eq!((left("abc", -5), left("abc", 0), left("abc", i64::MIN)), ("", "", ""));
        assert_eq!((right("abcde", 2), right("abcde", -2), right("é", -1)), ("de", "cde", ""));
        assert_eq!(replace("abcdefabcdef", "cd", "XX"), "abXXefabXXef");
        assert_eq!((replace("aaa", "aa", "b"), replace("a", "", "b")), ("ba".into(), "a".into()));
        assert_eq!(split_part("abc~@~def~@~ghi", "~@~", 2), Some("def"));
        assert_eq!(split_part("abc,def,ghi,jkl", ",", -2), Some("ghi"));
        assert_eq!((split_part("a", ",", 0), split_part("a", ",", 2)), (None, Some("")));
        assert_eq!((split_part("a", "", 1), split_part("a", "", -1)), (Some("a"), Some("a")));
        assert_eq!((split_part("a", "", 2), split_part("aaa", "aa", -1)), (Some(""), Some("a")));
        assert_eq!(split_part("a", ",", i64::MIN), Some(""));
        assert_eq!((position("Thomas", "om"), position("é€a", "a"), position("a", "b")), (3, 3, 0));
        assert_eq!(position("a", ""), 1);
        assert_eq!(
            (pad("hi", 5, "xy", true), pad("hi", 5, "xy", false)),
            ("xyxhi".into(), "hixyx".into())
        );
        assert_eq!(
            (pad("hello", 2, " ", true), pad("hi", -1, " ", true)),
            ("he".into(), String::new())
        );
        assert_eq!(pad("hi", 5, "", true), "hi");
        assert_eq!((repeat("Pg", 4), repeat("Pg", -1)), ("PgPgPgPg".into(), String::new()));
        assert_eq!(initcap("hi THOMAS o'neil 2nd"), "Hi Thomas O'Neil 2nd");
        let both = |texts: &[Option<&str>]| concat_with(texts.iter().copied());
        let texts = [Some(","), Some("abcde"), Some("2"), None, Some("22")];
        assert_eq!(both(&texts).as_deref(), Some("abcde,2,22"));
        assert_eq!((both(&[None, Some("a")]), both(&[Some(",")])), (None, Some(String::new())));
        assert_eq!(trim(Function::Trim, "yxTomxx", "xyz"), "Tom");
        assert_eq!(trim(Function::LeftTrim, "zzzytest", "xyz"), "test");
        assert_eq!(trim(Function::RightTrim, "testxxzx", "xyz"), "test");
    }

    /// Nothing is longer than a text, and nothing takes longer than that to make.
    #[test]
    fn what_grows_ends_where_texts_end() {
        let long = "a".repeat(MAX_TEXT);
        assert_eq!(repeat("ab", i64::MAX).len(), MAX_TEXT);
        assert_eq!(repeat("€", i64::MAX).len(), MAX_TEXT - 1);
        assert_eq!(pad("a", i64::MAX, "é", true).len(), MAX_TEXT);
        assert_eq!(pad("a", i64::MAX, "é", false).len(), MAX_TEXT - 1);
        assert_eq!(replace(&long, "a", &long), long);
        assert_eq!(
            concat_with([Some(&*long), Some("b"), Some("c")].into_iter()),
            Some(format!("b{}", &long[1..]))
        );
        assert_eq!(initcap(&"ΐ ".repeat(1_365)).len(), MAX_TEXT - 1);
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
