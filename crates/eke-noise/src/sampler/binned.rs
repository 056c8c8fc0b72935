//! Symmetric laws on the integers, drawn as a bin from a table and a place in it.

use dashu_int::UBig;

use crate::number::ScaleError;
use crate::number::fixed::Fixed;
use crate::number::scale::{apart, shift, signed};
use crate::sampler::audit_cells::{self, Cell};
use crate::sampler::coin::Coin;
use crate::sampler::table::{Shape, Table, Weights};
use crate::{Entropy, Ratio};

/// A law prepared for many draws: `P(k)` proportional to `exp(-rate |k|)` or `exp(-rate k²)`.
///
/// Bins are powers of two no wider than a sixteenth of the scale, so a bin is nearly flat and
/// hardly any place is drawn again. Narrow laws have bins of one.
#[derive(Clone, Debug)]
pub(crate) struct Binned {
    rate: Ratio,
    about_rate: f64,
    shape: Shape,
    shift: u32,
    table: Table,
    /// For each bin, below which first 32 bits of a coin every place in it is kept; empty where a
    /// word has no room for them.
    kept: Vec<u32>,
}

impl Binned {
    pub(crate) fn new(shape: Shape, rate: Ratio, scale: f64) -> Result<Self, ScaleError> {
        let shift = shift(scale)?;
        Ok(Self::with(shape, rate, shift, shift == 0))
    }

    /// A geometric law of this rate on 0, 1, 2, …, for magnitudes in halves of what the scale is
    /// in.
    pub(crate) fn halves(rate: Ratio, scale: f64) -> Result<Self, ScaleError> {
        let shift = match shift(scale)? {
            0 => 0,
            shift => shift + 1,
        };
        Ok(Self::with(Shape::Geometric, rate, shift, false))
    }

    fn with(shape: Shape, rate: Ratio, shift: u32, two_sided: bool) -> Self {
        let powers = match shape {
            Shape::Geometric => shift,
            Shape::Gaussian => 2 * shift,
        };
        let bin_rate = rate.times(&(UBig::ONE << powers as usize));
        let table = Table::new(Weights { rate: bin_rate, shape, two_sided });
        let bins = if (1..=31).contains(&shift) { table.len() } else { 0 };
        let mut law =
            Self { about_rate: rate.approximate(), rate, shape, shift, table, kept: Vec::new() };
        law.kept = (0..bins).map(|bin| law.surely_kept(bin)).collect();
        law
    }

    /// Bits below which a coin keeps even the last place of a bin, of all the least probable:
    /// `exp(-x) >= 1 - x`.
    fn surely_kept(&self, bin: usize) -> u32 {
        let (start, last) = ((bin as u128) << self.shift, (1u128 << self.shift) - 1);
        let coin = self.coin(self.excess(start, last));
        let surely = (1.0 - (coin.about + coin.error)) * 4_294_967_296.0 - 4.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let surely = surely as u32;
        surely
    }

