//! Who pays for a profile, when, and who sees it.

use std::fs;

use eke_budget::{Amount, Receipt, Rho};
use eke_ledger::Spend;
use eke_noise::release::HistogramRelease;

use crate::ask::question::Who;
use crate::data::write_city;
use crate::engine::Engine;
use crate::error::{EngineError, NotAllowed, NotProfiled};
use crate::profile::buying::{Profiling, StoredValues, Values};
use crate::profile::{Profile, ProfileRequest};
use crate::purchase::context::Context;
use crate::purchase::{self, Again, Drawn, Offer, Order};
use crate::{Accuracy, ColumnGoals, Goal, Question};

const PRICE: &str = "0.00002";

struct City(tempfile::TempDir);

impl City {
    fn new(riders: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_city(folder.path(), riders).unwrap();
        Self(folder)
    }

    fn policy(&self) -> std::path::PathBuf {
        self.0.path().join("eke.toml")
    }

    fn engine(&self) -> Engine {
        Engine::open(&self.policy()).unwrap()
    }

    fn change(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.policy()).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(self.policy(), text.replace(from, to)).unwrap();
    }

    fn add(&self, text: &str) {
        let before = fs::read_to_string(self.policy()).unwrap();
        fs::write(self.policy(), before + text).unwrap();
    }
}

fn request() -> ProfileRequest {
    let price = Some(PRICE.parse().unwrap());
    ProfileRequest { dataset: "trips".into(), price, ..ProfileRequest::default() }
}

fn buy(engine: &Engine) -> Profile {
    engine.profile(&request(), &Who::Steward, &()).unwrap()
}

fn spent(engine: &Engine, account: &str) -> Amount<Rho> {
    let account = engine.ledger().account(account).wait().unwrap();
    account.map_or(Amount::ZERO, |account| account.odometer().zcdp().unwrap().spent())
}

/// Within a few grains, which shares of a price are rounded down by.
fn comes_to(found: Amount<Rho>, text: &str) -> bool {
    let wanted: Amount<Rho> = text.parse().unwrap();
    found <= wanted && wanted.grains() - found.grains() < 1_000
}

fn ask(engine: &Engine, who: &str) -> Result<crate::Answer, EngineError> {
    let goal = Goal {
        accuracy: Accuracy::Price("0.00001".parse().unwrap()),
        floor: None,
        at_most: None,
        confidence: eke_noise::Confidence::new(0.95).unwrap(),
    };
    let (sql, columns) = ("SELECT COUNT(*) FROM trips".to_owned(), ColumnGoals::default());
    engine.ask(&Question { sql, goal, columns, who: Who::Analyst(who.into()) }, &())
}

#[test]
fn a_profile_is_charged_to_everybody_and_then_free_and_the_same() {
    let city = City::new(300);
    city.add(
        "[circle.both]\nanalysts = [\"ana\", \"bob\"]\nbudget = { epsilon = 0.5, delta = 1e-7 }\n",
    );
    let engine = city.engine();
    let bought = buy(&engine);
    assert!(!bought.free);
    let all = ["rider", "rider/analyst/ana", "rider/analyst/bob", "rider/circle/both"];
    for account in all {
        assert!(comes_to(spent(&engine, account), PRICE), "{account}");
    }
    drop(engine);
    // From another program, with and without the price.
    let engine = city.engine();
    for request in [request(), ProfileRequest { price: None, ..request() }] {
        let again = engine.profile(&request, &Who::Steward, &()).unwrap();
        assert!(again.free);
        assert_eq!(Profile { free: false, ..again }, bought);
    }
    for account in all {
        assert!(comes_to(spent(&engine, account), PRICE), "{account}");
    }
    // Other keys are another profile.
    let other = ProfileRequest { keys: Some(Vec::new()), ..request() };
    let other = engine.profile(&other, &Who::Steward, &()).unwrap();
    assert!(!other.free && other.keys.is_empty() && other.proposal.max_groups.is_none());
    let standings = engine.budget(&Who::Steward).unwrap();
    assert!(standings.iter().all(|one| one.profiles.len() == 2 && one.profiles[0].paid));
    let history = engine.history(&Who::Steward).unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(history[0].question, "profile of trips");
}

