//! Pins: which unit pays for which rows, for everything in a ledger and for good.
//!
//! A unit's registry knows the unit's own datasets. Were it alone, another name for the unit would
//! be another registry, another account and a full budget again for the same rows. So a ledger has
//! one list of pins for all units. Rows are known by the name of their dataset, by the files that
//! hold them (symbolic links followed) and by the content of those files, packed and unpacked, each
//! together with the column that says which unit a row belongs to, or the name that several go by:
//! their list, its order, and the period and the zone of a unit that is a person in one.
//!
//! Two units may have the same rows by different columns: riders and drivers of one file of trips.
//! What is spent on them adds up for somebody who is both, and a note says so to the steward. By
//! the same column they may have them only if the policy said so when the rows were first asked
//! about.
//!
//! It is kept as JSON with a version. Ledgers outlive code: what version 1 says may never change.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use eke_budget::{Adjacency, Budget, BudgetSpec, Metric, Rho};
use eke_ledger::{LedgerError, Stamp};
use eke_sql::UnitColumns;
use serde::{Deserialize, Serialize};

use crate::data::registry::{Registry, RegistryError};
use crate::data::source::{DataFile, Source, SourceError};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::policy::{Dataset, Policy, PolicyProtection};

/// The account whose sheet the pins are. Nothing is ever charged to it.
pub(crate) const ACCOUNT: &str = "eke/datasets";
const VERSION: u32 = 1;
/// How many names of accounts are read at a time.
const NAMES: u32 = 1000;

/// What a ledger knows about whose rows are whose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pins {
    version: u32,
    pins: Vec<Pin>,
}

/// The rows of a dataset, and whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    pub(crate) dataset: String,
    pub(crate) unit: String,
    pub(crate) unit_column: String,
    /// Where the rows are or were.
    pub(crate) files: BTreeSet<String>,
    /// Digests of what the files held.
    pub(crate) contents: BTreeSet<String>,
    /// Other units that have these rows by the same column, as the policy said at first.
    pub(crate) beside: BTreeSet<String>,
}

impl Pins {
    fn read(bytes: &[u8]) -> Result<Self, RegistryError> {
        let unreadable = |error: serde_json::Error| RegistryError::Unreadable(error.to_string());
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(unreadable)?;
        match value["version"].as_u64() {
            Some(version) if version != u64::from(VERSION) => Err(RegistryError::Version(version)),
            _ => serde_json::from_value(value).map_err(unreadable),
        }
    }

    fn write(&self) -> Vec<u8> {
        // Keys are texts, so this cannot fail; what is no JSON would not be read.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The same dataset, as it is known.
    fn known(&self, is: &Pin) -> Option<&Pin> {
        self.pins.iter().find(|pin| pin.is_named(is))
    }

    /// Takes in what packed files of other units hold by the same column.
    fn unpack(&mut self, is: &Pin) {
        let others = self
            .pins
            .iter_mut()
            .filter(|pin| pin.unit != is.unit && pin.is_by_the_same(&is.unit_column));
        for pin in others {
            let unpacked = unpacked(pin);
            pin.contents.extend(unpacked);
        }
    }

    /// Whether rows may be whose they are said to be.
    fn check(&self, is: &Pin) -> Result<(), RegistryError> {
        if self.known(is).is_none()
            && let Some(pin) = self.pins.iter().find(|pin| pin.dataset == is.dataset)
        {
            return Err(RegistryError::OtherUnit {
                dataset: is.dataset.clone(),
                pinned: (pin.unit.clone(), pin.unit_column.clone()),
                found: (is.unit.clone(), is.unit_column.clone()),
            });
        }
        // What a unit is decides what its account promises, so it is one thing for good.
        let period = |pin: &Pin| UnitColumns::read(&pin.unit_column).period;
        let period = |pin: &Pin| period(pin).map(|period| (period.every, period.zone));
        let other = self.pins.iter().find(|pin| pin.unit == is.unit && period(pin) != period(is));
        if let Some(pin) = other {
            return Err(RegistryError::OtherPeriod {
                dataset: is.dataset.clone(),
                unit: is.unit.clone(),
                pinned: (pin.dataset.clone(), pin.unit_column.clone()),
                found: is.unit_column.clone(),
            });
        }
        let other = self.pins.iter().find(|pin| {
            pin.unit != is.unit
                && pin.is_by_the_same(&is.unit_column)
                && !pin.beside.contains(&is.unit)
                && pin.shares_rows(is)
        });
        other.map_or(Ok(()), |pin| {
            Err(RegistryError::SameRows {
                dataset: is.dataset.clone(),
                found: (is.unit.clone(), is.unit_column.clone()),
                pinned: (pin.dataset.clone(), pin.unit.clone()),
            })
        })
    }

    /// Takes rows in that may be whose they are said to be.
    fn add(&mut self, is: Pin) {
        match self.pins.iter_mut().find(|pin| pin.is_named(&is)) {
            None => self.pins.push(is),
            Some(pin) => {
                pin.files.extend(is.files);
                pin.contents.extend(is.contents);
            }
        }
    }

    /// Pairs of datasets of different units that have rows in common.
    pub(crate) fn shared(&self) -> Vec<(&Pin, &Pin)> {
        let mut shared = Vec::new();
        for (index, one) in self.pins.iter().enumerate() {
            let others = self.pins[index + 1..].iter();
            let others = others.filter(|other| other.unit != one.unit && other.shares_rows(one));
            shared.extend(others.map(|other| (one, other)));
        }
        shared
    }
}

impl Pin {
    /// What a policy says of a dataset of these files.
    fn of(dataset: &Dataset, unit: &str, source: &Source) -> Self {
        let unit_column = dataset.protection.unit_column().unwrap_or_default();
        let (dataset, files) = (dataset.name.clone(), files(source));
        let (unit, unit_column) = (unit.to_owned(), unit_column.to_owned());
        Self { dataset, unit, unit_column, files, ..Self::default() }
    }

