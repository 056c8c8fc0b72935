//! How far planar Laplace noise reaches, for intervals: floats, which no outcome depends on.

use std::f64::consts::LN_2;

/// How far planar Laplace noise of one rate reaches, in steps.
///
/// On the plane, and in space, the length of the noise has a gamma law of shape N and this rate:
/// its mean is `N/rate`, and it is beyond r with probability
/// `exp(-x) (1 + x + … + x^(N-1)/(N-1)!)`, `x = rate · r`. On a lattice that holds nearly where
/// noise is many steps wide; [`Radius::on_lattice`] holds always.
///
/// - Theorem: planar-radius (docs/theorems.md)
/// - Proves: the length on a lattice is beyond [`Radius::on_lattice`] with probability `beta` at
///   most
/// - Assumes: the noise has its law (its sampler)
/// - Deviates: in floating point, and rounded up by 1e-12 of itself
/// - Checked by: `radii_match_the_golden_values`, `the_radius_on_a_lattice_covers_what_it_says`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radius {
    rate: f64,
    dimensions: u32,
}

impl Radius {
    /// For noise of this rate per step, in one, two or three dimensions; none for other numbers,
    /// and for rates that are not positive.
    #[must_use]
    pub fn new(rate: f64, dimensions: usize) -> Option<Self> {
        let dimensions = u32::try_from(dimensions).ok().filter(|n| (1..=3).contains(n))?;
        (rate > 0.0 && rate.is_finite()).then_some(Self { rate, dimensions })
    }

    /// The mean length, not on a lattice.
    #[must_use]
    pub fn mean(&self) -> f64 {
        f64::from(self.dimensions) / self.rate
    }

    /// What the length is beyond with probability `beta`, not on a lattice; none unless `beta` is
    /// between zero and one.
    #[must_use]
    pub fn quantile(&self, beta: f64) -> Option<f64> {
        (beta > 0.0 && beta < 1.0).then(|| self.length(libm::log(beta)) / self.rate)
    }

    /// What the length is beyond with probability `beta` at most, on a lattice; none unless `beta`
    /// is between zero and one.
    #[must_use]
    pub fn on_lattice(&self, beta: f64) -> Option<f64> {
        // The diagonal of a cell.
        let across = f64::from(self.dimensions).sqrt();
        let log = libm::log(beta) - self.rate * across;
        let radius = self.length(log) / self.rate + across / 2.0;
        (beta > 0.0 && beta < 1.0).then_some(radius * (1.0 + 1e-12))
    }

    /// The length, times the rate, that the logarithm of a probability belongs to.
    fn length(&self, log: f64) -> f64 {
        let excess = |x: f64| {
            let terms = match self.dimensions {
                1 => 0.0,
                2 => x,
                _ => x + x * x / 2.0,
            };
            libm::log1p(terms) - x - log
        };
        // It falls with x, and is below zero at twice the logarithm and eight: x² + x + 1 < exp(x/2
        // + 4).
        let (mut low, mut high) = (0.0, -2.0 * log + 8.0 * LN_2 + 8.0);
        while excess(high) > 0.0 {
            high *= 2.0;
        }
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From mpmath, at forty digits.
    #[test]
    fn radii_match_the_golden_values() {
        for (beta, golden) in [
            (0.05, 4.743_864_518_390_579),
            (1e-3, 9.233_413_476_451_586),
            (1e-6, 16.688_420_790_859_92),
            (1e-10, 26.333_981_605_530_87),
        ] {
            for rate in [1.0, 0.01] {
                let radius = Radius::new(rate, 2).unwrap().quantile(beta).unwrap() * rate;
                assert!((radius / golden - 1.0).abs() < 1e-14, "{radius} {golden}");
            }
        }
        let line = Radius::new(2.0, 1).unwrap();
        assert!((line.quantile(0.05).unwrap() - 20f64.ln() / 2.0).abs() < 1e-14);
        let space = Radius::new(1.0, 3).unwrap();
        let x = space.quantile(0.01).unwrap();
        assert!(((1.0 + x + x * x / 2.0) * (-x).exp() / 0.01 - 1.0).abs() < 1e-13, "{x}");
        assert!((space.mean() - 3.0).abs() < 1e-15);
    }

    /// Summed over the lattice: at most beta is beyond, and for wide noise no less than half of it.
    #[test]
    fn the_radius_on_a_lattice_covers_what_it_says() {
        for (rate, reach) in [(3.0, 15i64), (1.0, 40), (0.2, 170)] {
            let beyond = |radius: f64, depth: i64| {
                let (mut all, mut out) = (0.0, 0.0);
                for x in -reach..=reach {
                    for y in -reach..=reach {
                        for z in -depth..=depth {
                            let length = ((x * x + y * y + z * z) as f64).sqrt();
                            let weight = (-rate * length).exp();
                            all += weight;
                            out += if length > radius { weight } else { 0.0 };
                        }
                    }
                }
                out / all
            };
            for beta in [0.3, 0.05, 1e-3] {
                let radius = Radius::new(rate, 2).unwrap().on_lattice(beta).unwrap();
                let found = beyond(radius, 0);
                assert!(found <= beta, "{rate} {beta}: {found}");
                assert!(rate > 0.5 || found > beta / 2.0, "{rate} {beta}: {found}");
                if rate > 0.5 {
                    let radius = Radius::new(rate, 3).unwrap().on_lattice(beta).unwrap();
                    assert!(beyond(radius, reach) <= beta, "{rate} {beta} in space");
                }
            }
        }
    }

    #[test]
    fn radii_of_nothing_are_none() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Radius::new(rate, 2), None);
        }
        assert_eq!((Radius::new(1.0, 0), Radius::new(1.0, 4)), (None, None));
        let radius = Radius::new(1.0, 2).unwrap();
        for beta in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
            assert_eq!((radius.quantile(beta), radius.on_lattice(beta)), (None, None));
        }
        assert!(radius.on_lattice(1e-300).unwrap() < 800.0);
    }
}
