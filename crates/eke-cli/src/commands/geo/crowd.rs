//! What questions to many people have in common: where places and accounts lie, what it may cost,
//! how people are asked, and how what came of it is shown.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use eke_budget::{Amount, Delta, Epsilon, Metres, Rho};
use eke_engine::geo::{
    CrowdAnswer, CrowdAnswered, CrowdAsking, CrowdQuestion, People, PeopleOpening, PlaceColumns,
    PlaceFile, write_whole,
};
use eke_geo::crowd::{Rule, Split, Way};
use eke_geo::width::Miss;
use eke_geo::{Level, Plan, Region};
use eke_plot::histogram::Histogram;
use eke_plot::map::{Layer, Map, Things};
use indicatif::ProgressBar;

use super::{reading, region};
use crate::Failure;
use crate::input::usage::usage;
use crate::show::bar::style;
use crate::show::number::{self, percent, short};
use crate::show::print_json;
use crate::terminal::stop::Stop;

/// How wide the longest bar is, in characters.
const WIDEST: usize = 40;
/// How many people are drawn on a map, at most.
const MOST_DOTS: usize = 2_000;
/// The distance at which a price is shown as an epsilon, in metres.
const EXAMPLE: f64 = 100.0;

/// Who is asked, what it may cost them, and how.
#[derive(Args)]
pub(crate) struct Crowd {
    /// A file of people's places: CSV, Parquet, or points in GeoJSON. The last row of a person
    /// counts.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file with the accounts of all people (the register).
    #[arg(long, value_name = "FILE", default_value = "people.ledger")]
    ledger: PathBuf,
    /// The public region of the people, fixed for the register: longitude,latitude,metres for a
    /// disc, or west,south,east,north. Needed for the first question.
    #[arg(long, value_name = "LON,LAT,METRES", value_parser = region, allow_hyphen_values = true)]
    region: Option<Region>,
    /// The whole budget of each person, rho per square metre. Needed for people who have no account
    /// yet.
    #[arg(long, value_name = "RHO", value_parser = rho)]
    budget: Option<Rho>,
    /// With --region: the least distance that counts: nearer places count as this far apart, in
    /// metres [default: 1]
    #[arg(long, value_name = "METRES", requires = "region")]
    least: Option<Metres>,
    /// With --region: the largest distance between places that the promise covers [default: all of
    /// the region]
    #[arg(long, value_name = "METRES", requires = "region")]
    reach: Option<Metres>,
    /// The most that the question may cost each person, rho per square metre.
    #[arg(long, value_name = "RHO", value_parser = rho, conflicts_with = "radius")]
    rho: Option<Rho>,
    /// With --level: the radius within which places must be hard to distinguish, in metres.
    #[arg(long, value_name = "METRES", requires = "level")]
    radius: Option<Metres>,
    /// The largest epsilon between places within the radius.
    #[arg(long, value_name = "EPSILON", requires = "radius")]
    level: Option<Epsilon>,
    /// The probability that a level fails.
    #[arg(long, value_name = "DELTA", default_value = "1e-6")]
    delta: Delta,
    /// What noise is added to.
    #[arg(long, value_enum, default_value_t = WayName::Distance)]
    way: WayName,
    #[command(flatten)]
    walking: Walking,
    /// The name of this version of the places: places that have changed need another name [default:
    /// that of the file]
    #[arg(long, value_name = "NAME")]
    snapshot: Option<String>,
    /// The column of people's ids.
    #[arg(long, value_name = "COLUMN", default_value = "id")]
    id: String,
    /// The column of times: the latest place of a person counts, instead of the last row.
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// The column of longitudes, in degrees [default: longitude, lon or lng]
    #[arg(long, value_name = "COLUMN")]
    longitude: Option<String>,
    /// The column of latitudes, in degrees [default: latitude or lat]
    #[arg(long, value_name = "COLUMN")]
    latitude: Option<String>,
    /// Draw a map of the question as SVG, and with --way point of the released places.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Draw a histogram of how much of the price people saved, as SVG.
    #[arg(long, value_name = "FILE")]
    savings: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The rule for stopping, and the number of rounds.
#[derive(Args)]
pub(super) struct Walking {
    /// Who stops early.
    #[arg(long, value_enum, default_value_t = RuleName::Ours)]
    rule: RuleName,
    /// The largest number of rounds [default: 31, and 64 with --rule paper]
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// The probability that stopping early may change the answer.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    beta: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleName {
    /// People who would hardly change the answer by going on
    Ours,
    /// People who are decided beyond doubt, as in the paper
    Paper,
    /// Nobody: the whole price is spent in one round
    Once,
}

mirrored!(WayName for Way {
    /// The distance that the question is about
    Distance,
    /// The place: later questions about the same places go on from what is known
    Point,
});

impl Crowd {
    /// The probability that the classification of people may be wrong.
    pub(super) fn beta(&self) -> f64 {
        self.walking.beta
    }

