//! Geometric noise of several levels as one draw: the laws that take a noise path from one point to
//! another.
//!
//! Noise at a level of rate r is two-sided geometric, `P(k)` proportional to `exp(-r |k|)`: the
//! larger the rate, the finer the level. A coarser level is a finer one plus an independent
//! residual, so an observer of several levels learns no more than the finest tells
//! (post-processing). Here are the residual, and its two inverses: the finer noise given the
//! coarser, and a level in between given both its neighbours. Together they draw levels in any
//! order with the joint law of one path. (What finer noise is *of*, the truth, does not come in
//! here: these are laws of the noise alone.)

use eke_budget::{Amount, Epsilon, L1};

use crate::law::laplace::geometric;
use crate::number::ScaleError;
use crate::number::fixed::Fixed;
use crate::number::scale::{power_below, shift};
use crate::path::MismatchReason;
use crate::sampler::coin::{bernoulli_exp_neg, choose, uniform_below};
use crate::{DiscreteLaplace, Entropy, Ratio};

/// A level of geometric noise, by its rate: epsilon over the sensitivity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometricLevel {
    rate: Ratio,
}

/// Why noise cannot be taken from one level to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// The levels are not in the order asked for.
    #[error("the levels are not in order: a finer level has less noise")]
    NotInOrder,
    /// The noise is too wide for 64-bit integers.
    #[error(transparent)]
    TooWide(#[from] ScaleError),
    /// Skellam noise is too wide to be drawn.
    #[error(
        "the Skellam noise is too wide: its lambda must be at most 2^30; pay more, or put the truth on a \
         coarser grid"
    )]
    SkellamTooWide,
    /// The noise given is further out than noise of any level.
    #[error("the noise given is beyond that of its level: it is not noise of this path")]
    TooFar,
}

impl GeometricLevel {
    /// The level of this rate.
    #[must_use]
    pub fn new(rate: &Ratio) -> Self {
        Self { rate: rate.clone() }
    }

    /// The level that a price pays for: epsilon over the sensitivity, exactly; none for no price.
    pub(crate) fn at(price: Amount<Epsilon>, sensitivity: L1) -> Option<Self> {
        Some(Self { rate: rate(price, sensitivity)? })
    }

    /// The scale of the noise.
    pub(crate) fn scale(&self) -> Ratio {
        self.rate.inverse()
    }

    /// How much larger another level's rate is; none unless it is finer.
    pub(crate) fn apart(&self, finer: &Self) -> Option<Ratio> {
        finer.rate.minus(&self.rate)
    }

    /// Whether noise of this level can be drawn, given a coarser level if there is one: the widest
    /// law that goes into it has the difference of the rates.
    pub(crate) fn can_follow(&self, coarser: Option<&Self>) -> Result<(), MismatchReason> {
        let too_wide = |error: ScaleError| MismatchReason::Level(error.into());
        shift(self.scale().approximate()).map_err(too_wide)?;
        if let Some(coarser) = coarser {
            let difference = coarser.apart(self).ok_or(MismatchReason::OtherStep)?;
            power_below(1.0 / difference.approximate()).map_err(too_wide)?;
        }
        Ok(())
    }

    /// A truth with noise of this level, given the next coarser level and what was released there.
    pub(crate) fn around<E: Entropy + ?Sized>(
        &self,
        truth: i64,
        coarser: Option<(&Self, i64)>,
        entropy: &mut E,
    ) -> Result<i64, MismatchReason> {
        let noise = match coarser {
            None => self.draw(entropy)?,
            Some((level, value)) => level.finer(value.saturating_sub(truth), self, entropy)?,
        };
        Ok(truth.saturating_add(noise))
    }

    /// A value of this level, given those released next to it: a finer one, and a coarser one if
    /// there is any. The noise of both is off by the same truth, which cancels.
    pub(crate) fn beside<E: Entropy + ?Sized>(
        &self,
        (finer, fine): (&Self, i64),
        coarser: Option<(&Self, i64)>,
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        match coarser {
            None => finer.coarser(fine, self, entropy),
            Some(coarser) => self.between((finer, fine), coarser, entropy),
        }
    }

