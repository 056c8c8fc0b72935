//! What prices buy: nothing is charged that cannot be drawn, and what a refusal says would fit
//! does.

use std::sync::atomic::{AtomicU32, Ordering};

use eke_engine::error::Limit;
use eke_engine::{
    Accuracy, Answer, ColumnGoals, Engine, EngineError, ErrorKind, Goal, Observer, Question,
    Refused, Who,
};
use eke_noise::Tolerance;

use crate::trips::{Folder, ZONES, goal, policy, price, question, relative, spent, trips};

/// All combinations of one, two and three of some texts.
fn combinations(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for bits in 1u32..1 << words.len() {
        if bits.count_ones() <= 3 {
            let some =
                (0..words.len()).filter(|index| bits >> index & 1 == 1).map(|index| words[index]);
            found.push(some.collect::<Vec<_>>().join(", "));
        }
    }
    found
}

fn absolute(error: f64) -> Goal {
    goal(Accuracy::Absolute(error))
}

/// What a question is answered with; nothing if it is refused, and then nothing was charged. Any
/// other error is a defect: it comes after a charge, or should have come before.
fn answered(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Option<Answer> {
    let before = spent(engine);
    match engine.ask(&question(who, sql, goal), &()) {
        Ok(answer) => Some(answer),
        Err(error) => {
            let refused = ErrorKind::Refused.exit_code();
            assert_eq!(error.kind().exit_code(), refused, "{who} {sql} {goal:?}: {error}");
            assert!(spent(engine) == before, "{who} {sql} {goal:?}: {error}");
            None
        }
    }
}

const AGGREGATES: [&str; 5] =
    ["COUNT(*)", "COUNT(fare)", "COUNT(DISTINCT rider)", "SUM(fare)", "AVG(fare)"];

/// Columns of a question have noise of very different widths for one price: what the narrowest is
/// looked at with may be too wide to draw for another. From loose to close, by the steward and by a
/// partner in turns, so that later goals go on from where others stopped.
#[test]
fn every_pair_and_triple_of_aggregates_is_answered_or_refused_before_it_is_charged() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 20, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    for some in combinations(&AGGREGATES) {
        let sql = format!("SELECT zone, {some} FROM trips GROUP BY zone");
        let engine = folder.fresh();
        let mut found = 0;
        for (turn, tolerance) in [0.9, 0.3, 0.1, 0.02, 0.001].into_iter().enumerate() {
            let who = if turn % 3 == 1 { "bob" } else { "steward" };
            found += u32::from(answered(&engine, who, &sql, relative(tolerance)).is_some());
        }
        assert_eq!(found, 5, "{sql}");
    }
}

/// Each of them asked first, on a ledger of its own.
#[test]
fn loose_goals_are_answered_at_the_first_try() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 20, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    for some in ["COUNT(*), SUM(fare)", "COUNT(*), AVG(fare)", "COUNT(DISTINCT rider), SUM(fare)"] {
        let sql = format!("SELECT zone, {some} FROM trips GROUP BY zone");
        for tolerance in [0.3, 0.9] {
            for who in ["steward", "bob"] {
                assert!(answered(&folder.fresh(), who, &sql, relative(tolerance)).is_some());
            }
        }
    }
}

