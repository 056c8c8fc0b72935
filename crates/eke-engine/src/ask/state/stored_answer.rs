//! An answer as it is stored: what was found for all groups, and how it was shown.
//!
//! What was found is what the same question is answered from again, sorted or cut in another way;
//! what was shown is what the history shows. A value that is shown as it was found is stored once.
//! Up to eke 0.1 what was shown was stored in JSON, and what was found with the paths.

use std::sync::Arc;

use eke_budget::PathId;
use eke_budget::columns::{ColumnReader, ColumnWriter};
use serde_json::Value as Json;

use crate::ask::cut::CutCounts;
use crate::ask::shown::answer::{Answer, Cell, Found, Kind, RankOf, Row};
use crate::ask::state::stored::{
    Form, FoundColumns, damaged, read_estimates, write_estimates, write_found,
};
use crate::error::EngineError;

/// An answer, and where what it shows comes from.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) answer: Answer,
    /// The group of each row.
    pub(crate) shown: Vec<u32>,
    /// The measure of each value of a row.
    pub(crate) measures: Vec<usize>,
}

/// The keys of a column are integers.
const INTEGERS: u8 = 0;
/// They are texts.
const TEXTS: u8 = 1;
/// They are written as JSON.
const OTHERS: u8 = 2;

/// Values are shown as they were found.
const AS_FOUND: u8 = 0;
/// They are shown otherwise.
const OTHERWISE: u8 = 1;

impl Finished {
    /// What is stored of the answer, which was found on the paths of this bundle.
    pub(crate) fn write(
        &mut self,
        bundle: PathId,
        found: &[Vec<Found>],
    ) -> Result<Vec<u8>, EngineError> {
        let Self { answer, shown, measures } = self;
        let rows = std::mem::take(&mut answer.rows);
        let heading = serde_json::to_string(answer);
        answer.rows = rows;
        let rows = &answer.rows;
        let mut to = ColumnWriter::new();
        to.raw(bundle.digest());
        to.text(&heading.map_err(EngineError::damaged)?);
        write_found(found, &mut to).ok_or_else(damaged)?;
        to.groups(shown);
        let first = rows.first().and_then(|row| row.values.first());
        to.doubles(std::iter::once(first.map_or(0.0, |cell| cell.confidence)));
        to.byte(u8::from(first.is_some_and(|cell| cell.met.is_some())));
        for key in 0..answer.keys() {
            write_keys(rows.iter().map(|row| &row.keys[key]), &mut to)?;
        }
        for (place, &measure) in measures.iter().enumerate() {
            let cells = || rows.iter().map(|row| &row.values[place]);
            let as_found = |(cell, &group): (&Cell, &u32)| {
                let found = found.get(group as usize).and_then(|values| values.get(measure));
                found.is_some_and(|found| same(cell, found))
            };
            if cells().zip(&*shown).all(as_found) {
                to.byte(AS_FOUND);
                to.number(measure as u64);
            } else {
                to.byte(OTHERWISE);
                write_estimates(cells().map(estimate), &mut to);
            }
        }
        Ok(Form::Answer.seal(to))
    }
}

fn estimate(cell: &Cell) -> Found {
    let &Cell { value, low, high, ending, .. } = cell;
    Found { value, low, high, ending, evidence: None }
}

/// Whether a value is shown as it was found, to the last bit.
fn same(cell: &Cell, found: &Found) -> bool {
    let bits = |number: Option<f64>| number.map(f64::to_bits);
    let shown = [cell.value, cell.low, cell.high].map(bits);
    shown == [found.value, found.low, found.high].map(bits) && cell.ending == found.ending
}

/// What was found for this many groups on the paths of a bundle, of an answer that is stored.
pub(crate) fn found(
    bytes: &[u8],
    bundle: PathId,
    groups: usize,
) -> Result<Vec<Vec<Found>>, EngineError> {
    let read = || {
        let mut from = Form::Answer.open(bytes)?;
        from.array().filter(|of| of == bundle.digest())?;
        from.text()?;
        FoundColumns::read(&mut from)?.by_group(groups)
    };
    read().ok_or_else(damaged)
}

/// How many units were cut, as it was told with an answer that is stored; none if it was not.
pub(crate) fn cut(bytes: &[u8]) -> Option<CutCounts> {
    let mut from = Form::Answer.open(bytes)?;
    let _bundle: [u8; 32] = from.array()?;
    let answer: Answer = serde_json::from_str(from.text()?).ok()?;
    answer.covers?.cut
}

impl Answer {
    /// An answer as it was stored; none if it is none.
    pub(crate) fn stored(bytes: &[u8]) -> Option<Self> {
        if bytes.first() == Some(&b'{') {
            return serde_json::from_slice(bytes).ok();
        }
        let mut from = Form::Answer.open(bytes)?;
        Self::read(&mut from).filter(|_| from.is_at_end())
    }

