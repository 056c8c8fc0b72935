//! Comparing: a verb beside the paths that opens an [`Exact`], for a receipt of its own.

use eke_budget::{Amount, Charge, L2, Purchase, Receipt, Rho};

use crate::evidence::exact::clamped;
use crate::path::{Mismatch, MismatchReason};
use crate::{Entropy, Exact, Noise, NoisyScore, Ratio, Released};

/// A comparison with a public threshold, to be bought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The price.
    pub rho: Amount<Rho>,
    /// What one unit can change the truth by.
    pub sensitivity: L2,
    /// What the truth is compared with.
    pub threshold: i64,
}

impl Purchase for Comparison {
    fn charge(&self) -> Charge {
        Charge::Zcdp { rho: self.rho, delta: Amount::ZERO }
    }
}

/// Whether the truth with normal noise of variance `sensitivity²/(2 rho)` is at least the
/// threshold.
///
/// - Theorem: gaussian-release (docs/theorems.md)
/// - Proves: rho-zCDP, since whether a Gaussian release is above a line is a function of it
/// - Assumes: one unit changes the truth by at most the sensitivity (caller)
/// - Deviates: the noise is normal on the real line, drawn as far as the comparison needs; its
///   deviation is rounded up; truths and thresholds beyond 2⁶² are clamped to it
/// - Checked by: `a_comparison_costs_its_rho_and_no_less`
///
/// # Errors
/// The receipt is for another sensitivity, and comes back; nothing is drawn.
pub fn compare<E: Entropy + ?Sized>(
    truth: &Exact<i64>,
    receipt: Receipt<Comparison>,
    entropy: &mut E,
) -> Result<Released<bool>, Mismatch<Comparison>> {
    let Comparison { rho, sensitivity, threshold } = *receipt.purchase();
    #[expect(clippy::float_cmp, reason = "the same bound, or another truth")]
    let same = truth.sensitivity().get() == sensitivity.get();
    let Some(deviation) = deviation(rho, sensitivity).filter(|_| same) else {
        let reason = MismatchReason::OtherSensitivity;
        return Err(Mismatch { receipt: Box::new(receipt), reason });
    };
    receipt.redeem();
    let noise = Noise::gaussian(deviation);
    let mut noisy = NoisyScore::new(clamped(*truth.open()), &noise, entropy);
    Ok(Released::new(noisy.is_at_least(clamped(threshold), entropy)))
}

/// The standard deviation of a price: the next double above `sensitivity/sqrt(2 rho)` whose square
/// is not below what was paid for.
fn deviation(rho: Amount<Rho>, sensitivity: L2) -> Option<Ratio> {
    let twice = Ratio::new(rho.grains(), Amount::<Rho>::ONE.grains())?.times(&2u8.into());
    let variance = Ratio::from_f64(sensitivity.get())?.squared().over(&twice);
    let about = variance.approximate();
    let mut deviation = if about.is_normal() { about.sqrt() } else { return None };
    // Two or three steps, for what the root and the approximation round.
    for _ in 0..16 {
        let ratio = Ratio::from_f64(deviation)?;
        if ratio.squared().compare(&variance).is_ge() {
            return Some(ratio);
        }
        deviation = deviation.next_up();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn deviations_are_rounded_up_and_hardly(grains in 1u128..10u128.pow(36), log in -30.0f64..30.0) {
            let sensitivity = L2::new(log.exp()).unwrap();
            let rho = Amount::from_grains(grains);
            let deviation = deviation(rho, sensitivity).unwrap();
            let twice = Ratio::new(grains, Amount::<Rho>::ONE.grains()).unwrap().times(&2u8.into());
            let variance = Ratio::from_f64(sensitivity.get()).unwrap().squared().over(&twice);
            prop_assert!(deviation.squared().compare(&variance).is_ge());
            let off = deviation.squared().approximate() / variance.approximate() - 1.0;
            prop_assert!(off < 1e-14, "{off}");
        }
    }
}