#[test]
fn prices_and_errors_of_any_size_are_answered_or_refused_before_they_are_charged() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("replace", 2, 20, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let (mut taken, mut refused) = (0, 0);
    for some in ["COUNT(*)", "SUM(fare)", "COUNT(*), SUM(fare)", "AVG(fare), COUNT(DISTINCT rider)"]
    {
        let sql = format!("SELECT zone, {some} FROM trips GROUP BY zone");
        let engine = folder.fresh();
        let prices =
            ["1e-29", "1e-24", "1e-20", "1e-16", "1e-13", "1e-12", "1.00001e-12", "3e-12", "1e-10"];
        let prices = prices.into_iter().chain(["1e-8", "1e-5", "0.01", "1", "1e6"]).map(price);
        let errors = [1e-300, 1e-9, 1.0, 1e5, 1e9, 1e12, 1e15, 1e30, 1e300].map(absolute);
        let most = |goal: Goal| {
            ["1e-25", "1e-12", "1e-6"]
                .map(|most| Goal { at_most: Some(most.parse().unwrap()), ..goal })
        };
        let capped = [relative(0.5), absolute(1e6)].into_iter().flat_map(most);
        for (turn, goal) in prices.chain(errors).chain(capped).enumerate() {
            let who = if turn % 3 == 1 { "bob" } else { "steward" };
            let before = spent(&engine);
            match answered(&engine, who, &sql, goal) {
                Some(answer) => {
                    taken += 1;
                    // And no more than it may cost.
                    let highest = match (goal.accuracy, goal.at_most) {
                        (Accuracy::Price(price), _) => price.to_f64(),
                        (_, Some(most)) => most.to_f64(),
                        _ => f64::INFINITY,
                    };
                    assert!(answer.cost.rho <= highest, "{who} {sql} {goal:?} {answer:?}");
                    let more = spent(&engine) - before;
                    assert!(
                        who == "bob" || more <= highest * (1.0 + 1e-9),
                        "{sql} {goal:?} {more}"
                    );
                }
                None => refused += 1,
            }
        }
    }
    assert!(taken > 40 && refused > 20, "{taken} {refused}");
}

/// How many rows a unit may count for is no matter where units are counted.
#[test]
fn units_are_counted_however_many_rows_they_may_have() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 4_000_000, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let answer =
        answered(&engine, "steward", "SELECT COUNT(DISTINCT rider) FROM trips", price("0.1"))
            .unwrap();
    let cell = &answer.rows[0].values[0];
    // Noise of deviation 2.2: beyond 20 with probability below 1e-18.
    assert!((cell.value.unwrap() - 990.0).abs() < 20.0, "{cell:?}");
}

/// An average far from zero has few steps of a double between its bounds, so one step of its path
/// cannot be as fine as a large price pays for: it takes several.
#[test]
fn what_is_too_fine_for_one_step_is_drawn_in_several() {
    let folder = Folder::new();
    let text = policy("add-remove", 1, 1, Some(3))
        .replace("epsilon = 4.0", "epsilon = 40.0")
        .replace("min = 0, max = 100", "min = 1000000000000000, max = 1000000000000001");
    folder.write("eke.toml", &text);
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let sql = "SELECT AVG(fare) FROM trips";
    let answer = answered(&engine, "steward", sql, price("2")).unwrap();
    let cell = &answer.rows[0].values[0];
    // Of so few steps the interval may have all that it can be: then it has no value.
    let is_near = |value: f64| (value - 1e15).abs() < 2.0;
    assert!(cell.value.is_none_or(is_near) && cell.low.is_some_and(is_near), "{cell:?}");
    assert!((answer.cost.rho - 2.0).abs() < 1e-9);
    let bob = answered(&engine, "bob", sql, price("1e-4")).unwrap();
    assert!(!bob.free && bob.cost.rho <= 1e-4);
}

fn refusal(engine: &Engine, who: &str, sql: &str, goal: Goal) -> Option<Refused> {
    match engine.ask(&question(who, sql, goal), &()) {
        Err(EngineError::Refused(refused)) => Some(*refused),
        Err(error) => panic!("{sql} {goal:?}: {error}"),
        Ok(_) => None,
    }
}

