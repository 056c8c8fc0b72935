//! What tests share.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use eke_noise::sampler::uniform_below;
//! use eke_testkit::{Fit, Seeded};
//!
//! let mut entropy = Seeded::new(7);
//! let draws: Vec<u64> = (0..100_000).map(|_| uniform_below(3, &mut entropy)).collect();
//! let fair = BTreeMap::from([(0, 1.0 / 3.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0)]);
//! let unfair = BTreeMap::from([(0, 0.35), (1, 0.325), (2, 0.325)]);
//! let fit = |law| Fit::of(draws.iter().copied(), law);
//! fit(&fair).assert(&fit(&unfair), "a die with three sides");
//! ```
//!
//! - [`Fit`]: a chi-square statistic beside a control that must be rejected (goodness of fit).
//! - [`Seeded`], [`Dice`]: bits that a seed decides, from a cryptographic generator and from a
//!   small fast one.
//! - [`Tape`], [`Nothing`], [`Counted`]: bits written down beforehand, no bits at all, and bits
//!   that are counted.
//! - [`oracle`]: the law of a mechanism, by trying everything that it can draw.
//! - [`Golden`]: values made elsewhere, which code is compared with.
//! - [`well_formed`]: whether a figure is XML.
//! - `expressions`: random rows and well-typed SQL expressions, behind the feature of that name.
//!
//! Folders for tests come from the crate `tempfile`.
//!
//! # Who may depend on it
//! Tests and benchmarks, as a dev-dependency, and the lab, which is a tool for research. Nothing
//! that ships: seeds have no business where noise is drawn for people. `tests/it/manifests.rs`
//! reads all manifests and checks it.
//!
//! # In the unit tests of `eke-noise`
//! This crate depends on `eke-noise`, whose tests depend on this crate. Cargo allows this circle,
//! and builds `eke-noise` twice for the unit tests inside its `src`: once as the crate under test,
//! and once for this crate. The two have different traits `Entropy`. Each source of bits therefore
//! also has a plain method `word`, and `eke-noise/src/kit.rs` implements the trait of the crate
//! under test with it, once for all unit tests. Tests under `tests/` see one `eke-noise` only, and
//! need nothing of the kind; the same is true of all other crates.

#[cfg(feature = "expressions")]
pub mod expressions;
mod fit;
mod golden;
pub mod oracle;
mod seeds;
mod tape;
mod xml;

pub use fit::Fit;
pub use golden::Golden;
pub use seeds::{Dice, Seeded};
pub use tape::{Counted, Nothing, Tape};
pub use xml::well_formed;
