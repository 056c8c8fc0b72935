//! Discrete Laplace and discrete Gaussian noise.

use std::collections::BTreeMap;

use eke_noise::law::Centre;
use eke_noise::number::ScaleError;
use eke_noise::{DiscreteGaussian, DiscreteLaplace, Laplace, Ratio};
use eke_testkit::{Fit, Seeded, Tape};

const DRAWS: usize = 200_000;

/// A law on the integers as probabilities of cells `lower..lower + width`, by their lower ends.
struct Cells {
    width: i64,
    law: BTreeMap<i64, f64>,
}

impl Cells {
    /// From a weight; summed exactly where the law is narrow, by the midpoint rule within a cell
    /// where it is wide (cells are a sixteenth of the scale at most, and the error far below what
    /// the number of draws could show).
    fn new(scale: f64, weight: impl Fn(f64) -> f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let width = (scale / 8.0).floor().max(1.0) as i64;
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let cells = ((scale * 30.0 / width as f64).ceil() as i64).max(40);
        let law: BTreeMap<i64, f64> = (-cells..cells)
            .map(|cell| {
                let start = (cell * width) as f64;
                // Simpson's rule on the integers of a cell, or the one integer in it.
                let sum = if width < 64 {
                    (0..width).map(|place| weight(start + place as f64)).sum()
                } else {
                    let (low, high) = (start - 0.5, start + width as f64 - 0.5);
                    let middle = f64::midpoint(low, high);
                    let quarter = |part: f64| weight(low + part * (high - low));
                    let fine = 4.0 * (quarter(0.25) + quarter(0.75)) + 2.0 * weight(middle);
                    (weight(low) + fine + weight(high)) * (high - low) / 12.0
                };
                (cell * width, sum)
            })
            .collect();
        let total: f64 = law.values().sum();
        Self { width, law: law.into_iter().map(|(cell, sum)| (cell, sum / total)).collect() }
    }

    fn fit(&self, draws: &[i64]) -> Fit {
        Fit::of(draws.iter().map(|draw| draw.div_euclid(self.width) * self.width), &self.law)
    }
}

fn laplace(scale: f64) -> Cells {
    Cells::new(scale, |k| (-k.abs() / scale).exp())
}

fn gaussian(deviation: f64) -> Cells {
    Cells::new(deviation, |k| (-k * k / (2.0 * deviation * deviation)).exp())
}

fn many(mut draw: impl FnMut() -> i64) -> Vec<i64> {
    (0..DRAWS).map(|_| draw()).collect()
}

const SCALES: [f64; 11] = [0.3, 0.7, 1.0, 3.3, 20.0, 31.9, 32.0, 100.0, 12_345.678, 1e6, 1e9];

#[test]
fn laplace_noise_of_every_scale_has_its_law() {
    for (seed, scale) in (1..).zip(SCALES) {
        let mut entropy = Seeded::new(seed);
        let (cells, off) = (laplace(scale), laplace(scale * 1.05));
        let exact = Ratio::from_f64(scale).unwrap();
        let law = DiscreteLaplace::new(&exact).unwrap();
        let mut draws = vec![0; DRAWS];
        law.fill(&mut draws, &mut entropy);
        cells.fit(&draws).assert(&off.fit(&draws), &format!("laplace {scale}"));
        let draws = many(|| DiscreteLaplace::once(&exact, &mut entropy).unwrap());
        cells.fit(&draws).assert(&off.fit(&draws), &format!("laplace {scale}, one by one"));
    }
}

/// Laplace noise on the real line, in cells that are half a step below whole numbers.
fn rounded_laplace(scale: f64) -> Cells {
    let below = |x: f64| {
        if x < 0.0 { (x / scale).exp() / 2.0 } else { 1.0 - (-x / scale).exp() / 2.0 }
    };
    let Cells { width, law } = laplace(scale);
    let end = |cell: i64| below(cell as f64 - 0.5);
    let law = law.into_keys().map(|cell| (cell, end(cell + width) - end(cell))).collect();
    Cells { width, law }
}

