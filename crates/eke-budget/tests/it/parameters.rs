//! Bad numbers are refused, each with a sentence.

use eke_budget::number::{BoundedRange, LInf};
use eke_budget::{Delta, Epsilon, L1, L2, Metres, Rho, Variance};

fn says<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>) -> String {
    result.map(|value| panic!("{value:?} was taken")).unwrap_or_else(|error| error.to_string())
}

#[test]
fn every_bad_double_has_its_sentence() {
    let range = "write a number of more than 0 and at most 1e8";
    for (value, sentence) in [
        (f64::NAN, "rho is NaN: write a number such as 0.1".to_owned()),
        (f64::INFINITY, format!("rho is infinite: {range}")),
        (f64::NEG_INFINITY, format!("rho is infinite: {range}")),
        (-1.0, format!("rho -1.0 is negative: {range}")),
        (-0.0, format!("rho -0.0 is negative: {range}")),
        (0.0, format!("rho is zero, which means nothing here: {range}, or leave it out")),
        (5e-324, "rho 5e-324 is too small".to_owned()),
        (1e9, format!("rho 1000000000.0 is too large: {range}")),
    ] {
        let said = says(Rho::new(value));
        assert!(said.starts_with(&sentence), "{value}: {said}");
    }
    assert!(
        says(Rho::new(5e-324))
            .ends_with("is too small to compute with: write at least 2.2250738585072014e-308")
    );
}

#[test]
fn every_bad_text_has_its_sentence() {
    for (text, sentence) in [
        ("", "delta is empty: write a number such as 1e-6"),
        ("  ", "delta is empty: write a number such as 1e-6"),
        ("abc", "delta `abc` is not a number: write it like 1e-6 or 1e-3"),
        ("1,5", "delta `1,5` is not a number: write it like 1e-6 or 1e-3"),
        ("nan", "delta is NaN: write a number such as 1e-6"),
        ("inf", "delta is infinite: write a number of more than 0 and less than 1"),
        ("-inf", "delta is infinite: write a number of more than 0 and less than 1"),
        ("1e400", "delta 1e400 is too large: write a number of more than 0 and less than 1"),
        ("-1e400", "delta -1e400 is negative: write a number of more than 0 and less than 1"),
        ("1", "delta 1.0 is too large: write a number of more than 0 and less than 1"),
        ("-0.0", "delta -0.0 is negative: write a number of more than 0 and less than 1"),
        (
            "1e-400",
            "delta is zero, which means nothing here: write a number of more than 0 and less than 1, or leave it out",
        ),
    ] {
        assert_eq!(says(text.parse::<Delta>()), sentence);
    }
}

#[test]
fn serde_goes_through_the_same_checks() {
    for (json, sentence) in [
        ("0", "epsilon is zero, which means nothing here"),
        ("-1", "epsilon -1.0 is negative"),
        ("-0.0", "epsilon -0.0 is negative"),
        ("1e9", "epsilon 1000000000.0 is too large"),
        ("4e-320", "epsilon 4e-320 is too small"),
        ("1e400", "number out of range"),
        ("NaN", "expected"),
        ("\"0.5\"", "invalid type: string"),
        ("null", "invalid type: null"),
        ("", "EOF"),
    ] {
        let said = says(serde_json::from_str::<Epsilon>(json));
        assert!(said.starts_with(sentence), "{json}: {said}");
    }
    assert_eq!(serde_json::from_str::<Epsilon>("2").unwrap(), Epsilon::new(2.0).unwrap());
    assert_eq!(serde_json::to_string(&Epsilon::new(0.1).unwrap()).unwrap(), "0.1");
}

#[test]
fn all_parameters_share_the_checks() {
    fn refuses<T: TryFrom<f64> + std::str::FromStr>(largest: f64) {
        for wrong in [f64::NAN, f64::INFINITY, -1.0, -0.0, 0.0, 5e-324, largest.next_up()] {
            assert!(T::try_from(wrong).is_err(), "{wrong}");
            assert!(format!("{wrong:e}").parse::<T>().is_err(), "{wrong}");
        }
        assert!(T::try_from(largest).is_ok() && T::try_from(f64::MIN_POSITIVE).is_ok());
    }
    refuses::<Epsilon>(1e8);
    refuses::<Rho>(1e8);
    refuses::<BoundedRange>(1e8);
    refuses::<Delta>(1f64.next_down());
    refuses::<L1>(1e150);
    refuses::<L2>(1e150);
    refuses::<LInf>(1e150);
    refuses::<Variance>(1e150);
    refuses::<Metres>(1e150);
}

#[test]
fn parameters_are_ordered_like_their_numbers() {
    let (small, large) = (Rho::new(0.1).unwrap(), Rho::new(2.0).unwrap());
    assert!(small < large);
    assert_eq!(small.max(large), large);
    assert_eq!(format!("{small} {large:?}"), "0.1 Rho(2.0)");
}
