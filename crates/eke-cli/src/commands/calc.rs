//! `eke calc`: privacy parameters from one form to another, and added up; what choosing costs; what
//! prices of places mean; which noise can be made of which.

mod geo;
mod residual;
mod selection;

use std::io::Write;

use clap::{Args, Subcommand, ValueEnum};
use eke_budget::convert::{Curve, GaussianCurve, Method, bounded_range_to_zcdp, pure_to_zcdp};
use eke_budget::metric::Reach;
use eke_budget::number::BoundedRange;
use eke_budget::{Adjacency, Amount, Charge, Delta, Epsilon, Metres, Metric, Rho};
use serde::Serialize;

use crate::Failure;
use crate::input::usage::usage;
use crate::show::{Table, print_json};

/// The commands of the calculator.
#[derive(Subcommand)]
pub(crate) enum Calc {
    /// Convert between rho and (epsilon, delta), never understating the loss.
    #[command(after_help = "\
Give two of --rho, --epsilon and --delta to compute the third: an epsilon or a delta that is never\n\
too small, a rho that is never too large. Give --epsilon alone for the zCDP price of pure\n\
privacy, or --range alone for that of a mechanism with bounded range.")]
    Convert(Convert),
    /// Add up charges such as rho=0.1 epsilon=0.5 rho=0.2,delta=1e-9.
    Compose(Compose),
    /// The price of choosing the largest of several noisy scores (report noisy max).
    #[command(after_help = "\
Give --sigma for its price, or --epsilon for the least noise of that price. The price is never below the\n\
truth. As concentrated privacy it may be charged in two ways, and the cheaper one is marked.")]
    NoisyMax(selection::NoisyMaxArgs),
    /// The price of finding the first answer above a threshold (sparse vector).
    #[command(after_help = "\
Give both sigmas for the price of a hit at the last step, or with --no-halt of none in all of them; or give\n\
--epsilon for the least noise of that price. The price is never below the truth, and is charged when a run has\n\
ended; before each step the larger of the two must fit.")]
    AboveThreshold(selection::AboveThresholdArgs),
    /// What a price per metre means: how well places can be distinguished, and how far off they
    /// are.
    #[command(after_help = "\
Give one of --rho, --epsilon, --level and --error. Both kinds of noise are shown: as private as each other within\n\
the radius, or, with --error, as exact as each other. Prices are never too large for the level, levels never too small.")]
    Geo(geo::GeoArgs),
    /// Whether adding noise to one law gives another, and which noise (the residual).
    #[command(after_help = "\
LAW is one of gaussian:SIGMA, laplace:SCALE, geometric:RATE, discrete-gaussian:SIGMA,\n\
skellam:LAMBDA, msdlap:EPSILON:SENSITIVITY, staircase:EPSILON[:SENSITIVITY[:GAMMA]],\n\
planar-laplace:EPSILON:DIMENSION and uniform:WIDTH. The answer is yes with the residual, no\n\
with the reason and a matrix that shows it, or undecided; the exit code is 0 for each.")]
    Residual(residual::ResidualArgs),
}

impl Calc {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self {
            Self::Convert(convert) => convert.run(out),
            Self::Compose(compose) => compose.run(out),
            Self::NoisyMax(max) => max.run(out),
            Self::AboveThreshold(line) => line.run(out),
            Self::Geo(places) => places.run(out),
            Self::Residual(laws) => laws.run(out),
        }
    }
}

/// What to convert.
#[derive(Args)]
pub(crate) struct Convert {
    /// Concentrated privacy (zCDP); with --lambda, per unit of distance squared.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    rho: Option<Rho>,
    /// The loss bound; with --lambda, per unit of distance.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// The probability that the bound fails.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// The range of losses of a mechanism such as the exponential one.
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    range: Option<BoundedRange>,
    /// The reach: the largest distance between two places that the promise covers.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    lambda: Option<Metres>,
    /// How rho and (epsilon, delta) are converted [default: tight]
    #[arg(long)]
    method: Option<MethodName>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// All conversion curves, including the one that accounts may not use.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum MethodName {
    /// Optimal over the Rényi order
    Tight,
    /// rho + 2 sqrt(rho ln(1/delta))
    Simple,
    /// The geo-privacy conversion at its optimal s
    OptimalS,
    /// The exact curve, only where all noise is continuous Gaussian
    Gaussian,
}

