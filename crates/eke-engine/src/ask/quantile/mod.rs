//! Quantiles: a search along the paths of cuts, group by group.
//!
//! A search has paths of its own, one for every cut that was ever looked at and one for the number
//! of rows, which are named by the rows, the keys and what is ordered, and not by the quantile. So
//! other quantiles, finer goals and other analysts go on from what was paid for. Where to look next
//! is a pure function of released points ([`eke_noise::stopping::search`]): each round asks it for
//! every group and quantile that has not ended, and buys all that they want for one charge.
//!
//! The searches of a question come before its other values, and what they have found is stored
//! with the answer. Each of them, and those values together, may cost an even part of a price or of
//! a highest price that was written.

pub(crate) mod round;
pub(crate) mod seen;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use eke_budget::purchase::GroupWeights;
use eke_budget::{Amount, Refusal, Rho};
use eke_noise::path::Column;
use eke_noise::stopping::search::{
    Found as CellFound, Quantile, Search, SearchEnding, SearchGoal, SearchOf, Step,
};
use eke_sql::{Measure, Query, Rank, Sum, Summand, Type};

use crate::ask::goals::Goals;
use crate::ask::quantile::round::SearchRound;
use crate::ask::quantile::seen::SeenPaths;
use crate::ask::question::{Accuracy, Goal};
use crate::ask::read::double;
use crate::ask::shown::answer::{Answer, Evidence, Found, Stopped};
use crate::ask::state::{Groups, State};
use crate::ask::weights::weights;
use crate::ask::{Answered, Asking};
use crate::error::{EngineError, WrongGoal};
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::{self, Bought};
use crate::rows::Place;

/// How many microseconds are a second.
const SECOND: f64 = 1e6;

/// A path that is wanted at a price: that of a group at a place.
pub(crate) type Wanted = (u32, Place, Amount<Rho>);

/// The grid of a search, in the unit that its values are shown in: numbers as they are, days and
/// microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    low: i64,
    levels: u8,
    step: f64,
    /// Whether values of half a step stand for their place: those that are whole steps do not.
    rounds: bool,
    /// The largest place.
    high: i64,
}

impl Grid {
    /// That of a search; none if it is no search.
    pub(crate) fn of(sum: &Sum) -> Option<Self> {
        let Summand::Ranks { kind, low, high, grid, .. } = sum.summand else { return None };
        let bits = u64::BITS - high.abs_diff(low).leading_zeros();
        let rounds = grid > 0 || kind == Type::Float;
        let levels = u8::try_from(bits.max(1)).unwrap_or(64);
        Some(Self { low, levels, step: f64::from(grid).exp2(), rounds, high })
    }

    /// The last cell.
    fn last(&self) -> u64 {
        u64::MAX >> (u64::BITS - u32::from(self.levels))
    }

    fn place(&self, cell: u64) -> f64 {
        let cell = i64::try_from(cell).unwrap_or(i64::MAX);
        double(self.low.saturating_add(cell).min(self.high)) * self.step
    }

    /// The value that a cell stands for.
    pub(crate) fn value(&self, cell: u64) -> f64 {
        self.place(cell)
    }

    /// The least and the most that is rounded to one of some cells, within the bounds.
    pub(crate) fn ends(&self, low: u64, high: u64) -> (f64, f64) {
        let half = if self.rounds { self.step / 2.0 } else { 0.0 };
        let (least, most) = (double(self.low) * self.step, double(self.high) * self.step);
        ((self.place(low) - half).max(least), (self.place(high) + half).min(most))
    }
}

/// One of the quantiles of a search.
struct OfSearch {
    measure: usize,
    rule: Search,
}

/// Where a search has come to, in every group and for every quantile.
pub(crate) struct Searching {
    grid: Grid,
    quantiles: Vec<OfSearch>,
    /// What was found, group by group.
    found: Vec<Vec<Option<Found>>>,
    /// What one unit changes a path by, in rows, and the step of paths.
    sensitivity: f64,
    step: f64,
    /// The furthest point of a path that the asker's tier sees.
    finest: Option<Amount<Rho>>,
    looks: u32,
}

