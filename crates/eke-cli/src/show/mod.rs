//! How things are shown: numbers, tables, bars, JSON.

pub(crate) mod answer;
pub(crate) mod bar;
pub(crate) mod hint;
pub(crate) mod number;
mod table;

use std::io::{self, Write};

use serde::Serialize;
pub(crate) use table::Table;

use crate::Failure;

/// How wide tables and notes are at most, if they can be.
pub(crate) const WIDTH: usize = 80;

/// A remark below a table, within the width, after its mark if it has one. No line ends at a blank
/// that does not break.
pub(crate) fn note(mark: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    let gap = if mark.is_empty() { "" } else { " " };
    let mut line = format!("  {mark}{gap}");
    let indent = line.len();
    for word in text.split(' ') {
        if line.chars().count() + word.chars().count() > WIDTH && line.len() > indent {
            writeln!(out, "{}", line.trim_end().replace('\u{a0}', " "))?;
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    writeln!(out, "{}", line.trim_end().replace('\u{a0}', " "))
}

/// One JSON value on a line of its own.
pub(crate) fn print_json(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}