#[test]
fn later_accounts_start_at_what_was_published() {
    let city = City::new(300);
    // What questions cost besides, for counts of units that were cut, is not what this is about.
    city.change("max_groups = 2 ", "cut_counts = false\nmax_groups = 2 ");
    buy(&city.engine());
    city.add(
        "[analyst.eve]\ntier = \"internal\"\n[circle.late]\nanalysts = [\"ana\", \"eve\"]\nbudget = { epsilon = 0.5, delta = 1e-7 }\n",
    );
    let engine = city.engine();
    let unpaid = |engine: &Engine| {
        let standings = engine.budget(&Who::Steward).unwrap();
        let unpaid = standings.iter().filter(|one| !one.profiles[0].paid);
        unpaid.map(|one| one.account.clone()).collect::<Vec<_>>()
    };
    assert_eq!(unpaid(&engine), ["rider/circle/late", "rider/analyst/eve"]);
    for _ in 0..2 {
        ask(&engine, "eve").unwrap();
        assert!(comes_to(spent(&engine, "rider/analyst/eve"), "0.00003"));
        // Ana brings nothing into the circle: it has paid for what was published itself.
        assert!(comes_to(spent(&engine, "rider/circle/late"), "0.00003"));
    }
    assert!(comes_to(spent(&engine, "rider/analyst/ana"), PRICE));
    assert_eq!(unpaid(&engine), [""; 0]);
    // Somebody whose budget does not hold it cannot ask.
    city.add("[tier.small]\nbudget = { epsilon = 0.001, delta = 1e-9 }\n[analyst.sam]\ntier = \"small\"\n");
    let engine = city.engine();
    assert!(matches!(ask(&engine, "sam"), Err(EngineError::Refused(_))));
    assert!(spent(&engine, "rider/analyst/sam").is_zero());
    let seen = engine.history(&Who::Analyst("eve".into())).unwrap();
    assert_eq!(seen[0].question, "profile of trips");
    assert_eq!(seen[0].outcome, crate::report::Outcome::Answered);
}

#[test]
fn a_profile_that_somebody_cannot_pay_for_is_charged_to_nobody() {
    let city = City::new(300);
    city.add("[tier.small]\nbudget = { epsilon = 0.001, delta = 1e-9 }\n[analyst.sam]\ntier = \"small\"\n");
    let engine = city.engine();
    let error = engine.profile(&request(), &Who::Steward, &()).unwrap_err();
    assert!(error.to_string().contains("the budget of `rider/analyst/sam` has rho="), "{error}");
    for account in ["rider", "rider/analyst/ana", "rider/analyst/sam"] {
        assert!(spent(&engine, account).is_zero());
    }
    assert!(engine.budget(&Who::Steward).unwrap().iter().all(|one| one.profiles.is_empty()));
    // Without a price it is one that everybody can pay.
    let bought = engine.profile(&ProfileRequest { price: None, ..request() }, &Who::Steward, &());
    assert!(bought.unwrap().rho < 1e-7);
}

#[test]
fn rows_are_read_when_the_charge_is_on_disk() {
    let city = City::new(300);
    let path = city.0.path().join("trips.parquet");
    let mut bytes = fs::read(&path).unwrap();
    // The footer stays, the pages do not.
    let middle = bytes.len() / 2;
    bytes[100..middle].iter_mut().for_each(|byte| *byte = !*byte);
    fs::write(&path, bytes).unwrap();
    let engine = city.engine();
    let error = engine.profile(&request(), &Who::Steward, &()).unwrap_err();
    assert!(error.to_string().contains("is paid for and lost"), "{error}");
    for account in ["rider", "rider/analyst/ana", "rider/analyst/bob"] {
        assert!(comes_to(spent(&engine, account), "0.00001"), "{account}");
    }
    // Nobody has seen it, so nobody later owes it.
    assert!(engine.budget(&Who::Steward).unwrap().iter().all(|one| one.profiles.is_empty()));
}

/// Pays for histograms, and is killed before they are drawn.
struct Lost(Values);

impl<'a> Order<'a, Profiling<'a>> for Lost {
    type Own = Spend<HistogramRelease>;
    type Others = Spend<HistogramRelease>;
    type Made = StoredValues;

    fn offer(
        &mut self,
        profiling: &mut Profiling<'a>,
        again: Again,
    ) -> Result<Offer<Self::Own, Self::Others, StoredValues>, EngineError> {
        self.0.offer(profiling, again)
    }

    fn draw(
        &mut self,
        _: &mut Profiling<'a>,
        _: Receipt<HistogramRelease>,
        _: Vec<Receipt<HistogramRelease>>,
    ) -> Result<Drawn<StoredValues>, EngineError> {
        Err(EngineError::Unavailable)
    }
}

