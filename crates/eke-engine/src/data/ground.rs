//! What a question may be about: the tables that it names, and what is read of their files before
//! anything is asked of a ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use eke_budget::{Amount, Rho};
use eke_sql::{Measure, Query, Table, Type};

use crate::ask::question::Who;
use crate::data::ids::Ids;
use crate::data::source::{Source, SourceError};
use crate::error::{EngineError, NotAllowed, NotAnswered};
use crate::policy::{Dataset, Policy, PolicyError, PolicyProtection};
use crate::purchase::payers::Payers;
use crate::rows::PublicRows;
use crate::rows::lookup::lookups;

/// How many values of a public table's column are listed at most.
const MOST_VALUES: usize = 100_000;

/// A question that is understood, before anything is asked of a ledger.
pub(crate) struct Understood {
    pub(crate) query: Query,
    /// The same without the bounds that it chooses, where something limits how far the asker sees
    /// paths, and there is such a question.
    pub(crate) unasked: Option<Query>,
    pub(crate) payers: Payers,
    pub(crate) finest: Option<Amount<Rho>>,
    /// The datasets of the plan, the first one first.
    pub(crate) datasets: Vec<(String, Found)>,
    /// The rows of the public tables that the plan looks something up in, the innermost first.
    pub(crate) public: Vec<PublicRows>,
}

/// Understands a question: what would be computed, and which accounts would pay; of one with
/// totals, that with the most keys. Reads the schemas of files, and no row and no ledger.
pub(crate) fn understand(policy: &Policy, sql: &str, who: &Who) -> Result<Understood, EngineError> {
    understand_level(policy, sql, who, 0)
}

/// The same for one of the questions that a question with totals is made of.
pub(crate) fn understand_level(
    policy: &Policy,
    sql: &str,
    who: &Who,
    level: usize,
) -> Result<Understood, EngineError> {
    let ground = Ground::new(policy, sql, who)?;
    let widest: Vec<_> = policy.datasets.values().map(|dataset| dataset.widest.clone()).collect();
    let query = eke_sql::plan_level(sql, &ground.tables, &widest, level)?;
    let query = showing_enough_units(policy, query)?;
    if !query.searches.is_empty() {
        for dataset in query.plan.datasets() {
            if !policy.dataset(dataset)?.tries_quantiles {
                let dataset = dataset.to_owned();
                return Err(NotAnswered::QuantilesUntried { dataset }.into());
            }
        }
    }
    let is_followed =
        |measure: &Measure| !matches!(measure, Measure::Beside(_) | Measure::Quantile { .. });
    if query.least.is_some()
        && !query.searches.is_empty()
        && !query.measures.iter().any(is_followed)
    {
        return Err(NotAnswered::QuantilesOfFew.into());
    }
    // Nothing limits how far the steward sees paths.
    let unasked = who.analyst().and_then(|_| eke_sql::plan_unasked(sql, &ground.tables, level));
    let mut understood = ground.understood(policy, query, who)?;
    understood.unasked = unasked.filter(|_| understood.finest.is_some());
    if let Some(account) = understood.payers.iter().find(|one| one.budget.zcdp().is_none()) {
        let (account, policy) = (account.name.clone(), policy.path().to_owned());
        return Err(NotAllowed::NoRho { account, policy }.into());
    }
    Ok(understood)
}

/// The question with the fewest units that its rows may be about: the most that a dataset of it
/// asks for.
fn showing_enough_units(policy: &Policy, query: Query) -> Result<Query, EngineError> {
    let mut least = 0;
    for name in query.plan.datasets() {
        least = policy.dataset(name)?.min_units.unwrap_or(0).max(least);
    }
    Ok(query.with_least_units(least))
}

/// What a question may be about: the tables that it names.
pub(crate) struct Ground {
    pub(crate) tables: Vec<Table>,
    read: BTreeMap<String, Found>,
    /// The rows of public tables. They are read once: keys and what is looked up are of one
    /// reading.
    public: BTreeMap<String, PublicRows>,
}

