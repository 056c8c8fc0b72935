//! Laplace noise of several levels as one draw: the laws that take a noise path from one point to
//! another, on the real line.
//!
//! Noise at a level of rate r has density `(r/2) exp(-r |x|)`: the larger the rate, the finer the
//! level. A coarser level is a finer one plus an independent residual, which is nothing at all with
//! some probability: then both levels have one and the same point. Here are the residual and its
//! two inverses, as for geometric noise. Which part of a mixture a point came from is forgotten at
//! once: with the point it would tell more of the truth than the point does.

use std::cmp::Ordering;

use dashu_int::UBig;
use eke_budget::{Amount, Epsilon, L1};

use crate::law::geometric_level::{LevelError, Pair, rate};
use crate::number::ScaleError;
use crate::number::fixed::Fixed;
use crate::number::real::{Exponential, Origin, Real, Way};
use crate::number::scale::shift;
use crate::path::MismatchReason;
use crate::sampler::audit_cells;
use crate::sampler::coin::choose;
use crate::{Entropy, Ratio};

/// A level of Laplace noise, by its rate: epsilon over the sensitivity.
#[derive(Clone, Debug, PartialEq)]
pub struct LaplaceLevel {
    rate: Ratio,
}

/// The narrowest noise: a rate of 2^32 in a step. A step says nothing of noise so narrow.
const NARROWEST: u128 = 1 << 32;

impl LaplaceLevel {
    /// The level that a price pays for: epsilon over the sensitivity, exactly; none for no price.
    pub(crate) fn at(price: Amount<Epsilon>, sensitivity: L1) -> Option<Self> {
        Some(Self { rate: rate(price, sensitivity)? })
    }

    /// Whether noise of this level can be drawn, given a coarser level if there is one.
    pub(crate) fn can_follow(&self, coarser: Option<&Self>) -> Result<(), MismatchReason> {
        let too_wide = |error: ScaleError| MismatchReason::Level(error.into());
        if !self.rate.is_below(NARROWEST) {
            return Err(MismatchReason::TooFine);
        }
        shift(self.rate.inverse().approximate()).map_err(too_wide)?;
        if let Some(coarser) = coarser {
            let difference = self.rate.minus(&coarser.rate).ok_or(MismatchReason::OtherStep)?;
            Exponential::new(&difference).map_err(too_wide)?;
        }
        Ok(())
    }

    /// A whole number with noise of this level.
    pub(crate) fn draw<E: Entropy + ?Sized>(
        &self,
        truth: i64,
        entropy: &mut E,
    ) -> Result<Real, LevelError> {
        self.beside(&Origin::Whole(truth), entropy)
    }

    /// A point of a coarser level, given this level's.
    ///
    /// - Theorem: laplace-residual (docs/theorems.md)
    /// - Proves: the point itself with probability `(b/a)²`, and Laplace noise of rate b around it
    ///   else, is the independent residual from rate a to rate b
    /// - Assumes: the point given has this level's law (caller)
    /// - Deviates: nothing; the coin is decided bit by bit
    /// - Checked by: `laplace_points_revealed_in_any_order_have_one_joint_law`,
    ///   `laplace_weights_match_the_golden_values`
    pub(crate) fn coarser<E: Entropy + ?Sized>(
        &self,
        point: Real,
        coarser: &Self,
        entropy: &mut E,
    ) -> Result<Real, LevelError> {
        let pair = Pair::new(&self.rate, &coarser.rate)?;
        if happens(&pair.stay(), entropy) {
            return Ok(point);
        }
        coarser.beside(&Origin::Point(point), entropy)
    }

    /// A point of a finer level around an origin, given this level's around the same.
    ///
    /// - Theorem: laplace-finer (docs/theorems.md)
    /// - Proves: with probability `(a-b)/(2a)` a step of rate a + b beyond the origin, away from
    ///   the coarser point; else a step of rate a - b towards it, and where that would go beyond
    ///   it, the coarser point with probability `2b/(a+b)`, or a step of rate a + b beyond it: the
    ///   law of the finer point
    /// - Assumes: the point given has this level's law around the origin (caller)
    /// - Deviates: nothing; coins are decided bit by bit
    /// - Checked by: `the_finer_law_is_the_mixture_of_four_parts`,
    ///   `laplace_points_revealed_in_any_order_have_one_joint_law`,
    ///   `laplace_weights_match_the_golden_values`
    pub(crate) fn finer<E: Entropy + ?Sized>(
        &self,
        origin: &Origin,
        point: Real,
        finer: &Self,
        entropy: &mut E,
    ) -> Result<Real, LevelError> {
        let pair = Pair::new(&finer.rate, &self.rate)?;
        let (near, far) = (Exponential::new(&pair.difference)?, Exponential::new(&pair.sum)?);
        let way = match point.compare(origin) {
            Ordering::Less => Way::Down,
            Ordering::Equal | Ordering::Greater => Way::Up,
        };
        if happens(&pair.behind(), entropy) {
            return Ok(far.step(origin, way.other(), entropy)?);
        }
        let between = near.step(origin, way, entropy)?;
        let short = if way == Way::Up { Ordering::Less } else { Ordering::Greater };
        if between.compare(&Origin::Point(point)) == short {
            return Ok(between);
        }
        if happens(&pair.same(), entropy) {
            return Ok(point);
        }
        Ok(far.step(&Origin::Point(point), way, entropy)?)
    }

