//! What prices integrate: the normal density times powers of normal distribution functions,
//! `phi(x) Phi(a1 x + b1)^n1 Phi(a2 x + b2)^n2 …`.
//!
//! Three facts about it carry everything else, and a change must keep them:
//!
//! - Its logarithm is strictly concave. So it has one mode, it falls ever faster from there, and a
//!   tail is at most a geometric series that starts with the last step.
//! - It is analytic: everywhere, or with a negative power as far as [`Integrand::step`] looks. On
//!   the line `x + iy` its integral grows by a factor that is bounded ([`Cells::growth`]), so the
//!   trapezoid rule with a step h misses no more than `2 growth/(exp(2 pi y/h) - 1)` of it.
//! - All of its parts are known to a few units in the last place, so the error of its logarithm at
//!   a node is bounded there ([`Node::error`]).

use eke_budget::normal::{Cdf, ULPS};

/// Half a unit in the last place of one: what a rounding may lose, relatively.
pub(crate) const ROUNDING: f64 = f64::EPSILON / 2.0;
/// The largest relative error of the trapezoid rule.
pub(crate) const MISSED: f64 = 1e-22;

/// `Phi(slope · x + offset)` to a power.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) slope: f64,
    pub(crate) offset: f64,
    /// How far the offset may be from the one that is meant.
    pub(crate) blur: f64,
    /// A whole number. Where it is negative, `-power · slope²` summed over such factors is below
    /// one.
    pub(crate) power: f64,
}

impl Factor {
    /// With the offset `(one - other)/unit`. Slope and offset are those of numbers as they were
    /// written, so each of them may be off by a rounding beside those of computing.
    pub(crate) fn new(slope: f64, [one, other]: [f64; 2], unit: f64, power: f64) -> Self {
        let offset = (one - other) / unit;
        let blur = ROUNDING * ((one.abs() + other.abs()) / unit * 1.01 + 4.0 * offset.abs());
        Self { slope, offset, blur, power }
    }

    /// The factor with its offset raised by a quotient of two numbers as they were written.
    pub(crate) fn raised(self, shift: f64) -> Self {
        let offset = self.offset + shift;
        let blur = self.blur + 4.0 * ROUNDING * (shift.abs() + offset.abs());
        Self { offset, blur, ..self }
    }

    fn place(&self, x: f64) -> f64 {
        self.slope * x + self.offset
    }

    /// How far [`Factor::place`] may be from the truth.
    fn place_error(&self, x: f64, place: f64) -> f64 {
        self.blur + ROUNDING * (5.0 * (self.slope * x).abs() + 2.0 * place.abs())
    }
}

/// The integrand at a node, and how it rises when offsets are raised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    /// The logarithm, without the constant of the density.
    pub(crate) ln: f64,
    /// How far that may be from the truth.
    pub(crate) error: f64,
    /// How much it rises when the offsets are raised.
    pub(crate) rise: f64,
    /// How far that may be from the truth.
    pub(crate) rise_error: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Integrand {
    factors: Vec<Factor>,
}

/// The most factors that an integrand has.
const MOST: usize = 2;

impl Integrand {
    pub(crate) fn new(factors: Vec<Factor>) -> Self {
        debug_assert!(factors.len() <= MOST);
        Self { factors }
    }

    pub(crate) fn raised(&self, shifts: &[f64]) -> Self {
        let factors = self.factors.iter().zip(shifts).map(|(factor, &shift)| factor.raised(shift));
        Self { factors: factors.collect() }
    }

    /// The logarithm at x, and its slope and curvature.
    fn shape(&self, x: f64) -> [f64; 3] {
        let mut shape = [-x * x / 2.0, -x, -1.0];
        for factor in &self.factors {
            let place = factor.place(x);
            let (cdf, weight) = (Cdf::at(place), factor.power * factor.slope);
            shape[0] += factor.power * cdf.ln();
            shape[1] += weight * cdf.hazard();
            // The slope of a hazard h at u is -h (u + h), between minus one and zero.
            let bend = (cdf.hazard() * (place + cdf.hazard())).clamp(0.0, 1.0);
            shape[2] -= weight * factor.slope * bend;
        }
        shape
    }

    pub(crate) fn ln(&self, x: f64) -> f64 {
        self.shape(x)[0]
    }

