//! `eke geo`: questions about places (geo-indistinguishability).

mod accounts;
mod count;
mod crowd;
mod density;
mod hint;
mod hull;
mod nearest;
mod neighbours;
mod release;
mod threshold;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use eke_budget::metric::Reach;
use eke_budget::{Amount, BudgetSpec, Charge, Delta, Epsilon, Metres, Metric, Rho};
use eke_engine::geo::{
    Opening, Person, PersonStanding, PlaceColumns, PlaceFile, PlacePrice, PlacesError,
};
use eke_geo::{Level, Place, Region, TupleMetric};
use eke_ledger::Address;
use indicatif::ProgressBar;

use crate::Failure;
use crate::input::usage::usage;
use crate::show::bar::style;
use crate::show::number::short;

/// The commands about places.
#[derive(Subcommand)]
pub(crate) enum Geo {
    /// Release one person's places, each with noise.
    #[command(after_help = "\
Examples:
  eke geo release walk.csv --region -122.43,37.77,10000 --rho 1e-5 --budget rho=1e-4 --out told.geojson
  eke geo release walk.csv --region -122.43,37.77,10000 --radius 200 --level 1.4 --map told.svg
Asking again at the same price returns the same places for nothing; a higher rho costs the
difference.
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Release(release::Release),
    /// Choose which of one person's places are nearest to a public place: their rows, not where
    /// they are.
    #[command(after_help = "\
Example:
  eke geo nearest walk.csv --region -122.43,37.77,10000 --to -122.42,37.77 --k 3 --rho 1e-5
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Nearest(nearest::Nearest),
    /// Release the approximate convex hull of one person's places.
    #[command(after_help = "\
Example:
  eke geo hull walk.csv --region -122.43,37.77,10000 --rho 1e-4 --out hull.geojson --map hull.svg
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Hull(hull::Hull),
    /// Count the people in an area.
    #[command(after_help = "\
Examples:
  eke geo count taxis.csv --region 116.4,39.9,30000 --budget 1e-4 --rho 1e-5 --circle 116.4,39.9,2000
  eke geo count taxis.csv --rho 1e-5 --within centre.geojson --savings saved.svg
Everybody in the file has an account and is asked. People who are clearly inside or outside stop
paying.
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Count(count::Count),
    /// Estimate the density of people around a place.
    #[command(after_help = "\
Example:
  eke geo density taxis.csv --region 116.4,39.9,30000 --budget 1e-4 --rho 1e-5 --at 116.4,39.9 --bandwidth 500
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Density(density::Density),
    /// Find the people who are nearest to a place.
    #[command(after_help = "\
Example:
  eke geo neighbours taxis.csv --region 116.4,39.9,30000 --budget 1e-4 --rho 1e-5 --to 116.4,39.9 --k 5
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Neighbours(neighbours::Neighbours),
    /// Decide whether the share of rows with small values in a column is below a given share.
    #[command(after_help = "\
Example:
  eke geo threshold households.csv --column income --at-most 10000 --share 0.1 --budget 0.1 --rho 0.01
The user of this command holds all rows, and one account pays for them. Rho is for replacing one
row (zCDP), not per metre.
Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 refused.")]
    Threshold(threshold::Threshold),
    /// Verify the accounts of many people, and show what is left in them.
    Accounts(accounts::Accounts),
}

impl Geo {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self {
            Self::Release(release) => release.run(out),
            Self::Nearest(nearest) => nearest.run(out),
            Self::Hull(hull) => hull.run(out),
            Self::Count(count) => count.run(out),
            Self::Density(density) => density.run(out),
            Self::Neighbours(neighbours) => neighbours.run(out),
            Self::Threshold(threshold) => threshold.run(out),
            Self::Accounts(accounts) => accounts.run(out),
        }
    }
}

/// Where places lie, and in which part of the earth.
#[derive(Args)]
pub(crate) struct Places {
    /// A file of places: CSV, Parquet, or points in GeoJSON.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The public region of the places: longitude,latitude,metres for a disc, or
    /// west,south,east,north. Places outside are moved to its rim.
    #[arg(long, value_name = "LON,LAT,METRES", value_parser = region, allow_hyphen_values = true)]
    pub(crate) region: Region,
    /// The column of longitudes, in degrees [default: longitude, lon or lng]
    #[arg(long, value_name = "COLUMN")]
    longitude: Option<String>,
    /// The column of latitudes, in degrees [default: latitude or lat]
    #[arg(long, value_name = "COLUMN")]
    latitude: Option<String>,
}

impl Places {
    pub(crate) fn open(&self) -> Result<PlaceFile, Failure> {
        let columns = PlaceColumns {
            longitude: self.longitude.clone(),
            latitude: self.latitude.clone(),
            ..PlaceColumns::default()
        };
        Ok(PlaceFile::open(&self.file, &columns)?)
    }
}