    fn read(from: &mut ColumnReader<'_>) -> Option<Self> {
        let _bundle: [u8; 32] = from.array()?;
        let answer: Self = serde_json::from_str(from.text()?).ok()?;
        let found = FoundColumns::read(from)?;
        let shown = from.groups()?;
        let count = shown.len();
        let confidence = *from.doubles(1)?.first()?;
        let has_goal = match from.byte()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let mut rows = vec![Row { keys: Vec::new(), values: Vec::new(), over: Vec::new() }; count];
        for _ in 0..answer.keys() {
            for (row, key) in rows.iter_mut().zip(read_keys(from, count)?) {
                row.keys.push(key);
            }
        }
        for column in answer.columns.iter().filter(|column| column.kind != Kind::Key) {
            let name: Arc<str> = (*column.name).into();
            let values = match from.byte()? {
                AS_FOUND => {
                    let measure = from.count()?;
                    let values = shown.iter().map(|&group| found.get(group, measure));
                    values.collect::<Option<_>>()?
                }
                OTHERWISE => read_estimates(from, count)?,
                _ => return None,
            };
            for (row, found) in rows.iter_mut().zip(values) {
                row.values.push(Cell {
                    name: Arc::clone(&name),
                    value: found.value,
                    low: found.low,
                    high: found.high,
                    confidence,
                    met: has_goal.then(|| found.met()),
                    ending: found.ending,
                    rank: column.quantile.and_then(|_| RankOf::of(&found)),
                    dated: column.quantile.and_then(|ordered| ordered.dated(&found)),
                    noise: None,
                });
            }
        }
        Some(Self { rows, ..answer })
    }

    /// How many of its columns are keys.
    fn keys(&self) -> usize {
        self.columns.iter().filter(|column| column.kind == Kind::Key).count()
    }
}

/// Writes a column of keys.
fn write_keys<'k>(
    keys: impl Iterator<Item = &'k Json> + Clone,
    to: &mut ColumnWriter,
) -> Result<(), EngineError> {
    let integers: Option<Vec<i64>> = keys.clone().map(Json::as_i64).collect();
    if let Some(integers) = integers {
        to.byte(INTEGERS);
        to.signed(integers.into_iter());
        return Ok(());
    }
    let texts: Option<Vec<&str>> = keys.clone().map(Json::as_str).collect();
    if let Some(texts) = texts {
        to.byte(TEXTS);
        write_texts(&texts, to);
        return Ok(());
    }
    let others: Result<Vec<String>, _> = keys.map(serde_json::to_string).collect();
    let others = others.map_err(EngineError::damaged)?;
    to.byte(OTHERS);
    write_texts(&others.iter().map(String::as_str).collect::<Vec<_>>(), to);
    Ok(())
}

/// Reads a column of `count` keys.
fn read_keys(from: &mut ColumnReader<'_>, count: usize) -> Option<Vec<Json>> {
    match from.byte()? {
        INTEGERS => Some(from.signed(count)?.into_iter().map(Json::from).collect()),
        TEXTS => Some(read_texts(from, count)?.into_iter().map(Json::from).collect()),
        OTHERS => {
            read_texts(from, count)?.into_iter().map(|key| serde_json::from_str(key).ok()).collect()
        }
        _ => None,
    }
}

/// Writes texts one after the other, after where each ends.
fn write_texts(texts: &[&str], to: &mut ColumnWriter) {
    let ends = texts.iter().scan(0u64, |end, text| {
        *end += text.len() as u64;
        Some(*end)
    });
    to.numbers(ends.collect::<Vec<_>>().into_iter());
    for text in texts {
        to.raw(text.as_bytes());
    }
}

