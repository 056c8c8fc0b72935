//! The first answer above a line: what it tells, priced by what came of it.
//!
//! A line is drawn once with noise, and answers with fresh noise are held against it one after the
//! other until one is above. The price of a run is known when it has ended: it depends on the step
//! of the hit, or on the number of steps where somebody walked away without one. Before a step the
//! larger of the two must be set aside ([`AboveThreshold::worst`]); nothing else is needed, and no
//! delta.
//!
//! Prices are for answers clamped to the range, and noise on the real line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use eke_budget::{Amount, Epsilon, L1};
use serde::{Deserialize, Serialize};

use crate::calibrate::smallest;
use crate::error::{furthest, positive, priced, range};
use crate::integrand::{Factor, Integrand};
use crate::laplace::LaplaceLine;
use crate::quadrature::{ln_ratio, ln_ratio_of_one};
use crate::{Certified, Change, SelectError};

/// Which side of the line ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// An answer above the line is a hit.
    Above,
    /// An answer below the line is a hit.
    Below,
}

/// The noise of the line, drawn once a run, and of every answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineNoise {
    /// Normal noise, by its standard deviations.
    Gaussian {
        /// Of the line.
        line: f64,
        /// Of every answer.
        query: f64,
    },
    /// Laplace noise, by its scales.
    Laplace {
        /// Of the line.
        line: f64,
        /// Of every answer.
        query: f64,
    },
}

/// A line and what is held against it, all in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSpec {
    /// Where the line is.
    pub threshold: f64,
    /// What answers are clamped to.
    pub range: (f64, f64),
    /// What one unit can change each answer by.
    pub sensitivity: L1,
    /// How it can change them.
    pub change: Change,
    /// Which side is a hit.
    pub direction: Direction,
    /// What is added to the line and to the answers.
    pub noise: LineNoise,
}

/// The prices of a line.
///
/// Prices are cached when they are computed; clones share the cache.
#[derive(Clone, Debug)]
#[doc(alias = "sparse vector")]
pub struct AboveThreshold {
    spec: LineSpec,
    known: Arc<Mutex<HashMap<(u64, Outcome), Certified>>>,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Outcome {
    Halted,
    Stopped,
}

/// Prices per unit of distance, where answers change by at most the distance: they hold for all
/// distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// For halting.
    pub halting: Certified,
    /// For having stopped without a halt.
    pub without_halt: Certified,
}

impl AboveThreshold {
    /// The largest number of steps of a run. One that is longer has no price.
    pub const LONGEST: u64 = 1_000_000_000_000;
    /// The most that the noise of the line may be, in that of the answers.
    const MOST_LINE: f64 = 100.0;

    /// The prices of a line.
    ///
    /// # Errors
    /// A number is not finite, the range is empty, or the noise is not positive or out of
    /// proportion.
    pub fn new(spec: LineSpec) -> Result<Self, SelectError> {
        range(spec.range)?;
        if !spec.threshold.is_finite() {
            return Err(SelectError::NotFinite { name: "threshold", example: "500" });
        }
        match spec.noise {
            LineNoise::Gaussian { line, query } => {
                positive("deviation of the line", line, "10")?;
                positive("deviation of the answers", query, "17.3")?;
                if line / query > Self::MOST_LINE {
                    return Err(SelectError::NoiseOutOfProportion { most: Self::MOST_LINE });
                }
            }
            LineNoise::Laplace { line, query } => {
                positive("scale of the line", line, "10")?;
                positive("scale of the answers", query, "20")?;
            }
        }
        Ok(Self { spec, known: Arc::default() })
    }

