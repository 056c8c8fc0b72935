//! How likely a report is one that tells something, and the coin that keeps it.
//!
//! Reports of every kind of chain are a mixture: with some probability, their *share*, they are
//! made from the true category, else they are uniform among g outcomes and tell nothing. A share is
//! `w/(g + w)` for a *weight* w. A report of one share becomes one of a smaller share by one coin:
//! kept with the ratio of the two, else drawn afresh. Shares are compared exactly, and coins are
//! decided bit by bit: no rounding decides what a report tells.

use std::cmp::Ordering;

use dashu_int::UBig;
use eke_budget::{Amount, Epsilon};
use serde::{Deserialize, Serialize};

use crate::local::chain::ChainError;
use crate::number::fixed::Fixed;
use crate::sampler::audit_cells;
use crate::sampler::coin::Uniform;
use crate::sampler::parts::Parts;
use crate::{Entropy, Ratio};

#[cfg(test)]
thread_local! {
    /// How many prices a test has computed.
    pub(crate) static PRICED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What a report weighs: `size (exp(epsilon) - 1)` for one of this size and epsilon, or a whole
/// number.
///
/// Epsilons are decimals, so two weights are the same only if they are written the same (a sum of
/// powers of e with different rational exponents is never rational), and any two can be
/// distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Weight {
    /// That of a report of this size at this epsilon.
    Of {
        /// Its epsilon.
        epsilon: Amount<Epsilon>,
        /// Its size.
        size: u32,
    },
    /// A whole number.
    Whole(u32),
}

impl Weight {
    /// As a number, nearly.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Of { epsilon, size } => f64::from(size) * libm::expm1(epsilon.to_f64()),
            Self::Whole(weight) => f64::from(weight),
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        match self {
            Self::Of { epsilon, size } => epsilon.is_zero() || size == 0,
            Self::Whole(weight) => weight == 0,
        }
    }

    /// What odds of one to `1 + weight times/over` cost: the logarithm of the second, rounded up to
    /// a grain.
    ///
    /// Of a number y just below it, by doubles, `r = (1 + odds) exp(-y) - 1` is enclosed, and the
    /// logarithm is `y + ln(1 + r)`, which is below `y + r - r²/2 + r³/3`.
    pub(crate) fn price(self, times: u32, over: u32) -> Amount<Epsilon> {
        #[cfg(test)]
        PRICED.set(PRICED.get() + 1);
        let over = over.max(1);
        if let Self::Of { epsilon, size } = self
            && u64::from(size) * u64::from(times) == u64::from(over)
        {
            return epsilon;
        }
        let about = libm::log1p(self.to_f64() * f64::from(times) / f64::from(over));
        // Epsilons up to 500 make the doubles wrong by a few parts in 10¹⁵.
        let Ok(below) = Amount::<Epsilon>::floor(about * (1.0 - 1e-14)) else { return Amount::MAX };
        let Some(rest) = self.beyond(below, times, over) else { return Amount::MAX };
        let cube = &(&rest * &rest) * &rest;
        let more = &rest.hi + cube.hi / UBig::from(3u8) + UBig::ONE;
        let less = (&rest * &rest).lo / UBig::from(2u8);
        let grains = (more - less) * UBig::from(Amount::<Epsilon>::ONE.grains());
        u128::try_from(grains >> rest.bits)
            .ok()
            .and_then(|grains| below.grains().checked_add(grains)?.checked_add(1))
            .map_or(Amount::MAX, Amount::from_grains)
    }

    /// `(1 + odds) exp(-y) - 1`, which is small and not negative.
    fn beyond(self, y: Amount<Epsilon>, times: u32, over: u32) -> Option<Fixed> {
        let one = Amount::<Epsilon>::ONE.grains();
        // As many bits beyond the first that is not zero.
        let whole = |epsilon: Amount<Epsilon>| usize::try_from(epsilon.grains() / one).ok();
        let mut bits = 256 + 3 * whole(y)?;
        if let Self::Of { epsilon, .. } = self {
            bits += 3 * whole(epsilon)?;
        }
        let power = |epsilon: Amount<Epsilon>| match Ratio::new(epsilon.grains(), one) {
            Some(ratio) if !epsilon.is_zero() => Fixed::exp_neg(&ratio, bits),
            _ => Fixed::one(bits),
        };
        let product = |number: u32| UBig::from(u64::from(number) * u64::from(times));
        let grown = match self {
            // With x = exp(-epsilon): (x + (1 - x) k times/over)/x.
            Self::Of { epsilon, size } => {
                let rest = power(epsilon);
                let told = fraction(&rest.complement(), &product(size), &over.into());
                &(&(&rest + &told) * &power(y)) / &rest
            }
            Self::Whole(weight) => fraction(&power(y), &(product(weight) + over), &over.into()),
        };
        Some(&grown - &Fixed::one(bits))
    }
}

