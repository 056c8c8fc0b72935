//! What is stored of a question's paths, as bytes.
//!
//! Three things are stored. A *round* is what one purchase has added: points of the paths, and how
//! far each account has paid for which groups. The *head* says which rounds there are, what each
//! account has paid in all, and under which request each answer was stored; it is small, and
//! written anew with every round. An *answer* is what was found and how it was shown. So a round
//! writes what it has changed, and an answer is given again without its paths being read.
//!
//! The keys of groups are not stored: paths are found by a digest that the keys are part of.
//!
//! Up to eke 0.1 everything was one text in JSON. Such a state is read, and the next round writes
//! all of it, as the first of its rounds.
//!
//! Invariants: bytes have a digest of themselves in them, and what does not fit it is not read; all
//! name their bundle, and a round its increment and the one that it goes on from.
//! Stored forms never change: ledgers outlive code. A golden of each is in the tests.

use std::collections::BTreeMap;

use eke_budget::columns::{ColumnReader, ColumnWriter};
use eke_budget::{Amount, PathId, Rho};
use eke_ledger::Key;
use eke_noise::Bundle;
use eke_sql::Value;
use serde::Deserialize;

use crate::ask::shown::answer::{Evidence, Found, Stopped};
use crate::ask::state::cuts::{self, Cuts};
use crate::error::EngineError;
use crate::rows::Place;

/// What bytes of this form begin with, and which form it is.
const MAGIC: &[u8] = b"eke paths\x01";

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Head = 0,
    Round = 1,
    Answer = 2,
    /// A round of a search, with the cuts that it has added.
    Cuts = 3,
}

impl Form {
    /// The bytes of something of this form: what they begin with, their digest, and the columns.
    pub(crate) fn seal(self, columns: ColumnWriter) -> Vec<u8> {
        let columns = columns.into_bytes();
        let mut bytes = Vec::with_capacity(MAGIC.len() + 33 + columns.len());
        bytes.extend_from_slice(MAGIC);
        bytes.push(self as u8);
        bytes.extend_from_slice(self.digest(&columns).as_bytes());
        bytes.extend_from_slice(&columns);
        bytes
    }

    /// The columns in bytes of this form, if they are what was written.
    pub(crate) fn open(self, bytes: &[u8]) -> Option<ColumnReader<'_>> {
        let (form, rest) = bytes.strip_prefix(MAGIC)?.split_first()?;
        let (digest, columns) = rest.split_first_chunk::<32>()?;
        let fits = *form == self as u8 && self.digest(columns) == *digest;
        fits.then(|| ColumnReader::new(columns))
    }

    fn digest(self, columns: &[u8]) -> blake3::Hash {
        let mut digest = blake3::Hasher::new_derive_key("eke paths 1: what is stored");
        digest.update(&[self as u8]).update(columns).finalize()
    }
}

pub(crate) fn damaged() -> EngineError {
    EngineError::damaged("it is not what was written")
}

/// Which rounds there are, and where answers are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Head {
    /// The increment whose round is the first: nothing before it counts.
    pub(crate) first: u32,
    /// The increment after that of the last round.
    pub(crate) next: u32,
    /// What each account has paid in all, but for what was lost.
    pub(crate) alone: BTreeMap<String, Amount<Rho>>,
    /// Where the answers are that were given, by account, measures and goal.
    pub(crate) answers: BTreeMap<String, Given>,
}

/// Where an answer is that was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// Under its request.
    Request(Key),
    /// In the first round, with other answers of an older eke.
    First,
}

impl Head {
    pub(crate) fn write(&self, bundle: PathId) -> Vec<u8> {
        let mut to = ColumnWriter::new();
        to.raw(bundle.digest());
        to.number(self.first.into());
        to.number(self.next.into());
        to.number(self.alone.len() as u64);
        for (account, price) in &self.alone {
            to.text(account);
            to.raw(&price.grains().to_le_bytes());
        }
        to.number(self.answers.len() as u64);
        for (name, given) in &self.answers {
            to.text(name);
            to.text(match given {
                Given::Request(key) => key.as_str(),
                Given::First => "",
            });
        }
        Form::Head.seal(to)
    }

