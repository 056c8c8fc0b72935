//! What has touched private rows, and what may leave.
//!
//! An [`Exact`] value carries the sensitivity it was bounded to and shows itself to nobody: it can be
//! mapped, and it can be noised by a mechanism of this crate that uses up a receipt for exactly that.
//! What comes out is [`Released`].
//!
//! ```compile_fail,E0277
//! # use eke_noise::Exact;
//! fn show(exact: Exact<i64>) -> String {
//!     format!("{exact}")
//! }
//! ```
//! ```compile_fail,E0277
//! # use eke_noise::Exact;
//! fn send(exact: Exact<i64>) -> String {
//!     serde_json::to_string(&exact).unwrap()
//! }
//! ```
//! ```compile_fail,E0616
//! # use eke_noise::Exact;
//! fn open(exact: Exact<i64>) -> i64 {
//!     exact.value
//! }
//! ```
//! ```compile_fail,E0451
//! # use eke_noise::Released;
//! fn pretend(value: i64) -> Released<i64> {
//!     Released { value }
//! }
//! ```
//! A closure could carry a value out, so mapping takes plain functions:
//! ```compile_fail,E0308
//! # use eke_noise::Exact;
//! fn leak(exact: Exact<i64>, out: &mut i64) {
//!     exact.map(|value| { *out = value; value }, 1).unwrap();
//! }
//! ```

use std::fmt;

use eke_budget::L1;
use serde::{Deserialize, Serialize};

/// A value computed from private rows, with what one unit can change it by.
#[derive(Clone)]
pub struct Exact<T> {
    value: T,
    sensitivity: L1,
}

impl<T> Exact<T> {
    /// Wraps a value that one unit can change by at most the sensitivity, under the adjacency of the
    /// account that will pay for it. Whoever computed it vouches for that.
    #[must_use]
    pub fn new(value: T, sensitivity: L1) -> Self {
        Self { value, sensitivity }
    }

    /// What one unit can change the value by.
    #[must_use]
    pub fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    /// Computes on the value. The function must be Lipschitz: whatever changes by d changes what it
    /// returns by at most `factor` times d.
    ///
    /// # Errors
    /// The factor is zero, or the sensitivity would be out of range.
    pub fn map<U>(
        self,
        function: fn(T) -> U,
        factor: u32,
    ) -> Result<Exact<U>, eke_budget::ParameterError> {
        // One step up, since the product may have been rounded.
        let product = self.sensitivity.get() * f64::from(factor);
        let sensitivity = L1::new(if factor == 1 { product } else { product.next_up() })?;
        Ok(Exact { value: function(self.value), sensitivity })
    }
}

impl Exact<i64> {
    /// The value within 2⁶² of zero, which leaves room for noise. Clamping to bounds that do not
    /// depend on the data changes no sensitivity, and keeps noise that was added from being cut off
    /// where the truth would show.
    pub(crate) fn clamped(&self) -> i64 {
        const BOUND: i64 = 1 << 62;
        self.value.clamp(-BOUND, BOUND)
    }
}

impl<T> fmt::Debug for Exact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exact(..)")
    }
}

/// A value that has been noised and paid for, and may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Released<T> {
    value: T,
}

impl<T> Released<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value }
    }

    /// The value.
    pub fn get(self) -> T {
        self.value
    }
}

/// A revealed point as it is stored: safe to keep with whoever may see it.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Released<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}
