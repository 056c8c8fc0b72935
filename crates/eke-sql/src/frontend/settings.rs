//! What a question says about its goal, in SQL: `SET eke.within = '5%'` before it, or
//! `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (within = '5%')`. Bounds are said in the same way.
//!
//! The parser knows neither. They are taken out of the words before it sees them, and nothing of
//! them is passed over: what is not understood is refused.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::error::{LimitError, SyntaxError, Unsupported, line, short};
use crate::frontend::dialect::Sql;
use crate::frontend::limits;
use crate::{Protection, SqlError, Table};

/// What may be said of a goal.
const NAMES: [&str; 15] = [
    "within",
    "or",
    "at_most",
    "price",
    "confidence",
    "additive",
    "bounds",
    "max_groups",
    "max_rows",
    "max_values",
    "max_rows_in_all",
    "epsilon",
    "delta",
    "max_groups_contributed",
    "privacy_unit_column",
];

/// What is said instead of how BigQuery clamps what a unit adds to a group.
pub(crate) const PER_GROUP: &str = "it clamps what a unit adds to a group, which eke does not do: \
     rows are clamped, and the sums of a unit with more than max_rows rows are scaled; bound a \
     column by bounds = 'x=0:80', or add up a subquery that groups by the unit";

/// Something that is said of a question's goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, in lower case: one of `within`, `or`, `at_most`, `price`, `confidence`,
    /// `additive`, `bounds`, `max_groups`, `max_rows`, `max_values`, `max_rows_in_all`, `epsilon`,
    /// `delta`, `max_groups_contributed` and `privacy_unit_column`.
    pub name: String,
    /// What it is set to: the number, or the text without its quotes.
    pub value: String,
}

/// What a text says of goals, in the order in which it is said, and whether a question follows.
///
/// # Errors
///
/// It cannot be read, or says something that there is not; the sentence says what to write.
pub fn settings(sql: &str) -> Result<(Vec<Setting>, bool), SqlError> {
    if sql.len() > limits::BYTES {
        return Err(LimitError::Text { most_kilobytes: limits::BYTES / 1024 }.into());
    }
    let tokens = Tokenizer::new(&Sql::new(), sql)
        .tokenize_with_location()
        .map_err(|error| SyntaxError::unread(&error))?;
    let (tokens, settings) = taken(tokens)?;
    let is_word = |token: &TokenWithSpan| {
        !matches!(token.token, Token::Whitespace(_) | Token::EOF | Token::SemiColon)
    };
    Ok((settings, tokens.iter().any(is_word)))
}

/// The words without what they say of goals, and that.
pub(crate) fn taken(
    mut tokens: Vec<TokenWithSpan>,
) -> Result<(Vec<TokenWithSpan>, Vec<Setting>), SqlError> {
    let mut settings = Vec::new();
    while let Some(end) = set(&tokens, &mut settings)? {
        tokens.drain(..end);
    }
    let mut said = false;
    while let Some((from, to)) = options(&tokens, &mut settings)? {
        if said {
            return Err(Unsupported::form(
                "WITH DIFFERENTIAL_PRIVACY",
                "it stands once, in the outermost SELECT",
            ));
        }
        said = true;
        tokens.drain(from..to);
    }
    Ok((tokens, settings))
}

/// The places of the words that are no blanks, from a place on.
fn words(tokens: &[TokenWithSpan], from: usize) -> impl Iterator<Item = (usize, &Token)> {
    let all = tokens.iter().enumerate().skip(from).map(|(place, token)| (place, &token.token));
    all.filter(|(_, token)| !matches!(token, Token::Whitespace(_)))
}

fn is_named(token: &Token, name: &str) -> bool {
    matches!(token, Token::Word(word) if word.value.eq_ignore_ascii_case(name))
}