    /// Noise at this level, from nothing.
    ///
    /// # Errors
    /// The noise is too wide.
    pub fn draw<E: Entropy + ?Sized>(&self, entropy: &mut E) -> Result<i64, LevelError> {
        Ok(DiscreteLaplace::once(&self.rate.inverse(), entropy)?)
    }

    /// Noise at a coarser level, given this level's.
    ///
    /// - Theorem: geometric-residual (docs/theorems.md)
    /// - Proves: adding nothing with probability w, and noise of the coarser level else, is the
    ///   independent residual between the two levels
    /// - Assumes: the noise given has this level's law (caller)
    /// - Deviates: nothing; the coin is decided bit by bit
    /// - Checked by: `geometric_levels_drawn_in_any_order_have_one_joint_law`,
    ///   `geometric_weights_match_the_golden_values`
    ///
    /// # Errors
    /// The other level is not coarser, or its noise too wide.
    pub fn coarser<E: Entropy + ?Sized>(
        &self,
        noise: i64,
        coarser: &Self,
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        let pair = Pair::new(&self.rate, &coarser.rate)?;
        let nothing = choose([pair.weight()], |bits| [pair.weight_fixed(bits)], entropy) == 0;
        let residual = if nothing { 0 } else { coarser.draw(entropy)? };
        Ok(noise.saturating_add(residual))
    }

    /// Noise at a finer level, given this level's.
    ///
    /// - Theorem: geometric-finer (docs/theorems.md)
    /// - Proves: the mixture of four laws below is that of the finer noise given the coarser
    /// - Assumes: the noise given has this level's law (caller)
    /// - Deviates: nothing; the part is chosen bit by bit
    /// - Checked by: `the_finer_law_is_bayes_law_of_the_residual`,
    ///   `geometric_levels_drawn_in_any_order_have_one_joint_law`,
    ///   `geometric_weights_match_the_golden_values`
    ///
    /// # Errors
    /// The other level is not finer, or the noise too wide.
    pub fn finer<E: Entropy + ?Sized>(
        &self,
        noise: i64,
        finer: &Self,
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        let pair = Pair::new(&finer.rate, &self.rate)?;
        let n = noise.unsigned_abs();
        let part = choose(pair.parts(n), |bits| pair.parts_fixed(n, bits), entropy);
        let beyond = |entropy: &mut E| -> Result<i128, LevelError> {
            let steps = geometric(&pair.sum, entropy)?;
            Ok(i128::try_from(steps).unwrap_or(i128::MAX / 2) + 1)
        };
        let magnitude = match part {
            0 => i128::from(n),
            1 => -beyond(entropy)?,
            2 => i128::from(n) + beyond(entropy)?,
            _ => i128::from(truncated(&pair.difference, n, entropy)?),
        };
        let signed = if noise < 0 { -magnitude } else { magnitude };
        Ok(i64::try_from(signed).unwrap_or(if signed < 0 { i64::MIN } else { i64::MAX }))
    }

    /// Noise at this level, given that of a finer and of a coarser one.
    ///
    /// - Theorem: geometric-between (docs/theorems.md)
    /// - Proves: the finer noise itself with probability pi, and else the finer law between this
    ///   level and the coarser one on their difference, is the law of the level in between
    /// - Assumes: both noises are of one path (caller)
    /// - Deviates: nothing; the coin is decided bit by bit
    /// - Checked by: `the_law_in_between_is_bayes_law_of_both_residuals`,
    ///   `geometric_levels_drawn_in_any_order_have_one_joint_law`,
    ///   `geometric_weights_match_the_golden_values`
    ///
    /// # Errors
    /// The levels are not in order, or the noise too wide.
    pub fn between<E: Entropy + ?Sized>(
        &self,
        (finer, fine_noise): (&Self, i64),
        (coarser, coarse_noise): (&Self, i64),
        entropy: &mut E,
    ) -> Result<i64, LevelError> {
        let triple = Triple::new(finer, self, coarser)?;
        let difference = coarse_noise.saturating_sub(fine_noise);
        let equal = difference == 0;
        let about = [triple.stay(equal)];
        let stays = choose(about, |bits| [triple.stay_fixed(equal, bits)], entropy) == 0;
        let step = if stays { 0 } else { coarser.finer(difference, self, entropy)? };
        Ok(fine_noise.saturating_add(step))
    }
}