    pub(crate) fn read(bytes: &[u8], bundle: PathId) -> Result<Self, EngineError> {
        let mut from = Form::Head.open(bytes).ok_or_else(damaged)?;
        if from.array() != Some(*bundle.digest()) {
            return Err(EngineError::damaged("it is another question's"));
        }
        Self::columns(&mut from).filter(|_| from.is_at_end()).ok_or_else(damaged)
    }

    fn columns(from: &mut ColumnReader<'_>) -> Option<Self> {
        let first = u32::try_from(from.number()?).ok()?;
        let next = u32::try_from(from.number()?).ok().filter(|&next| next > first)?;
        let mut alone = BTreeMap::new();
        for _ in 0..from.number()? {
            let account = from.text()?.to_owned();
            let price = Amount::from_grains(u128::from_le_bytes(from.array()?));
            add_last(&mut alone, account, price)?;
        }
        let mut answers = BTreeMap::new();
        for _ in 0..from.number()? {
            let name = from.text()?.to_owned();
            let given = match from.text()? {
                "" => Given::First,
                key => Given::Request(Key::new(key).ok()?),
            };
            add_last(&mut answers, name, given)?;
        }
        Some(Self { first, next, alone, answers })
    }
}

/// Adds what comes after all that there is.
fn add_last<V>(map: &mut BTreeMap<String, V>, name: String, value: V) -> Option<()> {
    if map.last_key_value().is_some_and(|(last, _)| *last >= name) {
        return None;
    }
    map.insert(name, value);
    Some(())
}

/// What one purchase has added, beside the points of the paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Round {
    /// Which increment of the bundle it was.
    pub(crate) increment: u32,
    /// The increment after that of the round before it; none for the first.
    pub(crate) after: Option<u32>,
    /// How far accounts have paid for groups from now on.
    pub(crate) paid: BTreeMap<String, Vec<(u32, Amount<Rho>)>>,
    /// Answers of an older eke.
    pub(crate) answers: BTreeMap<String, Vec<Vec<Found>>>,
}

/// An account has paid for what was added to the paths.
const AS_DRAWN: u8 = 0;
/// An account has paid for something else.
const LISTED: u8 = 1;

impl Round {
    /// Writes the round that a bundle has had since it had this many points; of a search with the
    /// cuts that were added.
    pub(crate) fn write(
        &self,
        bundle: &Bundle<Rho>,
        points: u32,
        cuts: Option<&[(u32, Place)]>,
    ) -> Result<Vec<u8>, EngineError> {
        let mut to = ColumnWriter::new();
        to.raw(bundle.id().digest());
        to.number(self.increment.into());
        to.number(self.after.map_or(u64::MAX, u64::from));
        if let Some(cuts) = cuts {
            cuts::write(cuts, &mut to);
        }
        bundle.write_since(points, &mut to);
        let drawn = bundle.raised_since(points);
        to.number(self.paid.len() as u64);
        for (account, paid) in &self.paid {
            to.text(account);
            if *paid == drawn {
                to.byte(AS_DRAWN);
            } else {
                to.byte(LISTED);
                to.raises(paid);
            }
        }
        to.number(self.answers.len() as u64);
        for (name, found) in &self.answers {
            to.text(name);
            write_found(found, &mut to).ok_or_else(|| {
                EngineError::damaged("an answer has more values in some groups than in others")
            })?;
        }
        Ok(if cuts.is_some() { Form::Cuts } else { Form::Round }.seal(to))
    }

