//! Money is exact.

use eke_budget::{Amount, Delta, Epsilon, Rho};
use proptest::prelude::*;

use crate::amount;

type Money = Amount<Rho>;

#[test]
fn the_doubles_of_the_smallest_and_the_largest_amounts_are_the_nearest() {
    for grains in (0..2000).chain((0..2000).map(|less| u128::MAX - less)) {
        let money = Money::from_grains(grains);
        let read: f64 = money.to_string().parse().unwrap();
        assert_eq!(money.to_f64().to_bits(), read.to_bits(), "{money}");
    }
    // Halves between two doubles that grains can say: to the even one.
    for (bits, even) in [((1u128 << 54) + 2, 1u128 << 54), ((1 << 54) + 6, (1 << 54) + 8)] {
        let money = Money::from_grains(bits.checked_mul(5u128.pow(30)).unwrap());
        let other = Money::from_grains(even.checked_mul(5u128.pow(30)).unwrap());
        assert_eq!(money.to_f64().to_bits(), other.to_f64().to_bits());
        let read: f64 = money.to_string().parse().unwrap();
        assert_eq!(money.to_f64().to_bits(), read.to_bits());
    }
}

#[test]
fn ten_million_charges_of_a_billionth_are_a_hundredth() {
    let billionth = Money::at_least(Rho::new(1e-9).unwrap());
    let mut total = Money::ZERO;
    for _ in 0..10_000_000 {
        total = total.plus(billionth).unwrap();
    }
    assert_eq!(total, Money::at_most(Rho::new(0.01).unwrap()));
    assert_eq!(total.to_string(), "0.01");
    // Doubles do not do this, which is why amounts are not doubles.
    let drifted: f64 = (0..10_000_000).map(|_| 1e-9).sum();
    assert!((drifted - 0.01).abs() > 1e-14);
}

#[test]
fn ten_tenths_fill_a_budget_of_one() {
    let tenth = Money::at_least(Rho::new(0.1).unwrap());
    assert_eq!(tenth.times(10), Some(Money::at_most(Rho::new(1.0).unwrap())));
}

#[test]
fn what_is_not_a_whole_grain_rounds_against_the_spender() {
    let tiny = Rho::new(1.5e-30).unwrap();
    assert_eq!(Money::at_least(tiny), Money::from_grains(2));
    assert_eq!(Money::at_most(tiny), Money::from_grains(1));
    assert_eq!(Amount::<Delta>::at_least(Delta::new(1e-300).unwrap()), Amount::GRAIN);
    assert_eq!(Amount::<Delta>::at_most(Delta::new(1e-300).unwrap()), Amount::ZERO);
    assert_eq!(Money::parse_up("0.0000000000000000000000000000011"), Ok(Money::from_grains(2)));
    assert_eq!(Money::parse_down("0.0000000000000000000000000000011"), Ok(Money::from_grains(1)));
}

#[test]
fn a_computed_number_is_taken_at_its_binary_value() {
    // 0.1 is a little more than a tenth in binary, 0.3 a little less than three.
    assert!(Money::ceil(0.1).unwrap() > amount("0.1"));
    assert!(Money::floor(0.1).unwrap() > amount("0.1"));
    assert!(Money::ceil(0.3).unwrap() < amount("0.3"));
    assert_eq!(Money::ceil(0.5).unwrap(), amount("0.5"));
    assert_eq!(Money::ceil(0.1).unwrap().grains(), 100_000_000_000_000_005_551_115_123_126);
    assert_eq!(Money::floor(0.1).unwrap().grains(), 100_000_000_000_000_005_551_115_123_125);
    assert_eq!(Money::ceil(5e-324).unwrap(), Money::GRAIN);
    assert_eq!(Money::floor(5e-324).unwrap(), Money::ZERO);
    assert_eq!(Money::ceil(0.0).unwrap(), Money::ZERO);
    assert_eq!(Money::ceil(-0.0).unwrap(), Money::ZERO);
    assert_eq!(Money::ceil(3e8).unwrap(), amount("300000000"));
}

