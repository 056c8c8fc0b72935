//! Laws on whole numbers that are known by the ratios of neighbouring probabilities, drawn exactly.
//!
//! From an outcome near the middle, the ratios lead to the weights of all others, upwards and
//! downwards. One uniform number is compared with their running sums, first those from the middle
//! upwards and then those below it: in floating point where it is further from an edge than that is
//! off by, and else in integers that enclose the weights, with as many bits as are needed.
//!
//! Invariant: ratios fall as outcomes grow (the laws are log-concave), so what is left out at
//! either end is below a geometric series.

use dashu_int::UBig;

use crate::number::fixed::Fixed;
use crate::sampler::audit_cells;
use crate::sampler::coin::Uniform;
use crate::{Entropy, Ratio};

/// A log-concave law on the numbers from zero on.
#[derive(Clone, Debug)]
pub(crate) enum Ladder {
    /// `P(k)` proportional to `mean^k/k!`.
    Poisson { mean: Ratio },
    /// `P(k)` proportional to `mean^(2k)/(k! (k + apart)!)`: the smaller of two Poisson numbers of
    /// one mean, given how far apart they are.
    Smaller { mean: Ratio, apart: u64 },
    /// How many of n are kept, each with this probability, which is below one.
    Kept { of: u64, share: Ratio },
}

/// What the ratios in floating point may be off by, relatively, and more.
const STEP_ERROR: f64 = 1.0 / (1u64 << 46) as f64;
/// Weights below this beside the largest are left out in floating point.
const FAR: f64 = 1e-25;

impl Ladder {
    /// One draw.
    ///
    /// - Theorem: lazy-bits (docs/theorems.md)
    /// - Proves: exactly this law
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: decided in floating point where its error cannot matter
    /// - Checked by: `ladders_have_their_laws_in_every_bit`,
    ///   `a_ladder_is_decided_right_on_either_side_of_its_edges`
    pub(crate) fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> u64 {
        if self.last() == Some(0) {
            return 0;
        }
        let word = audit_cells::word(entropy, || self.cells());
        self.decide_in_doubles(word).unwrap_or_else(|| self.decide(word, entropy))
    }

