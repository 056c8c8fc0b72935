//! How good an answer must be and what it may cost, as people write it: flags, and settings of the
//! shell.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use eke_budget::convert::{Curve as _, Method};
use eke_budget::{Amount, Charge, Epsilon, Rho};
use eke_engine::ask::price_delta;
use eke_engine::policy::Policy;
use eke_engine::{Accuracy, ColumnGoals, EngineError, Goal, Question, Who};
use eke_noise::{Confidence, Tolerance};
use eke_sql::{AskedBounds, Setting};

use crate::Failure;
use crate::show::number::short;

/// The goal of a question.
#[derive(Args, Clone)]
pub(crate) struct GoalArgs {
    /// The error to stay within: relative, such as 5%, or absolute, such as 100; for some columns
    /// another one, such as 5%,fare=0.5.
    #[arg(long, value_name = "ERROR", conflicts_with = "price")]
    pub(crate) within: Option<WithinArg>,
    /// With a relative error: an absolute error that is also good enough.
    #[arg(long = "or", value_name = "ERROR", requires = "within")]
    pub(crate) floor: Option<f64>,
    /// The highest price, such as rho=0.01 or epsilon=0.3 [default for a relative error: a tenth of
    /// what is left]
    #[arg(long, value_name = "PRICE")]
    pub(crate) at_most: Option<PriceArg>,
    /// The confidence of the intervals.
    #[arg(long, value_name = "P", default_value = "95%", value_parser = confidence)]
    pub(crate) confidence: Confidence,
    /// Spend exactly this on the values, such as rho=0.001 or epsilon=0.1, whatever accuracy that
    /// gives.
    #[arg(long, value_name = "PRICE")]
    pub(crate) price: Option<PriceArg>,
    /// How much of one unit counts, in place of the policy's bounds and within its widest: groups,
    /// rows, values, rows_in_all, and columns with their ends, such as groups=12,rows=50,fare=0:80.
    #[arg(long, value_name = "BOUNDS")]
    pub(crate) bounds: Option<AskedBounds>,
    /// How the answer is made to add up, if it is: `eke ask` and SQL say so.
    #[arg(skip)]
    pub(crate) additive: Option<AdditiveArg>,
}

/// How an answer with totals is made to add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdditiveArg {
    /// Not at all.
    Off,
    /// By as little as possible.
    On,
    /// The same without values below zero.
    Nonnegative,
}

impl FromStr for AdditiveArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_lowercase().as_str() {
            "off" | "false" => Ok(Self::Off),
            "on" | "true" => Ok(Self::On),
            "nonnegative" => Ok(Self::Nonnegative),
            _ => Err(format!("`{text}` is not on, nonnegative or off")),
        }
    }
}

impl GoalArgs {
    /// A question with its goal: prices in epsilon depend on who asks about whom. None if neither
    /// an accuracy nor a price is given.
    pub(crate) fn question(
        &self,
        policy: &Policy,
        sql: &str,
        who: &Who,
    ) -> Result<Option<Question>, Failure> {
        let sql = &self.with_bounds(sql);
        let rho = |price: PriceArg| price.in_rho(policy, sql, who);
        let price = self.price.map(rho).transpose()?;
        let at_most = self.at_most.map(rho).transpose()?;
        let (accuracy, columns) = match (&self.within, price) {
            (_, Some(price)) => (Accuracy::Price(price), ColumnGoals::default()),
            (Some(within), None) => (within.first().into(), within.columns()),
            (None, None) => return Ok(None),
        };
        let goal = Goal { accuracy, floor: self.floor, at_most, confidence: self.confidence };
        Ok(Some(Question { sql: sql.to_owned(), goal, columns, who: who.clone() }))
    }

    /// A question with the bounds that are set for it, before those that it chooses in SQL.
    fn with_bounds(&self, sql: &str) -> String {
        match self.bounds.as_ref().filter(|bounds| !bounds.is_empty()) {
            Some(bounds) => {
                format!("SET eke.bounds = '{}';\n{sql}", bounds.to_string().replace('\'', "''"))
            }
            None => sql.to_owned(),
        }
    }

