//! A question's paths: the groups, the bundle of their paths, how far each account has paid for
//! each group, and where the answers are that were given. `stored.rs` has the bytes.
//!
//! A state goes on with what is stored: it reads the rounds that it does not have yet, and those
//! alone. A round is added to it and to the ledger together.

pub(crate) mod cuts;
pub(crate) mod stored;
pub(crate) mod stored_answer;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use eke_budget::purchase::{GroupError, GroupPrices, GroupWeights, PathPrices};
use eke_budget::{Amount, PathId, Rho};
use eke_ledger::Key;
use eke_noise::Bundle;
use eke_noise::path::{BundleError, Column};
use eke_sql::Value;

use crate::ask::shown::answer::Found;
use crate::ask::state::cuts::Cuts;
use crate::ask::state::stored::{Given, Head, Json, Round, damaged};
use crate::error::EngineError;
use crate::rows::Place;

/// The keys of each group.
pub(crate) type Groups = Arc<[Vec<Value>]>;

/// The paths of a question.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) groups: Groups,
    pub(crate) bundle: Bundle<Rho>,
    /// What each account has paid for each group.
    paid: BTreeMap<String, Vec<Amount<Rho>>>,
    /// What an account has paid for each group that has paid for none.
    nothing: Arc<[Amount<Rho>]>,
    /// Which rounds are in it.
    version: Version,
    /// Answers that an older eke stored with the paths, by account, measures and goal.
    old: BTreeMap<String, Vec<Vec<Found>>>,
    /// What each path of the bundle is of, where these are the cuts of a search: there are as many
    /// as were looked at, and not one for each group.
    cuts: Option<Cuts>,
}

/// Which of the things that were ever stored of a path a state is.
#[derive(Clone, Debug, PartialEq)]
enum Version {
    /// Nothing is stored.
    Nothing,
    /// What an older eke stored, by its digest.
    Json(blake3::Hash),
    /// The rounds of a head.
    Rounds(Head),
}

/// What a round has added.
pub(crate) struct Added {
    /// Which increment it is.
    pub(crate) increment: u32,
    /// How many points the bundle had before.
    pub(crate) points: u32,
    /// What was paid.
    pub(crate) paid: Vec<Paid>,
    /// The name of the answer that it ends with, and the request that it is stored under.
    pub(crate) answer: Option<(String, Key)>,
}

/// What a round is stored as.
pub(crate) struct Written {
    /// The head from now on.
    pub(crate) head: Vec<u8>,
    /// The round.
    pub(crate) round: Vec<u8>,
}

/// Something that was paid: by which account, for which groups, up to which prices, in the order of
/// the steps.
pub(crate) type Paid = (String, Vec<(u32, Amount<Rho>)>);

impl State {
    /// Nothing has been revealed.
    pub(crate) fn new(
        question: PathId,
        groups: Groups,
        columns: Vec<Column>,
    ) -> Result<Self, BundleError> {
        let count = u32::try_from(groups.len()).map_err(|_| BundleError::Damaged)?;
        let bundle = Bundle::open(question, columns, count)?;
        let (paid, old) = (BTreeMap::new(), BTreeMap::new());
        let nothing = vec![Amount::ZERO; groups.len()].into();
        Ok(Self { groups, bundle, paid, nothing, version: Version::Nothing, old, cuts: None })
    }

    /// The paths of a search, of which nothing has been revealed and no cut was looked at.
    pub(crate) fn of_cuts(
        search: PathId,
        groups: Groups,
        column: Column,
    ) -> Result<Self, BundleError> {
        let bundle = Bundle::growing(search, vec![column])?;
        let (paid, old, nothing) = (BTreeMap::new(), BTreeMap::new(), Arc::from([]));
        let (version, cuts) = (Version::Nothing, Some(Cuts::default()));
        Ok(Self { groups, bundle, paid, nothing, version, old, cuts })
    }

    /// What the paths are of, where these are the cuts of a search.
    pub(crate) fn cuts(&self) -> Option<&Cuts> {
        self.cuts.as_ref()
    }

    /// The path of a group at a place, which is added if there is none. Until a round is added it
    /// is nowhere but here.
    pub(crate) fn cut(&mut self, group: u32, place: Place) -> Result<u32, EngineError> {
        let cuts = self.cuts.as_mut().ok_or_else(damaged)?;
        if let Some(path) = cuts.path(group, place) {
            return Ok(path);
        }
        let path = cuts.add(group, place).ok_or_else(damaged)?;
        self.bundle.extend(1).map_err(EngineError::damaged)?;
        self.make_room();
        Ok(path)
    }

