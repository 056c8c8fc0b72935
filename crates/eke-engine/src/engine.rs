//! The engine: a policy, its ledger, and what is known about its datasets.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eke_budget::{Amount, Rho};
use eke_ledger::patience::{Patience, Silently, Waiting};
use eke_ledger::{Address, Ledger, LedgerError, Stamp};
use eke_noise::entropy::random_bytes;
use eke_sql::{Plan, Query};

use crate::ask::cut::CutPart;
use crate::ask::question::Who;
use crate::data::anchored::Anchored;
use crate::data::ground::{Schema, Understood, schema, understand_level};
use crate::data::ids::Ids;
use crate::data::registry::{Identity, Registry};
use crate::data::source::{Fingerprint, Source};
use crate::error::EngineError;
use crate::policy::{AccountSpec, Dataset, Policy, PolicyProtection};
use crate::profile::layout::Layout;
use crate::profile::pass::{ProfileInput, ProfileOptions, UnitCells, unit_cells};
use crate::purchase::payers::Payers;
use crate::rows::fan_out;
use crate::rows::held::HeldRows;
use crate::rows::pass::bounding::HashKey;
use crate::rows::scan::pieces;
use crate::rows::spill::Spill;
use crate::rows::threads;
use crate::rows::{Bounded, DatasetRows, HeldFor, PublicRows, RowsError, RowsOptions, bounded_of};

/// A policy with its ledger, open.
pub struct Engine {
    policy: Policy,
    ledger: Ledger,
    anchored: Anchored,
    waiting: Arc<dyn Waiting>,
    remarks: Vec<String>,
    begun: bool,
    spill: Spill,
    held: Arc<HeldRows>,
}

/// How an engine is opened.
#[derive(Clone)]
pub struct Access {
    /// How other programs are waited for that hold the ledger.
    pub waiting: Arc<dyn Waiting>,
    /// Whether a ledger is begun if there is none. To look at what was spent none is needed.
    pub begins: bool,
}

impl Default for Access {
    fn default() -> Self {
        Self { waiting: Arc::new(Silently::default()), begins: true }
    }
}

/// A question that is understood, and what is needed to answer it.
pub(crate) struct Prepared {
    pub(crate) query: Query,
    /// The same without the bounds that it chooses, where something limits how far the asker sees
    /// paths, and there is such a question.
    pub(crate) unasked: Option<Query>,
    /// The unit's account, and then those of the asker.
    pub(crate) payers: Payers,
    /// The furthest point that the asker sees of any one path.
    pub(crate) finest: Option<Amount<Rho>>,
    /// The datasets of the plan, the first one first.
    pub(crate) datasets: Vec<PreparedDataset>,
    hash_key: [u8; 32],
    /// What the plan looks up in public tables, the innermost first.
    public: Vec<PublicRows>,
    is_steward: bool,
    /// How long after its question an answer to an analyst leaves at the earliest.
    pub(crate) answer_time: Duration,
    /// The part of what it is charged that its cut counts may cost.
    pub(crate) cut_part: CutPart,
}

/// A dataset that rows are read of.
pub(crate) struct PreparedDataset {
    pub(crate) name: String,
    /// The number of its snapshot.
    pub(crate) snapshot: u32,
    unit_column: String,
    source: Source,
    schema: Schema,
    ids: Ids,
}

/// Which way of reading files it is. What it says of a file may never change.
///
/// 2: a carriage return ends a line of CSV, a cell that is no text is NULL and fails nothing, ids
/// of units are exact.
const READING: u32 = 2;

impl Prepared {
    /// The names of its datasets, for a sentence.
    pub(crate) fn dataset_names(&self) -> String {
        let names = self.datasets.iter().map(|dataset| format!("`{}`", dataset.name));
        names.collect::<Vec<_>>().join(" and ")
    }

    /// Which rows of public tables are looked up: others are another truth.
    pub(crate) fn looked_up(&self) -> Option<Vec<[u8; 32]>> {
        let digests = self.public.iter().map(|public| public.digest);
        (!self.public.is_empty()).then(|| digests.collect())
    }
}