/// The probability `w/(g + w)` that a report of weight w among g outcomes is not just uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// What it weighs.
    pub weight: Weight,
    /// The number of outcomes it is among.
    pub among: u32,
}

impl Share {
    /// As a number, nearly.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let weight = self.weight.to_f64();
        weight / (f64::from(self.among) + weight)
    }

    /// Which is larger, exactly.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        // The shares are in the order of what they weigh for each outcome.
        let (one, two) = (u64::from(self.among), u64::from(other.among));
        let by_size = |a: u32, b: u32| (u64::from(a) * two).cmp(&(u64::from(b) * one));
        match (self.weight, other.weight) {
            (Weight::Whole(a), Weight::Whole(b)) => return by_size(a, b),
            (Weight::Of { epsilon: a, size }, Weight::Of { epsilon: b, size: other }) if a == b => {
                return by_size(size, other);
            }
            _ if self.weight.is_zero() || other.weight.is_zero() => {
                return other.weight.is_zero().cmp(&self.weight.is_zero());
            }
            _ => {}
        }
        // They differ: powers of e are not rational, nor are those of two different epsilons in any
        // rational proportion. So this ends.
        let mut bits = 128;
        loop {
            let [one, two] = [self, other].map(|share| share.fixed(bits));
            if one.lo > two.hi {
                return Ordering::Greater;
            }
            if one.hi < two.lo {
                return Ordering::Less;
            }
            bits *= 2;
        }
    }

    /// Enclosed in the given number of bits.
    ///
    /// With `x = exp(-epsilon)` it is `(1 - x) k/g` out of `x + (1 - x) k/g`, all between 0 and a
    /// few.
    fn fixed(self, bits: usize) -> Fixed {
        match self.weight {
            Weight::Of { epsilon, size } => {
                let Some(epsilon) = Ratio::new(epsilon.grains(), Amount::<Epsilon>::ONE.grains())
                else {
                    return Fixed::zero(bits);
                };
                let rest = Fixed::exp_neg(&epsilon, bits);
                let told = fraction(&rest.complement(), &size.into(), &self.among.max(1).into());
                &told / &(&rest + &told)
            }
            Weight::Whole(weight) => {
                let (numerator, denominator) = self.whole(weight);
                fraction(&Fixed::one(bits), &numerator, &denominator)
            }
        }
    }

    /// The share of a whole weight, as numerator and denominator.
    fn whole(self, weight: u32) -> (UBig, UBig) {
        (weight.into(), (u64::from(weight) + u64::from(self.among.max(1))).into())
    }
}

/// A fraction of a number: times one integer, over another.
fn fraction(number: &Fixed, numerator: &UBig, denominator: &UBig) -> Fixed {
    let (low, high) = (&number.lo * numerator, &number.hi * numerator);
    Fixed {
        lo: low / denominator,
        // Rounded up, and not above what is exact.
        hi: (high + (denominator - UBig::ONE)) / denominator,
        bits: number.bits,
    }
}

/// The probability that a report of one share is kept for one of another: their ratio. At first
/// there is only the true category, and it is kept with the share itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub(crate) from: Option<Share>,
    pub(crate) to: Share,
}

impl Kept {
    /// Whether it is always kept.
    pub(crate) fn is_sure(self) -> bool {
        self.from.is_some_and(|from| from.compare(self.to).is_eq())
    }

    /// Enclosed in the given number of bits, and exact where it is a fraction of that many bits.
    ///
    /// Where it is rational, both weights are whole: a ratio of shares with powers of e in them is
    /// never rational unless they are equal.
    pub(crate) fn fixed(self, bits: usize) -> Fixed {
        let Some(from) = self.from else { return self.to.fixed(bits) };
        if let (Weight::Whole(one), Weight::Whole(two)) = (from.weight, self.to.weight) {
            let (numerator, denominator) = self.to.whole(two);
            let (under, over) = from.whole(one);
            return fraction(&Fixed::one(bits), &(numerator * over), &(denominator * under));
        }
        &self.to.fixed(bits) / &from.fixed(bits)
    }
}

/// The coin by which a report is made from the one before it, or from the true category.
#[derive(Clone, Debug)]
pub enum Keep {
    /// The shares are the same.
    Always,
    /// The first words that 64 bits do not decide, the last of them, and what the probability is
    /// made of.
    Coin { low: u64, high: u64, kept: Kept },
}

