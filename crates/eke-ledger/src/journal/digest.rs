//! Digests: 32 bytes that stand for what was hashed.
//!
//! What a digest is made of may never change: journals outlive code.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A BLAKE3 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The head of a chain without lines: nobody else's chain starts with it.
    pub(crate) fn origin(ledger: &str, account: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("eke ledger 1: the origin of a chain");
        hasher.update(&length(ledger)).update(ledger.as_bytes()).update(account.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The head of a chain after one more line.
    #[must_use]
    pub(crate) fn then(&self, body: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("eke ledger 1: a line of a chain");
        hasher.update(&self.0).update(body.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The digest of several texts, kept apart from each other.
    pub(crate) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("eke ledger 1: a request");
        for part in parts {
            hasher.update(&length(part)).update(part.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest of these bytes, if there are 32.
    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

fn length(text: &str) -> [u8; 8] {
    (text.len() as u64).to_le_bytes()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written as 64 hexadecimal digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes())).map_err(|_| NotADigest)
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}
