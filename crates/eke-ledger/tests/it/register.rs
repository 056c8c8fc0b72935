//! Accounts of many people: reserved, settled, given up, killed, raced for, damaged.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use eke_budget::metric::Reach;
use eke_budget::{Amount, Metres, Metric, Rho};
use eke_ledger::register::{
    Asking, Happened, RegisterError, Reservation, Reserved, Settled, Short,
};
use eke_ledger::{Register, Terms};
use eke_testkit::Dice;

use crate::{Place, amount, stamp};

const FILE: &str = "EKE_TEST_REGISTER";

fn terms() -> Terms {
    let reach = Reach::Within(Metres::new(10_000.0).unwrap());
    Terms { metric: Metric::Euclidean(reach), space: "a city".into() }
}

fn register(place: &Place) -> Register {
    Register::create(&place.path(), &terms(), &stamp("steward")).unwrap()
}

/// A register of n people with a budget of 1 each.
fn enrolled(place: &Place, people: u32) -> Register {
    let mut register = register(place);
    let ids: Vec<String> = (0..people).map(|number| format!("p{number}")).collect();
    register.enrol(&ids, amount("1"), &stamp("steward")).unwrap();
    register
}

fn asking<'a>(question: &'a str, dataset: &'a str) -> Asking<'a> {
    Asking { question, dataset, fingerprint: "1", holder: "test/1", stamp: stamp("ana") }
}

fn ask(
    register: &mut Register,
    question: &str,
    dataset: &str,
    wanted: &[(u32, Amount<Rho>)],
) -> Result<Reservation, RegisterError> {
    match register.reserve(&asking(question, dataset), wanted, Short::Fit)? {
        Reserved::Granted(reservation) => Ok(reservation),
        Reserved::Answered(answer) => panic!("answered before: {answer:?}"),
    }
}

fn settle(
    register: &mut Register,
    reservation: &Reservation,
    spent: Vec<Amount<Rho>>,
    answer: &str,
) -> Result<(), RegisterError> {
    let settlement = Settled { spent, seen: Vec::new(), answer: Some(answer.into()) };
    register.settle(reservation, &settlement, &stamp("ana"))
}

/// What everybody has spent and reserved.
fn accounts(register: &mut Register) -> Vec<(Amount<Rho>, Amount<Rho>)> {
    register.people().unwrap().iter().map(|person| (person.spent, person.reserved)).collect()
}

