//! The commands of `eke-lab`.

pub(crate) mod audit;
#[cfg(feature = "experiments")]
pub(crate) mod bench;
pub(crate) mod path;
#[cfg(feature = "experiments")]
pub(crate) mod run;
pub(crate) mod sample;
#[cfg(feature = "experiments")]
pub(crate) mod timing;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

/// One JSON value on a line of its own.
fn print_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// What is under way, on a terminal.
fn progress(what: &str) {
    let mut error = io::stderr();
    if error.is_terminal() {
        let _ = write!(error, "\r\x1b[K{what}");
        let _ = error.flush();
    }
}
