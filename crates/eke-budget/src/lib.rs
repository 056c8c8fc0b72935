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
//! To state privacy:
//!
//! - [`Epsilon`], [`Delta`], [`Rho`], [`L1`], [`L2`], [`LInf`](number::LInf), [`Variance`],
//!   [`Metres`], [`BoundedRange`](number::BoundedRange): parameters, each a type, checked when
//!   made.
//! - [`Metric`], [`Adjacency`], [`Reach`](metric::Reach): what "close" means.
//! - [`convert`]: from one statement to another, never understating the loss.
//! - [`residual`]: whether one law of noise can be made of another by adding noise.
//! - [`normal`](number::normal): the normal distribution in its tails, for prices.
//!
//! To spend it:
//!
//! - [`Amount`]: exact money.
//! - [`Charge`], [`Purchase`]: a price, and what is bought for it.
//! - [`BudgetSpec`], [`Budget`], [`Promise`]: what may be spent and what that promises.
//! - [`Account`], [`Purse`](account::Purse), [`Refusal`]: the filter that says yes or no.
//! - [`Raise`], [`Coarsen`](purchase::Coarsen), [`Level`](purchase::Level), [`PathId`]: noise
//!   paths, paid up to their finest point.
//! - [`Round`](purchase::Round), [`Settlement`](purchase::Settlement): ex-post prices: reserved at
//!   worst, settled at what they came to.
//! - [`GroupPrices`](purchase::GroupPrices), [`GroupRaise`](purchase::GroupRaise): many groups, of
//!   which a unit touches few.
//!
//! To show it:
//!
//! - [`Approved`], [`Receipt`], [`Journal`]: proof that a release was charged and recorded first.
//! - [`Batch`](account::Batch), [`Entered`](account::Entered), [`Recorded`](account::Recorded):
//!   approvals of many requests, recorded together.
//! - [`Standing`](account::Standing), [`Totals`](account::Totals): an account without its history,
//!   to be kept and restored.
//! - [`Sheet`](account::Sheet), [`PaidColumn`](account::PaidColumn): many people's accounts as
//!   columns, and proof that a column of them was charged.
//! - [`Odometer`], [`TimeUniform`](account::TimeUniform): what has been spent.
//! - [`columns`]: prices and values of many groups as bytes, to be stored.
//!
//! No I/O, no randomness, no async. The statements behind the code are in `docs/theorems.md`.

pub mod account;
pub mod budget;
pub mod columns;
pub mod convert;
pub mod evidence;
pub mod metric;
pub mod number;
pub mod purchase;
mod refusal;
pub mod residual;

pub use account::Account;
pub use account::odometer::Odometer;
pub use budget::{Budget, BudgetSpec, Promise};
pub use evidence::{Approved, Entry, Event, Journal, MemoryJournal, NoHistory, Receipt};
pub use metric::{Adjacency, Metric};
pub use number::amount::{Amount, Price};
pub use number::parameter::{Delta, Epsilon, L1, L2, Metres, Rho, Variance};
pub use purchase::charge::{Charge, Purchase};
pub use purchase::path::{PathId, Raise, Reveal};
pub use refusal::Refusal;
