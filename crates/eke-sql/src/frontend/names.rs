//! Names: how what is written finds a table or a column.
//!
//! An unquoted name matches whatever its case, if only one thing has it; a quoted one matches as it
//! is.

use sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart};

use crate::SqlError;
use crate::error::{LISTED, NameError, Named, Sought, line, short};

/// Whether a written name means this one.
pub(crate) fn means(written: &Ident, name: &str) -> bool {
    if written.quote_style.is_some() {
        written.value == name
    } else {
        written.value == name || written.value.to_lowercase() == name.to_lowercase()
    }
}

/// A name without dots.
pub(crate) fn simple(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Some(ident),
        _ => None,
    }
}

/// What an item of SELECT without an alias is called: its column, or what is written.
pub(crate) fn of_item(expr: &Expr, most: usize) -> String {
    match expr {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(parts) => {
            parts.last().map_or(String::new(), |name| name.value.clone())
        }
        expr => line(&expr.to_string(), most),
    }
}

/// The one place that a written name means.
pub(crate) fn find<'a>(
    what: Named,
    written: &Ident,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<usize>, SqlError> {
    let mut found =
        names.enumerate().filter(|(_, name)| means(written, name)).map(|(place, _)| place);
    match (found.next(), found.next()) {
        (place, None) => Ok(place),
        (_, Some(_)) => Err(NameError::Several { what, name: short(&written.value) }.into()),
    }
}

/// What to say where there is no such name: the nearest, or a list.
pub(crate) fn unknown<'a>(
    what: Named,
    sought: Sought,
    written: &str,
    names: impl Iterator<Item = &'a str>,
) -> SqlError {
    let names: Vec<&str> = names.take(1_000).collect();
    let near = names
        .iter()
        .map(|name| (distance(written, name), *name))
        .min()
        .filter(|(distance, name)| distance * 3 <= name.chars().count().max(3));
    let near = near.map(|(_, name)| short(&name));
    let known = names.iter().take(LISTED + 1).map(short).collect();
    NameError::Unknown { what, name: short(&written), sought, near, known }.into()
}

/// How many letters to change, add or take away, whatever their case (Levenshtein), of names that
/// are not too long.
fn distance(a: &str, b: &str) -> usize {
    let letters =
        |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (letters(a), letters(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
