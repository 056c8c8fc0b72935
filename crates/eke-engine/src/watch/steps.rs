//! The steps of a watch: lines of a CSV file, each with a value for every parameter.
//!
//! The asker writes them, and they are public: no row of a dataset comes near them.

use std::path::Path;

use eke_sql::SqlError;

use crate::error::EngineError;

/// What is given for the parameters, step by step. Steps are added at the end, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// What the values are called, in the order of the parameters.
    pub names: Vec<String>,
    /// The values of each step.
    pub lines: Vec<Vec<String>>,
}

impl Steps {
    /// Reads a CSV file whose first line names its columns: the first is for `$1`, the second for
    /// `$2`.
    ///
    /// # Errors
    /// It cannot be read, has no lines, or a line has too few or too many cells, or an empty one.
    pub fn read(path: &Path) -> Result<Self, EngineError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => WrongSteps::Missing { file: file.clone() },
            _ => WrongSteps::Unreadable { file: file.clone(), problem: error.to_string() },
        })?;
        Ok(Self::parse(&text, &file)?)
    }

    /// As [`Steps::read`], from the text of a file.
    fn parse(text: &str, file: &str) -> Result<Self, WrongSteps> {
        let file = || file.to_owned();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut steps: Option<Self> = None;
        for record in reader.records() {
            let record = record
                .map_err(|error| WrongSteps::NotCsv { file: file(), problem: error.to_string() })?;
            let line = record.position().map_or(0, csv::Position::line);
            let cells: Vec<String> = record.iter().map(str::to_owned).collect();
            if cells.iter().any(String::is_empty) {
                return Err(WrongSteps::EmptyCell { file: file(), line });
            }
            match &mut steps {
                None => steps = Some(Self { names: cells, lines: Vec::new() }),
                Some(steps) if steps.names.len() == cells.len() => steps.lines.push(cells),
                Some(steps) => {
                    let (wanted, found) = (steps.names.len(), cells.len());
                    return Err(WrongSteps::Cells { file: file(), line, found, wanted });
                }
            }
        }
        let steps = steps.filter(|steps| !steps.lines.is_empty());
        steps.ok_or_else(|| WrongSteps::NoLines { file: file() })
    }
}

/// Why the steps of a watch cannot be what they are. Lines are counted from one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrongSteps {
    /// There is no such file.
    #[error("there is no file `{file}`: give a CSV file of values for $1, $2 and so on")]
    Missing {
        /// The file.
        file: String,
    },
    /// It cannot be read, or is no text.
    #[error("`{file}` cannot be read as text: {problem}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        problem: String,
    },
    /// It is not CSV.
    #[error("{file} is not a CSV file: {problem}")]
    NotCsv {
        /// The file.
        file: String,
        /// What its reader says.
        problem: String,
    },
    /// A cell without a value.
    #[error("{file}:{line}: a cell is empty: give every parameter a value")]
    EmptyCell {
        /// The file.
        file: String,
        /// The line.
        line: u64,
    },
    /// A line with more cells than the first, or fewer.
    #[error(
        "{file}:{line}: this line has {found} cells and the first line has {wanted}: give each \
         line as many"
    )]
    Cells {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How many it has.
        found: usize,
        /// How many the first line has.
        wanted: usize,
    },
    /// A file without steps.
    #[error(
        "{file} has no lines below the first, which names the columns: there is nothing to watch"
    )]
    NoLines {
        /// The file.
        file: String,
    },
    /// No steps.
    #[error("there are no steps to watch: give at least one")]
    Empty,
    /// A step that makes something of the question that is not taken.
    #[error("step {step}: {error}")]
    Question {
        /// The step, counted from one.
        step: usize,
        /// What is wrong with it.
        error: SqlError,
    },
    /// A step that makes another question of it.
    #[error(
        "step {step} is another question than the first: parameters choose rows, and nothing else"
    )]
    OtherQuestion {
        /// The step, counted from one.
        step: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_lines_below_the_names_of_their_columns() {
        let steps = Steps::parse("\u{feff}day,zone\n2026-03-01, 7\n\n\"a,b\",it's\r\n", "days.csv")
            .unwrap();
        assert_eq!(steps.names, ["day", "zone"]);
        assert_eq!(steps.lines, [["2026-03-01", "7"], ["a,b", "it's"]]);
    }

    #[test]
    fn what_are_no_steps_is_said_by_its_line() {
        for (text, problem) in [
            ("", " has no lines below the first"),
            ("day\n", " has no lines below the first"),
            ("day,zone\n1,2\n3\n", ":3: this line has 1 cells and the first line has 2"),
            ("day\n1,2\n", ":2: this line has 2 cells and the first line has 1"),
            ("day,zone\n1,\n", ":2: a cell is empty"),
            ("day,\n1,2\n", ":1: a cell is empty"),
        ] {
            let found = Steps::parse(text, "days.csv").unwrap_err().to_string();
            assert!(found.starts_with(&format!("days.csv{problem}")), "{text:?}: {found}");
        }
    }
}
