//! What is said of bounds holds as often as it is said to, and bounds keep what they should.

use eke_budget::{Account, Adjacency, Amount, BudgetSpec, Metric, NoHistory, Receipt, Rho};
use eke_noise::release::{HistogramPrice, HistogramRelease, release_histograms};
use eke_testkit::Seeded;

use crate::profile::layout::{Layout, ROW_BINS, VALUE_BINS};
use crate::profile::pass::UnitCells;
use crate::profile::proposal::{Chosen, ValueBounds};
use crate::profile::statement::{CountedUnits, at_most, share};
use crate::profile::{ProfilePlan, whole_bounds};
use crate::purchase::request_key::ProfileName;

/// What a hundredth of epsilon 1 at delta 1e-6 comes to.
const PRICE: &str = "0.00024";

/// A unit that is made up: its rows, the groups of its key, and how many of its rows have a value
/// in each of a few bins.
struct Made {
    rows: u64,
    groups: u64,
    values: Vec<(u8, u64)>,
}

/// Units with log-normal rows, of which a few have very many: as airlines' planes and taxis have.
fn heavy(units: usize, seeded: &mut Seeded) -> Vec<Made> {
    let mut normal = || (0..12).map(|_| seeded.unit()).sum::<f64>() - 6.0;
    let mut made = Vec::new();
    for unit in 0..units {
        let rows = (4.0 + 1.1 * normal()).exp().clamp(1.0, 1e6);
        let rows = if unit % 50 == 0 { rows * 30.0 } else { rows };
        let groups = (1.2 + 0.6 * normal()).exp().clamp(1.0, rows);
        let typical = 3.0 + normal();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small, positive"
        )]
        let (rows, groups) = (rows as u64, groups as u64);
        let mut values = Vec::new();
        let mut left = rows;
        // Most of its rows around its own value, others up to four times that.
        for (more, part) in [(0, 0.5), (1, 0.3), (2, 1.0)] {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small, positive"
            )]
            let (bin, count) = (
                (33.0 + typical.clamp(0.0, 20.0)) as u8 + more,
                (left as f64 * part).round() as u64,
            );
            values.push((bin, count));
            left -= count;
        }
        made.push(Made { rows, groups: groups.max(1), values });
    }
    made
}

fn plan() -> ProfilePlan {
    let layout = Layout { keys: vec!["zone".into()], columns: vec!["fare".into()] };
    let (name, adjacency) = (ProfileName::listed("made up"), Adjacency::AddRemove);
    ProfilePlan { name, layout, adjacency, rho: PRICE.parse().unwrap() }
}

