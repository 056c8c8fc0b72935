//! Why a question is not taken: one sentence that says what is wrong and what to write instead.
//!
//! Nothing here can depend on rows. Sentences quote the question and the policy, on one line and
//! shortened.

use std::fmt::Display;

/// A refusal of a question's text, before anything is read or charged. Its text is one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SqlError {
    /// It is not SQL.
    #[error("{0}")]
    Syntax(String),
    /// It is too long, too large or too deep.
    #[error("{0}")]
    Limit(String),
    /// It is SQL that eke does not answer.
    #[error("{0}")]
    Unsupported(String),
    /// It names a table or a column that there is not, or that could be several.
    #[error("{0}")]
    Name(String),
    /// It puts values of the wrong types together.
    #[error("{0}")]
    Type(String),
    /// What one unit could change the answer by does not follow from the policy.
    #[error("{0}")]
    Bounds(String),
    /// The system gives no thread to plan it on: this says nothing about the question.
    #[error("there is no memory or no thread to plan the question with: ask again later")]
    NoThread,
}

impl SqlError {
    pub(crate) fn syntax(sentence: impl AsRef<str>) -> Self {
        Self::Syntax(line(sentence.as_ref(), 400))
    }
    pub(crate) fn limit(sentence: impl AsRef<str>) -> Self {
        Self::Limit(line(sentence.as_ref(), 400))
    }
    pub(crate) fn unsupported(sentence: impl AsRef<str>) -> Self {
        Self::Unsupported(line(sentence.as_ref(), 400))
    }
    pub(crate) fn name(sentence: impl AsRef<str>) -> Self {
        Self::Name(line(sentence.as_ref(), 600))
    }
    pub(crate) fn types(sentence: impl AsRef<str>) -> Self {
        Self::Type(line(sentence.as_ref(), 400))
    }
    pub(crate) fn bounds(sentence: impl AsRef<str>) -> Self {
        Self::Bounds(line(sentence.as_ref(), 400))
    }
}

/// Something of the question or the policy, between backquotes, on one line and shortened.
pub(crate) fn quote(what: &impl Display) -> String {
    format!("`{}`", line(&what.to_string(), 60))
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