pub(crate) type Schema = Vec<(String, Option<Type>)>;

/// The files of a dataset, their columns and the column with the id of the unit.
pub(crate) type Found = (Source, Schema, Ids);

impl Ground {
    pub(crate) fn new(policy: &Policy, sql: &str, who: &Who) -> Result<Self, EngineError> {
        Self::find(policy, sql, who).map_err(|error| error.told_to(who))
    }

    fn find(policy: &Policy, sql: &str, who: &Who) -> Result<Self, EngineError> {
        if let Some(analyst) = who.analyst() {
            policy.analyst(analyst)?;
        }
        let named = eke_sql::relations(sql, policy.datasets.keys().map(String::as_str))?;
        let (mut read, mut public) = (BTreeMap::new(), BTreeMap::new());
        let mut tables = Vec::new();
        for (name, dataset) in &policy.datasets {
            if named.contains(name.as_str()) {
                let (mut table, found) = schema(policy, dataset)?;
                if table.protection == eke_sql::Protection::Public {
                    public.insert(name.clone(), list_values(&mut table, &found.0)?);
                }
                tables.push(table);
                read.insert(name.clone(), found);
            } else {
                // Its name is enough to say that it is there.
                let protection = eke_sql::Protection::Public;
                tables.push(Table { name: name.clone(), columns: Vec::new(), protection });
            }
        }
        Ok(Self { tables, read, public })
    }

    /// A question about it that is planned, and who would pay.
    pub(crate) fn understood(
        self,
        policy: &Policy,
        query: Query,
        who: &Who,
    ) -> Result<Understood, EngineError> {
        self.paid_for(policy, query, who).map_err(|error| error.told_to(who))
    }

    fn paid_for(
        mut self,
        policy: &Policy,
        query: Query,
        who: &Who,
    ) -> Result<Understood, EngineError> {
        let dataset = policy.dataset(&query.plan.dataset)?;
        let PolicyProtection::Private { unit, adjacency, .. } = &dataset.protection else {
            return Err(NotAnswered::Public { dataset: dataset.name.clone() }.into());
        };
        let payers = policy.payers(unit, who.analyst())?;
        let finest = policy.finest(who.analyst())?;
        let mut datasets: Vec<(String, Found)> = Vec::new();
        for name in query.plan.datasets() {
            let other = policy.dataset(name)?;
            // The plan brings rows together by the unit: it must be the same one in all.
            let is_same = matches!(
                &other.protection,
                PolicyProtection::Private { unit: own, adjacency: how, .. }
                    if own == unit && how == adjacency
            );
            if !is_same {
                let (one, other) = (dataset.name.clone(), name.to_owned());
                return Err(NotAnswered::OtherUnits { one, other }.into());
            }
            let found = match self.read.remove(name) {
                Some(read) => read,
                None => schema(policy, other)?.1,
            };
            if let Some((one, (.., ids))) = datasets.first()
                && !ids.agree_with(&found.2)
            {
                let (one, other) = (one.clone(), name.to_owned());
                return Err(NotAnswered::OtherIds { one, other }.into());
            }
            datasets.push((name.to_owned(), found));
        }
        let public = lookups(query.plan.rows.as_ref()).into_iter().map(|lookup| {
            let wanted = PublicRows::wanted(lookup);
            let read = self.public.get(&lookup.table).and_then(|rows| rows.only(&wanted));
            let rows = match read {
                _ if lookup.is_inline() => PublicRows::inline(lookup),
                Some(rows) => rows,
                None => {
                    let (_, (source, ..)) = schema(policy, policy.dataset(&lookup.table)?)?;
                    PublicRows::read(&lookup.table, &source, &wanted)
                }
            };
            rows.map_err(|error| EngineError::NotReady(error.detail()))
        });
        let public = public.collect::<Result<_, EngineError>>()?;
        Ok(Understood { query, unasked: None, payers, finest, datasets, public })
    }
}

