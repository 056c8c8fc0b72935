//! `eke local`: reports about categories that devices randomize themselves.

mod simulate;

use std::io::Write;

use clap::{Args, Subcommand};
use eke_budget::{Amount, Epsilon};
use eke_local::Plan as TierPlan;
use eke_noise::local::ReportLaw;
use serde::Serialize;

use crate::Failure;
use crate::input::usage::usage;
use crate::show::{Table, print_json};

/// The commands of the local model.
#[derive(Subcommand)]
pub(crate) enum Local {
    /// Plan one chain of reports for several tiers, and say how good each tier's report is.
    #[command(after_help = "\
A device draws the chain once. Every tier sees one report of it, and all of them together reveal\n\
no more than the finest. The ratio is a tier's error divided by the error of a report made for that\n\
tier alone.")]
    Plan(Plan),
    /// Simulate devices of synthetic people, and show how far the estimates are off.
    Simulate(simulate::Simulate),
}

impl Local {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self {
            Self::Plan(plan) => plan.run(out),
            Self::Simulate(simulate) => simulate.run(out),
        }
    }
}

/// For whom, and how.
#[derive(Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    reports: Reports,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What is reported, to which tiers.
#[derive(Args)]
struct Reports {
    /// The epsilon of each tier, separated by commas.
    #[arg(
        long,
        value_name = "E,E,…",
        value_delimiter = ',',
        required = true,
        allow_hyphen_values = true
    )]
    tiers: Vec<Epsilon>,
    /// How many categories there are.
    #[arg(long, value_name = "D")]
    categories: u32,
    /// How the reports are chosen.
    #[arg(long, value_enum, default_value_t = Method::Planned)]
    method: Method,
}

impl Reports {
    fn amounts(&self) -> Vec<Amount<Epsilon>> {
        self.tiers.iter().map(|&tier| Amount::at_most(tier)).collect()
    }
}

mirrored!(Method for eke_local::Method {
    /// Subsets, sized so that the worst tier is as good as possible
    Planned,
    /// Subsets, by the improved templates of the multi-tier paper
    Improved,
    /// Subsets, by the paper's first templates
    Reference,
    /// One category in each report: generalized randomized response
    RandomizedResponse,
    /// Hashed values (local hashing), sized so that the worst tier is as good as possible
    Hash,
    /// Hashed values (local hashing), as in the paper
    HashReference,
    /// One bit for each category: binary randomized response
    Bits,
});

#[derive(Serialize)]
struct Planned {
    categories: u32,
    method: eke_local::Method,
    /// What the whole chain costs.
    epsilon: f64,
    /// The largest ratio.
    worst: f64,
    tiers: Vec<Tier>,
}

#[derive(Serialize)]
struct Tier {
    epsilon: f64,
    /// What its report costs.
    level: f64,
    /// How many categories its report names; how many values a hash has, or how many bits a report.
    size: u32,
    mse: f64,
    ratio: f64,
}

fn size(categories: u32, law: ReportLaw) -> u32 {
    match law {
        ReportLaw::Subset(template) => template.size,
        ReportLaw::Hash(template) => 1 << template.bits,
        ReportLaw::Bits(_) => categories,
    }
}

impl Plan {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let Reports { tiers, categories, method } = &self.reports;
        let (categories, method) = (*categories, eke_local::Method::from(*method));
        let plan = TierPlan::new(categories, &self.reports.amounts(), method).map_err(usage)?;
        let rows: Vec<Tier> = plan
            .tiers()
            .iter()
            .zip(tiers)
            .map(|(tier, asked)| Tier {
                epsilon: asked.get(),
                level: tier.law.epsilon().to_f64_up().min(asked.get()),
                size: size(categories, tier.law),
                mse: tier.variance,
                ratio: tier.ratio,
            })
            .collect();
        let (epsilon, worst) = (plan.chain().price().to_f64_up(), plan.worst());
        if self.json {
            let planned = Planned { categories, method, epsilon, worst, tiers: rows };
            return print_json(out, &planned);
        }
        let mut table =
            Table::new(&["tier", "level", "size", "error", "ratio"]).with_numbers([0, 1, 2, 3, 4]);
        for Tier { epsilon, level, size, mse, ratio } in rows {
            table.row([
                epsilon.to_string(),
                format!("{level:.4}"),
                size.to_string(),
                format!("{mse:.4}"),
                format!("{ratio:.4}"),
            ]);
        }
        table.print(out)?;
        writeln!(
            out,
            "{categories} categories; the whole chain costs epsilon {epsilon}, which is its finest tier's",
        )?;
        writeln!(
            out,
            "error: squared, summed over categories, of one report; the worst tier has {worst:.4} times that of a report for it alone"
        )?;
        Ok(())
    }
}
