//! What a steward can rely on: whose rows are whose, what circles know, what budgets show, and
//! which ledger it is.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use eke_budget::convert::{Curve as _, Method};
use eke_budget::{Amount, Charge, Delta, Rho};
use eke_engine::registry::{Identity, Registry};
use eke_engine::report::{Outcome, Owner, Standing};
use eke_engine::{Access, Accuracy, Engine, EngineError, ErrorKind, Who};
use eke_ledger::{Address, Ledger, Request, Reserve, Spend, Stamp};

use crate::trips::{Folder, goal, policy, price, question, relative, trips};

const ALL: &str = "SELECT COUNT(*) FROM trips";
const FARES: &str = "SELECT SUM(fare) FROM trips";

fn city() -> Folder {
    let folder = Folder::new();
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    folder.write("trips.csv", &trips(&[200, 100, 50]));
    folder
}

fn told(error: &EngineError) -> String {
    error.to_string()
}

fn ask(engine: &Engine, who: &str, sql: &str, rho: &str) -> Result<f64, EngineError> {
    Ok(engine.ask(&question(who, sql, price(rho)), &())?.cost.rho)
}

fn standing(engine: &Engine, of: &Owner) -> Standing {
    let standings = engine.budget(&Who::Steward).unwrap();
    standings.into_iter().find(|standing| standing.owner == *of).unwrap()
}

fn circle(engine: &Engine) -> Standing {
    standing(engine, &Owner::Circle("partners".into()))
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-12 * one.abs().max(other.abs())
}

/// The city's policy with another name for the unit, the dataset and the file.
fn renamed(unit: &str, dataset: &str, file: &str) -> String {
    policy("add-remove", 1, 1, Some(3))
        .replace("[unit.rider]", &format!("[unit.{unit}]"))
        .replace("unit = \"rider\"", &format!("unit = \"{unit}\""))
        .replace("dataset.trips", &format!("dataset.{dataset}"))
        .replace("trips.csv", file)
}

