//! The rules of measures: where each wants to be looked at, and what it makes of what it sees.

use eke_budget::{Amount, L2, Rho};
use eke_noise::stopping::{
    AverageGoal, AverageRule, Ending, Estimate, GaussianRule, Next, Rule, Steps,
};
use eke_noise::{Bundle, Schedule, Within};
use eke_sql::{Measure, Plan};

use super::Seen;
use crate::ask::goals::Goals;
use crate::ask::question::{Accuracy, Goal};
use crate::ask::read::{Read, double};
use crate::ask::shown::answer::{Evidence, Found, Stopped};
use crate::ask::shown::derived::{Derivation, DerivedRule, PartRule};
use crate::error::WrongGoal;

/// The price that all ladders of looks start from, so that all questions about a path look at the
/// same points.
const LADDER: &str = "1e-12";

/// How many times as dear as the one before a look is.
const RATIO: f64 = 1.05;

/// The rule of a measure, in prices of one column.
#[derive(Debug)]
pub(crate) enum MeasureRule {
    Sum(Read, GaussianRule),
    Average(Read, AverageRule),
    /// What is made of the measures after it, which are its parts.
    Derived(Box<DerivedRule>),
    /// One of those, read when they all are.
    Part(PartRule),
    /// A quantile, which is searched along paths of its own.
    Searched,
    /// A count that wants no look of its own: it is read where the values beside it end.
    Beside(Read),
}

/// The rules of measures, in their order, where a column costs at most this.
pub(crate) fn rules(
    measures: &[Measure],
    plan: &Plan,
    goals: &Goals,
    most: Amount<Rho>,
) -> Result<Vec<MeasureRule>, WrongGoal> {
    let mut rules = Vec::with_capacity(measures.len());
    while let Some(measure) = measures.get(rules.len()) {
        let (goal, first) = (goals.of(rules.len()), rules.len() + 1);
        match measure {
            Measure::Derived { value, parts } => {
                let parts = measures.iter().skip(first).take(*parts);
                let parts: Vec<Read> = parts.filter_map(|part| Read::of(part, plan)).collect();
                let derivation = Derivation::new(value, first, parts);
                let (derived, parts) = DerivedRule::new(derivation, &goal, most)?;
                rules.push(MeasureRule::Derived(Box::new(derived)));
                rules.extend(parts);
            }
            Measure::Sum(_) | Measure::Total(_) | Measure::Average { .. } => {
                let read = Read::of(measure, plan);
                let rule = read.map(|read| MeasureRule::new(read, &goal, most)).transpose()?;
                rules.extend(rule);
            }
            Measure::Beside(sum) => {
                let read = Read::of(&Measure::Sum(*sum), plan);
                rules.extend(read.map(MeasureRule::Beside));
            }
            Measure::Quantile { .. } => rules.push(MeasureRule::Searched),
        }
    }
    Ok(rules)
}

impl MeasureRule {
    /// The rule of a measure by itself, where a column costs at most this.
    pub(crate) fn new(read: Read, goal: &Goal, most: Amount<Rho>) -> Result<Self, WrongGoal> {
        let schedule = ladder(most);
        let floor = goal.floor.unwrap_or_else(|| read.floor());
        match read {
            Read::Sum { step, unit, .. } => {
                let in_steps = |error: f64| {
                    let steps = (error / step).clamp(1.0, 1e12);
                    let fits = error.is_finite() && error > 0.0;
                    Steps::new(steps).ok().filter(|_| fits).ok_or(WrongGoal::Error { error })
                };
                let floor = in_steps(floor)?;
                let (within, floor) = match goal.accuracy {
                    Accuracy::Relative(tolerance) => (Within::Relative(tolerance), Some(floor)),
                    Accuracy::Absolute(error) => (Within::Absolute(in_steps(error)?), None),
                    Accuracy::Price(_) => (Within::Price, None),
                };
                let confidence = goal.confidence;
                let goal = eke_noise::Goal { within, confidence, floor, most };
                // A step is a power of two.
                let sensitivity =
                    L2::new(unit / step).map_err(|_| WrongGoal::Error { error: unit / step })?;
                Ok(Self::Sum(read, GaussianRule::new(goal, schedule, sensitivity).thrifty()))
            }
            // It has no stop of its own, and stands only among what a number is made of.
            Read::Total { .. } => Self::new(read.of_group(), goal, most),
            Read::Average { of, .. } => {
                let (relative, absolute) = match goal.accuracy {
                    Accuracy::Relative(tolerance) => (Some(tolerance), Some(floor)),
                    Accuracy::Absolute(error) => (None, Some(error)),
                    Accuracy::Price(_) => (None, None),
                };
                if let Some(error) = absolute.filter(|error| !(error.is_finite() && *error > 0.0)) {
                    return Err(WrongGoal::Error { error });
                }
                let goal = AverageGoal { relative, absolute, confidence: goal.confidence, most };
                Ok(Self::Average(read, AverageRule::new(goal, schedule, of).thrifty()))
            }
        }
    }

    /// The price of the one look that an absolute goal of a sum or count plans; none for other
    /// goals.
    pub(crate) fn planned(&self) -> Option<Amount<Rho>> {
        match self {
            Self::Sum(_, rule) => rule.planned(),
            Self::Derived(rule) => rule.planned(),
            Self::Average(..) | Self::Part(_) | Self::Beside(_) | Self::Searched => None,
        }
    }

    /// The first look of a goal that is walked to, at the widest noise of its own columns; nothing
    /// for one look that is planned.
    pub(crate) fn start(&self) -> Amount<Rho> {
        match self {
            Self::Sum(_, rule) if rule.planned().is_some() => Amount::ZERO,
            Self::Sum(_, rule) => rule.first(),
            Self::Average(_, rule) => rule.first(),
            Self::Derived(rule) if rule.planned().is_some() => Amount::ZERO,
            Self::Derived(rule) => rule.start(),
            Self::Part(_) | Self::Beside(_) | Self::Searched => Amount::ZERO,
        }
    }

