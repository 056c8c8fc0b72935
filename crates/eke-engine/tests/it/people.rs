//! Questions to many people: what is charged, what is free, what is refused, and who is protected.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use eke_budget::{Amount, Metres, Rho};
use eke_engine::geo::{
    Area, CrowdAnswered, CrowdAsking, CrowdQuestion, People, PeopleOpening, PlaceColumns,
    PlaceFile, PlacesError,
};
use eke_geo::crowd::{Rule, Split, Way};
use eke_geo::{Place, Plan, Region};
use eke_ledger::register::{Asking, Reserved, Short};
use eke_ledger::{Register, Stamp};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder of its own, taken away afterwards.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PlaceFile {
        std::fs::write(self.0.path().join(name), text).unwrap();
        self.read(name, PlaceColumns::default())
    }

    /// A file that is there, with these columns and the usual ids unless others are meant.
    fn read(&self, name: &str, columns: PlaceColumns) -> PlaceFile {
        let id = columns.id.or_else(|| Some("id".into()));
        PlaceFile::open(&self.0.path().join(name), &PlaceColumns { id, ..columns }).unwrap()
    }

    fn ledger(&self) -> PathBuf {
        self.0.path().join("people.ledger")
    }

    fn people(&self) -> People {
        People::open(&self.ledger(), Some(&opening())).unwrap()
    }
}

fn metres(metres: f64) -> Metres {
    Metres::new(metres).unwrap()
}

fn centre() -> Place {
    Place::new(116.4, 39.9).unwrap()
}

fn opening() -> PeopleOpening {
    let region = Region::new(centre(), metres(20_000.0)).unwrap();
    PeopleOpening { region, least: None, reach: None }
}

fn rho(decimal: &str) -> Amount<Rho> {
    decimal.parse().unwrap()
}

/// People on a spiral out of the centre, a hundred metres further out from one to the next.
fn spiral(people: u32) -> String {
    let mut rows = String::from("id,longitude,latitude\n");
    let region = opening().region;
    for person in 0..people {
        let (out, turn) = (50.0 + 100.0 * f64::from(person), f64::from(person) * 2.4);
        let place = region.place([out * turn.cos(), out * turn.sin()]);
        let _ = writeln!(rows, "p{person},{},{}", place.longitude(), place.latitude());
    }
    rows
}

fn within(radius: f64) -> CrowdQuestion {
    CrowdQuestion::Count(Area::Circle(centre(), metres(radius)))
}

fn asking(question: CrowdQuestion, allowance: &str, way: Way, rule: Rule) -> CrowdAsking {
    let plan = Plan { way, rule, ..Plan::default() };
    let allowance = rho(allowance);
    CrowdAsking { question, allowance, plan, snapshot: None, budget: Some(rho("1")) }
}

fn ask(people: &mut People, file: &PlaceFile, asking: &CrowdAsking) -> CrowdAnswered {
    people.ask(file, asking, &|_| ()).unwrap()
}

/// A count, which is a whole number.
fn rounded(told: &CrowdAnswered) -> i32 {
    let value = told.answer.estimate.unwrap().value;
    let whole = (-1000..1000).find(|&whole| (value - f64::from(whole)).abs() < 1e-3);
    whole.unwrap_or_else(|| panic!("{value} is no whole number"))
}

/// Everybody's id, and what they have spent, reserved and left.
fn accounts(ledger: &Path) -> Vec<(String, Amount<Rho>, Amount<Rho>, Amount<Rho>)> {
    let mut register = Register::open(ledger).unwrap();
    let people = register.people().unwrap();
    people.into_iter().map(|p| (p.id.clone(), p.spent, p.reserved, p.left())).collect()
}

/// Asks by distance, for little.
fn plainly(question: CrowdQuestion) -> CrowdAsking {
    asking(question, "1e-4", Way::Distance, Rule::Ours)
}

