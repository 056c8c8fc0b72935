//! Bells over the plane, by the square of the distance from their middle, and differences of two.

/// `height · exp(-rate · square)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bell {
    pub(crate) height: f64,
    pub(crate) rate: f64,
}

impl Bell {
    /// Beyond so many e-folds a bell is nothing beside the rounding of what it is added to.
    const FLAT: f64 = 50.0;

    /// At the square of a distance.
    #[inline]
    pub(crate) fn at(&self, square: f64) -> f64 {
        let folds = self.rate * square;
        if folds > Self::FLAT { 0.0 } else { self.height * libm::exp(-folds) }
    }
}

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
        (self.outer.at(square) - self.inner.at(square)).max(0.0)
    }

    /// Up to which square and from which on it is no more than this: the first is negative infinity where there is none.
    pub(crate) fn within(&self, least: f64) -> [f64; 2] {
        let Self { outer, inner } = self;
        let turn = inner.height * inner.rate / (outer.height * outer.rate);
        let top = (libm::log(turn) / (inner.rate - outer.rate)).max(0.0);
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
        /// Whatever is tried, it is decided as by looking.
        #[test]
        fn a_hump_is_small_where_it_is_said_to_be(
            log in -12.0f64..6.0,
            parts in prop::collection::vec(0.0f64..1.0, 20),
            least in -9.0f64..0.0,
        ) {
            // The doubt about a kernel of width 1 with noise of a variance to come.
            let (noise, least) = (log.exp(), libm::exp(least));
            let outer = Bell { height: 1.0 / (1.0 + 2.0 * noise), rate: 1.0 / (1.0 + 2.0 * noise) };
            let inner = Bell { height: (1.0 + noise).powi(-2), rate: 1.0 / (1.0 + noise) };
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
        let bell = Bell { height: 1.0, rate: 0.5 };
        assert_eq!(Hump { outer: bell, inner: bell }.within(0.1), [f64::NEG_INFINITY, 0.0]);
    }
}
