//! A ledger that was never begun: nothing is in it, and nothing can be written to it.

use std::sync::Arc;

use eke_budget::PathId;

use crate::error::StoreError;
use crate::journal::LineRow;
use crate::store::Page;
use crate::store::{
    Appended, Census, Currencies, Held, Reads, Seen, Store, StoredAccount, StoredLevel, StoredPath,
    StoredPoint, StoredRequest, StoredRound,
};
use crate::{Digest, Key};

/// What is looked at in place of a ledger that is not there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unbegun;

fn no() -> StoreError {
    StoreError::Broken("there is no ledger yet: it is begun with the first question".into())
}

impl Store for Unbegun {
    fn ledger(&self) -> &str {
        ""
    }

    fn is_remote(&self) -> bool {
        false
    }

    fn lock(&mut self, _: &[Arc<str>]) -> Result<Vec<Option<u64>>, StoreError> {
        Err(no())
    }

    fn unlock(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn append(&mut self, _: &Page) -> Result<Appended, StoreError> {
        Err(no())
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Reads for Unbegun {
    fn account(&mut self, _: &str) -> Result<Option<StoredAccount>, StoreError> {
        Ok(None)
    }

    fn names(&mut self, _: Option<&str>, _: u32) -> Result<Vec<Arc<str>>, StoreError> {
        Ok(Vec::new())
    }

    fn lines(&mut self, _: &str, _: u64, _: u32) -> Result<Vec<LineRow>, StoreError> {
        Ok(Vec::new())
    }

    fn level(
        &mut self,
        _: &str,
        _: PathId,
        _: Currencies,
    ) -> Result<Option<StoredLevel>, StoreError> {
        Ok(None)
    }

    fn levels(
        &mut self,
        _: &str,
        _: Option<(PathId, Currencies)>,
        _: u32,
    ) -> Result<Vec<(PathId, StoredLevel)>, StoreError> {
        Ok(Vec::new())
    }

    fn request(&mut self, _: &Key) -> Result<Option<StoredRequest>, StoreError> {
        Ok(None)
    }

    fn path(&mut self, _: PathId) -> Result<Option<StoredPath>, StoreError> {
        Ok(None)
    }

    fn point(&mut self, _: PathId, _: u32) -> Result<Option<StoredPoint>, StoreError> {
        Ok(None)
    }

    fn rounds(&mut self, _: PathId, _: u32, _: u32) -> Result<Vec<StoredRound>, StoreError> {
        Ok(Vec::new())
    }

    fn seen(&mut self, _: &str, _: PathId) -> Result<Vec<Seen>, StoreError> {
        Ok(Vec::new())
    }

    fn held(&mut self, _: u32) -> Result<Vec<Held>, StoreError> {
        Ok(Vec::new())
    }

    fn question(&mut self, _: Digest) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn sheet_version(&mut self, _: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn sheet(&mut self, _: &str) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        Ok(None)
    }

    fn census(&mut self) -> Result<Census, StoreError> {
        Ok(Census::default())
    }
}
