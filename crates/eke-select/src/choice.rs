//! Choices by score, to be bought: what is drawn, and what it costs, in one value.
//!
//! ```
//! use eke_budget::*;
//! use eke_noise::{Exact, Scores, SystemEntropy, choose};
//! use eke_select::{Change, Choice};
//!
//! let budget = BudgetSpec::promising(Epsilon::new(1.0)?).resolve(Metric::Hamming(Adjacency::AddRemove))?;
//! let mut account = Account::open("riders", budget, &mut NoHistory)?;
//!
//! let votes = Exact::new(Scores(vec![120, 80, 640]), L1::new(1.0)?);
//! // A person who joins raises votes, and lowers none.
//! let choice = Choice::permute_and_flip(0.5, L1::new(1.0)?, Change::Monotone)?;
//! let approved = account.approve(choice)?;
//! let receipt = account.commit(approved, &mut NoHistory)?;
//! let winner = choose(&votes, receipt, &mut SystemEntropy::new()?)?;
//! assert_eq!(winner.get(), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use eke_budget::{Amount, Charge, Epsilon, L1, Purchase, Rho};
use eke_noise::{ChoiceLaw, ChoiceRule, Noise, Ratio};

use crate::line::whole;
use crate::{Change, Exponential, MaxNoise, NoisyMax, PermuteAndFlip, SelectError};

/// A choice by score, to be bought.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    rule: ChoiceRule,
    sensitivity: L1,
    epsilon: Amount<Epsilon>,
    rho: Option<Amount<Rho>>,
    concentrated: bool,
}

impl Choice {
    /// The exponential mechanism: a candidate with probability proportional to `exp(rate · score)`,
    /// at its pure price: the rate times the sensitivity, twice that if scores may move in opposite
    /// directions.
    ///
    /// # Errors
    /// The rate is not positive, or so large that there is no price.
    pub fn exponential(rate: f64, sensitivity: L1, change: Change) -> Result<Self, SelectError> {
        let price = Exponential::new(rate, sensitivity, change)?;
        let rule = ChoiceRule::Exponential { rate: ratio("rate", rate)? };
        let rho = Some(Amount::at_least(price.rho()));
        let epsilon = price.epsilon().amount();
        Ok(Self { rule, sensitivity, epsilon, rho, concentrated: false })
    }

    /// Permute and flip at the same rate, for the same pure price: never worse in expectation. It
    /// has no concentrated price.
    ///
    /// # Errors
    /// The rate is not positive, or so large that there is no price.
    pub fn permute_and_flip(
        rate: f64,
        sensitivity: L1,
        change: Change,
    ) -> Result<Self, SelectError> {
        let price = PermuteAndFlip::new(rate, sensitivity, change)?;
        let rule = ChoiceRule::PermuteAndFlip { rate: ratio("rate", rate)? };
        let epsilon = price.epsilon().amount();
        Ok(Self { rule, sensitivity, epsilon, rho: None, concentrated: false })
    }

    /// The largest noisy score, at its pure price. The range must be whole steps of the scores.
    ///
    /// # Errors
    /// An end of the range is not a whole number, or is beyond 2⁵³.
    pub fn noisy_max(prices: &NoisyMax) -> Result<Self, SelectError> {
        let spec = prices.spec();
        let noise = match spec.noise {
            MaxNoise::Gaussian(deviation) => Noise::gaussian(ratio("deviation", deviation)?),
            MaxNoise::Laplace(scale) => Noise::laplace(ratio("scale", scale)?),
        };
        let range = (whole("range", spec.range.0)?, whole("range", spec.range.1)?);
        let candidates = usize::try_from(spec.candidates).unwrap_or(usize::MAX);
        let rule = ChoiceRule::NoisyMax { noise, range, candidates };
        let epsilon = prices.epsilon().amount();
        let rho = prices.rho().map(Amount::at_least);
        Ok(Self { rule, sensitivity: spec.sensitivity, epsilon, rho, concentrated: false })
    }

    /// The same choice at its concentrated price; none if it has none.
    #[must_use]
    pub fn concentrated(self) -> Option<Self> {
        self.rho.is_some().then_some(Self { concentrated: true, ..self })
    }
}

impl Purchase for Choice {
    fn charge(&self) -> Charge {
        match self.rho.filter(|_| self.concentrated) {
            Some(rho) => Charge::Zcdp { rho, delta: Amount::ZERO },
            None => Charge::Pure { epsilon: self.epsilon, delta: Amount::ZERO },
        }
    }
}

impl ChoiceLaw for Choice {
    fn sensitivity(&self) -> L1 {
        self.sensitivity
    }

    fn rule(&self) -> ChoiceRule {
        self.rule.clone()
    }
}

fn ratio(name: &'static str, value: f64) -> Result<Ratio, SelectError> {
    Ratio::from_f64(value).ok_or(SelectError::NotPositive { name, value, example: "0.5" })
}
