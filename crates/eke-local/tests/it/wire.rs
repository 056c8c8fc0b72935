//! Reports as bytes, good ones and others.

use eke_local::device::{VERSION, WireError};
use eke_local::{Law, Wire};
use proptest::prelude::*;

use crate::{Dice, bits, hashes, sets};

const QUESTION: [u8; 32] = [7; 32];

/// Some laws, of all forms.
fn laws() -> impl Strategy<Value = Law> {
    (2u32..400, 0.0f64..1.0, 0u32..4).prop_map(|(categories, part, form)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let of = |most: f64| (most * part) as u32;
        match form {
            0 => sets(categories, of(f64::from(categories)).clamp(1, categories - 1), "1"),
            1 => sets(categories, of(f64::from(categories) / 16.0).clamp(1, categories - 1), "1"),
            2 => hashes(categories, of(20.0) + 1, "1"),
            _ => bits(categories, "1"),
        }
    })
}

/// Reports of all categories.
fn reports(law: &Law, seed: u64) -> Vec<u64> {
    let values: Vec<u32> = (0..law.categories()).collect();
    crate::reports(law, &values, &mut Dice(seed))
}

proptest! {
    #[test]
    fn what_is_written_is_read(law in laws(), seed: u64) {
        let wire = Wire::new(law);
        let reports = reports(&law, seed);
        for report in reports.chunks_exact(law.words()) {
            let mut bytes = Vec::new();
            wire.write(report, &mut bytes).unwrap();
            prop_assert_eq!((bytes.len(), bytes[0]), (wire.bytes(), VERSION));
            let mut read = vec![u64::MAX; law.words()];
            wire.read(&bytes, &mut read).unwrap();
            prop_assert_eq!(&read[..], report);
        }
        let mut frame = Vec::new();
        wire.write_frame(&QUESTION, &reports, &mut frame).unwrap();
        let mut read = Vec::new();
        let count = wire.read_frame(&QUESTION, &frame, |report| read.extend_from_slice(report));
        prop_assert_eq!(count, Ok(law.categories()));
        prop_assert_eq!(read, reports);
    }

    /// Whatever comes is refused, or is a report, in its one form.
    #[test]
    fn random_bytes_are_refused_or_are_reports(
        law in laws(),
        mut bytes in prop::collection::vec(any::<u8>(), 0..80),
        form in 0u8..6,
        fit in any::<bool>(),
    ) {
        let wire = Wire::new(law);
        if fit {
            bytes.resize(wire.bytes(), 0);
            bytes[..2].copy_from_slice(&[VERSION, form]);
        }
        is_refused_or_one(&wire, &law, &bytes)?;
        prop_assert!(wire.read_frame(&QUESTION, &bytes, |_| ()).is_err());
    }

    #[test]
    fn truncated_lengthened_and_flipped_reports_are_refused_or_are_reports(
        law in laws(),
        seed: u64,
        cut: prop::sample::Index,
        flip: prop::sample::Index,
    ) {
        let wire = Wire::new(law);
        let reports = reports(&law, seed);
        let report = &reports[..law.words()];
        let mut bytes = Vec::new();
        wire.write(report, &mut bytes).unwrap();
        let mut room = vec![0; law.words()];
        prop_assert!(wire.read(&bytes[..cut.index(bytes.len())], &mut room).is_err());
        let longer = [&bytes[..], &[0]].concat();
        prop_assert!(wire.read(&longer, &mut room).is_err());
        let bit = flip.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        is_refused_or_one(&wire, &law, &bytes)?;

        let mut frame = Vec::new();
        wire.write_frame(&QUESTION, &reports, &mut frame).unwrap();
        prop_assert!(wire.read_frame(&QUESTION, &frame[..cut.index(frame.len())], |_| ()).is_err());
        frame.push(0);
        prop_assert!(wire.read_frame(&QUESTION, &frame, |_| ()).is_err());
        frame.pop();
        let bit = flip.index(frame.len() * 8);
        frame[bit / 8] ^= 1 << (bit % 8);
        let mut read = Vec::new();
        if wire.read_frame(&QUESTION, &frame, |report| read.extend_from_slice(report)).is_ok() {
            let mut again = Vec::new();
            wire.write_frame(&QUESTION, &read, &mut again).unwrap();
            prop_assert_eq!(again, frame);
        } else {
            prop_assert!(read.is_empty());
        }
    }
}

fn is_refused_or_one(wire: &Wire, law: &Law, bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut report = vec![0; law.words()];
    if wire.read(bytes, &mut report).is_ok() {
        prop_assert_eq!(law.check(&report), Ok(()));
        let mut again = Vec::new();
        wire.write(&report, &mut again).unwrap();
        prop_assert_eq!(again, bytes);
    }
    Ok(())
}

