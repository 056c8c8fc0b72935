//! One person's places, asked about from files and paid for out of an account on disk.

use std::fs;
use std::path::Path;

use eke_budget::metric::Reach;
use eke_budget::{BudgetSpec, Charge, Epsilon, Metres, Rho};
use eke_engine::geo::{Opening, Person, PlaceColumns, PlaceFile, PlacePrice, PlacesError};
use eke_geo::person::{HullPlan, NearestMethod};
use eke_geo::{Place, Region, TupleMetric};
use eke_ledger::{Address, Ledger};
use tempfile::TempDir;

const BUDGET: f64 = 1e-4;

/// A folder that goes away.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PlaceFile {
        let file = self.0.path().join(name);
        fs::write(&file, text).unwrap();
        open(&file)
    }

    fn ledger(&self) -> Address {
        Address::File(self.0.path().join("places.ledger"))
    }

    fn person(&self) -> Person {
        Person::open(&self.ledger(), "me", Some(&opening(TupleMetric::Farthest))).unwrap()
    }
}

fn open(file: &Path) -> PlaceFile {
    PlaceFile::open(file, &PlaceColumns::default()).unwrap()
}

fn opening(metric: TupleMetric) -> Opening {
    let budget = BudgetSpec::zcdp(Rho::new(BUDGET).unwrap()).with_pure(Epsilon::new(0.1).unwrap());
    Opening { budget, reach: Reach::Unlimited, metric, least: Metres::ONE }
}

/// A total that was lowered is found out before anything is paid from it.
#[test]
fn a_damaged_ledger_of_places_is_not_opened() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    folder.person().release(&file, region(), rho("0.00001"), &|_| ()).unwrap();
    let path = folder.0.path().join("places.ledger");
    let mut bytes = fs::read(&path).unwrap();
    let spent = 10u128.pow(25).to_be_bytes();
    let is_spent = |at: &usize| bytes[*at..at + 16] == spent;
    let places: Vec<usize> = (0..bytes.len() - 16).filter(is_spent).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 16].fill(0);
    }
    fs::write(&path, bytes).unwrap();
    let opened = Person::open(&folder.ledger(), "me", None).err().unwrap().to_string();
    assert!(opened.contains("its totals are not those of its history"), "{opened}");
}

fn region() -> Region {
    Region::new(Place::new(-122.43, 37.77).unwrap(), Metres::new(1e4).unwrap()).unwrap()
}

fn rho(value: &str) -> PlacePrice {
    PlacePrice::Rho(value.parse().unwrap())
}

fn epsilon(value: &str) -> PlacePrice {
    PlacePrice::Epsilon(value.parse().unwrap())
}

/// Ten places on a line of about nine kilometres.
fn walk() -> String {
    let rows = (0..10).map(|n| format!("{},{}\n", -122.48 + 0.01 * f64::from(n), 37.77));
    std::iter::once("lon,lat\n".to_owned()).chain(rows).collect()
}

/// The first point is charged, a finer one costs the difference, a coarser one and the same one
/// nothing; what does not fit is refused and changes nothing; and another program that opens the
/// ledger finds all of it.
#[test]
fn the_same_places_go_along_one_path() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    let mut person = folder.person();
    let mut tell = |price| person.release(&file, region(), price, &|_| ()).unwrap();
    let first = tell(rho("0.00001"));
    assert_eq!((first.places.len(), first.noise), (10, "gaussian"));
    assert!(
        (first.cost - 1e-5).abs() < 1e-15
            && (first.standing.left_rho.unwrap() - 9e-5).abs() < 1e-15
    );
    let again = tell(rho("0.00001"));
    assert!(again.places == first.places && again.cost == 0.0);
    let finer = tell(rho("0.00004"));
    assert!((finer.cost - 3e-5).abs() < 1e-15 && finer.within < first.within / 1.9);
    let coarser = tell(rho("0.00002"));
    assert!(coarser.places == finer.places && coarser.cost == 0.0);
    let refused = person.release(&file, region(), rho("0.0002"), &|_| ()).unwrap_err();
    let PlacesError::Refused(refusal) = &refused else { panic!("{refused}") };
    assert_eq!(refusal.fits, Some(Charge::zcdp(Rho::new(6e-5).unwrap())));
    drop(person);
    let mut other = Person::open(&folder.ledger(), "me", None).unwrap();
    let kept = other.release(&file, region(), rho("0.00004"), &|_| ()).unwrap();
    assert!(kept.places == finer.places && kept.cost == 0.0);
    assert!((kept.standing.spent_rho.unwrap() - 4e-5).abs() < 1e-15);
    // Another region is another question.
    let wide = Region::new(region().centre(), Metres::new(2e4).unwrap()).unwrap();
    let elsewhere = other.release(&file, wide, rho("0.00001"), &|_| ()).unwrap();
    assert!((elsewhere.cost - 1e-5).abs() < 1e-15);
}

