//! What is drawn: lines of several kinds, and noise on every answer for comparison.

use std::error::Error;

use eke_budget::{Account, NoHistory};
use eke_noise::{DiscreteGaussian, Exact, Ratio};
use eke_select::{
    AboveThreshold, Change, Direction, Filter, GridLine, LineNoise, LineSpec, SparseError,
    SparseVector,
};
use eke_testkit::Seeded;

use super::stream::Stream;
use super::transcript::{Stretch, Transcript};

/// How days above the line are found. Deviations are shares of the largest answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SearchMechanism {
    /// A Gaussian line, and answers with sqrt(3) times its noise.
    Line {
        /// Of the line.
        deviation: f64,
    },
    /// The same, with answers clamped to the neighbourhood of the line.
    Narrow {
        /// Of the line.
        deviation: f64,
        /// How far from the line answers can be, in deviations of the difference between the two.
        reach: f64,
    },
    /// A Laplace line, and answers with 2^(1/3) times its noise.
    Laplace {
        /// Of the line.
        deviation: f64,
    },
    /// A Gaussian line that is given up for another after a given number of steps.
    Capped {
        /// Of the line.
        deviation: f64,
        /// The most steps of a run.
        steps: u64,
    },
    /// No line: Gaussian noise on every answer.
    Every {
        /// Of each answer.
        deviation: f64,
    },
}

impl SearchMechanism {
    /// The deviation of the line, or of every answer.
    pub(crate) fn deviation(&self) -> f64 {
        match *self {
            Self::Line { deviation }
            | Self::Narrow { deviation, .. }
            | Self::Laplace { deviation }
            | Self::Capped { deviation, .. }
            | Self::Every { deviation } => deviation,
        }
    }

    /// The line, with its prices; none for noise on every answer.
    ///
    /// # Errors
    /// It has none on this grid.
    pub(crate) fn law(
        &self,
        stream: &Stream,
        threshold: f64,
        change: Change,
    ) -> Result<Option<GridLine>, Box<dyn Error>> {
        let line = stream.deviation(self.deviation());
        let at = stream.steps(threshold);
        let mut range = (0, stream.most());
        let noise = match *self {
            Self::Every { .. } => return Ok(None),
            Self::Laplace { .. } => {
                let line = line / 2f64.sqrt();
                LineNoise::Laplace { line, query: line * 2f64.cbrt() }
            }
            Self::Line { .. } | Self::Narrow { .. } | Self::Capped { .. } => {
                LineNoise::Gaussian { line, query: line * 3f64.sqrt() }
            }
        };
        if let Self::Narrow { deviation, reach } = *self {
            // The noises of line and answer together have twice the deviation of the line.
            let reach = stream.steps(2.0 * deviation * reach).max(1);
            range = ((at - reach).max(0), (at + reach).min(stream.most()));
        }
        let prices = AboveThreshold::new(LineSpec {
            threshold: at as f64,
            range: (range.0 as f64, range.1 as f64),
            sensitivity: stream.sensitivity()?,
            change,
            direction: Direction::Above,
            noise,
        })?;
        Ok(Some(GridLine::new(prices)?))
    }

    /// One search through a stream, or as far as the account pays.
    ///
    /// # Errors
    /// The mechanism does not exist on this grid.
    pub(crate) fn draw(
        &self,
        stream: &Stream,
        threshold: f64,
        law: Option<&GridLine>,
        account: &mut Account,
        entropy: &mut Seeded,
    ) -> Result<Transcript, Box<dyn Error>> {
        let Some(law) = law else {
            let deviation = stream.deviation(self.deviation());
            let variance = Ratio::from_f64(deviation * deviation).ok_or("no noise")?;
            let noise = DiscreteGaussian::new(&variance)?;
            let line = stream.steps(threshold);
            let day =
                |&answer: &i64| Stretch { steps: 1, hit: answer + noise.draw(entropy) > line };
            return Ok(Transcript(stream.answers.iter().map(day).collect()));
        };
        let (filter, cap) = match *self {
            Self::Capped { steps, .. } => (Filter::ExAnte { steps }, steps),
            _ => (Filter::ExPost, u64::MAX),
        };
        let mut search = SparseVector::new(law.clone(), filter)?;
        let mut transcript = Transcript::default();
        let mut steps = 0;
        for &answer in &stream.answers {
            let answer = Exact::new(answer, stream.sensitivity()?);
            let hit = match search.next(&answer, account, &mut NoHistory, entropy) {
                Ok(hit) => hit.get(),
                Err(SparseError::Refused(_)) => break,
                Err(error) => return Err(error.into()),
            };
            steps += 1;
            if hit || steps == cap {
                transcript.0.push(Stretch { steps, hit });
                steps = 0;
            }
        }
        if steps > 0 {
            transcript.0.push(Stretch { steps, hit: false });
        }
        search.stop(account, &mut NoHistory)?;
        Ok(transcript)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account;
    use crate::experiments::threshold_search::stream::made_up;

    #[test]
    fn with_hardly_any_noise_verdicts_are_the_truth() {
        // No answer is within twenty steps of the line, and noise is of a step or two.
        let mut stream = made_up();
        stream.answers.retain(|answer| (answer - 500).abs() > 20);
        let truth = stream.truth(0.5);
        let deviation = 0.001;
        for mechanism in [
            SearchMechanism::Line { deviation },
            SearchMechanism::Narrow { deviation, reach: 6.0 },
            SearchMechanism::Laplace { deviation: deviation / 2.0 },
            SearchMechanism::Capped { deviation, steps: 3 },
            SearchMechanism::Every { deviation },
        ] {
            let law = mechanism.law(&stream, 0.5, Change::General).unwrap();
            let draw = |noise: &SearchMechanism, law: Option<&GridLine>| {
                let (mut account, mut entropy) = (account(), Seeded::new(5));
                let found = noise.draw(&stream, 0.5, law, &mut account, &mut entropy).unwrap();
                assert_eq!(found.days(), truth.len() as u64);
                found.f1(&truth, found.days())
            };
            let found = draw(&mechanism, law.as_ref());
            assert!((found - 1.0).abs() < 1e-15, "{mechanism:?} {found}");
        }
        // The control: with noise as wide as the range they are not.
        let wide = SearchMechanism::Line { deviation: 1.0 };
        let law = wide.law(&stream, 0.5, Change::General).unwrap();
        let mut entropy = Seeded::new(5);
        let found = wide.draw(&stream, 0.5, law.as_ref(), &mut account(), &mut entropy).unwrap();
        assert!(found.f1(&truth, found.days()) < 0.9);
    }

    #[test]
    fn a_capped_run_is_followed_by_another() {
        let stream = Stream { answers: vec![0; 10], ..made_up() };
        let mechanism = SearchMechanism::Capped { deviation: 0.01, steps: 4 };
        let law = mechanism.law(&stream, 0.5, Change::General).unwrap();
        let mut entropy = Seeded::new(6);
        let found =
            mechanism.draw(&stream, 0.5, law.as_ref(), &mut account(), &mut entropy).unwrap();
        let steps: Vec<u64> = found.0.iter().map(|run| run.steps).collect();
        assert_eq!(steps, [4, 4, 2]);
    }
}
