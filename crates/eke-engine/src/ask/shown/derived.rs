//! What is made of several released values, and when it is good enough (post-processing).
//!
//! A multiple of one value, rounded or not, is followed as that value is, to a goal that is as many
//! times smaller. A sum of multiples of sums has noise of one Gaussian path, and its own confidence
//! sequence. So has, for a ratio r of two such, the numerator less r times the denominator: the
//! ratios that its confidence sequence allows are an interval (`ratio.rs`). Anything else is
//! followed by confidence sequences of its parts: with the confidence all of them hold at all looks
//! at once, so what follows from them by interval arithmetic does too, whenever it is decided to
//! stop. Boundaries that are calibrated for one value hold at their own stop only, and are never
//! combined.

mod ratio;

use eke_budget::{Amount, Rho};
use eke_noise::stopping::{ConfidenceSequence, Ending, deviations};
use eke_noise::{Bundle, Confidence, Schedule};
use eke_sql::{Binary, Expr, Function, Leaf, Type, Unary, Value, evaluate, interval};

use crate::ask::question::{Accuracy, Goal};
use crate::ask::read::{Read, is_one_path};
use crate::ask::shown::answer::{Evidence, Found, Stopped};
use crate::ask::shown::derived::ratio::Ratio;
use crate::ask::walk::MeasureRule;
use crate::error::WrongGoal;

/// The confidence sequences of a fresh path are tightest at the highest price over this: they lose
/// little above that, and what is decided below has cost little.
const TIGHTEST_ONE_IN: u128 = 10_000;
/// The price at which those of a path that was seen before are tightest.
const BY_HAND: f64 = 1e-5;
/// How many times as dear as the one before a look is at most.
const MOST_GROWTH: f64 = 4.0;
/// A look is not planned beyond this part of the price at which the goal seems to be met.
const CAUTION: f64 = 0.9;

/// A value, and what it is between.
pub(crate) type Between = (f64, [f64; 2]);

/// What a number follows from.
#[derive(Clone, Debug)]
struct Legs {
    each: Vec<Between>,
    /// Whether they are the parts of a ratio, with half the width of each for the miss of all.
    is_ratio: bool,
}

/// How a number is made of parts.
///
/// - Theorem: derived-interval (docs/theorems.md)
/// - Proves: with a probability of one minus the miss, what is made of the true parts is in its
///   interval at all looks at once; where no gamma is given, at the one look that was planned
/// - Assumes: all parts are read at points of one group and one price, with independent noise
///   (bundle)
/// - Deviates: ends are computed in doubles, to about 1e-15 of them; half a step of each grid is
///   added; of one price, columns stand at points that differ by what their grids make of it
/// - Checked by: `what_is_made_of_parts_holds_for_every_truth`, `parts_share_the_miss`
#[derive(Clone, Debug)]
pub(crate) struct Derivation {
    /// What its goal is about: a number over parts.
    exact: Expr,
    /// What is shown of that: it, or it rounded. A number over one value.
    shown: Expr,
    /// The place of the first part among the measures.
    first: usize,
    parts: Vec<Read>,
    /// What each part is taken times, and what is added, if that is all there is to it and the
    /// parts are sums.
    weights: Option<(Vec<f64>, f64)>,
    /// The ratio of two such that it is, also of totals.
    ratio: Option<Ratio>,
}

impl Derivation {
    /// A number that is made of these parts, which follow it among the measures.
    pub(crate) fn new(value: &Expr, first: usize, parts: Vec<Read>) -> Self {
        let exact = unrounded(value).clone();
        let shown = put_in(value, &exact);
        let are_sums = parts.iter().all(|part| matches!(part, Read::Sum { .. }));
        let weights = linear(&exact, first, parts.len()).filter(|_| are_sums);
        let ratio = Ratio::of(&exact, first, &parts).filter(|_| weights.is_none());
        Self { exact, shown, first, parts, weights, ratio }
    }

    /// How many times its one part it is, but for a rounding at the end; none if it is not.
    fn multiple(&self) -> Option<f64> {
        if self.parts.iter().any(is_total) {
            return None;
        }
        let one = |weights: &Option<(Vec<f64>, f64)>| match weights {
            Some((weights, offset)) if *offset == 0.0 => match **weights {
                [times] if times.is_normal() => Some(times),
                _ => None,
            },
            _ => None,
        };
        one(&self.weights).or_else(|| one(&linear(&self.exact, self.first, self.parts.len())))
    }