    /// Asks, and shows what came of it; the first lines are the question's own.
    pub(crate) fn run<W: Write>(
        &self,
        question: CrowdQuestion,
        out: &mut W,
        show: impl FnOnce(&CrowdAnswered, &mut W) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let plan = Plan { way: self.way.into(), ..self.walking.plan()? };
        let allowance = self.allowance()?;
        let columns = PlaceColumns {
            longitude: self.longitude.clone(),
            latitude: self.latitude.clone(),
            id: Some(self.id.clone()),
            time: self.time.clone(),
        };
        let places = PlaceFile::open(&self.file, &columns)?;
        let (least, reach) = (self.least, self.reach);
        let opening = self.region.map(|region| PeopleOpening { region, least, reach });
        if !self.ledger.exists() && opening.is_some() {
            // What accounts are made for is for good, so nothing is made that cannot be asked.
            places.check_degrees()?;
            if self.budget.is_none() {
                return Err(Failure::Usage(format!(
                    "there are no accounts in {} yet: give everybody one with --budget, which is for good",
                    self.ledger.display()
                )));
            }
        }
        let mut people = People::open(&self.ledger, opening.as_ref())?;
        super::say_exposed(&eke_ledger::Address::File(self.ledger.clone()));
        let asking = CrowdAsking {
            question,
            allowance: Amount::at_most(allowance),
            plan,
            snapshot: self.snapshot.clone(),
            budget: self.budget.map(Amount::at_most),
        };
        let bar = reading();
        let rounds = bar.clone();
        people.watch_rounds(move |round, of, people| show_round(&rounds, round, of, people));
        // Ctrl-C waits until everybody's account is settled.
        let _stop = Stop::listen();
        let answered = people.ask(&places, &asking, &|rows| bar.set_position(rows));
        bar.finish_and_clear();
        let answered = answered?;
        if let Some(file) = &self.map {
            let name = self.snapshot.as_deref().unwrap_or(places.name());
            write_whole(file, &map(&mut people, name, &asking.question)?.finish())?;
        }
        if let Some(file) = &self.savings {
            write_whole(file, &histogram(&answered).finish())?;
        }
        if self.json {
            return print_json(out, &answered);
        }
        show(&answered, out)?;
        Ok(self.print(&answered, allowance, out)?)
    }

    fn allowance(&self) -> Result<Rho, Failure> {
        match (self.rho, self.radius.zip(self.level)) {
            (Some(rho), _) => Ok(rho),
            (None, Some((radius, level))) => Level { radius, level }.rho(self.delta).map_err(usage),
            (None, None) => Err(Failure::Usage(
                "what may it cost each person? say it with --rho 1e-5, or --radius 200 --level 1.4"
                    .into(),
            )),
        }
    }

