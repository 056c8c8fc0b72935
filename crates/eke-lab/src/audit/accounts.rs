//! Accounts: whether what is drawn for their receipts can add up to more than they promise.
//!
//! What is bought distinguishes its neighbours by its whole price, so the loss of a conversation is
//! the sum of the prices of what was drawn. An asker buys until it is refused. It has seen
//! everything that was drawn, whether the account knows of it or not.

use std::collections::BTreeSet;
use std::error::Error;
use std::num::NonZeroU32;

use eke_budget::evidence::OutOfSequence;
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Delta, Entry, Epsilon, Journal, L1,
    MemoryJournal, Metric, NoHistory, PathId, Rho,
};
use eke_noise::Exact;
use eke_noise::select::{KeyCounts, KeySelection, Touched, select_keys};
use eke_testkit::Seeded;

use super::bounds::{ALPHA, Count};
use super::{Audit, Finding, Findings, Method};
use crate::paid;

pub(super) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("account", Method::Enumeration, account)
            .about("what is drawn for an account's receipts never adds up to more than its budget"),
        Audit::sampled("keys", keys, 1_000_000)
            .about("a key that one unit alone has is shown with the probability that was paid for"),
    ]
}

/// The budget, in tenths of an epsilon.
const BUDGET: u32 = 20;
/// Somebody who was never refused by now has broken the promise.
const MOST: u32 = 1000;

/// A journal that fails now and then, before anything is recorded.
#[derive(Default)]
struct Unreliable {
    kept: MemoryJournal,
    calls: u32,
    /// Every how many calls it fails; never if it is none.
    fails: Option<NonZeroU32>,
}

/// It failed, or was used wrongly.
#[derive(Debug)]
struct NotRecorded;

impl From<OutOfSequence> for NotRecorded {
    fn from(_: OutOfSequence) -> Self {
        Self
    }
}

impl Journal for Unreliable {
    type Error = NotRecorded;

    fn record(&mut self, entries: &[Entry]) -> Result<(), NotRecorded> {
        self.calls += 1;
        match self.fails {
            Some(every) if self.calls.is_multiple_of(every.get()) => Err(NotRecorded),
            _ => Ok(self.kept.record(entries)?),
        }
    }
}

/// An account, its history, and what has been drawn for its receipts.
struct Conversation {
    account: Account,
    journal: Unreliable,
    restarts: bool,
    /// In tenths of an epsilon.
    drawn: u32,
}

/// An amount of `count` tenths.
fn tenths(count: u32) -> Result<Amount<Epsilon>, Box<dyn Error>> {
    Ok(Amount::<Epsilon>::parse_up("0.1")?.times(count).ok_or("too much")?)
}

impl Conversation {
    fn new(restarts: bool, fails: Option<NonZeroU32>) -> Result<Self, Box<dyn Error>> {
        let budget = BudgetSpec::promising(Epsilon::new(f64::from(BUDGET) / 10.0)?);
        let budget = budget.resolve(Metric::Hamming(Adjacency::AddRemove))?;
        let mut journal = Unreliable::default();
        let account = Account::open("audited", budget, &mut journal).map_err(|_| "not opened")?;
        journal.fails = fails;
        Ok(Self { account, journal, restarts, drawn: 0 })
    }

    /// The program stops, and starts again from what is recorded.
    fn restart(&mut self) -> Result<(), Box<dyn Error>> {
        if self.restarts {
            self.account = Account::replay(self.journal.kept.entries())?;
        }
        Ok(())
    }

    /// One charge. Says whether it was refused.
    fn charge(&mut self, price: u32) -> Result<bool, Box<dyn Error>> {
        let charge = Charge::Pure { epsilon: tenths(price)?, delta: Amount::ZERO };
        let Ok(approved) = self.account.approve(charge) else { return Ok(true) };
        if let Ok(receipt) = self.account.commit(approved, &mut self.journal) {
            receipt.redeem();
            self.drawn += price;
        }
        self.restart()?;
        Ok(false)
    }

