//! The protocol, on a ledger of its own, with orders that write down what happens to them.

use std::path::PathBuf;

use eke_budget::purchase::Reveal;
use eke_budget::{Adjacency, Amount, BudgetSpec, Charge, L2, Metric, Rho};
use eke_ledger::patience::Silently;
use eke_ledger::{Address, Show, Spend};

use super::*;

const UNIT: &str = "riders";
const ANALYST: &str = "riders/analyst/ana";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("eke-buy-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// The ledger, opened once more: it knows what is on disk and nothing else.
    fn ledger(&self) -> Ledger {
        Ledger::open(&Address::File(self.0.join("eke.ledger"))).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Two accounts: the unit's with this much, and an analyst's with that much.
fn accounts(folder: &Folder, unit: f64, analyst: f64) -> Ledger {
    let ledger = folder.ledger();
    for (name, rho) in [(UNIT, unit), (ANALYST, analyst)] {
        let budget = BudgetSpec::zcdp(Rho::new(rho).unwrap());
        let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove)).unwrap();
        ledger.open_account(name, budget, Stamp::now("steward")).wait().unwrap();
    }
    ledger
}

fn spent(folder: &Folder, account: &str) -> String {
    let account = folder.ledger().account(account).wait().unwrap().unwrap();
    account.odometer().zcdp().unwrap().spent().to_string()
}

struct Shopper<'a> {
    ledger: &'a Ledger,
    waiting: &'a Silently,
    waited: std::cell::Cell<u32>,
}

impl<'a> Shopper<'a> {
    fn new(ledger: &'a Ledger, waiting: &'a Silently) -> Self {
        Self { ledger, waiting, waited: std::cell::Cell::new(0) }
    }
}

#[derive(Debug)]
enum Failed {
    #[expect(dead_code, reason = "shown where a test fails")]
    Ledger(LedgerError),
    Drawing,
    Unavailable,
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl<'a> Buyer<'a> for Shopper<'a> {
    type Error = Failed;

    fn ledger(&self) -> &Ledger {
        self.ledger
    }

    fn holder(&self) -> &str {
        UNIT
    }

    fn stamp(&self) -> Stamp {
        Stamp::now("ana")
    }

    fn patience(&self) -> Patience<'a> {
        Patience::new(self.waiting)
    }

    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), Failed> {
        self.waited.set(self.waited.get() + 1);
        Ok(self.ledger.give_up(UNIT, path, holder.clone(), self.stamp()).wait()?)
    }

    fn unavailable(&self) -> Failed {
        Failed::Unavailable
    }
}

/// Something for 0.25 from each of the two accounts, whose first draws fail.
struct Thing<'f> {
    folder: &'f Folder,
    number: u32,
    fails: u32,
    happened: Vec<String>,
}

impl<'f> Thing<'f> {
    fn new(folder: &'f Folder, fails: u32) -> Self {
        Self { folder, number: 0, fails, happened: Vec::new() }
    }

    fn key(&self) -> String {
        format!("thing/{}", self.number)
    }
}

fn quarter() -> Spend<Charge> {
    Spend(Charge::zcdp(Rho::new(0.25).unwrap()))
}

impl<'a> Order<'a, Shopper<'a>> for Thing<'_> {
    type Own = Spend<Charge>;
    type Others = Spend<Charge>;
    type Made = String;

    fn offer(
        &mut self,
        shopper: &mut Shopper<'a>,
        again: Again,
    ) -> Result<Offer<Spend<Charge>, Spend<Charge>, String>, Failed> {
        assert!(self.happened.len() < 20, "{:?}", self.happened);
        self.happened.push(format!("{again:?}"));
        if again == Again::Taken {
            let stored = self.folder.ledger().stored_answer(Key::new(&self.key())?).wait()?;
            if let Some(stored) = stored {
                return Ok(Offer::Made(String::from_utf8(stored.body().to_vec()).unwrap()));
            }
            self.number += 1;
        }
        let request = Request::new(&self.key(), shopper.stamp(), "a thing")?;
        let others = vec![(ANALYST.to_owned(), quarter())];
        Ok(Offer::Charge { request, own: quarter(), others, path: None })
    }

