//! `eke tiers`: one number for several audiences, each as precise as it may see it.

use std::io::{self, Write};

use clap::Args;
use eke_budget::{Delta, Epsilon, L1};
use eke_noise::release::{Colluders, Loss, Tier, TierError, TierLaw, Tiers as Told};
use eke_noise::{Confidence, SystemEntropy, TierPlan};

use crate::Failure;
use crate::input::goal::confidence;
use crate::show::number::{estimate, estimate_with_exponents, grouped, short, without_zeros};
use crate::show::{Table, print_json};

/// What to tell, and to whom.
#[derive(Args)]
#[command(after_help = "\
Example:
  eke tiers --law geometric --value 1234 --sensitivity 1 --tiers 2,1,0.5,0.1
All answers are points of one noise path: several of them together reveal no more than the finest.
Nothing is recorded: run the command once, and give each audience its answer. docs/tiers.md says
which law to choose.")]
pub(crate) struct Tiers {
    /// The law of the noise.
    #[arg(long, value_enum)]
    law: LawArg,
    /// The number to release.
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_hyphen_values = true)]
    value: f64,
    /// The most that one unit can change the number by (sensitivity).
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: L1,
    /// The epsilon of each audience, separated by commas.
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
    /// The confidence of each interval.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    confidence: Confidence,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

mirrored!(LawArg for TierLaw {
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
});

/// Up to this number of tiers, every pair has a line.
const FEW: usize = 5;

impl Tiers {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let told = self.tell()?;
        if self.json {
            return print_json(out, &told);
        }
        let Told { charged, independent, .. } = &told;
        self.answers(&told, out)?;
        writeln!(out)?;
        if told.tiers.len() == 1 {
            return Ok(writeln!(out, "Charged: {}.", self.loss(charged))?);
        }
        self.colluders(&told, out)?;
        writeln!(out)?;
        let more = independent.map_or_else(String::new, |independent| {
            match &*short(independent.epsilon.get() / charged.epsilon.get()) {
                "1" => ", less than 1 % more".to_owned(),
                times => format!(", {times} times as much"),
            }
        });
        writeln!(
            out,
            "Charged: {}, the price of the finest. Independent answers: {}{more}.",
            self.loss(charged),
            self.sum(independent.as_ref()),
        )?;
        Ok(())
    }

    fn tell(&self) -> Result<Told, Failure> {
        let law = TierLaw::from(self.law);
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
            .with_numbers([0, 1, 3])
            .with_parts([1, 3]);
        for (tier, asked) in told.tiers.iter().zip(&self.tiers) {
            let (value, interval) = shown(tier);
            let deviation = short(tier.deviation);
            let alone = self.alone(&tier.alone);
            table.row([self.label(*asked), value, interval, deviation, alone]);
        }
        table.print(out)
    }

    /// Every pair where there are few tiers, else the finest with each other tier; then all of
    /// them.
    fn colluders(&self, told: &Told, out: &mut impl Write) -> io::Result<()> {
        let mut table = Table::new(&["who compares", "learns", "from independent answers"]);
        let finest = (0..self.tiers.len()).max_by(|&a, &b| self.tiers[a].cmp(&self.tiers[b]));
        let few = told.tiers.len() <= FEW;
        for Colluders { tiers: [one, other], together, independent } in &told.colluders {
            if few || finest == Some(*one) || finest == Some(*other) {
                let [one, other] = [*one, *other].map(|tier| self.label(self.tiers[tier]));
                let independent = self.sum(independent.as_ref());
                table.row([format!("{one} and {other}"), self.loss(together), independent]);
            }
        }
        let independent = self.sum(told.independent.as_ref());
        table.row(["all".to_owned(), self.loss(&told.charged), independent]);
        table.print(out)
    }

    /// `epsilon 2`, or `epsilon 2 at delta 1e-6`.
    fn loss(&self, loss: &Loss) -> String {
        let epsilon = format!("epsilon {}", self.label(loss.epsilon));
        match loss.delta {
            None => epsilon,
            Some(delta) => format!("{epsilon} at delta {}", short(delta.get())),
        }
    }

    /// The same of a sum, where it is an epsilon.
    fn sum(&self, sum: Option<&Loss>) -> String {
        sum.map_or_else(|| "more than epsilon 1e8".to_owned(), |sum| self.loss(sum))
    }

    /// The same, with rho before it where there is one.
    fn alone(&self, alone: &Loss) -> String {
        match alone.rho {
            None => self.loss(alone),
            Some(rho) => format!("rho {} ({})", short(rho.get()), self.loss(alone)),
        }
    }

    /// An epsilon in a few digits; in all of them where another tier has the same few.
    fn label(&self, epsilon: Epsilon) -> String {
        let label = up(epsilon);
        if self.tiers.iter().any(|&other| other != epsilon && up(other) == label) {
            return written(epsilon);
        }
        label
    }
}

/// A value and its interval: integers as they are, and what would be long with exponents.
fn shown(tier: &Tier) -> (String, String) {
    let Tier { value, low, high, .. } = *tier;
    if !(1e-6..1e15).contains(&low.abs().max(high.abs())) && low < high {
        return estimate_with_exponents(value, low, high);
    }
    if [value, low, high].iter().all(|number| number.fract() == 0.0) {
        return (grouped(value, 0), format!("{} to {}", grouped(low, 0), grouped(high, 0)));
    }
    estimate(value, low, high)
}

/// An epsilon as it was written, or else in four digits, never too small.
fn up(epsilon: Epsilon) -> String {
    let written = written(epsilon);
    if written.len() <= 8 {
        return written;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = epsilon.get().log10().floor() as i32;
    let scale = 10f64.powi(3 - digits);
    let rounded = (epsilon.get() * scale * (1.0 - 1e-12)).ceil() / scale;
    if (-4..6).contains(&digits) {
        let places = usize::try_from(3 - digits).unwrap_or(0);
        return without_zeros(&format!("{rounded:.places$}"));
    }
    without_zeros(&format!("{rounded:.3e}"))
}

/// An epsilon with all its digits.
fn written(epsilon: Epsilon) -> String {
    let written = epsilon.to_string();
    written.strip_suffix(".0").unwrap_or(&written).to_owned()
}

/// Any number; the plan decides whether it can be released.
fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number: write one like 1234"))
}
