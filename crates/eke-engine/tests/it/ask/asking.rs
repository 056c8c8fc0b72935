//! Questions, from files to answers, as a program asks them.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `released_answers_have_the_law_of_their_price` (2,000; 1e-7; 0.17 off in variance, 5.4
//!   deviations in each of ten bins; noise 10 % wider)
//! - `the_noise_between_two_tiers_is_what_is_missing` (1,000; 1e-7; 0.24 off in variance;
//!   independent noise)
//! - `intervals_hold_in_fresh_runs` (1,200 a measure; 1e-7; 5 % and 5.3 deviations; intervals half
//!   as wide)

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use eke_engine::report::Owner;
use eke_engine::{Accuracy, Answer, Engine, EngineError, Goal, Source, Stopped, Who};
use eke_noise::Confidence;

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, spent, trips};

fn ask(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Answer {
    engine.ask(&question(who, sql, goal), &()).unwrap()
}

fn values(answer: &Answer) -> Vec<f64> {
    answer.rows.iter().flat_map(|row| &row.values).map(|cell| cell.value.unwrap()).collect()
}

const COUNT: &str = "SELECT COUNT(*) FROM trips";

#[test]
fn asking_again_is_free_and_gives_the_same_numbers() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    for goal in [relative(0.1), price("0.01"), goal(Accuracy::Absolute(50.0))] {
        let engine = folder.fresh();
        let before = spent(&engine);
        let first = ask(&engine, "steward", COUNT, goal);
        let after = spent(&engine);
        assert!(!first.free && after > before);
        for sql in [
            COUNT,
            "select count(1) from trips",
            "SELECT COUNT(*) AS n FROM (SELECT * FROM trips) t",
        ] {
            let again = ask(&engine, "steward", sql, goal);
            assert!(again.free && values(&again) == values(&first), "{again:?}");
        }
        for _ in 0..30 {
            assert_eq!(values(&ask(&engine, "steward", COUNT, goal)), values(&first));
        }
        assert!((spent(&engine) - after).abs() < 1e-15);
    }
    // In whatever order it is written, and from another program too.
    let where_ = "SELECT COUNT(*) FROM trips WHERE fare > 20 AND zone = 1";
    let turned = "SELECT COUNT(*) FROM trips AS t WHERE 1 = t.zone AND 20 < t.fare";
    let first = ask(&folder.engine(), "steward", where_, price("0.001"));
    let again = ask(&folder.engine(), "steward", turned, price("0.001"));
    assert!(again.free && values(&again) == values(&first));
}

#[test]
fn more_accuracy_goes_on_along_the_same_path() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[2000]));
    let engine = folder.engine();
    let coarse = ask(&engine, "ana", COUNT, relative(0.2));
    let fine = ask(&engine, "ana", COUNT, relative(0.05));
    assert!(coarse.is_met() && fine.is_met());
    // Both together cost what the finer one alone does.
    assert!((spent(&engine) - fine.alone.rho).abs() < 1e-12);
    assert!((coarse.cost.rho + fine.cost.rho - fine.alone.rho).abs() < 1e-12);
    // And what is coarser than what was seen is free.
    let between = ask(&engine, "ana", COUNT, relative(0.1));
    assert!(between.free && between.is_met());
    let less = ask(&engine, "ana", COUNT, goal(Accuracy::Absolute(500.0)));
    assert!(less.free && less.is_met());
}

