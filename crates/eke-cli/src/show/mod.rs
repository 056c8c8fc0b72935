//! How things are shown: numbers, tables, bars, JSON.

pub(crate) mod bar;
pub(crate) mod number;
mod table;

use std::io::{self, Write};

use serde::Serialize;
pub(crate) use table::Table;

use crate::Failure;

/// One JSON value on a line of its own.
pub(crate) fn print_json(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}
