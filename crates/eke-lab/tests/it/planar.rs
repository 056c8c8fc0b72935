//! Planar Laplace noise as a path, off the lattice: *residual-closed* of docs/theorems.md, tried.
//! It is drawn in floating point, whose last bits would tell more than was paid for. (What is
//! released is `PlanarLaplace` of `eke-noise`, on a lattice, at one rate.)
//!
//! Noise with density proportional to `exp(-rate |z|)` in N dimensions is normal noise of a random
//! variance 2G, where G has a gamma law of shape `(N+1)/2` and rate `rate²`. Gamma laws of one
//! shape and different rates are one process: a coarser G is a finer one and an independent rest.
//! So levels hang together as they do for geometric noise: a coarser level is a finer one and an
//! independent residual, and an observer of several knows no more than the finest tells
//! (post-processing).

use std::collections::BTreeMap;

use eke_testkit::{Fit, Seeded};
use rand_chacha::ChaCha12Rng;
use rand_distr::{Beta, Distribution, Gamma, Poisson, StandardNormal};

/// Noise at one level, with the half variance it was drawn with. (That is stored with the path, and
/// shown to nobody: with it the noise is normal, and tells more.)
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlanarLevel<const N: usize> {
    rate: f64,
    half: f64,
    noise: [f64; N],
}

/// What cannot be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum PlanarError {
    /// A rate is not a positive number, or too far from one for its square.
    #[error("a rate is a positive number between 1e-100 and 1e100")]
    Rate,
    /// The levels are not in the order asked for.
    #[error("the levels are not in order: a finer level has a larger rate")]
    NotInOrder,
}

impl<const N: usize> PlanarLevel<N> {
    /// Noise at a level, from nothing.
    fn draw(rate: f64, generator: &mut ChaCha12Rng) -> Result<Self, PlanarError> {
        let half = gamma(shape(N), checked(rate)?, generator)?;
        Ok(Self { rate, half, noise: normal(2.0 * half, generator) })
    }

    /// Noise at a coarser level, given this one: K from a negative binomial law, a gamma number of
    /// shape K for the rest of G, and normal noise of that variance. Nothing is added if K is zero.
    fn coarser(&self, rate: f64, generator: &mut ChaCha12Rng) -> Result<Self, PlanarError> {
        if checked(rate)? >= self.rate {
            return Err(PlanarError::NotInOrder);
        }
        // A negative binomial number is a Poisson number with a gamma mean.
        let odds = (self.rate / rate).powi(2) - 1.0;
        let jumps = poisson(odds * gamma(shape(N), 1.0, generator)?, generator)?;
        if jumps == 0.0 {
            return Ok(Self { rate, ..*self });
        }
        let rest = gamma(jumps, self.rate, generator)?;
        let step: [f64; N] = normal(2.0 * rest, generator);
        let noise = std::array::from_fn(|at| self.noise[at] + step[at]);
        Ok(Self { rate, half: self.half + rest, noise })
    }

    /// Noise at a finer level, given this one: K from a Poisson law, a share of G from a beta law,
    /// and normal noise around that share of the noise. The same if K is zero.
    fn finer(&self, rate: f64, generator: &mut ChaCha12Rng) -> Result<Self, PlanarError> {
        if checked(rate)? <= self.rate {
            return Err(PlanarError::NotInOrder);
        }
        let mean = (rate.powi(2) - self.rate.powi(2)) * self.half;
        let jumps = poisson(mean, generator)?;
        if jumps == 0.0 {
            return Ok(Self { rate, ..*self });
        }
        let beta = Beta::new(shape(N), jumps).map_err(|_| PlanarError::Rate)?;
        let share = beta.sample(generator);
        let step: [f64; N] = normal(2.0 * self.half * share * (1.0 - share), generator);
        let noise = std::array::from_fn(|at| share * self.noise[at] + step[at]);
        Ok(Self { rate, half: share * self.half, noise })
    }

    /// The noise.
    fn noise(&self) -> [f64; N] {
        self.noise
    }

