//! Bundles as bytes: what a round has added to one.
//!
//! Points are only ever added, so a bundle is an empty one and what was added to it, round by
//! round; and a whole bundle is what was added since there were no points. A point stands with
//! what it was put behind: the end of an increment behind its group, a coarser version behind the
//! next finer point that there was then. Where it leads to follows from that.
//!
//! Invariants: what is added is checked point by point, as a whole bundle is; it goes on from as
//! many points as there are. Stored forms never change: ledgers outlive code.

use std::sync::Arc;

use eke_budget::columns::{ColumnReader, ColumnWriter};

use crate::path::bundle::{Bundle, BundleError, NONE, Stored};
use crate::path::bundle_law::BundleLaw;

impl<C: BundleLaw> Bundle<C> {
    /// How many points have been revealed.
    #[must_use]
    pub fn points(&self) -> u32 {
        u32::try_from(self.stored.count()).expect("fewer than 2^32 points")
    }

    /// The groups that were taken further since there were `points` points, each with the price it
    /// has come to, in the order of the groups.
    #[must_use]
    pub fn raised_since(&self, points: u32) -> Vec<(u32, eke_budget::Amount<C>)> {
        let raised = (0u32..).zip(&self.stored.finest);
        let raised = raised.filter(|&(_, &head)| head != NONE && head >= points);
        raised.map(|(group, _)| (group, self.finest(group))).collect()
    }

    /// Writes what was added since there were `points` points.
    pub fn write_since(&self, points: u32, to: &mut ColumnWriter) {
        let stored = &self.stored;
        let points = points.min(self.points());
        let from = points as usize;
        let behind = stored.behind(from);
        match &stored.payer {
            None => to.byte(0),
            Some(payer) => {
                to.byte(1);
                to.text(payer);
            }
        }
        to.number(points.into());
        let new = || (points..).zip(&behind);
        let is_end = |node: u32| stored.ends[node as usize];
        let ends: Vec<u32> =
            new().filter(|&(node, _)| is_end(node)).map(|(_, &group)| group).collect();
        let inner: Vec<u32> = (0u32..)
            .zip(&stored.ends[from..])
            .filter(|(_, end)| !**end)
            .map(|(at, _)| at)
            .collect();
        to.groups(&ends);
        to.groups(&inner);
        let finer = inner.iter().map(|&at| u64::from(behind[at as usize]));
        to.numbers(finer);
        to.repeated(new().map(|(node, _)| stored.price(node)));
        let starts: Vec<(u32, u128)> = (0u32..)
            .zip(new())
            .map(|(at, (node, &behind))| (at, stored.start(node), stored.usual_start(node, behind)))
            .filter(|(_, start, usual)| start != usual)
            .map(|(at, start, _)| (at, start))
            .collect();
        to.groups(&starts.iter().map(|&(at, _)| at).collect::<Vec<_>>());
        to.repeated(starts.iter().map(|&(_, start)| start));
        let count = stored.columns.len();
        for column in 0..count {
            to.signed(stored.values[from * count..].iter().skip(column).step_by(count).copied());
        }
    }

    /// Adds what was added to it before it was stored.
    ///
    /// # Errors
    /// It was not added to this bundle as it stands, or is damaged. The bundle is of no use then.
    pub fn add(&mut self, from: &mut ColumnReader<'_>) -> Result<(), BundleError> {
        let count = u32::try_from(self.stored.finest.len()).unwrap_or(NONE);
        let more = More::read(from, self.points(), count, self.stored.columns.len());
        more.and_then(|more| self.stored.add(more)).ok_or(BundleError::Damaged)
    }
}

/// Points that are added.
struct More {
    payer: Option<Arc<str>>,
    /// What each is put behind: a group, or a finer point where it is no end.
    behind: Vec<(u32, bool)>,
    prices: Vec<u128>,
    /// Where increments start elsewhere than usual.
    starts: Vec<Option<u128>>,
    /// The values of each column.
    values: Vec<Vec<i64>>,
}

