//! The walk of a question along its paths: where each group is to be looked at next, and what was
//! found.
//!
//! A rule per measure sees released values alone, at the looks that it planned itself. A group goes
//! to the nearest look that one of its measures wants; the others are not consulted there. So every
//! measure is followed as if it were alone, and a group ends when all of them have.

use eke_budget::{Amount, L2, Rho};
use eke_noise::stopping::{
    AverageGoal, AverageLook, AverageOf, AverageRule, Ending, Estimate, GaussianRule, Look, Next,
    Part, Rule, Steps, deviations,
};
use eke_noise::{Bundle, Confidence, Schedule, Within};
use eke_sql::{Measure, Plan, Summand};

use crate::ask::answer::{Evidence, Found, Stopped};
use crate::ask::question::{Accuracy, Goal};
use crate::error::WrongGoal;

/// The price that all ladders of looks start from, so that all questions about a path look at the
/// same points.
const LADDER: &str = "1e-12";
/// How many times as dear as the one before a look is.
const RATIO: f64 = 1.05;

/// A path takes no step that costs less than this fraction (one part in this many) of what was paid
/// for the path before.
pub(crate) const LEAST_STEP_ONE_IN: u128 = 1000;

/// The rule of a measure, in prices of one column.
#[derive(Debug)]
pub(crate) enum MeasureRule {
    Sum { column: usize, step: f64, is_count: bool, rule: GaussianRule },
    Average { sum: (usize, f64), count: (usize, f64), rule: AverageRule },
}

impl MeasureRule {
    /// The rule of a measure, where a column costs at most this.
    pub(crate) fn new(
        measure: &Measure,
        plan: &Plan,
        goal: &Goal,
        most: Amount<Rho>,
    ) -> Result<Self, WrongGoal> {
        let first = LADDER.parse().unwrap_or(Amount::GRAIN);
        let schedule = Schedule::geometric(first, RATIO).unwrap_or(Schedule::up_to(most));
        match *measure {
            Measure::Sum(column) => {
                let sum = &plan.sums[column];
                let (step, sensitivity) = (sum.step(), steps(sum.sensitivity(plan.max_rows)));
                let in_steps = |error: f64| {
                    let steps = (error / step).clamp(1.0, 1e12);
                    let fits = error.is_finite() && error > 0.0;
                    Steps::new(steps).ok().filter(|_| fits).ok_or(WrongGoal::Error { error })
                };
                let floor = in_steps(floor(measure, plan, goal))?;
                let (within, floor) = match goal.accuracy {
                    Accuracy::Relative(tolerance) => (Within::Relative(tolerance), Some(floor)),
                    Accuracy::Absolute(error) => (Within::Absolute(in_steps(error)?), None),
                    Accuracy::Price(_) => (Within::Price, None),
                };
                let confidence = goal.confidence;
                let goal = eke_noise::Goal { within, confidence, floor, most };
                let sensitivity =
                    L2::new(sensitivity).map_err(|_| WrongGoal::Error { error: sensitivity })?;
                let rule = GaussianRule::new(goal, schedule, sensitivity).thrifty();
                let is_count = counts(sum);
                Ok(Self::Sum { column, step, is_count, rule })
            }
            Measure::Average { sum, count } => {
                let of = average_of(plan, sum, count);
                let (relative, absolute) = match goal.accuracy {
                    Accuracy::Relative(tolerance) => {
                        (Some(tolerance), Some(floor(measure, plan, goal)))
                    }
                    Accuracy::Absolute(error) => (None, Some(error)),
                    Accuracy::Price(_) => (None, None),
                };
                if let Some(error) = absolute.filter(|error| !(error.is_finite() && *error > 0.0)) {
                    return Err(WrongGoal::Error { error });
                }
                let goal = AverageGoal { relative, absolute, confidence: goal.confidence, most };
                let rule = AverageRule::new(goal, schedule, of).thrifty();
                Ok(Self::Average { sum: (sum, of.sum.step), count: (count, of.count.step), rule })
            }
        }
    }

