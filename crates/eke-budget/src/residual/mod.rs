//! When is there a residual?
//!
//! Noise of a fine law plus an independent residual may have a coarser law; then one draw of the
//! fine noise serves readers of both, and what they know together is the fine one. This is a
//! calculator that says of two laws whether there is such a residual: yes, and what it is; no, and
//! why, with a matrix that shows it; or that it cannot tell.
//!
//! It works in floating point and draws nothing: no release depends on it. What paths add is in
//! closed form and drawn exactly, each where its law is.

mod closed;
mod eigen;
mod fourier;
mod law;
mod transform;
mod witness;

use std::f64::consts::PI;

use serde::Serialize;

pub use closed::ResidualPart;
pub use law::{NoiseLaw, NoiseLawError};
pub use witness::BochnerMatrix;

use closed::{closed, geometric_part};
use law::Kind;
use witness::{MOST_POINTS, ratio, witness, zeros};

/// Whether there is a residual.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// There is.
    Yes(Residual),
    /// There is none.
    No {
        /// Why.
        reason: NoResidual,
        /// A matrix with a negative eigenvalue, the smallest that was found. Doubles may not be
        /// able to show one where a reason is certain.
        witness: Option<BochnerMatrix>,
    },
    /// It was not possible to tell.
    Undecided(Doubt),
}

/// A residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The independent parts it is the sum of, where they are known in closed form. None at all if
    /// the residual is zero.
    pub parts: Option<Vec<ResidualPart>>,
    /// Its probabilities, where it is a whole number.
    pub probabilities: Option<Probabilities>,
}

/// Probabilities on the integers of a symmetric law.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probabilities {
    /// Those of 0, 1, 2 and so on, up to where they are rounding.
    pub values: Vec<f64>,
    /// How far off each may be.
    pub error: f64,
}

/// Why there is no residual.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoResidual {
    /// Adding noise cannot lower the variance.
    #[error(
        "adding noise cannot lower the variance, from {} to {}", digits(*from), digits(*to)
    )]
    Variance {
        /// That of the finer law.
        from: f64,
        /// That of the coarser law.
        to: f64,
    },
    /// Adding noise to a continuous law does not make it discrete.
    #[error("adding noise to a continuous law does not make it one on the integers")]
    Continuous,
    /// Adding noise cannot lower an exponential moment `E exp(zX)`.
    #[error(
        "adding noise cannot lower E exp(zX), which at z = {} is larger for the finer law", digits(*z)
    )]
    Moment {
        /// The z.
        z: f64,
    },
    /// The characteristic function of the finer law has a zero in the complex plane where that of
    /// the coarser law has none.
    #[error(
        "the characteristic function of the finer law is zero at {}, that of the coarser law is not",
        argument(*real, *imaginary)
    )]
    Zero {
        /// Its real part.
        real: f64,
        /// Its imaginary part.
        imaginary: f64,
    },
    /// A residual would have this probability.
    #[error("a residual would be {at} with probability {}", digits(*probability))]
    Negative {
        /// Of this number.
        at: usize,
        /// The probability.
        probability: f64,
    },
    /// The ratio of the characteristic functions is not positive definite.
    #[error("the ratio of the characteristic functions is not positive definite")]
    Indefinite,
}

/// Why it is not possible to tell.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// The laws are of different numbers of dimensions.
    #[error("laws of different dimensions are not compared")]
    Dimensions,
    /// The law is too wide for a table of frequencies.
    #[error("the residual is too wide to be worked out number by number")]
    TooWide,
    /// The least probability is as close to zero as rounding.
    #[error(
        "the least probability of a residual comes out as {}, with an error of up to {}",
        digits(*least), digits(*error)
    )]
    Rounding {
        /// It.
        least: f64,
        /// The error.
        error: f64,
    },
    /// No closed form is known, and no small matrix is a witness.
    #[error(
        "no residual in closed form is known, and no matrix of up to {MOST_POINTS} points shows that \
         there is none"
    )]
    NotFound,
}

/// An argument of a characteristic function, as it is written.
fn argument(real: f64, imaginary: f64) -> String {
    if imaginary == 0.0 {
        return format!("t = {}", digits(real));
    }
    format!("the complex t = {} + {}i", digits(real), digits(imaginary))
}