#[test]
fn another_name_for_a_unit_is_not_another_budget() {
    let folder = city();
    ask(&folder.engine(), "ana", ALL, "0.01").unwrap();
    fs::copy(folder.path().join("trips.csv"), folder.path().join("copy.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("trips.csv", folder.path().join("link.csv")).unwrap();
    folder.write("other.csv", &trips(&[20, 10, 5]));
    let others = [
        ("trips", "trips.csv"),
        ("trips", "other.csv"),
        ("rides", "trips.csv"),
        ("rides", "copy.csv"),
    ];
    let links = if cfg!(unix) { &[("rides", "link.csv")][..] } else { &[] };
    for (dataset, file) in others.iter().chain(links) {
        folder.write("eke.toml", &renamed("person", dataset, file));
        let engine = folder.engine();
        let sql = ALL.replace("trips", dataset);
        let error = told(&ask(&engine, "steward", &sql, "0.01").unwrap_err());
        assert!(error.contains("unit `rider`") && error.contains("unit `person`"), "{error}");
        assert!(!error.contains("give the dataset another name"), "{error}");
        // An analyst is not told what files hold, and that asking again does not help.
        let error = ask(&engine, "ana", &sql, "0.01").unwrap_err();
        assert!(matches!(error, EngineError::NotOpen), "{error}");
        assert!(engine.snapshot(dataset).is_err());
        assert_eq!(engine.budget(&Who::Steward).unwrap()[0].spent.rho, 0.0);
    }
    // Another column is another unit: the steward hears that their budgets add up.
    let by_zone = renamed("zone", "rides", "trips.csv").replace("\"rider\"", "\"zone\"");
    folder
        .write("eke.toml", &by_zone.replace("zone = { type = \"int\" , values = [0, 1, 2] }", ""));
    let engine = folder.engine();
    ask(&engine, "steward", "SELECT COUNT(*) FROM rides", "0.01").unwrap();
    let notices = engine.notices().unwrap().join("\n");
    assert!(notices.contains("`trips` of unit `rider` and `rides` of unit `zone`"), "{notices}");
    assert!(notices.contains("accounts that the policy does not name"), "{notices}");
    drop(engine);
    // As it was, it goes on.
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    assert!(ask(&folder.engine(), "ana", ALL, "0.02").unwrap() > 0.0);
}

/// Whatever it is that the steward has to change, an analyst hears one sentence, for asking and for
/// explaining, and the steward what it is.
#[test]
fn what_only_the_steward_can_change_is_one_sentence_for_analysts() {
    const SAID: &str = "this dataset is not open for questions until the steward has changed something: nothing was charged, and asking again does not help; ask the steward";
    let folder = city();
    let usual = policy("add-remove", 1, 1, Some(3));
    ask(&folder.engine(), "ana", ALL, "0.01").unwrap();
    folder.write("other.csv", &trips(&[20, 10, 5]));
    for (policy, steward) in [
        (renamed("person", "trips", "trips.csv"), "opened for `trips` of unit `rider`"),
        (usual.replace("trips.csv", "other.csv"), "opened for `trips` in `trips.csv`"),
        (usual.replace("trips.csv", "gone.csv"), "there is no file `gone.csv`"),
        (usual.replace("epsilon = 4.0", "epsilon = 3.0"), "was opened with another budget"),
        (usual.replace("= \"rider\"\nmax", "= \"ridder\"\nmax"), "no unit column `ridder`"),
    ] {
        folder.write("eke.toml", &policy);
        let engine = folder.engine();
        let error = ask(&engine, "ana", ALL, "0.02").unwrap_err();
        assert!(matches!(error, EngineError::NotOpen), "{steward}: {error}");
        assert_eq!((told(&error).as_str(), error.kind()), (SAID, ErrorKind::NotOpen));
        let error = told(&ask(&engine, "steward", ALL, "0.02").unwrap_err());
        assert!(error.contains(steward), "{error}");
        assert!(!SAID.contains(steward));
    }
    // An analyst hears what is about the analyst.
    folder.write("eke.toml", &usual);
    let error = told(&ask(&folder.engine(), "ann", ALL, "0.02").unwrap_err());
    assert!(error.starts_with("there is no analyst `ann`"), "{error}");
}

fn packed(rows: &[u8], level: u32) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    packed.write_all(rows).unwrap();
    packed.finish().unwrap()
}

#[test]
fn rows_that_were_packed_or_unpacked_are_the_same_rows() {
    let rows = trips(&[200, 100, 50]);
    let files = [
        ("plain.csv", rows.clone().into_bytes()),
        ("packed.csv.gz", packed(rows.as_bytes(), 9)),
        ("packed_again.csv.gz", packed(rows.as_bytes(), 1)),
    ];
    for (first, _) in &files {
        for old in [false, true] {
            let folder = Folder::new();
            for (name, bytes) in &files {
                fs::write(folder.path().join(name), bytes).unwrap();
            }
            folder.write("eke.toml", &renamed("rider", "trips", first));
            ask(&folder.engine(), "ana", ALL, "0.01").unwrap();
            if old {
                forget_what_was_unpacked(&folder, first);
            }
            for (second, _) in files.iter().filter(|(name, _)| name != first) {
                folder.write("eke.toml", &renamed("person", "rides", second));
                let sql = ALL.replace("trips", "rides");
                let error = told(&ask(&folder.engine(), "steward", &sql, "0.01").unwrap_err());
                assert!(error.contains("unit `rider`"), "{first}, {second}: {error}");
            }
        }
    }
}

/// Leaves in the ledger what earlier versions pinned of a file: a digest of its bytes as they are.
fn forget_what_was_unpacked(folder: &Folder, file: &str) {
    let mut digest = blake3::Hasher::new_derive_key("eke 2026 content of a dataset's file");
    digest.update(&fs::read(folder.path().join(file)).unwrap());
    let ledger = Ledger::open(&Address::File(folder.path().join("eke.ledger"))).unwrap();
    let (version, bytes) = ledger.sheet("eke/datasets").wait().unwrap().unwrap();
    let mut pins: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    pins["pins"][0]["contents"] = serde_json::json!([digest.finalize().to_hex().to_string()]);
    let bytes = serde_json::to_vec(&pins).unwrap();
    ledger.file_sheet("eke/datasets", version, bytes, Stamp::now("test")).wait().unwrap();
}

#[test]
fn a_file_under_two_units_of_one_policy_is_said_and_stays_so() {
    let folder = city();
    let two = "
[unit.month]\nadjacency = \"add-remove\"\nbudget = { epsilon = 4.0, delta = 1e-5 }
[dataset.months]\nsource = \"./trips.csv\"\nunit = \"month\"\nunit_column = \"rider\"\nmax_rows = 1
";
    folder.write("eke.toml", &(policy("add-remove", 1, 1, Some(3)) + two));
    let engine = folder.engine();
    let said = engine.remarks().join("\n");
    assert!(said.contains("`months` of unit `month` and `trips` of unit `rider`"), "{said}");
    assert!(ask(&engine, "steward", ALL, "0.01").is_ok());
    assert!(ask(&engine, "steward", "SELECT COUNT(*) FROM months", "0.01").is_ok());
    drop(engine);
    let three = two
        .replace("month]", "year]")
        .replace("months]", "years]")
        .replace("\"month\"", "\"year\"");
    folder.write("eke.toml", &(policy("add-remove", 1, 1, Some(3)) + two + &three));
    let error = ask(&folder.engine(), "steward", "SELECT COUNT(*) FROM years", "0.01").unwrap_err();
    assert!(told(&error).contains("another name for a unit is not another budget"));
}

#[test]
fn a_ledger_of_before_has_its_registries_carried_over() {
    let folder = city();
    let rider = eke_engine::policy::Policy::read(&folder.path().join("eke.toml")).unwrap();
    let ledger = Ledger::open(&Address::File(folder.path().join("eke.ledger"))).unwrap();
    let stamp = Stamp::now("steward");
    let budget = rider.units["rider"].budget.clone();
    ledger.open_account("rider", budget, stamp.clone()).wait().unwrap();
    let mut registry = Registry::new([7; 32]).unwrap();
    let is = Identity { source: "trips.csv", unit: "rider", unit_column: "rider" };
    registry.pin("trips", is, serde_json::json!("old"), "2026-11-16T08:00:00Z").unwrap();
    ledger.file_sheet("rider", 0, registry.write().into_bytes(), stamp).wait().unwrap();
    drop(ledger);
    folder.write("eke.toml", &renamed("person", "rides", "trips.csv"));
    let error = ask(&folder.engine(), "steward", "SELECT COUNT(*) FROM rides", "0.01").unwrap_err();
    assert!(told(&error).contains("from the budget of unit `rider`"));
    folder.write("eke.toml", &policy("add-remove", 1, 1, Some(3)));
    assert!(ask(&folder.engine(), "ana", ALL, "0.01").unwrap() > 0.0);
}

/// The city's policy with these members of the circle, and this epsilon for it; without the circle
/// if there are none.
fn with_circle(members: &[&str], epsilon: f64) -> String {
    let all = policy("add-remove", 1, 1, Some(3));
    let (before, _) = all.split_once("[circle.partners]").unwrap();
    if members.is_empty() {
        return before.to_owned();
    }
    let members: Vec<String> = members.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "{before}[circle.partners]\nanalysts = [{}]\nbudget = {{ epsilon = {epsilon}, delta = 1e-6 }}\n",
        members.join(", ")
    )
}