fn pay(release: HistogramRelease) -> Receipt<HistogramRelease> {
    let budget = BudgetSpec::zcdp(Rho::new(1.0).unwrap());
    let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
    let mut account = Account::open("riders", budget, &mut NoHistory).unwrap();
    let approved = account.approve(release).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// A profile of units, with rows chosen and noise drawn anew.
struct Fresh {
    chosen: Chosen,
    values: Vec<i64>,
    cuts: Vec<i64>,
    noise: Vec<f64>,
    cut_noise: Vec<f64>,
}

fn fresh(units: &[Made], seeded: &mut Seeded) -> Fresh {
    let plan = plan();
    let mut counts = vec![0; plan.layout.cells().iter().sum()];
    for unit in units {
        let mut place = seeded.unit() * unit.rows as f64;
        let mut value = 0;
        for &(bin, count) in &unit.values {
            value = bin;
            place -= count as f64;
            if place < 0.0 {
                break;
            }
        }
        for cell in plan.layout.cells_of(unit.rows, &[unit.groups], &[value]) {
            counts[cell] += 1;
        }
    }
    let cells = UnitCells::made_up(plan.layout.clone(), counts);
    let deviations = |release: &HistogramRelease| -> Vec<f64> {
        release.histograms.iter().map(HistogramPrice::deviation).collect()
    };
    let noise = deviations(&plan.values());
    let values = release_histograms(&cells.histograms(), pay(plan.values()), seeded).unwrap().get();
    let chosen = Chosen::of(&plan.layout, &values, &noise);
    let release = plan.cuts(&chosen);
    let cut_noise = deviations(&release);
    let cuts = release_histograms(&cells.cuts(&chosen), pay(release), seeded).unwrap().get();
    Fresh { chosen, values, cuts, noise, cut_noise }
}

impl Fresh {
    fn max_rows(&self) -> u64 {
        1 << self.chosen.row_bin
    }

    fn max_groups(&self) -> u64 {
        1 << self.chosen.group_bins[0]
    }

    /// The most units beyond the bounds on rows and on groups.
    fn beyond(&self) -> (u64, u64) {
        (at_most(self.cuts[1], self.cut_noise[1]), at_most(self.cuts[2], self.cut_noise[2]))
    }

    /// The share of rows outside of the bounds on values.
    fn outside(&self) -> (f64, f64) {
        let bins = self.chosen.row_bin + 1;
        share(&self.cuts[3..], &self.values[..bins], (self.cut_noise[3], self.noise[0]))
    }

    /// The true share of rows of units with no more rows than the bound that are outside.
    fn truly_outside(&self, units: &[Made]) -> f64 {
        let (mut all, mut outside) = (0, 0);
        for unit in units.iter().filter(|unit| unit.rows <= self.max_rows()) {
            all += unit.rows;
            let beyond =
                |value: &&(u8, u64)| self.chosen.values[0].is_outside(usize::from(value.0));
            outside += unit.values.iter().filter(beyond).map(|value| value.1).sum::<u64>();
        }
        outside as f64 / all as f64
    }
}

fn beyond(units: &[Made], of: fn(&Made) -> u64, most: u64) -> u64 {
    units.iter().filter(|unit| of(unit) > most).count() as u64
}

#[test]
fn statements_hold_in_nineteen_of_twenty_fresh_profiles() {
    const RUNS: usize = 400;
    // Of 400 at one in twenty, more than 44 are as likely as one in a million.
    const MOST: usize = 44;
    let mut seeded = Seeded::new(2);
    for size in [1_000, 30_000] {
        let units = heavy(size, &mut seeded);
        let mut missed = [0; 4];
        let mut naive = 0;
        for _ in 0..RUNS {
            let fresh = fresh(&units, &mut seeded);
            let (rows, groups) = fresh.beyond();
            let cut = beyond(&units, |unit| unit.rows, fresh.max_rows());
            missed[0] += usize::from(cut > rows);
            missed[1] +=
                usize::from(beyond(&units, |unit| unit.groups, fresh.max_groups()) > groups);
            let (low, high) = fresh.outside();
            let truly = fresh.truly_outside(&units);
            missed[2] += usize::from(!(low..=high).contains(&truly));
            let counted = CountedUnits::units(fresh.cuts[0], fresh.cut_noise[0]);
            let all = size as f64;
            missed[3] += usize::from(!(counted.low..=counted.high).contains(&all));
            // The same read from the histogram that the bound was chosen by.
            let after = &fresh.values[fresh.chosen.row_bin + 1..ROW_BINS];
            let seen: i64 = after.iter().sum();
            naive += usize::from(cut > at_most(seen, fresh.noise[0]));
        }
        assert!(missed.iter().all(|&missed| missed <= MOST), "{size}: {missed:?}");
        assert!(naive > MOST, "{size}: {naive}");
    }
}

#[test]
fn proposals_keep_most_rows_of_all_but_the_stated_units() {
    const RUNS: usize = 30;
    let mut seeded = Seeded::new(3);
    for size in [1_000, 30_000] {
        let units = heavy(size, &mut seeded);
        let (mut failed, mut quartered, mut told, mut stated) = (0, 0, 0, Vec::new());
        for _ in 0..RUNS {
            let fresh = fresh(&units, &mut seeded);
            let (rows, groups) = fresh.beyond();
            stated.push(rows);
            // All rows of all but those with more rows or groups count, and of these few are
            // clamped.
            let cut = beyond(&units, |unit| unit.rows, fresh.max_rows());
            let cut_groups = beyond(&units, |unit| unit.groups, fresh.max_groups());
            let is_told = fresh.chosen.values[0].are_told();
            told += usize::from(is_told);
            let keeps_values = !is_told || fresh.truly_outside(&units) <= 0.05;
            let keeps = cut <= rows && cut_groups <= groups && keeps_values;
            failed += usize::from(!keeps);
            quartered += usize::from(beyond(&units, |unit| unit.rows, fresh.max_rows() / 4) > rows);
        }
        stated.sort_unstable();
        let typical = stated[RUNS / 2];
        println!("{size}: {failed} of {RUNS} failed, {quartered} with a quarter; U {typical}");
        assert!(size < 10_000 || told == RUNS, "{size}: values were told {told} times");
        assert!(failed <= 12, "{size}: {failed}");
        assert!(quartered > 12 || size < 10_000, "{size}: {quartered}");
        // And it says something: nobody would need a bound that leaves out most.
        let part = typical as f64 / size as f64;
        assert!(part < if size < 10_000 { 0.35 } else { 0.05 }, "{part}");
    }
}

/// The whole price is what is charged, and no more, under both adjacencies.
#[test]
fn both_parts_cost_what_was_asked_for_together() {
    use eke_budget::{Charge, Purchase as _};
    let mut seeded = Seeded::new(4);
    let chosen = fresh(&heavy(1_000, &mut seeded), &mut seeded).chosen;
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let plan = ProfilePlan { adjacency, ..plan() };
        let parts = [plan.values(), plan.cuts(&chosen)].map(|part| match part.charge() {
            Charge::Zcdp { rho, .. } => rho,
            Charge::Pure { .. } => Amount::ZERO,
        });
        let all = parts[0].plus(parts[1]).unwrap();
        let grains = plan.rho.grains() - all.grains();
        assert!(all <= plan.rho && grains < 1_000, "{adjacency:?}: {all}");
        assert_eq!(plan.values().histograms[2].cells, ROW_BINS * VALUE_BINS);
    }
}

/// Noise may show values between whole numbers. A policy with such bounds could not be read.
#[test]
fn bounds_of_whole_numbers_are_whole() {
    let numbers = |below, above| ValueBounds { below, above }.numbers();
    let whole = |(min, max)| whole_bounds(min, max);
    assert_eq!(whole(numbers(Some(20), Some(40))), (-1.0, 512.0));
    assert_eq!(whole(numbers(None, Some(3))), (0.0, 1.0));
    let most = 9_007_199_254_740_992.0;
    assert_eq!(whole(numbers(Some(95), Some(95))), (-most, most));
}
