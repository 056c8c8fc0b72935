//! `MSDLap` noise: for whole numbers that one unit changes by any whole number up to a few.
//!
//! It is a sum of two-sided geometric noises, one for every shift from 1 to the sensitivity, each
//! times its shift and each of rate epsilon. A truth that moves by a shift moves the noise of that
//! shift by one step, which costs epsilon, whichever shift it is. Geometric noise has to have rate
//! epsilon over the sensitivity instead, and cannot use that the truth is whole: where epsilon is
//! large it is much wider.
//!
//! Its variance is `D (D+1) (2D+1)/6` times that of geometric noise of rate epsilon. Over that of
//! geometric noise of rate epsilon/D, which is the other choice, it is, for sensitivity D:
//!
//! | epsilon | D = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
//! |---|---|---|---|---|---|---|---|---|
//! | 0.1 | 1 | 1.25 | 1.55 | 1.87 | 2.20 | 2.53 | 2.85 | 3.18 |
//! | 0.5 | 1 | 1.23 | 1.53 | 1.84 | 2.16 | 2.48 | 2.80 | 3.12 |
//! | 1 | 1 | 1.18 | 1.45 | 1.74 | 2.03 | 2.33 | 2.63 | 2.94 |
//! | 1.5 | 1 | 1.09 | 1.32 | 1.58 | 1.84 | 2.11 | 2.39 | 2.66 |
//! | 2 | 1 | 0.98 | 1.17 | 1.39 | 1.61 | 1.85 | 2.08 | 2.32 |
//! | 3 | 1 | 0.75 | 0.84 | 0.97 | 1.12 | 1.28 | 1.44 | 1.60 |
//! | 4 | 1 | 0.52 | 0.55 | 0.62 | 0.71 | 0.80 | 0.89 | 0.99 |
//!
//! It is narrower from an epsilon of 1.93 on for D = 2, 2.51 for D = 3, 3.28 for D = 5, 3.99 for D
//! = 8 and 5.02 for D = 16. Below that, geometric noise is the better choice.

use eke_budget::L1;

use crate::law::convolution::Convolution;
use crate::number::ScaleError;
use crate::number::scale::signed;
use crate::sampler::audit_cells;
use crate::sampler::table::Table;
use crate::{DiscreteLaplace, Entropy, Ratio};

/// A sensitivity that `MSDLap` noise is for: every shift from 1 to it has noise of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shifts(u32);

/// A sensitivity that `MSDLap` noise is not for.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "MSDLap noise is for whole sensitivities from 1 to {most}, and {0} is not one: round it up to one, or take geometric noise",
    most = Shifts::MOST
)]
pub struct NotWhole(f64);

impl Shifts {
    /// The largest sensitivity: a draw takes as many draws as there are shifts, and beyond this
    /// geometric noise is narrower up to an epsilon of nine.
    pub const MOST: u32 = 256;

    /// The shifts up to a sensitivity.
    ///
    /// # Errors
    /// It is none, or too many.
    pub fn new(most: u32) -> Result<Self, NotWhole> {
        if (1..=Self::MOST).contains(&most) { Ok(Self(most)) } else { Err(NotWhole(most.into())) }
    }

    /// The shifts up to a sensitivity.
    ///
    /// # Errors
    /// It is not a whole number, or too large.
    pub fn of(sensitivity: L1) -> Result<Self, NotWhole> {
        let size = sensitivity.get();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = size as u32;
        #[expect(clippy::float_cmp, reason = "a whole number, or not")]
        let is_whole = f64::from(whole) == size;
        Self::new(whole).ok().filter(|_| is_whole).ok_or(NotWhole(size))
    }

    /// The largest of them.
    #[must_use]
    pub fn most(self) -> u32 {
        self.0
    }

    /// How many there are.
    pub(crate) fn count(self) -> usize {
        self.each().count()
    }

    /// All of them.
    pub(crate) fn each(self) -> impl Iterator<Item = u32> {
        1..=self.0
    }