impl Searching {
    fn new(
        query: &Query,
        search: usize,
        goals: impl Fn(usize) -> Goal,
        (groups, most): (usize, Amount<Rho>),
        finest: Option<Amount<Rho>>,
    ) -> Result<Option<Self>, EngineError> {
        let Some(sum) = query.searches.get(search) else { return Ok(None) };
        let Some(grid) = Grid::of(sum) else { return Ok(None) };
        let (step, max_rows) = (sum.step(), query.plan.max_rows);
        let sensitivity = sum.sensitivity(max_rows) as f64 * step;
        let mut quantiles = Vec::new();
        for (measure, of) in query.measures.iter().enumerate() {
            let &Measure::Quantile { search: own, rank } = of else { continue };
            if own != search {
                continue;
            }
            let goal = goals(measure);
            let quantile = match rank {
                Rank::Share(share) => Quantile::Share(share),
                Rank::Least => Quantile::Least,
                Rank::Greatest => Quantile::Most,
            };
            // The price of a path is that of a unit that comes or goes: what it is multiplied by
            // is in the weights of the groups.
            let of = SearchOf { quantile, levels: grid.levels, sensitivity, step, factor: 1 };
            let accuracy = search_goal(sum, &grid, goal.accuracy)?;
            let rule = Search::new(of, accuracy, goal.confidence, most);
            let rule = rule.map_err(WrongGoal::Search)?;
            quantiles.push(OfSearch { measure, rule });
        }
        let found = vec![vec![None; quantiles.len()]; groups];
        let looks = 0;
        Ok(Some(Self { grid, quantiles, found, sensitivity, step, finest, looks }))
    }

    /// Whether the goals of a question's quantiles are ones that can be searched for: known before
    /// anything is charged.
    pub(crate) fn check(query: &Query, goals: &Goals) -> Result<(), EngineError> {
        for search in 0..query.searches.len() {
            Self::new(query, search, |measure| goals.of(measure), (0, Amount::GRAIN), None)?;
        }
        Ok(())
    }

    /// What is wanted next of every group that has not ended; what has ended is noted.
    ///
    /// Nothing but released points that the asker may see decides it.
    pub(crate) fn wanted(&mut self, state: &State, account: &str) -> Vec<Wanted> {
        let mut wanted: BTreeMap<(u32, Place), Amount<Rho>> = BTreeMap::new();
        let paid = state.paid(account);
        for (group, found) in (0u32..).zip(&mut self.found) {
            let seen =
                SeenPaths { state, paid, group, sensitivity: self.sensitivity, step: self.step };
            for (quantile, found) in self.quantiles.iter().zip(found) {
                if found.is_some() {
                    continue;
                }
                let (cuts, count) = match quantile.rule.next(&seen) {
                    Step::Done(cell) => {
                        *found = Some(shown(&self.grid, cell, None));
                        continue;
                    }
                    Step::Look { cuts, count } => (cuts, count),
                };
                let cuts = cuts.into_iter().map(|(cut, precision)| (Place::Cut(cut), precision));
                let all = cuts.chain(count.map(|precision| (Place::All, precision)));
                let all = all.filter_map(|(place, precision)| {
                    Some((place, seen.price_of(place, precision)?))
                });
                let all: Vec<(Place, Amount<Rho>)> = all.collect();
                let is_beyond = |&(_, price): &(Place, Amount<Rho>)| {
                    self.finest.is_some_and(|finest| price > finest)
                };
                if all.is_empty() || all.iter().any(is_beyond) {
                    let ending = SearchEnding::HighestPrice;
                    let by_tier = (!all.is_empty()).then_some(Stopped::Tier);
                    *found = Some(shown(&self.grid, quantile.rule.end(&seen, ending), by_tier));
                    continue;
                }
                for (place, price) in all {
                    let most = wanted.entry((group, place)).or_insert(Amount::ZERO);
                    *most = price.max(*most);
                }
            }
        }
        self.looks += u32::from(!wanted.is_empty());
        wanted.into_iter().map(|((group, place), price)| (group, place, price)).collect()
    }

