//! Quantiles, searched along the paths of cuts.
//!
//! | test | n | false alarms | critical value | control |
//! |---|---|---|---|---|
//! | `ranks_are_within_the_tolerance_at_every_edge` | 200 a case, 60 cases | 2e-7 each | 29 misses of 5 % | points taken for nine times as precise |
//! | `intervals_of_quantiles_hold_at_every_edge` | 200 a case, 36 cases | 2e-7 each | 29 misses of 5 % | points taken for 50 times as precise |
//! | `a_cut_on_the_line_is_seldom_said_to_be_beside_it` | 4,000 a case, 12 cases | 1e-7 each | 277 misses of 5 % | points taken for four times as precise |
//! | `a_looser_goal_costs_no_more` | 400 a goal | 1e-9 | six deviations of the difference | none: the means are compared |

use std::collections::BTreeMap;

use eke_noise::stopping::search::{
    Found, Point, Quantile, Search, SearchEnding, SearchGoal, SearchOf, Seen, Step,
};
use eke_noise::{Confidence, DiscreteGaussian, Ratio};
use eke_testkit::Seeded;

/// The paths of a group's cuts and of N.
struct Paths<'a> {
    rows: &'a Rows,
    cuts: BTreeMap<u64, Point>,
    count: Option<Point>,
    /// How many times as precise points are said to be as they are.
    boast: f64,
}

/// A group: how many of its rows are below each cut.
struct Rows {
    name: &'static str,
    count: f64,
    below: Box<dyn Fn(f64) -> f64>,
}

const LEVELS: u8 = 20;
const CELLS: f64 = 1_048_576.0;

impl Rows {
    fn new(name: &'static str, count: f64, share: impl Fn(f64) -> f64 + 'static) -> Self {
        let below = move |cut: f64| (share(cut) * count).round();
        Self { name, count, below: Box::new(below) }
    }

    /// The rows below a cut of a grid of this many cells.
    fn below(&self, cut: u64, cells: f64) -> f64 {
        let cut = cut as f64;
        if cut <= 0.0 {
            0.0
        } else if cut >= cells {
            self.count
        } else {
            (self.below)(cut / cells)
        }
    }
}

impl Seen for Paths<'_> {
    fn cut(&self, cut: u64) -> Option<Point> {
        self.cuts.get(&cut).copied().map(|point| self.boasted(point))
    }

    fn count(&self) -> Option<Point> {
        self.count.map(|point| self.boasted(point))
    }

    fn spent(&self) -> f64 {
        self.total() * self.boast
    }
}

impl<'a> Paths<'a> {
    fn new(rows: &'a Rows) -> Self {
        Self { rows, cuts: BTreeMap::new(), count: None, boast: 1.0 }
    }

    fn boasted(&self, point: Point) -> Point {
        Point { precision: point.precision * self.boast, ..point }
    }

    fn total(&self) -> f64 {
        let count = self.count.map_or(0.0, |point| point.precision);
        self.cuts.values().map(|point| point.precision).sum::<f64>() + count
    }

    /// Takes the paths of one look further, as bundles do: an exact increment, averaged in.
    fn look(&mut self, cuts: Vec<(u64, f64)>, count: Option<f64>, cells: f64, noise: &mut Seeded) {
        assert!(!cuts.is_empty() || count.is_some(), "a look at nothing");
        if let Some(to) = count {
            self.count = Some(further(self.count, self.rows.count, to / self.boast, noise));
        }
        for (cut, to) in cuts {
            let truth = 2.0 * self.rows.below(cut, cells) - self.rows.count;
            let point = further(self.cuts.get(&cut).copied(), truth, to / self.boast, noise);
            self.cuts.insert(cut, point);
        }
    }

    fn follow(&mut self, search: &Search, cells: f64, noise: &mut Seeded) -> (Found, u32) {
        for rounds in 0..1000 {
            match search.next(self) {
                Step::Done(found) => return (found, rounds),
                Step::Look { cuts, count } => self.look(cuts, count, cells, noise),
            }
        }
        panic!("a search without end: {}", self.rows.name);
    }
}

fn further(from: Option<Point>, truth: f64, to: f64, noise: &mut Seeded) -> Point {
    let from = from.unwrap_or(Point { value: 0.0, precision: 0.0 });
    let more = to - from.precision;
    assert!(more > 0.0, "a look at what is known");
    let variance = Ratio::from_f64((1.0 / more).clamp(1e-6, 1e30)).unwrap();
    let draw = truth + DiscreteGaussian::once(&variance, noise).unwrap() as f64;
    let value = (from.value * from.precision + draw * more) / to;
    Point { value, precision: to }
}

