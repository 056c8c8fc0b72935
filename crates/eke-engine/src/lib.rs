//! Policies, datasets, analysts: questions to answers.
//!
//! ```
//! use eke_engine::{Accuracy, Engine, Goal, Question, Who};
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
//! What is where:
//!
//! | to ask | |
//! |---|---|
//! | [`Engine`], [`Access`] | a policy with its ledger, open, and how it is opened |
//! | [`Question`], [`Goal`], [`Accuracy`], [`Who`], [`Observer`] | what is asked, how good it must be, who asks and who watches |
//! | [`Answer`], [`Row`], [`Cell`], [`Stopped`], [`Cost`] | values with their intervals, and what they cost |
//! | [`EngineError`], [`Refused`] | a no, in one sentence |
//! | [`explain()`], [`Explanation`] | what a question would do and cost, without reading a row |
//!
//! | to watch | |
//! |---|---|
//! | [`WatchQuestion`], [`Steps`](watch::Steps), [`Side`](watch::Side), [`Closeness`](watch::Closeness), [`NoiseLaw`](watch::NoiseLaw), [`Charging`](watch::Charging) | a question asked step after step, and the line that its answers are compared with (sparse vector) |
//! | [`Verdict`](watch::Verdict), [`Watched`], [`WatchEnd`](watch::WatchEnd), [`Paid`](watch::Paid) | what came of a step and of a watch, and what it cost |
//! | [`WatchPlan`](watch::WatchPlan), [`PriceAt`](watch::PriceAt) | what a watch would do and cost |
//!
//! | about places | |
//! |---|---|
//! | [`PlaceFile`](geo::PlaceFile), [`PlaceColumns`](geo::PlaceColumns) | a file of places, and which of its columns hold what |
//! | [`Person`](geo::Person), [`Opening`](geo::Opening), [`PersonStanding`](geo::PersonStanding) | the account of one person, and how it stands |
//! | [`PlacePrice`](geo::PlacePrice), [`ReleasedPlaces`](geo::ReleasedPlaces), [`NearestPlaces`](geo::NearestPlaces), [`HullOfPlaces`](geo::HullOfPlaces), [`ToldHull`](geo::ToldHull) | what may be spent, and what was released for it |
//! | [`Features`](geo::Features), [`read_points`](geo::read_points), [`read_shapes`](geo::read_shapes), [`GeoJsonError`](geo::GeoJsonError) | GeoJSON |
//! | [`PlacesError`](geo::PlacesError) | a no, in one sentence |
//!
//! | for the steward | |
//! |---|---|
//! | [`policy`], [`registry`], [`Source`] | the policy file, what is pinned in the ledger, and the files |
//! | [`Standing`](report::Standing), [`Asked`](report::Asked), [`Declared`] | budgets, history, snapshots |
//! | [`write_city`](data::write_city) | made-up data, to try things on |

pub mod ask;
pub mod data;
mod engine;
pub mod error;
pub mod geo;
pub mod policy;
pub mod purchase;
pub mod report;
#[cfg_attr(
    not(feature = "testing"),
    allow(dead_code, unreachable_pub, reason = "tests of this crate use it")
)]
mod rows;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod watch;

pub use ask::Observer;
pub use ask::answer::{Answer, Cell, Cost, Row, Stopped};
pub use ask::explain::{Explanation, explain};
pub use ask::question::{Accuracy, Goal, Question, Who};
pub use data::registry;
pub use data::source::Source;
pub use engine::{Access, Declared, Engine};
pub use error::{EngineError, ErrorKind, Refused};
pub use watch::{WatchQuestion, Watched};