impl PreparedDataset {
    /// What the columns and the unit are read as: another reading of the same file is another
    /// truth.
    pub(crate) fn read_as(&self) -> impl serde::Serialize + '_ {
        (READING, &self.schema, &self.ids)
    }

    /// The types of its columns.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The column that says which unit a row belongs to; empty where each row is a unit.
    pub(crate) fn unit_column(&self) -> &str {
        &self.unit_column
    }
}

/// A snapshot that was declared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Declared {
    /// The dataset.
    pub dataset: String,
    /// The number of the snapshot.
    pub number: u32,
    /// Whether the files were the same as before.
    pub unchanged: bool,
    /// What the steward should know of how the files were written.
    pub remarks: Vec<String>,
}

impl Engine {
    /// Opens the ledger of a policy, and makes it if there is none.
    ///
    /// # Errors
    /// The policy cannot be as it is, or the ledger cannot be opened.
    pub fn open(policy: &Path) -> Result<Self, EngineError> {
        Self::open_with(policy, Access::default())
    }

    /// Opens the ledger of a policy.
    ///
    /// # Errors
    /// The policy cannot be as it is, the ledger cannot be opened or is damaged, or it is not the
    /// one that the policy was used with.
    pub fn open_with(policy: &Path, access: Access) -> Result<Self, EngineError> {
        Self::over(Policy::read(policy)?, Anchored::of(policy), access)
    }

    /// The same for a policy that was read.
    pub(crate) fn over(
        policy: Policy,
        anchored: Anchored,
        access: Access,
    ) -> Result<Self, EngineError> {
        let Access { waiting, begins } = access;
        let address = &policy.ledger;
        anchored.check_there(address)?;
        let is_there = address.is_begun();
        let ledger = if is_there || begins {
            let ledger = Ledger::open_waiting(address, Arc::clone(&waiting))?;
            if is_there {
                eke_ledger::journal::check(address)?;
            }
            ledger
        } else {
            Ledger::unbegun()?
        };
        if is_there || begins {
            anchored.check(&ledger, address)?;
        }
        if !is_there && begins {
            anchored.keep(&ledger, Vec::new())?;
        }
        let mut remarks: Vec<String> = policy.warnings().to_vec();
        remarks.extend(crate::data::pins::remarks(&policy));
        remarks.extend(address.exposed());
        let begun = !is_there && begins;
        let spill = Spill::beside(&policy.ledger, &policy.folder);
        spill.sweep();
        let held = Arc::default();
        Ok(Self { policy, ledger, anchored, waiting, remarks, begun, spill, held })
    }