fn search(quantile: Quantile, goal: SearchGoal, levels: u8, most: &str) -> Search {
    let of = SearchOf { quantile, levels, sensitivity: 1.0, step: 1.0, factor: 1 };
    Search::new(of, goal, Confidence::new(0.95).unwrap(), most.parse().unwrap()).unwrap()
}

/// Groups whose shares jump, or stand still, at or near a quantile and the ends of a tolerance.
fn edges(q: f64, t: f64, count: f64) -> Vec<Rows> {
    let at = 0.313_7;
    let step = move |below: f64, above: f64| move |x: f64| if x < at { below } else { above };
    vec![
        Rows::new("uniform", count, |x| x),
        Rows::new("lopsided", count, |x| 1.0 - (1.0 - x).powi(40)),
        Rows::new("one value", count, step(0.0, 1.0)),
        Rows::new("the first cell", count, |_| 1.0),
        Rows::new("the last cell", count, |_| 0.0),
        Rows::new("just beyond", count, step((q - 1.002 * t).max(0.0), q + 1.002 * t)),
        Rows::new("beyond above", count, step((q - 0.9 * t).max(0.0), q + 1.002 * t)),
        Rows::new("flat", count, move |x| match x {
            x if x < 0.2 => q * x / 0.2,
            x if x < 0.7 => q,
            x => q + (1.0 - q) * (x - 0.7) / 0.3,
        }),
        Rows::new("round", count, |x| (x * 37.0).ceil() / 37.0),
        Rows::new("a gap", count, move |x| match x {
            x if x < at => (q - 1.002 * t).max(0.0),
            x if x < at + 4.0 / CELLS => q,
            _ => q + 1.002 * t,
        }),
    ]
}

/// Whether a cell has a rank from one share to another.
fn has_rank(rows: &Rows, cell: u64, cells: f64, from: f64, to: f64) -> bool {
    let (low, high) = (rows.below(cell, cells), rows.below(cell.saturating_add(1), cells));
    low <= to * rows.count + 1e-6 && high >= from * rows.count - 1e-6
}

#[test]
fn ranks_are_within_the_tolerance_at_every_edge() {
    const RUNS: u32 = 200;
    let mut noise = Seeded::new(2401);
    let mut most_wrong = 0;
    for (q, t, count) in [
        (0.5, 0.01, 1e5),
        (0.9, 0.01, 1e5),
        (0.1, 0.05, 2e4),
        (0.99, 0.005, 1e6),
        (0.5, 0.2, 500.0),
        (0.02, 0.1, 3e3),
    ] {
        let search = search(Quantile::Share(q), SearchGoal::Rank(t), LEVELS, "1000");
        for rows in edges(q, t, count) {
            let (mut misses, mut wrong, mut total) = (0, 0, 0.0);
            for _ in 0..RUNS {
                let mut paths = Paths::new(&rows);
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                assert!(found.met && found.ending == SearchEnding::Met, "{found:?}");
                assert!(found.low <= found.cell && found.cell <= found.high, "{found:?}");
                misses += u32::from(!has_rank(&rows, found.cell, CELLS, q - t, q + t));
                total += paths.total() / f64::from(RUNS) / 2.0;
                // The control takes points for nine times as precise as they are.
                let mut paths = Paths { boast: 9.0, ..Paths::new(&rows) };
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                wrong += u32::from(!has_rank(&rows, found.cell, CELLS, q - t, q + t));
            }
            println!(
                "{} {q} within {t}: {misses} misses, {wrong} of the control, rho {total:.3e}, {:.2} \
                 over (t n)²",
                rows.name,
                total * (t * count).powi(2)
            );
            assert!(misses <= 29, "{} {q} {t}: {misses}", rows.name);
            most_wrong = most_wrong.max(wrong);
        }
    }
    assert!(most_wrong > 29, "the control passes: {most_wrong}");
}

/// Whether the quantile of a share is in cells: not above the first cut, and below the last.
fn holds(rows: &Rows, share: f64, found: &Found) -> bool {
    let (low, high) =
        (rows.below(found.low, CELLS), rows.below(found.high.saturating_add(1), CELLS));
    (found.low == 0 || low < share * rows.count) && high >= share * rows.count
}

