//! What holds at every look at once, however it was decided when to stop: balls around points, and
//! when the sign of a value is known.
//!
//! A released value that is refined has a precision u, one over its variance; u times what it is
//! off by moves like Brownian motion in u. Everything here bounds that motion for all u together.
//! What is looked at more rarely, or has noise with lighter tails, is within the same bounds.

use eke_budget::number::normal::Cdf;

use crate::width::quantiles::{Miss, quantile};

/// Balls for points in any number of dimensions: with the confidence, the true point is within the
/// radius of the released one at every precision at once.
///
/// - Theorem: anytime-ball (docs/theorems.md)
/// - Proves: the square of u times the error is below `(u + g)(d ln((u + g)/g) + 2 ln(1/miss))` for
///   all u at once, with probability `1 - miss`, for any g fixed in advance
/// - Assumes: increments are independent and sub-Gaussian with their own variance in every
///   direction (path)
/// - Deviates: no
/// - Checked by: `balls_hold_at_every_look_at_once`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnytimeBall {
    dimensions: f64,
    gamma: f64,
    /// `2 ln(1/miss)`.
    log: f64,
}

/// When the sign of a value is known well enough to stop: when u times the released value is as far
/// from zero as [`SignBoundary::at`] says.
///
/// - Theorem: sign-boundary (docs/theorems.md)
/// - Proves: the sign it stops with is wrong (or another than at the last precision) with
///   probability `miss` at most, for every true value and any looks
/// - Assumes: increments are independent and normal (path; discrete ones are within e^±tau of it);
///   what a constructor says about the true value or the last precision (caller)
/// - Deviates: no
/// - Checked by: `signs_are_wrong_no_more_often_than_said`, `signs_are_those_of_the_last_look`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignBoundary {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The same at every precision.
    Constant(f64),
    /// A mixture over how fast the motion may go one way.
    Mixture(OneSided),
    /// That for what is left of the motion when its end is known.
    Bridge(OneSided, f64),
}

/// A boundary that Brownian motion passes with a probability: a mixture over drifts of one sign.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OneSided {
    gamma: f64,
    /// `ln(1/(2 miss))`.
    log: f64,
}

impl AnytimeBall {
    /// One that is smallest at about this precision, one over a variance.
    ///
    /// # Panics
    /// There are no dimensions, or the precision is not above zero.
    #[must_use]
    pub fn tightest_at(precision: f64, dimensions: usize, miss: Miss) -> Self {
        assert!(dimensions > 0 && precision > 0.0, "a point has coordinates and a precision");
        let dimensions = dimensions as f64;
        let log = -2.0 * libm::log(miss.get());
        Self { dimensions, gamma: precision / best_ratio(log / dimensions), log }
    }

    /// How far the true point is from the released one at most, at a precision.
    #[must_use]
    pub fn radius(&self, precision: f64) -> f64 {
        let total = precision + self.gamma;
        let log = self.dimensions * libm::log(total / self.gamma) + self.log;
        (total * log).sqrt() / precision
    }
}

impl SignBoundary {
    /// For as long as somebody likes, closest at about this precision: the sign is that of the true
    /// value.
    ///
    /// # Panics
    /// The precision is not above zero.
    #[must_use]
    pub fn forever(tightest_at: f64, miss: Miss) -> Self {
        Self { kind: Kind::Mixture(OneSided::tightest_at(tightest_at, miss)) }
    }

    /// Until a last precision: the sign is that of the true value. It asks least of values that are
    /// close to zero.
    ///
    /// # Panics
    /// The last precision is not above zero.
    #[must_use]
    pub fn until(last: f64, miss: Miss) -> Self {
        assert!(last > 0.0, "a precision is above zero");
        Self { kind: Kind::Constant(last.sqrt() * quantile(libm::log(miss.get() / 2.0))) }
    }

    /// For true values that are at least this far from zero; of those closer, either sign will do.
    ///
    /// # Panics
    /// The gap is not above zero.
    #[must_use]
    pub fn with_gap(gap: f64, miss: Miss) -> Self {
        assert!(gap > 0.0, "a gap is above zero");
        Self { kind: Kind::Constant(-libm::log(miss.get()) / (2.0 * gap)) }
    }

