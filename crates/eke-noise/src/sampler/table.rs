//! Tables for drawing many numbers of one law.
//!
//! The law is one of `0, 1, 2, …`: with weights `exp(-rate j)` or `exp(-rate j²)`, or any other
//! whose cumulative weights can be enclosed. A uniform number U is drawn as 64 bits and compared
//! with the cumulative probabilities C, of which the table has the first 64 bits, rounded down:
//! bits below those of C mean that U is below C, bits above them that it is not, and equal bits are
//! undecided. Then more bits of U are drawn, and more of C computed, until they differ. So the law
//! is exact, and one draw in 2⁵³ or so takes the long way.

use dashu_int::UBig;

use crate::number::fixed::Fixed;
use crate::sampler::audit_cells;
use crate::sampler::coin::Uniform;
use crate::{Entropy, Ratio};

/// A law on 0, 1, 2, … that a table can be made of.
pub(crate) trait Cumulative {
    /// The cumulative weights up to where they no longer change in the given number of bits, and
    /// their total.
    fn cumulative(&self, bits: usize) -> (Vec<Fixed>, Fixed);
}

/// The weights of a law, up to a factor.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    pub(crate) rate: Ratio,
    pub(crate) shape: Shape,
    /// Whether every weight but that of zero is doubled, for a sign to be drawn beside it.
    pub(crate) two_sided: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `exp(-rate j)`
    Geometric,
    /// `exp(-rate j²)`
    Gaussian,
}

impl Cumulative for Weights {
    fn cumulative(&self, bits: usize) -> (Vec<Fixed>, Fixed) {
        let base = Fixed::exp_neg(&self.rate, bits);
        // For squares, the ratio from j to j + 1 is exp(-rate (2j + 1)): it falls by exp(-2 rate).
        let fall = match self.shape {
            Shape::Geometric => Fixed::one(bits),
            Shape::Gaussian => &base * &base,
        };
        let (mut weight, mut ratio) = (Fixed::one(bits), base);
        let mut sum = weight.clone();
        let mut sums = vec![sum.clone()];
        loop {
            weight = &weight * &ratio;
            ratio = &ratio * &fall;
            sum = if self.two_sided { &sum + &weight.doubled() } else { &sum + &weight };
            sums.push(sum.clone());
            // The lower end falls at every step, the upper one to a few units only.
            if weight.lo.is_zero() {
                break;
            }
        }
        // What is left out is less than a geometric series from the last weight, twice over for
        // both sides; and 1/(1 - exp(-rate)) <= 1 + 1/rate.
        let inverse = &self.rate.denominator / &self.rate.numerator + UBig::from(2u8);
        sum.hi += (inverse * &weight.hi) << 1;
        (sums, sum)
    }
}

const GUIDE_BITS: u32 = 10;

/// The table of a law.
#[derive(Clone, Debug)]
pub(crate) struct Table<L = Weights> {
    weights: L,
    /// The first 64 bits of the cumulative probabilities, up to where they are all ones.
    thresholds: Vec<u64>,
    /// For the first bits of a word, the first threshold that a word starting so may be below.
    guide: Vec<u16>,
}

impl<L: Cumulative> Table<L> {
    pub(crate) fn new(weights: L) -> Self {
        let mut bits = 192;
        let thresholds = loop {
            if let Some(thresholds) = thresholds(&weights, bits) {
                break thresholds;
            }
            bits *= 2;
        };
        let guide = (0..1u64 << GUIDE_BITS)
            .map(|start| {
                let word = start << (64 - GUIDE_BITS);
                let first = thresholds.partition_point(|&threshold| threshold <= word);
                u16::try_from(first).unwrap_or(u16::MAX)
            })
            .collect();
        Self { weights, thresholds, guide }
    }

    /// How many outcomes the table has; those beyond it are decided otherwise.
    pub(crate) fn len(&self) -> usize {
        self.thresholds.len()
    }

    #[cfg(test)]
    pub(crate) fn thresholds(&self) -> &[u64] {
        &self.thresholds
    }

    #[inline]
    pub(crate) fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> u64 {
        let word = audit_cells::word(entropy, || audit_cells::cut_at(&self.thresholds));
        let start = usize::try_from(word >> (64 - GUIDE_BITS)).unwrap_or(0);
        let mut outcome = usize::from(self.guide[start]);
        while self.thresholds.get(outcome).is_some_and(|&threshold| word >= threshold) {
            outcome += 1;
        }
        let at_an_edge = outcome > 0 && self.thresholds[outcome - 1] == word;
        if at_an_edge || outcome == self.thresholds.len() {
            return self.decide(word, entropy);
        }
        outcome as u64
    }