/// In whatever order analysts ask, the riders pay for the finest point, and every analyst's own
/// accounts for that analyst's.
#[test]
fn a_lower_tier_sees_a_coarser_point_of_the_same_path() {
    const GROUPS: u32 = 200;
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(GROUPS)));
    folder.write("trips.csv", &trips(&[5; GROUPS as usize]));
    for run in 0..4 {
        let engine = folder.fresh();
        let (ana, bob) = ("0.004", "0.001");
        let of_bob = |engine: &Engine| ask(engine, "bob", ZONES, price(bob));
        let first = (run % 2 == 0).then(|| of_bob(&engine));
        let paid_by_bob = spent(&engine);
        let fine = ask(&engine, "ana", ZONES, price(ana));
        assert!((spent(&engine) - 0.004).abs() < 1e-9);
        let coarse = first.unwrap_or_else(|| of_bob(&engine));
        assert!((spent(&engine) - 0.004).abs() < 1e-9, "the riders pay for the finest point");
        // What Bob sees of prices is his own.
        assert!((coarse.cost.rho - 0.001).abs() < 1e-9 && !coarse.free);
        assert!(run % 2 == 1 || (paid_by_bob - 0.001).abs() < 1e-9);
        assert_ne!(values(&fine), values(&coarse));
        let again = of_bob(&engine);
        assert!(again.free && values(&again) == values(&coarse));
        // Bob has his own account and his circle's, and both have paid.
        for standing in engine.budget(&Who::Steward).unwrap() {
            match standing.owner {
                Owner::Everyone => assert!((standing.spent.rho - 0.004).abs() < 1e-9),
                Owner::Circle(_) => assert!((standing.spent.rho - 0.001).abs() < 1e-9),
                Owner::Analyst(name) if name == "bob" => {
                    assert!((standing.spent.rho - 0.001).abs() < 1e-9);
                }
                Owner::Analyst(name) if name == "ana" => {
                    assert!((standing.spent.rho - 0.004).abs() < 1e-9);
                }
                Owner::Analyst(_) => assert!(standing.spent.rho == 0.0),
            }
        }
        // Eve is in the same circle: the circle has paid for her point already, she has not.
        let eve = ask(&engine, "eve", ZONES, price(bob));
        assert!(values(&eve) == values(&coarse) && (eve.cost.rho - 0.001).abs() < 1e-9);
    }
}

/// Bob's points are Ana's with more noise: what is between them has the variance that is missing.
#[test]
fn the_noise_between_two_tiers_is_what_is_missing() {
    const GROUPS: u32 = 200;
    let folder = Folder::new();
    // Sums around 5000, far from zero.
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(GROUPS)));
    folder.write("trips.csv", &trips(&[200; GROUPS as usize]));
    let sums = "SELECT zone, SUM(fare - 50) FROM trips GROUP BY zone";
    let mut apart = Vec::new();
    for run in 0..5 {
        let engine = folder.fresh();
        let coarse = (run % 2 == 0).then(|| ask(&engine, "bob", sums, price("0.001")));
        let fine = ask(&engine, "ana", sums, price("0.004"));
        let coarse = coarse.unwrap_or_else(|| ask(&engine, "bob", sums, price("0.001")));
        apart.extend(values(&fine).iter().zip(values(&coarse)).map(|(fine, coarse)| coarse - fine));
    }
    // A unit changes a sum by 50: variances are 50²/(2 rho).
    let (fine, coarse) = (2500.0 / 0.008, 2500.0 / 0.002);
    let found = apart.iter().map(|apart| apart * apart).sum::<f64>() / apart.len() as f64;
    let off = found / (coarse - fine) - 1.0;
    assert!(off.abs() < 0.24, "{off}");
    let control = found / (coarse + fine) - 1.0;
    assert!(control.abs() > 0.24, "the control passes: {control}");
}

/// Fresh ledgers, one look each: the noise of all groups beside the normal law of the price.
#[test]
fn released_answers_have_the_law_of_their_price() {
    const GROUPS: u32 = 400;
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(GROUPS)));
    folder.write("trips.csv", &trips(&[10; GROUPS as usize]));
    let sums = "SELECT zone, SUM(fare - 50) AS s FROM trips GROUP BY zone";
    let mut truths: BTreeMap<i64, f64> = BTreeMap::new();
    for rider in 0..i64::from(GROUPS) * 10 {
        *truths.entry(rider / 10).or_default() += (10 + rider % 40 - 50) as f64;
    }
    let mut scores = Vec::new();
    for _ in 0..5 {
        let answer = ask(&folder.fresh(), "steward", sums, price("0.002"));
        assert!((answer.cost.rho - 0.002).abs() < 1e-9);
        for row in &answer.rows {
            let truth = truths[&row.keys[0].as_i64().unwrap()];
            let deviation = 50.0 / (2.0f64 * 0.002).sqrt();
            scores.push((row.values[0].value.unwrap() - truth) / deviation);
        }
    }
    let variance = |scale: f64| {
        scores.iter().map(|score| (score / scale).powi(2)).sum::<f64>() / scores.len() as f64
    };
    assert!((variance(1.0) - 1.0).abs() < 0.17, "{}", variance(1.0));
    assert!((variance(1.1) - 1.0).abs() > 0.1, "the control: {}", variance(1.1));
    // Ten bins of equal probability.
    let edges = [-1.2816, -0.8416, -0.5244, -0.2533, 0.0, 0.2533, 0.5244, 0.8416, 1.2816];
    let mut bins = [0u32; 10];
    for score in &scores {
        bins[edges.iter().filter(|edge| score > edge).count()] += 1;
    }
    let n = scores.len() as f64;
    for bin in bins {
        assert!((f64::from(bin) - 0.1 * n).abs() < 5.4 * (0.09 * n).sqrt(), "{bins:?}");
    }
}

