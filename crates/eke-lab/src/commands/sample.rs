//! `eke-lab sample`: raw draws.

use std::fmt::Display;
use std::io::Write;

use clap::{Args, ValueEnum};
use eke_noise::law::{Msdlap, PlanarLaplace, Shifts};
use eke_noise::{DiscreteGaussian, DiscreteLaplace, Entropy, Ratio, SystemEntropy};
use eke_testkit::Seeded;

use crate::Failure;

/// What to draw.
#[derive(Args)]
pub(crate) struct Sample {
    /// The law.
    #[arg(long)]
    law: Law,
    /// Its parameter: variance=V for discrete-gaussian, scale=S for discrete-laplace, epsilon=E for
    /// msdlap, rate=R for planar-laplace.
    #[arg(long, value_name = "NAME=VALUE")]
    param: String,
    /// The sensitivity that msdlap noise is for, a whole number.
    #[arg(long, default_value_t = 2)]
    sensitivity: u32,
    /// How many draws.
    #[arg(long)]
    n: u64,
    /// Draw the same again; without it, the operating system's randomness is used.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Law {
    DiscreteGaussian,
    DiscreteLaplace,
    /// A sum over all shifts up to a sensitivity.
    Msdlap,
    /// Points of the plane, with their coordinates apart by a comma.
    PlanarLaplace,
}

impl Law {
    fn parameter(self) -> &'static str {
        match self {
            Self::DiscreteGaussian => "variance",
            Self::DiscreteLaplace => "scale",
            Self::Msdlap => "epsilon",
            Self::PlanarLaplace => "rate",
        }
    }
}

impl Sample {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let name = self.law.parameter();
        let wrong = |what: &str| {
            Failure::Usage(format!("--param {} {what}: write it like {name}=100", self.param))
        };
        let (given, value) =
            self.param.split_once('=').ok_or_else(|| wrong("is not a name and a value"))?;
        if given != name {
            return Err(wrong("is not this law's parameter"));
        }
        let value: f64 = value.parse().map_err(|_| wrong("has no number"))?;
        let ratio = Ratio::from_f64(value).ok_or_else(|| wrong("is not a positive number"))?;
        let mut system;
        let mut seeded;
        let entropy: &mut dyn Entropy = if let Some(seed) = self.seed {
            seeded = Seeded::new(seed);
            &mut seeded
        } else {
            system = SystemEntropy::new().map_err(Failure::usage)?;
            &mut system
        };
        match self.law {
            Law::DiscreteGaussian => {
                let law = DiscreteGaussian::new(&ratio).map_err(Failure::usage)?;
                self.print(out, || law.draw(entropy))
            }
            Law::DiscreteLaplace => {
                let law = DiscreteLaplace::new(&ratio).map_err(Failure::usage)?;
                self.print(out, || law.draw(entropy))
            }
            Law::Msdlap => {
                let shifts = Shifts::new(self.sensitivity).map_err(Failure::usage)?;
                let law = Msdlap::new(&ratio, shifts).map_err(Failure::usage)?;
                self.print(out, || law.draw(entropy))
            }
            Law::PlanarLaplace => {
                let law = PlanarLaplace::<2>::new(&ratio).map_err(Failure::usage)?;
                self.print(out, || {
                    let [x, y] = law.draw(entropy);
                    format!("{x},{y}")
                })
            }
        }
    }

    fn print<T: Display>(
        &self,
        out: &mut impl Write,
        mut draw: impl FnMut() -> T,
    ) -> Result<(), Failure> {
        for _ in 0..self.n {
            writeln!(out, "{}", draw())?;
        }
        Ok(())
    }
}