    /// Ends all that has not ended, because the budget does not allow the next look.
    fn refuse(&mut self, state: &State, account: &str) {
        let paid = state.paid(account);
        for (group, found) in (0u32..).zip(&mut self.found) {
            let seen =
                SeenPaths { state, paid, group, sensitivity: self.sensitivity, step: self.step };
            for (quantile, found) in self.quantiles.iter().zip(found) {
                found.get_or_insert_with(|| {
                    let cell = quantile.rule.end(&seen, SearchEnding::Refused);
                    shown(&self.grid, cell, None)
                });
            }
        }
    }

    /// What was found of every measure, group by group.
    fn into_found(self) -> impl Iterator<Item = (usize, Vec<Found>)> {
        let Self { quantiles, found, .. } = self;
        quantiles.into_iter().enumerate().map(move |(place, quantile)| {
            let of = found
                .iter()
                .map(|values| values[place].unwrap_or_else(|| Found::nothing(Stopped::Refused)));
            (quantile.measure, of.collect::<Vec<Found>>())
        })
    }
}

/// What is good enough for a search: a rank error, or an error in the unit that values are shown in.
fn search_goal(sum: &Sum, grid: &Grid, accuracy: Accuracy) -> Result<SearchGoal, EngineError> {
    Ok(match accuracy {
        Accuracy::Relative(tolerance) => SearchGoal::Rank(tolerance.get()),
        Accuracy::Absolute(error) if error.is_finite() && error > 0.0 => {
            let unit = match sum.summand {
                Summand::Ranks { kind: Type::Timestamp, .. } => SECOND,
                _ => 1.0,
            };
            SearchGoal::Cells((error * unit / grid.step).max(0.5))
        }
        Accuracy::Absolute(error) => return Err(WrongGoal::Error { error }.into()),
        Accuracy::Price(_) => SearchGoal::Price,
    })
}

/// What a search has found, as a value with its interval: what it is worth as a rank is kept beside
/// it.
fn shown(grid: &Grid, found: CellFound, instead: Option<Stopped>) -> Found {
    let ending = match found.ending {
        _ if found.met => Stopped::Met,
        SearchEnding::Met => Stopped::Met,
        SearchEnding::Flat => Stopped::Grid,
        SearchEnding::Empty | SearchEnding::OutOfReach => Stopped::OutOfReach,
        SearchEnding::HighestPrice => instead.unwrap_or(Stopped::HighestPrice),
        SearchEnding::Refused => Stopped::Refused,
    };
    // Where it may be anywhere, with any rank, its value is no estimate but some place of the grid.
    let is_unknown = !found.met
        && (found.low, found.high) == (0, grid.last())
        && found.rank_low <= 0.0
        && found.rank_high >= 1.0;
    if found.ending == SearchEnding::Empty || is_unknown {
        return Found::nothing(ending);
    }
    let (low, high) = grid.ends(found.low, found.high);
    let evidence = Evidence {
        worth: Amount::GRAIN,
        sum: found.rank_low,
        count: Some(found.rank_high),
        gamma: found.beyond,
    };
    Found {
        value: Some(grid.value(found.cell)),
        low: Some(low),
        high: Some(high),
        ending,
        evidence: Some(evidence),
    }
}

