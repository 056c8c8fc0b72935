//! What prices integrate: the normal density times powers of normal distribution functions,
//! `phi(x) Phi(a1 x + b1)^n1 Phi(a2 x + b2)^n2 …`.
//!
//! Three facts about it carry everything else, and a change must keep them:
//!
//! - Its logarithm is strictly concave. So it has one mode, it falls ever faster from there, and a tail is at
//!   most a geometric series that starts with the last step.
//! - It is entire. On the line `x + iy` it is at most [`Integrand::growth`] times its integral, so the trapezoid
//!   rule with a step h misses it by no more than `2 growth/(exp(2 pi y/h) - 1)`, relatively.
//! - All of its parts are known to a few units in the last place, so the error of its logarithm at a node is
//!   bounded there ([`Node::error`]).

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
    /// A whole number. Where it is negative, `-power · slope²` summed over such factors is below one.
    pub(crate) power: f64,
}

impl Factor {
    /// With the offset `(one - other)/unit`. Slope and offset are those of numbers as they were written, so
    /// each of them may be off by a rounding beside those of computing.
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

    /// Where it is largest, by Newton's method kept between two ends of a bracket.
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
        x
    }

    /// A step for the trapezoid rule that misses at most [`MISSED`] of the integral.
    ///
    /// - Theorem: trapezoid-line (docs/theorems.md)
    /// - Proves: an entire function whose integral on the lines `x ± iy` is at most M is integrated by the
    ///   trapezoid rule of step h to within `2M/(exp(2 pi y/h) - 1)`
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
            if !(step > best) {
                break;
            }
            best = step;
            height *= 1.3;
        }
        // Few bits, so that multiples of it are exact.
        f64::from_bits(best.to_bits() & !0xffff_ffff)
    }

    /// A bound on the factor by which anything on the line `x + iy` exceeds what is on the real line.
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
/// How far down the logarithm goes before a tail is bounded as a whole.
const DOWN: f64 = 60.0;

/// A part of the real line on one side of the mode.
struct Cell {
    width: f64,
    /// The logarithm at the end nearer to the mode, and at the other, less that at the mode.
    near: f64,
    far: f64,
    /// For every factor a bound on its hazard, and on its place; infinite where the place may be negative.
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
                let end = start + side * width;
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
    /// - Proves: `|phi(x+iy)| = exp(y²/2) phi(x)`; `|Phi(u+iv)/Phi(u)|` is at most `exp(v²/2)` and, for
    ///   positive u with hazard h, `exp(h u w + (h v)² exp(v²)/2)`, `w = exp(v²/2) - 1`; it is at least
    ///   `exp(-0.2)` for v up to one
    /// - Assumes: the logarithm is concave, falling from the mode on both sides
    /// - Deviates: the largest value in a cell stands for all of it, in the denominator the smallest
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
