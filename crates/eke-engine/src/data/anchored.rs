//! What a policy remembers of its ledger, so that one that was deleted, emptied, exchanged or
//! rolled back is not begun anew in silence.
//!
//! Beside the policy lies a file of the same name and `.anchor`: which ledger it is, and where the
//! journals ended that were last written to. It is what `eke ledger anchor` prints, for some
//! accounts. It is written after the ledger, so it is never ahead of it. It does not stop a steward
//! who wants to begin anew, who removes it; for that an anchor has to be kept elsewhere.

use std::path::{Path, PathBuf};

use eke_ledger::{Address, Anchor, Ledger};

use crate::error::EngineError;

/// What a policy remembers of its ledger.
#[derive(Clone, Debug)]
pub(crate) struct Anchored {
    path: PathBuf,
}

impl Anchored {
    pub(crate) fn of(policy: &Path) -> Self {
        let mut path = policy.as_os_str().to_owned();
        path.push(".anchor");
        Self { path: path.into() }
    }

    fn read(&self) -> Result<Option<Anchor>, EngineError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refuse(&format!("it cannot be read: {error}"))),
        };
        text.parse().map(Some).map_err(|_| self.refuse("it is not an anchor any more"))
    }

    fn refuse(&self, why: &str) -> EngineError {
        EngineError::OtherLedger { anchor: self.path.display().to_string(), why: why.to_owned() }
    }

    /// Refuses to go on without the ledger that is remembered.
    pub(crate) fn check_there(&self, address: &Address) -> Result<(), EngineError> {
        match self.read()? {
            Some(_) if !address.is_begun() => {
                let why = format!("the ledger {address} is not there or is empty");
                Err(self.refuse(&why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to go on with another ledger, or an older copy of it.
    pub(crate) fn check(&self, ledger: &Ledger, address: &Address) -> Result<(), EngineError> {
        let Some(anchor) = self.read()? else { return Ok(()) };
        match ledger.differs_from(anchor).wait()? {
            None => Ok(()),
            Some(why) => Err(self.refuse(&format!("of the ledger {address}, {why}"))),
        }
    }

    /// Remembers where journals end. Where the policy's folder cannot be written to, nothing is
    /// remembered.
    pub(crate) fn keep(&self, ledger: &Ledger, accounts: Vec<String>) -> Result<(), EngineError> {
        let before = self.read()?;
        let now = ledger.anchor(accounts).wait()?;
        let now = match &before {
            Some(before) => now.merged(before),
            None => now,
        };
        if before.as_ref() != Some(&now) {
            let _ = eke_ledger::store::write_private(&self.path, format!("{now}\n").as_bytes());
        }
        Ok(())
    }
}