#[cfg(unix)]
#[test]
fn a_new_register_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::file();
    let _register = enrolled(&place, 3);
    let mode = std::fs::metadata(place.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_reserved_is_taken_and_what_is_not_spent_goes_back() {
    let place = Place::file();
    let mut register = enrolled(&place, 3);
    let wanted = [(0, amount("0.4")), (2, amount("0.7"))];
    let first = ask(&mut register, "q1", "monday", &wanted).unwrap();
    assert_eq!(first.granted(), wanted);
    let nothing = Amount::ZERO;
    let held = [(nothing, amount("0.4")), (nothing, nothing), (nothing, amount("0.7"))];
    assert_eq!(accounts(&mut register), held);
    // Another question, about places of another name, at the same time: a person who is short gives
    // what fits, or nothing.
    let all = [(0, amount("0.5")), (1, amount("0.5")), (2, amount("0.5"))];
    let second = ask(&mut register, "q1", "tuesday", &all).unwrap();
    assert_eq!(second.granted(), [all[0], all[1], (2, amount("0.3"))]);
    let third = register.reserve(&asking("q1", "friday"), &all, Short::Nothing).unwrap();
    let Reserved::Granted(third) = third else { panic!("answered") };
    assert_eq!(third.granted(), [(0, nothing), all[1], (2, nothing)]);

    settle(&mut register, &first, vec![amount("0.1"), amount("0.7")], "42").unwrap();
    let after = accounts(&mut register);
    assert_eq!(after[0], (amount("0.1"), amount("0.5")));
    assert_eq!(after[2], (amount("0.7"), amount("0.3")));
    // It is settled once.
    let again = settle(&mut register, &first, vec![nothing, nothing], "43");
    assert_eq!(again, Err(RegisterError::NotUnderWay(first.number())));
    assert_eq!(accounts(&mut register), after);
    // A repeated question gets the same answer, and nothing is taken.
    let heard = register.reserve(&asking("q1", "monday"), &all, Short::Fit).unwrap();
    assert_eq!(heard, Reserved::Answered(b"42".into()));
    assert_eq!(register.answer("monday", "q1").unwrap(), Some(b"42".into()));
    assert_eq!(accounts(&mut register), after);

    register.give_up(second.number(), &stamp("steward")).unwrap();
    assert_eq!(accounts(&mut register)[0], (amount("0.6"), nothing));
    let late = settle(&mut register, &second, vec![nothing; 3], "late");
    assert_eq!(late, Err(RegisterError::NotUnderWay(second.number())));
    assert_eq!(register.answer("tuesday", "q1").unwrap(), None);
    settle(&mut register, &third, vec![nothing; 3], "nobody").unwrap();
    // What comes to nothing is paid for as far as it went, and may be asked again.
    let fourth = ask(&mut register, "q2", "monday", &[(1, amount("0.2"))]).unwrap();
    let nothing_said = Settled { spent: vec![amount("0.1")], ..Settled::default() };
    register.settle(&fourth, &nothing_said, &stamp("ana")).unwrap();
    assert_eq!(register.answer("monday", "q2").unwrap(), None);
    ask(&mut register, "q2", "monday", &[(1, amount("0.2"))]).unwrap();
    register.verify().unwrap();
}

#[test]
fn a_price_above_what_is_reserved_is_an_error_and_stays_reserved() {
    let place = Place::file();
    let mut register = enrolled(&place, 2);
    let wanted = [(0, amount("0.4")), (1, amount("0.4"))];
    let asked = ask(&mut register, "q", "d", &wanted).unwrap();
    let before = accounts(&mut register);
    let more = settle(&mut register, &asked, vec![amount("0.1"), amount("0.41")], "x");
    assert_eq!(more, Err(RegisterError::TooMuch(asked.number())));
    let fewer = settle(&mut register, &asked, vec![amount("0.1")], "x");
    assert_eq!(fewer, Err(RegisterError::Amounts { people: 2, amounts: 1 }));
    assert_eq!((accounts(&mut register), register.answer("d", "q").unwrap()), (before, None));
    settle(&mut register, &asked, vec![amount("0.1"), amount("0.4")], "x").unwrap();
}

#[test]
fn budgets_terms_and_people_are_for_good() {
    let place = Place::file();
    let mut register = enrolled(&place, 2);
    let again = register.enrol(&["p1", "p2", "p2"], amount("9"), &stamp("steward")).unwrap();
    assert_eq!(again, 1);
    let budgets: Vec<_> =
        register.people().unwrap().into_iter().map(|person| person.budget).collect();
    assert_eq!(budgets, [amount("1"), amount("1"), amount("9")]);
    let lines = register.journal().unwrap().len();
    assert_eq!(register.enrol(&["p0"], amount("5"), &stamp("steward")), Ok(0));
    assert_eq!(register.journal().unwrap().len(), lines);
    let long = "x".repeat(257);
    for id in ["", "a\0b", &long] {
        let refused = register.enrol(&["new", id], amount("1"), &stamp("steward"));
        assert!(matches!(refused, Err(RegisterError::Length { .. })), "{refused:?}");
    }
    assert_eq!(register.people().unwrap().len(), 3);
    drop(register);

    let mut other = terms();
    other.space = "another city".into();
    let refused = Register::create(&place.path(), &other, &stamp("steward")).unwrap_err();
    assert!(refused.to_string().contains("terms never change"), "{refused}");
    assert_eq!(*Register::open(&place.path()).unwrap().terms(), terms());
    // Behind its back: the file itself says no.
    let raw = rusqlite::Connection::open(place.path()).unwrap();
    for sql in [
        "UPDATE person SET budget = x'000000000000000000000000000000ff'",
        "DELETE FROM person",
        "UPDATE person SET spent = x'ff00000000000000000000000000000000'",
        "DELETE FROM journal",
        "UPDATE journal SET body = ''",
    ] {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
}

#[test]
fn people_are_named_in_order_and_questions_have_a_text() {
    let place = Place::file();
    let mut register = enrolled(&place, 3);
    for wanted in [vec![(1, amount("0.1")), (1, amount("0.1"))], vec![(3, amount("0.1"))]] {
        let refused = ask(&mut register, "q", "d", &wanted);
        assert_eq!(refused, Err(RegisterError::Who(3)));
    }
    for (question, dataset) in [("", "d"), ("q", "")] {
        let refused = register.reserve(&asking(question, dataset), &[], Short::Fit);
        assert!(matches!(refused, Err(RegisterError::Length { .. })), "{refused:?}");
    }
    assert_eq!(register.under_way().unwrap(), []);
}

#[test]
fn one_question_at_a_time_draws_from_the_same_places() {
    let place = Place::file();
    let mut register = enrolled(&place, 2);
    let first = ask(&mut register, "q1", "d", &[(0, amount("0.1"))]).unwrap();
    let mut other = Register::open(&place.path()).unwrap();
    let refused = ask(&mut other, "q2", "d", &[(1, amount("0.1"))]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "question 2 about the same places is being answered by `test/1`: wait until it is, or give it up if it never will be"
    );
    let under_way = other.under_way().unwrap();
    assert_eq!((under_way.len(), under_way[0].number, &*under_way[0].question), (1, 2, "q1"));
    // Places that have changed have another name, whatever the question.
    let moved = Asking { fingerprint: "2", ..asking("q1", "d") };
    let refused = other.reserve(&moved, &[], Short::Fit).unwrap_err();
    assert_eq!(refused, RegisterError::OtherPlaces("d".into()));
    // What was released comes with the settlement, and is replaced by what comes later.
    let seen = |person, bytes: &str| (person, bytes.as_bytes().to_vec());
    let mut settlement = Settled {
        spent: vec![amount("0.1")],
        seen: vec![seen(0, "here"), seen(1, "there")],
        answer: Some(b"1".into()),
    };
    register.settle(&first, &settlement, &stamp("ana")).unwrap();
    assert_eq!(other.seen("d").unwrap(), settlement.seen);
    assert_eq!(other.seen("e").unwrap(), []);
    let second = ask(&mut other, "q2", "d", &[(0, amount("0.1"))]).unwrap();
    settlement.seen = vec![seen(0, "closer")];
    other.settle(&second, &settlement, &stamp("ana")).unwrap();
    assert_eq!(register.seen("d").unwrap(), [seen(0, "closer"), seen(1, "there")]);
}

/// A model of a register.
#[derive(Clone, Default)]
struct Model {
    budgets: Vec<u128>,
    spent: Vec<u128>,
    open: BTreeMap<String, (u64, Vec<(u32, u128)>)>,
    answered: BTreeMap<(String, String), Vec<u8>>,
}

impl Model {
    fn reserved(&self, person: u32) -> u128 {
        let all = self.open.values().flat_map(|(_, held)| held);
        all.filter(|(who, _)| *who == person).map(|(_, held)| held).sum()
    }

    fn left(&self, person: u32) -> u128 {
        let at = person as usize;
        self.budgets[at] - self.spent[at] - self.reserved(person)
    }
}

/// Anything in any order, by two handles on one file that is opened again at any time, compared
/// with a model.
#[test]
fn no_order_of_questions_ever_exceeds_an_account() {
    const ROUNDS: usize = 12;
    const STEPS: usize = 60;
    let rho = Amount::<Rho>::from_grains;
    let mut dice = Dice(0x91ac_e5ed);
    for round in 0..ROUNDS {
        let place = Place::file();
        let mut handles = [register(&place), register(&place)];
        let mut open: BTreeMap<String, Reservation> = BTreeMap::new();
        let mut model = Model::default();
        for step in 0..STEPS {
            let hand = usize::try_from(dice.below(2)).unwrap();
            let dataset = format!("d{}", dice.below(3));
            match dice.below(8) {
                0 => {
                    let budget = u128::from(dice.below(20));
                    let id = format!("p{}", dice.below(9));
                    let new = handles[hand].enrol(&[&id], rho(budget), &stamp("steward")).unwrap();
                    if new == 1 {
                        model.budgets.push(budget);
                        model.spent.push(0);
                    }
                }
                1..=3 => {
                    let mut wanted = Vec::new();
                    for person in 0..u32::try_from(model.budgets.len()).unwrap() {
                        if dice.below(3) > 0 {
                            wanted.push((person, rho(u128::from(dice.below(9)))));
                        }
                    }
                    let question = format!("q{}", dice.below(12));
                    let short =
                        [Short::Fit, Short::Nothing][usize::try_from(dice.below(2)).unwrap()];
                    let told = handles[hand].reserve(&asking(&question, &dataset), &wanted, short);
                    if let Some(answer) = model.answered.get(&(dataset.clone(), question)) {
                        assert_eq!(told, Ok(Reserved::Answered(answer.clone())));
                        continue;
                    }
                    if let Some((number, _)) = model.open.get(&dataset) {
                        let holder = "test/1".into();
                        assert_eq!(told, Err(RegisterError::UnderWay { number: *number, holder }));
                        continue;
                    }
                    let Ok(Reserved::Granted(granted)) = told else { panic!("{told:?}") };
                    let fits = |&(person, wanted): &(u32, Amount<Rho>)| {
                        let left = model.left(person);
                        let short = if short == Short::Fit { left } else { 0 };
                        let granted = if wanted.grains() <= left { wanted.grains() } else { short };
                        (person, granted)
                    };
                    let held: Vec<(u32, u128)> = wanted.iter().map(fits).collect();
                    let grains = |&(person, held): &(u32, Amount<Rho>)| (person, held.grains());
                    assert_eq!(granted.granted().iter().map(grains).collect::<Vec<_>>(), held);
                    model.open.insert(dataset.clone(), (granted.number(), held));
                    // Some programs die here.
                    if dice.below(4) > 0 {
                        open.insert(dataset, granted);
                    }
                }
                4 | 5 => {
                    let Some(granted) = open.remove(&dataset) else { continue };
                    let part = |&(_, held): &(u32, Amount<Rho>)| {
                        rho(u128::from(dice.below(1 + u64::try_from(held.grains()).unwrap())))
                    };
                    let spent: Vec<Amount<Rho>> = granted.granted().iter().map(part).collect();
                    let answer = format!("{round}/{step}");
                    let told = settle(&mut handles[hand], &granted, spent.clone(), &answer);
                    let still =
                        model.open.get(&dataset).is_some_and(|(n, _)| *n == granted.number());
                    if !still {
                        assert_eq!(told, Err(RegisterError::NotUnderWay(granted.number())));
                        continue;
                    }
                    told.unwrap();
                    model.open.remove(&dataset);
                    for (&(person, _), spent) in granted.granted().iter().zip(&spent) {
                        model.spent[person as usize] += spent.grains();
                    }
                    let line = usize::try_from(granted.number()).unwrap();
                    let entries = handles[hand].journal().unwrap();
                    let Happened::Reserved { question, .. } = &entries[line].what else {
                        panic!("{:?}", entries[line])
                    };
                    model.answered.insert((dataset, question.to_string()), answer.into());
                }
                6 => {
                    let Some((number, held)) = model.open.remove(&dataset) else { continue };
                    handles[hand].give_up(number, &stamp("steward")).unwrap();
                    for (person, held) in held {
                        model.spent[person as usize] += held;
                    }
                }
                _ => {
                    handles[hand] = Register::open(&place.path()).unwrap();
                }
            }
            let people = handles[1 - hand].people().unwrap();
            assert_eq!(people.len(), model.budgets.len());
            for (number, person) in (0u32..).zip(&people) {
                let at = number as usize;
                let now = (person.spent.grains(), person.reserved.grains(), person.budget.grains());
                assert_eq!(now, (model.spent[at], model.reserved(number), model.budgets[at]));
                assert!(now.0 + now.1 <= now.2, "overspent: {person:?}");
            }
        }
        handles[0].verify().unwrap();
    }
}

/// The child reserves, says so, settles, and says so, for ever.
#[test]
fn the_child_reserves_until_it_is_killed() {
    let Ok(file) = std::env::var(FILE) else { return };
    let mut register = Register::open(Path::new(&file)).unwrap();
    let tell = |line: String| std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    let mut dice = Dice(u64::from(std::process::id()));
    for number in 0.. {
        let dataset = format!("{}-{number}", std::process::id());
        let wanted: Vec<_> = (0..40u32).map(|person| (person, amount("0.001"))).collect();
        let asked = ask(&mut register, "q", &dataset, &wanted).unwrap();
        tell(format!("\nreserved {}\n", asked.number()));
        let spent: Vec<Amount<Rho>> = asked
            .granted()
            .iter()
            .map(|(_, held)| Amount::from_grains(held.grains() / u128::from(1 + dice.below(5))))
            .collect();
        let sum: u128 = spent.iter().map(|spent| spent.grains()).sum();
        settle(&mut register, &asked, spent, &format!("{number}")).unwrap();
        tell(format!("\nsettled {} {sum}\n", asked.number()));
    }
}

fn child(place: &Place) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "register::the_child_reserves_until_it_is_killed", "--nocapture"])
        .env(FILE, place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_random_moments_a_register_gives_nothing_back() {
    const KILLS: u64 = 60;
    let place = Place::file();
    drop(enrolled(&place, 40));
    let mut dice = Dice(0x0dd_ba11);
    let mut settled: BTreeMap<u64, u128> = BTreeMap::new();
    let (mut reserved, mut left_open) = (Vec::new(), 0);
    for _ in 0..KILLS {
        let mut child = child(&place);
        let lines = dice.below(9);
        let mut told = 0;
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["reserved", number] => reserved.push(number.parse::<u64>().unwrap()),
                ["settled", number, sum] => {
                    settled.insert(number.parse().unwrap(), sum.parse().unwrap());
                }
                _ => continue,
            }
            told += 1;
            if told > lines {
                let _ = child.kill();
            }
        }
        child.wait().unwrap();
        let mut register = Register::open(&place.path()).unwrap();
        let open: Vec<u64> = register.under_way().unwrap().iter().map(|open| open.number).collect();
        // What was settled is not open; what a caller knows to be reserved is settled, or open.
        let entries = register.journal().unwrap();
        let ended: Vec<u64> = entries
            .iter()
            .filter_map(|entry| match entry.what {
                Happened::Settled { question, .. } | Happened::GivenUp { question } => {
                    Some(question)
                }
                _ => None,
            })
            .collect();
        assert!(settled.keys().all(|number| ended.contains(number) && !open.contains(number)));
        assert!(reserved.iter().all(|number| ended.contains(number) != open.contains(number)));
        left_open += open.len();
        for number in open {
            register.give_up(number, &stamp("steward")).unwrap();
        }
    }
    assert!(left_open > 10, "only {left_open} of {KILLS} died between reserving and settling");
    let mut register = Register::open(&place.path()).unwrap();
    let people = register.people().unwrap();
    let spent: u128 = people.iter().map(|person| person.spent.grains()).sum();
    let told: u128 = settled.values().sum();
    // At most one settlement of every child was not told any more, and what was given up is spent
    // in full.
    assert!(
        spent > told && people.iter().all(|person| person.reserved.is_zero()),
        "{spent} {told}"
    );
    assert!(people.iter().all(|person| person.spent <= person.budget));
}