#[test]
fn a_new_person_gets_no_account_from_a_question_that_is_refused() {
    let folder = Folder::new();
    let file = folder.file("people.csv", "id,longitude,latitude\na,4.9,52.37\nb,4.91,52.37\n");
    let mut people = folder.people();
    people.ask(&file, &plainly(within(500.0)), &|_| ()).unwrap();
    assert_eq!(people.standing().unwrap().people, 2);
    // The file has changed, and somebody is new.
    let more = "id,longitude,latitude\na,4.9,52.37\nb,4.91,52.37\nc,4.92,52.37\n";
    let changed = folder.file("people.csv", more);
    let error = people.ask(&changed, &plainly(within(500.0)), &|_| ()).unwrap_err();
    assert!(
        error.to_string().contains("have changed since they were first asked about"),
        "{error}"
    );
    assert_eq!(people.standing().unwrap().people, 2);
    // More neighbours than there are people.
    let fourth = CrowdQuestion::Neighbours { to: centre(), k: 4 };
    let asked = CrowdAsking { snapshot: Some("later".into()), ..plainly(fourth) };
    let error = people.ask(&changed, &asked, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("ask for 1 to 3 neighbours"), "{error}");
    assert_eq!(people.standing().unwrap().people, 2);
}

#[test]
fn with_little_noise_people_are_where_they_are() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(60));
    let mut people = folder.people();
    for (way, rule) in [
        (Way::Distance, Rule::Ours),
        (Way::Point, Rule::Ours),
        (Way::Distance, Rule::Paper),
        (Way::Point, Rule::Once),
    ] {
        // At rho 0.02 a place is off by half a dozen metres, and nobody is within fifty of the rim.
        let counted = ask(&mut people, &file, &asking(within(2_000.0), "0.02", way, rule));
        let estimate = counted.answer.estimate.unwrap();
        assert!((estimate.value - 20.0).abs() < 1e-6, "{way:?} {rule:?}: {estimate:?}");
        assert!((counted.answer.people, counted.answer.short, counted.free) == (60, 0, false));
        let saved = &counted.answer.saved;
        assert_eq!(saved.tenths.iter().sum::<u32>(), 60);
        // Nobody saves where all is spent at once, unless their point was seen before.
        assert!(rule == Rule::Once || saved.mean > 0.3, "{way:?} {rule:?}: {saved:?}");
    }
    let nearest = CrowdQuestion::Neighbours { to: centre(), k: 3 };
    let near = ask(&mut people, &file, &asking(nearest, "0.02", Way::Distance, Rule::Once));
    let ids: Vec<&str> = near.answer.nearest.iter().map(|near| &*near.id).collect();
    assert_eq!(ids, ["p0", "p1", "p2"]);
    let dense = CrowdQuestion::Density { at: centre(), bandwidth: metres(1_000.0) };
    let dense = ask(&mut people, &file, &asking(dense, "0.02", Way::Point, Rule::Ours));
    let truth: f64 = (0..60)
        .map(|person| (-(50.0 + 100.0 * f64::from(person)).powi(2) / 2e6).exp())
        .sum::<f64>()
        / std::f64::consts::TAU;
    let estimate = dense.answer.estimate.unwrap();
    assert!((estimate.value / truth - 1.0).abs() < 0.1, "{estimate:?} {truth}");
}

#[test]
fn the_same_question_again_is_the_same_and_free() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(40));
    for way in [Way::Distance, Way::Point] {
        let question = asking(within(1_000.0), "1e-6", way, Rule::Ours);
        let first = ask(&mut folder.people(), &file, &question);
        let before = accounts(&folder.ledger());
        let again = ask(&mut folder.people(), &file, &question);
        assert!(!first.free && again.free);
        assert_eq!((&again.answer, &again.left), (&first.answer, &first.left));
        assert_eq!(accounts(&folder.ledger()), before);
    }
}

