//! What became of reading rows: what failed, what was late, and rows that are nobody's.
//!
//! Whether a question could be answered is an output, and so is whether it was in time. Nothing
//! that one unit's rows can bring about is meant to decide it; but if something did, each failure
//! would tell as much as one answer of yes or no. So failures are counted for good, and after a few
//! of them the steward must look before analysts are answered again: a few of one analyst, who
//! cannot block all others, and some more of all.
//!
//! An answer that misses its first slot counts as a failure in what failures can have told. Before
//! the steward must look it counts as a sixteenth of one: where the first slot is too short for a
//! dataset every answer misses it, which tells nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use eke_ledger::Stamp;
use eke_ledger::journal::{Line, What};
use serde::{Deserialize, Serialize};

use crate::ask::question::Who;
use crate::ask::slot::slot;
use crate::engine::{Engine, Prepared};
use crate::error::EngineError;
use crate::purchase::audience::lost_question;
use crate::purchase::request_key::RequestKey;
use crate::rows::RowsError;

/// How many questions of one analyst may fail before the steward must look.
pub const FAILURES_OF_ONE: u64 = 8;
/// How many questions of all analysts together may fail, about one kind of unit.
pub const FAILURES_OF_ALL: u64 = 32;
/// How many late answers count as one failure.
const LATE: u64 = 16;

/// What became of reading the rows of one kind of unit. It is kept in the ledger's registry: fields
/// are added, and never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// How many questions of analysts failed, ever.
    failed: u64,
    /// How many of their answers were late, ever.
    late: u64,
    /// How many failures there were since the steward looked, in sixteenths.
    unseen: u64,
    /// And whose they were.
    unseen_of: BTreeMap<String, u64>,
    /// How many rows of each dataset are nobody's, in which snapshot.
    nobodys: BTreeMap<String, (u32, u64)>,
    /// The slot that each dataset would need, in milliseconds, where it takes longer than it has.
    slow: BTreeMap<String, u64>,
}

/// How often analysts were not answered, and what that can have told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// The kind of unit.
    pub unit: String,
    /// How many questions of analysts failed, or were late.
    pub failed: u64,
    /// How many questions were charged.
    pub questions: u64,
    /// The bits that these failures can have revealed, at most.
    pub bits: f64,
    /// How many the steward has not looked into: sixteen late answers are one.
    pub unseen: u64,
    /// The analysts who are not answered until then; all of them if it says so.
    pub blocked: Vec<String>,
    /// Whether no analyst is answered until then.
    pub all_blocked: bool,
}

impl Reading {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts a failure of an analyst's question.
    fn fail(&mut self, analyst: &str) {
        self.failed = self.failed.saturating_add(1);
        self.count(analyst, LATE);
    }

    /// Counts an answer to an analyst that was late.
    fn delay(&mut self, analyst: &str) {
        self.late = self.late.saturating_add(1);
        self.count(analyst, 1);
    }

    fn count(&mut self, analyst: &str, parts: u64) {
        self.unseen = self.unseen.saturating_add(parts);
        let of = self.unseen_of.entry(analyst.to_owned()).or_default();
        *of = of.saturating_add(parts);
    }

    /// Whether an analyst is answered before the steward has looked.
    fn allows(&self, analyst: &str) -> bool {
        let own = self.unseen_of.get(analyst).copied().unwrap_or(0);
        own < FAILURES_OF_ONE * LATE && self.unseen < FAILURES_OF_ALL * LATE
    }

    /// The steward has looked. How many failures that were.
    fn look(&mut self) -> u64 {
        self.unseen_of.clear();
        self.slow.clear();
        std::mem::take(&mut self.unseen).div_ceil(LATE)
    }