/// A question about one person's places, and who pays for it.
#[derive(Args)]
pub(crate) struct Question {
    #[command(flatten)]
    places: Places,
    #[command(flatten)]
    price: Price,
    #[command(flatten)]
    payer: Payer,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Question {
    /// What was told, and the price that was asked for.
    fn ask<T>(
        &self,
        ask: impl FnOnce(&mut Person, &PlaceFile, PlacePrice, &dyn Fn(u64)) -> Result<T, PlacesError>,
    ) -> Result<(T, PlacePrice), Failure> {
        let price = self.price.price()?;
        let file = self.places.open()?;
        let mut person = self.payer.open(&file, price)?;
        let bar = reading();
        let told = ask(&mut person, &file, price, &|rows| bar.set_position(rows));
        bar.finish_and_clear();
        Ok((told?, price))
    }
}

/// A part of the earth: around a place, or a box.
pub(crate) fn region(text: &str) -> Result<Region, String> {
    let wrong = || {
        format!(
            "`{text}` is not a region: write longitude,latitude,metres, as in -122.43,37.77,10000, or west,south,east,north"
        )
    };
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let region = match numbers.map_err(|_| wrong())?[..] {
        [longitude, latitude, radius] => {
            let centre = Place::new(longitude, latitude).map_err(|error| error.to_string())?;
            let radius = Metres::new(radius).map_err(|error| error.to_string())?;
            Region::new(centre, radius)
        }
        [west, south, east, north] => Region::around(west, south, east, north),
        _ => return Err(wrong()),
    };
    region.map_err(|error| error.to_string())
}

/// Whose account pays, and what it is opened with.
#[derive(Args)]
pub(crate) struct Payer {
    /// The ledger that the account lies in.
    #[arg(long, value_name = "FILE", default_value = "places.ledger")]
    ledger: Address,
    /// The account: whose places these are.
    #[arg(long, value_name = "NAME", default_value = "me")]
    account: String,
    /// To open the account: its whole budget, as rho=1e-4 (per square metre), epsilon=0.01 (per
    /// metre), or both with a comma.
    #[arg(long, value_name = "PRICE", value_parser = budget)]
    budget: Option<BudgetSpec>,
    /// With --budget: the largest distance between places that the promise covers, in metres
    /// [default: any distance]
    #[arg(long, value_name = "METRES", requires = "budget")]
    reach: Option<Metres>,
    /// How the distance between two lists of places is measured, fixed for the account [default:
    /// farthest]
    #[arg(long, value_enum)]
    metric: Option<MetricName>,
    /// The least distance that counts, fixed for the account: nearer places count as this far
    /// apart, in metres [default: 1]
    #[arg(long, value_name = "METRES")]
    least: Option<Metres>,
    /// Confirm that the file has changed since the last question: ask about its new state, and pay
    /// again.
    #[arg(long)]
    changed: bool,
}

mirrored!(MetricName for TupleMetric {
    /// The largest distance between places of one row
    Farthest,
    /// The sum of these distances
    Sum,
    /// The root of the sum of their squares
    Root,
});

impl Payer {
    /// The account, with the file as it is pinned there.
    pub(crate) fn open(&self, file: &PlaceFile, price: PlacePrice) -> Result<Person, Failure> {
        let opening = self.budget.map(|budget| Opening {
            budget,
            reach: self.reach.map_or(Reach::Unlimited, Reach::Within),
            metric: self.metric.map_or(TupleMetric::Farthest, Into::into),
            least: self.least.unwrap_or(Metres::ONE),
        });
        // Before there is an account, and then never again.
        if opening.is_some() && Person::open(&self.ledger, &self.account, None).is_err() {
            file.check_degrees()?;
            self.check_pays(price)?;
        }
        let mut person = Person::open(&self.ledger, &self.account, opening.as_ref())?;
        say_exposed(&self.ledger);
        let asked =
            (self.metric.map_or(person.metric(), Into::into), self.least.unwrap_or(person.least()));
        if asked != (person.metric(), person.least()) {
            return Err(Failure::Usage(format!(
                "account `{}` was opened with --metric {} and --least {}, which are for good: leave them out, or open an account of another name",
                self.account,
                person.metric(),
                person.least().get()
            )));
        }
        if self.changed {
            person.declare_changed(file)?;
        }
        Ok(person)
    }

    /// Whether the account would pay for what is asked: it is opened for good.
    fn check_pays(&self, price: PlacePrice) -> Result<(), Failure> {
        let Some(spec) = self.budget else { return Ok(()) };
        let reach = self.reach.map_or(Reach::Unlimited, Reach::Within);
        let budget = spec.resolve(Metric::Euclidean(reach)).map_err(usage)?;
        let (pays, price) = match price {
            PlacePrice::Rho(rho) => {
                (budget.zcdp().is_some_and(|limits| limits.budget >= rho), format!("rho={rho}"))
            }
            PlacePrice::Epsilon(epsilon) => (
                budget.pure().is_some_and(|limits| limits.budget >= epsilon),
                format!("epsilon={epsilon}"),
            ),
        };
        if pays {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "this budget does not pay for {price}, and would be for good: nothing was opened"
        )))
    }
}

