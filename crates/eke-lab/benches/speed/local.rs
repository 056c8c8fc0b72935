//! A million users' reports about 128 categories drawn and counted, next to the textbook's sampler.
//!
//! The textbook draws with doubles, shuffles the categories to have a subset of them, and counts
//! report by report, category by category.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use eke_budget::{Amount, Epsilon};
use eke_local::worth::subset;
use eke_local::{Law, Method, Plan, Tally};
use eke_noise::local::{BitTemplate, Chain, HashTemplate, ReportLaw, Template};
use eke_testkit::Seeded;

const USERS: u32 = 1_000_000;
const CATEGORIES: u32 = 128;
const WORDS: usize = 2;
const EPSILONS: [&str; 4] = ["0.5", "1", "2", "4"];

fn values(users: u32) -> Vec<u32> {
    (0..users).map(|user| user % CATEGORIES).collect()
}

/// The best sets at an epsilon.
fn sets(epsilon: &str) -> (u32, Law) {
    let epsilon: Amount<Epsilon> = epsilon.parse().unwrap();
    let size = subset::best_size(CATEGORIES, epsilon.to_f64());
    (size, Law::new(CATEGORIES, ReportLaw::Subset(Template::new(size, epsilon))).unwrap())
}

/// Hashes of two bits, and rows of bits, at 1.
fn hashes() -> Law {
    Law::new(CATEGORIES, ReportLaw::Hash(HashTemplate::new(2, "1".parse().unwrap()))).unwrap()
}

fn rows_of_bits() -> Law {
    Law::new(CATEGORIES, ReportLaw::Bits(BitTemplate::new("1".parse().unwrap()))).unwrap()
}

fn drawn(bencher: Bencher, law: Law) {
    let chain = Chain::new(CATEGORIES, &[law.report()]).unwrap();
    let (values, mut entropy) = (values(USERS), Seeded::new(1));
    let mut reports = vec![0; values.len() * law.words()];
    bencher.counter(ItemsCount::new(USERS)).bench_local(|| {
        chain.fill(&values, &mut reports, &mut entropy).unwrap();
        black_box(&reports);
    });
}

fn counted(bencher: Bencher, law: Law) {
    let chain = Chain::new(CATEGORIES, &[law.report()]).unwrap();
    let values = values(USERS);
    let mut reports = vec![0; values.len() * law.words()];
    chain.fill(&values, &mut reports, &mut Seeded::new(1)).unwrap();
    bencher.counter(ItemsCount::new(USERS)).bench_local(|| {
        let mut tally = Tally::new(law);
        tally.add(&reports).unwrap();
        tally.estimates().consistent()
    });
}

#[divan::bench(args = EPSILONS, sample_count = 5)]
fn sets_drawn(bencher: Bencher, epsilon: &str) {
    drawn(bencher, sets(epsilon).1);
}

#[divan::bench(args = EPSILONS, sample_count = 5)]
fn sets_counted(bencher: Bencher, epsilon: &str) {
    counted(bencher, sets(epsilon).1);
}

#[divan::bench(sample_count = 5)]
fn hashes_drawn(bencher: Bencher) {
    drawn(bencher, hashes());
}

#[divan::bench(sample_count = 5)]
fn hashes_counted(bencher: Bencher) {
    counted(bencher, hashes());
}

#[divan::bench(sample_count = 5)]
fn rows_of_bits_drawn(bencher: Bencher) {
    drawn(bencher, rows_of_bits());
}

#[divan::bench(sample_count = 5)]
fn rows_of_bits_counted(bencher: Bencher) {
    counted(bencher, rows_of_bits());
}

/// Twenty tiers planned and drawn for a tenth of the users, and counted by somebody who may see the
/// finest.
#[divan::bench(sample_count = 5)]
fn twenty_tiers_planned_drawn_and_counted(bencher: Bencher) {
    let values = values(USERS / 10);
    let tiers: Vec<Amount<Epsilon>> = (1..=20)
        .map(|tier| format!("{}.{}", tier * 4 / 10, tier * 4 % 10).parse().unwrap())
        .collect();
    let mut entropy = Seeded::new(2);
    bencher.counter(ItemsCount::new(values.len())).bench_local(|| {
        let plan = Plan::new(CATEGORIES, &tiers, Method::Planned).unwrap();
        let chain = plan.chain();
        let row = chain.words() * chain.reports();
        let mut reports = vec![0; values.len() * row];
        chain.fill(&values, &mut reports, &mut entropy).unwrap();
        let mut tally = Tally::new(Law::new(CATEGORIES, chain.law(0).unwrap()).unwrap());
        for reports in reports.chunks_exact(row) {
            tally.add(&reports[..chain.words()]).unwrap();
        }
        tally.estimates().consistent()
    });
}

/// Sets with doubles and a shuffle.
#[divan::bench(args = EPSILONS, sample_count = 5)]
fn textbook_drawn(bencher: Bencher, epsilon: &str) {
    let textbook = Textbook::new(epsilon);
    let (values, mut entropy) = (values(USERS), Seeded::new(3));
    let mut reports = vec![[0; WORDS]; values.len()];
    bencher
        .counter(ItemsCount::new(USERS))
        .bench_local(|| textbook.draw(&values, &mut reports, &mut entropy));
}

#[divan::bench(args = EPSILONS, sample_count = 5)]
fn textbook_counted(bencher: Bencher, epsilon: &str) {
    let textbook = Textbook::new(epsilon);
    let values = values(USERS);
    let mut reports = vec![[0; WORDS]; values.len()];
    textbook.draw(&values, &mut reports, &mut Seeded::new(3));
    bencher.counter(ItemsCount::new(USERS)).bench_local(|| textbook.count(&reports));
}

struct Textbook {
    size: u32,
    /// How likely a report holds the truth, and each other category.
    hit: f64,
    miss: f64,
}

impl Textbook {
    fn new(epsilon: &str) -> Self {
        let size = sets(epsilon).0;
        let (d, k) = (f64::from(CATEGORIES), f64::from(size));
        let odds = k * epsilon.parse::<f64>().unwrap().exp();
        let hit = odds / (odds + d - k);
        Self { size, hit, miss: (k - hit) / (d - 1.0) }
    }

    fn draw(&self, values: &[u32], reports: &mut [[u64; WORDS]], entropy: &mut Seeded) {
        let mut order: Vec<u32> = (0..CATEGORIES).collect();
        for (&value, report) in values.iter().zip(reports) {
            *report = [0; WORDS];
            let holds = entropy.unit() < self.hit;
            let (mut left, mut at) = (if holds { self.size - 1 } else { self.size }, 0);
            if holds {
                report[value as usize / 64] |= 1 << (value % 64);
            }
            while left > 0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below the number of categories"
                )]
                let other = at + (entropy.unit() * (order.len() - at) as f64) as usize;
                order.swap(at, other);
                let category = order[at];
                at += 1;
                if category != value {
                    report[category as usize / 64] |= 1 << (category % 64);
                    left -= 1;
                }
            }
        }
    }

    fn count(&self, reports: &[[u64; WORDS]]) -> Vec<f64> {
        let mut counts = vec![0u32; CATEGORIES as usize];
        for report in reports {
            for (category, count) in counts.iter_mut().enumerate() {
                *count += u32::from(report[category / 64] >> (category % 64) & 1 == 1);
            }
        }
        let expected = f64::from(USERS) * self.miss;
        let estimate = |count: &u32| (f64::from(*count) - expected) / (self.hit - self.miss);
        counts.iter().map(estimate).collect()
    }
}