    /// The first look, where something was revealed before; none for what is looked at beside
    /// another measure.
    pub(crate) fn first_from(&self, revealed: Amount<Rho>) -> Option<Amount<Rho>> {
        match self {
            Self::Sum(_, rule) => Some(rule.first_from(revealed)),
            Self::Average(_, rule) => Some(rule.first_from(revealed)),
            Self::Derived(rule) if rule.is_multiple() => None,
            Self::Derived(rule) => Some(rule.first_from(revealed)),
            Self::Part(_) | Self::Beside(_) | Self::Searched => None,
        }
    }

    /// The rule for a group of which the asker has seen something before: one confidence
    /// sequence for all goals of the path.
    pub(crate) fn by_hand(&self) -> Self {
        match self {
            Self::Sum(read, rule) => Self::Sum(*read, rule.by_hand()),
            Self::Average(read, rule) => Self::Average(*read, rule.by_hand()),
            Self::Derived(rule) => Self::Derived(Box::new(rule.by_hand())),
            Self::Part(rule) => Self::Part(rule.by_hand()),
            Self::Beside(read) => Self::Beside(*read),
            Self::Searched => Self::Searched,
        }
    }
}

/// The looks that all questions about a path take.
pub(crate) fn ladder(most: Amount<Rho>) -> Schedule<Rho> {
    let first = LADDER.parse().unwrap_or(Amount::GRAIN);
    Schedule::geometric(first, RATIO).unwrap_or(Schedule::up_to(most))
}

/// What a measure can be read from at hand, at the point of a group that was paid for: for an
/// answer that was stored before this was.
pub(crate) fn at_hand(
    rule: &MeasureRule,
    bundle: &Bundle<Rho>,
    group: u32,
    at: Amount<Rho>,
) -> Option<Evidence> {
    let rule = rule.by_hand();
    rule.read()?.at(bundle, group, at, rule.gamma())
}

impl MeasureRule {
    pub(crate) fn after(&self, seen: Seen) -> Option<Next<Rho>> {
        match (self, seen) {
            (Self::Sum(_, rule), Seen::Sum(look)) => Some(rule.after(look)),
            (Self::Average(_, rule), Seen::Average(look)) => Some(rule.after(look)),
            _ => None,
        }
    }

    pub(crate) fn ended(&self, last: Option<Seen>, ending: Ending) -> Found {
        match (self, last) {
            (Self::Sum(_, rule), Some(seen @ Seen::Sum(look))) => {
                self.found(rule.end(look, ending), seen)
            }
            (Self::Average(_, rule), Some(seen @ Seen::Average(look))) => {
                self.found(rule.end(look, ending), seen)
            }
            _ => Found::nothing(Stopped::from(ending)),
        }
    }

    pub(crate) fn found(&self, estimate: Estimate, seen: Seen) -> Found {
        let found = match self {
            // What was drawn, which of a count may be below zero, and its interval too: cut off it
            // would be too large on average, and sums over groups with it.
            Self::Sum(Read::Sum { step, .. }, _) => Found::new(estimate, *step),
            _ => Found::new(estimate, 1.0),
        };
        Found { evidence: self.evidence(seen), ..found }
    }

    pub(crate) fn evidence(&self, seen: Seen) -> Option<Evidence> {
        let gamma = self.gamma();
        match (self, seen) {
            (Self::Sum(Read::Sum { step, .. }, _), Seen::Sum(look)) => {
                let sum = double(look.value.get()) * step;
                Some(Evidence { worth: look.price, sum, count: None, gamma })
            }
            (_, Seen::Average(look)) => {
                Some(Evidence { worth: look.price, sum: look.sum, count: Some(look.count), gamma })
            }
            _ => None,
        }
    }

    /// What it is read from; none for what is made of several.
    pub(crate) fn read(&self) -> Option<Read> {
        match self {
            Self::Sum(read, _) | Self::Average(read, _) | Self::Beside(read) => Some(*read),
            Self::Part(part) => Some(part.read),
            Self::Derived(_) | Self::Searched => None,
        }
    }

    /// The gamma of its confidence sequence, as a price; none where the one look is planned.
    pub(crate) fn gamma(&self) -> Option<f64> {
        match self {
            Self::Sum(_, rule) => rule.gamma(),
            Self::Average(_, rule) => rule.gamma(),
            Self::Derived(rule) => rule.gamma(),
            Self::Part(rule) => rule.gamma,
            Self::Beside(_) | Self::Searched => None,
        }
    }
}

/// What noise fixed in advance costs in each group, for every value to be as good as asked whatever
/// the data; none if no price promises it.
pub(crate) fn fixed_price(measures: &[Measure], plan: &Plan, goals: &Goals) -> Option<Amount<Rho>> {
    let mut group = Amount::ZERO;
    for (index, measure) in measures.iter().enumerate() {
        if matches!(measure, Measure::Beside(_)) {
            continue;
        }
        let goal = goals.of(index);
        let Some(Read::Sum { unit, .. }) = Read::of(measure, plan) else { return None };
        let error = match goal.accuracy {
            Accuracy::Relative(_) => goal.floor.unwrap_or(unit),
            Accuracy::Absolute(error) => error,
            Accuracy::Price(_) => return None,
        };
        let price = (goal.confidence.quantile() * unit / error).powi(2) / 2.0;
        group = group.plus(Amount::ceil(price).ok()?)?;
    }
    Some(group)
}
