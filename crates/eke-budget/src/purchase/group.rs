//! The price of many groups when one unit touches only a few of them.
//!
//! Every group has a price of its own, the sum over its paths. A unit touches at most k groups,
//! so it loses at most the sum of the k largest prices, or less where its rows are bounded in all
//! (`weights.rs`). That sum is kept while
//! prices rise one by one: the k dearest groups lie in a heap with the cheapest of them on top, and
//! since prices never fall a group that left the heap comes back only by overtaking its top.
//!
//! Raises are made in a round, offered to an account as one purchase, and kept once there is a
//! receipt for them; whatever is not kept is undone before the next round.
//!
//! Invariants: kept prices never fall; the heap holds min(k, groups) groups, none cheaper than any
//! group outside; the sum is exact.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::purchase::weights::GroupWeights;
use crate::{Amount, Metric, PathId, Price, Receipt};

/// Where a group is when it is not in the heap, and what was evicted when nothing was.
const NONE: u32 = u32::MAX;

/// The prices of all groups of a bundle, and what they cost a unit that touches at most k.
///
/// - Theorem: groups (docs/theorems.md)
/// - Proves: the sum of the k largest prices bounds what any one unit loses, group by group and
///   step by step, though groups stop at different points
/// - Assumes: which groups a unit touches does not depend on the noise, and there are at most k of
///   them (engine); a group's price sums all its paths, for add-remove (caller)
/// - Deviates: unless units are added or removed the sum is multiplied ([`Metric::group_factor`]);
///   where all rows of a unit are bounded together, [`GroupWeights`] say what counts
/// - Checked by: `the_price_of_groups_is_the_sum_of_the_largest`,
///   `replace_covers_leaving_entering_and_swinging`
///
/// ```
/// use std::num::NonZeroU32;
/// use eke_budget::purchase::GroupPrices;
/// use eke_budget::*;
///
/// let budget = BudgetSpec::zcdp(Rho::new(1.0)?).resolve(Metric::Hamming(Adjacency::AddRemove))?;
/// let mut journal = MemoryJournal::new();
/// let mut account = Account::open("riders", budget, &mut journal)?;
///
/// let two = NonZeroU32::new(2).unwrap();
/// let mut prices = GroupPrices::<Rho>::new(5, two, account.budget().metric());
/// let mut round = prices.round();
/// for group in 0..5 {
///     round.raise(group, "0.01".parse()?)?;
/// }
/// assert_eq!(round.price(), "0.02".parse()?); // two of the five
/// let approved = account.raise_groups(round.offer(PathId::new([7; 32])))?;
/// let receipt = account.commit(approved, &mut journal)?;
/// prices.keep(&receipt)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[doc(alias = "contribution bounding")]
#[doc(alias = "parallel composition")]
pub struct GroupPrices<C: Price> {
    weights: GroupWeights<C>,
    most: NonZeroU32,
    prices: Vec<Amount<C>>,
    /// The dearest groups, the cheapest of them first: a binary heap.
    heap: Vec<u32>,
    /// Where in the heap each group is.
    places: Vec<u32>,
    /// The sum over the heap, before the factor.
    sum: Amount<C>,
    /// What was paid for and lost before anybody saw it, of no group.
    lost: Amount<C>,
    /// The price of the set when it was last kept.
    kept: Amount<C>,
    /// Raises since then, oldest first, that are in no offer yet.
    open: Vec<GroupStep<C>>,
    /// Raises since then that have been offered.
    offered: Option<Arc<Vec<GroupStep<C>>>>,
}

/// One group taken further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupStep<C: Price> {
    group: u32,
    /// The group that left the heap for this one.
    evicted: u32,
    from: Amount<C>,
    to: Amount<C>,
}

