//! Daily answers about many people, as steps of a grid.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

use eke_budget::{Delta, L1, ParameterError};
use flate2::read::MultiGzDecoder;

/// Answers, one a day, none below zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
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
    /// Bikes of a capital, rented by registered users: as many as users at most, by assumption, and one each.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn bikes() -> Result<Self, StreamError> {
        let rows = read("bike_day.csv.gz", "registered", |_, value| value.parse().ok())?;
        Ok(Self {
            name: "bikes",
            about: "rides of registered users, one a user and day",
            answers: rows,
            people: 6946,
            each: 1,
        })
    }

    /// Electricity of London households, 30 kWh a household and day at most, by assumption.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn london() -> Result<Self, StreamError> {
        // Half an hour of its last day.
        const UNFINISHED: &str = "2014-02-28";
        const EACH: u32 = 1000;
        const MOST_KWH: f64 = 30.0;
        let steps = |day: &str, value: &str| {
            if day == UNFINISHED {
                return Some(-1);
            }
            let kwh: f64 = value.parse().ok()?;
            #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
            let steps = (kwh / MOST_KWH * f64::from(EACH)).round() as i64;
            Some(steps)
        };
        let mut answers = read("lcl_daily_aggregate.csv.gz", "total_kwh", steps)?;
        answers.retain(|&answer| answer >= 0);
        let about = "use of all households, at most 30 kWh a household and day";
        Ok(Self { name: "london", about, answers, people: 5564, each: EACH })
    }

    /// The largest answer there can be, in steps.
    #[must_use]
    pub fn most(&self) -> i64 {
        i64::from(self.people) * i64::from(self.each)
    }

    /// A share of the largest answer, in whole steps.
    #[must_use]
    pub fn steps(&self, share: f64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "a share of less than 2^53")]
        let steps = self.deviation(share).round() as i64;
        steps
    }

    /// A share of the largest answer, in steps that need not be whole.
    #[must_use]
    pub fn deviation(&self, share: f64) -> f64 {
        share * f64::from(self.people) * f64::from(self.each)
    }

    /// What one person changes an answer by.
    ///
    /// # Errors
    /// Nobody can change anything.
    pub fn sensitivity(&self) -> Result<L1, ParameterError> {
        L1::new(f64::from(self.each))
    }

    /// One over the number of people: the delta of whatever needs one.
    ///
    /// # Errors
    /// There are fewer than two people.
    pub fn delta(&self) -> Result<Delta, ParameterError> {
        Delta::new(1.0 / f64::from(self.people))
    }

    /// Which days are above a share of the largest answer.
    #[must_use]
    pub fn truth(&self, threshold: f64) -> Vec<bool> {
        let line = self.steps(threshold);
        self.answers.iter().map(|&answer| answer > line).collect()
    }
}

/// A column of a file in the folder of the data: its first column is the day.
fn read(
    name: &str,
    column: &'static str,
    answer: impl Fn(&str, &str) -> Option<i64>,
) -> Result<Vec<i64>, StreamError> {
    let folder = env::var_os("EKE_DATA").ok_or_else(|| StreamError::NoFolder(name.to_owned()))?;
    let path = Path::new(&folder).join(name);
    let missing = |error: &dyn std::fmt::Display| StreamError::Missing {
        path: path.clone(),
        error: error.to_string(),
    };
    let file = File::open(&path).map_err(|error| missing(&error))?;
    let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(file));
    let headers = reader.headers().map_err(|error| missing(&error))?;
    let other = || StreamError::Other { path: path.clone(), column };
    let place = headers.iter().position(|header| header == column).ok_or_else(other)?;
    let day = headers.iter().position(|header| header.ends_with("day")).ok_or_else(other)?;
    reader
        .records()
        .map(|record| {
            let record = record.map_err(|error| missing(&error))?;
            record.get(day).zip(record.get(place)).and_then(|(d, v)| answer(d, v)).ok_or_else(other)
        })
        .collect()
}

/// Why there is no stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// Nobody said where the data are.
    #[error(
        "EKE_DATA is not set: set it to the folder that has {0} (docs/lab.md says where it comes from)"
    )]
    NoFolder(String),
    /// The file cannot be read.
    #[error("{} could not be read: {error}", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// What went wrong.
        error: String,
    },
    /// The file is another one.
    #[error("{} has no days with a number called {column}: get the file that docs/lab.md names", .path.display())]
    Other {
        /// Where it is.
        path: PathBuf,
        /// What it should have.
        column: &'static str,
    },
}

/// Made-up days: a thousand people, and answers that are near the middle now and then.
#[cfg(test)]
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