/// Where a `SET eke.name = value;` at the start ends; none if there is none.
fn set(tokens: &[TokenWithSpan], settings: &mut Vec<Setting>) -> Result<Option<usize>, SqlError> {
    let mut words = words(tokens, 0);
    let is_set = words.next().is_some_and(
        |(_, token)| matches!(token, Token::Word(word) if word.keyword == Keyword::SET),
    );
    let is_ours = words.next().is_some_and(|(_, token)| is_named(token, "eke"))
        && words.next().is_some_and(|(_, token)| *token == Token::Period);
    if !is_set || !is_ours {
        return Ok(None);
    }
    let wrong = || {
        Unsupported::form("SET eke.…", "write it like SET eke.within = '5%'; before the question")
    };
    let name = words.next().ok_or_else(wrong)?.1;
    let (_, is) = words.next().ok_or_else(wrong)?;
    if *is != Token::Eq && !is_named(is, "to") {
        return Err(wrong());
    }
    settings.push(setting(name, words.next().ok_or_else(wrong)?.1)?);
    match words.next() {
        None => Ok(Some(tokens.len())),
        Some((place, Token::SemiColon)) => Ok(Some(place + 1)),
        Some((place, Token::EOF)) => Ok(Some(place)),
        Some(_) => Err(wrong()),
    }
}

/// From where to where `WITH DIFFERENTIAL_PRIVACY OPTIONS (…)` stands after a SELECT; none if
/// there is none.
fn options(
    tokens: &[TokenWithSpan],
    settings: &mut Vec<Setting>,
) -> Result<Option<(usize, usize)>, SqlError> {
    let is_it = |(place, token): &(usize, &Token)| {
        let mut after = words(tokens, place + 1);
        matches!(token, Token::Word(word) if word.keyword == Keyword::SELECT)
            && after.next().is_some_and(|(_, token)| is_named(token, "with"))
            && after.next().is_some_and(|(_, token)| is_named(token, "differential_privacy"))
    };
    let Some((select, _)) = words(tokens, 0).find(is_it) else { return Ok(None) };
    let mut words = words(tokens, select + 1).peekable();
    let from = words.next().map_or(select + 1, |(place, _)| place);
    let mut end = words.next().map_or(from, |(place, _)| place) + 1;
    if !words.peek().is_some_and(|(_, token)| is_named(token, "options")) {
        return Ok(Some((from, end)));
    }
    words.next();
    let wrong = || {
        Unsupported::form(
            "OPTIONS",
            "write it like SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (within = '5%') …",
        )
    };
    let mut next = || words.next().ok_or_else(wrong);
    if *next()?.1 != Token::LParen {
        return Err(wrong());
    }
    loop {
        let (place, name) = next()?;
        if *name == Token::RParen {
            end = place + 1;
            break;
        }
        if *next()?.1 != Token::Eq {
            return Err(wrong());
        }
        settings.push(setting(name, next()?.1)?);
        match next()? {
            (_, Token::Comma) => {}
            (place, Token::RParen) => {
                end = place + 1;
                break;
            }
            _ => return Err(wrong()),
        }
    }
    Ok(Some((from, end)))
}

fn setting(name: &Token, value: &Token) -> Result<Setting, SqlError> {
    let written = match name {
        Token::Word(word) => word.value.to_lowercase(),
        other => short(other),
    };
    if written.starts_with("contribution_bounds_per_") {
        return Err(Unsupported::form(&line(&written, 40), PER_GROUP));
    }
    if !NAMES.contains(&written.as_str()) {
        let known = NAMES.join(", ");
        return Err(Unsupported::form(
            &line(&written, 40),
            format!("of a question's goal one says {known}"),
        ));
    }
    let value = match value {
        Token::Number(digits, _) => digits.clone(),
        Token::SingleQuotedString(text) => text.clone(),
        Token::Word(word) => word.value.clone(),
        other => {
            return Err(Unsupported::form(other, format!("{written} is a number or a text")));
        }
    };
    Ok(Setting { name: written, value })
}

/// Whether what is said of a table is so: other systems let a question choose the unit, and here
/// the policy has chosen it.
pub(crate) fn hold(settings: &[Setting], table: &Table) -> Result<(), SqlError> {
    let Protection::Private { unit_column, .. } = &table.protection else {
        return Ok(());
    };
    for Setting { name, value } in settings {
        if name == "privacy_unit_column" && !value.eq_ignore_ascii_case(unit_column) {
            return Err(Unsupported::form(
                &format!("{name} = {}", line(value, 40)),
                format!("the policy says {unit_column}; write that, or nothing"),
            ));
        }
    }
    Ok(())
}
