//! The local model: nobody trusts the collector, so every device randomizes its own answer and
//! keeps its own budget.
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

mod collector;
mod device;
mod estimate;
mod fleet;
mod plan;
mod worth;

pub use collector::coordinator::{Coordinator, Left, Question, ReplyError};
pub use device::mechanism::{Currency, MOST_REPORTS, MOST_WORDS, Mechanism, MechanismError};
pub use device::request::{LONGEST_REQUEST, Reply, Request, RequestError};
pub use device::state::DamagedDevice;
pub use device::storage::{FileStorage, MemoryStorage, Storage, StorageError};
pub use device::wire::{VERSION, Wire, WireError};
pub use device::{Component, Device, DeviceError, MOST_CHAINS, MOST_KEPT_REPORTS, MOST_KEPT_WORDS};
pub use estimate::tally::{Tally, TallyError};
pub use estimate::{Estimates, Heavy, Interval, Over};
pub use fleet::sheet::{Prices, Sheet, SheetError, Who};
pub use fleet::simulation::{MOST_USERS, Simulated, SimulatedTier, Simulation, SimulationError};
pub use fleet::{Fleet, FleetError, Replies};
pub use plan::{MOST_TIERS, Method, Plan, PlanError, Tier, variance};
pub use worth::law::{Law, ReportError};
pub use worth::{bits, hash, subset};