#[cfg(feature = "testing")]
impl crate::engine::Engine {
    /// What the asker has paid for each path of a search of a question with public keys, for tests
    /// of this crate.
    ///
    /// # Errors
    /// The question cannot be answered privately, or the ledger cannot be read.
    pub fn paid_paths(
        &self,
        question: &crate::ask::Question,
        search: usize,
    ) -> Result<Vec<f64>, EngineError> {
        let prepared = self.prepare(&question.sql, 0, &question.who)?;
        let mut asking = self.asking(&prepared, question, &())?;
        let groups = asking.groups()?;
        let state = asking.current(asking.search_state(search, &groups)?)?;
        let own = &asking.context.own().name;
        Ok(state.paid(own).iter().map(|paid| paid.to_f64()).collect())
    }
}

impl<'a> Asking<'a> {
    /// The plan that names the paths of a search.
    fn search_plan(&self, search: usize) -> eke_sql::Plan {
        self.context.prepared.query.searching(search)
    }

    /// What of the groups' prices one unit pays for a search.
    pub(crate) fn search_weights(&self, search: usize) -> GroupWeights<Rho> {
        weights(&self.search_plan(search))
    }

    /// The paths of a search, as if nothing were stored of them.
    ///
    /// They are found by the rows, the keys and the groups, by what is ordered and its grid: not by
    /// which quantile is asked for.
    pub(crate) fn search_state(
        &self,
        search: usize,
        groups: &Groups,
    ) -> Result<State, EngineError> {
        let plan = self.search_plan(search);
        let identity = Identity::new(Purpose::Search).plan(&plan).rows(self.context.prepared);
        let path = identity.json(&groups).path()?;
        let sum = plan.sums.first().ok_or_else(|| EngineError::damaged("no search"))?;
        let sensitivity = crate::rows::sensitivity(sum, plan.max_rows);
        let column = Column { sensitivity, share: 1 };
        State::of_cuts(path, Arc::clone(groups), column).map_err(EngineError::damaged)
    }

    /// How many questions this one is made of, which are paid for by themselves: its searches, and
    /// its other values together.
    pub(crate) fn parts(query: &Query) -> usize {
        query.searches.len() + usize::from(!query.plan.sums.is_empty())
    }

