//! Reports of categories, and chains of them.

mod category_paths;
mod chains;
