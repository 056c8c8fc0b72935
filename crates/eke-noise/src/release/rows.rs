//! Releasing many people's rows: each person's numbers, with noise that the person has paid for.
//!
//! A row is one person's: where they are, or how far they are from something. Nobody else's row
//! changes when theirs does, so each is released for a charge to their own account. All of them go
//! through one verb, which takes proof that the whole column of accounts was charged:
//!
//! ```compile_fail,E0308
//! # use eke_budget::account::{SamePrice, Sheet};
//! # use eke_budget::Rho;
//! # use eke_noise::release::{RowNoise, Rows, release_rows};
//! # use eke_noise::{Entropy, Exact};
//! fn for_nothing(
//!     truths: &Exact<Rows<'_>>,
//!     prices: &[SamePrice<Rho>],
//!     noise: &mut RowNoise,
//!     entropy: &mut impl Entropy,
//! ) {
//!     release_rows(truths, prices, noise, entropy, |_, _, _| {}).unwrap();
//! }
//! ```
//! Rows that nobody has marked as a truth are not released either, and a truth does not open:
//! ```compile_fail,E0308
//! # use eke_budget::account::PaidColumn;
//! # use eke_budget::Rho;
//! # use eke_noise::release::{RowNoise, Rows, release_rows};
//! # use eke_noise::{Entropy, Exact};
//! fn bare(
//!     points: &[i64],
//!     paid: PaidColumn<'_, Rho>,
//!     noise: &mut RowNoise,
//!     entropy: &mut impl Entropy,
//! ) {
//!     release_rows(points, paid, noise, entropy, |_, _, _| {}).unwrap();
//! }
//! ```
//! ```compile_fail,E0616
//! # use eke_noise::release::Rows;
//! # use eke_noise::Exact;
//! fn look(truths: Exact<Rows<'_>>) -> i64 {
//!     truths.value.0[0]
//! }
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use eke_budget::account::{PaidColumn, SamePrice};
use eke_budget::number::ParameterError;
use eke_budget::{Amount, L2, Rho};

use crate::evidence::bound::Bound;
use crate::evidence::exact::{Truth, clamped};
use crate::law::variance_for;
use crate::{DiscreteGaussian, Entropy, Exact, Ratio, Released};

/// One row of numbers for each of many people, one after the other.
#[derive(Clone)]
pub struct Rows<'a>(pub Cow<'a, [i64]>);

/// How far one unit of the metric can move a person's row, and how many numbers a row has, which is
/// public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBound {
    length: L2,
    width: usize,
}

impl RowBound {
    /// A bound on the Euclidean length that a row moves by, of a width of at least one.
    #[must_use]
    pub fn new(length: L2, width: usize) -> Self {
        Self { length, width: width.max(1) }
    }

    /// How far a row moves.
    #[must_use]
    pub fn length(&self) -> L2 {
        self.length
    }

    /// How many numbers a row has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }
}

impl Bound for RowBound {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        let product = self.length.get() * f64::from(factor);
        let length = L2::new(if factor == 1 { product } else { product.next_up() })?;
        Ok(Self { length, ..*self })
    }
}

/// Many rows: one unit of the metric moves a person's own row by at most the bound, and nobody
/// else's.
impl Truth for Rows<'_> {
    type Bound = RowBound;
}

impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rows(..)")
    }
}

/// Why rows cannot be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Noise narrower than the grid.
    #[error("at a price of {0} noise is narrower than the grid")]
    Narrow(Amount<Rho>),
    /// Noise wider than can be drawn.
    #[error("at a price of {0} noise is too wide to be drawn")]
    Wide(Amount<Rho>),
    /// Noise that was not prepared for these rows and prices.
    #[error("noise is prepared for the bound of the rows and for every price, before it is paid")]
    Unprepared,
    /// Somebody paid who has no row.
    #[error("an account that paid has no row")]
    NoRow,
}

/// Gaussian noise by price, for rows of one bound: prepared where many draws need it, and drawn
/// once otherwise. It is kept from question to question.
#[derive(Default)]
pub struct RowNoise {
    bound: Option<RowBound>,
    laws: HashMap<Amount<Rho>, Law>,
    /// How many draws a price is needed for.
    counts: Vec<(Amount<Rho>, usize)>,
    /// What is released next: a few people at a time, so that it stays in the cache.
    batch: Vec<i64>,
}

enum Law {
    Prepared(DiscreteGaussian),
    /// With how often it has been drawn from.
    Once(Ratio, usize),
}

impl RowNoise {
    /// From this number of draws of a law on it is prepared, which takes as long.
    const MANY: usize = 256;
    /// The narrowest noise there is, in steps: as for paths.
    const NARROWEST: f64 = 8.0;
    /// The most laws that are kept.
    const MOST: usize = 1024;
    /// How many numbers are released at a time.
    const BATCH: usize = 4096;

