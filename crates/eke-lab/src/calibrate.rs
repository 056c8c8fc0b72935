//! Computes the constants of the boundary at which a relative goal stops.
//!
//! A truth of one is looked at with precision s (one over the variance), at geometrically spaced s.
//! Then `m = y sqrt(s)` is `sqrt(s)` plus a standard normal number, and from one look to the next
//! it is a Gaussian step. Stop at the first look with `m >= K` and release `y (1 - b)`, b being the
//! square of the tolerance. The density of m among runs that have not stopped is carried from look
//! to look on Gauss-Legendre nodes; what stops at a look within the tolerance is known in closed
//! form. Where the looks lie relative to the truth is unknown, so the worst of at least 64 phases
//! counts, no two of them further apart than a thirtieth of the noise: eight phases once missed the
//! worst, and 95 % was 94.83 % within 1 %. Any other truth is this one in other units.

use std::io::{self, Write};

use statrs::function::erf::{erfc, erfc_inv};

/// Nodes of the quadrature.
const NODES: usize = 160;
/// Deviations beyond which a normal number is not looked for: a tail of 1e-11.
const REACH: f64 = 6.7;
/// The fewest phases of the looks that are tried.
const PHASES: u32 = 64;
/// How far apart two phases are at most, in deviations of the noise at a look near the boundary.
const APART: f64 = 0.03;
/// A look further from the boundary than this, in deviations, is not where it is decided whether to
/// stop.
const FAR: f64 = 8.0;
/// The half-width, in z deviations, of the interval of an answer that ends without having stopped.
pub const END: f64 = 1.1;
/// What coverage must exceed the confidence by: for quadrature, for phases not tried, and for looks
/// that are skipped.
const MARGIN: f64 = 2e-4;

/// A goal, and how the looks are spaced.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    /// The relative error that is good enough.
    pub tolerance: f64,
    /// How sure that must be.
    pub confidence: f64,
    /// The precision of a look over that of the one before.
    pub ratio: f64,
}