    /// Reads a round, and adds its points to the bundle as it was before; of a search its cuts
    /// first.
    pub(crate) fn read(
        bytes: &[u8],
        bundle: &mut Bundle<Rho>,
        cuts: Option<&mut Cuts>,
    ) -> Result<Self, EngineError> {
        let form = if cuts.is_some() { Form::Cuts } else { Form::Round };
        let mut from = form.open(bytes).ok_or_else(damaged)?;
        if from.array() != Some(*bundle.id().digest()) {
            return Err(EngineError::damaged("it is another question's"));
        }
        let increment = from.number().and_then(|number| u32::try_from(number).ok());
        let after = match from.number() {
            Some(u64::MAX) => Some(None),
            Some(number) => u32::try_from(number).ok().map(Some),
            None => None,
        };
        let (increment, after) = increment.zip(after).ok_or_else(damaged)?;
        let points = bundle.points();
        if let Some(cuts) = cuts {
            let added = cuts.read(&mut from).ok_or_else(damaged)?;
            bundle.extend(added).map_err(EngineError::damaged)?;
        }
        bundle.add(&mut from).map_err(EngineError::damaged)?;
        let round = Self { increment, after, ..Self::default() };
        let round = round.with_columns(&mut from, bundle, points).filter(|_| from.is_at_end());
        round.ok_or_else(damaged)
    }

    fn with_columns(
        mut self,
        from: &mut ColumnReader<'_>,
        bundle: &Bundle<Rho>,
        points: u32,
    ) -> Option<Self> {
        let groups = bundle.groups();
        let drawn = bundle.raised_since(points);
        for _ in 0..from.number()? {
            let account = from.text()?.to_owned();
            let paid = match from.byte()? {
                AS_DRAWN => drawn.clone(),
                LISTED => from.raises().filter(|paid| *paid != drawn)?,
                _ => return None,
            };
            let is_in_order = paid.is_sorted_by(|(one, _), (next, _)| one < next);
            if !is_in_order || paid.last().is_some_and(|&(group, _)| group as usize >= groups) {
                return None;
            }
            add_last(&mut self.paid, account, paid)?;
        }
        for _ in 0..from.number()? {
            let name = from.text()?.to_owned();
            let found = FoundColumns::read(from)?.by_group(groups)?;
            add_last(&mut self.answers, name, found)?;
        }
        Some(self)
    }
}

/// What eke stored up to 0.1: everything, in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Json {
    pub(crate) groups: Vec<Vec<Value>>,
    pub(crate) bundle: Bundle<Rho>,
    pub(crate) paid: BTreeMap<String, Vec<Amount<Rho>>>,
    pub(crate) answers: BTreeMap<String, Vec<Vec<Found>>>,
}

impl Json {
    /// Whether bytes are of this form.
    pub(crate) fn is(bytes: &[u8]) -> bool {
        bytes.first() == Some(&b'{')
    }
}

/// Writes what was found, measure by measure, for those groups for which something was; none if
/// they have different numbers of values.
pub(crate) fn write_found(found: &[Vec<Found>], to: &mut ColumnWriter) -> Option<()> {
    let measured = (0u32..).zip(found).filter(|(_, values)| !values.is_empty());
    let (groups, values): (Vec<u32>, Vec<&Vec<Found>>) = measured.unzip();
    let measures = values.first().map_or(0, |values| values.len());
    if values.iter().any(|values| values.len() != measures) {
        return None;
    }
    to.groups(&groups);
    to.number(measures as u64);
    for measure in 0..measures {
        let found = || values.iter().map(|values| values[measure]);
        write_estimates(found(), to);
        // No estimate is read from a point that is worth nothing.
        let evidence = || found().map(|found| found.evidence);
        let worth = |of: Option<Evidence>| of.map_or(0, |of| of.worth.grains());
        to.repeated(evidence().map(worth));
        to.doubles(evidence().flatten().map(|of| of.sum));
        let number = |number: Option<f64>| u128::from(number.map_or(ABSENT, f64::to_bits));
        to.repeated(evidence().flatten().map(|of| number(of.count)));
        to.repeated(evidence().flatten().map(|of| number(of.gamma)));
    }
    Some(())
}