    /// Makes room for what accounts have paid for paths that were added.
    fn make_room(&mut self) {
        let paths = self.bundle.groups();
        if self.nothing.len() < paths {
            // Twice as many: they come one by one.
            self.nothing = vec![Amount::ZERO; 2 * paths].into();
        }
        self.paid.values_mut().for_each(|paid| paid.resize(paths, Amount::ZERO));
    }

    /// Whether something is stored of it.
    pub(crate) fn is_stored(&self) -> bool {
        self.version != Version::Nothing
    }

    /// Whether what is stored now is all in it.
    pub(crate) fn is_at(&self, stored: Option<&[u8]>) -> Result<bool, EngineError> {
        let Some(bytes) = stored else { return Ok(true) };
        match &self.version {
            Version::Nothing => Ok(false),
            Version::Json(digest) => Ok(Json::is(bytes) && *digest == blake3::hash(bytes)),
            Version::Rounds(_) if Json::is(bytes) => Ok(false),
            Version::Rounds(own) => {
                let head = Head::read(bytes, self.bundle.id())?;
                Ok((own.first, own.next) == (head.first, head.next))
            }
        }
    }

    /// Goes on with what is stored now, where rounds from one increment on and before another are
    /// read like this. Says whether anything has changed.
    ///
    /// # Errors
    /// It cannot be read, or is another question's. The state is of no use then.
    pub(crate) fn go_on(
        &mut self,
        stored: Option<&[u8]>,
        rounds: impl FnOnce(u32, u32) -> Result<Vec<(u32, Vec<u8>)>, EngineError>,
    ) -> Result<bool, EngineError> {
        if self.cuts.as_ref().is_some_and(Cuts::has_unstored) {
            // They may have other numbers by now.
            self.empty()?;
        }
        let Some(bytes) = stored else { return Ok(false) };
        if Json::is(bytes) {
            let version = Version::Json(blake3::hash(bytes));
            if self.version == version {
                return Ok(false);
            }
            *self = self.read_json(bytes, version)?;
            return Ok(true);
        }
        let head = Head::read(bytes, self.bundle.id())?;
        let next = match &self.version {
            Version::Rounds(own) if own.first == head.first && own.next <= head.next => own.next,
            _ => {
                self.empty()?;
                head.first
            }
        };
        if next == head.next {
            return Ok(false);
        }
        for (increment, bytes) in rounds(next, head.next)? {
            self.add(increment, &bytes, &head)?;
        }
        match &mut self.version {
            Version::Rounds(own) if own.next == head.next => *own = head,
            _ => return Err(EngineError::damaged("rounds of it are missing")),
        }
        Ok(true)
    }

    /// What was found for an answer that was given, where an older eke stored it with the paths.
    pub(crate) fn old_answer(&self, name: &str) -> Option<&Vec<Vec<Found>>> {
        self.old.get(name)
    }

    /// Which rounds it has: from the first increment on, and before another.
    pub(crate) fn rounds(&self) -> Option<(u32, u32)> {
        match &self.version {
            Version::Rounds(head) => Some((head.first, head.next)),
            Version::Nothing | Version::Json(_) => None,
        }
    }

    /// Ends a round that was drawn and paid for, and says what to store, where what some accounts
    /// have paid in all is known.
    pub(crate) fn add_round(
        &mut self,
        Added { increment, points, paid, answer }: Added,
        known: impl Fn(&str) -> Option<Amount<Rho>>,
        weights: &GroupWeights<Rho>,
    ) -> Result<Written, EngineError> {
        let mut round = Round { increment, ..Round::default() };
        round.paid.extend(paid.into_iter().map(|(account, steps)| (account, last_of_each(steps))));
        let (mut head, points) = match &self.version {
            Version::Rounds(head) => {
                round.after = Some(head.next);
                (head.clone(), points)
            }
            Version::Nothing | Version::Json(_) => (self.first(increment, &mut round), 0),
        };
        head.next = increment.checked_add(1).ok_or_else(damaged)?;
        for account in round.paid.keys() {
            let alone = known(account).unwrap_or_else(|| self.alone(account, weights));
            head.alone.insert(account.clone(), alone);
        }
        head.answers.extend(answer.map(|(name, key)| (name, Given::Request(key))));
        let round = round.write(&self.bundle, points, self.cuts.as_ref().map(Cuts::unstored))?;
        self.cuts.iter_mut().for_each(Cuts::store);
        let written = Written { head: head.write(self.bundle.id()), round };
        self.version = Version::Rounds(head);
        Ok(written)
    }

