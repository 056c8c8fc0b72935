//! The journal: lines chained by digests, how it is verified, exported and pinned elsewhere.

pub(crate) mod anchor;
pub(crate) mod audit;
pub(crate) mod digest;
pub(crate) mod export;
pub(crate) mod line;

pub use anchor::{Anchor, Anchored, NotAnAnchor};
pub use audit::{Finding, Report, check, verify};
pub use digest::{Digest, NotADigest};
pub use export::export;
pub use line::{Line, LineRow, What};