    /// A point of this level, given those of a finer and of a coarser one.
    ///
    /// - Theorem: laplace-between (docs/theorems.md)
    /// - Proves: the one point of both, if they have one; else the finer point with probability
    ///   `(m²-b²)/(a²-b²)`, and a draw of *laplace-finer* for the rates m and b around the finer
    ///   point else, is the law of the level in between
    /// - Assumes: both points are of one path (caller)
    /// - Deviates: nothing; coins are decided bit by bit
    /// - Checked by: `laplace_points_revealed_in_any_order_have_one_joint_law`,
    ///   `equal_points_have_the_same_point_between_them`, `laplace_weights_match_the_golden_values`
    pub(crate) fn between<E: Entropy + ?Sized>(
        &self,
        (finer, fine): (&Self, Real),
        (coarser, coarse): (&Self, Real),
        entropy: &mut E,
    ) -> Result<Real, LevelError> {
        let whole = Pair::new(&finer.rate, &coarser.rate)?;
        let upper = Pair::new(&self.rate, &coarser.rate)?;
        Pair::new(&finer.rate, &self.rate)?;
        let stay = upper.squares().over(&whole.squares());
        if fine == coarse || happens(&stay, entropy) {
            return Ok(fine);
        }
        coarser.finer(&Origin::Point(fine), coarse, self, entropy)
    }

    /// Laplace noise of this level around an origin.
    fn beside<E: Entropy + ?Sized>(
        &self,
        origin: &Origin,
        entropy: &mut E,
    ) -> Result<Real, LevelError> {
        shift(self.rate.inverse().approximate())?;
        let step = Exponential::new(&self.rate)?;
        let up = audit_cells::word(entropy, audit_cells::last_bit) & 1 == 1;
        Ok(step.step(origin, if up { Way::Up } else { Way::Down }, entropy)?)
    }
}

/// For Laplace noise.
impl Pair {
    /// The probability that the residual is nothing: `(b/a)²`.
    fn stay(&self) -> Ratio {
        self.coarse.over(&self.fine).squared()
    }

    /// The probability that the finer point is on the other side of the origin: `(a-b)/(2a)`.
    fn behind(&self) -> Ratio {
        self.difference.over(&self.fine.times(&UBig::from(2u8)))
    }

    /// The probability that a finer point which is not between the origin and the coarser point,
    /// nor on the other side, is the coarser one: `2b/(a+b)`.
    fn same(&self) -> Ratio {
        self.coarse.times(&UBig::from(2u8)).over(&self.sum)
    }

    /// `a² - b²`.
    fn squares(&self) -> Ratio {
        self.sum.by(&self.difference)
    }
}

