//! How far away something is, from a noisy point: intervals for a distance in many dimensions.
//!
//! Noise in many dimensions is long, and nearly always about equally long. What is observed is the
//! length of the way and of the noise together, and the noise's part in it can be taken off: in 784
//! dimensions the interval is a few deviations wide, where the noise itself is twenty-eight
//! deviations long. Ends of intervals are tabulated once for a number of dimensions and a
//! probability of being wrong, and interpolated on the safe side.

use crate::width::gamma::Tails;
use crate::width::quantiles::{Miss, chi_lower, chi_width, two_sided_width};

/// Intervals for the distance of a point that was released with noise of deviation one in every
/// coordinate.
///
/// - Theorem: distance-interval (docs/theorems.md)
/// - Proves: the true distance is between the ends for an observed one with probability `1 - miss`,
///   each end being missed with half of it at most
/// - Assumes: normal noise of deviation one (path), which discrete noise is within e^±tau of
/// - Deviates: ends are interpolated, and moved outwards by more than that can be off
/// - Checked by: `interpolated_ends_are_outside_of_exact_ones_and_close`,
///   `distances_are_between_the_ends_as_often_as_said`
#[derive(Clone, Debug)]
pub struct DistanceInterval {
    dimensions: usize,
    /// What noise along the way is above with half the miss.
    width: f64,
    nearest: Curve,
    furthest: Curve,
}

/// One end, squared, as a function of the observed distance x: `x² - d`, what it is on average,
/// with a multiple of `x + spread` put on or taken off. The multiple is a function of
/// `w = spread/(x - start + spread)`, from zero for what is infinitely far to one at the start, and
/// is known exactly at multiples of `1/PARTS`.
#[derive(Clone, Debug)]
struct Curve {
    dimensions: f64,
    start: f64,
    spread: f64,
    /// The multiples, and how much to add for safety in the part that begins there; where they bend
    /// too much to be interpolated, what the end may be at most (at least) in the whole part.
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// `multiple + slope · w`, safe in all of it.
    Line { multiple: f64, slope: f64 },
    /// The square of the end is no further than this.
    Flat { square: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Nearest,
    Furthest,
}

const PARTS: usize = 64;

/// How large a second difference may be where lines are drawn, as a part of a deviation.
const SMOOTH: f64 = 0.02;

impl DistanceInterval {
    /// A table for n dimensions; it takes some milliseconds.
    ///
    /// # Panics
    /// There are no dimensions.
    #[must_use]
    pub fn new(dimensions: usize, miss: Miss) -> Self {
        assert!(dimensions > 0, "a point has coordinates");
        let d = dimensions as f64;
        let half = miss.shared_by(2);
        let width = two_sided_width(miss);
        let law = Law { dimensions: d, log: libm::log(half.get()), width };
        let spread = d.sqrt() + width;
        let nearest = Curve::new(law, End::Nearest, chi_width(dimensions, half), spread);
        let furthest = Curve::new(law, End::Furthest, chi_lower(d, half), spread);
        Self { dimensions, width, nearest, furthest }
    }