/// A point that was released is paid for: other questions about it cost what goes further than
/// that.
#[test]
fn questions_about_points_that_were_released_cost_nothing() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(40));
    let once =
        |radius: f64, allowance: &str| asking(within(radius), allowance, Way::Point, Rule::Once);
    let first = ask(&mut folder.people(), &file, &once(1_000.0, "1e-6"));
    assert!((first.answer.cost - 1e-6).abs() < 1e-18, "{}", first.answer.cost);
    let before = accounts(&folder.ledger());
    let second = ask(&mut folder.people(), &file, &once(3_000.0, "1e-6"));
    assert!(!second.free && second.answer.cost == 0.0, "{second:?}");
    assert_eq!(accounts(&folder.ledger()), before);
    let further = ask(&mut folder.people(), &file, &once(3_000.0, "3e-6"));
    assert!((further.answer.cost - 2e-6).abs() < 1e-18, "{}", further.answer.cost);
    // Distances are another matter: each is a release of its own.
    let distance = asking(within(2_000.0), "1e-6", Way::Distance, Rule::Once);
    assert!(ask(&mut folder.people(), &file, &distance).answer.cost > 0.9e-6);
    // Places of another name have not been released.
    let mut tuesday = once(1_000.0, "1e-6");
    tuesday.snapshot = Some("tuesday".into());
    assert!(ask(&mut folder.people(), &file, &tuesday).answer.cost > 0.9e-6);
}

#[test]
fn places_that_have_changed_need_another_name() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(20));
    let mut people = folder.people();
    let mut question = asking(within(500.0), "1e-6", Way::Point, Rule::Once);
    ask(&mut people, &file, &question);
    let moved = folder.file("people.csv", &spiral(20).replace("p3,", "p03,"));
    let before = accounts(&folder.ledger()).iter().map(|a| a.1).max();
    let refused = people.ask(&moved, &question, &|_| ()).unwrap_err().to_string();
    assert!(refused.contains("have changed") && refused.ends_with("another name"), "{refused}");
    assert_eq!(accounts(&folder.ledger()).iter().map(|a| a.1).max(), before);
    question.snapshot = Some("later".into());
    // One more has been enrolled; the one who is gone is still asked, and pays.
    assert_eq!(ask(&mut people, &moved, &question).answer.people, 21);
    let spent: Vec<f64> = accounts(&folder.ledger()).iter().map(|a| a.1.to_f64()).collect();
    assert!((spent[3] - 2e-6).abs() < 1e-18 && (spent[20] - 1e-6).abs() < 1e-18, "{spent:?}");
}

/// Homes and places of work in one file: an answer about the one is no answer about the other.
#[test]
fn other_columns_of_a_file_need_another_name() {
    let folder = Folder::new();
    let text = "id,name,at,home_lon,home_lat,work_lon,work_lat\n\
                a,x,1,116.4,39.9,116.5,39.9\nb,y,2,116.4,39.9,116.5,39.9\n";
    let columns = |of: &str| PlaceColumns {
        longitude: Some(format!("{of}_lon")),
        latitude: Some(format!("{of}_lat")),
        ..PlaceColumns::default()
    };
    std::fs::write(folder.0.path().join("both.csv"), text).unwrap();
    let home = folder.read("both.csv", columns("home"));
    let mut people = folder.people();
    for way in [Way::Distance, Way::Point] {
        let mut question = asking(within(1_000.0), "0.01", way, Rule::Once);
        assert_eq!(rounded(&ask(&mut people, &home, &question)), 2);
        assert!(ask(&mut people, &home, &question).free);
        let before = accounts(&folder.ledger());
        for other in [
            columns("work"),
            PlaceColumns { latitude: Some("work_lat".into()), ..columns("home") },
            PlaceColumns { time: Some("at".into()), ..columns("home") },
        ] {
            let other = folder.read("both.csv", other);
            let refused = people.ask(&other, &question, &|_| ()).unwrap_err().to_string();
            assert!(refused.contains("are read from other columns"), "{refused}");
        }
        assert_eq!(accounts(&folder.ledger()), before);
        question.snapshot = Some("work".into());
        let work = folder.read("both.csv", columns("work"));
        let told = ask(&mut people, &work, &question);
        assert!(!told.free && told.answer.cost > 0.009, "{told:?}");
        assert_eq!(rounded(&told), 0);
    }
    let question = asking(within(1_000.0), "0.01", Way::Distance, Rule::Once);
    let named = PlaceColumns { id: Some("name".into()), ..columns("home") };
    let refused = people.ask(&folder.read("both.csv", named), &question, &|_| ()).unwrap_err();
    assert!(refused.to_string().contains("are read from other columns"), "{refused}");
}

