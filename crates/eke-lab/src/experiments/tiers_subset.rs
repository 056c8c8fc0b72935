//! Reports about categories for several tiers: how far each tier is from what it would have alone.
//!
//! The experiment of *Multi-tier Differentially Private Query Release*, section 6.2: lists of tiers
//! evenly spaced or drawn at random; the mean squared error of an estimate from one report per
//! tier, summed over categories. Everything is in closed form: nothing is drawn but the lists.

pub(crate) mod bounds;
mod figure;
mod reported;

use std::error::Error;
use std::fmt;

use eke_budget::{Amount, Epsilon};
use eke_local::worth::subset;
use eke_local::{Method, Plan};
use eke_testkit::Seeded;
use rand_distr::{Distribution, Normal, Uniform};

use crate::frame::context::Context;

pub(crate) use reported::SUBSET;

/// A way to answer several tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Each tier alone, at its whole epsilon: what nobody who might collude can be given.
    Ideal,
    /// One chain of subsets, planned for the tiers.
    Planned,
    /// The paper's improved templates.
    Improved,
    /// The paper's first templates.
    Reference,
    /// Binary randomized response, a bit a category.
    Bits,
    /// Generalized randomized response.
    Response,
    /// A report for each step from one tier to the next, weighted.
    Gradual,
}

impl Way {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::Ideal,
        Self::Planned,
        Self::Improved,
        Self::Reference,
        Self::Bits,
        Self::Response,
        Self::Gradual,
    ];

    /// As it is written in tables.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Ideal => "each tier alone (collusion breaks it)",
            Self::Planned => "planned for the tiers (eke)",
            Self::Improved => "paper, improved templates",
            Self::Reference => "paper, first templates",
            Self::Bits => "binary randomized response",
            Self::Response => "generalized randomized response",
            Self::Gradual => "gradual release",
        }
    }

    /// The error of each tier, for tiers that fall.
    ///
    /// # Errors
    /// The tiers are none that can be planned for.
    pub(crate) fn errors(
        self,
        categories: u32,
        falling: &[Amount<Epsilon>],
    ) -> Result<Vec<f64>, Box<dyn Error>> {
        let epsilons = || falling.iter().map(|tier| tier.to_f64());
        let planned = |method| -> Result<Vec<f64>, Box<dyn Error>> {
            let plan = Plan::new(categories, falling, method)?;
            Ok(plan.tiers().iter().map(|tier| tier.variance).collect())
        };
        match self {
            Self::Ideal => Ok(epsilons().map(|e| subset::best_variance(categories, e)).collect()),
            Self::Planned => planned(Method::Planned),
            Self::Improved => planned(Method::Improved),
            Self::Reference => planned(Method::Reference),
            Self::Response => planned(Method::RandomizedResponse),
            Self::Bits => Ok(epsilons().map(|e| bits(categories, e)).collect()),
            Self::Gradual => {
                // From the coarsest tier on: what is known is the sum of the precisions.
                let mut precision = 0.0;
                let mut before = Amount::ZERO;
                let mut errors = Vec::with_capacity(falling.len());
                for tier in falling.iter().rev() {
                    let step = tier.minus(before).ok_or("the tiers do not fall")?;
                    before = *tier;
                    if !step.is_zero() {
                        precision += 1.0 / subset::best_variance(categories, step.to_f64());
                    }
                    errors.push(1.0 / precision);
                }
                errors.reverse();
                Ok(errors)
            }
        }
    }
}

/// The variance of binary randomized response: every bit is right with odds `exp(epsilon/2)`.
fn bits(categories: u32, epsilon: f64) -> f64 {
    let half = (-epsilon / 2.0).exp();
    f64::from(categories) * half / (1.0 - half).powi(2)
}

/// Lists of tiers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lists {
    /// Multiples of a step.
    Grid(f64),
    /// Uniform between 0.01 and this.
    Uniform(f64),
    /// Normal, of this mean and variance, above 0.01.
    Normal(f64, f64),
}

impl fmt::Display for Lists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid(step) => write!(f, "grid({step})"),
            Self::Uniform(most) => write!(f, "uniform({most})"),
            Self::Normal(mean, variance) => write!(f, "normal({mean},{variance})"),
        }
    }
}

impl Lists {
    fn is_random(self) -> bool {
        !matches!(self, Self::Grid(_))
    }

    /// A list of n tiers, the finest first.
    fn draw(self, tiers: u32, seeded: &mut Seeded) -> Result<Vec<Amount<Epsilon>>, Box<dyn Error>> {
        const LEAST: f64 = 0.01;
        let mut list = Vec::with_capacity(tiers as usize);
        for number in 1..=tiers {
            let epsilon = match self {
                Self::Grid(step) => step * f64::from(number),
                Self::Uniform(most) => Uniform::new(LEAST, most)?.sample(&mut seeded.0),
                Self::Normal(mean, variance) => {
                    let normal = Normal::new(mean, variance.sqrt())?;
                    loop {
                        let drawn = normal.sample(&mut seeded.0);
                        if drawn >= LEAST {
                            break drawn;
                        }
                    }
                }
            };
            // A few digits, as anybody would write it.
            list.push(Amount::parse_down(&format!("{epsilon:.6}"))?);
        }
        list.sort_unstable_by(|a, b| b.cmp(a));
        list.dedup();
        Ok(list)
    }
}

/// Means over lists, of one way and one number of tiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// How many tiers.
    pub tiers: u32,
    /// Which way.
    pub way: Way,
    /// The errors of all tiers together.
    pub total: f64,
    /// The largest ratio to a tier alone.
    pub worst: f64,
    /// The standard error of that, over lists.
    pub deviation: f64,
}

