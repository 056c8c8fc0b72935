//! Releasing histograms: a verb that opens an [`Exact`], for one receipt.
//!
//! A unit is in at most one cell of each histogram, so a whole histogram costs what one count
//! costs, however many cells it has. Several histograms may have noise of different widths: each
//! has a price of its own, and the prices add up.

use std::fmt;

use eke_budget::number::ParameterError;
use eke_budget::{Adjacency, Amount, Charge, L2, Purchase, Receipt, Rho};

use crate::evidence::bound::Bound;
use crate::evidence::exact::{Truth, clamped};
use crate::law::gaussian_step::{too_wide, variance_for};
use crate::path::{Mismatch, MismatchReason};
use crate::{DiscreteGaussian, Entropy, Exact, Released};

/// How many units are in each cell of several histograms, one histogram after the other.
#[derive(Clone)]
pub struct Histograms(pub Vec<i64>);

/// How many cells each histogram has, which is public. A unit is in at most one cell of each, where
/// it counts once. Cells that are missing count as empty, and those beyond are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneCellEach(pub Vec<usize>);

impl Bound for OneCellEach {
    /// A unit that counts several times in its cell has no place here: histograms are not mapped.
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        L2::new(f64::from(factor)).map(|_| self.clone())
    }
}

impl Truth for Histograms {
    type Bound = OneCellEach;
}

impl fmt::Debug for Histograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Histograms(..)")
    }
}

/// One histogram of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramPrice {
    /// How many cells it has.
    pub cells: usize,
    /// What one cell costs a unit that is in it: the noise has the variance 1/(2 rho).
    pub rho: Amount<Rho>,
}

impl HistogramPrice {
    /// How many cells of it differ at most between neighbours, each by one. A unit that is replaced
    /// leaves a cell and enters another one, if there is another one.
    fn moved(&self, adjacency: Adjacency) -> u32 {
        match adjacency {
            Adjacency::AddRemove => 1,
            Adjacency::Replace => {
                if self.cells > 1 {
                    2
                } else {
                    1
                }
            }
        }
    }

    /// What it costs in all.
    #[must_use]
    pub fn price(&self, adjacency: Adjacency) -> Amount<Rho> {
        self.rho.times(self.moved(adjacency)).unwrap_or(Amount::MAX)
    }

    /// The standard deviation of the noise of each cell.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        (0.5 / self.rho.to_f64()).sqrt()
    }
}

/// Several histograms, to be bought together.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRelease {
    /// The histograms, in their order.
    pub histograms: Vec<HistogramPrice>,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
}

impl Purchase for HistogramRelease {
    fn charge(&self) -> Charge {
        let prices = self.histograms.iter().map(|one| one.price(self.adjacency));
        let rho = prices.fold(Amount::ZERO, |all, one| all.plus(one).unwrap_or(Amount::MAX));
        Charge::Zcdp { rho, delta: Amount::ZERO }
    }
}

impl HistogramRelease {
    /// Whether it could be drawn: something to know before it is paid for.
    ///
    /// # Errors
    /// The noise of a histogram is too wide, or it is for nothing.
    pub fn can_release(&self) -> Result<(), MismatchReason> {
        self.laws().map(drop)
    }

    fn laws(&self) -> Result<Vec<DiscreteGaussian>, MismatchReason> {
        let one = L2::new(1.0).map_err(|_| MismatchReason::OtherSensitivity)?;
        let law = |histogram: &HistogramPrice| {
            let variance = variance_for(one, histogram.rho).ok_or(MismatchReason::OtherStep)?;
            DiscreteGaussian::new(&variance).map_err(too_wide)
        };
        self.histograms.iter().map(law).collect()
    }
}

/// The counts of all cells, each with Gaussian noise of its own.
///
/// - Theorem: histograms (docs/theorems.md)
/// - Proves: the sum over histograms of their rho under add-remove, of twice that under replace
///   where a histogram has several cells
/// - Assumes: a unit counts once in at most one cell of each histogram, and which one depends on
///   its own rows alone (engine)
/// - Deviates: nothing; noise is integer
/// - Checked by: `histograms_cost_the_divergence_of_neighbours_and_no_less`,
///   `histograms_are_released_for_their_own_receipt_alone`,
///   `cells_have_the_noise_that_their_histogram_was_paid_for`
///
/// # Errors
/// The receipt is for other histograms, or for noise that cannot be drawn; it comes back and
/// nothing is drawn.
pub fn release_histograms<E: Entropy + ?Sized>(
    truth: &Exact<Histograms>,
    receipt: Receipt<HistogramRelease>,
    entropy: &mut E,
) -> Result<Released<Vec<i64>>, Mismatch<HistogramRelease>> {
    let cells = receipt.purchase().histograms.iter().map(|one| one.cells);
    let laws = if cells.eq(truth.sensitivity().0.iter().copied()) {
        receipt.purchase().laws()
    } else {
        Err(MismatchReason::OtherSensitivity)
    };
    let laws = match laws {
        Ok(laws) => laws,
        Err(reason) => return Err(Mismatch { receipt: Box::new(receipt), reason }),
    };
    receipt.redeem();
    let Histograms(counts) = truth.open();
    let mut counts = counts.iter().copied();
    let mut released = Vec::new();
    for (law, &cells) in laws.iter().zip(&truth.sensitivity().0) {
        let mut noise = vec![0; cells];
        law.fill(&mut noise, entropy);
        let count = noise.into_iter().map(|noise| (noise, clamped(counts.next().unwrap_or(0))));
        released.extend(count.map(|(noise, count)| count.saturating_add(noise)));
    }
    Ok(Released::new(released))
}
