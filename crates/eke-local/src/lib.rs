//! The local model: nobody trusts the collector, so every device randomizes its own answer and
//! keeps its own budget.
//!
//! In [`collector`]:
//!
//! - [`Coordinator`], [`Question`]: the collector's side: who is asked what, and what each has left
//!   at least.
//!
//! In [`device`]:
//!
//! - [`Mechanism`], [`Request`], [`Reply`]: what a device is asked, and what it answers.
//! - [`Device`], [`Component`]: what a device holds, its account, and its side of the protocol.
//! - [`Storage`], [`FileStorage`], [`MemoryStorage`]: where it keeps what it must not lose.
//! - [`Wire`]: reports as bytes.
//!
//! In [`estimate`]:
//!
//! - [`Tally`], [`Estimates`]: counting reports, and what the counts say.
//!
//! In [`fleet`]:
//!
//! - [`Fleet`]: millions of devices as columns, for research and load tests.
//! - [`Simulation`]: a collection from beginning to end, on made-up people.
//!
//! In [`plan`]:
//!
//! - [`Plan`], [`Method`]: which report each tier gets, from one chain of them.
//!
//! In [`worth`]:
//!
//! - [`subset`](worth::subset), [`hash`](worth::hash), [`bits`](worth::bits): what reports of the
//!   subset mechanism, of local hashing and of binary randomized response are worth.
//! - [`Law`]: the law of a report.

pub mod collector;
pub mod device;
pub mod estimate;
pub mod fleet;
pub mod plan;
pub mod worth;

pub use collector::coordinator::{Coordinator, Question};
pub use device::mechanism::Mechanism;
pub use device::request::{Reply, Request};
pub use device::storage::{FileStorage, MemoryStorage, Storage};
pub use device::wire::Wire;
pub use device::{Component, Device, DeviceError};
pub use estimate::Estimates;
pub use estimate::tally::Tally;
pub use fleet::Fleet;
pub use fleet::simulation::Simulation;
pub use plan::{Method, Plan, Tier};
pub use worth::law::Law;
