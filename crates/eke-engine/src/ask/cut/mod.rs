//! Cut counts: how many units lose something to the bounds, released beside an answer.
//!
//! An interval is about noise; what `max_groups` and `max_rows` cut off is not in it. So an answer
//! is followed by a few counts of units, on paths of their own: those in the question, those that
//! lose groups or rows, those with a key that is not listed, and those by how many times `max_rows`
//! they have rows. They are found by the rows, the keys and the bounds, and not by what is summed
//! up: questions that differ in that alone share them.
//!
//! They are in no group: a unit that touches its `max_groups` groups is also in these counts, so
//! their price comes beside the price of the groups. It is a small part of what the question has
//! been charged, and is bought once the question has ended and before its answer is stored.

pub(crate) mod round;
pub(crate) mod shown;

pub use shown::{CutBin, CutCount, CutCounts, CutShare, CutVerdict};

use std::num::NonZeroU32;
use std::sync::Arc;

use eke_budget::{Amount, Rho};
use eke_noise::path::Column;
use eke_noise::stopping::ConfidenceSequence;
use eke_sql::{Expr, Function, Plan, RowSource, Summand, Value};

use crate::ask::Asking;
use crate::ask::cut::round::CutRound;
use crate::ask::cut::shown::Seen;
use crate::ask::keys::public_group_count;
use crate::ask::question::Who;
use crate::ask::read::double;
use crate::ask::shown::answer::Answer;
use crate::ask::state::{Groups, State};
use crate::engine::{Engine, Prepared};
use crate::error::EngineError;
use crate::profile::WholeDataset;
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::{self, Bought};
use crate::rows::CUT_STEPS;
use crate::rows::pass::cuts::{BINS, CutCell};

/// The part of what a question is charged that cut counts may cost beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutPart {
    millionths: u32,
}

impl CutPart {
    /// Two per cent: what policies say that say nothing.
    pub const USUAL: Self = Self { millionths: 20_000 };
    /// No cut counts.
    pub const NOTHING: Self = Self { millionths: 0 };

    /// A part of at most a half, in millionths that are rounded down; none if it is something else.
    #[must_use]
    pub fn new(part: f64) -> Option<Self> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and half a million"
        )]
        let millionths = |part: f64| (part * 1e6) as u32;
        (0.0..=0.5).contains(&part).then(|| Self { millionths: millionths(part) })
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self.millionths == 0
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }

    /// This part of a price, rounded down.
    pub(crate) fn of(self, price: Amount<Rho>) -> Amount<Rho> {
        let (millions, rest) = (price.grains() / 1_000_000, price.grains() % 1_000_000);
        let part = u128::from(self.millionths);
        Amount::from_grains(millions * part + rest * part / 1_000_000)
    }
}

/// Which units are counted beside an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CutCells(Vec<CutCell>);

impl CutCells {
    /// Those of a plan; none where it can cut nothing off.
    ///
    /// What a bound on different values cuts off is in none of them.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        if plan.unit_column.is_empty() || plan.sums.is_empty() {
            return None;
        }
        let most = plan.max_groups as usize;
        let by_groups =
            !plan.keys.is_empty() && public_group_count(plan).is_none_or(|groups| groups > most);
        let by_rows = counts_rows(plan) && !has_one_row(plan);
        let lists = |key: &eke_sql::Key| key.public.is_some() && !is_complete(&key.expr);
        let unlisted = plan.keys.iter().any(lists);
        let mut cells = vec![CutCell::Of];
        cells.extend((by_groups || by_rows).then_some(CutCell::Units));
        cells.extend((by_groups && by_rows).then_some(CutCell::Groups));
        cells.extend(unlisted.then_some(CutCell::Unlisted));
        cells.extend((0..BINS).filter(|_| by_rows).map(CutCell::Rows));
        (cells.len() > 1).then_some(Self(cells))
    }

    /// How many of the counts one unit changes at most, each by one, by being there or by being
    /// another one.
    ///
    /// - Theorem: cut-counts (docs/theorems.md)
    /// - Proves: each of n counts at one price p costs this many times p: those that overlap add
    ///   up, and of the bins of rows a unit is in one
    /// - Assumes: each count is of units, each of which counts once or not at all (rows); all
    ///   counts are at one price (`CutRound`); where there are bins, units in the question and
    ///   units that are cut are counted too
    /// - Deviates: nothing
    /// - Checked by: `one_unit_moves_each_cut_count_by_one_and_one_bin_of_rows`,
    ///   `cut_counts_cost_what_they_move_by`
    pub(crate) fn touched(&self) -> NonZeroU32 {
        let is_bin = |cell: &&CutCell| matches!(cell, CutCell::Rows(_));
        let bins = self.0.iter().filter(is_bin).count();
        let all = u32::try_from(self.0.len() - bins + bins.min(1)).unwrap_or(u32::MAX);
        NonZeroU32::new(all).unwrap_or(NonZeroU32::MIN)
    }

    pub(crate) fn cells(&self) -> &[CutCell] {
        &self.0
    }

    fn names(&self) -> Groups {
        let name = |cell: &CutCell| vec![Value::Text(cell.name())];
        self.0.iter().map(name).collect::<Vec<_>>().into()
    }
}

