//! Files that only their owner may read.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Makes a file that only its owner may read, unless it is there. SQLite gives the files that it
/// keeps beside a ledger the same mode.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes a file that only its owner may read, all of it or nothing, in place of the one that is
/// there.
///
/// # Errors
/// It cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // It is made with mode 0600, and removed if it cannot be written.
    let mut new = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(bytes)?;
    new.persist(path)?;
    Ok(())
}

/// The mode of a file that others than its owner may read or write; none if none may.
pub(crate) fn exposed(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(path).ok()?;
        let mode = std::os::unix::fs::MetadataExt::mode(&mode) & 0o777;
        (mode & 0o077 != 0).then_some(mode)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
