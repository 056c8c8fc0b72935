//! `eke profile`: how many rows, groups and values the units of a dataset have, bought once, and
//! the bounds that follow for the policy.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use eke_engine::policy::{Policy, lines_of_bounds};
use eke_engine::profile::{BinnedCounts, ColumnProfile, Profile, ProfileRequest, ShareBetween};
use eke_engine::{EngineError, Who};
use eke_plot::histogram::Histogram;

use crate::Failure;
use crate::commands::ask::Asker;
use crate::input::goal::PriceArg;
use crate::show::number::{grouped, short};
use crate::show::{note, print_json};
use crate::terminal::progress::Progress;

/// Which dataset to look at.
#[derive(Args)]
#[command(after_help = "\
Examples:
  eke profile trips
  eke profile trips --price rho=0.0002 --keys zone,city --svg trips.svg
  eke profile trips --write
A profile is bought once and charged to everybody: to the unit, and to all analysts and circles,
also to later ones. Shown again it is free and the same. Analysts see it, for nothing more, where
the policy says publish_profile = true.")]
pub(crate) struct ProfileArgs {
    /// The dataset, by its name in the policy.
    dataset: String,
    /// What it may cost in all, such as rho=0.0002 [default: what was paid before, or 1 % of the
    /// smallest budget]
    #[arg(long, value_name = "PRICE")]
    price: Option<PriceArg>,
    /// The columns whose groups are counted [default: up to 3 that look like keys]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    keys: Option<Vec<String>>,
    /// The columns whose values are looked at [default: those that look like numbers to add up]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Put the bounds into the policy file. What else is in it stays as it is.
    #[arg(long, conflicts_with = "analyst")]
    write: bool,
    /// Draw the histograms into an SVG file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    asker: Asker,
}

impl ProfileArgs {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let who = self.asker.who();
        let policy = Policy::read(&self.asker.policy).map_err(EngineError::from)?;
        let sql = format!("SELECT COUNT(*) FROM \"{}\"", self.dataset.replace('"', "\"\""));
        let price = self.price.map(|price| price.in_rho(&policy, &sql, &who)).transpose()?;
        let request = ProfileRequest {
            dataset: self.dataset.clone(),
            price,
            keys: self.keys.clone().map(named),
            columns: self.columns.clone().map(named),
        };
        let engine = match who {
            Who::Steward => self.asker.engine()?,
            Who::Analyst(_) => self.asker.look()?,
        };
        let progress = Progress::new(self.yes);
        let profile = engine.profile(&request, &who, &progress);
        progress.bar.finish_and_clear();
        let profile = profile?;
        if let Some(file) = &self.svg {
            fs::write(file, figure(&profile))?;
        }
        if self.json {
            print_json(out, &profile)?;
        } else {
            print(&profile, out)?;
        }
        if self.write {
            self.write_bounds(&profile)?;
            eprintln!("eke: the bounds are in {}", self.asker.policy.display());
        }
        Ok(())
    }

    /// Puts the bounds into the policy file: all of it or none.
    fn write_bounds(&self, profile: &Profile) -> Result<(), Failure> {
        let path = &self.asker.policy;
        let text = fs::read_to_string(path)?;
        let edited = Policy::with_bounds(&text, path, &profile.dataset, &profile.proposal);
        let edited = edited.map_err(EngineError::from)?;
        Ok(replace(path, &edited)?)
    }
}

/// Names without what a list in a shell has around them; an empty list names nothing.
fn named(names: Vec<String>) -> Vec<String> {
    let names = names.into_iter().map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// Writes a file anew beside itself, and then in its place.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let mut beside = path.clone().into_os_string();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    fs::write(&beside, text)?;
    fs::set_permissions(&beside, fs::metadata(&path)?.permissions())?;
    fs::File::open(&beside)?.sync_all()?;
    fs::rename(&beside, &path)
}

fn print(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let Profile { dataset, snapshot, unit, rho, units, .. } = profile;
    let paid = if profile.free { "bought before, free now" } else { "charged now" };
    writeln!(
        out,
        "profile of {dataset}, snapshot {snapshot}: rho {} for every account of {unit}, {paid}",
        short(*rho)
    )?;
    writeln!(
        out,
        "{unit}s: {} (95 %: {} to {})",
        whole(units.value.max(0.0)),
        whole(units.low.max(0.0)),
        whole(units.high.max(0.0))
    )?;
    binned(&format!("rows of one {unit}"), &profile.rows, "rows", unit, out)?;
    for key in &profile.keys {
        let title = format!("groups of one {unit} by {}", key.column);
        binned(&title, &key.groups, "groups", unit, out)?;
    }
    for column in &profile.columns {
        values(column, profile, out)?;
    }
    if !profile.left_out.is_empty() {
        let names = profile.left_out.join(", ");
        writeln!(out)?;
        note("", &format!("not looked at: {names} (name columns with --columns)"), out)?;
    }
    writeln!(out, "\nproposed for the policy (--write puts it in):\n")?;
    for line in lines_of_bounds(dataset, &profile.proposal).lines() {
        writeln!(out, "{}", if line.is_empty() { String::new() } else { format!("  {line}") })?;
    }
    writeln!(out, "\nwith these bounds, all of the budget of {unit} for one question brings:\n")?;
    for noise in &profile.proposal.noise {
        writeln!(out, "  {}  ± {} in each group (95 %)", noise.total, short(noise.error))?;
    }
    Ok(())
}

