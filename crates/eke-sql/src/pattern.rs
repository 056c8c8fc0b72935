//! Patterns of `LIKE`: `%` is any text, `_` any one character, and `\` takes the next one as it is.

/// A pattern, ready to be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    tokens: Vec<Token>,
    ignore_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Any,
    One,
    This(char),
}

impl Pattern {
    /// Reads a pattern. Every text is one: a `\` at the end stands for itself.
    #[must_use]
    pub fn new(pattern: &str, ignore_case: bool) -> Self {
        let mut tokens = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let literal = match character {
                '%' => {
                    if tokens.last() != Some(&Token::Any) {
                        tokens.push(Token::Any);
                    }
                    continue;
                }
                '_' => {
                    tokens.push(Token::One);
                    continue;
                }
                '\\' => characters.next().unwrap_or('\\'),
                character => character,
            };
            if ignore_case {
                tokens.extend(literal.to_lowercase().map(Token::This));
            } else {
                tokens.push(Token::This(literal));
            }
        }
        Self { tokens, ignore_case }
    }

    /// Whether all of a text is like the pattern. Case is ignored by comparing the lower case of every
    /// character.
    pub fn matches(&self, text: &str, scratch: &mut Vec<char>) -> bool {
        scratch.clear();
        if self.ignore_case {
            scratch.extend(text.chars().flat_map(char::to_lowercase));
        } else {
            scratch.extend(text.chars());
        }
        let (mut token, mut at) = (0, 0);
        // The last `%`, and where what it stands for ends so far: only that one is ever tried again.
        let mut last: Option<(usize, usize)> = None;
        while at < scratch.len() {
            match self.tokens.get(token) {
                Some(Token::Any) => {
                    last = Some((token, at));
                    token += 1;
                }
                Some(Token::One) => (token, at) = (token + 1, at + 1),
                Some(Token::This(character)) if *character == scratch[at] => {
                    (token, at) = (token + 1, at + 1);
                }
                _ => {
                    let Some((any, end)) = last else { return false };
                    last = Some((any, end + 1));
                    (token, at) = (any + 1, end + 1);
                }
            }
        }
        self.tokens[token..].iter().all(|token| *token == Token::Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_of_many_wildcards_takes_no_exponential_time() {
        let pattern = Pattern::new(&format!("{}b", "%a".repeat(1_000)), false);
        assert!(!pattern.matches(&"a".repeat(2_000), &mut Vec::new()));
    }

    #[test]
    fn patterns_match_whole_texts() {
        let cases = [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("a%", "abc", true),
            ("%c", "abc", true),
            ("a%c", "ac", true),
            ("a_c", "ac", false),
            ("a_c", "aéc", true),
            ("%b%b%", "abcb", true),
            ("%b%b%", "abc", false),
            ("a%bc%bd", "a.bcbc.bd", true),
            (r"100\%", "100%", true),
            (r"100\%", "100x", false),
            (r"a\_b", "a_b", true),
            (r"a\\b", r"a\b", true),
            (r"a\", r"a\", true),
            ("a%", "a\nb", true),
            ("A", "a", false),
        ];
        for (pattern, text, expected) in cases {
            let matched = Pattern::new(pattern, false).matches(text, &mut Vec::new());
            assert_eq!(matched, expected, "{text} like {pattern}");
        }
        assert!(Pattern::new("ÉCOLE%", true).matches("école 1", &mut Vec::new()));
    }
}