#[test]
fn rounded_laplace_noise_of_every_scale_has_its_law() {
    for (seed, scale) in (151..).zip(SCALES) {
        let mut entropy = Seeded::new(seed);
        let (cells, off) = (rounded_laplace(scale), rounded_laplace(scale * 1.05));
        let law = Laplace::new(&Ratio::from_f64(scale).unwrap()).unwrap();
        let mut draws = vec![0; DRAWS];
        law.fill(&mut draws, &mut entropy);
        cells.fit(&draws).assert(&off.fit(&draws), &format!("rounded laplace {scale}"));
    }
    // On narrow scales it is another law than the discrete one.
    let law = Laplace::new(&Ratio::new(1, 1).unwrap()).unwrap();
    let mut entropy = Seeded::new(171);
    let draws = many(|| law.draw(&mut entropy));
    rounded_laplace(1.0).fit(&draws).assert(&laplace(1.0).fit(&draws), "rounded or discrete");
}

#[test]
fn gaussian_noise_of_every_scale_has_its_law() {
    for (seed, deviation) in (101..).zip(SCALES) {
        let mut entropy = Seeded::new(seed);
        let (cells, off) = (gaussian(deviation), gaussian(deviation * 1.05));
        let exact = Ratio::from_f64(deviation * deviation).unwrap();
        let law = DiscreteGaussian::new(&exact).unwrap();
        let mut draws = vec![0; DRAWS];
        law.fill(&mut draws, &mut entropy);
        cells.fit(&draws).assert(&off.fit(&draws), &format!("gaussian {deviation}"));
        let draws = many(|| DiscreteGaussian::once(&exact, &mut entropy).unwrap());
        cells.fit(&draws).assert(&off.fit(&draws), &format!("gaussian {deviation}, one by one"));
    }
}

/// Around centres that are not integers, to either side, and far from zero.
#[test]
fn gaussian_noise_around_a_centre_has_its_law() {
    let centres = [(1, 3), (-1, 3), (1, 2), (-1, 2), (49, 100), (-1007, 10), (10_000_003, 7)];
    for (seed, (numerator, denominator)) in (201..).zip(centres) {
        for deviation in [0.6, 1.9, 5.0, 70.0] {
            let mut entropy = Seeded::new(seed);
            let centre = Centre::new(numerator, denominator).unwrap();
            let exact = Ratio::from_f64(deviation * deviation).unwrap();
            let draws =
                many(|| DiscreteGaussian::once_around(&centre, &exact, &mut entropy).unwrap());
            let middle = numerator as f64 / denominator as f64;
            let nearest =
                i64::try_from(numerator.div_euclid(i128::try_from(denominator).unwrap())).unwrap();
            let cells = |middle: f64| {
                let left = middle - nearest as f64;
                Cells::new(deviation, move |k| {
                    (-(k - left).powi(2) / (2.0 * deviation * deviation)).exp()
                })
            };
            let moved: Vec<i64> = draws.iter().map(|draw| draw - nearest).collect();
            let off = cells(middle + 0.05 * deviation).fit(&moved);
            cells(middle).fit(&moved).assert(&off, &format!("around {middle}, {deviation}"));
        }
    }
}

/// Noise that is hardly any, between two integers: to the nearest, and to either of two equally
/// near.
#[test]
fn narrow_noise_between_integers_does_not_hang() {
    let mut entropy = Seeded::new(9);
    for variance in [0.01, 1e-3, 1e-9, 1e-300] {
        let variance = Ratio::from_f64(variance).unwrap();
        let mut around = |numerator, denominator| {
            let centre = Centre::new(numerator, denominator).unwrap();
            DiscreteGaussian::once_around(&centre, &variance, &mut entropy).unwrap()
        };
        assert!((0..200).all(|_| around(1, 3) == 0 && around(-8, 3) == -3));
        let halves: Vec<i64> = (0..4_000).map(|_| around(-7, 2)).collect();
        let law = |share| BTreeMap::from([(-4, share), (-3, 1.0 - share)]);
        let fit = |share| Fit::of(halves.iter().copied(), &law(share));
        fit(0.5).assert(&fit(0.58), "halves");
    }
}

#[test]
fn centres_are_quotients_within_range() {
    assert!(Centre::new(1, 0).is_none());
    assert!(Centre::new(i128::MAX, 1).is_none());
    assert!(Centre::new(i128::from(i64::MIN), 1).is_some());
    // Noise at the end of the range saturates.
    let end = Centre::new(i128::from(i64::MAX), 1).unwrap();
    let mut entropy = Seeded::new(1);
    let variance = Ratio::new(100, 1).unwrap();
    let most =
        (0..100).map(|_| DiscreteGaussian::once_around(&end, &variance, &mut entropy).unwrap());
    assert_eq!(most.max(), Some(i64::MAX));
}

