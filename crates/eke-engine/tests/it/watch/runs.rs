//! What runs cost, and whom.

use eke_budget::{Amount, Epsilon};
use eke_engine::error::{NotAllowed, WayToPay};
use eke_engine::report::Owner;
use eke_engine::watch::{Charging, Closeness, NoiseLaw, Paid, WatchEnd};
use eke_engine::{EngineError, WatchQuestion};

use super::{
    COUNT, analyst, circle, close, hits, policy, prices, pure, rho, rides, run, steps, watch,
};
use crate::trips::{self, Folder};

#[test]
fn runs_cost_what_they_came_to() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0, 0, 100, 0, 100, 100, 0, 0, 0]));
    for noise in [NoiseLaw::Gaussian, NoiseLaw::Laplace] {
        let engine = folder.fresh();
        let question = WatchQuestion { noise, ..watch("ana", 0..9) };
        let prices = prices(&engine, &question);
        let (verdicts, watched) = run(&engine, &question);
        let expected = [false, false, true, false, true, true, false, false, false];
        assert_eq!(hits(&verdicts), expected);
        assert_eq!((watched.steps, watched.hits, &watched.ended), (9, 3, &WatchEnd::Over));
        // Runs of 3, 2 and 1 steps that ended with a hit, and one of 3 that did not.
        let halted = |t| prices.halting_at(t).epsilon;
        let all = halted(3) + halted(2) + halted(1) + prices.without_halt(3).epsilon;
        for of in [Owner::Everyone, analyst("ana")] {
            let (spent, reserved) = pure(&engine, &of);
            assert!(close(spent, all) && reserved == 0.0, "{of:?}: {spent} {all} {reserved}");
        }
        assert!(close(watched.cost.get(), all), "{watched:?}");
        assert!(close(watched.left.get(), 200.0 - all), "{watched:?}");
        // The price so far is that of stopping there.
        let so_far = verdicts.iter().map(|verdict| verdict.cost.get()).collect::<Vec<_>>();
        assert!(close(so_far[1], prices.without_halt(2).epsilon), "{so_far:?}");
        assert!(close(so_far[2], halted(3)) && close(so_far[8], all), "{so_far:?}");
        assert_eq!(
            verdicts.iter().map(|v| v.place).collect::<Vec<_>>(),
            [1, 2, 3, 1, 2, 1, 1, 2, 3]
        );
        assert_eq!(pure(&engine, &analyst("bob")), (0.0, 0.0));
    }
}

#[test]
fn the_same_watch_has_the_same_verdicts_for_nothing() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[60; 30]));
    let engine = folder.engine();
    // As near to the line as makes verdicts a matter of luck.
    let near = |who: &str, days| WatchQuestion {
        line: 60.0,
        closeness: Closeness::Absolute(200.0),
        noise: NoiseLaw::Laplace,
        ..watch(who, days)
    };
    let (first, watched) = run(&engine, &near("ana", 0..20));
    // About once in a hundred runs the line's own noise makes all verdicts the same; nothing here
    // needs more.
    assert!(!watched.free);
    let before = pure(&engine, &Owner::Everyone);
    let turned = "select count(1) from rides r where $1 = r.day";
    for sql in [COUNT, turned] {
        let again = WatchQuestion { sql: sql.to_owned(), ..near("ana", 0..20) };
        let (verdicts, watched) = run(&folder.engine(), &again);
        assert!(watched.free && hits(&verdicts) == hits(&first), "{watched:?}");
        assert_eq!(pure(&engine, &Owner::Everyone), before);
    }
    // With days added it goes on, and what was shown stays.
    let (more, watched) = run(&engine, &near("ana", 0..30));
    assert_eq!(hits(&more)[..20], hits(&first));
    assert!(!watched.free && pure(&engine, &Owner::Everyone).0 > before.0);
    assert_eq!(more[20].place, 1, "a line does not outlive its program");
    // From a day on that is another than it was it is another watch, which shows nothing of the one
    // that there was.
    let mut changed = near("ana", 0..30);
    changed.steps.lines[7][0] = "77".into();
    let (other, watched) = run(&engine, &changed);
    assert_eq!(hits(&other)[..7], hits(&more)[..7]);
    assert!(!watched.free && other[7].place == 1, "{watched:?}");
    let (again, watched) = run(&engine, &near("ana", 0..30));
    assert!(watched.free && hits(&again) == hits(&more));
    // Another beginning is another watch.
    let (_, other) = run(&engine, &near("ana", 1..5));
    assert!(!other.free);
}