impl MethodName {
    const ALL: [Self; 4] = [Self::Tight, Self::OptimalS, Self::Simple, Self::Gaussian];

    fn curve(self) -> &'static dyn Curve {
        match self {
            Self::Tight => &Method::Tight,
            Self::Simple => &Method::Simple,
            Self::OptimalS => &Method::OptimalS,
            Self::Gaussian => &GaussianCurve,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tight => Method::Tight.name(),
            Self::Simple => Method::Simple.name(),
            Self::OptimalS => Method::OptimalS.name(),
            Self::Gaussian => "gaussian",
        }
    }
}

/// A finished conversion. Its JSON has the names of the arguments.
#[derive(Serialize)]
struct Converted {
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<BoundedRange>,
    rho: Rho,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Delta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<Epsilon>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<Metres>,
    method: &'static str,
}

impl Convert {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let converted = match (self.rho, self.epsilon, self.delta, self.range) {
            (None, Some(epsilon), None, None) => {
                let rho = pure_to_zcdp(epsilon, metric(self.lambda)).map_err(usage)?;
                self.price(rho, Some(epsilon), None, "pure")?
            }
            (None, None, None, Some(range)) => {
                let rho = bounded_range_to_zcdp(range).map_err(usage)?;
                self.price(rho, None, Some(range), "bounded-range")?
            }
            _ => self.convert(self.method.unwrap_or(MethodName::Tight))?,
        };
        if self.json {
            return print_json(out, &converted);
        }
        self.print(&converted, out)?;
        if self.method.is_none() && converted.delta.is_some() {
            writeln!(out)?;
            self.compare(out)?;
        }
        Ok(())
    }

    /// The zCDP price of a guarantee, which is the same by every method.
    fn price(
        &self,
        rho: Rho,
        epsilon: Option<Epsilon>,
        range: Option<BoundedRange>,
        method: &'static str,
    ) -> Result<Converted, Failure> {
        if self.method.is_some() {
            return Err(usage("--method is for rho and (epsilon, delta): leave it out here"));
        }
        Ok(Converted { range, rho, delta: None, epsilon, lambda: self.lambda, method })
    }

    /// The third of rho, epsilon and delta from the other two.
    fn convert(&self, method: MethodName) -> Result<Converted, Failure> {
        let reach = self.lambda.unwrap_or(Metres::ONE);
        let curve = method.curve();
        let (rho, epsilon, delta) = match (self.rho, self.epsilon, self.delta, self.range) {
            (Some(rho), None, Some(delta), None) => {
                (rho, curve.epsilon_within(rho, delta, reach).map_err(usage)?, delta)
            }
            (Some(rho), Some(epsilon), None, None) => {
                (rho, epsilon, curve.delta_within(rho, epsilon, reach).map_err(usage)?)
            }
            (None, Some(epsilon), Some(delta), None) => {
                (curve.rho_within(epsilon, delta, reach).map_err(usage)?, epsilon, delta)
            }
            (Some(_), Some(_), Some(_), None) => {
                let all =
                    "--rho, --epsilon and --delta are all given: leave out the one to work out";
                return Err(usage(all));
            }
            (_, _, _, Some(_)) => {
                return Err(usage("--range goes alone: leave out --rho, --epsilon and --delta"));
            }
            _ => {
                let too_few =
                    "give two of --rho, --epsilon and --delta, or --epsilon or --range alone";
                return Err(usage(too_few));
            }
        };
        Ok(Converted {
            range: None,
            rho,
            delta: Some(delta),
            epsilon: Some(epsilon),
            lambda: self.lambda,
            method: method.name(),
        })
    }

    /// The parameters given, and below them the result.
    fn print(&self, converted: &Converted, out: &mut impl Write) -> Result<(), Failure> {
        let (metre, square) =
            if self.lambda.is_some() { ("per metre", "per metre squared") } else { ("", "") };
        let parts = [
            ("lambda", self.lambda.map(|l| l.to_string()), true, "metres"),
            ("range", converted.range.map(|r| r.to_string()), true, metre),
            ("rho", Some(converted.rho.to_string()), self.rho.is_some(), square),
            ("epsilon", converted.epsilon.map(|e| e.to_string()), self.epsilon.is_some(), metre),
            ("delta", converted.delta.map(|d| d.to_string()), self.delta.is_some(), ""),
        ];
        let mut table = Table::default();
        for wanted in [true, false] {
            for (name, value, given, unit) in &parts {
                if let Some(value) = value.as_ref().filter(|_| *given == wanted) {
                    let note = if wanted { (*unit).to_owned() } else { format!("<- {unit}") };
                    table.row([(*name).to_owned(), value.clone(), note]);
                }
            }
        }
        Ok(table.print(out)?)
    }

    /// What every method says.
    fn compare(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (wanted, better) = match (self.rho, self.epsilon) {
            (Some(_), None) => ("epsilon", "less is better"),
            (Some(_), Some(_)) => ("delta", "less is better"),
            _ => ("rho", "more is better"),
        };
        let mut table = Table::new(&["method", wanted, better]);
        for method in MethodName::ALL {
            let told = self.convert(method).ok().and_then(|converted| match wanted {
                "epsilon" => converted.epsilon.map(|e| e.to_string()),
                "delta" => converted.delta.map(|d| d.to_string()),
                _ => Some(converted.rho.to_string()),
            });
            let note = match method {
                MethodName::Tight => "used above, and by accounts",
                MethodName::Gaussian => "only where all noise is continuous Gaussian",
                MethodName::Simple | MethodName::OptimalS => "",
            };
            let told = told.unwrap_or_else(|| "nothing".to_owned());
            table.row([method.name().to_owned(), told, note.to_owned()]);
        }
        Ok(table.print(out)?)
    }
}