    /// Everything about a node. `shifts` are what the offsets are raised by, none or one for each.
    pub(crate) fn node(&self, x: f64, shifts: &[f64]) -> Node {
        let square = x * x;
        let mut node =
            Node { ln: -square / 2.0, error: ROUNDING * (3.0 * square + 8.0), ..Node::default() };
        for (index, factor) in self.factors.iter().enumerate() {
            let (place, power) = (factor.place(x), factor.power.abs());
            let (cdf, blur) = (Cdf::at(place), factor.place_error(x, place));
            node.ln += factor.power * cdf.ln();
            node.error += power * (cdf.hazard() * blur + (ULPS + 4.0) * ROUNDING * cdf.ln().abs());
            // The tail of a large u is as sensitive to rounding inside as u² says.
            node.error += power * cdf.hazard() * 4.0 * ROUNDING * place.max(0.0);
            if let Some(&shift) = shifts.get(index).filter(|&&shift| shift > 0.0) {
                let rise = power * cdf.ln_rise(shift);
                // The hazard falls by at most `u + shift + hazard` times the rise, and that is
                // at most 0.8 more than u and the shift, where they are positive.
                let steep = 0.8 + place.max(0.0) + shift;
                let rounding = ROUNDING * (ULPS + 8.0 + 2.0 * place.max(0.0).powi(2));
                node.rise += rise;
                node.rise_error += rise * (steep * blur + rounding) + power * f64::MIN_POSITIVE;
            }
        }
        node
    }

    /// Where it is largest, by Newton's method kept between two ends of a bracket. Not a number
    /// where that is so far out that doubles do not tell.
    pub(crate) fn mode(&self) -> f64 {
        // The curvature is at most `-flat`, so the mode is within the slope at zero over it.
        let convex = |f: &Factor| (-f.power).max(0.0) * f.slope * f.slope;
        let flat = 1.0 - self.factors.iter().map(convex).sum::<f64>();
        let far = self.shape(0.0)[1] / flat;
        let (mut low, mut high) = (far.min(0.0), far.max(0.0));
        let mut x = 0.0;
        for _ in 0..200 {
            let [_, slope, curvature] = self.shape(x);
            if slope > 0.0 {
                low = x;
            } else {
                high = x;
            }
            let mut next = x - slope / curvature;
            if !(next > low && next < high) {
                next = low + (high - low) / 2.0;
            }
            if (next - x).abs() <= 1e-9 / (1.0 + curvature.abs().sqrt()) {
                return next;
            }
            x = next;
        }
        f64::NAN
    }

    /// A step for the trapezoid rule that misses at most [`MISSED`] of the integral.
    ///
    /// - Theorem: trapezoid-line (docs/theorems.md)
    /// - Proves: a function that is analytic between the lines `x ± iy`, with an integral of at
    ///   most M on them, is integrated by the trapezoid rule of step h to within
    ///   `2M/(exp(2 pi y/h) - 1)`
    /// - Assumes: nothing
    /// - Deviates: M is twice its bound, for rounding
    /// - Checked by: `the_step_misses_nothing_that_a_finer_one_finds`,
    ///   `growth_bounds_the_integral_on_a_line`
    pub(crate) fn step(&self, mode: f64) -> f64 {
        let slopes = |f: &Factor| f.power.max(0.0) * f.slope * f.slope;
        let curvature = 1.0 + self.factors.iter().map(slopes).sum::<f64>();
        let widest = self
            .factors
            .iter()
            .filter(|f| f.power < 0.0)
            .map(|f| 1.0 / f.slope.abs())
            .fold(f64::INFINITY, f64::min);
        // The best line that is known without looking, and from there on as long as it gets better.
        let mut height = (2.0 * libm::log(2.0 / MISSED) / curvature).sqrt().min(widest);
        let cells = Cells::around(self, mode, LARGEST_HEIGHT.min(widest));
        let mut best = 0.0;
        while height <= LARGEST_HEIGHT.min(widest) {
            let growth = 2.0 * cells.growth(self, height);
            let step = std::f64::consts::TAU * height / libm::log1p(2.0 * growth / MISSED);
            if step.is_nan() || step <= best {
                break;
            }
            best = step;
            height *= 1.3;
        }
        // Few bits, so that multiples of it are exact.
        f64::from_bits(best.to_bits() & !0xffff_ffff)
    }

    /// Where a cell that starts here ends: at most a width further, and not across the places where
    /// a factor begins to fall, which growth depends on.
    fn next_edge(&self, start: f64, width: f64) -> f64 {
        let mut width = width;
        for factor in &self.factors {
            let (place, moved) = (factor.place(start), factor.slope * width);
            if moved < 0.0 && place > FALLS_BELOW {
                width *= ((FALLS_BELOW - 0.01 - place) / moved).min(1.0);
            } else if moved < 0.0 && place > -1.0 {
                width *= (-0.3 / moved).min(1.0);
            }
        }
        start + width
    }