    /// The same goal, with what a question says of its own in SQL, which goes before flags; and
    /// whether a question follows.
    pub(crate) fn said(
        &self,
        policy: &Policy,
        sql: &str,
        who: &Who,
    ) -> Result<(Self, bool), Failure> {
        let (settings, follows) =
            eke_sql::settings(sql).map_err(|error| Failure::from(EngineError::from(error)))?;
        let mut goal = self.clone();
        let wrong = |name: &str, why: String| Failure::Usage(format!("{name}: {why}"));
        for Setting { name, value } in &settings {
            let wrong = |why: String| wrong(name, why);
            match name.as_str() {
                "within" => {
                    goal.within = Some(value.parse().map_err(wrong)?);
                    goal.price = None;
                }
                "price" => {
                    goal.price = Some(value.parse().map_err(wrong)?);
                    goal.within = None;
                }
                "epsilon" => {
                    goal.price = Some(format!("epsilon={value}").parse().map_err(wrong)?);
                    goal.within = None;
                }
                "at_most" => goal.at_most = Some(value.parse().map_err(wrong)?),
                "additive" => goal.additive = Some(value.parse().map_err(wrong)?),
                "confidence" => goal.confidence = confidence(value).map_err(wrong)?,
                "or" => {
                    let error = value.parse().ok().filter(|error: &f64| *error > 0.0);
                    goal.floor = Some(error.ok_or_else(|| wrong(not_an_error(value)))?);
                }
                "delta" if follows => {
                    // A smaller delta than was asked for promises more.
                    let sql = self.with_bounds(sql);
                    let ours = price_delta(policy, &sql, who)?.map(eke_budget::Delta::get);
                    let asked = value.parse::<f64>().ok().filter(|delta| *delta > 0.0);
                    if ours.zip(asked).is_none_or(|(ours, asked)| ours > asked) {
                        let why = match ours {
                            Some(ours) => {
                                format!("your budget has {ours}: write that or more, or nothing")
                            }
                            None => "your budget has none: take it out".to_owned(),
                        };
                        return Err(wrong(why));
                    }
                }
                // Those of a question are in its text, and the planner holds them against the
                // policy.
                _ if follows => {}
                _ => {
                    let bounds = goal.bounds.get_or_insert_default();
                    let taken = bounds.take(&Setting { name: name.clone(), value: value.clone() });
                    taken.map_err(|error| wrong(error.to_string()))?;
                }
            }
        }
        Ok((goal, follows))
    }

    /// Whether the highest price is the one that a relative error has by itself.
    pub(crate) fn is_tenth(&self) -> bool {
        let is_relative = self.within.as_ref().is_some_and(WithinArg::has_relative);
        is_relative && self.price.is_none() && self.at_most.is_none()
    }

    /// What a small number without a percent sign may have been meant for.
    pub(crate) fn meant(&self) -> Option<String> {
        let within = self.within.as_ref().filter(|_| self.price.is_none());
        let Some(WithinArg { all: Some(Within::Absolute(error)), own }) = within else {
            return None;
        };
        if !own.is_empty() {
            return None;
        }
        let error = *error;
        let part = Tolerance::new(error).ok().filter(|_| error < 1.0)?.get() * 100.0;
        let part = short(part);
        Some(format!(
            "{error} is an error in the unit of the value; if {part}% of it is meant, write --within {part}%"
        ))
    }
}

/// The errors to stay within: one for all columns, and those of columns that have their own.
#[derive(Clone)]
pub(crate) struct WithinArg {
    all: Option<Within>,
    /// Not empty if there is none for all.
    own: Vec<(String, Within)>,
}

impl WithinArg {
    /// That of all columns, or of the first that has one.
    fn first(&self) -> Within {
        let own = self.own.first().map(|(_, within)| *within);
        self.all.or(own).unwrap_or(Within::Absolute(f64::NAN))
    }

    fn columns(&self) -> ColumnGoals {
        let own = self.own.iter().map(|(name, within)| (name.clone(), (*within).into()));
        ColumnGoals { own: own.collect(), all_named: self.all.is_none() }
    }

    fn has_relative(&self) -> bool {
        let mut all = self.all.iter().chain(self.own.iter().map(|(_, within)| within));
        all.any(|within| matches!(within, Within::Relative(_)))
    }
}

