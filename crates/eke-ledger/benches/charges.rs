//! How fast charges become durable: `scripts/with-postgres cargo bench -p eke-ledger`.
//!
//! Beside the ledger, in the same run, stand a bare loop of inserts on the same store, and what
//! eight connections reach that each write their own charges with one conditional update and one
//! insert. Without `EKE_TEST_POSTGRES` only the file is measured.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use eke_budget::metric::Reach;
use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, BudgetSpec, Charge, L2, Metric, PathId, Rho};
use eke_ledger::register::{Asking, Reserved, Settled, Short};
use eke_ledger::{
    Address, Answer, Digest, Ledger, Moment, RaiseGroups, Register, Request, Show, Spend, Stamp,
    Terms,
};
use postgres::{Client, NoTls};

const CENTRAL: Metric = Metric::Hamming(Adjacency::AddRemove);
const TIME: Duration = Duration::from_secs(2);
/// Kinds of callers are measured in turns.
const TURN: Duration = Duration::from_millis(500);
const TURNS: usize = 5;

static NEXT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    println!("{:<48} {:>9} {:>10}", "a second", "1 caller", "8 callers");
    file(folder);
    crowd(folder);
    match std::env::var("EKE_TEST_POSTGRES") {
        Ok(url) => database(&url),
        Err(_) => println!("\nPostgreSQL: not measured, run scripts/with-postgres cargo bench"),
    }
}

/// A register of 200,000 people: how long each step takes for all of them.
fn crowd(folder: &Path) {
    const PEOPLE: u32 = 200_000;
    let rho = |decimal: &str| decimal.parse::<Amount<Rho>>().unwrap();
    let timed = |what: &str, since: Instant| {
        println!(
            "{:<48} {:>9.2} s",
            format!("200,000 people: {what}"),
            since.elapsed().as_secs_f64()
        );
    };
    let path = folder.join("people.ledger");
    let terms = Terms { metric: Metric::Euclidean(Reach::Unlimited), space: "a city".into() };
    let mut register = Register::create(&path, &terms, &Stamp::now("steward")).unwrap();
    let ids: Vec<String> = (0..PEOPLE).map(|number| format!("person-{number}")).collect();
    let start = Instant::now();
    register.enrol(&ids, rho("1"), &Stamp::now("steward")).unwrap();
    timed("enrol", start);
    let wanted: Vec<(u32, Amount<Rho>)> = (0..PEOPLE).map(|person| (person, rho("0.1"))).collect();
    let asking = Asking {
        question: "count",
        dataset: "today",
        fingerprint: "0",
        holder: "bench",
        stamp: Stamp::now("ana"),
    };
    let start = Instant::now();
    let reserved = register.reserve(&asking, &wanted, Short::Fit).unwrap();
    timed("reserve", start);
    let Reserved::Granted(reservation) = reserved else { panic!("answered before") };
    let settlement = Settled {
        spent: vec![rho("0.05"); PEOPLE as usize],
        seen: (0..PEOPLE).map(|person| (person, vec![0; 32])).collect(),
        answer: Some(b"1".into()),
    };
    let start = Instant::now();
    register.settle(&reservation, &settlement, &Stamp::now("ana")).unwrap();
    timed("settle, with what was seen", start);
    drop(register);
    let start = Instant::now();
    let mut register = Register::open(&path).unwrap();
    timed("open and verify", start);
    let start = Instant::now();
    register.seen("today").unwrap();
    timed("read what was seen", start);
}

/// A caller of some kind: one for every number.
type Callers<'a> = Box<dyn Fn(usize) -> Box<dyn FnMut()> + Sync + 'a>;

