//! The law of a sum of geometric noises, each times a weight of its own: 1, 2, …, n.
//!
//! It is computed from below. Every product rounds down, and what is beyond a window counts as
//! nothing, so the weights found are lower bounds; and since the law has a total of one, what they
//! lack of it bounds everything that was left out, wherever it belongs.

use dashu_int::UBig;

use crate::Ratio;
use crate::number::fixed::Fixed;
use crate::sampler::table::Cumulative;

/// The magnitude of a sum of two-sided geometric noises of one rate, with weights 1, 2, …, most.
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    rate: Ratio,
    about_rate: f64,
    most: u32,
}

/// The most products that a table may take: some tens of milliseconds.
const LARGEST: f64 = 100_000.0;

impl Convolution {
    pub(crate) fn new(rate: &Ratio, most: u32) -> Self {
        Self { rate: rate.clone(), about_rate: rate.approximate(), most }
    }

    /// Whether a table of it is worth making.
    pub(crate) fn is_small(&self) -> bool {
        2.0 * self.reach(192) * f64::from(self.most) <= LARGEST
    }

    /// About how far out the sum is with a probability of no more than a few units in the last of
    /// the given bits: the widest part falls by `exp(-rate)` every `most` steps. (What this leaves
    /// out is counted.)
    fn reach(&self, bits: usize) -> f64 {
        let nats = bits as f64 * std::f64::consts::LN_2 + 8.0;
        let most = f64::from(self.most);
        nats * most / self.about_rate + most * most
    }

    /// Lower bounds on the probabilities of -reach, …, reach, in units of 2^-bits.
    fn weights(&self, bits: usize) -> Vec<UBig> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let reach = self.reach(bits) as usize;
        let one = UBig::ONE << bits;
        let power = Fixed::exp_neg(&self.rate, bits);
        let ratio = &power.lo;
        // (1-p)/(1+p), which falls with p.
        let zero = ((&one - &power.hi) << bits) / (&one + &power.hi);
        let mut law = vec![UBig::ZERO; 2 * reach + 1];
        law[reach] = one;
        for weight in 1..=self.most as usize {
            // What comes from below, a weight at a time; from above it is the same, turned round.
            let mut below = vec![UBig::ZERO; law.len()];
            for place in weight..law.len() {
                below[place] = ((&law[place - weight] + &below[place - weight]) * ratio) >> bits;
            }
            let last = law.len() - 1;
            law = (0..law.len())
                .map(|place| ((&law[place] + &below[place] + &below[last - place]) * &zero) >> bits)
                .collect();
        }
        law
    }
}

impl Cumulative for Convolution {
    /// - Theorem: msdlap-table (docs/theorems.md)
    /// - Proves: every cumulative probability is between the sum of lower bounds and that sum with
    ///   all that they lack of one
    /// - Assumes: nothing
    /// - Deviates: nothing
    /// - Checked by: `sums_enclose_those_of_more_bits`,
    ///   `the_table_of_a_sum_is_that_of_one_geometric_noise`
    fn cumulative(&self, bits: usize) -> (Vec<Fixed>, Fixed) {
        let law = self.weights(bits);
        let middle = law.len() / 2;
        let all: UBig = law.iter().sum();
        let lacking = (UBig::ONE << bits) - all;
        let mut sum = law[middle].clone();
        let mut sums = Vec::with_capacity(middle + 1);
        for size in 0..=middle {
            if size > 0 {
                sum += &law[middle + size] + &law[middle - size];
            }
            sums.push(Fixed { lo: sum.clone(), hi: &sum + &lacking, bits });
        }
        (sums, Fixed::one(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::table::{Shape, Table, Weights};

    fn sum(numerator: u128, denominator: u128, most: u32) -> Convolution {
        Convolution::new(&Ratio::new(numerator, denominator).unwrap(), most)
    }

    /// A sum of one part is geometric noise, whose table is computed in another way.
    #[test]
    fn the_table_of_a_sum_is_that_of_one_geometric_noise() {
        for (numerator, denominator) in [(1, 10), (1, 1), (7, 3), (30, 1)] {
            let rate = Ratio::new(numerator, denominator).unwrap();
            let shape = Shape::Geometric;
            let geometric = Table::new(Weights { rate: rate.clone(), shape, two_sided: true });
            let table = Table::new(Convolution::new(&rate, 1));
            assert_eq!(table.thresholds(), geometric.thresholds(), "{rate:?}");
        }
    }

    /// Enclosures of few bits hold those of many, which are as good as the truth, and are narrow.
    #[test]
    fn sums_enclose_those_of_more_bits() {
        for (numerator, denominator, most) in [(1, 1, 3), (2, 1, 8), (1, 4, 2), (9, 1, 40)] {
            let law = sum(numerator, denominator, most);
            let ((short, _), (long, _)) = (law.cumulative(128), law.cumulative(256));
            for (short, long) in short.iter().zip(&long) {
                assert!(&short.lo << 128 <= long.lo && long.hi <= &short.hi << 128, "{law:?}");
                assert!(&short.hi - &short.lo < UBig::ONE << 24, "{law:?}: {short:?}");
            }
        }
    }

    /// By plain convolution in doubles.
    #[test]
    fn sums_are_those_of_a_convolution() {
        let (rate, most, reach) = (0.8f64, 4usize, 400usize);
        let zero = (1.0 - (-rate).exp()) / (1.0 + (-rate).exp());
        let mut law = vec![0.0; 2 * reach + 1];
        law[reach] = 1.0;
        for weight in 1..=most {
            let mut next = vec![0.0; law.len()];
            for (place, sum) in next.iter_mut().enumerate() {
                for (from, probability) in law.iter().enumerate() {
                    let steps = place.abs_diff(from);
                    if steps % weight == 0 {
                        *sum += probability * zero * (-rate * (steps / weight) as f64).exp();
                    }
                }
            }
            law = next;
        }
        let (sums, _) = sum(4, 5, 4).cumulative(128);
        let mut expected = 0.0;
        for (size, sum) in sums.iter().enumerate().take(100) {
            expected += law[reach + size] + if size > 0 { law[reach - size] } else { 0.0 };
            let found = Ratio { numerator: sum.lo.clone(), denominator: UBig::ONE << 128 };
            assert!((found.approximate() - expected).abs() < 1e-13, "{size}");
        }
    }

    #[test]
    fn tables_are_made_of_narrow_sums_alone() {
        assert!(sum(1, 2, 8).is_small() && sum(1, 10, 3).is_small() && sum(9, 1, 32).is_small());
        assert!(!sum(1, 1_000_000, 2).is_small() && !sum(1, 1, 256).is_small());
    }
}
