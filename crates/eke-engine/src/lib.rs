//! Policies, datasets, analysts: questions to answers.
//!
//! ```
//! use eke_engine::{Accuracy, Engine, Goal, Question, Who, write_city};
//! use eke_noise::{Confidence, Tolerance};
//!
//! # let folder = std::env::temp_dir().join(format!("eke-engine-doc-{}", std::process::id()));
//! // Somebody's data and a policy for them; here both are made up.
//! let city = write_city(&folder, 2_000)?;
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
//! # drop(engine);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is where:
//!
//! | to ask | |
//! |---|---|
//! | [`Engine`], [`Access`] | a policy with its ledger, open, and how it is opened |
//! | [`Question`], [`Goal`], [`Accuracy`], [`Who`], [`Watch`] | what is asked, how good it must be, who asks and who watches |
//! | [`Answer`], [`Row`], [`Cell`], [`Stopped`], [`Cost`] | values with their intervals, and what they cost |
//! | [`EngineError`], [`Refused`] | a no, in one sentence |
//! | [`explain()`], [`Explanation`] | what a question would do and cost, without reading a row |
//!
//! | to watch | |
//! |---|---|
//! | [`WatchQuestion`], [`Steps`], [`Side`], [`Closeness`], [`NoiseLaw`], [`Charging`] | a question asked step after step, and the line that its answers are held against |
//! | [`Verdict`], [`Watched`], [`WatchEnd`], [`Paid`] | what came of a step and of a watch, and what it cost |
//! | [`WatchPlan`], [`PriceAt`] | what a watch would do and cost |
//!
//! | about places | |
//! |---|---|
//! | [`PlaceFile`], [`PlaceColumns`] | a file of places, and which of its columns hold what |
//! | [`Person`], [`Opening`], [`PersonStanding`] | the account of one person, and how it stands |
//! | [`PlacePrice`], [`ReleasedPlaces`], [`NearestPlaces`], [`HullOfPlaces`], [`ToldHull`] | what may be spent, and what was told for it |
//! | [`Features`], [`read_points`], [`read_shapes`], [`GeoJsonError`] | GeoJSON |
//! | [`PlacesError`] | a no, in one sentence |
//!
//! | for the steward | |
//! |---|---|
//! | [`policy`], [`registry`], [`Source`] | the policy file, what is pinned in the ledger, and the files |
//! | [`Standing`], [`Asked`], [`Declared`] | budgets, history, snapshots |
//! | [`write_city`] | made-up data, to try things on |

mod ask;
mod data;
mod engine;
mod error;
mod geo;
pub mod policy;
mod purchase;
mod report;
mod rows;
#[doc(hidden)]
pub mod testing;
mod watch;

pub use ask::Watch;
pub use ask::answer::{Answer, Cell, Chosen, Column, Cost, Kind, Row, Stopped};
pub use ask::explain::{ErrorAt, Explanation, Keys, SizeAt, TierLimit, explain};
pub use ask::question::{Accuracy, Goal, Question, Who};
pub use ask::slot::{Clock, StoppedClock, SystemClock, USUAL_SLOT, slot};
pub use ask::top::Sorting;
pub use data::city::{City, Truth, write_city};
pub use data::registry;
pub use data::source::{Source, SourceError};
pub use engine::{Access, Declared, Engine};
pub use error::{EngineError, ErrorKind, Limit, Refused};
pub use geo::{
    Area, CrowdAnswer, CrowdAnswered, CrowdAsking, CrowdEstimate, CrowdQuestion, CrowdRound, Near,
    People, PeopleOpening, PeopleStanding, Savings, ShareAnswer, ShareAnswered, ShareAsking,
    ShareOf,
};
pub use geo::{
    Fault, Features, GeoJsonError, HullOfPlaces, NearestPlaces, Opening, Person, PersonStanding,
    PlaceColumns, PlaceFile, PlacePrice, PlacesError, PointFeature, ReleasedPlaces, ShapeFeature,
    ToldHull, read_points, read_shapes, write_whole,
};
pub use purchase::reading::{FAILURES_OF_ALL, FAILURES_OF_ONE, Failed, failure_bits};
pub use report::{Asked, Brought, Of, Outcome, PolicySays, Promised, Standing};
pub use rows::RowsError;
pub use watch::{
    Charging, Closeness, NoiseLaw, Paid, PriceAt, Side, Steps, Verdict, WatchEnd, WatchPlan,
    WatchQuestion, Watched,
};