/// A coin of a rational probability.
fn happens<E: Entropy + ?Sized>(probability: &Ratio, entropy: &mut E) -> bool {
    let enclosed = |bits: usize| {
        let lo = (&probability.numerator << bits) / &probability.denominator;
        [Fixed { hi: &lo + UBig::ONE, lo, bits }]
    };
    choose([probability.approximate()], enclosed, entropy) == 0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use eke_testkit::{Fit, Seeded};

    fn level(rate: &str) -> LaplaceLevel {
        LaplaceLevel::at(rate.parse().unwrap(), L1::new(1.0).unwrap()).unwrap()
    }

    fn assert_close(computed: f64, golden: &str) {
        let golden: f64 = golden.parse().unwrap();
        assert!((computed - golden).abs() < 1e-15 + golden * 1e-13, "{computed} {golden}");
    }

    /// Golden values computed with forty digits.
    #[test]
    fn laplace_weights_match_the_golden_values() {
        for (fine, coarse, weight) in [
            ("2", "1", "0.25"),
            ("1", "0.5", "0.25"),
            ("4", "0.1", "0.000625"),
            ("0.8", "0.4", "0.25"),
        ] {
            let pair = Pair::new(&level(fine).rate, &level(coarse).rate).unwrap();
            assert_close(pair.stay().approximate(), weight);
        }
        for (fine, coarse, z, [equal, behind, between, above]) in [
            ("2", "1", 0.0, ["0.5", "0.25", "0", "0.25"]),
            (
                "1",
                "0.5",
                0.7,
                [
                    "0.3523440448593567171774",
                    "0.25",
                    "0.2214839327109649242339",
                    "0.1761720224296783585887",
                ],
            ),
            (
                "1",
                "0.5",
                3.0,
                [
                    "0.1115650800742149144666",
                    "0.25",
                    "0.5826523798886776283000",
                    "0.05578254003710745723332",
                ],
            ),
            (
                "4",
                "0.1",
                3.0,
                [
                    "2.073454790189341272838e-7",
                    "0.4875",
                    "0.5124957494176801118504",
                    "0.000004043236840869215482035",
                ],
            ),
            (
                "0.8",
                "0.4",
                0.7,
                [
                    "0.3778918707278627360696",
                    "0.25",
                    "0.1831621939082058958957",
                    "0.1889459353639313680348",
                ],
            ),
            (
                "0.8",
                "0.4",
                3.0,
                [
                    "0.1505971059561010483225",
                    "0.25",
                    "0.5241043410658484275163",
                    "0.07529855297805052416124",
                ],
            ),
        ] {
            let pair = Pair::new(&level(fine).rate, &level(coarse).rate).unwrap();
            // The probability that a step of rate a - b goes beyond z.
            let beyond = libm::exp(-pair.difference.approximate() * z);
            let (back, same) = (pair.behind().approximate(), pair.same().approximate());
            assert_close(back, behind);
            assert_close((1.0 - back) * beyond * same, equal);
            assert_close((1.0 - back) * beyond * (1.0 - same), above);
            assert_close((1.0 - back) * (1.0 - beyond), between);
        }
        for (fine, middle, coarse, golden) in
            [("2", "1", "0.5", "0.2"), ("4", "1", "0.1", "0.06191369606003752345216")]
        {
            let upper = Pair::new(&level(middle).rate, &level(coarse).rate).unwrap().squares();
            let whole = Pair::new(&level(fine).rate, &level(coarse).rate).unwrap().squares();
            assert_close(upper.over(&whole).approximate(), golden);
        }
    }

    /// Given a coarser point at 1.7 on either side of an origin, the finer point is that point
    /// itself, or in cells of the three other parts, as often as the mixture says. Seeds 301 and
    /// 302, 200,000 draws each; the control is a coarser rate that is 5 % off.
    #[test]
    fn the_finer_law_is_the_mixture_of_four_parts() {
        const Z: f64 = 1.7;
        let law = |a: f64, b: f64| {
            let beyond = libm::exp(-(a - b) * Z);
            let mut law = BTreeMap::from([(100, b / a * beyond)]);
            // Cells of a quarter; the last ones of either side go on for ever.
            let tail = |cell: i32| libm::exp(-(a + b) * f64::from(cell) / 4.0);
            let part = |cell: i32| tail(cell) - if cell == 9 { 0.0 } else { tail(cell + 1) };
            for cell in 0..10 {
                law.insert(-1 - cell, (a - b) / (2.0 * a) * part(cell));
                law.insert(200 + cell, (a - b) / (2.0 * a) * beyond * part(cell));
            }
            for cell in 0..7 {
                let end = |cell: i32| libm::exp(-(a - b) * (f64::from(cell) / 4.0).min(Z));
                law.insert(cell, (a + b) / (2.0 * a) * (end(cell) - end(cell + 1)));
            }
            law
        };
        let (fine, coarse) = (level("2"), level("1.3"));
        for (seed, sign) in [(301, 1.0), (302, -1.0)] {
            let mut entropy = Seeded::new(seed);
            let origin = Real::known(40, 1 << 62);
            let point = Real::near(origin.about() + sign * Z);
            let draws: Vec<i32> = (0..200_000)
                .map(|_| {
                    let origin = Origin::Point(origin);
                    let found = coarse.finer(&origin, point, &fine, &mut entropy).unwrap();
                    let z = sign * (found.about() - 40.25);
                    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
                    let cell = |z: f64| ((z * 4.0).floor() as i32).min(9);
                    match () {
                        () if found == point => 100,
                        () if z < 0.0 => -1 - cell(-z),
                        () if z < Z => cell(z),
                        () => 200 + cell(z - Z),
                    }
                })
                .collect();
            let fit = |a, b| Fit::of(draws.iter().copied(), &law(a, b));
            fit(2.0, 1.3).assert(&fit(2.0, 1.365), "finer");
        }
    }

    #[test]
    fn equal_points_have_the_same_point_between_them() {
        let mut entropy = Seeded::new(303);
        let (fine, middle, coarse) = (level("2"), level("1"), level("0.5"));
        for _ in 0..1000 {
            let point = fine.draw(7, &mut entropy).unwrap();
            let between = middle.between((&fine, point), (&coarse, point), &mut entropy);
            assert_eq!(between, Ok(point));
        }
    }

    #[test]
    fn laplace_levels_out_of_order_are_errors() {
        let (fine, coarse) = (level("2"), level("1"));
        let e = &mut Seeded::new(304);
        let point = fine.draw(7, e).unwrap();
        let origin = Origin::Whole(7);
        assert_eq!(fine.finer(&origin, point, &coarse, e), Err(LevelError::NotInOrder));
        assert_eq!(coarse.coarser(point, &fine, e), Err(LevelError::NotInOrder));
        assert_eq!(fine.coarser(point, &fine, e), Err(LevelError::NotInOrder));
        let between = fine.between((&coarse, point), (&fine, point), e);
        assert_eq!(between, Err(LevelError::NotInOrder));
    }
}