#[test]
fn intervals_of_quantiles_hold_at_every_edge() {
    const RUNS: u32 = 200;
    let mut noise = Seeded::new(2402);
    let mut most_wrong = 0;
    for (q, goal, count, most) in [
        (0.5, SearchGoal::Cells(0.02 * CELLS), 1e5, "1e-4"),
        (0.9, SearchGoal::Cells(0.02 * CELLS), 1e5, "1e-4"),
        (0.5, SearchGoal::Price, 1e4, "1e-3"),
        (0.25, SearchGoal::Price, 300.0, "1e-1"),
    ] {
        let search = search(Quantile::Share(q), goal, LEVELS, most);
        for rows in edges(q, 0.01, count).into_iter().filter(|rows| rows.name != "beyond above") {
            let (mut misses, mut ranks, mut wrong, mut met) = (0, 0, 0, 0);
            for _ in 0..RUNS {
                let mut paths = Paths::new(&rows);
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                let price: f64 = most.parse().unwrap();
                assert!(paths.total() / 2.0 <= price * (1.0 + 1e-6), "{}", paths.total());
                misses += u32::from(!holds(&rows, q, &found));
                met += u32::from(found.met);
                let within = (found.rank_low, found.rank_high);
                ranks += u32::from(!has_rank(&rows, found.cell, CELLS, within.0, within.1));
                if let (SearchGoal::Cells(cells), true) = (goal, found.met) {
                    assert!((found.high - found.low) as f64 <= 2.0 * cells, "{found:?}");
                }
                let mut paths = Paths { boast: 50.0, ..Paths::new(&rows) };
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                wrong += u32::from(!holds(&rows, q, &found));
            }
            println!("{} {q} {goal:?}: {misses} and {ranks} misses, {met} met, {wrong}", rows.name);
            assert!(misses <= 29 && ranks <= 29, "{} {q} {goal:?}: {misses} {ranks}", rows.name);
            if rows.name == "flat" && matches!(goal, SearchGoal::Cells(_)) {
                assert_eq!(met, 0, "nothing tells where on a flat stretch a quantile is");
            }
            most_wrong = most_wrong.max(wrong);
        }
    }
    assert!(most_wrong > 29, "the control passes: {most_wrong}");
}

/// One cut whose share is just beyond the tolerance, where all of the probability may be spent.
#[test]
fn a_cut_on_the_line_is_seldom_said_to_be_beside_it() {
    const RUNS: u32 = 4000;
    let mut noise = Seeded::new(2403);
    let mut most_wrong = 0;
    for (q, t) in [(0.5, 0.01), (0.5, 0.1), (0.9, 0.02), (0.1, 0.02), (0.98, 0.01), (0.02, 0.015)] {
        let search = search(Quantile::Share(q), SearchGoal::Rank(t), 1, "1000");
        for side in [-1.0, 1.0] {
            let rows = Rows::new("a cut", 1e5, move |_| q + side * (t + 2e-5));
            let (mut misses, mut wrong) = (0, 0);
            for _ in 0..RUNS {
                let mut paths = Paths::new(&rows);
                let (found, _) = paths.follow(&search, 2.0, &mut noise);
                misses += u32::from(!has_rank(&rows, found.cell, 2.0, q - t, q + t));
                let mut paths = Paths { boast: 4.0, ..Paths::new(&rows) };
                let (found, _) = paths.follow(&search, 2.0, &mut noise);
                wrong += u32::from(!has_rank(&rows, found.cell, 2.0, q - t, q + t));
            }
            println!("{q} {t} {side}: {misses} misses, {wrong} of the control");
            assert!(misses <= 277, "{q} {t} {side}: {misses}");
            most_wrong = most_wrong.max(wrong);
        }
    }
    assert!(most_wrong > 277, "the control passes: {most_wrong}");
}

/// The least and the largest value are answered as a rank near the end, and say how many rows may
/// lie beyond it.
#[test]
fn extremes_say_how_many_rows_lie_beyond() {
    let mut noise = Seeded::new(2404);
    for quantile in [Quantile::Least, Quantile::Most] {
        let search = search(quantile, SearchGoal::Rank(0.02), LEVELS, "1000");
        for rows in edges(0.5, 0.01, 1e5) {
            let mut misses = 0;
            for _ in 0..200 {
                let mut paths = Paths::new(&rows);
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                let beyond = match quantile {
                    Quantile::Most => rows.count - rows.below(found.cell + 1, CELLS),
                    _ => rows.below(found.cell, CELLS),
                };
                let stated = found.beyond.unwrap();
                assert!(stated < 0.025 * rows.count, "{stated}");
                misses += u32::from(beyond > stated.max(0.021 * rows.count));
            }
            // At most 5 %; of 200, 28 or more have probability 3e-6 for one of the 20 cases.
            assert!(misses <= 27, "{} {quantile:?}: {misses}", rows.name);
        }
    }
}

