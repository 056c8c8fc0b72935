//! What an experiment came to: tables, figures and what to know about them; printed, and written as
//! CSV, JSON, Markdown and SVG.
//!
//! The CSV has a line for every cell, of all tables: the table, its labels, what was measured, and
//! all that is known of it. So one program reads the files of every experiment.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use eke_plot::plot::Plot;
use serde::Serialize;

use crate::frame::experiment::{Experiment, Paper, Size};
use crate::frame::summary::Summary;
use crate::frame::table::{Table, TableCell, TableKey};

/// What an experiment came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it is about, with what it was run on.
    pub title: String,
    /// The tables.
    pub tables: Vec<Table>,
    /// What to know about them, a sentence or two each.
    pub notes: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What is added to the experiment's name to name its file; nothing for the first.
    pub suffix: String,
    /// The file.
    pub svg: String,
}

impl Report {
    /// With no tables, notes or figures yet.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), tables: Vec::new(), notes: Vec::new(), figures: Vec::new() }
    }

    /// And a table.
    #[must_use]
    pub fn with_table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// And a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// And the figure that bears the experiment's name.
    #[must_use]
    pub fn with_plot(self, plot: &Plot) -> Self {
        self.with_svg("", plot.finish())
    }

    /// And a figure with a suffix to the experiment's name.
    #[must_use]
    pub fn with_svg(mut self, suffix: &str, svg: String) -> Self {
        self.figures.push(Figure { suffix: suffix.to_owned(), svg });
        self
    }

    /// As it is printed.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts = vec![format!("{}\n", self.title)];
        parts.extend(self.tables.iter().map(Table::text));
        if !self.notes.is_empty() {
            parts.push(self.notes.iter().map(|note| format!("{note}\n")).collect());
        }
        parts.join("\n")
    }

    /// As Markdown, for documents.
    #[must_use]
    pub fn markdown(&self, run: &Run) -> String {
        let figures = self.figures.iter().map(|figure| {
            format!("![{}]({})\n\n", self.title, figure.file_name(run.experiment.name))
        });
        let notes = self.notes.iter().map(|note| format!("{note}\n\n"));
        let tables = self.tables.iter().map(Table::markdown);
        let head = format!("{}\n\n    {}\n\n", self.title, run.command());
        [head].into_iter().chain(figures).chain(tables).chain(notes).collect()
    }

    /// As one JSON object.
    ///
    /// # Errors
    /// It holds a number that JSON does not have.
    pub fn json(&self, run: &Run) -> serde_json::Result<String> {
        let Experiment { name, paper, figure, about, .. } = *run.experiment;
        let figures = self.figures.iter().map(|figure| figure.file_name(name)).collect();
        let Self { title, tables, notes, .. } = self;
        let Run { size, trials, seed, .. } = *run;
        let written = Written {
            experiment: name,
            paper,
            figure,
            about,
            size,
            trials,
            seed,
            title,
            tables,
            notes,
            figures,
        };
        serde_json::to_string(&written)
    }

    /// As CSV, a line a cell.
    ///
    /// # Errors
    /// A line could not be written.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.tables.iter().flat_map(|table| &table.keys) {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        let ends = ["measure", "value", "low", "high", "q1", "median", "q3", "n"];
        writer.write_record(["table"].iter().chain(&keys).chain(&ends))?;
        for table in &self.tables {
            for row in &table.rows {
                for (measure, cell) in table.measures.iter().zip(&row.cells) {
                    let mut record = vec![table.title.clone()];
                    for key in &keys {
                        let place = table.keys.iter().position(|other| other == key);
                        record.push(place.map_or(String::new(), |at| plain(&row.keys[at])));
                    }
                    record.push((*measure).to_owned());
                    record.extend(fields(cell));
                    writer.write_record(&record)?;
                }
            }
        }
        let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Writes all files into a folder, which is made if it is not there, and says which.
    ///
    /// # Errors
    /// A file could not be written.
    pub fn write(&self, run: &Run, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let name = run.experiment.name;
        fs::create_dir_all(folder)?;
        let mut written = Vec::new();
        let mut put = |file: String, text: String| {
            let path = folder.join(file);
            fs::write(&path, text)?;
            written.push(path);
            Ok::<(), io::Error>(())
        };
        put(format!("{name}.csv"), self.csv().map_err(io::Error::other)?)?;
        put(format!("{name}.json"), self.json(run).map_err(io::Error::other)? + "\n")?;
        put(format!("{name}.md"), self.markdown(run))?;
        let mut names = BTreeSet::new();
        for figure in &self.figures {
            let file = figure.file_name(name);
            if !names.insert(file.clone()) {
                return Err(io::Error::other(format!("two figures are called {file}")));
            }
            put(file, figure.svg.clone())?;
        }
        Ok(written)
    }
}

