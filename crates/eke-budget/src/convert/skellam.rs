//! What Skellam noise on one integer costs: the difference of two Poisson numbers.
//!
//! It has no pure price at all: the ratio of its neighbouring probabilities grows without bound. (A
//! scale of `D/(exp(epsilon)-1)`, which is in print as a pure price, has a delta of 0.09 at epsilon
//! 1.) Its price is a rho that covers its Rényi divergence at every order, or a delta at an
//! epsilon.
//!
//! Everything is by the variance m, twice the mean of either Poisson number, and by a whole shift
//! D.

use super::bessel::{double, whole};
use super::skellam_losses::{EXCESS, Losses, MARGIN, MOST};
use super::{ConvertError, Curve, Method, Order};
use crate::number::enclosure::{Enclosure, largest};
use crate::number::parameter::ParameterError;
use crate::{Amount, Delta, Epsilon, L1, Rho, Variance};

/// Why Skellam noise has no price, or a price no Skellam noise.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkellamError {
    /// The sensitivity is not a whole number.
    #[error(
        "Skellam noise is for whole numbers, and a sensitivity of {0} is not one: put the truth on a grid \
         on which it is"
    )]
    NotWhole(f64),
    /// The sensitivity is too large.
    #[error(
        "a sensitivity of {0} is too large for Skellam noise, which takes up to 2^20: put the truth on a \
         coarser grid"
    )]
    TooSensitive(f64),
    /// Nothing is paid.
    #[error("no Skellam noise is wide enough for nothing: pay more than nothing")]
    NoPrice,
    /// What it converts to does not exist.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A number is out of range.
    #[error(transparent)]
    OutOfRange(#[from] ParameterError),
}

/// The privacy of one integer released with Skellam noise.
///
/// - Theorem: skellam-price (docs/theorems.md)
/// - Proves: every divergence, delta and rho here is at least that of the release
/// - Assumes: the integer changes by at most the shift, in whole steps (caller)
/// - Deviates: evaluated in floating point and widened by ten times its error
/// - Checked by: `skellam_prices_match_the_golden_values`, `a_skellam_rho_covers_every_order`,
///   `skellam_prices_fall_with_the_variance_and_grow_with_the_shift`
#[derive(Clone, Debug)]
pub struct SkellamCurve {
    variance: f64,
    shift: usize,
}

/// From this variance per unit of shift on, a price has a closed form.
const WIDE: f64 = 16_384.0;
/// Up to this variance the losses of the shift itself are summed.
const SUMMED: f64 = 32_768.0;
/// The largest shift.
const LARGEST_SHIFT: f64 = 1_048_576.0;
/// How many bits a variance that was computed from a price has.
const BITS: i32 = 20;

impl SkellamCurve {
    /// Noise of this variance on an integer of this sensitivity.
    ///
    /// # Errors
    /// The sensitivity is not a whole number, or too large.
    pub fn new(variance: Variance, sensitivity: L1) -> Result<Self, SkellamError> {
        let shift = sensitivity.get();
        if shift.fract() != 0.0 {
            return Err(SkellamError::NotWhole(shift));
        }
        if shift > LARGEST_SHIFT {
            return Err(SkellamError::TooSensitive(shift));
        }
        Ok(Self { variance: variance.get(), shift: whole(shift) })
    }