/// Whether a plan adds up rows, so that it matters how many count.
pub(crate) fn counts_rows(plan: &Plan) -> bool {
    plan.sums.iter().any(|sum| match sum.summand {
        Summand::Units | Summand::Distinct { .. } => false,
        Summand::Rows | Summand::Present(_) | Summand::Value { .. } | Summand::Ranks { .. } => true,
    })
}

/// Whether a unit has one row in a group, since its rows were brought together by no more than the
/// keys.
fn has_one_row(plan: &Plan) -> bool {
    let Some(RowSource::PerUnit(rows)) = &plan.rows else { return false };
    let is_key = |name: &String| plan.keys.iter().any(|key| key.expr == Expr::Column(name.clone()));
    rows.keys.iter().all(|key| is_key(&key.name))
}

/// Whether all that an expression can come to is in its form, also where cells are missing.
fn is_complete(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Case { branches, otherwise } => {
            let mut results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.all(is_complete)
        }
        Expr::Call(Function::Coalesce, arguments) => arguments.iter().all(is_complete),
        _ => false,
    }
}

/// What becomes of the cut counts of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cutting {
    /// There are none, or they were given with the answer before.
    Settled(Option<Box<CutCounts>>),
    /// They are bought once the question has ended.
    Wanted(CutCells),
}

impl Cutting {
    /// Of a plan, for this part of what it is charged.
    pub(crate) fn of(plan: &Plan, part: CutPart) -> Self {
        match CutCells::of(plan).filter(|_| !part.is_nothing()) {
            Some(cells) => Self::Wanted(cells),
            None => Self::Settled(None),
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        matches!(self, Self::Wanted(_))
    }

    pub(crate) fn counts(&self) -> Option<&CutCounts> {
        match self {
            Self::Settled(counts) => counts.as_deref(),
            Self::Wanted(_) => None,
        }
    }
}

impl Engine {
    /// Says of an answer what a profile says of the bounds of its question, where its cut counts do
    /// not tell. It is not stored with the answer: a profile may be bought later.
    pub(crate) fn say_of_whole(&self, prepared: &Prepared, who: &Who, answer: &mut Answer) {
        let plan = &prepared.query.plan;
        let Some(covers) = &mut answer.covers else { return };
        let cut = covers.cut.as_ref();
        let tells = cut.is_some_and(|cut| cut.verdict != Some(CutVerdict::CannotTell));
        let cannot_tell = cut.is_some();
        let loses = |cells: &CutCells| cells.0.contains(&CutCell::Units);
        if tells || !CutCells::of(plan).as_ref().is_some_and(loses) {
            return;
        }
        // An answer that was paid for is given, whatever else cannot be read.
        let seen = self.seen_profile(&plan.dataset, who).ok().flatten();
        let snapshot = prepared.datasets.first().map(|dataset| dataset.snapshot);
        let seen = seen.filter(|seen| Some(seen.snapshot) == snapshot);
        let is_steward = who.analyst().is_none();
        if seen.is_none() && is_steward && plan.rows.is_none() && cannot_tell {
            covers.unprofiled = Some(plan.dataset.clone());
        }
        covers.whole =
            seen.and_then(|seen| WholeDataset::of(&seen, plan, &prepared.payers.unit.name));
    }
}

impl Asking<'_> {
    /// Buys the cut counts of a question that has ended, as far as they may cost something.
    ///
    /// What an account refuses is not bought: an answer without them is still one.
    pub(crate) fn settle_cuts(&mut self, question: &State) -> Result<(), EngineError> {
        let Cutting::Wanted(cells) = &self.cuts else { return Ok(()) };
        let cells = cells.clone();
        let counts = self.cut_counts(&cells, question)?;
        self.cuts = Cutting::Settled(counts.map(Box::new));
        Ok(())
    }

