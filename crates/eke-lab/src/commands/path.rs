//! `eke-lab path`: points of noise paths, in any order.

use std::error::Error;
use std::io::Write;

use clap::{Args, ValueEnum};
use eke_budget::{L1, L2, PathId};
use eke_noise::{Entropy, Exact, GaussianPath, GeometricPath, NoisePath, SystemEntropy};
use eke_testkit::Seeded;

use crate::Failure;
use eke_lab::shown;

/// Which paths to draw.
#[derive(Args)]
pub(crate) struct Path {
    /// The law.
    #[arg(long)]
    kind: Kind,
    /// The answer without noise, of sensitivity 1.
    #[arg(long, allow_hyphen_values = true)]
    truth: i32,
    /// Prices of points (rho or epsilon), in the order they are to be revealed: 0.5,2,1
    #[arg(long, value_delimiter = ',', required = true)]
    points: Vec<String>,
    /// How many paths, each on a line of its own.
    #[arg(long)]
    n: u64,
    /// Draw the same again; without it, the operating system's randomness is used.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// Points are rho; values are multiples of 1/1024.
    Gaussian,
    /// Points are epsilon; values are integers.
    Geometric,
}

/// Steps of the Gaussian grid in one.
const GRID: i32 = 1024;

impl Path {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self.seed {
            Some(seed) => self.draw(out, &mut Seeded::new(seed)),
            None => self.draw(out, &mut SystemEntropy::new().map_err(Failure::usage)?),
        }
    }

    fn draw<E: Entropy>(&self, out: &mut impl Write, entropy: &mut E) -> Result<(), Failure> {
        let id = PathId::new([0; 32]);
        for line in 0..self.n {
            let values: Vec<f64> = match self.kind {
                Kind::Gaussian => {
                    let steps = L2::new(f64::from(GRID)).map_err(Failure::usage)?;
                    let sensitivity = L1::new(f64::from(GRID)).map_err(Failure::usage)?;
                    let truth = Exact::new(i64::from(self.truth) * i64::from(GRID), sensitivity);
                    let path = GaussianPath::<i64>::open(id, steps);
                    let values = self.walk(path, &truth, entropy).map_err(Failure::usage)?;
                    values.into_iter().map(|value| value / f64::from(GRID)).collect()
                }
                Kind::Geometric => {
                    let one = L1::new(1.0).map_err(Failure::usage)?;
                    let truth = Exact::new(i64::from(self.truth), one);
                    let path = GeometricPath::<i64>::open(id, one);
                    self.walk(path, &truth, entropy).map_err(Failure::usage)?
                }
            };
            if line == 0 {
                writeln!(out, "{}", self.points.join(","))?;
            }
            let cells: Vec<String> = values.iter().map(f64::to_string).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    /// Reveals the points of one path through an account, as a release would.
    fn walk<P: NoisePath<Value = i64>, E: Entropy>(
        &self,
        mut path: P,
        truth: &Exact<i64>,
        entropy: &mut E,
    ) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut account = eke_lab::account();
        let mut value = |point: &String| -> Result<f64, Box<dyn Error>> {
            Ok(shown(&mut account, &mut path, truth, point.parse()?, entropy)? as f64)
        };
        self.points.iter().map(&mut value).collect()
    }
}