    /// The absolute error that is good enough whatever the relative one, where none is given: that
    /// of the one part, so many times. What is made of several has no natural one.
    pub(crate) fn floor(&self) -> f64 {
        match (&*self.parts, self.multiple()) {
            ([part], Some(times)) => times.abs() * part.floor(),
            _ => 0.0,
        }
    }

    /// What the goal is about, and what that is between but for a probability of a miss. None where
    /// nothing can be said.
    pub(crate) fn exact(&self, looks: &[Evidence], miss: f64) -> Option<Between> {
        self.of_legs(&self.legs(looks, miss))
    }

    /// What is shown of that.
    pub(crate) fn shown(&self, (value, [low, high]): Between) -> (Option<f64>, Option<[f64; 2]>) {
        let shown = evaluate(&self.shown, &|_| Value::float(value));
        let ends = interval(&self.shown, &|_| Some((low, high)));
        (number_of(shown), ends.map(|(low, high)| [low, high]))
    }

    /// What it follows from: its parts, or itself where it has a path of its own. All of them hold
    /// at once, but for a probability of a miss.
    fn legs(&self, looks: &[Evidence], miss: f64) -> Legs {
        let totals = self.parts.iter().zip(looks).filter(|(part, _)| is_total(part));
        let are_paths = totals.into_iter().all(|(_, look)| is_one_path(look));
        if let Some(ratio) = self.ratio.as_ref().filter(|_| are_paths) {
            return Legs { each: ratio.legs(&self.parts, looks, miss), is_ratio: true };
        }
        let Some((weights, offset)) = &self.weights else {
            let each = miss / self.parts.len().max(1) as f64;
            let legs = self.parts.iter().zip(looks).map(|(read, look)| leg(read, look, each));
            return Legs { each: legs.collect(), is_ratio: false };
        };
        let (mut value, mut variance, mut rounding) = (*offset, 0.0, 0.0);
        let mut factor = 0.0f64;
        for ((part, look), times) in self.parts.iter().zip(looks).zip(weights) {
            let Read::Sum { unit, step, .. } = part else { continue };
            let price = look.worth.to_f64();
            value += times * look.sum;
            variance += (times * unit).powi(2) / (2.0 * price);
            rounding += 0.5 * (times * step).abs();
            factor = factor.max(deviations(miss, look.gamma.map(|gamma| price / gamma)));
        }
        let half = factor * variance.sqrt() + rounding;
        Legs { each: vec![(value, [value - half, value + half])], is_ratio: false }
    }

    /// What follows from legs.
    fn of_legs(&self, legs: &Legs) -> Option<Between> {
        let Legs { each: legs, is_ratio } = legs;
        if self.weights.is_some() {
            return legs.first().copied().filter(|(value, _)| value.is_finite());
        }
        let leg = |index: usize| index.checked_sub(self.first).and_then(|leg| legs.get(leg));
        // There are no fewer than none of what is counted.
        let least = |index: usize| match index.checked_sub(self.first).map(|at| self.parts.get(at))
        {
            Some(Some(Read::Sum { is_count: true, .. } | Read::Total { is_count: true, .. })) => {
                0.0
            }
            _ => f64::NEG_INFINITY,
        };
        let value = evaluate(&self.exact, &|leaf| match leaf {
            Leaf::Measure(index) => {
                leg(index).map_or(Value::Null, |leg| Value::float(leg.0.max(least(index))))
            }
            Leaf::Key(_) | Leaf::Column(_) => Value::Null,
        });
        if let Some(ratio) = self.ratio.as_ref().filter(|_| *is_ratio) {
            let [low, high] = ratio.interval(&self.parts, legs)?;
            return Some((number_of(value)?.clamp(low, high), [low, high]));
        }
        let (low, high) = interval(&self.exact, &|leaf| match leaf {
            Leaf::Measure(index) => leg(index).map(|(_, [low, high])| (*low, *high)),
            Leaf::Key(_) | Leaf::Column(_) => None,
        })?;
        Some((number_of(value)?, [low, high]))
    }

