//! Where a device keeps what it must not lose: one piece of bytes, replaced as a whole.
//!
//! A storage that says that it has stored something finds it again, also after a crash or a power
//! cut; one that fails may have stored it or not, and keeps either the old piece or the new one,
//! never a mixture. What has been lost is said to be lost, since a device that begins anew would
//! have a full budget again.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A place for one piece of bytes, for one device at a time.
///
/// Its implementor sees to that: while one is open, no other on the same bytes is, in this program
/// or another. Two devices on one storage would each spend the whole budget. Before it stores, a
/// device looks whether another one has, and stops if so; but between its look and its storing only
/// the storage can keep others out.
pub trait Storage {
    /// What was stored last; none if nothing ever was.
    ///
    /// # Errors
    /// It cannot be read, or was lost.
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError>;

    /// Replaces what is stored, for good, before it returns.
    ///
    /// # Errors
    /// Either the old bytes are there or the new ones: only loading them tells.
    fn store(&mut self, bytes: &[u8]) -> Result<(), StorageError>;
}

impl<S: Storage + ?Sized> Storage for &mut S {
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        (**self).load()
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        (**self).store(bytes)
    }
}

/// Why nothing was stored or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// Somebody else has it open.
    #[error("another program has the device's storage open: a device runs once")]
    Busy,
    /// What had been stored is not there any more.
    #[error(
        "what the device had stored is gone: its account is lost, and a new one would have a full budget; restore the newest copy"
    )]
    Lost,
    /// The disk or the host said no.
    #[error("the device's storage failed: {0}")]
    Failed(#[from] io::Error),
}

/// A storage that lives as long as the program.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    bytes: Option<Vec<u8>>,
}

impl MemoryStorage {
    /// Nothing stored.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Storage for MemoryStorage {
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.bytes.clone())
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.bytes = Some(bytes.to_vec());
        Ok(())
    }
}

/// A folder with one file in it, for one program at a time.
///
/// New bytes are written to a file beside it, synced, and renamed over it, and the folder is
/// synced. The file that is locked while the storage is open also says that something was stored
/// once, so that a file that was deleted is missed.
#[derive(Debug)]
pub struct FileStorage {
    folder: PathBuf,
    lock: File,
    is_marked: bool,
}

impl FileStorage {
    const STATE: &str = "device.state";
    const NEXT: &str = "device.next";
    const LOCK: &str = "device.lock";

    /// Opens the storage in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// Another program has it open, or the folder cannot be used.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StorageError> {
        let folder = folder.as_ref().to_path_buf();
        fs::create_dir_all(&folder)?;
        let mut lock = own(OpenOptions::new().create(true).truncate(false))
            .read(true)
            .write(true)
            .open(folder.join(Self::LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StorageError::Busy,
            TryLockError::Error(error) => StorageError::Failed(error),
        })?;
        let is_marked = lock.read(&mut [0])? > 0;
        Ok(Self { folder, lock, is_marked })
    }

    /// Says in the lock that something has been stored.
    fn mark(&mut self) -> io::Result<()> {
        if !self.is_marked {
            self.lock.write_all(b"stored\n")?;
            self.lock.sync_all()?;
            self.is_marked = true;
        }
        Ok(())
    }
}

impl Storage for FileStorage {
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        match fs::read(self.folder.join(Self::STATE)) {
            Ok(bytes) => {
                self.mark()?;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.is_marked {
                    Err(StorageError::Lost)
                } else {
                    Ok(None)
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let next = self.folder.join(Self::NEXT);
        let mut file =
            own(OpenOptions::new().create(true).truncate(true)).write(true).open(&next)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&next, self.folder.join(Self::STATE))?;
        sync_folder(&self.folder)?;
        self.mark()?;
        Ok(())
    }
}

/// Files that nobody else on the machine may read, where there is such a thing.
fn own(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// The rename is only as durable as the folder that it happened in.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
