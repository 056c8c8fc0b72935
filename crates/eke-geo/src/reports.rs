//! What people have reported: all that a rule gets to see.
//!
//! Everything here has been released. Rules are given these columns and public numbers, and nothing from which a point
//! could be read, so whoever stops does so for what has been released of everybody.

use eke_budget::{Amount, L2, Rho};

use crate::crowd::Seen;

/// Averages of what everybody has reported, each weighted by its price, and how far everybody may go.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    /// How many numbers a report has.
    width: usize,
    /// Half the square of what a metre is, in steps: a price of r is a variance of this by r.
    unit: f64,
    /// What has been spent on each average.
    spent: Vec<Amount<Rho>>,
    /// What will have been spent on it in the end.
    end: Vec<Amount<Rho>>,
    means: Vec<f64>,
}

impl Reports {
    /// No reports yet, but for what has been seen.
    pub(crate) fn new(width: usize, sensitivity: L2, end: Vec<Amount<Rho>>, seen: Seen) -> Self {
        let people = end.len();
        let (mut spent, mut means) = (seen.prices, seen.points);
        spent.resize(people, Amount::ZERO);
        means.resize(people * width, 0.0);
        Self { width, unit: sensitivity.get() * sensitivity.get() / 2.0, spent, end, means }
    }

    pub(crate) fn people(&self) -> usize {
        self.spent.len()
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
        self.unit / rho(self.spent[person as usize])
    }

    /// What it will be when the person has walked to the end.
    #[inline]
    pub(crate) fn end_variance(&self, person: u32) -> f64 {
        let person = person as usize;
        self.unit / rho(self.end[person].max(self.spent[person]))
    }

    /// What the average now is further from that in the end than it will be, as a variance: given the one in the end, the one
    /// now is that and noise of this variance.
    #[inline]
    pub(crate) fn to_come(&self, person: u32) -> f64 {
        (self.variance(person) - self.end_variance(person)).max(0.0)
    }

    /// Takes one more report of a person into its average.
    #[inline]
    pub(crate) fn add(&mut self, person: u32, price: Amount<Rho>, report: impl Iterator<Item = i64>) {
        let index = person as usize;
        let spent = self.spent[index].plus(price).unwrap_or(Amount::MAX);
        let part = rho(price) / rho(spent);
        self.spent[index] = spent;
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