    /// A variance of twenty bits that a rho pays for, hardly above the least. The same rho has
    /// the same variance always, and half of it is a double too.
    ///
    /// - Theorem: skellam-price (docs/theorems.md)
    /// - Proves: the release costs at most this rho
    /// - Assumes: as for the price
    /// - Deviates: a little larger than the least there is
    /// - Checked by: `a_skellam_variance_costs_what_it_was_made_for`
    ///
    /// # Errors
    /// The sensitivity is not a whole number or too large, or nothing is paid.
    pub fn variance(rho: Amount<Rho>, sensitivity: L1) -> Result<Variance, SkellamError> {
        if rho.is_zero() {
            return Err(SkellamError::NoPrice);
        }
        let price = |variance: f64| Self::new(Variance::new(variance)?, sensitivity)?.rho();
        let (paid, shift) = (rho.to_f64(), sensitivity.get());
        let step = 1.0 + libm::ldexp(1.0, -BITS);
        // The last variance that is too small, with its price, and the least that is not.
        let mut small: Option<(f64, f64)> = None;
        let gaussian = shift * shift / (2.0 * paid);
        let excess = if gaussian > WIDE * shift { 5.0 * shift / gaussian } else { EXCESS };
        let mut enough = rounded_up(gaussian * (1.0 + excess));
        let mut at = price(enough)?;
        while at > rho {
            small = Some((enough, at.to_f64()));
            enough = rounded_up(enough * (at.to_f64() / paid).max(step));
            at = price(enough)?;
        }
        while let Some((low, dear)) = small
            && at.to_f64() < paid * (1.0 - EXCESS / 2.0)
        {
            // Where a line through both, in logarithms, meets the price.
            let part = libm::log(dear / paid) / libm::log(dear / at.to_f64());
            let guess = low * libm::pow(enough / low, part.clamp(0.01, 0.99));
            let middle = rounded_up(guess * (1.0 + EXCESS / 8.0));
            if middle >= enough || middle <= low {
                break;
            }
            match price(middle)? {
                found if found <= rho => (enough, at) = (middle, found),
                found => small = Some((middle, found.to_f64())),
            }
        }
        Ok(Variance::new(enough)?)
    }

    /// The least variance, of those with twenty bits and within a millionth, at which the release
    /// keeps a promise on its own.
    ///
    /// # Errors
    /// As for [`SkellamCurve::variance`], or no rho keeps the promise.
    pub fn variance_for(
        epsilon: Epsilon,
        delta: Delta,
        sensitivity: L1,
    ) -> Result<Variance, SkellamError> {
        let ln_delta = libm::log(delta.get()).next_down().next_down();
        let keeps = |variance: f64| {
            let curve = Self::new(Variance::new(variance)?, sensitivity)?;
            Ok::<_, SkellamError>(curve.ln_delta(epsilon) <= ln_delta)
        };
        let rho = Method::Tight.rho(epsilon, delta)?;
        let mut high = Self::variance(Amount::at_most(rho), sensitivity)?.get();
        let mut low = high / 64.0;
        while high > low * (1.0 + libm::ldexp(1.0, -BITS)) {
            let middle = rounded_up((low * high).sqrt());
            if middle >= high {
                break;
            }
            if keeps(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Variance::new(high)?)
    }

    /// The Rényi divergence at an order, in nats.
    #[must_use]
    pub fn divergence(&self, order: Order) -> f64 {
        let order = order.get();
        match Losses::new(self.variance, self.shift, order) {
            Some(losses) if losses.moment(order).is_finite() => {
                losses.moment(order) / (order - 1.0) * (1.0 + MARGIN)
            }
            _ => (Enclosure::written(order) * Enclosure::written(self.rho_bound())).upper(),
        }
    }

    /// The published bound on the divergence at a whole order: looser, and in closed form.
    ///
    /// - Theorem: skellam-published (docs/theorems.md)
    /// - Proves: `a D²/(2m) + min(((2a-1) D² + 6D)/(4m²), 3D/(2m))` is at least the divergence
    /// - Assumes: an order of at least 2 (other orders are taken as 2)
    /// - Deviates: rounded up
    /// - Checked by: `skellam_prices_match_the_golden_values`
    #[must_use]
    pub fn published_divergence(&self, order: u32) -> f64 {
        let order = Enclosure::exact(f64::from(order.max(2)));
        let (variance, shift) = (self.enclosed(), Enclosure::exact(double(self.shift)));
        let (two, four) = (Enclosure::exact(2.0), Enclosure::exact(4.0));
        let square = shift.square();
        let gaussian = order * square / (two * variance);
        let odd = (two * order - Enclosure::exact(1.0)) * square;
        let near = (odd + Enclosure::exact(6.0) * shift) / (four * variance.square());
        let far = Enclosure::exact(3.0) * shift / (two * variance);
        (gaussian + near).upper().min((gaussian + far).upper())
    }

    /// The zCDP price of the release: a rho that covers the divergence at every order.
    ///
    /// # Errors
    /// The price is more than an amount holds.
    pub fn rho(&self) -> Result<Amount<Rho>, SkellamError> {
        Ok(Amount::ceil(self.rho_bound())?)
    }

    fn rho_bound(&self) -> f64 {
        let shift = Enclosure::exact(double(self.shift));
        let per_shift = self.variance / double(self.shift);
        let gaussian = shift.square() / (Enclosure::exact(2.0) * self.enclosed());
        if per_shift >= WIDE {
            let excess = Enclosure::exact(5.0) * shift / self.enclosed();
            return (gaussian * (Enclosure::exact(1.0) + excess)).upper();
        }
        let summed = if self.variance <= SUMMED {
            certified(self.variance, self.shift)
        } else {
            // As many releases of a shift of one, with noise that adds up to this.
            certified(per_shift.next_down(), 1).map(|rho| rho * double(self.shift))
        };
        let far = Enclosure::exact(1.5) * shift / self.enclosed();
        // The published bound at the next whole order, which is at most an order of two at 1.
        let published = (Enclosure::exact(2.0) * gaussian + far).upper();
        summed.map_or(published, |rho| published.min(rho * (1.0 + MARGIN)))
    }

    /// The natural logarithm of the delta of the release at an epsilon: exact up to variances of
    /// some millions, and by its rho beyond.
    #[must_use]
    pub fn ln_delta(&self, epsilon: Epsilon) -> f64 {
        let by_rho = |curve: &Self| match Rho::new(curve.rho_bound()) {
            Ok(rho) => Method::Tight.ln_delta(rho, epsilon),
            Err(_) => 0.0,
        };
        let epsilon_below = epsilon.get().next_down();
        // Losses are above epsilon from about here on, and the noise never goes beyond `end`.
        let shift = double(self.shift);
        let from = shift / 2.0 + self.variance * libm::sinh(epsilon_below / shift);
        let end = shift + from + 12.0 * (self.variance + from).sqrt() + 200.0;
        if end.is_nan() || end >= double(MOST) {
            return by_rho(self);
        }
        let losses = Losses::up_to(self.variance, self.shift, whole(end));
        match losses.and_then(|losses| losses.ln_delta(epsilon_below)) {
            Some(ln_delta) => (ln_delta + MARGIN + ln_delta.abs() * 1e-13).min(0.0),
            None => by_rho(self),
        }
    }

    /// The delta of the release at an epsilon.
    ///
    /// # Errors
    /// Nothing is promised at this epsilon.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Delta, SkellamError> {
        let bound = Enclosure::exact(self.ln_delta(epsilon)).exp().upper();
        let delta = bound.max(Delta::FLOOR.get());
        Delta::new(delta).map_err(|_| match Rho::new(self.rho_bound()) {
            Ok(rho) => ConvertError::NothingPromised { rho, epsilon }.into(),
            Err(error) => error.into(),
        })
    }