    fn draw(
        &mut self,
        _: &mut Shopper<'a>,
        own: Receipt<Charge>,
        others: Vec<Receipt<Charge>>,
    ) -> Result<Drawn<String>, Failed> {
        // What is on disk while it is drawn: the charges, and no answer.
        let charged = [UNIT, ANALYST].map(|account| spent(self.folder, account));
        let answer = self.folder.ledger().stored_request(Key::new(&self.key())?).wait()?;
        self.happened.push(format!("draw {} {}", charged.join(" "), answer.unwrap().is_some()));
        for receipt in std::iter::once(own).chain(others) {
            receipt.redeem();
        }
        if self.fails > 0 {
            self.fails -= 1;
            return Err(Failed::Drawing);
        }
        let made = format!("made {}", self.number);
        Ok(Drawn { body: made.clone().into_bytes(), state: None, round: None, made })
    }
}

fn made<M>(bought: Result<Bought<M>, Failed>) -> M {
    match bought {
        Ok(Bought::Made(made)) => made,
        Ok(Bought::Refused(refusal)) => panic!("{refusal}"),
        Err(failed) => panic!("{failed:?}"),
    }
}

#[test]
fn charges_are_on_disk_before_the_draw_and_the_answer_before_it_is_shown() {
    let folder = Folder::new("order");
    let (ledger, waiting) = (accounts(&folder, 1.0, 1.0), Silently::default());
    let mut thing = Thing::new(&folder, 0);
    assert_eq!(made(buy(&mut Shopper::new(&ledger, &waiting), &mut thing)), "made 0");
    assert_eq!(thing.happened, ["First", "draw 0.25 0.25 false"]);
    let stored = folder.ledger().stored_answer(Key::new("thing/0").unwrap()).wait().unwrap();
    assert_eq!(stored.unwrap().body(), b"made 0");
    // The same again is what was stored, for nothing and without a draw.
    let mut again = Thing::new(&folder, 0);
    assert_eq!(made(buy(&mut Shopper::new(&ledger, &waiting), &mut again)), "made 0");
    assert_eq!(again.happened, ["First", "Taken"]);
    assert_eq!([spent(&folder, UNIT), spent(&folder, ANALYST)], ["0.25", "0.25"]);
}

#[test]
fn a_lost_attempt_stays_paid_and_is_never_drawn_for_again() {
    let folder = Folder::new("lost");
    let (ledger, waiting) = (accounts(&folder, 1.0, 1.0), Silently::default());
    let mut thing = Thing::new(&folder, 1);
    let failed = buy(&mut Shopper::new(&ledger, &waiting), &mut thing);
    assert!(matches!(failed, Err(Failed::Drawing)));
    assert_eq!(spent(&folder, UNIT), "0.25");
    let mut again = Thing::new(&folder, 0);
    assert_eq!(made(buy(&mut Shopper::new(&ledger, &waiting), &mut again)), "made 1");
    assert_eq!(again.happened, ["First", "Taken", "draw 0.5 0.5 false"]);
}

#[test]
fn an_account_that_refuses_leaves_all_as_they_were_and_nothing_is_drawn() {
    let folder = Folder::new("refused");
    let (ledger, waiting) = (accounts(&folder, 1.0, 0.125), Silently::default());
    let mut thing = Thing::new(&folder, 0);
    match buy(&mut Shopper::new(&ledger, &waiting), &mut thing).unwrap() {
        Bought::Refused(refusal) => assert_eq!(*refusal.account, *ANALYST),
        Bought::Made(made) => panic!("{made}"),
    }
    assert_eq!(thing.happened, ["First"]);
    assert_eq!([spent(&folder, UNIT), spent(&folder, ANALYST)], ["0", "0"]);
}

/// A point of a path for 0.25 more than was paid for it.
struct Point {
    /// What each offer finds changed when the path is held.
    changed: Vec<bool>,
    /// Whether nobody can tell.
    unclear: bool,
    fails: bool,
    draws: u32,
}

const PATH: [u8; 32] = [7; 32];