    /// Whether a new ledger was begun when this was opened.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// What the steward should know about the policy and the files of the ledger. Nothing of it
    /// depends on rows.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience::new(&*self.waiting)
    }

    /// Remembers beside the policy how far the ledger has come.
    pub(crate) fn remember(&self, payers: &Payers) -> Result<(), EngineError> {
        let names = payers.iter().map(|account| account.name.clone());
        let names = names.chain([crate::data::pins::ACCOUNT.to_owned()]).collect();
        self.anchored.keep(&self.ledger, names)
    }

    /// Gets what it takes to read rows, before anything is charged for it.
    pub(crate) fn ready(&self) -> Result<(), String> {
        threads::threads()?;
        self.spill
            .open()
            .map(drop)
            .map_err(|error| format!("there is nowhere to put what memory does not hold: {error}"))
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Where the ledger lies.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.policy.ledger
    }

    /// Understands one of the questions that a question is made of, opens the accounts that pay,
    /// and pins the dataset down in the ledger.
    pub(crate) fn prepare(
        &self,
        sql: &str,
        level: usize,
        who: &Who,
    ) -> Result<Prepared, EngineError> {
        self.pinned(understand_level(&self.policy, sql, who, level)?, who)
    }

    /// Opens the accounts that pay for a question, and pins its dataset down in the ledger. What
    /// does not go together is for the steward to know: whether files are alike is about rows.
    pub(crate) fn pinned(
        &self,
        understood: Understood,
        who: &Who,
    ) -> Result<Prepared, EngineError> {
        self.pin_down(understood, who).map_err(|error| error.told_to(who))
    }

    fn pin_down(&self, understood: Understood, who: &Who) -> Result<Prepared, EngineError> {
        let Understood { query, unasked, payers, finest, datasets, public } = understood;
        // What is looked up was read before anything is charged, and is what paths are found by.
        fan_out::check(&query.plan, query.passes, &public)?;
        let stamp = Stamp::now(who.name());
        let unit = &payers.unit.name;
        for (name, (source, ..)) in &datasets {
            self.pin_rows(self.policy.dataset(name)?, unit, source, false, &stamp)?;
        }
        for account in payers.iter() {
            self.open_account(account, &stamp)?;
        }
        self.pay_published(unit, &payers.others, &stamp)?;
        if let Some(analyst) = who.analyst() {
            self.come_and_go(unit, analyst, &stamp)?;
        }
        let is_steward = *who == Who::Steward;
        let (mut prepared, mut hash_key, mut answer_time) =
            (Vec::with_capacity(datasets.len()), None, Duration::ZERO);
        let mut cut_part = None;
        for (name, (source, schema, ids)) in datasets {
            let dataset = self.policy.dataset(&name)?;
            let registry = self.pin(unit, dataset, &source, &stamp)?;
            let pinned = registry.check(&name, identity(dataset, unit))?;
            if is_steward {
                // An analyst is not told: nothing it sees depends on it.
                check_files(&registry, &name, &source)?;
            }
            let source = match serde_json::from_value(pinned.latest().fingerprint.clone()) {
                Ok(snapshot) => source.read_as(&snapshot),
                Err(_) => source,
            };
            let snapshot = pinned.latest().number;
            // One registry is a unit's, with one key: rows that meet are kept by the same hash.
            hash_key.get_or_insert(*registry.hash_key());
            answer_time = dataset.answer_time.max(answer_time);
            let part = cut_part.map_or(dataset.cut_counts, |part| dataset.cut_counts.min(part));
            cut_part = Some(part);
            let unit_column = dataset.protection.unit_column().unwrap_or_default().to_owned();
            prepared.push(PreparedDataset { name, snapshot, unit_column, source, schema, ids });
        }
        let hash_key =
            hash_key.ok_or_else(|| EngineError::Damaged("a plan of no dataset".into()))?;
        Ok(Prepared {
            query,
            unasked,
            payers,
            finest,
            datasets: prepared,
            hash_key,
            public,
            is_steward,
            answer_time,
            cut_part: cut_part.unwrap_or(CutPart::NOTHING),
        })
    }

    pub(crate) fn open_account(
        &self,
        account: &AccountSpec,
        stamp: &Stamp,
    ) -> Result<(), EngineError> {
        let opened = self.ledger.account(&account.name).wait()?;
        if opened.is_some_and(|opened| *opened.budget() == account.budget) {
            return Ok(());
        }
        Ok(self.ledger.open_account(&account.name, account.budget.clone(), stamp.clone()).wait()?)
    }

    /// What the ledger says about the datasets of a unit.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn registry(&self, unit: &str) -> Result<Option<Registry>, EngineError> {
        Ok(self.sheet(unit)?.map(|(_, registry)| registry))
    }

    fn sheet(&self, unit: &str) -> Result<Option<(u64, Registry)>, EngineError> {
        let Some((version, bytes)) = self.ledger.sheet(unit).wait()? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some((version, Registry::read(&text)?)))
    }

    /// Changes the registry of a unit, unless the change says no.
    pub(crate) fn change<T>(
        &self,
        unit: &str,
        stamp: &Stamp,
        mut change: impl FnMut(&mut Registry) -> Result<T, EngineError>,
    ) -> Result<(Registry, T), EngineError> {
        let mut patience = self.patience();
        loop {
            let (version, mut registry) = match self.sheet(unit)? {
                Some(sheet) => sheet,
                None => {
                    let key =
                        random_bytes().map_err(|error| EngineError::Entropy(error.to_string()))?;
                    (0, Registry::new(key)?)
                }
            };
            let result = change(&mut registry)?;
            let bytes = registry.write().into_bytes();
            match self.ledger.file_sheet(unit, version, bytes, stamp.clone()).wait() {
                Ok(_) => return Ok((registry, result)),
                Err(LedgerError::SheetMoved { .. } | LedgerError::Moved(_)) if patience.again() => {
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The registry with the dataset in it: its first snapshot is declared when it is first asked
    /// about.
    fn pin(
        &self,
        unit: &str,
        dataset: &Dataset,
        source: &Source,
        stamp: &Stamp,
    ) -> Result<Registry, EngineError> {
        if let Some(registry) = self.registry(unit)?
            && registry.pinned(&dataset.name).is_ok()
        {
            return Ok(registry);
        }
        let fingerprint = source.fingerprint()?;
        let at = stamp.at.to_string();
        let pin = |registry: &mut Registry| {
            if registry.pinned(&dataset.name).is_ok() {
                return Ok(());
            }
            fingerprint.remarks().for_each(|remark| registry.notify(&at, &remark));
            let is = identity(dataset, unit);
            Ok(registry.pin(&dataset.name, is, stored(&fingerprint)?, &at)?)
        };
        Ok(self.change(unit, stamp, pin)?.0)
    }

    /// Declares a new snapshot of a dataset: the steward's act. What was asked of the one before
    /// stays paid for, and the next question is about the rows as they are now.
    ///
    /// # Errors
    /// There is no such dataset, it is public, or its files cannot be read.
    pub fn snapshot(&self, dataset: &str) -> Result<Declared, EngineError> {
        let dataset = self.policy.dataset(dataset)?;
        let PolicyProtection::Private { unit, .. } = &dataset.protection else {
            return Err(EngineError::NoSnapshots { dataset: dataset.name.clone() });
        };
        let stamp = Stamp::now(Who::Steward.name());
        let (_, (source, ..)) = schema(&self.policy, dataset)?;
        self.pin_rows(dataset, unit, &source, true, &stamp)?;
        let payers = self.policy.payers(unit, None)?;
        for account in payers.iter() {
            self.open_account(account, &stamp)?;
        }
        let fingerprint = source.fingerprint()?;
        let at = stamp.at.to_string();
        let declare = |registry: &mut Registry| {
            let is = identity(dataset, unit);
            let fingerprint_now = stored(&fingerprint)?;
            fingerprint.remarks().for_each(|remark| registry.notify(&at, &remark));
            let Ok(pinned) = registry.pinned(&dataset.name) else {
                registry.pin(&dataset.name, is, fingerprint_now, &at)?;
                return Ok((1, false));
            };
            let before: Option<Fingerprint> =
                serde_json::from_value(pinned.latest().fingerprint.clone()).ok();
            let unchanged = before.is_some_and(|before| before.digest == fingerprint.digest);
            let snapshot = registry.declare_snapshot(&dataset.name, is, fingerprint_now, &at)?;
            Ok((snapshot.number, unchanged))
        };
        let (_, (number, unchanged)) = self.change(unit, &stamp, declare)?;
        self.remember(&payers)?;
        let remarks = fingerprint.remarks().collect();
        Ok(Declared { dataset: dataset.name.clone(), number, unchanged, remarks })
    }

    /// What the steward should know: files that have changed under their snapshots, and runs that
    /// failed.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn notices(&self) -> Result<Vec<String>, EngineError> {
        let mut notices = Vec::new();
        let pins = self.pins()?.map(|(_, pins)| pins).unwrap_or_default();
        notices.extend(pins.shared().into_iter().map(|(one, other)| {
            format!(
                "`{}` of unit `{}` and `{}` of unit `{}` hold the same rows: what is spent on the two units adds up for somebody who is in both{}",
                one.dataset, one.unit, other.dataset, other.unit, one.adds_up_with(other)
            )
        }));
        let unnamed = self.unnamed()?;
        if !unnamed.is_empty() {
            notices.push(format!(
                "the ledger has accounts that the policy does not name, and what they promised still counts: {}",
                unnamed.join(", ")
            ));
        }
        for unit in self.policy.units.keys() {
            let Some(registry) = self.registry(unit)? else { continue };
            for dataset in self.policy.datasets.values() {
                let known = registry.pinned(&dataset.name).is_ok();
                let is_units = matches!(&dataset.protection, PolicyProtection::Private { unit: protected, .. } if protected == unit);
                if !known || !is_units {
                    continue;
                }
                let changed = Source::find(&self.policy.folder, &dataset.source)
                    .map_err(EngineError::from)
                    .map(|source| source.multiline(dataset.multiline))
                    .and_then(|source| check_files(&registry, &dataset.name, &source));
                if let Err(error) = changed {
                    notices.push(error.to_string());
                }
            }
            let failed = registry.notices().iter();
            notices.extend(failed.map(|notice| format!("{}: {}", notice.at, notice.what)));
            notices.extend(self.reading_notices(unit)?);
        }
        Ok(notices)
    }

    /// Computes what a plan says from the rows. What may be said of it is noised first.
    pub(crate) fn bounded(
        &self,
        prepared: &Prepared,
        plan: &Plan,
        expects_more: bool,
        progress: &dyn Fn(u64, Option<u64>),
    ) -> Result<Bounded, RowsError> {
        let Prepared { datasets, hash_key, .. } = prepared;
        // How many rows there are is for the steward to see.
        let rows = || datasets.iter().map(|dataset| dataset.source.rows()).sum::<Option<u64>>();
        let all = if prepared.is_steward { rows() } else { None };
        let seen = |rows: u64| progress(rows, all);
        let progress: Option<&dyn Fn(u64)> = if prepared.is_steward { Some(&seen) } else { None };
        let spill = Some(self.spill.folder());
        let held = datasets.first().map(|dataset| HeldFor {
            rows: &self.held,
            dataset: &dataset.name,
            snapshot: dataset.snapshot,
            expects_more,
        });
        let public = &prepared.public;
        let unlisted = !prepared.cut_part.is_nothing();
        let options =
            RowsOptions { progress, spill, held, public, unlisted, ..RowsOptions::usual() };
        let datasets: Vec<DatasetRows<'_>> = datasets
            .iter()
            .map(|dataset| DatasetRows {
                dataset: &dataset.name,
                unit_column: &dataset.unit_column,
                source: &dataset.source,
                schema: &dataset.schema,
            })
            .collect();
        bounded_of(&datasets, plan, hash_key, options)
    }

    /// Puts each unit of a dataset into one cell of every histogram of a profile. What may be said
    /// of it is noised first.
    pub(crate) fn unit_cells(
        &self,
        prepared: &Prepared,
        layout: &Layout,
        progress: &dyn Fn(u64, Option<u64>),
    ) -> Result<UnitCells, RowsError> {
        let Some(dataset) = prepared.datasets.first() else {
            return Err(RowsError::failed("a profile of no dataset"));
        };
        let all = dataset.source.rows();
        let usual = RowsOptions::usual();
        let (source, readers) = (dataset.source.clone(), usual.partitions);
        let unit = (!dataset.unit_column.is_empty())
            .then(|| (dataset.unit_column.clone(), dataset.ids.clone()));
        let input = ProfileInput {
            layout: layout.clone(),
            schema: dataset.schema.clone(),
            unit,
            pieces: Box::new(move || pieces(&source, readers).map_err(RowsError::failed)),
            hash_key: HashKey(prepared.hash_key),
        };
        let options = ProfileOptions {
            memory: usual.memory,
            workers: usual.partitions,
            batch_rows: usual.batch_rows,
            spill: Some(self.spill.folder().to_owned()),
            progress: Some(&|seen| progress(seen, all)),
        };
        unit_cells(input, &options)
    }
}

fn identity<'a>(dataset: &'a Dataset, unit: &'a str) -> Identity<'a> {
    let unit_column = dataset.protection.unit_column().unwrap_or_default();
    Identity { source: &dataset.source, unit, unit_column }
}

fn stored(fingerprint: &Fingerprint) -> Result<serde_json::Value, EngineError> {
    serde_json::to_value(fingerprint).map_err(EngineError::damaged)
}

/// Whether the files are those of the latest snapshot.
fn check_files(registry: &Registry, dataset: &str, source: &Source) -> Result<(), EngineError> {
    let before = &registry.pinned(dataset)?.latest().fingerprint;
    let now = match serde_json::from_value::<Fingerprint>(before.clone()) {
        Ok(earlier) => {
            let now = source.fingerprint_since(&earlier)?;
            // Touched, and the same.
            if now.digest == earlier.digest { before.clone() } else { stored(&now)? }
        }
        Err(_) => stored(&source.fingerprint()?)?,
    };
    registry.check_fingerprint(dataset, &now)?;
    Ok(())
}
