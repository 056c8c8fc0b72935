//! PostgreSQL's SQL for the parser, with an end to its patience.
//!
//! Where the parser cannot tell what it is looking at, it tries one reading and goes back if that
//! fails. Nested in each other, such places double the work with every level: with PostgreSQL's own
//! dialect, twenty nested calls take it a quarter of a minute, for the sake of `f('name': value)`.
//! So that form is left out, and there is a limit to how often the parser may begin an expression;
//! it then stops at once, since it does not go back after that error.

use std::any::TypeId;
use std::cell::Cell;

use sqlparser::ast::{self, Expr};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::frontend::bind::BETWEEN_SYMMETRIC;

/// How often an expression may be begun: many times the most words there are.
const PATIENCE: usize = 10_000;

/// The dialect, for one text.
#[derive(Debug)]
pub(crate) struct Sql {
    like: PostgreSqlDialect,
    left: Cell<usize>,
}

impl Sql {
    pub(crate) fn new() -> Self {
        Self { like: PostgreSqlDialect {}, left: Cell::new(PATIENCE) }
    }
}

macro_rules! like_postgresql {
    ($($method:ident($($name:ident: $of:ty)?) -> $returns:ty;)*) => {$(
        fn $method(&self, $($name: $of)?) -> $returns {
            self.like.$method($($name)?)
        }
    )*};
}

impl Dialect for Sql {
    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                None
            }
            None => Some(Err(ParserError::RecursionLimitExceeded)),
        }
    }

    /// BETWEEN SYMMETRIC, which the parser does not know: a call of a function, so that what is
    /// between is there once.
    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        _: u8,
    ) -> Option<Result<Expr, ParserError>> {
        let negated = parser.peek_keyword(Keyword::NOT);
        let words = [parser.peek_nth_token(0), parser.peek_nth_token(1), parser.peek_nth_token(2)];
        let mut words = words.iter().skip(usize::from(negated));
        let is = |token: Option<&TokenWithSpan>, wanted: &str| {
            matches!(token.map(|token| &token.token), Some(Token::Word(word))
                if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
        };
        if !is(words.next(), "BETWEEN") || !is(words.next(), "SYMMETRIC") {
            return None;
        }
        for _ in 0..2 + usize::from(negated) {
            parser.next_token();
        }
        Some(symmetric(parser, expr, negated))
    }

    // Everything else of PostgreSQL's that has to do with queries.

    like_postgresql! {
        dialect() -> TypeId;
        identifier_quote_style(identifier: &str) -> Option<char>;
        is_delimited_identifier_start(ch: char) -> bool;
        is_identifier_start(ch: char) -> bool;
        is_identifier_part(ch: char) -> bool;
        is_reserved_for_identifier(keyword: Keyword) -> bool;
        is_custom_operator_part(ch: char) -> bool;
        get_next_precedence(parser: &Parser<'_>) -> Option<Result<u8, ParserError>>;
        prec_value(precedence: Precedence) -> u8;
        supports_unicode_string_literal() -> bool;
        supports_filter_during_aggregation() -> bool;
        supports_group_by_expr() -> bool;
        allow_extract_custom() -> bool;
        allow_extract_single_quotes() -> bool;
        supports_bitwise_shift_operators() -> bool;
        supports_empty_projections() -> bool;
        supports_nested_comments() -> bool;
        supports_string_escape_constant() -> bool;
        supports_numeric_literal_underscores() -> bool;
        supports_array_typedef_with_brackets() -> bool;
        supports_notnull_operator() -> bool;
        supports_interval_options() -> bool;
        supports_comma_separated_trim() -> bool;
    }
}

/// What follows BETWEEN SYMMETRIC.
fn symmetric(parser: &mut Parser<'_>, expr: &Expr, negated: bool) -> Result<Expr, ParserError> {
    let precedence = PostgreSqlDialect {}.prec_value(Precedence::Between);
    let low = parser.parse_subexpr(precedence)?;
    parser.expect_keyword_is(Keyword::AND)?;
    let high = parser.parse_subexpr(precedence)?;
    let args = [expr.clone(), low, high];
    let call = Expr::Function(ast::Function {
        name: ast::ObjectName::from(vec![ast::Ident::with_quote('"', BETWEEN_SYMMETRIC)]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: args
                .map(|one| ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(one)))
                .to_vec(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    });
    if !negated {
        return Ok(call);
    }
    Ok(Expr::UnaryOp { op: ast::UnaryOperator::Not, expr: Box::new(call) })
}
