//! Paths of reports about a category, from account to report.

use eke_budget::purchase::Coarsen;
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Delta, Epsilon, L1, L2, Metric, NoHistory, PathId,
    Raise, Receipt, Rho,
};
use eke_noise::local::{Categories, Chain, ChainError, ChainPrice, SubsetChain, Template, Weight};
use eke_noise::path::MismatchReason;
use eke_noise::{Category, CategoryPath, Exact};
use eke_testkit::Seeded;

fn id(number: u8) -> PathId {
    PathId::new([number; 32])
}

fn at(epsilon: &str) -> Amount<Epsilon> {
    epsilon.parse().unwrap()
}

/// Reports of 1, 2 and 3 of eight categories, each holding the one before it, and one that tells
/// less.
fn chain() -> Chain {
    let weight = Weight::Of { epsilon: at("2"), size: 1 };
    let of = |size| Template { size, weight };
    SubsetChain::new(8, vec![of(1), of(2), of(3), Template::new(3, at("0.5"))]).unwrap().into()
}

fn price(report: usize) -> Amount<Epsilon> {
    <Epsilon as ChainPrice>::price(&chain(), report).unwrap()
}

fn named(name: &str, metric: Metric) -> Account {
    let budget = BudgetSpec::promising(Epsilon::new(20.0).unwrap())
        .with_delta(Delta::new(1e-6).unwrap())
        .with_pure(Epsilon::new(10.0).unwrap())
        .resolve(metric)
        .unwrap();
    Account::open(name, budget, &mut NoHistory).unwrap()
}

fn account() -> Account {
    named("device", Metric::Discrete)
}

fn value(category: u32) -> Exact<Category> {
    Category::exact(category, Categories::new(8).unwrap()).unwrap()
}