/// Counts, sums and averages of groups large and small, in runs of their own.
#[test]
fn intervals_hold_in_fresh_runs() {
    const RUNS: usize = 20;
    let sizes: Vec<u32> = (0..60u32).map(|zone| (zone % 10).pow(3) * 3).collect();
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(60)));
    folder.write("trips.csv", &trips(&sizes));
    let sql = "SELECT zone, COUNT(*), SUM(fare), AVG(fare) FROM trips GROUP BY zone";
    let (mut rider, mut truths) = (0, Vec::new());
    for size in &sizes {
        let fares: u32 = (rider..rider + size).map(|rider| 10 + rider % 40).sum();
        rider += size;
        let average = f64::from(fares) / f64::from(*size);
        truths.push([f64::from(*size), f64::from(fares), average]);
    }
    for goal in [relative(0.1), Goal { floor: Some(400.0), ..relative(0.05) }, price("0.02")] {
        let (mut misses, mut narrow, mut count, mut met) = ([0u32; 3], [0u32; 3], [0u32; 3], 0);
        for _ in 0..RUNS {
            let answer = ask(&folder.fresh(), "steward", sql, goal);
            for (row, truth) in answer.rows.iter().zip(&truths) {
                for (index, cell) in row.values.iter().enumerate() {
                    let (low, high) = (cell.low.unwrap(), cell.high.unwrap());
                    if truth[index].is_nan() {
                        continue;
                    }
                    count[index] += 1;
                    misses[index] += u32::from(!(low <= truth[index] && truth[index] <= high));
                    let half = (high - low) / 4.0;
                    // An average of which nothing is known has no value.
                    let is_off = |value: f64| (value - truth[index]).abs() > half;
                    narrow[index] += u32::from(cell.value.is_some_and(is_off));
                    met += u32::from(cell.met == Some(true));
                }
            }
        }
        for index in 0..3 {
            let n = f64::from(count[index]);
            let most = 0.05 * n + 5.3 * (0.05 * 0.95 * n).sqrt();
            assert!(f64::from(misses[index]) <= most, "{goal:?} {index}: {} of {n}", misses[index]);
        }
        assert!(f64::from(narrow[0]) > 0.05 * f64::from(count[0]) * 1.7, "the control: {narrow:?}");
        assert!(met > 0 || matches!(goal.accuracy, Accuracy::Price(_)));
    }
}

/// Every group pays for itself, and a rider is in one: the charge is the dearest group's.
#[test]
fn groups_stop_on_their_own_and_the_dearest_are_paid_for() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, Some(3)));
    folder.write("trips.csv", &trips(&[8000, 4000, 1000]));
    let engine = folder.engine();
    let goal = Goal { at_most: Some("0.2".parse().unwrap()), ..relative(0.05) };
    let answer = ask(&engine, "steward", ZONES, goal);
    assert!(answer.is_met());
    // What each takes alone: (1.96/(0.05 n))²/2. The two dearest are the small ones.
    let alone = |n: f64| (1.96 / (0.05 * n)).powi(2) / 2.0;
    let expected = alone(1000.0) + alone(4000.0);
    assert!((0.7..1.6).contains(&(answer.cost.rho / expected)), "{} {expected}", answer.cost.rho);
}

