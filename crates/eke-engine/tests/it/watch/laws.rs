//! How often verdicts are right, and what cannot be watched.
//!
//! Statistical tests (n; false-alarm rate; critical value; control):
//!
//! - `verdicts_are_as_often_right_as_was_asked_for` (600 steps a law; 1e-7; 5.4 deviations; noise
//!   10 times as wide)

use eke_engine::watch::{Closeness, NoiseLaw};
use eke_engine::{WatchQuestion, Who};
use eke_noise::{Confidence, Tolerance};

use super::{COUNT, close, hits, policy, prices, rides, run, watch};
use crate::trips::{Folder, price, question};

#[test]
fn verdicts_are_as_often_right_as_was_asked_for() {
    const N: usize = 600;
    let folder = Folder::new();
    folder.write("eke.toml", &policy("390.0", "100.0"));
    // All answers are 200 off the line, on one side or the other.
    folder.write("rides.csv", &rides(&[800, 1200]));
    for noise in [NoiseLaw::Gaussian, NoiseLaw::Laplace] {
        let mut question = WatchQuestion {
            line: 1000.0,
            confidence: Confidence::new(0.9).unwrap(),
            range: None,
            noise,
            ..watch("steward", 0..2)
        };
        question.steps.lines = question.steps.lines.iter().cycle().take(N).cloned().collect();
        let off = |distance: f64| {
            let closeness = Closeness::Absolute(distance);
            // Runs have lines of their own, so their first steps are independent. How many runs
            // there are is up to the noise: a line that lies far up is a long run.
            let mut right: Vec<bool> = Vec::new();
            while right.len() < 150 {
                let question = WatchQuestion { closeness, ..question.clone() };
                let (verdicts, _) = run(&folder.fresh(), &question);
                let first = verdicts.iter().filter(|verdict| verdict.place == 1);
                right.extend(first.map(|verdict| verdict.hit == (verdict.step % 2 == 0)));
            }
            let count = |of: usize| f64::from(u32::try_from(of).unwrap());
            let wrong = count(right.iter().filter(|right| !**right).count());
            let count = count(right.len());
            (wrong - 0.1 * count) / (0.09 * count).sqrt()
        };
        let found = off(200.0);
        assert!(found.abs() < 5.4, "{noise:?}: {found} deviations off");
        let wide = off(2000.0);
        assert!(wide.abs() > 5.4, "{noise:?}: the control passes with {wide}");
    }
}

/// Answers that must get the right verdict at a distance are not clamped to less than that.
#[test]
fn a_clamp_leaves_room_for_what_was_asked_for() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[5, 5]));
    let engine = folder.engine();
    for (confidence, wide) in [(0.95, 3.5 / 1.644_853_626_951_472_3), (0.999_999, 1.0)] {
        let question = WatchQuestion {
            line: 1000.0,
            confidence: Confidence::new(confidence).unwrap(),
            range: None,
            ..watch("ana", 0..2)
        };
        let [Some(from), Some(to)] = engine.explain_watch(&question).unwrap().range else {
            panic!()
        };
        for end in [1000.0 - from, to - 1000.0] {
            assert!((end - 40.0 * wide).abs() < 0.01, "{confidence}: {from} {to}");
        }
    }
}