/// The tolerances of the table.
pub const TOLERANCES: [f64; 9] = [1e-4, 1e-3, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
/// The confidences of the table.
pub const CONFIDENCES: [f64; 5] = [0.8, 0.9, 0.95, 0.99, 0.999];
/// The ratios of the table.
pub const RATIOS: [f64; 4] = [1.05, 1.1, 1.3, 2.0];
/// The least K for which the law of what is released does not depend on the truth.
const LEAST: f64 = 8.0;

/// Computes the table, and prints it as it stands in the code of the stopping rules.
///
/// # Errors
/// The output could not be written.
pub fn print_table(out: &mut impl Write) -> io::Result<()> {
    for ratio in RATIOS {
        for confidence in CONFIDENCES {
            let looks = TOLERANCES.map(|tolerance| Looks { tolerance, confidence, ratio });
            let looks = looks.iter().filter(|looks| looks.quantile() / looks.tolerance >= LEAST);
            let found = looks.map(|looks| {
                let boundary = looks.calibrate();
                (boundary.kappa, looks.performance(boundary))
            });
            let found: Vec<(f64, Performance)> = found.collect();
            let kappas: Vec<String> =
                found.iter().map(|(kappa, _)| format!("{kappa:.3}")).collect();
            let coverage = found.iter().map(|(_, row)| row.coverage).fold(1.0, f64::min);
            let price = found.iter().map(|(_, row)| row.price).fold(0.0, f64::max);
            writeln!(
                out,
                "    row({ratio}, {confidence}, &[{}]), \
                 // covers at least {coverage:.4}, costs at most {price:.3}",
                kappas.join(", ")
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Where to stop.
#[derive(Clone, Copy, Debug)]
pub struct Boundary {
    /// Times `z/tolerance`, z being the two-sided normal quantile: K.
    pub kappa: f64,
}

/// How a boundary does.
#[derive(Clone, Copy, Debug)]
pub struct Performance {
    /// How often the answer is within the tolerance, in the worst phase.
    pub coverage: f64,
    /// The precision paid for, on average over phases, over that of one look that knows the truth.
    pub price: f64,
}

impl Looks {
    /// The two-sided normal quantile of the confidence.
    #[must_use]
    pub fn quantile(&self) -> f64 {
        std::f64::consts::SQRT_2 * erfc_inv(1.0 - self.confidence)
    }

    /// How a boundary does.
    #[must_use]
    pub fn performance(&self, boundary: Boundary) -> Performance {
        let price = |phase: u32| {
            let first = self.first(boundary, f64::from(phase) / f64::from(PHASES));
            Run::new(self, boundary, first, None).price
        };
        let price = (0..PHASES).map(price).sum::<f64>() / f64::from(PHASES);
        let oracle = (self.quantile() / self.tolerance).powi(2);
        Performance { coverage: self.coverage(boundary), price: price / oracle }
    }

    /// How often the answer is within the tolerance, in the worst phase.
    #[must_use]
    pub fn coverage(&self, boundary: Boundary) -> f64 {
        self.coverages(boundary).fold(1.0, f64::min)
    }

    /// How often it is, phase by phase.
    fn coverages(&self, boundary: Boundary) -> impl Iterator<Item = f64> + '_ {
        let k = boundary.kappa * self.quantile() / self.tolerance;
        // From one look to the next, m moves by this near the boundary; looks further apart than
        // the noise reaches are decided one by one.
        let whole = (k * (1.0 - self.ratio.sqrt().recip())).min(2.0 * FAR);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 534")]
        let phases = PHASES.max((whole / APART).ceil() as u32);
        (0..phases).map(move |phase| {
            let root = k + FAR - whole * f64::from(phase) / f64::from(phases);
            let phase = ((root * root).ln() / self.ratio.ln()).rem_euclid(1.0);
            Run::new(self, boundary, self.first(boundary, phase), None).covered
        })
    }

    /// The first look at which stopping is possible at all, where looks are in this phase.
    fn first(&self, boundary: Boundary, phase: f64) -> f64 {
        let k = boundary.kappa * self.quantile() / self.tolerance;
        let start = (k - REACH).max(0.5).powi(2).ln() / self.ratio.ln();
        start.floor() + phase
    }

    /// The worst coverage where nothing is looked at before some look, wherever that is: from where
    /// stopping is impossible to where it is certain.
    #[must_use]
    pub fn coverage_from_a_later_look(&self, boundary: Boundary) -> f64 {
        let k = boundary.kappa * self.quantile() / self.tolerance;
        let covered = |step: u32| {
            let root = k - FAR + 2.0 * FAR * f64::from(step) / 160.0;
            let first = root.max(0.5).powi(2).ln() / self.ratio.ln();
            Run::new(self, boundary, first, None).covered
        };
        (0..=160).map(covered).fold(1.0, f64::min)
    }

    /// The worst coverage where a highest price ends the looks, wherever it is.
    #[must_use]
    pub fn coverage_at_the_end(&self, boundary: Boundary) -> f64 {
        let start = self.quantile() / self.tolerance;
        let mut worst: f64 = 1.0;
        for step in 0..20 {
            // Square roots of the last precision, around K.
            let last = start + (f64::from(step) - 10.0) / 2.5;
            for apart in [1.0, 1.2, 1.4, 1.6, 1.8, 2.0] {
                // The last look is a step or more after the one before it, and less than two.
                let phase = ((last * last).ln() / self.ratio.ln() - apart).rem_euclid(1.0);
                let first = self.first(boundary, phase);
                worst = worst.min(Run::new(self, boundary, first, Some(last * last)).covered);
            }
        }
        worst
    }

    /// The least boundary whose coverage is enough, also where it ends early; none below one
    /// planned look's.
    #[must_use]
    pub fn calibrate(&self) -> Boundary {
        let kappa = least(1.0, 1.25, |kappa| {
            let (boundary, least) = (Boundary { kappa }, self.confidence + MARGIN);
            self.coverages(boundary).all(|coverage| coverage >= least)
                && self.coverage_at_the_end(boundary) >= least
        });
        Boundary { kappa }
    }
}

/// A small number for which something is so, in thousandths. (Where the looks lie makes it a little
/// uneven, so it may not be the least.)
fn least(from: f64, to: f64, is_enough: impl Fn(f64) -> bool) -> f64 {
    if is_enough(from) {
        return from;
    }
    let (mut low, mut high) = (from, to);
    while high - low > 5e-4 {
        let middle = f64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    let mut thousandths = (high * 1000.0).ceil();
    while !is_enough(thousandths / 1000.0) {
        thousandths += 1.0;
    }
    thousandths / 1000.0
}

/// What becomes of all runs together.
struct Run {
    covered: f64,
    price: f64,
}

impl Run {
    /// Looks at precisions `ratio^index`, from a first index on, up to a last precision if there is
    /// one.
    fn new(looks: &Looks, boundary: Boundary, first: f64, last: Option<f64>) -> Self {
        let Looks { tolerance, ratio, .. } = *looks;
        let z = looks.quantile();
        let k = boundary.kappa * z / tolerance;
        let shrink = 1.0 - tolerance * tolerance;
        let mut covered = 0.0;
        let mut price = 0.0;
        let mut index = first;
        let mut before: Option<(f64, Density)> = None;
        loop {
            let on_schedule = (index * ratio.ln()).exp();
            // A look less than a step before the last is the last.
            let is_last = last.is_some_and(|last| on_schedule * ratio > last * (1.0 + 1e-9));
            let s = last.filter(|_| is_last).unwrap_or(on_schedule);
            let root = s.sqrt();
            // Good answers at this look: m from K on, and y (1 - b) within the tolerance of one.
            let least = (root * (1.0 - tolerance) / shrink).max(k);
            let most = root * (1.0 + tolerance) / shrink;
            let step = Step::new(before.as_ref().map(|(s, _)| *s), s);
            let chance = |from: f64, to: f64| match &before {
                None => (normal(to - root) - normal(from - root)).max(0.0),
                Some((_, density)) => density.mass(|m| step.mass(m, from, to)),
            };
            covered += chance(least, most.max(least));
            let stopped = chance(k, f64::INFINITY);
            price += s * stopped;
            if is_last {
                // What has not stopped ends here, with an ordinary interval.
                let half = END * z;
                covered += chance(root - half, (root + half).min(k));
                price += s * chance(f64::NEG_INFINITY, k);
                return Self { covered, price };
            }
            let density =
                Density::new(root - REACH - 1.0, (root + REACH).min(k), |m| match &before {
                    None => bell(m - root),
                    Some((_, density)) => density.mass(|from| step.density(from, m)),
                });
            if density.mass(|_| 1.0) < 1e-9 {
                return Self { covered, price };
            }
            before = Some((s, density));
            index += 1.0;
        }
    }
}

/// The step of m from one precision to the next: `m sqrt(s/s')`, a drift, and noise.
struct Step {
    scale: f64,
    drift: f64,
    deviation: f64,
}

impl Step {
    fn new(from: Option<f64>, to: f64) -> Self {
        let from = from.unwrap_or(0.0);
        let part = from / to;
        Self { scale: part.sqrt(), drift: (to - from) / to.sqrt(), deviation: (1.0 - part).sqrt() }
    }

    fn density(&self, from: f64, to: f64) -> f64 {
        bell((to - self.scale * from - self.drift) / self.deviation) / self.deviation
    }

    fn mass(&self, m: f64, from: f64, to: f64) -> f64 {
        let at = |x: f64| normal((x - self.scale * m - self.drift) / self.deviation);
        (at(to) - at(from)).max(0.0)
    }
}

/// A density at the nodes of a quadrature.
struct Density {
    /// Nodes, and density times weight there.
    nodes: Vec<(f64, f64)>,
}

impl Density {
    fn new(low: f64, high: f64, density: impl Fn(f64) -> f64) -> Self {
        if high <= low {
            return Self { nodes: Vec::new() };
        }
        let half = (high - low) / 2.0;
        let nodes = legendre()
            .iter()
            .map(|&(x, weight)| {
                let m = f64::midpoint(low, high) + half * x;
                (m, density(m) * weight * half)
            })
            .collect();
        Self { nodes }
    }

    fn mass(&self, function: impl Fn(f64) -> f64) -> f64 {
        self.nodes.iter().map(|&(m, weight)| weight * function(m)).sum()
    }
}

/// The nodes and weights of Gauss-Legendre quadrature on (-1, 1), by Newton's method.
fn legendre() -> &'static [(f64, f64)] {
    static RULE: std::sync::OnceLock<Vec<(f64, f64)>> = std::sync::OnceLock::new();
    RULE.get_or_init(|| {
        let n = NODES as f64;
        (0..NODES)
            .map(|i| {
                let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
                let mut slope = 1.0;
                for _ in 0..100 {
                    let (mut p, mut last) = (1.0, 0.0);
                    for j in 1..=NODES {
                        let j = j as f64;
                        (p, last) = (((2.0 * j - 1.0) * x * p - (j - 1.0) * last) / j, p);
                    }
                    slope = n * (x * p - last) / (x * x - 1.0);
                    let change = p / slope;
                    x -= change;
                    if change.abs() < 1e-15 {
                        break;
                    }
                }
                (x, 2.0 / ((1.0 - x * x) * slope * slope))
            })
            .collect()
    })
}

fn bell(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The distribution function of a standard normal number.
pub(crate) fn normal(x: f64) -> f64 {
    if x.is_infinite() {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    erfc(-x / std::f64::consts::SQRT_2) / 2.0
}