fn metric(lambda: Option<Metres>) -> Metric {
    match lambda {
        Some(reach) => Metric::Euclidean(Reach::Within(reach)),
        None => Metric::Hamming(Adjacency::AddRemove),
    }
}

/// What to add up.
#[derive(Args)]
pub(crate) struct Compose {
    /// Charges, in any order: rho=0.1, epsilon=0.5, rho=0.2,delta=1e-9
    #[arg(required = true, value_name = "CHARGE")]
    charges: Vec<Charge>,
    /// The total delta promised, to see the epsilon that goes with it.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<Delta>,
    /// The reach: the largest distance between two places that the promise covers.
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    lambda: Option<Metres>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Charges added up, exactly.
#[derive(Default)]
struct Total {
    rho: Amount<Rho>,
    epsilon: Amount<Epsilon>,
    delta: Amount<Delta>,
}

/// What a list of charges comes to, as JSON.
#[derive(Serialize)]
struct Composed {
    rho: f64,
    epsilon: f64,
    delta: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<Metres>,
    #[serde(skip_serializing_if = "Option::is_none")]
    promise: Option<ComposedPromise>,
}

#[derive(Clone, Copy, Serialize)]
struct ComposedPromise {
    epsilon: Epsilon,
    delta: f64,
    method: &'static str,
    accounting: Accounting,
}

/// Which purses the charges go to.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Accounting {
    /// Everything is pure.
    Pure,
    /// rho in one purse, epsilon in the other.
    TwoPurses,
    /// Epsilon turned into rho, charge by charge.
    AllZcdp,
}