/// Wherever one unit may lower some answers and raise others, prices are the general ones.
#[test]
fn laws_follow_from_the_plan() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[5, 5]));
    let explain = |question: &WatchQuestion| folder.fresh().explain_watch(question).unwrap();
    let watch = |who: &str, days| WatchQuestion { range: None, ..watch(who, days) };
    let count = explain(&WatchQuestion { line: 30.0, ..watch("ana", 0..2) });
    assert!(count.monotone && count.sensitivity == 1.0 && count.range[0] == Some(0.0), "{count:?}");
    let laplace = WatchQuestion { noise: NoiseLaw::Laplace, ..watch("ana", 0..2) };
    assert_eq!(explain(&laplace).range, [Some(0.0), None]);
    let sum = |sql: &str| WatchQuestion { sql: sql.into(), ..watch("ana", 0..2) };
    let fares = explain(&sum("SELECT SUM(fare) FROM rides WHERE day = $1"));
    assert!(!fares.monotone && fares.sensitivity == 50.0, "{fares:?}");
    let paid = explain(&sum("SELECT SUM(GREATEST(fare, 0)) FROM rides WHERE day = $1"));
    assert!(paid.monotone && paid.sensitivity == 50.0, "{paid:?}");
    folder.write("eke.toml", &policy("200.0", "100.0").replace("add-remove", "replace"));
    let count = explain(&watch("ana", 0..2));
    assert!(!count.monotone && count.sensitivity == 1.0, "{count:?}");
    let fares = explain(&sum("SELECT SUM(fare) FROM rides WHERE day = $1"));
    assert!(!fares.monotone && fares.sensitivity == 60.0, "{fares:?}");
    // Different values come and go with a unit, one way each, however it is replaced.
    let values = sum("SELECT COUNT(DISTINCT fare) FROM rides WHERE day = $1");
    for (adjacency, monotone) in [("add-remove", true), ("replace", false)] {
        let policy = policy("200.0", "100.0").replace("add-remove", adjacency);
        folder.write("eke.toml", &policy.replace("max_rows = 1", "max_rows = 1\nmax_values = 7"));
        let plan = explain(&values);
        assert!(plan.monotone == monotone && plan.sensitivity == 7.0, "{plan:?}");
    }
    folder.write("eke.toml", &policy("200.0", "100.0"));
    // Narrower than what was asked for.
    let narrow = WatchQuestion { range: Some((-7.0, 60.0)), ..watch("ana", 0..2) };
    assert_eq!(explain(&narrow).range, [Some(0.0), Some(60.0)]);
}

/// Fares go round from 0 to 39.
#[test]
fn different_values_can_be_watched() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[5, 200, 3]));
    let question = WatchQuestion {
        sql: "SELECT COUNT(DISTINCT fare) FROM rides WHERE day = $1".into(),
        line: 20.0,
        closeness: Closeness::Absolute(14.0),
        range: Some((0.0, 40.0)),
        ..watch("steward", 0..3)
    };
    let (verdicts, _) = run(&folder.engine(), &question);
    assert_eq!(hits(&verdicts), [false, true, false]);
}