    /// An outcome near the most probable one.
    fn middle(&self) -> u64 {
        let about = match self {
            Self::Poisson { mean } => mean.approximate(),
            Self::Smaller { mean, apart } => {
                let (mean, apart) = (mean.approximate(), double(*apart));
                // The root of k (k + apart) = mean².
                2.0 * mean * mean / (apart + libm::hypot(apart, 2.0 * mean))
            }
            Self::Kept { of, share } => double(*of) * share.approximate(),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let middle = about as u64;
        self.last().map_or(middle, |last| middle.min(last))
    }

    /// The largest outcome, if there is one.
    fn last(&self) -> Option<u64> {
        match self {
            Self::Kept { of, .. } => Some(*of),
            Self::Poisson { .. } | Self::Smaller { .. } => None,
        }
    }

    /// `P(k + 1)/P(k)`, nearly; for a number prepared by [`Ladder::number`].
    fn up(&self, number: f64, k: u64) -> f64 {
        let next = double(k) + 1.0;
        match self {
            Self::Poisson { .. } => number / next,
            Self::Smaller { apart, .. } => number * number / (next * (next + double(*apart))),
            Self::Kept { of, .. } => number * double(of - k) / next,
        }
    }

    /// The mean, or the odds of being kept.
    fn number(&self) -> f64 {
        match self {
            Self::Poisson { mean } | Self::Smaller { mean, .. } => mean.approximate(),
            Self::Kept { share, .. } => odds(share).approximate(),
        }
    }

    /// `P(k + 1)/P(k)`, exactly.
    fn up_exactly(&self, k: u64) -> Ratio {
        let next = UBig::from(k) + UBig::ONE;
        match self {
            Self::Poisson { mean } => over(mean, &next),
            Self::Smaller { mean, apart } => {
                over(&mean.squared(), &(&next * (&next + UBig::from(*apart))))
            }
            Self::Kept { of, share } => over(&odds(share).times(&UBig::from(of - k)), &next),
        }
    }

    /// The outcome of a uniform number that starts with this word; none where doubles do not
    /// decide.
    fn decide_in_doubles(&self, word: u64) -> Option<u64> {
        let (middle, last, number) = (self.middle(), self.last(), self.number());
        // Two passes: the sums of both sides first.
        let mut steps = 64.0;
        let (mut k, mut weight, mut above) = (middle, 1.0, 1.0);
        while weight >= FAR && last.is_none_or(|last| k < last) {
            weight *= self.up(number, k);
            above += weight;
            k += 1;
            steps += 1.0;
        }
        let (mut k, mut weight, mut below) = (middle, 1.0, 0.0);
        while weight >= FAR && k > 0 {
            k -= 1;
            weight /= self.up(number, k);
            below += weight;
            steps += 1.0;
        }
        let total = above + below;
        let at = libm::ldexp(word as f64, -64) * total;
        let margin = total * steps * STEP_ERROR;
        if !margin.is_finite() {
            return None;
        }
        let is_clear = |low: f64, high: f64| low + margin < at && at < high - margin;
        let side = |start: f64, first: (u64, f64), up: bool| {
            let ((mut k, mut weight), mut sum) = (first, start);
            loop {
                // The very first has nothing below it.
                let low = if sum == 0.0 { f64::NEG_INFINITY } else { sum };
                if at < sum + weight + margin {
                    return is_clear(low, sum + weight).then_some(k);
                }
                sum += weight;
                if weight < FAR || (up && last == Some(k)) || (!up && k == 0) {
                    return None;
                }
                if up {
                    weight *= self.up(number, k);
                    k += 1;
                } else {
                    k -= 1;
                    weight /= self.up(number, k);
                }
            }
        };
        if at < above - margin {
            side(0.0, (middle, 1.0), true)
        } else if at > above + margin && middle > 0 {
            side(above, (middle - 1, 1.0 / self.up(number, middle - 1)), false)
        } else {
            None
        }
    }

    /// The outcome of a word that doubles do not decide.
    #[cold]
    fn decide<E: Entropy + ?Sized>(&self, word: u64, entropy: &mut E) -> u64 {
        let mut uniform = Uniform::new(word);
        'more: loop {
            uniform.refine(entropy);
            let Sums { outcomes, gap, total } = self.sums(uniform.bits + 64);
            let (above, at_least) =
                (uniform.lowest_above() * &total.hi, &uniform.lowest * &total.lo);
            for (index, (outcome, sum)) in outcomes.iter().enumerate() {
                if above <= &sum.lo << uniform.bits {
                    return *outcome;
                }
                let end =
                    gap.as_ref().filter(|(at, _)| *at == index).map_or(&sum.hi, |(_, end)| end);
                if at_least < end << uniform.bits {
                    continue 'more;
                }
            }
        }
    }

    /// The running sums of the weights in the order in which they are compared.
    fn sums(&self, bits: usize) -> Sums {
        let middle = self.middle();
        let mut outcomes = Vec::new();
        let mut sum = Fixed::zero(bits);
        let mut weight = Fixed::one(bits);
        let mut k = middle;
        let upper_tail = loop {
            sum = &sum + &weight;
            outcomes.push((k, sum.clone()));
            if self.last() == Some(k) {
                break UBig::ZERO;
            }
            let ratio = self.up_exactly(k);
            if weight.lo.is_zero() {
                break tail(&weight, &ratio);
            }
            weight = scaled(&weight, &ratio);
            k += 1;
        };
        sum.hi += upper_tail;
        let gap = Some((outcomes.len() - 1, sum.hi.clone()));
        (k, weight) = (middle, Fixed::one(bits));
        let mut total = sum.clone();
        while k > 0 {
            let ratio = self.up_exactly(k - 1).inverse();
            if weight.lo.is_zero() {
                total.hi += tail(&weight, &ratio);
                break;
            }
            weight = scaled(&weight, &ratio);
            k -= 1;
            sum = &sum + &weight;
            total = &total + &weight;
            outcomes.push((k, sum.clone()));
        }
        Sums { outcomes, gap, total }
    }

    /// What the first word tells apart.
    fn cells(&self) -> Vec<audit_cells::Cell> {
        let Sums { outcomes, gap, total } = self.sums(192);
        let shares = outcomes.iter().enumerate().flat_map(|(index, (_, sum))| {
            let end = gap.as_ref().filter(|(at, _)| *at == index).map(|(_, end)| Fixed {
                lo: sum.lo.clone(),
                hi: end.clone(),
                bits: sum.bits,
            });
            [Some(sum / &total), end.map(|end| &end / &total)].into_iter().flatten()
        });
        audit_cells::cut(&shares.collect::<Vec<_>>())
    }
}

