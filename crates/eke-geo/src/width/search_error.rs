//! How far from the nearest a search along a noisy line ends: the published bounds (LY23, theorems
//! 4.10 to 4.12), and a tighter one of the same kind. For information: no outcome depends on them.

/// How often the whole tuple is gone through, on average, at most: the expected number of visits to
/// the nearest place.
const VISITS: f64 = 3.715_256_466_979_941;

/// The least of the bounds on a search among n places, with its line laid a margin beyond the
/// nearest.
///
/// - Theorem: searching-along-a-line (docs/theorems.md)
/// - Proves: but for a probability of beta, what is found is no further beyond the nearest
/// - Assumes: nothing
/// - Deviates: in floating point
/// - Checked by: `errors_match_the_golden_values`, `searches_end_within_what_is_said_of_them`
pub(crate) fn of(epsilon: f64, among: usize, beta: f64, margin: f64) -> f64 {
    let lifted = lifted(epsilon, among, beta);
    let refined = margin + refined(epsilon, among, beta);
    if margin >= lifted { refined.min(margin + lifted) } else { refined }
}

/// The margin of theorem 4.10: a line laid so far beyond the nearest is hit within one round, no
/// further than as much again beyond it.
fn lifted(epsilon: f64, among: usize, beta: f64) -> f64 {
    let log = libm::log((number(among) + 1.0) / beta);
    3.0 / epsilon * ((2.0 * log).sqrt() + log) + 6.0 / epsilon * log
}

/// Theorem 4.11 with its probability in three equal parts, the noise of the line by its exact
/// quantile, that of a candidate by its one-sided tail, and the exact number of visits.
fn refined(epsilon: f64, among: usize, beta: f64) -> f64 {
    let part = beta / 3.0;
    let line = 3.0 / epsilon * sum_of_two(part);
    line + 6.0 / epsilon * libm::log(VISITS * number(among) / (2.0 * part * part))
}

/// What the sum of two Laplace numbers of scale one exceeds in size with a probability: the root of
/// `(1 + r/2) exp(-r)`.
fn sum_of_two(beta: f64) -> f64 {
    let excess = |r: f64| libm::log1p(r / 2.0) - r - libm::log(beta);
    let (mut low, mut high) = (0.0, 1.0);
    while excess(high) > 0.0 {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

/// What the published bounds on hulls take for a search at an epsilon: theorem 4.12 for a failure
/// with logarithm `log`.
pub(crate) fn published(epsilon: f64, log: f64) -> f64 {
    (15.0 * log + 3.0 * (2.0 * log).sqrt()) / epsilon
}

pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, two: f64) -> bool {
        (one / two - 1.0).abs() < 1e-12
    }

    #[test]
    fn errors_match_the_golden_values() {
        for (among, epsilon, beta, gamma, refined_to) in [
            (1000, 0.1, 0.1, 957.785_536_262_091_6, 997.594_472_792_008_1),
            (20_000, 0.01, 0.05, 13_133.110_727_721_638, 12_847.815_011_134_344),
        ] {
            assert!(is_near(lifted(epsilon, among, beta), gamma));
            assert!(is_near(refined(epsilon, among, beta), refined_to));
            assert!(is_near(of(epsilon, among, beta, 0.0), refined_to));
            assert!(!is_near(of(epsilon, among, beta, gamma * 1.000_000_1), gamma * 2.0));
            assert!(of(epsilon, among, beta, gamma * 1.000_000_1) < gamma * 2.000_001);
        }
        // Theorem 4.12, for k neighbours at a price of rho, at the published epsilon of
        // `sqrt(2 rho/k)`.
        for (there, count, rho, beta, gamma) in [
            (20_000.0, 1.0, 5e-5, 0.1, 21_952.758_895_676_01),
            (20_000.0, 10.0, 5e-5, 0.1, 69_420.719_034_858_9),
            (1000.0, 5.0, 1.0, 0.05, 290.312_789_875_364_96),
        ] {
            let epsilon: f64 = 2.0 * rho / count;
            let log = libm::log((4.0 * there + 2.0) / beta);
            assert!(is_near(published(epsilon.sqrt(), log), gamma));
        }
    }
}