/// One draw of the geometric law on 0, …, n.
fn truncated<E: Entropy + ?Sized>(
    rate: &Ratio,
    n: u64,
    entropy: &mut E,
) -> Result<u64, LevelError> {
    let bound = u128::from(n) + 1;
    if rate.approximate() * bound as f64 > 1.0 {
        // What is left of a geometric number when n + 1 is taken away again and again has exactly
        // this law, since the geometric law has no memory.
        let place = geometric(rate, entropy)? % bound;
        return Ok(u64::try_from(place).unwrap_or(n));
    }
    // Nearly flat: uniform, and kept with what is left.
    loop {
        let place = uniform_below(n + 1, entropy);
        if place == 0 || bernoulli_exp_neg(&rate.times(&place.into()), entropy) {
            return Ok(place);
        }
    }
}

/// The rate that a price pays for: epsilon over the sensitivity, exactly; none for no price.
pub(super) fn rate(price: Amount<Epsilon>, sensitivity: L1) -> Option<Ratio> {
    let epsilon = Ratio::new(price.grains(), Amount::<Epsilon>::ONE.grains())?;
    Some(epsilon.over(&Ratio::from_f64(sensitivity.get())?))
}

/// A finer and a coarser level, of rates a > b.
pub(super) struct Pair {
    pub(super) fine: Ratio,
    pub(super) coarse: Ratio,
    pub(super) sum: Ratio,
    pub(super) difference: Ratio,
}

impl Pair {
    pub(super) fn new(fine: &Ratio, coarse: &Ratio) -> Result<Self, LevelError> {
        let difference = fine.minus(coarse).ok_or(LevelError::NotInOrder)?;
        let sum = fine.plus(coarse);
        Ok(Self { fine: fine.clone(), coarse: coarse.clone(), sum, difference })
    }
}

/// For geometric noise, f and c standing for exp(-a) and exp(-b), q for f/c.
impl Pair {
    /// The probability that the residual adds nothing: `w = q ((1-c)/(1-f))²`.
    fn weight(&self) -> f64 {
        let part = one_less(&self.coarse) / one_less(&self.fine);
        power(&self.difference) * part * part
    }

    fn weight_fixed(&self, bits: usize) -> Fixed {
        let exp = |x: &Ratio| Fixed::exp_neg(x, bits);
        let part = &exp(&self.coarse).complement() / &exp(&self.fine).complement();
        &exp(&self.difference) * &(&part * &part)
    }

    /// Given coarse noise n, the probabilities that the fine noise is n, is below zero, or is above
    /// n: `q^(n+1) (1-c²)/(1-f²)`, `f c (1-q)/(1-f²)` and `q^n` times that. It is from 0 to n else.
    fn parts(&self, n: u64) -> [f64; 3] {
        let fine = 1.0 / one_less(&self.fine.times(&2u8.into()));
        let to_n = libm::exp(-self.difference.approximate() * { n as f64 });
        let equal =
            to_n * power(&self.difference) * one_less(&self.coarse.times(&2u8.into())) * fine;
        let below = power(&self.sum) * one_less(&self.difference) * fine;
        [equal, below, to_n * below]
    }