    /// A number with every shift's part added as often as the shift says. Beyond the range it
    /// saturates.
    pub(crate) fn around(self, number: i64, parts: impl IntoIterator<Item = i64>) -> i64 {
        let sum = self.each().zip(parts).fold(i128::from(number), |sum, (shift, part)| {
            sum.saturating_add(i128::from(shift) * i128::from(part))
        });
        i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
    }
}

/// `MSDLap` noise of one epsilon and sensitivity, prepared for many draws.
///
/// - Theorem: msdlap (docs/theorems.md)
/// - Proves: epsilon-DP for whole numbers that one unit changes by any whole number up to the
///   sensitivity
/// - Assumes: the truth is a whole number, and the units differ by whole units (caller)
/// - Deviates: nothing; sums beyond 64-bit integers saturate
/// - Checked by: `msdlap_noise_has_its_law`, `msdlap_noise_costs_its_epsilon_for_every_shift`,
///   `msdlap_variances_match_the_golden_values`,
///   `the_table_of_a_sum_is_that_of_one_geometric_noise`,
///   `noise_drawn_in_parts_has_the_law_of_the_table`
///
/// Narrow noise is drawn from a table of the whole sum, and wide noise part by part.
#[derive(Clone, Debug)]
pub struct Msdlap {
    shifts: Shifts,
    rate: f64,
    drawn: Drawn,
}

/// How it is drawn.
#[derive(Clone, Debug)]
enum Drawn {
    /// The magnitude of the sum from a table, and a sign.
    AtOnce(Box<Table<Convolution>>),
    /// A part for every shift.
    InParts(DiscreteLaplace),
}

impl Msdlap {
    /// Prepares the law.
    ///
    /// # Errors
    /// Epsilon is too small.
    pub fn new(epsilon: &Ratio, shifts: Shifts) -> Result<Self, ScaleError> {
        let sum = Convolution::new(epsilon, shifts.most());
        let drawn = if shifts.most() > 1 && sum.is_small() {
            Drawn::AtOnce(Box::new(Table::new(sum)))
        } else {
            Drawn::InParts(DiscreteLaplace::new(&epsilon.inverse())?)
        };
        Ok(Self { shifts, rate: epsilon.approximate(), drawn })
    }

