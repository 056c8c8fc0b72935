//! Tables in shards: what does not fit into memory goes to a file shard by shard, and one shard at
//! a time is brought together again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How many shards a table has. One of them must fit into memory.
const SHARDS: usize = 128;

/// A part of a table: all that it holds of some names.
pub(crate) trait Shard {
    /// How many bytes of memory it holds.
    fn held(&self) -> usize;

    /// Appends all that it holds, as bytes that [`Shard::read`] takes in.
    fn write(&self, bytes: &mut Vec<u8>);

    /// Takes in what another one has written; none if these are no such bytes.
    fn read(&mut self, bytes: &[u8]) -> Option<()>;
}

/// Where what has this hash is: bits that tables do not look at first.
pub(crate) fn shard(hash: u64) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default() % SHARDS
}

/// A table, of which some may lie on disk.
pub(crate) struct Shards<T> {
    pub(crate) in_memory: Vec<T>,
    on_disk: Vec<Segments>,
    /// How often memory was given up.
    pub(crate) spills: usize,
}

/// What was put on disk at one time: the bytes of every shard, one after the other.
struct Segments {
    file: File,
    /// Where each shard ends.
    ends: Vec<u64>,
}

impl<T: Shard> Shards<T> {
    pub(crate) fn new(make: &dyn Fn() -> T) -> Self {
        let in_memory = (0..SHARDS).map(|_| make()).collect();
        Self { in_memory, on_disk: Vec::new(), spills: 0 }
    }

    /// How many bytes of memory it holds.
    pub(crate) fn held(&self) -> usize {
        self.in_memory.iter().map(Shard::held).sum()
    }

    /// Puts all of it into a file in this folder that nobody else can open.
    pub(crate) fn spill(&mut self, folder: &Path, make: &dyn Fn() -> T) -> io::Result<()> {
        let mut file = BufWriter::new(nameless(folder)?);
        let (mut bytes, mut ends, mut end) = (Vec::new(), Vec::with_capacity(SHARDS), 0);
        for shard in &mut self.in_memory {
            bytes.clear();
            std::mem::replace(shard, make()).write(&mut bytes);
            file.write_all(&bytes)?;
            end += bytes.len() as u64;
            ends.push(end);
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.on_disk.push(Segments { file, ends });
        self.spills += 1;
        Ok(())
    }

    /// What several tables hold, by shard.
    pub(crate) fn by_shard(tables: Vec<Self>) -> Vec<Parts<T>> {
        let mut parts: Vec<Parts<T>> = (0..SHARDS).map(|_| Parts::default()).collect();
        for table in tables {
            for (shard, parts) in table.in_memory.into_iter().zip(&mut parts) {
                parts.in_memory.push(shard);
            }
            for segments in table.on_disk {
                let (file, mut start) = (Arc::new(Mutex::new(segments.file)), 0);
                for (&end, parts) in segments.ends.iter().zip(&mut parts) {
                    if end > start {
                        parts.on_disk.push((Arc::clone(&file), start, end));
                    }
                    start = end;
                }
            }
        }
        parts
    }
}

/// What several tables hold of one shard.
pub(crate) struct Parts<T> {
    in_memory: Vec<T>,
    /// Files, which other shards share, and where in them it is.
    on_disk: Vec<(Arc<Mutex<File>>, u64, u64)>,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self { in_memory: Vec::new(), on_disk: Vec::new() }
    }
}

impl<T: Shard> Parts<T> {
    /// All of it as one.
    pub(crate) fn merged(mut self, make: &dyn Fn() -> T) -> io::Result<T> {
        // The largest stays as it is.
        let largest = (0..self.in_memory.len()).max_by_key(|&at| self.in_memory[at].held());
        let mut all = largest.map_or_else(make, |at| self.in_memory.swap_remove(at));
        let mut bytes = Vec::new();
        for part in self.in_memory {
            bytes.clear();
            part.write(&mut bytes);
            drop(part);
            all.read(&bytes).ok_or_else(damaged)?;
        }
        for (file, start, end) in self.on_disk {
            bytes.clear();
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start))?;
            (&mut *file).take(end - start).read_to_end(&mut bytes)?;
            drop(file);
            all.read(&bytes).ok_or_else(damaged)?;
        }
        Ok(all)
    }
}

fn damaged() -> io::Error {
    io::Error::other("what was put on disk is not as it was")
}

/// A file that nobody else can open.
pub(crate) fn nameless(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // Others of this run make theirs in the same folder.
    let mut number = 0;
    loop {
        let path = folder.join(format!("part-{number}"));
        match options.open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_disk_lies_in_a_file_without_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = nameless(folder.path()).unwrap();
        file.write_all(b"alice").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Bytes, in order of arrival.
    #[derive(Default)]
    struct Bytes(Vec<u8>);

    impl Shard for Bytes {
        fn held(&self) -> usize {
            self.0.len()
        }

        fn write(&self, bytes: &mut Vec<u8>) {
            bytes.extend(&self.0);
        }

        fn read(&mut self, bytes: &[u8]) -> Option<()> {
            self.0.extend(bytes);
            Some(())
        }
    }

    #[test]
    fn shards_come_back_with_what_was_put_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let make = &Bytes::default as &dyn Fn() -> Bytes;
        let mut tables = vec![Shards::new(make), Shards::new(make)];
        let mut expected = vec![Vec::new(); SHARDS];
        for turn in 0..9u8 {
            let table = &mut tables[usize::from(turn % 2)];
            for at in (0..SHARDS).step_by(usize::from(turn) + 1) {
                table.in_memory[at].0.extend(vec![turn; at]);
                expected[at].extend(vec![turn; at]);
            }
            if turn % 3 == 1 {
                table.spill(folder.path(), make).unwrap();
                assert_eq!(table.held(), 0);
            }
        }
        let parts = Shards::by_shard(tables);
        for (parts, mut expected) in parts.into_iter().zip(expected) {
            let mut found = parts.merged(make).unwrap().0;
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