#[test]
fn planar_releases_picks_and_hulls_are_charged_once() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    let mut person = folder.person();
    let told = person.release(&file, region(), epsilon("0.01"), &|_| ()).unwrap();
    assert_eq!((told.places.len(), told.noise, told.cost), (10, "planar-laplace", 0.01));
    let again = person.release(&file, region(), epsilon("0.01"), &|_| ()).unwrap();
    assert!(again.places == told.places && again.cost == 0.0);
    let asked = (Place::new(-122.48, 37.77).unwrap(), 2, NearestMethod::Ranked);
    let near = person.nearest(&file, region(), asked, rho("0.00002"), &|_| ()).unwrap();
    assert!(near.rows.len() == 2 && near.rows.iter().all(|row| (1..=10).contains(row)));
    let again = person.nearest(&file, region(), asked, rho("0.00002"), &|_| ()).unwrap();
    assert!(again.rows == near.rows && again.cost == 0.0 && near.cost > 0.0);
    let plan = HullPlan::default();
    let hull = person.hull(&file, region(), &plan, rho("0.00003"), &|_| ()).unwrap();
    let again = person.hull(&file, region(), &plan, rho("0.00003"), &|_| ()).unwrap();
    assert!(again.told == hull.told && again.cost == 0.0 && !hull.told.rows.is_empty());
    let standing = person.standing().unwrap();
    assert!((standing.spent_rho.unwrap() - 5e-5).abs() < 1e-15, "{standing:?}");
    assert!((standing.spent_epsilon.unwrap() - 0.01).abs() < 1e-12, "{standing:?}");
}

/// Homes and places of work in one file: each has noise of its own, and is paid for.
#[test]
fn other_columns_of_a_file_go_along_other_paths() {
    let folder = Folder::new();
    let file = folder.0.path().join("both.csv");
    fs::write(&file, "home,work,lat\n-122.48,-122.40,37.77\n-122.48,-122.40,37.77\n").unwrap();
    let read = |longitude: &str| {
        let columns = PlaceColumns { longitude: Some(longitude.into()), ..PlaceColumns::default() };
        PlaceFile::open(&file, &columns).unwrap()
    };
    let (home, work) = (read("home"), read("work"));
    let mut person = folder.person();
    for price in [rho("0.00001"), epsilon("0.01")] {
        let first = person.release(&home, region(), price, &|_| ()).unwrap();
        let other = person.release(&work, region(), price, &|_| ()).unwrap();
        assert!(first.cost > 0.0 && (other.cost - first.cost).abs() < 1e-15, "{}", other.cost);
        assert!(other.places != first.places);
        let again = person.release(&home, region(), price, &|_| ()).unwrap();
        assert!(again.cost == 0.0 && again.places == first.places);
    }
    let asked = (Place::new(-122.48, 37.77).unwrap(), 1, NearestMethod::Ranked);
    for file in [&home, &work] {
        assert!(person.nearest(file, region(), asked, rho("0.00002"), &|_| ()).unwrap().cost > 0.0);
    }
}

