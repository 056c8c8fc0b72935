//! `eke-lab speed crowd`: what questions to many people take on one core, medians. Noise is
//! prepared once and kept, so the first question of a kind takes longer; that is told beside.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use eke_budget::account::Sheet;
use eke_budget::{Amount, Metres};
use eke_geo::crowd::{Rule, Seen, Split};
use eke_geo::{Allowance, Crowd, Lattice, Plan, Shape, Spending, count, density, neighbours};
use eke_lab::seeded::Seeded;
use serde::Serialize;

use crate::Failure;

/// How to show it.
#[derive(Args)]
pub(crate) struct Crowds {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// How many images neighbours are looked for among; each has 784 numbers.
    #[arg(long, default_value_t = 60_000)]
    images: u32,
    /// Only questions with this in their names.
    #[arg(long, default_value = "")]
    only: String,
}

#[derive(Serialize)]
struct Row {
    what: String,
    /// The median of the runs.
    milliseconds: f64,
    /// The first run.
    first: f64,
    /// How many reports were drawn in it.
    reports: u64,
    saved: f64,
}

/// Runs of each.
const ROUNDS: usize = 15;

impl Crowds {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = self.rows().map_err(|error| Failure::Usage(error.to_string()))?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        let width = rows.iter().map(|row| row.what.len()).max().unwrap_or(0);
        writeln!(
            out,
            "  {:<width$}{:>12}{:>12}{:>11}{:>8}",
            "what", "median", "first", "reports", "saved"
        )?;
        for Row { what, milliseconds, first, reports, saved } in rows {
            writeln!(
                out,
                "  {what:<width$}{milliseconds:>9.2} ms{first:>9.2} ms{reports:>11}{saved:>8.3}"
            )?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let ours = Plan::default();
        let paper = Plan { rule: Rule::Paper, split: Split::Even(64), ..ours };
        let mut rows = Vec::new();
        let fine = Plan { split: Split::Geometric { rounds: 64, ratio: 1.12 }, ..ours };
        let plans = [
            ("31 rounds, ours", ours),
            ("64 rounds, ours", fine),
            ("64 rounds, as published", paper),
        ];
        for (name, plan) in plans {
            let mut taxis = town(9740, Spread::Even)?;
            let sides = [Metres::new(5000.0)?; 2];
            let square = Shape::rectangle(taxis.lattice(), [2000.0, 1000.0], sides, 0.0)?;
            let allowance = Allowance::Same("0.0001".parse()?);
            rows.extend(self.timed(
                format!("count of 9740, {name}"),
                &mut taxis,
                |crowd, seeded| {
                    Ok(black_box(count(crowd, &square, &allowance, &plan, seeded)?).spending)
                },
            )?);
            for (where_they_are, spread) in [("", Spread::Even), (" around it", Spread::Middle)] {
                let mut places = town(200_000, spread)?;
                let at = places.lattice().put(&[1000.0, 500.0]);
                let bandwidth = Metres::new(500.0)?;
                let what = format!("density of 200000{where_they_are}, {name}");
                rows.extend(self.timed(what, &mut places, |crowd, seeded| {
                    let found = density(crowd, &at, bandwidth, &allowance, &plan, seeded)?;
                    Ok(black_box(found).spending)
                })?);
            }
        }
        let mut images = images(self.images)?;
        for (name, plan) in plans {
            let at = vec![0; 784];
            let allowance = Allowance::Same("0.001".parse()?);
            let what = format!("10 nearest of {} in 784 dimensions, {name}", self.images);
            rows.extend(self.timed(what, &mut images, |crowd, seeded| {
                Ok(black_box(neighbours(crowd, &at, 10, &allowance, &plan, seeded)?).spending)
            })?);
        }
        Ok(rows)
    }

    /// The median time of a question, of which nothing has been seen; none if it is not asked for.
    fn timed(
        &self,
        what: String,
        crowd: &mut Crowd,
        ask: impl Fn(&mut Crowd, &mut Seeded) -> Result<Spending, Box<dyn Error>>,
    ) -> Result<Option<Row>, Box<dyn Error>> {
        if !what.contains(&self.only) {
            return Ok(None);
        }
        let mut seeded = Seeded::new(1);
        let (mut times, mut saved, mut reports) = (Vec::with_capacity(ROUNDS), 0.0, 0);
        for _ in 0..ROUNDS {
            crowd.restore(Seen::default())?;
            let start = Instant::now();
            let spending = ask(crowd, &mut seeded)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            saved = spending.saved();
            reports = spending.rounds.iter().map(|round| u64::from(round.walked)).sum();
        }
        let first = times[0];
        times.sort_by(f64::total_cmp);
        Ok(Some(Row { what, milliseconds: times[ROUNDS / 2], first, reports, saved }))
    }
}

/// Where people are in a town of 50 km across.
#[derive(Clone, Copy)]
enum Spread {
    /// Everywhere alike.
    Even,
    /// The closer to its middle the more, so that half of them are within half its radius: many
    /// near any point there.
    Middle,
}

/// People of a town.
fn town(people: usize, spread: Spread) -> Result<Crowd, Box<dyn Error>> {
    let lattice = Lattice::boxed(2, Metres::new(60_000.0)?, Metres::ONE)?;
    let mut seeded = Seeded::new(5);
    let mut points = Vec::with_capacity(2 * people);
    for _ in 0..people {
        let (part, turn) = (seeded.unit(), std::f64::consts::TAU * seeded.unit());
        let far = 25_000.0
            * match spread {
                Spread::Even => part.sqrt(),
                Spread::Middle => part,
            };
        points.extend(lattice.put(&[far * turn.cos(), far * turn.sin()]));
    }
    Ok(Crowd::new(lattice, points, Sheet::same(Amount::MAX, people)?)?)
}

/// Images, some darker than others.
fn images(people: u32) -> Result<Crowd, Box<dyn Error>> {
    let lattice = Lattice::boxed(784, Metres::new(255.0)?, Metres::ONE)?;
    let mut seeded = Seeded::new(6);
    let mut points = Vec::with_capacity(784 * people as usize);
    let grey = lattice.grid().steps(1.0);
    for _ in 0..people {
        let shade = 40.0 + 80.0 * seeded.unit();
        #[expect(clippy::cast_possible_truncation, reason = "up to 255")]
        points.extend((0..784).map(|_| (shade * 2.0 * seeded.unit()) as i64 * grey));
    }
    Ok(Crowd::new(lattice, points, Sheet::same(Amount::MAX, people as usize)?)?)
}
