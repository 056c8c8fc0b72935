//! Which source a mutant depends on, as a digest, and the digests at which mutants were last
//! caught.
//!
//! A mutant that was caught is caught again as long as nothing has changed that its audit can
//! reach. That is found by crates, which is coarse and leaves nothing out: the audit's own file and
//! the audits it calls, what all audits share, every crate that one of these names or that the
//! mistake is made in, with all crates under them, the versions of other people's crates among
//! these, and how everything is built. Only other experiments, other audits and crates that stand
//! beside or above are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Mutant;
use super::workshop::root;

/// Where the digests are kept.
const LOCK: &str = "crates/eke-lab/mutants.lock";
const LAB: &str = "crates/eke-lab/src";

/// The source, looked through once.
pub struct Digests {
    root: PathBuf,
    /// What stands in Cargo.lock about each package, and what it depends on. Versions of one name
    /// stand together.
    packages: BTreeMap<String, (String, BTreeSet<String>)>,
    /// The audits, by the names of their files.
    audits: BTreeMap<String, String>,
    /// What all audits share.
    shared: String,
}

impl Digests {
    /// Of the source that this program was built from.
    ///
    /// # Errors
    /// It is not there any more.
    pub fn new() -> io::Result<Self> {
        let root = root()?;
        let packages = packages(&fs::read_to_string(root.join("Cargo.lock"))?);
        let (mut audits, mut shared) = (BTreeMap::new(), String::new());
        let folder = root.join(LAB).join("audit");
        let mutants = folder.join("mutants");
        for file in files(&folder)? {
            // No audits: the list of mistakes, of which each counts for itself, and what tries
            // them.
            if file.with_extension("").starts_with(&mutants) {
                continue;
            }
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if audits.insert(name, fs::read_to_string(&file)?).is_some() {
                let file = file.display();
                return Err(io::Error::other(format!("another audit has the name of {file}")));
            }
        }
        let top = fs::read_dir(root.join(LAB))?.collect::<io::Result<Vec<_>>>()?;
        let mut top: Vec<_> = top.into_iter().map(|entry| entry.path()).collect();
        top.retain(|path| path.extension().is_some_and(|end| end == "rs"));
        top.sort();
        for file in top {
            shared.push_str(&fs::read_to_string(file)?);
        }
        Ok(Self { root, packages, audits, shared })
    }