/// A number in six digits.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=5) => {
            let places = usize::try_from(5 - exponent).unwrap_or(0);
            let text = format!("{value:.places$}");
            if places == 0 {
                text
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
        _ => format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.')),
    }
}

/// Whether there is an independent residual that takes noise of one law to another.
///
/// ```
/// use eke_budget::residual::{Verdict, residual};
/// let verdict = |from: &str, to: &str| Ok::<_, eke_budget::residual::NoiseLawError>(residual(from.parse()?, to.parse()?));
/// assert!(matches!(verdict("geometric:2", "geometric:1")?, Verdict::Yes(_)));
/// assert!(matches!(verdict("discrete-gaussian:1", "discrete-gaussian:1.1")?, Verdict::No { .. }));
/// # Ok::<(), eke_budget::residual::NoiseLawError>(())
/// ```
///
/// - Theorem: residual-exists (docs/theorems.md)
/// - Proves: a no, by a necessary condition that fails; a yes in closed form
/// - Assumes: nothing
/// - Deviates: conditions are evaluated in doubles, beyond their error. A yes without a closed form
///   rests on probabilities none of which is below minus its error
/// - Checked by: `closed_families_have_residuals_in_one_order_and_witnesses_in_the_other`,
///   `fine_noise_and_the_residual_make_the_coarse_law`,
///   `discrete_gaussians_have_residuals_for_odd_ratios_alone`,
///   `witnesses_have_a_negative_form_when_it_is_worked_out_again`
#[must_use]
pub fn residual(from: NoiseLaw, to: NoiseLaw) -> Verdict {
    let (from, to) = (from.plain(), to.plain());
    if from.dimension() != to.dimension() {
        return Verdict::Undecided(Doubt::Dimensions);
    }
    let parts = if from == to { Some(Vec::new()) } else { closed(from, to) };
    if parts.is_some() {
        let on_integers = from.is_on_integers() && to.is_on_integers();
        let found = if on_integers { coefficients(&from, &to) } else { None };
        let probabilities = found.map(|(probabilities, _)| probabilities);
        return Verdict::Yes(Residual { parts, probabilities });
    }
    if let Some(reason) = impossible(&from, &to) {
        return Verdict::No { reason, witness: witness(&from, &to) };
    }
    if !(from.is_on_integers() && to.is_on_integers()) {
        if let Some(parts) = through_geometric(from, to) {
            return Verdict::Yes(Residual { parts: Some(parts), probabilities: None });
        }
        return match witness(&from, &to) {
            None => Verdict::Undecided(Doubt::NotFound),
            witness => Verdict::No { reason: NoResidual::Indefinite, witness },
        };
    }
    let Some((probabilities, (at, least))) = coefficients(&from, &to) else {
        return match witness(&from, &to) {
            None => Verdict::Undecided(Doubt::TooWide),
            witness => Verdict::No { reason: NoResidual::Indefinite, witness },
        };
    };
    let error = probabilities.error;
    if least < -4.0 * error {
        let reason = NoResidual::Negative { at, probability: least };
        Verdict::No { reason, witness: witness(&from, &to) }
    } else if least < -error {
        Verdict::Undecided(Doubt::Rounding { least, error })
    } else {
        Verdict::Yes(Residual { parts: None, probabilities: Some(probabilities) })
    }
}

/// A residual that goes from whole noise to geometric noise, and from there on.
fn through_geometric(from: NoiseLaw, to: NoiseLaw) -> Option<Vec<ResidualPart>> {
    let (middle, last) = geometric_part(to).filter(|_| from.is_on_integers())?;
    let Verdict::Yes(Residual { parts, probabilities }) = residual(from, middle) else {
        return None;
    };
    let whole = probabilities.map(|probabilities| vec![ResidualPart::Whole { probabilities }]);
    let mut parts = parts.or(whole)?;
    parts.push(last);
    Some(parts)
}

/// The probabilities of a residual between laws on the integers, and the least of them with where
/// it is. None if they are too many.
fn coefficients(from: &NoiseLaw, to: &NoiseLaw) -> Option<(Probabilities, (usize, f64))> {
    let found = fourier::coefficients(|t| ratio(from, to, t))?;
    let (mut values, error) = (found.values, found.error);
    let least = values.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let last = values.iter().rposition(|value| value.abs() > error)?;
    values.truncate(last + 1);
    Some((Probabilities { values, error }, least))
}

