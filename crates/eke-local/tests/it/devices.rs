//! Devices, asked as a collector would ask them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use eke_budget::{Adjacency, Amount, Budget, BudgetSpec, Charge, Delta, Epsilon, Metric, Rho};
use eke_local::device::{
    Currency, DamagedDevice, MOST_CHAINS, MOST_KEPT_REPORTS, MechanismError, RequestError,
    StorageError,
};
use eke_local::{
    Component, Device, DeviceError, Mechanism, MemoryStorage, Method, Plan, Reply, Request, Storage,
};
use eke_noise::local::{
    BitTemplate, Categories, Chain, ChainError, HashTemplate, ReportLaw, SubsetChain, Template,
    Weight,
};
use proptest::prelude::*;

use crate::{Dice, epsilon};

pub(crate) fn pure(budget: f64) -> Budget {
    BudgetSpec::promising(Epsilon::new(budget).unwrap()).resolve(Metric::Discrete).unwrap()
}

/// Both purses: zCDP at what is left of epsilon 10 beside a pure 1, which is two chains of epsilon
/// 1.
pub(crate) fn both() -> Budget {
    BudgetSpec::promising(Epsilon::new(10.0).unwrap())
        .with_delta(Delta::new(1e-6).unwrap())
        .with_pure(Epsilon::new(1.0).unwrap())
        .resolve(Metric::Discrete)
        .unwrap()
}

pub(crate) fn components() -> Vec<Component> {
    let of = |name: &str, categories, otherwise| Component {
        name: name.into(),
        categories: Categories::new(categories).unwrap(),
        otherwise,
    };
    vec![of("colour", 8, 0), of("size", 4, 3)]
}

pub(crate) fn device(budget: Budget) -> Device<MemoryStorage> {
    Device::create("device", budget, components(), MemoryStorage::new()).unwrap()
}

/// Reports at 1, 0.5 and 0.2 about n categories.
pub(crate) fn mechanism(categories: u32) -> Mechanism {
    let tiers = ["1", "0.5", "0.2"].map(epsilon);
    Mechanism::from(&Plan::new(categories, &tiers, Method::RandomizedResponse).unwrap())
}

/// The request for a report, with its true price.
pub(crate) fn ask(question: &str, report: usize) -> Request {
    of(question, "colour", 0, mechanism(8), report, Currency::Pure)
}

pub(crate) fn of(
    question: &str,
    component: &str,
    step: u64,
    mechanism: Mechanism,
    report: usize,
    currency: Currency,
) -> Request {
    let price = currency.price(&mechanism.chain().unwrap(), report).unwrap();
    let (question, component) = (question.into(), component.into());
    Request { question, component, step, mechanism, report, price }
}

pub(crate) fn words(reply: Reply) -> Vec<u64> {
    match reply {
        Reply::Report(report) => report.words().to_vec(),
        Reply::Halted => panic!("halted"),
    }
}

pub(crate) fn spent<S: Storage>(device: &Device<S>) -> (Amount<Epsilon>, Amount<Rho>) {
    let odometer = device.odometer();
    (
        odometer.pure().map_or(Amount::ZERO, |purse| purse.spent()),
        odometer.zcdp().map_or(Amount::ZERO, |purse| purse.spent()),
    )
}