fn budget(text: &str) -> Result<BudgetSpec, String> {
    let (mut rho, mut epsilon) = (None, None);
    for part in text.split(',') {
        match part.trim().parse::<Charge>() {
            Ok(Charge::Zcdp { rho: amount, .. }) if rho.is_none() => {
                rho = Some(amount.to_parameter().map_err(|error| error.to_string())?);
            }
            Ok(Charge::Pure { epsilon: amount, .. }) if epsilon.is_none() => {
                epsilon = Some(amount.to_parameter().map_err(|error| error.to_string())?);
            }
            Ok(_) => {
                return Err(format!(
                    "`{text}` has a currency twice: write each of rho and epsilon once"
                ));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    match (rho, epsilon) {
        (Some(rho), None) => Ok(BudgetSpec::zcdp(rho)),
        (None, Some(epsilon)) => Ok(BudgetSpec::promising(epsilon)),
        (Some(rho), Some(epsilon)) => Ok(BudgetSpec::zcdp(rho).with_pure(epsilon)),
        (None, None) => Err("the budget is empty: write it like rho=1e-4".into()),
    }
}

/// The price, as rho, as epsilon, or as a level within a radius.
#[derive(Args)]
pub(crate) struct Price {
    /// Rho per square metre, for Gaussian noise.
    #[arg(long, value_name = "R", conflicts_with_all = ["epsilon", "radius"])]
    rho: Option<Rho>,
    /// Epsilon per metre, for planar Laplace noise.
    #[arg(long, value_name = "E", conflicts_with = "radius")]
    epsilon: Option<Epsilon>,
    /// With --level: the radius within which places must be hard to distinguish, in metres.
    #[arg(long, value_name = "METRES", requires = "level")]
    radius: Option<Metres>,
    /// The largest epsilon between places within the radius: for Gaussian noise with --delta, else
    /// for planar Laplace noise.
    #[arg(long, value_name = "L", requires = "radius")]
    level: Option<Epsilon>,
    /// The probability that the level fails.
    #[arg(long, value_name = "D", requires = "level")]
    delta: Option<Delta>,
}

impl Price {
    pub(crate) fn price(&self) -> Result<PlacePrice, Failure> {
        let level = self.radius.zip(self.level).map(|(radius, level)| Level { radius, level });
        match (self.rho, self.epsilon, level, self.delta) {
            (Some(rho), ..) => Ok(PlacePrice::Rho(Amount::at_most(rho))),
            (None, Some(epsilon), ..) => Ok(PlacePrice::Epsilon(Amount::at_most(epsilon))),
            (None, None, Some(level), Some(delta)) => {
                let rho = level.rho(delta).map_err(usage)?;
                Ok(PlacePrice::Rho(Amount::at_most(rho)))
            }
            (None, None, Some(level), None) => {
                let epsilon = level.epsilon().map_err(usage)?;
                Ok(PlacePrice::Epsilon(Amount::at_most(epsilon)))
            }
            (None, None, None, _) => Err(Failure::Usage(
                "what may it cost? say it with --rho 1e-5, --epsilon 0.01, or --radius 200 --level 1.4".into(),
            )),
        }
    }
}

/// A spinner that says how many rows are read, on a terminal.
pub(crate) fn reading() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    style(&bar, "{spinner} {pos} places read {elapsed}");
    bar
}

/// What something cost, and what is left: `cost   rho 1e-5 per square metre; rho 9e-5 left`.
pub(crate) fn print_cost(
    cost: f64,
    price: PlacePrice,
    standing: &PersonStanding,
    out: &mut impl Write,
) -> io::Result<()> {
    let (currency, unit) = match price {
        PlacePrice::Rho(_) => ("rho", "square metre"),
        PlacePrice::Epsilon(_) => ("epsilon", "metre"),
    };
    let cost = if cost > 0.0 {
        format!("{currency} {} per {unit}", short(cost))
    } else {
        "nothing".to_owned()
    };
    let left: Vec<String> = [("rho", standing.left_rho), ("epsilon", standing.left_epsilon)]
        .into_iter()
        .filter_map(|(currency, left)| Some(format!("{currency} {}", short(left?))))
        .collect();
    writeln!(out, "  cost   {cost}; {} left", left.join(" and "))
}

/// Says if others may read a ledger or a register.
fn say_exposed(ledger: &eke_ledger::Address) {
    if let Some(exposed) = ledger.exposed() {
        eprintln!("eke: note: {exposed}");
    }
}