    /// How many dimensions it is for.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The ends of the interval for an observed distance, both in deviations of the noise. If even
    /// no distance at all would have been observed as more than this, both ends are zero.
    #[must_use]
    pub fn ends(&self, observed: f64) -> (f64, f64) {
        let nearest = self.nearest.square(observed, End::Nearest).max(0.0).sqrt();
        let furthest = self.furthest.square(observed, End::Furthest).max(0.0).sqrt();
        (nearest, furthest.min(observed.max(0.0) + self.width))
    }
}

impl Curve {
    fn new(law: Law, end: End, start: f64, spread: f64) -> Self {
        // From the start outwards, each knot close to what the two before say.
        let place = |knot: usize| start + spread * (double(PARTS) / double(knot) - 1.0);
        let mut multiples = vec![2.0 * law.width; PARTS + 1];
        let mut squares = vec![0.0; PARTS + 1];
        for knot in (1..=PARTS).rev() {
            let x = place(knot);
            let square = if knot == PARTS {
                0.0
            } else {
                let before = |ahead: usize| multiples.get(knot + ahead).copied();
                let guess = match (before(1), before(2)) {
                    (Some(one), Some(two)) => 2.0 * one - two,
                    _ => 2.0 * law.width,
                };
                law.end(end, x, end.square(x * x - law.dimensions, guess * (x + spread)))
            };
            squares[knot] = square;
            multiples[knot] = end.sign() * (square - (x * x - law.dimensions)) / (x + spread);
        }
        let bend = |knot: usize| {
            let [a, b, c] = [knot - 1, knot, knot + 1].map(|at| multiples[at]);
            (a - 2.0 * b + c).abs()
        };
        let part = |at: usize| {
            let bent = bend(at.max(1)).max(bend((at + 1).min(PARTS - 1)));
            if bent <= SMOOTH || at == 0 {
                let slope = (multiples[at + 1] - multiples[at]) * double(PARTS);
                let multiple = multiples[at] - slope * double(at) / double(PARTS);
                // An eighth of a second difference is what a line is off by.
                Part::Line { multiple: multiple + bent / 4.0 + 1e-9, slope }
            } else {
                // Ends move out with what is observed.
                Part::Flat { square: squares[if end == End::Nearest { at + 1 } else { at }] }
            }
        };
        Self { dimensions: law.dimensions, start, spread, parts: (0..PARTS).map(part).collect() }
    }

    fn square(&self, x: f64, end: End) -> f64 {
        if x <= self.start {
            return 0.0;
        }
        let w = self.spread / (x - self.start + self.spread);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to PARTS"
        )]
        let at = ((w * double(PARTS)) as usize).min(PARTS - 1);
        match self.parts[at] {
            Part::Line { multiple, slope } => {
                let off = (multiple + slope * w) * (x + self.spread);
                end.square(x * x - self.dimensions, off)
            }
            Part::Flat { square } => square,
        }
    }
}

impl End {
    fn sign(self) -> f64 {
        match self {
            Self::Nearest => -1.0,
            Self::Furthest => 1.0,
        }
    }

    fn square(self, middle: f64, off: f64) -> f64 {
        middle + self.sign() * off
    }
}

/// The law of the square of the observed distance: chi-square, not central.
#[derive(Clone, Copy, Debug)]
struct Law {
    dimensions: f64,
    /// The logarithm of the probability that an end is missed with.
    log: f64,
    /// What normal noise is above with that probability.
    width: f64,
}

impl Law {
    /// The square of the true distance for which what is observed, or more (or less), has the
    /// probability.
    fn end(&self, end: End, x: f64, guess: f64) -> f64 {
        let (mut low, mut high) = match end {
            End::Nearest => (0.0, x * x),
            End::Furthest => (0.0, (x + self.width) * (x + self.width)),
        };
        let mut square = guess.clamp(low, high);
        for _ in 0..200 {
            let (tail, slope) = self.tail(end, x, square);
            let off = libm::log(tail) - self.log;
            // The upper tail grows with the true distance and the lower falls.
            if (off < 0.0) == (end == End::Nearest) {
                low = square;
            } else {
                high = square;
            }
            let mut next = square + end.sign() * off * tail / slope;
            if !(low..=high).contains(&next) {
                next = f64::midpoint(low, high);
            }
            let step = (next - square).abs();
            square = next;
            if step <= 1e-11 * (x + self.width) * x || high - low <= 1e-14 * high {
                break;
            }
        }
        square
    }