#[test]
fn a_late_circle_and_a_late_member_bring_what_was_spent() {
    let folder = city();
    folder.write("eke.toml", &with_circle(&[], 1.9));
    let engine = folder.engine();
    let bob = ask(&engine, "bob", ALL, "0.0004").unwrap();
    let eve = ask(&engine, "eve", FARES, "0.0002").unwrap();
    drop(engine);

    // A circle of bob alone brings what bob has spent, at the next question.
    folder.write("eke.toml", &with_circle(&["bob"], 1.9));
    let engine = folder.engine();
    assert!(close(circle(&engine).to_bring.unwrap().rho, bob));
    // What others have spent outside of a circle is not for its members.
    let shown = engine.budget(&Who::Analyst("bob".into())).unwrap();
    assert!(shown.iter().any(|standing| standing.owner == Owner::Circle("partners".into())));
    assert!(shown.iter().all(|standing| standing.to_bring.is_none()), "{shown:?}");
    assert_eq!(circle(&engine).spent.rho, 0.0);
    let more = ask(&engine, "bob", FARES, "0.0003").unwrap();
    assert!(more > 0.0 && circle(&engine).to_bring.is_none());
    let spent = circle(&engine).spent.rho;
    assert!(close(spent, bob + more), "{spent}");
    drop(engine);

    // Eve joins: bob's next question brings what she has spent, once, also if it is free.
    folder.write("eke.toml", &with_circle(&["bob", "eve"], 1.9));
    for _ in 0..3 {
        let engine = folder.engine();
        ask(&engine, "bob", ALL, "0.0004").unwrap();
        let spent = circle(&engine).spent.rho;
        assert!(close(spent, bob + more + eve), "{spent}");
    }

    // She leaves, spends outside, and comes back with that alone.
    folder.write("eke.toml", &with_circle(&["bob"], 1.9));
    let outside = ask(&folder.engine(), "eve", ALL, "0.0006").unwrap();
    let before = circle(&folder.engine()).spent.rho;
    folder.write("eke.toml", &with_circle(&["bob", "eve"], 1.9));
    for _ in 0..2 {
        ask(&folder.engine(), "bob", ALL, "0.0004").unwrap();
        let spent = circle(&folder.engine()).spent.rho;
        assert!(close(spent, before + outside), "{spent} {before} {outside}");
    }
    let ledger = Address::File(folder.path().join("eke.ledger"));
    let report = eke_ledger::verify(&mut *ledger.read_only().unwrap(), None).unwrap();
    assert_eq!(report.findings, []);
}