    #[inline]
    pub(crate) fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        loop {
            let bin = u128::from(self.table.draw(entropy));
            if self.shift == 0 {
                return signed(
                    bin,
                    bin != 0 && audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1,
                );
            }
            // There is one zero, not two.
            if let Some((magnitude, negative)) = self.place(bin, entropy)
                && (magnitude != 0 || !negative)
            {
                return signed(magnitude, negative);
            }
        }
    }

    /// A magnitude of a law that is not two-sided, and a sign beside it.
    #[inline]
    pub(crate) fn magnitude<E: Entropy + ?Sized>(&self, entropy: &mut E) -> (u128, bool) {
        loop {
            let bin = u128::from(self.table.draw(entropy));
            if self.shift == 0 {
                return (bin, audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1);
            }
            if let Some(placed) = self.place(bin, entropy) {
                return placed;
            }
        }
    }

    /// A place in a bin and a sign, if it is kept.
    #[inline]
    fn place<E: Entropy + ?Sized>(&self, bin: u128, entropy: &mut E) -> Option<(u128, bool)> {
        let start = bin << self.shift;
        let word = audit_cells::word(entropy, || self.cells(start));
        let (negative, place, rest) = apart(word, self.shift);
        let place = u128::from(place);
        let surely = usize::try_from(bin).ok().and_then(|bin| self.kept.get(bin));
        if surely.zip(rest).is_some_and(|(surely, rest)| rest < *surely) {
            return Some((start + place, negative));
        }
        let kept = self.keeps(self.excess(start, place), rest, entropy);
        kept.then_some((start + place, negative))
    }

    pub(crate) fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }

    /// What the sampler distinguishes of a word that is a sign, a place in the bin that starts
    /// here, and the first 32 bits of the coin that keeps it.
    fn cells(&self, start: u128) -> Vec<Cell> {
        let (unused, mut cells) = (((1 << 31) - 1) & !((1u64 << self.shift) - 1), Vec::new());
        for place in 0..1u64 << self.shift {
            let excess = self.excess(start, place.into());
            let power = Fixed::exp_neg(&self.exponent(excess.max(1)), 128).lo;
            // A place of no excess is kept without a coin.
            let edge = if excess == 0 { u64::MAX } else { u64::try_from(power >> 96).unwrap_or(0) };
            for sign in [0, 1 << 63] {
                let around = (sign | place, sign | place | unused);
                let words = 1u128 << (31 - self.shift.min(31));
                cells.extend(audit_cells::cut_inside(edge, 31, around, words));
            }
        }
        cells
    }

    /// How much a number, or its square, is above that of the start of its bin.
    #[inline]
    fn excess(&self, start: u128, place: u128) -> u128 {
        match self.shape {
            Shape::Geometric => place,
            Shape::Gaussian => place * (2 * start + place),
        }
    }

    /// A coin of probability `exp(-rate excess)`.
    #[inline]
    fn keeps<E: Entropy + ?Sized>(&self, excess: u128, rest: Option<u32>, entropy: &mut E) -> bool {
        let coin = self.coin(excess);
        let exactly = || self.exponent(excess);
        match rest {
            _ if excess == 0 => true,
            Some(rest) => coin.flip_from(rest, entropy, exactly),
            None => coin.flip(entropy, exactly),
        }
    }

    #[inline]
    fn coin(&self, excess: u128) -> Coin {
        let about = excess as f64 * self.about_rate;
        Coin { about, error: about * 1e-14 }
    }

    fn exponent(&self, excess: u128) -> Ratio {
        self.rate.times(&excess.into())
    }

    #[cfg(test)]
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::coin::tests::is_within_its_error;
    use proptest::prelude::*;

    proptest! {
        /// From the law itself: a place is kept by the ratio of the law there and at the start of
        /// its bin, and what the coin is about is within its stated error of that.
        #[test]
        fn places_are_kept_by_the_ratio_of_the_laws(
            log in 3.5f64..29.0,
            rate in 1u128..1_000_000,
            bin in 0u128..300,
            place in any::<u64>(),
        ) {
            // A scale of exp(log), as a rate that is no double.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number")]
            let scale = (log.exp() * rate as f64) as u128;
            for shape in [Shape::Geometric, Shape::Gaussian] {
                let unit = match shape {
                    Shape::Geometric => Ratio::new(rate, scale).unwrap(),
                    Shape::Gaussian => {
                        let rate = Ratio::new(rate, scale).unwrap();
                        rate.squared().over(&Ratio::new(2, 1).unwrap())
                    }
                };
                let law = Binned::new(shape, unit.clone(), log.exp()).unwrap();
                let (start, place) = (bin << law.shift, u128::from(place) & ((1 << law.shift) - 1));
                let number = start + place;
                let above = match shape {
                    Shape::Geometric => number - start,
                    Shape::Gaussian => number * number - start * start,
                };
                prop_assert_eq!(law.excess(start, place), above);
                let exact = unit.times(&above.into());
                prop_assert!(law.exponent(above).compare(&exact).is_eq());
                let coin = law.coin(above);
                prop_assert!(is_within_its_error(&coin, &exact));
                prop_assert!(coin.error <= coin.about * 1e-13, "a blind margin");
                // What is surely kept is below the probability, wherever in the bin, and not by
                // much.
                if let Some(&surely) = law.kept.get(usize::try_from(bin).unwrap()) {
                    let power = |place| Fixed::exp_neg(&law.exponent(law.excess(start, place)), 128).lo;
                    let kept = |place| u64::try_from(power(place) >> 96).unwrap();
                    let last = (1 << law.shift) - 1;
                    prop_assert!(u64::from(surely) < kept(place.max(1)).min(kept(last)));
                    let x = -(kept(last) as f64 / 4_294_967_296.0).ln();
                    prop_assert!((kept(last) - u64::from(surely)) as f64 <= 4_294_967_296.0 * x * x / 2.0 + 8.0);
                }
            }
        }
    }
}