impl Compose {
    fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let total = Total::of(&self.charges)?;
        let promise = self.promise(&total)?;
        if self.json {
            let composed = Composed {
                rho: total.rho.to_f64_up(),
                epsilon: total.epsilon.to_f64_up(),
                delta: total.delta.to_f64_up(),
                lambda: self.lambda,
                promise,
            };
            return print_json(out, &composed);
        }
        let mut table = Table::new(&["charge", "rho", "epsilon", "delta"]);
        for charge in &self.charges {
            let one = Total::of(&[*charge])?;
            table.row(std::iter::once(charge.to_string()).chain(one.cells()));
        }
        table.row(std::iter::once("total".to_owned()).chain(total.cells()));
        table.print(out)?;
        writeln!(out)?;
        let Some(ComposedPromise { epsilon, delta, method, accounting }) = promise else {
            writeln!(out, "Add --delta 1e-6 to see the epsilon that this comes to.")?;
            return Ok(());
        };
        let how = match accounting {
            Accounting::Pure => "the epsilons added up".to_owned(),
            Accounting::TwoPurses if total.epsilon.is_zero() => format!("rho converted ({method})"),
            Accounting::TwoPurses => format!("rho converted ({method}), the epsilons added"),
            Accounting::AllZcdp => {
                format!("the epsilons turned into rho, all converted ({method})")
            }
        };
        let mut table = Table::default();
        let (metre, reach) = match self.lambda {
            None => ("", None),
            Some(reach) => ("per metre, ", Some(reach)),
        };
        table.row(["epsilon".to_owned(), epsilon.to_string(), format!("{metre}{how}")]);
        if delta > 0.0 {
            table.row(["delta".to_owned(), format!("{delta:?}"), String::new()]);
        }
        if let Some(reach) = reach {
            table.row(["lambda".to_owned(), reach.to_string(), "metres".to_owned()]);
        }
        table.print(out)?;
        Ok(())
    }

    /// The best promise that the charges, fixed as they are, keep together. None where rho needs a
    /// delta and there is none.
    fn promise(&self, total: &Total) -> Result<Option<ComposedPromise>, Failure> {
        let pure = |delta: f64| -> Result<_, Failure> {
            let epsilon = total.epsilon.to_parameter().map_err(usage)?;
            Ok(ComposedPromise { epsilon, delta, method: "pure", accounting: Accounting::Pure })
        };
        let used = total.delta.to_f64_up();
        let Some(delta) = self.delta else {
            return if total.rho.is_zero() { pure(used).map(Some) } else { Ok(None) };
        };
        // What the charges leave of delta converts rho.
        let left = Amount::at_most(delta).minus(total.delta).map(Amount::to_f64);
        let conversion = if total.delta.is_zero() {
            delta
        } else {
            let left = left.unwrap_or(0.0).next_down();
            Delta::new(left).map_err(|_| {
                usage(format!("the charges alone use delta {}: give a larger --delta", total.delta))
            })?
        };
        let concentrated = |rho: Amount<Rho>, accounting| -> Result<_, Failure> {
            let rho = rho.to_parameter().map_err(usage)?;
            let reach = self.lambda.unwrap_or(Metres::ONE);
            let method = Method::Tight;
            let epsilon = method.epsilon_within(rho, conversion, reach).map_err(usage)?;
            let name = method.name();
            Ok(ComposedPromise { epsilon, delta: delta.get(), method: name, accounting })
        };
        let apart = if total.rho.is_zero() {
            pure(used)?
        } else {
            let mut apart = concentrated(total.rho, Accounting::TwoPurses)?;
            let sum = Amount::at_least(apart.epsilon).plus(total.epsilon).ok_or_else(too_much)?;
            apart.epsilon = sum.to_parameter().map_err(usage)?;
            apart
        };
        // Very large epsilons have no rho; then they stay what they are.
        let together =
            self.all_zcdp(total).and_then(|rho| concentrated(rho, Accounting::AllZcdp)).ok();
        Ok(Some(together.filter(|t| t.epsilon < apart.epsilon).unwrap_or(apart)))
    }

    /// All charges in rho, the pure ones at their price.
    fn all_zcdp(&self, total: &Total) -> Result<Amount<Rho>, Failure> {
        let mut sum = total.rho;
        for charge in &self.charges {
            if let Charge::Pure { epsilon, .. } = charge {
                let epsilon = epsilon.to_parameter().map_err(usage)?;
                let rho = pure_to_zcdp(epsilon, metric(self.lambda)).map_err(usage)?;
                sum = sum.plus(Amount::at_least(rho)).ok_or_else(too_much)?;
            }
        }
        Ok(sum)
    }
}

impl Total {
    fn of(charges: &[Charge]) -> Result<Self, Failure> {
        let mut total = Self::default();
        for charge in charges {
            match *charge {
                Charge::Zcdp { rho, .. } => total.rho = total.rho.plus(rho).ok_or_else(too_much)?,
                Charge::Pure { epsilon, .. } => {
                    total.epsilon = total.epsilon.plus(epsilon).ok_or_else(too_much)?;
                }
            }
            total.delta = total.delta.plus(charge.delta()).ok_or_else(too_much)?;
        }
        Ok(total)
    }

    fn cells(&self) -> [String; 3] {
        fn cell<C>(amount: Amount<C>) -> String {
            if amount.is_zero() { String::new() } else { amount.to_string() }
        }
        [cell(self.rho), cell(self.epsilon), cell(self.delta)]
    }
}

fn too_much() -> Failure {
    usage("the charges add up to more than eke counts")
}