/// A condition that every residual meets and this one would not.
fn impossible(from: &NoiseLaw, to: &NoiseLaw) -> Option<NoResidual> {
    let (fine, coarse) = (from.variance(), to.variance());
    if coarse < fine * (1.0 - 1e-12) || is_narrower(to, from) {
        return Some(NoResidual::Variance { from: fine, to: coarse });
    }
    if to.is_on_integers() && !from.is_on_integers() {
        return Some(NoResidual::Continuous);
    }
    zero(from, to).or_else(|| moment(from, to))
}

/// Whether a law is one of the other's family with less noise, also where doubles would not tell by
/// the variance.
fn is_narrower(law: &NoiseLaw, other: &NoiseLaw) -> bool {
    match (law.0, other.0) {
        (Kind::Gaussian { sigma: a }, Kind::Gaussian { sigma: b })
        | (Kind::Laplace { scale: a }, Kind::Laplace { scale: b })
        | (Kind::Geometric { rate: b }, Kind::Geometric { rate: a })
        | (Kind::DiscreteGaussian { sigma: a }, Kind::DiscreteGaussian { sigma: b })
        | (Kind::Skellam { lambda: a }, Kind::Skellam { lambda: b })
        | (Kind::PlanarLaplace { epsilon: b, .. }, Kind::PlanarLaplace { epsilon: a, .. })
        | (Kind::Uniform { width: a }, Kind::Uniform { width: b }) => a < b,
        _ => false,
    }
}

/// An exponential moment that would fall. The residual has a mean of zero, so that its own are at
/// least one.
fn moment(from: &NoiseLaw, to: &NoiseLaw) -> Option<NoResidual> {
    let (fine, coarse) = (from.reach_of_moments(), to.reach_of_moments());
    if coarse > fine * (1.0 + 1e-12) {
        return Some(NoResidual::Moment { z: fine });
    }
    let end =
        if coarse.is_finite() { coarse } else { 256.0 * from.frequency().max(to.frequency()) };
    (1..1024).map(|step| end * f64::from(step) / 1024.0).find_map(|z| {
        let (fine, coarse) = (from.ln_moment(z), to.ln_moment(z));
        let clear = fine - coarse > 1e-9 * (1.0 + coarse.abs());
        (coarse.is_finite() && clear).then_some(NoResidual::Moment { z })
    })
}

/// A zero of the finer law's characteristic function that the coarser law's would have to have.
fn zero(from: &NoiseLaw, to: &NoiseLaw) -> Option<NoResidual> {
    match (from.0, to.0) {
        // Those of a discrete Gaussian are at pi + i m/(2 sigma²), m odd. All are zeros of another
        // one if the ratio of the variances is odd; then there is a closed form, which was asked
        // for before.
        (
            Kind::DiscreteGaussian { sigma },
            Kind::DiscreteGaussian { .. }
            | Kind::Gaussian { .. }
            | Kind::Laplace { .. }
            | Kind::Geometric { .. }
            | Kind::MsdLap { .. }
            | Kind::Skellam { .. },
        ) => {
            let imaginary = 0.5 / (sigma * sigma);
            let known = imaginary < to.reach_of_moments() * (1.0 - 1e-12);
            known.then_some(NoResidual::Zero { real: PI, imaginary })
        }
        (Kind::Uniform { .. } | Kind::Staircase { .. }, _) => {
            let is_never_zero = matches!(to.0, Kind::Gaussian { .. } | Kind::Laplace { .. });
            let is_missed = |real: &f64| is_never_zero || to.characteristic(*real).abs() > 1e-9;
            let real = zeros(from).into_iter().find(is_missed)?;
            Some(NoResidual::Zero { real, imaginary: 0.0 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.196_611_933_241, "0.196612"),
            (10.0, "10"),
            (999_999.9, "1e6"),
            (123_456.7, "123457"),
            (-0.25, "-0.25"),
            (6.470_784_953e-11, "6.47078e-11"),
            (2e7, "2e7"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }
}