fn fault(result: Result<Reply, DeviceError>) -> RequestError {
    match result {
        Err(DeviceError::Request(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_is_paid_for_up_to_its_finest_report_and_its_replies_stay_the_same() {
    let (mut device, mut entropy) = (device(pure(2.0)), Dice(1));
    device.record("colour", 5).unwrap();
    let first = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    assert_eq!(spent(&device).0, epsilon("0.5"));
    let finest = words(device.answer(&ask("a", 0), &mut entropy).unwrap());
    let coarse = words(device.answer(&ask("a", 2), &mut entropy).unwrap());
    assert_eq!(spent(&device).0, epsilon("1"));
    // The value changes, the step goes on, the program starts again: what was drawn stays.
    device.record("colour", 2).unwrap();
    device.begin("colour", 7).unwrap();
    let mut device = Device::open(device.close()).unwrap();
    for (report, shown) in [(0, &finest), (1, &first), (2, &coarse)] {
        assert_eq!(words(device.answer(&ask("a", report), &mut entropy).unwrap()), *shown);
    }
    assert_eq!(spent(&device).0, epsilon("1"));
    assert_eq!(device.generation(), 6);
}

#[test]
fn a_device_that_has_halted_goes_on_with_what_it_can_pay() {
    let (mut device, mut entropy) = (device(pure(1.3)), Dice(2));
    let shown = words(device.answer(&ask("a", 0), &mut entropy).unwrap());
    let before = device.generation();
    for _ in 0..3 {
        assert_eq!(device.answer(&ask("b", 1), &mut entropy).unwrap(), Reply::Halted);
    }
    assert_eq!((spent(&device).0, device.generation()), (epsilon("1"), before));
    let _ = words(device.answer(&ask("b", 2), &mut entropy).unwrap());
    assert_eq!(device.answer(&ask("b", 1), &mut entropy).unwrap(), Reply::Halted);
    assert_eq!(words(device.answer(&ask("a", 0), &mut entropy).unwrap()), shown);
    assert_eq!(spent(&device).0, epsilon("1.2"));
}

#[test]
fn all_components_and_steps_are_paid_for_by_one_account() {
    let (mut device, mut entropy) = (device(both()), Dice(3));
    let _ = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    let size = |step, currency| of("a size", "size", step, mechanism(4), 1, currency);
    let zcdp = size(0, Currency::Zcdp);
    let _ = words(device.answer(&zcdp, &mut entropy).unwrap());
    let Charge::Zcdp { rho, .. } = zcdp.price else { panic!() };
    assert_eq!(spent(&device), (epsilon("0.5"), rho));
    // In zCDP the whole chain is paid for, so the finest is free now.
    let _ = words(device.answer(&Request { report: 0, ..zcdp.clone() }, &mut entropy).unwrap());
    assert_eq!(spent(&device), (epsilon("0.5"), rho));
    device.begin("size", 1).unwrap();
    let _ = words(device.answer(&size(1, Currency::Pure), &mut entropy).unwrap());
    assert_eq!(spent(&device), (epsilon("1"), rho));
    assert_eq!(device.answer(&ask("b", 2), &mut entropy).unwrap(), Reply::Halted);
    assert_eq!(device.step("size"), Some(1));
}

#[test]
fn every_kind_of_chain_is_drawn_kept_and_shown_again() {
    let kinds = [
        vec![
            ReportLaw::Hash(HashTemplate::new(3, epsilon("1"))),
            ReportLaw::Hash(HashTemplate::new(3, epsilon("0.5"))),
        ],
        vec![
            ReportLaw::Bits(BitTemplate::new(epsilon("1"))),
            ReportLaw::Bits(BitTemplate::new(epsilon("0.5"))),
        ],
        vec![
            ReportLaw::Subset(Template::new(2, epsilon("1"))),
            ReportLaw::Subset(Template::new(2, epsilon("0.5"))),
        ],
    ];
    for laws in kinds {
        let (mut device, mut entropy) = (device(pure(1.0)), Dice(4));
        let mechanism = Mechanism { categories: 8, laws };
        let request = |report| of("a", "colour", 0, mechanism.clone(), report, Currency::Pure);
        let coarse = words(device.answer(&request(1), &mut entropy).unwrap());
        let fine = words(device.answer(&request(0), &mut entropy).unwrap());
        let mut device = Device::open(device.close()).unwrap();
        assert_eq!(words(device.answer(&request(1), &mut entropy).unwrap()), coarse);
        assert_eq!(words(device.answer(&request(0), &mut entropy).unwrap()), fine);
        assert_eq!(spent(&device).0, epsilon("1"));
    }
}

#[test]
fn a_device_checks_every_request_itself() {
    let (mut device, mut entropy) = (device(pure(2.0)), Dice(5));
    let e = &mut entropy;
    device.begin("colour", 3).unwrap();
    let good = Request { step: 3, ..ask("a", 1) };
    let price = good.price;
    let dear = Charge::Pure { epsilon: epsilon("0.6"), delta: Amount::ZERO };
    let cheap = Charge::Pure { epsilon: epsilon("0.1"), delta: Amount::ZERO };
    let laws = |laws| Request { mechanism: Mechanism { categories: 8, laws }, ..good.clone() };
    let named = |question: &str| Request { question: question.into(), ..good.clone() };
    let chain = |error| RequestError::Mechanism(MechanismError::Chain(error));
    let template = |text| ReportLaw::Subset(Template::new(1, epsilon(text)));
    let absurd = Weight::Of { epsilon: Amount::MAX, size: 1 };
    let heavy = Weight::Of { epsilon: epsilon("63"), size: 7 };
    let cases = [
        (Request { price: dear, ..good.clone() }, RequestError::Price { claimed: dear, price }),
        (Request { price: cheap, ..good.clone() }, RequestError::Price { claimed: cheap, price }),
        (
            Request { report: 3, ..good.clone() },
            MechanismError::NoReport { report: 3, reports: 3 }.into(),
        ),
        (
            Request {
                price: Charge::Zcdp { rho: Amount::GRAIN, delta: Amount::ZERO },
                ..good.clone()
            },
            RequestError::NoPurse(Charge::Zcdp { rho: Amount::GRAIN, delta: Amount::ZERO }),
        ),
        (
            Request { component: "shape".into(), ..good.clone() },
            RequestError::NoComponent("shape".into()),
        ),
        (
            Request { component: "size".into(), step: 0, ..good.clone() },
            RequestError::OtherCategories { component: "size".into(), categories: 4 },
        ),
        (Request { step: 2, ..good.clone() }, RequestError::Past { step: 2, now: 3 }),
        (Request { step: 4, ..good.clone() }, RequestError::Future { step: 4, now: 3 }),
        (named(""), RequestError::Name),
        (named(&"a".repeat(129)), RequestError::Name),
        (laws(vec![]), chain(ChainError::Empty)),
        (laws(vec![template("0.5"), template("1")]), chain(ChainError::Grows(1))),
        (
            laws(vec![ReportLaw::Subset(Template { size: 1, weight: absurd })]),
            MechanismError::TooDear.into(),
        ),
        (laws(vec![template("64.1")]), MechanismError::TooDear.into()),
        (
            laws(vec![ReportLaw::Bits(BitTemplate::new(epsilon("65")))]),
            MechanismError::TooDear.into(),
        ),
        (
            // It names less than it costs.
            laws(vec![ReportLaw::Subset(Template { size: 1, weight: heavy })]),
            MechanismError::TooDear.into(),
        ),
        (
            laws(vec![ReportLaw::Subset(Template::new(0, epsilon("1")))]),
            chain(ChainError::Size { size: 0, categories: 8 }),
        ),
        (
            laws(vec![ReportLaw::Subset(Template::new(8, epsilon("1")))]),
            chain(ChainError::Size { size: 8, categories: 8 }),
        ),
        (laws(vec![template("1"); 257]), MechanismError::TooManyReports.into()),
        (laws(vec![template("1e-7")]), MechanismError::TooCheap.into()),
        (
            Request {
                mechanism: Mechanism { categories: 1 << 20, laws: vec![template("1"); 5] },
                ..good.clone()
            },
            RequestError::OtherCategories { component: "colour".into(), categories: 8 },
        ),
    ];
    let large = |categories| Mechanism { categories, laws: vec![template("1"); 5] };
    assert_eq!(large(1 << 20).chain().unwrap_err(), MechanismError::TooLarge);
    assert_eq!(large(u32::MAX).chain().unwrap_err(), MechanismError::TooLarge);
    let before = device.generation();
    for (request, error) in cases {
        assert_eq!(fault(device.answer(&request, e)), error);
        assert!(spent(&device).0.is_zero() && device.generation() == before);
    }
    // Once it was answered, a question at a step stays what it was.
    let _ = words(device.answer(&good, e).unwrap());
    let other = RequestError::OtherQuestion { question: "a".into(), step: 3 };
    let planned = Mechanism::of(&Chain::from(
        SubsetChain::new(8, vec![Template::new(2, epsilon("0.5"))]).unwrap(),
    ));
    for request in [
        Request { mechanism: planned, report: 0, ..good.clone() },
        of("a", "size", 3, mechanism(4), 1, Currency::Pure),
    ] {
        assert_eq!(fault(device.answer(&request, e)), other);
    }
    device.begin("colour", 4).unwrap();
    let _ = words(device.answer(&good, e).unwrap());
    assert_eq!(spent(&device).0, epsilon("0.5"));
}

#[test]
fn what_is_forgotten_stays_spent_and_is_not_asked_for_again() {
    let (mut device, mut entropy) = (device(pure(2.0)), Dice(6));
    for step in 1..=3 {
        device.begin("colour", step).unwrap();
        let _ = words(device.answer(&Request { step, ..ask("a", 1) }, &mut entropy).unwrap());
    }
    // The step that goes on is kept, whatever is said.
    device.forget_before(u64::MAX).unwrap();
    let mut device = Device::open(device.close()).unwrap();
    assert_eq!(spent(&device).0, epsilon("1.5"));
    let again = device.answer(&Request { step: 2, ..ask("a", 1) }, &mut entropy);
    assert_eq!(fault(again), RequestError::Past { step: 2, now: 3 });
    let _ = words(device.answer(&Request { step: 3, ..ask("a", 1) }, &mut entropy).unwrap());
    assert_eq!(spent(&device).0, epsilon("1.5"));
    assert_eq!(
        device.answer(&Request { step: 3, ..ask("b", 0) }, &mut entropy).unwrap(),
        Reply::Halted
    );
}

#[test]
fn a_device_keeps_so_many_chains_and_no_more() {
    let (mut device, mut entropy) = (device(pure(1e6)), Dice(7));
    for question in 0..MOST_CHAINS {
        let _ = words(device.answer(&ask(&question.to_string(), 2), &mut entropy).unwrap());
    }
    assert_eq!(fault(device.answer(&ask("more", 2), &mut entropy)), RequestError::Full);
    let _ = words(device.answer(&ask("0", 0), &mut entropy).unwrap());
}

/// The longest chain there is, of different laws whose prices take logarithms, for next to nothing.
/// Asked for at another step, or of another component, it is not even looked at; and after sixteen
/// of them a device is full.
#[test]
fn the_longest_chains_are_answered_until_there_is_no_room() {
    let one = Amount::<Epsilon>::ONE.grains();
    let law = |report: u128| {
        let grains =
            if report < 255 { (64_000 - report) * one / 1000 } else { 3 * one / 1_000_000 };
        ReportLaw::Hash(HashTemplate {
            bits: 2,
            ..HashTemplate::new(3, Amount::from_grains(grains))
        })
    };
    let mechanism = Mechanism { categories: 8, laws: (0..256).map(law).collect() };
    let (mut device, mut entropy) = (device(pure(1.0)), Dice(12));
    let good = of("0", "colour", 0, mechanism, 255, Currency::Pure);
    for question in 0..MOST_KEPT_REPORTS / 256 {
        let request = Request { question: question.to_string(), ..good.clone() };
        assert_eq!(words(device.answer(&request, &mut entropy).unwrap()).len(), 3);
    }
    let more = Request { question: "more".into(), ..good.clone() };
    assert_eq!(fault(device.answer(&more, &mut entropy)), RequestError::Full);
    assert_eq!(fault(device.answer(&ask("more", 2), &mut entropy)), RequestError::Full);
    let mut device = Device::open(device.close()).unwrap();
    assert_eq!(words(device.answer(&good, &mut entropy).unwrap()).len(), 3);
    device.begin("colour", 1).unwrap();
    device.forget_before(1).unwrap();
    let _ = words(device.answer(&Request { step: 1, ..ask("more", 2) }, &mut entropy).unwrap());
}

/// Over all values of a component whose categories have one to four digits, with a chain of each
/// kind: sets, rows of bits and hashes of every size. Decimals would differ.
#[test]
fn what_is_stored_is_as_long_whatever_the_value_and_the_reports_are() {
    let components = || {
        let categories = Categories::new(1100).unwrap();
        vec![Component { name: "place".into(), categories, otherwise: 0 }]
    };
    let kinds = [
        ReportLaw::Hash(HashTemplate::new(3, epsilon("1"))),
        ReportLaw::Bits(BitTemplate::new(epsilon("1"))),
        ReportLaw::Subset(Template::new(1, epsilon("1"))),
    ];
    let mut lengths = std::collections::BTreeSet::new();
    for value in 0..1100 {
        let storage = MemoryStorage::new();
        let mut device = Device::create("device", pure(3.0), components(), storage).unwrap();
        let mut entropy = Dice(u64::from(value));
        device.record("place", value).unwrap();
        for (question, law) in ["a", "b", "c"].into_iter().zip(kinds) {
            let mechanism = Mechanism { categories: 1100, laws: vec![law] };
            let request = of(question, "place", 0, mechanism, 0, Currency::Pure);
            let _ = words(device.answer(&request, &mut entropy).unwrap());
        }
        lengths.insert(device.close().load().unwrap().unwrap().len());
    }
    assert_eq!(lengths.len(), 1);
}

#[test]
fn devices_are_made_of_what_they_can_keep() {
    let create = |budget, components| {
        Device::create("device", budget, components, MemoryStorage::new()).map(|_| ()).unwrap_err()
    };
    let central = BudgetSpec::promising(Epsilon::new(1.0).unwrap())
        .resolve(Metric::Hamming(Adjacency::Replace))
        .unwrap();
    assert!(matches!(create(central, components()), DeviceError::Metric));
    let mut outside = components();
    outside[0].otherwise = 8;
    let mut twice = components();
    twice[1].name = "colour".into();
    for wrong in [vec![], outside, twice] {
        assert!(matches!(create(pure(1.0), wrong), DeviceError::Components));
    }
    let mut device = device(pure(1.0));
    assert!(matches!(
        device.record("colour", 8),
        Err(DeviceError::Category(ChainError::Outside(8)))
    ));
    assert!(matches!(device.record("shape", 0), Err(DeviceError::NoComponent(_))));
    assert!(matches!(device.begin("colour", 0), Err(DeviceError::StepBack { now: 0 })));
    let storage = device.close();
    let again = Device::create("device", pure(1.0), components(), storage).map(|_| ());
    assert!(matches!(again, Err(DeviceError::Exists)));
    assert!(matches!(Device::open(MemoryStorage::new()), Err(DeviceError::Missing)));
}

#[test]
fn a_device_shows_no_value_and_no_chain_when_it_is_printed() {
    let (mut device, mut entropy) = (device(pure(1.0)), Dice(8));
    device.record("colour", 6).unwrap();
    let _ = words(device.answer(&ask("a", 2), &mut entropy).unwrap());
    assert_eq!(format!("{device:?}"), "Device { name: \"device\", generation: 3, chains: 1, .. }");
}

/// One bytes that outlive devices, and a storage that fails at one call: before it has any effect,
/// or after it.
#[derive(Clone, Default)]
struct Failing {
    bytes: Rc<RefCell<Option<Vec<u8>>>>,
    /// How many calls to store are left, and whether the last one has its effect all the same.
    fails: Rc<RefCell<Option<(usize, bool)>>>,
}

impl Storage for Failing {
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.bytes.borrow().clone())
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let mut fails = self.fails.borrow_mut();
        match *fails {
            Some((0, stored)) => {
                *fails = None;
                if stored {
                    *self.bytes.borrow_mut() = Some(bytes.to_vec());
                }
                return Err(StorageError::Failed(std::io::Error::other("no")));
            }
            Some((left, stored)) => *fails = Some((left - 1, stored)),
            None => {}
        }
        *self.bytes.borrow_mut() = Some(bytes.to_vec());
        Ok(())
    }
}

/// Some requests, the storage failing at the n-th call for every n, before and after it has stored.
/// What was shown is shown again after that, nothing is paid for twice, and in the end all is as if
/// nothing had failed.
#[test]
fn a_failing_storage_never_shows_what_is_not_stored() {
    let script =
        [ask("a", 1), ask("b", 2), ask("a", 0), ask("a", 2), ask("c", 0), ask("b", 1), ask("b", 2)];
    let mut failures = 0;
    for stored in [false, true] {
        for n in 0.. {
            let mut storage = Failing::default();
            let mut entropy = Dice(9);
            let mut shown: BTreeMap<(String, usize), Vec<u64>> = BTreeMap::new();
            *storage.fails.borrow_mut() = Some((n, stored));
            let mut failed = false;
            let create = || Device::create("device", pure(1.7), components(), storage.clone());
            let mut device = match create() {
                Ok(device) => device,
                Err(error) => {
                    assert!(matches!(error, DeviceError::Storage(_)));
                    failed = true;
                    // If it was stored it is there, and no new one is made.
                    if stored {
                        assert!(matches!(create(), Err(DeviceError::Exists)));
                        Device::open(storage.clone()).unwrap()
                    } else {
                        create().unwrap()
                    }
                }
            };
            for request in &script {
                let key = (request.question.clone(), request.report);
                let reply = match device.answer(request, &mut entropy) {
                    Ok(reply) => reply,
                    Err(error) => {
                        assert!(matches!(error, DeviceError::Storage(_)));
                        assert!(matches!(
                            device.answer(request, &mut entropy),
                            Err(DeviceError::Stopped)
                        ));
                        assert!(matches!(device.record("colour", 1), Err(DeviceError::Stopped)));
                        failed = true;
                        device = Device::open(storage.clone()).unwrap();
                        // All that was shown before is there.
                        for ((question, report), words_shown) in &shown {
                            let again =
                                device.answer(&ask(question, *report), &mut entropy).unwrap();
                            assert_eq!(words(again), *words_shown);
                        }
                        let before = spent(&device);
                        let reply = device.answer(request, &mut entropy).unwrap();
                        assert_eq!(spent(&device) == before, stored, "{n}");
                        reply
                    }
                };
                if let Reply::Report(report) = reply {
                    let words = report.words().to_vec();
                    assert_eq!(*shown.entry(key).or_insert_with(|| words.clone()), words);
                    // What was shown is stored, charge and chain, now.
                    let mut copy = Device::open(MemoryCopy(storage.load().unwrap())).unwrap();
                    assert_eq!(spent(&copy), spent(&device));
                    assert_eq!(copy.answer(request, &mut NoWords).unwrap(), Reply::Report(report));
                } else {
                    assert_eq!(request.question, "c");
                }
            }
            assert_eq!(spent(&device).0, epsilon("1.5"));
            if !failed {
                break;
            }
            failures += 1;
        }
    }
    assert_eq!(failures, 10);
}

/// A storage that does not keep others out. The second device knows nothing of what the first has
/// spent: it stops instead of storing over it, and nothing leaves it; opened again it knows.
#[test]
fn two_devices_on_one_storage_do_not_spend_its_budget_twice() {
    let (storage, mut entropy) = (Failing::default(), Dice(13));
    let mut one = Device::create("device", pure(1.0), components(), storage.clone()).unwrap();
    let mut two = Device::open(storage.clone()).unwrap();
    let shown = words(one.answer(&ask("a", 0), &mut entropy).unwrap());
    let stored = storage.bytes.borrow().clone();
    assert!(matches!(two.answer(&ask("b", 0), &mut entropy), Err(DeviceError::Shared)));
    assert!(matches!(two.answer(&ask("b", 2), &mut entropy), Err(DeviceError::Stopped)));
    assert!(matches!(two.record("colour", 1), Err(DeviceError::Stopped)));
    assert_eq!(*storage.bytes.borrow(), stored);
    let mut two = Device::open(storage.clone()).unwrap();
    assert_eq!(two.answer(&ask("b", 0), &mut entropy).unwrap(), Reply::Halted);
    assert_eq!(words(two.answer(&ask("a", 0), &mut entropy).unwrap()), shown);
    // Values and steps are no different: the second device stops.
    two.record("colour", 3).unwrap();
    assert!(matches!(one.begin("colour", 1), Err(DeviceError::Shared)));
    // Nor is a storage that was emptied a new one.
    *storage.bytes.borrow_mut() = None;
    assert!(matches!(two.record("colour", 4), Err(DeviceError::Shared)));
}

/// A copy of what is stored, which nothing may be written to.
struct MemoryCopy(Option<Vec<u8>>);

impl Storage for MemoryCopy {
    fn load(&mut self) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.0.clone())
    }

    fn store(&mut self, _: &[u8]) -> Result<(), StorageError> {
        panic!("nothing is to be stored")
    }
}

