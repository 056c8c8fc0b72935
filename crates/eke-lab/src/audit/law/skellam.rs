//! Skellam noise: its law, its levels and path in every order, what it costs, and what stopping
//! would.

use eke_budget::convert::SkellamCurve;
use eke_budget::{Amount, L1, L2, PathId, Rho};
use eke_noise::law::SkellamLevel;
use eke_noise::{Exact, NoisePath, Ratio, Skellam, SkellamPath};
use eke_testkit::Seeded;
use eke_testkit::oracle::{End, Enumerated, enumerate};

use crate::audit::{Audit, Finding, Findings, Method, law_finding, order_finding};
use crate::laws::skellam;
use crate::{account, shown};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("skellam-law", Method::Enumeration, skellam_law)
            .about("Skellam noise has its law, drawn once and from tables"),
        Audit::once("skellam-orders", Method::Enumeration, skellam_orders).about(
            "levels of Skellam noise, and points of its path, have one joint law in every order",
        ),
        Audit::once("skellam-loss", Method::Enumeration, skellam_loss)
            .about("a point of a Skellam path costs its rho at every order, and hardly less"),
        Audit::once("skellam-stopping", Method::Enumeration, skellam_stopping)
            .about("nobody gains by stopping at the best of the points that a Skellam path sells"),
    ]
}

fn skellam_law() -> Findings {
    let mut findings = Vec::new();
    for (numerator, denominator) in [(1u32, 7u32), (2, 1)] {
        let lambda = f64::from(numerator) / f64::from(denominator);
        let exact = Ratio::new(numerator.into(), denominator.into()).ok_or("a ratio of zero")?;
        let law = skellam(lambda);
        findings.push(law_finding(
            format!("one draw of lambda {numerator}/{denominator}"),
            1e-8,
            |oracle| Skellam::once(&exact, oracle).ok(),
            |&k| k.map_or(0.0, &law),
        ));
    }
    for (numerator, denominator) in [(1u32, 3u32), (5, 1), (400, 1)] {
        let lambda = f64::from(numerator) / f64::from(denominator);
        let prepared = Skellam::new(
            &Ratio::new(numerator.into(), denominator.into()).ok_or("a ratio of zero")?,
        )?;
        let law = skellam(lambda);
        findings.push(law_finding(
            format!("a table of lambda {numerator}/{denominator}"),
            1e-8,
            |oracle| prepared.draw(oracle),
            |&k| law(k),
        ));
    }
    Ok(findings)
}

/// The joint law of noise at three levels, the finest first.
fn path_of_three([fine, middle, coarse]: [f64; 3]) -> impl Fn([i64; 3]) -> f64 {
    let (first, second, third) = (skellam(fine), skellam(middle - fine), skellam(coarse - middle));
    move |[f, m, c]| first(f) * second(m - f) * third(c - m)
}

fn skellam_orders() -> Findings {
    const PARTS: [(u32, u32); 3] = [(1, 14), (1, 7), (1, 3)];
    let lambdas =
        PARTS.map(|(numerator, denominator)| f64::from(numerator) / f64::from(denominator));
    let levels: Vec<SkellamLevel> = PARTS
        .iter()
        .filter_map(|&(n, d)| Some(SkellamLevel::new(&Ratio::new(n.into(), d.into())?)))
        .collect();
    let [fine, middle, coarse] = &levels[..] else { return Err("no levels".into()) };
    let known = path_of_three(lambdas);
    let of = |values: &Option<[i64; 3]>| values.map_or(0.0, &known);
    let mut findings = vec![
        law_finding(
            "levels, fine to coarse",
            1e-6,
            |oracle| {
                let f = fine.draw(oracle).ok()?;
                let m = fine.coarser(f, middle, oracle).ok()?;
                Some([f, m, middle.coarser(m, coarse, oracle).ok()?])
            },
            of,
        ),
        law_finding(
            "levels, coarse to fine",
            1e-6,
            |oracle| {
                let c = coarse.draw(oracle).ok()?;
                let m = coarse.finer(c, middle, oracle).ok()?;
                Some([middle.finer(m, fine, oracle).ok()?, m, c])
            },
            of,
        ),
        law_finding(
            "levels, the middle last",
            1e-6,
            |oracle| {
                let c = coarse.draw(oracle).ok()?;
                let f = coarse.finer(c, fine, oracle).ok()?;
                Some([f, middle.between((fine, f), (coarse, c), oracle).ok()?, c])
            },
            of,
        ),
    ];
    let prices = ["4", "2", "0.8"];
    let mut lambdas = [0.0; 3];
    for (lambda, price) in lambdas.iter_mut().zip(prices) {
        *lambda = SkellamCurve::variance(price.parse()?, L1::new(1.0)?)?.get() / 2.0;
    }
    let known = path_of_three(lambdas);
    for order in [[0, 1, 2], [0, 2, 1]] {
        let what = "a path, revealed in the order";
        findings.push(order_finding(what, prices, order, || open(1.0), &known));
    }
    Ok(findings)
}

fn open(sensitivity: f64) -> Option<SkellamPath> {
    SkellamPath::open(PathId::new([1; 32]), L2::new(sensitivity).ok()?).ok()
}

const ORDERS: [f64; 8] = [1.02, 1.1, 1.3, 1.6, 2.0, 3.0, 4.0, 6.0];

