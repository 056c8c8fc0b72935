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

    fn dialect(&self) -> TypeId {
        self.like.dialect()
    }
    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.like.identifier_quote_style(identifier)
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.like.is_delimited_identifier_start(ch)
    }
    fn is_identifier_start(&self, ch: char) -> bool {
        self.like.is_identifier_start(ch)
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        self.like.is_identifier_part(ch)
    }
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        self.like.is_reserved_for_identifier(keyword)
    }
    fn is_custom_operator_part(&self, ch: char) -> bool {
        self.like.is_custom_operator_part(ch)
    }
    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        self.like.get_next_precedence(parser)
    }
    fn prec_value(&self, precedence: Precedence) -> u8 {
        self.like.prec_value(precedence)
    }
    fn supports_unicode_string_literal(&self) -> bool {
        self.like.supports_unicode_string_literal()
    }
    fn supports_filter_during_aggregation(&self) -> bool {
        self.like.supports_filter_during_aggregation()
    }
    fn supports_group_by_expr(&self) -> bool {
        self.like.supports_group_by_expr()
    }
    fn allow_extract_custom(&self) -> bool {
        self.like.allow_extract_custom()
    }
    fn allow_extract_single_quotes(&self) -> bool {
        self.like.allow_extract_single_quotes()
    }
    fn supports_bitwise_shift_operators(&self) -> bool {
        self.like.supports_bitwise_shift_operators()
    }
    fn supports_empty_projections(&self) -> bool {
        self.like.supports_empty_projections()
    }
    fn supports_nested_comments(&self) -> bool {
        self.like.supports_nested_comments()
    }
    fn supports_string_escape_constant(&self) -> bool {
        self.like.supports_string_escape_constant()
    }
    fn supports_numeric_literal_underscores(&self) -> bool {
        self.like.supports_numeric_literal_underscores()
    }
    fn supports_array_typedef_with_brackets(&self) -> bool {
        self.like.supports_array_typedef_with_brackets()
    }
    fn supports_notnull_operator(&self) -> bool {
        self.like.supports_notnull_operator()
    }
    fn supports_interval_options(&self) -> bool {
        self.like.supports_interval_options()
    }
    fn supports_comma_separated_trim(&self) -> bool {
        self.like.supports_comma_separated_trim()
    }
}