/// An area may have more corners than the text of a question has bytes.
#[test]
fn long_areas_are_told_apart_by_their_digests() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(5));
    let mut people = folder.people();
    let around = |radius: f64| {
        let corner = |n: u32| {
            let (sine, cosine) = (f64::from(n) * std::f64::consts::TAU / 1_800.0).sin_cos();
            opening().region.place([radius * cosine, radius * sine])
        };
        let ring: Vec<Place> = (0..1_800).map(corner).collect();
        let question = CrowdQuestion::Count(Area::Polygons(vec![vec![ring]]));
        assert!(serde_json::to_string(&question).unwrap().len() > 65_536);
        asking(question, "0.01", Way::Distance, Rule::Once)
    };
    let told = ask(&mut people, &file, &around(300.0));
    assert_eq!(rounded(&told), 3);
    let again = ask(&mut people, &file, &around(300.0));
    assert!(again.free && again.answer == told.answer);
    assert!(!ask(&mut people, &file, &around(301.0)).free);
    let lines = Register::open(&folder.ledger()).unwrap().journal().unwrap();
    let longest = lines.iter().map(|line| format!("{:?}", line.what).len()).max().unwrap();
    assert!(longest < 2_000, "people read this: {longest} characters");
}

/// What was stored cannot be read, which is found out when everybody's allowance is reserved: they
/// get it back.
#[test]
fn a_question_that_fails_before_anything_is_drawn_costs_nothing() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(4));
    let question = |radius: f64| asking(within(radius), "1e-6", Way::Point, Rule::Once);
    ask(&mut folder.people(), &file, &question(500.0));
    let mut register = Register::open(&folder.ledger()).unwrap();
    let fingerprint = register.fingerprint(file.name()).unwrap().unwrap();
    let spoils = Asking {
        question: "something",
        dataset: file.name(),
        fingerprint: &fingerprint,
        holder: "somebody",
        stamp: Stamp::now("steward"),
    };
    let nothing = [(0, Amount::ZERO)];
    let Ok(Reserved::Granted(reservation)) = register.reserve(&spoils, &nothing, Short::Fit) else {
        panic!("nothing was reserved")
    };
    let settled = eke_ledger::register::Settled {
        spent: vec![Amount::ZERO],
        seen: vec![(0, vec![1, 2, 3])],
        answer: None,
    };
    register.settle(&reservation, &settled, &Stamp::now("steward")).unwrap();
    let before = accounts(&folder.ledger());
    let failed = folder.people().ask(&file, &question(600.0), &|_| ());
    assert!(matches!(failed, Err(PlacesError::Stored(_))), "{failed:?}");
    assert_eq!(accounts(&folder.ledger()), before);
    assert!(register.under_way().unwrap().is_empty());
}

