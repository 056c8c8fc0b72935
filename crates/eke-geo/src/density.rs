//! How dense people are around a point: the mean of a Gaussian kernel.
//!
//! Everybody reports how far away they are, or where they are, with noise. Noise blurs a kernel, which our rule
//! takes back: a narrower and higher kernel on noisy reports is, on average, the kernel on the truth. Whoever would
//! hardly change the answer by going on stops: people far away, and people so close that the kernel is flat.

use eke_budget::Metres;
use eke_noise::Entropy;

use crate::crowd::{Crowd, CrowdError};
use crate::plan::{Allowance, Plan, Rule, Way};
use crate::reports::Reports;
use crate::walk::{Look, Spending, Walk};
use crate::{Seen, chi_width, two_sided_width};

/// How dense people are around a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The mean over all people of `exp(-distance²/(2 bandwidth²))`.
    pub estimate: f64,
    /// How far noise moves it, as a standard deviation.
    pub deviation: f64,
    /// Whether noise does not blur the kernel: then the estimate is right on average, but for those stopped early.
    pub unbiased: bool,
    /// What it cost.
    pub spending: Spending,
}

/// How dense people are around a point, with a Gaussian kernel of a bandwidth.
///
/// - Theorem: elimination (docs/theorems.md)
/// - Proves: everybody pays for the rounds they walked, and for nothing else
/// - Assumes: the point, the bandwidth, the allowances and the plan are public (caller)
/// - Deviates: nothing
/// - Checked by: `everybody_pays_for_the_rounds_they_walked_and_no_more`
///
/// Our estimate:
///
/// - Theorem: sharpened-kernel (docs/theorems.md)
/// - Proves: with noise of variance v below the bandwidth squared, `(b²/(b² - v))^(d/2) exp(-|y|²/(2 (b² - v)))` has the
///   mean `exp(-|x|²/(2 b²))`
/// - Assumes: noise is normal (on a lattice far finer than the bandwidth)
/// - Deviates: only where v is at most half of the bandwidth squared; those stopped early contribute what is expected of them
/// - Checked by: `sharpened_kernels_are_right_on_average`,
///   `our_rule_finds_densities_as_well_as_the_baseline_and_saves_more`
///
/// # Errors
/// The point is not on the people's lattice, the plan or the allowances do not fit, or noise cannot be drawn so.
pub fn density<E: Entropy + ?Sized>(
    crowd: &mut Crowd,
    at: &[i64],
    bandwidth: Metres,
    allowance: &Allowance,
    plan: &Plan,
    entropy: &mut E,
) -> Result<Density, CrowdError> {
    crowd.check_point(at)?;
    let dimensions = crowd.lattice.dimensions();
    let distances = if plan.way == Way::Distance { crowd.distances(at) } else { Vec::new() };
    let Crowd { lattice, points, accounts, seen } = crowd;
    let (truths, width, sensitivity, known) = match plan.way {
        Way::Point => (&points[..], dimensions, lattice.sensitivity(), std::mem::take(seen)),
        Way::Distance => (&distances[..], 1, lattice.of_function(1.0)?, Seen::default()),
    };
    let walk = Walk { truths, width, sensitivity, allowance, plan };
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let centre = match plan.way {
        Way::Point => at.iter().map(|&steps| steps as f64).collect(),
        Way::Distance => vec![0.0],
    };
    let bandwidth = bandwidth.get() / lattice.grid().step();
    let judge = Judge { centre, bandwidth: bandwidth * bandwidth, plan };
    let mut stopped = vec![false; accounts.len()];
    let (reports, _, spending) = walk.run(accounts, known, entropy, |reports, walking, look| {
        judge.stop(reports, walking, look, &mut stopped);
    })?;
    let density = judge.density(&reports, &stopped, spending);
    if plan.way == Way::Point {
        *seen = reports.into_seen();
    }
    Ok(density)
}

/// What people contribute, from reports alone. Squares of steps throughout.
struct Judge<'a> {
    centre: Vec<f64>,
    bandwidth: f64,
    plan: &'a Plan,
}

/// What a person contributes in the end: `height · exp(-|y|²/(2 width))`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kernel {
    dimensions: f64,
    width: f64,
    height: f64,
}

