//! A refusal of a budget: a decision with fields, and the sentence that tells it.

use eke_budget::number::Currency;
use eke_budget::{Amount, Delta, Rho};

use super::EngineError;

/// A refusal: what was asked, what fits, and what accuracy that would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Whose budget it is, in words.
    pub whose: String,
    /// What does not allow it.
    pub limit: Limit,
    /// What it costs at least, in all; none if it is not known before it is asked for. Where a tier
    /// does not allow it: the price of the point of a path that it takes.
    pub asked: Option<Amount<Rho>>,
    /// What would still fit; none if the asker may not know.
    pub fits: Option<Amount<Rho>>,
    /// What is left of the delta for selecting keys, where that is what was missing.
    pub delta: Option<Amount<Delta>>,
    /// An absolute error that would be taken instead, where there is one such number.
    pub error: Option<f64>,
    /// A price that would be taken instead.
    pub price: Option<Amount<Rho>>,
    /// A highest price that would be taken, where the one that was asked for is too low.
    pub at_most: Option<Amount<Rho>>,
    /// What was charged for the question before it was refused, and stays paid.
    pub charged: Amount<Rho>,
}

/// What does not allow a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// What is left of a budget.
    Budget,
    /// The highest price that was asked for with it.
    AtMost,
    /// A tenth of what is left of a budget: a relative error without a highest price goes no
    /// further.
    Tenth,
    /// How far the asker's tier sees any one path.
    Tier(Amount<Rho>),
}

impl Refused {
    /// A refusal that does not say whose budget it was, nor how much is left of it.
    #[must_use]
    pub fn plainly() -> Self {
        let (whose, limit) = ("the budget".to_owned(), Limit::Budget);
        let (asked, fits, delta) = (None, None, None);
        let (error, price, at_most) = (None, None, None);
        let charged = Amount::ZERO;
        Self { whose, limit, asked, fits, delta, error, price, at_most, charged }
    }
}

impl From<Refused> for EngineError {
    fn from(refused: Refused) -> Self {
        Self::Refused(Box::new(refused))
    }
}

impl std::error::Error for Refused {}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.reason(), self.stays_paid())?;
        let error = self.error.map(|error| format!("an error of {error}"));
        let price = self.price.map(|price| format!("a price of rho={price}"));
        let at_most = self.at_most.map(|most| format!("a highest price of rho={most}"));
        f.write_str(&self.advice(error.or(price), at_most))
    }
}

impl Refused {
    /// What to do, given what would fit, in the caller's words (flags or fields).
    #[must_use]
    pub fn advice(&self, instead: Option<String>, at_most: Option<String>) -> String {
        match (instead, at_most) {
            (Some(one), Some(other)) => format!(": {one} would fit, or {other}"),
            (Some(one), None) | (None, Some(one)) => format!(": {one} would fit"),
            (None, None) if self.fits.is_none() => ": ask for less, or ask the steward".to_owned(),
            (None, None) => match self.limit {
                Limit::AtMost => ": ask for less".to_owned(),
                Limit::Tenth => ": set a highest price".to_owned(),
                Limit::Budget | Limit::Tier(_) => String::new(),
            },
        }
    }

    /// What became of the budget.
    #[must_use]
    pub fn stays_paid(&self) -> String {
        if self.charged.is_zero() {
            return "nothing was charged".to_owned();
        }
        format!("rho={} was charged before that, and stays paid", short_up(self.charged))
    }

    /// What was asked for and what does not allow it, without what would fit.
    #[must_use]
    pub fn reason(&self) -> String {
        let Self { whose, .. } = self;
        let Some(fits) = self.fits.map(short) else {
            return format!("refused: {whose} does not allow it any more");
        };
        let mut text = match (self.asked.map(short_up), self.limit) {
            (Some(asked), Limit::Budget) => {
                format!("refused: this costs rho={asked}, and {whose} has rho={fits} left for it")
            }
            (Some(asked), Limit::AtMost) => format!(
                "refused: this costs at least rho={asked}, and it may cost rho={fits} at most"
            ),
            (Some(asked), Limit::Tenth) => format!(
                "refused: this costs at least rho={asked}, and a relative error without a highest \
                 price may cost rho={fits}, a tenth of what {whose} has left"
            ),
            (Some(asked), Limit::Tier(finest)) => format!(
                "refused: this takes a point of its path at rho={asked}, and your tier sees no \
                 path further than rho={}",
                short(finest)
            ),
            (None, _) => format!(
                "refused: {whose} has rho={fits} left, which is not enough for a first look"
            ),
        };
        if let Some(delta) = self.delta {
            text.push_str(&format!(" and delta={:e} for selecting keys", delta.to_f64()));
        }
        text
    }
}

/// A price in four digits, rounded down: what there is.
pub(crate) fn short<C: Currency>(amount: Amount<C>) -> String {
    four_digits(amount.to_f64(), f64::floor)
}

/// A price in four digits, rounded up: what something costs.
fn short_up<C: Currency>(amount: Amount<C>) -> String {
    four_digits(amount.to_f64(), f64::ceil)
}

fn four_digits(value: f64, round: fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 3 - value.log10().floor() as i32;
    let scale = 10f64.powi(digits);
    // What is a hair above four digits is those.
    let scaled = value * scale;
    let near = scaled.round();
    let whole = if (scaled - near).abs() < 1e-6 { near } else { round(scaled) };
    let cut = whole / scale;
    if (1e-4..1e6).contains(&cut) { format!("{cut}") } else { format!("{cut:e}") }
}

/// A price in four digits, rounded down: as it is shown. None if it is nothing.
pub(crate) fn cut(amount: Amount<Rho>) -> Option<Amount<Rho>> {
    let last = amount.grains().checked_ilog10()?.saturating_sub(3);
    let last = 10u128.checked_pow(last)?;
    Some(Amount::from_grains(amount.grains() / last * last))
}

/// An error in three digits, rounded up.
pub(crate) fn three_digits_up(value: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = 2 - value.abs().log10().floor().clamp(-300.0, 300.0) as i32;
    let scale = 10f64.powi(digits);
    (value * scale).ceil() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_told_in_four_digits_and_never_more_than_they_are() {
        for text in ["0.0857123", "1", "2.5e-9", "123.456", "1e-27", "9.9999e-5", "4e-21"] {
            let amount: Amount<Rho> = text.parse().unwrap();
            let told = cut(amount).unwrap();
            assert!(told <= amount && told.to_f64() > amount.to_f64() * 0.999, "{text} {told}");
            assert_eq!(told.to_string().parse::<Amount<Rho>>().unwrap(), told, "{text}");
            assert!(told.to_string().len() <= 9, "{told}");
        }
        assert_eq!(cut(Amount::ZERO), None);
    }
}