#[test]
fn of_many_programs_that_race_for_the_last_of_a_budget_none_overspends() {
    const PROGRAMS: u32 = 8;
    let place = Place::file();
    drop(enrolled(&place, 5));
    let start = std::sync::Barrier::new(PROGRAMS as usize);
    let granted: Vec<Vec<(u32, Amount<Rho>)>> = std::thread::scope(|scope| {
        let programs: Vec<_> = (0..PROGRAMS)
            .map(|program| {
                let (start, place) = (&start, &place);
                scope.spawn(move || {
                    let mut register = Register::open(&place.path()).unwrap();
                    let wanted: Vec<_> = (0..5).map(|person| (person, amount("0.3"))).collect();
                    start.wait();
                    let dataset = format!("d{program}");
                    ask(&mut register, "q", &dataset, &wanted).unwrap().granted().to_vec()
                })
            })
            .collect();
        programs.into_iter().map(|program| program.join().unwrap()).collect()
    });
    for person in 0..5 {
        let total = granted.iter().map(|all| all[person].1.grains()).sum::<u128>();
        assert_eq!(total, Amount::<Rho>::ONE.grains());
    }
    let mut register = Register::open(&place.path()).unwrap();
    assert!(register.people().unwrap().iter().all(|person| person.left().is_zero()));
}

