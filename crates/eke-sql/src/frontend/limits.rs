//! How much a question may be.

use sqlparser::keywords::Keyword;

use crate::error::{LimitError, line};
use crate::{Expr, MAX_TEXT, Meet, Plan, SqlError, Table};

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
/// The stack that a question is planned on. Without optimisation the parser takes 100 KB and more a
/// level.
pub(crate) const STACK: usize = 32 << 20;
/// How deep the JSON of an expression may go. Readers of JSON take 128 levels, and a plan has some
/// around it.
pub(crate) const DEPTH: usize = 100;
/// How many joins and subqueries that group by the unit there may be from the rows of a dataset to
/// those that are bounded: each takes two levels of JSON. Where rows of several sources come
/// together counts twice.
pub(crate) const STEPS: usize = 8;
/// How many times rows of private datasets may be taken in a question.
pub(crate) const SOURCES: usize = 16;
/// How many bytes of a text that is written out count as a node.
pub(crate) const NODE_BYTES: usize = 256;
/// The most characters of a pattern: matching looks at each character of a text once for every 64
/// of them.
pub(crate) const PATTERN: usize = 250;
/// How many times all expressions of a question may go through a text, for one row: what a row can
/// take is this many times [`MAX_TEXT`] steps, and a little for each node.
pub(crate) const PASSES: usize = 128;
/// How many pairs of rows of one unit a pass through a text counts for, where rows of several
/// private tables meet: what a unit with many rows takes stays a fraction of a second.
const PAIRS_A_PASS: usize = 16;
/// How many passes another case counts for: characters are looked up in Unicode's tables.
pub(crate) const OTHER_CASE: usize = 4;
/// The most bytes of text that the keys of all groups come to that are answered whether they have
/// rows or not.
pub(crate) const KEY_BYTES: u64 = 64 << 20;
/// The most keys that are texts of rows. A unit's groups are held by their names: what one person's
/// texts take is this many times their length, and not as often as a question repeats them.
pub(crate) const TEXT_KEYS: usize = 16;
/// The most columns a subquery may have more than the widest table.
pub(crate) const COLUMNS: usize = 500;
/// The most groups that are answered whether they have rows or not.
pub(crate) const GROUPS: u64 = 100_000;

/// A refusal of what has too many nodes.
pub(crate) fn too_large() -> SqlError {
    LimitError::Nodes { most: NODES }.into()
}

/// A refusal of a constant that is longer than texts are.
pub(crate) fn too_long(text: &str) -> SqlError {
    LimitError::Constant { text: line(text, 40), bytes: text.len(), most: MAX_TEXT }.into()
}

/// A refusal of what goes through texts too often.
pub(crate) fn too_much_text() -> SqlError {
    LimitError::Passes { most: PASSES }.into()
}

/// A refusal of what takes the rows of too many tables.
pub(crate) fn too_many_sources() -> SqlError {
    LimitError::Sources { most: SOURCES }.into()
}

/// A refusal of what is nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    LimitError::Depth.into()
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

/// How often a plan goes through texts for a row, if that is within the limits, where they were
/// gone through this often before: none of it depends on what the row holds.
pub(crate) fn checked_work<'e>(
    (plan, searched): (&'e Plan, impl Iterator<Item = &'e Expr>),
    table: &Table,
    before: usize,
) -> Result<usize, SqlError> {
    let exprs = plan.exprs().chain(searched);
    let passes = exprs.map(|expr| expr.passes(&|name| table.kind(name)));
    let passes = passes.sum::<usize>() + before;
    if passes > PASSES {
        return Err(too_much_text());
    }
    Ok(passes)
}

/// How many pairs of rows of one unit are looked at in a question that goes through texts this
/// often: the more it does with each, the fewer.
pub(crate) fn most_pairs(passes: usize) -> usize {
    Meet::MOST_PAIRS / (1 + PAIRS_A_PASS * passes)
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
