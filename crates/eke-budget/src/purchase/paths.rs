//! The price of many paths of which several are one group's.
//!
//! A search for quantiles follows a path at every cut that it looks at, and all of those of a group
//! are about the same rows. So a group costs the sum of its paths, and a unit loses what
//! [`GroupPrices`] says of groups at these sums. What is bought are steps of single paths: receipts
//! name the path and not its group.
//!
//! Raises are made in a round, offered to an account as one purchase, and kept once there is a
//! receipt for them; whatever is not kept is undone before the next round.
//!
//! Invariants: kept prices never fall; the price of a group is the sum of those of its paths.

use std::sync::Arc;

use crate::purchase::group::{GroupError, GroupOffer, GroupPrices, GroupRaise, GroupStep};
use crate::purchase::weights::GroupWeights;
use crate::{Amount, PathId, Price, Receipt};

/// The prices of the paths of groups, and what they cost a unit.
///
/// - Theorem: quantile-paths (docs/theorems.md), and groups
/// - Proves: a unit that changes every path of the groups that it touches loses no more than the
///   groups at the sums of their paths' prices
/// - Assumes: as [`GroupPrices`]; which path is which group's does not change (caller)
/// - Deviates: nothing
/// - Checked by: `a_group_costs_the_sum_of_its_paths`, `what_is_not_kept_of_paths_is_undone`
#[derive(Debug)]
pub struct PathPrices<C: Price> {
    groups: GroupPrices<C>,
    /// The group of each path.
    of: Vec<u32>,
    prices: Vec<Amount<C>>,
    /// Raises since the prices were last kept, that are in no offer yet.
    open: Vec<GroupStep<C>>,
    /// Raises since then that have been offered.
    offered: Option<Arc<Vec<GroupStep<C>>>>,
}

impl<C: Price> PathPrices<C> {
    /// Paths at prices that have been paid for before, each with its group, which are this many.
    ///
    /// # Errors
    /// A group is not there, or prices add up to more than eke counts.
    pub fn at(
        paths: impl IntoIterator<Item = (u32, Amount<C>)>,
        groups: u32,
        weights: GroupWeights<C>,
    ) -> Result<Self, GroupError> {
        let (of, prices): (Vec<u32>, Vec<Amount<C>>) = paths.into_iter().unzip();
        let mut sums = vec![Amount::ZERO; groups as usize];
        for (&group, &price) in of.iter().zip(&prices) {
            let sum =
                sums.get_mut(group as usize).ok_or(GroupError::NoSuchGroup { group, groups })?;
            *sum = sum.plus(price).ok_or(GroupError::TooLarge)?;
        }
        let groups = GroupPrices::weighing_at(&sums, weights)?;
        Ok(Self { groups, of, prices, open: Vec::new(), offered: None })
    }

    /// The same, in an account that has also paid for something that was lost before anybody saw it
    /// ([`GroupPrices::and_lost`]).
    ///
    /// # Errors
    /// That is more than eke counts.
    pub fn and_lost(mut self, lost: Amount<C>) -> Result<Self, GroupError> {
        self.groups = self.groups.and_lost(lost)?;
        Ok(self)
    }

    /// What everything kept so far costs one unit.
    #[must_use]
    pub fn price(&self) -> Amount<C> {
        self.groups.price()
    }

    /// What everything kept so far costs one unit, but for what was lost before anybody saw it.
    #[must_use]
    pub fn price_seen(&self) -> Amount<C> {
        self.groups.price_seen()
    }

    /// What one path costs, raises under way included.
    #[must_use]
    pub fn path(&self, path: u32) -> Option<Amount<C>> {
        self.prices.get(path as usize).copied()
    }

    /// What one group costs a unit that touches it, raises under way included.
    #[must_use]
    pub fn group(&self, group: u32) -> Option<Amount<C>> {
        self.groups.group(group)
    }

    /// Starts a round of raises. Raises before that were not kept are undone.
    pub fn begin(&mut self) {
        let undone = self.offered.take();
        let offered = undone.iter().flat_map(|steps| steps.iter());
        for step in self.open.iter().rev().chain(offered.rev()) {
            self.prices[step.group() as usize] = step.from();
        }
        self.open.clear();
        self.groups.begin();
    }

    /// Raises the price of one path.
    ///
    /// # Errors
    /// There is no such path, its price would fall, or the sum is more than an amount holds.
    /// Nothing has changed then.
    pub fn raise(&mut self, path: u32, to: Amount<C>) -> Result<(), GroupError> {
        let groups = u32::try_from(self.prices.len()).unwrap_or(u32::MAX);
        let missing = || GroupError::NoSuchGroup { group: path, groups };
        let from = *self.prices.get(path as usize).ok_or_else(missing)?;
        let more = to.minus(from).ok_or(GroupError::WouldFall { group: path })?;
        let group = self.of[path as usize];
        let now = self.groups.group(group).ok_or_else(missing)?;
        let sum = now.plus(more).ok_or(GroupError::TooLarge)?;
        self.groups.raise(group, sum)?;
        self.prices[path as usize] = to;
        self.open.push(GroupStep::new(path, from, to));
        Ok(())
    }