impl<C: Price> GroupStep<C> {
    /// A step of a path, of which several may be a group's.
    pub(super) fn new(path: u32, from: Amount<C>, to: Amount<C>) -> Self {
        Self { group: path, evicted: NONE, from, to }
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Its price before.
    #[must_use]
    pub fn from(&self) -> Amount<C> {
        self.from
    }

    /// Its price after.
    #[must_use]
    pub fn to(&self) -> Amount<C> {
        self.to
    }
}

/// Why a price could not be raised or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// There is no such group.
    #[error("there is no group {group}: there are {groups}")]
    NoSuchGroup {
        /// The group asked for.
        group: u32,
        /// How many there are.
        groups: u32,
    },
    /// The price would fall.
    #[error("the price of group {group} would fall: what was revealed stays paid for")]
    WouldFall {
        /// The group.
        group: u32,
    },
    /// The sum is more than an amount holds.
    #[error("the prices add up to more than eke counts")]
    TooLarge,
    /// The receipt is for another offer than the last one.
    #[error("the receipt is not for the raises that were offered last")]
    NotOffered,
}

impl<C: Price> GroupPrices<C> {
    /// That many groups, all still free, of which a unit touches at most `most`, for an account of
    /// this metric.
    #[must_use]
    pub fn new(groups: u32, most: NonZeroU32, metric: Metric) -> Self {
        Self::weighing(groups, GroupWeights::touching(most, metric))
    }

    /// That many groups, all still free, of which a unit loses as much as the weights say.
    #[must_use]
    pub fn weighing(groups: u32, weights: GroupWeights<C>) -> Self {
        let most = weights.groups();
        let dearest = most.get().min(groups);
        let places = (0..groups).map(|g| if g < dearest { g } else { NONE }).collect();
        Self {
            weights,
            most,
            prices: vec![Amount::ZERO; groups as usize],
            heap: (0..dearest).collect(),
            places,
            sum: Amount::ZERO,
            lost: Amount::ZERO,
            kept: Amount::ZERO,
            open: Vec::new(),
            offered: None,
        }
    }

    /// Groups at prices that have been paid for before, in an account of this metric.
    ///
    /// # Errors
    /// There are more groups than can be numbered, or the prices add up to more than eke counts.
    pub fn at(prices: &[Amount<C>], most: NonZeroU32, metric: Metric) -> Result<Self, GroupError> {
        Self::weighing_at(prices, GroupWeights::touching(most, metric))
    }

    /// Groups at prices that have been paid for before, of which a unit loses as much as the
    /// weights say.
    ///
    /// # Errors
    /// As for [`GroupPrices::at`].
    pub fn weighing_at(prices: &[Amount<C>], weights: GroupWeights<C>) -> Result<Self, GroupError> {
        let groups = u32::try_from(prices.len()).map_err(|_| GroupError::TooLarge)?;
        let mut set = Self::weighing(groups, weights);
        for (group, &price) in (0..groups).zip(prices) {
            set.raise(group, price)?;
        }
        set.open.clear();
        set.kept = set.current();
        Ok(set)
    }

    /// The same groups, in an account that has also paid for something that was lost before anybody
    /// saw it.
    ///
    /// It is no group's: no group goes on from there, and none is cheaper for it.
    ///
    /// # Errors
    /// That is more than eke counts.
    pub fn and_lost(mut self, lost: Amount<C>) -> Result<Self, GroupError> {
        self.lost = self.lost.plus(lost).ok_or(GroupError::TooLarge)?;
        self.added(Amount::ZERO)?;
        self.kept = self.current();
        Ok(self)
    }

