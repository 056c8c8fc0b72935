//! What has touched private rows, and what may leave.
//!
//! An [`Exact`] value carries the sensitivity it was bounded to and shows itself to nobody: it can
//! be mapped, and it can be noised by a mechanism of this crate that uses up a receipt for exactly
//! that. What comes out is [`Released`].
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
//! What is read from a file or a wire is a number that somebody wrote there. It was released if a
//! path that was stored says so, and not by itself:
//! ```compile_fail,E0277
//! # use eke_noise::Released;
//! fn read(text: &str) -> Released<i64> {
//!     serde_json::from_str(text).unwrap()
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
use eke_budget::number::ParameterError;
use serde::Serialize;

use crate::evidence::bound::{Bound, Norms};

/// What can be computed from private rows. Its type says what a bound on it means. (Sealed: the
/// types are those of this crate, whose verbs know them.)
pub trait Truth: sealed::Sealed {
    /// How far one unit can change it.
    type Bound: Bound;
}

/// One number: a unit changes it by at most the bound.
impl Truth for i64 {
    type Bound = L1;
}

/// One number, to be put on a grid: a unit changes it by at most the bound.
impl Truth for f64 {
    type Bound = L1;
}

/// A vector: a unit moves it by at most the bound, in both norms.
impl Truth for Vec<i64> {
    type Bound = Norms;
}

/// A vector, to be put on a grid: a unit moves it by at most the bound, in both norms.
impl Truth for Vec<f64> {
    type Bound = Norms;
}

/// One score per candidate: a unit changes each of them by at most the bound.
#[derive(Clone)]
pub struct Scores(pub Vec<i64>);

impl Truth for Scores {
    type Bound = L1;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i64 {}
    impl Sealed for f64 {}
    impl Sealed for Vec<i64> {}
    impl Sealed for Vec<f64> {}
    impl Sealed for super::Scores {}
    impl Sealed for crate::Category {}
    impl Sealed for crate::path::Columns {}
    impl Sealed for crate::release::Histograms {}
    impl Sealed for crate::release::Points {}
    impl Sealed for crate::release::Rows<'_> {}
    impl<K> Sealed for crate::select::KeyCounts<K> {}
}

/// A value computed from private rows, with what one unit can change it by.
#[derive(Clone)]
pub struct Exact<T: Truth> {
    value: T,
    sensitivity: T::Bound,
}

impl<T: Truth> Exact<T> {
    /// Wraps a value that one unit can change by at most the sensitivity, under the adjacency of
    /// the account that will pay for it. The code that computed it vouches for that.
    #[must_use]
    pub fn new(value: T, sensitivity: T::Bound) -> Self {
        Self { value, sensitivity }
    }

    /// What one unit can change the value by.
    #[must_use]
    pub fn sensitivity(&self) -> &T::Bound {
        &self.sensitivity
    }

    /// Computes on the value. The function must be pure (a plain function cannot capture, but it
    /// could still write to a static: that is for its reviewer), and Lipschitz: whatever
    /// changes by d changes what it returns by at most `factor` times d, in every norm of the
    /// bound.
    ///
    /// # Errors
    /// The factor is zero, or the sensitivity would be out of range.
    pub fn map<U: Truth<Bound = T::Bound>>(
        self,
        function: fn(T) -> U,
        factor: u32,
    ) -> Result<Exact<U>, ParameterError> {
        let sensitivity = self.sensitivity.times(factor)?;
        Ok(Exact { value: function(self.value), sensitivity })
    }

    /// For the verbs of this crate alone.
    pub(crate) fn open(&self) -> &T {
        &self.value
    }
}

/// A truth within 2⁶² of zero, which leaves room for noise. Clamping to bounds that do not depend
/// on the data changes no sensitivity, and keeps noise that was added from being cut off where the
/// truth would show.
pub(crate) fn clamped(value: i64) -> i64 {
    const BOUND: i64 = 1 << 62;
    value.clamp(-BOUND, BOUND)
}

impl<T: Truth> fmt::Debug for Exact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exact(..)")
    }
}

impl fmt::Debug for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scores(..)")
    }
}

/// A value that has been noised and paid for, and may leave. It can be written, and not read: a
/// mechanism makes one for a receipt, or a path shows a point again that it was stored with.
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

    /// The value, looked at.
    pub fn peek(&self) -> &T {
        &self.value
    }
}
