//! Laws of noise, by name and parameters, as they are written on the command line.
//!
//! A law that exists has parameters in range: its constructors and `FromStr` make the same checks.
//! Nothing is drawn from these laws; they are for questions about laws.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A law of noise that is symmetric around zero: what it is called, and its parameters. It is
/// written as its name and its parameters, with colons in between.
///
/// ```
/// use eke_budget::residual::NoiseLaw;
/// assert_eq!("laplace:2".parse::<NoiseLaw>()?, NoiseLaw::laplace(2.0)?);
/// let error = "laplace:0".parse::<NoiseLaw>().unwrap_err().to_string();
/// assert_eq!(error, "the scale of laplace is 0: write a number from 1e-6 to 1e6");
/// # Ok::<(), eke_budget::residual::NoiseLawError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseLaw(pub(crate) Kind);

/// What laws there are. Rates are per step, epsilons per unit of distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Gaussian { sigma: f64 },
    Laplace { scale: f64 },
    Geometric { rate: f64 },
    DiscreteGaussian { sigma: f64 },
    Skellam { lambda: f64 },
    MsdLap { epsilon: f64, sensitivity: u32 },
    Staircase { epsilon: f64, sensitivity: f64, gamma: f64 },
    PlanarLaplace { epsilon: f64, dimension: u32 },
    Uniform { width: f64 },
}

/// Why a text, or a number, is not a law.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseLawError {
    /// No law has this name.
    #[error("there is no law `{0}`: write one of {all}", all = forms())]
    Unknown(String),
    /// There are too few or too many parameters.
    #[error("`{text}` has not the parameters of its law: write {form}")]
    Parameters {
        /// What was written.
        text: String,
        /// How the law is written.
        form: &'static str,
    },
    /// A parameter is not a number.
    #[error("the {parameter} of {law} is `{text}`, which is not a number: write one such as 0.5")]
    NotANumber {
        /// The law.
        law: &'static str,
        /// What the parameter is.
        parameter: &'static str,
        /// What was written.
        text: String,
    },
    /// A parameter is out of range.
    #[error(
        "the {parameter} of {law} is {value}: write a {what} from {least} to {most}",
        value = written(*value)
    )]
    OutOfRange {
        /// The law.
        law: &'static str,
        /// What the parameter is.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What it should be: a number or a whole number.
        what: &'static str,
        /// The smallest one.
        least: &'static str,
        /// The largest one.
        most: &'static str,
    },
}

/// How each law is written.
const FORMS: [(&str, &str); 9] = [
    ("gaussian", "gaussian:SIGMA"),
    ("laplace", "laplace:SCALE"),
    ("geometric", "geometric:RATE"),
    ("discrete-gaussian", "discrete-gaussian:SIGMA"),
    ("skellam", "skellam:LAMBDA"),
    ("msdlap", "msdlap:EPSILON:SENSITIVITY"),
    ("staircase", "staircase:EPSILON[:SENSITIVITY[:GAMMA]]"),
    ("planar-laplace", "planar-laplace:EPSILON:DIMENSION"),
    ("uniform", "uniform:WIDTH"),
];

fn forms() -> String {
    FORMS.map(|(_, form)| form).join(", ")
}