/// Within a bin the law is not flat: low bits alone are tested, at a scale where a mutant that
/// keeps every place would show.
#[test]
fn places_within_a_bin_have_their_law() {
    let mut entropy = Seeded::new(7);
    let scale = 64.0;
    let law = DiscreteLaplace::new(&Ratio::from_f64(scale).unwrap()).unwrap();
    let draws: Vec<i64> = (0..4_000_000).map(|_| law.draw(&mut entropy)).collect();
    // Magnitudes modulo 4, of those that are not zero: weights exp(-place/scale).
    let places = |flat: bool| {
        let weight = |place: i64| if flat { 1.0 } else { (-(place as f64) / scale).exp() };
        let total: f64 = (0..4).map(weight).sum();
        (0..4).map(|place| (place, weight(place) / total)).collect::<BTreeMap<_, _>>()
    };
    let shifted = || draws.iter().filter(|draw| **draw != 0).map(|draw| (draw.abs() - 1) % 4);
    Fit::of(shifted(), &places(false)).assert(&Fit::of(shifted(), &places(true)), "places");
}

#[test]
fn extremes_neither_panic_nor_hang() {
    let mut entropy = Seeded::new(3);
    for tiny in [5e-324, 1e-300, 1e-9, 1e-3] {
        let tiny = Ratio::from_f64(tiny).unwrap();
        let laplace = DiscreteLaplace::new(&tiny).unwrap();
        let gaussian = DiscreteGaussian::new(&tiny).unwrap();
        for _ in 0..1000 {
            assert_eq!((laplace.draw(&mut entropy), gaussian.draw(&mut entropy)), (0, 0));
        }
        assert_eq!(DiscreteLaplace::once(&tiny, &mut entropy), Ok(0));
        assert_eq!(DiscreteGaussian::once(&tiny, &mut entropy), Ok(0));
    }
    let wide = Ratio::new(1 << 42, 1).unwrap();
    let wide_square = Ratio::new(1 << 84, 1).unwrap();
    let laplace = DiscreteLaplace::new(&wide).unwrap();
    let gaussian = DiscreteGaussian::new(&wide_square).unwrap();
    let mut largest = 0;
    for _ in 0..1000 {
        largest = largest.max(laplace.draw(&mut entropy).abs());
        largest = largest.max(gaussian.draw(&mut entropy).abs());
        largest = largest.max(DiscreteLaplace::once(&wide, &mut entropy).unwrap().abs());
        largest = largest.max(DiscreteGaussian::once(&wide_square, &mut entropy).unwrap().abs());
    }
    assert!(largest > 1 << 43, "{largest}");
    let rounded = Laplace::new(&wide).unwrap();
    let furthest = (0..1000).map(|_| rounded.draw(&mut entropy).abs()).max();
    assert!(furthest.is_some_and(|furthest| furthest > 1 << 43), "{furthest:?}");
    for too_wide in [8_796_093_022_208.0, 1e17, 1e100, f64::MAX] {
        let too_wide = Ratio::from_f64(too_wide).unwrap();
        assert_eq!(DiscreteLaplace::new(&too_wide).unwrap_err(), ScaleError);
        assert_eq!(Laplace::new(&too_wide).unwrap_err(), ScaleError);
        assert_eq!(DiscreteLaplace::once(&too_wide, &mut entropy), Err(ScaleError));
    }
    let too_wide = Ratio::from_f64(1e300).unwrap();
    assert_eq!(DiscreteGaussian::new(&too_wide).unwrap_err(), ScaleError);
    assert_eq!(
        DiscreteGaussian::once(&too_wide, &mut entropy).unwrap_err().to_string(),
        "the noise is too wide: its scale must be below 2^43"
    );
}

#[test]
fn ratios_are_positive_numbers() {
    for wrong in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Ratio::from_f64(wrong), None);
    }
    assert_eq!(Ratio::new(0, 1), None);
    assert_eq!(Ratio::new(1, 0), None);
    // The double itself, not the decimal it is written as.
    let tenth = format!("{:?}", Ratio::from_f64(0.1).unwrap());
    assert_eq!(tenth, "7205759403792794/72057594037927936");
}

/// A source that is stuck in the middle of the law is drawn from once, and not for ever.
#[test]
fn a_stuck_source_ends_a_draw() {
    let variance = Ratio::new(1_000_000, 1).unwrap();
    let law = DiscreteGaussian::new(&variance).unwrap();
    assert_eq!(law.draw(&mut Tape::always(0)), 0);
    assert!(law.draw(&mut Tape::always(u64::MAX / 3)).abs() < 10_000);
}