    /// What everything kept so far costs one unit.
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        self.kept
    }

    /// What everything kept so far costs one unit, but for what was lost before anybody saw it.
    #[must_use]
    pub fn price_seen(&self) -> Amount<C> {
        self.kept.minus(self.lost).unwrap_or(Amount::ZERO)
    }

    /// What one group costs a unit that touches it, under add-remove, raises under way included.
    #[must_use]
    pub fn group(&self, group: u32) -> Option<Amount<C>> {
        self.prices.get(group as usize).copied()
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.prices.len()
    }

    /// Whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prices.is_empty()
    }

    /// How many groups count at most: as many as a unit touches, where each counts as a whole.
    #[must_use]
    pub fn most(&self) -> NonZeroU32 {
        self.most
    }

    /// Starts a round of raises. Raises that were offered before and not kept are undone.
    #[must_use = "raises that are not offered are undone"]
    pub fn round(&mut self) -> GroupRound<'_, C> {
        self.revert();
        GroupRound { prices: self }
    }

    /// Undoes raises that were not kept.
    pub(super) fn begin(&mut self) {
        self.revert();
    }

    /// Offers the raises that were made since.
    pub(super) fn offer(&mut self, bundle: PathId) -> GroupOffer<C> {
        GroupRound { prices: self }.offer(bundle)
    }

    /// Keeps the raises that were offered last, whoever has seen the receipt.
    pub(super) fn keep_offered(&mut self) {
        self.offered = None;
        self.kept = self.current();
    }

    /// Keeps the raises that were offered last, now that they are paid for.
    ///
    /// # Errors
    /// The receipt is for other raises. Nothing has changed.
    pub fn keep(&mut self, receipt: &Receipt<GroupRaise<C>>) -> Result<(), GroupError> {
        let paid = &receipt.purchase().steps;
        if !self.offered.as_ref().is_some_and(|offered| Arc::ptr_eq(offered, paid)) {
            return Err(GroupError::NotOffered);
        }
        self.offered = None;
        self.kept = self.current();
        Ok(())
    }

    /// The price of the set, raises under way included.
    fn current(&self) -> Amount<C> {
        // `raise` made sure that this fits.
        let groups = match self.weights.factor() {
            Some(factor) => self.sum.times(factor),
            None => {
                let mut dearest: Vec<Amount<C>> =
                    self.heap.iter().map(|&group| self.prices[group as usize]).collect();
                dearest.sort_unstable_by(|a, b| b.cmp(a));
                self.weights.of(dearest)
            }
        };
        groups.and_then(|groups| groups.plus(self.lost)).unwrap_or(Amount::MAX)
    }

    pub(super) fn raise(&mut self, group: u32, to: Amount<C>) -> Result<(), GroupError> {
        let groups = u32::try_from(self.prices.len()).expect("made from a u32");
        let index = group as usize;
        let from = *self.prices.get(index).ok_or(GroupError::NoSuchGroup { group, groups })?;
        let more = to.minus(from).ok_or(GroupError::WouldFall { group })?;
        let place = self.places[index];
        let mut evicted = NONE;
        if place == NONE {
            let top = self.heap[0];
            let overtakes = to.minus(self.prices[top as usize]).filter(|more| !more.is_zero());
            if let Some(more) = overtakes {
                self.sum = self.added(more)?;
                self.replace(0, group);
                evicted = top;
            }
            self.prices[index] = to;
        } else {
            self.sum = self.added(more)?;
            self.prices[index] = to;
        }
        if self.places[index] != NONE {
            self.sink(self.places[index] as usize);
        }
        self.open.push(GroupStep { group, evicted, from, to });
        Ok(())
    }

    fn added(&self, more: Amount<C>) -> Result<Amount<C>, GroupError> {
        let sum = self.sum.plus(more).ok_or(GroupError::TooLarge)?;
        let groups = sum.times(self.weights.largest()).ok_or(GroupError::TooLarge)?;
        groups.plus(self.lost).ok_or(GroupError::TooLarge)?;
        Ok(sum)
    }

    /// Undoes everything since the last `keep`, newest first.
    fn revert(&mut self) {
        while let Some(step) = self.open.pop() {
            self.undo(step);
        }
        for step in self.offered.take().iter().flat_map(|steps| steps.iter().rev()) {
            self.undo(*step);
        }
    }

    fn undo(&mut self, step: GroupStep<C>) {
        let GroupStep { group, evicted, from, to } = step;
        let index = group as usize;
        self.prices[index] = from;
        let place = self.places[index];
        if place == NONE {
            return;
        }
        let place = place as usize;
        let fallen_to = if evicted == NONE { from } else { self.prices[evicted as usize] };
        if evicted != NONE {
            self.replace(place, evicted);
        }
        let fall = to.minus(fallen_to).expect("a step goes up");
        self.sum = self.sum.minus(fall).expect("what is undone was added before");
        self.rise(place);
    }

    /// Puts another group in a place of the heap.
    fn replace(&mut self, place: usize, group: u32) {
        self.places[self.heap[place] as usize] = NONE;
        self.put(place, group);
    }

    fn put(&mut self, place: usize, group: u32) {
        self.heap[place] = group;
        self.places[group as usize] = u32::try_from(place).expect("a heap of u32");
    }

    fn price_at(&self, place: usize) -> Amount<C> {
        self.prices[self.heap[place] as usize]
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (first, second) = (self.heap[one], self.heap[other]);
        self.put(one, second);
        self.put(other, first);
    }

    /// Moves a group that became dearer down the heap, below all that are cheaper.
    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                return;
            }
            let right = left + 1;
            let right_is_less =
                right < self.heap.len() && self.price_at(right) < self.price_at(left);
            let least = if right_is_less { right } else { left };
            if self.price_at(place) <= self.price_at(least) {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }

    /// Moves a group that became cheaper up the heap, above all that are dearer.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.price_at(parent) <= self.price_at(place) {
                return;
            }
            self.swap(place, parent);
            place = parent;
        }
    }
}