#[test]
fn a_viewer_of_stored_steps_pays_what_they_came_to() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0, 0, 100, 0, 100, 0, 0]));
    for noise in [NoiseLaw::Gaussian, NoiseLaw::Laplace] {
        let engine = folder.fresh();
        let question = |who: &str| WatchQuestion { noise, ..watch(who, 0..7) };
        let prices = prices(&engine, &question("ana"));
        let (first, _) = run(&engine, &question("ana"));
        let unit = pure(&engine, &Owner::Everyone);
        let (seen, watched) = run(&engine, &question("bob"));
        assert_eq!(hits(&seen), hits(&first));
        let all = prices.halting_at(3).epsilon
            + prices.halting_at(2).epsilon
            + prices.without_halt(2).epsilon;
        for of in [analyst("bob"), circle()] {
            let (spent, reserved) = pure(&engine, &of);
            assert!(close(spent, all) && reserved == 0.0, "{of:?}: {spent} {all} {reserved}");
        }
        assert!(close(watched.cost.get(), all) && !watched.free);
        // The riders pay nothing again, and neither does anybody who looks again.
        assert_eq!(pure(&engine, &Owner::Everyone), unit);
        let (_, again) = run(&engine, &question("bob"));
        assert!(again.free && close(pure(&engine, &analyst("bob")).0, all));
        // The steward's account is the riders', which has paid.
        assert!(run(&engine, &question("steward")).1.free);
    }
}

/// Bob sees some steps of a run and stops. Eve goes on, and the circle pays for the run once.
#[test]
fn members_of_a_circle_pay_for_a_run_together() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0, 0, 0, 0, 0, 100, 0]));
    for (noise, until) in [NoiseLaw::Gaussian, NoiseLaw::Laplace]
        .into_iter()
        .flat_map(|noise| (1..7).map(move |until| (noise, until)))
    {
        let engine = folder.fresh();
        let question = |who: &str| WatchQuestion { noise, ..watch(who, 0..7) };
        let prices = prices(&engine, &question("ana"));
        run(&engine, &question("ana"));
        let bob = engine.watch(&question("bob"), &(), &mut |verdict| verdict.step < until).unwrap();
        assert_eq!((bob.steps, &bob.ended), (until, &WatchEnd::Enough));
        let seen = if until < 6 { prices.without_halt(until) } else { prices.halting_at(6) };
        assert!(close(pure(&engine, &circle()).0, seen.epsilon), "{until}");
        run(&engine, &question("eve"));
        let all = prices.halting_at(6).epsilon + prices.without_halt(1).epsilon;
        for of in [circle(), analyst("eve")] {
            let (spent, reserved) = pure(&engine, &of);
            assert!(close(spent, all) && reserved == 0.0, "{until} {of:?}: {spent} {all}");
        }
        run(&engine, &question("bob"));
        for of in [circle(), analyst("bob")] {
            let (spent, reserved) = pure(&engine, &of);
            assert!(close(spent, all) && reserved == 0.0, "{until} {of:?}: {spent} {all}");
        }
    }
}