/// What a member's program has set aside and never settled may have been spent: it is brought too.
#[test]
fn a_member_brings_what_it_has_set_aside() {
    let folder = city();
    let with_pure = |members: &[&str]| {
        with_circle(members, 1.9)
            .replace("delta = 1e-5 }", "delta = 1e-5 }\npure = 3.0")
            .replace("delta = 1e-6 }", "delta = 1e-6, pure = 1.0 }")
    };
    folder.write("eke.toml", &with_pure(&[]));
    ask(&folder.engine(), "bob", ALL, "0.0004").unwrap();
    let ledger = Ledger::open(&Address::File(folder.path().join("eke.ledger"))).unwrap();
    let request = Request::new("lost", Stamp::now("bob"), ALL).unwrap();
    let worst = Reserve { worst: "0.5".parse().unwrap(), delta: Amount::ZERO };
    let others: Vec<(&str, Reserve)> = Vec::new();
    drop(ledger.charge(request, "rider/analyst/bob", worst, others).wait().unwrap());
    drop(ledger);
    folder.write("eke.toml", &with_pure(&["bob"]));
    let engine = folder.engine();
    assert!(close(circle(&engine).to_bring.unwrap().epsilon, 0.5));
    ask(&engine, "bob", ALL, "0.0005").unwrap();
    let [_, spent, ..] = circle(&engine).pure.unwrap();
    assert!(close(spent, 0.5), "{spent}");
}

#[test]
fn a_circle_is_refused_whose_members_have_spent_more_than_it_has() {
    let folder = city();
    folder.write("eke.toml", &with_circle(&[], 0.0));
    let engine = folder.engine();
    ask(&engine, "bob", ALL, "0.0009").unwrap();
    ask(&engine, "eve", FARES, "0.0009").unwrap();
    drop(engine);
    folder.write("eke.toml", &with_circle(&["bob", "eve"], 0.1));
    let engine = folder.engine();
    let unit = engine.budget(&Who::Steward).unwrap()[0].spent.rho;
    for _ in 0..2 {
        let error = ask(&engine, "bob", FARES, "0.0001").unwrap_err();
        assert!(matches!(error, EngineError::Refused(_)));
        assert!(!told(&error).contains("rho="), "numbers of others");
    }
    let brought = circle(&engine).to_bring.unwrap();
    assert!(!brought.fits, "{brought:?}");
    assert_eq!(engine.budget(&Who::Steward).unwrap()[0].spent.rho, unit);
}

