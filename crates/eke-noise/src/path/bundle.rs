//! Bundles: the paths of all groups of a question, as columns.
//!
//! A group has one path per column (per aggregate), and all of them go along together: a group's
//! price is divided over its columns by their shares. A round takes some groups further, each to a
//! point of its own, for one receipt. What has been revealed lies in a few long columns, not in one
//! value per group.
//!
//! Invariants: a group's points are linked from fine to coarse; the finest is the end of an
//! increment; no point is finer than what was paid for; groups are added, never taken away, and
//! only to a bundle that was opened to grow.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use eke_budget::number::ParameterError;
use eke_budget::purchase::{GroupRaise, GroupStep};
use eke_budget::{Amount, L1, L2, PathId, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::evidence::bound::Bound;
use crate::evidence::exact::Truth;
use crate::law::gaussian_step::GaussianLaw;
use crate::path::bundle_law::{BundleLaw, Neighbours, Taken};
use crate::path::points::{is_next, is_own};
use crate::path::{Mismatch, MismatchReason};
use crate::{Entropy, Exact, Released};

/// The truths of a bundle: for every column, one value per group. A unit changes each value of a
/// column by at most that column's bound, and at most as many groups as the prices of the groups
/// are for.
pub struct Columns(pub Vec<Vec<i64>>);

impl Truth for Columns {
    type Bound = Vec<L1>;
}

impl Bound for Vec<L1> {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        self.iter().map(|bound| bound.times(factor)).collect()
    }
}

/// One column of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What one unit can change a value of it by, under add-remove.
    pub sensitivity: L1,
    /// Its share of a group's price, beside the others'.
    pub share: u16,
}

/// No point.
pub(super) const NONE: u32 = u32::MAX;
/// From this number of draws of one law on, the law is prepared.
const MANY: u32 = 64;

/// The paths of all groups of a question. `Bundle<Rho>` has Gaussian noise, `Bundle<Epsilon>`
/// geometric.
///
/// - Theorem: groups (docs/theorems.md)
/// - Proves: with each column's paths as for one path, everything revealed costs the sum of the
///   largest groups' prices
/// - Assumes: columns change by at most their sensitivity (caller); the step was charged (receipt)
/// - Deviates: shares of a price are rounded down, to grains
/// - Checked by: `a_bundle_has_the_noise_of_its_prices_group_by_group`,
///   `coarser_points_of_a_bundle_are_points_of_the_same_paths`,
///   `a_bundle_takes_only_its_own_next_receipt`,
///   `an_older_copy_of_a_geometric_bundle_takes_no_later_step`,
///   `an_older_copy_of_a_bundle_draws_no_second_coarser_point`,
///   `what_is_prepared_is_what_can_be_drawn`,
///   `groups_that_are_added_change_nothing_of_those_before`
///
/// A step is taken by the bundle as it stands, and by no older copy of it. Increments of Gaussian
/// noise are independent, so a round that was paid for and lost stays a gap there; a step of
/// geometric noise is drawn around the point before it, so what was lost is paid for again, from
/// where the bundle stands (`GroupPrices::and_lost`). Coarser points are drawn once: two versions
/// of one would average to more than was paid for, so store a bundle before anybody sees what is
/// new in it.
///
/// A bundle's name contains its columns: another sensitivity or share is another bundle, for which
/// no receipt of this one is good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Listed", into = "Listed")]
pub struct Bundle<C: BundleLaw> {
    pub(super) stored: Stored,
    currency: std::marker::PhantomData<C>,
}

/// What has been revealed of a bundle.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    question: PathId,
    id: PathId,
    /// Whether groups may be added to it.
    grows: bool,
    /// Who has paid for it so far.
    pub(super) payer: Option<Arc<str>>,
    pub(super) columns: Vec<Column>,
    /// The finest point of every group.
    pub(super) finest: Vec<u32>,
    levels: Levels,
    /// The prices of points, as those of their group: places among the levels.
    prices: Vec<u32>,
    /// The prices at which the increments that points are in start: places among the levels. What
    /// was paid for and lost before it was drawn is a gap before the start.
    starts: Vec<u32>,
    /// The next coarser point of the same group.
    pub(super) coarser: Vec<u32>,
    /// Whether the point is the end of an increment, and not a coarser version inside one.
    pub(super) ends: Vec<bool>,
    /// The values of points, one per column.
    pub(super) values: Vec<i64>,
}

