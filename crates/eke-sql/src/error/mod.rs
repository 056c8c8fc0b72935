//! Why a question is not taken: what is wrong as a case with fields, and one sentence that says it
//! and what to write instead.
//!
//! Nothing here can depend on rows. Fields quote the question and the policy, on one line and
//! shortened.

mod name;
mod types;
mod unsupported;

use std::fmt::Display;

pub(crate) use name::LISTED;
pub use name::{NameError, Named, Sought};
pub use types::TypeError;
pub use unsupported::Unsupported;

/// A refusal of a question's text, before anything is read or charged. Its text is one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// It is not SQL.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is too long, too large or too deep.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// It is SQL that eke does not answer.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// It names a table or a column that there is not, or that could be several.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It puts values of the wrong types together.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// What one unit could change the answer by does not follow from the policy.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// The system gives no thread to plan it on: this says nothing about the question.
    #[error("there is no memory or no thread to plan the question with: ask again later")]
    NoThread,
}

/// Why a text is not SQL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// There is nothing in it.
    #[error("There is no question: write SELECT … FROM …")]
    Empty,
    /// It begins with something else than a query does.
    #[error(
        "This is not SQL that eke reads: a question begins with SELECT or WITH, not with `{word}`"
    )]
    Begins {
        /// What it begins with.
        word: String,
    },
    /// Something follows the query.
    #[error("This is not SQL that eke reads: `{word}` is not expected after the query")]
    Trails {
        /// The first word of it.
        word: String,
    },
    /// The parser does not read it.
    #[error("This is not SQL that eke reads: {problem}")]
    Unread {
        /// What the parser says.
        problem: String,
    },
    /// A SELECT without items.
    #[error("SELECT selects nothing: write COUNT(*), SUM or AVG")]
    SelectsNothing,
    /// A placeholder that is not `$` and a number.
    #[error("`{name}` is not a parameter: write $1, $2 and so on")]
    NotAParameter {
        /// As it is written.
        name: String,
    },
}

impl SyntaxError {
    /// What the parser says, on one line and shortened.
    pub(crate) fn unread(problem: &impl Display) -> Self {
        Self::Unread { problem: line(&problem.to_string(), 368) }
    }
}

/// Of what a question has too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Text.
    #[error("The question has more than {most_kilobytes} KB of text: ask a shorter one")]
    Text {
        /// The most that it may have.
        most_kilobytes: usize,
    },
    /// Words, or nodes of expressions.
    #[error(
        "The question is too large: it has more than {most} expression nodes, once subqueries are \
         put in; ask a shorter one, or several"
    )]
    Nodes {
        /// The most that it may have.
        most: usize,
    },
    /// Levels.
    #[error(
        "The question is nested too deeply: write it with fewer parentheses, CASEs, subqueries, \
         signs or operators inside each other"
    )]
    Depth,
    /// Bytes of a constant.
    #[error(
        "The constant '{text}' has {bytes} bytes, and texts end after {most}: write a shorter one"
    )]
    Constant {
        /// How it begins.
        text: String,
        /// How many it has.
        bytes: usize,
        /// The most that it may have.
        most: usize,
    },
    /// Passes through texts.
    #[error(
        "The question goes through texts more than {most} times for each row: ask with fewer or \
         shorter patterns, and with fewer ||, casts and functions of text"
    )]
    Passes {
        /// The most that it may do for a row.
        most: usize,
    },
    /// Characters of a pattern.
    #[error("The pattern of LIKE has more than {most} characters: write a shorter one")]
    Pattern {
        /// The most that it may have.
        most: usize,
    },
    /// Columns of a subquery.
    #[error("A subquery has more than {most} columns: name those that are needed")]
    Columns {
        /// The most that it may have.
        most: usize,
    },
    /// Tables.
    #[error(
        "The question takes the rows of tables more than {most} times: ask with fewer joins, \
         branches of UNION ALL and subqueries"
    )]
    Sources {
        /// The most that it may have.
        most: usize,
    },
    /// Values of a series.
    #[error("generate_series has more than {most} values: write a shorter one")]
    Series {
        /// The most that it may have.
        most: usize,
    },
    /// Groups whose keys are public.
    #[error(
        "The keys have {groups} combinations, and {most} at most are answered: group by fewer \
         keys, or by coarser ones"
    )]
    Groups {
        /// How many there would be.
        groups: u64,
        /// The most that are answered.
        most: u64,
    },
    /// Keys that are texts of rows.
    #[error(
        "The question groups by {keys} texts that are not listed in the policy, and {most} at most \
         are answered: group by fewer"
    )]
    TextKeys {
        /// How many there are.
        keys: usize,
        /// The most that are answered.
        most: usize,
    },
    /// Text of public keys, over all groups.
    #[error(
        "The keys of all {groups} groups come to more than {most_megabytes} MB of text: group by \
         fewer keys, or by shorter ones"
    )]
    KeyText {
        /// How many groups there would be.
        groups: u64,
        /// The most that their keys may come to.
        most_megabytes: u64,
    },
}

