//! Regular expressions as they are written, and the parts that they have.

use std::ops::RangeInclusive;

use super::POSITIONS;

/// How deep parentheses may go.
const NESTING: usize = 40;

/// Why a text is no regular expression here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegexError {
    /// What there is not, or what is not in order.
    Part(&'static str),
    /// It has too many characters.
    Long,
}

/// The parts of an expression. `similar` says whether it is written as for `SIMILAR TO`.
pub(super) fn read(pattern: &str, similar: bool) -> Result<Node, RegexError> {
    let mut reader = Reader { left: pattern.chars().rev().collect(), similar, depth: 0 };
    let node = reader.alternatives()?;
    if reader.left.pop().is_some() {
        return Err(RegexError::Part("a ) without its ("));
    }
    Ok(node)
}

/// Characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) ranges: Vec<RangeInclusive<char>>,
    pub(super) negated: bool,
}

impl Set {
    fn any() -> Self {
        Self { ranges: Vec::new(), negated: true }
    }

    fn one(character: char) -> Self {
        Self { ranges: vec![character..=character], negated: false }
    }

    /// Whether a character is in one of the ranges.
    pub(super) fn lists(&self, character: char) -> bool {
        self.ranges.iter().any(|range| range.contains(&character))
    }
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Character(Set),
    /// The start and the end of the text.
    Start,
    End,
    All(Vec<Node>),
    Either(Vec<Node>),
    /// The least and the most times; none is any number.
    Times(Box<Node>, usize, Option<usize>),
}

/// Reads an expression, its characters from the last.
struct Reader {
    left: Vec<char>,
    similar: bool,
    depth: usize,
}

impl Reader {
    fn next_is(&mut self, wanted: char) -> bool {
        let is = self.left.last() == Some(&wanted);
        if is {
            self.left.pop();
        }
        is
    }

    fn alternatives(&mut self) -> Result<Node, RegexError> {
        self.depth += 1;
        if self.depth > NESTING {
            return Err(RegexError::Part("parentheses that are nested too deeply"));
        }
        let mut all = vec![self.sequence()?];
        while self.next_is('|') {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Node::Either(all))
    }

    fn sequence(&mut self) -> Result<Node, RegexError> {
        let mut all = Vec::new();
        while let Some(character) = self.left.last().copied() {
            if character == '|' || character == ')' {
                break;
            }
            self.left.pop();
            let node = self.atom(character)?;
            all.push(self.repeated(node)?);
        }
        Ok(Node::All(all))
    }

    fn atom(&mut self, character: char) -> Result<Node, RegexError> {
        Ok(match (character, self.similar) {
            ('(', similar) => {
                if self.next_is('?') && (similar || !self.next_is(':')) {
                    return Err(RegexError::Part("(?…): only (?:…)"));
                }
                let node = self.alternatives()?;
                if !self.next_is(')') {
                    return Err(RegexError::Part("a ( without its )"));
                }
                node
            }
            ('[', _) => Node::Character(self.set()?),
            ('.', false) | ('_', true) => Node::Character(Set::any()),
            ('%', true) => Node::Times(Box::new(Node::Character(Set::any())), 0, None),
            ('^', false) => Node::Start,
            ('$', false) => Node::End,
            ('*' | '+' | '?', _) => {
                return Err(RegexError::Part("*, + or ? with nothing to repeat"));
            }
            ('{', _) => return Err(RegexError::Part("{ with nothing to repeat: write \\{")),
            ('\\', true) => match self.left.pop() {
                Some(escaped) => Node::Character(Set::one(escaped)),
                None => return Err(RegexError::Part("\\ at its end")),
            },
            ('\\', false) => Node::Character(self.escaped()?),
            (character, _) => Node::Character(Set::one(character)),
        })
    }

    /// What follows a `\`, outside of brackets.
    fn escaped(&mut self) -> Result<Set, RegexError> {
        let Some(escaped) = self.left.pop() else { return Err(RegexError::Part("\\ at its end")) };
        let negated = escaped.is_ascii_uppercase();
        Ok(match class(escaped.to_ascii_lowercase()) {
            Some(ranges) => Set { ranges: ranges.to_vec(), negated },
            None => Set::one(plain(escaped)?),
        })
    }

    /// What is in brackets, after the first.
    fn set(&mut self) -> Result<Set, RegexError> {
        const OPEN: RegexError = RegexError::Part("a [ without its ]");
        let mut set = Set { ranges: Vec::new(), negated: self.next_is('^') };
        let mut is_first = true;
        loop {
            let Some(character) = self.left.pop() else { return Err(OPEN) };
            if character == ']' && !is_first {
                return Ok(set);
            }
            is_first = false;
            if character == '[' && matches!(self.left.last(), Some(':' | '.' | '=')) {
                set.ranges.extend_from_slice(self.named()?);
                continue;
            }
            let low = match character {
                '\\' => match self.left.pop() {
                    Some(escaped) => match class(escaped) {
                        Some(ranges) => {
                            set.ranges.extend_from_slice(ranges);
                            continue;
                        }
                        None => plain(escaped)?,
                    },
                    None => return Err(OPEN),
                },
                character => character,
            };
            let ranges = self.left.last() == Some(&'-')
                && self.left.len() > 1
                && self.left[self.left.len() - 2] != ']';
            if !ranges {
                set.ranges.push(low..=low);
                continue;
            }
            self.left.pop();
            let high = match self.left.pop() {
                Some('\\') => match self.left.pop() {
                    Some(escaped) => plain(escaped)?,
                    None => return Err(OPEN),
                },
                Some('[') | None => return Err(RegexError::Part("a range without its end")),
                Some(character) => character,
            };
            if high < low {
                return Err(RegexError::Part("a range that ends before it starts"));
            }
            set.ranges.push(low..=high);
        }
    }

