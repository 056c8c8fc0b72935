//! Where mutants are tried: a copy of the source, in which mistakes are made, built and audited.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::Mutant;

/// What became of a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The mutant.
    pub mutant: &'static str,
    /// The audit that was to catch it.
    pub audit: &'static str,
    /// Whether it did.
    pub caught: bool,
}

/// Where mutants are made and built: beside everything else that is built, in folders of their own.
pub struct Workshop {
    root: PathBuf,
    copy: PathBuf,
    build: PathBuf,
}

impl Workshop {
    /// A workshop for the source that this program was built from, with a fresh copy of it. Those
    /// of other numbers are apart from it.
    ///
    /// # Errors
    /// The source is not there any more, or could not be copied.
    pub fn new(number: usize) -> io::Result<Self> {
        let root = root()?;
        let folder = root.join("target").join("mutants");
        let folder = folder.join(number.to_string());
        let (copy, build) = (folder.join("source"), folder.join("build"));
        fs::create_dir_all(&copy)?;
        for entry in ["Cargo.toml", "Cargo.lock", "crates"] {
            copy_changed(&root.join(entry), &copy.join(entry))?;
        }
        Ok(Self { root, copy, build })
    }

    /// Makes mutants in one copy, builds it, and runs the audit of each.
    ///
    /// # Errors
    /// The source is not as a mutant expects it, does not build, or an audit could not be run.
    pub fn try_mutants(&self, mutants: &[&Mutant]) -> io::Result<Vec<Tried>> {
        let mut originals = Vec::new();
        for mutant in mutants {
            let original = fs::read_to_string(self.root.join(mutant.file))?;
            if original.matches(mutant.find).count() != 1 {
                let sentence = format!(
                    "mutant `{}` does not fit {}: what it changes must stand there once",
                    mutant.name, mutant.file
                );
                return Err(io::Error::other(sentence));
            }
            fs::write(
                self.copy.join(mutant.file),
                original.replacen(mutant.find, mutant.replace, 1),
            )?;
            originals.push((mutant.file, original));
        }
        let outcomes = self.build().and_then(|()| {
            mutants
                .iter()
                .map(|mutant| {
                    let caught = self.is_caught(mutant.audit)?;
                    Ok(Tried { mutant: mutant.name, audit: mutant.audit, caught })
                })
                .collect()
        });
        for (file, original) in originals {
            fs::write(self.copy.join(file), original)?;
        }
        outcomes
    }

    /// Builds the copy.
    ///
    /// # Errors
    /// It does not build.
    pub fn build(&self) -> io::Result<()> {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "-j2", "-p", "eke-lab"])
            .arg("--no-default-features")
            .current_dir(&self.copy)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("RUSTFLAGS", "-Awarnings")
            .status()?;
        if built.success() { Ok(()) } else { Err(io::Error::other("the mutant does not build")) }
    }

    /// Whether the audit of the copy that was built fails; with no mistake in it, it must not.
    ///
    /// # Errors
    /// The audit could not be run.
    pub fn is_caught(&self, audit: &str) -> io::Result<bool> {
        let audited = Command::new(self.build.join("debug").join("eke-lab"))
            .args(["audit", audit, "--json"])
            .output()?;
        match audited.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(io::Error::other(String::from_utf8_lossy(&audited.stderr).into_owned())),
        }
    }
}

/// The folder of the source that this program was built from.
pub(super) fn root() -> io::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()
}

/// Makes a file or folder a copy of another. What is the same is left alone, so that it is not
/// built again; what the other no longer has is removed.
fn copy_changed(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(to)? {
            let copied = entry?.path();
            let original = from.join(copied.file_name().unwrap_or_default());
            if copied.is_dir() && !original.is_dir() {
                fs::remove_dir_all(copied)?;
            } else if copied.is_file() && !original.is_file() {
                fs::remove_file(copied)?;
            }
        }
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy_changed(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    let text = fs::read(from)?;
    if fs::read(to).ok().as_ref() != Some(&text) {
        fs::write(to, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_what_the_source_has_and_nothing_else() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for file in ["src/kept.rs", "src/moved.rs", "src/old/deleted.rs", "src/folder"] {
            fs::create_dir_all(from.join(file).parent().unwrap_or(&from))?;
            fs::write(from.join(file), file)?;
        }
        copy_changed(&from, &to)?;
        let written = fs::metadata(to.join("src/kept.rs"))?.modified()?;
        fs::create_dir(from.join("src/new"))?;
        fs::rename(from.join("src/moved.rs"), from.join("src/new/moved.rs"))?;
        fs::remove_dir_all(from.join("src/old"))?;
        fs::remove_file(from.join("src/folder"))?;
        fs::create_dir(from.join("src/folder"))?;
        copy_changed(&from, &to)?;
        for gone in ["src/moved.rs", "src/old", "src/old/deleted.rs"] {
            assert!(!to.join(gone).exists(), "{gone}");
        }
        assert_eq!(fs::read_to_string(to.join("src/new/moved.rs"))?, "src/moved.rs");
        assert!(to.join("src/folder").is_dir());
        assert_eq!(fs::metadata(to.join("src/kept.rs"))?.modified()?, written, "not written again");
        Ok(())
    }
}