fn with_profiling<T>(engine: &Engine, act: impl FnOnce(&mut Profiling<'_>) -> T) -> T {
    let who = Who::Steward;
    let prepared = engine.prepare("SELECT COUNT(*) FROM trips", 0, &who).unwrap();
    let everyone = engine.everyone("rider").unwrap();
    for account in &everyone {
        engine.open_account(account, &eke_ledger::Stamp::now("steward")).unwrap();
    }
    let dataset = engine.policy().dataset("trips").unwrap();
    let plan = engine.profile_plan(&request(), None, (dataset, &prepared), &everyone).unwrap();
    let context = Context::new(engine, &prepared, (&who, "profile of trips"), &()).unwrap();
    act(&mut Profiling::new(context, plan, everyone))
}

#[test]
fn a_profile_that_was_killed_goes_on_and_pays_no_stored_part_twice() {
    let city = City::new(300);
    // Killed between the charge and the draw: what was paid is lost.
    let engine = city.engine();
    with_profiling(&engine, |profiling| {
        let values = Values::new(profiling);
        assert!(purchase::buy(profiling, &mut Lost(values)).is_err());
    });
    assert!(comes_to(spent(&engine, "rider"), "0.00001"));
    drop(engine);
    // Killed between the parts: what was stored is there.
    let engine = city.engine();
    let cells = with_profiling(&engine, |profiling| {
        let mut values = Values::new(profiling);
        match purchase::buy(profiling, &mut values) {
            Ok(purchase::Bought::Made(made)) => made.cells,
            _ => panic!("not bought"),
        }
    });
    for account in ["rider", "rider/analyst/bob"] {
        assert!(comes_to(spent(&engine, account), "0.00002"), "{account}");
    }
    drop(engine);
    let engine = city.engine();
    let bought = buy(&engine);
    assert_eq!(bought.rows.bins, cells[..bought.rows.bins.len()]);
    for account in ["rider", "rider/analyst/ana", "rider/analyst/bob"] {
        assert!(comes_to(spent(&engine, account), "0.00003"), "{account}");
    }
    assert!(buy(&engine).free);
}

#[test]
fn analysts_see_a_profile_that_is_published_and_buy_none() {
    let city = City::new(300);
    let seen =
        |engine: &Engine, who: &str| engine.profile(&request(), &Who::Analyst(who.into()), &());
    let engine = city.engine();
    let error = seen(&engine, "ana").unwrap_err();
    assert!(matches!(error, EngineError::Beyond(NotAllowed::ProfileUnpublished { .. })), "{error}");
    assert!(matches!(seen(&engine, "nobody"), Err(EngineError::Policy(_))));
    drop(engine);
    city.change("max_groups = 2 ", "publish_profile = true\nmax_groups = 2 ");
    let engine = city.engine();
    let error = seen(&engine, "ana").unwrap_err();
    assert!(matches!(error, EngineError::Beyond(NotAllowed::NoProfile { .. })), "{error}");
    assert!(spent(&engine, "rider/analyst/ana").is_zero());
    let bought = buy(&engine);
    let ana = seen(&engine, "ana").unwrap();
    assert_eq!(Profile { free: false, ..ana }, bought);
    // Rehearsals use it.
    drop(engine);
    let shapes = |who: Who| city.engine().published_shapes(&who).unwrap();
    let shape = shapes(Who::Steward);
    assert_eq!(shape.keys().collect::<Vec<_>>(), ["trips"]);
    let drawn = bought.rows.bins.iter().map(|&bin| u64::try_from(bin).unwrap_or(0));
    assert_eq!(shape["trips"].rows, drawn.collect::<Vec<_>>());
    assert_eq!(shapes(Who::Analyst("ana".into())), shape);
    let engine = city.engine();
    assert!(comes_to(spent(&engine, "rider/analyst/ana"), PRICE));
    // Other columns were not bought.
    let other = ProfileRequest { columns: Some(Vec::new()), ..request() };
    let error = engine.profile(&other, &Who::Analyst("ana".into()), &()).unwrap_err();
    assert!(matches!(error, EngineError::Beyond(NotAllowed::NoProfile { .. })), "{error}");
    // A tier that sees no path as far as its dearest histogram.
    drop(engine);
    city.change("finest = { rho = 1e-4 }", "finest = { rho = 1e-6 }");
    let error = seen(&city.engine(), "bob").unwrap_err();
    assert!(matches!(error, EngineError::Beyond(NotAllowed::ProfileBeyondTier { .. })), "{error}");
    assert!(shapes(Who::Analyst("bob".into())).is_empty());
    // Somebody who came later has not paid, and one who may not see it gets nothing of it.
    city.add("[analyst.eve]\ntier = \"internal\"\n");
    assert!(shapes(Who::Analyst("eve".into())).is_empty());
    ask(&city.engine(), "eve").unwrap();
    assert_eq!(shapes(Who::Analyst("eve".into())), shape);
    city.change("publish_profile = true", "publish_profile = false");
    assert!(shapes(Who::Analyst("ana".into())).is_empty());
    assert_eq!(shapes(Who::Steward), shape);
}

#[test]
fn columns_that_cannot_be_profiled_are_told() {
    let city = City::new(50);
    city.add("\n[dataset.zones]\nsource = \"trips.parquet\"\npublic = true\n");
    let engine = city.engine();
    let told = |request: ProfileRequest| match engine.profile(&request, &Who::Steward, &()) {
        Err(EngineError::Profile(error)) => error,
        other => panic!("{other:?}"),
    };
    let named = |name: &str| Some(vec![name.to_owned()]);
    for name in ["rider_id", "nothing"] {
        let found = told(ProfileRequest { keys: named(name), ..request() });
        assert!(matches!(found, NotProfiled::NoColumn { .. }), "{found}");
    }
    let found = told(ProfileRequest { columns: named("district"), ..request() });
    assert!(matches!(found, NotProfiled::NoNumber { .. }), "{found}");
    let twice = Some(vec!["fare".to_owned(), "fare".to_owned()]);
    let found = told(ProfileRequest { columns: twice, ..request() });
    assert!(matches!(found, NotProfiled::Twice { .. }), "{found}");
    let zones = ProfileRequest { dataset: "zones".into(), ..request() };
    assert!(matches!(
        engine.profile(&zones, &Who::Steward, &()),
        Err(EngineError::Unanswerable(_))
    ));
    assert!(spent(&engine, "rider").is_zero());
}