    /// The price of the one look that an absolute goal of a sum or count plans; none for other
    /// goals.
    pub(crate) fn planned(&self) -> Option<Amount<Rho>> {
        match self {
            Self::Sum { rule, .. } => rule.planned(),
            Self::Average { .. } => None,
        }
    }

    /// The first look of a goal that is walked to, at the widest noise of its own columns; nothing
    /// for one look that is planned.
    fn start(&self) -> Amount<Rho> {
        match self {
            Self::Sum { rule, .. } if rule.planned().is_some() => Amount::ZERO,
            Self::Sum { rule, .. } => rule.first(),
            Self::Average { rule, .. } => rule.first(),
        }
    }

    fn first_from(&self, revealed: Amount<Rho>) -> Amount<Rho> {
        match self {
            Self::Sum { rule, .. } => rule.first_from(revealed),
            Self::Average { rule, .. } => rule.first_from(revealed),
        }
    }

    /// The rule for a group of which the asker has seen something before: one confidence
    /// sequence for all goals of the path.
    pub(crate) fn by_hand(&self) -> Self {
        match *self {
            Self::Sum { column, step, is_count, rule } => {
                Self::Sum { column, step, is_count, rule: rule.by_hand() }
            }
            Self::Average { sum, count, rule } => {
                Self::Average { sum, count, rule: rule.by_hand() }
            }
        }
    }
}

/// The absolute error of a measure that is good enough whatever the relative one.
pub(crate) fn floor(measure: &Measure, plan: &Plan, goal: &Goal) -> f64 {
    goal.floor.unwrap_or_else(|| match *measure {
        Measure::Sum(column) => {
            let sum = &plan.sums[column];
            steps(sum.sensitivity(plan.max_rows)) * sum.step()
        }
        Measure::Average { sum, count } => {
            let of = average_of(plan, sum, count);
            (of.high - of.low) / 1000.0
        }
    })
}

/// What a measure is between at another level than that of its goal, given what it was read from.
pub(crate) fn interval(
    measure: &Measure,
    plan: &Plan,
    evidence: &Evidence,
    miss: f64,
) -> Option<[f64; 2]> {
    let Evidence { worth: price, sum, count, gamma } = *evidence;
    let factor = deviations(miss, gamma.map(|gamma| price.to_f64() / gamma));
    let (low, high) = match *measure {
        Measure::Sum(column) => {
            let of = &plan.sums[column];
            let unit = steps(of.sensitivity(plan.max_rows)) * of.step();
            let half = factor * unit / (2.0 * price.to_f64()).sqrt() + 0.5 * of.step();
            let least = if counts(of) { 0.0 } else { f64::NEG_INFINITY };
            ((sum - half).max(least), (sum + half).max(least))
        }
        Measure::Average { sum: column, count: beside } => {
            let look = AverageLook { asked: price, price, sum, count: count? };
            average_of(plan, column, beside).interval(look, factor)
        }
    };
    Some([low, high])
}

/// What a measure can be read from at hand, at the point of a group that was paid for: for an
/// answer that was stored before this was.
pub(crate) fn at_hand(
    rule: &MeasureRule,
    bundle: &Bundle<Rho>,
    group: u32,
    at: Amount<Rho>,
) -> Option<Evidence> {
    let see = |column: usize, step: f64| {
        let (_, value) = bundle.nearest(group, column, at)?;
        Some((bundle.worth(group, column, at), double(value.get()) * step))
    };
    let rule = rule.by_hand();
    let (worth, sum, count) = match &rule {
        MeasureRule::Sum { column, step, .. } => {
            let (worth, sum) = see(*column, *step)?;
            (worth, sum, None)
        }
        MeasureRule::Average { sum, count, .. } => {
            let ((price, sum), (other, count)) = (see(sum.0, sum.1)?, see(count.0, count.1)?);
            (price.min(other), sum, Some(count))
        }
    };
    (!worth.is_zero()).then(|| Evidence { worth, sum, count, gamma: rule.gamma() })
}