/// The prices that points are at: of many groups, most are at the same few. What they come to in
/// each column is computed once.
#[derive(Clone, Debug, Default)]
struct Levels {
    /// In grains.
    prices: Vec<u128>,
    /// Their parts for each column, in grains.
    parts: Vec<u128>,
    places: HashMap<u128, u32>,
    /// The last one that was looked for, and its place.
    last: Option<(u128, u32)>,
}

/// What is stored of a bundle in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    question: PathId,
    id: PathId,
    payer: Option<Arc<str>>,
    columns: Vec<Column>,
    finest: Vec<u32>,
    #[serde(with = "halves")]
    prices: Vec<u128>,
    #[serde(with = "halves")]
    starts: Vec<u128>,
    coarser: Vec<u32>,
    ends: Vec<bool>,
    values: Vec<i64>,
}

/// Columns that no bundle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// There are none, or one has no share.
    #[error("a bundle needs columns, each with a share of the price of at least one")]
    NoShare,
    /// Its groups were fixed when it was opened, or there would be more than can be numbered.
    #[error("no groups can be added to this bundle")]
    Fixed,
    /// What is stored does not hang together.
    #[error("what is stored of the bundle does not hang together: it is not a bundle, or damaged")]
    Damaged,
}

impl<C: BundleLaw> Bundle<C> {
    /// A bundle of n groups, of which nothing has been revealed, for a question with this digest.
    ///
    /// # Errors
    /// There are no columns, or one has no share.
    pub fn open(question: PathId, columns: Vec<Column>, groups: u32) -> Result<Self, BundleError> {
        Self::empty(question, columns, groups, false)
    }

    /// A bundle that has no groups yet, for a question with this digest. Groups are added with
    /// [`Bundle::extend`], when it is known which paths are wanted: the cuts of a search
    /// ([`stopping::search`](crate::stopping::search)).
    ///
    /// Its name does not contain how many groups it has, so that receipts for the first ones stay
    /// good; it is no name of a bundle whose groups are fixed. The caller says, for good, what each
    /// group stands for, and stores that before anything is drawn for it: the truth of a group must
    /// be that of the same path in every round.
    ///
    /// # Errors
    /// There are no columns, or one has no share.
    pub fn growing(question: PathId, columns: Vec<Column>) -> Result<Self, BundleError> {
        Self::empty(question, columns, 0, true)
    }

    /// Adds groups after the last one, of which nothing has been revealed. Nothing that there is
    /// changes. What is stored is as many groups as there are, and [`Bundle::add`] wants them
    /// added first.
    ///
    /// # Errors
    /// The groups of this bundle are fixed, or there would be more than can be numbered.
    pub fn extend(&mut self, groups: u32) -> Result<(), BundleError> {
        let now = u32::try_from(self.stored.finest.len()).unwrap_or(NONE);
        let total = now.checked_add(groups).filter(|&total| total < NONE);
        let total = total.filter(|_| self.stored.grows).ok_or(BundleError::Fixed)?;
        self.stored.finest.resize(total as usize, NONE);
        Ok(())
    }