    /// What one look of the noise is, for a price of one.
    fn deviation(&self) -> Option<f64> {
        let (weights, _) = self.weights.as_ref()?;
        let variance = self.parts.iter().zip(weights).map(|(part, times)| match part {
            Read::Sum { unit, .. } => (times * unit).powi(2) / 2.0,
            Read::Total { .. } | Read::Average { .. } => f64::INFINITY,
        });
        Some(variance.sum::<f64>().sqrt()).filter(|deviation| deviation.is_finite())
    }
}

fn is_total(part: &Read) -> bool {
    matches!(part, Read::Total { .. })
}

/// A part and what it is between, but for a probability of a miss.
fn leg(read: &Read, evidence: &Evidence, miss: f64) -> Between {
    let any = [f64::NEG_INFINITY, f64::INFINITY];
    let ends = read.interval(evidence, miss).unwrap_or(any);
    // There are no fewer than none of what is counted, which what is made of it may depend on.
    let ends = match read {
        Read::Sum { is_count: true, .. } | Read::Total { is_count: true, .. } => {
            ends.map(|end| end.max(0.0))
        }
        _ => ends,
    };
    (read.value(evidence, ends), ends)
}

/// When to stop on the paths of a number that is made of several.
#[derive(Clone, Debug)]
pub(crate) struct DerivedRule {
    derivation: Derivation,
    goal: Goal,
    /// Whether it is a multiple of the one measure after it, which is followed by itself.
    is_multiple: bool,
    /// The highest price of a column, and that of the first look.
    most: Amount<Rho>,
    start: Amount<Rho>,
    /// The one look of an absolute goal, where the noise does not depend on what is seen.
    planned: Option<Amount<Rho>>,
    schedule: Schedule<Rho>,
    /// The gamma of the confidence sequences, as a price; none where the one look is planned.
    gamma: Option<f64>,
}

/// What to do after a look.
pub(crate) enum Step {
    /// Look at this price of a column.
    Look(Amount<Rho>),
    /// Stop, for this reason.
    Stop(Ending),
}

/// A part of a number that is made of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRule {
    pub(crate) read: Read,
    pub(crate) gamma: Option<f64>,
    confidence: Confidence,
}

impl PartRule {
    /// The same on a path that was seen before.
    pub(crate) fn by_hand(self) -> Self {
        let gamma = Some(ConfidenceSequence::tightest_at(BY_HAND, self.confidence).gamma());
        Self { gamma, ..self }
    }
}

impl DerivedRule {
    /// The rule of a number that is made of parts, and theirs.
    pub(crate) fn new(
        derivation: Derivation,
        goal: &Goal,
        most: Amount<Rho>,
    ) -> Result<(Self, Vec<MeasureRule>), WrongGoal> {
        let tightest = Amount::<Rho>::from_grains(most.grains() / TIGHTEST_ONE_IN).to_f64();
        let confidence = goal.confidence;
        let mut rule = Self {
            derivation,
            goal: *goal,
            is_multiple: false,
            most,
            start: most,
            planned: None,
            schedule: crate::ask::walk::ladder(most),
            gamma: Some(ConfidenceSequence::tightest_at(tightest, confidence).gamma()),
        };
        if let ([part], Some(times)) = (&*rule.derivation.parts, rule.derivation.multiple()) {
            let part = MeasureRule::new(*part, &goal.divided(times.abs()), most)?;
            return Ok((Self { is_multiple: true, start: Amount::ZERO, ..rule }, vec![part]));
        }
        match goal.accuracy {
            Accuracy::Price(_) => rule.gamma = None,
            Accuracy::Absolute(error) => {
                if !(error.is_finite() && error > 0.0) {
                    return Err(WrongGoal::Error { error });
                }
                rule.planned = rule.planned_at(error, confidence.quantile());
                rule.gamma = rule.gamma.filter(|_| rule.planned.is_none());
            }
            Accuracy::Relative(_) => {}
        }
        if let Some(planned) = rule.planned {
            rule.start = planned.min(most);
        } else if goal.is_one() {
            // Looks start where those of the parts do.
            let walked = goal.walked()?;
            let start = |part: &Read| Ok(MeasureRule::new(part.of_group(), &walked, most)?.start());
            let parts = rule.derivation.parts.iter();
            let starts = parts.map(start).collect::<Result<Vec<_>, WrongGoal>>()?;
            rule.start = starts.into_iter().max().unwrap_or(most);
        }
        let gamma = rule.gamma;
        let follow = |read: &Read| MeasureRule::Part(PartRule { read: *read, gamma, confidence });
        let followers = rule.derivation.parts.iter().map(follow).collect();
        Ok((rule, followers))
    }