/// Whether a sum counts something, so that there are no fewer than none.
fn counts(sum: &eke_sql::Sum) -> bool {
    !matches!(sum.summand, Summand::Value { .. })
}

/// What an average is made of.
pub(crate) fn average_of(plan: &Plan, sum: usize, count: usize) -> AverageOf {
    let part = |index: usize| {
        let sum = &plan.sums[index];
        Part { sensitivity: steps(sum.sensitivity(plan.max_rows)) * sum.step(), step: sum.step() }
    };
    let step = plan.sums[sum].step();
    let (low, high, centre) = match plan.sums[sum].summand {
        Summand::Value { low, high, centre, .. } => (low, high, centre),
        Summand::Rows | Summand::Present(_) | Summand::Units => (0, 1, 0),
    };
    let length = |steps: i64| double(steps) * step;
    let (low, high, centre) = (length(low), length(high), length(centre));
    AverageOf { sum: part(sum), count: part(count), centre, low, high }
}

/// What one look shows of a measure.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Sum(Look<Rho>),
    Average(AverageLook),
}

/// Where a measure of a group stands.
#[derive(Clone, Copy, Debug)]
enum Standing {
    /// It is to be looked at, at this price of the group.
    Wants { price: Amount<Rho>, number: u32, last: Option<Seen> },
    /// It has ended.
    Done(Found),
}

/// The walk of the groups of a question, all of them or some.
#[derive(Debug)]
pub(crate) struct Walk {
    /// For groups that have not been seen before, and for those that have.
    rules: [Vec<MeasureRule>; 2],
    /// Whether each group has been seen before.
    seen: Vec<bool>,
    columns: u32,
    /// The highest price of a group.
    most: Amount<Rho>,
    /// The least that a step of a group may cost.
    least: Amount<Rho>,
    /// Nothing for a group that is not followed.
    groups: Vec<Vec<Standing>>,
    looks: u32,
    /// Whether more groups will be followed after these.
    is_part: bool,
    /// Whether the highest price is the furthest point that a tier sees.
    is_capped: bool,
}

impl Walk {
    /// A walk that goes on from where the asker has got before: the price of each group. No
    /// column goes further than to the highest price, and no step of a group is smaller than the
    /// least that can be drawn.
    ///
    /// A group is not looked at before the first look of its widest column: all columns of it are
    /// drawn together.
    pub(crate) fn new(
        rules: Vec<MeasureRule>,
        columns: u32,
        most: Amount<Rho>,
        least: Amount<Rho>,
        revealed: &[Amount<Rho>],
    ) -> Self {
        let by_hand = rules.iter().map(MeasureRule::by_hand).collect();
        let rules = [rules, by_hand];
        let seen: Vec<bool> = revealed.iter().map(|price| !price.is_zero()).collect();
        let start = |group: &Amount<Rho>| {
            let rules = &rules[usize::from(!group.is_zero())];
            let column = Amount::from_grains(group.grains() / u128::from(columns));
            let start = rules.iter().map(MeasureRule::start).max().unwrap_or(Amount::ZERO);
            let wants = |rule: &MeasureRule| {
                let first = rule.first_from(column).max(start);
                // Where something was revealed, the look is just there.
                let price = if first <= column { *group } else { whole(first, columns).max(least) };
                Standing::Wants { price, number: 1, last: None }
            };
            rules.iter().map(wants).collect()
        };
        let groups = revealed.iter().map(start).collect();
        let most = whole(most, columns);
        Self {
            rules,
            seen,
            columns,
            most,
            least,
            groups,
            looks: 0,
            is_part: false,
            is_capped: false,
        }
    }