    /// Whether groups can be added to it.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.stored.grows
    }

    fn empty(
        question: PathId,
        columns: Vec<Column>,
        groups: u32,
        grows: bool,
    ) -> Result<Self, BundleError> {
        if columns.is_empty() || columns.iter().any(|column| column.share == 0) {
            return Err(BundleError::NoShare);
        }
        let mut stored = Stored {
            question,
            id: question,
            grows,
            payer: None,
            columns,
            finest: vec![NONE; groups as usize],
            levels: Levels::default(),
            prices: Vec::new(),
            starts: Vec::new(),
            coarser: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
        };
        stored.id = name::<C>(&stored);
        Ok(Self { stored, currency: std::marker::PhantomData })
    }

    /// Which bundle it is: what offers to an account name.
    #[must_use]
    pub fn id(&self) -> PathId {
        self.stored.id
    }

    /// The digest of the question that it was opened for.
    #[must_use]
    pub fn question(&self) -> PathId {
        self.stored.question
    }

    /// How many groups it has.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.stored.finest.len()
    }

    /// Its columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.stored.columns
    }

    /// The price of a group's finest point; zero if there is none.
    #[must_use]
    pub fn finest(&self, group: u32) -> Amount<C> {
        Amount::from_grains(self.stored.price(self.stored.head(group)))
    }

    /// A group's finest revealed point that is not finer than this, in one column, and its price.
    #[must_use]
    pub fn nearest(
        &self,
        group: u32,
        column: usize,
        to: Amount<C>,
    ) -> Option<(Amount<C>, Released<i64>)> {
        let stored = &self.stored;
        let node =
            stored.chain(stored.head(group)).find(|&node| stored.price(node) <= to.grains())?;
        let value = self.value(node, column)?;
        Some((Amount::from_grains(stored.price(node)), Released::new(value)))
    }

    /// What a group's revealed point of this price is as precise as, in one column: that column's
    /// part of the price, but for rounds that were paid for and lost before they were drawn.
    #[must_use]
    pub fn worth(&self, group: u32, column: usize, at: Amount<C>) -> Amount<C> {
        let stored = &self.stored;
        if column >= stored.columns.len() {
            return Amount::ZERO;
        }
        let point =
            stored.chain(stored.head(group)).find(|&node| stored.price(node) <= at.grains());
        let worth = point.map_or(0, |node| {
            let parts = self.weight(node, column);
            C::worth(
                self.part(column, stored.price(node)).grains(),
                stored.ends_after(node).map(|node| self.weight(node, column)).sum::<u128>() + parts,
            )
        });
        Amount::from_grains(worth)
    }

    /// Takes groups further, as was paid for: every group of the receipt to its new point. What is
    /// new is read with [`Bundle::nearest`]. The account that pays for the first round is the one
    /// that pays for all.
    ///
    /// # Errors
    /// The receipt or the truth is not for the next step of this bundle. Nothing is drawn, and the
    /// receipt comes back.
    pub fn refine<E: Entropy + ?Sized>(
        &mut self,
        truth: &Exact<Columns>,
        receipt: Receipt<GroupRaise<C>>,
        entropy: &mut E,
    ) -> Result<(), Mismatch<GroupRaise<C>>> {
        let laws = match self.check(truth, &receipt) {
            Ok(laws) => laws,
            Err(reason) => return Err(Mismatch { receipt: Box::new(receipt), reason }),
        };
        self.stored.payer.get_or_insert_with(|| Arc::clone(&receipt.entry().account));
        let raise = receipt.redeem();
        // Columns and groups are the bundle's: what is missing in the truth counts as zero, and
        // nothing shows it.
        let truth = &truth.open().0;
        let truth = |column: usize, group: usize| {
            truth.get(column).and_then(|values| values.get(group)).copied().unwrap_or(0)
        };
        self.stored.reserve(raise.steps().len());
        let mut last = None;
        for step in raise.steps().iter().filter(|step| step.to() > step.from()) {
            let (group, head) = (step.group() as usize, self.stored.head(step.group()));
            let key = (self.stored.price(head), step.from().grains(), step.to().grains());
            // Of many groups most take the step of the one before them.
            let laws = match last {
                Some((same, laws)) if same == key => laws,
                _ => laws[&key].as_slice(),
            };
            last = Some((key, laws));
            for (column, law) in laws.iter().enumerate() {
                let coarse = self.stored.value(head, column);
                let value = C::draw(law, truth(column, group), coarse, entropy);
                self.stored.values.push(value);
            }
            self.stored.push(step.to().grains(), step.from().grains(), head, true);
            self.stored.finest[group] = self.stored.last();
        }
        Ok(())
    }

    /// Reveals coarser points of groups, for somebody whose own account paid for them: every group
    /// of the receipt at its new price, none of them finer than what has been revealed. The truth
    /// is not touched.
    ///
    /// # Errors
    /// The receipt is not for this bundle, goes further than it, or starts from a point that it
    /// does not have (an older copy). Nothing is drawn, and the receipt comes back.
    pub fn coarsen<E: Entropy + ?Sized>(
        &mut self,
        receipt: Receipt<GroupRaise<C>>,
        entropy: &mut E,
    ) -> Result<(), Mismatch<GroupRaise<C>>> {
        let reason = self.check_coarser(receipt.purchase()).err();
        if let Some(reason) = reason {
            return Err(Mismatch { receipt: Box::new(receipt), reason });
        }
        for step in receipt.redeem().steps() {
            // A point that the law refuses all the same is left out, and the nearest coarser one
            // stands.
            let _ = self.insert(step, entropy);
        }
        Ok(())
    }

    /// Whether what is offered can be drawn, before anybody is charged for it: the steps of the
    /// account that takes the bundle further, and then coarser points for another account. All laws
    /// are made.
    ///
    /// # Errors
    /// A step is not one of this bundle's from where it stands, or its noise is too wide or too
    /// fine.
    pub fn prepare(
        &self,
        own: &[GroupStep<C>],
        coarser: &[GroupStep<C>],
    ) -> Result<(), MismatchReason> {
        let last = self.laws(own)?.0;
        let is_there = |step: &GroupStep<C>| {
            let last = last.get(step.group() as usize);
            last.is_some_and(|&last| step.to().grains() <= self.reached(step.group(), own, last))
        };
        if !coarser.iter().all(is_there) {
            return Err(MismatchReason::OtherStep);
        }
        if self.is_stale(coarser) { Err(MismatchReason::Gap) } else { Ok(()) }
    }

    /// A price's part for one column.
    fn part(&self, column: usize, price: u128) -> Amount<C> {
        self.stored.part(column, price)
    }

    /// The laws of all steps, if the receipt and the truth are for them.
    fn check(
        &self,
        truth: &Exact<Columns>,
        receipt: &Receipt<GroupRaise<C>>,
    ) -> Result<Laws<C>, MismatchReason> {
        let (stored, raise) = (&self.stored, receipt.purchase());
        is_own(stored.id, stored.payer.as_ref(), raise.bundle(), receipt)?;
        let bounds = stored.columns.iter().map(|column| column.sensitivity);
        if !truth.sensitivity().iter().copied().eq(bounds) {
            return Err(MismatchReason::OtherSensitivity);
        }
        Ok(self.laws(raise.steps())?.1)
    }

    /// The last step of every group, and the laws of steps.
    fn laws(&self, steps: &[GroupStep<C>]) -> Result<Planned<C>, MismatchReason> {
        let stored = &self.stored;
        // Of groups that take no step nothing is touched.
        let mut lasts = vec![0u32; stored.finest.len()];
        let mut counts: HashMap<Key, u32> = HashMap::new();
        // Of many groups most take the step of the one before them.
        let mut run: Option<(Key, u32)> = None;
        for (place, step) in (1u32..).zip(steps) {
            let last = lasts.get_mut(step.group() as usize).ok_or(MismatchReason::OtherShape)?;
            let now = self.reached(step.group(), steps, *last);
            // What was paid for and lost before it was drawn stays a gap, where noise has gaps.
            // Where it has none, the receipt is for a later step than this copy of the bundle can
            // take.
            is_next(step.from(), Amount::from_grains(now), C::HAS_GAPS)?;
            if step.to() > step.from() {
                *last = place;
                let key = (now, step.from().grains(), step.to().grains());
                match &mut run {
                    Some((same, count)) if *same == key => *count += 1,
                    _ => {
                        if let Some((key, count)) = run.replace((key, 1)) {
                            *counts.entry(key).or_default() += count;
                        }
                    }
                }
            }
        }
        if let Some((key, count)) = run {
            *counts.entry(key).or_default() += count;
        }
        let mut laws = HashMap::with_capacity(counts.len());
        for ((now, from, to), count) in counts {
            let law = |(index, column): (usize, &Column)| {
                let part = |price| self.part(index, price);
                let taken = Taken { now: part(now), from: part(from), to: part(to) };
                C::law(column.sensitivity, taken, count >= MANY)
            };
            let of_columns = stored.columns.iter().enumerate().map(law);
            laws.insert((now, from, to), of_columns.collect::<Result<_, _>>()?);
        }
        Ok((lasts, laws))
    }

    /// The price that a group has come to by the last of some steps, counted from one; none is
    /// zero.
    fn reached(&self, group: u32, steps: &[GroupStep<C>], last: u32) -> u128 {
        match (last as usize).checked_sub(1).and_then(|place| steps.get(place)) {
            Some(step) => step.to().grains(),
            None => self.stored.price(self.stored.head(group)),
        }
    }

    fn check_coarser(&self, raise: &GroupRaise<C>) -> Result<(), MismatchReason> {
        if raise.bundle() != self.stored.id {
            return Err(MismatchReason::OtherPath);
        }
        let too_far = raise.steps().iter().any(|step| step.to() > self.finest(step.group()));
        if too_far {
            return Err(MismatchReason::OtherStep);
        }
        if self.is_stale(raise.steps()) { Err(MismatchReason::Gap) } else { Ok(()) }
    }

    /// Whether a coarser step starts from a point that is not there. Who paid for a step has seen
    /// the point that it starts from. A copy on which that is missing would draw a second version
    /// of it, or of what is beside it.
    fn is_stale(&self, steps: &[GroupStep<C>]) -> bool {
        let mut met = HashSet::new();
        steps.iter().any(|step| {
            met.insert(step.group())
                && !step.from().is_zero()
                && matches!(self.missing(step.group(), step.from()), Ok(Some(_)))
        })
    }

    /// Draws the point of one coarser step, if it is not there.
    fn insert<E: Entropy + ?Sized>(
        &mut self,
        step: &GroupStep<C>,
        entropy: &mut E,
    ) -> Result<(), MismatchReason> {
        let Some(missing) = self.missing(step.group(), step.to())? else { return Ok(()) };
        let Missing { at, start, finer, coarser, versions } = missing;
        // All columns or none: a point with a value missing would shift those of all points after
        // it.
        let mut values = Vec::with_capacity(versions.len());
        for (column, version) in versions.iter().enumerate() {
            let fine = self.stored.value(finer, column).ok_or(MismatchReason::OtherStep)?;
            let coarse = self.stored.value(coarser, column).unwrap_or(fine);
            values.push(C::draw_version(version, fine, coarse, entropy)?);
        }
        self.stored.values.append(&mut values);
        self.stored.push(at, start, coarser, false);
        let last = self.stored.last();
        self.stored.coarser[finer as usize] = last;
        Ok(())
    }

    /// What would have to be drawn for a group's point of this price; none if it is there, or if
    /// the coarser neighbour stands for it.
    fn missing(
        &self,
        group: u32,
        to: Amount<C>,
    ) -> Result<Option<Missing<C::Version>>, MismatchReason> {
        let stored = &self.stored;
        let (mut finer, mut at) = (NONE, to.grains());
        let mut coarser = stored.head(group);
        while stored.price(coarser) > at {
            (finer, coarser) = (coarser, stored.next(coarser));
        }
        if finer == NONE || stored.price(coarser) == at {
            return Ok(None);
        }
        // The increment that the point is in is that of the finer point, unless the point is in a
        // gap before it: then the coarser neighbour is the answer.
        let start = stored.start(finer);
        let inside = coarser != NONE && stored.price(coarser) > start;
        // All columns stand at one point. Where the grid of one does not allow it so close to
        // another, all of them go to a coarser one; and where there is none, the coarser neighbour
        // is the answer.
        loop {
            if at <= stored.price(coarser).max(start) {
                return Ok(None);
            }
            let mut versions = Vec::with_capacity(stored.columns.len());
            let mut lower = at;
            for (index, column) in stored.columns.iter().enumerate() {
                let part = |price: u128| self.part(index, price);
                let neighbours = Neighbours {
                    start: part(start),
                    at: part(at),
                    finer: part(stored.price(finer)),
                    inside: inside.then(|| part(stored.price(coarser))),
                    coarser: (coarser != NONE).then(|| part(stored.price(coarser))),
                };
                let (moved, version) = C::version(column.sensitivity, &neighbours)?;
                let Some(moved) = moved else { return Ok(None) };
                if moved < neighbours.at {
                    lower = lower.min(stored.whole(index, moved.grains()));
                }
                versions.push(version);
            }
            if lower == at {
                return Ok(Some(Missing { at, start, finer, coarser, versions }));
            }
            at = lower;
        }
    }

    /// What a point says in one column.
    fn value(&self, node: u32, column: usize) -> Option<i64> {
        let stored = &self.stored;
        let own = stored.value(node, column)?;
        let before = stored
            .ends_after(node)
            .filter_map(|node| Some((self.weight(node, column), stored.value(node, column)?)));
        Some(C::point((self.weight(node, column), own), before))
    }

    /// What was paid in one column for what is drawn at a point, from the start of its increment.
    fn weight(&self, node: u32, column: usize) -> u128 {
        let part = |level: Option<&u32>| self.stored.level_part(level, column);
        part(self.stored.prices.get(node as usize)) - part(self.stored.starts.get(node as usize))
    }
}

