//! What prices of places mean: `eke calc geo`.

use std::io::Write;

use clap::Args;
use eke_budget::convert::pure_to_zcdp;
use eke_budget::metric::Reach;
use eke_budget::{Delta, Epsilon, Metres, Metric, Rho};
use eke_geo::Level;
use eke_geo::earth::{epsilon_for_error, error_of_epsilon, error_of_rho, rho_for_error};
use eke_noise::law::Radius;
use serde::Serialize;

use crate::Failure;
use crate::input::usage::usage;
use crate::show::number::short;
use crate::show::{Table, print_json};

/// A price of places, said in one way.
#[derive(Args)]
pub(crate) struct GeoArgs {
    /// Concentrated privacy, per square metre.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    rho: Option<Rho>,
    /// Pure privacy, per metre.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// The largest epsilon between two places within the radius.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    level: Option<Epsilon>,
    /// How far a released place is off on average, in metres.
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    error: Option<Metres>,
    /// The radius of the level, in metres.
    #[arg(long, value_name = "M", default_value = "100", allow_hyphen_values = true)]
    radius: Metres,
    /// The probability that the level fails under concentrated privacy.
    #[arg(long, value_name = "D", default_value = "1e-6", allow_hyphen_values = true)]
    delta: Delta,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// One price in all its forms. Its JSON has the names of the arguments.
#[derive(Serialize)]
struct Meant {
    radius: Metres,
    planar_laplace: Pure,
    gaussian: Concentrated,
}

#[derive(Serialize)]
struct Pure {
    epsilon: Epsilon,
    level: Epsilon,
    error: f64,
    /// What 19 of 20 places are within.
    within: f64,
    /// What it costs an account in rho.
    #[serde(skip_serializing_if = "Option::is_none")]
    rho: Option<Rho>,
}

#[derive(Serialize)]
struct Concentrated {
    rho: Rho,
    level: Epsilon,
    delta: Delta,
    error: f64,
    within: f64,
}

impl GeoArgs {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (epsilon, rho) = self.prices()?;
        let meant = self.meant(epsilon, rho)?;
        if self.json {
            return print_json(out, &meant);
        }
        let Meant { planar_laplace: pure, gaussian, .. } = &meant;
        let mark = |is: bool| if is { " <-" } else { "" };
        let (radius, delta) = (short(self.radius.get()), self.delta);
        let mut table = Table::new(&["", "planar Laplace", "Gaussian"]);
        table.row([
            "price".to_owned(),
            format!("epsilon {} per metre{}", short(epsilon.get()), mark(self.epsilon.is_none())),
            format!("rho {} per square metre{}", short(rho.get()), mark(self.rho.is_none())),
        ]);
        table.row([
            format!("level within {radius} m"),
            short(pure.level.get()),
            format!("{} at delta {delta}", short(gaussian.level.get())),
        ]);
        for (what, pure, gaussian) in [
            ("off on average", pure.error, gaussian.error),
            ("19 of 20 are within", pure.within, gaussian.within),
        ] {
            table.row([
                what.to_owned(),
                format!("{} m", short(pure)),
                format!("{} m", short(gaussian)),
            ]);
        }
        if let Some(rho) = pure.rho {
            let cost = format!("rho {} per square metre", short(rho.get()));
            table.row(["costs in rho".to_owned(), cost, "its price".to_owned()]);
        }
        table.print(out)?;
        writeln!(out)?;
        Ok(writeln!(
            out,
            "  for one place on a plane; places within {radius} m of each other are distinguished by the level at most, \
             as a logarithm of odds{}",
            if self.error.is_some() { "" } else { ", which is the same for both" }
        )?)
    }

    /// Both prices: as private as each other within the radius, or as exact as each other if an
    /// error is given.
    fn prices(&self) -> Result<(Epsilon, Rho), Failure> {
        let (radius, delta) = (self.radius, self.delta);
        match (self.rho, self.epsilon, self.level, self.error) {
            (Some(rho), None, None, None) => {
                let level = Level::of_rho(rho, delta, radius).map_err(usage)?;
                Ok((level.epsilon().map_err(usage)?, rho))
            }
            (None, Some(epsilon), None, None) => {
                let level = Level::of_epsilon(epsilon, radius).map_err(usage)?;
                Ok((epsilon, level.rho(delta).map_err(usage)?))
            }
            (None, None, Some(level), None) => {
                let level = Level { radius, level };
                Ok((level.epsilon().map_err(usage)?, level.rho(delta).map_err(usage)?))
            }
            (None, None, None, Some(error)) => {
                Ok((epsilon_for_error(error).map_err(usage)?, rho_for_error(error).map_err(usage)?))
            }
            _ => Err(usage(
                "give one of --rho, --epsilon, --level and --error to compute the others",
            )),
        }
    }

    fn meant(&self, epsilon: Epsilon, rho: Rho) -> Result<Meant, Failure> {
        const BETA: f64 = 0.05;
        let (radius, delta) = (self.radius, self.delta);
        let reach = Radius::new(epsilon.get(), 2).and_then(|reach| reach.quantile(BETA));
        let everywhere = Metric::Euclidean(Reach::Unlimited);
        Ok(Meant {
            radius,
            planar_laplace: Pure {
                epsilon,
                level: Level::of_epsilon(epsilon, radius).map_err(usage)?.level,
                error: error_of_epsilon(epsilon),
                within: reach.unwrap_or(f64::INFINITY),
                rho: pure_to_zcdp(epsilon, everywhere).ok(),
            },
            gaussian: Concentrated {
                rho,
                level: Level::of_rho(rho, delta, radius).map_err(usage)?.level,
                delta,
                error: error_of_rho(rho),
                // Of two normals of variance 1/(2 rho).
                within: (-BETA.ln() / rho.get()).sqrt(),
            },
        })
    }
}
