//! From text to syntax, within limits that are checked on words before a parser sees them.
//!
//! A parser that goes down a level for each parenthesis can be brought down with it. So length,
//! number of words and nesting are counted first, without recursion; the parser has a limit of its
//! own below that, and what comes out of it is walked with counters. PostgreSQL's dialect is used:
//! it is the one that most tools speak, and it has fewer extras to refuse than the generic one.

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::SqlError;
use crate::error::{LimitError, SyntaxError, Unsupported, line, short};
use crate::frontend::dialect::Sql;
use crate::frontend::limits;
use crate::frontend::rewrite;
use crate::frontend::settings::{self, Setting};

/// Runs something on a stack of its own: how deep the parser goes is bounded, how much is left of
/// the caller's stack is not known.
pub(crate) fn on_own_stack<T: Send>(
    work: impl FnOnce() -> Result<T, SqlError> + Send,
) -> Result<T, SqlError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(limits::STACK);
        match thread.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Err(SqlError::NoThread),
        }
    })
}

/// The one query of a text, and what the text says of its goal.
pub(crate) fn parse(sql: &str) -> Result<(ast::Query, Vec<Setting>), SqlError> {
    let dialect = Sql::new();
    let (tokens, settings) = tokens(sql, &dialect)?;
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(limits::NESTING)
        .with_tokens_with_locations(tokens);
    let query = *parser.parse_query().map_err(said)?;
    let mut ended = false;
    while parser.consume_token(&Token::SemiColon) {
        ended = true;
    }
    match parser.peek_token().token {
        Token::EOF => Ok((rewrite::rewritten(query)?, settings)),
        _ if ended => Err(Unsupported::SeveralStatements.into()),
        word => Err(SyntaxError::Trails { word: short(&word) }.into()),
    }
}

/// The words of a text, if they are few enough, not too deep, and begin as a query does; and what
/// it says of its goal.
fn tokens(sql: &str, dialect: &Sql) -> Result<(Vec<TokenWithSpan>, Vec<Setting>), SqlError> {
    if sql.len() > limits::BYTES {
        return Err(LimitError::Text { most_kilobytes: limits::BYTES / 1024 }.into());
    }
    let mut tokens = Tokenizer::new(dialect, sql)
        .tokenize_with_location()
        .map_err(|error| SyntaxError::unread(&error))?;
    // The parser steps over blanks and comments one by one: a run of them becomes one.
    let blank = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    tokens.dedup_by(|next, previous| blank(next) && blank(previous));
    if tokens.iter().filter(|token| !blank(token)).count() > limits::TOKENS {
        return Err(limits::too_large());
    }
    let (tokens, settings) = settings::taken(tokens)?;
    begins_as_a_query(&tokens)?;

    let (mut nesting, mut prefixes, mut operators) = (0usize, 0usize, 0usize);
    // Parentheses in a row, and how often several of them are before a query: the parser tries each
    // such place in two ways.
    let (mut open, mut doubled) = (0usize, 0usize);
    for token in &tokens {
        let mut prefix = false;
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket | Token::LBrace => nesting += 1,
            Token::RParen | Token::RBracket | Token::RBrace => nesting = nesting.saturating_sub(1),
            Token::Comma
            | Token::Period
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::SemiColon
            | Token::EOF => {}
            Token::Word(word) => match word.keyword {
                Keyword::CASE => nesting += 1,
                Keyword::END => nesting = nesting.saturating_sub(1),
                Keyword::NOT => (prefix, operators) = (true, operators + 1),
                Keyword::NoKeyword => {}
                keyword if limits::chains(keyword) => operators += 1,
                _ => {}
            },
            _ => (prefix, operators) = (true, operators + 1),
        }
        prefixes = if prefix { prefixes + 1 } else { 0 };
        open = match &token.token {
            Token::LParen => open + 1,
            Token::Word(word)
                if open > 1 && matches!(word.keyword, Keyword::SELECT | Keyword::WITH) =>
            {
                doubled += 1;
                0
            }
            _ => 0,
        };
        if doubled > limits::DOUBLED || nesting + prefixes > limits::NESTING {
            return Err(limits::too_deep());
        }
        if operators > limits::NODES {
            return Err(limits::too_large());
        }
    }
    Ok((tokens, settings))
}

/// Statements that are no queries never reach the parser.
fn begins_as_a_query(tokens: &[TokenWithSpan]) -> Result<(), SqlError> {
    let first = tokens
        .iter()
        .map(|token| &token.token)
        .find(|token| !matches!(token, Token::LParen | Token::Whitespace(_)));
    let word = match first {
        None | Some(Token::EOF | Token::SemiColon) => return Err(SyntaxError::Empty.into()),
        Some(Token::Word(word)) => word,
        Some(other) => return Err(SyntaxError::Begins { word: short(other) }.into()),
    };
    let name = word.value.to_uppercase();
    let instead = match word.keyword {
        Keyword::SELECT | Keyword::WITH => return Ok(()),
        Keyword::EXPLAIN | Keyword::DESCRIBE | Keyword::DESC | Keyword::ANALYZE => {
            "`eke explain` says what would be computed, without reading a row"
        }
        Keyword::SHOW | Keyword::PRAGMA => "the policy says which tables and columns there are",
        Keyword::SET | Keyword::RESET | Keyword::USE => {
            "there is nothing to set but eke.within and its kin; ask with SELECT"
        }
        Keyword::INSERT
        | Keyword::UPDATE
        | Keyword::DELETE
        | Keyword::MERGE
        | Keyword::TRUNCATE
        | Keyword::COPY
        | Keyword::LOAD
        | Keyword::UNLOAD => "rows are only asked about, with SELECT",
        Keyword::CREATE
        | Keyword::ALTER
        | Keyword::DROP
        | Keyword::GRANT
        | Keyword::REVOKE
        | Keyword::COMMENT => "the steward declares datasets in the policy; ask with SELECT",
        Keyword::BEGIN
        | Keyword::START
        | Keyword::COMMIT
        | Keyword::ROLLBACK
        | Keyword::SAVEPOINT
        | Keyword::RELEASE => "every question stands by itself, and there are no transactions",
        Keyword::VALUES => "ask about a table with SELECT … FROM …",
        Keyword::TABLE => "it would show rows; ask with SELECT COUNT(*) FROM …",
        Keyword::FROM => "write SELECT before FROM",
        _ => "ask with SELECT … FROM …",
    };
    Err(Unsupported::Statement { word: line(&name, 40), instead }.into())
}

/// What the parser says, as one sentence.
fn said(error: ParserError) -> SqlError {
    match error {
        ParserError::RecursionLimitExceeded => limits::too_deep(),
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            SyntaxError::unread(&text).into()
        }
    }
}
