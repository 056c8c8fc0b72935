//! The steps of a watch: lines of a CSV file, each with a value for every parameter.
//!
//! They are whoever asks', and public: no row of a dataset comes near them.

use std::path::Path;

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
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            EngineError::Steps(match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!(
                        "there is no file `{name}`: give a CSV file of values for $1, $2 and so on"
                    )
                }
                _ => format!("`{name}` cannot be read as text: {error}"),
            })
        })?;
        Self::parse(&text).map_err(|problem| EngineError::Steps(format!("{name}{problem}")))
    }

    /// As [`Steps::read`], from text. Problems are told by their line, with a colon before it.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut steps: Option<Self> = None;
        for record in reader.records() {
            let record = record.map_err(|error| format!(" is not a CSV file: {error}"))?;
            let line = record.position().map_or(0, csv::Position::line);
            let cells: Vec<String> = record.iter().map(str::to_owned).collect();
            if cells.iter().any(String::is_empty) {
                return Err(format!(":{line}: a cell is empty: give every parameter a value"));
            }
            match &mut steps {
                None => steps = Some(Self { names: cells, lines: Vec::new() }),
                Some(steps) if steps.names.len() == cells.len() => steps.lines.push(cells),
                Some(steps) => {
                    let (wanted, found) = (steps.names.len(), cells.len());
                    return Err(format!(
                        ":{line}: this line has {found} cells and the first line has {wanted}: give each line as many"
                    ));
                }
            }
        }
        let steps = steps.filter(|steps| !steps.lines.is_empty());
        steps.ok_or_else(|| {
            " has no lines below the first, which names the columns: there is nothing to watch"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_lines_below_the_names_of_their_columns() {
        let steps = Steps::parse("\u{feff}day,zone\n2026-03-01, 7\n\n\"a,b\",it's\r\n").unwrap();
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
            let found = Steps::parse(text).unwrap_err();
            assert!(found.starts_with(problem), "{text:?}: {found}");
        }
    }
}
