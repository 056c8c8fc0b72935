//! The price of many groups when one unit touches only a few of them.
//!
//! Every group has a price of its own, the sum over its paths. A unit touches at most k groups,
//! so whoever it is, it loses at most the sum of the k largest prices. That sum is kept while
//! prices rise one by one: the k dearest groups lie in a heap with the cheapest of them on top, and
//! since prices never fall a group that left the heap comes back only by overtaking its top.
//!
//! Invariants: prices never fall; the heap holds min(k, groups) groups, none cheaper than any
//! group outside; the sum is exact.

use std::num::NonZeroU32;

use crate::{Adjacency, Amount, Price};

/// Where a group is when it is not in the heap.
const OUTSIDE: u32 = u32::MAX;

/// The prices of all groups of a question, and what they cost a unit that touches at most k.
///
/// - Theorem: groups (docs/theorems.md)
/// - Proves: the sum of the k largest prices bounds what any one unit loses, group by group and
///   step by step, though groups stop at different points
/// - Assumes: which groups a unit touches does not depend on the noise, and there are at most k of
///   them (engine); a group's price sums all its paths (caller)
/// - Deviates: under replace the sum is multiplied (see [`Price::REPLACE_FACTOR`])
/// - Checked by: `the_price_of_groups_is_the_sum_of_the_largest`,
///   `replace_covers_leaving_entering_and_swinging`
///
/// ```
/// use std::num::NonZeroU32;
/// use eke_budget::{Adjacency, GroupPrices, Rho};
///
/// let two = NonZeroU32::new(2).unwrap();
/// let mut prices = GroupPrices::<Rho>::new(5, two, Adjacency::AddRemove);
/// let mut round = prices.round();
/// for group in 0..5 {
///     round.raise(group, "0.01".parse()?)?;
/// }
/// assert_eq!(round.price(), "0.02".parse()?); // two of the five
/// round.keep();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GroupPrices<C: Price> {
    factor: u32,
    most: NonZeroU32,
    prices: Vec<Amount<C>>,
    /// The dearest groups, the cheapest of them first: a binary heap.
    heap: Vec<u32>,
    /// Where in the heap each group is.
    places: Vec<u32>,
    /// The sum over the heap, before the factor.
    sum: Amount<C>,
}

/// Why a price could not be raised.
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
}

impl<C: Price> GroupPrices<C> {
    /// That many groups, all still free, of which a unit touches at most `most`.
    #[must_use]
    pub fn new(groups: u32, most: NonZeroU32, adjacency: Adjacency) -> Self {
        let factor = match adjacency {
            Adjacency::AddRemove => 1,
            Adjacency::Replace => C::REPLACE_FACTOR,
        };
        let dearest = most.get().min(groups);
        let places = (0..groups).map(|g| if g < dearest { g } else { OUTSIDE }).collect();
        Self {
            factor,
            most,
            prices: vec![Amount::ZERO; groups as usize],
            heap: (0..dearest).collect(),
            places,
            sum: Amount::ZERO,
        }
    }