/// Lists the values of a public table's columns, which are keys that may be shown, and gives its
/// rows. It is about nobody, so they may be read at any time.
fn list_values(table: &mut Table, source: &Source) -> Result<PublicRows, EngineError> {
    let typed = table.columns.iter().filter_map(|c| Some((c.name.clone(), c.kind?)));
    let rows = PublicRows::read(&table.name, source, &typed.collect::<Vec<_>>());
    let rows = rows.map_err(|error| EngineError::NotReady(error.detail()))?;
    for (name, values) in rows.values(MOST_VALUES) {
        let column = table.columns.iter_mut().find(|column| column.name == name);
        if let Some(column) = column.filter(|column| column.values.is_none()) {
            column.values = values;
        }
    }
    Ok(rows)
}

/// A dataset as questions see it, where its rows are, the types of their columns, and what says
/// whose they are. If something is wrong, what is wrong with other datasets comes with it.
pub(crate) fn schema(policy: &Policy, dataset: &Dataset) -> Result<(Table, Found), EngineError> {
    let (mut table, found) = file_schema(policy, dataset)?;
    for (name, said) in &dataset.columns {
        let Some((from, column)) = &said.values_from else { continue };
        let public = policy.dataset(from)?;
        let (of, (source, ..)) = file_schema(policy, public)?;
        let wanted = table.columns.iter_mut().find(|column| column.name == *name);
        let kind = of.column(column).and_then(|column| column.kind);
        let (Some(wanted), Some(kind)) = (wanted, kind) else {
            let problem =
                format!("its values come from `{from}.{column}`, and there is no such column");
            return Err(dataset.wrong_column(said.line, name, &problem).into());
        };
        if wanted.kind != Some(kind) {
            let problem = format!("its values come from `{from}.{column}`, which is {kind}");
            return Err(dataset.wrong_column(said.line, name, &problem).into());
        }
        let rows = PublicRows::read(from, &source, &[(column.clone(), kind)]);
        let rows = rows.map_err(|error| EngineError::NotReady(error.detail()))?;
        let listed = rows.values(MOST_VALUES).into_iter().find_map(|(_, values)| values);
        let Some(mut listed) = listed else {
            let problem = format!("`{from}.{column}` has more than {MOST_VALUES} values");
            return Err(dataset.wrong_column(said.line, name, &problem).into());
        };
        listed.retain(|value| *value != eke_sql::Value::Null);
        wanted.values = Some(listed);
    }
    Ok((table, found))
}

/// The same as its own files have it.
fn file_schema(policy: &Policy, dataset: &Dataset) -> Result<(Table, Found), EngineError> {
    read_schema(&policy.folder, dataset).map_err(|error| {
        let others = policy.datasets.values();
        let wrong = others.filter_map(|other| read_schema(&policy.folder, other).err()).collect();
        PolicyError::all(wrong).err().unwrap_or(error).into()
    })
}

/// The same for one dataset, or all that is wrong with it, by the lines of the policy.
pub(crate) fn read_schema(folder: &Path, dataset: &Dataset) -> Result<(Table, Found), PolicyError> {
    let wrong = |error: SourceError| dataset.wrong_files(&error);
    let source = Source::find(folder, &dataset.source).map_err(wrong)?.multiline(dataset.multiline);
    let mut declared = BTreeMap::new();
    if source.needs_types() {
        // A column that the files lack is reported with the others, by its line.
        let there = source.schema(&BTreeMap::new()).map_err(wrong)?;
        let there: BTreeSet<&str> = there.iter().map(|(name, _)| name.as_str()).collect();
        let columns = dataset.columns.iter().filter(|(name, _)| there.contains(name.as_str()));
        declared.extend(columns.filter_map(|(name, column)| Some((name.clone(), column.kind?))));
    }
    let schema = source.schema(&declared).map_err(wrong)?;
    let table = dataset.table(&schema)?;
    let ids = match dataset.protection.unit_column() {
        None => Ids::Value(Type::Text),
        Some(unit_column) => source.ids(unit_column, &declared).map_err(wrong)?,
    };
    Ok((table, (source, schema, ids)))
}