#[test]
fn replace_costs_four_times_as_much() {
    for (adjacency, factor) in [("add-remove", 1.0), ("replace", 4.0)] {
        let folder = Folder::new();
        folder.write("eke.toml", &policy(adjacency, 1, 1, None));
        folder.write("trips.csv", &trips(&[3000]));
        let answer = ask(&folder.engine(), "steward", COUNT, goal(Accuracy::Absolute(100.0)));
        let expected = (1.959_96f64 / 100.0).powi(2) / 2.0 * factor;
        assert!((answer.cost.rho / expected - 1.0).abs() < 0.01, "{} {expected}", answer.cost.rho);
    }
}

/// A count and a sum: at one price each has half of it.
#[test]
fn an_average_is_paid_for_as_two_paths() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[40_000]));
    let answer = ask(&folder.engine(), "steward", "SELECT AVG(fare) FROM trips", price("0.0002"));
    let cell = &answer.rows[0].values[0];
    let half = (cell.high.unwrap() - cell.low.unwrap()) / 2.0;
    // A unit changes the centred sum by 50 and the count by 1, which counts by how far the average
    // of 29.5 is from 50.
    let unit = (50.0f64.powi(2) + 20.5f64.powi(2)).sqrt();
    let expected = 1.959_96 * unit / (2.0f64 * 0.0001).sqrt() / 40_000.0;
    assert!((half / expected - 1.0).abs() < 0.03, "{half} {expected}");
}

/// A key that one rider alone has is not shown, however many rows it has; one that many have is.
#[test]
fn keys_are_selected_by_units_and_not_by_rows() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 2_000, None));
    let mut text = trips(&[3000, 2000]);
    for _ in 0..20_000 {
        let _ = writeln!(text, "somebody,7,30");
    }
    folder.write("trips.csv", &text);
    let engine = folder.engine();
    let answer = ask(&engine, "ana", ZONES, price("0.02"));
    let keys: Vec<i64> = answer.rows.iter().map(|row| row.keys[0].as_i64().unwrap()).collect();
    assert_eq!(keys, [0, 1]);
    let keys = answer.cost.rho - 0.02;
    assert!(keys > 0.001 && keys < 0.01, "keys cost extra: {:?}", answer.cost);
    let standing = &engine.budget(&Who::Steward).unwrap()[0];
    assert!(standing.spent.mechanism_delta > 0.0 && standing.bound.is_some());
    // The same keys serve other questions, and another analyst pays for them from her own account.
    let before = spent(&engine);
    let sums =
        ask(&engine, "ana", "SELECT zone, SUM(fare) FROM trips GROUP BY zone", price("0.001"));
    assert!((spent(&engine) - before - 0.001).abs() < 1e-9);
    assert_eq!(sums.rows.len(), 2);
}

#[test]
fn a_refusal_costs_nothing_and_says_what_fits() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let engine = folder.engine();
    let refuse = |goal| match engine.ask(&question("bob", COUNT, goal), &()) {
        Err(EngineError::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    };
    let refused = refuse(goal(Accuracy::Absolute(1.0)));
    assert!(refused.asked.unwrap() > refused.fits.unwrap());
    assert!(spent(&engine) == 0.0);
    // What it says fits does.
    let fits = refused.error.unwrap() * 1.001;
    let answer = ask(&engine, "bob", COUNT, goal(Accuracy::Absolute(fits)));
    assert!(answer.is_met() && (answer.cost.rho - 1e-3).abs() < 1e-5, "{answer:?}");
    let refused = refuse(price("0.5"));
    let all = Goal { at_most: None, ..price(&refused.fits.unwrap().to_string()) };
    // A partner sees no point finer than its tier's, whatever it pays.
    let answer = ask(&engine, "bob", "SELECT COUNT(*) FROM trips WHERE zone = 1", all);
    assert!((answer.cost.rho - 1e-3).abs() < 1e-9, "{answer:?}");
    // Once the budget is gone, what was answered is still there.
    let left = engine.budget(&Who::Analyst("ana".into())).unwrap()[0].left.rho;
    let sql = "SELECT COUNT(*) FROM trips WHERE zone = 2";
    let most = format!("{:.17}", left - 0.0021);
    let first = ask(&engine, "ana", sql, price(&most));
    let refused = engine.ask(&question("ana", COUNT, price("0.01")), &()).unwrap_err();
    let own = refused.to_string();
    assert!(own.starts_with("refused: the budget does not allow it any more"), "{own}");
    assert_eq!(values(&ask(&engine, "ana", sql, price(&most))), values(&first));
    // The riders' budget is gone for everybody, and Ana is not told that it was theirs.
    let refused = engine
        .ask(&question("ana", "SELECT COUNT(*) FROM trips WHERE zone = 0", price("0.002")), &());
    assert_eq!(refused.unwrap_err().to_string(), own);
}

