//! What is stored of a question's paths, in the ledger: the groups, the bundle of their paths, how
//! far each account has paid for each group, and the answers that were given.
//!
//! It is read back by later versions: fields are added, never changed.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use eke_budget::purchase::{GroupError, GroupPrices};
use eke_budget::{Amount, Metric, PathId, Rho};
use eke_noise::Bundle;
use eke_noise::path::{BundleError, Column};
use eke_sql::Value;
use serde::{Deserialize, Serialize};

use crate::ask::answer::Found;
use crate::error::EngineError;

/// What is stored of a question's paths.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The keys of each group.
    pub(crate) groups: Vec<Vec<Value>>,
    /// The paths.
    pub(crate) bundle: Bundle<Rho>,
    /// What each account has paid for each group.
    pub(crate) paid: BTreeMap<String, Vec<Amount<Rho>>>,
    /// The answers that were given, by account, measures and goal.
    pub(crate) answers: BTreeMap<String, Vec<Vec<Found>>>,
}

impl State {
    /// Nothing has been revealed.
    pub(crate) fn new(
        question: PathId,
        groups: Vec<Vec<Value>>,
        columns: Vec<Column>,
    ) -> Result<Self, BundleError> {
        let count = u32::try_from(groups.len()).map_err(|_| BundleError::Damaged)?;
        let bundle = Bundle::open(question, columns, count)?;
        Ok(Self { groups, bundle, paid: BTreeMap::new(), answers: BTreeMap::new() })
    }

    /// What is stored of the same question now; none if nothing is.
    ///
    /// # Errors
    /// It cannot be read, or is another question's.
    pub(crate) fn read_again(&self, stored: Option<&[u8]>) -> Result<Option<Self>, EngineError> {
        let Some(bytes) = stored else { return Ok(None) };
        let state: Self = serde_json::from_slice(bytes)
            .map_err(|error| EngineError::Damaged(error.to_string()))?;
        if state.bundle.id() != self.bundle.id() || state.groups != self.groups {
            return Err(EngineError::Damaged("it is another question's".into()));
        }
        Ok(Some(state))
    }

    /// What an account has paid for each group.
    pub(crate) fn paid(&self, account: &str) -> Vec<Amount<Rho>> {
        let none = || vec![Amount::ZERO; self.groups.len()];
        self.paid.get(account).cloned().unwrap_or_else(none)
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
        most: NonZeroU32,
        metric: Metric,
    ) -> Result<GroupPrices<Rho>, GroupError> {
        let prices = GroupPrices::at(&self.paid(account), most, metric)?;
        match recorded.minus(prices.price()) {
            Some(lost) => prices.and_lost(lost),
            None => Ok(prices),
        }
    }
}

/// The price up to which every group may go, so that an account that has paid these prices pays at
/// most `more` beyond them: what fills the `most` dearest up to one level.
pub(crate) fn level(
    paid: &[Amount<Rho>],
    most: NonZeroU32,
    metric: Metric,
    more: Amount<Rho>,
) -> Amount<Rho> {
    let mut dearest: Vec<u128> = paid.iter().map(|price| price.grains()).collect();
    dearest.sort_unstable_by(|a, b| b.cmp(a));
    dearest.truncate(most.get() as usize);
    let more = more.grains() / u128::from(metric.group_factor::<Rho>());
    // From the cheapest on: raise them together to the next one, as long as it lasts.
    let (mut filled, mut left) = (0u128, more);
    while let Some(price) = dearest.pop() {
        let next = dearest.last().copied().unwrap_or(u128::MAX);
        filled += 1;
        let room = (next - price).saturating_mul(filled);
        if left < room {
            return Amount::from_grains(price + left / filled);
        }
        left -= room;
    }
    Amount::from_grains(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Adjacency;
    use proptest::prelude::*;

    fn amounts(grains: &[u128]) -> Vec<Amount<Rho>> {
        grains.iter().map(|&grains| Amount::from_grains(grains)).collect()
    }

    proptest! {
        /// Filling all groups up to the level costs at most what was allowed, and hardly less.
        #[test]
        fn a_level_costs_what_is_allowed(
            paid in prop::collection::vec(0u128..1000, 1..8),
            most in 1u32..5,
            more in 0u128..5000,
            replace in any::<bool>(),
        ) {
            let adjacency = if replace { Adjacency::Replace } else { Adjacency::AddRemove };
            let (most, metric) = (NonZeroU32::new(most).unwrap(), Metric::Hamming(adjacency));
            let price = |paid: &[Amount<Rho>]| GroupPrices::at(paid, most, metric).unwrap().price();
            let before = amounts(&paid);
            let to = level(&before, most, metric, Amount::from_grains(more));
            let fill = |to: Amount<Rho>| before.iter().map(|&paid| paid.max(to)).collect::<Vec<_>>();
            let cost = |to| price(&fill(to)).minus(price(&before)).unwrap().grains();
            prop_assert!(cost(to) <= more, "{} {more}", cost(to));
            let above = Amount::from_grains(to.grains() + 1);
            prop_assert!(cost(above) > more || cost(above) == cost(to), "{to} {}", cost(above));
        }
    }

    #[test]
    fn what_was_lost_is_counted_once() {
        let (most, metric) = (NonZeroU32::new(2).unwrap(), Metric::Hamming(Adjacency::Replace));
        let column = Column { sensitivity: eke_budget::L1::new(1.0).unwrap(), share: 1 };
        let groups = vec![vec![]; 3];
        let mut state = State::new(PathId::new([1; 32]), groups, vec![column]).unwrap();
        state.paid.insert("riders".to_owned(), amounts(&[5, 9, 7]));
        let known = state.prices("riders", Amount::from_grains(64), most, metric).unwrap();
        assert_eq!(known.price().grains(), 64);
        let lost = state.prices("riders", Amount::from_grains(104), most, metric).unwrap();
        assert_eq!((lost.price().grains(), lost.group(1).unwrap().grains()), (104, 9));
        // Also where it is not a whole number of groups.
        let odd = state.prices("riders", Amount::from_grains(105), most, metric).unwrap();
        assert_eq!(odd.price().grains(), 105);
        assert_eq!(state.prices("eve", Amount::ZERO, most, metric).unwrap().price(), Amount::ZERO);
    }
}
