//! `eke local simulate`: a collection from beginning to end, on made-up people.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use eke_local::Simulation;
use eke_local::estimate::Over;
use eke_local::fleet::Simulated;
use eke_noise::{Confidence, SystemEntropy};
use eke_plot::plot::{Lines, Plot, Scale};
use serde::Serialize;

use super::Reports;
use crate::Failure;
use crate::input::goal::confidence;
use crate::input::usage::usage;
use crate::show::number::{grouped, short};
use crate::show::{Table, print_json};

/// Whom to ask, and how.
#[derive(Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    reports: Reports,
    /// How many people are asked.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    users: u32,
    /// How uneven the categories are: the i-th has a share proportional to 1/i^SKEW.
    #[arg(long, value_name = "SKEW", default_value_t = 1.0, allow_hyphen_values = true)]
    skew: f64,
    /// The confidence of each interval on its own.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    confidence: Confidence,
    /// The number of categories to show.
    #[arg(long, value_name = "K", default_value_t = 10)]
    top: usize,
    /// Draw a figure of the estimates into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Told {
    categories: u32,
    users: u32,
    method: eke_local::Method,
    /// What everybody has spent.
    spent: f64,
    truth: Vec<u64>,
    tiers: Vec<TierTold>,
}

#[derive(Serialize)]
struct TierTold {
    epsilon: f64,
    /// What its reports cost.
    level: f64,
    /// How far estimates are off: the root of the mean square over categories.
    error: f64,
    expected: f64,
    /// How many categories' intervals hold.
    held: u32,
    estimates: Vec<f64>,
    intervals: Vec<(u64, u64)>,
}

impl Simulate {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let simulation = Simulation {
            categories: self.reports.categories,
            tiers: self.reports.amounts(),
            method: self.reports.method.into(),
            users: self.users,
            skew: self.skew,
        };
        let mut entropy = SystemEntropy::new().map_err(|error| Failure::Failed(error.into()))?;
        let bar = crate::show::bar::bar("tiers");
        let progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let simulated = simulation.run(self.confidence, &progress, &mut entropy);
        bar.finish_and_clear();
        let simulated = simulated.map_err(usage)?;
        if let Some(file) = &self.svg {
            fs::write(file, self.figure(&simulated)).map_err(|error| {
                let sentence = format!("{} could not be written: {error}", file.display());
                Failure::Failed(sentence.into())
            })?;
        }
        if self.json { self.tell(out, &simulated) } else { self.show(out, &simulated) }
    }

    fn tell(&self, out: &mut impl Write, simulated: &Simulated) -> Result<(), Failure> {
        let tiers = simulated.tiers.iter().map(|tier| TierTold {
            epsilon: tier.epsilon.to_f64(),
            level: tier.level.to_f64_up().min(tier.epsilon.to_f64()),
            error: tier.error,
            expected: tier.expected,
            held: tier.held,
            estimates: tier.estimates.all_users(),
            intervals: (0..self.reports.categories)
                .filter_map(|category| {
                    let interval =
                        tier.estimates.interval(category, self.confidence, Over::Each)?;
                    Some((interval.low, interval.high))
                })
                .collect(),
        });
        let told = Told {
            categories: self.reports.categories,
            users: self.users,
            method: self.reports.method.into(),
            spent: simulated.spent.to_f64(),
            truth: simulated.truth.clone(),
            tiers: tiers.collect(),
        };
        print_json(out, &told)
    }

    fn show(&self, out: &mut impl Write, simulated: &Simulated) -> Result<(), Failure> {
        let percent = short(self.confidence.get() * 100.0);
        let mut table = Table::new(&["tier", "level", "off by", "expected", "intervals that hold"])
            .with_numbers([0, 1, 2, 3, 4]);
        for tier in &simulated.tiers {
            table.row([
                tier.epsilon.to_string(),
                format!("{:.4}", tier.level.to_f64()),
                short(tier.error),
                short(tier.expected),
                format!("{} of {}", tier.held, self.reports.categories),
            ]);
        }
        table.print(out)?;
        writeln!(
            out,
            "{} users, {} categories; everybody has spent epsilon {}; {percent}% intervals, each on its own",
            grouped(f64::from(self.users), 0),
            self.reports.categories,
            simulated.spent
        )?;
        writeln!(out, "off by: users, as the root of the mean square over categories")?;
        writeln!(out)?;
        let mut head = vec!["category".to_owned(), "users".to_owned()];
        head.extend(simulated.tiers.iter().map(|tier| format!("at {}", tier.epsilon)));
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut table = Table::new(&head).with_numbers(0..head.len());
        for (category, &users) in (0..self.reports.categories).zip(&simulated.truth).take(self.top)
        {
            let mut row = vec![category.to_string(), grouped(users as f64, 0)];
            for tier in &simulated.tiers {
                let interval = tier.estimates.interval(category, self.confidence, Over::Each);
                let cell = match (tier.estimates.users(category), interval) {
                    (Some(users), Some(interval)) => format!(
                        "{} ({} to {})",
                        grouped(users, 0),
                        grouped(interval.low as f64, 0),
                        grouped(interval.high as f64, 0)
                    ),
                    _ => String::new(),
                };
                row.push(cell);
            }
            table.row(row);
        }
        table.print(out)?;
        if let Some(file) = &self.svg {
            writeln!(out, "\nthe figure is {}", file.display())?;
        }
        Ok(())
    }

    /// A panel for every tier: what people hold, and what is estimated.
    fn figure(&self, simulated: &Simulated) -> String {
        let shown = simulated.truth.len().min(64);
        let line = |values: Vec<f64>| -> Vec<(f64, f64)> {
            values.into_iter().take(shown).enumerate().map(|(i, v)| (i as f64, v)).collect()
        };
        let truth = || line(simulated.truth.iter().map(|&users| users as f64).collect());
        let panels = simulated.tiers.iter().map(|tier| Lines {
            title: format!("epsilon {}", tier.epsilon),
            lines: vec![
                truth(),
                line(tier.estimates.all_users()),
                line(tier.estimates.consistent()),
            ],
        });
        let plot = Plot {
            title: format!(
                "{} people asked about {} categories",
                grouped(f64::from(self.users), 0),
                self.reports.categories
            ),
            across: "category".to_owned(),
            upwards: "people".to_owned(),
            scales: (Scale::Linear, Scale::Linear),
            columns: 3,
            lines: ["what they hold", "estimated", "made consistent"].map(str::to_owned).to_vec(),
            panels: panels.collect(),
        };
        plot.finish()
    }
}