/// Three of five people have nothing left: nobody knows how far away they are.
#[test]
fn a_person_who_is_not_heard_is_nobodys_neighbour() {
    let folder = Folder::new();
    let (few, many) = (folder.file("few.csv", &spiral(3)), folder.file("many.csv", &spiral(5)));
    let mut people = folder.people();
    ask(&mut people, &few, &asking(within(700.0), "1", Way::Distance, Rule::Once));
    for (way, rule) in [(Way::Distance, Rule::Once), (Way::Point, Rule::Ours)] {
        let nearest = CrowdQuestion::Neighbours { to: centre(), k: 3 };
        let question = asking(nearest, "0.1", way, rule);
        let told = ask(&mut people, &many, &question);
        let ids: Vec<&str> = told.answer.nearest.iter().map(|near| &*near.id).collect();
        assert_eq!((ids, told.answer.short), (vec!["p3", "p4"], 3));
        let again = ask(&mut people, &many, &question);
        assert!(again.free && again.answer == told.answer, "{again:?}");
    }
}

/// Whatever a file says of somebody, what is shown but for the numbers themselves is the same.
#[test]
fn nothing_shows_who_has_rows() {
    let rows = spiral(30);
    let without = |cut: &dyn Fn(&str) -> Option<String>| -> String {
        rows.lines().filter_map(cut).fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        })
    };
    let spoilt = without(&|line| {
        let nowhere = line.starts_with("p7,");
        Some(if nowhere { "p7,somewhere,\u{fffd}".to_owned() } else { line.to_owned() })
    });
    let far = without(&|line| {
        let away = line.starts_with("p7,");
        Some(if away { "p7,-30,1e9".to_owned() } else { line.to_owned() })
    });
    let gone = without(&|line| (!line.starts_with("p7,")).then(|| line.to_owned()));
    let mut shown = Vec::new();
    for text in [&rows, &spoilt, &far, &gone] {
        let folder = Folder::new();
        // Everybody is enrolled before.
        let all = folder.file("all.csv", &rows);
        ask(&mut folder.people(), &all, &asking(within(1.0), "1e-9", Way::Distance, Rule::Once));
        let file = folder.file("people.csv", text);
        let question = asking(within(1_000.0), "1e-7", Way::Point, Rule::Once);
        let told = ask(&mut folder.people(), &file, &question);
        shown.push((told.answer.people, told.answer.cost, told.answer.rounds, told.left));
    }
    assert!(shown.iter().all(|other| *other == shown[0]), "{shown:?}");
}

#[test]
fn a_person_with_less_left_is_asked_for_less_and_in_the_end_nobody_is() {
    let folder = Folder::new();
    let few = folder.file("few.csv", &spiral(10));
    let many = folder.file("many.csv", &spiral(15));
    let mut people = folder.people();
    let ask_for = |people: &mut People, file: &PlaceFile, name: &str, allowance: &str| {
        let mut asking = asking(within(700.0), allowance, Way::Distance, Rule::Once);
        asking.snapshot = Some(name.into());
        people.ask(file, &asking, &|_| ())
    };
    ask_for(&mut people, &few, "one", "0.8").unwrap();
    let second = ask_for(&mut people, &many, "two", "0.5").unwrap();
    assert_eq!((second.answer.people, second.answer.short), (15, 10));
    let spent = |folder: &Folder| -> Vec<f64> {
        accounts(&folder.ledger()).iter().map(|account| account.1.to_f64()).collect()
    };
    let after = spent(&folder);
    assert!(after[..10].iter().all(|&spent| spent > 0.9 && spent <= 1.0), "{after:?}");
    assert!(after[10..].iter().all(|&spent| spent > 0.45 && spent <= 0.5), "{after:?}");
    for number in 0..12 {
        let _ = ask_for(&mut people, &many, &format!("more {number}"), "0.9");
    }
    let before = spent(&folder);
    let refused = ask_for(&mut people, &many, "last", "0.9");
    assert!(matches!(refused, Err(PlacesError::Spent)), "{refused:?}");
    assert_eq!(spent(&folder), before);
    assert!(accounts(&folder.ledger()).iter().all(|account| account.2.is_zero()));
}

