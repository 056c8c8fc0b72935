//! Everything about `eke-ledger` that is tested from outside, on every store there is.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod accounts;
mod audit;
mod crashes;
mod faults;
mod history;
mod network;
mod opening;
mod paths;
mod place;
mod power;
mod races;
mod register;
mod requests;
mod script;
mod syscalls;

use eke_budget::number::Currency;
use eke_budget::{Adjacency, Amount, Budget, BudgetSpec, Charge, L2, Metric, PathId, Receipt, Rho};
use eke_ledger::{
    Answer, Answered, Charged, Item, Key, Ledger, LedgerError, Moment, Outcome, Request, Show,
    Spend, Stamp,
};

use place::{Place, on_every_store};

const CENTRAL: Metric = Metric::Hamming(Adjacency::AddRemove);

/// No circles.
const ALONE: Vec<(&str, Spend<Charge>)> = Vec::new();

fn amount<C: Currency>(decimal: &str) -> Amount<C> {
    decimal.parse().unwrap()
}

fn path(number: u8) -> PathId {
    PathId::new([number; 32])
}

/// A budget of `size` in rho and the same in epsilon, each with a delta of 1e-6.
fn budget(size: &str) -> Budget {
    BudgetSpec::zcdp(size.parse().unwrap())
        .with_delta("1e-5".parse().unwrap())
        .with_zcdp_delta("1e-6".parse().unwrap())
        .with_pure(size.parse().unwrap())
        .with_pure_delta("1e-6".parse().unwrap())
        .resolve(CENTRAL)
        .unwrap()
}

/// Somebody, at a moment that is the same in every run.
fn stamp(who: &str) -> Stamp {
    Stamp::new(who, Moment::from_micros(1_794_818_842_000_000))
}

fn request(key: &str) -> Request {
    Request::new(key, stamp("ana"), "SELECT count(*) FROM trips").unwrap()
}

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn spend(rho: &str) -> Spend<Charge> {
    Spend(format!("rho={rho}").parse().unwrap())
}

fn show(path: PathId, to: &str) -> Show<Rho> {
    Show { path, to: amount(to), sensitivity: L2::new(1.0).unwrap() }
}

/// A ledger with an account `riders` of that much.
fn riders(place: &Place, size: &str) -> Ledger {
    let ledger = place.ledger();
    ledger.open_account("riders", budget(size), stamp("steward")).wait().unwrap();
    ledger
}

/// Charges one account.
fn charge<W: Item>(ledger: &Ledger, key: &str, item: W) -> Result<Paid<W>, LedgerError> {
    ledger.charge(request(key), "riders", item, ALONE).wait()
}

/// What comes of charging one account.
type Paid<W> = Outcome<<W as Item>::Bought, Charge>;

/// Charges one account, under a key that was not used before.
fn buy<W: Item>(ledger: &Ledger, key: &str, item: W) -> Charged<W::Bought, Charge> {
    charge(ledger, key, item).unwrap().charged().unwrap()
}

/// Stores an answer.
fn answer<P, Q>(ledger: &Ledger, charged: Charged<P, Q>, body: &str) -> Answered {
    draw(charged.own);
    let answer = Answer::new(body).with_state(format!("state after {body}"));
    ledger.answer(charged.claim, answer, stamp("ana")).wait().unwrap()
}

/// Uses a receipt up, as a mechanism would.
fn draw<P>(receipt: Receipt<P>) -> P {
    receipt.redeem()
}

/// What is spent of an account, in rho.
fn spent(ledger: &Ledger, account: &str) -> Amount<Rho> {
    let account = ledger.account(account).wait().unwrap().unwrap();
    account.odometer().zcdp().unwrap().spent()
}