/// Steps are shown as long as their worst case fits, and what was shown stays.
#[test]
fn a_watch_stops_when_the_purse_is_gone() {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("200.0", "100.0"));
    folder.write("rides.csv", &rides(&[0; 40]));
    let engine = folder.engine();
    let question = watch("ana", 0..40);
    let prices = prices(&engine, &question);
    // Enough for twelve quiet steps.
    let enough: Amount<Epsilon> = Amount::ceil(prices.worst(12).epsilon * (1.0 + 1e-9)).unwrap();
    drop(engine);
    folder.write("eke.toml", &policy(&enough.to_string(), "100.0"));
    let engine = folder.fresh();
    assert_eq!(engine.explain_watch(&question).unwrap().fits, Some(12));
    let (verdicts, watched) = run(&engine, &question);
    assert_eq!(verdicts.len(), 12);
    let WatchEnd::Refused(why) = &watched.ended else { panic!("{watched:?}") };
    let why = why.to_string();
    assert!(why.starts_with("the budget does not allow the next step"), "{why}");
    // A run without a hit came to less than its worst case, so a few more steps fit another time.
    let spent = pure(&engine, &Owner::Everyone);
    assert!(close(spent.0, prices.without_halt(12).epsilon) && spent.1 == 0.0, "{spent:?}");
    let (again, watched) = run(&engine, &question);
    assert_eq!(hits(&again)[..12], hits(&verdicts));
    assert!(matches!(watched.ended, WatchEnd::Refused(_)));
    let told = engine.watch(&watch("steward", 0..40), &(), &mut |_| true).unwrap();
    let WatchEnd::Refused(why) = &told.ended else { panic!("{told:?}") };
    let why = why.to_string();
    assert!(why.contains("the budget of `rider` has epsilon="), "{why}");
}

/// Whether a stored step fits is decided by its worst case: a hit and a quiet step are refused
/// alike.
#[test]
fn a_stored_verdict_does_not_decide_whether_it_may_be_seen() {
    let folder = Folder::new();
    for last in [0, 100] {
        folder.write("eke.toml", &policy("200.0", "100.0"));
        folder.write("rides.csv", &rides(&[0, 0, last]));
        let engine = folder.fresh();
        let prices = prices(&engine, &watch("ana", 0..3));
        let worst = prices.worst(3).epsilon;
        drop(engine);
        for (purse, shown) in [(worst * (1.0 + 1e-9), 3), (worst * (1.0 - 1e-9), 2)] {
            let purse: Amount<Epsilon> = Amount::ceil(purse).unwrap();
            folder.write("eke.toml", &policy("200.0", &purse.to_string()));
            let engine = folder.fresh();
            run(&engine, &watch("ana", 0..3));
            let (verdicts, watched) = run(&engine, &watch("bob", 0..3));
            assert_eq!(verdicts.len(), shown, "{last}");
            assert_eq!(matches!(watched.ended, WatchEnd::Refused(_)), shown == 2);
            if let WatchEnd::Refused(why) = watched.ended {
                let why = why.to_string();
                assert!(why.contains("your budget has epsilon="), "{why}");
            }
            let (spent, reserved) = pure(&engine, &circle());
            let seen = match (shown, last) {
                (2, _) => prices.without_halt(2),
                (_, 0) => prices.without_halt(3),
                _ => prices.halting_at(3),
            };
            assert!(close(spent, seen.epsilon) && reserved == 0.0, "{spent}");
        }
    }
}

#[test]
fn runs_paid_for_before_they_start_cost_their_worst_case() {
    let folder = Folder::new();
    let without =
        policy("200.0", "100.0").replace("pure = 200.0\n", "").replace(", pure = 100.0", "");
    folder.write("eke.toml", &without);
    folder.write("rides.csv", &rides(&[0, 100, 0, 0, 0]));
    let engine = folder.engine();
    let told = engine.watch(&watch("ana", 0..5), &(), &mut |_| true).unwrap_err();
    let ways = [WayToPay::AskSteward, WayToPay::BeforeEachRun { distance: None }];
    assert_eq!(ways_to_pay(told), ways);
    let question = |who: &str| WatchQuestion { charging: Charging::ExAnte, ..watch(who, 0..5) };
    let prices = prices(&engine, &question("ana"));
    let (first, watched) = run(&engine, &question("ana"));
    assert_eq!(hits(&first), [false, true, false, false, false]);
    // A run of up to five steps, and one of up to three.
    let zcdp = |steps| {
        let worst: f64 = prices.worst(steps).epsilon;
        worst * (worst / 2.0).tanh()
    };
    let all = zcdp(5) + zcdp(3);
    assert!((rho(&engine, &Owner::Everyone) / all - 1.0).abs() < 1e-9, "{all}");
    assert!(matches!(watched.cost, Paid::Rho(cost) if (cost / all - 1.0).abs() < 1e-9));
    let unit = rho(&engine, &Owner::Everyone);
    let (seen, watched) = run(&engine, &question("bob"));
    assert!(hits(&seen) == hits(&first) && (watched.cost.get() / all - 1.0).abs() < 1e-9);
    assert!((rho(&engine, &circle()) / all - 1.0).abs() < 1e-9);
    assert_eq!(rho(&engine, &Owner::Everyone), unit);
    assert!(run(&engine, &question("bob")).1.free && run(&engine, &question("ana")).1.free);
    assert_eq!(rho(&engine, &circle()), rho(&engine, &analyst("bob")));
    // A run that was bought for more steps than a tier may see is not shown to it, not even its
    // first.
    let finest = format!("[tier.partner]\nfinest = {{ rho = {:e} }}\n", 1.1 * zcdp(1));
    folder.write("eke.toml", &without.replace("[tier.partner]\n", &finest));
    let one = WatchQuestion { steps: steps(0..1), ..question("eve") };
    let told = folder.engine().watch(&one, &(), &mut |_| true).unwrap_err();
    assert!(told.to_string().contains("may not see verdicts that are this sure"), "{told}");
    assert_eq!(rho(&engine, &analyst("eve")), 0.0);
}