    /// Other units that have the same files by the same column, as the policy says now.
    fn others(&self, policy: &Policy) -> BTreeSet<String> {
        let others = policy.datasets.values().filter_map(|other| {
            let PolicyProtection::Private { unit, unit_column, .. } = &other.protection else {
                return None;
            };
            let same = *unit != self.unit
                && self.is_by_the_same(unit_column)
                && Source::find(&policy.folder, &other.source)
                    .is_ok_and(|source| !files(&source).is_disjoint(&self.files));
            same.then(|| unit.clone())
        });
        others.collect()
    }

    fn is_named(&self, other: &Self) -> bool {
        (&self.dataset, &self.unit, &self.unit_column)
            == (&other.dataset, &other.unit, &other.unit_column)
    }

    /// Whether another name for the unit would be another budget for the same people: by the same
    /// column, or by the same columns in any order, each in one period, whichever, or each as a
    /// whole.
    fn is_by_the_same(&self, unit_column: &str) -> bool {
        let (one, other) = (UnitColumns::read(&self.unit_column), UnitColumns::read(unit_column));
        Policy::shares_people(&one, &other) && one.period.is_some() == other.period.is_some()
    }

    /// How what is spent on the units of two datasets adds up for one person.
    pub(crate) fn adds_up_with(&self, other: &Self) -> String {
        adds_up([&self.unit, &other.unit], [&self.unit_column, &other.unit_column])
    }

    fn shares_rows(&self, other: &Self) -> bool {
        !self.files.is_disjoint(&other.files) || !self.contents.is_disjoint(&other.contents)
    }
}

/// The files of a source, by the one name that each has.
fn files(source: &Source) -> BTreeSet<String> {
    let name = |path: &std::path::Path| {
        path.canonicalize().unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
    };
    source.files().iter().map(|file| name(&file.path)).collect()
}

/// Digests of what files hold, whatever they are called. Those that hold nothing are left out.
fn contents(source: &Source) -> Result<BTreeSet<String>, EngineError> {
    let mut contents = BTreeSet::new();
    for file in source.files() {
        contents.extend(digest(file, crate::data::source::raw(file)?)?);
        if file.gzip {
            // One that cannot be unpacked has no rows that could be answered about.
            contents.extend(digest(file, crate::data::source::open(file)?).ok().flatten());
        }
    }
    Ok(contents)
}

/// The digest of bytes; none if there are none.
fn digest(file: &DataFile, bytes: impl Read) -> Result<Option<String>, EngineError> {
    let mut content = blake3::Hasher::new_derive_key("eke 2026 content of a dataset's file");
    content
        .update_reader(bytes)
        .map_err(|error| SourceError::Unreadable { file: file.name.clone(), error })?;
    Ok((content.count() > 0).then(|| content.finalize().to_hex().to_string()))
}

/// What the packed files of a pin hold, if they are still what was pinned. Pins from before packed
/// files were unpacked here lack it.
fn unpacked(pin: &Pin) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for name in &pin.files {
        let found = Source::find(Path::new(""), name);
        if let Ok(source) = found
            && source.files().iter().any(|file| file.gzip)
            && let Ok(contents) = contents(&source)
            && !contents.is_disjoint(&pin.contents)
        {
            all.extend(contents);
        }
    }
    all
}

/// What is spent on two units for somebody who is in several periods.
fn adds_up(units: [&str; 2], columns: [&str; 2]) -> String {
    let periods = columns.map(|columns| UnitColumns::read(columns).period);
    if periods.iter().all(Option::is_none) {
        return String::new();
    }
    let terms = units.iter().zip(&periods).map(|(unit, period)| match period {
        None => format!("rho of {unit}"),
        Some(period) => {
            let every = period.every;
            format!("M x M times rho of {unit} for somebody in M {every}s")
        }
    });
    format!(": {}", terms.collect::<Vec<_>>().join(" plus "))
}

