//! Regular expressions of `~`, `~*` and `SIMILAR TO`: what PostgreSQL's have in common with regular
//! languages. There are no back references, no looking ahead or behind and no captures.
//!
//! An expression is run as a position automaton (Glushkov's), whose states are the bits of a few
//! words: one for each character that the expression has, repetitions written out. Each character
//! of a text moves all states at once by tables, one for every eight of them. So a text of n
//! characters takes n steps that depend on the expression alone, whether it matches or not.

mod read;

pub(crate) use read::RegexError;
use read::{Node, Set, read};

use crate::Syntax;

/// The most characters that an expression has, repetitions written out.
pub(crate) const POSITIONS: usize = 250;
/// The most parts that it has, repetitions written out.
const PARTS: usize = 20 * POSITIONS;
const BITS: usize = 64;
/// States that one table moves.
const CHUNK: usize = 8;
const ASCII: usize = 128;

/// A regular expression, ready to be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regex {
    /// How many words the states take.
    words: usize,
    /// For every eight states, and each set of them, the states that may come next.
    follow: Vec<u64>,
    /// For each ASCII character, the states whose ranges it is in, in whichever case counts.
    ascii: Vec<u64>,
    /// The same for all other characters, as they are: each entry is for those from its own on.
    others: Vec<(char, Vec<u64>)>,
    /// The states that stand for what their ranges leave out.
    negated: Vec<u64>,
    /// The states that a match may begin with: at the start of a text, and later.
    first: [Vec<u64>; 2],
    /// The states that a match may end with: anywhere, and at the end of a text.
    last: [Vec<u64>; 2],
    /// Whether every text matches, and whether the empty one does.
    always: bool,
    empty: bool,
    ignore_case: bool,
}

impl Regex {
    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// It has something that is not regular, not in order, or too much of it.
    pub(crate) fn read(pattern: &str, syntax: Syntax) -> Result<Self, RegexError> {
        let mut node = read(pattern, syntax == Syntax::Similar)?;
        if syntax == Syntax::Similar {
            node = Node::All(vec![Node::Start, node, Node::End]);
        }
        Self::compiled(&node, syntax == Syntax::PosixIgnoreCase)
    }

    /// Reads a regular expression that was read before.
    ///
    /// # Errors
    ///
    /// It is none.
    #[expect(clippy::result_unit_err, reason = "plans hold what was read: there is no more to say")]
    pub fn new(pattern: &str, syntax: Syntax) -> Result<Self, ()> {
        Self::read(pattern, syntax).map_err(|_| ())
    }

    /// How many words are looked up for each character of a text.
    pub(crate) fn passes(pattern: &str, syntax: Syntax) -> usize {
        let Ok(regex) = Self::read(pattern, syntax) else { return 1 };
        let chunks = (regex.follow.len() / regex.words) >> CHUNK;
        chunks * regex.words + if regex.ignore_case { 2 } else { 0 }
    }

