//! Privacy budgets that cannot be overspent.
//!
//! ```
//! use eke_budget::*;
//!
//! // A promise to every rider, fixed for good: epsilon 1 at delta 1e-6.
//! let budget = BudgetSpec::promising(Epsilon::new(1.0)?)
//!     .with_delta(Delta::new(1e-6)?)
//!     .resolve(Metric::Hamming(Adjacency::AddRemove))?;
//! let mut journal = MemoryJournal::new();
//! let mut account = Account::open("riders", budget, &mut journal)?;
//!
//! // A release is approved, recorded, and only then drawn: the receipt is the proof.
//! let approved = account.approve(Charge::zcdp(Rho::new(0.01)?))?;
//! let receipt = account.commit(approved, &mut journal)?;
//! let _drawn = receipt.redeem();
//!
//! // What does not fit is refused, and nothing changes.
//! let refusal = account.approve(Charge::zcdp(Rho::new(0.5)?)).unwrap_err();
//! assert!(refusal.to_string().starts_with("refused: rho=0.5 was asked of account `riders`"));
//! assert_eq!(account.odometer().zcdp().unwrap().spent(), "0.01".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is where:
//!
//! | to state privacy | |
//! |---|---|
//! | [`Epsilon`], [`Delta`], [`Rho`], [`L1`], [`L2`], [`LInf`], [`Variance`], [`Metres`], [`BoundedRange`] | parameters, each a type, checked when made |
//! | [`Metric`], [`Adjacency`], [`Reach`] | what "close" means |
//! | [`convert`] | from one statement to another, never understating the loss |
//! | [`normal`] | the normal distribution in its tails, for prices |
//!
//! | to spend it | |
//! |---|---|
//! | [`Amount`] | exact money |
//! | [`Charge`], [`Purchase`] | a price, and what is bought for it |
//! | [`BudgetSpec`], [`Budget`], [`Promise`] | what may be spent and what that promises |
//! | [`Account`], [`Purse`], [`Refusal`] | the filter that says yes or no |
//! | [`Raise`], [`Coarsen`], [`Level`], [`PathId`] | noise paths, paid up to their finest point |
//! | [`Round`], [`Settlement`] | ex-post prices: reserved at worst, settled at what they came to |
//! | [`GroupPrices`], [`GroupRaise`] | many groups, of which a unit touches few |
//!
//! | to show it | |
//! |---|---|
//! | [`Approved`], [`Receipt`], [`Journal`] | proof that a release was charged and recorded first |
//! | [`Batch`], [`Entered`], [`Recorded`] | approvals of many requests, recorded together |
//! | [`Standing`], [`Totals`] | an account without its history, to be kept and restored |
//! | [`Odometer`], [`TimeUniform`] | what has been spent |
//!
//! No I/O, no randomness, no async. The statements behind the code are in `docs/theorems.md`.

mod account;
mod amount;
mod batch;
mod book;
mod budget;
mod charge;
pub mod convert;
mod enclosure;
mod evidence;
mod group;
mod metric;
pub mod normal;
mod odometer;
mod parameter;
mod path;
mod purse;
mod refusal;
mod round;
mod standing;

pub use account::{Account, ReplayError};
pub use amount::{Amount, Currency, Price};
pub use batch::{Batch, Entered, Recorded};
pub use budget::{Budget, BudgetError, BudgetSpec, Promise};
pub use charge::{Charge, ChargeError, Purchase};
pub use evidence::{
    Approved, CommitError, Entry, Event, Journal, MemoryJournal, NoHistory, OtherAccount,
    OutOfSequence, Receipt, Receipts,
};
pub use group::{GroupError, GroupOffer, GroupPrices, GroupRaise, GroupRound, GroupStep};
pub use metric::{Adjacency, Metric, Reach};
pub use odometer::{Odometer, RunningBound, TimeUniform};
pub use parameter::{
    BoundedRange, Delta, Epsilon, L1, L2, LInf, Metres, ParameterError, Rho, Variance,
};
pub use path::{Coarsen, Level, NotAPathId, PathError, PathId, Raise, Reveal, RevealReceipt};
pub use purse::{Limits, Purse};
pub use refusal::Refusal;
pub use round::{
    AboveWorstCase, ExtendError, Extension, OtherRound, Round, Rounds, Settlement, Unsettled,
    UnsettledReason,
};
pub use standing::{Standing, StandingError, Totals};
