//! What is wrong with a policy: one sentence that names the file, the line and what to do.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Why a policy cannot be used, or does not have what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// There is no such file.
    #[error(
        "{}: there is no such file: draft a policy with `eke init FILE`, or say where it is",
        path.display()
    )]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be read at all.
    #[error("{}: {problem}", path.display())]
    Unreadable {
        /// The policy.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Something in the file cannot be as it is.
    #[error("{}:{line}: {problem}", path.display())]
    Wrong {
        /// The policy.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Several things in the file cannot be as they are, in the order of their lines.
    #[error("{}", lines(errors))]
    Several {
        /// What is wrong, each with its line.
        errors: Vec<PolicyError>,
    },
    /// Nobody of that name may ask. It does not say who may.
    #[error(
        "there is no analyst {}: the steward names analysts as [analyst.NAME] in {}",
        quoted(name), path.display()
    )]
    UnknownAnalyst {
        /// The policy.
        path: PathBuf,
        /// Who was asked for.
        name: String,
    },
    /// There is no such kind of unit.
    #[error("there is no unit {}: units are named as [unit.NAME] in {}", quoted(name), path.display())]
    UnknownUnit {
        /// The policy.
        path: PathBuf,
        /// What was asked for.
        name: String,
    },
    /// There is no such dataset.
    #[error(
        "there is no dataset {}: datasets are named as [dataset.NAME] in {}",
        quoted(name), path.display()
    )]
    UnknownDataset {
        /// The policy.
        path: PathBuf,
        /// What was asked for.
        name: String,
    },
}

impl PolicyError {
    /// All of them as one, in the order of their lines; none of them is fine.
    pub(crate) fn all(errors: Vec<Self>) -> Result<(), Self> {
        let mut all: Vec<Self> = Vec::new();
        for error in errors {
            match error {
                Self::Several { errors } => all.extend(errors),
                one => all.push(one),
            }
        }
        all.sort_by_key(Self::line);
        all.dedup();
        match all.len() {
            0 | 1 => all.pop().map_or(Ok(()), Err),
            _ => Err(Self::Several { errors: all }),
        }
    }

    /// The line it is about, counted from one; none where it is about no line.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Wrong { line, .. } => Some(*line),
            Self::Several { errors } => errors.iter().find_map(Self::line),
            _ => None,
        }
    }
}

fn lines(errors: &[PolicyError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// How much of a name or a text is shown.
const SHOWN: usize = 64;

/// A name between backticks, so that what a file calls things cannot steer a terminal or fill it.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", shown(name))
}

/// The same without the backticks.
pub(super) fn shown(name: &str) -> String {
    let mut shown = String::new();
    for (count, letter) in name.chars().enumerate() {
        if count == SHOWN {
            shown.push('…');
            break;
        }
        if is_hidden(letter) {
            let _ = write!(shown, "{}", letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a letter could steer a terminal or an editor: control characters, and the marks that
/// break lines or change the direction of what follows.
pub(super) fn is_hidden(letter: char) -> bool {
    let mark = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    mark || letter.is_control()
}