    fn compiled(node: &Node, ignore_case: bool) -> Result<Self, RegexError> {
        let mut places = Places::default();
        let ends = places.of(node)?;
        let many = places.sets.len();
        let words = many.div_ceil(BITS).max(1);
        let chunks = many.div_ceil(CHUNK).max(1);
        let bits = |states: &[usize]| {
            let mut bits = vec![0u64; words];
            for state in states {
                bits[state / BITS] |= 1 << (state % BITS);
            }
            bits
        };
        let mut follow = vec![0u64; (chunks << CHUNK) * words];
        for (state, next) in places.follow.iter().enumerate() {
            let next = bits(next);
            for set in (0..1usize << CHUNK).filter(|set| set >> (state % CHUNK) & 1 == 1) {
                let at = (((state / CHUNK) << CHUNK) + set) * words;
                for (own, next) in follow[at..at + words].iter_mut().zip(&next) {
                    *own |= next;
                }
            }
        }
        let where_set = |holds: &dyn Fn(&Set) -> bool| {
            let states: Vec<usize> = (0..many).filter(|at| holds(&places.sets[*at])).collect();
            bits(&states)
        };
        let listed = |character: char| {
            where_set(&|set: &Set| {
                set.lists(character)
                    || (ignore_case && other_cases(character).into_iter().any(|c| set.lists(c)))
            })
        };
        let ascii = (0u8..128).flat_map(|byte| listed(char::from(byte))).collect();
        // What lies between two characters at which some set begins or ends is in the same sets.
        let mut starts = vec!['\u{80}'];
        for range in places.sets.iter().flat_map(|set| &set.ranges) {
            starts.push(*range.start());
            starts.extend(after(*range.end()));
        }
        starts.retain(|start| *start >= '\u{80}');
        starts.sort_unstable();
        starts.dedup();
        let plain = |character: char| where_set(&|set: &Set| set.lists(character));
        let others = starts.into_iter().map(|start| (start, plain(start))).collect();
        let negated = where_set(&|set: &Set| set.negated);
        let [[never, at_end], [at_start, both]] = ends.empty;
        Ok(Self {
            words,
            follow,
            ascii,
            others,
            negated,
            first: [bits(&ends.first[1]), bits(&ends.first[0])],
            last: [bits(&ends.last[0]), bits(&ends.last[1])],
            always: never || at_end || at_start,
            empty: both,
            ignore_case,
        })
    }

    /// Whether a text matches. Takes as long for every text of as many characters.
    pub fn matches(&self, text: &str, scratch: &mut Vec<u64>) -> bool {
        let words = self.words;
        scratch.clear();
        scratch.resize(3 * words, 0);
        let (states, rest) = scratch.split_at_mut(words);
        let (next, leads) = rest.split_at_mut(words);
        // What the last character, and all before it, have matched.
        let (mut at_end, mut before) = (0u64, 0u64);
        for (place, character) in text.chars().enumerate() {
            next.copy_from_slice(&self.first[usize::from(place > 0)]);
            for (chunk, table) in self.follow.chunks_exact(words << CHUNK).enumerate() {
                let (word, byte) = (chunk * CHUNK / BITS, chunk * CHUNK % BITS / CHUNK);
                let set = usize::from(states[word].to_le_bytes()[byte]);
                for (next, own) in next.iter_mut().zip(&table[set * words..]) {
                    *next |= own;
                }
            }
            self.leads(character, leads);
            at_end = 0;
            for (((state, next), leads), (anywhere, end)) in states
                .iter_mut()
                .zip(next.iter())
                .zip(leads.iter())
                .zip(self.last[0].iter().zip(&self.last[1]))
            {
                *state = next & leads;
                before |= *state & anywhere;
                at_end |= *state & end;
            }
        }
        self.always || before != 0 || at_end != 0 || (self.empty && text.is_empty())
    }

    /// The states that a character may lead to: those that list it in one of its cases, and those
    /// that leave out what they list, if they list it in none.
    fn leads(&self, character: char, leads: &mut [u64]) {
        leads.copy_from_slice(&self.negated);
        let toggle = |leads: &mut [u64], listed: &[u64]| {
            for (leads, listed) in leads.iter_mut().zip(listed) {
                *leads ^= listed;
            }
        };
        if let Some(place) = usize::try_from(u32::from(character)).ok().filter(|c| *c < ASCII) {
            toggle(leads, &self.ascii[place * self.words..(place + 1) * self.words]);
            return;
        }
        leads.fill(0);
        let mut add = |character: char| {
            let own = if character.is_ascii() {
                let place = u32::from(character) as usize;
                &self.ascii[place * self.words..(place + 1) * self.words]
            } else {
                let place = self.others.partition_point(|(start, _)| *start <= character);
                &self.others[place - 1].1
            };
            for (leads, own) in leads.iter_mut().zip(own) {
                *leads |= own;
            }
        };
        add(character);
        if self.ignore_case {
            other_cases(character).into_iter().for_each(add);
        }
        toggle(leads, &self.negated);
    }
}

/// A character in lower and upper case, where that is one character.
fn other_cases(character: char) -> [char; 2] {
    let lower = character.to_lowercase();
    let upper = character.to_uppercase();
    [
        if lower.len() == 1 { lower.last().unwrap_or(character) } else { character },
        if upper.len() == 1 { upper.last().unwrap_or(character) } else { character },
    ]
}