impl Figure {
    /// What its file is called.
    #[must_use]
    pub fn file_name(&self, experiment: &str) -> String {
        if self.suffix.is_empty() {
            format!("{experiment}.svg")
        } else {
            format!("{experiment}-{}.svg", self.suffix)
        }
    }
}

/// How an experiment was run.
#[derive(Clone, Copy)]
pub struct Run {
    /// Which.
    pub experiment: &'static Experiment,
    /// How much of it.
    pub size: Size,
    /// Trials of each point.
    pub trials: u32,
    /// What decided all draws.
    pub seed: u64,
}

impl Run {
    /// The command that runs it again.
    #[must_use]
    pub fn command(&self) -> String {
        let mut command = format!("eke-lab run {}", self.experiment.name);
        match self.size {
            Size::Full => {}
            Size::Quick => command += " --quick",
            Size::Smoke => command += " --smoke",
        }
        if self.trials != self.experiment.trials.of(self.size) {
            command += &format!(" --trials {}", self.trials);
        }
        if self.seed != 1 {
            command += &format!(" --seed {}", self.seed);
        }
        command
    }
}

#[derive(Serialize)]
struct Written<'a> {
    experiment: &'static str,
    paper: Paper,
    figure: &'static str,
    about: &'static str,
    size: Size,
    trials: u32,
    seed: u64,
    title: &'a str,
    tables: &'a [Table],
    notes: &'a [String],
    figures: Vec<String>,
}

/// A label with all of its digits.
fn plain(key: &TableKey) -> String {
    match key {
        TableKey::Text(text) => text.clone(),
        TableKey::Number(value) => value.to_string(),
    }
}

/// Value, interval, quartiles and number of trials.
fn fields(cell: &TableCell) -> [String; 7] {
    let only = |value: String| {
        let mut fields = <[String; 7]>::default();
        fields[0] = value;
        fields
    };
    match cell {
        TableCell::Summary(Summary { mean, quartiles, interval, n }) => {
            let [low, high] =
                interval.map(|ends| ends.map(|end| end.to_string())).unwrap_or_default();
            let [first, median, third] = quartiles.map(|quartile| quartile.to_string());
            [mean.to_string(), low, high, first, median, third, n.to_string()]
        }
        TableCell::Number(value) => only(value.to_string()),
        TableCell::Text(text) => only(text.clone()),
        TableCell::None => only(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            experiment: &crate::frame::experiment::experiments()[0],
            size: Size::Quick,
            trials: 3,
            seed: 7,
        }
    }

    fn report() -> Report {
        let mut first = Table::new("one, with a comma", ["x"], ["y"]);
        first.row([0.1.into()], [Summary::of([1.0, 2.0, 4.0]).into()]);
        let mut second = Table::new("two", ["series", "x"], ["y", "z"]);
        second.row(["a \"b\"".into(), 2u32.into()], [0.5.into(), TableCell::None]);
        Report::new("a report").with_table(first).with_table(second).with_note("A note.")
    }

    #[test]
    fn csv_has_a_line_for_every_cell_of_every_table() {
        let text = report().csv().unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(head[..5], ["table", "x", "series", "measure", "value"]);
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(&rows[0][0], "one, with a comma");
        assert_eq!((&rows[0][1], &rows[0][8], &rows[0][10]), ("0.1", "2", "3"));
        assert_eq!((&rows[1][2], &rows[1][4]), ("a \"b\"", "0.5"));
        assert_eq!((&rows[2][3], &rows[2][4]), ("z", ""));
    }

    #[test]
    fn json_and_markdown_say_how_it_was_run() {
        let json: serde_json::Value =
            serde_json::from_str(&report().json(&run()).unwrap()).unwrap();
        assert_eq!(json["seed"], 7);
        assert_eq!(json["size"], "quick");
        assert_eq!(json["tables"][1]["rows"][0]["cells"][1], serde_json::Value::Null);
        assert_eq!(json["tables"][0]["rows"][0]["cells"][0]["n"], 3);
        let markdown = report().markdown(&run());
        let command = format!("run {} --quick --trials 3 --seed 7", run().experiment.name);
        assert!(markdown.contains(&command), "{markdown}");
        assert!(report().text().contains("A note."));
    }
}
