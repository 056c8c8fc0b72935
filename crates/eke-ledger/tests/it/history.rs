//! A checker of histories: what callers heard, and what the journal says, must be one serial story
//! in which every answer was paid for once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use eke_budget::{Account, Amount, Charge, Entry, Event, PathId};
use eke_ledger::journal::{Line, What};
use eke_ledger::store::Store;
use eke_ledger::{Ledger, LedgerError, Reserve, Show, Spend};
use eke_testkit::Dice;

use crate::{Place, answer, budget, on_every_store, path, request, show, spend, stamp};

/// What a caller heard of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// Charged, with the account and number of every receipt.
    Charged(Vec<(Arc<str>, u64)>),
    /// Answered, and sent.
    Sent(Vec<u8>),
    /// Refused, or not possible.
    No,
}

/// What all callers heard, by key.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) told: Vec<(String, Told)>,
}

/// All lines of every journal.
pub(crate) fn journals(store: &mut dyn Store) -> HashMap<Arc<str>, Vec<Line>> {
    let mut journals = HashMap::new();
    for name in store.names(None, 10_000).unwrap() {
        let rows = store.lines(&name, 0, u32::MAX >> 1).unwrap();
        let lines = rows.iter().map(|row| serde_json::from_str(&row.body).unwrap()).collect();
        journals.insert(name, lines);
    }
    journals
}