impl Kernel {
    /// The kernel of a bandwidth squared, for noise of a variance in the end: sharpened, if it can be.
    fn new(dimensions: usize, bandwidth: f64, variance: f64, sharpen: bool) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "at most 2^16")]
        let dimensions = dimensions as f64;
        if !sharpen || variance > bandwidth / 2.0 {
            return Self { dimensions, width: bandwidth, height: 1.0 };
        }
        let width = bandwidth - variance;
        Self { dimensions, width, height: libm::pow(bandwidth / width, dimensions / 2.0) }
    }

    /// What is expected of somebody who seems to be this far away (squared), with noise of a variance still to go.
    fn expected(self, square: f64, to_come: f64) -> f64 {
        let Self { dimensions, width, height } = self;
        let total = width + to_come;
        let fall = if to_come > 0.0 { libm::pow(width / total, dimensions / 2.0) } else { 1.0 };
        height * fall * libm::exp(-square / (2.0 * total))
    }

    /// The variance of that.
    fn doubt(self, square: f64, to_come: f64) -> f64 {
        let squared = Self { width: self.width / 2.0, height: self.height * self.height, ..self };
        let mean = self.expected(square, to_come);
        (squared.expected(square, to_come) - mean * mean).max(0.0)
    }

    /// What noise of a variance in the end does to the contribution of somebody of whom a place is known up to a variance.
    fn wobble(self, square: f64, known: f64, end: f64) -> f64 {
        let squared = Self { width: self.width / 2.0, height: self.height * self.height, ..self };
        let blurred = self.width + end;
        let fall = libm::pow(self.width / blurred, self.dimensions);
        let mean = Self {
            width: blurred / 2.0,
            height: self.height * self.height * fall,
            dimensions: self.dimensions,
        };
        (squared.expected(square, known + end) - mean.expected(square, known)).max(0.0)
    }

    /// From which distance (squared) on the doubt is no more than this.
    fn far(self, to_come: f64, least: f64) -> f64 {
        let (mut low, mut high) = (self.width + to_come, self.width + to_come);
        while self.doubt(high, to_come) > least {
            high *= 2.0;
        }
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if self.doubt(middle, to_come) > least {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

impl Judge<'_> {
    /// The part of the answer's own variance that stopping early may add to it.
    const PART: f64 = 0.03;
    /// The least variance of the sum that is cared about: half a person.
    const FLOOR: f64 = 0.25;
    /// How many people are looked at to find out about all of them.
    const SAMPLE: usize = 2000;

    fn square(&self, reports: &Reports, person: u32) -> f64 {
        let off = |(mean, centre): (&f64, &f64)| (mean - centre) * (mean - centre);
        reports.mean(person).iter().zip(&self.centre).map(off).sum()
    }

    fn kernel(&self, end: f64) -> Kernel {
        Kernel::new(self.centre.len(), self.bandwidth, end, self.plan.rule == Rule::Ours)
    }

    fn stop(&self, reports: &Reports, walking: &mut Vec<u32>, look: Look, stopped: &mut [bool]) {
        let mut mark = |person: u32, decided: bool| {
            stopped[person as usize] |= decided;
            !decided
        };
        match self.plan.rule {
            Rule::Once => {}
            Rule::Paper => {
                let miss = self.plan.beta.shared_by(look.rounds * walking.len());
                let width = match self.plan.way {
                    Way::Distance => two_sided_width(miss),
                    Way::Point => chi_width(self.centre.len(), miss),
                };
                walking.retain(|&person| {
                    let reach =
                        6.0 * self.bandwidth.sqrt() + width * reports.variance(person).sqrt();
                    // A noisy distance below zero is not far away.
                    let near = self.plan.way == Way::Distance && reports.value(person) < 0.0;
                    let far = !near && self.square(reports, person) > reach * reach;
                    mark(person, far)
                });
            }
            Rule::Ours if look.round == look.rounds => {}
            Rule::Ours => {
                let least = self.least(reports, walking);
                let mut last = None;
                walking.retain(|&person| {
                    let key = (reports.to_come(person), reports.end_variance(person));
                    let bounds = match last {
                        Some((known, bounds)) if known == key => bounds,
                        _ => {
                            let kernel = self.kernel(key.1);
                            let far = kernel.far(key.0, least);
                            let flat = kernel.doubt(0.0, key.0) <= least;
                            let bounds = (kernel, far, flat);
                            last = Some((key, bounds));
                            bounds
                        }
                    };
                    let (kernel, far, flat) = bounds;
                    let square = self.square(reports, person);
                    let decided =
                        square >= far || (flat && kernel.doubt(square, key.0) <= least);
                    mark(person, decided)
                });
            }
        }
    }

    /// The doubt that is left to a person who stops.
    fn least(&self, reports: &Reports, walking: &[u32]) -> f64 {
        let step = (walking.len() / Self::SAMPLE).max(1);
        let wobble = |person: &u32| {
            let end = reports.end_variance(*person);
            let square = self.square(reports, *person);
            self.kernel(end).wobble(square, reports.variance(*person), end)
        };
        let sum: f64 = walking.iter().step_by(step).map(wobble).sum();
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^32 people")]
        let (step, people) = (step as f64, reports.people() as f64);
        Self::PART * (sum * step).max(Self::FLOOR) / people
    }

    fn density(&self, reports: &Reports, stopped: &[bool], spending: Spending) -> Density {
        let (mut sum, mut variance, mut unbiased) = (0.0, 0.0, true);
        for person in (0u32..).take(reports.people()) {
            if !reports.variance(person).is_finite() {
                unbiased = false;
                continue;
            }
            let end = reports.end_variance(person);
            let kernel = self.kernel(end);
            unbiased &= kernel.width < self.bandwidth;
            let square = self.square(reports, person);
            let rule = self.plan.rule;
            if rule == Rule::Paper && stopped[person as usize] {
                sum += libm::exp(-18.0);
                continue;
            }
            let to_come = if rule == Rule::Ours { reports.to_come(person) } else { 0.0 };
            if square > 80.0 * (kernel.width + to_come + end) {
                continue;
            }
            sum += kernel.expected(square, to_come);
            variance += kernel.wobble(square, reports.variance(person), end);
        }
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^32 people")]
        let people = reports.people() as f64;
        let (estimate, deviation) = (sum / people, variance.sqrt() / people);
        Density { estimate, deviation, unbiased, spending }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the trapezoid rule over the noise, in one and two dimensions.
    #[test]
    fn sharpened_kernels_are_right_on_average() {
        for (bandwidth, variance, x) in [(4.0, 1.0, 0.0), (4.0, 2.0, 1.7), (9.0, 4.5, 6.0)] {
            let steps = || (-800i32..=800).map(|step| f64::from(step) * 0.02 * f64::sqrt(variance));
            let law = |z: f64| (-z * z / (2.0 * variance)).exp();
            let total: f64 = steps().map(law).sum();
            let line = Kernel::new(1, bandwidth, variance, true);
            let mean: f64 =
                steps().map(|z| law(z) * line.expected((x + z) * (x + z), 0.0)).sum::<f64>() / total;
            let truth = (-x * x / (2.0 * bandwidth)).exp();
            assert!((mean - truth).abs() < 1e-9, "{mean} {truth}");
            // The plain kernel is off.
            let plain = Kernel::new(1, bandwidth, variance, false);
            let blurred: f64 =
                steps().map(|z| law(z) * plain.expected((x + z) * (x + z), 0.0)).sum::<f64>() / total;
            assert!((blurred - truth).abs() > 1e-3, "{blurred} {truth}");
            // What is expected and in doubt, of noise that is still to come.
            let expected = plain.expected(x * x, variance);
            assert!((expected - blurred).abs() < 1e-9, "{expected} {blurred}");
            let square: f64 = steps()
                .map(|z| law(z) * plain.expected((x + z) * (x + z), 0.0).powi(2))
                .sum::<f64>()
                / total;
            assert!((plain.doubt(x * x, variance) - (square - blurred * blurred)).abs() < 1e-9);
            assert!((plain.wobble(x * x, 0.0, variance) - (square - blurred * blurred)).abs() < 1e-9);
            let plane = Kernel::new(2, bandwidth, variance, true);
            assert!((plane.height - line.height * line.height).abs() < 1e-12);
        }
    }
}