/// Runs callers until the time is over, and says how many calls a second they made together.
fn rate(callers: usize, caller: &Callers<'_>) -> f64 {
    let start = std::sync::Barrier::new(callers);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..callers)
            .map(|number| {
                let start = &start;
                scope.spawn(move || {
                    let mut call = caller(number);
                    start.wait();
                    let begun = Instant::now();
                    let mut calls = 0.0;
                    while begun.elapsed() < TURN {
                        call();
                        calls += 1.0;
                    }
                    calls / begun.elapsed().as_secs_f64()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

/// Measures several kinds of callers in turns, so that all of them meet the same disk, prints the
/// median of each, and says those of eight callers.
fn compare(rows: &[(&str, Callers<'_>)]) -> Vec<f64> {
    let mut figures = vec![[Vec::new(), Vec::new()]; rows.len()];
    for _ in 0..TURNS {
        for ((_, caller), figures) in rows.iter().zip(&mut figures) {
            for (callers, figures) in [1, 8].into_iter().zip(figures) {
                figures.push(rate(callers, caller));
            }
        }
    }
    let mut eight = Vec::new();
    for ((what, _), figures) in rows.iter().zip(&mut figures) {
        let [one, many] = figures.each_mut().map(|figures| {
            figures.sort_by(f64::total_cmp);
            figures[TURNS / 2]
        });
        println!("{what:<48} {one:>9.0} {many:>10.0}");
        eight.push(many);
    }
    eight
}

fn stamp() -> Stamp {
    Stamp::new("ana", Moment::from_micros(0))
}

fn request() -> Request {
    let key = format!("q-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    Request::new(&key, stamp(), "SELECT count(*) FROM trips").unwrap()
}

fn open(address: &Address) -> Ledger {
    let ledger = Ledger::open(address).unwrap();
    let budget = BudgetSpec::zcdp(Rho::new(1e6).unwrap()).resolve(CENTRAL).unwrap();
    for account in ["riders", "ana"] {
        ledger.open_account(account, budget.clone(), stamp()).wait().unwrap();
    }
    ledger
}

fn spend() -> Spend<Charge> {
    Spend("rho=1e-9".parse().unwrap())
}

fn alone() -> Vec<(&'static str, Spend<Charge>)> {
    Vec::new()
}

fn charge(ledger: &Ledger, circles: Vec<(&str, Spend<Charge>)>) -> eke_ledger::Claim {
    let charged = ledger.charge(request(), "riders", spend(), circles).wait().unwrap();
    charged.charged().unwrap().claim
}

/// What the ledger does, for callers who share one and for callers who each have their own.
fn ledger_rows<'a>(ledger: &'a Ledger, address: &'a Address) -> Vec<(&'static str, Callers<'a>)> {
    let shared = |call: fn(&Ledger)| -> Callers<'a> {
        Box::new(move |_| {
            let ledger = ledger.clone();
            Box::new(move || call(&ledger))
        })
    };
    vec![
        (
            "a charge, a ledger a caller",
            Box::new(move |_| {
                let ledger = Ledger::open(address).unwrap();
                Box::new(move || drop(charge(&ledger, alone())))
            }),
        ),
        ("a charge", shared(|ledger| drop(charge(ledger, alone())))),
        ("a charge on two accounts", shared(|ledger| drop(charge(ledger, vec![("ana", spend())])))),
        (
            "a charge, then its answer",
            shared(|ledger| {
                let claim = charge(ledger, alone());
                ledger.answer(claim, Answer::new("1234"), stamp()).wait().unwrap();
            }),
        ),
    ]
}

fn measure<'a>(bare: Vec<(&'static str, Callers<'a>)>, ledger: &'a Ledger, address: &'a Address) {
    let mut rows = bare;
    rows.extend(ledger_rows(ledger, address));
    let eight = compare(&rows);
    println!(
        "charges from 8 callers: {:.1} times what 8 connections reach with UPDATE and INSERT, {:.1} times 8 ledgers",
        eight[3] / eight[1],
        eight[3] / eight[2]
    );
}

fn file(folder: &Path) {
    println!("\nSQLite {}", rusqlite::version());
    let bare = folder.join("bare");
    let connect = |path: &PathBuf| {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
        connection
    };
    let tables = "CREATE TABLE spent (id INTEGER PRIMARY KEY, spent INTEGER); \
                  CREATE TABLE entry (id INTEGER PRIMARY KEY, body TEXT); \
                  INSERT INTO spent VALUES (0, 0);";
    connect(&bare).execute_batch(tables).unwrap();
    let insert: Callers<'_> = Box::new(|_| {
        let connection = connect(&bare);
        Box::new(move || {
            connection.execute("INSERT INTO entry (body) VALUES (?1)", ["x".repeat(250)]).unwrap();
        })
    });
    let separate: Callers<'_> = Box::new(|_| {
        let connection = connect(&bare);
        Box::new(move || {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let sql = "UPDATE spent SET spent = spent + 1 WHERE id = 0 AND spent < 1000000000";
            connection.execute(sql, []).unwrap();
            connection.execute("INSERT INTO entry (body) VALUES (?1)", ["x".repeat(250)]).unwrap();
            connection.execute_batch("COMMIT").unwrap();
        })
    });
    let address = Address::File(folder.join("eke.ledger"));
    let ledger = open(&address);
    let bare = vec![
        ("bare INSERT, a connection a caller", insert),
        ("UPDATE and INSERT, a connection a caller", separate),
    ];
    measure(bare, &ledger, &address);
    big(&address);
}

