//! Grids for truths that are not integers.
//!
//! Noise is drawn in integers, so a real-valued truth is first written as a number of steps. A unit
//! that changes the truth by d steps changes the rounded truth by less than d + 1, so by at most d
//! rounded up: the sensitivity is adjusted, and is the one the noise is priced for. Steps are
//! powers of two, so that dividing by one is exact.

use eke_budget::number::ParameterError;
use eke_budget::{Amount, L1, L2, Rho};

use crate::evidence::bound::Norms;
use crate::evidence::exact::clamped;
use crate::{Exact, Released};

/// The narrowest Gaussian noise that a grid should be used with, as a variance in steps squared.
const NARROWEST: f64 = 64.0;

/// A grid on the real line: the multiples of a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "i32", into = "i32")]
pub struct Grid {
    exponent: i32,
}

/// A step that grids do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a grid's step is a power of two between 2^-500 and 2^500")]
pub struct GridError;

impl Grid {
    /// The integers.
    pub const WHOLE: Self = Self { exponent: 0 };

    /// The multiples of `2^exponent`.
    ///
    /// # Errors
    /// The exponent is not between -500 and 500.
    pub fn new(exponent: i32) -> Result<Self, GridError> {
        (-500..=500).contains(&exponent).then_some(Self { exponent }).ok_or(GridError)
    }

    /// The coarsest grid on which Gaussian noise of this price, and of every lower one, is wide
    /// enough for a [`GaussianPath`](crate::GaussianPath): a variance of 64 steps squared.
    /// (Rounding adds to the sensitivity in steps, which only widens the noise.)
    ///
    /// # Errors
    /// No grid is fine or coarse enough.
    pub fn for_noise(sensitivity: L1, finest: Amount<Rho>) -> Result<Self, GridError> {
        let deviation = sensitivity.get() / (2.0 * finest.to_f64()).sqrt();
        let exponent = (deviation / NARROWEST.sqrt()).log2().floor();
        if !(-500.0..=500.0).contains(&exponent) {
            return Err(GridError);
        }
        #[expect(clippy::cast_possible_truncation, reason = "within 500")]
        Ok(Self { exponent: exponent as i32 })
    }

    /// The step.
    #[must_use]
    pub fn step(self) -> f64 {
        libm::ldexp(1.0, self.exponent)
    }

    /// A released number of steps as the number it stands for.
    #[must_use]
    pub fn value(self, steps: Released<i64>) -> f64 {
        self.length(steps.get())
    }

    /// The length of a number of steps.
    #[must_use]
    pub fn length(self, steps: i64) -> f64 {
        libm::ldexp(steps as f64, self.exponent)
    }

    /// A number in steps, to the nearest, halves up. Not a number counts as zero; what is beyond
    /// 2⁶² steps is clamped there. Moving a number by a whole number of steps moves the result by
    /// as many, and the result never falls when the number grows: the sensitivities below rest on
    /// both.
    #[must_use]
    pub fn steps(self, value: f64) -> i64 {
        if value.is_nan() {
            return 0;
        }
        // Exact, but for what is too small to be a step or too large to be a number of them.
        let steps = libm::ldexp(value, -self.exponent);
        let whole = steps.floor();
        let nearest = if steps - whole >= 0.5 { whole + 1.0 } else { whole };
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        clamped(nearest as i64)
    }
}

impl TryFrom<i32> for Grid {
    type Error = GridError;

    fn try_from(exponent: i32) -> Result<Self, GridError> {
        Self::new(exponent)
    }
}

impl From<Grid> for i32 {
    fn from(grid: Grid) -> i32 {
        grid.exponent
    }
}

impl Exact<f64> {
    /// The truth on a grid, with its sensitivity in steps.
    ///
    /// - Theorem: grid (docs/theorems.md)
    /// - Proves: numbers at most d apart are at most d/step, rounded up, steps apart on the grid
    /// - Assumes: the truth changes by at most its bound, as a double (caller)
    /// - Deviates: not a number counts as zero, and numbers beyond 2⁶² steps as 2⁶²
    /// - Checked by: `numbers_on_a_grid_are_no_further_apart_than_stated`
    ///
    /// # Errors
    /// The sensitivity in steps is out of range.
    pub fn on(&self, grid: Grid) -> Result<Exact<i64>, ParameterError> {
        let steps = (self.sensitivity().get() / grid.step()).ceil();
        Ok(Exact::new(grid.steps(*self.open()), L1::new(steps)?))
    }
}