    /// The sign is that which would be released at the last precision: stopping changes no answer,
    /// but for the miss. This asks for half of what [`SignBoundary::until`] does, whatever the true
    /// value.
    ///
    /// # Panics
    /// The last precision is not above zero.
    #[must_use]
    pub fn like_last(last: f64, miss: Miss) -> Self {
        assert!(last > 0.0, "a precision is above zero");
        Self { kind: Kind::Constant(last.sqrt() * quantile(libm::log(miss.get() / 2.0)) / 2.0) }
    }

    /// As [`SignBoundary::like_last`], closest at about an earlier precision, so that values far
    /// from zero stop earlier and those close to zero later.
    ///
    /// # Panics
    /// The precisions are not above zero and one below the other.
    #[must_use]
    pub fn like_last_tightest_at(last: f64, tightest_at: f64, miss: Miss) -> Self {
        assert!(0.0 < tightest_at && tightest_at < last, "precisions grow");
        let clock = bridge_clock(tightest_at, last);
        Self { kind: Kind::Bridge(OneSided::tightest_at(clock, miss), last) }
    }

    /// How far from zero the precision times the released value must be to stop at a precision.
    #[must_use]
    pub fn at(&self, precision: f64) -> f64 {
        match self.kind {
            Kind::Constant(bound) => bound,
            Kind::Mixture(mixture) => mixture.at(precision),
            Kind::Bridge(_, last) if precision >= last => 0.0,
            Kind::Bridge(mixture, last) => {
                (1.0 - precision / last) * mixture.at(bridge_clock(precision, last))
            }
        }
    }

    /// How far from zero the released value must be to stop at a precision.
    #[must_use]
    pub fn half_width(&self, precision: f64) -> f64 {
        self.at(precision) / precision
    }
}

impl OneSided {
    fn tightest_at(precision: f64, miss: Miss) -> Self {
        assert!(precision > 0.0, "a precision is above zero");
        let log = -libm::log(2.0 * miss.get());
        // Close to the best: that of a boundary with two sides and twice the miss.
        Self { gamma: precision / best_ratio(2.0 * log.max(0.1)), log }
    }

    fn at(&self, precision: f64) -> f64 {
        let total = precision + self.gamma;
        let wanted = self.log + 0.5 * libm::log(total / self.gamma);
        // x²/2 + ln Phi(x) grows and is convex; without ln Phi(x) it is too large, so that starts
        // are too small.
        let mut x = (2.0 * wanted.max(0.0)).sqrt();
        for _ in 0..100 {
            let below = Cdf::at(x);
            let step = (wanted - x * x / 2.0 - below.ln()) / (x + below.hazard());
            x += step;
            if step.abs() <= 1e-14 * x.abs() {
                break;
            }
        }
        x * total.sqrt()
    }
}

/// Brownian motion whose end at a last time is known is Brownian motion by this clock, times what
/// is left.
fn bridge_clock(precision: f64, last: f64) -> f64 {
    precision / (1.0 - precision / last)
}