#[test]
fn an_empty_answer_drains_nothing() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 0, 0]));
    let engine = folder.engine();
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    let answer = ask(&engine, "steward", "SELECT COUNT(*) FROM trips WHERE 1 = 0", relative(0.05));
    let cell = &answer.rows[0].values[0];
    assert!(cell.met == Some(false) && cell.ending == Stopped::OutOfReach && cell.low < cell.value);
    assert!(answer.cost.rho < whole / 100.0, "{}", answer.cost.rho);
}

/// The steward hears that a file has changed, and declares a new snapshot; an analyst notices
/// nothing.
#[test]
fn a_changed_file_is_the_stewards_to_declare() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let engine = folder.engine();
    let goal = price("0.001");
    let first = ask(&engine, "ana", COUNT, goal);
    folder.write("trips.csv", &trips(&[5000, 300, 200]));
    let told = engine.ask(&question("steward", COUNT, goal), &()).unwrap_err().to_string();
    assert!(told.contains("`trips.csv` has changed since snapshot 1 of `trips`"), "{told}");
    assert_eq!(engine.notices().unwrap(), [told]);
    let again = ask(&engine, "ana", COUNT, goal);
    assert!(again.free && values(&again) == values(&first));
    let declared = engine.snapshot("trips").unwrap();
    assert_eq!((declared.number, declared.unchanged), (2, false));
    // Another snapshot is another path, in the same account.
    let before = spent(&engine);
    let second = ask(&engine, "ana", COUNT, goal);
    assert!(!second.free && (spent(&engine) - before - 0.001).abs() < 1e-9);
    assert!(engine.notices().unwrap().is_empty());
    // Touched and the same is not changed.
    folder.write("trips.csv", &trips(&[5000, 300, 200]));
    ask(&engine, "steward", COUNT, goal);
}

/// What goes wrong with rows is the steward's to know: an analyst hears only that this is not
/// available.
#[test]
fn rows_that_cannot_be_read_show_to_the_steward_alone() {
    let folder = Folder::new();
    let city = eke_engine::data::write_city(folder.path(), 1000).unwrap();
    let path = folder.path().join("trips.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    // The footer stays, the pages do not.
    let middle = bytes.len() / 2;
    for byte in &mut bytes[100..middle] {
        *byte = !*byte;
    }
    std::fs::write(&path, bytes).unwrap();
    let engine = Engine::open(&city.policy).unwrap();
    let error = engine.ask(&question("ana", COUNT, price("0.001")), &()).unwrap_err();
    assert!(matches!(error, EngineError::Unavailable), "{error}");
    assert_eq!(engine.notices().unwrap().len(), 1);
    let error = engine.ask(
        &question("steward", "SELECT COUNT(*) FROM trips WHERE fare > 1", price("0.001")),
        &(),
    );
    assert!(error.unwrap_err().to_string().contains("is paid for and lost"));
}

#[test]
fn a_ledger_of_another_dataset_is_not_used() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[500]));
    ask(&folder.engine(), "steward", COUNT, price("0.001"));
    folder.write("other.csv", &trips(&[500]));
    folder.write("eke.toml", &policy("add-remove", 1, 1, None).replace("trips.csv", "other.csv"));
    let error = folder.engine().ask(&question("steward", COUNT, price("0.001")), &()).unwrap_err();
    assert!(
        error.to_string().contains("this ledger was opened for `trips` in `trips.csv`"),
        "{error}"
    );
    folder.write("eke.toml", &policy("replace", 1, 1, None));
    let error = folder.engine().ask(&question("steward", COUNT, price("0.001")), &()).unwrap_err();
    assert!(error.to_string().contains("opened with another budget"), "{error}");
}

