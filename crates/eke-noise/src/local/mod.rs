//! The local model: one category's reports, fine to coarse.

pub(crate) mod bits;
pub(crate) mod category;
pub(crate) mod category_path;
pub(crate) mod chain;
pub(crate) mod hash;
pub(crate) mod sets;
pub(crate) mod share;
pub(crate) mod subset;

pub use bits::{BitChain, BitTemplate};
pub use category::{Categories, Category};
pub use category_path::{CategoryPath, ChainPrice, Report};
pub use chain::{Chain, ChainError, ChainOf, MOST_CATEGORIES, ReportLaw};
pub use hash::{Hash, HashChain, HashTemplate, MOST_BITS};
pub use share::{Share, Weight};
pub use subset::{SubsetChain, Template};