#[test]
fn of_many_programs_that_race_for_the_same_places_one_draws() {
    let place = Place::file();
    drop(enrolled(&place, 3));
    for repetition in 0..10 {
        let start = std::sync::Barrier::new(8);
        let question = format!("q{repetition}");
        let won: Vec<Option<Reservation>> = std::thread::scope(|scope| {
            let programs: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let mut register = Register::open(&place.path()).unwrap();
                        start.wait();
                        match ask(&mut register, &question, "d", &[(0, amount("0.01"))]) {
                            Ok(reservation) => Some(reservation),
                            Err(RegisterError::UnderWay { .. }) => None,
                            Err(error) => panic!("{error}"),
                        }
                    })
                })
                .collect();
            programs.into_iter().map(|program| program.join().unwrap()).collect()
        });
        let won: Vec<Reservation> = won.into_iter().flatten().collect();
        assert_eq!(won.len(), 1);
        let mut register = Register::open(&place.path()).unwrap();
        settle(&mut register, &won[0], vec![amount("0.001")], "x").unwrap();
    }
}

/// Whatever is changed behind a register's back is found when it is opened or read.
#[test]
fn damage_is_found_when_it_is_read() {
    const TRIGGERS: &str = "DROP TRIGGER person_budget_is_for_good; DROP TRIGGER person_never_gets_back; \
        DROP TRIGGER person_stays; DROP TRIGGER journal_is_not_edited; DROP TRIGGER journal_is_not_cut; \
        DROP TRIGGER answer_stays;";
    let grain = "x'00000000000000000000000000000001'";
    let cases = [
        format!("UPDATE person SET spent = {grain} WHERE number = 1"),
        "UPDATE person SET taken = spent WHERE number = 2".into(),
        "UPDATE person SET budget = x'f0000000000000000000000000000000' WHERE number = 1".into(),
        "UPDATE person SET id = 'somebody else' WHERE number = 0".into(),
        "DELETE FROM person WHERE number = 3".into(),
        "DELETE FROM journal WHERE line = (SELECT max(line) FROM journal)".into(),
        "DELETE FROM journal WHERE line = 1".into(),
        "UPDATE journal SET body = replace(body, 'ana', 'eve') WHERE line = 2".into(),
        "UPDATE reservation SET held = zeroblob(80)".into(),
        "UPDATE reservation SET held = substr(held, 1, 60)".into(),
        "DELETE FROM reservation".into(),
        "UPDATE seen SET bytes = x'00'".into(),
        "UPDATE answer SET body = x'00'".into(),
    ];
    for sql in &cases {
        let place = Place::file();
        let mut register = enrolled(&place, 4);
        let wanted: Vec<_> = (0..4).map(|person| (person, amount("0.1"))).collect();
        let first = ask(&mut register, "q1", "d", &wanted).unwrap();
        let settlement = Settled {
            spent: vec![amount("0.05"); 4],
            seen: vec![(0, b"here".to_vec())],
            answer: Some(b"1".into()),
        };
        register.settle(&first, &settlement, &stamp("ana")).unwrap();
        ask(&mut register, "q2", "d", &wanted).unwrap();
        drop(register);
        let look = |path: &Path| -> Result<(), RegisterError> {
            let mut register = Register::open(path)?;
            register.seen("d")?;
            register.answer("d", "q1").map(|_| ())
        };
        assert_eq!(look(&place.path()), Ok(()));
        let raw = rusqlite::Connection::open(place.path()).unwrap();
        raw.execute_batch(TRIGGERS).unwrap();
        assert!(raw.execute(sql, []).unwrap() > 0, "{sql}");
        drop(raw);
        let found = look(&place.path());
        assert!(matches!(found, Err(RegisterError::Damaged(_))), "{sql}: {found:?}");
    }
}