#[test]
fn history_is_told_to_whom_it_belongs() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[5000]));
    let engine = folder.engine();
    ask(&engine, "ana", COUNT, relative(0.1));
    ask(&engine, "bob", COUNT, price("0.0001"));
    ask(&engine, "steward", COUNT, price("0.002"));
    let history = |who: &Who| engine.history(who).unwrap();
    let all = history(&Who::Steward);
    assert_eq!(all.iter().map(|asked| &*asked.who).collect::<Vec<_>>(), ["ana", "bob", "steward"]);
    assert!(all.iter().all(|asked| asked.question == COUNT && asked.answer.is_some()));
    let (ana, bob) = (history(&Who::Analyst("ana".into())), history(&Who::Analyst("bob".into())));
    assert_eq!((ana.len(), bob.len()), (1, 1));
    // Bob's point cost his own account something, whatever it cost the riders.
    assert!((bob[0].rho - 0.0001).abs() < 1e-9);
    let left = |who: &str| engine.budget(&Who::Analyst(who.into())).unwrap();
    assert!(left("ana").iter().all(|standing| standing.owner == Owner::Analyst("ana".into())));
    assert_eq!(left("bob").len(), 2);
}

/// Rules 4 and 6 in one: two programs at once, one path, one charge.
#[test]
fn two_programs_that_ask_at_once_pay_once() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[5000]));
    let engine = folder.engine();
    ask(&engine, "steward", "SELECT COUNT(*) FROM trips WHERE fare > 1000", price("0.0001"));
    let before = spent(&engine);
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let ask = || {
            let engine = folder.engine();
            ask(&engine, "steward", COUNT, goal(Accuracy::Absolute(300.0)))
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let price = (1.959_96f64 / 300.0).powi(2) / 2.0;
    let paid = spent(&engine) - before;
    assert!((paid / price - 1.0).abs() < 0.01, "{paid} for {price}: {answers:?}");
    assert!(answers.iter().all(|answer| values(answer) == values(&answers[0])));
}

#[test]
fn explaining_reads_no_rows_and_opens_no_ledger() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, Some(3)));
    folder.write("trips.csv", "rider,zone,fare\n\"never ended");
    let policy = eke_engine::policy::Policy::read(&folder.path().join("eke.toml")).unwrap();
    let explained = eke_engine::explain(&policy, ZONES, &Who::Steward).unwrap();
    assert_eq!(explained.accounts, ["rider"]);
    assert!(!folder.path().join("eke.ledger").exists());
    // Its prices are those that are charged: two groups of three, one column.
    let line = &explained.errors[1];
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let answer = ask(&folder.engine(), "steward", ZONES, goal(Accuracy::Absolute(line.error)));
    assert!((answer.cost.rho / line.cost.rho - 1.0).abs() < 0.01, "{answer:?} {line:?}");
    assert!(Source::find(Path::new("/nowhere"), "x.csv").is_err());
}