/// Everything about one kind of lists.
#[derive(Clone, Debug)]
pub(crate) struct ListPanel {
    /// The lists.
    pub lists: Lists,
    /// By number of tiers and way.
    pub points: Vec<Point>,
}

/// Everything about one number of categories.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    /// How many.
    pub categories: u32,
    /// How many random lists each mean is over.
    pub lists: u32,
    /// Evenly spaced lists, then random ones.
    pub panels: Vec<ListPanel>,
}

/// The paper's lists.
pub(crate) const LISTS: [Lists; 8] = [
    Lists::Grid(0.1),
    Lists::Grid(0.2),
    Lists::Grid(0.4),
    Lists::Grid(0.8),
    Lists::Uniform(4.0),
    Lists::Uniform(8.0),
    Lists::Normal(1.0, 1.0),
    Lists::Normal(2.0, 4.0),
];

/// The numbers of tiers that are tried.
pub(crate) const TIERS: [u32; 9] = [1, 2, 4, 6, 8, 10, 12, 16, 20];

/// Computes all of it, on the cores of a context.
///
/// # Errors
/// A list cannot be planned for.
pub(crate) fn run(
    categories: u32,
    lists: u32,
    tried: &[u32],
    context: &Context,
) -> Result<Results, Box<dyn Error>> {
    let panels = context.each(LISTS.len(), |index| {
        let kind = LISTS[index];
        let mut seeded = Seeded::new(context.seed().wrapping_mul(1000) + index as u64);
        let mut points = Vec::new();
        for &tiers in tried {
            let rounds = if kind.is_random() { lists } else { 1 };
            let drawn: Vec<_> =
                (0..rounds).map(|_| kind.draw(tiers, &mut seeded)).collect::<Result<_, _>>()?;
            for way in Way::ALL {
                points.push(mean(categories, tiers, way, &drawn)?);
            }
        }
        Ok(ListPanel { lists: kind, points })
    })?;
    Ok(Results { categories, lists, panels })
}

fn mean(
    categories: u32,
    tiers: u32,
    way: Way,
    lists: &[Vec<Amount<Epsilon>>],
) -> Result<Point, Box<dyn Error>> {
    let (mut total, mut worst, mut squares) = (0.0, 0.0, 0.0);
    for list in lists {
        let errors = way.errors(categories, list)?;
        let alone = Way::Ideal.errors(categories, list)?;
        let ratio =
            errors.iter().zip(alone).map(|(error, alone)| error / alone).fold(0.0, f64::max);
        total += errors.iter().sum::<f64>();
        worst += ratio;
        squares += ratio * ratio;
    }
    let n = lists.len() as f64;
    let (total, worst) = (total / n, worst / n);
    let deviation = ((squares / n - worst * worst).max(0.0) / n).sqrt();
    Ok(Point { tiers, way, total, worst, deviation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::experiment::Size;

    fn list(text: &str) -> Vec<Amount<Epsilon>> {
        text.split(' ').map(|epsilon| Amount::parse_up(epsilon).unwrap()).collect()
    }

    /// The variance as it is defined: that of the unbiased estimates, summed over categories.
    #[test]
    fn errors_are_those_of_unbiased_estimates() {
        for (d, epsilon) in [(15u32, 1.0f64), (128, 0.4), (128, 4.0)] {
            let k = subset::best_size(d, epsilon);
            let w = subset::weight(k, epsilon);
            let (t, f) = (subset::hit(d, k, w), subset::miss(d, k, w));
            let sum = (t * (1.0 - t) + f64::from(d - 1) * f * (1.0 - f)) / (t - f).powi(2);
            assert!((sum / subset::best_variance(d, epsilon) - 1.0).abs() < 1e-12);
            let right = (epsilon / 2.0).exp() / (1.0 + (epsilon / 2.0).exp());
            let each = right * (1.0 - right) / (2.0 * right - 1.0).powi(2);
            assert!((f64::from(d) * each / bits(d, epsilon) - 1.0).abs() < 1e-12);
        }
    }

    /// One tier is alone, gradual release of two equal steps has half the error of one of them, and
    /// no way is better than tiers alone.
    #[test]
    fn ways_are_ordered_as_they_must_be() {
        for way in Way::ALL {
            let one = way.errors(15, &list("1.5")).unwrap()[0];
            let alone = subset::best_variance(15, 1.5);
            assert!(one >= alone * (1.0 - 1e-12), "{way:?}");
        }
        let gradual = Way::Gradual.errors(15, &list("1 0.5")).unwrap();
        assert!((gradual[0] * 2.0 / gradual[1] - 1.0).abs() < 1e-12);
        let twenty: Vec<String> = (1..=20).rev().map(|n| format!("{}e-1", 4 * n)).collect();
        let twenty = list(&twenty.join(" "));
        let worst = |way: Way| mean(128, 20, way, std::slice::from_ref(&twenty)).unwrap().worst;
        assert!(worst(Way::Planned) < 1.3771);
        assert!(worst(Way::Planned) < worst(Way::Improved));
        assert!(worst(Way::Improved) < worst(Way::Reference));
        assert!(worst(Way::Reference) < worst(Way::Bits).min(worst(Way::Response)));
        assert!(worst(Way::Gradual) > 5.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_lists() {
        let run = |seed| {
            let context = Context::new(&SUBSET, Size::Smoke).with_seed(seed);
            format!("{:?}", run(15, 3, &[1, 4], &context).unwrap())
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }
}
