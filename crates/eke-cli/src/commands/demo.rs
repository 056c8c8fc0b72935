//! `eke demo`: a city made up for it, questions about it, and what they cost.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use eke_engine::ask::Kind;
use eke_engine::data::{City, Truth, write_city};
use eke_engine::{Accuracy, Answer, ColumnGoals, Engine, EngineError, Goal, Question, Who};
use eke_noise::{Confidence, Tolerance};

use crate::Failure;
use crate::commands::budget::bar;
use crate::show::Table;
use crate::show::answer::{counted, for_people, key, what_is_cut, why};
use crate::show::number::{cost, grouped, percent, short};

/// How large the city is, and where it is written.
#[derive(Args)]
pub(crate) struct Demo {
    /// The folder to write to [default: a new temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// How many riders the city has.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    riders: u32,
}

impl Demo {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let folder = self.folder.clone().unwrap_or_else(|| {
            std::env::temp_dir().join(format!("eke-demo-{}", std::process::id()))
        });
        if folder.join("eke.ledger").exists() {
            return Err(Failure::Failed(
                format!("there is a ledger in {} already: name another folder", folder.display())
                    .into(),
            ));
        }
        let start = Instant::now();
        let City { policy, truth } = write_city(&folder, self.riders)?;
        writeln!(
            out,
            "A city of {} riders and their {} trips, made up, is in {}",
            grouped(truth.riders as f64, 0),
            grouped(truth.trips as f64, 0),
            folder.display()
        )?;
        writeln!(
            out,
            "Every rider is promised epsilon 1 at delta 1e-6, for good, whatever is asked."
        )?;
        let engine = Engine::open(&policy)?;
        let mut story = Story { engine, truth, out, number: 0, eke: 0.0, alone: 0.0 };
        story.tell()?;
        writeln!(out, "\nAll of this took {:.1} s. Ask more:", start.elapsed().as_secs_f64())?;
        let policy = policy.display();
        writeln!(
            out,
            "  eke ask \"SELECT COUNT(*) FROM trips WHERE fare > 20\" --within 2% --policy {policy}"
        )?;
        writeln!(out, "  eke history --policy {policy}")?;
        Ok(())
    }
}

struct Story<'a, W> {
    engine: Engine,
    truth: Truth,
    out: &'a mut W,
    number: u32,
    /// What all answers cost the riders.
    eke: f64,
    /// What they would cost with fresh noise each.
    alone: f64,
}

const ALL: &str = "SELECT COUNT(*) FROM trips";
const DISTRICTS: &str =
    "SELECT district, COUNT(*) AS trips, AVG(fare) AS fare FROM trips GROUP BY district";
const NIGHT: &str = "SELECT COUNT(*) FROM trips WHERE EXTRACT(HOUR FROM started) < 5";