/// A group of nothing, or of few rows, ends: empty, or out of reach, and never beyond its price.
#[test]
fn too_few_rows_are_said_to_be_so() {
    let mut noise = Seeded::new(2405);
    for (count, most, endings) in [
        (0.0, "0.001", [SearchEnding::Empty, SearchEnding::OutOfReach]),
        (3.0, "0.001", [SearchEnding::Empty, SearchEnding::OutOfReach]),
        (2e4, "1e-7", [SearchEnding::HighestPrice, SearchEnding::OutOfReach]),
    ] {
        let rows = Rows::new("few", count, |x| x);
        for goal in [SearchGoal::Rank(0.01), SearchGoal::Cells(10.0), SearchGoal::Price] {
            let search = search(Quantile::Share(0.5), goal, LEVELS, most);
            for _ in 0..50 {
                let mut paths = Paths::new(&rows);
                let (found, _) = paths.follow(&search, CELLS, &mut noise);
                assert!(!found.met || goal == SearchGoal::Price, "{found:?}");
                let is_one = endings.contains(&found.ending) || goal == SearchGoal::Price;
                assert!(
                    is_one || found.ending == SearchEnding::Empty,
                    "{count} {goal:?} {found:?}"
                );
                assert!(paths.total() / 2.0 <= most.parse::<f64>().unwrap() * (1.0 + 1e-6));
            }
        }
    }
}

/// What a search says depends on released points and on nothing else: from the same points it says
/// the same, whoever drew them and in whatever order, and its answer is found again for nothing.
#[test]
fn a_search_is_a_function_of_what_was_released() {
    let mut noise = Seeded::new(2406);
    let rows = Rows::new("uniform", 1e5, |x| x);
    for q in [0.5, 0.9] {
        let search = search(Quantile::Share(q), SearchGoal::Rank(0.01), LEVELS, "1");
        let mut paths = Paths::new(&rows);
        let (found, _) = paths.follow(&search, CELLS, &mut noise);
        // Another group's truth behind the same points.
        let others = Rows::new("others", 7.0, |_| 0.0);
        let again =
            Paths { rows: &others, cuts: paths.cuts.clone(), count: paths.count, boast: 1.0 };
        assert_eq!(search.next(&again), Step::Done(found));
        // Other cuts that were seen for other quantiles change nothing of what is asked for here.
        let mut fresh = Paths::new(&others);
        fresh.count = paths.count;
        let asked = search.next(&fresh);
        fresh.cuts.insert(3, Point { value: 1.0, precision: 1.0 });
        assert_eq!(search.next(&fresh), asked);
    }
}

/// A second quantile pays only for what the first has not bought.
#[test]
fn quantiles_share_their_cuts() {
    let mut noise = Seeded::new(2407);
    let rows = Rows::new("lopsided", 1e5, |x| 1.0 - (1.0 - x).powi(40));
    let searches =
        [0.5, 0.52, 0.48].map(|q| search(Quantile::Share(q), SearchGoal::Rank(0.02), LEVELS, "1"));
    let (mut apart, mut together) = (0.0, 0.0);
    for _ in 0..200 {
        let mut shared = Paths::new(&rows);
        for search in &searches {
            let mut own = Paths::new(&rows);
            own.follow(search, CELLS, &mut noise);
            apart += own.total();
            shared.follow(search, CELLS, &mut noise);
        }
        together += shared.total();
    }
    assert!(together < 0.9 * apart, "{together} {apart}");
}

