//! The local model: nobody trusts the collector, so every device randomizes its own answer and keeps its own
//! budget.
//!
//! | | |
//! |---|---|
//! | [`subset`], [`hash`], [`bits`] | what reports of the subset mechanism, of local hashing and of binary randomized response are worth |
//! | [`Plan`], [`Method`] | which report each tier gets, from one chain of them |
//! | [`Mechanism`], [`Request`], [`Reply`] | what a device is asked, and what it answers |
//! | [`Device`], [`Component`] | what a device holds, its account, and its side of the protocol |
//! | [`Coordinator`], [`Question`] | the collector's side: who is asked what, and what each has left at least |
//! | [`Fleet`], [`Sheet`] | millions of devices and their accounts as columns, for research and load tests |
//! | [`Storage`], [`FileStorage`], [`MemoryStorage`] | where it keeps what it must not lose |

pub mod bits;
pub mod hash;
pub mod subset;

mod choices;
mod coordinator;
mod device;
mod fleet;
mod hash_plan;
mod mechanism;
mod plan;
mod request;
mod sheet;
mod state;
mod storage;
mod subset_plan;

pub use coordinator::{Coordinator, Left, Question, ReplyError};
pub use device::{Component, Device, DeviceError, MOST_CHAINS};
pub use fleet::{Fleet, FleetError, Replies};
pub use mechanism::{Currency, MOST_REPORTS, MOST_WORDS, Mechanism, MechanismError};
pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier, variance};
pub use request::{LONGEST_REQUEST, Reply, Request, RequestError};
pub use sheet::{Prices, Sheet, SheetError, Who};
pub use state::DamagedDevice;
pub use storage::{FileStorage, MemoryStorage, Storage, StorageError};