    /// `[:name:]`, after its first bracket.
    fn named(&mut self) -> Result<&'static [RangeInclusive<char>], RegexError> {
        let mut name = String::new();
        while let Some(character) = self.left.pop() {
            name.push(character);
            if name.ends_with(":]") && name.len() > 2 {
                break;
            }
        }
        Ok(match name.as_str() {
            ":digit:]" => DIGIT,
            ":alpha:]" => ALPHA,
            ":alnum:]" => ALNUM,
            ":lower:]" => LOWER,
            ":upper:]" => UPPER,
            ":space:]" => SPACE,
            ":punct:]" => PUNCT,
            ":xdigit:]" => XDIGIT,
            _ => {
                return Err(RegexError::Part(
                    "[:…:] with another name than digit, alpha, alnum, lower, upper, space, punct \
                     or xdigit",
                ));
            }
        })
    }

    /// With what follows a part: `*`, `+`, `?` and `{…}`. That the least is wanted makes no
    /// difference to whether there is a match.
    fn repeated(&mut self, node: Node) -> Result<Node, RegexError> {
        let (least, most) = match self.left.last() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.left.pop();
                let times = self.times()?;
                self.left.push('}');
                times
            }
            _ => return Ok(node),
        };
        self.left.pop();
        if matches!(node, Node::Start | Node::End) {
            return Err(RegexError::Part("a repeated ^ or $"));
        }
        if !self.similar {
            self.next_is('?');
        }
        if matches!(self.left.last(), Some('*' | '+' | '?' | '{')) {
            return Err(RegexError::Part("two repetitions in a row: write parentheses"));
        }
        Ok(Node::Times(Box::new(node), least, most))
    }

    /// `m}`, `m,}` or `m,n}`.
    fn times(&mut self) -> Result<(usize, Option<usize>), RegexError> {
        const FORM: RegexError = RegexError::Part("{ without {m}, {m,} or {m,n}: write \\{");
        let mut written = String::new();
        loop {
            match self.left.pop() {
                Some('}') => break,
                Some(character) if written.len() < 8 => written.push(character),
                _ => return Err(FORM),
            }
        }
        let number =
            |text: &str| match text.parse::<usize>() {
                Ok(number) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                    if number > POSITIONS { Err(RegexError::Long) } else { Ok(number) }
                }
                _ => Err(FORM),
            };
        Ok(match written.split_once(',') {
            None => (number(&written)?, Some(number(&written)?)),
            Some((least, "")) => (number(least)?, None),
            Some((least, most)) => {
                let (least, most) = (number(least)?, number(most)?);
                if most < least {
                    return Err(FORM);
                }
                (least, Some(most))
            }
        })
    }
}

const DIGIT: &[RangeInclusive<char>] = &['0'..='9'];
const LOWER: &[RangeInclusive<char>] = &['a'..='z'];
const UPPER: &[RangeInclusive<char>] = &['A'..='Z'];
const ALPHA: &[RangeInclusive<char>] = &['a'..='z', 'A'..='Z'];
const ALNUM: &[RangeInclusive<char>] = &['a'..='z', 'A'..='Z', '0'..='9'];
const WORD: &[RangeInclusive<char>] = &['a'..='z', 'A'..='Z', '0'..='9', '_'..='_'];
const SPACE: &[RangeInclusive<char>] = &[' '..=' ', '\t'..='\r'];
const PUNCT: &[RangeInclusive<char>] = &['!'..='/', ':'..='@', '['..='`', '{'..='~'];
const XDIGIT: &[RangeInclusive<char>] = &['0'..='9', 'a'..='f', 'A'..='F'];

/// The characters that a letter after `\` stands for.
fn class(letter: char) -> Option<&'static [RangeInclusive<char>]> {
    match letter {
        'd' => Some(DIGIT),
        'w' => Some(WORD),
        's' => Some(SPACE),
        _ => None,
    }
}

/// The character that one after `\` stands for.
fn plain(escaped: char) -> Result<char, RegexError> {
    match escaped {
        'n' => Ok('\n'),
        'r' => Ok('\r'),
        't' => Ok('\t'),
        escaped if escaped.is_alphanumeric() => Err(RegexError::Part(
            "\\ before another letter or digit than d, w, s, D, W, S, n, r, t",
        )),
        escaped => Ok(escaped),
    }
}