impl More {
    /// Reads what goes on from this many points, of a bundle of this many groups and columns.
    fn read(from: &mut ColumnReader<'_>, points: u32, count: u32, columns: usize) -> Option<Self> {
        let payer = match from.byte()? {
            0 => None,
            1 => Some(from.text()?.into()),
            _ => return None,
        };
        if from.number()? != u64::from(points) {
            return None;
        }
        let ends = from.groups()?;
        let inner = places(from)?;
        let finer = from.numbers(inner.len())?;
        let all = ends.len().checked_add(inner.len())?;
        let total = u32::try_from(all).ok()?.checked_add(points)?;
        if total == NONE || ends.iter().any(|&group| group >= count) {
            return None;
        }
        let mut behind = Vec::with_capacity(all);
        let mut ends = ends.into_iter();
        for (place, finer) in inner.into_iter().zip(finer) {
            while behind.len() < place as usize {
                behind.push((ends.next()?, true));
            }
            behind.push((u32::try_from(finer).ok()?, false));
        }
        behind.extend(ends.map(|group| (group, true)));
        let prices = from.repeated(all)?;
        let mut starts = vec![None; all];
        let elsewhere = places(from)?;
        let at = from.repeated(elsewhere.len())?;
        for (place, start) in elsewhere.into_iter().zip(at) {
            *starts.get_mut(place as usize)? = Some(start);
        }
        let values = (0..columns).map(|_| from.signed(all)).collect::<Option<_>>()?;
        Some(Self { payer, behind, prices, starts, values })
    }
}

/// Places, each after the one before it.
fn places(from: &mut ColumnReader<'_>) -> Option<Vec<u32>> {
    from.groups().filter(|places| places.is_sorted_by(|one, next| one < next))
}

impl Stored {
    /// What every point from this one on was put behind when it was added.
    fn behind(&self, from: usize) -> Vec<u32> {
        let mut behind = vec![NONE; self.count() - from];
        // Ends lead to older ends, so where nothing else is new the rest of a chain is old.
        let are_ends = self.ends[from..].iter().all(|&end| end);
        let mut finer: Vec<u32> = Vec::new();
        for (group, &head) in (0u32..).zip(&self.finest) {
            finer.clear();
            for node in self.chain(head) {
                if are_ends && (node as usize) < from {
                    break;
                }
                // The nearest finer one that is older.
                while finer.last().is_some_and(|&newer| newer > node) {
                    finer.pop();
                }
                if let Some(place) = (node as usize).checked_sub(from) {
                    let is_end = self.ends[node as usize];
                    behind[place] =
                        if is_end { group } else { finer.last().copied().unwrap_or(NONE) };
                }
                finer.push(node);
            }
        }
        behind
    }

    /// Where the increment of a point starts unless something was lost before it: at the end of the
    /// one before, or where that of the finer point does.
    fn usual_start(&self, node: u32, behind: u32) -> u128 {
        if self.ends[node as usize] {
            let end = self.chain(self.next(node)).find(|&node| self.ends[node as usize]);
            end.map_or(0, |end| self.price(end))
        } else {
            self.start(behind)
        }
    }

    /// Adds points, as long as each could have come about.
    fn add(&mut self, more: More) -> Option<()> {
        let More { payer, behind, prices, starts, values } = more;
        if self.payer.is_some() && self.payer != payer {
            return None;
        }
        self.payer = payer;
        self.reserve(behind.len());
        let points = behind.into_iter().zip(prices).zip(starts);
        for (place, (((behind, is_end), price), start)) in points.enumerate() {
            let next = if is_end { self.head(behind) } else { self.finer(behind, price)? };
            let end = self.chain(next).find(|&node| self.ends[node as usize]);
            let before = end.map_or(0, |end| self.price(end));
            let usual = if is_end { before } else { self.start(behind) };
            if start == Some(usual) {
                return None;
            }
            let start = start.unwrap_or(usual);
            if price <= self.price(next) || price <= start || start < before {
                return None;
            }
            self.push(price, start, next, is_end);
            let last = self.last();
            if is_end {
                *self.finest.get_mut(behind as usize)? = last;
            } else {
                self.coarser[behind as usize] = last;
            }
            for column in &values {
                self.values.push(*column.get(place)?);
            }
        }
        (self.payer.is_none() == (self.count() == 0)).then_some(())
    }

