//! A child process that charges, answers and tells what it sent, killed at random moments.
//!
//! The child is this test binary, run again. What it wrote to its pipe before it died was sent: it
//! must be found in the ledger, charged once to every account, with the same answer.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

use eke_budget::PathId;
use eke_ledger::journal::What;
use eke_ledger::{Address, Digest, Ledger, LedgerError};
use eke_testkit::Dice;

use crate::history::journals;
use crate::{ALONE, Place, amount, answer, budget, key, request, show, spend, stamp};

const ADDRESS: &str = "EKE_TEST_CRASH_ADDRESS";
const NAME: &str = "EKE_TEST_CRASH_NAME";
/// How many kills share a ledger.
const KILLS_A_LEDGER: usize = 25;

/// How many kills: 300, and as many as `EKE_TEST_KILLS` says at night.
fn kills() -> usize {
    std::env::var("EKE_TEST_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(300)
}

/// What the answer to a key is, in this play.
fn body(key: &str) -> String {
    Digest::of(key.as_bytes()).to_string()
}

/// One thread of the child: asks, draws, stores, sends, for ever.
fn ask_for_ever(ledger: &Ledger, name: &str) {
    for number in 0.. {
        let key = format!("{name}-{number}");
        let path = PathId::new(*Digest::of(name.as_bytes()).bytes());
        let charged = if number % 3 == 0 {
            // Further and further along a path of its own.
            let item = show(path, &format!("{}", 0.0001 * f64::from(number + 1)));
            let outcome = ledger.charge(request(&key), "riders", item, vec![("ana", item)]).wait();
            outcome.map(|outcome| answer(ledger, outcome.charged().unwrap(), &body(&key)))
        } else {
            let circles = vec![("ana", spend("0.001"))];
            let outcome = ledger.charge(request(&key), "riders", spend("0.001"), circles).wait();
            outcome.map(|outcome| answer(ledger, outcome.charged().unwrap(), &body(&key)))
        };
        match charged {
            Ok(answered) => {
                let body = std::str::from_utf8(answered.body()).unwrap();
                // One write, so that a line is sent or not.
                let line = format!("sent {key} {body}\n");
                std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
            }
            // The budget is used up: go on being refused until the end.
            Err(LedgerError::Refused(_)) => {
                std::io::stdout().lock().write_all(b"refused\n").unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn the_child_asks_until_it_is_killed() {
    let (Ok(address), Ok(name)) = (std::env::var(ADDRESS), std::env::var(NAME)) else { return };
    let Ok(address) = Address::from_str(&address);
    let ledger = Ledger::open(&address).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (ledger, name) = (&ledger, format!("{name}-{thread}"));
            scope.spawn(move || ask_for_ever(ledger, &name));
        }
    });
}

fn child(place: &Place, name: &str) -> Child {
    let address = match place.address() {
        Address::File(path) => path.to_str().unwrap().to_owned(),
        Address::Postgres(url) => url,
    };
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::the_child_asks_until_it_is_killed", "--nocapture"])
        .env(ADDRESS, address)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a child, kills it after it has sent some answers, and says what it sent in all.
fn sent_before_death(mut child: Child, answers: u64) -> Vec<(String, String)> {
    let (mut sent, mut refused) = (Vec::new(), 0);
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut killed = false;
    let mut kill = |sent: u64, killed: &mut bool| {
        if !*killed && sent >= answers {
            child.kill().unwrap();
            *killed = true;
        }
    };
    // At zero it may not even have opened the ledger.
    kill(0, &mut killed);
    for line in out.lines().map_while(Result::ok) {
        let mut words = line.split(' ');
        if words.next() == Some("sent") {
            sent.push((words.next().unwrap().to_owned(), words.next().unwrap().to_owned()));
        } else if line == "refused" {
            refused += 1;
        } else if answers == 1 && line.starts_with("running") {
            // While it opens the ledger.
            kill(1, &mut killed);
        }
        kill(sent.len() as u64 + refused, &mut killed);
    }
    child.wait().unwrap();
    sent
}

/// How many of a round's answers are wrong, and how.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wrong {
    overspent: usize,
    charges_lost: usize,
    answers_without_a_charge: usize,
    answers_lost: usize,
}

fn look(place: &Place, sent: &[(String, String)]) -> Wrong {
    let mut wrong = Wrong::default();
    let mut store = place.address().read_only().unwrap();
    let journals = journals(&mut *store);
    // How often each key was charged and answered, in each account.
    let mut charged: HashMap<(&str, &str), usize> = HashMap::new();
    for (account, lines) in &journals {
        for line in lines {
            let Some(key) = line.request.as_ref().map(eke_ledger::Key::as_str) else { continue };
            match &line.what {
                What::Entry { .. } => *charged.entry((account, key)).or_default() += 1,
                What::Revealed { .. } if !charged.contains_key(&(&**account, key)) => {
                    wrong.answers_without_a_charge += 1;
                }
                _ => {}
            }
        }
    }
    for (name, body) in sent {
        for account in ["riders", "ana"] {
            if charged.get(&(account, name)) != Some(&1) {
                wrong.charges_lost += 1;
            }
        }
        let stored = store.request(&key(name)).unwrap().and_then(|request| request.answer);
        if stored.as_deref() != Some(body.as_bytes()) {
            wrong.answers_lost += 1;
        }
    }
    for account in ["riders", "ana"] {
        let purse = store.account(account).unwrap().unwrap().standing.zcdp.unwrap();
        wrong.overspent += usize::from(purse.spent > amount("0.1"));
    }
    wrong
}

fn killed_at_random(place_for: impl Fn() -> Place) {
    let mut dice = Dice(0x5eed_cafe);
    let (mut answers, mut early) = (0, 0);
    for ledger in 0..kills().div_ceil(KILLS_A_LEDGER) {
        let place = place_for();
        let opened = place.ledger();
        for account in ["riders", "ana"] {
            opened.open_account(account, budget("0.1"), stamp("steward")).wait().unwrap();
        }
        drop(opened);
        for kill in 0..KILLS_A_LEDGER {
            let child = child(&place, &format!("{ledger}-{kill}"));
            let sent = sent_before_death(child, dice.below(12));
            answers += sent.len();
            assert_eq!(look(&place, &sent), Wrong::default(), "ledger {ledger}, kill {kill}");
            if let Some((name, body)) = sent.last() {
                retried(&place, name, body);
            } else {
                early += 1;
            }
        }
        place.is_sound();
    }
    println!("{} kills, {answers} answers sent, {early} kills before the first", kills());
}

/// A caller that retries gets what was sent before, by whichever process.
fn retried(place: &Place, name: &str, body: &str) {
    let ledger = place.ledger();
    let stored = ledger.stored_answer(key(name)).wait().unwrap().unwrap();
    assert_eq!(stored.body(), body.as_bytes());
    let other = ledger.charge(request(name), "riders", spend("0.1"), ALONE).wait();
    assert!(matches!(other, Err(LedgerError::OtherRequest(_))));
}

#[test]
fn killed_at_random_moments_a_file_loses_no_charge_and_gives_no_answer_for_nothing() {
    killed_at_random(Place::file);
}

#[test]
fn killed_at_random_moments_postgres_loses_no_charge_and_gives_no_answer_for_nothing() {
    if Place::postgres().is_some() {
        killed_at_random(|| Place::postgres().unwrap());
    }
}
