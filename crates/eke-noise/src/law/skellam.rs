//! Skellam noise: the difference of two independent Poisson numbers of one mean lambda.
//!
//! Its variance is 2 lambda, and `P(k)` is proportional to `I_|k|(2 lambda)`, modified Bessel
//! functions. It has no pure price (docs/theorems.md, skellam-price).

use dashu_int::UBig;

use crate::law::geometric_level::LevelError;
use crate::number::fixed::Fixed;
use crate::number::scale::signed;
use crate::sampler::audit_cells;
use crate::sampler::ladder::Ladder;
use crate::sampler::table::{Cumulative, Table};
use crate::{Entropy, Ratio};

/// Skellam noise of one lambda, prepared for many draws.
///
/// - Theorem: skellam-thinning (docs/theorems.md)
/// - Proves: `P(k)` proportional to `I_|k|(2 lambda)` is the law of the difference
/// - Assumes: independent uniform bits (entropy)
/// - Deviates: magnitudes come from a table of 64 bits, and from integers where they do not decide;
///   a lambda above 2²⁰ is drawn as the sum of equal parts
/// - Checked by: `skellam_noise_of_every_scale_has_its_law`,
///   `skellam_tables_do_not_depend_on_how_many_bits_were_worked_out`
#[derive(Clone, Debug)]
pub struct Skellam {
    table: Table<Weights>,
    /// How many draws are added up.
    parts: u32,
}

/// The largest lambda there is: noise of this one is 2¹⁵ wide or so, and never near 2³².
const LARGEST: u128 = 1 << 30;
/// The largest lambda of a table.
const WIDEST_TABLE: u32 = 1 << 20;

impl Skellam {
    /// Prepares the law of a lambda.
    ///
    /// # Errors
    /// The lambda is above 2³⁰.
    pub fn new(lambda: &Ratio) -> Result<Self, LevelError> {
        check(lambda)?;
        let whole = &lambda.numerator / &lambda.denominator / UBig::from(WIDEST_TABLE);
        let parts = u32::try_from(whole).unwrap_or(u32::MAX).saturating_add(1);
        let part = Ratio {
            numerator: lambda.numerator.clone(),
            denominator: &lambda.denominator * UBig::from(parts),
        };
        Ok(Self { table: Table::new(Weights { lambda: part }), parts })
    }

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        let first = self.part(entropy);
        if self.parts == 1 {
            return first;
        }
        (1..self.parts).fold(first, |sum, _| sum.saturating_add(self.part(entropy)))
    }

    #[inline]
    fn part<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        let size = u128::from(self.table.draw(entropy));
        signed(size, size != 0 && audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1)
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }

    /// One draw of a lambda that is not drawn from again, without preparing it: two Poisson
    /// numbers.
    ///
    /// # Errors
    /// The lambda is above 2³⁰.
    pub fn once<E: Entropy + ?Sized>(lambda: &Ratio, entropy: &mut E) -> Result<i64, LevelError> {
        check(lambda)?;
        let poisson = Ladder::Poisson { mean: lambda.clone() };
        let (more, less) = (poisson.draw(entropy), poisson.draw(entropy));
        Ok(difference(more, less))
    }
}

/// Whether noise of a lambda can be drawn.
pub(crate) fn check(lambda: &Ratio) -> Result<(), LevelError> {
    let largest = Ratio::new(LARGEST, 1).expect("not zero");
    if lambda.compare(&largest).is_gt() { Err(LevelError::SkellamTooWide) } else { Ok(()) }
}

/// One count less another.
pub(crate) fn difference(more: u64, less: u64) -> i64 {
    let size = u128::from(more.abs_diff(less));
    signed(size, more < less)
}

/// The weights of magnitudes: `I_0`, and twice `I_j` for others, over `I_0`.
#[derive(Clone, Debug)]
struct Weights {
    lambda: Ratio,
}

impl Weights {
    /// Enclosures of `I_j/I_{j-1}`, from j = 1 to where their product is less than a unit, by
    /// `I_j/I_{j-1} = 1/(j/lambda + I_{j+1}/I_j)` from further out: from there inwards, every step
    /// makes an enclosure narrower.
    fn ratios(&self, bits: usize) -> Vec<Fixed> {
        let two_bits = UBig::ONE << (2 * bits);
        let mut next = Fixed { lo: UBig::ZERO, hi: UBig::ONE << bits, bits };
        let mut ratios: Vec<Fixed> = (1..=self.start(bits))
            .rev()
            .map(|j| {
                let step = (UBig::from(j) * &self.lambda.denominator) << bits;
                let low = &step / &self.lambda.numerator;
                let high = &low + UBig::ONE;
                next = Fixed {
                    lo: &two_bits / (high + &next.hi),
                    hi: &two_bits / (low + &next.lo) + UBig::ONE,
                    bits,
                };
                next.clone()
            })
            .collect();
        ratios.reverse();
        ratios
    }