    /// The price of the one look that an absolute error takes, with noise that is off by no more
    /// than this many deviations; none where that depends on what is seen.
    fn planned_at(&self, error: f64, factor: f64) -> Option<Amount<Rho>> {
        let deviation = self.derivation.deviation()?;
        let rounding = match &self.derivation.weights {
            Some((weights, _)) => {
                let half = |(part, times): (&Read, &f64)| match part {
                    Read::Sum { step, .. } => 0.5 * (times * step).abs(),
                    Read::Total { .. } | Read::Average { .. } => 0.0,
                };
                self.derivation.parts.iter().zip(weights).map(half).sum()
            }
            None => 0.0,
        };
        let error = (error - rounding).max(error / 2.0);
        Some(Amount::ceil((factor * deviation / error).powi(2)).unwrap_or(Amount::MAX))
    }

    /// The same on a path that was seen before: one confidence sequence for all goals.
    pub(crate) fn by_hand(&self) -> Self {
        let gamma = ConfidenceSequence::tightest_at(BY_HAND, self.goal.confidence).gamma();
        let mut rule = Self { gamma: Some(gamma), ..self.clone() };
        if let (Some(_), Accuracy::Absolute(error)) = (self.planned, self.goal.accuracy) {
            // The factor grows with the price, but by less than the noise falls.
            let mut price = self.start;
            for _ in 0..60 {
                let over = price.to_f64() / gamma;
                let planned = rule.planned_at(error, deviations(rule.miss(), Some(over)));
                price = planned.unwrap_or(Amount::MAX).max(price);
            }
            rule.planned = Some(price);
            rule.start = price.min(rule.most);
        }
        rule
    }

    /// Whether it is a multiple of the one measure after it, which is followed by itself.
    pub(crate) fn is_multiple(&self) -> bool {
        self.is_multiple
    }

    /// Whether it is made of a total over all groups.
    pub(crate) fn has_totals(&self) -> bool {
        self.are_totals().any(|is_total| is_total)
    }

    /// Whether all groups go together, and stop together: a total has no stop of its own.
    pub(crate) fn goes_together(&self) -> bool {
        self.goal.is_one() && self.has_totals()
    }