    /// The digest of all that a mutant's being caught depends on.
    ///
    /// # Errors
    /// The source cannot be read, or no file has the audit.
    pub fn digest(&self, mutant: &Mutant) -> io::Result<String> {
        let mut all = blake3::Hasher::new();
        let mut add = |text: &str| {
            all.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        for text in [mutant.audit, mutant.file, mutant.find, mutant.replace, &self.shared] {
            add(text);
        }
        let mut named = crates_in(&self.shared);
        for text in self.audit(mutant.audit)? {
            add(text);
            named.extend(crates_in(text));
        }
        named.extend(mutant.file.split('/').nth(1).map(str::to_owned));
        // What the lab itself is built with, beside our own crates.
        if let Some((_, under)) = self.packages.get("eke-lab") {
            named.extend(under.iter().filter(|name| !name.starts_with("eke-")).cloned());
        }
        let reached = self.closure(named);
        for name in &reached {
            add(self.packages.get(name).map_or("", |(about, _)| about));
            if name.starts_with("eke-") {
                let folder = self.root.join("crates").join(name);
                add(&fs::read_to_string(folder.join("Cargo.toml"))?);
                for file in files(&folder.join("src"))? {
                    add(&file.strip_prefix(&self.root).unwrap_or(&file).to_string_lossy());
                    add(&fs::read_to_string(file)?);
                }
            }
        }
        add(&manifest(&fs::read_to_string(self.root.join("Cargo.toml"))?, &reached));
        add(&fs::read_to_string(self.root.join("rust-toolchain.toml")).unwrap_or_default());
        Ok(all.finalize().to_hex()[..32].to_owned())
    }

    /// The file of an audit, and those of audits that it names.
    fn audit(&self, name: &str) -> io::Result<Vec<&str>> {
        let quoted = format!("\"{name}\"");
        let owners = self.audits.iter().filter(|(_, text)| text.contains(&quoted));
        let mut found: BTreeSet<&str> = owners.map(|(file, _)| file.as_str()).collect();
        if found.is_empty() {
            return Err(io::Error::other(format!("no file has the audit `{name}`")));
        }
        loop {
            let named = |other: &&String| {
                let path = format!("super::{other}");
                found.iter().any(|file| {
                    self.audits[*file].contains(&path)
                        || self.audits[*file].contains(&format!("{other}::"))
                })
            };
            let more: Vec<&str> = self.audits.keys().filter(named).map(String::as_str).collect();
            let before = found.len();
            found.extend(more);
            if found.len() == before {
                return Ok(found.into_iter().map(|file| self.audits[file].as_str()).collect());
            }
        }
    }

    /// These packages, and all that they depend on.
    fn closure(&self, mut left: BTreeSet<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        while let Some(name) = left.pop_first() {
            if let Some((_, under)) = self.packages.get(&name) {
                left.extend(under.iter().filter(|under| !found.contains(*under)).cloned());
            }
            found.insert(name);
        }
        found
    }
}

/// The digests at which mutants were last caught, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caught(BTreeMap<String, String>);

impl Caught {
    /// What the source has with it; nothing if there is no such file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read() -> io::Result<Self> {
        match fs::read_to_string(root()?.join(LOCK)) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// A line is a name and a digest. One that is neither says nothing: its mutant is tried.
    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pair = |line: &str| line.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
        Self(lines.filter_map(pair).collect())
    }

    /// Whether a mutant was caught at this digest.
    #[must_use]
    pub fn has(&self, mutant: &Mutant, digest: &str) -> bool {
        self.0.get(mutant.name).is_some_and(|kept| kept == digest)
    }

    /// A mutant was caught at this digest.
    pub fn insert(&mut self, mutant: &str, digest: String) {
        self.0.insert(mutant.to_owned(), digest);
    }

    /// Replaces what the source has with it. Mutants that there are no more are forgotten.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self) -> io::Result<()> {
        let mut text = String::from(
            "# Written by `eke-lab audit --mutants --record`: the source at which each mutant was last caught.\n",
        );
        let is_there = |name: &str| super::all().iter().any(|mutant| mutant.name == name);
        for (name, digest) in self.0.iter().filter(|(name, _)| is_there(name)) {
            let _ = writeln!(text, "{name} {digest}");
        }
        fs::write(root()?.join(LOCK), text)
    }
}

/// The packages of a Cargo.lock. Of a name with several versions, all count.
fn packages(lock: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut packages: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for block in lock.split("[[package]]\n").skip(1) {
        let mut quoted = block.lines().filter_map(|line| {
            let (before, rest) = line.split_once('"')?;
            Some((before.trim(), rest.split_once('"')?.0))
        });
        let Some((_, name)) = quoted.next() else { continue };
        let (about, under) = packages.entry(name.to_owned()).or_default();
        about.push_str(block);
        // A dependency is a name, and a version where several have it.
        let names = quoted.filter(|(before, _)| before.is_empty());
        under.extend(names.filter_map(|(_, is)| is.split(' ').next()).map(str::to_owned));
    }
    packages
}

/// What the manifest of the workspace says about these packages, and about how everything is built
/// for tests.
fn manifest(text: &str, reached: &BTreeSet<String>) -> String {
    let (mut said, mut section) = (Vec::new(), "");
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let is_other = section == "[workspace.dependencies]" && !reached.contains(name);
        let is_said = !line.is_empty()
            && !line.starts_with('#')
            && (line == section || !is_other)
            && !section.starts_with("[profile.release");
        if is_said {
            said.push(line);
        }
    }
    said.join("\n")
}