    fn cut_counts(
        &mut self,
        cells: &CutCells,
        question: &State,
    ) -> Result<Option<CutCounts>, EngineError> {
        let price = self.cut_price(question)?;
        let own = &self.context.own().name;
        let state = self.current(self.cut_state(cells)?)?;
        let first_look = state.paid(own).iter().all(|price| price.is_zero());
        let mut round = CutRound::new(state, cells, price);
        match purchase::buy(self, &mut round)? {
            Bought::Made(()) | Bought::Refused(_) => {}
        }
        let state = round.into_state();
        let at = state.paid(own).first().copied().unwrap_or(Amount::ZERO);
        let value = |cell: u32| Some(double(state.bundle.nearest(cell, 0, at)?.1.get()));
        let values = (0u32..).zip(cells.cells()).map(|(place, &cell)| Some((cell, value(place)?)));
        let Some(values) = values.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let confidence = self.question.goal.confidence;
        let gamma = (!first_look).then(|| {
            let likely = self.cut_part().get() * self.likely_charge() / cells.0.len() as f64;
            ConfidenceSequence::tightest_at(likely, confidence).gamma()
        });
        let step = 1.0 / double(CUT_STEPS);
        let seen = Seen {
            values: values.into_iter().map(|(cell, value)| (cell, value * step)).collect(),
            worth: state.bundle.worth(0, 0, at),
            step,
            gamma,
            confidence: confidence.get(),
        };
        Ok(seen.counts(self.plan(), &self.context.unit().name))
    }

    /// What cut counts cost at most beside a question that costs this.
    pub(crate) fn cuts_cost(&self, price: Amount<Rho>) -> Amount<Rho> {
        if self.cuts.is_wanted() { self.cut_part().of(price) } else { Amount::ZERO }
    }

    fn cut_part(&self) -> CutPart {
        self.context.prepared.cut_part
    }

    /// What a question of the asker is likely to be charged, for a sequence that is tightest there.
    fn likely_charge(&self) -> f64 {
        const OF_BUDGET: f64 = 100.0;
        let whole = self.context.own().budget.zcdp().map_or(0.0, |whole| whole.budget.to_f64());
        whole / OF_BUDGET
    }

    /// What all cut counts may have cost the asker in the end: a part of what the question has been
    /// charged, and no more than was allowed and than there is.
    fn cut_price(&self, question: &State) -> Result<Amount<Rho>, EngineError> {
        let own = &self.context.own().name;
        let is_own = |account: &&crate::policy::AccountSpec| account.name == *own;
        let place = self.context.payers().iter().position(|account| is_own(&account));
        let levels = self.levels(question.bundle.id())?;
        let charged = place.and_then(|place| levels.get(place).copied()).unwrap_or(Amount::ZERO);
        Ok(self.cut_part().of(charged))
    }

    /// What more the asker may be charged for this question.
    pub(crate) fn cut_room(&self) -> Result<Amount<Rho>, EngineError> {
        let (left, _) = self.left()?;
        let most = self.question.goal.at_most.unwrap_or(Amount::MAX);
        Ok(most.minus(self.spent).unwrap_or(Amount::ZERO).min(left))
    }

    /// The paths of the cut counts, as if nothing were stored of them.
    fn cut_state(&self, cells: &CutCells) -> Result<State, EngineError> {
        let plan = Plan { sums: Vec::new(), ..self.plan().clone() };
        let identity = Identity::new(Purpose::Cuts).plan(&plan).rows(self.context.prepared);
        let names = cells.names();
        let path = identity.json(&names).path()?;
        let sensitivity = self.cut_sensitivity()?;
        State::new(path, Arc::clone(&names), vec![Column { sensitivity, share: 1 }])
            .map_err(EngineError::damaged)
    }

    fn cut_sensitivity(&self) -> Result<eke_budget::L1, EngineError> {
        eke_budget::L1::new(double(CUT_STEPS)).map_err(EngineError::damaged)
    }
}

#[cfg(test)]
mod tests;
