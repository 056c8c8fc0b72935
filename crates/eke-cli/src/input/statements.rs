//! SQL as it is written into files and at a prompt: questions, each ended by a semicolon.
//!
//! What stands between quotes and in comments is passed over as PostgreSQL does. Nothing here
//! understands a question; that is the planner's.

use std::io::Read;
use std::path::Path;

use crate::Failure;

/// Questions that are ended, and what comes after them.
pub(crate) struct Statements {
    pub(crate) ended: Vec<String>,
    pub(crate) rest: String,
}

impl Statements {
    pub(crate) fn split(text: &str) -> Self {
        let mut ended = Vec::new();
        let (mut start, mut place) = (0, 0);
        while let Some(byte) = text.as_bytes().get(place) {
            if *byte == b';' {
                ended.push(text[start..place].trim().to_owned());
                (start, place) = (place + 1, place + 1);
            } else {
                place += skip(&text[start..], place - start);
            }
        }
        ended.retain(|statement| !is_blank(statement));
        let rest = text[start..].trim();
        let rest = if is_blank(rest) { String::new() } else { rest.to_owned() };
        Self { ended, rest }
    }

    /// All of them: the last one of a file needs no semicolon.
    pub(crate) fn all(text: &str) -> Vec<String> {
        let Self { mut ended, rest } = Self::split(text);
        ended.extend(Some(rest).filter(|rest| !rest.is_empty()));
        ended
    }
}

/// The questions of a file, or of standard input where its name is `-`.
pub(crate) fn read(file: &Path) -> Result<Vec<String>, Failure> {
    let mut bytes = Vec::new();
    let name = if file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        "standard input".to_owned()
    } else {
        bytes = std::fs::read(file).map_err(|error| {
            Failure::Failed(format!("{} cannot be read: {error}", file.display()).into())
        })?;
        file.display().to_string()
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Failed(format!("{name} is not UTF-8 text").into()))?;
    let all = Statements::all(&text);
    if all.is_empty() {
        return Err(Failure::Usage(format!("there is no question in {name}: write SQL into it")));
    }
    Ok(all)
}

/// How many bytes belong to what begins here: a quoted text, a comment, or one character.
fn skip(text: &str, place: usize) -> usize {
    let here = &text[place..];
    let end_of = |opened: usize, close: &str| {
        here[opened..].find(close).map_or(here.len(), |found| opened + found + close.len())
    };
    match here.as_bytes() {
        [b'\'', ..] if is_escaping(&text[..place]) => end_of_escaped(here),
        [b'\'', ..] => end_of(1, "'"),
        [b'"', ..] => end_of(1, "\""),
        [b'-', b'-', ..] => end_of(2, "\n"),
        [b'/', b'*', ..] => end_of_comment(here),
        [b'$', ..] if !ends_a_name(&text[..place]) => {
            dollars(here).map_or(1, |tag| end_of(tag.len(), tag))
        }
        _ => here.chars().next().map_or(1, char::len_utf8),
    }
}

/// Whether a quote after this begins a text in which a backslash escapes: `E'…'`.
fn is_escaping(before: &str) -> bool {
    before.strip_suffix(['e', 'E']).is_some_and(|before| !ends_a_name(before))
}

fn ends_a_name(before: &str) -> bool {
    before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

fn end_of_escaped(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((place, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'\'' => return place + 1,
            _ => {}
        }
    }
    text.len()
}

/// The end of a comment, in which there may be others.
fn end_of_comment(text: &str) -> usize {
    let (mut depth, mut place) = (0, 0);
    while let Some(pair) = text.as_bytes().get(place..place + 2) {
        match pair {
            b"/*" => (depth, place) = (depth + 1, place + 2),
            b"*/" => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            return place;
        }
    }
    text.len()
}

/// The dollars that begin and end a text, such as `$$` or `$body$`; none for `$1`.
fn dollars(text: &str) -> Option<&str> {
    let end = 1 + text[1..].find('$')?;
    let tag = &text[1..end];
    let is_name = tag.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !tag.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..=end])
}

/// Whether there is nothing but blanks and comments.
fn is_blank(text: &str) -> bool {
    let mut place = 0;
    while place < text.len() {
        let is_comment = text[place..].starts_with("--") || text[place..].starts_with("/*");
        let is_space = text[place..].starts_with(char::is_whitespace);
        if !is_comment && !is_space {
            return false;
        }
        place += skip(text, place);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_end_questions_but_for_those_in_quotes_and_comments() {
        let text = "SELECT 'a;''b' FROM t; -- one; two\n /* ;/* ; */; */ SELECT \"x;y\" ;;\n\
                    SELECT E'\\';' , e ';' , $$;$$, $a$ $b$;$a$, $1 , $2;select 1";
        let split = Statements::split(text);
        assert_eq!(
            split.ended,
            [
                "SELECT 'a;''b' FROM t",
                "-- one; two\n /* ;/* ; */; */ SELECT \"x;y\"",
                "SELECT E'\\';' , e ';' , $$;$$, $a$ $b$;$a$, $1 , $2",
            ]
        );
        assert_eq!(split.rest, "select 1");
        assert_eq!(Statements::all(text).len(), 4);
        for open in
            ["SELECT 'a; b", "SELECT \"a; b", "/* ; */ x /* /* */ ;", "$$ ; $a$ ;", "E'\\'; "]
        {
            assert!(Statements::split(open).ended.is_empty(), "{open}");
        }
        for blank in ["", " ;; \n", "-- x", "/* a */ ; -- ;"] {
            assert!(Statements::all(blank).is_empty(), "{blank}");
        }
    }

    #[test]
    fn no_text_is_cut_within_a_character() {
        let pieces = ["'", "\"", ";", "-", "/", "*", "$", "E", "é", "\n", "\\", "a", "1", "→"];
        let mut seed = 7usize;
        for _ in 0..20_000 {
            let text: String = (0..12)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    pieces[(seed >> 33) % pieces.len()]
                })
                .collect();
            let Statements { ended, rest } = Statements::split(&text);
            assert!(ended.iter().chain([&rest]).all(|part| text.contains(part.as_str())), "{text}");
        }
    }
}
