//! What an answer lacks, and what would do: goals that are not met, lists that are short, picks
//! that may be noise.
//!
//! All of it follows from released values and from public information, so it costs nothing and
//! tells nothing more.

use eke_budget::{Amount, Rho};
use eke_sql::Measure;

use crate::ask::Asking;
use crate::ask::question::Accuracy;
use crate::ask::read::Read;
use crate::ask::shown::answer::{
    Answer, Cost, Evidence, Fewer, Found, InEpsilon, PickError, Stopped, Unmet, WhyFewer,
    conversion_delta,
};
use crate::ask::top::Route;
use crate::ask::top::picks::moves;
use crate::ask::walk::MeasureRule;

/// Of the values of a column that missed their goal for one reason, how many there are and the one
/// that takes most.
struct Worst {
    place: usize,
    ending: Stopped,
    rows: usize,
    /// The measure, what was found and how near it must come; none if one of them is unknown.
    found: Option<(usize, Found, f64)>,
}

impl Asking<'_> {
    /// A price in epsilon, where the asker's budget states a delta.
    pub(crate) fn in_epsilon(&self, rho: Amount<Rho>) -> Option<InEpsilon> {
        InEpsilon::of(rho.to_f64(), conversion_delta(&self.context.own().budget)?)
    }

    /// An answer about that many groups, of which these are shown, with what it lacks.
    pub(crate) fn with_what_lacks(
        &self,
        answer: Answer,
        (groups, shown): (usize, &[u32]),
        found: &[Vec<Found>],
        left: Amount<Rho>,
    ) -> Answer {
        let unmet = self.unmet(&answer, (groups, shown), found, left);
        let suppressed = answer.suppressed.is_some_and(|suppressed| suppressed.rows > 0);
        let fewer = self.fewer((answer.rows.len(), suppressed), groups, found);
        let picks = self.pick_error(&answer, groups);
        Answer { unmet, fewer, picks, ..answer }
    }

    fn unmet(
        &self,
        answer: &Answer,
        (groups, shown): (usize, &[u32]),
        found: &[Vec<Found>],
        left: Amount<Rho>,
    ) -> Vec<Unmet> {
        let outputs = &self.context.prepared.query.outputs;
        let columns =
            outputs.iter().filter_map(|output| Some((output.shows.measure()?, &output.name)));
        let columns: Vec<_> = columns.collect();
        let mut worst: Vec<Worst> = Vec::new();
        for (row, group) in answer.rows.iter().zip(shown) {
            for (place, cell) in row.values.iter().enumerate() {
                if cell.met != Some(false) {
                    continue;
                }
                let measure = columns.get(place).map(|(measure, _)| *measure);
                let values = found.get(*group as usize);
                let of = measure.and_then(|measure| Some((measure, *values?.get(measure)?)));
                let of = of.and_then(|(measure, found)| self.aimed_at(measure, found));
                let is_same = |one: &&mut Worst| one.place == place && one.ending == cell.ending;
                match worst.iter_mut().find(is_same) {
                    None => worst.push(Worst { place, ending: cell.ending, rows: 1, found: of }),
                    Some(one) => {
                        one.rows += 1;
                        one.found = match (one.found.take(), of) {
                            (Some(one), Some(other)) => Some(further(one, other)),
                            _ => None,
                        };
                    }
                }
            }
        }
        let miss = answer
            .chosen
            .map_or(1.0 - self.question.goal.confidence.get(), |chosen| 1.0 - chosen.level);
        let told = |one: Worst| {
            let (needs, reach) = match &one.found {
                Some(found) => self.would_do(found, groups, left, miss),
                None => (None, None),
            };
            // What a tier does not see is not for sale.
            let needs = needs.filter(|_| one.ending != Stopped::Tier);
            let name = columns.get(one.place).map_or(String::new(), |(_, name)| (*name).clone());
            Unmet { name, ending: one.ending, rows: one.rows, needs, reach }
        };
        worst.into_iter().map(told).collect()
    }

    /// How near a value must come to meet the goal, if it is what was found.
    fn aimed_at(&self, measure: usize, found: Found) -> Option<(usize, Found, f64)> {
        let goal = self.goals.of(measure);
        let value = found.value.filter(|_| found.evidence.is_some())?;
        let least = || {
            let measure = self.context.prepared.query.measures.get(measure)?;
            goal.floor.or_else(|| Some(Read::of(measure, self.plan())?.floor()))
        };
        let error = match goal.accuracy {
            Accuracy::Relative(tolerance) => (tolerance.get() * value.abs()).max(least()?),
            Accuracy::Absolute(error) => error,
            Accuracy::Price(_) => return None,
        };
        Some((measure, found, error))
    }

    /// About what more it costs to bring a value within its error, and how near it comes for all
    /// that is left. The asker has seen it, so its interval is then that of a path that is followed
    /// by hand.
    fn would_do(
        &self,
        (measure, found, error): &(usize, Found, f64),
        groups: usize,
        left: Amount<Rho>,
        miss: f64,
    ) -> (Option<Cost>, Option<f64>) {
        let goal = self.goals.of(*measure);
        let measure = self.context.prepared.query.measures.get(*measure);
        let Some(read) = measure.and_then(|measure| Read::of(measure, self.plan())) else {
            return (None, None);
        };
        let Some((evidence, value)) = found.evidence.zip(found.value) else {
            return (None, None);
        };
        let times = self.price_times(groups);
        let most = Amount::ceil(left.to_f64() / times).unwrap_or(Amount::GRAIN).max(Amount::GRAIN);
        let rule = MeasureRule::new(read, &goal, most).ok();
        let gamma = rule.and_then(|rule| rule.by_hand().gamma());
        let value = match read {
            // There are no fewer than none.
            Read::Sum { is_count: true, .. } => evidence.sum.max(0.0),
            Read::Sum { .. } | Read::Total { .. } => evidence.sum,
            Read::Average { .. } => value,
        };
        let evidence = match read {
            Read::Sum { .. } | Read::Total { .. } => Evidence { sum: value, ..evidence },
            Read::Average { .. } => evidence,
        };
        let error_at = |column: f64| {
            let worth = Amount::ceil(column).ok()?;
            let at = Evidence { worth, gamma, ..evidence };
            let [low, high] = read.interval(&at, miss)?;
            Some((high - value).max(value - low))
        };
        let worth = evidence.worth.to_f64();
        let needs = least_price(|column| error_at(column).is_some_and(|found| found <= *error));
        let more = needs.map(|column| (column - worth) * times).filter(|more| *more > 0.0);
        let needs = more.and_then(|more| Amount::ceil(more).ok());
        let furthest = worth + left.to_f64() / times;
        let furthest = self.finest().map_or(furthest, |finest| furthest.min(finest.to_f64()));
        (needs.map(|more| Cost::new(more, Amount::ZERO)), error_at(furthest.max(worth)))
    }

    /// How many times the price of one column the question costs that takes all its groups equally
    /// far.
    fn price_times(&self, groups: usize) -> f64 {
        let touched = groups.min(self.route.most_groups()).max(1);
        let columns = self.plan().sums.len().max(1);
        self.weights().times(touched) * columns as f64
    }

    fn fewer(
        &self,
        (rows, suppressed): (usize, bool),
        groups: usize,
        found: &[Vec<Found>],
    ) -> Option<Fewer> {
        let query = &self.context.prepared.query;
        let keys_alone = query.measures.is_empty();
        let measured = found.iter().filter(|values| keys_alone || !values.is_empty()).count();
        let is_top = matches!(self.route, Route::Top { .. });
        let filters = query.having.is_some();
        let wanted = match query.limit {
            Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
            None if is_top => groups,
            None if (filters || suppressed) && rows == 0 => measured,
            None => return None,
        };
        if rows >= wanted {
            return None;
        }
        let why = if is_top && measured < groups.min(wanted) {
            if self.sees_fewer(groups) {
                WhyFewer::Tier
            } else if found.iter().flatten().all(Found::met) {
                WhyFewer::Price
            } else {
                WhyFewer::Goal
            }
        } else if suppressed {
            WhyFewer::Units
        } else if filters && measured > 0 {
            WhyFewer::Having
        } else {
            WhyFewer::Groups
        };
        Some(Fewer { rows, wanted, why })
    }

    /// Why there are fewer keys than were asked for, where keys are all that is shown.
    pub(crate) fn fewer_keys(&self, rows: usize, groups: usize) -> Option<Fewer> {
        let limit = self.context.prepared.query.limit?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let why = if rows < groups { WhyFewer::Tier } else { WhyFewer::Groups };
        (rows < wanted).then_some(Fewer { rows, wanted, why })
    }

    /// How far picks among that many groups may be off, and which rows of an answer are no further
    /// from nothing than that.
    ///
    /// The exponential mechanism weighs a group by `exp(rate score)`, so one that is `t` below the
    /// best of m is picked with a probability of at most `(m - 1) exp(-rate t)`.
    pub(crate) fn pick_error(&self, answer: &Answer, groups: usize) -> Option<PickError> {
        let (Route::Top { sum, .. } | Route::Keys { sum, .. }) = self.route else { return None };
        if !answer.picked {
            return None;
        }
        let plan = self.plan();
        let of = plan.sums.get(sum)?;
        let (moves, times) = moves(plan, of);
        let spread = of.sensitivity(plan.max_rows) as f64 * of.step();
        let spread = spread * f64::from(moves.spread()) * f64::from(times);
        let each = self.ranked_by((&self.question.goal, self.route), sum).each.to_f64();
        let rate = (8.0 * each).sqrt() / spread;
        let confidence = self.question.goal.confidence.get();
        let others = groups.saturating_sub(1).max(1) as f64;
        let within = (others / (1.0 - confidence)).ln() / rate;
        let query = &self.context.prepared.query;
        let values = query.outputs.iter().filter_map(|output| output.shows.measure());
        let is_it = |&measure: &usize| query.measures.get(measure) == Some(&Measure::Sum(sum));
        let place = values.into_iter().position(|measure| is_it(&measure));
        let is_doubtful = |place: usize, row: &crate::ask::Row| {
            row.values.get(place).is_some_and(|cell| cell.low.is_none_or(|low| low < within))
        };
        let rows = answer.rows.iter().enumerate();
        let doubtful = place.map_or_else(Vec::new, |place| {
            rows.filter(|(_, row)| is_doubtful(place, row)).map(|(row, _)| row).collect()
        });
        Some(PickError { within, confidence, doubtful })
    }
}

/// Of two values, the one that takes the higher price.
fn further(one: (usize, Found, f64), other: (usize, Found, f64)) -> (usize, Found, f64) {
    let takes = |(_, found, error): &(usize, Found, f64)| {
        let worth = found.evidence.map_or(0.0, |evidence| evidence.worth.to_f64());
        let half = match (found.value, found.low, found.high) {
            (Some(value), Some(low), Some(high)) => (high - value).max(value - low),
            _ => f64::INFINITY,
        };
        (half / error).powi(2) * worth
    };
    if takes(&other) > takes(&one) { other } else { one }
}

/// The least price at which something holds that holds from some price on; none if there is none.
pub(crate) fn least_price(holds: impl Fn(f64) -> bool) -> Option<f64> {
    // Up to the largest amounts that there are.
    let (mut low, mut high) = (-60.0f64, 18.0f64);
    if !holds(high.exp()) {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle.exp()) { high = middle } else { low = middle }
    }
    Some(high.exp())
}