#[test]
fn a_register_that_was_cut_or_put_back_is_not_the_one_of_its_anchor() {
    let place = Place::file();
    let mut register = enrolled(&place, 4);
    drop(register);
    let copy = std::fs::read(place.path()).unwrap();
    register = Register::open(&place.path()).unwrap();
    let asked = ask(&mut register, "q", "d", &[(0, amount("0.1"))]).unwrap();
    settle(&mut register, &asked, vec![amount("0.1")], "1").unwrap();
    let anchor = register.anchor().unwrap();
    register.enrol(&["late"], amount("1"), &stamp("steward")).unwrap();
    register.check_anchor(&anchor).unwrap();
    drop(register);
    let whole = std::fs::read(place.path()).unwrap();
    // An old copy is a true register, but not that one.
    std::fs::write(place.path(), &copy).unwrap();
    let mut old = Register::open(&place.path()).unwrap();
    assert!(old.check_anchor(&anchor).is_err());
    drop(old);
    // A file that lost its end is none.
    for kept in [1, 4096, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(place.path(), &whole[..kept]).unwrap();
        assert!(Register::open(&place.path()).is_err(), "{kept} of {}", whole.len());
    }
}

#[test]
fn what_is_no_register_is_refused_in_a_sentence() {
    let place = Place::file();
    let sentence = |place: &Place| Register::open(&place.path()).unwrap_err().to_string();
    assert!(sentence(&place).contains("there is no such file"), "{}", sentence(&place));
    drop(place.ledger());
    assert!(sentence(&place).contains("is not a register of people"), "{}", sentence(&place));
    let made = Register::create(&place.path(), &terms(), &stamp("steward")).unwrap_err();
    assert!(made.to_string().contains("is not a register of people"), "{made}");
    let other = Place::file();
    drop(register(&other));
    rusqlite::Connection::open(other.path())
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    assert!(sentence(&other).contains("use the newer eke that wrote it"), "{}", sentence(&other));
    let text = Place::file();
    std::fs::write(text.path(), "id,longitude,latitude\n".repeat(100)).unwrap();
    assert!(sentence(&text).contains("is not a register of people"), "{}", sentence(&text));
}