    /// What the steward should know about reading, where each dataset has the first slot that it
    /// has now.
    fn notices(&self, slot_of: impl Fn(&str) -> Duration) -> impl Iterator<Item = String> {
        let nobodys =
            self.nobodys.iter().filter(|(_, (_, rows))| *rows > 0).map(|(name, (_, rows))| {
                format!(
                    "{rows} rows of `{name}` have no unit that can be read, and count in no answer"
                )
            });
        let is_short =
            move |(name, millis): &(&String, &u64)| slot_of(name) < Duration::from_millis(**millis);
        let slow = self.slow.iter().filter(is_short).map(|(name, millis)| {
            let seconds = Duration::from_millis(*millis).as_secs_f64();
            format!(
                "answers about `{name}` take longer than their first slot, and count as failures: write answer_time = {seconds:?} into [dataset.{name}], the seconds after which answers to analysts leave"
            )
        });
        nobodys.chain(slow)
    }
}

/// The bits that `failed` of `questions` questions can reveal: the logarithm of the number of ways
/// to choose at most `failed` of them.
///
/// - Theorem: counting (docs/theorems.md)
/// - Proves: who sees which of `questions` questions failed, and knows that at most `failed` did,
///   sees one of `sum_{i <= failed} C(questions, i)` things
/// - Assumes: what a failure looks like is the same for every cause
/// - Deviates: rounded to nearest, for showing
/// - Checked by: `failures_tell_as_much_as_there_are_ways_to_choose_them`
#[must_use]
pub fn failure_bits(failed: u64, questions: u64) -> f64 {
    let (failed, questions) = (failed.min(questions) as f64, questions as f64);
    // Logarithms, added up as 2^a + 2^b = 2^a (1 + 2^(b - a)).
    let (mut term, mut sum, mut chosen) = (0.0f64, 0.0f64, 0.0f64);
    while chosen < failed {
        term += ((questions - chosen) / (chosen + 1.0)).log2();
        chosen += 1.0;
        let (large, small) = (sum.max(term), sum.min(term));
        sum = large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2;
    }
    sum
}

impl Engine {
    /// Refuses what reads rows while the steward must look, before anything is charged; and sees to
    /// it that rows can be read.
    pub(crate) fn may_read(&self, prepared: &Prepared, who: &Who) -> Result<(), EngineError> {
        if let Some(analyst) = who.analyst() {
            let registry = self.registry(&prepared.payers.unit.name)?;
            if registry.is_some_and(|registry| !registry.reading().allows(analyst)) {
                return Err(EngineError::StewardMustLook);
            }
        }
        self.ready().map_err(|error| match who {
            Who::Steward => EngineError::NotReady(error),
            Who::Analyst(_) => EngineError::Unavailable,
        })
    }

