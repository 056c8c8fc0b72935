//! `eke-lab speed local`: users a second and core, device and collector, next to the textbook's
//! sampler in the same run.
//!
//! The textbook draws with doubles, shuffles the categories to have a subset of them, and counts
//! report by report, category by category.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use eke_budget::{Amount, Epsilon};
use eke_local::worth::subset;
use eke_local::{Law, Method, Plan, Tally};
use eke_noise::local::{BitTemplate, Chain, HashTemplate, ReportLaw, Template};
use eke_testkit::Seeded;
use serde::Serialize;

use crate::Failure;

/// How to show it.
#[derive(Args)]
pub(crate) struct Local {
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
    /// Users that report.
    #[arg(long, default_value_t = 1_000_000)]
    users: u32,
    /// Categories that they choose from.
    #[arg(long, default_value_t = 128)]
    categories: u32,
}

#[derive(Serialize)]
struct Row {
    what: String,
    /// Users a second: their reports drawn, counted, and both.
    drawn: f64,
    counted: f64,
    both: f64,
    /// How many times as fast as the textbook at the same epsilon; none where the two do not
    /// compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

/// Runs of each; the fastest counts, which is the one least disturbed.
const ROUNDS: usize = 5;
const EPSILONS: [&str; 4] = ["0.5", "1", "2", "4"];

impl Local {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows = self.rows().map_err(|error| Failure::Usage(error.to_string()))?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        writeln!(
            out,
            "  {:<34}{:>11}{:>11}{:>11}{:>8}   million users a second",
            "what", "drawn", "counted", "both", "ratio"
        )?;
        for Row { what, drawn, counted, both, ratio } in rows {
            let [drawn, counted, both] = [drawn, counted, both].map(|rate| rate / 1e6);
            let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.1}"));
            writeln!(out, "  {what:<34}{drawn:>11.2}{counted:>11.2}{both:>11.2}{ratio:>8}")?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let values: Vec<u32> = (0..self.users).map(|user| user % self.categories.max(1)).collect();
        let mut rows = Vec::new();
        for text in EPSILONS {
            let epsilon: Amount<Epsilon> = text.parse()?;
            let size = subset::best_size(self.categories, epsilon.to_f64());
            let textbook = self.textbook(&values, size, epsilon.to_f64());
            let law = Law::new(self.categories, ReportLaw::Subset(Template::new(size, epsilon)))?;
            let mut row = self.one(format!("sets of {size} at {text}"), law, &values)?;
            row.ratio = Some(row.both / textbook.both);
            rows.extend([textbook, row]);
        }
        let epsilon: Amount<Epsilon> = "1".parse()?;
        for (what, report) in [
            ("hashes of 2 bits at 1", ReportLaw::Hash(HashTemplate::new(2, epsilon))),
            ("rows of bits at 1", ReportLaw::Bits(BitTemplate::new(epsilon))),
        ] {
            rows.push(self.one(what.to_owned(), Law::new(self.categories, report)?, &values)?);
        }
        rows.push(self.tiers(&values)?);
        Ok(rows)
    }

