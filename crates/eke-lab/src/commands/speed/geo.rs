//! `eke-lab speed geo`: what questions about places take on one core.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use eke_budget::{Amount, Epsilon, Metres, NoHistory, Rho};
use eke_geo::person::{HullPlan, NearestMethod};
use eke_geo::{Lattice, Nearest, PlacePrice, Places, hull, nearest};
use eke_lab::account;
use eke_noise::select::{Allotment, Prepaid};
use eke_testkit::Seeded;
use serde::Serialize;

use crate::Failure;

/// How to show it.
#[derive(Args)]
pub(crate) struct Geo {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// How many places one person has.
    #[arg(long, default_value_t = 20_000)]
    places: u32,
    /// How many of them are asked for.
    #[arg(long, default_value_t = 10)]
    count: u32,
}

#[derive(Serialize)]
struct Row {
    what: String,
    /// The median of the runs, by the clock.
    milliseconds: f64,
    /// The mean of them, by how long a core worked; none where the system does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_core: Option<f64>,
}

/// Runs of each, at least.
const ROUNDS: usize = 31;

impl Geo {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = self.rows().map_err(|error| Failure::Usage(error.to_string()))?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(out, "  {:<52}{:>10}{:>12}   milliseconds", "what", "median", "on a core")?;
        for Row { what, milliseconds, on_core } in rows {
            let on_core = on_core.map_or(String::new(), |mean| format!("{mean:.3}"));
            writeln!(out, "  {what:<52}{milliseconds:>10.3}{on_core:>12}")?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let (lattice, places) = self.made_up()?;
        let (count, there) = (self.count, self.places);
        let rho: Amount<Rho> = "0.00005".parse()?;
        let epsilon: Amount<Epsilon> = "0.0745668".parse()?;
        let mut rows = Vec::new();
        for (name, method) in [
            ("picked", NearestMethod::Ranked),
            ("searched, as published", NearestMethod::Paper { margin: None }),
        ] {
            let question = Nearest { to: lattice.put(&[300.0, -200.0]), count, method };
            let what = |kind: &str| format!("{count} nearest of {there}, {kind}, {name}");
            rows.push(timed(what("rho"), |seeded| {
                Ok(black_box(nearest(&places, &question, bought(rho)?, seeded)?.get().len()))
            })?);
            rows.push(timed(what("epsilon"), |seeded| {
                Ok(black_box(nearest(&places, &question, bought(epsilon)?, seeded)?.get().len()))
            })?);
        }
        for (name, plan) in [("ours", HullPlan::default()), ("as published", HullPlan::published())]
        {
            let what = |kind: &str| format!("hull of {there}, {kind}, {name}");
            rows.push(timed(what("rho"), |seeded| {
                Ok(black_box(hull(&places, &plan, bought(rho)?, seeded)?.points.len()))
            })?);
            rows.push(timed(what("epsilon"), |seeded| {
                Ok(black_box(hull(&places, &plan, bought(epsilon)?, seeded)?.points.len()))
            })?);
        }
        Ok(rows)
    }

    /// Places around a few centres of a city, by a seed.
    fn made_up(&self) -> Result<(Lattice, Places), Box<dyn Error>> {
        let lattice = Lattice::boxed(2, Metres::new(50_000.0)?, Metres::ONE)?;
        let mut seeded = Seeded::new(5);
        let points: Vec<[f64; 2]> = (0..self.places)
            .map(|place| {
                let (far, angle) =
                    (9000.0 * seeded.unit().powi(2), std::f64::consts::TAU * seeded.unit());
                let centre = f64::from(place % 5) * 1000.0;
                [centre + far * angle.cos(), centre - far * angle.sin()]
            })
            .collect();
        Ok((lattice, Places::new(lattice, points)))
    }
}

fn bought<C: PlacePrice>(price: Amount<C>) -> Result<Prepaid<C>, Box<dyn Error>> {
    let mut account = account();
    let approved = account.approve(Allotment { price })?;
    let receipt = account.commit(approved, &mut NoHistory).map_err(|_| "not recorded")?;
    Ok(Prepaid::open(receipt))
}

/// The times of a question.
fn timed(
    what: String,
    ask: impl Fn(&mut Seeded) -> Result<usize, Box<dyn Error>>,
) -> Result<Row, Box<dyn Error>> {
    let mut seeded = Seeded::new(1);
    let mut times = Vec::new();
    let (start, on_core_before) = (Instant::now(), on_core());
    while times.len() < ROUNDS || start.elapsed().as_secs_f64() < 0.5 {
        let start = Instant::now();
        ask(&mut seeded)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let rounds = times.len() as f64;
    let worked = on_core_before.zip(on_core()).map(|(from, to)| (to - from) * 1e3 / rounds);
    Ok(Row { what, milliseconds: times[times.len() / 2], on_core: worked })
}

/// How long this thread has been on a core, in seconds, where the system says so: others may be
/// working here too.
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
