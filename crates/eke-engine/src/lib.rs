//! Policies, datasets, analysts: questions to answers.
//!
//! ```
//! use eke_engine::{Accuracy, ColumnGoals, Engine, Goal, Question, Who};
//! use eke_engine::data::write_city;
//! use eke_noise::{Confidence, Tolerance};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let folder = scratch.path();
//! // Somebody's data and a policy for them; here both are made up.
//! let city = write_city(folder, 2_000)?;
//! let engine = Engine::open(&city.policy)?;
//! let question = Question {
//!     sql: "SELECT district, COUNT(*) FROM trips GROUP BY district".into(),
//!     goal: Goal {
//!         accuracy: Accuracy::Relative(Tolerance::new(0.2)?),
//!         floor: None,
//!         at_most: Some("0.01".parse()?),
//!         confidence: Confidence::new(0.95)?,
//!     },
//!     columns: ColumnGoals::default(),
//!     who: Who::Analyst("ana".into()),
//! };
//! let answer = engine.ask(&question, &())?;
//! assert_eq!(answer.rows.len(), 6);
//! // The same again is the same, and free.
//! let again = engine.ask(&question, &())?;
//! assert!(again.free && again.rows == answer.rows);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is where, by room:
//!
//! - `engine`: [`Engine`] is a policy with its ledger, open. [`Access`] says how it is opened, and
//!   [`Declared`] what became of a snapshot.
//! - [`ask`]: a [`Question`] has SQL, an asker ([`Who`]) and a [`Goal`] with its [`Accuracy`]. An
//!   [`Answer`] has [`Row`]s of [`Cell`]s with their intervals, why each [`Stopped`], and its
//!   [`Cost`]. [`explain()`] gives an [`Explanation`]: what a question would do and cost, without
//!   reading a row. An [`Observer`] sees progress, and may decline or stop.
//! - [`watch`] (sparse vector): a [`WatchQuestion`] compares answers with a line, step by step
//!   ([`Steps`](watch::Steps)). Every step has a [`Verdict`](watch::Verdict), and the whole is
//!   [`Watched`]. [`WatchPlan`](watch::WatchPlan) is what a watch would do and cost.
//! - [`purchase`]: charge, make durable, then read and draw, for everything above. Also who pays
//!   ([`Payers`](purchase::Payers)), and what failures can reveal
//!   ([`failure_bits`](purchase::failure_bits)).
//! - [`geo`] (geo-indistinguishability): a [`PlaceFile`](geo::PlaceFile) of places; a
//!   [`Person`](geo::Person), whose account pays for releases, nearest places and hulls;
//!   [`People`](geo::People), who have an account each; GeoJSON ([`Features`](geo::Features)).
//! - [`profile`]: a [`Profile`] of a dataset that the steward buys once, and the
//!   bounds that follow from it for the policy.
//! - [`policy`]: the policy file, and drafts of one.
//! - [`data`]: files ([`Source`]), what the ledger has pinned of them ([`registry`]), and made-up
//!   data to try things on ([`write_city`](data::write_city)).
//! - [`report`]: for the steward, budgets ([`Standing`](report::Standing)) and history
//!   ([`Asked`](report::Asked)).
//! - [`tables()`]: what may be asked about, and [`rehearse()`]: an engine over made-up rows; both
//!   from public information alone.
//! - [`error`]: why there is no answer. An [`EngineError`] has an [`ErrorKind`]; a [`Refused`] says
//!   what was asked, what is left and what would fit. Places have their own
//!   [`PlacesError`](geo::PlacesError).

pub mod ask;
pub mod data;
mod engine;
pub mod error;
pub mod geo;
pub mod policy;
pub mod profile;
pub mod purchase;
pub mod rehearse;
pub mod report;
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "tests of this crate use it")
)]
mod rows;
pub mod tables;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod watch;

pub use ask::Observer;
pub use ask::explain::{Explanation, explain};
pub use ask::question::{Accuracy, ColumnGoals, Goal, Question, Who};
pub use ask::shown::answer::{Answer, Cell, Cost, Row, Stopped};
pub use data::registry;
pub use data::source::Source;
pub use engine::{Access, Declared, Engine};
pub use error::{EngineError, ErrorKind, Refused};
pub use profile::{Profile, ProfileRequest};
pub use rehearse::rehearse;
pub use tables::tables;
pub use watch::{WatchQuestion, Watched};