impl History {
    /// Compares the history with the journals, and says the first thing that does not fit.
    pub(crate) fn check(&self, journals: &HashMap<Arc<str>, Vec<Line>>) -> Result<(), String> {
        let mut charged: HashMap<String, HashSet<(Arc<str>, u64)>> = HashMap::new();
        let mut revealed: HashMap<String, usize> = HashMap::new();
        let mut increments: HashSet<(Arc<str>, PathId, u32)> = HashSet::new();
        for (name, lines) in journals {
            let mut account: Option<Account> = None;
            for line in lines {
                let key = line.request.as_ref().map(ToString::to_string);
                match &line.what {
                    What::Entry { sequence, event, .. } => {
                        let (sequence, event) = (*sequence, event.clone());
                        if let Event::Raised { path, increment, .. } = event
                            && !increments.insert((Arc::clone(name), path, increment))
                        {
                            return Err(format!("{name}: increment {increment} was sold twice"));
                        }
                        let entry = Entry { account: Arc::clone(name), sequence, event };
                        match &mut account {
                            None => account = Some(Account::replay([&entry]).unwrap()),
                            Some(account) => {
                                account.follow(&entry).map_err(|error| error.to_string())?;
                            }
                        }
                        if let Some(key) = key
                            && !charged
                                .entry(key.clone())
                                .or_default()
                                .insert((Arc::clone(name), sequence))
                        {
                            return Err(format!("{key} was charged twice"));
                        }
                    }
                    What::Refused { asked, .. } => {
                        // In this order, at this place, the filter really says no.
                        let account = account.as_mut().ok_or("refused before it was opened")?;
                        if account.approve(*asked).is_ok() {
                            return Err(format!(
                                "{name}: {asked} was refused and would have fitted"
                            ));
                        }
                    }
                    What::Revealed { .. } => {
                        let key = key.ok_or("an answer without a request")?;
                        let paid = charged
                            .get(&key)
                            .is_some_and(|paid| paid.iter().any(|(account, _)| account == name));
                        if !paid {
                            return Err(format!("{key} was answered and {name} was not charged"));
                        }
                        *revealed.entry(key).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        self.check_told(&charged, &revealed)
    }

    fn check_told(
        &self,
        charged: &HashMap<String, HashSet<(Arc<str>, u64)>>,
        revealed: &HashMap<String, usize>,
    ) -> Result<(), String> {
        let mut last: HashMap<&str, &Told> = HashMap::new();
        let mut receipts = HashSet::new();
        for (key, told) in &self.told {
            match told {
                Told::Charged(paid) => {
                    let paid_for: HashSet<_> = paid.iter().cloned().collect();
                    if charged.get(key) != Some(&paid_for) {
                        return Err(format!("{key} has other charges than receipts"));
                    }
                    if !paid.iter().all(|receipt| receipts.insert(receipt.clone())) {
                        return Err(format!("{key} has a receipt of another request"));
                    }
                }
                Told::Sent(body) => {
                    if let Some(Told::Sent(before)) = last.get(&**key)
                        && before != body
                    {
                        return Err(format!("{key} was answered in two ways"));
                    }
                    if !charged.contains_key(key) {
                        return Err(format!("{key} was answered and not charged"));
                    }
                    if revealed.get(key) != Some(&charged[key].len()) {
                        return Err(format!("{key} was sent and is not in the journal once"));
                    }
                }
                Told::No => {
                    if charged.contains_key(key) {
                        return Err(format!("{key} was not answered, and is charged"));
                    }
                }
            }
            last.insert(key, told);
        }
        Ok(())
    }
}

/// A caller who asks at random, and writes down what it hears.
fn caller(ledger: &Ledger, name: &str, dice: &mut Dice, history: &Mutex<History>) {
    let tell = |key: &str, told| history.lock().unwrap().told.push((key.to_owned(), told));
    let mut sent: Vec<(String, Spend<Charge>, Vec<u8>)> = Vec::new();
    for number in 0..30 {
        let key = format!("{name}-{number}");
        match dice.below(8) {
            0..3 => {
                let item = spend(&format!("0.00{}", dice.below(9) + 1));
                let circles = vec![("ana", item.clone()), ("partners", item.clone())];
                match ledger.charge(request(&key), "riders", item.clone(), circles).wait() {
                    Ok(outcome) => {
                        let charged = outcome.charged().unwrap();
                        let entries: Vec<_> = std::iter::once(charged.own.entry())
                            .chain(charged.others.iter().map(eke_budget::Receipt::entry))
                            .map(|entry| (Arc::clone(&entry.account), entry.sequence))
                            .collect();
                        tell(&key, Told::Charged(entries));
                        if dice.below(4) > 0 {
                            let body = answer(ledger, charged, &key).body().to_vec();
                            tell(&key, Told::Sent(body));
                        }
                    }
                    Err(LedgerError::Refused(_)) => tell(&key, Told::No),
                    Err(error) => panic!("{error}"),
                }
            }
            3..6 => {
                let to = format!("0.00{}", dice.below(90) + 1);
                let item = show(path(u8::try_from(dice.below(3)).unwrap()), &to);
                let circles: Vec<(&str, Show<_>)> = vec![("partners", item)];
                match ledger.charge(request(&key), "riders", item, circles).wait() {
                    Ok(outcome) => {
                        let body = answer(ledger, outcome.charged().unwrap(), &key).body().to_vec();
                        tell(&key, Told::Sent(body));
                    }
                    Err(LedgerError::Refused(_) | LedgerError::UnderWay { .. }) => {
                        tell(&key, Told::No);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            6 => {
                let worst = Amount::from_grains(u128::from(dice.below(50) + 1) * 10_u128.pow(27));
                let reserve = Reserve { worst, delta: Amount::ZERO };
                let alone: Vec<(&str, Reserve)> = Vec::new();
                match ledger.charge(request(&key), "riders", reserve, alone).wait() {
                    Ok(outcome) => {
                        let round = outcome.charged().unwrap().own.redeem();
                        let settlement = round.settle_at(Amount::GRAIN).unwrap();
                        ledger.settle(vec![("riders", settlement)], stamp(name)).wait().unwrap();
                    }
                    Err(LedgerError::Refused(_)) => tell(&key, Told::No),
                    Err(error) => panic!("{error}"),
                }
            }
            _ => {
                let item = spend("0.001");
                let key = format!("{name}-again-{}", dice.below(3));
                let alone: Vec<(&str, Spend<Charge>)> = Vec::new();
                match ledger.charge(request(&key), "riders", item.clone(), alone).wait() {
                    Ok(outcome) => {
                        let before = sent.iter().find(|(sent, ..)| *sent == key);
                        let body = match (outcome, before) {
                            (eke_ledger::Outcome::Charged(charged), None) => {
                                answer(ledger, *charged, &format!("{key} of {number}"))
                            }
                            (eke_ledger::Outcome::Answered(answered), Some((_, _, body))) => {
                                assert_eq!(answered.body(), body);
                                answered
                            }
                            other => panic!("{other:?}"),
                        };
                        tell(&key, Told::Sent(body.body().to_vec()));
                        sent.push((key, item, body.body().to_vec()));
                    }
                    Err(LedgerError::Refused(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// Many callers over several ledgers of one store.
fn workload(place: &Place, seed: u64) -> History {
    let ledgers: Vec<Ledger> = (0..3).map(|_| place.ledger()).collect();
    for (name, size) in [("riders", "0.9"), ("ana", "0.3"), ("partners", "0.4")] {
        ledgers[0].open_account(name, budget(size), stamp("steward")).wait().unwrap();
    }
    let history = Mutex::new(History::default());
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (ledger, history) = (&ledgers[number % 3], &history);
            let mut dice = Dice(seed * 100 + number as u64 + 1);
            scope.spawn(move || caller(ledger, &format!("c{number}"), &mut dice, history));
        }
    });
    history.into_inner().unwrap()
}

#[test]
fn random_histories_are_serial_stories_in_which_every_answer_was_paid_once() {
    for seed in 1..=5 {
        on_every_store(|place| {
            let history = workload(place, seed);
            let journals = journals(&mut *place.address().read_only().unwrap());
            assert_eq!(history.check(&journals), Ok(()));
            place.is_sound();
        });
    }
}

/// A history that was tampered with: what was done to it.
type Tampered = (&'static str, fn(&mut History, &mut HashMap<Arc<str>, Vec<Line>>));

#[test]
fn the_checker_finds_what_is_wrong() {
    let tampered: [Tampered; 6] = [
        ("a charge is missing", |_, journals| {
            let lines = journals.get_mut("ana").unwrap();
            let charge = |line: &Line| line.request.is_some() && is_entry(line);
            let at = lines.iter().rposition(charge).unwrap();
            lines.remove(at);
        }),
        ("an account was not charged", |_, journals| {
            journals.get_mut("partners").unwrap().retain(|line| line.request.is_none());
        }),
        ("an answer was sent that is not stored", |history, _| {
            history.told.push(("nobody".into(), Told::Sent(Vec::new())));
        }),
        ("an answer was sent twice, differently", |history, _| {
            let sent = history.told.iter().rfind(|(_, told)| matches!(told, Told::Sent(_)));
            let (key, _) = sent.unwrap().clone();
            history.told.push((key, Told::Sent(b"another".to_vec())));
        }),
        ("a charge was refused that fits", |_, journals| {
            let lines = journals.get_mut("riders").unwrap();
            let mut refused = lines[0].clone();
            let asked = "rho=0.001".parse().unwrap();
            refused.what = What::Refused { asked, fits: None };
            lines.insert(1, refused);
        }),
        ("a receipt is used by two", |history, _| {
            let charged = history.told.iter().find(|(_, told)| matches!(told, Told::Charged(_)));
            let (_, told) = charged.unwrap().clone();
            history.told.push(("thief".into(), told));
        }),
    ];
    for (what, tamper) in tampered {
        let place = Place::file();
        let mut history = workload(&place, 7);
        let mut journals = journals(&mut *place.address().read_only().unwrap());
        assert_eq!(history.check(&journals), Ok(()));
        tamper(&mut history, &mut journals);
        assert!(history.check(&journals).is_err(), "{what}");
    }
}

fn is_entry(line: &Line) -> bool {
    matches!(line.what, What::Entry { .. })
}