    /// Ends the round with an offer for an account to approve, under the name of the bundle: its
    /// steps are of paths, and its price is that of their groups.
    #[must_use = "an offer is for an account to approve"]
    pub fn offer(&mut self, bundle: PathId) -> GroupOffer<C> {
        let of_groups = self.groups.offer(bundle);
        let steps = Arc::new(std::mem::take(&mut self.open));
        self.offered = Some(Arc::clone(&steps));
        GroupOffer { steps, ..of_groups }
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
        self.groups.keep_offered();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::{Account, Adjacency, BudgetSpec, Metric, NoHistory, Rho};

    const BUNDLE: PathId = PathId::new([3; 32]);

    fn grains(grains: u128) -> Amount<Rho> {
        Amount::from_grains(grains)
    }

    fn weights(most: u32, adjacency: Adjacency) -> GroupWeights<Rho> {
        GroupWeights::touching(NonZeroU32::new(most).unwrap(), Metric::Hamming(adjacency))
    }

    #[test]
    fn a_group_costs_the_sum_of_its_paths() {
        let paths = || [0u32, 1, 1, 2, 0].map(|group| (group, grains(0)));
        for (most, adjacency, factor) in
            [(1, Adjacency::AddRemove, 1), (2, Adjacency::AddRemove, 1), (1, Adjacency::Replace, 4)]
        {
            let mut prices = PathPrices::at(paths(), 3, weights(most, adjacency)).unwrap();
            prices.begin();
            for (path, to) in [(0, 5), (1, 3), (2, 4), (3, 6), (1, 10)] {
                prices.raise(path, grains(to)).unwrap();
            }
            assert!(prices.raise(1, grains(9)).is_err() && prices.raise(5, grains(9)).is_err());
            assert_eq!([0, 1, 2].map(|group| prices.group(group).unwrap().grains()), [5, 14, 6]);
            let offer = prices.offer(BUNDLE);
            // The dearest of them, or the two dearest.
            let whole = if most == 1 { 14 } else { 20 };
            assert_eq!((offer.from, offer.to), (grains(0), grains(whole * factor)));
            let steps: Vec<_> = offer
                .steps()
                .iter()
                .map(|s| (s.group(), s.from().grains(), s.to().grains()))
                .collect();
            assert_eq!(steps, [(0, 0, 5), (1, 0, 3), (2, 0, 4), (3, 0, 6), (1, 3, 10)]);
            // From what was paid for it is the same.
            let now = (0..5u32).map(|path| (paths()[path as usize].0, prices.path(path).unwrap()));
            let again = PathPrices::at(now, 3, weights(most, adjacency)).unwrap();
            assert_eq!(again.price(), grains(whole * factor));
        }
        assert!(PathPrices::at([(3, grains(1))], 3, weights(1, Adjacency::AddRemove)).is_err());
    }

    #[test]
    fn what_is_not_kept_of_paths_is_undone() {
        let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap());
        let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
        let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
        let paths = [(0u32, grains(2)), (0, grains(0)), (1, grains(1))];
        let mut prices = PathPrices::at(paths, 2, weights(2, Adjacency::AddRemove)).unwrap();
        let mut free =
            PathPrices::at([(0u32, grains(0)); 3], 1, weights(1, Adjacency::AddRemove)).unwrap();
        assert_eq!(prices.price(), grains(3));
        prices.begin();
        prices.raise(1, grains(7)).unwrap();
        let lost = prices.offer(BUNDLE);
        assert_eq!(lost.to, grains(10));
        prices.begin();
        assert_eq!((prices.price(), prices.path(1)), (grains(3), Some(grains(0))));
        prices.raise(0, grains(4)).unwrap();
        prices.raise(0, grains(6)).unwrap();
        prices.begin();
        assert_eq!((prices.path(0), prices.group(0)), (Some(grains(2)), Some(grains(2))));
        free.begin();
        free.raise(1, grains(5)).unwrap();
        free.raise(2, grains(4)).unwrap();
        let approved = account.raise_groups(free.offer(BUNDLE)).unwrap();
        let receipt = account.commit(approved, &mut NoHistory).unwrap();
        assert_eq!((receipt.purchase().from(), receipt.purchase().to()), (grains(0), grains(9)));
        // It is for other raises than these.
        assert!(matches!(prices.keep(&receipt), Err(GroupError::NotOffered)));
        free.keep(&receipt).unwrap();
        assert_eq!((free.price(), free.path(1)), (grains(9), Some(grains(5))));
        free.begin();
        assert_eq!(free.price(), grains(9));
    }
}
