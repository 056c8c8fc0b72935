//! Keys that nobody has listed: which groups may be shown at all (partition selection).
//!
//! That a group exists can be somebody's secret. So a key is shown only if enough units have it,
//! counted with noise; a key that one unit alone has is shown with a probability that delta covers.

use std::num::NonZeroU32;

use eke_budget::number::ParameterError;
use eke_budget::{Adjacency, Amount, Charge, Delta, Metric, Purchase, Receipt, Rho};

use crate::evidence::bound::Bound;
use crate::evidence::exact::{Truth, clamped};
use crate::law::gaussian_step::too_wide;
use crate::path::{Mismatch, MismatchReason};
use crate::{DiscreteGaussian, Entropy, Exact, Ratio, Released};

/// How many units have each key. Keys that no unit has do not occur.
#[derive(Clone)]
pub struct KeyCounts<K>(pub Vec<(K, i64)>);

impl<K> Truth for KeyCounts<K> {
    type Bound = Touched;
}

impl<K> std::fmt::Debug for KeyCounts<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyCounts(..)")
    }
}

/// How many keys one unit has at most. It counts once for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched(pub NonZeroU32);

impl Bound for Touched {
    fn times(&self, factor: u32) -> Result<Self, ParameterError> {
        let times = NonZeroU32::new(factor).map_or(self.0, |factor| self.0.saturating_mul(factor));
        Ok(Self(times))
    }
}

/// A selection of keys, to be bought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeySelection {
    /// The price of one key, for a unit that has it.
    pub rho: Amount<Rho>,
    /// The probability that a key shows that one unit alone has, over all of its keys.
    pub delta: Amount<Delta>,
    /// How many keys one unit has at most.
    pub most: NonZeroU32,
    /// Which datasets are neighbours.
    pub adjacency: Adjacency,
}

impl KeySelection {
    /// The noisy count from which on a key is shown: the least at which noise carries a count of
    /// one there with probability `delta/most` at most; none if delta is zero, or the noise out of
    /// range.
    ///
    /// Discrete Gaussian noise is m or more with at most the probability that normal noise of the
    /// same variance is m - 1 or more.
    #[must_use]
    pub fn threshold(&self) -> Option<i64> {
        // One step down, for what division and erfc round.
        let each = self.delta.to_f64() / f64::from(self.most.get()) * (1.0 - 1e-9);
        let deviation = 1.0 / (2.0 * self.rho.to_f64()).sqrt() * (1.0 + 1e-12);
        // Wider noise is not drawn.
        if !(each > 1e-300 && deviation < 8e12) {
            return None;
        }
        let beyond =
            |noise: f64| libm::erfc((noise - 1.0) / (deviation * std::f64::consts::SQRT_2)) / 2.0;
        // From one deviation to forty, where less than 1e-300 is left.
        let (mut low, mut high) = (1.0, (40.0 * deviation).ceil() + 1.0);
        while high - low > 1.0 {
            let middle = f64::midpoint(low, high).floor();
            if beyond(middle) <= each { high = middle } else { low = middle }
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 1e17")]
        Some(1 + high as i64)
    }
}

impl Purchase for KeySelection {
    /// Under replace a unit may leave its keys and take others: the price is that of groups, and
    /// both sides may show a key of the one unit.
    fn charge(&self) -> Charge {
        let metric = Metric::Hamming(self.adjacency);
        let rho =
            self.rho.times(self.most.get()).and_then(|rho| rho.times(metric.group_factor::<Rho>()));
        let sides = match self.adjacency {
            Adjacency::AddRemove => 1,
            Adjacency::Replace => 2,
        };
        Charge::Zcdp {
            rho: rho.unwrap_or(Amount::MAX),
            delta: self.delta.times(sides).unwrap_or(Amount::MAX),
        }
    }
}

/// The keys that enough units have, in their order.
///
/// - Theorem: key-selection (docs/theorems.md)
/// - Proves: delta-approximate `most·rho`-zCDP under add-remove
/// - Assumes: a unit counts once for each of its keys, of which it has at most `most`, and which
///   ones depends on its own rows alone (engine)
/// - Deviates: noise is integer; the threshold rounds up
/// - Checked by: `a_key_of_one_unit_shows_with_the_probability_that_is_paid_for`,
///   `keys_show_as_often_as_their_counts_say`
///
/// # Errors
/// The receipt is for another number of keys, or for noise that cannot be drawn; it comes back and
/// nothing is drawn.
#[doc(alias = "partition selection")]
pub fn select_keys<K: Ord + Clone, E: Entropy + ?Sized>(
    counts: &Exact<KeyCounts<K>>,
    receipt: Receipt<KeySelection>,
    entropy: &mut E,
) -> Result<Released<Vec<K>>, Mismatch<KeySelection>> {
    let selection = *receipt.purchase();
    let prepared = if counts.sensitivity().0 == selection.most {
        prepare(&selection)
    } else {
        Err(MismatchReason::OtherSensitivity)
    };
    let (law, threshold) = match prepared {
        Ok(prepared) => prepared,
        Err(reason) => return Err(Mismatch { receipt: Box::new(receipt), reason }),
    };
    receipt.redeem();
    let mut keys: Vec<K> = counts
        .open()
        .0
        .iter()
        .filter(|(_, count)| {
            // A count of zero is no key: it would show with less than what one unit is paid for.
            *count > 0 && clamped(*count).saturating_add(law.draw(entropy)) >= threshold
        })
        .map(|(key, _)| key.clone())
        .collect();
    keys.sort();
    Ok(Released::new(keys))
}

fn prepare(selection: &KeySelection) -> Result<(DiscreteGaussian, i64), MismatchReason> {
    let threshold = selection.threshold().ok_or(MismatchReason::OtherSensitivity)?;
    let twice = selection.rho.grains().checked_mul(2);
    let variance = twice
        .and_then(|twice| Ratio::new(Amount::<Rho>::ONE.grains(), twice))
        .ok_or(MismatchReason::OtherSensitivity)?;
    let law = DiscreteGaussian::new(&variance).map_err(too_wide)?;
    Ok((law, threshold))
}