/// A coarser point that is not there: its price, where its increment starts, its neighbours, and
/// the laws of its columns.
struct Missing<V> {
    at: u128,
    start: u128,
    finer: u32,
    coarser: u32,
    versions: Vec<V>,
}

/// The name of a bundle: a digest of everything its law depends on.
fn name<C: BundleLaw>(stored: &Stored) -> PathId {
    let mut name = blake3::Hasher::new_derive_key("eke bundle 1");
    name.update(stored.question.digest());
    name.update(C::NAME.as_bytes());
    // Of a bundle that grows the number of groups is not in its name: a number that no other has
    // stands there.
    let groups = if stored.grows { u64::MAX } else { stored.finest.len() as u64 };
    name.update(&groups.to_le_bytes());
    for column in &stored.columns {
        name.update(&column.sensitivity.get().to_bits().to_le_bytes());
        name.update(&column.share.to_le_bytes());
    }
    PathId::new(*name.finalize().as_bytes())
}

/// The price of a group's finest point, and its prices before and after a step.
type Key = (u128, u128, u128);

/// The laws of steps, one per column.
type Laws<C> = HashMap<Key, Vec<<C as BundleLaw>::Law>>;

/// The place of the last step of each group among the steps, counted from one, where it takes one;
/// and the laws of steps.
type Planned<C> = (Vec<u32>, Laws<C>);