    fn parts_fixed(&self, n: u64, bits: usize) -> [Fixed; 3] {
        let exp = |x: &Ratio| Fixed::exp_neg(x, bits);
        let fine = exp(&self.fine.times(&2u8.into())).complement();
        let coarse = exp(&self.coarse.times(&2u8.into())).complement();
        let step = exp(&self.difference);
        let to_n = if n == 0 { Fixed::one(bits) } else { exp(&self.difference.times(&n.into())) };
        let equal = &(&(&to_n * &step) * &coarse) / &fine;
        let below = &(&exp(&self.sum) * &step.complement()) / &fine;
        let above = &to_n * &below;
        [equal, below, above]
    }
}

/// A level between two others.
struct Triple {
    lower: Pair,
    upper: Pair,
    whole: Pair,
}

impl Triple {
    fn new(
        fine: &GeometricLevel,
        middle: &GeometricLevel,
        coarse: &GeometricLevel,
    ) -> Result<Self, LevelError> {
        Ok(Self {
            lower: Pair::new(&fine.rate, &middle.rate)?,
            upper: Pair::new(&middle.rate, &coarse.rate)?,
            whole: Pair::new(&fine.rate, &coarse.rate)?,
        })
    }

    /// The probability that the level in between has the finer one's noise.
    ///
    /// With w1, w2 and w = w1 w2 the weights of the two residuals and of both together, and p what
    /// the coarser level's law gives a difference of zero, it is `w1 (w2 + (1-w2) p)/(w + (1-w) p)`
    /// for equal noises, and `w1 (1-w2)/(1-w)` for others, in which the law of the difference
    /// cancels.
    fn stay(&self, equal: bool) -> f64 {
        let (w1, w2) = (self.lower.weight(), self.upper.weight());
        let w = w1 * w2;
        if equal {
            let p = one_less(&self.whole.coarse) / (1.0 + power(&self.whole.coarse));
            w1 * (w2 + (1.0 - w2) * p) / (w + (1.0 - w) * p)
        } else {
            w1 * (1.0 - w2) / (1.0 - w)
        }
    }

    fn stay_fixed(&self, equal: bool, bits: usize) -> Fixed {
        let (w1, w2) = (self.lower.weight_fixed(bits), self.upper.weight_fixed(bits));
        let w = &w1 * &w2;
        if equal {
            let c = Fixed::exp_neg(&self.whole.coarse, bits);
            let p = &c.complement() / &(&Fixed::one(bits) + &c);
            let above = &w2 + &(&w2.complement() * &p);
            let below = &w + &(&w.complement() * &p);
            &(&w1 * &above) / &below
        } else {
            &(&w1 * &w2.complement()) / &w.complement()
        }
    }
}

/// `exp(-x)`, nearly.
fn power(x: &Ratio) -> f64 {
    libm::exp(-x.approximate())
}