    /// A round of this worst case that comes to less, and is settled.
    fn round(&mut self, worst: u32, realised: u32) -> Result<bool, Box<dyn Error>> {
        let Ok(approved) = self.account.reserve(tenths(worst)?, Amount::ZERO) else {
            return Ok(true);
        };
        if let Ok(receipt) = self.account.commit(approved, &mut self.journal) {
            let round = receipt.redeem();
            self.drawn += realised;
            let settlement = round.settle_at(tenths(realised)?)?;
            // What is not settled stays at its worst case.
            let _ = self.account.settle(settlement, &mut self.journal);
        }
        self.restart()?;
        Ok(false)
    }

    /// The next point of a path, whose loss is that of its finest point.
    fn step(&mut self, path: u8, to: u32) -> Result<bool, Box<dyn Error>> {
        let (id, sensitivity) = (PathId::new([path; 32]), L1::new(1.0)?);
        let Ok(approved) = self.account.raise(id, tenths(to)?, sensitivity) else {
            return Ok(true);
        };
        if let Ok(receipt) = self.account.commit(approved, &mut self.journal) {
            let raise = receipt.redeem();
            let step = raise.price().to_f64() * 10.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let step = step.round() as u32;
            self.drawn += step;
        }
        self.restart()?;
        Ok(false)
    }
}

/// Buys something, and says whether it was refused.
type Buy = fn(&mut Conversation, u32) -> Result<bool, Box<dyn Error>>;

/// Buys one kind of thing until it is refused.
fn bought(
    what: &str,
    restarts: bool,
    fails: Option<NonZeroU32>,
    buy: Buy,
) -> Result<Finding, Box<dyn Error>> {
    let mut conversation = Conversation::new(restarts, fails)?;
    let mut turn = 0;
    while turn < MOST && !buy(&mut conversation, turn)? {
        turn += 1;
    }
    let budget = f64::from(BUDGET) / 10.0;
    // Where a journal fails, rounds that could not be settled stay at their worst case.
    let share = if fails.is_some() { 0.5 } else { 0.75 };
    Ok(Finding::new(what, "epsilon", f64::from(conversation.drawn) / 10.0)
        .within(share * budget..=budget + 1e-9))
}

fn account() -> Findings {
    let third = NonZeroU32::new(3);
    let mut findings = Vec::new();
    for (how, restarts, fails) in [
        ("", false, None),
        (", starting again after each", true, None),
        (", every third record failing", false, third),
        (", failing and starting again", true, third),
    ] {
        let mut add = |what: &str, buy: Buy| -> Result<(), Box<dyn Error>> {
            findings.push(bought(&format!("{what}{how}"), restarts, fails, buy)?);
            Ok(())
        };
        add("charges of 0.3", |talk, _| talk.charge(3))?;
        add("rounds of 0.5 that come to 0.4", |talk, _| talk.round(5, 4))?;
        add("points of one path", |talk, turn| talk.step(1, turn + 1))?;
        add("all of them", |talk, turn| match turn % 3 {
            0 => talk.charge(1),
            1 => talk.round(2, 1),
            _ => talk.step(2, turn / 3 + 1),
        })?;
    }
    Ok(findings)
}

/// One unit that alone has two keys, at a delta large enough to be seen.
fn keys(runs: u32) -> Findings {
    let (mut entropy, two) = (Seeded::new(171), NonZeroU32::new(2).ok_or("zero")?);
    let selection = KeySelection {
        rho: "0.0005".parse()?,
        delta: "0.02".parse()?,
        most: two,
        adjacency: Adjacency::AddRemove,
    };
    // Many units at once, each with two keys that nobody else has.
    let keys = (0..runs).flat_map(|unit| [0, 1].map(|key| ((unit, key), 1)));
    let counts = Exact::new(KeyCounts(keys.collect()), Touched(two));
    let budget = BudgetSpec::zcdp(Rho::new(10.0)?)
        .with_delta(Delta::new(0.5)?)
        .with_zcdp_delta(Delta::new(0.1)?)
        .resolve(Metric::Hamming(Adjacency::AddRemove))?;
    let mut account = Account::open("audited", budget, &mut NoHistory)?;
    let shown = select_keys(&counts, paid(&mut account, selection)?, &mut entropy)?.get();
    let units: BTreeSet<u32> = shown.into_iter().map(|(unit, _)| unit).collect();
    let hits = u32::try_from(units.len())?;
    let found = Count { hits, runs }.lowest(ALPHA);
    Ok(vec![Finding::new("either of two keys of one unit", "delta", found).within(0.01..=0.02)])
}