/// Averages have prices, tiers their limit, and earlier answers their price: as they are charged.
#[test]
fn explaining_says_what_averages_tiers_and_earlier_answers_cost() {
    const BOTH: &str = "SELECT AVG(fare), COUNT(*) FROM trips";
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, None));
    folder.write("trips.csv", &trips(&[500, 300, 200]));
    let policy_of = || eke_engine::policy::Policy::read(&folder.path().join("eke.toml")).unwrap();
    let explained = eke_engine::explain(&policy_of(), BOTH, &Who::Steward).unwrap();
    // At a price: of a thousand rows, as there are. The interval depends on the average a little.
    let line = explained.errors.iter().rfind(|line| line.rows == Some(1000.0)).unwrap();
    let rho = format!("{:.15}", line.cost.rho);
    let answer = ask(&folder.engine(), "steward", BOTH, price(&rho));
    let cell = &answer.rows[0].values[0];
    let off = (cell.high.unwrap() - cell.low.unwrap()) / 2.0;
    assert!((off / line.error - 1.0).abs() < 0.5, "{off} {line:?}");
    assert!((answer.cost.rho / line.cost.rho - 1.0).abs() < 0.01, "{answer:?}");
    assert_eq!(explained.sizes.len(), 6);
    for size in &explained.sizes {
        let (cost, after) = (size.cost.unwrap().rho, size.after.unwrap().rho);
        assert!(after >= cost && after < 10.0 * cost, "{size:?}");
        assert!(size.rows.is_some() || after > 1.5 * cost, "{size:?}");
    }
    // The steward sees what anybody has seen, an analyst its own.
    assert_eq!(explained.earlier, "anybody has");
    let bob = Who::Analyst("bob".into());
    let explained = eke_engine::explain(&policy_of(), "SELECT COUNT(*) FROM trips", &bob).unwrap();
    assert_eq!(explained.earlier, "you have");
    // A tier goes no further, in what is explained and in what is answered, also the second time.
    let tier = explained.tier.unwrap();
    assert_eq!((tier.finest.rho, tier.cost.rho), (1e-3, 1e-3));
    assert!(explained.errors.iter().all(|line| line.cost.rho <= 1e-3 * 1.001));
    let is_beyond = |line: &eke_engine::ask::SizeAt| line.cost.is_none();
    assert!(explained.sizes.iter().any(is_beyond) && !explained.sizes.iter().all(is_beyond));
    let engine = folder.engine();
    for goal in [price("0.01"), relative(0.001), relative(0.001)] {
        let answer = ask(&engine, "bob", "SELECT COUNT(*) FROM trips", goal);
        assert_eq!(answer.tier, Some(tier.finest), "{answer:?}");
        assert_eq!(answer.rows[0].values[0].ending, Stopped::Tier);
    }
    assert_eq!(ask(&engine, "bob", "SELECT COUNT(*) FROM trips", price("0.0001")).tier, None);
    // Keys that a tier may not see are refused alike.
    folder.write("eke.toml", &policy("add-remove", 2, 1, None).replace("1e-3", "1e-6"));
    let explained = eke_engine::explain(&policy_of(), ZONES, &bob).unwrap_err().to_string();
    let engine = folder.fresh();
    let asked = engine.ask(&question("bob", ZONES, price("1e-6")), &()).unwrap_err().to_string();
    assert!(explained.contains("your tier may not see keys"), "{explained}");
    assert_eq!(explained, asked);
}

/// How many units a group takes is said where groups are selected, also if there are none.
#[test]
fn an_answer_without_rows_says_how_many_units_a_group_takes() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[3, 2, 1]));
    let answer = ask(&folder.engine(), "ana", ZONES, price("0.001"));
    assert!(answer.rows.is_empty());
    let policy = eke_engine::policy::Policy::read(&folder.path().join("eke.toml")).unwrap();
    let explained = eke_engine::explain(&policy, ZONES, &Who::Steward).unwrap();
    let eke_engine::ask::Keys::Selected { units, .. } = explained.keys else {
        panic!("{explained:?}")
    };
    assert_eq!(answer.units, Some(units));
    assert_eq!(ask(&folder.engine(), "ana", COUNT, price("0.001")).units, None);
}

/// An analyst who goes on by hand sees intervals that hold at every look at once: of 200 groups
/// with 95 % each, more than 27 are outside at some look with probability below 1e-6. The control,
/// intervals of one look, is not.
#[test]
fn refining_by_hand_keeps_its_word() {
    const GROUPS: usize = 200;
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(GROUPS as u32)));
    folder.write("trips.csv", &trips(&[100; GROUPS]));
    let engine = folder.engine();
    let (mut rho, mut outside, mut narrow) = (1e-5, vec![false; GROUPS], vec![false; GROUPS]);
    for _ in 0..25 {
        let answer = ask(&engine, "steward", ZONES, price(&format!("{rho:.12}")));
        assert!((spent(&engine) / rho - 1.0).abs() < 1e-3, "a price is that of all there is");
        for (group, row) in answer.rows.iter().enumerate() {
            let cell = &row.values[0];
            let (value, low, high) = (cell.value.unwrap(), cell.low.unwrap(), cell.high.unwrap());
            outside[group] |= !(low <= 100.0 && 100.0 <= high);
            narrow[group] |= (value - 100.0).abs() > 1.96 / (2.0 * rho).sqrt();
        }
        rho *= 1.3;
    }
    let count = |groups: &[bool]| groups.iter().filter(|group| **group).count();
    assert!(count(&outside) <= 27 && count(&narrow) > 27, "{} {}", count(&outside), count(&narrow));
    // A price that was paid already is free, at any confidence.
    let sure = Goal { confidence: Confidence::new(0.99).unwrap(), ..price("0.001") };
    assert!(ask(&engine, "steward", ZONES, sure).free);
}