    /// Answers a question that asks for nothing but quantiles.
    pub(crate) fn quantiles_alone(
        &mut self,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> Result<Answer, EngineError> {
        let last = self.context.prepared.query.searches.len().saturating_sub(1);
        if let Some(groups) = self.known.clone().filter(|groups| !groups.is_empty()) {
            let state = self.search_state(last, &groups)?;
            if let Some(answer) = self.given(&state)? {
                return Ok(answer);
            }
        }
        self.context.engine.may_read(self.context.prepared, self.context.who)?;
        let more = self.allowed(&self.question.goal, None, left, keys)?;
        self.check_unit(None, keys)?;
        let parts = u32::try_from(last + 1).unwrap_or(u32::MAX);
        let all = more.times(parts).unwrap_or(Amount::MAX);
        let may_cost = all.plus(keys).and_then(|cost| cost.plus(self.cuts_cost(all)));
        self.confirm(may_cost.unwrap_or(Amount::MAX).min(left), left)?;
        self.reads = Some(self.context.observer.clock().now());
        let groups = match self.known.take() {
            Some(groups) => groups,
            None => self.groups()?,
        };
        if groups.is_empty() {
            return Ok(self.finish(Answered::NOTHING, &[], 0)?.answer);
        }
        let state = self.search_state(last, &groups)?;
        if let Some(answer) = self.given(&state)? {
            return Ok(answer);
        }
        for search in 0..last {
            self.search(search, &groups, more)?;
        }
        let (state, looks) = self.search(last, &groups, more)?;
        self.settle_cuts(&state)?;
        let mut round = SearchRound::new(state, last, Vec::new()).storing(looks);
        match purchase::buy(self, &mut round)? {
            Bought::Made(Some(answer)) => Ok(*answer),
            Bought::Made(None) => Err(EngineError::damaged("an answer that was not stored")),
            Bought::Refused(refusal) => Err(self.refused(&refusal)),
        }
    }

    /// Searches all quantiles of a question that asks for more beside them.
    pub(crate) fn search_all(
        &mut self,
        groups: &Groups,
        more: Amount<Rho>,
    ) -> Result<(), EngineError> {
        for search in 0..self.context.prepared.query.searches.len() {
            self.search(search, groups, more)?;
        }
        Ok(())
    }

    /// Follows one search to its end, round by round, for at most so much more.
    fn search(
        &mut self,
        search: usize,
        groups: &Groups,
        more: Amount<Rho>,
    ) -> Result<(State, u32), EngineError> {
        let own = self.context.own().name.clone();
        let mut state = self.current(self.search_state(search, groups)?)?;
        let weights = self.search_weights(search);
        let most = match self.question.goal.accuracy {
            Accuracy::Price(price) => weights.each_of(groups.len().max(1), price),
            Accuracy::Relative(_) | Accuracy::Absolute(_) => {
                weights.level(&state.paid_for_groups(&own), more)
            }
        };
        let family = self.search_family(search)?;
        let finest = match &family {
            None => self.context.prepared.finest,
            Some(family) => {
                let before = self.seen_of(family, state.bundle.id())?;
                Some(family.furthest(before))
            }
        };
        let (query, goals) = (&self.context.prepared.query, &self.goals);
        let sized = (groups.len(), most);
        let searching = Searching::new(query, search, |measure| goals.of(measure), sized, finest)?;
        let mut searching = searching.ok_or_else(|| EngineError::damaged("no search"))?;
        loop {
            self.context.check_over()?;
            let wanted = searching.wanted(&state, &own);
            if wanted.is_empty() {
                break;
            }
            let mut round = SearchRound::new(state, search, wanted);
            let bought = purchase::buy(self, &mut round)?;
            state = round.into_state();
            match bought {
                Bought::Made(_) => {}
                Bought::Refused(refusal) => {
                    self.refuse_search(&mut searching, &state, &refusal)?;
                    break;
                }
            }
            // When rows were read is for the steward alone.
            if self.context.who.analyst().is_none() {
                self.context.observer.look(searching.looks);
            }
        }
        let looks = searching.looks;
        self.searched.extend(searching.into_found());
        self.search_looks = self.search_looks.max(looks);
        Ok((state, looks))
    }

    /// Ends a search that the budget does not allow further, or says who refuses where nothing has
    /// been seen.
    fn refuse_search(
        &self,
        searching: &mut Searching,
        state: &State,
        refusal: &Refusal,
    ) -> Result<(), EngineError> {
        let own = &self.context.own().name;
        if state.paid(own).iter().all(|paid| paid.is_zero()) {
            return Err(self.refused(refusal));
        }
        // What was added for this round is nobody's.
        searching.refuse(state, own);
        Ok(())
    }

    /// What was found, with what searches have found in the places of quantiles.
    pub(crate) fn with_searched<'f>(&self, found: &'f [Vec<Found>]) -> Cow<'f, [Vec<Found>]> {
        if self.searched.is_empty() {
            return found.into();
        }
        let mut found = found.to_vec();
        let measures = self.context.prepared.query.measures.len();
        for (&measure, of) in &self.searched {
            if found.len() < of.len() {
                found.resize(of.len(), Vec::new());
            }
            for (values, &one) in found.iter_mut().zip(of) {
                if values.len() < measures {
                    values.resize(measures, Found::nothing(Stopped::Met));
                }
                values[measure] = one;
            }
        }
        found.into()
    }
}

/// The columns of an answer that are quantiles: what they show, by the index of the measure.
pub(crate) fn ranks(query: &Query) -> HashMap<usize, (Rank, Type)> {
    let of = |(index, measure): (usize, &Measure)| {
        let &Measure::Quantile { search, rank } = measure else { return None };
        let Summand::Ranks { kind, .. } = query.searches.get(search)?.summand else { return None };
        Some((index, (rank, kind)))
    };
    query.measures.iter().enumerate().filter_map(of).collect()
}