/// The forms as they are, byte by byte: they may never change.
#[test]
fn the_forms_are_these() {
    let write = |law: Law, report: &[u64]| {
        let mut bytes = Vec::new();
        Wire::new(law).write(report, &mut bytes).unwrap();
        bytes
    };
    // Ten of twenty categories as bits.
    assert_eq!(write(sets(20, 10, "1"), &[0b1010_0101_0101_1111_0000]), [1, 1, 0xf0, 0x55, 0x0a]);
    // 1, 65 and 127 of 128 as numbers of seven bits.
    let list = write(sets(128, 3, "1"), &[2, 2 | 1 << 63]);
    let three: u32 = 1 | 65 << 7 | 127 << 14;
    assert_eq!(list[..2], [1, 2]);
    assert_eq!(list[2..], three.to_le_bytes()[..3]);
    // A hash and a value of ten bits; a bit for each of ten categories.
    let hash = write(hashes(20, 10, "1"), &[0x0807_0605_0403_0201, 0xff, 0x3fe]);
    assert_eq!(hash[..10], [1, 3, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(hash[10..], [0xff, 0, 0, 0, 0, 0, 0, 0, 0xfe, 3]);
    assert_eq!(write(bits(10, "1"), &[0x3ff]), [1, 4, 0xff, 3]);
    let mut frame = Vec::new();
    Wire::new(sets(20, 10, "1"))
        .write_frame(&QUESTION, &[0b1010_0101_0101_1111_0000; 2], &mut frame)
        .unwrap();
    assert_eq!(frame[..2], [1, 0x81]);
    assert_eq!(frame[2..34], QUESTION);
    assert_eq!(frame[34..], [2, 0, 0, 0, 0xf0, 0x55, 0x0a, 0xf0, 0x55, 0x0a]);
    // What they take: a third of a million categories is no reason for a third of a million bits.
    let bytes = |d, k| Wire::new(sets(d, k, "1")).bytes();
    assert_eq!([bytes(128, 34), bytes(128, 1), bytes(1 << 20, 1), bytes(2, 1)], [18, 3, 5, 3]);
}

#[test]
fn every_mistake_has_its_sentence() {
    let wire = Wire::new(sets(100, 3, "1"));
    let mut room = [0; 2];
    let mut sentence = |bytes: &[u8]| wire.read(bytes, &mut room).unwrap_err().to_string();
    assert_eq!(sentence(&[]), "there should be 5 bytes, and there are 0");
    assert_eq!(
        sentence(&[9, 2, 0, 0, 0]),
        "reports of version 9 cannot be read: this collector reads version 1"
    );
    assert_eq!(
        sentence(&[1, 1, 0, 0, 0]),
        "these bytes are of form 1, and reports of this law of form 2: is it the right question?"
    );
    assert_eq!(sentence(&[1, 2, 0, 0]), "there should be 5 bytes, and there are 4");
    assert_eq!(
        sentence(&[1, 2, 0, 0, 0]),
        "the categories of a report are listed in rising order, each once"
    );
    assert_eq!(
        sentence(&[1, 2, 0x7f, 0, 0]),
        "a report of this law names categories from 0 to 99 only"
    );
    let [one, two, three, _] = (1u32 | 2 << 7 | 3 << 14 | 1 << 23).to_le_bytes();
    assert_eq!(sentence(&[1, 2, one, two, three]), "the bits after a report are zeros");
    let many = Wire::new(sets(100, 40, "1"));
    assert_eq!(
        many.read(&[1, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &mut room)
            .unwrap_err()
            .to_string(),
        "a report of this law names 40 categories, and this one 8"
    );
    let value = [1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8];
    assert_eq!(
        Wire::new(hashes(100, 3, "1")).read(&value, &mut [0; 3]).unwrap_err().to_string(),
        "a report of this law has a value of 3 bits, and this one's is larger"
    );
    assert_eq!(
        Wire::new(bits(9, "1")).read(&[1, 4, 0, 2], &mut [0; 1]).unwrap_err().to_string(),
        "a report of this law names categories from 0 to 8 only"
    );
    assert!(matches!(wire.read_frame(&[0; 32], &frame(&wire), |_| ()), Err(WireError::Question)));
    assert_eq!(
        wire.read(&[1, 2, 0x81, 0x80, 0], &mut [0; 1]).unwrap_err().to_string(),
        "a report of this law takes 2 words"
    );
}

fn frame(wire: &Wire) -> Vec<u8> {
    let mut frame = Vec::new();
    wire.write_frame(&QUESTION, &[7, 0], &mut frame).unwrap();
    frame
}
