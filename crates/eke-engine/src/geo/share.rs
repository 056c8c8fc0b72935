//! Whether few rows of a file are of a kind: is the share of households with a low income below a
//! tenth?
//!
//! The central model: somebody holds all rows, and one account pays for all of them. A row is a
//! unit, one is replaced by another, and how many there are is public. The account lies in a
//! register of its own, with one person in it: the price is reserved on disk before anything is
//! drawn, and what was not needed goes back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, L1, L2, MemoryJournal, Metric, PathId, Rho,
};
use eke_geo::Plan;
use eke_ledger::register::{Asking, Reservation, Reserved, Settled, Short};
use eke_ledger::{Digest, Register, Stamp, Terms};
use eke_noise::stopping::which_side;
use eke_noise::{AccountPayer, Exact, GaussianPath};
use eke_sql::Type;
use serde::{Deserialize, Serialize};

use super::release::{damaged, entropy};
use super::{PlaceColumn, PlacesError, WrongAsking};
use crate::data::source::{Fingerprint, Source};
use crate::purchase::process::Program;
use crate::purchase::reservation;
use crate::rows::column::Column;
use crate::rows::quiet::quietly;
use crate::rows::scan::{self, Wanted};

/// How many rows are read at a time.
const BATCH: usize = 8192;
/// Who pays: all rows of the file, each a unit.
const METRIC: Metric = Metric::Hamming(Adjacency::Replace);

/// Rows of a file, one column of them, and the account that pays.
#[derive(Debug)]
pub struct ShareOf {
    /// The account's file; none before it is made.
    register: Option<Register>,
    ledger: PathBuf,
    name: String,
    source: Source,
    column: (String, Type),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareAsking {
    /// Rows with at most this count.
    pub at_most: f64,
    /// Whether they are fewer than this part of all rows is asked.
    pub share: f64,
    /// What it may cost, in rho.
    pub price: Amount<Rho>,
    /// How the count is looked at.
    pub plan: Plan,
    /// What the rows are called; as the file is unless said.
    pub snapshot: Option<String>,
    /// What may be spent on these rows, for good; needed once.
    pub budget: Option<Amount<Rho>>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareAnswer {
    /// Whether rows of the kind seem to be fewer than the share.
    pub below: bool,
    /// Whether that was clear before all was spent.
    pub clear: bool,
    /// How many rows there are.
    pub rows: u64,
    /// What they must be fewer than.
    pub line: f64,
    /// How many looks at the count it took.
    pub looks: u32,
    /// What it cost, in rho.
    pub cost: f64,
    /// What it could have cost.
    pub price: f64,
}

/// An answer, and what is left after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareAnswered {
    /// What came of it.
    #[serde(flatten)]
    pub answer: ShareAnswer,
    /// Whether it was answered before, and cost nothing now.
    pub free: bool,
    /// What is left, in rho.
    pub left: f64,
}

/// Opens the file of the account, and makes it if there is none.
fn create(ledger: &Path) -> Result<Register, PlacesError> {
    let terms = Terms { metric: METRIC, space: "rows".into() };
    Ok(Register::create(ledger, &terms, &Stamp::now("steward"))?)
}

impl ShareOf {
    /// Finds a column of a file and the account that pays for it; the account's file is made by the
    /// first question.
    ///
    /// # Errors
    /// There is no such column, it holds no numbers, or the account's file is something else.
    pub fn open(file: &Path, column: &str, ledger: &Path) -> Result<Self, PlacesError> {
        let name = file.display().to_string();
        let source = Source::find(Path::new(""), &name)?;
        let schema = source.schema(&BTreeMap::new())?;
        let found = schema.into_iter().find(|(found, _)| found == column);
        let Some((column, of)) = found else {
            let tried = format!("`{column}`");
            return Err(PlacesError::NoColumn { file: name, what: PlaceColumn::Number, tried });
        };
        let of = of.filter(|of| matches!(of, Type::Int | Type::Float | Type::Text));
        let Some(of) = of else {
            return Err(PlacesError::ColumnType { file: name, column, wanted: "numbers" });
        };
        let register = if ledger.exists() { Some(create(ledger)?) } else { None };
        Ok(Self { register, ledger: ledger.to_owned(), name, source, column: (column, of) })
    }

    /// Answers, for as little of the price as it takes.
    ///
    /// # Errors
    /// Too little is left, or something does not work; the error says what.
    pub fn ask(&mut self, asking: &ShareAsking) -> Result<ShareAnswered, PlacesError> {
        if !(asking.share > 0.0 && asking.share < 1.0) {
            return Err(WrongAsking::Share { share: asking.share }.into());
        }
        let dataset = asking.snapshot.as_deref().unwrap_or(&self.name).to_owned();
        let (column, plan) = (&self.column.0, &asking.plan);
        let question = format!(
            "is the share of rows with `{column}` at most {} below {}, for {} by {:?}, {:?}, {:?}",
            asking.at_most, asking.share, asking.price, plan.split, plan.rule, plan.beta
        );
        let fingerprint = self.source.fingerprint()?;
        // Whatever is refused is refused before there is an account, which is for good.
        let account = self.account(asking.budget, asking.price)?;
        let reservation = match self.reserve(
            &question,
            (&dataset, &fingerprint.digest),
            (account, asking.price),
        )? {
            Reserved::Answered(body) => {
                let answer = serde_json::from_slice(&body).map_err(damaged)?;
                return Ok(ShareAnswered { answer, free: true, left: self.left()? });
            }
            Reserved::Granted(reservation) => reservation,
        };
        let mut spent = Amount::ZERO;
        let told = self.look(asking, &reservation, (&question, &fingerprint), &mut spent);
        let mut settled = Settled { spent: vec![spent], ..Settled::default() };
        if let Ok(answer) = &told {
            settled.answer = Some(serde_json::to_vec(answer).map_err(damaged)?);
        }
        self.register()?.settle(&reservation, &settled, &Stamp::now("steward"))?;
        Ok(ShareAnswered { answer: told?, free: false, left: self.left()? })
    }