/// A quote that does not end is its own row's: it takes nobody else's away.
#[test]
fn one_row_of_a_csv_swallows_no_other() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    let text = trips(&[5000]).replacen("r100,", "\"r100,", 1);
    folder.write("trips.csv", &text);
    let answer = ask(&folder.engine(), "steward", COUNT, goal(Accuracy::Absolute(100.0)));
    assert!((values(&answer)[0] - 4999.0).abs() < 300.0, "{answer:?}");
}

/// Where the budget ends on the way there is an answer so far, which says so; only a first look is
/// refused.
#[test]
fn a_budget_that_ends_on_the_way_gives_the_answer_so_far() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    folder.write("trips.csv", &trips(&[5000]));
    let engine = folder.engine();
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    let most = format!("{:.12}", whole - 1e-5);
    ask(&engine, "steward", "SELECT COUNT(*) FROM trips WHERE fare < 0", price(&most));
    // Ana's own account has room for more than the riders' has.
    let answer = ask(&engine, "ana", COUNT, relative(0.01));
    let cell = &answer.rows[0].values[0];
    assert!(cell.met == Some(false) && cell.ending == Stopped::Refused, "{answer:?}");
    assert!(answer.cost.rho > 0.0 && answer.cost.rho <= 1e-5);
    let again = ask(&engine, "ana", COUNT, relative(0.01));
    assert!(again.free && again.rows == answer.rows);
}

/// From policy to answer, also where no column of the file is read.
#[test]
fn rows_that_are_units_are_asked_about() {
    const POLICY: &str = r#"
[unit.row]
adjacency = "add-remove"
budget = { rho = 1e6 }
[dataset.trips]
source = "trips.csv"
unit = "row"
[dataset.trips.columns]
fare = { type = "float", min = 0, max = 100 }
zone = { type = "int", values = [0, 1, 2] }
"#;
    let folder = Folder::new();
    folder.write("eke.toml", POLICY);
    // One rider has all trips of a zone, which count all the same.
    let text = trips(&[300, 200]) + &"r0,2,20\n".repeat(50);
    folder.write("trips.csv", &text);
    let engine = folder.engine();
    let near = |sql: &str, expected: &[f64]| {
        let found = values(&ask(&engine, "steward", sql, price("1e4")));
        assert_eq!(found.len(), expected.len(), "{sql}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 5.0, "{sql}: {found} {expected}");
        }
    };
    near(COUNT, &[550.0]);
    near(ZONES, &[300.0, 200.0, 50.0]);
    near("SELECT SUM(fare) FROM trips WHERE zone = 2", &[1000.0]);
    // A row has one value, which others may have too.
    near("SELECT COUNT(DISTINCT rider) FROM trips", &[500.0]);
    near("SELECT zone, COUNT(DISTINCT rider) FROM trips GROUP BY zone", &[300.0, 200.0, 1.0]);
    // The ledger keeps whose rows they are.
    let by_rider = POLICY
        .replace("[unit.row]", "[unit.rider]")
        .replace("unit = \"row\"", "unit = \"rider\"\nunit_column = \"rider\"\nmax_rows = 1");
    drop(engine);
    folder.write("eke.toml", &by_rider);
    let changed = Engine::open(&folder.path().join("eke.toml"));
    let refused =
        changed.and_then(|engine| engine.ask(&question("steward", COUNT, price("1")), &()));
    assert!(refused.is_err(), "{refused:?}");
}
