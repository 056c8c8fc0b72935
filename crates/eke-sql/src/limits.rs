//! How much a question may be.

use sqlparser::keywords::Keyword;

use crate::{Expr, SqlError};

/// The most text, in bytes.
pub(crate) const BYTES: usize = 64 * 1024;
/// The most words.
pub(crate) const TOKENS: usize = 2_500;
/// The most nodes of expressions: as written, and of each expression once subqueries are put in.
pub(crate) const NODES: usize = 500;
/// The most nodes that putting subqueries in may come to, over the whole question.
pub(crate) const INLINED: usize = 10_000;
/// How deep parentheses, CASE, subqueries and signs may go.
pub(crate) const NESTING: usize = 50;
/// How many subqueries may have parentheses of their own within those around them.
pub(crate) const DOUBLED: usize = 8;
/// The stack that a question is planned on. Without optimisation the parser takes 100 KB and more a level.
pub(crate) const STACK: usize = 32 << 20;
/// How deep the JSON of an expression may go. Readers of JSON take 128 levels, and a plan has some around it.
pub(crate) const DEPTH: usize = 100;
/// The most characters of a pattern: matching takes as many steps for each character of a text.
pub(crate) const PATTERN: usize = 1_000;
/// The most columns a subquery may have more than the widest table.
pub(crate) const COLUMNS: usize = 500;
/// The most groups that are answered whether they have rows or not.
pub(crate) const GROUPS: u64 = 100_000;

/// A refusal of what has too many nodes.
pub(crate) fn too_large() -> SqlError {
    SqlError::limit(format!(
        "The question is too large: it has more than {NODES} expression nodes, once subqueries are put in; \
         ask a shorter one, or several"
    ))
}

/// A refusal of what is nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    SqlError::limit(
        "The question is nested too deeply: write it with fewer parentheses, CASEs, subqueries, signs or \
         operators inside each other",
    )
}

/// An expression, if it is within the limits.
pub(crate) fn checked(expr: Expr) -> Result<Expr, SqlError> {
    if expr.size() > NODES {
        return Err(too_large());
    }
    if expr.depth() > DEPTH {
        return Err(too_deep());
    }
    Ok(expr)
}

/// Whether each of a row of such words makes a tree one level deeper.
pub(crate) fn chains(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::AND
            | Keyword::OR
            | Keyword::XOR
            | Keyword::IS
            | Keyword::NOTNULL
            | Keyword::IN
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::SIMILAR
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::BETWEEN
            | Keyword::COLLATE
            | Keyword::AT
            | Keyword::OPERATOR
            | Keyword::OVERLAPS
            | Keyword::DIV
            | Keyword::UNION
            | Keyword::EXCEPT
            | Keyword::INTERSECT
            | Keyword::MINUS
            | Keyword::JOIN
            | Keyword::INTERVAL
    )
}
