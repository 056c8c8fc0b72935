//! What eke aims at beside the others, as ratios of one run: a private answer for about the price
//! of the same bounds without privacy.

use serde::Serialize;

use super::binary::{AGAIN, FOR_A_PRICE, WITHIN};
use super::{Attempt, BenchRow, EventSet, Task, Work};

/// How many times the processor time of DataFusion's query, which caps rows and not groups.
const TIMES_CAPPED: f64 = 1.5;
/// The same of Polars' query, which bounds both.
const TIMES_BOUNDED: f64 = 1.0;
const GIGABYTES: f64 = 1.2;
const LEDGER_MEGABYTES: f64 = 60.0;
/// Of the clock, on top of what an answer for a price takes, which reads the same rows.
const MORE_SECONDS: f64 = 5.0;
const SECONDS_AGAIN: f64 = 0.3;
/// Of the clock, for a million groups within an error.
const SECONDS_MILLION: f64 = 60.0;

/// One figure of a run, and what it should be at most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aim {
    /// The work, by name.
    pub work: &'static str,
    /// What the figure is.
    pub what: &'static str,
    /// The figure.
    pub found: f64,
    /// What it should be at most.
    pub at_most: f64,
}

impl Aim {
    /// Whether the figure is what it should be.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.found <= self.at_most
    }

    /// In a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { what, found, at_most, .. } = self;
        let holds = if self.holds() { "holds" } else { "does not hold" };
        format!("{what}: {found:.2}, at most {at_most} {holds}")
    }
}

/// What a piece of work aims at, as far as those that it is compared with have done theirs.
#[must_use]
pub fn aims(task: &Task, lines: &[Attempt]) -> Vec<Aim> {
    let row = |who: &str, how: &str| {
        lines.iter().find_map(|line| match line {
            Attempt::Done(row) => {
                let is_it = row.work == task.work.name() && row.who == who;
                (is_it && row.plausible && row.how.starts_with(how)).then_some(row)
            }
            Attempt::Skipped(_) => None,
        })
    };
    if !task.work.is_bounding() {
        return Vec::new();
    }
    let (price, within) = (row("eke", FOR_A_PRICE), row("eke", WITHIN));
    let times = |other: Option<&BenchRow>| Some(price?.cpu()? / other?.cpu()?);
    let size = |bytes: Option<u64>, of: f64| Some(bytes? as f64 / of);
    let found = [
        (
            "for a price, times the processor seconds of DataFusion, capped",
            times(row("datafusion", "capped")),
            TIMES_CAPPED,
        ),
        (
            "for a price, times the processor seconds of Polars, bounded",
            times(row("polars", "bounded")),
            TIMES_BOUNDED,
        ),
        (
            "for a price, gigabytes of memory",
            price.and_then(|row| size(row.memory, 1e9)),
            GIGABYTES,
        ),
        (
            "within 10 %, gigabytes of memory",
            within.and_then(|row| size(row.memory, 1e9)),
            GIGABYTES,
        ),
        (
            "within 10 %, megabytes of the ledger",
            within.and_then(|row| size(row.ledger, 1e6)),
            LEDGER_MEGABYTES,
        ),
        (
            "within 10 %, seconds of the clock beyond those for a price",
            price.zip(within).map(|(price, within)| within.seconds() - price.seconds()),
            MORE_SECONDS,
        ),
        ("again, seconds of the clock", row("eke", AGAIN).map(BenchRow::seconds), SECONDS_AGAIN),
    ];
    // A ledger and a repeat of a million groups are in proportion.
    let is_million = task.work == Work::Bounding(EventSet::MillionGroups);
    let million = (
        "within 10 %, seconds of the clock",
        within.filter(|_| is_million).map(BenchRow::seconds),
        SECONDS_MILLION,
    );
    let found = if is_million { vec![found[0], found[1], million] } else { found.to_vec() };
    let work = task.work.name();
    let aim = |(what, found, at_most)| Some(Aim { work, what, found: found?, at_most });
    found.into_iter().filter_map(aim).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use crate::bench::{Sizes, Times};

    fn row(who: &str, how: &str, cpu: f64) -> Attempt {
        Attempt::Done(BenchRow {
            work: "bounding",
            who: who.to_owned(),
            versions: Default::default(),
            how: how.to_owned(),
            items: 1,
            of: 1,
            times: Times { seconds: vec![cpu], cpu: vec![cpu] },
            result: 1.0,
            plausible: true,
            memory: Some(1_300_000_000),
            ledger: Some(60_000_000),
        })
    }

    #[test]
    fn aims_are_ratios_of_processor_seconds_of_plausible_rows() {
        let task = Task::new(Work::Bounding(EventSet::Usual), &Sizes::QUICK).unwrap();
        let mut lines = vec![
            row("eke", FOR_A_PRICE, 2.0),
            row("eke", WITHIN, 9.0),
            row("eke", AGAIN, 0.2),
            row("datafusion", "not bounded", 0.1),
            row("datafusion", "capped per unit and group", 1.5),
            row("polars", "bounded", 1.9),
        ];
        let found = aims(&task, &lines);
        let figures: Vec<_> = found.iter().map(|aim| (aim.found, aim.holds())).collect();
        let (capped, bounded) = (2.0 / 1.5, 2.0 / 1.9);
        let memory_and_ledger = [(1.3, false), (1.3, false), (60.0, true)];
        let expected = [(capped, true), (bounded, false)].into_iter().chain(memory_and_ledger);
        // Within an error 7 seconds more; again, a fifth of a second.
        let expected: Vec<_> = expected.chain([(7.0, false), (0.2, true)]).collect();
        assert_eq!(figures, expected);
        // A peer that did something else is nobody to compare with.
        if let Attempt::Done(polars) = &mut lines[5] {
            polars.plausible = false;
        }
        assert_eq!(aims(&task, &lines).len(), 6);
        let other = Task::new(Work::GroupBy, &Sizes::QUICK).unwrap();
        assert_eq!(aims(&other, &lines), []);
    }
}
