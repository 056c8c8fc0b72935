//! Somebody who looks at a path of pure noise, finer and finer, and stops when it is best for them.
//!
//! Between two truths, the privacy loss of everything revealed up to a level is that of the finest
//! point, so what is to be decided at a level depends on the point there alone. The best rule is
//! found by going backwards: at the last level one stops; before it, one stops where stopping is
//! worth more than what the next level is worth on average, given the point. On a geometric path
//! these averages are sums, and since all parts of the law of a finer point are geometric, each is
//! made from its neighbour's.

use crate::laws::geometric;

/// Noise at these levels, from coarse to fine, on truths that are a given number of steps apart:
/// the more steps, the nearer to Laplace noise.
#[derive(Clone, Debug)]
pub(crate) struct Stopper {
    /// Epsilon at each look, rising.
    pub levels: Vec<f64>,
    /// How far the two truths are apart.
    pub steps: u32,
}

/// Points further out than this many times the widest noise are left out: a mass below 1e-13.
const REACH: f64 = 30.0;

impl Stopper {
    /// The largest mean, over all rules for stopping, of
    /// `exp((order - 1) L - order (order - 1) rho)`, where L is the loss of what was seen and rho
    /// the price at the level where it ended.
    ///
    /// - Theorem: ex-post-not-zcdp (docs/theorems.md)
    /// - Proves: above one, that price is not one of zCDP
    /// - Assumes: levels rise
    /// - Deviates: sums leave out a mass below 1e-13, which makes it smaller
    /// - Checked by: `means_over_finer_points_are_those_of_bayes_law`,
    ///   `charging_the_level_where_one_stopped_as_zcdp_is_false`
    pub(crate) fn worth(&self, order: f64, rho: impl Fn(f64) -> f64) -> f64 {
        let Some((&finest, coarser)) = self.levels.split_last() else { return 1.0 };
        let steps = f64::from(self.steps);
        #[expect(clippy::cast_possible_truncation, reason = "some thousands")]
        let reach = (REACH * steps / self.levels[0]).ceil() as i32;
        let stop = |level: f64| -> Vec<f64> {
            let price = order * (order - 1.0) * rho(level);
            (-reach..=reach)
                .map(|y| {
                    let further = (f64::from(y) - steps).abs() - f64::from(y).abs();
                    ((order - 1.0) * level / steps * further - price).exp()
                })
                .collect()
        };
        let (mut worth, mut fine) = (stop(finest), finest);
        for &coarse in coarser.iter().rev() {
            let go_on = before(&worth, fine / steps, coarse / steps);
            worth = stop(coarse).into_iter().zip(go_on).map(|(one, two)| one.max(two)).collect();
            fine = coarse;
        }
        let law = geometric(fine / steps);
        (-reach..=reach).zip(worth).map(|(y, worth)| law(y.into()) * worth).sum()
    }
}

/// The mean of a function of a finer point, given each coarser one; both from the least point to
/// the largest, around a truth of zero.
fn before(worth: &[f64], fine: f64, coarse: f64) -> Vec<f64> {
    let middle = worth.len() / 2;
    let above = right(&worth[middle..], worth[..middle].iter().rev(), fine, coarse);
    let mirrored: Vec<f64> = worth.iter().rev().copied().collect();
    let below = right(&mirrored[middle..], mirrored[..middle].iter().rev(), fine, coarse);
    below.into_iter().skip(1).rev().chain(above).collect()
}

/// The same for coarser points that are not below zero: by *geometric-finer*, with the function at
/// points from zero on and, going down, at those below it.
fn right<'a>(
    from_zero: &[f64],
    below_zero: impl Iterator<Item = &'a f64>,
    fine: f64,
    coarse: f64,
) -> Vec<f64> {
    let (f, c) = ((-fine).exp(), (-coarse).exp());
    let (q, fc) = (f / c, f * c);
    let equal = q * (1.0 - c * c) / (1.0 - f * f);
    let beyond = fc * (1.0 - q) / (1.0 - f * f);
    let between = (1.0 - fc) * (1.0 - q) / (1.0 - f * f);
    // The mean at a geometric number of points below zero, and above each point.
    let mut weight = 1.0 - fc;
    let mut behind = 0.0;
    for worth in below_zero {
        behind += weight * worth;
        weight *= fc;
    }
    let mut ahead = vec![0.0; from_zero.len()];
    for point in (0..from_zero.len() - 1).rev() {
        ahead[point] = (1.0 - fc) * from_zero[point + 1] + fc * ahead[point + 1];
    }
    let (mut power, mut sum) = (1.0, 0.0);
    from_zero
        .iter()
        .zip(ahead)
        .map(|(worth, ahead)| {
            sum += power * worth;
            let mean = power * (equal * worth + beyond * ahead) + beyond * behind + between * sum;
            power *= q;
            mean
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::residual;

    /// `count` levels from 0.1 to 1 in constant ratio.
    fn levels(count: u32) -> Vec<f64> {
        (0..count).map(|i| 0.1 * 10f64.powf(f64::from(i) / f64::from(count - 1))).collect()
    }

    /// By Bayes' law, summed over all finer points.
    #[test]
    fn means_over_finer_points_are_those_of_bayes_law() {
        let (fine, coarse, reach) = (0.9, 0.5, 80i32);
        let worth: Vec<f64> = (-reach..=reach)
            .map(|y| 1.0 + (f64::from(y) * 0.7).sin() + f64::from(y) / 99.0)
            .collect();
        let means = before(&worth, fine, coarse);
        let (law, coarse_law, between) =
            (geometric(fine), geometric(coarse), residual(fine, coarse));
        for (z, mean) in (-reach..=reach).zip(means).filter(|(z, _)| z.abs() < 20) {
            let bayes: f64 = (-reach..=reach)
                .zip(&worth)
                .map(|(y, worth)| worth * law(y.into()) * between((z - y).into()))
                .sum();
            assert!((mean - bayes / coarse_law(z.into())).abs() < 1e-10, "{z} {mean}");
        }
    }

    /// With truths 64 steps apart the noise is nearly Laplace's, and charging epsilon squared over
    /// two at the level where one stopped is refuted at order 3: by 1.054 over twenty levels, and
    /// by 1.013 over five. Charged at the finest level beforehand it is not.
    #[test]
    fn charging_the_level_where_one_stopped_as_zcdp_is_false() {
        for (count, known) in [(20, 1.0540), (5, 1.0128)] {
            let stopper = Stopper { levels: levels(count), steps: 64 };
            let worth = stopper.worth(3.0, |epsilon| epsilon * epsilon / 2.0);
            assert!((worth - known).abs() < 1e-4, "{count} {worth}");
            // The tight price of pure privacy is smaller still.
            assert!(stopper.worth(3.0, |epsilon| epsilon * (epsilon / 2.0).tanh()) > worth);
            for order in [1.5, 3.0, 10.0] {
                assert!(stopper.worth(order, |_| 0.5f64.tanh()) <= 1.0);
            }
        }
        // Nobody chooses at a single level, and there the price holds.
        let one = Stopper { levels: vec![0.7], steps: 64 };
        assert!(one.worth(3.0, |epsilon| epsilon * (epsilon / 2.0).tanh()) <= 1.0);
    }
}
