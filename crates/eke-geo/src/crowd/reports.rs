//! What people have reported: all that a rule gets to see.
//!
//! Everything here has been released. Rules are given these columns and public numbers, and nothing
//! from which a point could be read, so people stop for what has been released of everybody.

use eke_budget::account::SamePrice;
use eke_budget::{Amount, Rho};
use eke_noise::Released;

use crate::crowd::Seen;
use crate::crowd::schedule::{Schedules, Stand, Step};
use crate::width::{AnytimeBall, Miss, chi_width, two_sided_width};

/// Averages of what everybody has reported, each weighted by its price, and how far everybody may
/// go.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    /// How many numbers a report has.
    width: usize,
    stands: Vec<Stand>,
    /// Where each person's path is.
    at: Vec<u32>,
    means: Vec<f64>,
    /// Whose path was followed before this question; empty if nobody's was.
    before: Vec<bool>,
}

/// Something for each stand, computed when it is first needed.
pub(crate) struct ByStand<'a, T, F> {
    reports: &'a Reports,
    work_out: F,
    known: Vec<Option<T>>,
}

impl<T, F: FnMut(&Stand) -> T> ByStand<'_, T, F> {
    /// That of a person.
    #[inline]
    pub(crate) fn of(&mut self, person: u32) -> &T {
        let at = self.reports.at[person as usize] as usize;
        self.known[at].get_or_insert_with(|| (self.work_out)(&self.reports.stands[at]))
    }
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
    /// Balls that are tightest at powers of two, of which there are more than noise has octaves: so
    /// none is chosen after the event.
    const OCTAVES: usize = 256;

    /// For each person with this probability of being wrong, in `rounds` rounds.
    pub(crate) fn new(width: usize, rounds: usize, miss: Miss) -> Self {
        let each = miss.shared_by(rounds);
        let fresh = if width == 1 { two_sided_width(each) } else { chi_width(width, each) };
        Self { width, fresh, miss: miss.shared_by(Self::OCTAVES) }
    }

    /// How far a person's truth is from its average at most. What was seen before this question was
    /// looked at nobody knows how often, and what is asked may depend on it: there, what holds at
    /// every look is taken.
    ///
    /// - Theorem: anytime-ball (docs/theorems.md)
    /// - Proves: the truth is no further away in any round of this question, nor at any look
    ///   before, with the confidence
    /// - Assumes: noise is normal (path)
    /// - Deviates: no
    /// - Checked by: `bounds_hold_however_often_points_were_looked_at`
    pub(crate) fn of(self, reports: &Reports, person: u32) -> f64 {
        let stand = reports.stand(person);
        if !reports.before.get(person as usize).is_some_and(|before| *before) {
            return self.fresh * stand.deviation;
        }
        let variance = stand.now;
        let octave = libm::exp2(libm::floor(-libm::log2(variance)));
        AnytimeBall::tightest_at(octave, self.width, self.miss).radius(1.0 / variance)
    }
}

impl Reports {
    /// No reports yet, but for what has been seen.
    pub(crate) fn new(width: usize, schedules: &Schedules, seen: Seen) -> Self {
        let before = seen.prices().iter().map(|price| !price.is_zero()).collect();
        let (stands, at) = (schedules.stands().to_vec(), schedules.starts().to_vec());
        let mut means = seen.into_points();
        means.resize(at.len() * width, 0.0);
        Self { width, stands, at, means, before }
    }

    pub(crate) fn people(&self) -> usize {
        self.at.len()
    }

    /// Whether a person has reported at all.
    pub(crate) fn heard(&self, person: u32) -> bool {
        self.variance(person).is_finite()
    }

    /// Where a person's path is.
    #[inline]
    pub(crate) fn stand(&self, person: u32) -> &Stand {
        &self.stands[self.at[person as usize] as usize]
    }

    /// What depends on where a person's path is alone, computed once for all who are there.
    pub(crate) fn by_stand<T: Clone, F: FnMut(&Stand) -> T>(
        &self,
        work_out: F,
    ) -> ByStand<'_, T, F> {
        ByStand { reports: self, work_out, known: vec![None; self.stands.len()] }
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

    /// The variance of a person's average in every coordinate, in steps squared; infinite before
    /// the first report.
    #[inline]
    pub(crate) fn variance(&self, person: u32) -> f64 {
        self.stand(person).now
    }

    /// What a round does to everybody who walks, and what it costs them: one step and one price
    /// for people in a row to whom it does the same.
    pub(crate) fn steps(
        &self,
        walking: &[u32],
        mut step: impl FnMut(u32) -> Step,
        (steps, prices): (&mut Vec<Step>, &mut Vec<SamePrice<Rho>>),
    ) {
        steps.clear();
        prices.clear();
        let at = |person: &u32| self.at[*person as usize];
        for these in walking.chunk_by(|one, two| at(one) == at(two)) {
            let step = step(at(&these[0]));
            steps.push(step);
            prices.push(SamePrice { price: step.due, accounts: these.len() });
        }
    }

    /// Takes one more report of each of these people into their averages.
    pub(crate) fn add(&mut self, people: &[u32], step: &Step, reports: Released<&[i64]>) {
        let take = |mean: &mut f64, report: i64| {
            let report = report as f64;
            *mean += (report - *mean) * step.part;
        };
        let reports = reports.get();
        if self.width == 1 {
            for (&person, &report) in people.iter().zip(reports) {
                let index = person as usize;
                take(&mut self.means[index], report);
                self.at[index] = step.to;
            }
            return;
        }
        for (&person, reports) in people.iter().zip(reports.chunks_exact(self.width)) {
            let start = person as usize * self.width;
            let means = &mut self.means[start..start + self.width];
            for (mean, &report) in means.iter_mut().zip(reports) {
                take(mean, report);
            }
            self.at[person as usize] = step.to;
        }
    }

    /// What everybody has paid since they were at these stands.
    pub(crate) fn paid_since(&self, starts: &[u32]) -> Vec<Amount<Rho>> {
        let spent = |at: u32| self.stands[at as usize].spent;
        let paid = |(&at, &start): (&u32, &u32)| spent(at).minus(spent(start));
        self.at.iter().zip(starts).map(|pair| paid(pair).unwrap_or(Amount::ZERO)).collect()
    }

    /// What has been seen, to go on from.
    pub(crate) fn into_seen(self) -> Seen {
        let prices = self.at.iter().map(|&at| self.stands[at as usize].spent).collect();
        Seen::reported(prices, self.means)
    }
}

/// An amount as a number.
#[inline]
pub(crate) fn rho(amount: Amount<Rho>) -> f64 {
    let grains = amount.grains() as f64;
    grains * 1e-30
}
