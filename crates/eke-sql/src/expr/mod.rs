//! Expressions: our own form of them, fully typed and total.
//!
//! The program that makes one has put every coercion into it as a [`Expr::Cast`], so that both
//! sides of an operator have one type. An expression never fails: what cannot be done is NULL. What
//! each one means is said by `evaluate`, value by value; an engine that works on columns must agree
//! with it.

pub(crate) mod call;
pub(crate) mod canonical;
pub(crate) mod civil;
pub(crate) mod display;
pub(crate) mod evaluate;
pub(crate) mod format;
pub(crate) mod number;
pub(crate) mod pattern;
pub(crate) mod regex;
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
    /// Whether a text matches a constant regular expression.
    Regex {
        /// The text.
        text: Box<Expr>,
        /// The regular expression.
        pattern: String,
        /// How it is written.
        syntax: Syntax,
    },
    /// A moment some months and microseconds later (an interval): months first, on the last day of
    /// a month that has no such day.
    Shift {
        /// The moment.
        moment: Box<Expr>,
        /// The months.
        months: i32,
        /// The microseconds.
        micros: i64,
    },
    /// A function of the allow-list.
    Call(Function, Vec<Expr>),
}

/// How a regular expression is written, and what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Syntax {
    /// As for `~`: it matches anywhere in a text.
    Posix,
    /// As for `~*`: the same, and case does not matter.
    PosixIgnoreCase,
    /// As for `SIMILAR TO`: it matches all of a text.
    Similar,
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
    /// The nearest whole float, halves away from zero. A second argument (an int) is the number of
    /// decimal digits; the float is taken as the shortest decimal that reads back as it.
    Round,
    /// The whole float towards zero. A second argument (an int) is the number of decimal digits, as
    /// for `Round`.
    Trunc,
    /// -1, 0 or 1, as a float.
    Sign,
    /// A float to the power of another; NULL for 0 to a negative one, and for a negative one to one
    /// that is not whole.
    Power,
    /// The logarithm to base 10 of a float; NULL unless it is positive.
    Log10,
    /// The number of the bucket that a float lies in, where a low and a high end are parted into an
    /// int of equal buckets, from 1; 0 below, one more than there are above. NULL without buckets.
    WidthBucket,
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
    /// A text without spaces (U+0020), or the characters of a second text, at both ends.
    Trim,
    /// The same at its start.
    LeftTrim,
    /// The same at its end.
    RightTrim,
    /// How many characters a text has.
    Length,
    /// A text from a character (an int, from 1) on; a third argument (an int) is the number of
    /// characters. As in PostgreSQL, but NULL for a negative length.
    Substring,
    /// The first characters of a text, as many as an int; all but as many of the last if that is
    /// negative.
    Left,
    /// The last characters of a text, as many as an int; all but as many of the first if that is
    /// negative.
    Right,
    /// A text with a third one wherever it has a second one.
    Replace,
    /// The part with this number (an int, from 1; from the end if it is negative) of a text that is
    /// parted by another; NULL for 0.
    SplitPart,
    /// The place in a text, from 1, where another begins first; 0 if it does not occur.
    Position,
    /// Whether a text starts with another.
    StartsWith,
    /// A text made as long as an int by another (or spaces) before it, or cut to that length.
    LeftPad,
    /// The same with the other after it.
    RightPad,
    /// A text from its end to its start.
    Reverse,
    /// A text as many times as an int.
    Repeat,
    /// A text whose words start with a capital and go on in lower case.
    Initcap,
    /// The texts that are not NULL, with the first one between them. NULL if that is.
    ConcatWith,
    /// A timestamp written as a constant pattern says.
    ToChar,
    /// The start of the bin that a timestamp lies in: bins have an int of microseconds, and one
    /// starts at a second timestamp. NULL unless that int is positive.
    DateBin,
    /// A date an int of days later.
    AddDays,
    /// The days from a second date to a first.
    DaysBetween,
    /// The seconds, as a float, from 1970 or from a second timestamp to a first.
    Seconds,
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
    /// Its day of the week, 1 (Monday) to 7.
    IsoDayOfWeek,
    /// Its day of the year, 1 to 366.
    DayOfYear,
    /// Its week of ISO 8601, 1 to 53.
    Week,
    /// The year that its week of ISO 8601 is counted in.
    IsoYear,
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
    /// The start of its second.
    StartOfSecond,
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
        matches!(self.part(), Some(display::Part::Start(_)))
    }
}