#[test]
fn numbers_that_are_no_amounts_are_errors() {
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 3.5e8, 1e300] {
        assert!(Money::ceil(wrong).is_err(), "{wrong}");
        assert!(Money::floor(wrong).is_err(), "{wrong}");
    }
    let texts = ["", ".", "e5", "1e", "1e+", "0x1", "1_000", "1,5", "٣", "inf", "NaN", "--1", "-"];
    for wrong in texts {
        let error = wrong.parse::<Money>().unwrap_err().to_string();
        assert!(error.contains("is not a number"), "{wrong}: {error}");
    }
    for (wrong, what) in [
        ("-0.1", "rho -0.1 is negative"),
        ("1e400", "rho 1e400 is too large"),
        ("1e99999999999999999999", "rho 1e99999999999999999999 is too large"),
        ("400000000", "rho 400000000 is too large"),
        // Reading exactly, with nobody to say which way to round.
        ("1e-31", "rho `1e-31` is not a number"),
    ] {
        let error = wrong.parse::<Money>().unwrap_err().to_string();
        assert!(error.starts_with(what), "{error}");
    }
    assert_eq!("0e99999999999999999999".parse::<Money>(), Ok(Money::ZERO));
    assert_eq!(Money::parse_up("1e-99999999999999999999"), Ok(Money::GRAIN));
    assert_eq!(Money::parse_up(&format!("{}e-100", "1".repeat(200))).unwrap_err().name(), "rho");
}

#[test]
fn an_amount_people_wrote_is_the_parameter_they_wrote() {
    assert_eq!(amount::<Rho>("0.3").to_parameter(), Rho::new(0.3));
    assert!(Money::ZERO.to_parameter().is_err() && Money::MAX.to_parameter().is_err());
    // More digits than a double keeps: the next double up.
    let between = amount::<Rho>("0.30000000000000000000000001");
    assert_eq!(between.to_parameter(), Rho::new(0.3f64.next_up()));
}

#[test]
fn amounts_beyond_the_largest_do_not_wrap() {
    assert_eq!(Money::MAX.plus(Money::GRAIN), None);
    assert_eq!(Money::MAX.times(2), None);
    assert_eq!(Money::ZERO.minus(Money::GRAIN), None);
}

proptest! {
    #[test]
    fn the_text_of_an_amount_reads_back(grains: u128) {
        for grains in [grains, grains >> 64, grains >> 100] {
            let money = Money::from_grains(grains);
            prop_assert_eq!(money.to_string().parse::<Money>(), Ok(money));
            let json = serde_json::to_string(&money).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), money);
        }
    }

    /// The decimal of an amount, read as a double, is the nearest one; also between two of them.
    #[test]
    fn the_double_of_an_amount_is_the_nearest(grains: u128, shift in 0u32..128, value in 1e-20f64..1e8) {
        let half = Money::floor(value).unwrap().grains().midpoint(
            Money::ceil(value.next_up()).unwrap().grains(),
        );
        for grains in [grains >> shift, half, half - 1, half + 1] {
            let money = Money::from_grains(grains);
            let read: f64 = money.to_string().parse().unwrap();
            prop_assert_eq!(money.to_f64().to_bits(), read.to_bits(), "{}", money);
        }
    }

    #[test]
    fn the_parameter_of_an_amount_is_not_below_it(grains in 1u128..10u128.pow(38)) {
        for grains in [grains, 1 + (grains >> 64), 1 + (grains >> 100)] {
            let money = Money::from_grains(grains);
            let rho = money.to_parameter().unwrap();
            prop_assert!(Money::at_least(rho) >= money);
            prop_assert!(Money::at_least(Rho::new(rho.get().next_down()).unwrap()) < money || rho.get() == money.to_f64());
        }
    }

    #[test]
    fn totals_do_not_depend_on_order(
        charges in prop::collection::vec(1e-12f64..10.0, 1..60),
        seed: u64,
    ) {
        let amounts: Vec<_> =
            charges.iter().map(|&c| Amount::<Epsilon>::at_least(Epsilon::new(c).unwrap())).collect();
        let mut shuffled = amounts.clone();
        let length = shuffled.len();
        for i in 0..length {
            let j = usize::try_from(seed.rotate_left(u32::try_from(i).unwrap()) % length as u64);
            shuffled.swap(i, j.unwrap());
        }
        let sum = |list: &[Amount<Epsilon>]| {
            list.iter().try_fold(Amount::<Epsilon>::ZERO, |sum, &a| sum.plus(a))
        };
        prop_assert_eq!(sum(&amounts), sum(&shuffled));
    }

    #[test]
    fn rounding_is_within_one_grain_and_on_the_right_side(value in 1e-25f64..1e8) {
        let (down, up) = (Money::floor(value).unwrap(), Money::ceil(value).unwrap());
        prop_assert!(down <= up && up.grains() - down.grains() <= 1);
        // The decimal a double is written as lies within half a step of it.
        let (low, high) = (Money::floor(value.next_down()).unwrap(), Money::ceil(value.next_up()).unwrap());
        let rho = Rho::new(value).unwrap();
        prop_assert!(low <= Money::at_most(rho) && Money::at_least(rho) <= high);
        prop_assert!(Money::at_most(rho) <= Money::at_least(rho));
        prop_assert_eq!(Money::at_least(rho).to_f64(), value);
    }
}