    /// What all that an account has paid for would cost on its own.
    pub(crate) fn alone(&self, account: &str, weights: &GroupWeights<Rho>) -> Amount<Rho> {
        let Some(paid) = self.paid.get(account) else { return Amount::ZERO };
        let of_groups = self.cuts.is_some().then(|| self.paid_for_groups(account));
        let paid = of_groups.as_ref().unwrap_or(paid);
        let prices = GroupPrices::weighing_at(paid, weights.clone());
        prices.map_or(Amount::MAX, |prices| prices.price())
    }

    /// Makes a round the first one: all that there is becomes part of it.
    fn first(&self, increment: u32, round: &mut Round) -> Head {
        let is_paid = |&(_, price): &(u32, Amount<Rho>)| !price.is_zero();
        for (account, paid) in &self.paid {
            let paid = (0u32..).zip(paid.iter().copied()).filter(is_paid);
            round.paid.insert(account.clone(), paid.collect());
        }
        round.answers.clone_from(&self.old);
        let answers = self.old.keys().map(|name| (name.clone(), Given::First)).collect();
        Head { first: increment, next: increment, alone: BTreeMap::new(), answers }
    }

    fn empty(&mut self) -> Result<(), EngineError> {
        let columns = self.bundle.columns().to_vec();
        let groups = Arc::clone(&self.groups);
        if self.cuts.is_some() {
            let column = columns.first().copied().ok_or_else(damaged)?;
            let empty = Self::of_cuts(self.bundle.question(), groups, column);
            *self = empty.map_err(EngineError::damaged)?;
            return Ok(());
        }
        *self = Self::new(self.bundle.question(), groups, columns).map_err(EngineError::damaged)?;
        Ok(())
    }

    fn read_json(&self, bytes: &[u8], version: Version) -> Result<Self, EngineError> {
        let stored: Json = serde_json::from_slice(bytes).map_err(EngineError::damaged)?;
        let Json { groups, bundle, paid, answers: old } = stored;
        let count = groups.len();
        if bundle.id() != self.bundle.id() || groups[..] != self.groups[..] {
            return Err(EngineError::damaged("it is another question's"));
        }
        if paid.values().any(|paid| paid.len() != count)
            || old.values().any(|found| found.len() != count)
        {
            return Err(EngineError::damaged("it has another number of groups"));
        }
        let (groups, nothing) = (Arc::clone(&self.groups), Arc::clone(&self.nothing));
        Ok(Self { groups, bundle, paid, nothing, version, old, cuts: None })
    }

    /// Adds a round that is stored.
    fn add(&mut self, increment: u32, bytes: &[u8], head: &Head) -> Result<(), EngineError> {
        let round = Round::read(bytes, &mut self.bundle, self.cuts.as_mut())?;
        self.make_room();
        let before = match &self.version {
            Version::Rounds(own) => Some(own.next),
            Version::Nothing | Version::Json(_) => None,
        };
        if round.increment != increment || round.after != before {
            return Err(EngineError::damaged("rounds of it are missing"));
        }
        self.pay(&round.paid)?;
        self.old.extend(round.answers);
        let next = increment.checked_add(1).ok_or_else(damaged)?;
        self.version = Version::Rounds(Head { next, ..head.clone() });
        Ok(())
    }