/// Where nothing is to be drawn.
struct NoWords;

impl eke_noise::Entropy for NoWords {
    fn word(&mut self) -> u64 {
        panic!("nothing is to be drawn")
    }
}

#[test]
fn a_stored_device_that_is_cut_or_changed_anywhere_is_not_opened() {
    let (mut device, mut entropy) = (device(pure(1.0)), Dice(10));
    let _ = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    let bytes = device.close().load().unwrap().unwrap();
    let open = |bytes: Vec<u8>| Device::open(MemoryCopy(Some(bytes))).map(|_| ());
    assert!(open(bytes.clone()).is_ok());
    let sentence = "what is stored of the device is damaged: restore the newest copy, since a new device would have a full budget";
    for length in 0..bytes.len() {
        let error = open(bytes[..length].to_vec()).unwrap_err();
        assert!(matches!(error, DeviceError::Damaged(_)), "{error}");
        assert!(length < 10 || error.to_string() == sentence);
    }
    for place in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[place] ^= 1 << (place % 8);
        assert!(matches!(open(bad), Err(DeviceError::Damaged(_))), "{place}");
    }
    let mut longer = bytes.clone();
    longer.push(b' ');
    assert!(open(longer).is_err());
    let mut newer = bytes.clone();
    newer[10] = 2;
    assert!(matches!(open(newer), Err(DeviceError::Damaged(DamagedDevice::Newer(2)))));
    assert!(matches!(open(b"{}".to_vec()), Err(DeviceError::Damaged(DamagedDevice::NoDevice))));
}