    /// The variance, nearly: `D (D+1) (2D+1)/6 · 2 p/(1-p)²` with `p = exp(-epsilon)`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let most = f64::from(self.shifts.most());
        let half = libm::sinh(self.rate / 2.0);
        most * (most + 1.0) * (2.0 * most + 1.0) / 6.0 / (2.0 * half * half)
    }

    /// One draw.
    #[inline]
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> i64 {
        match &self.drawn {
            Drawn::AtOnce(table) => {
                let size = table.draw(entropy);
                let negative =
                    size != 0 && audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1;
                signed(size.into(), negative)
            }
            Drawn::InParts(part) => {
                self.shifts.around(0, self.shifts.each().map(|_| part.draw(entropy)))
            }
        }
    }

    /// Fills a slice with independent draws.
    pub fn fill<E: Entropy + ?Sized>(&self, draws: &mut [i64], entropy: &mut E) {
        for draw in draws {
            *draw = self.draw(entropy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Dice;

    fn noise(epsilon: f64, most: u32) -> Msdlap {
        Msdlap::new(&Ratio::from_f64(epsilon).unwrap(), Shifts::new(most).unwrap()).unwrap()
    }

    /// From mpmath, at forty digits.
    /// The variance over that of geometric noise of rate epsilon/D, the other choice.
    fn over_geometric(noise: &Msdlap) -> f64 {
        let half = libm::sinh(noise.rate / 2.0 / f64::from(noise.shifts.most()));
        noise.variance() * 2.0 * half * half
    }

    #[test]
    fn msdlap_variances_match_the_golden_values() {
        for (epsilon, most, golden) in
            [(1.0, 3, 25.778_860_637_818_184), (2.0, 4, 10.860_924_914_494_657)]
        {
            let variance = noise(epsilon, most).variance();
            assert!((variance / golden - 1.0).abs() < 1e-14, "{variance} {golden}");
        }
    }

    /// The table in this file's docs, and where it says that the noise is narrower.
    #[test]
    fn the_table_of_variances_is_what_they_are() {
        let mut rows = 0;
        for line in include_str!("msdlap.rs").lines().filter(|line| line.starts_with("//! | ")) {
            let mut cells = line.trim_start_matches("//! |").trim_end_matches('|').split('|');
            let Ok(epsilon) = cells.next().unwrap().trim().parse::<f64>() else { continue };
            for (most, cell) in (1..).zip(cells) {
                let stated: f64 = cell.trim().parse().unwrap();
                let ratio = over_geometric(&noise(epsilon, most));
                assert!((ratio - stated).abs() <= 0.005 + 1e-9, "{epsilon} {most}: {ratio}");
            }
            rows += 1;
        }
        assert_eq!(rows, 7);
        for (most, epsilon) in [(2, 1.93), (3, 2.51), (5, 3.28), (8, 3.99), (16, 5.02), (256, 9.0)]
        {
            assert!(over_geometric(&noise(epsilon, most)) < 1.0, "{most}");
        }
        for (most, epsilon) in [(2, 1.92), (3, 2.5), (5, 3.27), (8, 3.97), (16, 5.0), (256, 8.8)] {
            assert!(over_geometric(&noise(epsilon, most)) > 1.0, "{most}");
        }
    }

    /// Both ways of drawing it, on narrow noise. Six deviations are one in a thousand million, and
    /// there are some hundred counts; the control is a rate 5 % off.
    #[test]
    fn noise_drawn_in_parts_has_the_law_of_the_table() {
        const DRAWS: u32 = 400_000;
        let epsilon = Ratio::from_f64(0.75).unwrap();
        let mut entropy = Dice(7);
        let at_once = noise(0.75, 3);
        assert!(matches!(at_once.drawn, Drawn::AtOnce(_)));
        let part = DiscreteLaplace::new(&epsilon.inverse()).unwrap();
        let in_parts = Msdlap { drawn: Drawn::InParts(part), ..at_once.clone() };
        let counts = |noise: &Msdlap, entropy: &mut Dice| {
            let mut counts = [0.0f64; 41];
            for _ in 0..DRAWS {
                let place = usize::try_from(noise.draw(entropy) + 20).ok();
                if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
                    *count += 1.0;
                }
            }
            counts
        };
        let worst = |one: [f64; 41], two: [f64; 41]| {
            let off = |(a, b): (f64, f64)| (a - b).abs() / (a + b).sqrt().max(1.0);
            one.into_iter().zip(two).map(off).fold(0.0, f64::max)
        };
        let table = counts(&at_once, &mut entropy);
        assert!(worst(table, counts(&in_parts, &mut entropy)) < 6.0);
        assert!(worst(table, counts(&noise(0.7875, 3), &mut entropy)) > 6.0, "the test is blind");
    }

    #[test]
    fn a_sensitivity_that_is_not_whole_gets_a_sentence() {
        let of = |size| Shifts::of(L1::new(size).unwrap());
        assert_eq!(of(3.0).map(Shifts::most), Ok(3));
        assert_eq!(of(256.0).map(Shifts::most), Ok(Shifts::MOST));
        for wrong in [2.5, 0.5, 257.0, 1e100, 2.999_999_999_999] {
            assert_eq!(of(wrong), Err(NotWhole(wrong)));
        }
        assert!(Shifts::new(0).is_err());
        assert_eq!(
            of(2.5).unwrap_err().to_string(),
            "MSDLap noise is for whole sensitivities from 1 to 256, and 2.5 is not one: round it up to one, or take geometric noise"
        );
    }
}
