//! `eke-lab speed selection`: comparisons a second, and a long search along lines with everything
//! it pays.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use eke_budget::{L1, NoHistory};
use eke_noise::law::Noise;
use eke_noise::select::NoisyScore;
use eke_noise::{Exact, Ratio};
use eke_select::{
    AboveThreshold, Change, Direction, Filter, GridLine, LineNoise, LineSpec, SparseVector,
};
use eke_testkit::Seeded;
use serde::Serialize;

use crate::Failure;

/// How much, and how to show it.
#[derive(Args)]
pub(crate) struct Selection {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// Steps of the search, and comparisons.
    #[arg(long, default_value_t = 1_000_000)]
    steps: u32,
}

#[derive(Serialize)]
struct Row {
    what: &'static str,
    steps_per_second: f64,
    seconds: f64,
    /// How many steps were hits, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    hits: Option<u64>,
}

/// Searches and batches of each kind; the fastest counts, which is the one least disturbed.
const ROUNDS: usize = 5;

impl Selection {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = self.rows().map_err(|error| Failure::Usage(error.to_string()))?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(out, "  {:<36}{:>16}{:>10}{:>8}", "what", "steps a second", "seconds", "hits")?;
        for Row { what, steps_per_second, seconds, hits } in rows {
            let hits = hits.map_or(String::new(), |hits| hits.to_string());
            let rate = steps_per_second / 1e6;
            writeln!(out, "  {what:<36}{rate:>15.2}M{seconds:>10.3}{hits:>8}")?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let mut rows = Vec::new();
        for (what, law) in [
            ("draw and compare, Gaussian", Noise::gaussian as fn(Ratio) -> Noise),
            ("draw and compare, Laplace", Noise::laplace),
        ] {
            let noise = law(Ratio::new(173, 2).ok_or("no scale")?);
            rows.push(self.fastest(what, || Ok(self.compare(&noise)))?);
        }
        for (what, filter) in [
            ("search, charged afterwards", Filter::ExPost),
            ("search, charged before", Filter::ExAnte { steps: 4096 }),
        ] {
            rows.push(self.fastest(what, || self.search(filter).map(Some))?);
        }
        Ok(rows)
    }

    fn fastest(
        &self,
        what: &'static str,
        mut batch: impl FnMut() -> Result<Option<u64>, Box<dyn Error>>,
    ) -> Result<Row, Box<dyn Error>> {
        let (mut seconds, mut hits) = (f64::INFINITY, None);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            hits = batch()?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        Ok(Row { what, steps_per_second: f64::from(self.steps) / seconds, seconds, hits })
    }

    /// Fresh noise on a score, held against one other.
    fn compare(&self, noise: &Noise) -> Option<u64> {
        let mut entropy = Seeded::new(5);
        let mut line = NoisyScore::new(1000, noise, &mut entropy);
        for score in 0..i64::from(self.steps) {
            let mut noisy = NoisyScore::new(score & 1023, noise, &mut entropy);
            black_box(noisy.compare(&mut line, &mut entropy));
        }
        None
    }

    /// Counts that stay about two deviations below the line, so that one in about a thousand is a
    /// hit; prices are worked out from nothing.
    fn search(&self, filter: Filter) -> Result<u64, Box<dyn Error>> {
        let one = L1::new(1.0)?;
        let line = GridLine::new(AboveThreshold::new(LineSpec {
            threshold: 1000.0,
            range: (0.0, 2000.0),
            sensitivity: one,
            change: Change::Monotone,
            direction: Direction::Above,
            noise: LineNoise::Gaussian { line: 50.0, query: 86.5 },
        })?)?;
        let (mut account, mut entropy) = (eke_lab::account(), Seeded::new(6));
        let mut search = SparseVector::new(line, filter)?;
        for step in 0..i64::from(self.steps) {
            let truth = Exact::new(760 + step % 64, one);
            black_box(search.next(&truth, &mut account, &mut NoHistory, &mut entropy)?);
        }
        search.stop(&mut account, &mut NoHistory)?;
        Ok(search.hits())
    }
}