    /// For each part whether it is a total over all groups.
    pub(crate) fn are_totals(&self) -> impl Iterator<Item = bool> + '_ {
        self.derivation.parts.iter().map(is_total)
    }

    /// How many parts are read for it.
    pub(crate) fn parts(&self) -> usize {
        self.derivation.parts.len()
    }

    pub(crate) fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// The price of the one look of an absolute goal; none for other goals.
    pub(crate) fn planned(&self) -> Option<Amount<Rho>> {
        self.planned
    }

    pub(crate) fn start(&self) -> Amount<Rho> {
        self.start
    }

    pub(crate) fn first_from(&self, revealed: Amount<Rho>) -> Amount<Rho> {
        self.start.max(revealed)
    }

    /// What is seen of the parts at a point of a group; none if one of them has no point there.
    pub(crate) fn at(
        &self,
        bundle: &Bundle<Rho>,
        group: u32,
        at: Amount<Rho>,
    ) -> Option<Vec<Evidence>> {
        let parts = self.derivation.parts.iter();
        parts.map(|read| read.at(bundle, group, at, self.gamma)).collect()
    }

    /// What to do after a look at the parts, which was asked for at this price of a column.
    pub(crate) fn after(&self, looks: &[Evidence], asked: Amount<Rho>) -> Step {
        let legs = self.derivation.legs(looks, self.miss());
        if !self.goal.is_one() {
            return Step::Stop(Ending::HighestPrice);
        }
        if let Some(ending) = self.met(&legs) {
            return Step::Stop(ending);
        }
        if asked >= self.most {
            return Step::Stop(Ending::HighestPrice);
        }
        let price = looks.iter().map(|look| look.worth).min().unwrap_or(asked).to_f64();
        // How many times as wide intervals are at another price.
        let each = if legs.is_ratio { 1.0 } else { legs.each.len().max(1) as f64 };
        let each = self.miss() / each;
        let factor = |price: f64| deviations(each, self.gamma.map(|gamma| price / gamma));
        let times = |at: f64| factor(at) / factor(price) * (price / at).sqrt();
        // Is it out of reach, wherever in their intervals the parts turn out to be?
        let last = times(self.most.to_f64().max(price));
        if !corners(&legs).iter().any(|legs| self.met(&legs.shrunk(last)).is_some()) {
            return Step::Stop(Ending::OutOfReach);
        }
        let mut leap = price;
        while leap < price * MOST_GROWTH && self.met(&legs.shrunk(times(leap))).is_none() {
            leap *= 1.1;
        }
        let leap = Amount::ceil(leap * CAUTION).unwrap_or(self.most);
        Step::Look(self.schedule.after(asked, self.most).max(leap).min(self.most))
    }

    /// Whether what follows from legs is as good as is asked for, and how.
    fn met(&self, legs: &Legs) -> Option<Ending> {
        let (value, ends) = self.derivation.of_legs(legs)?;
        let floor = self.goal.floor.unwrap_or(0.0);
        if !self.goal.is_met_by(value, ends, floor) {
            return None;
        }
        Some(if self.goal.is_met_by(value, ends, 0.0) { Ending::Met } else { Ending::Floor })
    }

    /// What was found after a look at the parts, and of each of them.
    pub(crate) fn found(&self, looks: &[Evidence], ending: Ending) -> (Found, Vec<Found>) {
        self.found_as(looks, Stopped::from(ending))
    }

    /// The same, where the reason is one that is shown.
    pub(crate) fn found_as(&self, looks: &[Evidence], ending: Stopped) -> (Found, Vec<Found>) {
        let finite = |end: f64| Some(end).filter(|end| end.is_finite());
        let each = self.miss() / looks.len().max(1) as f64;
        let of_part = |(read, look): (&Read, &Evidence)| {
            let (value, [low, high]) = leg(read, look, each);
            let (low, high) = (finite(low), finite(high));
            Found { value: finite(value), low, high, ending, evidence: Some(*look) }
        };
        let of_parts = self.derivation.parts.iter().zip(looks).map(of_part).collect();
        let exact = self.derivation.exact(looks, self.miss());
        (found(&self.derivation, exact, ending), of_parts)
    }

    /// What follows for a multiple from what was found for the measure after it.
    pub(crate) fn multiplied(&self, part: &Found) -> Found {
        let times = self.derivation.multiple().unwrap_or(1.0);
        let exact = match (part.value, part.low, part.high) {
            (Some(value), Some(low), Some(high)) => {
                let [one, other] = [low * times, high * times];
                Some((value * times, [one.min(other), one.max(other)]))
            }
            _ => None,
        };
        found(&self.derivation, exact, part.ending)
    }

    fn miss(&self) -> f64 {
        1.0 - self.goal.confidence.get()
    }
}

/// What is shown of a number.
pub(crate) fn found(derivation: &Derivation, exact: Option<Between>, ending: Stopped) -> Found {
    let (value, ends) = exact.map_or((None, None), |exact| derivation.shown(exact));
    let [low, high] = ends.map_or([None, None], |ends| ends.map(Some));
    Found { value, low, high, ending, evidence: None }
}