    /// The line with the least Gaussian noise at which halting at step `steps` (or, with `no_halt`,
    /// having stopped after that many) costs at most epsilon; the answers have `ratio` times the
    /// noise of the line. `spec`'s own noise does not matter.
    ///
    /// Where the threshold lies in the range, prices fall as noise grows and it is the least;
    /// elsewhere it is one that keeps the price.
    ///
    /// # Errors
    /// As [`AboveThreshold::new`], or no noise has that price.
    pub fn calibrate(
        spec: LineSpec,
        ratio: f64,
        steps: u64,
        no_halt: bool,
        epsilon: Epsilon,
    ) -> Result<Self, SelectError> {
        if steps == 0 || steps > Self::LONGEST {
            return Err(SelectError::Steps { steps, most: Self::LONGEST });
        }
        positive("ratio of the noises", ratio, "1.732")?;
        let (low, high) = range(spec.range)?;
        let at = |line: f64| {
            let noise = LineNoise::Gaussian { line, query: line * ratio };
            Self::new(LineSpec { noise, ..spec })
        };
        let price = |line: f64| {
            let outcome = if no_halt { Outcome::Stopped } else { Outcome::Halted };
            at(line).map_or(Certified::UNKNOWN, |prices| prices.compute(steps, outcome))
        };
        let start = high - low;
        at(start)?;
        at(smallest(start, epsilon, price)?)
    }

    /// What was priced.
    #[must_use]
    pub fn spec(&self) -> &LineSpec {
        &self.spec
    }

    /// The price of a run that halted at step t.
    ///
    /// - Theorem: gaussian-line (docs/theorems.md)
    /// - Proves: among all answers in the range the loss is largest where all before the hit are at
    ///   the upper end and the hit is at the lower end, and there it is the logarithm of a ratio of
    ///   two expectations
    /// - Assumes: answers are clamped to the range; noise is continuous (caller, `eke-noise`)
    /// - Deviates: rounded up by its error bound; Laplace noise by *laplace-line*
    /// - Checked by: `prices_match_the_golden_values`, `no_answers_cost_more_than_a_line_says`
    #[must_use]
    pub fn halting_at(&self, t: u64) -> Certified {
        self.remembered(t, Outcome::Halted)
    }

    /// The price of a run that ended after t steps without a halt.
    ///
    /// - Theorem: gaussian-line-stopped (docs/theorems.md)
    /// - Proves: the loss of t answers not above the line is largest where all are at the upper end
    ///   of the range
    /// - Assumes: as for halting
    /// - Deviates: rounded up by its error bound; Laplace noise by *laplace-line*
    /// - Checked by: `prices_match_the_golden_values`, `no_answers_cost_more_than_a_line_says`
    #[must_use]
    pub fn without_halt(&self, t: u64) -> Certified {
        self.remembered(t, Outcome::Stopped)
    }

    /// What must be set aside before step t: the price of whatever may come of it. It falls
    /// nowhere, but for the error bounds of prices.
    #[must_use]
    pub fn worst(&self, t: u64) -> Certified {
        self.halting_at(t).max(self.without_halt(t))
    }