/// A histogram of counts, as far as there is something in it.
fn binned(
    title: &str,
    counts: &BinnedCounts,
    what: &str,
    unit: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "\n{title} (noise ± {} a line)\n", whole(1.96 * counts.deviation))?;
    let shown = counted(counts);
    bars(&shown, out)?;
    writeln!(
        out,
        "\n  all but at most {} {unit}s have at most {} {what} (95 %)",
        whole(counts.at_most_beyond as f64),
        whole(f64::from(counts.bound))
    )
}

/// The bins up to a little beyond the bound, and those beyond together.
fn counted(counts: &BinnedCounts) -> Vec<(String, f64)> {
    let last = (counts.bound.ilog2() as usize + 2).min(counts.bins.len());
    let label = |bin: usize| match bin {
        0 => "1".to_owned(),
        1 => "2".to_owned(),
        bin => format!("to {}", whole(f64::from(u32::try_from(bin).unwrap_or(0)).exp2())),
    };
    let bins = counts.bins.iter().take(last).enumerate();
    bins.map(|(bin, &count)| (label(bin), count as f64)).collect()
}

fn values(column: &ColumnProfile, profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let (unit, name) = (&profile.unit, &column.column);
    writeln!(
        out,
        "\nvalues of {name}, one row a {unit} (noise ± {} a line)\n",
        whole(1.96 * column.deviation)
    )?;
    if !column.told {
        return writeln!(
            out,
            "  nothing shows above the noise, so no bounds are proposed: name fewer columns, or pay more"
        );
    }
    bars(&valued(column), out)?;
    writeln!(
        out,
        "\n  of the rows of those with at most {} rows, {} are NULL, and {} lie from {} to {} (95 %)",
        whole(f64::from(profile.rows.bound)),
        shares(column.nulls),
        shares(column.kept),
        short(column.min),
        short(column.max)
    )
}

/// The bins of values around the bounds.
fn valued(column: &ColumnProfile) -> Vec<(String, f64)> {
    let number = |text: &str| text.parse::<f64>().ok();
    // Eight powers below the larger bound, and one beyond each.
    let size = column.min.abs().max(column.max.abs());
    let is_shown = |text: &str| match number(text) {
        None => text == "NULL",
        Some(0.0) => true,
        Some(value) => {
            let beyond = value >= 2.0 * column.min && value <= 2.0 * column.max;
            beyond && value.abs() >= size / 256.0
        }
    };
    let label = |text: &str| match number(text) {
        Some(value) if value != 0.0 => format!("to {}", short(value)),
        _ => text.to_owned(),
    };
    let shown = column.bins.iter().filter(|bin| is_shown(&bin.up_to));
    shown.map(|bin| (label(&bin.up_to), bin.units as f64)).collect()
}

/// Lines of a label, a count as it was drawn and a bar.
fn bars(shown: &[(String, f64)], out: &mut impl Write) -> io::Result<()> {
    const WIDTH: f64 = 32.0;
    let most = shown.iter().map(|(_, count)| *count).fold(1.0, f64::max);
    let label = shown.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let counts: Vec<String> = shown.iter().map(|(_, count)| whole(*count)).collect();
    let digits = counts.iter().map(|count| count.chars().count()).max().unwrap_or(0);
    for ((name, count), text) in shown.iter().zip(&counts) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 32")]
        let marks = (count / most * WIDTH).round().clamp(0.0, WIDTH) as usize;
        let line = format!("  {name:>label$}  {text:>digits$}  {}", "#".repeat(marks));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn whole(value: f64) -> String {
    grouped(value, 0)
}

fn shares(share: ShareBetween) -> String {
    let percent = |share: f64| short((share * 1_000.0).round() / 10.0);
    format!("{} to {} %", percent(share.low), percent(share.high))
}

/// All histograms in one figure. Counts below zero have no bar.
fn figure(profile: &Profile) -> String {
    let unit = &profile.unit;
    let histogram = |title: String, across: &str, bars: Vec<(String, f64)>| Histogram {
        title,
        across: across.to_owned(),
        upwards: format!("{unit}s"),
        bars: bars.into_iter().map(|(label, count)| (label, count.max(0.0))).collect(),
    };
    let mut all = vec![histogram(format!("rows of one {unit}"), "rows", counted(&profile.rows))];
    for key in &profile.keys {
        let title = format!("groups of one {unit} by {}", key.column);
        all.push(histogram(title, "groups", counted(&key.groups)));
    }
    for column in profile.columns.iter().filter(|column| column.told) {
        let title = format!("values of {}, one row a {unit}", column.column);
        all.push(histogram(title, "values", valued(column)));
    }
    Histogram::stacked(&all)
}