/// The character after another.
fn after(character: char) -> Option<char> {
    let next = u32::from(character) + 1;
    char::from_u32(if next == 0xd800 { 0xe000 } else { next })
}

/// What of an expression may come first and last, and whether it matches nothing at all.
///
/// `^` holds before the first character of a text alone, and `$` after the last. So what is first
/// is said twice: where a text does not start there, and where it does; what is last twice: where a
/// text does not end there, and where it does; and emptiness for all four.
#[derive(Clone, Debug, Default)]
struct Ends {
    first: [Vec<usize>; 2],
    last: [Vec<usize>; 2],
    empty: [[bool; 2]; 2],
}

#[derive(Default)]
struct Places {
    sets: Vec<Set>,
    follow: Vec<Vec<usize>>,
    /// How many parts were looked at: what is empty has no characters, and is repeated too.
    parts: usize,
}

impl Places {
    fn of(&mut self, node: &Node) -> Result<Ends, RegexError> {
        self.parts += 1;
        if self.parts > PARTS {
            return Err(RegexError::Long);
        }
        Ok(match node {
            Node::Character(set) => {
                if self.sets.len() >= POSITIONS {
                    return Err(RegexError::Long);
                }
                let place = self.sets.len();
                self.sets.push(set.clone());
                self.follow.push(Vec::new());
                let own = [vec![place], vec![place]];
                Ends { first: own.clone(), last: own, empty: [[false; 2]; 2] }
            }
            Node::Start => Ends { empty: [[false; 2], [true; 2]], ..Ends::default() },
            Node::End => Ends { empty: [[false, true]; 2], ..Ends::default() },
            Node::All(parts) => {
                let mut all = nothing();
                for part in parts {
                    let own = self.of(part)?;
                    all = self.then(&all, &own);
                }
                all
            }
            Node::Either(parts) => {
                let mut any = Ends::default();
                for part in parts {
                    any = either(any, &self.of(part)?);
                }
                any
            }
            Node::Times(part, least, most) => {
                let mut all = nothing();
                // What is repeated without end is there once more than it must be, in a circle.
                for _ in 0..*least {
                    let own = self.of(part)?;
                    all = self.then(&all, &own);
                }
                match most {
                    None => {
                        let own = self.of(part)?;
                        self.link(&own.last[0], &own.first[0]);
                        all = self.then(&all, &either(own, &nothing()));
                    }
                    Some(most) => {
                        // Each that may be there is there only if those before it are.
                        let mut rest = Vec::new();
                        for _ in *least..*most {
                            rest.push(self.of(part)?);
                        }
                        let mut optional = nothing();
                        for own in rest.into_iter().rev() {
                            optional = either(self.then(&own, &optional), &nothing());
                        }
                        all = self.then(&all, &optional);
                    }
                }
                all
            }
        })
    }

    fn link(&mut self, last: &[usize], first: &[usize]) {
        for place in last {
            self.follow[*place].extend_from_slice(first);
        }
    }

    fn then(&mut self, one: &Ends, two: &Ends) -> Ends {
        self.link(&one.last[0], &two.first[0]);
        let mut both = Ends::default();
        for side in [0, 1] {
            both.first[side].clone_from(&one.first[side]);
            if one.empty[side][0] {
                both.first[side].extend_from_slice(&two.first[side]);
            }
            both.last[side].clone_from(&two.last[side]);
            if two.empty[0][side] {
                both.last[side].extend_from_slice(&one.last[side]);
            }
            for end in [0, 1] {
                both.empty[side][end] = one.empty[side][end] && two.empty[side][end];
            }
        }
        both
    }
}

/// What matches the empty text, anywhere.
fn nothing() -> Ends {
    Ends { empty: [[true; 2]; 2], ..Ends::default() }
}

