//! Exact sums of doubles (a superaccumulator): rounded once, when they are taken.
//!
//! A sum is kept as a whole number of the smallest step that doubles have, 2^-1074, in digits of 64
//! bits with signs of their own: adding a double adds to two digits and carries nothing. So sums of
//! parts add up to the sum of the whole, in whatever order. Only the digits are there that were
//! added to.

/// How many bits a digit has.
const BITS: u32 = 64;
/// How many bits the whole part of a double has.
const MANTISSA: u32 = 52;

/// A sum of doubles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExactSum {
    /// The digit that comes first, the least.
    first: u8,
    /// Each is a sum of less than 2^63 numbers of 64 bits.
    digits: Vec<i128>,
    /// Whether infinity was added, and minus infinity.
    infinities: (bool, bool),
}

impl ExactSum {
    /// Adds a double that is not NaN.
    pub(crate) fn add(&mut self, value: f64) {
        if value.is_infinite() {
            self.infinities.0 |= value > 0.0;
            self.infinities.1 |= value < 0.0;
            return;
        }
        let bits = value.to_bits();
        let exponent = u32::try_from(bits >> MANTISSA & 0x7ff).unwrap_or(0);
        let fraction = bits & ((1 << MANTISSA) - 1);
        // The smallest doubles have the exponent of the next larger ones, and no leading one.
        let (whole, place) = match exponent {
            0 => (fraction, 0),
            exponent => (fraction | 1 << MANTISSA, exponent - 1),
        };
        if whole == 0 {
            return;
        }
        let wide = u128::from(whole) << (place % BITS);
        let halves = [wide & u128::from(u64::MAX), wide >> BITS];
        for (digit, half) in (place / BITS..).zip(halves) {
            let half = i128::try_from(half).unwrap_or_default();
            if half != 0 {
                *self.digit(digit) += if value < 0.0 { -half } else { half };
            }
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (digit, &more) in (u32::from(other.first)..).zip(&other.digits) {
            *self.digit(digit) += more;
        }
        self.infinities.0 |= other.infinities.0;
        self.infinities.1 |= other.infinities.1;
    }

    /// A digit, which is there from now on. Doubles end with digit 33.
    fn digit(&mut self, digit: u32) -> &mut i128 {
        let digit = u8::try_from(digit).unwrap_or(u8::MAX);
        if self.digits.is_empty() {
            self.first = digit;
        }
        if digit < self.first {
            let more = usize::from(self.first - digit);
            self.digits.splice(0..0, std::iter::repeat_n(0, more));
            self.first = digit;
        }
        let place = usize::from(digit - self.first);
        if place >= self.digits.len() {
            self.digits.resize(place + 1, 0);
        }
        &mut self.digits[place]
    }

    /// The double that is nearest to the sum, of two that are as near the even one. Beyond all
    /// doubles it is an infinity; none if both infinities were added.
    pub(crate) fn rounded(&self) -> Option<f64> {
        match self.infinities {
            (true, true) => return None,
            (true, false) => return Some(f64::INFINITY),
            (false, true) => return Some(f64::NEG_INFINITY),
            (false, false) => {}
        }
        // Digits without signs, and the sign of the whole in the last carry.
        let mut carry = 0i128;
        let mut digits: Vec<u64> = vec![0; usize::from(self.first)];
        for digit in &self.digits {
            let sum = digit + carry;
            digits.push(low(sum));
            carry = sum >> BITS;
        }
        digits.extend([low(carry), low(carry >> BITS)]);
        let is_negative = carry < 0;
        if is_negative {
            let mut one = true;
            for digit in &mut digits {
                (*digit, one) = (!*digit).overflowing_add(u64::from(one));
            }
        }
        let size = nearest(&digits);
        Some(if is_negative { 0.0 - size } else { size })
    }

    /// How many bytes of memory it holds beside itself.
    pub(crate) fn held(&self) -> usize {
        self.digits.capacity() * size_of::<i128>()
    }

    /// Appends it as bytes that [`ExactSum::read`] takes in.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let flags = u8::from(self.infinities.0) | u8::from(self.infinities.1) << 1;
        // Doubles have 34 digits.
        bytes.extend([flags, self.first, u8::try_from(self.digits.len()).unwrap_or(u8::MAX)]);
        self.digits.iter().for_each(|digit| bytes.extend(digit.to_le_bytes()));
    }

