//! The experiment: evenly spaced tiers, drawn; and random ones, computed.

use std::error::Error;

use eke_budget::Delta;
use eke_testkit::Seeded;

use super::way::Way;
use crate::frame::context::Context;

/// What to try.
#[derive(Clone, Debug)]
pub(crate) struct CountPlan {
    /// How far apart evenly spaced tiers are, as epsilons.
    pub spacings: Vec<f64>,
    /// The most tiers.
    pub most: usize,
    /// Draws of all tiers.
    pub runs: u32,
    /// Random lists of each kind and length.
    pub lists: u32,
    /// The delta of laws that need one.
    pub delta: f64,
    /// What decides all draws.
    pub seed: u64,
}

impl CountPlan {
    /// The paper's lists.
    pub(crate) fn paper(runs: u32) -> Self {
        let spacings = vec![0.1, 0.2, 0.4, 0.8];
        Self { spacings, most: 20, runs, lists: 500, delta: 1e-6, seed: 1 }
    }
}

/// A mean, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

/// The finest of m tiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// By which way.
    pub way: Way,
    /// How many tiers there are.
    pub tiers: usize,
    /// Its mean squared error, drawn.
    pub drawn: Mean,
    /// The same, computed.
    pub exact: f64,
}

/// Evenly spaced tiers.
#[derive(Clone, Debug)]
pub(crate) struct OnGrid {
    /// How far apart they are.
    pub spacing: f64,
    /// All ways and numbers of tiers.
    pub points: Vec<Point>,
}

/// The tier that fares worst, of m random ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorstRatio {
    /// By which way.
    pub way: Way,
    /// How many tiers there are.
    pub tiers: usize,
    /// The largest of its mean squared errors over that of a single geometric tier, averaged over
    /// lists.
    pub ratio: Mean,
}

/// Random tiers of one kind.
#[derive(Clone, Debug)]
pub(crate) struct OnLists {
    /// The kind, as the paper writes it.
    pub lists: &'static str,
    /// All ways and numbers of tiers.
    pub ratios: Vec<WorstRatio>,
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    /// Draws of all tiers.
    pub runs: u32,
    /// Random lists of each kind and length.
    pub lists: u32,
    /// The delta of laws that need one.
    pub delta: f64,
    /// Evenly spaced tiers.
    pub grids: Vec<OnGrid>,
    /// Random tiers.
    pub random: Vec<OnLists>,
}

/// Does it all, on the cores of a context.
///
/// # Errors
/// A tier has no price or cannot be drawn.
pub(crate) fn run(plan: &CountPlan, context: &Context) -> Result<Results, Box<dyn Error>> {
    let delta = Delta::new(plan.delta)?;
    let ways = Way::ALL.len();
    let points = context.each(plan.spacings.len() * ways, |index| {
        on_grid(plan, plan.spacings[index / ways], Way::ALL[index % ways], delta, index)
    })?;
    let rows = plan.spacings.iter().zip(points.chunks(ways));
    let grids = rows.map(|(&spacing, points)| OnGrid { spacing, points: points.concat() });
    let grids = grids.collect();
    let random = context.each(Kind::ALL.len(), |index| {
        let (kind, entropy) = (Kind::ALL[index], &mut Seeded::new(seed(plan, 1000 + index)));
        Ok(OnLists { lists: kind.name(), ratios: on_lists(plan, kind, delta, entropy)? })
    })?;
    let CountPlan { runs, lists, delta, .. } = *plan;
    Ok(Results { runs, lists, delta, grids, random })
}

fn seed(plan: &CountPlan, index: usize) -> u64 {
    (plan.seed << 48) + ((index as u64) << 24)
}

/// The finest of one, two and more tiers. The first m of a longer list are a list of m, so one draw
/// of the longest serves all.
fn on_grid(
    plan: &CountPlan,
    spacing: f64,
    way: Way,
    delta: Delta,
    index: usize,
) -> Result<Vec<Point>, Box<dyn Error>> {
    let tiers: Vec<f64> = (1..=plan.most).map(|tier| tier as f64 * spacing).collect();
    let exact = way.errors(&tiers, delta)?;
    let prepared = way.prepare(&tiers, delta)?;
    let mut entropy = Seeded::new(seed(plan, index));
    let mut sums = vec![[0.0; 2]; tiers.len()];
    for _ in 0..plan.runs {
        for (sum, off) in sums.iter_mut().zip(prepared.draw(&mut entropy)?) {
            sum[0] += off * off;
            sum[1] += off.powi(4);
        }
    }
    let point = |(tiers, ([square, fourth], exact)): (usize, ([f64; 2], f64))| {
        let drawn = Mean::of(square, fourth, plan.runs);
        Point { way, tiers, drawn, exact }
    };
    Ok((1..).zip(sums.into_iter().zip(exact)).map(point).collect())
}