/// Whatever is refused, what the refusal says would fit is taken as it is printed: on paths that
/// nobody has seen, on those that were seen and go by another price, and where the highest price
/// was asked for.
#[test]
fn what_a_refusal_says_would_fit_is_taken() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 20, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let mut tried = 0;
    for (sql, largest) in [
        ("SELECT COUNT(*) FROM trips", 40.0),
        ("SELECT zone, COUNT(*) FROM trips GROUP BY zone", 40.0),
        ("SELECT zone, COUNT(*), SUM(fare) FROM trips GROUP BY zone", 400.0),
        ("SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 1", 40.0),
    ] {
        for error in [1e-300, 1e-7, 1e-3, 0.06, 0.8, 3.0, largest] {
            for at_most in [None, Some("1e-3"), Some("1e-9")] {
                for seen in [false, true] {
                    let engine = folder.fresh();
                    if seen {
                        answered(&engine, "steward", sql, price("1e-4")).unwrap();
                    }
                    let most = at_most.map(|most| most.parse().unwrap());
                    let asked = Goal { at_most: most, ..absolute(error) };
                    let Some(refused) = refusal(&engine, "steward", sql, asked) else { continue };
                    let limit = if at_most.is_some() { Limit::AtMost } else { Limit::Budget };
                    assert_eq!(refused.limit, limit, "{refused}");
                    let Some(fits) = refused.error else { panic!("{sql} {asked:?}: {refused}") };
                    let fits: f64 = fits.to_string().parse().unwrap();
                    let next = Goal { at_most: most, ..absolute(fits) };
                    let answer = answered(&engine, "steward", sql, next);
                    assert!(answer.is_some(), "{sql} {asked:?}: {refused}");
                    tried += 1;
                }
            }
        }
        for asked in ["3", "0.9", "1e-29"] {
            let engine = folder.fresh();
            let Some(refused) = refusal(&engine, "steward", sql, price(asked)) else { continue };
            let fits = refused.price.unwrap().to_string();
            assert!(answered(&engine, "steward", sql, price(&fits)).is_some(), "{sql}: {refused}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

/// Where so little is left that its noise could not be drawn, no price would fit.
#[test]
fn no_price_is_told_where_what_is_left_cannot_be_drawn() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 20, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let (rows, fares) = ("SELECT COUNT(*) FROM trips", "SELECT COUNT(fare) FROM trips");
    let left = refusal(&engine, "steward", rows, price("3")).unwrap().fits.unwrap();
    let most = left.minus("1e-20".parse().unwrap()).unwrap();
    answered(&engine, "steward", rows, price(&most.to_string())).unwrap();
    let refused = refusal(&engine, "steward", fares, price("0.5")).unwrap();
    assert!(refused.fits.unwrap() <= "1e-19".parse().unwrap(), "{refused}");
    assert_eq!(refused.price, None, "{refused}");
}

#[test]
fn a_refusal_says_which_limit_it_is() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let most = Goal { at_most: Some("0.001".parse().unwrap()), ..absolute(10.0) };
    let refused = refusal(&engine, "steward", ZONES, most).unwrap();
    assert_eq!(refused.limit, Limit::AtMost);
    let text = refused.to_string();
    assert!(text.contains("it may cost rho=0.001 at most") && !text.contains("budget"), "{text}");
    assert!(!text.contains("--"), "flags are the command line's: {text}");
    let refused = refusal(&engine, "bob", ZONES, absolute(10.0)).unwrap();
    assert!(matches!(refused.limit, Limit::Tier(_)), "{refused}");
    assert!(refused.to_string().contains("your tier sees no path further than rho=0.001"));
    let refused = refusal(&engine, "steward", ZONES, absolute(0.1)).unwrap();
    assert!(refused.to_string().contains("the budget of `rider` has rho="), "{refused}");
}

/// An asker hears that a highest price is too low, analyst or steward, and whatever is left: what
/// the question costs at least is more than it may cost, nothing was charged for keys either, and
/// what would fit does.
#[test]
fn a_highest_price_below_what_is_needed_is_said_whatever_is_left() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 2, 1, None));
    folder.write("trips.csv", &trips(&[900, 900, 900]));
    let engine = folder.engine();
    let spent = |engine: &Engine| engine.budget(&Who::Steward).unwrap()[0].spent.rho;
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    let (keys, pick) = (whole / 100.0, whole / 1000.0);
    let most = |rho: f64, goal: Goal| Goal {
        at_most: Some(format!("{rho:.12}").parse().unwrap()),
        ..goal
    };
    let top = "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 2";
    let largest = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 2";
    let asked = [
        // Below the keys, below the picks, and with nothing left to measure by.
        (top, most(keys / 2.0, relative(0.1))),
        (top, most(keys + pick, relative(0.1))),
        (top, most(keys + 2.0 * pick, relative(0.1))),
        (largest, most(keys + pick, relative(0.1))),
        (largest, most(keys + pick, price("0.01"))),
        (ZONES, most(keys, relative(0.1))),
        (ZONES, most(keys * 1.1, absolute(10.0))),
        ("SELECT COUNT(*) FROM trips", most(1e-4, absolute(10.0))),
        ("SELECT COUNT(*) FROM trips", most(1e-4, price("0.001"))),
    ];
    let refuse = |who: &str| {
        asked.map(|(sql, goal)| {
            let refused = refusal(&engine, who, sql, goal).unwrap_or_else(|| panic!("{sql}"));
            assert_eq!(refused.limit, Limit::AtMost, "{who}: {refused}");
            assert_eq!(refused.fits, goal.at_most, "{refused}");
            assert!(refused.asked > refused.fits, "{refused}");
            let told = refused.to_string();
            assert!(told.contains("costs at least rho=") && !told.contains("budget"), "{told}");
            refused
        })
    };
    let (steward, ana) = (refuse("steward"), refuse("ana"));
    assert_eq!(spent(&engine), 0.0);
    let before = ana.clone().map(|refused| (refused.asked, refused.reason()));
    assert_eq!(before, steward.map(|refused| (refused.asked, refused.reason())));
    // The riders' budget is gone, and ana hears the same.
    let all = format!("{:.12}", whole * 0.9999);
    answered(&engine, "steward", "SELECT SUM(fare) FROM trips", price(&all)).unwrap();
    assert_eq!(refuse("ana").map(|refused| (refused.asked, refused.reason())), before);
    // What she hears where it is the budget has no numbers.
    let refused = refusal(&engine, "ana", ZONES, absolute(30.0)).unwrap().to_string();
    assert!(!refused.chars().any(|c| c.is_ascii_digit()), "{refused}");
    // What would fit is taken.
    let mut tried = 0;
    for ((sql, goal), refused) in asked.into_iter().zip(&ana) {
        if let Some(at_most) = refused.at_most {
            let engine = folder.fresh();
            let goal = Goal { at_most: Some(at_most.to_string().parse().unwrap()), ..goal };
            assert!(answered(&engine, "ana", sql, goal).is_some(), "{sql}: {refused}");
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried}");
}

