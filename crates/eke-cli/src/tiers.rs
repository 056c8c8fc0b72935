//! `eke tiers`: one number for several audiences, each as precise as it may be told.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use eke_budget::{Delta, Epsilon, L1};
use eke_noise::{
    Colluders, Confidence, Loss, SystemEntropy, Tier, TierError, TierLaw, TierPlan, Tiers as Told,
};

use crate::Failure;
use crate::ask::confidence;
use crate::number::{estimate, grouped, short};
use crate::table::Table;

/// What to tell, and to whom.
#[derive(Args)]
#[command(after_help = "\
Example:
  eke tiers --law geometric --value 1234 --sensitivity 1 --tiers 2,1,0.5,0.1
All answers are points of one noise path: whoever compares some of them learns what the finest of those tells.
The number and what becomes of it are not recorded: run it once, and give each audience its answer. docs/tiers.md
says which law to take.")]
pub(crate) struct Tiers {
    /// The law of the noise.
    #[arg(long, value_enum)]
    law: LawArg,
    /// The number to tell.
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_hyphen_values = true)]
    value: f64,
    /// What one unit changes the number by, at most.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: L1,
    /// What each audience may know: epsilons with commas between them.
    #[arg(
        long,
        value_name = "E,E",
        value_delimiter = ',',
        required = true,
        allow_hyphen_values = true
    )]
    tiers: Vec<Epsilon>,
    /// The delta of each epsilon, for laws that need one [default: 1e-6]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// How sure each interval is.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    confidence: Confidence,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LawArg {
    /// For counts: pure epsilon
    Geometric,
    /// For any number: pure epsilon
    Laplace,
    /// For any number: epsilon at a delta, and rarely far off
    Gaussian,
    /// For integers, as sums of many parties' noise: epsilon at a delta
    Skellam,
    /// For integers that one unit changes by a few: pure epsilon, best where that is large
    Msdlap,
}

impl LawArg {
    fn law(self) -> TierLaw {
        match self {
            Self::Geometric => TierLaw::Geometric,
            Self::Laplace => TierLaw::Laplace,
            Self::Gaussian => TierLaw::Gaussian,
            Self::Skellam => TierLaw::Skellam,
            Self::Msdlap => TierLaw::Msdlap,
        }
    }
}

/// So many tiers have a line for any two of them.
const FEW: usize = 5;

impl Tiers {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let told = self.tell()?;
        if self.json {
            serde_json::to_writer(&mut *out, &told).map_err(io::Error::from)?;
            return Ok(writeln!(out)?);
        }
        let Told { charged, independent, .. } = &told;
        self.answers(&told, out)?;
        writeln!(out)?;
        if told.tiers.len() == 1 {
            return Ok(writeln!(out, "Charged: {}.", loss(charged))?);
        }
        self.colluders(&told, out)?;
        writeln!(out)?;
        let times = independent.epsilon.get() / charged.epsilon.get();
        writeln!(
            out,
            "Charged: {}, the price of the finest. Independent answers: {}, {} times as much.",
            loss(charged),
            loss(independent),
            short(times)
        )?;
        Ok(())
    }

    fn tell(&self) -> Result<Told, Failure> {
        let law = self.law.law();
        if law.is_pure() && self.delta.is_some() {
            let sentence =
                format!("{} noise is pure and has no delta: leave out --delta", law.name());
            return Err(Failure::Usage(sentence));
        }
        let delta = match self.delta {
            Some(delta) => delta,
            None => Delta::new(1e-6).map_err(|error| Failure::Failed(error.into()))?,
        };
        let plan = TierPlan {
            law,
            sensitivity: self.sensitivity,
            tiers: self.tiers.clone(),
            delta,
            confidence: self.confidence,
        };
        let mut entropy = SystemEntropy::new().map_err(|error| Failure::Failed(error.into()))?;
        plan.release(self.value, &mut entropy).map_err(|error| match error {
            error @ TierError::Draw(_) => Failure::Failed(error.into()),
            error => Failure::Usage(error.to_string()),
        })
    }

    fn answers(&self, told: &Told, out: &mut impl Write) -> io::Result<()> {
        let interval = format!("{}% interval", short(told.confidence * 100.0));
        let mut table = Table::new(&["tier", "value", &interval, "deviation", "costs alone"])
            .with_numbers([0, 1, 3]);
        for (tier, asked) in told.tiers.iter().zip(&self.tiers) {
            let (value, interval) = shown(tier);
            let deviation = short(tier.deviation);
            table.row([up(*asked), value, interval, deviation, alone(&tier.alone)]);
        }
        table.print(out)
    }

    /// Any two where they are few, and otherwise the finest with each of the others; and all of them.
    fn colluders(&self, told: &Told, out: &mut impl Write) -> io::Result<()> {
        let mut table = Table::new(&["who compares", "learns", "from independent answers"]);
        let finest = (0..self.tiers.len()).max_by(|&a, &b| self.tiers[a].cmp(&self.tiers[b]));
        let few = told.tiers.len() <= FEW;
        for Colluders { tiers: [one, other], together, independent } in &told.colluders {
            if few || finest == Some(*one) || finest == Some(*other) {
                let who = format!("{} and {}", up(self.tiers[*one]), up(self.tiers[*other]));
                table.row([who, loss(together), loss(independent)]);
            }
        }
        table.row(["all".to_owned(), loss(&told.charged), loss(&told.independent)]);
        table.print(out)
    }
}

/// A value and its interval: integers as they are.
fn shown(tier: &Tier) -> (String, String) {
    let Tier { value, low, high, .. } = *tier;
    if [value, low, high].iter().all(|number| number.fract() == 0.0) {
        return (grouped(value, 0), format!("{} to {}", grouped(low, 0), grouped(high, 0)));
    }
    estimate(value, low, high)
}

/// `epsilon 2`, or `epsilon 2 at delta 1e-6`.
fn loss(loss: &Loss) -> String {
    let epsilon = format!("epsilon {}", up(loss.epsilon));
    match loss.delta {
        None => epsilon,
        Some(delta) => format!("{epsilon} at delta {}", short(delta.get())),
    }
}

/// The same, with rho before it where there is one.
fn alone(alone: &Loss) -> String {
    match alone.rho {
        None => loss(alone),
        Some(rho) => format!("rho {} ({})", short(rho.get()), loss(alone)),
    }
}

/// An epsilon as it was written, or else in four digits, never too small.
fn up(epsilon: Epsilon) -> String {
    let written = epsilon.to_string();
    if written.len() <= 8 {
        return written.strip_suffix(".0").unwrap_or(&written).to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = epsilon.get().log10().floor() as i32;
    let scale = 10f64.powi(3 - digits);
    let rounded = (epsilon.get() * scale * (1.0 - 1e-12)).ceil() / scale;
    if (-4..6).contains(&digits) {
        let places = usize::try_from(3 - digits).unwrap_or(0);
        let text = format!("{rounded:.places$}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{rounded:.3e}")
}

/// Any number; whether it can be told is for the plan to say.
fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number: write one like 1234"))
}