    /// A bound on the factor by which anything on the line `x + iy` exceeds what is on the real
    /// line.
    fn growth_anywhere(&self, height: f64) -> f64 {
        let square = height * height / 2.0;
        let grown = |f: &Factor| {
            if f.power > 0.0 { f.power * f.slope * f.slope * square } else { -f.power * SHRINKS }
        };
        square + self.factors.iter().map(grown).sum::<f64>()
    }
}

/// Beyond it even the normal density alone grows more than a line further out is worth.
const LARGEST_HEIGHT: f64 = 10.5;
/// `|Phi(x + iy)|` is at least `exp(-SHRINKS) Phi(x)` for y up to one.
const SHRINKS: f64 = 0.2;
/// Where a distribution function is still one for any power there is.
const FALLS_BELOW: f64 = 9.0;
/// How far down the logarithm goes before a tail is bounded as a whole.
const DOWN: f64 = 60.0;

/// A part of the real line on one side of the mode.
struct Cell {
    width: f64,
    /// The logarithm at the end nearer to the mode, and at the other, less that at the mode.
    near: f64,
    far: f64,
    /// For every factor a bound on its hazard, and on its place; infinite where the place may be
    /// negative.
    factors: [(f64, f64); MOST],
}

/// The real line cut up around the mode, in ever wider cells, and the tails on both sides.
struct Cells {
    cells: Vec<Cell>,
    /// The integral of both tails, over the integrand at the mode, as logarithms.
    tails: [f64; 2],
}

impl Cells {
    fn around(integrand: &Integrand, mode: f64, height: f64) -> Self {
        let [top, _, curvature] = integrand.shape(mode);
        let first = 0.25 / curvature.abs().sqrt();
        let down = DOWN + integrand.growth_anywhere(height);
        let (mut cells, mut tails) = (Vec::new(), [0.0; 2]);
        for (tail, side) in tails.iter_mut().zip([-1.0, 1.0]) {
            let (mut width, mut start) = (first, mode);
            let mut near = 0.0;
            while near > -down {
                let end = integrand.next_edge(start, side * width);
                let far = integrand.ln(end) - top;
                let mut factors = [(0.0, 0.0); MOST];
                for (bound, factor) in factors.iter_mut().zip(&integrand.factors) {
                    let (one, other) = (factor.place(start), factor.place(end));
                    let (low, high) = (one.min(other), one.max(other));
                    *bound = if low > 0.0 {
                        (Cdf::at(low).hazard(), high)
                    } else {
                        (f64::INFINITY, 1.0)
                    };
                }
                cells.push(Cell { width: (end - start).abs(), near, far, factors });
                (start, near) = (end, far);
                width *= 1.12;
            }
            let slope = integrand.shape(start)[1].abs();
            *tail = near - libm::log(slope);
        }
        Self { cells, tails }
    }

