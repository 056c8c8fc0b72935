//! A short life of a ledger, the same every time, and what must be true after it ended early.

use std::collections::HashMap;

use eke_budget::{Amount, Epsilon};
use eke_ledger::journal::What;
use eke_ledger::{Answer, Ledger, LedgerError, Reserve};

use crate::history::journals;
use crate::{ALONE, Place, amount, budget, key, path, request, show, spend, stamp};

/// What a caller heard before the end.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) charged: Vec<String>,
    pub(crate) answered: Vec<(String, String)>,
    pub(crate) settled: bool,
    /// How it ended; none if it went through.
    pub(crate) end: Option<LedgerError>,
}

/// Lives through the script until something fails, telling what it hears.
pub(crate) fn play(ledger: &Ledger, mut tell: impl FnMut(&str)) -> Told {
    let mut told = Told::default();
    let end = scenes(ledger, &mut told, &mut tell);
    told.end = end.err();
    told
}

fn scenes(ledger: &Ledger, told: &mut Told, tell: &mut dyn FnMut(&str)) -> Result<(), LedgerError> {
    for account in ["riders", "ana"] {
        ledger.open_account(account, budget("1"), stamp("steward")).wait()?;
    }
    for (number, to) in ["0.01", "0.02", "0.005", "0.03"].iter().enumerate() {
        let name = format!("path-{number}");
        let item = show(path(1), to);
        let outcome = ledger.charge(request(&name), "riders", item, vec![("ana", item)]).wait()?;
        let charged = outcome.charged().unwrap();
        told.charged.push(name.clone());
        tell(&format!("charged {name}"));
        let body = format!("answer {name}");
        let stored = Answer::new(body.clone()).with_state(name.clone());
        ledger.answer(charged.claim, stored, stamp("ana")).wait()?;
        tell(&format!("sent {name}"));
        told.answered.push((name, body));
    }
    let reserve = Reserve { worst: amount("0.5"), delta: Amount::ZERO };
    let outcome = ledger.charge(request("round"), "riders", reserve, ALONE).wait()?;
    let round = outcome.charged().unwrap().own.redeem();
    told.charged.push("round".into());
    let settlement = round.settle_at(amount("0.1")).unwrap();
    ledger.settle(vec![("riders", settlement)], stamp("ana")).wait()?;
    told.settled = true;
    match ledger.charge(request("too-much"), "riders", spend("1"), ALONE).wait() {
        Err(LedgerError::Refused(_)) => {}
        Err(error) => return Err(error),
        Ok(_) => panic!("overspent"),
    }
    for number in 0..3 {
        let name = format!("plain-{number}");
        let outcome = ledger.charge(request(&name), "riders", spend("0.01"), ALONE).wait()?;
        let charged = outcome.charged().unwrap();
        told.charged.push(name.clone());
        tell(&format!("charged {name}"));
        let body = format!("answer {name}");
        ledger.answer(charged.claim, Answer::new(body.clone()), stamp("ana")).wait()?;
        tell(&format!("sent {name}"));
        told.answered.push((name, body));
    }
    Ok(())
}

/// Checks a ledger after its end: everything that the caller heard is there, at most one thing more
/// is, and all of it is consistent.
pub(crate) fn check(place: &Place, told: &Told) {
    place.is_sound();
    let mut store = place.address().read_only().unwrap();
    let journals = journals(&mut *store);
    let mut charges: HashMap<String, usize> = HashMap::new();
    for line in journals.get("riders").into_iter().flatten() {
        if let (Some(key), What::Entry { .. }) = (&line.request, &line.what) {
            *charges.entry(key.to_string()).or_default() += 1;
        }
    }
    for name in &told.charged {
        assert_eq!(charges.get(name), Some(&1), "{name} was charged: {told:?}");
    }
    assert!(charges.values().all(|&times| times == 1), "charged twice: {charges:?}");
    assert!(charges.len() <= told.charged.len() + 1, "charged and not told: {charges:?}");
    for (name, body) in &told.answered {
        let stored = store.request(&key(name)).unwrap().and_then(|request| request.answer);
        assert_eq!(stored.as_deref(), Some(body.as_bytes()), "{name} was answered: {told:?}");
    }
    if told.settled {
        let riders = store.account("riders").unwrap().unwrap();
        assert_eq!(riders.standing.pure.unwrap().spent, amount::<Epsilon>("0.1"));
    }
}

/// Checks that a caller that retries hears the same again, and that nothing is drawn twice.
pub(crate) fn check_retries(ledger: &Ledger, told: &Told) {
    for (name, body) in &told.answered {
        let stored = ledger.stored_answer(key(name)).wait().unwrap().unwrap();
        assert_eq!(stored.body(), body.as_bytes());
    }
    if let Some(name) = told.charged.last().filter(|name| name.starts_with("plain")) {
        let again = ledger.charge(request(name), "riders", spend("0.01"), ALONE).wait();
        let answered = told.answered.iter().any(|(answered, _)| answered == name);
        match again {
            Ok(outcome) => assert!(outcome.answered().is_some(), "{name} is drawn twice"),
            Err(error) => {
                assert!(matches!(error, LedgerError::Unanswered(_)) && !answered, "{error}");
            }
        }
    }
}