impl FromStr for WithinArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut all, mut own) = (None, Vec::new());
        for part in text.split(',') {
            match part.rsplit_once('=') {
                Some((name, error)) => {
                    let name = name.trim();
                    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
                    own.push((quoted.unwrap_or(name).to_owned(), error.parse()?));
                }
                None if all.is_none() => all = Some(part.parse()?),
                None => return Err(format!("`{text}` has two errors for all columns: write one")),
            }
        }
        Ok(Self { all, own })
    }
}

impl fmt::Display for WithinArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.own.iter().map(|(name, within)| format!("{name}={within}"));
        let all = self.all.iter().map(ToString::to_string).chain(own);
        f.write_str(&all.collect::<Vec<_>>().join(","))
    }
}

/// A relative or an absolute error.
#[derive(Clone, Copy)]
pub(crate) enum Within {
    Relative(Tolerance),
    Absolute(f64),
}

impl From<Within> for Accuracy {
    fn from(within: Within) -> Self {
        match within {
            Within::Relative(tolerance) => Self::Relative(tolerance),
            Within::Absolute(error) => Self::Absolute(error),
        }
    }
}

impl FromStr for Within {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| not_an_error(text))?;
            return Tolerance::new(percent / 100.0).map(Self::Relative).map_err(|_| {
                format!("`{text}` is out of range: write a relative error from 0.01% to 90%")
            });
        }
        let error: f64 = text.trim().parse().map_err(|_| not_an_error(text))?;
        if error.is_finite() && error > 0.0 {
            Ok(Self::Absolute(error))
        } else {
            Err(format!("`{text}` is out of range: write a positive error, such as 100 or 5%"))
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(tolerance) => write!(f, "{}%", short(tolerance.get() * 100.0)),
            Self::Absolute(error) => write!(f, "{error}"),
        }
    }
}

fn not_an_error(text: &str) -> String {
    format!("`{text}` is not an error: write 5% of the value, or 100 of its unit")
}

/// A price as it is written: in rho, or in epsilon at the delta of the asker's budget.
#[derive(Clone, Copy)]
pub(crate) enum PriceArg {
    Rho(Amount<Rho>),
    Epsilon(Epsilon),
}

impl FromStr for PriceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(epsilon) = text.trim().strip_prefix("epsilon=") {
            return epsilon
                .parse()
                .map(Self::Epsilon)
                .map_err(|error: eke_budget::number::ParameterError| error.to_string());
        }
        match text.parse::<Charge>() {
            Ok(Charge::Zcdp { rho, delta }) if delta.is_zero() => Ok(Self::Rho(rho)),
            _ => Err(format!(
                "`{text}` is not a price: write it like rho=0.001, or like epsilon=0.1"
            )),
        }
    }
}

impl fmt::Display for PriceArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rho(rho) => write!(f, "rho={rho}"),
            Self::Epsilon(epsilon) => write!(f, "epsilon={epsilon}"),
        }
    }
}

impl PriceArg {
    /// The price in rho. An epsilon is the most rho that implies no more than it at the delta that
    /// the asker's budget converts at: rounded down, so that no more is spent than was said.
    pub(crate) fn in_rho(
        self,
        policy: &Policy,
        sql: &str,
        who: &Who,
    ) -> Result<Amount<Rho>, Failure> {
        let epsilon = match self {
            Self::Rho(rho) => return Ok(rho),
            Self::Epsilon(epsilon) => epsilon,
        };
        let Some(delta) = price_delta(policy, sql, who)? else {
            return Err(Failure::Usage(
                "the budget that pays states no delta, so an epsilon cannot be converted: write \
                 the price in rho, like rho=0.001"
                    .into(),
            ));
        };
        let rho = Method::Tight.rho(epsilon, delta);
        let rho = rho.map_err(|error| Failure::Usage(format!("epsilon={epsilon}: {error}")))?;
        Ok(Amount::at_most(rho))
    }
}

pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
    let wrong = || format!("`{text}` is not a confidence: write it like 95%, from 50% to 99.9999%");
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    };
    Confidence::new(number.map_err(|_| wrong())?).map_err(|_| wrong())
}