    /// A bound on the integral of `|f(x + iy)|` over that of `f(x)`.
    ///
    /// - Theorem: normal-line (docs/theorems.md)
    /// - Proves: `|phi(x+iy)| = exp(y²/2) phi(x)`; `|Phi(u+iv)/Phi(u)|` is at most `exp(v²/2)` and,
    ///   for positive u with hazard h, `exp(h u w + (h v)² exp(v²)/2)`, `w = exp(v²/2) - 1`; it is
    ///   at least `exp(-0.2)` for v up to one
    /// - Assumes: the logarithm is concave, falling from the mode on both sides
    /// - Deviates: the largest value in a cell stands for all of it, in the denominator the
    ///   smallest
    /// - Checked by: `growth_bounds_the_integral_on_a_line`, `a_line_grows_no_more_than_is_said`
    fn growth(&self, integrand: &Integrand, height: f64) -> f64 {
        let density = height * height / 2.0;
        // By factor: the power, the square of its height over two, and what these make.
        let powers: Vec<[f64; 4]> = integrand
            .factors
            .iter()
            .map(|f| {
                let v = (f.slope * height).abs();
                [f.power, v * v / 2.0, libm::expm1(v * v / 2.0), v * v * libm::exp(v * v) / 2.0]
            })
            .collect();
        let (mut above, mut below) = (0.0, 0.0);
        for cell in &self.cells {
            let mut grown = density;
            for (&[power, anywhere, real, imaginary], (hazard, place)) in
                powers.iter().zip(cell.factors)
            {
                grown += if power < 0.0 {
                    -power * SHRINKS
                } else {
                    let here = hazard * place * real + hazard * hazard * imaginary;
                    power * anywhere.min(here)
                };
            }
            above += cell.width * libm::exp(cell.near + grown);
            below += cell.width * libm::exp(cell.far);
        }
        let anywhere = integrand.growth_anywhere(height);
        above += self.tails.iter().map(|tail| libm::exp(tail + anywhere)).sum::<f64>();
        above / below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Phi(u + iv)`, by the integral of the density along the line from u up.
    fn cdf(u: f64, v: f64) -> (f64, f64) {
        let steps = 400;
        let (mut real, mut imaginary) = (Cdf::at(u).ln().exp(), 0.0);
        let height = v / f64::from(steps);
        let density = (-u * u / 2.0).exp() / std::f64::consts::TAU.sqrt();
        for step in 0..=steps {
            // Simpson's rule.
            let weight = match step {
                0 => 1.0,
                _ if step == steps => 1.0,
                _ if step % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let s = f64::from(step) * height;
            let size = weight * height / 3.0 * density * (s * s / 2.0).exp();
            real += size * (u * s).sin();
            imaginary += size * (u * s).cos();
        }
        (real, imaginary)
    }

    #[test]
    fn a_line_grows_no_more_than_is_said() {
        let mut closest: f64 = 0.0;
        for u in (-60..=80).map(|u| f64::from(u) / 10.0) {
            for v in [0.01, 0.1, 0.3, 0.7, 1.0, 1.5, 2.5, 4.0] {
                let (real, imaginary) = cdf(u, v);
                let grown = libm::log(real.hypot(imaginary)) - Cdf::at(u).ln();
                let hazard = Cdf::at(u).hazard();
                let mut bound = v * v / 2.0;
                if u > 0.0 {
                    let parts = hazard * u * libm::expm1(v * v / 2.0)
                        + (hazard * v).powi(2) * libm::exp(v * v) / 2.0;
                    bound = bound.min(parts);
                }
                assert!(grown <= bound + 1e-9, "{u} {v}: {grown} {bound}");
                assert!(v > 1.0 || grown >= -SHRINKS - 1e-9, "{u} {v}: {grown}");
                closest = closest.max(grown / bound);
            }
        }
        assert!(closest > 0.9, "{closest}");
    }

    #[test]
    fn growth_bounds_the_integral_on_a_line() {
        for (power, unit) in [(1.0, 0.3), (20.0, 0.3), (1e3, 0.2), (1e6, 0.2)] {
            let factors = vec![
                Factor::new(0.577, [0.5, 1.0], unit, power),
                Factor::new(-0.577, [0.0, 0.5], unit, 1.0),
            ];
            let integrand = Integrand::new(factors);
            let mode = integrand.mode();
            for height in [0.05, 0.3, 0.8] {
                let cells = Cells::around(&integrand, mode, LARGEST_HEIGHT);
                let bound = cells.growth(&integrand, height);
                let (mut above, mut below) = (0.0, 0.0);
                for x in (-3000..=3000).map(|x| mode + f64::from(x) / 300.0) {
                    let real = integrand.ln(x) - integrand.ln(mode);
                    let mut grown = height * height / 2.0;
                    for factor in &integrand.factors {
                        let (u, v) = (factor.place(x), factor.slope * height);
                        // Far out the ratio is not told by differences of doubles.
                        let (re, im) = if u > -6.0 { cdf(u, v) } else { (0.0, 0.0) };
                        let ratio = libm::log(re.hypot(im)) - Cdf::at(u).ln();
                        grown += factor.power * if u > -6.0 { ratio } else { v * v / 2.0 };
                    }
                    above += (real + grown).exp();
                    below += real.exp();
                }
                assert!(above / below <= bound, "{power} {height}: {} {bound}", above / below);
            }
        }
    }

    #[test]
    fn the_mode_is_where_the_slope_is_nothing() {
        for power in [1.0, 1e3, 1e6, 1e12] {
            for unit in [1e-3, 0.1, 10.0] {
                let factor = Factor::new(0.577, [0.5, 1.0], unit, power);
                let integrand = Integrand::new(vec![factor]);
                let [_, slope, curvature] = integrand.shape(integrand.mode());
                // Within a millionth of a width, and of what slopes near it are rounded to.
                let width = 1.0 / curvature.abs().sqrt();
                assert!(slope.abs() * width < 1e-6, "{power} {unit}: {slope} {curvature}");
            }
        }
    }
}