fn database(url: &str) {
    let mut client = Client::connect(url, NoTls).unwrap();
    println!("\nPostgreSQL");
    let tables = "DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; \
                  CREATE TABLE bench.spent (id int PRIMARY KEY, spent bigint); \
                  CREATE TABLE bench.entry (id bigserial PRIMARY KEY, body text); \
                  INSERT INTO bench.spent VALUES (0, 0);";
    client.batch_execute(tables).unwrap();
    let prepared = |sql: &'static str| -> Callers<'_> {
        Box::new(move |_| {
            let mut client = Client::connect(url, NoTls).unwrap();
            let statement = client.prepare(sql).unwrap();
            Box::new(move || {
                client.execute(&statement, &[&"x".repeat(250)]).unwrap();
            })
        })
    };
    let insert = prepared("INSERT INTO bench.entry (body) VALUES ($1)");
    let separate = prepared(
        "WITH paid AS (UPDATE bench.spent SET spent = spent + 1 \
         WHERE id = 0 AND spent < 1000000000 RETURNING 1) \
         INSERT INTO bench.entry (body) SELECT $1 FROM paid",
    );
    let address = Address::Postgres(format!("{url}?options=-csearch_path%3Dbench"));
    let ledger = open(&address);
    let bare = vec![
        ("bare INSERT, a connection a caller", insert),
        ("UPDATE and INSERT, a connection a caller", separate),
    ];
    measure(bare, &ledger, &address);
    big(&address);
    drop(ledger);
    client.batch_execute("DROP SCHEMA bench CASCADE").unwrap();
}

/// A million points looked up, and a million groups in one round.
fn big(address: &Address) {
    let ledger = open(address);
    let many = 1_000_000_u32;
    let fill = Instant::now();
    fill_points(address, many);
    let filled = fill.elapsed().as_secs_f64();
    let mut next = 0_u64;
    let begun = Instant::now();
    let mut looked = 0_u32;
    while begun.elapsed() < TIME {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let path = point(u32::try_from(next >> 33).unwrap() % many);
        assert!(ledger.path(path).wait().unwrap().is_some());
        looked += 1;
    }
    let each = begun.elapsed().as_secs_f64() / f64::from(looked) * 1e6;
    println!("a look at one of {many} paths (stored in {filled:.0} s): {each:.0} µs");
    let one = L2::new(1.0).unwrap();
    let begun = Instant::now();
    let mut steps = 0_u32;
    while begun.elapsed() < TIME {
        let path = point(many + steps);
        let item = Show::<Rho> { path, to: Amount::GRAIN, sensitivity: one };
        let none: Vec<(&str, Spend<Charge>)> = Vec::new();
        let charged = ledger.charge(request(), "riders", item, none).wait().unwrap();
        let claim = charged.charged().unwrap().claim;
        ledger.answer(claim, Answer::new("1").with_state("1"), stamp()).wait().unwrap();
        steps += 1;
    }
    let each = begun.elapsed().as_secs_f64() / f64::from(steps) * 1e6;
    println!("beside them a new path charged, drawn and answered: {each:.0} µs");

    let mut prices = GroupPrices::<Rho>::new(many, std::num::NonZeroU32::new(3).unwrap(), CENTRAL);
    let mut round = prices.round();
    for group in 0..many {
        round.raise(group, Amount::from_grains(u128::from(group) + 1)).unwrap();
    }
    let item = RaiseGroups::new(round.offer(PathId::new([9; 32])));
    let begun = Instant::now();
    let none: Vec<(&str, Spend<Charge>)> = Vec::new();
    let charged = ledger.charge(request(), "riders", item, none).wait().unwrap().charged().unwrap();
    let paid = begun.elapsed().as_secs_f64();
    let values = vec![7_u8; 8 * many as usize];
    let begun = Instant::now();
    ledger.answer(charged.claim, Answer::new("done").with_round(values), stamp()).wait().unwrap();
    let stored = begun.elapsed().as_secs_f64();
    println!("a round of {many} groups: {paid:.2} s to charge, {stored:.2} s to store");
}

fn point(number: u32) -> PathId {
    PathId::new(*Digest::of(&number.to_le_bytes()).bytes())
}

/// Puts many paths into the store, behind the ledger's back: this is about looking them up.
fn fill_points(address: &Address, many: u32) {
    match address {
        Address::File(path) => {
            let mut connection = rusqlite::Connection::open(path).unwrap();
            let transaction = connection.transaction().unwrap();
            let sql = "INSERT INTO path (path, account, state) VALUES (?1, 'riders', x'00')";
            let mut statement = transaction.prepare(sql).unwrap();
            for number in 0..many {
                statement.execute([point(number).digest()]).unwrap();
            }
            drop(statement);
            transaction.commit().unwrap();
        }
        Address::Postgres(url) => {
            use std::io::Write;
            let mut client = Client::connect(url, NoTls).unwrap();
            let sql = "COPY eke_path (path, account, state) FROM STDIN";
            let mut copy = client.copy_in(sql).unwrap();
            for number in 0..many {
                writeln!(copy, "\\\\x{}\triders\t\\\\x00", point(number)).unwrap();
            }
            copy.finish().unwrap();
        }
    }
    let mut store = address.read_only().unwrap();
    assert!(store.path(point(0)).unwrap().is_some());
}
