//! Durable accounts, charges, noise paths and answers, in a file or in PostgreSQL.
//!
//! ```
//! use eke_budget::*;
//! use eke_ledger::*;
//!
//! # let folder = tempfile::tempdir()?;
//! let ledger = Ledger::open(&Address::File(folder.path().join("eke.ledger")))?;
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The order of one request: charge (on disk) → draw → store the answer (on disk) → send. A crash
//! can lose budget, never privacy: what was charged and not answered stays paid, and is never drawn
//! again under the same charge.
//!
//! What is where:
//!
//! To ask:
//!
//! - [`Ledger`], [`Address`], [`Ticket`]: an open ledger, where it lies, and what is waited for or
//!   awaited.
//! - [`Request`], [`Key`], [`Stamp`], [`Moment`]: who asks what and when; asked again under its key
//!   it is charged once.
//! - [`Item`]: [`Spend`], [`Show`], [`RaiseGroups`], [`Reserve`]: what is bought: a release, a
//!   point of a path, groups of a bundle, a round.
//! - [`Outcome`], [`Charged`], [`Claim`], [`Answer`], [`Answered`]: receipts, the right to one
//!   answer, and an answer that may be sent.
//! - [`LedgerError`]: a no, in one sentence.
//! - [`Waiting`](patience::Waiting), [`Silently`](patience::Silently),
//!   [`Patience`](patience::Patience), [`LONGEST`](patience::LONGEST): how long another program's
//!   lock is waited for.
//!
//! To check:
//!
//! - [`verify`], [`check`](journal::check), [`export()`], [`Anchor`]: the journal looked through,
//!   written out, and pinned down elsewhere.
//! - [`Line`](journal::Line), [`What`](journal::What), [`Digest`]: what a line of the journal says.
//!
//! Many people:
//!
//! - [`Register`], [`Terms`], [`Person`]: an account for everybody in one file, and what it was
//!   made for.
//! - [`Asking`](register::Asking), [`Short`](register::Short), [`Reserved`](register::Reserved),
//!   [`Reservation`](register::Reservation), [`Settled`](register::Settled),
//!   [`UnderWay`](register::UnderWay): reserved before anything is drawn, settled afterwards.
//! - [`RegisterLine`](register::RegisterLine), [`Happened`](register::Happened),
//!   [`RegisterAnchor`](register::RegisterAnchor), [`RegisterError`](register::RegisterError): its
//!   journal, and a no.
//!
//! Underneath:
//!
//! - [`Store`](store::Store), [`Page`](store::Page): what is written together, and where; tests put
//!   failing stores here.
//! - [`Sqlite`](store::Sqlite), [`Postgres`](store::Postgres),
//!   [`write_private`](store::write_private): the two stores, and files that only their owner may
//!   read.

mod address;
pub mod error;
pub mod item;
pub mod journal;
pub mod ledger;
mod moment;
pub mod patience;
pub mod register;
mod request;
pub mod store;
mod ticket;
mod writer;

pub use address::Address;
pub use error::LedgerError;
pub use item::{Item, RaiseGroups, Reserve, Show, Spend};
pub use journal::anchor::Anchor;
pub use journal::audit::verify;
pub use journal::digest::Digest;
pub use journal::export::export;
pub use ledger::Ledger;
pub use moment::Moment;
pub use register::{Person, Register, Terms};
pub use request::{Answer, Answered, Charged, Claim, Key, Outcome, Request, Stamp};
pub use ticket::{AwaitedTicket, Ticket};