    /// Where to start: ratios are at most `exp(-asinh((j-1/2)/(2 lambda)))`, and their product from
    /// here inwards is below two to the power of minus three times the bits. Only how narrow the
    /// enclosures are depends on it.
    fn start(&self, bits: usize) -> u64 {
        let variance = 2.0 * self.lambda.approximate();
        let wanted = 3.0 * bits as f64 * std::f64::consts::LN_2;
        let (mut sum, mut j, mut at) = (0.0, 0, 0.5);
        while sum < wanted {
            sum += libm::asinh(at / variance);
            at += 1.0;
            j += 1;
        }
        j + 8
    }
}

impl Cumulative for Weights {
    fn cumulative(&self, bits: usize) -> (Vec<Fixed>, Fixed) {
        let ratios = self.ratios(bits);
        let mut weight = Fixed::one(bits);
        let mut sum = weight.clone();
        let mut sums = vec![sum.clone()];
        let mut tail = UBig::ONE << bits;
        for ratio in &ratios {
            weight = &weight * ratio;
            sum = &sum + &weight.doubled();
            sums.push(sum.clone());
            if weight.lo.is_zero() {
                // Ratios fall, so what is left out is less than a geometric series, on both sides.
                let one = UBig::ONE << bits;
                if ratio.hi < one {
                    tail = ((&weight.hi * &ratio.hi / (one - &ratio.hi)) + UBig::ONE) << 1;
                }
                break;
            }
        }
        sum.hi += tail;
        (sums, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(numerator: u128, denominator: u128) -> Weights {
        Weights { lambda: Ratio::new(numerator, denominator).unwrap() }
    }

    /// The total encloses that of twice the bits, and so does every sum.
    #[test]
    fn skellam_tables_do_not_depend_on_how_many_bits_were_worked_out() {
        for (numerator, denominator) in [(1, 1000), (1, 3), (1, 1), (10, 1), (999, 7), (40_000, 1)]
        {
            let weights = weights(numerator, denominator);
            let ((sums, short), (long_sums, long)) =
                (weights.cumulative(192), weights.cumulative(384));
            assert!(&short.lo << 192 <= long.lo && long.hi <= &short.hi << 192, "{weights:?}");
            // Narrow, too: or else a table would never be made.
            assert!(&short.hi - &short.lo < UBig::ONE << 40, "{weights:?}");
            for (sum, long) in sums.iter().zip(&long_sums) {
                assert!(&sum.lo << 192 <= long.lo && long.hi <= &sum.hi << 192, "{weights:?}");
            }
        }
    }

    /// `I_1(2)/I_0(2)` and `I_2(2)/I_1(2)` from tables, and that they hang together.
    #[test]
    fn bessel_ratios_enclose_their_tabulated_values() {
        // I_0(2) = 2.27958530233606726743…, I_1(2) = 1.59063685463732906338…, I_2(2) =
        // 0.68894844769873820405…
        let ratios = weights(1, 1).ratios(128);
        for (ratio, tabulated) in
            ratios.iter().zip([0.697_774_657_964_008, 0.433_127_426_722_311_8])
        {
            let low = Ratio { numerator: ratio.lo.clone(), denominator: UBig::ONE << 128 };
            assert!((low.approximate() / tabulated - 1.0).abs() < 1e-15, "{low:?}");
            assert!(&ratio.hi - &ratio.lo < UBig::from(8u8));
        }
    }

    #[test]
    fn noise_that_is_too_wide_is_a_sentence() {
        let lambda = Ratio::new((1 << 30) + 1, 1).unwrap();
        assert_eq!(Skellam::new(&lambda).unwrap_err(), LevelError::SkellamTooWide);
        let mut entropy = crate::SystemEntropy::new().unwrap();
        assert_eq!(Skellam::once(&lambda, &mut entropy), Err(LevelError::SkellamTooWide));
        assert!(Skellam::once(&Ratio::new(1 << 30, 1).unwrap(), &mut entropy).is_ok());
    }
}