/// What a steward should know of a policy that has the same file under several units.
pub(crate) fn remarks(policy: &Policy) -> Vec<String> {
    let private = policy.datasets.values().filter_map(|dataset| {
        let PolicyProtection::Private { unit, .. } = &dataset.protection else { return None };
        let source = Source::find(&policy.folder, &dataset.source);
        Some((dataset, unit, source.map_or_else(|_| BTreeSet::new(), |source| files(&source))))
    });
    let private: Vec<_> = private.collect();
    let mut remarks = Vec::new();
    for (index, (one, unit, files)) in private.iter().enumerate() {
        for (other, others, theirs) in &private[index + 1..] {
            if unit != others && !files.is_disjoint(theirs) {
                let columns = [one, other].map(|dataset| dataset.unit_columns().to_string());
                let adds_up = adds_up([unit, others], [&columns[0], &columns[1]]);
                remarks.push(format!(
                    "`{}` of unit `{unit}` and `{}` of unit `{others}` are the same file: somebody who is in both has both budgets spent on them, which add up{adds_up}",
                    one.name, other.name
                ));
            }
        }
    }
    remarks
}

/// A budget that could pay for nothing: an account has to have one.
fn nothing() -> Result<Budget, EngineError> {
    let rho = Rho::new(1e-30).map_err(EngineError::damaged)?;
    let budget = BudgetSpec::zcdp(rho).resolve(Metric::Hamming(Adjacency::AddRemove));
    budget.map_err(EngineError::damaged)
}

impl Engine {
    /// What is pinned in the ledger; none before the first question.
    pub(crate) fn pins(&self) -> Result<Option<(u64, Pins)>, EngineError> {
        let Some((version, bytes)) = self.ledger().sheet(ACCOUNT).wait()? else { return Ok(None) };
        Ok(Some((version, Pins::read(&bytes)?)))
    }

    /// Checks that a dataset's rows are whose the ledger knows them to be, and takes in what is new
    /// about them. What files hold is looked at when a dataset is new or has a new snapshot.
    pub(crate) fn pin_rows(
        &self,
        dataset: &Dataset,
        unit: &str,
        source: &Source,
        is_snapshot: bool,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let mut is = Pin::of(dataset, unit, source);
        let mut patience = self.patience();
        loop {
            let (version, mut pins) = match self.pins()? {
                Some(pins) => pins,
                None => (0, self.carried_over()?),
            };
            // A name that is taken is seen without reading a file.
            pins.check(&is)?;
            let known = pins.known(&is);
            if version > 0
                && !is_snapshot
                && known.is_some_and(|known| known.files.is_superset(&is.files))
            {
                return Ok(());
            }
            if is.contents.is_empty() && (is_snapshot || known.is_none()) {
                is.contents = contents(source)?;
                is.beside = is.others(self.policy());
                pins.unpack(&is);
                pins.check(&is)?;
            }
            pins.add(is.clone());
            if version == 0 {
                self.ledger().open_account(ACCOUNT, nothing()?, stamp.clone()).wait()?;
            }
            match self.ledger().file_sheet(ACCOUNT, version, pins.write(), stamp.clone()).wait() {
                Ok(_) => return Ok(()),
                Err(LedgerError::SheetMoved { .. } | LedgerError::Moved(_)) if patience.again() => {
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The pins of a ledger that had none: what the registries of its units know.
    fn carried_over(&self) -> Result<Pins, EngineError> {
        let mut pins = Pins { version: VERSION, pins: Vec::new() };
        let mut after: Option<String> = None;
        loop {
            let names = self.ledger().accounts(after.as_deref(), NAMES).wait()?;
            let Some(last) = names.last() else { break };
            after = Some(last.to_string());
            for unit in names.iter().filter(|name| !name.contains('/')) {
                let Some((_, bytes)) = self.ledger().sheet(unit).wait()? else { continue };
                // The sheets of other accounts, such as those of places, are no registries.
                let Ok(registry) = Registry::read(&String::from_utf8_lossy(&bytes)) else {
                    continue;
                };
                for (dataset, pinned) in registry.datasets() {
                    pins.pins.push(self.remembered(dataset, pinned));
                }
            }
        }
        // What is there twice was allowed, and stays.
        let all = pins.pins.clone();
        for pin in &mut pins.pins {
            let is_same = |other: &&Pin| {
                other.unit != pin.unit
                    && other.is_by_the_same(&pin.unit_column)
                    && (other.dataset == pin.dataset || other.shares_rows(pin))
            };
            let same: Vec<String> =
                all.iter().filter(is_same).map(|other| other.unit.clone()).collect();
            pin.beside.extend(same);
        }
        Ok(pins)
    }

    /// What a registry says of a dataset, and its files if they are still there.
    fn remembered(&self, dataset: &str, pinned: &crate::data::registry::Pinned) -> Pin {
        let identity = pinned.identity();
        let mut pin = Pin {
            dataset: dataset.to_owned(),
            unit: identity.unit.to_owned(),
            unit_column: identity.unit_column.to_owned(),
            ..Pin::default()
        };
        for snapshot in pinned.snapshots() {
            let folder = &self.policy().folder;
            match Source::find(folder, &snapshot.source) {
                Ok(source) => {
                    pin.files.extend(files(&source));
                    pin.contents.extend(contents(&source).unwrap_or_default());
                }
                Err(_) => {
                    let path = folder.join(&snapshot.source);
                    pin.files.insert(path.to_string_lossy().into_owned());
                }
            }
        }
        pin
    }
}