    /// Begins a question about rows of this bound.
    pub fn begin(&mut self, bound: RowBound) {
        let same = self.bound.is_some_and(|before| before.length == bound.length);
        if !same || self.laws.len() > Self::MOST {
            self.laws.clear();
        }
        self.bound = Some(bound);
    }

    /// Whether noise of a price can be drawn: something to know before it is paid for.
    ///
    /// # Errors
    /// It is too narrow or too wide, or there is no question.
    pub fn can_draw(&self, price: Amount<Rho>) -> Result<(), RowError> {
        self.variance(price).map(drop)
    }

    /// Makes sure that all these can be drawn, before anybody is charged.
    ///
    /// # Errors
    /// A price pays for noise that is too narrow or too wide, or there is no question.
    pub fn prepare(&mut self, prices: &[SamePrice<Rho>]) -> Result<(), RowError> {
        let width = self.bound.ok_or(RowError::Unprepared)?.width;
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        for &SamePrice { price, accounts } in prices.iter().filter(|same| !same.price.is_zero()) {
            match counts.iter_mut().rev().take(8).find(|(known, _)| *known == price) {
                Some((_, count)) => *count += accounts,
                None => counts.push((price, accounts)),
            }
        }
        counts.sort_unstable();
        for group in counts.chunk_by(|one, two| one.0 == two.0) {
            let draws = group.iter().map(|(_, count)| count).sum::<usize>() * width;
            self.learn(group[0].0, draws)?;
        }
        self.counts = counts;
        Ok(())
    }

    /// The variance of noise of a price, if that can be drawn.
    fn variance(&self, price: Amount<Rho>) -> Result<Ratio, RowError> {
        let length = self.bound.ok_or(RowError::Unprepared)?.length;
        let variance = variance_for(length, price).ok_or(RowError::Wide(price))?;
        let rho = price.grains() as f64 * 1e-30;
        let scale = length.get() / (2.0 * rho).sqrt();
        if scale < Self::NARROWEST {
            return Err(RowError::Narrow(price));
        }
        // What can be prepared can be drawn once, too.
        if scale >= 4_398_046_511_104.0 {
            return Err(RowError::Wide(price));
        }
        Ok(variance)
    }

    fn learn(&mut self, price: Amount<Rho>, draws: usize) -> Result<(), RowError> {
        let drawn = match self.laws.get(&price) {
            Some(Law::Prepared(_)) => return Ok(()),
            Some(Law::Once(_, drawn)) => drawn.saturating_add(draws),
            None => draws,
        };
        let variance = self.variance(price)?;
        let law = if drawn >= Self::MANY {
            Law::Prepared(DiscreteGaussian::new(&variance).map_err(|_| RowError::Wide(price))?)
        } else {
            Law::Once(variance, drawn)
        };
        self.laws.insert(price, law);
        Ok(())
    }
}

impl fmt::Debug for RowNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowNoise").field("bound", &self.bound).finish_non_exhaustive()
    }
}

