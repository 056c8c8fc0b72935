//! Probabilities on the integers from their characteristic function.
//!
//! The trapezoid rule on one period gives `sum over m of r(k + mN)` for the coefficient r(k), so
//! for a function that is analytic on the circle its error falls exponentially in the number of
//! frequencies N; what is left is rounding.

use std::f64::consts::PI;

/// The coefficients `r(0), r(1), …` of an even function on the circle, and how far off each may be.
#[derive(Clone, Debug)]
pub(crate) struct Coefficients {
    pub(crate) values: Vec<f64>,
    pub(crate) error: f64,
}

const FEWEST: usize = 64;
const MOST: usize = 1 << 18;

/// The coefficients of a function, given with its absolute error; none if more are needed than
/// are computed, or the function is not finite.
pub(crate) fn coefficients(function: impl Fn(f64) -> (f64, f64)) -> Option<Coefficients> {
    let mut count = FEWEST;
    while count <= MOST {
        let (mut values, mut error) = (vec![(0.0, 0.0); count], 0.0);
        for index in 0..=count / 2 {
            let (value, off) = function(2.0 * PI * double(index) / double(count));
            if !value.is_finite() {
                return None;
            }
            let (mirror, scale) = ((count - index) % count, double(count));
            values[index].0 = value / scale;
            values[mirror].0 = value / scale;
            error += off * if mirror == index { 1.0 } else { 2.0 } / scale;
        }
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.0.abs()));
        transform(&mut values);
        error += f64::EPSILON * largest * double(count) * f64::from(count.ilog2());
        // Once the last quarter is rounding, what is folded over from beyond is too.
        let tail = values[count / 4..=count / 2].iter().map(|value| value.0.abs());
        if tail.fold(0.0, f64::max) <= error {
            let values = values[..count / 4].iter().map(|value| value.0).collect();
            return Some(Coefficients { values, error });
        }
        count *= 4;
    }
    None
}

/// The fast Fourier transform of complex numbers, as many as a power of two.
fn transform(values: &mut [(f64, f64)]) {
    let count = values.len();
    let bits = count.ilog2();
    for index in 0..count {
        let mirrored = index.reverse_bits() >> (usize::BITS - bits);
        if index < mirrored {
            values.swap(index, mirrored);
        }
    }
    let turn = |index: usize| {
        let (sine, cosine) = (-2.0 * PI * double(index) / double(count)).sin_cos();
        (cosine, sine)
    };
    let turns: Vec<(f64, f64)> = (0..count / 2).map(turn).collect();
    let mut half = 1;
    while half < count {
        let stride = count / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (place, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let (cosine, sine) = turns[place * stride];
                let turned = (b.0 * cosine - b.1 * sine, b.0 * sine + b.1 * cosine);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
}

fn double(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficients_of_geometric_noise_are_its_probabilities() {
        for ratio in [0.01f64, 0.5, 0.99] {
            let function = |t: f64| {
                let value = (1.0 - ratio).powi(2) / (1.0 - 2.0 * ratio * t.cos() + ratio * ratio);
                (value, value * 4.0 * f64::EPSILON)
            };
            let found = coefficients(function).unwrap();
            assert!(found.error < 1e-14, "{}", found.error);
            for (k, value) in found.values.iter().enumerate() {
                let k = i32::try_from(k).unwrap();
                let known = (1.0 - ratio) / (1.0 + ratio) * ratio.powi(k);
                assert!((value - known).abs() <= found.error, "{ratio} at {k}: {value} {known}");
            }
        }
    }

    #[test]
    fn a_function_that_is_not_smooth_has_too_many() {
        assert!(coefficients(|t| ((t - PI).abs(), 0.0)).is_none());
        assert!(coefficients(|_| (f64::INFINITY, 0.0)).is_none());
    }
}
