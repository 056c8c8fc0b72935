//! A sheet of ten million accounts charged, next to plain doubles that nobody should count money
//! in, and a fleet of a million devices asked.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use eke_budget::account::{Prices, Sheet, Who};
use eke_budget::{Amount, Epsilon};
use eke_local::device::Currency;
use eke_local::{Component, Fleet, Mechanism, Request};
use eke_noise::local::{Categories, ReportLaw, Template};
use eke_testkit::Seeded;

const ACCOUNTS: u32 = 10_000_000;
const DEVICES: u32 = 1_000_000;

/// Each account's own price.
fn prices() -> Vec<Amount<Epsilon>> {
    let tenth = Amount::<Epsilon>::ONE.grains() / 10;
    (0..ACCOUNTS).map(|number| Amount::from_grains(tenth * u128::from(number % 7))).collect()
}

/// A sheet is charged again and again: most of it is soon spent, and refused.
fn sheet() -> Sheet<Epsilon> {
    Sheet::same(Amount::ONE, ACCOUNTS as usize).unwrap()
}

#[divan::bench(sample_count = 3)]
fn doubles_each_its_own_price(bencher: Bencher) {
    let prices: Vec<f64> = prices().iter().map(|price| price.to_f64()).collect();
    let mut spent = vec![0.0f64; prices.len()];
    bencher.counter(ItemsCount::new(ACCOUNTS)).bench_local(|| {
        let mut refused = 0;
        for (spent, price) in spent.iter_mut().zip(&prices) {
            if *spent + price <= 1.0 { *spent += price } else { refused += 1 }
        }
        black_box(&spent);
        refused
    });
}

#[divan::bench(sample_count = 3)]
fn charge_everyone_the_same(bencher: Bencher) {
    let (mut sheet, tenth) = (sheet(), Amount::parse_up("0.1").unwrap());
    bencher
        .counter(ItemsCount::new(ACCOUNTS))
        .bench_local(|| sheet.charge(Who::Everyone, Prices::Same(tenth)).unwrap());
}

#[divan::bench(sample_count = 3)]
fn charge_everyone_each_its_own_price(bencher: Bencher) {
    let (mut sheet, each) = (sheet(), prices());
    bencher
        .counter(ItemsCount::new(ACCOUNTS))
        .bench_local(|| sheet.charge(Who::Everyone, Prices::Each(&each)).unwrap());
}

#[divan::bench(sample_count = 3)]
fn charge_every_second_each_its_own_price(bencher: Bencher) {
    let (mut sheet, each) = (sheet(), prices());
    let half: Vec<u32> = (0..ACCOUNTS).step_by(2).collect();
    bencher.counter(ItemsCount::new(half.len())).bench_local(|| {
        sheet.charge(Who::These(&half), Prices::Each(&each[..half.len()])).unwrap()
    });
}

#[divan::bench(sample_count = 3)]
fn what_is_left_at_five_fractions(bencher: Bencher) {
    let mut sheet = sheet();
    let _ = sheet.charge(Who::Everyone, Prices::Each(&prices())).unwrap();
    bencher
        .counter(ItemsCount::new(ACCOUNTS))
        .bench_local(|| sheet.left_at(&[0.0, 0.25, 0.5, 0.75, 1.0]));
}

/// Devices with one of 128 categories each, asked for a report at 1: another question every time,
/// or the same.
#[divan::bench(args = ["another", "again"], sample_count = 3)]
fn ask_a_fleet(bencher: Bencher, question: &str) {
    let epsilon = |text: &str| Amount::<Epsilon>::parse_up(text).unwrap();
    let laws = vec![ReportLaw::Subset(Template::new(34, epsilon("1")))];
    let mechanism = Mechanism { categories: 128, laws };
    let price = Currency::Pure.price(&mechanism.chain().unwrap(), 0).unwrap();
    let mut fleet = Fleet::new(Sheet::same(epsilon("100"), DEVICES as usize).unwrap());
    let categories = Categories::new(128).unwrap();
    let colour = Component { name: "colour".into(), categories, otherwise: 0 };
    fleet.hold(colour, (0..DEVICES).map(|device| device % 128).collect()).unwrap();
    let (mut entropy, mut number) = (Seeded::new(7), 0);
    let mut ask = || {
        if question == "another" {
            number += 1;
        }
        let request = Request {
            question: number.to_string(),
            component: "colour".into(),
            step: 0,
            mechanism: mechanism.clone(),
            report: 0,
            price,
        };
        fleet.answer(&request, Who::Everyone, &mut entropy).unwrap()
    };
    black_box(ask());
    bencher.counter(ItemsCount::new(DEVICES)).bench_local(ask);
}