/// Where legs may turn out to be: of few of them, each where it is or at one of its ends, in all
/// combinations; of more, where they are, at their ends, and each by itself at its ends.
fn corners(legs: &Legs) -> Vec<Legs> {
    const FEW: usize = 6;
    let is_ratio = legs.is_ratio;
    let of = |each: Vec<Between>| Legs { each, is_ratio };
    let legs = &legs.each;
    let moved =
        |&(value, [low, high]): &Between, to: f64| (to, [low - value + to, high - value + to]);
    if legs.len() <= FEW {
        let mut all = vec![Vec::new()];
        for leg in legs {
            let [low, high] = leg.1;
            let places = [leg.0, low, high].map(|to| moved(leg, to));
            let with = |one: &Vec<Between>| places.map(|place| [&one[..], &[place]].concat());
            all = all.iter().flat_map(with).collect();
        }
        return all.into_iter().map(of).collect();
    }
    let mut all = vec![legs.clone()];
    for end in [0, 1] {
        all.push(legs.iter().map(|leg| moved(leg, leg.1[end])).collect());
        for index in 0..legs.len() {
            let mut one = legs.clone();
            one[index] = moved(&legs[index], legs[index].1[end]);
            let mut others: Vec<_> = legs.iter().map(|leg| moved(leg, leg.1[1 - end])).collect();
            others[index] = one[index];
            all.extend([one, others]);
        }
    }
    all.into_iter().map(of).collect()
}

impl Legs {
    /// The same with intervals that are so many times as wide.
    fn shrunk(&self, times: f64) -> Self {
        let narrower = |&(value, [low, high]): &Between| {
            (value, [value - (value - low) * times, value + (high - value) * times])
        };
        Self { each: self.each.iter().map(narrower).collect(), is_ratio: self.is_ratio }
    }
}

/// What is rounded at the end, as it is before.
fn unrounded(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(
            Function::Round | Function::Trunc | Function::Floor | Function::Ceil,
            arguments,
        ) => arguments.first().map_or(expr, unrounded),
        Expr::Cast(one, Type::Float | Type::Int) => unrounded(one),
        expr => expr,
    }
}

/// An expression with one value in place of a part of it.
fn put_in(expr: &Expr, part: &Expr) -> Expr {
    if expr == part {
        return Expr::Measure(0);
    }
    expr.clone().map_children(|child| put_in(&child, part))
}

/// What each measure from a first one on is taken times in an expression, and what is added to
/// that; none if there is more to it.
fn linear(expr: &Expr, first: usize, parts: usize) -> Option<(Vec<f64>, f64)> {
    let constant = |offset: f64| (vec![0.0; parts], offset);
    let both = |one: &Expr, other: &Expr, sign: f64| {
        let (mut weights, offset) = linear(one, first, parts)?;
        let (others, other) = linear(other, first, parts)?;
        for (weight, other) in weights.iter_mut().zip(others) {
            *weight += sign * other;
        }
        Some((weights, offset + sign * other))
    };
    let times = |expr: &Expr, by: f64| {
        let (weights, offset) = linear(expr, first, parts)?;
        Some((weights.into_iter().map(|weight| weight * by).collect(), offset * by))
    };
    let found = match expr {
        Expr::Measure(index) => {
            let mut of = constant(0.0);
            *of.0.get_mut(index.checked_sub(first)?)? = 1.0;
            of
        }
        Expr::Literal(value) => constant(number_of(value.clone())?),
        Expr::Cast(one, Type::Float) => linear(one, first, parts)?,
        Expr::Unary(Unary::Negate, one) => times(one, -1.0)?,
        Expr::Binary(Binary::Add, one, other) => both(one, other, 1.0)?,
        Expr::Binary(Binary::Subtract, one, other) => both(one, other, -1.0)?,
        Expr::Binary(Binary::Multiply, one, other) => {
            match (constant_of(one), constant_of(other)) {
                (Some(by), None) => times(other, by)?,
                (None, Some(by)) => times(one, by)?,
                _ => return None,
            }
        }
        Expr::Binary(Binary::Divide, one, by) => times(one, constant_of(by)?.recip())?,
        _ => return None,
    };
    let is_finite = found.0.iter().chain([&found.1]).all(|number| number.is_finite());
    Some(found).filter(|_| is_finite)
}

fn constant_of(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Literal(value) => number_of(value.clone()),
        Expr::Cast(one, Type::Float) => constant_of(one),
        _ => None,
    }
}

/// A value as a finite number.
fn number_of(value: Value) -> Option<f64> {
    match eke_sql::cast(value, Type::Float) {
        Value::Float(number) if number.is_finite() => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
