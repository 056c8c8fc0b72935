//! The journal written out, a JSON object a line.

use std::io::{self, Write};

use serde_json::json;

use crate::error::StoreError;
use crate::journal::anchor::NAMES_AT_A_TIME;
use crate::journal::audit::LINES_AT_A_TIME;
use crate::journal::{Line, LineRow};
use crate::store::Store;

/// Writes every line of every journal, account by account: what it says, its digest, and the text
/// of its question.
///
/// # Errors
/// The store could not be read, or the output not be written.
pub fn export(store: &mut dyn Store, out: &mut dyn Write) -> io::Result<()> {
    let failed = |error: StoreError| io::Error::other(error);
    store.snapshot().map_err(failed)?;
    let mut names = store.names(None, NAMES_AT_A_TIME).map_err(failed)?;
    while let Some(last) = names.last().cloned() {
        for name in names {
            let mut from = 0;
            loop {
                let rows = store.lines(&name, from, LINES_AT_A_TIME).map_err(failed)?;
                let Some(row) = rows.last() else { break };
                from = row.line + 1;
                for row in &rows {
                    write_line(store, row, out)?;
                }
            }
        }
        names = store.names(Some(&last), NAMES_AT_A_TIME).map_err(failed)?;
    }
    store.unlock().map_err(failed)
}

fn write_line(store: &mut dyn Store, row: &LineRow, out: &mut dyn Write) -> io::Result<()> {
    let LineRow { account, line, body, digest } = row;
    let Ok(said) = serde_json::from_str::<Line>(body) else {
        // Edited by hand: shown as it is.
        let damaged =
            json!({ "account": account, "line": line, "damaged": body, "digest": digest });
        return writeln!(out, "{damaged}");
    };
    let text = match said.question {
        Some(question) => store.question(question).map_err(io::Error::other)?,
        None => None,
    };
    // What was hashed stands first, as it was hashed.
    let body = body.trim_end().strip_suffix('}').unwrap_or(body);
    write!(out, "{body}")?;
    if let Some(text) = text {
        write!(out, ",\"text\":{}", json!(text))?;
    }
    writeln!(out, ",\"digest\":\"{digest}\"}}")
}