/// The ratio r of a precision and g at which `(1 + 1/r)(ln(1 + r) + c)` is smallest: where
/// `r - ln(1 + r) = c`.
fn best_ratio(c: f64) -> f64 {
    let mut ratio = c + (2.0 * c).sqrt() + 1e-12;
    for _ in 0..100 {
        let step = (ratio - libm::log1p(ratio) - c) * (1.0 + ratio) / ratio;
        ratio -= step;
        if step.abs() <= 1e-12 * ratio {
            break;
        }
    }
    ratio
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Dice;

    fn miss(value: f64) -> Miss {
        Miss::new(value).unwrap()
    }

    /// Looks at precisions that grow by a ratio.
    fn looks(from: f64, ratio: f64, to: f64) -> Vec<f64> {
        let mut looks = vec![from];
        while *looks.last().unwrap() < to {
            looks.push((looks.last().unwrap() * ratio).min(to));
        }
        looks
    }

    /// The number of hits in n runs of this probability that is hardly ever exceeded: five and a
    /// half deviations above the mean, that is a false alarm in 1e7.
    fn at_most(runs: u32, probability: f64) -> f64 {
        let mean = f64::from(runs) * probability;
        mean + 5.5 * mean.sqrt()
    }

    #[test]
    fn balls_of_one_dimension_are_the_confidence_sequence() {
        let confidence = eke_noise::Confidence::new(0.95).unwrap();
        let line = eke_noise::stopping::ConfidenceSequence::tightest_at(10.0, confidence);
        let ball = AnytimeBall::tightest_at(10.0, 1, miss(0.05));
        for precision in [1.0, 5.0, 10.0, 100.0] {
            let (known, found) = (line.half_width(precision) - 0.5, ball.radius(precision));
            assert!((found / known - 1.0).abs() < 0.05, "{precision}: {found} {known}");
        }
        assert!(ball.radius(10.0) <= line.half_width(10.0) - 0.5, "it is the smallest there");
        // And close to a ball for one look where it is tightest, in many dimensions.
        let many = AnytimeBall::tightest_at(1.0, 784, miss(1e-3));
        let once = crate::width::chi_width(784, miss(1e-3));
        assert!(many.radius(1.0) < 1.2 * once && many.radius(1.0) > once, "{}", many.radius(1.0));
    }

    /// Seeds 31 to 33, 4000 runs, a false alarm in 1e7 each. The control has the ball of one look.
    #[test]
    fn balls_hold_at_every_look_at_once() {
        const RUNS: u32 = 4000;
        for (dimensions, seed) in [(1, 31), (2, 32), (5, 33)] {
            let mut seeded = Dice::new(seed);
            let ball = AnytimeBall::tightest_at(3.0, dimensions, miss(0.05));
            let once = crate::width::chi_width(dimensions, miss(0.05));
            let (mut missed, mut control) = (0u32, 0u32);
            let looks = looks(0.05, 1.05, 100.0);
            for _ in 0..RUNS {
                let (mut motion, mut before) = (vec![0.0; dimensions], 0.0f64);
                let (mut out, mut out_once) = (false, false);
                for &look in &looks {
                    let deviation = (look - before).sqrt();
                    motion.iter_mut().for_each(|at| *at += deviation * seeded.normal());
                    before = look;
                    let far = motion.iter().map(|at| at * at).sum::<f64>().sqrt() / look;
                    out |= far >= ball.radius(look);
                    out_once |= far >= once / look.sqrt();
                }
                missed += u32::from(out);
                control += u32::from(out_once);
            }
            assert!(f64::from(missed) <= at_most(RUNS, 0.05), "{dimensions}: {missed}");
            assert!(f64::from(control) > at_most(RUNS, 0.05), "{dimensions}: {control}");
        }
    }

    /// How many of n runs stop with the sign that is not this value's, how many with another than
    /// at the last look, and how much of the last precision they spend.
    fn signs(
        boundary: SignBoundary,
        value: f64,
        last: f64,
        runs: u32,
        seed: u64,
    ) -> (u32, u32, f64) {
        let mut seeded = Dice::new(seed);
        let looks: Vec<(f64, f64)> = looks(last / 400.0, 1.1, last)
            .into_iter()
            .map(|look| (look, boundary.at(look)))
            .collect();
        let (mut wrong, mut other, mut spent) = (0, 0, 0.0);
        for _ in 0..runs {
            let (mut motion, mut before, mut stopped) = (0.0, 0.0, None);
            for &(look, bound) in &looks {
                motion += value * (look - before) + (look - before).sqrt() * seeded.normal();
                before = look;
                if stopped.is_none() && motion.abs() >= bound {
                    stopped = Some((motion > 0.0, look));
                }
            }
            if let Some((sign, look)) = stopped {
                wrong += u32::from(sign != (value > 0.0));
                other += u32::from(sign != (motion > 0.0));
                spent += look;
            } else {
                spent += last;
            }
        }
        (wrong, other, spent / (last * f64::from(runs)))
    }

    /// Seeds 41 on, 5000 runs, a false alarm in 1e7 each. The control stops at one look's width.
    #[test]
    fn signs_are_wrong_no_more_often_than_said() {
        const RUNS: u32 = 5000;
        let said = miss(0.02);
        for (boundary, values, seed) in [
            (SignBoundary::forever(0.2, said), [1e-9, 0.5, 2.0], 41),
            (SignBoundary::until(1.0, said), [1e-9, 0.5, 2.0], 51),
            (SignBoundary::with_gap(2.0, said), [2.0, 2.5, 4.0], 61),
        ] {
            for (seed, value) in (seed..).zip(values) {
                // Half of them would do for the mean of both signs: here it is for each.
                let (wrong, _, _) = signs(boundary, value, 1.0, RUNS, seed);
                assert!(f64::from(wrong) <= at_most(RUNS, 0.02), "{boundary:?} {value}: {wrong}");
            }
        }
        let mut seeded = Dice::new(71);
        let mut wrong = 0u32;
        for _ in 0..RUNS {
            let (mut motion, mut before, mut stopped) = (0.0, 0.0, None);
            for look in looks(1.0 / 400.0, 1.1, 1.0) {
                motion += (look - before).sqrt() * seeded.normal();
                before = look;
                if stopped.is_none()
                    && motion.abs() >= crate::width::normal_width(said) * look.sqrt()
                {
                    stopped = Some(motion > 0.0);
                }
            }
            wrong += u32::from(stopped == Some(false));
        }
        assert!(f64::from(wrong) > at_most(RUNS, 0.02), "{wrong}");
    }

    /// Seeds 81 on, 5000 runs, a false alarm in 1e7 each. The control asks for two thirds of it.
    #[test]
    fn signs_are_those_of_the_last_look() {
        const RUNS: u32 = 5000;
        let said = miss(0.02);
        let constant = SignBoundary::like_last(1.0, said);
        let early = SignBoundary::like_last_tightest_at(1.0, 0.1, said);
        let control = SignBoundary { kind: Kind::Constant(constant.at(1.0) / 1.5) };
        for (seed, value) in [(81, 0.0), (82, 1.0), (83, 3.0), (84, 10.0)] {
            let [plain, tight, until] = [constant, early, SignBoundary::until(1.0, said)]
                .map(|boundary| signs(boundary, value, 1.0, RUNS, seed));
            assert!(f64::from(plain.1) <= at_most(RUNS, 0.02), "{value}: {plain:?}");
            assert!(f64::from(tight.1) <= at_most(RUNS, 0.02), "{value}: {tight:?}");
            assert!(plain.2 <= until.2, "it stops earlier: {plain:?} {until:?}");
        }
        // At a value of zero it is as often as said, but for what happens between looks: half as
        // often here.
        let exact = signs(constant, 0.0, 1.0, RUNS, 86).1;
        assert!(f64::from(exact) >= 0.004 * f64::from(RUNS), "{exact}");
        let (_, other, _) = signs(control, 0.0, 1.0, RUNS, 85);
        assert!(f64::from(other) > at_most(RUNS, 0.02), "{other}");
        assert!(early.at(0.1) < constant.at(0.1) && early.at(1.0) == 0.0);
    }

    #[test]
    fn mixtures_solve_their_equations() {
        for log in [0.1, 1.0, 30.0] {
            let r = best_ratio(log);
            assert!((r - r.ln_1p() - log).abs() < 1e-9 * (1.0 + log));
        }
        for (alpha, precision) in [(0.5, 1.0), (0.05, 0.01), (1e-9, 100.0)] {
            let one = OneSided::tightest_at(1.0, miss(alpha));
            let total = precision + one.gamma;
            let x = one.at(precision) / total.sqrt();
            let weight = 2.0 * (one.gamma / total).sqrt() * (x * x / 2.0 + Cdf::at(x).ln()).exp();
            assert!((weight * alpha - 1.0).abs() < 1e-9, "{alpha} {precision}: {weight}");
        }
    }
}
