//! The paper's bounds on how far a tier can be from what it would have alone (its theorems 5.3 and
//! 5.4), whatever the other tiers are, and what its templates really do.

use eke_local::worth::subset;

/// Which of the paper's two lists of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// The first.
    Reference,
    /// The improved one.
    Improved,
}

/// The variance of a report of this size at `ln(level/size - 1)`.
fn at(categories: u32, level: u32, size: u32) -> f64 {
    let weight = f64::from(level) - 2.0 * f64::from(size);
    subset::variance(categories, size, weight)
}

/// The bound for a tier: the largest ratio between neighbouring templates around it. One where the
/// templates are the tier's own: for small and large epsilons.
pub(crate) fn factor(list: List, categories: u32, epsilon: f64) -> f64 {
    let d = categories;
    let e = epsilon.exp();
    let last = (d - 1) / 2;
    if d < 3 || e + 1.0 > f64::from(d) || last == 0 {
        return 1.0;
    }
    // Below all templates: the list has the tier itself.
    let half = d / 2;
    let lowest = if d.is_multiple_of(2) {
        f64::from(d + 2) / f64::from(half) - 1.0
    } else {
        f64::from(d) / f64::from(last) - 1.0
    };
    if e < lowest {
        return 1.0;
    }
    // The template that is matched, and what is best just above it.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most d")]
    let size = ((f64::from(d) / (e + 1.0)).ceil() as u32).max(2);
    let neighbours = if size <= last {
        match list {
            List::Reference => at(d, d, size) / at(d, d, size - 1),
            List::Improved => at(d, d + 1, size) / at(d, d - 1, size - 1),
        }
    } else {
        1.0
    };
    let even =
        if d.is_multiple_of(2) && half > last { at(d, d + 2, half) / at(d, d, last) } else { 1.0 };
    neighbours.max(even)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::tiers_subset::Way;
    use eke_budget::Amount;

    /// Every tier is within the bound, but for even numbers of categories just above the last
    /// template, where half of them is not yet the best size and the printed bound misses up to 8.3
    /// %; and the bound is not idle.
    #[test]
    fn no_tier_is_beyond_its_bound() {
        let mut closest = 0.0f64;
        for categories in [5, 6, 15, 16, 40] {
            for hundredth in (1..600).step_by(7) {
                let tier = Amount::parse_up(&format!("{hundredth}e-2")).unwrap();
                for (way, list) in
                    [(Way::Reference, List::Reference), (Way::Improved, List::Improved)]
                {
                    let error = way.errors(categories, &[tier]).unwrap()[0];
                    let ratio = error / subset::best_variance(categories, tier.to_f64());
                    let bound = factor(list, categories, tier.to_f64());
                    assert!(ratio <= bound * 1.084, "{categories} {tier} {way:?}: {ratio} {bound}");
                    closest = closest.max(ratio / bound);
                }
            }
        }
        assert!(closest > 0.9, "{closest}");
    }
}