    /// Notes what was paid.
    pub(crate) fn pay<'p>(
        &mut self,
        paid: impl IntoIterator<Item = (&'p String, &'p Vec<(u32, Amount<Rho>)>)>,
    ) -> Result<(), EngineError> {
        for (account, steps) in paid {
            let none = || vec![Amount::ZERO; self.bundle.groups()];
            let prices = self.paid.entry(account.clone()).or_insert_with(none);
            for &(group, to) in steps {
                *prices.get_mut(group as usize).ok_or_else(damaged)? = to;
            }
        }
        Ok(())
    }

    /// What an account has paid for each group.
    pub(crate) fn paid(&self, account: &str) -> &[Amount<Rho>] {
        let nothing = || &self.nothing[..self.bundle.groups()];
        self.paid.get(account).map_or_else(nothing, Vec::as_slice)
    }

    /// The prices of an account's paths, where these are the cuts of a search: as [`State::prices`].
    pub(crate) fn path_prices(
        &self,
        account: &str,
        recorded: Amount<Rho>,
        weights: &GroupWeights<Rho>,
    ) -> Result<PathPrices<Rho>, GroupError> {
        let groups = u32::try_from(self.groups.len()).map_err(|_| GroupError::TooLarge)?;
        let of = self.cuts.iter().flat_map(|cuts| cuts.all().iter().map(|&(group, _)| group));
        let paths = of.zip(self.paid(account).iter().copied());
        let prices = PathPrices::at(paths, groups, weights.clone())?;
        match recorded.minus(prices.price()) {
            Some(lost) => prices.and_lost(lost),
            None => Ok(prices),
        }
    }

    /// What an account has paid for each group in all its paths, where these are the cuts of a
    /// search.
    pub(crate) fn paid_for_groups(&self, account: &str) -> Vec<Amount<Rho>> {
        let mut sums = vec![Amount::ZERO; self.groups.len()];
        let of = self.cuts.iter().flat_map(|cuts| cuts.all().iter().map(|&(group, _)| group));
        for (group, &paid) in of.zip(self.paid(account)) {
            if let Some(sum) = sums.get_mut(group as usize) {
                *sum = sum.plus(paid).unwrap_or(Amount::MAX);
            }
        }
        sums
    }

    /// The prices of an account's groups, as its account has recorded them in all.
    ///
    /// After a crash more may be recorded than is known here: it was paid for and lost. It stays
    /// paid for, and is no group's: nothing that was lost is counted as seen, and no group goes on
    /// from there.
    pub(crate) fn prices(
        &self,
        account: &str,
        recorded: Amount<Rho>,
        weights: &GroupWeights<Rho>,
    ) -> Result<GroupPrices<Rho>, GroupError> {
        let prices = GroupPrices::weighing_at(self.paid(account), weights.clone())?;
        match recorded.minus(prices.price()) {
            Some(lost) => prices.and_lost(lost),
            None => Ok(prices),
        }
    }
}

/// Where each group has come to by some steps, in the order of the groups.
fn last_of_each(mut steps: Vec<(u32, Amount<Rho>)>) -> Vec<(u32, Amount<Rho>)> {
    steps.reverse();
    steps.sort_by_key(|&(group, _)| group);
    steps.dedup_by_key(|&mut (group, _)| group);
    steps
}

