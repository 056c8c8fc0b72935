//! Expressions: our own form of them, fully typed and total.
//!
//! The program that makes one has put every coercion into it as a [`Expr::Cast`], so that both
//! sides of an operator have one type. An expression never fails: what cannot be done is NULL. What
//! each one means is said by `evaluate`, value by value; an engine that works on columns must agree
//! with it.

pub(crate) mod canonical;
pub(crate) mod civil;
pub(crate) mod display;
pub(crate) mod evaluate;
pub(crate) mod pattern;
pub mod scalar;
pub(crate) mod shape;
pub(crate) mod text;
pub(crate) mod value;

use serde::{Deserialize, Serialize};

use crate::{Type, Value};

/// An expression over the columns of one row, or over one row of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// A column of the dataset, by its name in the file.
    Column(String),
    /// The key of an answer's row with this index. In what is done with an answer only.
    Key(usize),
    /// The released value of an answer's row with this index ([`crate::Query::measures`]). In what
    /// is done with an answer only.
    Measure(usize),
    /// One operand.
    Unary(Unary, Box<Expr>),
    /// Two operands of one type.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// The result of the first condition that is true; otherwise the last one, or NULL.
    Case {
        /// Conditions and results, all results of one type.
        branches: Vec<(Expr, Expr)>,
        /// What holds if no condition does.
        otherwise: Option<Box<Expr>>,
    },
    /// A value as another type; NULL where it has none.
    Cast(Box<Expr>, Type),
    /// Whether a value is among constants of its type; as SQL has it where one of them is NULL.
    In(Box<Expr>, Vec<Value>),
    /// Whether a text is like a constant pattern of `%`, `_` and `\` escapes.
    Like {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: String,
        /// Whether upper and lower case are the same.
        ignore_case: bool,
    },
    /// A function of the allow-list.
    Call(Function, Vec<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unary {
    /// Not, in three values.
    Not,
    /// The number with the other sign; NULL for the least integer.
    Negate,
    /// Whether it is NULL. Never NULL itself.
    IsNull,
    /// Whether it is true. Never NULL itself.
    IsTrue,
    /// Whether it is false. Never NULL itself.
    IsFalse,
}

/// Operators with two operands of one type. All but `And` and `Or` are NULL if an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binary {
    /// Sum of two ints (NULL beyond 64 bits) or two floats.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient: of ints, towards zero; NULL if the divisor is zero or the result has more than 64
    /// bits.
    Divide,
    /// Remainder with the sign of the dividend; NULL if the divisor is zero.
    Remainder,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// And, in three values.
    And,
    /// Or, in three values.
    Or,
    /// Two texts, one after the other.
    Concat,
}

/// The functions that there are. All are total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// The absolute value of an int (NULL for the least) or a float.
    Abs,
    /// The largest whole float that is not larger.
    Floor,
    /// The least whole float that is not less.
    Ceil,
    /// The nearest whole float, halves away from zero.
    Round,
    /// The square root of a float; NULL for negative ones.
    Sqrt,
    /// The natural logarithm of a float; NULL unless it is positive.
    Ln,
    /// e to a float.
    Exp,
    /// The least of its arguments, of one type, that are not NULL.
    Least,
    /// The greatest of its arguments, of one type, that are not NULL.
    Greatest,
    /// The first of its arguments, of one type, that is not NULL.
    Coalesce,
    /// NULL if its two arguments are equal, and otherwise the first.
    NullIf,
    /// A text in lower case (of Unicode, without a locale).
    Lower,
    /// A text in upper case (of Unicode, without a locale).
    Upper,
    /// A text without spaces (U+0020) at both ends.
    Trim,
    /// How many characters a text has.
    Length,
    /// A text from a character (an int, from 1) on; a third argument (an int) is the number of
    /// characters. As in PostgreSQL, but NULL for a negative length.
    Substring,
    /// The year of a timestamp, as an int. NULL outside the years -9999 to 9999, as for all parts.
    Year,
    /// Its quarter, 1 to 4.
    Quarter,
    /// Its month, 1 to 12.
    Month,
    /// Its day of the month, 1 to 31.
    Day,
    /// Its day of the week, 0 (Sunday) to 6.
    DayOfWeek,
    /// Its hour, 0 to 23.
    Hour,
    /// Its minute, 0 to 59.
    Minute,
    /// Its second, 0 to 59.
    Second,
    /// The start of a timestamp's year, as a timestamp. NULL outside the years -9999 to 9999, as
    /// for all starts.
    StartOfYear,
    /// The start of its quarter.
    StartOfQuarter,
    /// The start of its month.
    StartOfMonth,
    /// The start of its week, a Monday.
    StartOfWeek,
    /// The start of its day.
    StartOfDay,
    /// The start of its hour.
    StartOfHour,
    /// The start of its minute.
    StartOfMinute,
}

impl Binary {
    /// Whether it computes a number of two.
    #[must_use]
    pub fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder)
    }
}

impl Function {
    /// Whether it is the start of what a moment lies in, and so a moment itself.
    #[must_use]
    pub fn is_start(self) -> bool {
        self.result() == Some(Type::Timestamp)
    }
}