    /// The same walk, where the highest price is the furthest point that a tier sees.
    pub(crate) fn capped(mut self) -> Self {
        self.is_capped = true;
        self
    }

    /// The same walk of some groups alone, as a part of an answer.
    pub(crate) fn of(mut self, groups: &[u32]) -> Self {
        for (group, standings) in (0u32..).zip(&mut self.groups) {
            if !groups.contains(&group) {
                standings.clear();
            }
        }
        self.is_part = true;
        self
    }

    /// A walk that has ended, with what was found on it.
    pub(crate) fn ended(found: Vec<Vec<Found>>, looks: u32) -> Self {
        let done = |group: Vec<Found>| group.into_iter().map(Standing::Done).collect();
        Self {
            rules: [Vec::new(), Vec::new()],
            seen: vec![false; found.len()],
            columns: 1,
            most: Amount::ZERO,
            least: Amount::ZERO,
            groups: found.into_iter().map(done).collect(),
            looks,
            is_part: false,
            is_capped: false,
        }
    }

    /// How many looks were taken at most.
    pub(crate) fn looks(&self) -> u32 {
        self.looks
    }

    /// Where every group that has not ended is to be looked at next.
    pub(crate) fn wanted(&self) -> Vec<(u32, Amount<Rho>)> {
        let nearest = |group: &Vec<Standing>| {
            let wants = group.iter().filter_map(|standing| match standing {
                Standing::Wants { price, .. } => Some(*price),
                Standing::Done(_) => None,
            });
            wants.min()
        };
        let groups = (0u32..).zip(&self.groups);
        groups.filter_map(|(index, group)| Some((index, nearest(group)?))).collect()
    }

    /// Looks at a group that the asker may see up to this price.
    pub(crate) fn look(&mut self, group: u32, bundle: &Bundle<Rho>, at: Amount<Rho>) {
        let (columns, least) = (self.columns, self.least);
        let see = |column: usize, step: f64| {
            let (_, value) = bundle.nearest(group, column, at)?;
            let worth = bundle.worth(group, column, at);
            (!worth.is_zero()).then_some((worth, value, double(value.get()) * step))
        };
        // Somebody else has gone further meanwhile, for the same account: from here on it is by
        // hand.
        let wanted = self.groups[group as usize].iter().filter_map(|standing| match standing {
            Standing::Wants { price, .. } => Some(price.grains()),
            Standing::Done(_) => None,
        });
        if wanted.min().is_some_and(|price| at.grains() / 20 * 18 > price) {
            self.seen[group as usize] = true;
        }
        let rules = &self.rules[usize::from(self.seen[group as usize])];
        for (standing, rule) in self.groups[group as usize].iter_mut().zip(rules) {
            let Standing::Wants { price, number, last } = *standing else { continue };
            if !reaches(at, price, least) {
                continue;
            }
            self.looks = self.looks.max(number);
            let asked = Amount::from_grains(price.grains() / u128::from(columns));
            let seen = match rule {
                MeasureRule::Sum { column, step, .. } => see(*column, *step)
                    .map(|(price, value, _)| Seen::Sum(Look { number, asked, price, value })),
                MeasureRule::Average { sum, count, .. } => {
                    see(sum.0, sum.1).zip(see(count.0, count.1)).map(|(sum, count)| {
                        let price = sum.0.min(count.0);
                        Seen::Average(AverageLook { asked, price, sum: sum.2, count: count.2 })
                    })
                }
            };
            let next = seen.map(|seen| (seen, rule.after(seen)));
            *standing = match next {
                Some((seen, Next::Stop(estimate))) => Standing::Done(rule.found(estimate, seen)),
                Some((_, Next::Look(next))) => Standing::Wants {
                    price: whole(next, columns).max(at.plus(Amount::GRAIN).unwrap_or(at)),
                    number: number + 1,
                    last: seen,
                },
                // The grid allowed no point here: the next look, or what there was before.
                None if number < 400 && price < self.most => {
                    let further = Amount::from_grains(price.grains() / 20 * 21 + 1);
                    let price = further.min(self.most);
                    Standing::Wants { price, number: number + 1, last }
                }
                None => Standing::Done(rule.ended(last, Ending::Grid)),
            };
        }
    }