/// `1 - exp(-x)`, nearly, also for small x.
fn one_less(x: &Ratio) -> f64 {
    -libm::expm1(-x.approximate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Dice;

    fn level(text: &str) -> GeometricLevel {
        let value: f64 = text.parse().unwrap();
        GeometricLevel::new(&Ratio::from_f64(value).unwrap())
    }

    fn assert_close(computed: f64, fixed: &Fixed, golden: &str) {
        let golden: f64 = golden.parse().unwrap();
        assert!((computed / golden - 1.0).abs() < 1e-13, "{computed} {golden}");
        let denominator = dashu_int::UBig::ONE << fixed.bits;
        for end in [&fixed.lo, &fixed.hi] {
            let end = Ratio { numerator: end.clone(), denominator: denominator.clone() };
            assert!((end.approximate() / golden - 1.0).abs() < 1e-13, "{fixed:?} {golden}");
        }
        assert!(fixed.lo <= fixed.hi);
    }

    /// From mpmath, at forty digits.
    #[test]
    fn geometric_weights_match_the_golden_values() {
        for (fine, coarse, weight) in [
            ("2", "1", "0.1966119332414818525374"),
            ("1", "0.5", "0.2350037122015944890693"),
            ("4", "0.1", "0.0001902130062097061416123"),
            ("0.8", "0.4", "0.2402607457415291504299"),
        ] {
            let pair = Pair::new(&level(fine).rate, &level(coarse).rate).unwrap();
            assert_close(pair.weight(), &pair.weight_fixed(200), weight);
        }
        for (fine, coarse, n, parts) in [
            (
                "2",
                "1",
                0,
                [
                    "0.3240271368319426997875",
                    "0.03205860328008498845081",
                    "0.03205860328008498845081",
                ],
            ),
            (
                "2",
                "1",
                4,
                [
                    "0.005934764028364321171307",
                    "0.03205860328008498845081",
                    "0.0005871738009552257651871",
                ],
            ),
            (
                "1",
                "0.5",
                1,
                [
                    "0.2689414213699951207488",
                    "0.1015363240915518008902",
                    "0.06158489363604466838410",
                ],
            ),
            (
                "4",
                "0.1",
                4,
                [
                    "6.162081632889921457981e-10",
                    "0.01624266157979642537651",
                    "2.726862742056507912047e-9",
                ],
            ),
            (
                "0.8",
                "0.4",
                1,
                [
                    "0.3100255188723875573661",
                    "0.1244170664035290222708",
                    "0.08339925367923276601821",
                ],
            ),
        ] {
            let pair = Pair::new(&level(fine).rate, &level(coarse).rate).unwrap();
            for ((about, fixed), golden) in
                pair.parts(n).into_iter().zip(pair.parts_fixed(n, 200)).zip(parts)
            {
                assert_close(about, &fixed, golden);
            }
        }
        for (levels, equal, stay) in [
            (["2", "1", "0.5"], true, "0.2967837098653403246492"),
            (["2", "1", "0.5"], false, "0.1576935563815932844888"),
            (["4", "1", "0.1"], true, "0.02417277045908440442681"),
            (["4", "1", "0.1"], false, "0.02045666992261136030372"),
        ] {
            let [fine, middle, coarse] = levels.map(level);
            let triple = Triple::new(&fine, &middle, &coarse).unwrap();
            assert_close(triple.stay(equal), &triple.stay_fixed(equal, 200), stay);
        }
    }

    /// `P(k)` of a level.
    fn law(rate: f64, k: i64) -> f64 {
        -libm::expm1(-rate) / (1.0 + libm::exp(-rate)) * libm::exp(-rate * k.abs() as f64)
    }

    /// The law of the residual from one rate to another.
    fn residual(pair: &Pair, coarse: f64, k: i64) -> f64 {
        let weight = pair.weight();
        if k == 0 {
            weight + (1.0 - weight) * law(coarse, 0)
        } else {
            (1.0 - weight) * law(coarse, k)
        }
    }

    /// The finer law of the mixture, in full.
    fn mixture(pair: &Pair, n: u64, k: i64) -> f64 {
        let [equal, below, above] = pair.parts(n);
        let between = 1.0 - equal - below - above;
        let (sum, difference) = (pair.sum.approximate(), pair.difference.approximate());
        let signed = i64::try_from(n).unwrap();
        let steps = |k: i64| -libm::expm1(-sum) * libm::exp(-sum * (k - 1) as f64);
        let mut probability = if k == signed { equal } else { 0.0 };
        if k < 0 {
            probability += below * steps(-k);
        } else if k > signed {
            probability += above * steps(k - signed);
        } else {
            let all = -libm::expm1(-difference * (n + 1) as f64);
            probability +=
                between * -libm::expm1(-difference) * libm::exp(-difference * k as f64) / all;
        }
        probability
    }

    const RATES: [(f64, f64, f64); 4] =
        [(2.0, 1.0, 0.5), (0.9, 0.85, 0.1), (3.0, 0.2, 0.19), (0.3, 0.2, 0.1)];

    fn levels(rates: (f64, f64, f64)) -> [GeometricLevel; 3] {
        [rates.0, rates.1, rates.2].map(|r| GeometricLevel::new(&Ratio::from_f64(r).unwrap()))
    }

    /// Enumerated: given the coarse noise, Bayes' law of the fine noise and the residual.
    #[test]
    fn the_finer_law_is_bayes_law_of_the_residual() {
        for rates in RATES {
            let [fine, _, coarse] = levels(rates);
            let pair = Pair::new(&fine.rate, &coarse.rate).unwrap();
            for n in 0..12u64 {
                let given = i64::try_from(n).unwrap();
                for k in -30..40i64 {
                    let bayes =
                        law(rates.0, k) * residual(&pair, rates.2, given - k) / law(rates.2, given);
                    let ours = mixture(&pair, n, k);
                    assert!((ours - bayes).abs() < 1e-13, "{rates:?} {n} {k}: {ours} {bayes}");
                }
            }
        }
    }

    /// Enumerated: given both neighbours, Bayes' law of the two residuals.
    #[test]
    fn the_law_in_between_is_bayes_law_of_both_residuals() {
        for rates in RATES {
            let [fine, middle, coarse] = levels(rates);
            let triple = Triple::new(&fine, &middle, &coarse).unwrap();
            for difference in -8..9i64 {
                let whole = residual(&triple.whole, rates.2, difference);
                for step in -20..20i64 {
                    let bayes = residual(&triple.lower, rates.1, step)
                        * residual(&triple.upper, rates.2, difference - step)
                        / whole;
                    let stay = triple.stay(difference == 0);
                    let sign = if difference < 0 { -1 } else { 1 };
                    let moves = mixture(&triple.upper, difference.unsigned_abs(), sign * step);
                    let ours = if step == 0 { stay } else { 0.0 } + (1.0 - stay) * moves;
                    assert!((ours - bayes).abs() < 1e-13, "{rates:?} {difference} {step}");
                }
            }
        }
    }

    /// Both ways of drawing it, on each side of where they meet.
    #[test]
    fn the_truncated_law_is_the_same_either_way() {
        let mut entropy = Dice(5);
        for (rate, n) in [(0.24, 3u64), (0.26, 3), (0.09, 10), (0.1, 10)] {
            let ratio = Ratio::from_f64(rate).unwrap();
            let mut counts = [0.0f64; 11];
            const DRAWS: u32 = 200_000;
            for _ in 0..DRAWS {
                counts[usize::try_from(truncated(&ratio, n, &mut entropy).unwrap()).unwrap()] +=
                    1.0;
            }
            // The largest deviation of a count from what a rate expects, in standard deviations.
            // Six is one in a thousand million; the control is a rate 10 % off.
            let worst = |rate: f64| {
                let total: f64 = (0..=n).map(|k| libm::exp(-rate * k as f64)).sum();
                (0..=n)
                    .map(|k| {
                        let expected = f64::from(DRAWS) * libm::exp(-rate * k as f64) / total;
                        (counts[usize::try_from(k).unwrap()] - expected).abs() / expected.sqrt()
                    })
                    .fold(0.0, f64::max)
            };
            assert!(worst(rate) < 6.0, "{rate} {n}: {}", worst(rate));
            assert!(worst(rate * 1.1) > 6.0, "{rate} {n}: the test is blind");
        }
    }

    #[test]
    fn levels_out_of_order_are_errors() {
        let (fine, coarse) = (level("2"), level("1"));
        let mut entropy = crate::SystemEntropy::new().unwrap();
        assert_eq!(fine.finer(0, &coarse, &mut entropy), Err(LevelError::NotInOrder));
        assert_eq!(coarse.coarser(0, &fine, &mut entropy), Err(LevelError::NotInOrder));
        assert_eq!(fine.coarser(0, &fine, &mut entropy), Err(LevelError::NotInOrder));
        let between = fine.between((&coarse, 0), (&fine, 0), &mut entropy);
        assert_eq!(between, Err(LevelError::NotInOrder));
    }
}
