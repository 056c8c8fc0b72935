//! PostgreSQL's SQL for the parser, with an end to its patience.
//!
//! Where the parser cannot tell what it is looking at, it tries one reading and goes back if that
//! fails. Nested in each other, such places double the work with every level: with PostgreSQL's own
//! dialect, twenty nested calls take it a quarter of a minute, for the sake of `f('name': value)`.
//! So that form is left out, and there is a limit to how often the parser may begin an expression;
//! it then stops at once, since it does not go back after that error.

use std::any::TypeId;
use std::cell::Cell;

use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

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