    /// The outcome of a word that the table does not decide.
    #[cold]
    fn decide<E: Entropy + ?Sized>(&self, word: u64, entropy: &mut E) -> u64 {
        let mut uniform = Uniform::new(word);
        loop {
            uniform.refine(entropy);
            let (sums, total) = self.weights.cumulative(uniform.bits + 64);
            let (above, at_least) =
                (uniform.lowest_above() * &total.hi, &uniform.lowest * &total.lo);
            for (outcome, sum) in (0..).zip(&sums) {
                if above <= &sum.lo << uniform.bits {
                    return outcome;
                }
                if at_least < &sum.hi << uniform.bits {
                    break;
                }
            }
        }
    }
}

/// The first 64 bits of every cumulative probability; none if the given number of bits of the
/// weights does not decide them.
fn thresholds(weights: &impl Cumulative, bits: usize) -> Option<Vec<u64>> {
    let (sums, total) = weights.cumulative(bits);
    let mut thresholds = Vec::new();
    for sum in &sums {
        let low = (&sum.lo << 64) / &total.hi;
        let high = ((&sum.hi << 64) / &total.lo).min(UBig::from(u64::MAX));
        if low != high {
            return None;
        }
        let threshold = u64::try_from(low).ok()?;
        thresholds.push(threshold);
        if threshold == u64::MAX {
            return Some(thresholds);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;

    fn table(scale: u128, shape: Shape) -> Table {
        let rate = Ratio::new(1, scale).unwrap();
        Table::new(Weights { rate, shape, two_sided: true })
    }

    /// A word equal to a threshold is decided by the bits that follow: all zeros are below the
    /// cumulative probability, whose own bits go on, and all ones above it.
    #[test]
    fn a_word_on_an_edge_is_decided_by_more_bits() {
        for shape in [Shape::Geometric, Shape::Gaussian] {
            let table = table(9, shape);
            let edges = table.thresholds().windows(3).zip(1u64..);
            // Where the law still moves from one outcome to the next.
            for (edge, outcome) in edges.filter(|(t, _)| t[0] + 1 < t[1] && t[1] + 1 < t[2]) {
                let edge = edge[1];
                assert_eq!(table.draw(&mut Tape::new([edge, 0]).then(0)), outcome);
                assert_eq!(table.draw(&mut Tape::new([edge, u64::MAX]).then(0)), outcome + 1);
                // Off the edge the table decides alone.
                assert_eq!(table.draw(&mut Tape::new([edge - 1, u64::MAX]).then(0)), outcome);
                assert_eq!(table.draw(&mut Tape::new([edge + 1, 0]).then(0)), outcome + 1);
            }
        }
    }

    /// Beyond the table the tail goes on: the more ones, the further out.
    #[test]
    fn the_tail_beyond_the_table_is_drawn_as_well() {
        let table = table(9, Shape::Geometric);
        let end = table.thresholds().len() as u64;
        let further = |ones: usize| {
            let mut words = vec![u64::MAX; ones];
            words.push(1 << 63);
            table.draw(&mut Tape::new(words).then(0))
        };
        let outcomes = [further(1), further(2), further(3), further(4)];
        assert!(
            outcomes[0] >= end - 1 && outcomes.is_sorted_by(|a, b| a < b),
            "{outcomes:?} {end}"
        );
        // Every 64 bits are 64 ln 2 scales further out.
        let step = outcomes[3] - outcomes[2];
        assert!((395..=404).contains(&step), "{step}");
    }

    /// The total encloses that of twice the bits, whose own width is nothing beside it.
    #[test]
    fn what_the_tail_leaves_out_is_in_the_total() {
        for shape in [Shape::Geometric, Shape::Gaussian] {
            for (numerator, denominator) in [(1, 3), (1, 16), (1, 31), (1, 1000), (3, 1)] {
                let rate = Ratio::new(numerator, denominator).unwrap();
                let weights = Weights { rate, shape, two_sided: true };
                let ((_, short), (_, long)) = (weights.cumulative(64), weights.cumulative(256));
                assert!(short.lo << 192 <= long.lo && long.hi <= short.hi << 192, "{weights:?}");
            }
        }
    }

    #[test]
    fn the_bits_of_a_table_do_not_depend_on_how_many_were_worked_out() {
        for shape in [Shape::Geometric, Shape::Gaussian] {
            for (numerator, denominator) in [(1, 3), (10, 1), (1, 1000), (1_000_000_007, 3)] {
                let rate = Ratio::new(numerator, denominator).unwrap();
                for two_sided in [true, false] {
                    let weights = Weights { rate: rate.clone(), shape, two_sided };
                    assert_eq!(thresholds(&weights, 192), thresholds(&weights, 512));
                }
            }
        }
    }
}