impl Keep {
    pub(crate) fn new(from: Option<Share>, to: Share) -> Self {
        let kept = Kept { from, to };
        if kept.is_sure() {
            return Self::Always;
        }
        let fixed = kept.fixed(192);
        let word = |end: &UBig| u64::try_from(end >> 128).unwrap_or(u64::MAX);
        Self::Coin { low: word(&fixed.lo), high: word(&fixed.hi), kept }
    }

    /// The coin of the report at this place of a chain, which may not tell more than the one before
    /// it.
    pub(crate) fn after(from: Option<Share>, to: Share, place: usize) -> Result<Self, ChainError> {
        if from.is_some_and(|from| to.compare(from).is_gt()) {
            return Err(ChainError::Grows(place));
        }
        Ok(Self::new(from, to))
    }

    /// Whether a report is kept.
    ///
    /// - Theorem: lazy-bits (docs/theorems.md)
    /// - Proves: the coin has exactly the probability that is enclosed
    /// - Assumes: independent uniform bits (entropy)
    /// - Deviates: nothing
    /// - Checked by: `kept_reports_are_decided_right_on_either_side_of_their_edge`
    #[inline]
    pub(crate) fn flip<E: Entropy + ?Sized>(&self, entropy: &mut E) -> bool {
        let Self::Coin { low, high, kept } = self else { return true };
        let word = audit_cells::word(entropy, || audit_cells::cut([&kept.fixed(128)]));
        if word < *low {
            return true;
        }
        if word > *high {
            return false;
        }
        decide(word, *kept, entropy)
    }
}

impl Keep {
    /// The same by sixteen bits, which are nearly always enough, and by more where they are not.
    #[inline]
    pub(crate) fn flip_part<E: Entropy + ?Sized>(&self, parts: &mut Parts<'_, E>) -> bool {
        let Self::Coin { low, high, kept } = self else { return true };
        let (least, most) = (low >> 48, high >> 48);
        let part = u64::from(parts.next(|| audit_cells::cut_leading::<16>(least, most)));
        if part < least {
            return true;
        }
        if part > most {
            return false;
        }
        flip_rest(part, *low, *high, *kept, parts.entropy)
    }
}

/// Whether a uniform number whose first sixteen bits are these is below the probability, which is
/// from one word to another.
#[cold]
fn flip_rest<E: Entropy + ?Sized>(
    part: u64,
    low: u64,
    high: u64,
    kept: Kept,
    entropy: &mut E,
) -> bool {
    // The words that start with this part and do not decide, without it.
    let rest = (1 << 48) - 1;
    let from = if low >> 48 == part { low & rest } else { 0 };
    let to = if high >> 48 == part { high & rest } else { rest };
    let word = audit_cells::word(entropy, || audit_cells::cut_leading::<48>(from, to));
    let word = part << 48 | word >> 16;
    if word < low {
        return true;
    }
    if word > high {
        return false;
    }
    decide(word, kept, entropy)
}