impl<W: Write> Story<'_, W> {
    fn tell(&mut self) -> Result<(), Failure> {
        let all = [vec![self.truth.trips as f64]];
        let night = [vec![self.truth.night_trips as f64]];
        let mut districts = self.truth.districts.clone();
        districts.sort_by(|one, other| one.0.cmp(&other.0));
        let fares =
            |(_, trips, fares): &(String, u64, f64)| vec![*trips as f64, fares / *trips as f64];
        let districts: Vec<Vec<f64>> = districts.iter().map(fares).collect();

        let say = "Ana wants to know how many trips there were, within 5 %.";
        self.ask(say, "ana", ALL, relative(0.05), &all)?;
        let say = "She asks the same again: the same answer, and free.";
        self.ask(say, "ana", ALL, relative(0.05), &all)?;
        let say = "Now within 0.5 %: on along the same path, for the difference.";
        self.ask(say, "ana", ALL, relative(0.005), &all)?;
        let say = "Bob, a partner, sees a coarser point of that path. The riders pay nothing more.";
        self.ask(say, "bob", ALL, relative(0.05), &all)?;
        let say = "Trips and fares by district. Each stops as soon as it is good enough.";
        self.ask(say, "ana", DISTRICTS, relative(0.1), &districts)?;
        let say = "Closer: districts that are good enough already cost nothing more.";
        self.ask(say, "ana", DISTRICTS, relative(0.05), &districts)?;
        let say = "Bob sees earlier points of the same paths.";
        self.ask(say, "bob", DISTRICTS, relative(0.1), &districts)?;
        let say = "Trips at night, within 2,000: one look, priced in advance.";
        self.ask(say, "ana", NIGHT, Some(Accuracy::Absolute(2_000.0)), &night)?;
        self.refuse()?;
        self.sum_up()
    }

    fn question(&self, who: &str, sql: &str, accuracy: Accuracy) -> Result<Question, Failure> {
        let confidence = Confidence::new(0.95).map_err(|error| Failure::Failed(error.into()))?;
        let goal = Goal { accuracy, floor: None, at_most: None, confidence };
        let (columns, who) = (ColumnGoals::default(), Who::Analyst(who.to_owned()));
        Ok(Question { sql: sql.to_owned(), goal, columns, who })
    }

    fn title(&mut self, title: &str, who: &str, sql: &str, accuracy: Accuracy) -> io::Result<()> {
        self.number += 1;
        let within = match accuracy {
            Accuracy::Relative(tolerance) => {
                format!("--within {}%", short(tolerance.get() * 100.0))
            }
            Accuracy::Absolute(error) => format!("--within {}", short(error).replace(',', "")),
            Accuracy::Price(price) => format!("--price rho={price}"),
        };
        writeln!(self.out, "\n{}. {title}", self.number)?;
        writeln!(self.out, "   eke ask \"{sql}\" {within} --as {who}")
    }

    fn ask(
        &mut self,
        title: &str,
        who: &str,
        sql: &str,
        accuracy: Option<Accuracy>,
        truth: &[Vec<f64>],
    ) -> Result<(), Failure> {
        let Some(accuracy) = accuracy else { return Ok(()) };
        self.title(title, who, sql, accuracy)?;
        let before = self.spent()?;
        let answer = self.engine.ask(&self.question(who, sql, accuracy)?, &())?;
        let paid = self.spent()? - before;
        self.eke += paid;
        self.alone += answer.alone.rho;
        self.table(&answer, truth)?;
        let whose = if who == "ana" { "Ana" } else { "Bob" };
        let price = if answer.free { "nothing".to_owned() } else { cost(&answer.cost) };
        writeln!(self.out, "   {whose} pays {price}; the riders {}", riders(paid))?;
        Ok(())
    }

    /// What the riders have spent so far.
    fn spent(&self) -> Result<f64, Failure> {
        let standings = self.engine.budget(&Who::Steward)?;
        Ok(standings.first().map_or(0.0, |standing| standing.spent.rho))
    }

    fn table(&mut self, answer: &Answer, truth: &[Vec<f64>]) -> io::Result<()> {
        let mut head = vec![""];
        let (mut numbers, mut parts) = (Vec::new(), Vec::new());
        for column in &answer.columns {
            match column.kind {
                Kind::Key => head.push(&column.name),
                Kind::Value => {
                    parts.push(head.len());
                    numbers.extend([head.len(), head.len() + 2]);
                    head.extend([&*column.name, "95% noise interval", "truth"]);
                }
                // The demonstration asks for values as they are.
                Kind::Low | Kind::High | Kind::Met => {}
            }
        }
        head.push("");
        let mut table = Table::new(&head).with_numbers(numbers).with_parts(parts);
        for (row, truth) in answer.rows.iter().zip(truth) {
            let mut cells = vec![String::new()];
            cells.extend(row.keys.iter().map(key));
            let columns = answer.columns.iter().filter(|column| column.kind == Kind::Value);
            for ((cell, truth), column) in row.values.iter().zip(truth).zip(columns) {
                match (cell.value, cell.low, cell.high) {
                    (Some(value), Some(low), Some(high)) => {
                        let (value, interval) = for_people([value, low, high], column);
                        let decimals = value.split_once('.').map_or(0, |(_, rest)| rest.len());
                        cells.extend([value, interval]);
                        cells.push(grouped(*truth, i32::try_from(decimals).unwrap_or(0)));
                    }
                    _ => cells.extend(["unknown".to_owned(), "any".to_owned(), grouped(*truth, 0)]),
                }
            }
            let unmet = row.values.iter().map(why).find(|why| !why.is_empty());
            cells.extend(unmet.map(str::to_owned));
            table.row(cells);
        }
        table.print(self.out)?;
        counted(answer, self.out)?;
        what_is_cut(answer, self.out)
    }

    /// What Bob may not see is refused, and costs nothing.
    fn refuse(&mut self) -> Result<(), Failure> {
        let accuracy = Accuracy::Absolute(100.0);
        self.title("Bob asks for more than partners may see.", "bob", NIGHT, accuracy)?;
        match self.engine.ask(&self.question("bob", NIGHT, accuracy)?, &()) {
            Err(EngineError::Refused(refused)) => Ok(writeln!(self.out, "   {refused}")?),
            Err(other) => Err(other.into()),
            Ok(_) => Err(Failure::Failed("it was answered, which is a defect of eke's".into())),
        }
    }

    fn sum_up(&mut self) -> Result<(), Failure> {
        let standings = self.engine.budget(&Who::Steward)?;
        let Some(standing) = standings.first() else { return Ok(()) };
        let (whole, spent) = (standing.budget.rho, standing.spent.rho);
        writeln!(
            self.out,
            "\nThe riders' budget {}  {} spent",
            bar(spent, 0.0, whole),
            percent(spent, whole)
        )?;
        writeln!(
            self.out,
            "With fresh noise for every answer the same answers would have cost rho {}, {} times as much.",
            short(self.alone),
            short(self.alone / self.eke.max(f64::MIN_POSITIVE))
        )?;
        Ok(())
    }
}

fn riders(paid: f64) -> String {
    if paid > 0.0 { format!("rho {}", short(paid)) } else { "nothing".to_owned() }
}

fn relative(tolerance: f64) -> Option<Accuracy> {
    Tolerance::new(tolerance).ok().map(Accuracy::Relative)
}