fn read_texts<'a>(from: &mut ColumnReader<'a>, count: usize) -> Option<Vec<&'a str>> {
    let ends = from.numbers(count)?;
    let length = usize::try_from(ends.last().copied().unwrap_or(0)).ok()?;
    let all = std::str::from_utf8(from.raw(length)?).ok()?;
    let mut start = 0;
    let text = |end: u64| {
        let end = usize::try_from(end).ok()?;
        let text = all.get(start..end)?;
        start = end;
        Some(text)
    };
    ends.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::shown::answer::{Column, Cost, Stopped};
    use proptest::prelude::*;
    use serde_json::json;

    const BUNDLE: PathId = PathId::new([9; 32]);

    fn found_at(group: u32) -> Vec<Found> {
        let value = f64::from(group) * 2.5;
        let found = Found {
            value: Some(value),
            low: Some(value - 1.0),
            high: (group > 1).then_some(value + 1.0),
            ending: if group.is_multiple_of(2) { Stopped::Met } else { Stopped::OutOfReach },
            evidence: None,
        };
        vec![found, Found::nothing(Stopped::Refused)]
    }

    /// An answer of keys, the second measure and then the first, for these groups in this order.
    fn finished(shown: &[u32], keys: &[Json], is_widened: bool) -> (Finished, Vec<Vec<Found>>) {
        let found: Vec<Vec<Found>> = (0..6).map(found_at).collect();
        let cell = |name: &str, found: Found| Cell {
            name: name.into(),
            value: found.value,
            low: found.low.map(|low| low - f64::from(u8::from(is_widened))),
            high: found.high,
            confidence: 0.9,
            met: Some(found.met()),
            ending: found.ending,
            rank: None,
            dated: None,
            noise: None,
        };
        let row = |&group: &u32| {
            let found = &found[group as usize];
            let keys = vec![keys[group as usize].clone(), json!(group)];
            let values = vec![cell("b", found[1]), cell("a", found[0])];
            Row { keys, values, over: Vec::new() }
        };
        let rows = shown.iter().map(row).collect();
        let columns = [("k", Kind::Key), ("b", Kind::Value), ("a", Kind::Value), ("l", Kind::Key)];
        let column = |(name, kind): (&str, Kind)| Column {
            name: name.to_owned(),
            kind,
            counts: false,
            quantile: None,
        };
        let columns = columns.map(column).to_vec();
        let cost = Cost { rho: 0.5, mechanism_delta: 0.0 };
        let answer = Answer {
            columns,
            rows,
            cost,
            left: cost,
            budget: cost,
            free: false,
            fixed: None,
            alone: cost,
            looks: 7,
            chosen: None,
            suppressed: None,
            sums_too_large: false,
            totals: None,
            additive: None,
            picked: false,
            listed: false,
            units: Some(4),
            tier: None,
            unmet: Vec::new(),
            fewer: None,
            picks: None,
            epsilon: None,
            covers: None,
        };
        (Finished { answer, shown: shown.to_vec(), measures: vec![1, 0] }, found)
    }

    fn texts() -> Vec<Json> {
        ["a", "", "ü", "d\n", "e", "f"].map(Json::from).to_vec()
    }

    #[test]
    fn answers_are_read_as_they_were_shown() {
        let others = vec![json!(null), json!("x"), json!(1.5), json!(true), json!(-3), json!(0)];
        for keys in [texts(), (0..6).map(|key| json!(key - 3)).collect(), others] {
            for shown in [&[0, 1, 2, 3, 4, 5][..], &[4, 0, 3], &[2], &[]] {
                for is_widened in [false, true] {
                    let (mut finished, found) = finished(shown, &keys, is_widened);
                    let bytes = finished.write(BUNDLE, &found).unwrap();
                    assert_eq!(Answer::stored(&bytes), Some(finished.answer));
                    assert_eq!(super::found(&bytes, BUNDLE, 6).unwrap(), found);
                    assert!(super::found(&bytes, PathId::new([8; 32]), 6).is_err());
                }
            }
        }
        // As before, in JSON too.
        let (finished, _) = finished(&[1, 2], &texts(), false);
        let json = serde_json::to_vec(&finished.answer).unwrap();
        assert_eq!(Answer::stored(&json), Some(finished.answer));
    }

    /// What is shown as it was found takes no more room than what was found.
    #[test]
    fn values_are_stored_once() {
        let length = |is_widened| {
            let (mut finished, found) = finished(&[0, 1, 2, 3, 4, 5], &texts(), is_widened);
            finished.write(BUNDLE, &found).unwrap().len()
        };
        assert_eq!(length(true) - length(false), 6 * 24 + 1 + 6 - 8);
    }

    /// Ledgers have these bytes in them.
    #[test]
    fn stored_answers_are_what_they_were() {
        let (mut finished, found) = finished(&[3, 1], &texts(), false);
        let bytes = finished.write(BUNDLE, &found).unwrap();
        assert_eq!(&blake3::hash(&bytes).to_hex()[..16], "1b45c93a926f40d7");
    }

    proptest! {
        #[test]
        fn damaged_answers_are_not_read(place in any::<prop::sample::Index>(), bit in 0u8..8) {
            let (mut finished, found) = finished(&[3, 1], &texts(), true);
            let mut bytes = finished.write(BUNDLE, &found).unwrap();
            let place = place.index(bytes.len());
            prop_assert!(Answer::stored(&bytes[..place]).is_none());
            bytes[place] ^= 1 << bit;
            prop_assert!(Answer::stored(&bytes).is_none());
            prop_assert!(super::found(&bytes, BUNDLE, 6).is_err());
        }

        /// Also where the digest is made to fit, nothing panics.
        #[test]
        fn answers_of_any_bytes_are_read_or_not(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let (mut finished, found) = finished(&[3, 1], &texts(), true);
            let mut columns = finished.write(BUNDLE, &found).unwrap().split_off(43);
            for (place, byte) in changes {
                let place = place.index(columns.len());
                columns[place] = byte;
            }
            let mut to = ColumnWriter::new();
            to.raw(&columns);
            let bytes = Form::Answer.seal(to);
            let _ = (Answer::stored(&bytes), super::found(&bytes, BUNDLE, 6));
        }
    }
}