/// What was found, measure by measure, for those groups for which something was.
pub(crate) struct FoundColumns {
    /// In their order.
    groups: Vec<u32>,
    measures: Vec<Vec<Found>>,
}

impl FoundColumns {
    pub(crate) fn read(from: &mut ColumnReader<'_>) -> Option<Self> {
        let groups = from.groups()?;
        let (count, measures) = (groups.len(), from.count()?);
        let in_order = groups.is_sorted_by(|one, next| one < next);
        if !in_order || (measures == 0) != (count == 0) {
            return None;
        }
        let mut columns = Vec::new();
        for _ in 0..measures {
            let mut found = read_estimates(from, count)?;
            let worth = from.repeated(count)?;
            let with = worth.iter().filter(|&&worth| worth > 0).count();
            let sums = from.doubles(with)?;
            let (counts, gammas) = (from.repeated(with)?, from.repeated(with)?);
            let mut read = sums.into_iter().zip(counts).zip(gammas);
            for (found, worth) in found.iter_mut().zip(worth).filter(|(_, worth)| *worth > 0) {
                let ((sum, count), gamma) = read.next()?;
                let (count, gamma) = (number(count)?, number(gamma)?);
                let worth = Amount::from_grains(worth);
                found.evidence = Some(Evidence { worth, sum: finite(sum)?, count, gamma });
            }
            columns.push(found);
        }
        Some(Self { groups, measures: columns })
    }

    /// What was found for a group.
    pub(crate) fn get(&self, group: u32, measure: usize) -> Option<Found> {
        let place = self.groups.binary_search(&group).ok()?;
        self.measures.get(measure)?.get(place).copied()
    }

    /// What was found for each of this many groups.
    pub(crate) fn by_group(self, groups: usize) -> Option<Vec<Vec<Found>>> {
        let mut found = vec![Vec::new(); groups];
        for (place, group) in self.groups.into_iter().enumerate() {
            let values = self.measures.iter().map(|measure| measure[place]);
            *found.get_mut(group as usize)? = values.collect();
        }
        Some(found)
    }
}

/// Writes estimates without what they were read from.
pub(crate) fn write_estimates(found: impl Iterator<Item = Found> + Clone, to: &mut ColumnWriter) {
    let absent = |number: Option<f64>| number.unwrap_or(f64::from_bits(ABSENT));
    to.doubles(found.clone().map(|found| absent(found.value)));
    to.doubles(found.clone().map(|found| absent(found.low)));
    to.doubles(found.clone().map(|found| absent(found.high)));
    to.numbers(found.map(|found| code(found.ending)));
}

/// Reads `count` estimates.
pub(crate) fn read_estimates(from: &mut ColumnReader<'_>, count: usize) -> Option<Vec<Found>> {
    let (values, lows, highs) = (from.doubles(count)?, from.doubles(count)?, from.doubles(count)?);
    let endings = from.numbers(count)?;
    let found = values.into_iter().zip(lows).zip(highs).zip(endings);
    let found = found.map(|(((value, low), high), ending)| {
        let [value, low, high] = [value, low, high].map(|number| present(number.to_bits()));
        let (value, low, high) = (value?, low?, high?);
        Some(Found { value, low, high, ending: ending_of(ending)?, evidence: None })
    });
    found.collect()
}

/// The double that stands for none: no number.
const ABSENT: u64 = 0x7ff8_0000_0000_0000;

/// A number of the table of a column; none in none where it is no number.
fn number(bits: u128) -> Option<Option<f64>> {
    present(u64::try_from(bits).ok()?)
}

/// A finite number, or none; nothing where it is something else.
fn present(bits: u64) -> Option<Option<f64>> {
    if bits == ABSENT { Some(None) } else { finite(f64::from_bits(bits)).map(Some) }
}

fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

/// The endings, by the numbers that they are stored as.
const ENDINGS: [Stopped; 8] = [
    Stopped::Met,
    Stopped::Floor,
    Stopped::HighestPrice,
    Stopped::OutOfReach,
    Stopped::Refused,
    Stopped::Grid,
    Stopped::Chosen,
    Stopped::Tier,
];

fn code(ending: Stopped) -> u64 {
    match ending {
        Stopped::Met => 0,
        Stopped::Floor => 1,
        Stopped::HighestPrice => 2,
        Stopped::OutOfReach => 3,
        Stopped::Refused => 4,
        Stopped::Grid => 5,
        Stopped::Chosen => 6,
        Stopped::Tier => 7,
    }
}

fn ending_of(code: u64) -> Option<Stopped> {
    ENDINGS.get(usize::try_from(code).ok()?).copied()
}

/// Reads the columns of a form and writes them again, for fuzzing: none if they are damaged. A
/// round is read for a bundle of five groups and two columns, of which nothing has been revealed.
#[doc(hidden)]
#[must_use]
pub fn rewritten(form: u8, columns: &[u8]) -> Option<Vec<u8>> {
    let sealed = |form: Form| {
        let mut to = ColumnWriter::new();
        to.raw(columns);
        form.seal(to)
    };
    match form {
        b'h' => {
            let bundle = PathId::new(*columns.first_chunk()?);
            Some(Head::read(&sealed(Form::Head), bundle).ok()?.write(bundle))
        }
        b'r' => {
            let mut bundle = fuzzed_bundle()?;
            let columns = [&bundle.id().digest()[..], columns].concat();
            let mut to = ColumnWriter::new();
            to.raw(&columns);
            let round = Round::read(&Form::Round.seal(to), &mut bundle, None).ok()?;
            round.write(&bundle, 0, None).ok()
        }
        _ => None,
    }
}