impl Bundle<Rho> {
    /// The least and the most that one step of a group may cost, so that the noise of every column
    /// can be drawn; a step that costs more is taken as several.
    #[must_use]
    pub fn step_prices(&self) -> (Amount<Rho>, Amount<Rho>) {
        step_prices(&self.stored.columns)
    }
}

/// The least and the most that one step of a group with these columns may cost.
///
/// A column's part of a step is rounded by less than a grain either way.
#[must_use]
pub fn step_prices(columns: &[Column]) -> (Amount<Rho>, Amount<Rho>) {
    let shares: u128 = columns.iter().map(|column| u128::from(column.share)).sum();
    let (mut least, mut most) = (0, u128::MAX);
    for column in columns {
        let share = u128::from(column.share.max(1));
        let Ok(sensitivity) = L2::new(column.sensitivity.get()) else { continue };
        let (from, to) = GaussianLaw { sensitivity }.increments();
        let whole = |part: u128| part.saturating_mul(shares);
        least = least.max(whole(from.grains()).div_ceil(share));
        most = most.min(whole(to.grains().saturating_sub(1)) / share);
    }
    (Amount::from_grains(least), Amount::from_grains(most))
}

impl Stored {
    pub(super) fn head(&self, group: u32) -> u32 {
        self.finest.get(group as usize).copied().unwrap_or(NONE)
    }