/// Mean prices, with six deviations of the difference to spare.
#[test]
fn a_looser_goal_costs_no_more() {
    const RUNS: u32 = 400;
    let mut noise = Seeded::new(2408);
    for q in [0.5, 0.95] {
        let rows = Rows::new("lopsided", 1e5, |x| 1.0 - (1.0 - x).powi(40));
        let mut before = (f64::INFINITY, 0.0);
        for t in [0.002, 0.005, 0.01, 0.02, 0.04] {
            let search = search(Quantile::Share(q), SearchGoal::Rank(t), LEVELS, "1000");
            let prices: Vec<f64> = (0..RUNS)
                .map(|_| {
                    let mut paths = Paths::new(&rows);
                    paths.follow(&search, CELLS, &mut noise);
                    paths.total() / 2.0
                })
                .collect();
            let mean = prices.iter().sum::<f64>() / f64::from(RUNS);
            let square = prices.iter().map(|price| (price - mean).powi(2)).sum::<f64>();
            let error = square / f64::from(RUNS).powi(2);
            assert!(mean < before.0 + 6.0 * (error + before.1).sqrt(), "{q} {t}");
            before = (mean, error);
        }
    }
}

/// For the same promise of ranks, whatever the rows are, the exponential mechanism needs
/// `2 max(q, 1 - q) (levels ln 2 + ln(1/0.05))/(t n)` of epsilon, an eighth of whose square is its
/// price. The search costs less at every edge, and at most half where rows are spread.
#[test]
fn the_exponential_mechanism_is_dearer_at_the_same_promise() {
    const RUNS: u32 = 100;
    let mut noise = Seeded::new(2409);
    let count = 1e5;
    for (q, t) in [(0.5f64, 0.01), (0.5, 0.05), (0.9, 0.01), (0.99, 0.005)] {
        let search = search(Quantile::Share(q), SearchGoal::Rank(t), LEVELS, "1000");
        let promise = f64::from(LEVELS) * std::f64::consts::LN_2 + 20f64.ln();
        let epsilon = 2.0 * q.max(1.0 - q) * promise / (t * count);
        let exponential = epsilon * epsilon / 8.0;
        for rows in edges(q, t, count) {
            let mut price = 0.0;
            for _ in 0..RUNS {
                let mut paths = Paths::new(&rows);
                paths.follow(&search, CELLS, &mut noise);
                price += paths.total() / 2.0 / f64::from(RUNS);
            }
            println!("{} {q} {t}: {:.2} of the exponential's", rows.name, price / exponential);
            let most = if ["uniform", "lopsided", "flat"].contains(&rows.name) { 0.5 } else { 1.0 };
            assert!(price < most * exponential, "{} {q} {t}: {price}", rows.name);
        }
    }
}

#[test]
fn searches_that_cannot_be_are_refused() {
    let of = SearchOf {
        quantile: Quantile::Share(0.5),
        levels: 20,
        sensitivity: 1.0,
        step: 1.0,
        factor: 1,
    };
    let sure = Confidence::new(0.95).unwrap();
    let is_ok = |of: SearchOf, goal| Search::new(of, goal, sure, "1".parse().unwrap()).is_ok();
    assert!(is_ok(of, SearchGoal::Rank(0.01)));
    for goal in [SearchGoal::Rank(0.0), SearchGoal::Rank(f64::NAN), SearchGoal::Cells(0.0)] {
        assert!(!is_ok(of, goal), "{goal:?}");
    }
    for share in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(!is_ok(SearchOf { quantile: Quantile::Share(share), ..of }, SearchGoal::Price));
    }
    assert!(!is_ok(SearchOf { quantile: Quantile::Most, ..of }, SearchGoal::Cells(5.0)));
    assert!(!is_ok(SearchOf { levels: 0, ..of }, SearchGoal::Price));
    assert!(!is_ok(SearchOf { levels: 65, ..of }, SearchGoal::Price));
    assert!(!is_ok(SearchOf { sensitivity: 0.0, ..of }, SearchGoal::Price));
    assert!(!is_ok(SearchOf { step: f64::INFINITY, ..of }, SearchGoal::Price));
}

/// The finest grid there is: the first and the last of its cells are found.
#[test]
fn a_grid_of_64_levels_has_both_its_ends() {
    let mut noise = Seeded::new(2410);
    let search = search(Quantile::Share(0.5), SearchGoal::Rank(0.05), 64, "1000");
    let cells = 2f64.powi(64);
    for (share, cell) in [(1.0, 0), (0.0, u64::MAX)] {
        let rows = Rows::new("one value", 1e4, move |_| share);
        let (found, _) = Paths::new(&rows).follow(&search, cells, &mut noise);
        // The rows here are told from each other as far as doubles go.
        assert!(found.cell.abs_diff(cell) < 1 << 13, "{found:?}");
    }
}