/// Raises under way: priced together, then offered to an account, or undone when dropped.
#[derive(Debug)]
pub struct GroupRound<'a, C: Price> {
    prices: &'a mut GroupPrices<C>,
}

impl<C: Price> GroupRound<'_, C> {
    /// Raises the price of one group.
    ///
    /// # Errors
    /// There is no such group, its price would fall, or the sum is more than an amount holds.
    /// Nothing has changed then.
    pub fn raise(&mut self, group: u32, to: Amount<C>) -> Result<(), GroupError> {
        self.prices.raise(group, to)
    }

    /// What one group costs now, raises of this round included.
    #[must_use]
    pub fn group(&self, group: u32) -> Option<Amount<C>> {
        self.prices.group(group)
    }

    /// What the raises of this round add to the price of the whole set: what will be charged.
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        self.prices.current().minus(self.prices.kept).expect("prices only rise")
    }

    /// Ends the round with an offer for an account to approve, under the name of the bundle.
    #[must_use = "an offer is for an account to approve"]
    pub fn offer(self, bundle: PathId) -> GroupOffer<C> {
        let steps = Arc::new(std::mem::take(&mut self.prices.open));
        self.prices.offered = Some(Arc::clone(&steps));
        GroupOffer { bundle, from: self.prices.kept, to: self.prices.current(), steps }
    }
}

impl<C: Price> Drop for GroupRound<'_, C> {
    fn drop(&mut self) {
        // After an offer nothing is open.
        while let Some(step) = self.prices.open.pop() {
            self.prices.undo(step);
        }
    }
}

/// Raises of a bundle's groups, priced, for an account to approve.
#[derive(Debug)]
pub struct GroupOffer<C: Price> {
    pub(crate) bundle: PathId,
    pub(crate) from: Amount<C>,
    pub(crate) to: Amount<C>,
    pub(crate) steps: Arc<Vec<GroupStep<C>>>,
}

impl<C: Price> GroupOffer<C> {
    /// The bundle.
    #[must_use]
    pub fn bundle(&self) -> PathId {
        self.bundle
    }

    /// Every raise, in the order it was made.
    #[must_use]
    pub fn steps(&self) -> &[GroupStep<C>] {
        &self.steps
    }
}

/// One increment of a bundle, bought: which groups go from where to where, and what the whole set
/// costs before and after. Only an account makes one.
#[derive(Debug)]
pub struct GroupRaise<C: Price> {
    pub(crate) bundle: PathId,
    pub(crate) increment: u32,
    pub(crate) from: Amount<C>,
    pub(crate) to: Amount<C>,
    pub(crate) steps: Arc<Vec<GroupStep<C>>>,
}

impl<C: Price> GroupRaise<C> {
    /// The bundle.
    #[must_use]
    pub fn bundle(&self) -> PathId {
        self.bundle
    }

    /// Which increment of the bundle this is, from 0.
    #[must_use]
    pub fn increment(&self) -> u32 {
        self.increment
    }

    /// The price of the whole set before.
    #[must_use]
    pub fn from(&self) -> Amount<C> {
        self.from
    }

    /// The price of the whole set after.
    #[must_use]
    pub fn to(&self) -> Amount<C> {
        self.to
    }

    /// Every raise, in the order it was made.
    #[must_use]
    pub fn steps(&self) -> &[GroupStep<C>] {
        &self.steps
    }
}