    /// Takes what was written off the start of the bytes; none if it is no such sum.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        use crate::rows::column::encoding::take;
        let [flags, first, count] = take(bytes)?;
        let digits = (0..count).map(|_| take(bytes).map(i128::from_le_bytes));
        let digits = digits.collect::<Option<Vec<_>>>()?;
        Some(Self { first, digits, infinities: (flags & 1 != 0, flags & 2 != 0) })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low 64 bits")]
fn low(wide: i128) -> u64 {
    wide as u64
}

/// The double that is nearest to a whole number of steps of 2^-1074, the least digit first.
fn nearest(digits: &[u64]) -> f64 {
    let Some(top) = digits.iter().rposition(|digit| *digit != 0) else { return 0.0 };
    let digit = |place: usize| digits.get(place).copied().unwrap_or(0);
    let highest = u32::try_from(top).unwrap_or(0) * BITS + digits[top].ilog2();
    if highest <= MANTISSA {
        // As the smallest doubles are stored.
        return f64::from_bits(digits[0]);
    }
    // The bits from `from` on are kept, and the one before decides.
    let from = highest - MANTISSA;
    let bits = |from: u32| {
        let (place, shift) = ((from / BITS) as usize, from % BITS);
        let wide = u128::from(digit(place + 1)) << BITS | u128::from(digit(place));
        u64::try_from(wide >> shift & u128::from(u64::MAX)).unwrap_or(0)
    };
    let mut whole = bits(from) & ((1 << (MANTISSA + 1)) - 1);
    let half = bits(from - 1) & 1 == 1;
    let (place, shift) = (((from - 1) / BITS) as usize, (from - 1) % BITS);
    let is_more =
        digits[..place].iter().any(|digit| *digit != 0) || digit(place) & ((1 << shift) - 1) != 0;
    let mut exponent = u64::from(from) + 1;
    if half && (is_more || whole & 1 == 1) {
        whole += 1;
        if whole == 1 << (MANTISSA + 1) {
            whole >>= 1;
            exponent += 1;
        }
    }
    if exponent >= 0x7ff {
        return f64::INFINITY;
    }
    f64::from_bits(exponent << MANTISSA | (whole & ((1 << MANTISSA) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    fn any_finite() -> impl Strategy<Value = f64> {
        let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
        prop_oneof![any, -1e3..1e3, (-8i32..8).prop_map(|x| f64::from(x) * (f64::MAX / 8.0))]
    }

    proptest! {
        /// A sum and what it is taken for are as near as can be: what is left over, added up
        /// exactly, is half a step at most.
        #[test]
        fn a_sum_is_the_nearest_double(values in prop::collection::vec(any_finite(), 0..20)) {
            let exact = sum(&values);
            let rounded = exact.rounded().unwrap();
            prop_assume!(rounded.is_finite());
            let mut rest = exact.clone();
            rest.add(-rounded);
            let rest = rest.rounded().unwrap().abs();
            let (below, above) = (rounded.next_down(), rounded.next_up());
            for other in [below, above].into_iter().filter(|other| other.is_finite()) {
                let mut others = exact.clone();
                others.add(-other);
                prop_assert!(rest <= others.rounded().unwrap().abs());
            }
        }

        #[test]
        fn the_order_and_the_parts_of_a_sum_change_nothing(
            values in prop::collection::vec(any_finite(), 0..30),
            at in any::<prop::sample::Index>(),
        ) {
            let all = sum(&values).rounded();
            let mut backwards = values.clone();
            backwards.reverse();
            prop_assert_eq!(sum(&backwards).rounded(), all);
            let (one, other) = values.split_at(at.index(values.len() + 1));
            let mut merged = sum(other);
            let mut bytes = Vec::new();
            sum(one).write(&mut bytes);
            let mut rest = &bytes[..];
            merged.merge(&ExactSum::read(&mut rest).unwrap());
            prop_assert!(rest.is_empty());
            prop_assert_eq!(merged.rounded(), all);
        }

        /// Whole numbers add up as whole numbers do.
        #[test]
        fn sums_of_whole_numbers_are_theirs(
            values in prop::collection::vec(-(1i64 << 53)..(1i64 << 53), 0..50),
        ) {
            let floats: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            let total: i128 = values.iter().map(|value| i128::from(*value)).sum();
            prop_assert_eq!(sum(&floats).rounded(), Some(total as f64));
        }
    }

    #[test]
    fn what_doubles_lose_is_kept() {
        let tiny = f64::from_bits(1);
        for (values, expected) in [
            (&[][..], 0.0),
            (&[-0.0], 0.0),
            (&[1e300, 1.0, -1e300], 1.0),
            (&[0.1; 10], 1.0),
            (&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
            (&[tiny, tiny, -f64::MIN_POSITIVE], 2.0 * tiny - f64::MIN_POSITIVE),
            (&[9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0),
            (&[9_007_199_254_740_992.0, 1.0, tiny], 9_007_199_254_740_994.0),
            (&[f64::INFINITY, -1.0], f64::INFINITY),
            (&[f64::NEG_INFINITY, f64::MAX], f64::NEG_INFINITY),
        ] {
            let found = sum(values).rounded().unwrap();
            assert_eq!(found.to_bits(), (expected + 0.0).to_bits(), "{values:?}: {found}");
        }
        assert_eq!(sum(&[f64::INFINITY, f64::NEG_INFINITY, 1.0]).rounded(), None);
    }
}