#[test]
fn a_refusal_does_not_tell_whose_account_it_was() {
    let folder = city();
    let engine = folder.engine();
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    ask(&engine, "ana", ALL, "0.001").unwrap();
    // Beyond what ana's own account holds, and then beyond what others have left of the riders'.
    let own = told(&ask(&engine, "ana", FARES, &format!("{}", 2.0 * whole)).unwrap_err());
    ask(&engine, "steward", FARES, &format!("{}", 0.9 * whole)).unwrap();
    let asked = format!("{}", 0.5 * whole);
    let error = ask(&engine, "ana", "SELECT COUNT(fare) FROM trips", &asked).unwrap_err();
    assert!(matches!(error, EngineError::Refused(_)));
    assert_eq!(told(&error), own);
    assert!(!own.chars().any(|c| c.is_ascii_digit()) && !own.contains("rider"), "{own}");
    // Not even what its own account has refused, as it does in a race, is in its history.
    let ledger = Ledger::open(&Address::File(folder.path().join("eke.ledger"))).unwrap();
    for account in ["rider/analyst/ana", "rider"] {
        let request = Request::new(account, Stamp::now("ana"), FARES).unwrap();
        let much = Spend(Charge::zcdp(Rho::new(2.0 * whole).unwrap()));
        let others: Vec<(&str, Spend<Charge>)> = Vec::new();
        assert!(ledger.charge(request, account, much, others).wait().is_err());
    }
    drop(ledger);
    let refused = |who: Who| {
        let history = engine.history(&who).unwrap();
        history.iter().filter(|asked| asked.outcome == Outcome::Refused).count()
    };
    assert_eq!(refused(Who::Analyst("ana".into())), 0);
    assert!(refused(Who::Steward) > 0);
    // The steward hears of it, and so does an analyst with a budget of its own.
    let error = told(&ask(&engine, "steward", FARES, &format!("{whole}")).unwrap_err());
    assert!(error.contains("rho="), "{error}");
    let error = told(&ask(&engine, "bob", FARES, &format!("{whole}")).unwrap_err());
    assert!(error.contains("your budget has rho="), "{error}");
}

/// What the unit's account cannot pay for is refused before its keys or first looks are charged.
#[test]
fn nothing_is_charged_for_a_question_that_the_unit_cannot_pay_for() {
    let folder = city();
    folder.write("eke.toml", &policy("add-remove", 1, 1, None));
    let engine = folder.engine();
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    ask(&engine, "steward", FARES, &format!("{}", 0.97 * whole)).unwrap();
    let spent = |of: &Owner| standing(&engine, of).spent.rho;
    let ana = Owner::Analyst("ana".into());
    let before = (spent(&Owner::Everyone), spent(&ana));
    let keys = "SELECT zone, COUNT(*) FROM trips GROUP BY zone";
    let averages = "SELECT COUNT(*), AVG(fare) FROM trips";
    for (sql, goal) in [
        (keys, price(&format!("{}", 0.3 * whole))),
        (keys, goal(Accuracy::Absolute(1.5))),
        (averages, goal(Accuracy::Absolute(1.5))),
    ] {
        let error = engine.ask(&question("ana", sql, goal), &()).unwrap_err();
        assert!(told(&error).contains("nothing was charged"), "{sql}: {error}");
        assert_eq!((spent(&Owner::Everyone), spent(&ana)), before, "{sql}");
    }
    // Keys that the steward had selected are charged to the analyst before the unit says no, and
    // the refusal says so.
    ask(&engine, "steward", keys, &format!("{}", 0.001 * whole)).unwrap();
    let much = price(&format!("{}", 0.3 * whole));
    let error = engine.ask(&question("ana", keys, much), &()).unwrap_err();
    assert!(told(&error).contains("was charged before that, and stays paid"), "{error}");
    assert!(spent(&ana) > before.1);
    // What fits is answered, also where others have paid for it.
    ask(&engine, "ana", FARES, &format!("{}", 0.5 * whole)).unwrap();
    ask(&engine, "ana", keys, &format!("{}", 0.005 * whole)).unwrap();
}

/// Picks that others have paid for cost the unit nothing, however little it has left.
#[test]
fn picks_that_others_paid_for_are_shown_when_the_unit_has_little_left() {
    let folder = city();
    let engine = folder.engine();
    let whole = engine.budget(&Who::Steward).unwrap()[0].budget.rho;
    let largest = "SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 1";
    let price_of = |part: f64| format!("{}", part * whole);
    ask(&engine, "steward", largest, &price_of(0.05)).unwrap();
    ask(&engine, "steward", FARES, &price_of(0.949)).unwrap();
    assert!(ask(&engine, "ana", largest, &price_of(0.05)).unwrap() > 0.0);
}