fn either(mut one: Ends, two: &Ends) -> Ends {
    for side in [0, 1] {
        one.first[side].extend_from_slice(&two.first[side]);
        one.last[side].extend_from_slice(&two.last[side]);
        for end in [0, 1] {
            one.empty[side][end] |= two.empty[side][end];
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(text: &str, pattern: &str, syntax: Syntax) -> bool {
        let regex = Regex::read(pattern, syntax);
        regex.unwrap_or_else(|error| panic!("{pattern}: {error:?}")).matches(text, &mut vec![7])
    }

    /// The places at which a match that starts at `from` can end, by trying everything.
    fn ends(node: &Node, text: &[char], from: usize) -> Vec<usize> {
        let mut found = match node {
            Node::Character(set) => match text.get(from) {
                Some(character) if set.lists(*character) != set.negated => vec![from + 1],
                _ => Vec::new(),
            },
            Node::Start => {
                if from == 0 {
                    vec![from]
                } else {
                    Vec::new()
                }
            }
            Node::End => {
                if from == text.len() {
                    vec![from]
                } else {
                    Vec::new()
                }
            }
            Node::All(parts) => parts.iter().fold(vec![from], |all, part| {
                let mut next: Vec<usize> =
                    all.into_iter().flat_map(|at| ends(part, text, at)).collect();
                next.sort_unstable();
                next.dedup();
                next
            }),
            Node::Either(parts) => parts.iter().flat_map(|part| ends(part, text, from)).collect(),
            Node::Times(part, least, most) => {
                let most = most.unwrap_or(least + text.len() + 1);
                let (mut at, mut all) = (vec![from], Vec::new());
                for times in 0..=most {
                    if times >= *least {
                        all.extend_from_slice(&at);
                    }
                    at = at.into_iter().flat_map(|at| ends(part, text, at)).collect();
                    at.sort_unstable();
                    at.dedup();
                }
                all
            }
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    fn plainly(text: &str, pattern: &str, syntax: Syntax) -> Option<bool> {
        let node = read(pattern, syntax == Syntax::Similar).ok()?;
        let text: Vec<char> = text.chars().collect();
        Some(if syntax == Syntax::Similar {
            ends(&node, &text, 0).contains(&text.len())
        } else {
            (0..=text.len()).any(|from| !ends(&node, &text, from).is_empty())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6_000))]

        #[test]
        fn the_automaton_agrees_with_trying_everything(
            text in "[abé]{0,9}",
            pattern in "([abé.^$_%]|\\(|\\(\\?:|\\)|\\||[ab]\\*|b\\+|é\\?|a\\{1,3\\}|\\)\\*|\\)\\{0,2\\}|\\[\\^a\\]){0,9}",
            before in 0usize..80,
            similar in any::<bool>(),
        ) {
            let syntax = if similar { Syntax::Similar } else { Syntax::Posix };
            let Some(expected) = plainly(&text, &pattern, syntax) else { return Ok(()) };
            prop_assert_eq!(matches(&text, &pattern, syntax), expected, "{} in {}", pattern, text);
            // What is before both moves the rest over the ends of words.
            let same = "x".repeat(before);
            let (text, pattern) = (same.clone() + &text, format!("{same}({pattern})"));
            let expected = plainly(&text, &pattern, syntax).unwrap();
            prop_assert_eq!(matches(&text, &pattern, syntax), expected, "{} in {}", pattern, text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// With letters of ASCII alone, ignoring their case is to have all in one.
        #[test]
        fn ignoring_case_is_having_one(
            text in "[abcAB]{0,9}",
            pattern in "([abAB.]|\\[\\^[abAB]\\]|\\[[abAB]\\]|\\[\\^[aA]-[cC]\\]|[abA]\\*|\\||\\(|\\)){0,9}",
        ) {
            let lower = pattern.to_lowercase();
            // Ranges from one case to the other have more in them than letters.
            let is_mixed = pattern.contains("A-c") || pattern.contains("a-C");
            if is_mixed || Regex::read(&lower, Syntax::Posix).is_err() {
                return Ok(());
            }
            let ignored = matches(&text, &pattern, Syntax::PosixIgnoreCase);
            let expected = matches(&text.to_lowercase(), &lower, Syntax::Posix);
            prop_assert_eq!(ignored, expected, "{} in {}", pattern, text);
        }
    }

    #[test]
    fn expressions_mean_what_postgresql_has_them_mean() {
        use Syntax::{Posix, PosixIgnoreCase, Similar};
        for (text, pattern, syntax, expected) in [
            ("abcd", "a.c", Posix, true),
            ("abcd", "^c", Posix, false),
            ("abcd", "d$", Posix, true),
            ("a\nb", "a.b", Posix, true),
            ("a\nb", "^b", Posix, false),
            ("", "^$", Posix, true),
            ("x", "^$", Posix, false),
            ("x", "", Posix, true),
            ("b", "^(^a|b)", Posix, true),
            ("a", "^(^a|b)", Posix, true),
            ("ab", "a$b", Posix, false),
            ("foobar", "(foo|baz)bar?$", Posix, true),
            ("2024-01", r"^\d{4}-\d{2}$", Posix, true),
            ("2024-1", r"^\d{4}-\d{2}$", Posix, false),
            ("a]b", "[]]b", Posix, true),
            ("a-b", "[a-]-", Posix, true),
            ("a.b", r"a\.b", Posix, true),
            ("axb", r"a\.b", Posix, false),
            ("x_9", r"^\w+$", Posix, true),
            ("é", r"^\W$", Posix, true),
            ("Thomas", ".*thom.*", PosixIgnoreCase, true),
            ("ÉCOLE", "^é[c-d]", PosixIgnoreCase, true),
            ("aaa", "[^A]", PosixIgnoreCase, false),
            ("AbC", "^[^a-z]+$", PosixIgnoreCase, false),
            ("AbÉ", "[^ab]", PosixIgnoreCase, true),
            ("éÉ", "[^É]", PosixIgnoreCase, false),
            ("\u{212a}", "[^k]", PosixIgnoreCase, false),
            ("aaa", "^[^[:lower:]]+$", PosixIgnoreCase, false),
            ("a1", r"\D", PosixIgnoreCase, true),
            ("abc", "abc", Similar, true),
            ("abc", "a", Similar, false),
            ("abc", "%(b|d)%", Similar, true),
            ("abc", "(b|c)%", Similar, false),
            ("a.c", "a.c", Similar, true),
            ("abc", "a.c", Similar, false),
            ("a%", r"a\%", Similar, true),
            ("aab", "a{2}_", Similar, true),
            ("ab", "a*?b", Posix, true),
        ] {
            assert_eq!(matches(text, pattern, syntax), expected, "{text} {pattern}");
        }
    }

    #[test]
    fn what_is_not_regular_or_not_in_order_is_refused() {
        for pattern in [
            "(a",
            "a)",
            "[a",
            "*a",
            "a**",
            "a{",
            "a{2,1}",
            "a{x}",
            r"\1",
            r"\m",
            r"a\",
            "(?=a)",
            "(?i)a",
            "[z-a]",
            "[[:word:]]",
            "[[.a.]]",
            "^*",
            "{2}",
            "[a-[:digit:]]",
        ] {
            assert!(
                matches!(Regex::read(pattern, Syntax::Posix), Err(RegexError::Part(_))),
                "{pattern}"
            );
        }
        for pattern in [
            "a{251}".to_owned(),
            "(a{20}){13}".to_owned(),
            "((a*){200})*".to_owned() + &"b".repeat(60),
            format!("{}{}", "(".repeat(30), "){250}".repeat(30)),
        ] {
            assert_eq!(Regex::read(&pattern, Syntax::Posix), Err(RegexError::Long), "{pattern}");
        }
        assert!(Regex::read(&"(".repeat(1_000), Syntax::Posix).is_err());
    }

    /// The words that are looked up for a character are all there is to how long matching takes.
    #[test]
    fn a_step_takes_as_many_words_as_the_expression_needs() {
        for (pattern, passes) in
            [("", 1), ("a{8}", 1), ("a{9}", 2), ("a{64}", 8), ("a{65}", 18), ("a{250}", 128)]
        {
            assert_eq!(Regex::passes(pattern, Syntax::Posix), passes, "{pattern}");
        }
        assert!(!matches(&"a".repeat(4_096), "(a*)*(a*)*b", Syntax::Posix));
    }
}