fn fuzzed_bundle() -> Option<Bundle<Rho>> {
    let column = |sensitivity| {
        let sensitivity = eke_budget::L1::new(sensitivity).ok()?;
        Some(eke_noise::path::Column { sensitivity, share: 1 })
    };
    Bundle::open(PathId::new([7; 32]), vec![column(1.0)?, column(32.0)?], 5).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(grains: u128) -> Amount<Rho> {
        Amount::from_grains(grains)
    }

    fn head() -> Head {
        let key = Key::new("program/0123~ana/7").unwrap();
        Head {
            first: 2,
            next: 9,
            alone: BTreeMap::from([("riders".to_owned(), amount(77))]),
            answers: BTreeMap::from([
                ("riders | an older one".to_owned(), Given::First),
                ("riders | within 5%".to_owned(), Given::Request(key)),
            ]),
        }
    }

    fn found(value: f64, worth: u128) -> Found {
        let evidence = Evidence {
            worth: amount(worth),
            sum: value + 0.5,
            count: (worth > 50).then_some(3.0),
            gamma: (worth > 20).then_some(1e-5),
        };
        Found {
            value: Some(value),
            low: Some(value - 1.0),
            high: (value > 0.0).then_some(value + 1.0),
            ending: ENDINGS[worth as usize % 8],
            evidence: (worth > 0).then_some(evidence),
        }
    }

    fn round() -> Round {
        Round {
            increment: 4,
            after: Some(3),
            paid: BTreeMap::from([
                ("ana".to_owned(), vec![(1, amount(9))]),
                ("riders".to_owned(), Vec::new()),
            ]),
            answers: BTreeMap::from([(
                "riders | an older one".to_owned(),
                vec![vec![], vec![found(2.5, 8)], vec![], vec![found(-1.0, 60)], vec![]],
            )]),
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn heads_and_rounds_are_read_as_they_were_written() {
        let id = PathId::new([3; 32]);
        assert_eq!(Head::read(&head().write(id), id).unwrap(), head());
        let mut bundle = fuzzed_bundle().unwrap();
        let bytes = round().write(&bundle, 0, None).unwrap();
        assert_eq!(Round::read(&bytes, &mut bundle, None).unwrap(), round());
        // And are nothing else's.
        assert!(Head::read(&head().write(id), PathId::new([4; 32])).is_err());
        assert!(Head::read(&bytes, bundle.id()).is_err());
        let other = Bundle::open(PathId::new([4; 32]), bundle.columns().to_vec(), 5);
        assert!(Round::read(&bytes, &mut other.unwrap(), None).is_err());
    }

    /// Ledgers have these bytes in them.
    #[test]
    fn stored_forms_are_what_they_were() {
        let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex()[..16].to_owned();
        let head = head().write(PathId::new([3; 32]));
        assert_eq!(&head[..10], b"eke paths\x01");
        let bundle = fuzzed_bundle().unwrap();
        let round = round().write(&bundle, 0, None).unwrap();
        assert_eq!(
            (digest(&head), digest(&round)),
            ("ba77b8d4824a64fa".to_owned(), "5fd6c2f93ea94ef3".to_owned())
        );
        assert_eq!(hex(&head[43 + 32..43 + 48]), "02000000000000000900000000000000");
    }

    proptest! {
        /// Whatever byte is changed, nothing else is read; and nothing that is cut off.
        #[test]
        fn damaged_bytes_are_not_read(place in any::<prop::sample::Index>(), bit in 0u8..8) {
            let id = PathId::new([3; 32]);
            let mut bytes = head().write(id);
            let place_in = place.index(bytes.len());
            prop_assert!(Head::read(&bytes[..place_in], id).is_err());
            bytes[place_in] ^= 1 << bit;
            prop_assert!(Head::read(&bytes, id).is_err());
            let mut bundle = fuzzed_bundle().unwrap();
            let mut bytes = round().write(&bundle, 0, None).unwrap();
            let place_in = place.index(bytes.len());
            prop_assert!(Round::read(&bytes[..place_in], &mut bundle, None).is_err());
            bytes[place_in] ^= 1 << bit;
            prop_assert!(Round::read(&bytes, &mut bundle, None).is_err());
        }

        /// Also where the digest is made to fit, what is read is written as it was read.
        #[test]
        fn what_is_read_has_one_form(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            is_head in any::<bool>(),
        ) {
            let bundle = fuzzed_bundle().unwrap();
            let bytes = if is_head {
                head().write(bundle.id())
            } else {
                round().write(&bundle, 0, None).unwrap()
            };
            let (form, start) = if is_head { (b'h', 43) } else { (b'r', 43 + 32) };
            let mut columns = bytes[start..].to_vec();
            for (place, byte) in changes {
                let place = place.index(columns.len());
                columns[place] = byte;
            }
            if let Some(again) = rewritten(form, &columns) {
                prop_assert_eq!(&again[start..], &columns[..]);
            }
        }

        #[test]
        fn what_was_found_is_read_as_it_was_written(
            groups in prop::collection::vec(prop::option::of((-5.0f64..5.0, 0u128..100)), 0..20),
            measures in 1usize..3,
        ) {
            let values = |group: &Option<(f64, u128)>| {
                group.map_or_else(Vec::new, |(value, worth)| vec![found(value, worth); measures])
            };
            let all: Vec<Vec<Found>> = groups.iter().map(values).collect();
            let mut to = ColumnWriter::new();
            write_found(&all, &mut to).unwrap();
            let bytes = to.into_bytes();
            let mut from = ColumnReader::new(&bytes);
            let read = FoundColumns::read(&mut from).unwrap();
            for (group, values) in (0u32..).zip(&all) {
                prop_assert_eq!(read.get(group, 0), values.first().copied());
            }
            prop_assert_eq!(read.by_group(all.len()), Some(all));
            prop_assert!(from.is_at_end());
        }
    }
}