#[test]
fn what_was_spent_is_shown_as_rho_and_as_a_bound_that_holds_at_all_times() {
    let folder = city();
    let engine = folder.engine();
    let answer = engine.ask(&question("ana", ALL, price("0.02")), &()).unwrap();
    // A price that was fixed in advance is one in epsilon too; what an answer came to is not.
    assert!(answer.epsilon.is_some());
    let stopped = engine.ask(&question("ana", FARES, relative(0.5)), &()).unwrap();
    assert!(!serde_json::to_string(&stopped).unwrap().contains("epsilon"));
    let rider = engine.budget(&Who::Steward).unwrap().remove(0);
    let (promise, bound) = (rider.promise.unwrap(), rider.bound.unwrap());
    // What a total comes to that is converted where it was stopped is less, and does not hold.
    let delta = bound.delta.unwrap();
    let rho = Rho::new(rider.spent.rho).unwrap();
    let converted = Method::Tight.epsilon(rho, Delta::new(delta).unwrap()).unwrap().get();
    assert!(converted < bound.epsilon && bound.epsilon < promise.epsilon, "{bound:?}");
    assert!(delta <= promise.delta.unwrap());
    // Its shape is that of the budget, at a quarter of it, and not of what was spent.
    let twice = -2.0 * delta.ln();
    let gamma = rider.budget.rho / 2.0 / (twice + twice.ln_1p() + 1.0);
    let total = 2.0 * rider.spent.rho + gamma;
    let expected = rider.spent.rho + (total * ((total / gamma).ln() + twice)).sqrt();
    assert!((bound.epsilon / expected - 1.0).abs() < 1e-6, "{bound:?} {expected}");
    let shown = serde_json::to_value(&rider).unwrap();
    for part in ["budget", "spent", "left", "reserved"] {
        assert!(shown[part].get("epsilon").is_none(), "{shown}");
    }
    // Nothing is shown of an account that has spent nothing.
    assert_eq!(standing(&engine, &Owner::Analyst("bob".into())).bound, None);
    // Nor where the promise is better.
    ask(&engine, "steward", FARES, &format!("{}", 0.9 * rider.budget.rho)).unwrap();
    assert_eq!(engine.budget(&Who::Steward).unwrap()[0].bound, None);
}

#[test]
fn a_budget_is_what_the_ledger_promised_whatever_the_policy_says_now() {
    let folder = city();
    ask(&folder.engine(), "ana", ALL, "0.05").unwrap();
    let before = folder.engine().budget(&Who::Steward).unwrap().remove(0);
    assert_eq!(before.policy, None);
    let smaller = policy("add-remove", 1, 1, Some(3)).replace("epsilon = 4.0", "epsilon = 0.3");
    folder.write("eke.toml", &smaller);
    let engine = folder.engine();
    let now = engine.budget(&Who::Steward).unwrap().remove(0);
    assert_eq!((now.promise, now.budget, now.left), (before.promise, before.budget, before.left));
    assert!(now.part <= 1.0);
    let says = now.policy.unwrap();
    assert!(close(says.promise.unwrap().epsilon, 0.3) && says.rho < now.budget.rho, "{says:?}");
    let error = told(&ask(&engine, "steward", ALL, "0.06").unwrap_err());
    assert!(error.contains("put the budget back as it was"), "{error}");
    assert!(!error.contains("another name"), "{error}");
}

fn open(folder: &Folder, begins: bool) -> Result<Engine, EngineError> {
    Engine::open_with(&folder.path().join("eke.toml"), Access { begins, ..Access::default() })
}

fn remove_ledger(folder: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("eke.ledger{end}")));
    }
}