    /// How many points there are.
    pub(super) fn count(&self) -> usize {
        self.prices.len()
    }

    /// The price of a point; zero where there is none.
    pub(super) fn price(&self, node: u32) -> u128 {
        self.prices.get(node as usize).map_or(0, |&level| self.levels.prices[level as usize])
    }

    /// The price at which a point's increment starts.
    pub(super) fn start(&self, node: u32) -> u128 {
        self.starts.get(node as usize).map_or(0, |&level| self.levels.prices[level as usize])
    }

    /// The part of a level for one column; zero where there is none.
    fn level_part(&self, level: Option<&u32>, column: usize) -> u128 {
        level.map_or(0, |&level| self.levels.parts[level as usize * self.columns.len() + column])
    }

    /// The place of a price among the levels.
    fn level(&mut self, price: u128) -> u32 {
        if let Some((last, place)) = self.levels.last
            && last == price
        {
            return place;
        }
        let next = u32::try_from(self.levels.prices.len()).expect("fewer than 2^32 prices");
        let place = *self.levels.places.entry(price).or_insert(next);
        if place == next {
            self.levels.prices.push(price);
            for column in 0..self.columns.len() {
                let part = self.part::<Rho>(column, price).grains();
                self.levels.parts.push(part);
            }
        }
        self.levels.last = Some((price, place));
        place
    }

