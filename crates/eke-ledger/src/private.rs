//! Files that only their owner may read.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

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
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    // Nobody else writes to a file of this name, in this program or another.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{number}.new", std::process::id()));
    let new = Path::new(&name);
    let _ = std::fs::remove_file(new);
    make(new)?;
    std::fs::write(new, bytes)?;
    std::fs::rename(new, path)
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
