//! The sources of bits themselves.

use eke_noise::Entropy;
use eke_testkit::{Counted, Dice, Nothing, Seeded, Tape};

#[test]
fn a_tape_is_read_from_its_start_and_then_repeats_what_follows() {
    let mut tape = Tape::new([3, 1]).then(7);
    assert_eq!([tape.word(), tape.word(), tape.word(), tape.word()], [3, 1, 7, 7]);
    assert_eq!(tape.used(), 4);
    assert_eq!(Tape::always(5).word(), 5);
}

#[test]
#[should_panic = "a word on the tape"]
fn a_tape_without_more_words_is_at_its_end() {
    let mut tape = Tape::new([3]);
    tape.word();
    tape.word();
}

#[test]
#[should_panic = "something was drawn"]
fn nothing_can_be_drawn_from_nothing() {
    Nothing.word();
}

#[test]
fn words_are_counted() {
    let mut counted = Counted::new(Dice(1));
    assert_eq!(counted.words(), 0);
    let words = [counted.word(), counted.word()];
    let mut dice = Dice(1);
    assert_eq!((counted.words(), words), (2, [dice.word(), dice.word()]));
}

/// The first words of each generator: experiments and tests are the same for good.
#[test]
fn seeds_decide_for_good() {
    // SplitMix64 of 1234567, as published with it.
    let mut dice = Dice(1_234_567);
    assert_eq!(dice.word(), 6_457_827_717_110_365_317);
    assert_eq!(dice.word(), 3_203_168_211_198_807_973);
    let first = |mut seeded: Seeded| seeded.word();
    assert_eq!(first(Seeded::new(1)), first(Seeded::new(1)));
    assert_ne!(first(Seeded::new(1)), first(Seeded::new(2)));
    assert_ne!(first(Seeded::of(1, &["ab", "c"], 0)), first(Seeded::of(1, &["a", "bc"], 0)));
}

#[test]
fn dice_are_shuffled_rolled_and_picked_within_bounds() {
    let mut dice = Dice::new(4);
    let mut cards: Vec<u32> = (0..20).collect();
    dice.shuffle(&mut cards);
    assert!(!cards.is_sorted());
    cards.sort_unstable();
    assert_eq!(cards, (0..20).collect::<Vec<u32>>());
    for _ in 0..1000 {
        assert!(dice.roll(6) < 6 && dice.below(3) < 3 && *dice.pick(&[7, 8]) >= 7);
        let part = dice.uniform();
        assert!(0.0 < part && part < 1.0);
    }
}