/// A price alone is no goal: nothing is met or missed.
#[test]
fn a_price_is_neither_met_nor_missed() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let cells = |answer: &Answer| -> Vec<Option<bool>> {
        answer.rows.iter().flat_map(|row| &row.values).map(|cell| cell.met).collect()
    };
    let answer = answered(&engine, "steward", ZONES, price("0.001")).unwrap();
    assert_eq!(cells(&answer), [None; 3]);
    assert!(answer.is_met());
    let within = goal(Accuracy::Relative(Tolerance::new(0.5).unwrap()));
    let answer = answered(&engine, "steward", ZONES, within).unwrap();
    assert!(cells(&answer).iter().all(Option::is_some));
}

/// Stops after a given number of looks.
struct Stopping {
    after: u32,
    seen: AtomicU32,
}

impl Observer for Stopping {
    fn look(&self, _: u32) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.seen.load(Ordering::Relaxed) >= self.after
    }
}

/// Somebody who stops a question has what was paid for: asked again it goes on from there, and
/// costs in all what it costs alone.
#[test]
fn a_question_that_is_stopped_loses_nothing() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    for after in [0, 1, 3] {
        let engine = folder.fresh();
        let stopping = Stopping { after, seen: AtomicU32::new(0) };
        let stopped = engine.ask(&question("steward", ZONES, relative(0.1)), &stopping);
        assert!(matches!(stopped, Err(EngineError::Stopped)), "{stopped:?}");
        assert_eq!(spent(&engine) > 0.0, after > 0);
        let answer = answered(&engine, "steward", ZONES, relative(0.1)).unwrap();
        assert!((spent(&engine) - answer.alone.rho).abs() < 1e-12, "{answer:?}");
    }
}

/// Whether somebody means it.
struct Doubting(bool);

impl Observer for Doubting {
    fn confirm_error(&self, error: f64) -> bool {
        assert!(error < 1.0);
        self.0
    }
}

