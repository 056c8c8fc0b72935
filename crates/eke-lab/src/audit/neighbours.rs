//! Mechanisms on neighbouring inputs: a lower bound on what they cost, next to what they claim.
//!
//! A release is a vector of numbers. A fifth of the runs chooses the direction that distinguishes
//! the two inputs best, and a line across it. The others count how often each input's release is
//! beyond it.

use std::error::Error;
use std::num::NonZeroU32;

use eke_budget::purchase::{AddedBy, GroupPrices, GroupWeights, RowBounds};
use eke_budget::{Account, Adjacency, Amount, L1, L2, Metric, PathId, Rho};
use eke_noise::path::{Column, Columns};
use eke_noise::release::{
    HistogramPrice, HistogramRelease, Histograms, OneCellEach, release_histograms,
};
use eke_noise::select::Comparison;
use eke_noise::{Bundle, DiscreteLaplace, Entropy, Exact, GaussianPath, Ratio, compare};
use eke_testkit::Seeded;

use super::bounds::{self, Count};
use super::{Audit, Finding, Findings};
use crate::laws::double;
use crate::{account, paid, paid_groups, shown};

pub(super) fn audits() -> Vec<Audit> {
    vec![
        Audit::sampled("laplace", laplace, 1_000_000).about("discrete Laplace noise, sampled"),
        Audit::sampled("gaussian-path", gaussian_path, RUNS)
            .about("every point of a Gaussian path, in any order, costs the finest one's rho"),
        Audit::sampled("gaussian-tiers", gaussian_tiers, RUNS).about(
            "coarser points of a Gaussian path, without the finest, cost the finer one's rho",
        ),
        Audit::sampled("two-paths", two_paths, RUNS).about("two paths have noise of their own"),
        Audit::sampled("bundle", bundle, RUNS)
            .about("a unit's groups of a bundle together cost what the account was charged"),
        Audit::sampled("bundle-in-all", bundle_in_all, RUNS)
            .about("a unit whose rows are bounded in all costs what the account was charged"),
        Audit::sampled("bundle-tiers", bundle_tiers, RUNS)
            .about("coarser points of a bundle, without the finest, cost the finest of those seen"),
        Audit::sampled("histograms", histograms, 12_000)
            .about("several histograms, a unit in one cell of each, cost what was charged"),
        Audit::sampled("comparison", comparison, RUNS)
            .about("a comparison with a threshold costs its rho"),
    ]
}

/// Runs on either input, unless said.
const RUNS: u32 = 200_000;
/// What one unit changes a truth by, in steps.
const STEPS: i64 = 1024;

fn l1() -> Result<L1, eke_budget::number::ParameterError> {
    L1::new(1024.0)
}

fn l2() -> Result<L2, eke_budget::number::ParameterError> {
    L2::new(1024.0)
}

fn finding(what: &str, measure: &'static str, claim: f64, found: f64) -> Finding {
    Finding::new(what, measure, found).within(0.95 * claim..=claim)
}

/// At epsilon 1: whether the answer is at least the larger truth.
fn laplace(runs: u32) -> Findings {
    let mut entropy = Seeded::new(101);
    let law = DiscreteLaplace::new(&Ratio::new(1, 1).ok_or("no scale")?)?;
    let mut count = |truth: i64| {
        let hits = (0..runs).map(|_| u32::from(truth + law.draw(&mut entropy) >= 8)).sum();
        Count { hits, runs }
    };
    let found = bounds::epsilon(count(8), count(7));
    Ok(vec![finding("scale 1, truths 7 and 8", "epsilon", 1.0, found)])
}

/// A path and who pays for it.
struct Walk {
    account: Account,
    path: GaussianPath,
    truth: Exact<i64>,
}

impl Walk {
    fn new(id: u8, truth: i64) -> Result<Self, Box<dyn Error>> {
        let path = GaussianPath::open(PathId::new([id; 32]), l2()?);
        Ok(Self { account: account(), path, truth: Exact::new(truth, l1()?) })
    }

    /// What has been paid for.
    fn spent(&self) -> f64 {
        spent(&self.account)
    }

    /// Reveals the point of this price, wherever it is.
    fn reveal<E: Entropy>(&mut self, to: &str, entropy: &mut E) -> Result<f64, Box<dyn Error>> {
        let Self { account, path, truth } = self;
        Ok(double(shown(account, path, truth, to.parse()?, entropy)?))
    }
}

/// What an account has been charged: that is the claim.
fn spent(account: &Account) -> f64 {
    account.odometer().zcdp().map_or(0.0, |purse| purse.spent().to_f64())
}