    /// Rows could not be read: tells the steward why, and counts it if an analyst asked, who is
    /// told nothing.
    pub(crate) fn failed(
        &self,
        prepared: &Prepared,
        who: &Who,
        error: &RowsError,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let what = format!(
            "the rows of {} could not be read for a question of `{}`, which was not answered: {}",
            prepared.dataset_names(),
            stamp.who,
            error.detail()
        );
        let at = stamp.at.to_string();
        self.change(&prepared.payers.unit.name, stamp, |registry| {
            registry.notify(&at, &what);
            if let Some(analyst) = who.analyst() {
                registry.reading_mut().fail(analyst);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// A program that read rows for an analyst has ended before it could say what became of it.
    pub(crate) fn abandoned(
        &self,
        unit: &str,
        key: &RequestKey,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let Some(analyst) = lost_question(unit, key) else { return Ok(()) };
        let what = format!("a question of `{analyst}` was lost with the program that asked it");
        self.count_failure(unit, &analyst, &what, stamp)
    }

    /// A question of an analyst was stopped by its asker while rows may have been read: when that
    /// was, and that it had no answer by then, is seen.
    pub(crate) fn stopped(
        &self,
        prepared: &Prepared,
        who: &Who,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let Some(analyst) = who.analyst() else { return Ok(()) };
        let what = format!("a question of `{analyst}` was stopped before it was answered");
        self.count_failure(&prepared.payers.unit.name, analyst, &what, stamp)
    }

    fn count_failure(
        &self,
        unit: &str,
        analyst: &str,
        what: &str,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let at = stamp.at.to_string();
        self.change(unit, stamp, |registry| {
            registry.notify(&at, what);
            registry.reading_mut().fail(analyst);
            Ok(())
        })?;
        Ok(())
    }

    /// An answer took longer than its first slot. If an analyst waits for it, that counts as a
    /// failure.
    pub(crate) fn late(
        &self,
        prepared: &Prepared,
        who: &Who,
        taken: Duration,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let unit = &prepared.payers.unit.name;
        // The slot is that of the dataset with the longest, which all of them would need.
        let needed = slot(prepared.answer_time, taken.saturating_mul(2));
        let needed = u64::try_from(needed.as_millis()).unwrap_or(u64::MAX);
        let registry = self.registry(unit)?;
        let names = || prepared.datasets.iter().map(|dataset| &dataset.name);
        let is_known = |name: &String| {
            let known = registry.as_ref().and_then(|sheet| sheet.reading().slow.get(name).copied());
            known.is_some_and(|known| known >= needed)
        };
        if who.analyst().is_none() && names().all(is_known) {
            return Ok(());
        }
        self.change(unit, stamp, |registry| {
            let reading = registry.reading_mut();
            for name in names() {
                let slow = reading.slow.entry(name.clone()).or_default();
                *slow = needed.max(*slow);
            }
            if let Some(analyst) = who.analyst() {
                reading.delay(analyst);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Keeps how many rows of each dataset are nobody's.
    pub(crate) fn note_nobodys(
        &self,
        prepared: &Prepared,
        rows: &[u64],
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let unit = &prepared.payers.unit.name;
        let registry = self.registry(unit)?;
        let mut news = Vec::new();
        for (dataset, rows) in prepared.datasets.iter().zip(rows) {
            let known = registry.as_ref().map(|sheet| &sheet.reading().nobodys);
            let known = known.and_then(|nobodys| nobodys.get(&dataset.name).copied());
            let now = (dataset.snapshot, *rows);
            if known != Some(now) && (known.is_some() || *rows > 0) {
                news.push((dataset.name.clone(), now));
            }
        }
        if news.is_empty() {
            return Ok(());
        }
        self.change(unit, stamp, |registry| {
            registry.reading_mut().nobodys.extend(news.iter().cloned());
            Ok(())
        })?;
        Ok(())
    }

    /// What the steward should know about reading the rows of a unit.
    pub(crate) fn reading_notices(&self, unit: &str) -> Result<Vec<String>, EngineError> {
        let Some(registry) = self.registry(unit)? else { return Ok(Vec::new()) };
        // Of a dataset that is not in the policy any more nothing is late.
        let slot_of = |name: &str| {
            self.policy().dataset(name).map_or(Duration::MAX, |dataset| dataset.answer_time)
        };
        Ok(registry.reading().notices(slot_of).collect())
    }

    /// How often analysts were not answered, and what that can have told: for the steward.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn failures(&self) -> Result<Vec<Failed>, EngineError> {
        let mut all = Vec::new();
        for unit in self.policy().units.keys() {
            self.count_lost(unit)?;
            let Some(registry) = self.registry(unit)? else { continue };
            let reading = registry.reading();
            let failed = reading.failed.saturating_add(reading.late);
            if failed == 0 {
                continue;
            }
            let questions = self.charged(unit)?.max(failed);
            let of = reading.unseen_of.iter();
            let blocked = of.filter(|(_, count)| **count >= FAILURES_OF_ONE * LATE);
            all.push(Failed {
                unit: unit.clone(),
                failed,
                questions,
                bits: failure_bits(failed, questions),
                unseen: reading.unseen.div_ceil(LATE),
                blocked: blocked.map(|(name, _)| name.clone()).collect(),
                all_blocked: reading.unseen >= FAILURES_OF_ALL * LATE,
            });
        }
        Ok(all)
    }

    /// The steward has looked into what failed, and analysts are answered again. How many failures
    /// that were.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn looked(&self) -> Result<u64, EngineError> {
        let stamp = Stamp::now(Who::Steward.name());
        let mut all = 0;
        for unit in self.policy().units.keys() {
            self.count_lost(unit)?;
            let Some(registry) = self.registry(unit)? else { continue };
            if registry.reading().unseen == 0 && registry.reading().slow.is_empty() {
                continue;
            }
            let look =
                |registry: &mut crate::data::registry::Registry| Ok(registry.reading_mut().look());
            all += self.change(unit, &stamp, look)?.1;
        }
        Ok(all)
    }

    /// How many requests were charged to a unit's account: each of them read rows, or could have.
    fn charged(&self, unit: &str) -> Result<u64, EngineError> {
        const PAGE: u32 = 1000;
        let (mut from, mut count) = (0, 0);
        if self.ledger().account(unit).wait()?.is_none() {
            return Ok(0);
        }
        loop {
            let lines = self.ledger().lines(unit, from, PAGE).wait()?;
            let Some(last) = lines.last() else { return Ok(count) };
            from = last.line + 1;
            for row in &lines {
                let line: Line = serde_json::from_str(&row.body)
                    .map_err(|error| EngineError::Damaged(error.to_string()))?;
                // Turns cost nothing and read nothing.
                let request = line.request.and_then(|key| key.as_str().parse().ok());
                let is_turn = matches!(request, Some(RequestKey::Turn { .. }));
                let is_charged = request.is_some() && matches!(line.what, What::Entry { .. });
                count += u64::from(is_charged && !is_turn);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_tell_as_much_as_there_are_ways_to_choose_them() {
        let choose =
            |n: u64, k: u64| (0..k).fold(1u128, |c, i| c * u128::from(n - i) / u128::from(i + 1));
        for questions in [0, 1, 2, 7, 40, 100] {
            for failed in 0..=questions.min(12) {
                let ways: u128 = (0..=failed).map(|k| choose(questions, k)).sum();
                let bits = (ways as f64).log2();
                let found = failure_bits(failed, questions);
                assert!((found - bits).abs() < 1e-9, "{failed} of {questions}: {found} {bits}");
            }
        }
        assert!((failure_bits(50, 50) - 50.0).abs() < 1e-9);
        assert!(failure_bits(9, 3) <= 3.0 + 1e-9 && failure_bits(1, 1_000_000) < 20.0);
    }

    #[test]
    fn one_analyst_is_stopped_before_all_are() {
        let mut reading = Reading::default();
        (0..FAILURES_OF_ONE - 1).for_each(|_| reading.fail("ana"));
        assert!(reading.allows("ana") && reading.allows("bob"));
        (0..FAILURES_OF_ALL).for_each(|_| {
            if reading.allows("ana") {
                reading.fail("ana");
            }
        });
        assert!(!reading.allows("ana") && reading.allows("bob"));
        for analyst in ["bob", "eve", "joe", "sue", "tim"] {
            while reading.allows(analyst) {
                reading.fail(analyst);
            }
        }
        assert_eq!((reading.failed, reading.allows("zoe")), (FAILURES_OF_ALL, false));
        assert_eq!(reading.look(), FAILURES_OF_ALL);
        assert!(
            reading.allows("ana") && reading.allows("zoe") && reading.failed == FAILURES_OF_ALL
        );
        (0..FAILURES_OF_ONE * LATE - 1).for_each(|_| reading.delay("ana"));
        assert!(reading.allows("ana"));
        reading.delay("ana");
        assert!(!reading.allows("ana") && reading.allows("zoe"));
        let kept = serde_json::to_string(&reading).unwrap();
        assert_eq!(serde_json::from_str::<Reading>(&kept).unwrap(), reading);
    }

    #[test]
    fn a_slot_that_is_long_enough_now_is_no_longer_complained_of() {
        let mut reading = Reading::default();
        reading.slow.insert("trips".to_owned(), 4_000);
        let told = |seconds| reading.notices(move |_| Duration::from_secs(seconds)).count();
        assert_eq!([told(1), told(3), told(4), told(8)], [1, 1, 0, 0]);
    }
}
