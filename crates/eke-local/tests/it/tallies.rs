//! Counting reports.

use eke_local::estimate::TallyError;
use eke_local::worth::ReportError;
use eke_local::{Tally, Wire};
use eke_noise::local::Hash;
use proptest::prelude::*;

use crate::{Dice, bits, hashes, reports, sets};

/// Uniform sets of a size, by swapping.
fn rows(categories: u32, size: u32, rows: usize, seed: u64) -> Vec<u64> {
    let words = (categories as usize).div_ceil(64);
    let mut entropy = Dice(seed);
    let mut all = vec![0; words * rows];
    let mut order: Vec<u32> = (0..categories).collect();
    for row in all.chunks_exact_mut(words) {
        for at in 0..size as usize {
            let other = at + usize::try_from(entropy.word() % (order.len() - at) as u64).unwrap();
            order.swap(at, other);
            row[order[at] as usize / 64] |= 1 << (order[at] % 64);
        }
    }
    all
}

fn naive(categories: u32, rows: &[u64]) -> Vec<u64> {
    let words = (categories as usize).div_ceil(64);
    (0..categories)
        .map(|c| rows.chunks(words).map(|row| row[c as usize / 64] >> (c % 64) & 1).sum())
        .collect()
}

proptest! {
    #[test]
    fn a_tally_counts_what_one_by_one_counts(
        categories in 2u32..300,
        part in 0.0f64..1.0,
        lengths in prop::collection::vec(0usize..100, 1..8),
        seed: u64,
    ) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let size = ((f64::from(categories) * part) as u32).clamp(1, categories - 1);
        let law = sets(categories, size, "1");
        let all = rows(categories, size, lengths.iter().sum(), seed);
        let words = law.words();
        let (mut one, mut merged) = (Tally::new(law), Tally::new(law));
        let mut rest = &all[..];
        for length in lengths {
            let (these, others) = rest.split_at(length * words);
            one.add(these).unwrap();
            let mut other = Tally::new(law);
            other.add(these).unwrap();
            merged.merge(other).unwrap();
            rest = others;
        }
        prop_assert_eq!(one.reports(), (all.len() / words) as u64);
        prop_assert_eq!(one.counts(), naive(categories, &all));
        prop_assert_eq!(one.counts(), merged.counts());
        prop_assert_eq!(one.reports(), merged.reports());
    }
}

/// More reports than the small counters hold, all naming the same category, in batches of all
/// kinds.
#[test]
fn counters_that_fill_up_are_emptied_in_time() {
    let law = sets(65, 1, "1");
    for batch in [1usize, 15, 16, 1000, 70_000] {
        let mut tally = Tally::new(law);
        let mut left = 200_000usize;
        while left > 0 {
            let now = batch.min(left);
            tally.add(&[0, 1].repeat(now)).unwrap();
            left -= now;
        }
        assert_eq!(tally.counts()[64], 200_000, "{batch}");
        assert!(tally.counts()[..64].iter().all(|count| *count == 0));
    }
}

#[test]
fn what_is_no_report_is_not_counted() {
    let law = sets(70, 2, "1");
    let mut tally = Tally::new(law);
    let good = [3, 0];
    for (bad, error) in [
        (vec![1, 0], ReportError::Size { size: 2, found: 1 }),
        (vec![7, 0], ReportError::Size { size: 2, found: 3 }),
        (vec![1, 1 << 6], ReportError::Outside(70)),
        (vec![3], ReportError::Room(2)),
    ] {
        let mut reports = good.to_vec();
        reports.extend(bad);
        assert_eq!(tally.add(&reports), Err(TallyError::Report { row: 1, error }));
        assert_eq!((tally.reports(), tally.counts()[0]), (0, 0));
    }
    assert_eq!(tally.merge(Tally::new(sets(70, 2, "2"))), Err(TallyError::OtherLaw));
    assert_eq!(
        TallyError::Report { row: 1, error: ReportError::Size { size: 2, found: 1 } }.to_string(),
        "report 1 cannot be counted: a report of this law names 2 categories, and this one 1"
    );
}

#[test]
fn a_user_has_one_report_and_no_more() {
    for (law, good) in [
        (sets(70, 2, "1"), vec![3, 0]),
        (hashes(70, 2, "1"), vec![5, 6, 3]),
        (bits(70, "1"), vec![7, 0]),
    ] {
        let mut tally = Tally::new(law);
        let error = ReportError::Room(good.len());
        for bad in [vec![], good.repeat(2), good.repeat(8), good[1..].to_vec()] {
            assert_eq!(tally.add_one(&bad), Err(TallyError::Report { row: 0, error }));
        }
        assert_eq!(tally.reports(), 0);
        tally.add_one(&good).unwrap();
        let mut rows = Tally::new(law);
        rows.add(&good).unwrap();
        assert_eq!((tally.reports(), tally.counts()), (1, rows.counts()));
    }
}

#[test]
fn a_frame_is_counted_whole_or_not_at_all() {
    let values: Vec<u32> = (0..100).collect();
    let question = [9; 32];
    for law in [sets(100, 4, "1"), sets(100, 30, "1"), hashes(100, 7, "1"), bits(100, "1")] {
        let reports = reports(&law, &values, &mut Dice(5));
        let mut frame = Vec::new();
        Wire::new(law).write_frame(&question, &reports, &mut frame).unwrap();
        let (mut one, mut two) = (Tally::new(law), Tally::new(law));
        one.add(&reports).unwrap();
        two.add_frame(&question, &frame).unwrap();
        assert_eq!(one.counts(), two.counts());
        assert_eq!(two.reports(), 100);
        // No report ends so.
        let last = frame.len() - 1;
        frame[last] |= 0xf0;
        assert!(two.add_frame(&question, &frame).is_err());
        assert!(two.add_frame(&[8; 32], &frame).is_err());
        assert_eq!(one.counts(), two.counts());
    }
}

/// Against the hash itself, over more reports than are looked at together.
#[test]
fn hashed_values_are_counted_for_the_categories_that_have_them() {
    let law = hashes(70, 2, "1");
    let values: Vec<u32> = (0..70).collect();
    let reports = reports(&law, &values, &mut Dice(6));
    for rows in [0, 1, 15, 16, 17, 70] {
        let mut tally = Tally::new(law);
        tally.add(&reports[..rows * 3]).unwrap();
        let expected: Vec<u64> = (0..70)
            .map(|category| {
                let supports = |report: &[u64]| {
                    let hash = Hash { multiplier: report[0], addend: report[1] };
                    u64::from(hash.of(category, 2) == report[2])
                };
                reports.chunks(3).take(rows).map(supports).sum()
            })
            .collect();
        assert_eq!(tally.counts(), expected);
        assert_eq!(tally.reports(), rows as u64);
    }
}