impl Exact<Vec<f64>> {
    /// The truth on a grid, coordinate by coordinate, with its sensitivities in steps: rounding
    /// adds less than one step to each coordinate's change, so less than their number to the sum
    /// and less than its square root to the length.
    ///
    /// - Theorem: grid (docs/theorems.md)
    /// - Proves: vectors within the bound are within the bound in steps plus the above on the grid
    /// - Assumes: the truth moves by at most its bound, as doubles (caller)
    /// - Deviates: rounded up; not a number counts as zero, and numbers beyond 2⁶² steps as 2⁶²
    /// - Checked by: `vectors_on_a_grid_are_no_further_apart_than_stated`
    ///
    /// # Errors
    /// A sensitivity in steps is out of range.
    pub fn on(&self, grid: Grid) -> Result<Exact<Vec<i64>>, ParameterError> {
        let coordinates = self.sensitivity().coordinates();
        let count = coordinates.max(1) as f64;
        let up = 1.0 + 4.0 * f64::EPSILON;
        let l1 = (self.sensitivity().sum().get() / grid.step() + count) * up;
        let l2 = (self.sensitivity().length().get() / grid.step() + count.sqrt()) * up;
        let value = |index: usize| self.open().get(index).map_or(0, |&value| grid.steps(value));
        let values = (0..coordinates).map(value).collect();
        Ok(Exact::new(values, Norms::new(L1::new(l1)?, L2::new(l2)?, coordinates)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound(value: f64) -> L1 {
        L1::new(value).unwrap()
    }

    proptest! {
        #[test]
        fn numbers_on_a_grid_are_no_further_apart_than_stated(
            value in prop_oneof![-1e6f64..1e6, -4.0f64..4.0, (-40i32..40).prop_map(|n| f64::from(n) * 0.25)],
            change in prop_oneof![0.0f64..9.0, (0i32..40).prop_map(|n| f64::from(n) * 0.125), Just(1e-300)],
            exponent in -6i32..4,
        ) {
            let grid = Grid::new(exponent).unwrap();
            let other = value + change;
            // As doubles they are this far apart, exactly or rounded up.
            let apart = (other - value).next_up().max(f64::MIN_POSITIVE);
            let one = Exact::new(value, bound(apart)).on(grid).unwrap();
            let two = Exact::new(other, bound(apart)).on(grid).unwrap();
            let steps = two.open().abs_diff(*one.open());
            prop_assert!(steps as f64 <= one.sensitivity().get(), "{steps} {one:?}");
            prop_assert!((grid.length(*one.open()) - value).abs() <= grid.step() / 2.0);
        }

        #[test]
        fn vectors_on_a_grid_are_no_further_apart_than_stated(
            values in prop::collection::vec((-50.0f64..50.0, -3.0f64..3.0), 1..12),
            exponent in -3i32..3,
        ) {
            let grid = Grid::new(exponent).unwrap();
            let one: Vec<f64> = values.iter().map(|pair| pair.0).collect();
            let two: Vec<f64> = values.iter().map(|pair| pair.0 + pair.1).collect();
            let apart = || one.iter().zip(&two).map(|(a, b)| (a - b).abs());
            let norms = Norms::new(
                bound(apart().sum::<f64>().next_up().max(1e-9)),
                L2::new(apart().map(|d| d * d).sum::<f64>().sqrt().next_up().max(1e-9)).unwrap(),
                one.len(),
            ).unwrap();
            let on = |v: &Vec<f64>| Exact::new(v.clone(), norms).on(grid).unwrap();
            let (one, two) = (on(&one), on(&two));
            let steps: Vec<f64> = one.open().iter().zip(two.open()).map(|(a, b)| (a - b).abs() as f64).collect();
            prop_assert!(steps.iter().sum::<f64>() <= one.sensitivity().sum().get());
            let length = steps.iter().map(|d| d * d).sum::<f64>().sqrt();
            prop_assert!(length <= one.sensitivity().length().get());
        }
    }

    /// Halves always go up: with halves to even, 0.5 and 1.5 would be two steps apart.
    #[test]
    fn halves_go_up_and_odd_numbers_are_defined() {
        let steps = |value: f64| Grid::WHOLE.steps(value);
        assert_eq!([-1.5, -0.5, 0.5, 1.5, 2.5].map(steps), [-1, 0, 1, 2, 3]);
        assert_eq!(steps(0.5f64.next_down()), 0);
        assert_eq!(
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(steps),
            [0, 1 << 62, -(1 << 62)]
        );
        assert_eq!([-0.0, 5e-324, 1e300].map(steps), [0, 0, 1 << 62]);
        assert!(Grid::new(501).is_err() && Grid::new(-501).is_err());
        let quarters = Grid::new(-2).unwrap();
        assert!((quarters.value(Released::new(10)) - 2.5).abs() < 1e-15);
    }

    #[test]
    fn a_grid_for_noise_keeps_it_wide_enough() {
        for (sensitivity, rho) in [(1.0, "1"), (200.0, "0.001"), (1e-3, "100"), (20.0, "8")] {
            let grid = Grid::for_noise(bound(sensitivity), rho.parse().unwrap()).unwrap();
            let rho: f64 = rho.parse().unwrap();
            let variance = (sensitivity / grid.step()).powi(2) / (2.0 * rho);
            assert!((64.0..=256.0).contains(&variance), "{variance}");
        }
    }

    #[test]
    fn a_grid_is_stored_as_its_exponent() {
        let grid: Grid = serde_json::from_str("-10").unwrap();
        assert_eq!(
            (grid.step(), serde_json::to_string(&grid).unwrap()),
            (1.0 / 1024.0, "-10".to_owned())
        );
        assert!(serde_json::from_str::<Grid>("1000").is_err());
    }
}