/// The largest divergence over the order that two laws surely have.
fn divergence(one: &Enumerated<Option<i64>>, other: &Enumerated<Option<i64>>) -> f64 {
    let at = |order: f64| {
        let terms = one.outcomes.iter().map(|(outcome, probability)| {
            probability.powf(order) * (other.of(outcome) + other.lost).powf(1.0 - order)
        });
        terms.sum::<f64>().ln() / (order - 1.0) / order
    };
    ORDERS.into_iter().map(at).fold(0.0, f64::max)
}

/// The finest point, and one coarser, on neighbouring truths, each against what it is charged.
fn skellam_loss() -> Findings {
    let mut findings = Vec::new();
    for (shift, prices) in
        [(1, &["0.02"][..]), (1, &["0.5"]), (3, &["1.5"]), (1, &["4", "1"]), (2, &["6", "1.5"])]
    {
        let side = |truth: i64| {
            enumerate(End::First, 1e-10, |oracle| {
                let sensitivity = f64::from(shift);
                let mut path = open(sensitivity)?;
                let (mut account, truth) =
                    (account(), Exact::new(truth, L1::new(sensitivity).ok()?));
                let mut last = None;
                for to in prices {
                    let to = to.parse().ok()?;
                    last = Some(shown(&mut account, &mut path, &truth, to, oracle).ok()?);
                }
                last
            })
        };
        let [one, other] = [side(7), side(7 + i64::from(shift))];
        let rho: f64 = prices.last().ok_or("no price")?.parse()?;
        findings.push(
            Finding::new(
                format!("rho {}, truths {shift} apart", prices.join(", then ")),
                "divergence over order",
                divergence(&one, &other).max(divergence(&other, &one)),
            )
            .within(0.85 * rho..=rho),
        );
    }
    Ok(findings)
}

/// Buys as many of these points as a path sells one after the other, and computes what an asker
/// expects who stops at the best of them: `E exp((a-1) L - a (a-1) rho)` of the point stopped at,
/// by going back from the finest. No asker may expect more than one.
fn skellam_stopping() -> Findings {
    let mut findings = Vec::new();
    for (shift, prices) in [
        (1, &["0.125", "0.25", "0.5", "0.8", "1.2"][..]),
        (1, &["0.0125", "0.025", "0.05", "0.1", "0.25"]),
        (2, &["0.05", "0.1", "0.2", "0.5", "1"]),
    ] {
        let sensitivity = f64::from(shift);
        let (mut account, mut entropy) = (account(), Seeded::new(131));
        let mut path = open(sensitivity).ok_or("no path")?;
        let truth = Exact::new(0, L1::new(sensitivity)?);
        let mut bought = Vec::new();
        for price in prices {
            let to: Amount<Rho> = price.parse()?;
            if shown(&mut account, &mut path, &truth, to, &mut entropy).is_ok()
                && path.finest() == to
            {
                let variance = SkellamCurve::variance(to, L1::new(sensitivity)?)?;
                bought.push((variance.get() / 2.0, to.to_f64()));
            }
        }
        for order in [1.5, 2.0, 3.0] {
            findings.push(
                Finding::new(
                    format!("truths {shift} apart, order {order}, {} bought", bought.len()),
                    "expected gain",
                    gain(&bought, i64::from(shift), order),
                )
                .within(0.5..=1.0 + 1e-9),
            );
        }
    }
    Ok(findings)
}

/// What the best stopping expects to gain over points of these lambdas and prices, the coarsest
/// first.
fn gain(bought: &[(f64, f64)], shift: i64, order: f64) -> f64 {
    const REACH: i64 = 60;
    let values = || -REACH..=REACH;
    // From the finest on: what is expected given the noise of a point, under the truth of no shift.
    let mut finer: Option<(f64, Vec<f64>)> = None;
    let mut whole = 1.0;
    for &(lambda, rho) in bought.iter().rev() {
        let law = skellam(lambda);
        let stop =
            |y: i64| (law(y - shift) / law(y)).powf(order) * (-order * (order - 1.0) * rho).exp();
        let go_on = |y: i64| {
            finer.as_ref().map_or(0.0, |(fine, gains)| {
                let (fine_law, residual) = (skellam(*fine), skellam(lambda - fine));
                let terms = values()
                    .zip(gains)
                    .map(|(x, gain)| fine_law(x) * residual(y - x) / law(y) * gain);
                terms.filter(|term| term.is_finite()).sum()
            })
        };
        let heavy = |y: i64| law(y) > 1e-40 && law(y - shift) > 0.0;
        let gains: Vec<f64> =
            values().map(|y| if heavy(y) { f64::max(stop(y), go_on(y)) } else { 0.0 }).collect();
        whole = values().zip(&gains).map(|(y, gain)| law(y) * gain).sum();
        finer = Some((lambda, gains));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_budget::Variance;
    use eke_budget::convert::Order;

    /// Charged what the divergence grows by, point by point, from lambda 20 to 1 at order 3.
    #[test]
    fn stopping_a_skellam_path_bought_step_by_step_gains() {
        let order = Order::new(3.0).unwrap();
        let bought: Vec<(f64, f64)> = (1..=20u32)
            .rev()
            .map(|lambda| {
                let variance = Variance::new(2.0 * f64::from(lambda)).unwrap();
                let curve = SkellamCurve::new(variance, L1::new(1.0).unwrap()).unwrap();
                (f64::from(lambda), curve.divergence(order) / 3.0)
            })
            .collect();
        let found = gain(&bought, 1, 3.0);
        assert!((found - 1.085).abs() < 1e-3, "{found}");
        // An asker who looks once gains nothing.
        assert!(gain(&bought[19..], 1, 3.0) < 1.0 + 1e-6);
    }
}