    /// Whether a point of one price is as good as one of another.
    pub(crate) fn reaches(&self, at: Amount<Rho>, price: Amount<Rho>) -> bool {
        reaches(at, price, self.least)
    }

    /// Ends what has not ended, because the budget does not allow the next looks. None if a group
    /// has not been looked at yet.
    pub(crate) fn refuse(&mut self) -> Option<()> {
        let standings = || self.groups.iter().flatten();
        let unseen = |standing: &Standing| matches!(standing, Standing::Wants { last: None, .. });
        if standings().any(unseen) {
            return None;
        }
        for (group, seen) in self.groups.iter_mut().zip(&self.seen) {
            for (standing, rule) in group.iter_mut().zip(&self.rules[usize::from(*seen)]) {
                if let Standing::Wants { last, .. } = *standing {
                    *standing = Standing::Done(rule.ended(last, Ending::Refused));
                }
            }
        }
        Some(())
    }

    /// Whether more groups will be followed after these.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Whether everything has ended.
    pub(crate) fn has_ended(&self) -> bool {
        let done = |standing: &Standing| matches!(standing, Standing::Done(_));
        self.groups.iter().flatten().all(done)
    }

    /// What the whole answer is, once everything has ended.
    pub(crate) fn answer(&self) -> Option<Vec<Vec<Found>>> {
        (self.has_ended() && !self.is_part).then(|| self.found())
    }

    /// What was found, group by group and measure by measure; nothing for what is not followed or
    /// has not ended.
    pub(crate) fn found(&self) -> Vec<Vec<Found>> {
        let by_tier = |found: &Found| {
            let ending = match found.ending {
                Stopped::HighestPrice | Stopped::OutOfReach if self.is_capped => Stopped::Tier,
                ending => ending,
            };
            Found { ending, ..*found }
        };
        let done = |standing: &Standing| match standing {
            Standing::Done(found) => Some(by_tier(found)),
            Standing::Wants { .. } => None,
        };
        self.groups.iter().map(|group| group.iter().filter_map(done).collect()).collect()
    }
}

impl MeasureRule {
    fn after(&self, seen: Seen) -> Next<Rho> {
        match (self, seen) {
            (Self::Sum { rule, .. }, Seen::Sum(look)) => rule.after(look),
            (Self::Average { rule, .. }, Seen::Average(look)) => rule.after(look),
            _ => unreachable!("a look is of its measure's kind"),
        }
    }

    fn ended(&self, last: Option<Seen>, ending: Ending) -> Found {
        match (self, last) {
            (Self::Sum { rule, .. }, Some(seen @ Seen::Sum(look))) => {
                self.found(rule.end(look, ending), seen)
            }
            (Self::Average { rule, .. }, Some(seen @ Seen::Average(look))) => {
                self.found(rule.end(look, ending), seen)
            }
            _ => Found::nothing(Stopped::from(ending)),
        }
    }

    fn found(&self, estimate: Estimate, seen: Seen) -> Found {
        let found = match self {
            // There are no fewer than none.
            Self::Sum { step, is_count: true, .. } => {
                let Estimate { value, low, high, ending } = estimate;
                let [value, low, high] = [value, low, high].map(|steps| steps.max(0.0));
                Found::new(Estimate { value, low, high, ending }, *step)
            }
            Self::Sum { step, .. } => Found::new(estimate, *step),
            Self::Average { .. } => Found::new(estimate, 1.0),
        };
        Found { evidence: Some(self.evidence(seen)), ..found }
    }