    /// Looks at the count out of what is reserved, and says what that came to, also where it
    /// failed.
    fn look(
        &self,
        asking: &ShareAsking,
        reservation: &Reservation,
        (question, fingerprint): (&str, &Fingerprint),
        spent: &mut Amount<Rho>,
    ) -> Result<ShareAnswer, PlacesError> {
        let granted = reservation.granted().first().map_or(Amount::ZERO, |granted| granted.1);
        if granted < asking.price {
            return Err(PlacesError::Spent);
        }
        let (below, rows) = self.count(asking.at_most, fingerprint)?;
        let budget = BudgetSpec::zcdp(granted.to_parameter()?).resolve(METRIC)?;
        let mut journal = MemoryJournal::new();
        let mut account = Account::open("rows", budget, &mut journal).map_err(damaged)?;
        let one = L2::new(1.0)?;
        let truth = Exact::new(below, L1::new(1.0)?);
        let id = PathId::new(*Digest::of(question.as_bytes()).bytes());
        let mut path = GaussianPath::<i64>::open(id, one);
        let line = rows as f64 * asking.share;
        let asked = asking.plan.side(one, line, asking.price).map_err(WrongAsking::Plan)?;
        let mut entropy = entropy()?;
        let till = &mut AccountPayer { account: &mut account, journal: &mut journal };
        let told = which_side(&mut path, &truth, &asked, till, &mut entropy);
        *spent = account.odometer().zcdp().map_or(Amount::ZERO, |purse| purse.spent());
        let told = told.map_err(|error| WrongAsking::NoLook { problem: error.to_string() })?;
        Ok(ShareAnswer {
            below: told.below,
            clear: told.clear,
            rows,
            line,
            looks: told.looks,
            cost: spent.to_f64(),
            price: asking.price.to_f64(),
        })
    }

    /// The one account, made if there is a budget for it that pays for the question.
    fn account(
        &mut self,
        budget: Option<Amount<Rho>>,
        price: Amount<Rho>,
    ) -> Result<u32, PlacesError> {
        let is_new = match &mut self.register {
            Some(register) => register.people()?.is_empty(),
            None => true,
        };
        if is_new {
            let budget =
                budget.ok_or_else(|| WrongAsking::NoBudget { ledger: self.ledger.clone() })?;
            if budget < price {
                return Err(WrongAsking::SmallBudget { budget, price }.into());
            }
            self.register()?.enrol(&["rows"], budget, &Stamp::now("steward"))?;
        }
        Ok(0)
    }

    /// The file of the account, made if there is none.
    fn register(&mut self) -> Result<&mut Register, PlacesError> {
        let register = match self.register.take() {
            Some(register) => register,
            None => create(&self.ledger)?,
        };
        Ok(self.register.insert(register))
    }

    fn left(&mut self) -> Result<f64, PlacesError> {
        Ok(self.register()?.people()?.first().map_or(0.0, |account| account.left().to_f64()))
    }

    fn reserve(
        &mut self,
        question: &str,
        (dataset, fingerprint): (&str, &str),
        wanted: (u32, Amount<Rho>),
    ) -> Result<Reserved, PlacesError> {
        let holder = format!("{}/rows", Program::current());
        let stamp = Stamp::now("steward");
        let asking = Asking { question, dataset, fingerprint, holder: &holder, stamp };
        let file = self.ledger.clone();
        Ok(reservation::reserve(self.register()?, &file, &asking, &[wanted], Short::Nothing)?)
    }

    /// How many rows have at most this, and how many rows there are, of the file as it was. What is
    /// no number is not at most anything.
    fn count(&self, at_most: f64, fingerprint: &Fingerprint) -> Result<(i64, u64), PlacesError> {
        let (mut below, mut rows) = (0i64, 0u64);
        let damaged = || PlacesError::Damaged(self.name.clone());
        for piece in scan::pieces(&self.source, 1)? {
            // A damaged file may break a reader's assumptions: that is an error like others.
            let wanted = Wanted { columns: vec![self.column.clone()], unit: None };
            let read = quietly(|| -> Option<(i64, u64)> {
                let (mut below, mut rows) = (0i64, 0u64);
                for batch in scan::open_plain(piece, &wanted, BATCH).ok()? {
                    let (columns, count) = batch.ok()?;
                    let Column::Float(values) = columns[0].clone().cast(Type::Float) else {
                        return None;
                    };
                    rows += count as u64;
                    let few = values.iter().filter(|value| value.is_some_and(|v| v <= at_most));
                    below += i64::try_from(few.count()).ok()?;
                }
                Some((below, rows))
            });
            let (few, count) = read.ok().flatten().ok_or_else(damaged)?;
            below += few;
            rows += count;
        }
        if self.source.fingerprint_since(fingerprint)?.digest != fingerprint.digest {
            return Err(damaged());
        }
        Ok((below, rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_change_while_they_are_read_are_not_counted() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let file = folder.join("rows.csv");
        std::fs::write(&file, "income\n1\n2\n3\n").unwrap();
        let share = ShareOf::open(&file, "income", &folder.join("rows.ledger")).unwrap();
        let fingerprint = share.source.fingerprint().unwrap();
        assert_eq!(share.count(2.0, &fingerprint).unwrap(), (2, 3));
        std::fs::write(&file, "income\n1\n1\n1\n1\n").unwrap();
        let changed = share.count(2.0, &fingerprint);
        assert!(matches!(changed, Err(PlacesError::Damaged(_))), "{changed:?}");
    }
}