    /// The probability of observing as much, or as little, at a squared distance, and by how much
    /// it changes with that. A chi-square law that is not central is one with a Poisson number of
    /// pairs of dimensions more; probabilities for one more are sums of positive terms, upwards for
    /// one tail and downwards for the other.
    fn tail(&self, end: End, x: f64, square: f64) -> (f64, f64) {
        let (shape, y, mean) = (self.dimensions / 2.0, x * x / 2.0, square / 2.0);
        if mean <= 0.0 {
            let tails = Tails::at(shape, y);
            let tail = if end == End::Nearest { tails.upper } else { tails.lower };
            return (tail, tails.between / 2.0);
        }
        // Where the largest terms are: at the mean, or, far out in a tail, where both factors pull.
        let is_out = (y > shape + mean) == (end == End::Nearest);
        let pulled = 2.0 * mean * y / (shape + (shape * shape + 4.0 * mean * y).sqrt());
        let centre = if is_out { pulled } else { mean };
        let reach = 10.0 * centre.sqrt() + 25.0;
        let first = (centre - reach).floor().max(0.0);
        let last = (centre + reach).ceil();
        let (mut sum, mut slope) = (0.0, 0.0);
        match end {
            End::Nearest => {
                let start = Tails::at(shape + first, y);
                let (mut tail, mut between) = (start.upper, start.between);
                let (mut weight, mut pairs) = (poisson(first, mean), first);
                while pairs <= last {
                    sum += weight * tail;
                    slope += weight * between;
                    tail += between;
                    pairs += 1.0;
                    between *= y / (shape + pairs);
                    weight *= mean / pairs;
                }
            }
            End::Furthest => {
                let start = Tails::at(shape + last, y);
                let (mut tail, mut between) = (start.lower, start.between);
                let (mut weight, mut pairs) = (poisson(last, mean), last);
                while pairs >= first {
                    sum += weight * tail;
                    slope += weight * between;
                    between *= (shape + pairs) / y;
                    tail += between;
                    weight *= pairs / mean;
                    pairs -= 1.0;
                }
            }
        }
        (sum, slope / 2.0)
    }
}

fn poisson(count: f64, mean: f64) -> f64 {
    if count == 0.0 { libm::exp(-mean) } else { crate::width::gamma::between(count, mean) }
}