    /// Its length.
    fn length(&self) -> f64 {
        self.noise.iter().map(|z| z * z).sum::<f64>().sqrt()
    }
}

/// The probability that the rest of G between two rates is made of `count` jumps: negative binomial
/// of shape `(N+1)/2` and `p = (coarse/fine)²`. No jump means no residual.
fn jumps(dimensions: usize, fine: f64, coarse: f64, count: u32) -> f64 {
    let (shape, p) = (shape(dimensions), (coarse / fine).powi(2));
    let mut probability = p.powf(shape);
    for k in 0..count {
        probability *= (shape + f64::from(k)) / f64::from(k + 1) * (1.0 - p);
    }
    probability
}

/// The shape of G.
fn shape(dimensions: usize) -> f64 {
    let dimensions = dimensions as f64;
    f64::midpoint(dimensions, 1.0)
}

fn checked(rate: f64) -> Result<f64, PlanarError> {
    if (1e-100..=1e100).contains(&rate) { Ok(rate) } else { Err(PlanarError::Rate) }
}

/// A gamma number of a shape, and of the square of a rate for its own.
fn gamma(shape: f64, rate: f64, generator: &mut ChaCha12Rng) -> Result<f64, PlanarError> {
    let law = Gamma::new(shape, rate.powi(-2)).map_err(|_| PlanarError::Rate)?;
    Ok(law.sample(generator))
}

fn poisson(mean: f64, generator: &mut ChaCha12Rng) -> Result<f64, PlanarError> {
    if mean <= 0.0 {
        return Ok(0.0);
    }
    let law = Poisson::new(mean).map_err(|_| PlanarError::Rate)?;
    Ok(law.sample(generator))
}

fn normal<const N: usize>(variance: f64, generator: &mut ChaCha12Rng) -> [f64; N] {
    std::array::from_fn(|_| {
        let one: f64 = StandardNormal.sample(generator);
        variance.sqrt() * one
    })
}

const RUNS: usize = 200_000;
const CELLS: i64 = 20;

/// From mpmath, at forty digits.
#[test]
fn jumps_of_the_residual_match_the_golden_values() {
    for (dimensions, fine, coarse, golden) in [
        (1, 2.0, 1.0, [0.25, 0.1875, 0.140_625, 0.105_468_75, 0.079_101_562_5]),
        (
            2,
            2.0,
            1.0,
            [0.125, 0.140_625, 0.131_835_937_5, 0.115_356_445_312_5, 0.097_332_000_732_421_88],
        ),
        (
            3,
            1.0,
            0.25,
            [
                0.003_906_25,
                0.007_324_218_75,
                0.010_299_682_617_187_5,
                0.012_874_603_271_484_375,
                0.015_087_425_708_770_752,
            ],
        ),
    ] {
        for (count, golden) in (0..).zip(golden) {
            let found = jumps(dimensions, fine, coarse, count);
            assert!((found / golden - 1.0).abs() < 1e-14, "{dimensions} {count}: {found}");
        }
    }
}

/// The share of lengths below one, for a gamma law of shape N.
fn below<const N: usize>(rate: f64, length: f64) -> f64 {
    let x = rate * length;
    let terms = match N {
        1 => 1.0,
        2 => 1.0 + x,
        _ => 1.0 + x + x * x / 2.0,
    };
    1.0 - terms * (-x).exp()
}

fn cell(share: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "below twenty")]
    let cell = (share * CELLS as f64) as i64;
    cell.min(CELLS - 1)
}

/// How far two samples of one size are apart, and what two of one law exceed with probability
/// 1e-9.
fn two_samples<K: Ord + Copy>(one: &[K], two: &[K]) -> (f64, f64) {
    let mut counts: BTreeMap<K, [f64; 2]> = BTreeMap::new();
    for (side, sample) in [one, two].into_iter().enumerate() {
        for &outcome in sample {
            counts.entry(outcome).or_default()[side] += 1.0;
        }
    }
    let (mut statistic, mut cells) = (0.0, 0.0);
    for [a, b] in counts.into_values().filter(|[a, b]| a + b >= 20.0) {
        statistic += (a - b) * (a - b) / (a + b);
        cells += 1.0;
    }
    let part: f64 = 2.0 / (9.0 * cells);
    (statistic, cells * (1.0 - part + 6.0 * part.sqrt()).powi(3))
}