    fn print(
        &self,
        answered: &CrowdAnswered,
        allowance: Rho,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (answer, left) = (&answered.answer, &answered.left);
        write!(out, "  asked  {} people", answer.people)?;
        match answer.short {
            0 => writeln!(out)?,
            short => writeln!(out, ", {short} of whom had less left than it may cost")?,
        }
        writeln!(
            out,
            "  price  at most rho {} per square metre each{}",
            short(allowance.get()),
            self.level_of(allowance)
        )?;
        let all = Rho::new(left.budget).map_or_else(|_| String::new(), |rho| self.level_of(rho));
        writeln!(out, "  budget rho {} for all questions together{all}", short(left.budget))?;
        if answered.free {
            writeln!(out, "  cost   nothing: it was answered before")?;
        } else {
            writeln!(
                out,
                "  cost   rho {} on average; {} of the price was saved (a quarter saved {} or less, half {}, three quarters {})",
                short(answer.cost),
                percent(answer.saved.mean, 1.0),
                percent(answer.saved.quarter, 1.0),
                percent(answer.saved.half, 1.0),
                percent(answer.saved.three_quarters, 1.0)
            )?;
        }
        writeln!(
            out,
            "  left   rho {} to {}; a quarter have {} or less, half {}, three quarters {}",
            short(left.least),
            short(left.most),
            short(left.quarter),
            short(left.half),
            short(left.three_quarters)
        )?;
        if answered.free {
            return Ok(());
        }
        writeln!(out)?;
        writeln!(out, "  saved           people")?;
        let most = answer.saved.tenths.iter().copied().max().unwrap_or(0).max(1) as usize;
        for (tenth, &people) in answer.saved.tenths.iter().enumerate() {
            let bar = "█".repeat((people as usize * WIDEST).div_ceil(most));
            let line =
                format!("  {:>2} to {:>3} %  {people:>9}  {bar}", tenth * 10, tenth * 10 + 10);
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// What a rho means for places that are some way apart, in words.
    fn level_of(&self, rho: Rho) -> String {
        let level = Metres::new(EXAMPLE)
            .ok()
            .and_then(|radius| Level::of_rho(rho, self.delta, radius).ok());
        level.map_or_else(String::new, |level| {
            format!(
                ": epsilon {} at {EXAMPLE} m, except with probability {}",
                short(level.level.get()),
                short(self.delta.get())
            )
        })
    }
}

impl Walking {
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let beta = Miss::new(self.beta).map_err(usage)?;
        let (rule, split) = match (self.rule, self.rounds) {
            (RuleName::Once, None | Some(1)) => (Rule::Once, Split::Even(1)),
            (RuleName::Once, Some(_)) => {
                return Err(Failure::Usage("--rule once is one round: leave --rounds out".into()));
            }
            (RuleName::Paper, rounds) => (Rule::Paper, Split::Even(rounds.unwrap_or(64))),
            (RuleName::Ours, None) => (Rule::Ours, Plan::default().split),
            (RuleName::Ours, Some(rounds)) => {
                // Ten doublings, or as many as there are rounds for.
                let ratio = 2f64.powf(10.0 / f64::from(rounds.max(2) - 1)).min(2.0);
                (Rule::Ours, Split::Geometric { rounds, ratio })
            }
        };
        Ok(Plan { way: Way::Distance, split, rule, beta })
    }
}

/// A bar of rounds, in place of what was shown before.
fn show_round(bar: &ProgressBar, round: usize, of: usize, people: usize) {
    style(bar, "{bar:40} round {pos} of {len}, {msg} {elapsed}");
    bar.set_length(u64::try_from(of).unwrap_or(u64::MAX));
    bar.set_message(format!("{people} people go on"));
    bar.set_position(u64::try_from(round).unwrap_or(u64::MAX));
}

/// An estimate and its interval.
pub(super) fn print_estimate(
    what: &str,
    answer: &CrowdAnswer,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(estimate) = answer.estimate else { return Ok(()) };
    let half = 2.0 * estimate.deviation;
    let (value, _) = number::estimate(estimate.value, estimate.value - half, estimate.value + half);
    writeln!(out, "  {value} {what}")?;
    match estimate.interval {
        Some([low, high]) => {
            let (_, interval) = number::estimate(estimate.value, low, high);
            writeln!(out, "  {interval} with 95 %, as far as noise goes")?;
        }
        None => writeln!(
            out,
            "  no interval: noise also shifts the number, by an amount that is not known"
        )?,
    }
    writeln!(out)
}

fn histogram(answered: &CrowdAnswered) -> Histogram {
    let tenths = answered.answer.saved.tenths;
    let bars = tenths.iter().enumerate();
    Histogram {
        title: "What people kept of what the question could have cost them".into(),
        across: "kept, in per cent".into(),
        upwards: "people".into(),
        bars: bars
            .map(|(tenth, &people)| {
                (format!("{}–{}", tenth * 10, tenth * 10 + 10), f64::from(people))
            })
            .collect(),
    }
}

/// What was asked, on the plane of the region, over what has been seen of people.
fn map(people: &mut People, name: &str, question: &CrowdQuestion) -> Result<Map, Failure> {
    let lattice = *people.lattice();
    let Some(region) = lattice.region() else {
        return Err(Failure::Usage("only places of a region are drawn".into()));
    };
    let pair = |[east, north]: [f64; 2]| (east, north);
    let ring = |centre: [f64; 2], radius: f64| -> Vec<(f64, f64)> {
        let corner = |n: u32| {
            let (sine, cosine) = (f64::from(n) * std::f64::consts::TAU / 128.0).sin_cos();
            (centre[0] + radius * cosine, centre[1] + radius * sine)
        };
        (0..=128).map(corner).collect()
    };
    let layer = |label: &str, things: Things| Layer { label: label.to_owned(), things };
    let mut layers =
        vec![layer("the region", Things::Lines(vec![ring([0.0; 2], region.radius().get())]))];
    let seen = people.released(name, MOST_DOTS)?;
    if !seen.is_empty() {
        let dots = seen.into_iter().map(pair).collect();
        layers.push(layer("where people were seen, with noise", Things::Dots(dots)));
    }
    let title = match question {
        CrowdQuestion::Count(area) => {
            let rings = area.shape(&lattice)?.outline(region.radius());
            let rings = rings.into_iter().map(|ring| ring.into_iter().map(pair).collect());
            layers.push(layer("the area", Things::Areas(rings.collect())));
            "People in an area"
        }
        &CrowdQuestion::Density { at, bandwidth } => {
            let at = region.project(at);
            layers.push(layer("the bandwidth", Things::Lines(vec![ring(at, bandwidth.get())])));
            layers.push(layer("the place", Things::Query(vec![pair(at)])));
            "People around a place"
        }
        &CrowdQuestion::Neighbours { to, .. } => {
            layers.push(layer("the place", Things::Query(vec![pair(region.project(to))])));
            "People nearest to a place"
        }
    };
    Ok(Map { title: title.into(), layers })
}

/// A rho, with its name or without.
pub(super) fn rho(text: &str) -> Result<Rho, String> {
    let number = text.strip_prefix("rho=").unwrap_or(text);
    number.parse().map_err(|error: eke_budget::number::ParameterError| error.to_string())
}