    /// Where a finer point leads to, if there is such a point.
    fn finer(&self, node: u32, price: u128) -> Option<u32> {
        ((node as usize) < self.count() && self.price(node) > price).then(|| self.next(node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::{L1, PathId, Rho};
    use proptest::prelude::*;

    use crate::path::bundle::Column;

    fn empty(groups: u32) -> Bundle<Rho> {
        let column = |sensitivity| Column { sensitivity: L1::new(sensitivity).unwrap(), share: 1 };
        Bundle::open(PathId::new([7; 32]), vec![column(1.0), column(32.0)], groups).unwrap()
    }

    /// A bundle that points were added to like this, and how many there were after each round.
    fn made(rounds: &[Vec<(u8, u8, bool)>]) -> (Bundle<Rho>, Vec<u32>) {
        let mut bundle = empty(5);
        let mut marks = vec![0];
        for round in rounds {
            for &(group, more, is_end) in round {
                let stored = &mut bundle.stored;
                let (group, more) = (usize::from(group % 5), u128::from(more) + 2);
                let head = stored.finest[group];
                let (price, start) = (stored.price(head), stored.start(head));
                if is_end || head == NONE {
                    // Sometimes after something that was lost.
                    let from = price + u128::from(more.is_multiple_of(5));
                    stored.push(from + more, from, head, true);
                    stored.finest[group] = stored.last();
                } else {
                    // In the middle, between the head and what follows it.
                    let next = stored.coarser[head as usize];
                    let at = u128::midpoint(stored.price(next).max(start), price);
                    if at <= stored.price(next).max(start) || at == price {
                        continue;
                    }
                    stored.push(at, start, next, false);
                    let last = stored.last();
                    stored.coarser[head as usize] = last;
                }
                let value = i64::try_from(more).unwrap();
                bundle.stored.values.extend([value, -value * 1000]);
                bundle.stored.payer = Some("riders".into());
            }
            marks.push(bundle.points());
        }
        assert!(bundle.stored.hangs_together());
        (bundle, marks)
    }

    fn with_more(mut bundle: Bundle<Rho>, bytes: &[u8]) -> Option<(Bundle<Rho>, usize)> {
        let mut from = ColumnReader::new(bytes);
        bundle.add(&mut from).ok()?;
        Some((bundle, bytes.len() - from.rest().len()))
    }

    fn since(bundle: &Bundle<Rho>, points: u32) -> Vec<u8> {
        let mut to = ColumnWriter::new();
        bundle.write_since(points, &mut to);
        to.into_bytes()
    }

    fn rounds() -> impl Strategy<Value = Vec<Vec<(u8, u8, bool)>>> {
        let point = (any::<u8>(), any::<u8>(), prop::bool::weighted(0.7));
        prop::collection::vec(prop::collection::vec(point, 0..8), 0..4)
    }

    proptest! {
        /// Read round by round or at once, a bundle is what it was.
        #[test]
        fn a_bundle_is_what_was_added_to_it(rounds in rounds()) {
            let (bundle, marks) = made(&rounds);
            let whole = since(&bundle, 0);
            prop_assert_eq!(with_more(empty(5), &whole), Some((bundle.clone(), whole.len())));
            let mut again = empty(5);
            for (round, mark) in marks[..rounds.len()].iter().enumerate() {
                let (until, _) = made(&rounds[..=round]);
                let bytes = since(&until, *mark);
                again = with_more(again, &bytes).unwrap().0;
                prop_assert_eq!(&again, &until);
            }
            prop_assert_eq!(again, bundle);
        }

        /// Whatever bytes are read, the bundle hangs together, and is written as it was read.
        #[test]
        fn a_bundle_with_more_hangs_together(
            rounds in rounds(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let (bundle, _) = made(&rounds);
            let mut bytes = since(&bundle, 0);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            if let Some((read, length)) = with_more(empty(5), &bytes) {
                prop_assert!(read.stored.hangs_together());
                prop_assert_eq!(since(&read, 0), &bytes[..length]);
            }
        }
    }

    #[test]
    fn a_round_is_added_once_and_in_its_turn() {
        let (bundle, marks) = made(&[vec![(0, 3, true), (1, 4, true)], vec![(0, 8, true)]]);
        let later = since(&bundle, marks[1]);
        assert_eq!(with_more(bundle.clone(), &later), None);
        assert_eq!(with_more(empty(5), &later), None);
        let raised: Vec<u32> = bundle.raised_since(marks[1]).iter().map(|&(g, _)| g).collect();
        assert_eq!(raised, [0]);
        // For fewer groups it is another bundle's.
        assert_eq!(with_more(empty(1), &since(&bundle, 0)), None);
    }
}