    /// The epsilon of the release at a delta.
    ///
    /// # Errors
    /// It is larger than an epsilon can be.
    pub fn epsilon(&self, delta: Delta) -> Result<Epsilon, SkellamError> {
        let ln_delta = libm::log(delta.get()).next_down().next_down();
        let exceeds = |epsilon: f64| {
            Epsilon::new(epsilon).is_ok_and(|epsilon| self.ln_delta(epsilon) > ln_delta)
        };
        // What its rho promises is never below what it keeps.
        let high = Method::Tight.epsilon(Rho::new(self.rho_bound())?, delta)?;
        let last = largest(Epsilon::FLOOR.get(), high.get(), exceeds);
        let epsilon = if exceeds(last) { last.next_up().next_up() } else { last };
        Ok(Epsilon::new(epsilon)?)
    }

    fn enclosed(&self) -> Enclosure {
        Enclosure::written(self.variance)
    }
}

/// A rho that is seen to cover every order: hardly above what order 1 and the Gaussian bound need.
fn certified(variance: f64, shift: usize) -> Option<f64> {
    // Where one of the two published bounds takes over, or beyond.
    let last = if 2.0 / variance < EXCESS { 200.0 } else { 4.0 / EXCESS / double(shift) + 16.0 };
    let losses = Losses::new(variance, shift, last)?;
    let least = losses.mean().max(losses.per_square());
    (0..12)
        .map(|power| least * (1.0 + EXCESS * f64::from(1u32 << power)))
        .find(|&rho| losses.are_within(rho))
}

/// A double of few bits that is not below another.
fn rounded_up(value: f64) -> f64 {
    let (mantissa, exponent) = libm::frexp(value);
    libm::ldexp(libm::ldexp(mantissa, BITS).ceil(), exponent - BITS)
}