/// The rows of those who paid, each number with Gaussian noise of what the person paid. They come a
/// few people at a time: which of the prices it was, who they are, and their rows, one after the
/// other. People who paid nothing are passed over.
///
/// - Theorem: elimination (docs/theorems.md)
/// - Proves: what is released of a person costs what the person's account was charged
/// - Assumes: one unit of the metric moves a row by at most the bound, and the accounts are those
///   of the people whose rows these are, in their order (caller)
/// - Deviates: truths beyond 2⁶² are clamped to it, which moves no two of them further apart
/// - Checked by: `reports_have_the_law_that_was_paid_for`, `rows_are_released_to_those_who_paid`
///
/// # Errors
/// Noise was not prepared for these rows or prices, or somebody has no row. Nothing is drawn, and
/// what was paid stays paid.
pub fn release_rows<E: Entropy + ?Sized>(
    truths: &Exact<Rows<'_>>,
    paid: PaidColumn<'_, Rho>,
    noise: &mut RowNoise,
    entropy: &mut E,
    mut each: impl FnMut(usize, &[u32], Released<&[i64]>),
) -> Result<(), RowError> {
    let Rows(rows) = truths.open();
    let width = truths.sensitivity().width;
    if noise.bound != Some(*truths.sensitivity()) {
        return Err(RowError::Unprepared);
    }
    if paid.accounts().last().is_some_and(|&last| last as usize >= rows.len() / width) {
        return Err(RowError::NoRow);
    }
    let RowNoise { laws, batch, .. } = noise;
    let law = |price: &Amount<Rho>| laws.get(price).ok_or(RowError::Unprepared);
    for same in paid.prices().iter().filter(|same| !same.price.is_zero()) {
        law(&same.price)?;
    }
    for (index, (price, people)) in paid.redeem().enumerate() {
        if price.is_zero() {
            continue;
        }
        let law = law(&price)?;
        for people in people.chunks((RowNoise::BATCH / width).max(1)) {
            batch.resize(people.len() * width, 0);
            match law {
                Law::Prepared(law) => law.fill(batch, entropy),
                Law::Once(variance, _) => {
                    for noise in &mut *batch {
                        *noise = DiscreteGaussian::once(variance, entropy)
                            .map_err(|_| RowError::Wide(price))?;
                    }
                }
            }
            let noisy = |noise: &mut i64, truth: i64| {
                *noise = clamped(truth).saturating_add(*noise);
            };
            if width == 1 {
                let rows = people.iter().map(|&person| rows[person as usize]);
                batch.iter_mut().zip(rows).for_each(|(noise, truth)| noisy(noise, truth));
            } else {
                for (&person, noise) in people.iter().zip(batch.chunks_exact_mut(width)) {
                    let row = &rows[person as usize * width..][..width];
                    noise.iter_mut().zip(row).for_each(|(noise, &truth)| noisy(noise, truth));
                }
            }
            each(index, people, Released::new(batch.as_slice()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use eke_budget::account::Sheet;

    use super::*;
    use crate::SystemEntropy;

    fn amount(text: &str) -> Amount<Rho> {
        text.parse().unwrap()
    }

    fn exact(rows: &[i64], width: usize) -> Exact<Rows<'_>> {
        Exact::new(Rows(rows.into()), RowBound::new(L2::new(64.0).unwrap(), width))
    }

    /// Three people of two numbers each: the second cannot pay, and the third pays nothing.
    #[test]
    fn rows_are_released_to_those_who_paid() {
        let rows = [0, 0, 1 << 40, 1 << 40, 1 << 50, 1 << 50, 1 << 60, 1 << 60];
        let truths = exact(&rows, 2);
        let mut sheet = Sheet::each(["1", "0.1", "1", "1"].map(amount).to_vec()).unwrap();
        let (price, free) = (amount("0.5"), Amount::ZERO);
        let mut who = vec![0, 1, 2, 3];
        let mut prices = [(price, 2), (free, 1), (price, 1)]
            .map(|(price, accounts)| SamePrice { price, accounts });
        let mut noise = RowNoise::default();
        noise.begin(*truths.sensitivity());
        noise.prepare(&prices).unwrap();
        let paid = sheet.charge_column(&mut who, &mut prices).unwrap();
        let (mut told, mut entropy) = (Vec::new(), SystemEntropy::new().unwrap());
        release_rows(&truths, paid, &mut noise, &mut entropy, |index, people, rows| {
            told.push((index, people.to_vec(), rows.get().to_vec()));
        })
        .unwrap();
        let [(0, one, first), (2, two, last)] = &told[..] else { panic!("{told:?}") };
        assert_eq!((&one[..], &two[..]), (&[0][..], &[3][..]));
        let near = |rows: &[i64], truth: i64| rows.iter().all(|row| (row - truth).abs() < 1 << 20);
        assert!(near(first, 0) && near(last, 1 << 60), "{told:?}");
        assert_eq!((first.len(), last.len()), (2, 2));
        assert_eq!(format!("{truths:?} {noise:?}").matches("1152921504606846976").count(), 0);
    }

    /// Noise for another bound, a price that was not prepared, or an account without a row: nothing
    /// is drawn.
    #[test]
    fn rows_are_not_released_for_what_was_not_prepared() {
        let (rows, price) = ([1, 2, 3, 4], amount("0.5"));
        let mut entropy = SystemEntropy::new().unwrap();
        let mut refused = |noise: &mut RowNoise, truths: &Exact<Rows<'_>>, account: u32| {
            let mut sheet = Sheet::same(Amount::ONE, 9).unwrap();
            let (mut who, mut prices) = (vec![account], [SamePrice { price, accounts: 1 }]);
            let paid = sheet.charge_column(&mut who, &mut prices).unwrap();
            let released = release_rows(truths, paid, noise, &mut entropy, |_, _, _| panic!());
            released.unwrap_err()
        };
        let (one, two) = (exact(&rows, 1), exact(&rows, 2));
        let mut noise = RowNoise::default();
        assert_eq!(refused(&mut noise, &one, 0), RowError::Unprepared);
        noise.begin(*one.sensitivity());
        assert_eq!(refused(&mut noise, &one, 0), RowError::Unprepared);
        noise.prepare(&[SamePrice { price, accounts: 1 }]).unwrap();
        assert_eq!(refused(&mut noise, &two, 0), RowError::Unprepared);
        assert_eq!(refused(&mut noise, &one, 4), RowError::NoRow);
        assert_eq!(noise.can_draw(amount("1e6")), Err(RowError::Narrow(amount("1e6"))));
        assert_eq!(noise.can_draw(amount("1e-29")), Err(RowError::Wide(amount("1e-29"))));
    }
}
