//! Daily answers about many people, as steps of a grid.

use eke_budget::number::ParameterError;
use eke_budget::{Delta, L1};

use crate::frame::data::{Data, DataError};

/// Answers, one a day, none below zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stream {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What an answer is, for people.
    pub about: &'static str,
    /// The answers, in steps.
    pub answers: Vec<i64>,
    /// How many people there are, which is public.
    pub people: u32,
    /// How many steps one person can change an answer by.
    pub each: u32,
}

impl Stream {
    /// Bikes of a capital, rented by registered users: as many as users at most, by assumption, and
    /// one each.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub(crate) fn bikes(data: &Data) -> Result<Self, DataError> {
        if data.is_made_up() {
            return Ok(made_up());
        }
        Ok(Self {
            name: "bikes",
            about: "rides of registered users, one a user and day",
            answers: data.rides()?,
            people: 6946,
            each: 1,
        })
    }

    /// Electricity of London households, 30 kWh a household and day at most, by assumption.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub(crate) fn london(data: &Data) -> Result<Self, DataError> {
        const EACH: u32 = 1000;
        const MOST_KWH: f64 = 30.0;
        if data.is_made_up() {
            return Ok(made_up());
        }
        #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
        let steps = |kwh: f64| (kwh / MOST_KWH * f64::from(EACH)).round() as i64;
        let answers = data.electricity()?.into_iter().map(steps).collect();
        let about = "use of all households, at most 30 kWh a household and day";
        Ok(Self { name: "london", about, answers, people: 5564, each: EACH })
    }

    /// The largest answer there can be, in steps.
    pub(crate) fn most(&self) -> i64 {
        i64::from(self.people) * i64::from(self.each)
    }

    /// A share of the largest answer, in whole steps.
    pub(crate) fn steps(&self, share: f64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "a share of less than 2^53")]
        let steps = self.deviation(share).round() as i64;
        steps
    }

    /// A share of the largest answer, in steps that need not be whole.
    pub(crate) fn deviation(&self, share: f64) -> f64 {
        share * f64::from(self.people) * f64::from(self.each)
    }

    /// What one person changes an answer by.
    ///
    /// # Errors
    /// Nobody can change anything.
    pub(crate) fn sensitivity(&self) -> Result<L1, ParameterError> {
        L1::new(f64::from(self.each))
    }

    /// One over the number of people: the delta of whatever needs one.
    ///
    /// # Errors
    /// There are fewer than two people.
    pub(crate) fn delta(&self) -> Result<Delta, ParameterError> {
        Delta::new(1.0 / f64::from(self.people))
    }

    /// Which days are above a share of the largest answer.
    pub(crate) fn truth(&self, threshold: f64) -> Vec<bool> {
        let line = self.steps(threshold);
        self.answers.iter().map(|&answer| answer > line).collect()
    }
}

/// Made-up days: a thousand people, and answers that are near the middle now and then.
pub(super) fn made_up() -> Stream {
    let answers = (0..120i64).map(|day| (day * 337) % 1000).collect();
    Stream { name: "made-up", about: "numbers", answers, people: 1000, each: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_above_the_line_and_not_on_it() {
        let stream = Stream { answers: vec![499, 500, 501], ..made_up() };
        assert_eq!(stream.truth(0.5), [false, false, true]);
        assert_eq!(stream.most(), 1000);
        assert!((stream.delta().unwrap().get() - 1e-3).abs() < 1e-18);
    }
}
