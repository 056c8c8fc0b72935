//! How much of the prices of groups one unit loses at most.
//!
//! A unit touches a few groups, and each of them with a part of what it may add to a group. The
//! weights say which parts of the dearest groups' prices cover every such unit: the dearest group
//! counts most. What weights come to is exact, and is rounded up once, to a grain.
//!
//! Invariants: weights never rise from a dearer group to a cheaper one; none is above the factor of
//! the metric; what is covered without a bound on all rows is never less than what is with one.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use crate::{Adjacency, Amount, Metric, Price, Rho};

/// The largest denominator: what is computed with it fits 128 bits.
const LARGEST: u128 = 1 << 60;

/// Which parts of the prices of the dearest groups cover what one unit loses.
///
/// - Theorem: rows-in-all (docs/theorems.md), and groups
/// - Proves: a unit that adds the part x of what it may to a group loses x² of its price. With at
///   most k groups all of k prices are enough. Where all its rows together count for T at most and
///   those of a group for m, the parts add up to t = T/m, and ⌊t⌋ whole prices and frac(t)² of the
///   next are enough for columns that add rows up; columns that count a unit once have k whole ones
/// - Assumes: which parts a unit has depends on its own rows and not on noise, and a group's price
///   is divided among its columns by their shares (engine)
/// - Deviates: under replace, sums of one sign have twice as many groups and others four times the
///   price, column by column; what does not fit 128 bits is priced without the bound on all rows,
///   which is more
/// - Checked by: `weights_cover_every_unit_and_no_more`,
///   `the_price_of_groups_with_a_bound_on_all_rows_is_that_of_its_worst_unit`
///
/// ```
/// use std::num::NonZeroU32;
/// use eke_budget::purchase::{AddedBy, GroupPrices, GroupWeights, RowBounds};
/// use eke_budget::{Adjacency, Metric, Rho};
///
/// // Sixteen groups of 600 rows each; all rows of a unit together count for 600.
/// let (sixteen, metric) = (NonZeroU32::new(16).unwrap(), Metric::Hamming(Adjacency::AddRemove));
/// let bounds = RowBounds { in_group: NonZeroU32::new(600).unwrap(), in_all: 600 };
/// let of = |added| GroupWeights::<Rho>::with_rows_in_all(sixteen, metric, bounds, &[(1, added)]);
/// let price = "0.01".parse()?;
/// assert_eq!(of(AddedBy::Rows { one_way: true }).of_equal(16, price), Some(price));
/// assert_eq!(of(AddedBy::Units).of_equal(16, price), Some("0.16".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWeights<C: Price> {
    /// From the dearest group on.
    runs: Vec<Run>,
    /// What parts are counted in.
    over: u128,
    currency: PhantomData<fn() -> C>,
}

/// Groups of one weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    groups: u64,
    /// How many parts of a price.
    parts: u128,
}

/// What one unit may count for, where all its rows are bounded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBounds {
    /// For how many rows in one group.
    pub in_group: NonZeroU32,
    /// For how many rows in all groups together.
    pub in_all: u32,
}

/// What adds to a column of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedBy {
    /// Every row of a unit adds something: counts of rows, sums.
    Rows {
        /// Whether nothing that a row adds has another sign than what others add.
        one_way: bool,
    },
    /// A unit counts once, however many rows it has in the group: counts of units and of
    /// different values.
    Units,
}

impl<C: Price> GroupWeights<C> {
    /// All of the price of as many groups as a unit touches, in an account of this metric.
    #[must_use]
    pub fn touching(most: NonZeroU32, metric: Metric) -> Self {
        let run = Run { groups: most.get().into(), parts: metric.group_factor::<C>().into() };
        Self { runs: vec![run], over: 1, currency: PhantomData }
    }

    /// How many groups have a weight.
    #[must_use]
    pub fn groups(&self) -> NonZeroU32 {
        let groups = self.runs.iter().map(|run| run.groups).sum::<u64>();
        let groups = u32::try_from(groups).unwrap_or(u32::MAX);
        NonZeroU32::new(groups).unwrap_or(NonZeroU32::MIN)
    }

    /// What prices come to, the dearest first; none if it is more than an amount holds.
    pub fn of(&self, dearest_first: impl IntoIterator<Item = Amount<C>>) -> Option<Amount<C>> {
        let mut prices = dearest_first.into_iter();
        let (mut whole, mut rest) = (0u128, 0u128);
        for run in &self.runs {
            let most = usize::try_from(run.groups).unwrap_or(usize::MAX);
            let mut sum = 0u128;
            for price in prices.by_ref().take(most) {
                sum = sum.checked_add(price.grains())?;
            }
            let (all, left) = self.parts_of(sum, run.parts)?;
            (whole, rest) = (whole.checked_add(all)?, rest + left);
        }
        whole.checked_add(rest.div_ceil(self.over)).map(Amount::from_grains)
    }

    /// What this many groups of one price come to; none if it is more than an amount holds.
    #[must_use]
    pub fn of_equal(&self, groups: usize, price: Amount<C>) -> Option<Amount<C>> {
        let parts = self.parts(groups);
        let whole = price.grains().checked_mul(parts / self.over)?;
        let (all, left) = self.parts_of(price.grains(), parts % self.over)?;
        whole.checked_add(all)?.checked_add(left.div_ceil(self.over)).map(Amount::from_grains)
    }

    /// The highest price of each of this many groups, where all together may come to no more than
    /// this.
    #[must_use]
    pub fn each_of(&self, groups: usize, all: Amount<C>) -> Amount<C> {
        self.highest(|price| self.of_equal(groups, price).is_some_and(|price| price <= all))
    }

    /// How many times the price of one group this many groups cost, about.
    #[must_use]
    pub fn times(&self, groups: usize) -> f64 {
        self.parts(groups) as f64 / self.over as f64
    }