fn gaussian_path(runs: u32) -> Findings {
    let mut findings = Vec::new();
    for (what, order) in [
        ("one point", vec!["2"]),
        ("coarse to fine", vec!["0.4", "1.2", "2"]),
        ("fine to coarse", vec!["2", "1.2", "0.4"]),
        ("in between, by bridges", vec!["0.4", "2", "0.8", "1.6", "1.2"]),
    ] {
        let (mut entropy, mut claim) = (Seeded::new(102), 0.0);
        let found = told_apart(runs, |truth| {
            let mut walk = Walk::new(1, truth)?;
            let values = order.iter().map(|to| walk.reveal(to, &mut entropy)).collect();
            claim = walk.spent();
            values
        })?;
        findings.push(finding(what, "rho", claim, found));
    }
    Ok(findings)
}

/// Two readers, at 2 and at 1.6, of a path that somebody has seen up to 2.4.
fn gaussian_tiers(runs: u32) -> Findings {
    let mut findings = Vec::new();
    for (what, seen) in [
        ("points 2 and 1.6 of a path revealed to 2.4", ["2", "1.6"]),
        ("points 1.6 and then 2 of it", ["1.6", "2"]),
    ] {
        let mut entropy = Seeded::new(103);
        let found = told_apart(runs, |truth| {
            let mut walk = Walk::new(1, truth)?;
            walk.reveal("2.4", &mut entropy)?;
            seen.iter().map(|to| walk.reveal(to, &mut entropy)).collect()
        })?;
        findings.push(finding(what, "rho", 2.0, found));
    }
    Ok(findings)
}

/// A path whose truth the unit changes, beside one whose truth it does not.
fn two_paths(runs: u32) -> Findings {
    let mut entropy = Seeded::new(104);
    let found = told_apart(runs, |truth| {
        let (mut one, mut two) = (Walk::new(1, truth)?, Walk::new(2, 77)?);
        let early = [one.reveal("0.8", &mut entropy)?, two.reveal("0.8", &mut entropy)?];
        let late = [one.reveal("2", &mut entropy)?, two.reveal("2", &mut entropy)?];
        Ok(vec![early[0], early[1], late[0], late[1]])
    })?;
    Ok(vec![finding("a path beside another's", "rho", 2.0, found)])
}

fn comparison(runs: u32) -> Findings {
    let mut entropy = Seeded::new(105);
    let mut findings = Vec::new();
    for threshold in [STEPS / 2, STEPS / 3] {
        let mut claim = 0.0;
        let mut count = |truth: i64| -> Result<Count, Box<dyn Error>> {
            let mut hits = 0;
            for _ in 0..runs {
                let mut account = account();
                let (rho, sensitivity) = ("2".parse()?, l2()?);
                let receipt = paid(&mut account, Comparison { rho, sensitivity, threshold })?;
                let truth = Exact::new(truth, l1()?);
                hits += u32::from(compare(&truth, receipt, &mut entropy)?.get());
                claim = spent(&account);
            }
            Ok(Count { hits, runs })
        };
        let (above, below) = (count(STEPS)?, count(0)?);
        let found = bounds::rho(above, below);
        findings.push(finding(&format!("threshold {threshold}"), "rho", claim, found));
    }
    Ok(findings)
}

/// A unit that is in two of four groups, counted in one column and summed in another: everything
/// that is revealed of the bundle, in two rounds, some groups further than others.
fn bundle(runs: u32) -> Findings {
    let (mut entropy, mut claim) = (Seeded::new(106), 0.0);
    let metric = Metric::Hamming(Adjacency::AddRemove);
    let columns = vec![
        Column { sensitivity: l1()?, share: 1 },
        Column { sensitivity: L1::new(3072.0)?, share: 3 },
    ];
    let found = told_apart(runs, |truth| {
        let mut account = account();
        let two = NonZeroU32::new(2).ok_or("zero")?;
        let mut prices = GroupPrices::<Rho>::new(4, two, metric);
        let mut bundle = Bundle::open(PathId::new([1; 32]), columns.clone(), 4)?;
        let counts = vec![truth, truth, 5, 6];
        let sums = vec![3 * truth, -3 * truth, 7, 8];
        let bounds = columns.iter().map(|column| column.sensitivity).collect();
        let exact = Exact::new(Columns(vec![counts, sums]), bounds);
        for round in [[(0, "0.4"), (1, "0.4"), (2, "0.2")], [(0, "1"), (1, "1"), (3, "0.5")]] {
            let mut points = Vec::new();
            for (group, to) in round {
                points.push((group, to.parse()?));
            }
            let receipt = paid_groups(&mut account, &mut prices, bundle.id(), points)?;
            bundle.refine(&exact, receipt, &mut entropy)?;
        }
        claim = spent(&account);
        let most: Amount<Rho> = "9".parse()?;
        let points =
            (0..4).flat_map(|group| [0, 1].map(|column| bundle.nearest(group, column, most)));
        points.map(|point| Ok(double(point.ok_or("no point")?.1.get()))).collect()
    })?;
    Ok(vec![finding("two groups of a unit, two columns", "rho", claim, found)])
}