    /// The ends of the increments before a point's.
    fn ends_after(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.chain(self.next(node)).filter(|&node| self.ends[node as usize])
    }

    pub(super) fn next(&self, node: u32) -> u32 {
        self.coarser.get(node as usize).copied().unwrap_or(NONE)
    }

    fn value(&self, node: u32, column: usize) -> Option<i64> {
        let place = (node as usize).checked_mul(self.columns.len())?.checked_add(column)?;
        self.values.get(place).copied().filter(|_| node != NONE && column < self.columns.len())
    }

    /// A point and those after it, from fine to coarse.
    pub(super) fn chain(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(from), move |&node| some(self.next(node)))
    }

    pub(super) fn reserve(&mut self, points: usize) {
        self.prices.reserve(points);
        self.starts.reserve(points);
        self.coarser.reserve(points);
        self.ends.reserve(points);
        self.values.reserve(points * self.columns.len());
    }

    pub(super) fn push(&mut self, price: u128, start: u128, coarser: u32, end: bool) {
        let (price, start) = (self.level(price), self.level(start));
        self.prices.push(price);
        self.starts.push(start);
        self.coarser.push(coarser);
        self.ends.push(end);
    }

    /// The point that was pushed last.
    pub(super) fn last(&self) -> u32 {
        u32::try_from(self.prices.len() - 1).expect("fewer than 2^32 points")
    }

    fn shares(&self) -> u128 {
        self.columns.iter().map(|column| u128::from(column.share)).sum()
    }

    /// A column's part of a group's price, rounded down.
    fn part<C: BundleLaw>(&self, column: usize, price: u128) -> Amount<C> {
        let (share, shares) = (u128::from(self.columns[column].share), self.shares());
        // Without overflow: price = q shares + r.
        Amount::from_grains(price / shares * share + price % shares * share / shares)
    }

    /// A price of a group of which a column's part is not above this, nearly the largest.
    fn whole(&self, column: usize, part: u128) -> u128 {
        let (share, shares) = (u128::from(self.columns[column].share), self.shares());
        part / share * shares + part % share * shares / share
    }

    /// Whether it could have come about.
    pub(super) fn hangs_together(&self) -> bool {
        let points = self.prices.len();
        let columns = !self.columns.is_empty() && self.columns.iter().all(|c| c.share > 0);
        // Links lead to points that are there, and prices fall along them: so no chain is a circle.
        let is_point = |node: u32| node == NONE || (node as usize) < points;
        let falls = |node: u32| {
            let next = self.next(node);
            is_point(next) && self.price(node) > self.price(next)
        };
        // An increment starts at the end of the one before it, or beyond.
        let starts = |node: u32| {
            let before = self.chain(self.next(node)).find(|&n| self.ends[n as usize]);
            let before = before.map_or(0, |end| self.price(end));
            self.price(node) > self.start(node) && self.start(node) >= before
        };
        let heads = self.finest.iter().all(|&node| {
            is_point(node) && (node == NONE || self.ends.get(node as usize) == Some(&true))
        });
        // And every point is one group's.
        let mut taken = vec![false; points];
        let mut alone = |node: u32| {
            node == NONE
                || taken.get_mut(node as usize).is_some_and(|taken| !std::mem::replace(taken, true))
        };
        let chains = self.finest.iter().chain(&self.coarser).all(|&node| alone(node));
        let payer = self.payer.is_none() == self.prices.is_empty();
        let nodes = || (0..NONE).take(points);
        let hangs = columns && heads && payer && chains;
        hangs && nodes().all(falls) && nodes().all(starts)
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        let nodes = || (0..NONE).take(self.prices.len());
        let same = |node: u32| {
            self.price(node) == other.price(node) && self.start(node) == other.start(node)
        };
        (self.question, self.id) == (other.question, other.id)
            && self.payer == other.payer
            && self.columns == other.columns
            && self.finest == other.finest
            && self.prices.len() == other.prices.len()
            && nodes().all(same)
            && self.coarser == other.coarser
            && self.ends == other.ends
            && self.values == other.values
    }
}

