//! Numbers as people read them.

use eke_engine::Cost;
use eke_engine::ask::InEpsilon;

/// A value and its interval, in as many digits as the interval's width is worth. The interval is
/// rounded outwards.
pub(crate) fn estimate(value: f64, low: f64, high: f64) -> (String, String) {
    let decimals = decimals((high - low) / 2.0);
    let scale = 10f64.powi(decimals);
    let outward = |end: f64, round: fn(f64) -> f64| round(end * scale) / scale;
    let interval = format!(
        "{} to {}",
        grouped(outward(low, f64::floor), decimals),
        grouped(outward(high, f64::ceil), decimals)
    );
    (grouped(value, decimals), interval)
}

/// The same with exponents, for numbers that would be long without.
pub(crate) fn estimate_with_exponents(value: f64, low: f64, high: f64) -> (String, String) {
    let size = value.abs().max(low.abs()).max(high.abs());
    let half = (high - low) / 2.0;
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let last = (half.log10().floor() - 1.0).max(size.log10().floor() - 15.0) as i32;
    let rounded = |number: f64, round: fn(f64) -> f64| {
        #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
        let first = if number == 0.0 { last } else { number.abs().log10().floor() as i32 };
        let places = usize::try_from(first - last).unwrap_or(0);
        let unit = 10f64.powi(last);
        let whole = round(number / unit);
        if whole == 0.0 {
            return "0".to_owned();
        }
        without_zeros(&format!("{:.places$e}", whole * unit))
    };
    let interval = format!("{} to {}", rounded(low, f64::floor), rounded(high, f64::ceil));
    (rounded(value, f64::round), interval)
}

/// How many decimals show two digits of an error.
fn decimals(error: f64) -> i32 {
    if !(error.is_finite() && error > 0.0) {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = error.log10().floor() as i32;
    (1 - digits).clamp(0, 9)
}

/// A number with the given number of decimals, and commas between its thousands.
pub(crate) fn grouped(value: f64, decimals: i32) -> String {
    let places = usize::try_from(decimals).unwrap_or(0);
    let text = format!("{:.places$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((&*text, None), |(w, r)| (w, Some(r)));
    let mut out = String::new();
    if value < 0.0 && text.chars().any(|c| c.is_ascii_digit() && c != '0') {
        out.push('-');
    }
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A number in three digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&digits) {
        return without_zeros(&format!("{value:.2e}"));
    }
    let places = usize::try_from(2 - digits).unwrap_or(0);
    without_zeros(&grouped(value, i32::try_from(places).unwrap_or(0)))
}

/// A number without the zeros at the end of its decimals, with an exponent or without.
pub(crate) fn without_zeros(text: &str) -> String {
    let (number, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.').to_owned() + exponent,
        None => text.to_owned(),
    }
}

/// A number of something: `1 step`, `2 steps`.
pub(crate) fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// A price: `rho 0.00123`, or `rho 0.00123 and delta 1e-9` where keys were selected.
pub(crate) fn cost(cost: &Cost) -> String {
    let rho = format!("rho {}", short(cost.rho));
    if cost.mechanism_delta > 0.0 {
        format!("{rho} and delta {}", short(cost.mechanism_delta))
    } else {
        rho
    }
}

/// A price in rho, and in epsilon where that is known: `rho 0.00123 (epsilon 0.2)`.
pub(crate) fn in_both(rho: f64, epsilon: Option<InEpsilon>) -> String {
    let rho = format!("rho {}", short(rho));
    epsilon.map_or(rho.clone(), |epsilon| format!("{rho} (epsilon {})", short(epsilon.cost)))
}

/// A price in rho and epsilon, with its delta where keys were selected.
pub(crate) fn cost_in_both(cost: &Cost, epsilon: Option<InEpsilon>) -> String {
    let both = in_both(cost.rho, epsilon);
    if cost.mechanism_delta > 0.0 {
        format!("{both} and delta {}", short(cost.mechanism_delta))
    } else {
        both
    }
}

/// A number in three digits, rounded up: for prices and errors that must do.
pub(crate) fn three_digits_up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let digits = value.log10().floor() as i32 - 2;
    // Written out and read back, so that no digit of the scale's own rounding shows.
    let text = format!("{}e{digits}", (value / 10f64.powi(digits)).ceil());
    text.parse().unwrap_or(value)
}

/// A part of a whole in per cent.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        return "0 %".to_owned();
    }
    let percent = part / whole * 100.0;
    if percent > 0.0 && percent < 0.01 {
        "under 0.01 %".to_owned()
    } else {
        format!("{} %", short(percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_their_interval_is_worth() {
        let (value, interval) = estimate(12_345.678, 11_802.3, 12_911.2);
        assert_eq!((&*value, &*interval), ("12,346", "11,802 to 12,912"));
        let (value, interval) = estimate(3.23159, 3.02, 3.45);
        assert_eq!((&*value, &*interval), ("3.23", "3.02 to 3.45"));
        let (value, interval) = estimate_with_exponents(1.234_567e20, 1.1987e20, 1.2713e20);
        assert_eq!((&*value, &*interval), ("1.235e20", "1.198e20 to 1.272e20"));
        let (value, interval) = estimate_with_exponents(-3.21e-9, -4.27e-9, 9.81e-9);
        assert_eq!((&*value, &*interval), ("-3.2e-9", "-4.3e-9 to 9.9e-9"));
        let (value, interval) = estimate_with_exponents(2.1e-10, -5.02e-9, 5.44e-9);
        assert_eq!((&*value, &*interval), ("2e-10", "-5.1e-9 to 5.5e-9"));
        assert_eq!(grouped(-0.4, 0), "0");
        assert_eq!(grouped(-1_234_567.0, 1), "-1,234,567.0");
        assert_eq!(
            [short(0.001_234_5), short(12_345.6), short(1e-7), short(0.5)],
            ["0.00123", "12,346", "1e-7", "0.5"]
        );
        assert_eq!(
            [percent(1.0, 3.0), percent(0.0, 3.0), percent(1.0, 1e6)],
            ["33.3 %", "0 %", "under 0.01 %"]
        );
    }
}