/// Whether a uniform number that starts with this word is below the probability.
#[cold]
fn decide<E: Entropy + ?Sized>(word: u64, kept: Kept, entropy: &mut E) -> bool {
    let mut uniform = Uniform::new(word);
    loop {
        uniform.refine(entropy);
        let exact = kept.fixed(uniform.bits);
        if uniform.lowest_above() <= exact.lo {
            return true;
        }
        if uniform.lowest >= exact.hi {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_testkit::Tape;

    fn epsilon(text: &str) -> Amount<Epsilon> {
        Amount::parse_up(text).unwrap()
    }

    fn of(text: &str, size: u32, among: u32) -> Share {
        Share { weight: Weight::Of { epsilon: epsilon(text), size }, among }
    }

    fn whole(weight: u32, among: u32) -> Share {
        Share { weight: Weight::Whole(weight), among }
    }

    #[test]
    fn kept_reports_are_decided_right_on_either_side_of_their_edge() {
        for (from, to) in [
            (None, of("1", 1, 2)),
            (None, of("500", 1, 1 << 20)),
            (Some(of("1", 1, 2)), of("0.5", 1, 2)),
            (Some(of("3", 1, 16)), whole(14, 16)),
            (Some(of("2", 3, 100)), of("0.000000000000000001", 40, 100)),
            // One half, one third of one half, and just below one.
            (None, whole(4, 4)),
            (Some(whole(4, 4)), whole(1, 5)),
            (None, whole(u32::MAX, 2)),
        ] {
            let keep = Keep::new(from, to);
            let exact = Kept { from, to }.fixed(1024);
            let edge = u64::try_from(&exact.lo >> 960).unwrap();
            for off in [0, 1, 2, 1 << 20] {
                for word in [edge.saturating_sub(off), edge.saturating_add(off)] {
                    for follow in [0, u64::MAX] {
                        let least = UBig::from(word) << 960;
                        let is_below = if follow == 0 {
                            least < exact.lo
                        } else {
                            least + (UBig::ONE << 960) <= exact.lo
                        };
                        let heads = keep.flip(&mut Tape::new([word]).then(follow));
                        assert_eq!(heads, is_below, "{from:?} {to:?} {word:x} {follow:x}");
                        // The same number in two parts: its first sixteen bits, and then the
                        // others.
                        let mut tape = Tape::new([word, word << 16]).then(follow);
                        let heads = keep.flip_part(&mut Parts::new(&mut tape));
                        assert_eq!(heads, is_below, "{from:?} {to:?} {word:x} {follow:x} in parts");
                    }
                }
            }
        }
    }

    #[test]
    fn shares_are_compared_whatever_they_are_among() {
        let rising = [
            of("0", 1, 4),
            of("0.1", 1, 4),
            of("0.1", 2, 4),
            of("1", 1, 4),
            of("1.000000000000000000000000000001", 1, 4),
            whole(1, 2),
            whole(4, 7),
            of("499.999999999999999999999999999999", 1, 4),
            of("500", 1, 4),
        ];
        for (i, one) in rising.iter().enumerate() {
            for (j, two) in rising.iter().enumerate() {
                assert_eq!(one.compare(*two), i.cmp(&j), "{one:?} {two:?}");
            }
        }
        assert!(of("0.7", 1, 2).compare(of("0.7", 8, 16)).is_eq());
        assert!(whole(1, 2).compare(whole(7, 14)).is_eq());
        assert!(matches!(Keep::new(Some(of("0.7", 1, 2)), of("0.7", 8, 16)), Keep::Always));
    }

    /// A weight that does not fit beside its outcomes is not one that is always kept.
    #[test]
    fn the_largest_weights_still_leave_something_to_chance() {
        assert!(Kept { from: None, to: whole(u32::MAX, 2) }.fixed(128).hi < UBig::ONE << 128);
        let price = Weight::Whole(u32::MAX).price(1, 1).to_f64();
        assert!((price - 32.0 * 2f64.ln()).abs() < 1e-9);
    }

    /// Prices are logarithms rounded up, of forty digits: of `9`, `1 + 2/7`, `(e + 1)/2`,
    /// `1 + (e² - 1) 3/10⁶` and `1 + (e⁵⁰⁰ - 1)/3`.
    #[test]
    fn prices_are_rounded_up_to_a_grain() {
        let of = |text, size| Weight::Of { epsilon: epsilon(text), size };
        for (weight, times, over, digits) in [
            (Weight::Whole(8), 1, 1, "2.197224577336219382790490473845051409294981"),
            (Weight::Whole(1), 2, 7, "0.2513144282809060776851377304018716796578964"),
            (of("1", 1), 1, 2, "0.62011450695827752463176337350967907383978"),
            (of("2", 3), 1, 1_000_000, "0.00001916698460896887177211705928295154695235891"),
            (of("500", 1), 1, 3, "498.9013877113318903086047547630774742953525"),
            (of("2", 5), 3, 15, "2"),
        ] {
            // The tables are cut off, so they round up to the price.
            let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
            let known = Amount::<Epsilon>::parse_up(&format!("{whole}.{part:0<30.30}")).unwrap();
            let exact = known.to_f64().fract() == 0.0;
            let expected = known.grains() + u128::from(!exact);
            assert_eq!(weight.price(times, over).grains(), expected, "{weight:?} {digits}");
        }
    }

    /// The numbers of a step in print: the corrected one, and not its odds.
    #[test]
    fn known_steps_have_their_probability() {
        let ln = |x: f64| Amount::ceil(x.ln()).unwrap();
        for (d, k, from, to, beta) in [
            (10, 1, Some(6.4), 5.0, 0.814_814_814_814_814_8),
            (10, 1, None, 9.0, 0.444_444_444_444_444_4),
            (10, 2, Some(5.0), 4.0, 0.843_75),
        ] {
            let share = |e: f64| Share { weight: Weight::Of { epsilon: ln(e), size: k }, among: d };
            let fixed = Kept { from: from.map(share), to: share(to) }.fixed(64);
            let found = Ratio { numerator: fixed.lo, denominator: UBig::ONE << 64 }.approximate();
            assert!((found - beta).abs() < 1e-14, "{found} {beta}");
        }
    }
}
