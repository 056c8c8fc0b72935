//! Files that are written: whole, or not at all.

use std::fs;
use std::path::Path;

use super::PlacesError;

/// Writes a text to a file, in place of what was there. A program that reads the file
/// meanwhile sees one or the other.
///
/// # Errors
/// The system does not let us.
pub fn write_whole(file: &Path, text: &str) -> Result<(), PlacesError> {
    let unwritable = |error| PlacesError::Unwritable { file: file.display().to_string(), error };
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map_err(unwritable)
}
