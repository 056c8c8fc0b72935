//! A line on the grid that answers are on: what `eke-noise` draws, with the prices for exactly
//! that.

use eke_budget::{Amount, Delta, Epsilon, L1};
use eke_noise::{LineLaw, Noise, Ratio};

use crate::{AboveThreshold, Direction, LineNoise, RenyiLine, SelectError};

/// A line whose threshold and range are whole steps, so that what is drawn is what was priced.
///
/// It may have a cap: a price that a run of any length stays below but for a probability of delta.
/// Then no more than the cap is ever set aside for a run or charged for it, and every run spends
/// the delta.
#[derive(Clone, Debug)]
pub struct GridLine {
    prices: AboveThreshold,
    threshold: i64,
    range: (i64, i64),
    noise: (Noise, Noise),
    cap: Option<(Amount<Epsilon>, Amount<Delta>)>,
}

impl GridLine {
    /// The line of these prices, which must be in steps of the answers' grid.
    ///
    /// # Errors
    /// The threshold or an end of the range is not a whole number, or is beyond 2⁵³.
    pub fn new(prices: AboveThreshold) -> Result<Self, SelectError> {
        let spec = prices.spec();
        let (low, high) = spec.range;
        let range = (whole("range", low)?, whole("range", high)?);
        let threshold = whole("threshold", spec.threshold)?;
        let (law, line, query): (fn(Ratio) -> Noise, f64, f64) = match spec.noise {
            LineNoise::Gaussian { line, query } => (Noise::gaussian, line, query),
            LineNoise::Laplace { line, query } => (Noise::laplace, line, query),
        };
        let scale = |value: f64| {
            let error = SelectError::NotPositive { name: "noise", value, example: "10" };
            Ratio::from_f64(value).ok_or(error)
        };
        let noise = (law(scale(line)?), law(scale(query)?));
        Ok(Self { prices, threshold, range, noise, cap: None })
    }

    /// The same line, of which a run is never charged more than the price that it stays below but
    /// for a probability of delta.
    ///
    /// - Theorem: renyi-line-tail (docs/theorems.md)
    /// - Proves: outside an event of probability delta the loss of a run is at most the cap; it is
    ///   at most the price of its outcome surely; so the smaller of the two bounds it but for delta
    /// - Assumes: the deltas of all started runs add up (the account)
    /// - Deviates: nothing
    /// - Checked by: `a_capped_run_is_charged_the_cap_and_its_delta`
    ///
    /// # Errors
    /// The noise is not Gaussian or out of proportion, or the threshold is on the wrong side of all
    /// answers.
    pub fn capped(mut self, delta: Delta) -> Result<Self, SelectError> {
        let spec = *self.prices.spec();
        let LineNoise::Gaussian { line, query } = spec.noise else {
            return Err(SelectError::NotGaussian);
        };
        let distance = match spec.direction {
            Direction::Above => spec.threshold - spec.range.0,
            Direction::Below => spec.range.1 - spec.threshold,
        };
        let cap = RenyiLine::new(distance, spec.sensitivity, line, query)?.reserve(delta).amount();
        self.cap = Some((cap, Amount::at_least(delta)));
        Ok(self)
    }

    /// The same line without a cap, and without a delta.
    #[must_use]
    pub fn uncapped(self) -> Self {
        Self { cap: None, ..self }
    }

    /// The prices.
    #[must_use]
    pub fn prices(&self) -> &AboveThreshold {
        &self.prices
    }

    /// The largest number of steps whose worst case is within an amount.
    #[must_use]
    pub fn horizon(&self, within: Amount<Epsilon>) -> u64 {
        match self.cap {
            Some((cap, _)) if cap <= within => u64::MAX,
            _ => self.prices.horizon(within),
        }
    }

    fn at_most_the_cap(&self, price: Amount<Epsilon>) -> Amount<Epsilon> {
        self.cap.map_or(price, |(cap, _)| price.min(cap))
    }
}

impl LineLaw for GridLine {
    fn threshold(&self) -> i64 {
        self.threshold
    }

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn sensitivity(&self) -> L1 {
        self.prices.spec().sensitivity
    }

    fn is_above(&self) -> bool {
        self.prices.spec().direction == Direction::Above
    }

    fn noise(&self) -> (Noise, Noise) {
        self.noise.clone()
    }

    fn worst(&self, steps: u64) -> Amount<Epsilon> {
        self.at_most_the_cap(self.prices.worst(steps).amount())
    }

    fn halted(&self, steps: u64) -> Amount<Epsilon> {
        self.at_most_the_cap(self.prices.halting_at(steps).amount())
    }

    fn stopped(&self, steps: u64) -> Amount<Epsilon> {
        self.at_most_the_cap(self.prices.without_halt(steps).amount())
    }

    fn delta(&self) -> Amount<Delta> {
        self.cap.map_or(Amount::ZERO, |(_, delta)| delta)
    }
}

/// A number that is a whole one exactly.
pub(crate) fn whole(name: &'static str, value: f64) -> Result<i64, SelectError> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if value.fract() != 0.0 || value.abs() > LARGEST {
        return Err(SelectError::NotWhole { name, value });
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within 2^53")]
    let steps = value as i64;
    Ok(steps)
}
