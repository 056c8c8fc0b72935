//! Patterns of `LIKE`: `%` is any text, `_` any one character, and `\` takes the next one as it is.
//!
//! A pattern is run as an automaton whose states are the bits of a few words: state i is "the first
//! i characters of the pattern are matched". Each character of a text moves all states at once,
//! whatever the text and the pattern hold: a text of n characters takes n steps of as many words as
//! the pattern has 64ths, never more and never fewer.

use std::collections::BTreeMap;

use crate::frontend::limits;

/// A pattern, ready to be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// How many words the states take.
    words: usize,
    /// For each ASCII character, the states that it moves on: those whose next character it is.
    ascii: Vec<u64>,
    /// The same for the other characters of the pattern.
    others: BTreeMap<char, Vec<u64>>,
    /// The same for all other characters: those states that any character moves on.
    any: Vec<u64>,
    /// The states that stay whatever comes: those before a `%`.
    stay: Vec<u64>,
    /// The state in which all is matched.
    last: usize,
    ignore_case: bool,
}

const ASCII: usize = 128;
const BITS: usize = 64;

/// A character that a pattern wants next; none for `_`.
type Token = Option<char>;

impl Pattern {
    /// Reads a pattern. Every text is one: a `\` at the end stands for itself.
    #[must_use]
    pub fn new(pattern: &str, ignore_case: bool) -> Self {
        let (tokens, free) = tokens(pattern, ignore_case);
        let words = words(tokens.len());
        let mut own = Self {
            words,
            ascii: vec![0; ASCII * words],
            others: BTreeMap::new(),
            any: vec![0; words],
            stay: vec![0; words],
            last: tokens.len(),
            ignore_case,
        };
        for state in free {
            own.stay[state / BITS] |= 1 << (state % BITS);
        }
        // Those that any character moves on first: each character's own start from them.
        for (state, _) in tokens.iter().enumerate().filter(|(_, token)| token.is_none()) {
            own.any[state / BITS] |= 1 << (state % BITS);
        }
        for character in 0..ASCII {
            own.ascii[character * words..(character + 1) * words].copy_from_slice(&own.any);
        }
        for (state, character) in tokens.iter().enumerate().filter_map(|(s, t)| Some((s, (*t)?))) {
            let moves = match ascii(character) {
                Some(place) => &mut own.ascii[place * words..(place + 1) * words],
                None => {
                    own.others.entry(character).or_insert_with(|| own.any.clone()).as_mut_slice()
                }
            };
            moves[state / BITS] |= 1 << (state % BITS);
        }
        own
    }

    /// How many words a step of this pattern takes: how many times each character of a text is
    /// looked at. Its lower case comes on top.
    pub(crate) fn passes(pattern: &str, ignore_case: bool) -> usize {
        let lower = if ignore_case { limits::OTHER_CASE } else { 0 };
        words(tokens(pattern, ignore_case).0.len()) + lower
    }

    /// Whether all of a text is like the pattern. Case is ignored by comparing the lower case of
    /// every character. Takes as long for every text of as many characters.
    pub fn matches(&self, text: &str, scratch: &mut Vec<u64>) -> bool {
        if self.ignore_case {
            self.run(text.chars().flat_map(char::to_lowercase), scratch)
        } else {
            self.run(text.chars(), scratch)
        }
    }

    fn run(&self, text: impl Iterator<Item = char>, scratch: &mut Vec<u64>) -> bool {
        if let ([any], [stay]) = (self.any.as_slice(), self.stay.as_slice()) {
            // Most patterns are short.
            let mut states = 1u64;
            for character in text {
                let moves = match ascii(character) {
                    Some(place) => self.ascii[place],
                    None => self.others.get(&character).map_or(*any, |moves| moves[0]),
                };
                states = ((states & moves) << 1) | (states & stay);
            }
            return states >> self.last & 1 == 1;
        }
        scratch.clear();
        scratch.resize(self.words, 0);
        scratch[0] = 1;
        for character in text {
            let moves = match ascii(character) {
                Some(place) => &self.ascii[place * self.words..(place + 1) * self.words],
                None => self.others.get(&character).unwrap_or(&self.any),
            };
            let mut carried = 0;
            for ((states, moves), stay) in scratch.iter_mut().zip(moves).zip(&self.stay) {
                let moved = *states & moves;
                *states = (moved << 1) | carried | (*states & stay);
                carried = moved >> (BITS - 1);
            }
        }
        scratch[self.last / BITS] >> (self.last % BITS) & 1 == 1
    }
}

fn ascii(character: char) -> Option<usize> {
    usize::try_from(u32::from(character)).ok().filter(|place| *place < ASCII)
}

/// How many words the states of n characters take, the one before all of them included.
fn words(tokens: usize) -> usize {
    tokens / BITS + 1
}

/// The characters of a pattern, and the places between them that have a `%`.
fn tokens(pattern: &str, ignore_case: bool) -> (Vec<Token>, Vec<usize>) {
    let (mut tokens, mut free) = (Vec::new(), Vec::new());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            '%' => {
                free.push(tokens.len());
                continue;
            }
            '_' => {
                tokens.push(None);
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            character => character,
        };
        if ignore_case {
            tokens.extend(literal.to_lowercase().map(Some));
        } else {
            tokens.push(Some(literal));
        }
    }
    (tokens, free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn like(text: &str, pattern: &str, ignore_case: bool) -> bool {
        Pattern::new(pattern, ignore_case).matches(text, &mut vec![7, 7, 7])
    }

    /// By trying everything.
    fn plainly(text: &[char], tokens: &[Token], free: &[usize], at: usize) -> bool {
        let stays = free.contains(&at);
        match (text.split_first(), tokens.get(at)) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some((first, rest)), token) => {
                (stays && plainly(rest, tokens, free, at))
                    || token.is_some_and(|token| {
                        token.is_none_or(|wanted| wanted == *first)
                            && plainly(rest, tokens, free, at + 1)
                    })
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn the_automaton_agrees_with_trying_everything(
            text in "[abé]{0,14}",
            pattern in "[abé%_\\\\]{0,8}",
            before in 0usize..140,
        ) {
            // What is before both moves the rest over the ends of words.
            let same = "x".repeat(before);
            let (tokens, free) = tokens(&pattern, false);
            let expected = plainly(&text.chars().collect::<Vec<_>>(), &tokens, &free, 0);
            prop_assert_eq!(like(&text, &pattern, false), expected, "{} like {}", text, pattern);
            let (text, pattern) = (same.clone() + &text, same + &pattern);
            prop_assert_eq!(like(&text, &pattern, false), expected, "{} like {}", text, pattern);
        }
    }

    /// The words that a step takes are all there is to how long matching takes.
    #[test]
    fn matching_takes_a_step_a_character_and_a_word_for_64_of_the_pattern() {
        for (pattern, ignore_case, passes) in [
            (String::new(), false, 1),
            ("%".repeat(250), false, 1),
            ("a".repeat(63), false, 1),
            ("a".repeat(64), false, 2),
            ("%a".repeat(125), false, 2),
            (format!("%{}b", "_a".repeat(124)), false, 4),
            ("İ".repeat(250), true, 12),
        ] {
            assert_eq!(Pattern::passes(&pattern, ignore_case), passes, "{pattern}");
        }
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
            ("é", "e", false),
            ("%é_", "caféx", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(like(text, pattern, false), expected, "{text} like {pattern}");
        }
        assert!(like("école 1", "ÉCOLE%", true));
    }
}
