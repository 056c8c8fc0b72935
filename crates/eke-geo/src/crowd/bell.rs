//! Bells over the plane, by the square of the distance from their middle, and differences of two.

/// `height · exp(-rate · square)`. In many dimensions kernels are so high and so narrow that
/// heights are kept as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bell {
    pub(crate) log_height: f64,
    pub(crate) rate: f64,
}

impl Bell {
    /// Below `exp(-30)` a bell is nothing: what all people in the world leave out of a sum is less
    /// than a thousandth of one.
    const FLAT: f64 = 30.0;

    /// At the square of a distance.
    #[inline]
    pub(crate) fn at(&self, square: f64) -> f64 {
        let folds = self.rate * square - self.log_height;
        if folds > Self::FLAT { 0.0 } else { exp_neg(folds) }
    }
}

/// `exp(-x)` up to a part in 10¹¹, for x from -700 to 700: all that an estimate needs, in a third
/// of the time. Below that, as at -700.
#[inline]
fn exp_neg(x: f64) -> f64 {
    let x = x.max(-700.0);
    // x = n ln 2 - r, where r is at most half of ln 2: and a power of two is its exponent.
    #[expect(clippy::cast_possible_truncation, reason = "below 1024")]
    let n = (x * std::f64::consts::LOG2_E + 0.5).floor() as i32;
    let halvings = f64::from(n);
    let r = (halvings * LN_2[0] - x) + halvings * LN_2[1];
    let (square, fourth) = (r * r, r * r * (r * r));
    let low = (1.0 + r) + (0.5 + r * (1.0 / 6.0)) * square;
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + (1.0 / 720.0 + r * (1.0 / 5040.0)) * square;
    let high = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let power = f64::from_bits(u64::try_from(1023 - n).unwrap_or(0) << 52);
    power * (low + middle * fourth + high * (fourth * fourth))
}

/// ln 2, of which the first has few digits, so that its products with integers are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// A bell less one within it that falls faster: it rises, if at all, and then falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hump {
    pub(crate) outer: Bell,
    pub(crate) inner: Bell,
}

impl Hump {
    /// At the square of a distance.
    #[inline]
    pub(crate) fn at(&self, square: f64) -> f64 {
        let outer = self.outer.at(square);
        if outer > 0.0 { (outer - self.inner.at(square)).max(0.0) } else { 0.0 }
    }

    /// The most that it comes to.
    pub(crate) fn top(&self) -> f64 {
        let top = self.at(self.turn());
        // Not a number where the two are one bell.
        if top.is_nan() { 0.0 } else { top }
    }

    /// Where it is highest.
    fn turn(&self) -> f64 {
        let Self { outer, inner } = self;
        let turn = inner.log_height - outer.log_height + libm::log(inner.rate / outer.rate);
        (turn / (inner.rate - outer.rate)).max(0.0)
    }

    /// Up to which square and from which on it is no more than this: the first is negative infinity
    /// where there is none.
    pub(crate) fn within(&self, least: f64) -> [f64; 2] {
        let (outer, top) = (self.outer, self.turn());
        // Not a number where the two are one bell.
        if self.at(top).is_nan() || self.at(top) <= least {
            return [f64::NEG_INFINITY, 0.0];
        }
        let mut end = top.max(1.0 / outer.rate);
        while self.at(end) > least {
            end *= 2.0;
        }
        let far = self.cross(top, end, least);
        let near =
            if self.at(0.0) > least { f64::NEG_INFINITY } else { self.cross(top, 0.0, least) };
        [near, far]
    }

    /// Where it comes down to this, between a square where it is above and one where it is not.
    fn cross(&self, mut above: f64, mut below: f64, least: f64) -> f64 {
        for _ in 0..40 {
            let middle = f64::midpoint(above, below);
            if self.at(middle) > least {
                above = middle;
            } else {
                below = middle;
            }
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exponentials_are_as_good_as_they_say(x in -700.0f64..700.0) {
            let (ours, theirs) = (exp_neg(x), libm::exp(-x));
            prop_assert!((ours / theirs - 1.0).abs() < 1e-11, "{ours} {theirs}");
        }

        /// Whatever is tried, it is decided as by looking.
        #[test]
        fn a_hump_is_small_where_it_is_said_to_be(
            log in -12.0f64..6.0,
            parts in prop::collection::vec(0.0f64..1.0, 20),
            least in -9.0f64..0.0,
        ) {
            // The doubt about a kernel of width 1 with noise of a variance to come.
            let (noise, least) = (log.exp(), libm::exp(least));
            let bell = |height: f64, rate| Bell { log_height: height.ln(), rate };
            let outer = bell(1.0 / (1.0 + 2.0 * noise), 1.0 / (1.0 + 2.0 * noise));
            let inner = bell((1.0 + noise).powi(-2), 1.0 / (1.0 + noise));
            let hump = Hump { outer, inner };
            let [near, far] = hump.within(least);
            prop_assert!(near < far);
            for part in parts {
                let square = 40.0 * part * part * (1.0 + 2.0 * noise);
                let value = hump.at(square);
                let close = (value - least).abs() < 1e-9;
                prop_assert!(close || (value <= least) == (square <= near || square >= far), "{square} {near} {far}");
            }
        }
    }

    #[test]
    fn no_hump_is_nowhere_above() {
        let bell = Bell { log_height: 0.0, rate: 0.5 };
        let [near, far] = Hump { outer: bell, inner: bell }.within(0.1);
        assert!(near < 0.0 && far <= 0.0, "{near} {far}");
    }
}