#[test]
fn what_a_program_that_died_has_reserved_stays_paid() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(10));
    ask(&mut folder.people(), &file, &asking(within(1.0), "1e-9", Way::Distance, Rule::Once));
    let mut register = Register::open(&folder.ledger()).unwrap();
    let wanted: Vec<(u32, Amount<Rho>)> = (0..10).map(|person| (person, rho("0.25"))).collect();
    let fingerprint = register.fingerprint(file.name()).unwrap().unwrap();
    let dead = Asking {
        question: "something",
        dataset: file.name(),
        fingerprint: &fingerprint,
        // A machine that has been started anew since.
        holder: "abcdefabcdef.7.99/places",
        stamp: Stamp::now("steward"),
    };
    let Ok(Reserved::Granted(reservation)) = register.reserve(&dead, &wanted, Short::Fit) else {
        panic!("nothing was reserved")
    };
    let told =
        ask(&mut folder.people(), &file, &asking(within(2e3), "1e-6", Way::Point, Rule::Once));
    assert_eq!(told.answer.short, 0);
    for (_, spent, reserved, _) in accounts(&folder.ledger()) {
        assert!(spent >= rho("0.25") && reserved.is_zero(), "{spent} {reserved}");
    }
    // It cannot be settled any more, should the program not be dead after all.
    let settled = eke_ledger::register::Settled {
        spent: vec![Amount::ZERO; 10],
        ..eke_ledger::register::Settled::default()
    };
    assert!(register.settle(&reservation, &settled, &Stamp::now("steward")).is_err());
}