impl<'a> Order<'a, Shopper<'a>> for Point {
    type Own = Show<Rho>;
    type Others = Show<Rho>;
    type Made = Amount<Rho>;

    fn offer(
        &mut self,
        shopper: &mut Shopper<'a>,
        _: Again,
    ) -> Result<Offer<Show<Rho>, Show<Rho>, Amount<Rho>>, Failed> {
        let path = PathId::new(PATH);
        let currency = eke_ledger::store::Currencies::Rho;
        let level = shopper.ledger.level(UNIT, path, currency).wait()?;
        let at = match level.map(|level| level.at) {
            Some(Charge::Zcdp { rho, .. }) => rho,
            _ => Amount::ZERO,
        };
        let more = Amount::<Rho>::at_least(Rho::new(0.25).unwrap());
        let to = at.plus(more).unwrap();
        let key = format!("point/{at}");
        let request = Request::new(&key, shopper.stamp(), "a point")?;
        let sensitivity = L2::new(1.0).unwrap();
        let own = Show { path, to, sensitivity };
        Ok(Offer::Charge { request, own, others: Vec::new(), path: Some(path) })
    }

    fn still_holds(&mut self, _: &mut Shopper<'a>) -> Result<bool, Failed> {
        if self.unclear {
            return Err(Failed::Drawing);
        }
        Ok(!self.changed.pop().unwrap_or(false))
    }

    fn draw(
        &mut self,
        _: &mut Shopper<'a>,
        own: Receipt<Reveal<Rho>>,
        _: Vec<Receipt<Reveal<Rho>>>,
    ) -> Result<Drawn<Amount<Rho>>, Failed> {
        self.draws += 1;
        if self.fails {
            return Err(Failed::Drawing);
        }
        let made = own.redeem().to();
        Ok(Drawn { body: Vec::new(), state: Some(b"a state".to_vec()), round: None, made })
    }
}

fn holder(folder: &Folder) -> Option<Key> {
    folder.ledger().path(PathId::new(PATH)).wait().unwrap().and_then(|path| path.holder)
}

#[test]
fn a_path_that_changed_is_not_drawn_from_and_is_free_again() {
    let folder = Folder::new("changed");
    let (ledger, waiting) = (accounts(&folder, 1.0, 1.0), Silently::default());
    let mut point = Point { changed: vec![true], unclear: false, fails: false, draws: 0 };
    let mut shopper = Shopper::new(&ledger, &waiting);
    let to = made(buy(&mut shopper, &mut point));
    // What was charged for the offer that no longer held is lost.
    assert_eq!((to.to_string(), spent(&folder, UNIT)), ("0.5".to_owned(), "0.5".to_owned()));
    assert_eq!((point.draws, shopper.waited.get(), holder(&folder)), (1, 0, None));
}

#[test]
fn a_path_whose_draw_failed_is_free_for_others() {
    let folder = Folder::new("failed");
    let (ledger, waiting) = (accounts(&folder, 1.0, 1.0), Silently::default());
    let mut point = Point { changed: vec![], unclear: false, fails: true, draws: 0 };
    let mut shopper = Shopper::new(&ledger, &waiting);
    assert!(matches!(buy(&mut shopper, &mut point), Err(Failed::Drawing)));
    assert_eq!((spent(&folder, UNIT), holder(&folder)), ("0.25".to_owned(), None));
    (point.fails, point.unclear) = (false, true);
    assert!(matches!(buy(&mut shopper, &mut point), Err(Failed::Drawing)));
    assert_eq!((spent(&folder, UNIT), holder(&folder)), ("0.5".to_owned(), None));
    point.unclear = false;
    assert_eq!(made(buy(&mut shopper, &mut point)).to_string(), "0.75");
    assert_eq!((point.draws, shopper.waited.get()), (2, 0));
}

#[test]
fn a_path_that_somebody_else_holds_is_waited_for_before_anything_is_drawn() {
    let folder = Folder::new("held");
    let (ledger, waiting) = (accounts(&folder, 1.0, 1.0), Silently::default());
    // Charged and held by a program that has ended.
    let path = PathId::new(PATH);
    let to = Amount::at_least(Rho::new(0.125).unwrap());
    let show = Show { path, to, sensitivity: L2::new(1.0).unwrap() };
    let request = Request::new("gone", Stamp::now("ana"), "a point").unwrap();
    let others: Vec<(&str, Show<Rho>)> = Vec::new();
    let held = ledger.charge(request, UNIT, show, others).wait().unwrap();
    assert!(holder(&folder).is_some());
    drop(held);
    let mut shopper = Shopper::new(&ledger, &waiting);
    let mut point = Point { changed: vec![], unclear: false, fails: false, draws: 0 };
    assert_eq!(made(buy(&mut shopper, &mut point)).to_string(), "0.375");
    assert_eq!((point.draws, shopper.waited.get()), (1, 1));
}
