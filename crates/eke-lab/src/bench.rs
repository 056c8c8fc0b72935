//! Our speed beside that of other libraries: the same work on the same data, one after the other in
//! one run.
//!
//! A piece of [`Work`] is done by us ([`ours`], [`binary`]) and by every [`peer`] that is
//! installed, each in its own Python. All read the same files ([`data`], [`events`]), which a seed
//! decides. A
//! competitor hands in one number of its result, and [`Task::plausible`] compares it with what the
//! work asks for, so that nobody is fast by doing something else. A peer that is missing or fails
//! is a [`Skipped`] line and never an error.
//!
//! Times are medians of turns, on the clock and of the processor. On a machine that does other
//! things as well, long work waits more often than short work; processor time is what to compare
//! then.

pub mod aims;
pub mod binary;
pub mod clock;
pub mod data;
pub mod events;
pub mod ours;
pub mod peer;
pub mod program;
pub mod table;
pub mod work;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use clock::{Times, timed};
pub use data::Data;
pub use events::{EventOptions, EventSet, EventSizes, Events};
pub use work::{Sizes, Task, Work};

/// Packages, and their versions.
pub type Versions = BTreeMap<String, String>;

/// One library that did one piece of work in one way.
#[derive(Clone, Debug, Serialize)]
pub struct BenchRow {
    /// The work, by name.
    pub work: &'static str,
    /// Whose library.
    pub who: String,
    /// The packages that matter, and their versions.
    pub versions: Versions,
    /// What of it was called, and what that is.
    pub how: String,
    /// How many items were done.
    pub items: u64,
    /// How many the work has; more than were done if those took long enough.
    pub of: u64,
    /// How long the items that were done took.
    pub times: Times,
    /// The number that shows that the work was done.
    pub result: f64,
    /// Whether it is what the work asks for.
    pub plausible: bool,
    /// The most bytes of memory that the process had, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The bytes of the ledger afterwards, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<u64>,
}

/// What a library has done of a piece of work.
#[derive(Clone, Debug, Deserialize)]
pub struct Done {
    /// What of it was called, and what that is.
    pub how: String,
    /// How many items were done.
    pub items: u64,
    /// How many the work has.
    pub of: u64,
    /// How long the items that were done took.
    #[serde(flatten)]
    pub times: Times,
    /// The number that shows that the work was done.
    pub result: f64,
    /// The most bytes of memory that the process had, if it was measured.
    #[serde(default)]
    pub memory: Option<u64>,
    /// The bytes of the ledger afterwards, if there is one.
    #[serde(skip)]
    pub ledger: Option<u64>,
}

impl BenchRow {
    /// What a library of these versions has done, held against what was asked for.
    fn new(task: &Task, data: &Data, who: &str, versions: Versions, done: Done) -> Self {
        let Done { how, items, of, times, result, memory, ledger } = done;
        let plausible = task.plausible(data, &how, items, result);
        let (work, who) = (task.work.name(), who.to_owned());
        Self { work, who, versions, how, items, of, times, result, plausible, memory, ledger }
    }

    /// The whole work's seconds on the clock, taken from the items that were done.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.times.median() * self.scale()
    }

    /// The same of the processor, if it was measured.
    #[must_use]
    pub fn cpu(&self) -> Option<f64> {
        self.times.cpu().map(|cpu| cpu * self.scale())
    }

    fn scale(&self) -> f64 {
        self.of as f64 / self.items.max(1) as f64
    }
}

/// Work that was not done, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// The work, by name; none if all of it is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<&'static str>,
    /// Whose library.
    pub who: String,
    /// One sentence.
    pub reason: String,
}

/// What came of one piece of work.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Attempt {
    /// It was done.
    Done(BenchRow),
    /// It was not.
    Skipped(Skipped),
}