/// The crates of ours that a text names, as packages.
fn crates_in(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("eke_") {
        let name: String =
            text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        found.insert(name.replace('_', "-"));
    }
    found.remove("eke-lab");
    found
}

/// All files of Rust under a folder, in order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::mutants::all;

    fn of_file(end: &str) -> &'static Mutant {
        all().iter().find(|mutant| mutant.file.ends_with(end)).expect("there is one")
    }

    fn reached(reach: &Digests, mutant: &Mutant) -> BTreeSet<String> {
        let mut named = crates_in(&reach.shared);
        for text in reach.audit(mutant.audit).expect("an audit") {
            named.extend(crates_in(text));
        }
        reach.closure(named)
    }

    #[test]
    fn every_mutant_has_a_digest_and_no_two_the_same() {
        let reach = Digests::new().expect("the source");
        let digests: BTreeSet<String> =
            all().iter().map(|mutant| reach.digest(mutant).expect("a digest")).collect();
        assert_eq!(digests.len(), all().len());
    }

    #[test]
    fn what_lists_and_tries_mutants_is_no_audit() {
        let reach = Digests::new().expect("the source");
        for name in ["mutants", "list", "reach", "workshop"] {
            assert!(!reach.audits.contains_key(name), "{name}");
        }
        let listed = "bridge-reversed";
        assert!(reach.audits.values().all(|text| !text.contains(listed)));
        assert!(!reach.shared.contains(listed));
    }

    #[test]
    fn what_an_audit_reaches_is_its_crates_and_all_under_them() {
        let reach = Digests::new().expect("the source");
        let shape = reached(&reach, of_file("shape/edges.rs"));
        for name in ["eke-geo", "eke-select", "eke-noise", "eke-budget", "libm"] {
            assert!(shape.contains(name), "{name}");
        }
        let path = reached(&reach, of_file("path/gaussian.rs"));
        assert!(path.contains("eke-noise") && path.contains("dashu-int"));
        for name in ["eke-geo", "eke-engine", "oneshot"] {
            assert!(!path.contains(name), "{name}");
        }
    }

    #[test]
    fn a_digest_changes_with_the_mistake_and_with_all_that_is_reached() {
        let mut reach = Digests::new().expect("the source");
        let mutant = of_file("path/gaussian.rs");
        let before = reach.digest(mutant).expect("a digest");
        assert_eq!(reach.digest(mutant).expect("a digest"), before);
        let other = Mutant { replace: "something else", ..*mutant };
        assert_ne!(reach.digest(&other).expect("a digest"), before);
        for name in ["dashu-int", "eke-noise"] {
            let about = &mut reach.packages.get_mut(name).expect("a package").0;
            about.push(' ');
            assert_ne!(reach.digest(mutant).expect("a digest"), before, "{name}");
            reach.packages.get_mut(name).expect("a package").0.pop();
        }
        reach.packages.get_mut("oneshot").expect("a package").0.push(' ');
        assert_eq!(reach.digest(mutant).expect("a digest"), before);
        reach.shared.push(' ');
        assert_ne!(reach.digest(mutant).expect("a digest"), before);
    }

    #[test]
    fn what_is_not_understood_counts_as_not_caught() {
        let mutant = of_file("path/gaussian.rs");
        let kept = Caught::parse(&format!("# about\n{} abc\nnonsense\n", mutant.name));
        assert!(kept.has(mutant, "abc"));
        assert!(!kept.has(mutant, "abd"));
        assert!(!Caught::parse(mutant.name).has(mutant, ""));
    }

    #[test]
    fn the_manifest_counts_for_what_is_reached() {
        let text = "[workspace.dependencies]\n# why\na = \"1\"\nb = \"2\"\n[profile.dev]\nx = 1\n[profile.release]\ny = 1\n";
        let reached = BTreeSet::from(["b".to_owned()]);
        let said = "[workspace.dependencies]\nb = \"2\"\n[profile.dev]\nx = 1";
        assert_eq!(manifest(text, &reached), said);
    }
}
