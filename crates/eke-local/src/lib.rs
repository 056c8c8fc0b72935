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
//! | [`Law`], [`Tally`], [`Estimates`] | counting reports, and what the counts say |
//! | [`Wire`] | reports as bytes |
//! | [`Simulation`] | a collection from beginning to end, on made-up people |

pub mod bits;
pub mod hash;
pub mod subset;

mod choices;
mod coordinator;
mod counters;
mod device;
mod estimate;
mod fleet;
mod hash_plan;
mod law;
mod mechanism;
mod plan;
mod request;
mod sheet;
mod simplex;
mod simulation;
mod state;
mod storage;
mod subset_plan;
mod tails;
mod tally;
mod wire;

pub use coordinator::{Coordinator, Left, Question, ReplyError};
pub use device::{Component, Device, DeviceError, MOST_CHAINS, MOST_KEPT_REPORTS, MOST_KEPT_WORDS};
pub use estimate::{Estimates, Heavy, Interval, Over};
pub use fleet::{Fleet, FleetError, Replies};
pub use law::{Law, ReportError};
pub use mechanism::{Currency, MOST_REPORTS, MOST_WORDS, Mechanism, MechanismError};
pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier, variance};
pub use request::{LONGEST_REQUEST, Reply, Request, RequestError};
pub use sheet::{Prices, Sheet, SheetError, Who};
pub use simulation::{MOST_USERS, Simulated, SimulatedTier, Simulation, SimulationError};
pub use state::DamagedDevice;
pub use storage::{FileStorage, MemoryStorage, Storage, StorageError};
pub use tally::{Tally, TallyError};
pub use wire::{VERSION, Wire, WireError};