/// The price that `most` groups have been paid for, or more: up to there all groups cost a unit
/// that touches that many nothing more.
pub(crate) fn dearest(paid: &[Amount<Rho>], most: NonZeroU32) -> Amount<Rho> {
    let Some(place) = paid.len().checked_sub(most.get() as usize) else { return Amount::ZERO };
    *paid.to_vec().select_nth_unstable(place).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{Account, Adjacency, BudgetSpec, L1, Metric, NoHistory};
    use eke_noise::Exact;
    use eke_noise::path::Columns;
    use eke_testkit::Seeded;

    fn amounts(grains: &[u128]) -> Vec<Amount<Rho>> {
        grains.iter().map(|&grains| Amount::from_grains(grains)).collect()
    }

    const METRIC: Metric = Metric::Hamming(Adjacency::AddRemove);

    fn weights() -> GroupWeights<Rho> {
        GroupWeights::touching(NonZeroU32::MIN, METRIC)
    }

    /// A state of five groups, an account that pays for it, and what is stored of it.
    struct Asked {
        state: State,
        account: Account,
        head: Vec<u8>,
        rounds: Vec<(u32, Vec<u8>)>,
        entropy: Seeded,
    }

    fn new_state() -> State {
        let columns = [1024.0, 5000.0].map(|sensitivity| {
            let sensitivity = L1::new(sensitivity).unwrap();
            Column { sensitivity, share: 1 }
        });
        let groups: Groups = (0..5).map(|key| vec![Value::Int(key)]).collect();
        State::new(PathId::new([1; 32]), groups, columns.to_vec()).unwrap()
    }

    impl Asked {
        fn new() -> Self {
            let budget = BudgetSpec::zcdp(Rho::new(1e3).unwrap()).resolve(METRIC).unwrap();
            let account = Account::open("riders", budget, &mut NoHistory).unwrap();
            let (head, rounds) = (Vec::new(), Vec::new());
            Self { state: new_state(), account, head, rounds, entropy: Seeded::new(3) }
        }

        /// Takes groups further and stores the round; with what an analyst pays for.
        fn round(&mut self, steps: &[(u32, &str)], analyst: &[(u32, &str)]) {
            let Self { state, account, .. } = self;
            let amounts = |steps: &[(u32, &str)]| -> Vec<(u32, Amount<Rho>)> {
                steps.iter().map(|&(group, to)| (group, to.parse().unwrap())).collect()
            };
            let paid = state.paid("riders");
            let mut prices = GroupPrices::weighing_at(paid, weights()).unwrap();
            let mut round = prices.round();
            for (group, to) in amounts(steps) {
                round.raise(group, to).unwrap();
            }
            let approved = account.raise_groups(round.offer(state.bundle.id())).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            let (increment, points) = (receipt.purchase().increment(), state.bundle.points());
            let bounds = state.bundle.columns().iter().map(|column| column.sensitivity).collect();
            let truth = Exact::new(Columns(vec![vec![100; 5], vec![-7; 5]]), bounds);
            if !steps.is_empty() {
                state.bundle.refine(&truth, receipt, &mut self.entropy).unwrap();
            }
            let mut paid = vec![("riders".to_owned(), amounts(steps))];
            if !analyst.is_empty() {
                paid.push(("riders/analyst/ana".to_owned(), amounts(analyst)));
            }
            state.pay(paid.iter().map(|(account, steps)| (account, steps))).unwrap();
            let key = Key::new(&format!("round/{increment}")).unwrap();
            let answer = Some((format!("answer {increment}"), key));
            let added = Added { increment, points, paid, answer };
            let written = state.add_round(added, |_| None, &weights()).unwrap();
            self.head = written.head;
            self.rounds.push((increment, written.round));
        }

        /// What is read of the state by somebody who has it as it was before.
        fn read(&self, mut state: State) -> Result<State, EngineError> {
            state.go_on(Some(&self.head[..]), |from, to| {
                let rounds = self.rounds.iter();
                let between = rounds.filter(|(increment, _)| (from..to).contains(increment));
                Ok(between.cloned().collect())
            })?;
            Ok(state)
        }
    }

    fn unread(_: u32, _: u32) -> Result<Vec<(u32, Vec<u8>)>, EngineError> {
        panic!("rounds are read that are there, or that are not")
    }

    fn assert_same(one: &State, other: &State) {
        assert_eq!(one.bundle, other.bundle);
        assert_eq!(one.paid, other.paid);
        assert_eq!(one.version, other.version);
        assert_eq!(one.old, other.old);
    }

    fn asked() -> (Asked, State) {
        let mut asked = Asked::new();
        asked.round(&[(0, "0.1"), (3, "0.1"), (4, "0.1")], &[(3, "0.05")]);
        // A group may take several steps in one round, and a round may take none.
        asked.round(&[(0, "0.2"), (1, "0.1"), (1, "0.3")], &[]);
        asked.round(&[], &[(0, "0.1"), (1, "0.1")]);
        let before = asked.state.clone();
        asked.round(&[(2, "0.4"), (0, "0.9")], &[(2, "0.4"), (0, "0.9")]);
        (asked, before)
    }

    #[test]
    fn a_state_is_what_its_rounds_have_added() {
        let (asked, before) = asked();
        assert_same(&asked.read(new_state()).unwrap(), &asked.state);
        assert_same(&asked.read(before).unwrap(), &asked.state);
        // What is there already is not read again.
        let mut same = asked.state.clone();
        assert!(!same.go_on(Some(&asked.head[..]), unread).unwrap());
        assert!(!same.go_on(None, unread).unwrap());
        let Version::Rounds(head) = &asked.state.version else { panic!("nothing is stored") };
        assert_eq!(head.alone["riders"], "0.9".parse().unwrap());
        assert_eq!(head.answers.len(), 4);
    }

    /// Without one of its rounds, or with them in another order, a state would be another one.
    #[test]
    fn a_state_without_one_of_its_rounds_is_not_read() {
        for missing in 0..4 {
            let (mut asked, _) = asked();
            asked.rounds.remove(missing);
            assert!(asked.read(new_state()).is_err(), "{missing}");
        }
        let (mut asked, before) = asked();
        let (first, second) = (asked.rounds[0].1.clone(), asked.rounds[1].1.clone());
        asked.rounds[0].1 = second;
        asked.rounds[1].1 = first;
        assert!(asked.read(new_state()).is_err());
        // An older head is an older state, and that is what is gone on from.
        let (asked, _) = self::asked();
        let mut newer = asked.state.clone();
        let mut other = Asked::new();
        other.round(&[(0, "0.1"), (3, "0.1"), (4, "0.1")], &[(3, "0.05")]);
        newer = other.read(newer).unwrap();
        assert_same(&newer, &other.state);
        assert!(newer.bundle.points() < before.bundle.points());
    }

    /// A state of an older eke, as it stands in a ledger: it is read, the next round writes all of
    /// it, and from then on it is rounds.
    #[test]
    fn a_state_that_was_stored_as_json_goes_on() {
        let json = &include_bytes!("state/state.json")[..];
        let stored: Json = serde_json::from_slice(json).unwrap();
        let question = stored.bundle.question();
        let new = || {
            let (groups, columns) =
                (stored.groups.clone().into(), stored.bundle.columns().to_vec());
            State::new(question, groups, columns).unwrap()
        };
        let mut state = new();
        assert!(state.go_on(Some(json), unread).unwrap() && state.is_stored());
        assert!(!state.go_on(Some(json), unread).unwrap());
        assert_eq!(state.bundle, stored.bundle);
        assert_eq!(state.paid, stored.paid);
        let name = stored.answers.keys().next().unwrap();
        assert_eq!(state.old_answer(name), stored.answers.get(name));
        // Some groups have points that others see, between those that were paid for first.
        assert!(stored.paid.len() > 1 && stored.answers.len() > 1);
        let points = state.bundle.points();
        let paid = vec![("nobody yet".to_owned(), vec![(0, Amount::from_grains(5))])];
        state.pay(paid.iter().map(|(account, steps)| (account, steps))).unwrap();
        let added = Added { increment: 40, points, paid, answer: None };
        let written = state.add_round(added, |_| None, &weights()).unwrap();
        let mut again = new();
        again
            .go_on(Some(&written.head[..]), |from, to| {
                assert_eq!((from, to), (40, 41));
                Ok(vec![(40, written.round.clone())])
            })
            .unwrap();
        assert_same(&again, &state);
        assert_eq!(again.old_answer(name), stored.answers.get(name));
        // Of another question it is damaged.
        let groups: Groups = stored.groups.iter().map(|_| vec![Value::Null]).collect();
        let columns = stored.bundle.columns().to_vec();
        let mut other = State::new(question, groups, columns).unwrap();
        assert!(other.go_on(Some(json), unread).is_err());
        let cut = &json[..json.len() - 2];
        assert!(new().go_on(Some(cut), unread).is_err());
    }

    #[test]
    fn what_was_lost_is_counted_once() {
        let replace = Metric::Hamming(Adjacency::Replace);
        let weights = GroupWeights::touching(NonZeroU32::new(2).unwrap(), replace);
        let column = Column { sensitivity: L1::new(1.0).unwrap(), share: 1 };
        let groups = vec![vec![]; 3].into();
        let mut state = State::new(PathId::new([1; 32]), groups, vec![column]).unwrap();
        let paid = (0u32..).zip(amounts(&[5, 9, 7])).collect();
        state.pay(&BTreeMap::from([("riders".to_owned(), paid)])).unwrap();
        let known = state.prices("riders", Amount::from_grains(64), &weights).unwrap();
        assert_eq!(known.price().grains(), 64);
        let lost = state.prices("riders", Amount::from_grains(104), &weights).unwrap();
        assert_eq!((lost.price().grains(), lost.group(1).unwrap().grains()), (104, 9));
        // Also where it is not a whole number of groups.
        let odd = state.prices("riders", Amount::from_grains(105), &weights).unwrap();
        assert_eq!(odd.price().grains(), 105);
        assert_eq!(state.prices("eve", Amount::ZERO, &weights).unwrap().price(), Amount::ZERO);
    }
}