impl Listed {
    /// Whether all columns have one length, and there are no more points than can be numbered.
    fn has_its_shape(&self) -> bool {
        let points = self.prices.len();
        self.coarser.len() == points
            && self.starts.len() == points
            && self.ends.len() == points
            && Some(self.values.len()) == points.checked_mul(self.columns.len())
            && u32::try_from(points).is_ok_and(|points| points < NONE / 2)
            && u32::try_from(self.finest.len()).is_ok()
            && self.columns.iter().all(|column| column.share > 0)
    }
}

impl<C: BundleLaw> TryFrom<Listed> for Bundle<C> {
    type Error = BundleError;

    fn try_from(listed: Listed) -> Result<Self, BundleError> {
        if !listed.has_its_shape() {
            return Err(BundleError::Damaged);
        }
        let Listed { question, id, payer, columns, finest, prices, starts, .. } = listed;
        let mut stored = Stored {
            question,
            id,
            grows: false,
            payer,
            columns,
            finest,
            levels: Levels::default(),
            prices: Vec::with_capacity(prices.len()),
            starts: Vec::with_capacity(starts.len()),
            coarser: Vec::with_capacity(prices.len()),
            ends: Vec::with_capacity(prices.len()),
            values: listed.values,
        };
        let points = prices.into_iter().zip(starts).zip(listed.coarser).zip(listed.ends);
        for (((price, start), coarser), end) in points {
            stored.push(price, start, coarser, end);
        }
        // Also the name must be that of the columns, for this currency. It says whether groups may
        // be added.
        stored.grows = stored.id != name::<C>(&stored);
        if !stored.hangs_together() || stored.id != name::<C>(&stored) {
            return Err(BundleError::Damaged);
        }
        Ok(Self { stored, currency: std::marker::PhantomData })
    }
}

impl<C: BundleLaw> From<Bundle<C>> for Listed {
    fn from(bundle: Bundle<C>) -> Self {
        let stored = bundle.stored;
        let nodes = || (0..NONE).take(stored.prices.len());
        Self {
            prices: nodes().map(|node| stored.price(node)).collect(),
            starts: nodes().map(|node| stored.start(node)).collect(),
            question: stored.question,
            id: stored.id,
            payer: stored.payer,
            columns: stored.columns,
            finest: stored.finest,
            coarser: stored.coarser,
            ends: stored.ends,
            values: stored.values,
        }
    }
}

/// Integers of 128 bits as two of 64, which every format has.
mod halves {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        values: &[u128],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let half = |value: u128| u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0);
        serializer.collect_seq(values.iter().map(|&value| (half(value >> 64), half(value))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u128>, D::Error> {
        let halves = Vec::<(u64, u64)>::deserialize(deserializer)?;
        Ok(halves.into_iter().map(|(high, low)| u128::from(high) << 64 | u128::from(low)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What the columns of a group cost together is never more than the group's price, and a
        /// whole is never more than its part.
        #[test]
        fn parts_of_a_price_never_add_up_to_more(
            price in prop_oneof![0u128..200, 0u128..10u128.pow(38)],
            shares in prop::collection::vec(1u16.., 1..6),
        ) {
            let sensitivity = L1::new(1.0).unwrap();
            let columns = shares.iter().map(|&share| Column { sensitivity, share }).collect();
            let bundle = Bundle::<Rho>::open(PathId::new([0; 32]), columns, 1).unwrap();
            let parts: u128 = (0..shares.len()).map(|column| bundle.part(column, price).grains()).sum();
            prop_assert!(parts <= price && price - parts < shares.len() as u128);
            for column in 0..shares.len() {
                let part = bundle.part(column, price).grains();
                let whole = bundle.stored.whole(column, part);
                prop_assert!(bundle.part(column, whole).grains() <= part);
            }
        }
    }
}