fn double(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn law(dimensions: usize, miss: Miss) -> Law {
        let log = libm::log(miss.get() / 2.0);
        Law { dimensions: double(dimensions), log, width: two_sided_width(miss) }
    }

    /// Both tails by integrating over the noise along the way: in the other dimensions it is
    /// central.
    #[test]
    fn tails_are_those_of_an_integral() {
        for (dimensions, distance, x) in [
            (2usize, 3.0, 4.0),
            (3, 0.5, 2.0),
            (11, 5.0, 9.0),
            (784, 12.0, 32.0),
            (784, 60.0, 62.0),
            // Far out: 1e-12 and less.
            (2, 8.96, 1.888),
            (2, 3.0, 9.5),
            (3, 9.0, 1.5),
            (40, 20.0, 14.0),
            (784, 50.0, 65.0),
            (784, 50.0, 50.5),
        ] {
            let law = law(dimensions, Miss::new(1e-6).unwrap());
            let (mut upper, mut lower) = (0.0, 0.0);
            const STEP: f64 = 1e-3;
            for n in -10_000i32..=10_000 {
                let noise = f64::from(n) * STEP;
                let along: f64 = distance + noise;
                let weight = STEP * (-noise * noise / 2.0).exp() / std::f64::consts::TAU.sqrt();
                let rest = (x * x - along * along) / 2.0;
                let tails = Tails::at(double(dimensions - 1) / 2.0, rest);
                upper += weight * tails.upper;
                lower += weight * tails.lower;
            }
            for (end, known) in [(End::Nearest, upper), (End::Furthest, lower)] {
                let found = law.tail(end, x, distance * distance).0;
                assert!((found / known - 1.0).abs() < 1e-3, "{dimensions}: {found} {known}");
            }
        }
    }

    #[test]
    fn the_slope_of_a_tail_is_its_slope() {
        for (dimensions, square, x) in [(1usize, 4.0, 3.0), (2, 1e-2, 1.0), (784, 3000.0, 60.0)] {
            let law = law(dimensions, Miss::new(1e-3).unwrap());
            for end in [End::Nearest, End::Furthest] {
                let step = square * 1e-5;
                let [one, two] = [square - step, square + step].map(|at| law.tail(end, x, at).0);
                let (slope, found) = ((two - one) / (2.0 * step), law.tail(end, x, square).1);
                let slope = -end.sign() * slope;
                assert!((found / slope - 1.0).abs() < 1e-4, "{dimensions}: {found} {slope}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn interpolated_ends_are_outside_of_exact_ones_and_close(
            dimensions in prop_oneof![1usize..5, Just(2), 5usize..50, Just(784), 50usize..5000],
            log_miss in -30.0f64..-1.0,
            places in prop::collection::vec((0.0f64..1.0, 0.0f64..4.0), 12),
        ) {
            let miss = Miss::new(log_miss.exp()).unwrap();
            let (interval, law) = (DistanceInterval::new(dimensions, miss), law(dimensions, miss));
            for (part, far) in places {
                // Close to where an end leaves zero, and up to fifty times as far.
                let x = interval.nearest.start * (part + far.exp_m1() * part);
                let (near, far) = interval.ends(x);
                let exact = |end: End, start: f64| {
                    if x <= start { 0.0 } else { law.end(end, x, x * x).max(0.0).sqrt() }
                };
                let exact = [
                    exact(End::Nearest, interval.nearest.start),
                    exact(End::Furthest, interval.furthest.start),
                ];
                prop_assert!(near <= exact[0] + 1e-9 * x, "{x}: {near} {exact:?}");
                prop_assert!(far >= exact[1] - 1e-9 * x, "{x}: {far} {exact:?}");
                // A tenth of a deviation at most, where ends are not close to zero or noise is
                // rarely so short; in a few dimensions half of one, where they grow fast.
                let close = if dimensions < 5 { 0.5 } else { 0.1 };
                if exact[0] > 0.3 * interval.nearest.start {
                    prop_assert!(exact[0] - near < 0.1, "{dimensions} {miss:?} {x}: {near} {exact:?}");
                }
                if x > double(dimensions).sqrt() {
                    prop_assert!(far - exact[1] < close, "{dimensions} {miss:?} {x}: {far} {exact:?}");
                }
                prop_assert!(far <= x + law.width, "{far}");
            }
        }
    }

    /// In how many of n runs the true distance is not between the ends.
    fn misses(interval: &DistanceInterval, distance: f64, runs: u32, seed: u64) -> u32 {
        let mut seeded = eke_testkit::Dice::new(seed);
        let missed = |_: &u32| {
            let mut square = (distance + seeded.normal()).powi(2);
            square += (1..interval.dimensions()).map(|_| seeded.normal().powi(2)).sum::<f64>();
            let (near, far) = interval.ends(square.sqrt());
            !(near..=far).contains(&distance)
        };
        u32::try_from((0..runs).filter(missed).count()).unwrap()
    }

    /// Seeds 11 on, 4000 runs, a false alarm in 1e7 each, and as rarely missed too little. The
    /// control is for another miss.
    #[test]
    fn distances_are_between_the_ends_as_often_as_said() {
        const RUNS: u32 = 4000;
        let said = 0.05 * f64::from(RUNS);
        let [interval, wrong] = [0.05, 0.1].map(|miss| {
            [2usize, 20, 784].map(|d| DistanceInterval::new(d, Miss::new(miss).unwrap()))
        });
        for (at, seed) in [(0, 11), (1, 14), (2, 17)] {
            for (seed, distance) in (seed..).zip([0.0, 2.0, 40.0]) {
                let missed = f64::from(misses(&interval[at], distance, RUNS, seed));
                assert!(missed <= said + 5.5 * said.sqrt(), "{at} {distance}: {missed}");
                if distance > 10.0 {
                    assert!(missed >= said - 5.5 * said.sqrt(), "{at} {distance}: {missed}");
                    let missed = f64::from(misses(&wrong[at], distance, RUNS, seed));
                    assert!(missed > said + 5.5 * said.sqrt(), "{at} {distance}: {missed}");
                }
            }
        }
    }
}