type Pairs<const N: usize> = Vec<[PlanarLevel<N>; 2]>;

fn levels_are_one_path<const N: usize>(fine: f64, coarse: f64, seed: u64) {
    let mut generator = Seeded::new(seed).0;
    let e = &mut generator;
    let down: Pairs<N> = (0..RUNS)
        .map(|_| {
            let level = PlanarLevel::draw(fine, e).unwrap();
            [level, level.coarser(coarse, e).unwrap()]
        })
        .collect();
    let up: Pairs<N> = (0..RUNS)
        .map(|_| {
            let level = PlanarLevel::draw(coarse, e).unwrap();
            [level.finer(fine, e).unwrap(), level]
        })
        .collect();
    let cells: BTreeMap<i64, f64> = (0..CELLS).map(|cell| (cell, 1.0 / CELLS as f64)).collect();
    for (order, pairs) in [("down", &down), ("up", &up)] {
        for (at, rate) in [fine, coarse].into_iter().enumerate() {
            let fit = |rate: f64| {
                let lengths = pairs.iter().map(|pair| cell(below::<N>(rate, pair[at].length())));
                Fit::of(lengths, &cells)
            };
            fit(rate).assert(&fit(rate * 1.05), &format!("{order}, rate {rate}, {N}"));
        }
        // Levels are equal as often as the residual has no jumps; the control is one dimension
        // more.
        let fit = |dimensions| {
            let share = jumps(dimensions, fine, coarse, 0);
            let law = BTreeMap::from([(false, 1.0 - share), (true, share)]);
            Fit::of(
                pairs
                    .iter()
                    .map(|[f, c]| f.noise().map(f64::to_bits) == c.noise().map(f64::to_bits)),
                &law,
            )
        };
        fit(N).assert(&fit(N + 1), &format!("{order}, atoms, {N}"));
    }
    // Both orders have one joint law: lengths of both levels, and of what is between them.
    let joint = |[f, c]: &[PlanarLevel<N>; 2]| {
        let step: [f64; N] = std::array::from_fn(|at| c.noise()[at] - f.noise()[at]);
        let step = step.iter().map(|z| z * z).sum::<f64>().sqrt();
        let share = |rate: f64, length: f64| cell(below::<N>(rate, length)) / 3;
        (share(fine, f.length()), share(coarse, c.length()), share(coarse, step), step == 0.0)
    };
    let of = |pairs: &Pairs<N>| -> Vec<_> { pairs.iter().map(joint).collect() };
    let (apart, critical) = two_samples(&of(&down), &of(&up));
    assert!(apart < critical, "{N}: {apart} {critical}");
    let mixed: Pairs<N> = up.windows(2).map(|two| [two[0][0], two[1][1]]).collect();
    let (apart, critical) = two_samples(&of(&down), &of(&mixed));
    assert!(apart > critical, "{N}: independent levels pass");
}

#[test]
fn continuous_levels_have_their_laws_and_one_joint_law() {
    levels_are_one_path::<1>(2.0, 1.0, 501);
    levels_are_one_path::<2>(1.0, 0.6, 502);
    levels_are_one_path::<3>(0.02, 0.015, 503);
}

#[test]
fn levels_out_of_order_and_rates_out_of_range_get_a_sentence() {
    let mut generator = Seeded::new(504).0;
    let level = PlanarLevel::<2>::draw(1.0, &mut generator).unwrap();
    assert_eq!(level.coarser(1.0, &mut generator), Err(PlanarError::NotInOrder));
    assert_eq!(level.finer(0.5, &mut generator), Err(PlanarError::NotInOrder));
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
        assert_eq!(PlanarLevel::<2>::draw(wrong, &mut generator), Err(PlanarError::Rate));
    }
}
