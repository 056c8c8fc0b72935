//! Values and their types: what a column may hold, and what an expression comes to.
//!
//! There is no NaN and no negative zero: where one would come about there is NULL, or zero. So
//! values are equal if they look equal, and every expression has one meaning.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of a column or an expression, in the order of their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// True or false.
    Bool,
    /// An integer of 64 bits.
    Int,
    /// A double that is not NaN.
    Float,
    /// Text.
    Text,
    /// A day.
    Date,
    /// A moment, in microseconds, without a time zone.
    Timestamp,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
        })
    }
}

/// A value of one of the types, or NULL. Its order is for sorting: NULL first, then by value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A double: neither NaN nor -0.
    Float(#[serde(with = "double")] f64),
    /// Text.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01 00:00.
    Timestamp(i64),
}

impl Value {
    /// A double as a value: NaN is NULL, and -0 is 0.
    #[must_use]
    pub fn float(value: f64) -> Self {
        if value.is_nan() { Self::Null } else { Self::Float(value + 0.0) }
    }

    /// Its type; none for NULL.
    #[must_use]
    pub fn kind(&self) -> Option<Type> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::Text(_) => Type::Text,
            Self::Date(_) => Type::Date,
            Self::Timestamp(_) => Type::Timestamp,
        })
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

/// Doubles as JSON has them, which has no infinite ones: those are texts.
mod double {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(if *value > 0.0 { "inf" } else { "-inf" })
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(number),
            Either::Text(text) if text == "inf" => Ok(f64::INFINITY),
            Either::Text(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
            Either::Text(_) => Err(D::Error::custom("not a double")),
        }
    }
}