/// Whether a file has changed is never found out by what is charged: it is said first.
#[test]
fn a_file_that_has_changed_is_asked_about_only_when_that_is_said() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    let mut person = folder.person();
    person.release(&file, region(), rho("0.00001"), &|_| ()).unwrap();
    let longer = format!("{}-122.4,37.8\n", walk());
    let file = folder.write("walk.csv", &longer);
    let error = person.release(&file, region(), rho("0.00001"), &|_| ()).unwrap_err().to_string();
    assert!(error.contains("has changed since it was first asked about: declare"), "{error}");
    person.declare_changed(&file).unwrap();
    let told = person.release(&file, region(), rho("0.00001"), &|_| ()).unwrap();
    assert!((told.cost - 1e-5).abs() < 1e-15 && told.places.len() == 11);
}

/// Rows that are no places are released like others, and nothing says which they are.
#[test]
fn rows_without_a_place_are_told_like_others() {
    let folder = Folder::new();
    let file = folder.write("odd.csv", "lon,lat\n-122.4,37.7\nx,y\n,\n400,37\n-122.5,37.8\n");
    let told = folder.person().release(&file, region(), rho("0.00001"), &|_| ()).unwrap();
    assert_eq!(told.places.len(), 5);
}

#[test]
fn what_an_account_means_is_for_good() {
    let folder = Folder::new();
    let nobody = Person::open(&folder.ledger(), "me", None).unwrap_err().to_string();
    assert!(
        nobody.starts_with("there is no account `me`") && nobody.contains("open it with a budget"),
        "{nobody}"
    );
    assert!(!folder.0.path().join("places.ledger").exists(), "nothing was made");
    drop(folder.person());
    let other = Person::open(&folder.ledger(), "me", Some(&opening(TupleMetric::Sum)));
    let error = other.unwrap_err().to_string();
    assert!(
        error.contains("opened with the metric farthest and a least distance of 1 m"),
        "{error}"
    );
    let larger = Opening {
        budget: BudgetSpec::zcdp(Rho::new(1.0).unwrap()),
        ..opening(TupleMetric::Farthest)
    };
    let error = Person::open(&folder.ledger(), "me", Some(&larger)).unwrap_err().to_string();
    assert!(error.contains("another budget"), "{error}");
}

/// A program that ended between charging and storing: what it paid stays paid and is a gap, and the
/// next goes on.
#[test]
fn what_was_charged_and_lost_stays_paid_and_is_drawn_anew() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    let mut person = folder.person();
    person.release(&file, region(), rho("0.00001"), &|_| ()).unwrap();
    // A reader that breaks down when it has been charged, and before anything is drawn.
    let breaks = |_: u64| panic!("a reader breaks down, as it should here");
    assert!(person.release(&file, region(), rho("0.00003"), &breaks).is_err());
    assert!((person.standing().unwrap().spent_rho.unwrap() - 3e-5).abs() < 1e-15);
    let told = person.release(&file, region(), rho("0.00003"), &|_| ()).unwrap();
    let spent = person.standing().unwrap().spent_rho.unwrap();
    assert!((told.price - 3e-5).abs() < 1e-15 && (spent - 5e-5).abs() < 1e-15, "{spent}");
    let ledger = Ledger::open(&folder.ledger()).unwrap();
    assert!(ledger.held(10).wait().unwrap().is_empty(), "nothing is held");
}

#[test]
fn the_sum_of_distances_leaves_more_for_each_place() {
    let folder = Folder::new();
    let file = folder.write("walk.csv", &walk());
    let within = |name: &str, metric| {
        let mut person = Person::open(&folder.ledger(), name, Some(&opening(metric))).unwrap();
        person.release(&file, region(), rho("0.00001"), &|_| ()).unwrap().within
    };
    let farthest = within("farthest", TupleMetric::Farthest);
    let sum = within("sum", TupleMetric::Sum);
    let ratio = farthest / sum;
    assert!((ratio / 10f64.sqrt() - 1.0).abs() < 0.01, "{ratio}");
}