    /// The largest number of steps that is certain to fit what is left.
    #[must_use]
    pub fn horizon(&self, left: Amount<Epsilon>) -> u64 {
        let fits = |t: u64| self.worst(t).amount() <= left;
        if !fits(1) {
            return 0;
        }
        let (mut low, mut high) = (1, 2);
        while fits(high) {
            if high == Self::LONGEST {
                return high;
            }
            (low, high) = (high, (high * 2).min(Self::LONGEST));
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Prices per unit of distance after t steps, for answers that change by at most the distance.
    /// The spec's sensitivity does not matter. None for Laplace noise, whose prices are linear as
    /// they are.
    ///
    /// - Theorem: line-slope (docs/theorems.md)
    /// - Proves: prices are concave in the sensitivity, so the slope at zero bounds them per unit
    ///   of distance; it is at most the slope of a chord that ends at zero
    /// - Assumes: as for halting
    /// - Deviates: the chord begins a ten-thousand-millionth of a deviation before zero
    /// - Checked by: `prices_match_the_golden_values`, `slopes_bound_prices_per_distance`
    #[must_use]
    pub fn slope(&self, t: u64) -> Option<Slope> {
        let LineNoise::Gaussian { line, query } = self.spec.noise else { return None };
        let chord = query * 1e-10;
        let gaussian = |outcome| {
            let place = Place::of(&self.spec, line, query);
            let backwards = place.price(t, outcome, self.spec.change, 1e-10, -1e-10);
            let ahead = place.price(t, outcome, self.spec.change, 1e-10, 0.0);
            Certified::between(
                (ahead.epsilon - ahead.error_bound) / chord,
                backwards.epsilon / chord,
            )
        };
        Some(Slope { halting: gaussian(Outcome::Halted), without_halt: gaussian(Outcome::Stopped) })
    }

    fn remembered(&self, t: u64, outcome: Outcome) -> Certified {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&price) = lock().get(&(t, outcome)) {
            return price;
        }
        let price = self.compute(t, outcome);
        let mut known = lock();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert((t, outcome), price);
        price
    }

    fn compute(&self, t: u64, outcome: Outcome) -> Certified {
        if t == 0 {
            return Certified::NOTHING;
        }
        if t > Self::LONGEST {
            return Certified::UNKNOWN;
        }
        let moved = furthest(self.spec.sensitivity, self.spec.range);
        priced(moved, |moved| self.price(t, outcome, moved))
    }

    /// The price for answers that move so far.
    fn price(&self, t: u64, outcome: Outcome, moved: f64) -> Certified {
        match self.spec.noise {
            LineNoise::Laplace { line, query } => {
                let (line, query) = (line / moved, query / moved);
                let laplace = LaplaceLine { line, query, change: self.spec.change };
                let price = match outcome {
                    Outcome::Halted => laplace.halting_at(t),
                    Outcome::Stopped => laplace.without_halt(t),
                };
                Certified::rounded(price, 8.0)
            }
            LineNoise::Gaussian { line, query } => {
                let place = Place::of(&self.spec, line, query);
                place.price(t, outcome, self.spec.change, moved / query, 0.0)
            }
        }
    }
}

/// More prices than a run asks for.
const MOST_KNOWN: usize = 1 << 16;

/// A Gaussian line, reflected so that hits are above.
struct Place {
    /// The deviation of the line, in that of the answers.
    slope: f64,
    /// The line, and the ends of the range.
    line: f64,
    low: f64,
    high: f64,
    /// The deviation of the answers.
    unit: f64,
}

impl Place {
    fn of(spec: &LineSpec, line: f64, query: f64) -> Self {
        let ((low, high), slope) = (spec.range, line / query);
        let (line, low, high) = match spec.direction {
            Direction::Above => (spec.threshold, low, high),
            Direction::Below => (-spec.threshold, -high, -low),
        };
        Self { slope, line, low, high, unit: query }
    }

    /// The price for answers that change by `shift`, with offsets moved by `start` beforehand.
    fn price(&self, t: u64, outcome: Outcome, change: Change, shift: f64, start: f64) -> Certified {
        let ratio = |parts: &[(Factor, f64)]| ratio(parts, start);
        let (others, hit) = (self.others(t - 1), self.hit());
        match (outcome, change) {
            (Outcome::Stopped, _) => ratio(&[(self.others(t), shift)]),
            (Outcome::Halted, Change::General) => ratio(&[(others, shift), (hit, shift)]),
            // All answers up, or all down: one of the two kinds of factor is raised.
            (Outcome::Halted, Change::Monotone) => {
                let raised = ratio(&[(others, 0.0), (hit, shift)]);
                let lowered = ratio(&[(others, shift), (hit, 0.0)]);
                raised.max(lowered)
            }
        }
    }

    /// The factor of `count` answers at the upper end of the range that are not above the line.
    fn others(&self, count: u64) -> Factor {
        Factor::new(self.slope, [self.line, self.high], self.unit, count as f64)
    }

    /// An answer at the lower end of the range that is.
    fn hit(&self) -> Factor {
        Factor::new(-self.slope, [self.low, self.line], self.unit, 1.0)
    }
}

/// The loss of factors that are raised, each moved by `start` beforehand.
fn ratio(parts: &[(Factor, f64)], start: f64) -> Certified {
    let moved = |factor: Factor| if start == 0.0 { factor } else { factor.raised(start) };
    let there = parts.iter().filter(|(factor, _)| factor.power > 0.0);
    let (factors, shifts): (Vec<_>, Vec<_>) = there.map(|&(f, shift)| (moved(f), shift)).unzip();
    if shifts.iter().all(|&shift| shift <= 0.0) {
        return Certified::NOTHING;
    }
    match (&factors[..], &shifts[..]) {
        ([factor], [shift]) if factor.power < 1.5 => ln_ratio_of_one(factor, *shift),
        _ => ln_ratio(&Integrand::new(factors), &shifts),
    }
}
