//! What one unit can change a truth by.

use eke_budget::number::ParameterError;
use eke_budget::{L1, L2};

/// A bound on how far one unit can change a truth.
pub trait Bound: Clone + PartialEq + std::fmt::Debug {
    /// The bound on what a Lipschitz function of the truth changes by, rounded up.
    ///
    /// # Errors
    /// The factor is zero, or the bound would be out of range.
    fn times(&self, factor: u32) -> Result<Self, ParameterError>;
}

impl Bound for L1 {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        Self::new(product(self.get(), factor))
    }
}

/// How far one unit can move a vector: in the sum of absolute differences, and in Euclidean length.
///
/// How many coordinates the vector has is part of the bound, and public: nothing is computed from
/// how long a vector turns out to be. One that is shorter counts as padded with zeros, one that is
/// longer as cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    l1: L1,
    l2: L2,
    coordinates: usize,
}

impl Norms {
    /// Both bounds. The length is never more than the sum, so the smaller of the two is taken for
    /// it.
    ///
    /// # Errors
    /// Never for bounds that exist.
    pub fn new(l1: L1, l2: L2, coordinates: usize) -> Result<Self, ParameterError> {
        Ok(Self { l1, l2: L2::new(l2.get().min(l1.get()))?, coordinates })
    }

    /// A bound on the sum of absolute differences alone; the length is within it.
    ///
    /// # Errors
    /// Never for bounds that exist.
    pub fn l1(l1: L1, coordinates: usize) -> Result<Self, ParameterError> {
        Ok(Self { l1, l2: L2::new(l1.get())?, coordinates })
    }

    /// A bound on the length alone, of a vector of this number of coordinates: the sum is at most
    /// the square root of their number times as much.
    ///
    /// # Errors
    /// The bound on the sum would be out of range.
    pub fn l2(l2: L2, coordinates: usize) -> Result<Self, ParameterError> {
        let root = (coordinates.max(1) as f64).sqrt();
        let sum = l2.get() * root * (1.0 + 4.0 * f64::EPSILON);
        Ok(Self { l1: L1::new(sum)?, l2, coordinates })
    }

    /// How many coordinates the vector has.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// In the sum of absolute differences.
    #[must_use]
    pub fn sum(&self) -> L1 {
        self.l1
    }

    /// In Euclidean length.
    #[must_use]
    pub fn length(&self) -> L2 {
        self.l2
    }
}

impl Bound for Norms {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        let l2 = L2::new(product(self.l2.get(), factor))?;
        Ok(Self { l1: self.l1.times(factor)?, l2, coordinates: self.coordinates })
    }
}

/// One step up, since the product may have been rounded.
fn product(bound: f64, factor: u32) -> f64 {
    let product = bound * f64::from(factor);
    if factor == 1 { product } else { product.next_up() }
}