/// Why the policy does not bound what one unit could change an answer by.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// Its limits for a unit are none.
    #[error(
        "The policy lets a unit of `{table}` touch {max_groups} groups with {max_rows} rows each: \
         both must be at least 1, and rows at most {most_rows}"
    )]
    Unit {
        /// The table.
        table: String,
        /// How many groups a unit may touch.
        max_groups: u32,
        /// How many rows it may have in each.
        max_rows: u32,
        /// The most rows that there may be.
        most_rows: u32,
    },
    /// Nothing says between which ends the values lie.
    #[error("{}", unbounded(function, written))]
    Unbounded {
        /// SUM or AVG.
        function: String,
        /// What it is of.
        written: String,
    },
    /// Both ends are the same.
    #[error(
        "`{written}` is between {low} and {high}, so there is nothing to add up: {}",
        if *is_average && low.abs() > 0.0 {
            "an average of one constant is that constant"
        } else {
            "it is always zero"
        }
    )]
    Nothing {
        /// What is added up.
        written: String,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// Whether it is for an average.
        is_average: bool,
    },
    /// Ends that are too far from zero.
    #[error("`{written}` has bounds that are too large for a sum: divide it by a constant")]
    TooLarge {
        /// What is added up.
        written: String,
    },
    /// Ends that are too near to zero.
    #[error("`{written}` has bounds that are too small for a sum: multiply it by a constant")]
    TooSmall {
        /// What is added up.
        written: String,
    },
    /// Ends that a whole number of steps does not hold.
    #[error(
        "`{written}` has bounds that are too large for a sum: give smaller ones, or divide it by a \
         constant"
    )]
    TooManySteps {
        /// What is added up.
        written: String,
    },
    /// Ends that are the same step.
    #[error(
        "`{written}` has bounds that are too close to each other for a sum: multiply it by a \
         constant"
    )]
    TooClose {
        /// What is added up.
        written: String,
    },
    /// Both ends are the same, where it is asked where values lie.
    #[error("`{written}` can have one value alone, so all its quantiles are that value")]
    OneValue {
        /// What is asked about.
        written: String,
    },
    /// Nothing says between which days or moments the values lie.
    #[error(
        "{function}({written}) has no bounds: write WHERE {written} BETWEEN {kind} '…' AND {kind} \
         '…', with two constants"
    )]
    UnboundedMoments {
        /// The function.
        function: String,
        /// What it is of.
        written: String,
        /// DATE or TIMESTAMP.
        kind: &'static str,
    },
    /// Something that is no bound.
    #[error(
        "`{written}` is no bound: write groups, rows, values or rows_in_all with a number of 1 or \
         more, or a column with its ends, such as groups=12,rows=50,fare=0:80"
    )]
    NoBound {
        /// What was written.
        written: String,
    },
    /// A bound that is wider than questions may choose.
    #[error(
        "`{asked}` is beyond the widest bounds of `{table}`: the policy lets questions choose up \
         to {widest}"
    )]
    BeyondWidest {
        /// What was asked for.
        asked: String,
        /// The table.
        table: String,
        /// What there may be.
        widest: String,
    },
    /// A bound of a column that no table of the question has.
    #[error("There is no column `{column}` in the tables of the question to give bounds to")]
    NoColumn {
        /// The column.
        column: String,
    },
    /// A bound of a column that has no numbers.
    #[error("`{column}` has no numbers, so there is nothing to clamp")]
    NoNumbers {
        /// The column.
        column: String,
    },
    /// Bounds for something that takes the policy's.
    #[error("Only questions choose bounds; this takes those of the policy: leave them out")]
    NotHere,
    /// A list of values without any.
    #[error("The key `{key}` has no values in the policy: list some there, or leave the list out")]
    NoValues {
        /// The key.
        key: String,
    },
}

fn unbounded(function: &str, written: &str) -> String {
    // What was shortened cannot be typed again.
    let x = if written.ends_with('…') { "x" } else { written };
    let is_name = x.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let tested = if is_name { x.to_owned() } else { format!("({x})") };
    // LEAST and GREATEST pass over NULL, and would make one of their bounds of it.
    format!(
        "{function}({written}) has no bounds: give its columns min and max in the policy, or write \
         {function}(CASE WHEN {tested} IS NOT NULL THEN LEAST(GREATEST({x}, 0), 100) END)"
    )
}

/// Something of the question or the policy, on one line and shortened: what fields hold.
pub(crate) fn short(what: &(impl Display + ?Sized)) -> String {
    line(&what.to_string(), 60)
}

/// A text on one line, without control characters, of `most` characters at most.
pub(crate) fn line(text: &str, most: usize) -> String {
    let mut short: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
