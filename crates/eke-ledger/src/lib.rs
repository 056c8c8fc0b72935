//! Durable accounts, charges, noise paths and answers, in a file or in PostgreSQL.
//!
//! ```
//! use eke_budget::*;
//! use eke_ledger::*;
//!
//! # let folder = std::env::temp_dir().join(format!("eke-ledger-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let ledger = Ledger::open(&Address::File(folder.join("eke.ledger")))?;
//! let budget = BudgetSpec::zcdp(Rho::new(1.0)?).resolve(Metric::Hamming(Adjacency::AddRemove))?;
//! ledger.open_account("riders", budget, Stamp::now("steward")).wait()?;
//!
//! // The charge is on disk before there is a receipt, and only a receipt lets noise be drawn.
//! let request = Request::new("q-1", Stamp::now("ana"), "SELECT count(*) FROM trips")?;
//! let price = Spend(Charge::zcdp(Rho::new(0.01)?));
//! let ticket = ledger.charge(request.clone(), "riders", price.clone(), Vec::<(&str, Spend<Charge>)>::new());
//! let charged = ticket.wait()?.charged().expect("a key that was not used before");
//! charged.own.redeem(); // here the noise is drawn
//!
//! // The answer is on disk before it is sent, and a retry gets it again for nothing.
//! let answer = ledger.answer(charged.claim, Answer::new("1234 trips"), Stamp::now("ana")).wait()?;
//! let again = ledger.charge(request, "riders", price, Vec::<(&str, Spend<Charge>)>::new());
//! assert_eq!(again.wait()?.answered(), Some(answer));
//! # drop(ledger);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The order of one request: charge (on disk) → draw → store the answer (on disk) → send. A crash
//! can lose budget, never privacy: what was charged and not answered stays paid, and is never drawn
//! again under the same charge.
//!
//! What is where:
//!
//! | to ask | |
//! |---|---|
//! | [`Ledger`], [`Address`], [`Ticket`] | an open ledger, where it lies, and what is waited for or awaited |
//! | [`Request`], [`Key`], [`Stamp`], [`Moment`] | who asks what and when; asked again under its key it is charged once |
//! | [`Want`]: [`Spend`], [`Show`], [`RaiseGroups`], [`Reserve`] | what is bought: a release, a point of a path, groups of a bundle, a round |
//! | [`Outcome`], [`Charged`], [`Claim`], [`Answer`], [`Answered`] | receipts, the right to one answer, and an answer that may be sent |
//! | [`LedgerError`] | a no, in one sentence |
//! | [`Waiting`], [`Silently`], [`Patience`], [`LONGEST`] | how long another program's lock is waited for |
//!
//! | to check | |
//! |---|---|
//! | [`verify`], [`check`], [`export()`], [`Anchor`] | the journal looked through, written out, and pinned down elsewhere |
//! | [`Line`], [`What`], [`Digest`] | what a line of the journal says |
//!
//! | many people | |
//! |---|---|
//! | [`Register`], [`Terms`], [`Person`] | an account for everybody in one file, and what it was made for |
//! | [`Asking`], [`Short`], [`Reserved`], [`Reservation`], [`Settled`], [`UnderWay`] | reserved before anything is drawn, settled afterwards |
//! | [`RegisterLine`], [`Happened`], [`RegisterAnchor`], [`RegisterError`] | its journal, and a no |
//!
//! | underneath | |
//! |---|---|
//! | [`Store`], [`Page`] | what is written together, and where; tests put failing stores here |
//! | [`Sqlite`], [`Postgres`], [`write_private`] | the two stores, and files that only their owner may read |

mod address;
mod anchor;
mod audit;
mod desk;
mod digest;
mod error;
mod export;
mod grains;
mod job;
mod ledger;
mod line;
mod moment;
mod page;
mod patience;
mod postgres;
mod private;
mod register;
mod request;
mod sqlite;
mod store;
mod ticket;
mod unbegun;
mod want;
mod writer;

pub use address::Address;
pub use anchor::{Anchor, Anchored, NotAnAnchor};
pub use audit::{Finding, Report, check, verify};
pub use digest::{Digest, NotADigest};
pub use error::{LedgerError, StoreError};
pub use export::export;
pub use ledger::{Extended, Ledger};
pub use line::{Line, LineRow, What};
pub use moment::Moment;
pub use page::{
    AccountRow, AnswerRow, DrawRow, HoldRow, LevelRow, Page, PointRow, Position, ReleaseRow,
    RequestRow, RoundRow, SeenRow, SheetRow,
};
pub use patience::{LONGEST, Patience, Silently, Waiting};
pub use postgres::Postgres;
pub use private::write_private;
pub use register::{
    Asking, Happened, Person, Register, RegisterAnchor, RegisterError, RegisterLine, Reservation,
    Reserved, Settled, Short, Terms, UnderWay,
};
pub use request::{Answer, Answered, Charged, Claim, Key, Outcome, Request, Stamp};
pub use sqlite::Sqlite;
pub use store::{
    Appended, Census, Currencies, Draw, Held, Seen, Store, StoredAccount, StoredLevel, StoredPath,
    StoredPoint, StoredRequest,
};
pub use ticket::Ticket;
pub use want::{RaiseGroups, Reserve, Show, Spend, Want, read_plan};