/// A unit in four groups whose rows count for a fourth of a group in each, and which counts as one
/// unit in each: a column of rows and one of units.
fn bundle_in_all(runs: u32) -> Findings {
    let (mut entropy, mut claim) = (Seeded::new(108), 0.0);
    let metric = Metric::Hamming(Adjacency::AddRemove);
    let columns = vec![Column { sensitivity: l1()?, share: 1 }; 2];
    let four = NonZeroU32::new(4).ok_or("zero")?;
    let bounds = RowBounds { in_group: four, in_all: 4 };
    let added = [(1, AddedBy::Rows { one_way: true }), (1, AddedBy::Units)];
    let weights = GroupWeights::with_rows_in_all(four, metric, bounds, &added);
    let found = told_apart(runs, |truth| {
        let mut account = account();
        let mut prices = GroupPrices::weighing(5, weights.clone());
        let mut bundle = Bundle::open(PathId::new([1; 32]), columns.clone(), 5)?;
        let rows = vec![truth / 4, truth / 4, truth / 4, truth / 4, 5];
        let units = vec![truth, truth, truth, truth, 6];
        let bounds = columns.iter().map(|column| column.sensitivity).collect();
        let exact = Exact::new(Columns(vec![rows, units]), bounds);
        for to in ["0.2", "0.5"] {
            let to: Amount<Rho> = to.parse()?;
            let points = (0..5).map(|group| (group, to));
            let receipt = paid_groups(&mut account, &mut prices, bundle.id(), points)?;
            bundle.refine(&exact, receipt, &mut entropy)?;
        }
        claim = spent(&account);
        let most: Amount<Rho> = "9".parse()?;
        let points =
            (0..5).flat_map(|group| [0, 1].map(|column| bundle.nearest(group, column, most)));
        points.map(|point| Ok(double(point.ok_or("no point")?.1.get()))).collect()
    })?;
    // Of the charge for rows this unit takes a fourth: one with all its rows in one group takes it
    // all, and is in fewer groups. So 17 of 20 parts of the charge are its own.
    let least = 0.95 * claim * 17.0 / 20.0;
    let what = "four groups of a unit, rows and units";
    Ok(vec![Finding::new(what, "rho", found).within(least..=claim)])
}

/// A unit in one cell of each of two histograms, which comes or which moves from cell to cell.
fn histograms(runs: u32) -> Findings {
    let mut findings = Vec::new();
    for (what, adjacency) in [
        ("a unit that comes, two histograms", Adjacency::AddRemove),
        ("a unit that is replaced, two histograms", Adjacency::Replace),
    ] {
        let (mut entropy, mut claim) = (Seeded::new(109), 0.0);
        let price =
            |cells, rho: &str| Ok::<_, Box<dyn Error>>(HistogramPrice { cells, rho: rho.parse()? });
        let release =
            HistogramRelease { histograms: vec![price(3, "0.6")?, price(2, "0.4")?], adjacency };
        let found = told_apart(runs, |truth| {
            let there = i64::from(truth == STEPS);
            let before = if adjacency == Adjacency::Replace { 1 - there } else { 0 };
            let cells = vec![4 + there, 9 + before, 2, 5 + before, 7 + there];
            let exact = Exact::new(Histograms(cells), OneCellEach(vec![3, 2]));
            let mut account = account();
            let receipt = paid(&mut account, release.clone())?;
            claim = spent(&account);
            let cells = release_histograms(&exact, receipt, &mut entropy)?;
            Ok(cells.get().iter().map(|&cell| double(cell)).collect())
        })?;
        // Noise is made anew for each release, so there are few runs, and the bound is wider.
        findings.push(Finding::new(what, "rho", found).within(0.8 * claim..=claim));
    }
    Ok(findings)
}