#[test]
fn a_ledger_that_is_gone_empty_exchanged_or_old_is_not_begun_anew() {
    let folder = city();
    let ledger = folder.path().join("eke.ledger");
    let engine = open(&folder, true).unwrap();
    assert!(engine.has_begun());
    ask(&engine, "ana", ALL, "0.01").unwrap();
    drop(engine);
    let old = fs::read(&ledger).unwrap();
    ask(&folder.engine(), "ana", ALL, "0.02").unwrap();
    let newest = fs::read(&ledger).unwrap();
    // The old copy has gone on elsewhere, and has more lines than were ever here.
    let elsewhere = city();
    fs::write(elsewhere.path().join("eke.ledger"), &old).unwrap();
    for rho in ["0.011", "0.012", "0.013"] {
        ask(&elsewhere.engine(), "ana", FARES, rho).unwrap();
    }
    let forked = fs::read(elsewhere.path().join("eke.ledger")).unwrap();
    let other = city();
    ask(&other.engine(), "ana", ALL, "0.01").unwrap();
    let another = fs::read(other.path().join("eke.ledger")).unwrap();

    let without = [
        (None, "is not there or is empty"),
        (Some(Vec::new()), "is not there or is empty"),
        (Some(old), "rolled back"),
        (Some(forked), "is not what it was"),
        (Some(another), "is expected"),
    ];
    for (bytes, why) in without {
        remove_ledger(folder.path());
        if let Some(bytes) = bytes {
            fs::write(&ledger, bytes).unwrap();
        }
        let length = fs::metadata(&ledger).ok().map(|file| file.len());
        for begins in [true, false] {
            let error = told(&open(&folder, begins).err().unwrap());
            assert!(error.contains(why) && error.contains("eke.toml.anchor"), "{error}");
            assert_eq!(fs::metadata(&ledger).ok().map(|file| file.len()), length);
        }
    }
    remove_ledger(folder.path());
    fs::write(&ledger, newest).unwrap();
    assert_eq!(ask(&folder.engine(), "ana", ALL, "0.02").unwrap(), 0.0);
    // A steward who wants to begin anew says so.
    remove_ledger(folder.path());
    fs::remove_file(folder.path().join("eke.toml.anchor")).unwrap();
    assert!(open(&folder, true).unwrap().has_begun());
}

#[test]
fn looking_at_a_budget_begins_no_ledger() {
    let folder = city();
    let engine = open(&folder, false).unwrap();
    let budget = engine.budget(&Who::Steward).unwrap();
    assert!(budget.iter().all(|standing| standing.spent.rho == 0.0 && standing.left.rho > 0.0));
    assert!(engine.history(&Who::Steward).unwrap().is_empty());
    assert!(engine.notices().unwrap().is_empty() && !engine.has_begun());
    assert!(ask(&engine, "ana", ALL, "0.01").is_err());
    drop(engine);
    assert!(!folder.path().join("eke.ledger").exists());
    assert!(!folder.path().join("eke.toml.anchor").exists());
}

#[cfg(unix)]
#[test]
fn the_files_of_a_ledger_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = city();
    let engine = folder.engine();
    ask(&engine, "ana", ALL, "0.01").unwrap();
    for file in ["eke.ledger", "eke.ledger-wal", "eke.ledger-shm", "eke.toml.anchor"] {
        let mode = fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert!(engine.remarks().is_empty(), "{:?}", engine.remarks());
    drop(engine);
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(folder.path().join("eke.ledger"), open).unwrap();
    let said = folder.engine().remarks().join("\n");
    assert!(said.contains("may be read by others") && said.contains("chmod 600"), "{said}");
}

/// A bit is turned over at 300 places of a ledger that has been asked, one at a time. A repeated
/// question gets the answers and prices of the undamaged ledger, or none.
#[test]
fn a_bit_that_was_turned_over_makes_no_answer_cheaper_or_another_one() {
    const PLACES: usize = 300;
    let folder = city();
    folder.write("eke.toml", &with_circle(&["bob", "eve"], 1.9));
    let zones = "SELECT zone, COUNT(*) FROM trips GROUP BY zone";
    let engine = folder.engine();
    for number in 1..6 {
        ask(&engine, "bob", zones, &format!("{}", 1e-4 * f64::from(number))).unwrap();
        ask(&engine, "ana", ALL, &format!("{}", 1e-3 * f64::from(number))).unwrap();
    }
    drop(engine);
    let ledger = folder.path().join("eke.ledger");
    let anchor = folder.path().join("eke.toml.anchor");
    let (whole, anchored) = (fs::read(&ledger).unwrap(), fs::read(&anchor).unwrap());
    let asked = || -> Result<_, EngineError> {
        let engine = Engine::open(&folder.path().join("eke.toml"))?;
        let again = engine.ask(&question("bob", zones, price("0.0005")), &())?;
        let more = engine.ask(&question("bob", zones, price("0.0006")), &())?;
        let left = engine.budget(&Who::Steward)?;
        Ok((again, more.cost, more.left, left))
    };
    let expected = asked().unwrap();
    let (mut refused, mut same) = (0, 0);
    for place in 0..PLACES {
        remove_ledger(folder.path());
        let mut bytes = whole.clone();
        let at = place * whole.len() / PLACES + (place * 7919) % (whole.len() / PLACES);
        bytes[at] ^= 1 << (place % 8);
        fs::write(&ledger, bytes).unwrap();
        fs::write(&anchor, &anchored).unwrap();
        match asked() {
            Err(_) => refused += 1,
            Ok(found) => {
                assert_eq!(found, expected, "byte {at}");
                same += 1;
            }
        }
    }
    println!(
        "of {PLACES} damaged ledgers of {} bytes {refused} refused, {same} the same",
        whole.len()
    );
    assert!(refused > PLACES / 10, "{refused}");
}