    fn evidence(&self, seen: Seen) -> Evidence {
        let gamma = self.gamma();
        match seen {
            Seen::Sum(look) => {
                let step = match self {
                    Self::Sum { step, .. } => *step,
                    Self::Average { .. } => 1.0,
                };
                let sum = double(look.value.get()) * step;
                Evidence { worth: look.price, sum, count: None, gamma }
            }
            Seen::Average(look) => {
                Evidence { worth: look.price, sum: look.sum, count: Some(look.count), gamma }
            }
        }
    }

    /// The gamma of its confidence sequence, as a price; none where the one look is planned.
    pub(crate) fn gamma(&self) -> Option<f64> {
        match self {
            Self::Sum { rule, .. } => rule.gamma(),
            Self::Average { rule, .. } => rule.gamma(),
        }
    }
}

/// Whether a point of one price is as good as one of another: what is missing would be a step of
/// its own, of less than a crumb, or with noise too wide to draw.
fn reaches(at: Amount<Rho>, price: Amount<Rho>, least: Amount<Rho>) -> bool {
    let missing = price.grains().saturating_sub(at.grains());
    let crumb = at.grains() / LEAST_STEP_ONE_IN;
    missing <= crumb || (!at.is_zero() && missing < least.grains())
}

/// What noise fixed in advance costs in each group, for every value to be as good as asked whatever
/// the data; none if no price promises it.
pub(crate) fn fixed_price(measures: &[Measure], plan: &Plan, goal: &Goal) -> Option<Amount<Rho>> {
    let mut group = Amount::ZERO;
    for measure in measures {
        let Measure::Sum(column) = *measure else { return None };
        let sum = &plan.sums[column];
        let unit = steps(sum.sensitivity(plan.max_rows)) * sum.step();
        let error = match goal.accuracy {
            Accuracy::Relative(_) => goal.floor.unwrap_or(unit),
            Accuracy::Absolute(error) => error,
            Accuracy::Price(_) => return None,
        };
        let price = (quantile(goal.confidence) * unit / error).powi(2) / 2.0;
        group = group.plus(Amount::ceil(price).ok()?)?;
    }
    Some(group)
}

fn quantile(confidence: Confidence) -> f64 {
    confidence.quantile()
}

/// The price of a group of which a column costs this.
fn whole(column: Amount<Rho>, columns: u32) -> Amount<Rho> {
    column.times(columns).unwrap_or(Amount::MAX)
}

fn steps(sensitivity: u64) -> f64 {
    sensitivity as f64
}

fn double(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Adjacency;
    use eke_sql::{Protection, Table, plan};

    /// At looks that depended on what was seen, it is the confidence sequence that holds for a
    /// chosen row, and not an ordinary interval.
    #[test]
    fn intervals_of_chosen_rows_know_how_their_looks_were_planned() {
        let protection = Protection::Private {
            unit_column: "who".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 1,
            max_rows: 1,
        };
        let table = Table { name: "t".to_owned(), columns: Vec::new(), protection };
        let query = plan("SELECT COUNT(*) FROM t", &[table]).unwrap();
        let (worth, miss) = (0.01f64, 0.005);
        for gamma in [None, Some(1e-4), Some(0.3)] {
            let evidence =
                Evidence { worth: Amount::ceil(worth).unwrap(), sum: 1000.0, count: None, gamma };
            let [low, high] = interval(&query.measures[0], &query.plan, &evidence, miss).unwrap();
            let off = match gamma {
                None => deviations(miss, None),
                Some(gamma) => {
                    let over = worth / gamma;
                    ((1.0 + 1.0 / over) * (over.ln_1p() - 2.0 * miss.ln())).sqrt()
                }
            };
            let expected = 2.0 * off / (2.0 * worth).sqrt() + query.plan.sums[0].step();
            assert!((high - low - expected).abs() < 1e-6, "{gamma:?}: {low} {high} {expected}");
        }
    }
}
