//! Histograms in which a unit is in one cell each.
//!
//! | test | n | false alarms | critical value | control |
//! |---|---|---|---|---|
//! | `cells_have_the_noise_that_their_histogram_was_paid_for` | 40,000 cells | 1e-7 | 5.5 deviations | the other histogram's noise |

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Metric, NoHistory, Purchase, Receipt, Rho,
};
use eke_noise::Exact;
use eke_noise::path::MismatchReason;
use eke_noise::release::{
    HistogramPrice, HistogramRelease, Histograms, OneCellEach, release_histograms,
};
use eke_testkit::Seeded;

fn release(histograms: &[(usize, &str)], adjacency: Adjacency) -> HistogramRelease {
    let price = |&(cells, rho): &(usize, &str)| HistogramPrice { cells, rho: rho.parse().unwrap() };
    HistogramRelease { histograms: histograms.iter().map(price).collect(), adjacency }
}

fn pay(release: HistogramRelease) -> Receipt<HistogramRelease> {
    let metric = Metric::Hamming(release.adjacency);
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap()).resolve(metric).unwrap();
    let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
    let approved = account.approve(release).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

fn exact(release: &HistogramRelease, counts: Vec<i64>) -> Exact<Histograms> {
    let cells = release.histograms.iter().map(|one| one.cells).collect();
    Exact::new(Histograms(counts), OneCellEach(cells))
}

/// Rényi's divergence of order 2 between discrete Gaussian noise around two whole numbers, summed
/// term by term.
fn divergence(variance: f64, apart: i64) -> f64 {
    let weight = |k: i64| (-(k as f64).powi(2) / (2.0 * variance)).exp();
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let reach = (30.0 * variance.sqrt()).ceil() as i64 + 2;
    let whole: f64 = (-reach..=reach).map(weight).sum();
    let ratio = |k: i64| (weight(k) / whole).powi(2) / (weight(k - apart) / whole);
    (-reach..=reach).map(ratio).sum::<f64>().ln()
}

/// All neighbours of a few units in two histograms of two cells and one of one cell, under both
/// adjacencies: what is charged is the divergence of the worst pair over its order.
#[test]
fn histograms_cost_the_divergence_of_neighbours_and_no_less() {
    let tables = [(2, "0.01"), (2, "0.003"), (1, "0.02")];
    // Where a unit is in each histogram, or that it is not there.
    let mut places: Vec<Option<[usize; 3]>> = vec![None];
    for one in 0..=2 {
        for two in 0..=2 {
            for three in 0..=1 {
                // The last place of each is none.
                places.push(Some([one, two, three]));
            }
        }
    }
    let cell = |table: usize, place: Option<[usize; 3]>| {
        place.map(|place| place[table]).filter(|&at| at < tables[table].0)
    };
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let release = release(&tables, adjacency);
        let Charge::Zcdp { rho: charged, .. } = release.charge() else { panic!() };
        let mut worst: f64 = 0.0;
        for &one in &places {
            for &other in &places {
                let is_neighbour = match adjacency {
                    Adjacency::AddRemove => one.is_none() != other.is_none(),
                    Adjacency::Replace => one.is_some() && other.is_some(),
                };
                if !is_neighbour {
                    continue;
                }
                let mut all = 0.0;
                for (table, (cells, rho)) in tables.iter().enumerate() {
                    let variance = 0.5 / rho.parse::<f64>().unwrap();
                    for at in 0..*cells {
                        let is = |place| i64::from(cell(table, place) == Some(at));
                        all += divergence(variance, is(one) - is(other));
                    }
                }
                worst = worst.max(all / 2.0);
            }
        }
        let charged = charged.to_f64();
        assert!((worst - charged).abs() < 1e-9, "{adjacency:?}: {worst} for {charged}");
    }
}

#[test]
fn cells_have_the_noise_that_their_histogram_was_paid_for() {
    const CELLS: usize = 20_000;
    let release = release(&[(CELLS, "0.005"), (CELLS, "0.0002")], Adjacency::AddRemove);
    let truth = exact(&release, (0..2 * CELLS).map(|at| i64::try_from(at % 7).unwrap()).collect());
    let released = release_histograms(&truth, pay(release), &mut Seeded::new(311)).unwrap().get();
    let spread = |half: usize| {
        let cells = released.iter().enumerate().skip(half * CELLS).take(CELLS);
        let squares =
            cells.map(|(at, cell)| ((cell - i64::try_from(at % 7).unwrap()) as f64).powi(2));
        squares.sum::<f64>() / CELLS as f64
    };
    // A mean of squares is off by its deviation, sqrt(2/n) of it.
    let fits = |found: f64, variance: f64| {
        (found / variance - 1.0).abs() < 5.5 * (2.0 / CELLS as f64).sqrt()
    };
    assert!(fits(spread(0), 100.0) && fits(spread(1), 2_500.0));
    assert!(!fits(spread(0), 2_500.0) && !fits(spread(1), 100.0));
}

#[test]
fn histograms_are_released_for_their_own_receipt_alone() {
    let mut entropy = Seeded::new(312);
    let wanted = release(&[(3, "0.01"), (2, "0.01")], Adjacency::AddRemove);
    let truth = exact(&wanted, vec![1 << 40, 0, 0, 0, 1 << 40]);
    // Cells in other histograms, or more or fewer of them, are another bound.
    for other in [vec![(2, "0.01"), (3, "0.01")], vec![(5, "0.01")], vec![(3, "0.01")]] {
        let receipt = pay(release(&other, Adjacency::AddRemove));
        let refused = release_histograms(&truth, receipt, &mut entropy).unwrap_err();
        assert_eq!(refused.reason, MismatchReason::OtherSensitivity);
    }
    let free = release(&[(3, "0"), (2, "0.01")], Adjacency::AddRemove);
    assert!(free.can_release().is_err());
    let refused = release_histograms(&truth, pay(free), &mut entropy).unwrap_err();
    assert_eq!(refused.reason, MismatchReason::OtherStep);
    let released = release_histograms(&truth, pay(wanted), &mut entropy).unwrap().get();
    assert_eq!(released.len(), 5);
    let near = |at: usize, count: i64| (released[at] - count).abs() < 1_000;
    assert!(near(0, 1 << 40) && near(2, 0) && near(3, 0) && near(4, 1 << 40));
    // Cells that the truth lacks are empty.
    let short = release(&[(3, "0.01")], Adjacency::Replace);
    assert_eq!(short.charge(), Charge::Zcdp { rho: "0.02".parse().unwrap(), delta: Amount::ZERO });
    let released = release_histograms(&exact(&short, vec![7]), pay(short), &mut entropy).unwrap();
    assert_eq!(released.get().len(), 3);
}