#[test]
fn a_total_that_was_lowered_is_not_believed() {
    let folder = city();
    ask(&folder.engine(), "steward", ALL, "0.01").unwrap();
    let ledger = folder.path().join("eke.ledger");
    let mut bytes = fs::read(&ledger).unwrap();
    let spent = 10u128.pow(28).to_be_bytes();
    let places: Vec<usize> =
        (0..bytes.len() - 16).filter(|&at| bytes[at..at + 16] == spent).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 16].fill(0);
    }
    fs::write(&ledger, bytes).unwrap();
    let error = told(&Engine::open(&folder.path().join("eke.toml")).err().unwrap());
    assert!(error.contains("the ledger is damaged"), "{error}");
    assert!(error.contains("its totals are not those of its history"), "{error}");
}

/// An index that has lost its entries finds nothing, and everything in it is as if it had never
/// been.
#[test]
fn an_index_that_has_lost_its_entries_is_not_believed() {
    let folder = city();
    ask(&folder.engine(), "steward", ALL, "0.01").unwrap();
    let ledger = folder.path().join("eke.ledger");
    let whole = fs::read(&ledger).unwrap();
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let page = if page == 1 { 1 << 16 } else { page };
    // Leaves of indices begin with a ten; how many entries they have follows two bytes later.
    let is_full = |at: &usize| whole[*at] == 10 && whole[at + 3..at + 5] != [0, 0];
    let leaves: Vec<usize> = (page..whole.len()).step_by(page).filter(is_full).collect();
    assert!(!leaves.is_empty());
    for at in leaves {
        remove_ledger(folder.path());
        let mut bytes = whole.clone();
        bytes[at + 3..at + 5].fill(0);
        fs::write(&ledger, bytes).unwrap();
        assert!(Engine::open(&folder.path().join("eke.toml")).is_err(), "byte {at}");
    }
}

/// How a file of CSV is read is settled with its snapshot, and the steward hears of doubts.
#[test]
fn how_rows_are_written_is_looked_at_once_or_said() {
    let folder = city();
    let mut rows = String::from("rider,zone,fare\n");
    (0..300).for_each(|rider| rows += &format!("r{rider},0,\"\n30\"\n"));
    // Another price each time: rows are read again.
    let fares = |engine: &Engine, rho: &str| {
        let sql = "SELECT COUNT(fare) FROM trips";
        let answer = engine.ask(&question("ana", sql, price(rho)), &()).unwrap();
        answer.rows[0].values[0].value.unwrap()
    };
    let told = |engine: &Engine| engine.notices().unwrap().join("\n");
    let is = |fares: f64, expected: f64| (fares - expected).abs() < 60.0;
    folder.write("trips.csv", &(rows.clone() + "b,1,2\"\n"));
    let engine = folder.engine();
    assert!(is(fares(&engine, "0.02"), 1.0));
    assert!(told(&engine).contains("row 302 is the first that shows it"), "{}", told(&engine));
    // What the policy says is true of the next snapshot, and not of this one.
    let policy = policy("add-remove", 1, 1, Some(3));
    let said = policy.replace("\nunit = ", "\nmultiline = true\nunit = ");
    folder.write("eke.toml", &said);
    let engine = folder.engine();
    assert!(is(fares(&engine, "0.05"), 1.0));
    assert!(told(&engine).contains("has changed since snapshot 1"), "{}", told(&engine));
    engine.snapshot("trips").unwrap();
    assert!(is(fares(&engine, "0.02"), 301.0));
    assert!(!told(&engine).contains("has changed since"), "{}", told(&engine));
    // Nothing need be said of a file that shows how it was written.
    folder.write("trips.csv", &rows);
    folder.write("eke.toml", &policy);
    let engine = folder.engine();
    engine.snapshot("trips").unwrap();
    assert!(is(fares(&engine, "0.02"), 300.0));
}