#[test]
fn what_accounts_were_made_for_is_for_good() {
    let folder = Folder::new();
    let missing = People::open(&folder.ledger(), None).unwrap_err().to_string();
    assert!(missing.contains("make them for a region"), "{missing}");
    drop(folder.people());
    drop(People::open(&folder.ledger(), None).unwrap());
    let region = Region::new(centre(), metres(10_000.0)).unwrap();
    for other in [
        PeopleOpening { region, ..opening() },
        PeopleOpening { least: Some(metres(2.0)), ..opening() },
        PeopleOpening { reach: Some(metres(2.0)), ..opening() },
    ] {
        let refused = People::open(&folder.ledger(), Some(&other)).unwrap_err().to_string();
        assert!(refused.contains("which are for good"), "{refused}");
    }
    let file = folder.file("people.csv", &spiral(3));
    let mut question = asking(within(1.0), "1e-6", Way::Point, Rule::Once);
    question.budget = None;
    let refused = folder.people().ask(&file, &question, &|_| ()).unwrap_err().to_string();
    assert!(refused.starts_with("3 people of `") && refused.contains("with a budget"), "{refused}");
    assert_eq!(accounts(&folder.ledger()).len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any questions in any order, by programs that end and start again: nobody spends more than
    /// they have, nothing stays reserved, and accounts have spent what answers say they cost.
    #[test]
    fn no_account_is_exceeded_whatever_is_asked(
        steps in prop::collection::vec(
            (0usize..3, 0usize..2, 0usize..3, 1u32..60, 0usize..2, 1u32..9, any::<bool>()),
            1..14,
        ),
    ) {
        let folder = Folder::new();
        let files = [folder.file("a.csv", &spiral(8)), folder.file("b.csv", &spiral(12))];
        let mut people = folder.people();
        let mut cost = 0.0;
        for (kind, way, rule, hundredths, file, number, reopen) in steps {
            if reopen {
                people = folder.people();
            }
            let question = match kind {
                0 => within(f64::from(number) * 150.0),
                1 => CrowdQuestion::Density { at: centre(), bandwidth: metres(f64::from(number) * 99.0) },
                _ => CrowdQuestion::Neighbours { to: centre(), k: number as usize % 5 + 1 },
            };
            let way = [Way::Distance, Way::Point][way];
            let rule = [Rule::Once, Rule::Paper, Rule::Ours][rule];
            let mut asking = asking(question, &format!("0.0{hundredths:02}"), way, rule);
            asking.plan.split = Split::Even(number);
            asking.budget = Some(rho("0.1"));
            match people.ask(&files[file], &asking, &|_| ()) {
                Ok(told) if told.free => {}
                Ok(told) => cost += told.answer.cost * f64::from(told.answer.people),
                Err(PlacesError::Spent) => {}
                Err(error) => prop_assert!(false, "{error}"),
            }
            let accounts = accounts(&folder.ledger());
            for (id, spent, reserved, left) in &accounts {
                prop_assert!(*spent <= rho("0.1") && reserved.is_zero(), "{id}: {spent}");
                prop_assert_eq!(spent.plus(*left), Some(rho("0.1")));
            }
            let spent: f64 = accounts.iter().map(|account| account.1.to_f64()).sum();
            prop_assert!((spent - cost).abs() < 1e-9, "{spent} {cost}");
        }
    }
}

/// Whole numbers in 1e-5 degrees would put everybody at the centre, and give them accounts for
/// good. They are refused before anybody gets one; one odd row among others is not, and once
/// everybody has an account the question is answered like others.
#[test]
fn no_account_is_opened_for_coordinates_that_cannot_be_degrees() {
    let folder = Folder::new();
    let whole = "id,longitude,latitude\np0,11640000,3990000\np1,11640100,3990100\np2,116.4,39.9\n";
    let file = folder.file("whole.csv", whole);
    let asking = asking(within(500.0), "1e-5", Way::Distance, Rule::Once);
    let error = folder.people().ask(&file, &asking, &|_| ()).unwrap_err();
    assert!(matches!(error, PlacesError::NotDegrees(_)), "{error}");
    assert!(error.to_string().contains("no account was opened"), "{error}");
    assert!(accounts(&folder.ledger()).is_empty());
    let odd = "id,longitude,latitude\np0,116.4,39.9\np1,116.4,39.91\np2,11640000,3990000\n";
    ask(&mut folder.people(), &folder.file("odd.csv", odd), &asking);
    assert_eq!(accounts(&folder.ledger()).len(), 3);
    // The same people again, and no place among them: a question like others.
    let none = "id,longitude,latitude\np0,11640000,3990000\np1,11640000,3990000\np2,7e9,1\n";
    ask(&mut folder.people(), &folder.file("none.csv", none), &asking);
    // Somebody new, and most are wrong.
    let more = format!("{none}p3,116.4,39.9\n");
    let error = folder.people().ask(&folder.file("more.csv", &more), &asking, &|_| ()).unwrap_err();
    assert!(matches!(error, PlacesError::NotDegrees(_)), "{error}");
    assert_eq!(accounts(&folder.ledger()).len(), 3);
}

/// A count has an interval that is never certain of itself, and a person who is named has a
/// distance with its bounds.
#[test]
fn answers_about_places_say_how_far_off_they_may_be() {
    let folder = Folder::new();
    let file = folder.file("people.csv", &spiral(30));
    let mut people = folder.people();
    let counted =
        ask(&mut people, &file, &asking(within(1000.0), "0.1", Way::Distance, Rule::Once));
    let estimate = counted.answer.estimate.unwrap();
    let [low, high] = estimate.interval.unwrap();
    assert!(low < estimate.value && estimate.value < high, "{estimate:?}");
    let nearest = CrowdQuestion::Neighbours { to: centre(), k: 4 };
    let told = ask(&mut people, &file, &asking(nearest, "1e-3", Way::Point, Rule::Ours));
    assert!(told.answer.rivals.is_some() && told.answer.nearest.len() == 4);
    for near in &told.answer.nearest {
        let [low, high] = near.within.unwrap();
        assert!(0.0 <= low && low < high && high < 40_000.0, "{near:?}");
    }
    // An answer from before distances had bounds is read as it is.
    let old = r#"{"id":"p0","distance":3.5}"#;
    assert!(serde_json::from_str::<eke_engine::geo::Near>(old).unwrap().within.is_none());
}