    /// What everything revealed so far costs one unit.
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        // `raise` made sure that this fits.
        self.sum.times(self.factor).unwrap_or(Amount::MAX)
    }

    /// What one group costs a unit that touches it, under add-remove.
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

    /// How many groups a unit touches at most.
    #[must_use]
    pub fn most(&self) -> NonZeroU32 {
        self.most
    }

    /// Starts a round of raises that are kept together or not at all.
    #[must_use = "raises that are not kept are undone"]
    pub fn round(&mut self) -> GroupRound<'_, C> {
        GroupRound { before: self.price(), prices: self, raised: Vec::new(), kept: false }
    }

    fn raise(&mut self, group: u32, to: Amount<C>) -> Result<Amount<C>, GroupError> {
        let groups = u32::try_from(self.prices.len()).expect("made from a u32");
        let index = group as usize;
        let from = *self.prices.get(index).ok_or(GroupError::NoSuchGroup { group, groups })?;
        let more = to.minus(from).ok_or(GroupError::WouldFall { group })?;
        let place = self.places[index];
        if place == OUTSIDE {
            let top = self.heap[0];
            let least = self.prices[top as usize];
            if let Some(more) = to.minus(least).filter(|more| !more.is_zero()) {
                self.sum = self.added(more)?;
                self.places[top as usize] = OUTSIDE;
                self.heap[0] = group;
                self.places[index] = 0;
                self.prices[index] = to;
                self.sink(0);
                return Ok(from);
            }
            self.prices[index] = to;
        } else {
            self.sum = self.added(more)?;
            self.prices[index] = to;
            self.sink(place as usize);
        }
        Ok(from)
    }

    fn added(&self, more: Amount<C>) -> Result<Amount<C>, GroupError> {
        let sum = self.sum.plus(more).ok_or(GroupError::TooLarge)?;
        sum.times(self.factor).ok_or(GroupError::TooLarge)?;
        Ok(sum)
    }

    /// Moves a group that became dearer down the heap, below all that are cheaper.
    fn sink(&mut self, mut place: usize) {
        let price = |groups: &Self, place: usize| groups.prices[groups.heap[place] as usize];
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                return;
            }
            let right = left + 1;
            let least = if right < self.heap.len() && price(self, right) < price(self, left) {
                right
            } else {
                left
            };
            if price(self, place) <= price(self, least) {
                return;
            }
            self.heap.swap(place, least);
            for moved in [place, least] {
                self.places[self.heap[moved] as usize] =
                    u32::try_from(moved).expect("a heap of u32");
            }
            place = least;
        }
    }

    /// Works out the heap and the sum from the prices alone.
    fn rebuild(&mut self) {
        let dearest = self.heap.len();
        let mut groups: Vec<u32> =
            (0..u32::try_from(self.prices.len()).expect("made from a u32")).collect();
        if dearest < groups.len() {
            let prices = &self.prices;
            groups.select_nth_unstable_by_key(dearest, |&g| std::cmp::Reverse(prices[g as usize]));
            groups.truncate(dearest);
        }
        self.places.fill(OUTSIDE);
        for (place, &group) in groups.iter().enumerate() {
            self.places[group as usize] = u32::try_from(place).expect("a heap of u32");
        }
        self.heap = groups;
        for place in (0..dearest / 2).rev() {
            self.sink(place);
        }
        let sum = self.heap.iter().map(|&g| self.prices[g as usize].grains()).sum();
        self.sum = Amount::from_grains(sum);
    }
}

/// Raises under way: priced together, then kept, or undone when dropped.
#[derive(Debug)]
pub struct GroupRound<'a, C: Price> {
    prices: &'a mut GroupPrices<C>,
    before: Amount<C>,
    /// Groups raised in this round and their price before, oldest first.
    raised: Vec<(u32, Amount<C>)>,
    kept: bool,
}

impl<C: Price> GroupRound<'_, C> {
    /// Raises the price of one group.
    ///
    /// # Errors
    /// There is no such group, its price would fall, or the sum is more than an amount holds.
    /// Nothing has changed then.
    pub fn raise(&mut self, group: u32, to: Amount<C>) -> Result<(), GroupError> {
        let from = self.prices.raise(group, to)?;
        self.raised.push((group, from));
        Ok(())
    }

    /// What one group costs now, raises of this round included.
    #[must_use]
    pub fn group(&self, group: u32) -> Option<Amount<C>> {
        self.prices.group(group)
    }

    /// What the raises of this round add to the price of the whole set: what to charge.
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        self.prices.price().minus(self.before).expect("prices only rise")
    }

    /// Keeps the raises, once they are paid for.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl<C: Price> Drop for GroupRound<'_, C> {
    fn drop(&mut self) {
        if self.kept || self.raised.is_empty() {
            return;
        }
        for &(group, from) in self.raised.iter().rev() {
            self.prices.prices[group as usize] = from;
        }
        self.prices.rebuild();
    }
}