fn raise(account: &mut Account, path: PathId, to: Amount<Epsilon>) -> Receipt<Raise<Epsilon>> {
    let approved = account.raise(path, to, L1::new(1.0).unwrap()).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

fn coarsen(account: &mut Account, path: PathId, to: Amount<Epsilon>) -> Receipt<Coarsen<Epsilon>> {
    let approved = account.coarsen(path, to).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

#[test]
fn a_category_that_there_is_not_does_not_construct() {
    let eight = Categories::new(8).unwrap();
    assert!(Category::exact(7, eight).is_ok());
    assert_eq!(Category::exact(8, eight).unwrap_err(), ChainError::Outside(8));
    for none in [0, 1, eke_noise::local::MOST_CATEGORIES + 1] {
        assert_eq!(Categories::new(none).unwrap_err(), ChainError::Categories(none));
    }
    assert_eq!(format!("{:?}", value(5)), "Exact(..)");
}

#[test]
fn a_path_of_reports_costs_its_finest_and_what_is_coarser_is_free() {
    let (mut account, mut entropy) = (account(), Seeded::new(71));
    let mut path = CategoryPath::open(id(1), chain());
    assert!(!path.is_drawn() && path.paid::<Epsilon>().is_zero());
    for (report, truth) in [(3, Some(value(2))), (1, Some(value(2))), (0, None)] {
        let receipt = raise(&mut account, id(1), price(report));
        let shown = path.refine(report, truth.as_ref(), receipt, &mut entropy).unwrap().get();
        assert_eq!(account.odometer().pure().unwrap().spent(), price(report));
        assert_eq!(path.paid::<Epsilon>(), price(report));
        for coarser in report..4 {
            let receipt = coarsen(&mut account, id(1), price(coarser));
            let again = path.coarsen(coarser, receipt).unwrap().get();
            assert_eq!(again == shown, coarser == report || again.words() == shown.words());
        }
        assert_eq!(account.odometer().pure().unwrap().spent(), price(report));
    }
}

/// Each of the first three reports holds the one before it, in whatever order they are revealed:
/// they are of one chain. Reports that were drawn anew would hold each other in one case of four.
#[test]
fn reports_revealed_in_any_order_are_of_one_chain() {
    let mut entropy = Seeded::new(72);
    for run in 0..60 {
        let mut account = account();
        let mut path = CategoryPath::open(id(1), chain());
        let mut sets = [0; 3];
        for report in [2, 1, 0] {
            let receipt = raise(&mut account, id(1), price(report));
            // The value has changed by the second time: what was drawn stays.
            let truth = value((run + u32::try_from(report).unwrap()) % 8);
            let shown = path.refine(report, Some(&truth), receipt, &mut entropy).unwrap();
            sets[report] = shown.peek().words()[0];
            assert_eq!(sets[report].count_ones(), 1 + u32::try_from(report).unwrap());
        }
        assert_eq!(sets[0] & !sets[1], 0);
        assert_eq!(sets[1] & !sets[2], 0);
    }
}

#[test]
fn a_path_of_reports_takes_only_its_own_receipts() {
    let mut entropy = Seeded::new(73);
    let e = &mut entropy;
    let (truth, mut account) = (value(1), account());
    let mut path = CategoryPath::open(id(1), chain());
    let open = path.clone();
    let mut refused =
        |path: &mut CategoryPath, report, truth: Option<&Exact<Category>>, receipt| {
            path.refine::<Epsilon, _>(report, truth, receipt, e).unwrap_err().reason
        };

    // Before anything is drawn: another path, metric, report, sensitivity, number of categories, no
    // truth.
    let other = raise(&mut account, id(2), price(2));
    assert_eq!(refused(&mut path, 2, Some(&truth), other), MismatchReason::OtherPath);
    let mut central = named("riders", Metric::Hamming(Adjacency::Replace));
    let receipt = raise(&mut central, id(1), price(2));
    assert_eq!(refused(&mut path, 2, Some(&truth), receipt), MismatchReason::OtherMetric);
    let mut twice = named("device", Metric::Discrete);
    let approved = twice.raise(id(1), price(2), L1::new(2.0).unwrap()).unwrap();
    let receipt = twice.commit(approved, &mut eke_budget::NoHistory).unwrap();
    assert_eq!(refused(&mut path, 2, Some(&truth), receipt), MismatchReason::OtherSensitivity);
    for (report, reason) in [(0, MismatchReason::OtherStep), (9, MismatchReason::OtherStep)] {
        let receipt = raise(&mut named("device", Metric::Discrete), id(1), price(2));
        assert_eq!(refused(&mut path, report, Some(&truth), receipt), reason);
    }
    let nine = Category::exact(8, Categories::new(9).unwrap()).unwrap();
    let receipt = raise(&mut named("device", Metric::Discrete), id(1), price(2));
    assert_eq!(refused(&mut path, 2, Some(&nine), receipt), MismatchReason::OtherCategories);
    let receipt = raise(&mut named("device", Metric::Discrete), id(1), price(2));
    assert_eq!(refused(&mut path, 2, None, receipt), MismatchReason::NoTruth);
    assert_eq!(format!("{path:?}"), format!("{open:?}"));
    assert!(!path.is_drawn());

    // Afterwards: another account, a step that the path is beyond, a report that is not paid for.
    let receipt = raise(&mut account, id(1), price(2));
    let _ = path.refine(2, Some(&truth), receipt, &mut Seeded::new(74)).unwrap();
    let receipt = raise(&mut named("another", Metric::Discrete), id(1), price(1));
    assert_eq!(refused(&mut path, 1, None, receipt), MismatchReason::OtherAccount);
    let receipt = raise(&mut named("device", Metric::Discrete), id(1), price(1));
    assert_eq!(refused(&mut path, 1, None, receipt), MismatchReason::OtherStep);
    let mut ahead = named("device", Metric::Discrete);
    let _lost = raise(&mut ahead, id(1), price(0));
    let receipt = coarsen(&mut ahead, id(1), price(1));
    assert_eq!(path.coarsen(1, receipt).unwrap_err().reason, MismatchReason::OtherStep);
    let receipt = coarsen(&mut account, id(1), price(3));
    assert_eq!(path.coarsen(2, receipt).unwrap_err().reason, MismatchReason::OtherStep);
    let approved = account.raise(id(1), rho(), L2::new(1.0).unwrap()).unwrap();
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    let mismatch = path.refine(1, None, receipt, &mut Seeded::new(75)).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::OtherAccount);
}

#[test]
fn an_older_copy_of_a_chain_shows_no_later_report() {
    let (mut account, e) = (account(), &mut Seeded::new(402));
    let mut path = CategoryPath::open(id(1), chain());
    let coarse = raise(&mut account, id(1), price(1));
    path.refine(1, Some(&value(2)), coarse, e).unwrap();
    let fine = raise(&mut account, id(1), price(0));
    let mut older = CategoryPath::open(id(1), chain());
    let mismatch = older.refine(0, Some(&value(2)), fine, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Gap);
    assert!(!older.is_drawn());
    // Where it belongs the receipt is taken.
    assert!(path.refine(0, None, *mismatch.receipt, e).is_ok());
}

fn rho() -> Amount<Rho> {
    <Rho as ChainPrice>::price(&chain(), 0).unwrap()
}

#[test]
fn a_path_paid_in_rho_is_paid_for_as_a_whole() {
    // 2 tanh(1), rounded up: that of the finest report, whichever is asked for first.
    assert!(
        (rho().to_f64() - 2.0 * 1f64.tanh()).abs() < 1e-14 && rho().to_f64() >= 2.0 * 1f64.tanh()
    );
    for report in 0..4 {
        assert_eq!(<Rho as ChainPrice>::price(&chain(), report), Some(rho()));
    }
    let (mut account, mut entropy) = (account(), Seeded::new(76));
    let mut path = CategoryPath::open(id(1), chain());
    let approved = account.raise(id(1), rho(), L2::new(1.0).unwrap()).unwrap();
    let receipt = account.commit(approved, &mut NoHistory).unwrap();
    let first = path.refine(3, Some(&value(4)), receipt, &mut entropy).unwrap();
    for report in [0, 3] {
        let approved = account.coarsen(id(1), rho()).unwrap();
        let receipt = account.commit(approved, &mut NoHistory).unwrap();
        let shown = path.coarsen(report, receipt).unwrap();
        assert_eq!(shown == first, report == 3);
    }
    assert_eq!(account.odometer().zcdp().unwrap().spent(), rho());
    assert!(account.odometer().pure().unwrap().spent().is_zero());
}

#[test]
fn a_stored_path_goes_on_with_the_same_reports() {
    let (mut account, mut entropy) = (account(), Seeded::new(77));
    let mut path = CategoryPath::open(id(1), chain());
    let receipt = raise(&mut account, id(1), price(2));
    let shown = path.refine(2, Some(&value(4)), receipt, &mut entropy).unwrap();
    let text = serde_json::to_string(&path).unwrap();
    let mut back: CategoryPath = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    let receipt = coarsen(&mut account, id(1), price(2));
    assert_eq!(back.coarsen(2, receipt).unwrap(), shown);
    let receipt = raise(&mut account, id(1), price(0));
    let finest = back.refine(0, None, receipt, &mut entropy).unwrap();
    assert_eq!(finest.peek().words()[0] & !shown.peek().words()[0], 0);
}

#[test]
fn a_path_of_reports_that_is_damaged_is_not_read() {
    let mut account = account();
    let mut path = CategoryPath::open(id(1), chain());
    let receipt = raise(&mut account, id(1), price(2));
    let _ = path.refine(2, Some(&value(4)), receipt, &mut Seeded::new(78)).unwrap();
    let good = serde_json::to_value(&path).unwrap();
    assert!(serde_json::from_value::<CategoryPath>(good.clone()).is_ok());
    let words = good["words"].as_str().unwrap();
    assert_eq!(words.len(), 4 * 16);
    let first = |word: u64| format!("{word:016x}{}", &words[16..]);
    let damage: [(&str, serde_json::Value); 8] = [
        ("/categories", 200.into()),
        ("/categories", 1.into()),
        ("/laws/0/subset/size", 3.into()),
        ("/payment", serde_json::Value::Null),
        ("/payment/finest", 4.into()),
        ("/payment/currency", "gold".into()),
        ("/words", first(0).into()),
        ("/words", first(256).into()),
    ];
    for (place, value) in damage {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        let error = serde_json::from_value::<CategoryPath>(bad).unwrap_err();
        assert!(error.to_string().contains("does not hang together"), "{place}: {error}");
    }
    // Words have one form: no signs, no capitals, no part of one.
    for text in [&words[1..], &format!("+{}", &words[1..]), &format!("A{}", &words[1..])] {
        let mut bad = good.clone();
        bad["words"] = text.into();
        let error = serde_json::from_value::<CategoryPath>(bad).unwrap_err();
        assert!(error.to_string().contains("sixteen hexadecimal digits"), "{error}");
    }
}

#[test]
fn what_is_not_paid_for_is_not_shown_by_debug() {
    let mut account = account();
    let mut path = CategoryPath::open(id(1), chain());
    let receipt = raise(&mut account, id(1), price(3));
    let _ = path.refine(3, Some(&value(4)), receipt, &mut Seeded::new(79)).unwrap();
    assert!(!format!("{path:?}").contains("words"));
}