/// A range of numbers, and how its ends are written.
#[derive(Clone, Copy)]
struct Range {
    least: (f64, &'static str),
    most: (f64, &'static str),
}

/// Deviations, scales and widths.
const SIZE: Range = Range { least: (1e-6, "1e-6"), most: (1e6, "1e6") };
/// Rates and epsilons: their exponentials are doubles.
const RATE: Range = Range { least: (1e-6, "1e-6"), most: (500.0, "500") };
const SHARE: Range = Range { least: (0.0, "0"), most: (1.0, "1") };
const SENSITIVITY: Range = Range { least: (1.0, "1"), most: (64.0, "64") };
const DIMENSION: Range = Range { least: (1.0, "1"), most: (16.0, "16") };

impl Range {
    fn check(
        self,
        law: &'static str,
        parameter: &'static str,
        value: f64,
    ) -> Result<f64, NoiseLawError> {
        if (self.least.0..=self.most.0).contains(&value) {
            Ok(value)
        } else {
            Err(self.error(law, parameter, value, "number"))
        }
    }

    fn check_whole(
        self,
        law: &'static str,
        parameter: &'static str,
        value: f64,
    ) -> Result<u32, NoiseLawError> {
        if value.fract() != 0.0 || !(self.least.0..=self.most.0).contains(&value) {
            return Err(self.error(law, parameter, value, "whole number"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, whole")]
        Ok(value as u32)
    }

    fn error(
        self,
        law: &'static str,
        parameter: &'static str,
        value: f64,
        what: &'static str,
    ) -> NoiseLawError {
        let (least, most) = (self.least.1, self.most.1);
        NoiseLawError::OutOfRange { law, parameter, value, what, least, most }
    }
}

impl NoiseLaw {
    /// Normal noise of this deviation.
    ///
    /// # Errors
    /// The deviation is out of range.
    pub fn gaussian(sigma: f64) -> Result<Self, NoiseLawError> {
        Ok(Self(Kind::Gaussian { sigma: SIZE.check("gaussian", "sigma", sigma)? }))
    }

    /// Laplace noise, density proportional to `exp(-|x|/scale)`.
    ///
    /// # Errors
    /// The scale is out of range.
    pub fn laplace(scale: f64) -> Result<Self, NoiseLawError> {
        Ok(Self(Kind::Laplace { scale: SIZE.check("laplace", "scale", scale)? }))
    }

    /// Two-sided geometric noise, probabilities proportional to `exp(-rate |k|)`.
    ///
    /// # Errors
    /// The rate is out of range.
    pub fn geometric(rate: f64) -> Result<Self, NoiseLawError> {
        Ok(Self(Kind::Geometric { rate: RATE.check("geometric", "rate", rate)? }))
    }

    /// Discrete Gaussian noise, probabilities proportional to `exp(-k²/(2 sigma²))`.
    ///
    /// # Errors
    /// Sigma is out of range.
    pub fn discrete_gaussian(sigma: f64) -> Result<Self, NoiseLawError> {
        let sigma = SIZE.check("discrete-gaussian", "sigma", sigma)?;
        Ok(Self(Kind::DiscreteGaussian { sigma }))
    }

    /// The difference of two Poisson numbers of mean lambda.
    ///
    /// # Errors
    /// Lambda is out of range.
    pub fn skellam(lambda: f64) -> Result<Self, NoiseLawError> {
        Ok(Self(Kind::Skellam { lambda: SIZE.check("skellam", "lambda", lambda)? }))
    }

    /// The sum of k times geometric noise of rate epsilon, for k from 1 to the sensitivity.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn msdlap(epsilon: f64, sensitivity: f64) -> Result<Self, NoiseLawError> {
        let epsilon = RATE.check("msdlap", "epsilon", epsilon)?;
        let sensitivity = SENSITIVITY.check_whole("msdlap", "sensitivity", sensitivity)?;
        Ok(Self(Kind::MsdLap { epsilon, sensitivity }))
    }

    /// Staircase noise: flat up to gamma times the sensitivity, `exp(-epsilon)` of that up to the
    /// sensitivity, and so on. Without a gamma it is `1/(1 + exp(epsilon/2))`, which has the least
    /// mean error.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn staircase(
        epsilon: f64,
        sensitivity: f64,
        gamma: Option<f64>,
    ) -> Result<Self, NoiseLawError> {
        let epsilon = RATE.check("staircase", "epsilon", epsilon)?;
        let sensitivity = SIZE.check("staircase", "sensitivity", sensitivity)?;
        let gamma = gamma.unwrap_or_else(|| 1.0 / (1.0 + (epsilon / 2.0).exp()));
        let gamma = SHARE.check("staircase", "gamma", gamma)?;
        Ok(Self(Kind::Staircase { epsilon, sensitivity, gamma }))
    }

    /// Planar Laplace noise in this dimension, density proportional to `exp(-epsilon |x|)`.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn planar_laplace(epsilon: f64, dimension: f64) -> Result<Self, NoiseLawError> {
        let epsilon = RATE.check("planar-laplace", "epsilon", epsilon)?;
        let dimension = DIMENSION.check_whole("planar-laplace", "dimension", dimension)?;
        Ok(Self(Kind::PlanarLaplace { epsilon, dimension }))
    }

    /// Uniform noise around zero on an interval of this width.
    ///
    /// # Errors
    /// The width is out of range.
    pub fn uniform(width: f64) -> Result<Self, NoiseLawError> {
        Ok(Self(Kind::Uniform { width: SIZE.check("uniform", "width", width)? }))
    }

    /// Whether the noise is a whole number.
    #[must_use]
    pub fn is_on_integers(&self) -> bool {
        matches!(
            self.0,
            Kind::Geometric { .. }
                | Kind::DiscreteGaussian { .. }
                | Kind::Skellam { .. }
                | Kind::MsdLap { .. }
        )
    }

    /// The same law by its plainest name: some laws are special cases of others.
    pub(crate) fn plain(self) -> Self {
        match self.0 {
            Kind::PlanarLaplace { epsilon, dimension: 1 } => {
                Self(Kind::Laplace { scale: 1.0 / epsilon })
            }
            Kind::MsdLap { epsilon, sensitivity: 1 } => Self(Kind::Geometric { rate: epsilon }),
            _ => self,
        }
    }

    /// How many numbers a draw is.
    pub(crate) fn dimension(&self) -> u32 {
        match self.0 {
            Kind::PlanarLaplace { dimension, .. } => dimension,
            _ => 1,
        }
    }
}

impl FromStr for NoiseLaw {
    type Err = NoiseLawError;

    fn from_str(text: &str) -> Result<Self, NoiseLawError> {
        let mut parts = text.trim().split(':').map(str::trim);
        let name = parts.next().unwrap_or("");
        let Some(&(law, form)) = FORMS.iter().find(|(known, _)| *known == name) else {
            return Err(NoiseLawError::Unknown(name.to_owned()));
        };
        let parts: Vec<&str> = parts.collect();
        let number = |index: usize| -> Result<f64, NoiseLawError> {
            let names = form.split(':').skip(1).map(|name| name.trim_matches(['[', ']']));
            let parameter =
                PARAMETERS.iter().find(|(upper, _)| names.clone().nth(index) == Some(upper));
            let parameter = parameter.map_or("parameter", |(_, lower)| lower);
            let text = parts[index];
            let not = || NoiseLawError::NotANumber { law, parameter, text: text.to_owned() };
            text.parse().map_err(|_| not())
        };
        match (name, parts.len()) {
            ("gaussian", 1) => Self::gaussian(number(0)?),
            ("laplace", 1) => Self::laplace(number(0)?),
            ("geometric", 1) => Self::geometric(number(0)?),
            ("discrete-gaussian", 1) => Self::discrete_gaussian(number(0)?),
            ("skellam", 1) => Self::skellam(number(0)?),
            ("msdlap", 2) => Self::msdlap(number(0)?, number(1)?),
            ("staircase", 1) => Self::staircase(number(0)?, 1.0, None),
            ("staircase", 2) => Self::staircase(number(0)?, number(1)?, None),
            ("staircase", 3) => Self::staircase(number(0)?, number(1)?, Some(number(2)?)),
            ("planar-laplace", 2) => Self::planar_laplace(number(0)?, number(1)?),
            ("uniform", 1) => Self::uniform(number(0)?),
            _ => Err(NoiseLawError::Parameters { text: text.to_owned(), form }),
        }
    }
}

/// What stands in a form, and what it is called in a sentence.
const PARAMETERS: [(&str, &str); 9] = [
    ("SIGMA", "sigma"),
    ("SCALE", "scale"),
    ("RATE", "rate"),
    ("LAMBDA", "lambda"),
    ("EPSILON", "epsilon"),
    ("SENSITIVITY", "sensitivity"),
    ("GAMMA", "gamma"),
    ("DIMENSION", "dimension"),
    ("WIDTH", "width"),
];

impl Serialize for NoiseLaw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for NoiseLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Gaussian { sigma } => write!(f, "gaussian:{sigma}"),
            Kind::Laplace { scale } => write!(f, "laplace:{scale}"),
            Kind::Geometric { rate } => write!(f, "geometric:{rate}"),
            Kind::DiscreteGaussian { sigma } => write!(f, "discrete-gaussian:{sigma}"),
            Kind::Skellam { lambda } => write!(f, "skellam:{lambda}"),
            Kind::MsdLap { epsilon, sensitivity } => write!(f, "msdlap:{epsilon}:{sensitivity}"),
            Kind::Staircase { epsilon, sensitivity, gamma } => {
                write!(f, "staircase:{epsilon}:{sensitivity}:{}", written(gamma))
            }
            Kind::PlanarLaplace { epsilon, dimension } => {
                write!(f, "planar-laplace:{epsilon}:{dimension}")
            }
            Kind::Uniform { width } => write!(f, "uniform:{width}"),
        }
    }
}

