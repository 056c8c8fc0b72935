//! Conversions in 200 bits, to hold ours against.

use std::str::FromStr;

use dashu_float::round::mode::HalfEven;
use dashu_float::{DBig, FBig};
use eke_budget::Amount;
use eke_budget::number::Currency;

pub(crate) type Wide = FBig<HalfEven, 2>;

/// The double itself.
pub(crate) fn wide(value: f64) -> Wide {
    Wide::try_from(value).unwrap().with_precision(200).value()
}

/// The decimal that a double is written as.
pub(crate) fn written(value: f64) -> Wide {
    decimal(&format!("{value:e}"))
}

/// An amount, exactly (but for the last of 200 bits).
pub(crate) fn exact<C: Currency>(amount: Amount<C>) -> Wide {
    decimal(&amount.to_string())
}

fn decimal(text: &str) -> Wide {
    let decimal = DBig::from_str(text).unwrap().with_precision(80).value();
    decimal.with_base_and_precision::<2>(200).value().with_rounding()
}

/// The order less one that is optimal for this rho and delta, by Newton's method in doubles.
fn best_y(rho: f64, delta: f64) -> f64 {
    let target = -delta.ln();
    let mut y = (target / rho).sqrt().min((target.exp_m1()).min(1e300));
    for _ in 0..200 {
        let step = (rho * y * y + y.ln_1p() - target) / (2.0 * rho * y + 1.0 / (1.0 + y));
        y = if step < y { y - step } else { y / 2.0 };
    }
    y
}

fn double(value: &Wide) -> f64 {
    value.to_f64().value()
}

/// The tight epsilon. The formula is flat at its best order, so an order that is good to sixteen
/// digits gives thirty of the answer.
pub(crate) fn tight(rho: &Wide, delta: &Wide) -> Wide {
    let y = wide(best_y(double(rho), double(delta)));
    let order = (wide(1.0) + &y) * rho;
    let rest = (-delta.ln() - y.ln_1p()) / &y;
    order + rest - (wide(1.0) / y).ln_1p()
}

pub(crate) fn simple(rho: &Wide, delta: &Wide) -> Wide {
    rho + wide(2.0) * (rho * -delta.ln()).sqrt()
}

/// Its root by Newton's method from the double.
pub(crate) fn optimal_s(rho: &Wide, delta: &Wide) -> Wide {
    let target = -delta.ln();
    let mut y = wide(best_y(double(rho), double(delta)));
    for _ in 0..4 {
        let over = rho * &y * &y + y.ln_1p() - &target;
        let slope = wide(2.0) * rho * &y + wide(1.0) / (wide(1.0) + &y);
        y -= over / slope;
    }
    (wide(1.0) + wide(2.0) * y) * rho
}

/// The logarithm of the tight delta, flat at its best order as well.
pub(crate) fn tight_ln_delta(rho: &Wide, epsilon: &Wide) -> Wide {
    let (r, e) = (double(rho), double(epsilon));
    let (mut low, mut high) = (-700.0f64, 340.0f64);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        let y = middle.exp();
        if (1.0 + 2.0 * y) * r - (1.0 / y).ln_1p() <= e { low = middle } else { high = middle }
    }
    let y = wide(low.exp());
    let loss = &y * ((wide(1.0) + &y) * rho - epsilon);
    loss - &y * (wide(1.0) / &y).ln_1p() - y.ln_1p()
}

pub(crate) fn simple_ln_delta(rho: &Wide, epsilon: &Wide) -> Wide {
    let over = epsilon - rho;
    -(&over * &over) / (wide(4.0) * rho)
}

pub(crate) fn optimal_s_ln_delta(rho: &Wide, epsilon: &Wide) -> Wide {
    let y = (epsilon / rho - wide(1.0)) / wide(2.0);
    -(rho * &y * &y + y.ln_1p())
}