#[test]
fn what_cannot_be_watched_is_refused_before_anything_is_spent() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[5, 5]));
    let engine = folder.engine();
    let told = |question: &WatchQuestion| {
        let mut shown = 0;
        let told = engine.watch(question, &(), &mut |_| {
            shown += 1;
            true
        });
        assert_eq!(shown, 0);
        told.unwrap_err().to_string()
    };
    for (sql, sentence) in [
        (
            "SELECT AVG(fare) FROM rides WHERE day = $1",
            "an AVG is two sums, and only one can be held against a line: watch the SUM or the COUNT",
        ),
        (
            "SELECT COUNT(*), SUM(fare) FROM rides WHERE day = $1",
            "a watch has one answer a step: select one COUNT or SUM",
        ),
        (
            "SELECT day, COUNT(*) FROM rides WHERE fare > $1 GROUP BY day",
            "a watch has one answer a step: leave GROUP BY out, and give its values as parameters",
        ),
        (
            "SELECT COUNT(*) FROM rides WHERE fare > $1 LIMIT 1",
            "a watch has one answer a step: leave HAVING, ORDER BY, LIMIT and OFFSET out",
        ),
        (
            "SELECT COUNT(*) FROM rides",
            "There are values for 1 parameters, and the question does not use `$1`: use it in WHERE, or give fewer values",
        ),
        (
            "SELECT COUNT(*) FROM rides WHERE day = $1 AND fare > $2",
            "The question uses `$2`, and there is 1 value given: give a value for each parameter",
        ),
    ] {
        assert_eq!(told(&WatchQuestion { sql: sql.into(), ..watch("ana", 0..2) }), sentence);
    }
    let mut words = watch("ana", 0..3);
    words.steps.lines[2][0] = "monday".into();
    assert_eq!(
        told(&words),
        "step 3: `$1` is 'monday' and meets int: give values that can be read as int"
    );
    let zero = WatchQuestion {
        line: 0.0,
        closeness: Closeness::Relative(Tolerance::new(0.05).unwrap()),
        ..watch("ana", 0..2)
    };
    assert!(told(&zero).contains("say how far off it"));
    let far = WatchQuestion { line: -1e6, range: None, ..watch("ana", 0..2) };
    assert!(told(&far).contains("no answer can come near"));
    let backwards = WatchQuestion { range: Some((9.0, 3.0)), ..watch("ana", 0..2) };
    assert!(told(&backwards).contains("from a smaller to a larger number"));
    assert!(told(&WatchQuestion { line: f64::NAN, ..watch("ana", 0..2) }).contains("out of range"));
    assert!(told(&watch("nobody", 0..2)).contains("there is no analyst `nobody`"));
    let half = WatchQuestion { confidence: Confidence::new(0.5).unwrap(), ..watch("ana", 0..2) };
    assert!(told(&half).contains("above 50%"));
    assert!(engine.history(&Who::Steward).unwrap().is_empty());
    // A tier that may not see fine points does not see fine verdicts either.
    folder.write(
        "eke.toml",
        &policy("200.0", "100.0")
            .replace("[tier.partner]\n", "[tier.partner]\nfinest = { rho = 1e-9 }\n"),
    );
    let told = folder.fresh().watch(&watch("bob", 0..2), &(), &mut |_| true).unwrap_err();
    assert!(told.to_string().contains("your tier may not see verdicts that are this sure"));
    // Nor a run that tells more in the end than its first step does.
    let prices = prices(&engine, &watch("bob", 0..2));
    let [one, many] = [1, 50].map(|steps| {
        let worst = prices.worst(steps).epsilon;
        worst * (worst / 2.0).tanh()
    });
    assert!(many > 1.2 * one, "{one} {many}");
    let finest = format!("[tier.partner]\nfinest = {{ rho = {:e} }}\n", 1.1 * one);
    folder.write("eke.toml", &policy("200.0", "100.0").replace("[tier.partner]\n", &finest));
    let engine = folder.fresh();
    engine.explain_watch(&watch("bob", 0..1)).unwrap();
    let told = engine.watch(&watch("bob", 0..50), &(), &mut |_| true).unwrap_err();
    assert!(told.to_string().contains("may not see verdicts that are this sure"), "{told}");
}

#[test]
fn a_watch_shows_in_the_history_at_what_it_came_to() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0, 100, 0, 0]));
    let engine = folder.engine();
    engine.ask(&question("ana", "SELECT COUNT(*) FROM rides", price("0.01")), &()).unwrap();
    let prices = prices(&engine, &watch("ana", 0..4));
    run(&engine, &watch("ana", 0..4));
    run(&engine, &watch("bob", 0..4));
    let all = prices.halting_at(2).epsilon + prices.without_halt(2).epsilon;
    for (who, asked) in
        [(Who::Steward, 2), (Who::Analyst("ana".into()), 2), (Who::Analyst("bob".into()), 1)]
    {
        let history = engine.history(&who).unwrap();
        assert_eq!(history.len(), asked, "{history:?}");
        let watched = history.last().unwrap();
        assert_eq!((watched.steps, &*watched.question), (Some(4), COUNT));
        assert!(close(watched.epsilon, all) && watched.rho == 0.0, "{watched:?}");
        assert!(watched.answer.is_none());
    }
    assert_eq!(engine.history(&Who::Steward).unwrap()[0].epsilon, 0.0);
}

/// Turns are taken in a currency that the unit has.
#[test]
fn a_unit_with_a_pure_budget_alone_can_be_watched() {
    let folder = Folder::new();
    let pure_alone = r#"
[unit.rider]
adjacency = "add-remove"
budget = { epsilon = 400.0 }

[dataset.rides]
source = "rides.csv"
unit = "rider"
unit_column = "rider"
max_groups = 1
max_rows = 1

[dataset.rides.columns]
day = { type = "int" }
"#;
    folder.write("eke.toml", pure_alone);
    folder.write("rides.csv", &rides(&[0, 100, 0, 0]));
    let (verdicts, watched) = run(&folder.engine(), &watch("steward", 0..4));
    assert_eq!(hits(&verdicts), [false, true, false, false]);
    assert!(watched.cost.get() > 0.0);
    assert!(run(&folder.engine(), &watch("steward", 0..4)).1.free);
}
