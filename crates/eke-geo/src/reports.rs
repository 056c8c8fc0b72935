//! What people have reported: all that a rule gets to see.
//!
//! Everything here has been released. Rules are given these columns and public numbers, and nothing from which a point
//! could be read, so whoever stops does so for what has been released of everybody.

use eke_budget::{Amount, L2, Rho};

use crate::crowd::Seen;
use crate::{AnytimeBall, Miss, chi_width, two_sided_width};

/// Averages of what everybody has reported, each weighted by its price, and how far everybody may go.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    /// How many numbers a report has.
    width: usize,
    /// Half the square of what a metre is, in steps: a price of r is a variance of this by r.
    unit: f64,
    /// What has been spent on each average.
    spent: Vec<Amount<Rho>>,
    /// The same as a number, for what is computed from it; its variance in every coordinate, and what that will be in the end.
    numbers: Vec<[f64; 3]>,
    means: Vec<f64>,
    /// Whose path was followed before this question; empty if nobody's was.
    before: Vec<bool>,
}

/// How far truths are from averages at most, at every look at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    width: usize,
    /// In deviations, for those first looked at in this question.
    fresh: f64,
    /// How probable it may be that somebody else's ball fails, with one of its sizes.
    miss: Miss,
}

impl Reach {
    /// Balls that are tightest at powers of two, of which there are more than noise has octaves: so none is chosen after the
    /// event.
    const OCTAVES: usize = 256;

    /// For each person with this probability of being wrong, in so many rounds.
    pub(crate) fn new(width: usize, rounds: usize, miss: Miss) -> Self {
        let each = miss.shared_by(rounds);
        let fresh = if width == 1 { two_sided_width(each) } else { chi_width(width, each) };
        Self { width, fresh, miss: miss.shared_by(Self::OCTAVES) }
    }

    /// How far a person's truth is from its average at most. What was seen before this question was looked at nobody knows how often, and
    /// what is asked may depend on it: there, what holds at every look is taken.
    ///
    /// - Theorem: anytime-ball (docs/theorems.md)
    /// - Proves: the truth is no further away in any round of this question, nor at any look before, with the confidence
    /// - Assumes: noise is normal (path)
    /// - Deviates: no
    /// - Checked by: `bounds_hold_however_often_points_were_looked_at`
    pub(crate) fn of(self, reports: &Reports, person: u32) -> f64 {
        let variance = reports.variance(person);
        if !reports.before.get(person as usize).is_some_and(|before| *before) {
            return self.fresh * variance.sqrt();
        }
        let octave = libm::exp2(libm::floor(-libm::log2(variance)));
        AnytimeBall::tightest_at(octave, self.width, self.miss).radius(1.0 / variance)
    }
}

impl Reports {
    /// No reports yet, but for what has been seen.
    pub(crate) fn new(width: usize, sensitivity: L2, ends: &[Amount<Rho>], seen: Seen) -> Self {
        let unit = sensitivity.get() * sensitivity.get() / 2.0;
        let before = seen.prices.iter().map(|price| !price.is_zero()).collect();
        let (mut spent, mut means) = (seen.prices, seen.points);
        spent.resize(ends.len(), Amount::ZERO);
        means.resize(ends.len() * width, 0.0);
        let variance = |(&spent, &end): (&Amount<Rho>, &Amount<Rho>)| {
            [rho(spent), unit / rho(spent), unit / rho(end.max(spent))]
        };
        let numbers = spent.iter().zip(ends).map(variance).collect();
        Self { width, unit, spent, numbers, means, before }
    }

    pub(crate) fn people(&self) -> usize {
        self.spent.len()
    }

    /// Whether a person has reported at all.
    pub(crate) fn heard(&self, person: u32) -> bool {
        self.variance(person).is_finite()
    }

    pub(crate) fn spent(&self, person: u32) -> Amount<Rho> {
        self.spent[person as usize]
    }

    /// The average of a person.
    #[inline]
    pub(crate) fn mean(&self, person: u32) -> &[f64] {
        let start = person as usize * self.width;
        &self.means[start..start + self.width]
    }

    /// The average of a person that reports one number.
    #[inline]
    pub(crate) fn value(&self, person: u32) -> f64 {
        self.means[person as usize * self.width]
    }

    /// The variance of a person's average in every coordinate, in steps squared; infinite before the first report.
    #[inline]
    pub(crate) fn variance(&self, person: u32) -> f64 {
        self.numbers[person as usize][1]
    }

    /// What it will be when the person has walked to the end.
    #[inline]
    pub(crate) fn end_variance(&self, person: u32) -> f64 {
        self.numbers[person as usize][2]
    }

    /// What the average now is further from that in the end than it will be, as a variance: given the one in the end, the one
    /// now is that and noise of this variance.
    #[inline]
    pub(crate) fn to_come(&self, person: u32) -> f64 {
        let [_, now, end] = self.numbers[person as usize];
        (now - end).max(0.0)
    }

    /// Takes one more report of a person into its average; its price is given as a number, too.
    #[inline]
    pub(crate) fn add(
        &mut self,
        person: u32,
        price: (Amount<Rho>, f64),
        report: impl Iterator<Item = i64>,
    ) {
        let index = person as usize;
        self.spent[index] = self.spent[index].plus(price.0).unwrap_or(Amount::MAX);
        let [total, now, end] = &mut self.numbers[index];
        *total += price.1;
        let part = price.1 / *total;
        *now = self.unit / *total;
        *end = end.min(*now);
        let start = index * self.width;
        for (mean, value) in self.means[start..start + self.width].iter_mut().zip(report) {
            #[expect(clippy::cast_precision_loss, reason = "an average of what was released")]
            let value = value as f64;
            *mean += (value - *mean) * part;
        }
    }

    /// What has been seen, to go on from.
    pub(crate) fn into_seen(self) -> Seen {
        Seen { prices: self.spent, points: self.means }
    }
}

/// An amount as a number.
#[inline]
pub(crate) fn rho(amount: Amount<Rho>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "for what is computed from released values")]
    let grains = amount.grains() as f64;
    grains * 1e-30
}