/// Two readers, at 2 and at 1.9, of a bundle's group that was taken to 0.4 and then to 8. The claim
/// is what the finer of them was charged.
fn bundle_tiers(runs: u32) -> Findings {
    let (mut entropy, mut claim) = (Seeded::new(107), 0.0);
    let columns = vec![Column { sensitivity: l1()?, share: 1 }];
    let metric = Metric::Hamming(Adjacency::AddRemove);
    let fresh = || GroupPrices::<Rho>::new(1, NonZeroU32::MIN, metric);
    let found = told_apart(runs, |truth| {
        let (mut unit, mut prices) = (account(), fresh());
        let mut bundle = Bundle::open(PathId::new([1; 32]), columns.clone(), 1)?;
        let exact = Exact::new(Columns(vec![vec![truth]]), vec![l1()?]);
        for to in ["0.4", "8"] {
            let receipt = paid_groups(&mut unit, &mut prices, bundle.id(), [(0, to.parse()?)])?;
            bundle.refine(&exact, receipt, &mut entropy)?;
        }
        let mut seen = Vec::new();
        for to in ["1.9", "2"] {
            let mut circle = account();
            let to = to.parse()?;
            let receipt = paid_groups(&mut circle, &mut fresh(), bundle.id(), [(0, to)])?;
            bundle.coarsen(receipt, &mut entropy)?;
            let point = bundle.nearest(0, 0, to).ok_or("no point")?;
            seen.push(double(point.1.get()));
            claim = spent(&circle);
        }
        Ok(seen)
    })?;
    Ok(vec![finding("points 1.9 and 2 of a group revealed to 8", "rho", claim, found)])
}

/// A lower bound on the rho of a mechanism, from n runs on either of two truths.
fn told_apart(
    runs: u32,
    mut mechanism: impl FnMut(i64) -> Result<Vec<f64>, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut side = |truth| (0..runs).map(|_| mechanism(truth)).collect::<Result<Vec<_>, _>>();
    let (zero, one) = (side(0)?, side(STEPS)?);
    let few = usize::try_from(runs / 5)?;
    let line = Line::between(&zero[..few], &one[..few]).ok_or("no line tells the inputs apart")?;
    let count = |draws: &[Vec<f64>]| -> Result<Count, Box<dyn Error>> {
        let hits = draws.iter().filter(|draw| line.is_beyond(draw)).count();
        Ok(Count { hits: hits.try_into()?, runs: draws.len().try_into()? })
    };
    Ok(bounds::rho(count(&one[few..])?, count(&zero[few..])?))
}

/// A direction, and a place on it.
struct Line {
    direction: Vec<f64>,
    place: f64,
}

impl Line {
    /// The best line between two Gaussian clouds of one shape: across the difference of their
    /// means, seen through the inverse of their covariance.
    fn between(zero: &[Vec<f64>], one: &[Vec<f64>]) -> Option<Self> {
        let size = zero.first()?.len();
        let mean = |draws: &[Vec<f64>]| -> Vec<f64> {
            let count = f64::from(u32::try_from(draws.len()).unwrap_or(u32::MAX));
            (0..size).map(|i| draws.iter().map(|draw| draw[i]).sum::<f64>() / count).collect()
        };
        let means = [mean(zero), mean(one)];
        let mut covariance = vec![vec![0.0; size]; size];
        for (draws, mean) in [(zero, &means[0]), (one, &means[1])] {
            for draw in draws {
                for i in 0..size {
                    for j in 0..size {
                        covariance[i][j] += (draw[i] - mean[i]) * (draw[j] - mean[j]);
                    }
                }
            }
        }
        // A trace of independence, so that what is fully determined can be inverted.
        for (i, row) in covariance.iter_mut().enumerate() {
            row[i] *= 1.0 + 1e-9;
        }
        let difference = (0..size).map(|i| means[1][i] - means[0][i]).collect();
        let direction = solve(covariance, difference)?;
        let at = |mean: &[f64]| -> f64 { mean.iter().zip(&direction).map(|(m, d)| m * d).sum() };
        let place = f64::midpoint(at(&means[0]), at(&means[1]));
        Some(Self { direction, place })
    }

    fn is_beyond(&self, draw: &[f64]) -> bool {
        draw.iter().zip(&self.direction).map(|(value, d)| value * d).sum::<f64>() > self.place
    }
}

/// Solves linear equations by elimination, largest pivots first.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        for (row, place) in below.iter_mut().zip(column + 1..) {
            let factor = row[column] / above[column][column];
            for (value, known) in row.iter_mut().zip(&above[column]) {
                *value -= factor * known;
            }
            right[place] -= factor * right[column];
        }
    }
    for column in (0..size).rev() {
        let known: f64 = (column + 1..size).map(|other| matrix[column][other] * right[other]).sum();
        right[column] = (right[column] - known) / matrix[column][column];
    }
    right.iter().all(|x| x.is_finite()).then_some(right)
}