fn on_lists(
    plan: &CountPlan,
    kind: Kind,
    delta: Delta,
    seeded: &mut Seeded,
) -> Result<Vec<WorstRatio>, Box<dyn Error>> {
    let mut ratios = Vec::new();
    for count in 1..=plan.most {
        let mut sums = vec![[0.0; 2]; Way::QUICK.len()];
        for _ in 0..plan.lists {
            let mut tiers: Vec<f64> = (0..count).map(|_| kind.draw(seeded)).collect();
            tiers.sort_by(f64::total_cmp);
            tiers.dedup();
            let alone = Way::Single.errors(&tiers, delta)?;
            for (way, sum) in Way::QUICK.into_iter().zip(&mut sums) {
                let errors = way.errors(&tiers, delta)?;
                let ratios = errors.iter().zip(&alone).map(|(error, alone)| error / alone);
                let worst = ratios.fold(0.0, f64::max);
                sum[0] += worst;
                sum[1] += worst * worst;
            }
        }
        for (way, [sum, square]) in Way::QUICK.into_iter().zip(sums) {
            ratios.push(WorstRatio { way, tiers: count, ratio: Mean::of(sum, square, plan.lists) });
        }
    }
    Ok(ratios)
}

impl Mean {
    /// From sums of values and of their squares.
    fn of(sum: f64, square: f64, count: u32) -> Self {
        let count = f64::from(count);
        let mean = sum / count;
        let variance = (square / count - mean * mean).max(0.0);
        Self { mean, error: (variance / count).sqrt() }
    }
}

/// Kinds of random tiers.
#[derive(Clone, Copy)]
enum Kind {
    /// Uniform between 0.01 and a bound.
    Uniform(&'static str, f64),
    /// Normal, by mean and variance; those below 0.01 are drawn again.
    Normal(&'static str, f64, f64),
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::Uniform("uniform(4)", 4.0),
        Self::Uniform("uniform(8)", 8.0),
        Self::Normal("normal(1,1)", 1.0, 1.0),
        Self::Normal("normal(2,4)", 2.0, 4.0),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Uniform(name, _) | Self::Normal(name, ..) => name,
        }
    }

    fn draw(self, seeded: &mut Seeded) -> f64 {
        match self {
            Self::Uniform(_, most) => LEAST + (most - LEAST) * seeded.unit(),
            Self::Normal(_, mean, variance) => loop {
                // Box and Muller's; this decides what is tried, and draws no noise.
                let radius = (-2.0 * (1.0 - seeded.unit()).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * seeded.unit()).cos();
                let tier = mean + variance.sqrt() * normal;
                if tier >= LEAST {
                    return tier;
                }
            },
        }
    }
}

/// The least epsilon of a random tier.
const LEAST: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::tiers_count::COUNT;
    use crate::frame::experiment::Size;

    fn context() -> Context {
        Context::new(&COUNT, Size::Smoke)
    }

    fn plan() -> CountPlan {
        CountPlan { spacings: vec![0.2, 0.8], most: 6, runs: 3000, lists: 40, delta: 1e-6, seed: 1 }
    }

    #[test]
    fn results_are_the_same_with_the_same_seed() {
        let small = CountPlan { runs: 20, lists: 5, most: 3, ..plan() };
        let found = |plan: &CountPlan| format!("{:?}", run(plan, &context()).unwrap());
        assert_eq!(found(&small), found(&small));
        assert_ne!(found(&small), found(&CountPlan { seed: 2, ..small }));
    }

    /// 3,000 runs, fixed seed: every mean is within six of its standard errors of the variance,
    /// which is off by chance once in 1e8 or so (tails of squares are heavier than normal ones).
    /// The control is the variance of the next tier.
    #[test]
    fn what_is_drawn_is_what_is_worked_out() {
        for grid in run(&plan(), &context()).unwrap().grids {
            for pair in grid.points.windows(2) {
                let [point, next] = [pair[0], pair[1]];
                let off = (point.drawn.mean - point.exact).abs() / point.drawn.error;
                assert!(off < 6.0, "{point:?}");
                if point.way == next.way && point.tiers < 3 {
                    let off = (point.drawn.mean - next.exact).abs() / point.drawn.error;
                    assert!(off > 6.0, "{point:?} is no different from {next:?}");
                }
            }
        }
    }

    #[test]
    fn paths_lose_nothing_on_random_lists_and_gradual_release_more_with_every_tier() {
        for lists in run(&CountPlan { runs: 1, ..plan() }, &context()).unwrap().random {
            let of = |way: Way| lists.ratios.iter().filter(move |ratio| ratio.way == way);
            assert!(of(Way::Geometric).all(|ratio| (ratio.ratio.mean - 1.0).abs() < 1e-12));
            let gradual: Vec<f64> = of(Way::Gradual).map(|ratio| ratio.ratio.mean).collect();
            assert!((gradual[0] - 1.0).abs() < 1e-12 && gradual[1] > 1.1, "{gradual:?}");
            assert!(gradual[5] > 1.2 * gradual[1], "{gradual:?}");
        }
    }
}