/// A count within a part of a row is almost surely a part of the count, and is asked about before
/// anything is charged; an average within 0.05 is nothing unusual.
#[test]
fn a_count_within_less_than_one_is_asked_about() {
    let folder = Folder::new();
    folder.write(
        "eke.toml",
        &policy("add-remove", 1, 1, Some(3)).replace("epsilon = 4.0", "epsilon = 400.0"),
    );
    folder.write("trips.csv", &trips(&[900, 90, 0]));
    let engine = folder.engine();
    let count = question("steward", "SELECT COUNT(*) FROM trips", absolute(0.5));
    assert!(matches!(engine.ask(&count, &Doubting(false)), Err(EngineError::Declined)));
    assert!(spent(&engine) == 0.0);
    assert!(engine.ask(&count, &Doubting(true)).is_ok());
    // What was answered is shown again without a question.
    assert!(engine.ask(&count, &Doubting(false)).unwrap().free);
    for (sql, error) in [("SELECT AVG(fare) FROM trips", 0.9), ("SELECT COUNT(*) FROM trips", 3.0)]
    {
        assert!(engine.ask(&question("steward", sql, absolute(error)), &Doubting(false)).is_ok());
    }
}

/// Each column is taken as far as its own goal needs, and a group as far as the dearest of them.
#[test]
fn columns_have_goals_of_their_own() {
    let sql = "SELECT zone, COUNT(*) AS n, SUM(fare) AS total FROM trips GROUP BY zone";
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[9_000, 3_000, 800]));
    let with = |goal: Goal, own: &[(&str, Accuracy)]| {
        let own = own.iter().map(|(name, accuracy)| ((*name).to_owned(), *accuracy)).collect();
        let columns = ColumnGoals { own, all_named: false };
        Question { columns, ..question("steward", sql, goal) }
    };
    let cost = |n: f64, total: f64| {
        let engine = folder.fresh();
        let question = with(absolute(n), &[("total", Accuracy::Absolute(total))]);
        let answer = engine.ask(&question, &()).unwrap();
        assert!(answer.is_met(), "{answer:?}");
        let off = |place: usize| {
            let cells = answer.rows.iter().map(|row| &row.values[place]);
            // What was drawn below zero has an interval that starts there.
            cells.map(|cell| cell.high.unwrap() - cell.value.unwrap().max(0.0)).fold(0.0, f64::max)
        };
        assert!(off(0) <= n * (1.0 + 1e-9) && off(1) <= total * (1.0 + 1e-9), "{answer:?}");
        assert!(engine.ask(&question, &()).unwrap().free);
        answer.cost.rho
    };
    let (by_n, by_total) = (cost(50.0, 1e6), cost(1e6, 2_000.0));
    assert!(by_n > 0.0 && by_total > 0.0 && by_n != by_total);
    assert_eq!(cost(50.0, 2_000.0), by_n.max(by_total));

    // A relative goal beside an absolute one; in any order of names it is the same question.
    let engine = folder.fresh();
    let tenth = Accuracy::Relative(Tolerance::new(0.1).unwrap());
    let close = Accuracy::Absolute(2_000.0);
    let (n, total) = (("n", tenth), ("total", close));
    let answer = engine.ask(&with(relative(0.9), &[n, total]), &()).unwrap();
    assert!(answer.is_met(), "{answer:?}");
    let again = engine.ask(&with(relative(0.9), &[total, n]), &()).unwrap();
    assert!(again.free && again.rows == answer.rows);
    let other = engine.ask(&with(relative(0.9), &[("n", tenth)]), &()).unwrap();
    assert!(other.is_met());

    // Nothing is charged for goals of columns that are not there.
    let before = spent(&engine);
    for own in [("zone", close), ("fare", close), ("n", Accuracy::Price("1e-3".parse().unwrap()))] {
        let error = engine.ask(&with(relative(0.9), &[own]), &()).unwrap_err();
        assert!(matches!(error, EngineError::Goal(_)), "{error}");
    }
    assert!(spent(&engine) == before);
}