/// Running sums of weights.
struct Sums {
    /// Every outcome, and the weights up to it.
    outcomes: Vec<(u64, Fixed)>,
    /// After which of them outcomes were left out, and what the sum is with those, at most.
    gap: Option<(usize, UBig)>,
    total: Fixed,
}

/// A weight times a ratio.
fn scaled(weight: &Fixed, ratio: &Ratio) -> Fixed {
    Fixed {
        lo: &weight.lo * &ratio.numerator / &ratio.denominator,
        hi: &weight.hi * &ratio.numerator / &ratio.denominator + UBig::ONE,
        bits: weight.bits,
    }
}

/// More than all weights after one, whose ratios are no larger than this one, which is below one.
fn tail(weight: &Fixed, ratio: &Ratio) -> UBig {
    if ratio.numerator >= ratio.denominator {
        // So far out ratios are below one; where they are not, nothing is known.
        return UBig::ONE << (2 * weight.bits);
    }
    &weight.hi * &ratio.numerator / (&ratio.denominator - &ratio.numerator) + UBig::ONE
}

/// A probability below one as odds.
fn odds(share: &Ratio) -> Ratio {
    Ratio { numerator: share.numerator.clone(), denominator: &share.denominator - &share.numerator }
}

fn over(ratio: &Ratio, divisor: &UBig) -> Ratio {
    Ratio { numerator: ratio.numerator.clone(), denominator: &ratio.denominator * divisor }
}