/// A number as it is written to be read again: with an exponent where it would be long.
fn written(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_written_with_an_exponent() {
        let refused = "laplace:1e-300".parse::<NoiseLaw>().unwrap_err().to_string();
        assert!(refused.starts_with("the scale of laplace is 1e-300: write"), "{refused}");
        let refused = "geometric:1e300".parse::<NoiseLaw>().unwrap_err().to_string();
        assert!(refused.starts_with("the rate of geometric is 1e300: write"), "{refused}");
        for text in ["staircase:1:1:1e-300", "staircase:2.5:3:0.25", "staircase:1:1:0.000001"] {
            assert_eq!(text.parse::<NoiseLaw>().unwrap().to_string(), text);
        }
        assert_eq!([written(0.0), written(1e15), written(-2.5e-7)], ["0", "1e15", "-2.5e-7"]);
    }

    #[test]
    fn laws_are_read_as_they_are_written() {
        for text in [
            "gaussian:1.5",
            "laplace:2",
            "geometric:0.5",
            "discrete-gaussian:1.1",
            "skellam:10",
            "msdlap:1:3",
            "staircase:2.8:1:0.25",
            "planar-laplace:0.5:2",
            "uniform:1",
        ] {
            assert_eq!(text.parse::<NoiseLaw>().unwrap().to_string(), text);
        }
        let gamma = 1.0 / (1.0 + 1.4f64.exp());
        let full = format!("staircase:2.8:1:{gamma}");
        assert_eq!("staircase:2.8".parse::<NoiseLaw>().unwrap().to_string(), full);
    }

    #[test]
    fn texts_that_are_no_law_get_a_sentence() {
        for (text, sentence) in [
            (
                "cauchy:1",
                "there is no law `cauchy`: write one of gaussian:SIGMA, laplace:SCALE, \
                 geometric:RATE, discrete-gaussian:SIGMA, skellam:LAMBDA, \
                 msdlap:EPSILON:SENSITIVITY, staircase:EPSILON[:SENSITIVITY[:GAMMA]], \
                 planar-laplace:EPSILON:DIMENSION, uniform:WIDTH",
            ),
            ("geometric", "`geometric` has not the parameters of its law: write geometric:RATE"),
            (
                "staircase:1:one",
                "the sensitivity of staircase is `one`, which is not a number: write one such as 0.5",
            ),
            ("skellam:-1", "the lambda of skellam is -1: write a number from 1e-6 to 1e6"),
            ("geometric:NaN", "the rate of geometric is NaN: write a number from 1e-6 to 500"),
            ("msdlap:1:1.5", "the sensitivity of msdlap is 1.5: write a whole number from 1 to 64"),
            ("staircase:1:1:2", "the gamma of staircase is 2: write a number from 0 to 1"),
        ] {
            assert_eq!(text.parse::<NoiseLaw>().unwrap_err().to_string(), sentence);
        }
    }
}