/// What would work instead, where an account has no pure budget.
fn ways_to_pay(error: EngineError) -> Vec<WayToPay> {
    match error {
        EngineError::Beyond(NotAllowed::NoPure { ways, .. }) => ways,
        other => panic!("{other}"),
    }
}

#[test]
fn what_a_watch_is_told_to_do_instead_works() {
    let without = policy("200.0", "100.0").replace("pure = 200.0\n", "");
    // Where half the epsilon pays for it and where it does not, and where the account is open.
    for (distance, open) in [(40.0, false), (0.1, false), (0.01, true)] {
        let folder = Folder::new();
        folder.write("eke.toml", &without);
        folder.write("rides.csv", &rides(&[0, 100, 0, 0, 0]));
        let question = WatchQuestion {
            noise: NoiseLaw::Laplace,
            range: None,
            closeness: Closeness::Absolute(distance),
            ..watch("steward", 0..5)
        };
        let engine = folder.engine();
        if open {
            engine
                .ask(
                    &trips::question(
                        "steward",
                        "SELECT COUNT(*) FROM rides",
                        trips::price("0.001"),
                    ),
                    &(),
                )
                .unwrap();
        }
        let ways = ways_to_pay(engine.watch(&question, &(), &mut |_| true).unwrap_err());
        drop(engine);
        let at = |distance: Option<f64>| distance.map_or(question.closeness, Closeness::Absolute);
        // Paid for before it starts, with the policy as it is.
        let Some(&WayToPay::BeforeEachRun { distance }) = ways.last() else { panic!("{ways:?}") };
        let closeness = at(distance);
        let ante = WatchQuestion { charging: Charging::ExAnte, closeness, ..question.clone() };
        let engine = folder.engine();
        let plan = engine.explain_watch(&ante).unwrap();
        assert!(plan.certain >= 1 && plan.would_fit.is_none(), "{ways:?}: {plan:?}");
        if open {
            assert!(ways.len() == 1 && run(&engine, &ante).1.steps > 0, "{ways:?}");
            continue;
        }
        drop(engine);
        // Or from a pure part.
        let (pure, distance) = match ways[0] {
            WayToPay::PureBudget { pure, .. } => (pure, None),
            WayToPay::PureBudgetWithin { pure, distance, .. } => (pure, Some(distance)),
            _ => panic!("{ways:?}"),
        };
        let with = format!("[unit.rider]\npure = {pure}");
        folder.write("eke.toml", &without.replacen("[unit.rider]", &with, 1));
        let post = WatchQuestion { closeness: at(distance), ..question };
        let engine = folder.engine();
        let plan = engine.explain_watch(&post).unwrap();
        assert!(plan.fits.is_none_or(|fits| fits >= 5) && plan.would_fit.is_none(), "{plan:?}");
        assert!(run(&engine, &post).1.steps > 0, "{ways:?}");
    }
}