fn double(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::{Dice, Tape};

    fn ratio(value: f64) -> Ratio {
        Ratio::from_f64(value).unwrap()
    }

    /// A law, and the logarithm of its weights.
    type Known = (Ladder, Box<dyn Fn(u64) -> f64>);

    fn ladders() -> Vec<Known> {
        let mut all: Vec<Known> = Vec::new();
        let ln_factorial = |k: u64| libm::lgamma(double(k) + 1.0);
        for mean in [0.01, 0.7, 1.0, 4.0, 33.5] {
            let log = libm::log(mean);
            all.push((
                Ladder::Poisson { mean: ratio(mean) },
                Box::new(move |k| double(k) * log - ln_factorial(k)),
            ));
            for apart in [0u64, 1, 5, 100] {
                all.push((
                    Ladder::Smaller { mean: ratio(mean), apart },
                    Box::new(move |k| {
                        2.0 * double(k) * log - ln_factorial(k) - ln_factorial(k + apart)
                    }),
                ));
            }
        }
        for of in [1u64, 2, 17, 300] {
            // Not of powers of two, whose edges have an end that zeros and ones never leave.
            for (part, whole) in [(1u32, 1000u32), (1, 3), (3, 7), (96, 97)] {
                let share = f64::from(part) / f64::from(whole);
                let exactly = Ratio::new(part.into(), whole.into()).unwrap();
                all.push((
                    Ladder::Kept { of, share: exactly },
                    Box::new(move |k| {
                        ln_factorial(of) - ln_factorial(k) - ln_factorial(of - k)
                            + double(k) * libm::log(share)
                            + double(of - k) * libm::log1p(-share)
                    }),
                ));
            }
        }
        all
    }

    /// The weights in integers, at two widths, against the logarithms of the law: every outcome has
    /// its share, and the wider enclosures lie within the narrower.
    #[test]
    fn ladders_have_their_laws_in_every_bit() {
        for (ladder, ln) in ladders() {
            let (short, long) = (ladder.sums(128), ladder.sums(256));
            assert!(short.total.lo << 128 <= long.total.lo, "{ladder:?}");
            assert!(long.total.hi <= short.total.hi << 128, "{ladder:?}");
            let total = long.total.lo.clone();
            let all: f64 =
                long.outcomes.iter().map(|(k, _)| libm::exp(ln(*k) - ln(ladder.middle()))).sum();
            let mut before = UBig::ZERO;
            for (index, (outcome, sum)) in long.outcomes.iter().enumerate() {
                let share = Ratio { numerator: &sum.lo - &before, denominator: total.clone() };
                let expected = libm::exp(ln(*outcome) - ln(ladder.middle())) / all;
                if expected > 1e-30 {
                    let off = share.approximate() / expected - 1.0;
                    assert!(off.abs() < 1e-9, "{ladder:?} {outcome}: {off:e}");
                }
                before = sum.lo.clone();
                // The same order, and enclosed, at either width.
                if let Some((other, short)) =
                    short.outcomes.get(index).filter(|(o, _)| o == outcome)
                {
                    assert_eq!(other, outcome);
                    assert!(&short.lo << 128 <= sum.lo && sum.hi <= &short.hi << 128);
                }
            }
        }
    }

    /// On an edge the bits that follow decide, and off it the doubles are right: for every outcome
    /// of every ladder, and around where doubles hand over.
    #[test]
    fn a_ladder_is_decided_right_on_either_side_of_its_edges() {
        for (ladder, _) in ladders() {
            let Sums { outcomes, total, .. } = ladder.sums(320);
            for (index, pair) in outcomes.windows(2).enumerate() {
                let edge = (&pair[0].1.lo << 64) / &total.hi;
                let Ok(edge) = u64::try_from(edge) else { continue };
                let width = |a: &Fixed, b: &Fixed| {
                    u64::try_from(((&b.lo - &a.lo) << 64) / &total.hi).unwrap_or(u64::MAX)
                };
                let before =
                    if index == 0 { edge } else { width(&outcomes[index - 1].1, &pair[0].1) };
                let after = width(&pair[0].1, &pair[1].1);
                // Outcomes on either side that are wide enough to be hit off the edge.
                for off in [1u64, 1 << 8, 1 << 16, 1 << 24, 1 << 32, 1 << 40] {
                    if before > 2 * off && after > 2 * off && edge > off {
                        let low = ladder.draw(&mut Tape::new([edge - off]).then(u64::MAX));
                        let high = ladder.draw(&mut Tape::new([edge + off]).then(0));
                        assert_eq!((low, high), (pair[0].0, pair[1].0), "{ladder:?} {off}");
                    }
                }
                if before > 2 && after > 2 {
                    let exact = &total.hi * UBig::from(edge) == &pair[0].1.lo << 64;
                    assert!(exact || ladder.draw(&mut Tape::new([edge]).then(0)) == pair[0].0);
                    assert_eq!(
                        ladder.draw(&mut Tape::new([edge]).then(u64::MAX)),
                        pair[1].0,
                        "{ladder:?}"
                    );
                }
            }
        }
    }

    /// From mpmath, at forty digits.
    #[test]
    fn the_smaller_of_two_poisson_numbers_has_the_golden_law() {
        for (apart, mean, shares) in [
            (
                0,
                2.0,
                "0.08848052607644988680967 0.3539221043057995472387 0.3539221043057995472387 \
                 0.1572987130247997987727 0.03932467825619994969319 0.006291948520991991950910",
            ),
            (
                3,
                2.0,
                "0.3995274654719871980020 0.3995274654719871980020 0.1598109861887948792008 \
                 0.03551355248639886204462 0.005073364640914123149232 0.0005073364640914123149232",
            ),
            (
                1,
                0.5,
                "0.8847066188402912928565 0.1105883273550364116071 0.004607846973126517150294 \
                 0.00009599681194013577396446 0.000001199960149251697174556 9.999667910430809787964e-9",
            ),
        ] {
            let shares: Vec<f64> = shares.split(' ').map(|share| share.parse().unwrap()).collect();
            let Sums { outcomes, total, .. } =
                Ladder::Smaller { mean: ratio(mean), apart }.sums(200);
            let mut before = UBig::ZERO;
            for (outcome, sum) in &outcomes {
                let share = Ratio { numerator: &sum.lo - &before, denominator: total.lo.clone() };
                before = sum.lo.clone();
                if let Some(golden) = shares.get(usize::try_from(*outcome).unwrap()) {
                    assert!(
                        (share.approximate() / golden - 1.0).abs() < 1e-13,
                        "{apart} {outcome}"
                    );
                }
            }
        }
    }

    /// Words through and through: doubles decide as integers do.
    #[test]
    fn doubles_never_disagree_with_integers() {
        let ladder = Ladder::Poisson { mean: ratio(1000.5) };
        let mut dice = Dice(1);
        let mut decided = 0;
        for _ in 0..200 {
            let word = dice.word();
            if let Some(outcome) = ladder.decide_in_doubles(word) {
                decided += 1;
                for follow in [0, u64::MAX] {
                    assert_eq!(ladder.decide(word, &mut Tape::always(follow)), outcome);
                }
            }
        }
        assert!(decided >= 199);
    }
}
