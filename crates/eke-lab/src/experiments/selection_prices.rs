//! Prices of choosing with Gaussian noise: computed, estimated, as printed, and by other ways of
//! accounting.
//!
//! Figures 1 to 3 and 6 to 8 of Lebensold, Precup and Balle. Nothing is drawn but for Monte Carlo
//! estimates of the same prices, which show why they are integrated, and for how long a search
//! takes.

mod above_threshold_bounds;
mod noisy_max_bounds;
mod normal;

pub(crate) use above_threshold_bounds::ABOVE_THRESHOLD_BOUNDS;
pub(crate) use noisy_max_bounds::NOISY_MAX_BOUNDS;