#[test]
fn an_older_copy_is_found_by_who_kept_count() {
    let (mut device, mut entropy) = (device(pure(1.0)), Dice(11));
    let mut storage = device.close();
    let old = storage.load().unwrap();
    device = Device::open(storage).unwrap();
    let _ = words(device.answer(&ask("a", 1), &mut entropy).unwrap());
    let known = device.generation();
    assert!(Device::open_after(device.close(), known).is_ok());
    let error = Device::open_after(MemoryCopy(old.clone()), known).map(|_| ()).unwrap_err();
    assert!(matches!(error, DeviceError::RolledBack { stored: 1, known: 2 }));
    // A host that did not keep count does not notice.
    assert!(Device::open(MemoryCopy(old)).is_ok());
}

/// A request that may be wrong in any of its parts, and a step that may begin before it.
pub(crate) fn requests() -> impl Strategy<Value = Vec<(bool, Request)>> {
    let one = (0..4u8, 0..2u8, 0..3u64, 0..4usize, 0..12u8, any::<bool>());
    prop::collection::vec(one, 1..25).prop_map(|drawn| {
        let request =
            |(question, component, step, report, odd, zcdp): (u8, u8, u64, usize, u8, bool)| {
                let (component, categories) =
                    if component == 0 { ("colour", 8) } else { ("size", 4) };
                let currency = if zcdp { Currency::Zcdp } else { Currency::Pure };
                let mechanism = mechanism(if odd == 3 { 5 } else { categories });
                let chain = mechanism.chain().unwrap();
                let mut price = currency.price(&chain, report.min(2)).unwrap();
                if odd == 4 {
                    price = currency.price(&chain, 2).unwrap();
                }
                let question = format!("q{question}{component}{zcdp}");
                let begins = odd == 5;
                (
                    begins,
                    Request {
                        question,
                        component: component.into(),
                        step,
                        mechanism,
                        report,
                        price,
                    },
                )
            };
        drawn.into_iter().map(request).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Two devices that hold different values are asked the same: each says the same sentence,
    /// halts at the same requests, and has spent as much and stored as often and as many bytes.
    #[test]
    fn what_a_device_says_besides_reports_does_not_depend_on_its_value(
        script in requests(), values in (0..8u32, 0..4u32), seed in any::<u64>(),
    ) {
        let mut devices = [device(both()), device(both())];
        let mut entropies = [Dice(seed), Dice(!seed)];
        devices[1].record("colour", values.0).unwrap();
        devices[1].record("size", values.1).unwrap();
        devices[0].record("colour", 0).unwrap();
        devices[0].record("size", 0).unwrap();
        for (begins, request) in script {
            let mut said = Vec::new();
            for (device, entropy) in devices.iter_mut().zip(&mut entropies) {
                if begins {
                    let next = device.step(&request.component).unwrap() + 1;
                    device.begin(&request.component, next).unwrap();
                }
                let said_now = match device.answer(&request, entropy) {
                    Ok(Reply::Report(_)) => "report".to_owned(),
                    Ok(Reply::Halted) => "halted".to_owned(),
                    Err(error) => error.to_string(),
                };
                said.push((said_now, spent(device), device.generation()));
            }
            prop_assert_eq!(&said[0], &said[1]);
        }
        let [one, two] = devices.map(|device| device.close().load().unwrap().unwrap().len());
        prop_assert_eq!(one, two);
    }

    /// Against books kept apart from the device: it answers what fits, halts at what does not, and
    /// has paid the finest report of every chain.
    #[test]
    fn a_device_never_pays_more_than_its_budget_and_pays_for_the_finest_of_each_chain(
        script in requests(), seed in any::<u64>(),
    ) {
        let budget = both();
        let most = (budget.pure().unwrap().budget, budget.zcdp().unwrap().budget);
        let mut device = device(budget);
        let mut entropy = Dice(seed);
        let mut epsilons: BTreeMap<(String, u64), Amount<Epsilon>> = BTreeMap::new();
        let mut rhos: BTreeMap<(String, u64), Amount<Rho>> = BTreeMap::new();
        for (begins, request) in script {
            if begins {
                let next = device.step(&request.component).unwrap() + 1;
                device.begin(&request.component, next).unwrap();
            }
            let before = spent(&device);
            let reply = device.answer(&request, &mut entropy);
            let key = (request.question.clone(), request.step);
            match (&reply, request.price) {
                (Ok(Reply::Report(_)), Charge::Pure { epsilon, .. }) => {
                    let paid = epsilons.entry(key).or_insert(Amount::ZERO);
                    *paid = epsilon.max(*paid);
                }
                (Ok(Reply::Report(_)), Charge::Zcdp { rho, .. }) => {
                    let paid = rhos.entry(key).or_insert(Amount::ZERO);
                    *paid = rho.max(*paid);
                }
                (Ok(Reply::Halted), Charge::Pure { epsilon, .. }) => {
                    let paid = epsilons.get(&key).copied().unwrap_or(Amount::ZERO);
                    let asked = epsilon.minus(paid).unwrap();
                    prop_assert!(before.0.plus(asked).unwrap() > most.0);
                }
                (Ok(Reply::Halted), Charge::Zcdp { rho, .. }) => {
                    prop_assert!(before.1.plus(rho).unwrap() > most.1);
                }
                (Err(_), _) => prop_assert_eq!(spent(&device), before),
            }
            let sum = epsilons.values().try_fold(Amount::ZERO, |sum, paid| paid.plus(sum)).unwrap();
            let rho = rhos.values().try_fold(Amount::ZERO, |sum, paid| paid.plus(sum)).unwrap();
            prop_assert_eq!(spent(&device), (sum, rho));
            prop_assert!(sum <= most.0 && rho <= most.1);
            let again = Device::open(device.close()).unwrap();
            prop_assert_eq!(spent(&again), (sum, rho));
            device = again;
        }
    }
}
