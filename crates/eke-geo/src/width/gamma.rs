//! The regularised incomplete gamma functions, which are the tails of a chi-square law.
//!
//! The upper tail is computed as itself, never as one less the other where that would cancel, and
//! what it has in common with its neighbours, `y^a e^-y / Gamma(a + 1)`, without differences of
//! large logarithms. Good to about 1e-13 for any shape to 2¹⁶.

use std::f64::consts::TAU;

/// The upper tail at a point, and what stands between neighbours of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tails {
    /// `Q(a, y)`: the probability of more than y.
    pub(crate) upper: f64,
    /// `Q(a + 1, y) - Q(a, y) = y^a e^-y / Gamma(a + 1)`.
    pub(crate) between: f64,
}

impl Tails {
    /// Of the gamma law of shape `a > 0`, at `y >= 0`.
    pub(crate) fn at(a: f64, y: f64) -> Self {
        if y <= 0.0 {
            return Self { upper: 1.0, between: 0.0 };
        }
        let between = between(a, y);
        let upper = if y < a + 1.0 {
            1.0 - (between * series(a, y)).min(1.0)
        } else {
            (between * a * fraction(a, y)).min(1.0)
        };
        Self { upper, between }
    }
}

/// `y^a e^-y / Gamma(a + 1)`.
fn between(a: f64, y: f64) -> f64 {
    if a < STIRLING {
        return libm::exp(a * libm::log(y) - y - libm::lgamma(a + 1.0));
    }
    // By Stirling: exp(-a (r - 1 - ln r)) / sqrt(2 pi a), r = y/a, and a little.
    let off = (y - a) / a;
    let drop = if off.abs() < 0.5 { off - libm::log1p(off) } else { off - libm::log(y / a) };
    let step = 1.0 / (a * a);
    let rest = (1.0 / 12.0 - step * (1.0 / 360.0 - step * (1.0 / 1260.0 - step / 1680.0))) / a;
    libm::exp(-a * drop - rest) / (TAU * a).sqrt()
}

/// From this shape on four terms of Stirling's series are enough.
const STIRLING: f64 = 16.0;

/// `1 + y/(a+1) + y²/((a+1)(a+2)) + …`
fn series(a: f64, y: f64) -> f64 {
    let (mut sum, mut term, mut next) = (1.0, 1.0, a);
    while term > f64::EPSILON / 4.0 * sum {
        next += 1.0;
        term *= y / next;
        sum += term;
    }
    sum
}

/// `Q(a, y) Gamma(a) e^y y^-a`, as a continued fraction.
fn fraction(a: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = y + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    let mut n = 0.0;
    loop {
        n += 1.0;
        let numerator = -n * (n - a);
        b += 2.0;
        let guarded = |x: f64| if x.abs() < TINY { TINY } else { x };
        d = 1.0 / guarded(numerator * d + b);
        c = guarded(b + numerator / c);
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON || n > 1e6 {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::function::gamma::gamma_ur;

    #[test]
    fn tails_are_those_of_another_library() {
        for a in [0.5, 1.0, 1.5, 2.5, 5.0, 15.9, 16.0, 50.0, 392.0] {
            for part in [0.01, 0.3, 0.8, 0.97, 1.0, 1.03, 1.2, 2.0, 4.0] {
                let y: f64 = a * part;
                let (found, known) = (Tails::at(a, y).upper, gamma_ur(a, y));
                // The other one's small tails are differences.
                let off = (found - known).abs();
                assert!(off <= 1e-11 * known + 1e-12, "{a} {y}: {found} {known}");
            }
        }
    }

    #[test]
    fn tails_of_whole_shapes_are_sums_of_poisson_probabilities() {
        for (a, y) in
            [(1u32, 0.3f64), (3, 20.0), (40, 12.0), (40, 90.0), (300, 420.0), (2000, 1700.0)]
        {
            let (mut term, mut below) = ((-y).exp(), 0.0);
            for n in 0..a {
                below += term;
                term *= y / f64::from(n + 1);
            }
            if y > 700.0 {
                // The first terms vanish: by logarithms from where it is largest.
                below = 0.0;
                for n in 0..a {
                    let ln = f64::from(n) * y.ln() - y - libm::lgamma(f64::from(n) + 1.0);
                    below += ln.exp();
                }
            }
            let tails = Tails::at(f64::from(a), y);
            assert!((tails.upper / below - 1.0).abs() < 2e-11, "{a} {y}: {} {below}", tails.upper);
        }
    }

    #[test]
    fn neighbours_differ_by_what_stands_between() {
        for a in [0.5, 2.0, 15.5, 16.0, 400.0, 32_768.0] {
            for part in [0.9, 0.99, 1.0, 1.01, 1.1] {
                let y = a * part;
                let (one, two) = (Tails::at(a, y), Tails::at(a + 1.0, y));
                let scale = two.upper.max(one.between);
                assert!((two.upper - one.upper - one.between).abs() < 1e-12 * scale, "{a} {y}");
            }
        }
    }
}
