//! Where rows are put that do not fit into memory: a folder of our own beside the ledger, for
//! nobody else to read.
//!
//! A run has a folder in it that is named by its program, and takes it away when it ends. What a
//! program that was killed has left is taken away by the next one that opens the ledger.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use eke_ledger::Address;

use crate::purchase::process::Program;

/// The folder for what does not fit into memory.
#[derive(Clone, Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
}

/// The folder of one run. It goes with it.
#[derive(Debug)]
pub(crate) struct SpillRun {
    folder: PathBuf,
    path: PathBuf,
}

impl Spill {
    /// Beside a ledger that is a file, and beside the policy of one that is not.
    pub(crate) fn beside(ledger: &Address, policy: &Path) -> Self {
        let folder = match ledger {
            Address::File(file) => {
                let mut name = file.clone().into_os_string();
                name.push("-rows");
                name.into()
            }
            Address::Postgres(_) => policy.join("eke-rows"),
        };
        Self { folder }
    }

    /// In this folder.
    pub(crate) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Anywhere: for tests, whose rows are made up.
    pub(crate) fn anywhere() -> Self {
        Self { folder: std::env::temp_dir().join(format!("eke-rows-{}", std::process::id())) }
    }

    /// Takes away what programs have left that do not run any more.
    pub(crate) fn sweep(&self) {
        // A folder is one machine's, whatever the ledger is.
        let here = Address::File(self.folder.clone());
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let program = name.to_string_lossy();
            let program = program.split_once('-').map_or(&*program, |(program, _)| program);
            if Program::of_holder(program).has_ended(&here) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        // It goes unless somebody else uses it.
        let _ = fs::remove_dir(&self.folder);
    }

    /// Makes a folder for a run.
    pub(crate) fn open(&self) -> io::Result<SpillRun> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}-{number}", Program::current()));
        // A run that has just ended may take the outer folder away.
        for _ in 0..16 {
            match own_folder(&self.folder).and_then(|()| own_folder(&path)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(SpillRun { folder: self.folder.clone(), path }),
            }
        }
        Err(io::Error::other("its folder is taken away again and again"))
    }
}

impl SpillRun {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SpillRun {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// A folder that nobody else may look into: made, or found as one.
fn own_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::other(format!("`{}` is not a folder", path.display())));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_left_is_taken_away_and_what_others_use_is_not() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let ledger = Address::File(folder.join("eke.ledger"));
        let spill = Spill::beside(&ledger, folder);
        // One that is there for all to look into is for us alone from now on.
        fs::create_dir(spill.folder()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(spill.folder(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let run = spill.open().unwrap();
        fs::write(run.path().join("rows"), "alice").unwrap();
        let gone = Program::current().to_string();
        let gone = gone.rsplit_once('.').map(|(program, _)| format!("{program}.1-7")).unwrap();
        let gone = folder.join("eke.ledger-rows").join(gone);
        fs::create_dir_all(&gone).unwrap();
        fs::write(gone.join("rows"), "alice").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for folder in [&run.folder, &run.path] {
                assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
        spill.sweep();
        assert!(!gone.exists() && run.path().join("rows").exists());
        drop(run);
        assert!(!folder.join("eke.ledger-rows").exists());
    }
}
