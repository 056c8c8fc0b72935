//! Values that do not go together, or that there are none of.

use std::fmt::Display;

use super::{SqlError, short};
use crate::Type;

/// Why values are of the wrong types. What is `written` is as the question has it, shortened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// Not a condition.
    #[error("`{written}` is {kind}: a condition is needed here, such as a comparison")]
    Condition {
        /// What stands where a condition should.
        written: String,
        /// Its type.
        kind: Type,
    },
    /// Not what a function or an operator takes.
    #[error(
        "`{written}` is {}: {taker} needs {needs}{}",
        kind.map_or_else(|| "always NULL".to_owned(), |kind| kind.to_string()),
        instead.as_ref().map_or_else(String::new, |instead| format!("; {instead}"))
    )]
    Needs {
        /// What it is given.
        written: String,
        /// Its type; none if it is NULL.
        kind: Option<Type>,
        /// The function or operator.
        taker: String,
        /// What it takes, in words.
        needs: &'static str,
        /// What to write, where there is more to say.
        instead: Option<String>,
    },
    /// Of a type that does not go over into the one that is needed by itself.
    #[error("`{written}` is {kind}, and {to} is needed: write CAST({written} AS {to})")]
    Uncast {
        /// What it is.
        written: String,
        /// Its type.
        kind: Type,
        /// The type that is needed.
        to: Type,
    },
    /// A number beside a text that is written out.
    #[error("`{first}` is {kind} and `{written}` is text: write the number without quotes")]
    Quoted {
        /// What is a number.
        first: String,
        /// Its type.
        kind: Type,
        /// What is a text.
        written: String,
    },
    /// Two of types that do not go together.
    #[error(
        "`{first}` is {kind} and `{second}` is {other}: they do not go together without a CAST"
    )]
    Apart {
        /// The one.
        first: String,
        /// Its type.
        kind: Type,
        /// The other.
        second: String,
        /// The other's type.
        other: Type,
    },
    /// A constant that cannot be read as its type.
    #[error("`{written}` is no {to}: {}", constant(*to))]
    Constant {
        /// The constant.
        written: String,
        /// What it should be.
        to: Type,
    },
    /// A text beside a date or a timestamp that is not written as one.
    #[error(
        "`{written}` is no {to}: write it as '{}'",
        if *to == Type::Date { "YYYY-MM-DD" } else { "YYYY-MM-DD HH:MM:SS" }
    )]
    NoDate {
        /// The text.
        written: String,
        /// What it should be.
        to: Type,
    },
    /// A cast that there is not.
    #[error("`{written}` is {kind}, which has no {to}: {}", instead_of_cast(*kind, *to))]
    NoCast {
        /// What should be cast.
        written: String,
        /// Its type.
        kind: Type,
        /// The type that it should have.
        to: Type,
    },
    /// The name of a type that there is not.
    #[error(
        "There is no type `{written}` here: write BOOLEAN, BIGINT, DOUBLE PRECISION, TEXT, DATE or \
         TIMESTAMP"
    )]
    NoType {
        /// The type.
        written: String,
    },
    /// A number that is too large.
    #[error("`{written}` is not a number that a double holds: write one below 1e308")]
    NoDouble {
        /// The number.
        written: String,
    },
    /// A COUNT of NULL.
    #[error("COUNT of what is always NULL is always 0: write COUNT(*) to count rows")]
    CountOfNull,
    /// A value that cannot be read as what its parameter meets.
    #[error("`${number}` is '{text}' and meets {kind}: give values that can be read as {kind}")]
    Parameter {
        /// The parameter.
        number: usize,
        /// The value that the asker gave.
        text: String,
        /// The type that it meets.
        kind: Type,
    },
    /// A column of a type that eke has not.
    #[error(
        "The column `{column}` has a type that eke does not read: bool, int, float, text, date and \
         timestamp can be asked about"
    )]
    Column {
        /// The column.
        column: String,
    },
    /// Too few arguments, or too many.
    #[error("{function} does not take {}: write {instead}", arguments(*given))]
    Arguments {
        /// The function.
        function: String,
        /// How many it was given.
        given: usize,
        /// What it takes.
        instead: String,
    },
    /// DATE_PART or DATE_TRUNC with other than two arguments.
    #[error("{function} takes two arguments: 'month' and a date or timestamp, for example")]
    TwoArguments {
        /// The function.
        function: String,
    },
    /// A pattern whose last character escapes nothing.
    #[error("The pattern of LIKE ends with \\, which escapes nothing: write \\\\ for a backslash")]
    Escape,
    /// `||` between two that are no texts.
    #[error("Neither `{left}` nor `{right}` is text: || needs one: write CAST(x AS TEXT)")]
    NoText {
        /// What is on its left.
        left: String,
        /// What is on its right.
        right: String,
    },
}

impl TypeError {
    /// Not what a function or an operator takes.
    pub(crate) fn needs(
        written: &impl Display,
        kind: Option<Type>,
        taker: &str,
        needs: &'static str,
    ) -> SqlError {
        let (written, taker) = (short(written), taker.to_owned());
        Self::Needs { written, kind, taker, needs, instead: None }.into()
    }
}

fn arguments(given: usize) -> String {
    if given == 1 { "1 argument".to_owned() } else { format!("{given} arguments") }
}

fn constant(of: Type) -> &'static str {
    match of {
        Type::Bool => "write TRUE or FALSE",
        Type::Int => "write a whole number, such as 12",
        Type::Float => "write a number, such as 1.5",
        Type::Text => "write it in single quotes",
        Type::Date => "write it as 'YYYY-MM-DD'",
        Type::Timestamp => "write it as 'YYYY-MM-DD HH:MM:SS'",
    }
}

fn instead_of_cast(kind: Type, to: Type) -> &'static str {
    match (kind, to) {
        (Type::Int | Type::Float, Type::Bool) => "write a comparison such as x <> 0",
        (Type::Date | Type::Timestamp, _) => "take a part of it, such as EXTRACT(YEAR FROM x)",
        _ => "write a CASE that says what is meant",
    }
}