    /// Reports of one tier.
    fn one(&self, what: String, law: Law, values: &[u32]) -> Result<Row, Box<dyn Error>> {
        let chain = Chain::new(self.categories, &[law.report()])?;
        let mut entropy = Seeded::new(1);
        let mut reports = vec![0; values.len() * law.words()];
        let mut row = Fastest::default();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            chain.fill(values, &mut reports, &mut entropy)?;
            let drawn = start.elapsed().as_secs_f64();
            let mut tally = Tally::new(law);
            tally.add(&reports)?;
            black_box(tally.estimates().consistent());
            row.take(drawn, start.elapsed().as_secs_f64());
        }
        Ok(row.row(what, self.users))
    }

    /// Reports of twenty tiers, planned, for a tenth of the users.
    fn tiers(&self, values: &[u32]) -> Result<Row, Box<dyn Error>> {
        let users = self.users / 10;
        let values = &values[..users as usize];
        let tiers = (1..=20)
            .map(|tier| format!("{}.{}", tier * 4 / 10, tier * 4 % 10).parse())
            .collect::<Result<Vec<Amount<Epsilon>>, _>>()?;
        let mut entropy = Seeded::new(2);
        let mut fastest = Fastest::default();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let plan = Plan::new(self.categories, &tiers, Method::Planned)?;
            let chain = plan.chain();
            let row = chain.words() * chain.reports();
            let mut reports = vec![0; values.len() * row];
            chain.fill(values, &mut reports, &mut entropy)?;
            let drawn = start.elapsed().as_secs_f64();
            // Somebody who may see the finest counts that.
            let law = Law::new(self.categories, chain.law(0).ok_or("an empty chain")?)?;
            let mut tally = Tally::new(law);
            for reports in reports.chunks_exact(row) {
                tally.add(&reports[..chain.words()])?;
            }
            black_box(tally.estimates().consistent());
            fastest.take(drawn, start.elapsed().as_secs_f64());
        }
        Ok(fastest.row(format!("20 tiers, planned, {users} users"), users))
    }

    /// The same with doubles and a shuffle.
    #[expect(clippy::cast_precision_loss, reason = "doubles are what is measured")]
    fn textbook(&self, values: &[u32], size: u32, epsilon: f64) -> Row {
        let (d, k) = (f64::from(self.categories), f64::from(size));
        let hit = k * epsilon.exp() / (k * epsilon.exp() + d - k);
        let miss = (k - hit) / (d - 1.0);
        let mut entropy = Seeded::new(3);
        let words = (self.categories as usize).div_ceil(64);
        let mut reports = vec![0u64; values.len() * words];
        let mut order: Vec<u32> = (0..self.categories).collect();
        let mut fastest = Fastest::default();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut uniform = || (entropy.word() >> 11) as f64 / 9_007_199_254_740_992.0;
            for (&value, report) in values.iter().zip(reports.chunks_exact_mut(words)) {
                report.fill(0);
                let holds = uniform() < hit;
                let (mut left, mut at) = (if holds { size - 1 } else { size }, 0);
                if holds {
                    report[value as usize / 64] |= 1 << (value % 64);
                }
                while left > 0 {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "below the number of categories"
                    )]
                    let other = at + (uniform() * (order.len() - at) as f64) as usize;
                    order.swap(at, other);
                    let category = order[at];
                    at += 1;
                    if category != value {
                        report[category as usize / 64] |= 1 << (category % 64);
                        left -= 1;
                    }
                }
            }
            let drawn = start.elapsed().as_secs_f64();
            let mut counts = vec![0u32; self.categories as usize];
            for report in reports.chunks_exact(words) {
                for (category, count) in counts.iter_mut().enumerate() {
                    *count += u32::from(report[category / 64] >> (category % 64) & 1 == 1);
                }
            }
            let n = f64::from(self.users);
            let estimates: Vec<f64> =
                counts.iter().map(|&count| (f64::from(count) - n * miss) / (hit - miss)).collect();
            black_box(estimates);
            fastest.take(drawn, start.elapsed().as_secs_f64());
        }
        let mut row = fastest.row(format!("textbook, doubles, sets of {size}"), self.users);
        row.ratio = Some(1.0);
        row
    }
}

/// The least seconds that drawing took, counting, and both.
struct Fastest {
    drawn: f64,
    counted: f64,
    both: f64,
}

impl Default for Fastest {
    fn default() -> Self {
        Self { drawn: f64::INFINITY, counted: f64::INFINITY, both: f64::INFINITY }
    }
}

impl Fastest {
    fn take(&mut self, drawn: f64, both: f64) {
        self.drawn = self.drawn.min(drawn);
        self.counted = self.counted.min(both - drawn);
        self.both = self.both.min(both);
    }

    fn row(&self, what: String, users: u32) -> Row {
        let rate = |seconds: f64| f64::from(users) / seconds;
        let (drawn, counted, both) = (rate(self.drawn), rate(self.counted), rate(self.both));
        Row { what, drawn, counted, both, ratio: None }
    }
}