    /// The highest price of which something is true that is true of all lower ones.
    fn highest(&self, fits: impl Fn(Amount<C>) -> bool) -> Amount<C> {
        let mut found = 0u128;
        for bit in (0..u128::BITS).rev() {
            let tried = found | 1 << bit;
            if fits(Amount::from_grains(tried)) {
                found = tried;
            }
        }
        Amount::from_grains(found)
    }

    /// The price up to which every group may go, so that groups that have these prices cost at most
    /// `more` beyond them.
    #[must_use]
    pub fn level(&self, paid: &[Amount<C>], more: Amount<C>) -> Amount<C> {
        let mut dearest = paid.to_vec();
        dearest.sort_unstable_by(|a, b| b.cmp(a));
        dearest.truncate(self.groups().get() as usize);
        if let Some(factor) = self.factor() {
            return filled(dearest, more.grains() / u128::from(factor.max(1)));
        }
        let raised = |to: Amount<C>| self.of(dearest.iter().map(|&price| price.max(to)));
        let most = raised(Amount::ZERO).and_then(|now| now.plus(more)).unwrap_or(Amount::MAX);
        self.highest(|to| raised(to).is_some_and(|price| price <= most))
    }

    /// All parts of this many groups.
    fn parts(&self, groups: usize) -> u128 {
        let mut left = groups as u64;
        let mut parts = 0u128;
        for run in &self.runs {
            let taken = run.groups.min(left);
            left -= taken;
            parts += u128::from(taken) * run.parts;
        }
        parts
    }

    /// This many parts of an amount, and what is left of it in parts of a grain.
    fn parts_of(&self, grains: u128, parts: u128) -> Option<(u128, u128)> {
        let whole = (grains / self.over).checked_mul(parts)?;
        Some((whole, grains % self.over * parts))
    }

    /// How many times its price the dearest group counts, rounded up.
    pub(crate) fn largest(&self) -> u32 {
        let parts = self.runs.first().map_or(1, |run| run.parts);
        u32::try_from(parts.div_ceil(self.over)).unwrap_or(u32::MAX)
    }

    /// How many times the price of each group that is touched counts, where it is the same for all
    /// and whole.
    pub(crate) fn factor(&self) -> Option<u32> {
        match self.runs[..] {
            [Run { parts, .. }] if self.over == 1 => u32::try_from(parts).ok(),
            _ => None,
        }
    }
}

impl GroupWeights<Rho> {
    /// What a unit loses that touches this many groups and whose rows are bounded in all, where a
    /// group's price is divided among columns by these shares.
    #[must_use]
    pub fn with_rows_in_all(
        most: NonZeroU32,
        metric: Metric,
        RowBounds { in_group, in_all }: RowBounds,
        columns: &[(u16, AddedBy)],
    ) -> Self {
        let whole = (in_all / in_group).min(most.get());
        let part = if whole < most.get() { in_all % in_group } else { 0 };
        let common = gcd(part, in_group.get());
        let squared = |number: u32| u128::from(number / common) * u128::from(number / common);
        let (one, part) = (squared(in_group.get()), squared(part));
        let is_replace = metric != Metric::Hamming(Adjacency::AddRemove);
        let (whole, most_groups) = (u64::from(whole), u64::from(most.get()));
        let runs_of = |added: AddedBy| match (added, is_replace) {
            (AddedBy::Rows { .. }, false) => [(whole, one), (1, part)],
            // One unit goes with its groups and another comes with its own.
            (AddedBy::Rows { one_way: true }, true) => [(2 * whole, one), (2, part)],
            // Or both are in the same groups, and a sum goes from one end to the other.
            (AddedBy::Rows { one_way: false }, true) => [(whole, 4 * one), (1, 4 * part)],
            (AddedBy::Units, false) => [(most_groups, one), (0, 0)],
            (AddedBy::Units, true) => [(2 * most_groups, one), (0, 0)],
        };
        let shares: u128 = columns.iter().map(|&(share, _)| u128::from(share)).sum();
        let over = shares * one;
        if over == 0 || over > LARGEST {
            return Self::touching(most, metric);
        }
        let mut ends: Vec<u64> = Vec::new();
        for &(_, added) in columns {
            let [(first, _), (next, _)] = runs_of(added);
            ends.extend([first, first + next]);
        }
        ends.sort_unstable();
        ends.dedup();
        let mut runs: Vec<Run> = Vec::new();
        let mut from = 0;
        for end in ends {
            let at = |&(share, added): &(u16, AddedBy)| {
                let [(first, one), (next, part)] = runs_of(added);
                let parts = match from {
                    from if from < first => one,
                    from if from < first + next => part,
                    _ => 0,
                };
                u128::from(share) * parts
            };
            let run = Run { groups: end - from, parts: columns.iter().map(at).sum() };
            if run.groups > 0 && run.parts > 0 {
                runs.push(run);
            }
            from = end;
        }
        Self { runs, over, currency: PhantomData }
    }
}

/// What fills prices, the dearest first, up to one level.
fn filled<C: Price>(mut dearest: Vec<Amount<C>>, mut left: u128) -> Amount<C> {
    // From the cheapest on: raise them together to the next one, as long as it lasts.
    let mut filled = 0u128;
    while let Some(price) = dearest.pop() {
        let next = dearest.last().map_or(u128::MAX, |next| next.grains());
        filled += 1;
        let room = (next - price.grains()).saturating_mul(filled);
        if left < room {
            return Amount::from_grains(price.grains() + left / filled);
        }
        left -= room;
    }
    Amount::from_grains(left)
}

fn gcd(one: u32, other: u32) -> u32 {
    if one == 0 { other } else { gcd(other % one, one) }
}
