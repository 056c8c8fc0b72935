//! Laws too wide to be computed, compared with draws; each beside a control that must not fit.

use std::collections::BTreeMap;

use eke_budget::{L1, L2, PathId};
use eke_noise::law::Noise;
use eke_noise::select::NoisyScore;
use eke_noise::{DiscreteGaussian, DiscreteLaplace, Exact, GaussianPath, Ratio};
use eke_testkit::{Fit, Seeded};

use crate::audit::{Audit, Finding, Findings, Method};
use crate::calibrate::normal;
use crate::laws::double;
use crate::{account, shown};

const DRAWS: usize = 300_000;

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("wide-laws", Method::Fit, wide_laws)
            .about("wide discrete Laplace and Gaussian noise fits its law, and not one 5 % wider"),
        Audit::once("normal-law", Method::Fit, normal_law)
            .about("normal numbers drawn as far as needed fit their law"),
        Audit::once("gaussian-path-law", Method::Fit, gaussian_path_law)
            .about("points of a Gaussian path fit the law of their price"),
    ]
}

/// Draws in cells of a quarter of a scale, against two laws given by their distribution functions
/// on the scale of one: the right one, and a wrong one.
fn findings(
    what: &str,
    draws: impl Iterator<Item = f64>,
    scale: f64,
    law: fn(f64) -> f64,
) -> [Finding; 2] {
    let cells = |scale: f64, step: f64| -> BTreeMap<i64, f64> {
        (-40i32..40)
            .map(|cell| {
                // Integers round to the cell they are in: half a step below its ends.
                let end = |cell: i32| law((f64::from(cell) * step - 0.5) / scale);
                (i64::from(cell), end(cell + 1) - end(cell))
            })
            .collect()
    };
    let step = (scale / 4.0).ceil();
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let cell_of: Vec<i64> = draws.map(|draw| (draw / step).floor() as i64).collect();
    let fit = |scale: f64| Fit::of(cell_of.iter().copied(), &cells(scale, step));
    let wider = format!("{what} against a law 5 % wider");
    [Finding::fits(what, fit(scale)), Finding::control(&wider, fit(1.05 * scale))]
}

fn wide_laws() -> Findings {
    let mut entropy = Seeded::new(111);
    let mut found = Vec::new();
    for scale in [1000u32, 1_000_000] {
        let wide = f64::from(scale);
        let law = DiscreteLaplace::new(&Ratio::new(scale.into(), 1).ok_or("no scale")?)?;
        let draws = (0..DRAWS).map(|_| double(law.draw(&mut entropy)));
        found.extend(findings(&format!("Laplace of scale {scale}"), draws, wide, |x| {
            if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 }
        }));
        let variance = u128::from(scale) * u128::from(scale);
        let law = DiscreteGaussian::new(&Ratio::new(variance, 1).ok_or("no variance")?)?;
        let draws = (0..DRAWS).map(|_| double(law.draw(&mut entropy)));
        found.extend(findings(&format!("Gaussian of deviation {scale}"), draws, wide, normal));
    }
    Ok(found)
}

/// A normal number by where it is between multiples of a millionth, found by comparing.
fn normal_law() -> Findings {
    let mut entropy = Seeded::new(112);
    let noise = Noise::gaussian(Ratio::new(1000, 1).ok_or("no deviation")?);
    let draws: Vec<f64> = (0..DRAWS / 3)
        .map(|_| {
            let mut noisy = NoisyScore::new(0, &noise, &mut entropy);
            let (mut low, mut high) = (-20_000i64, 20_000i64);
            while high - low > 1 {
                let middle = i64::midpoint(low, high);
                if noisy.is_at_least(middle, &mut entropy) { low = middle } else { high = middle }
            }
            // The integer below: half a step lower than the nearest.
            double(low)
        })
        .collect();
    Ok(findings("a normal number", draws.into_iter(), 1000.0, normal).into())
}

/// The finest of three points, and a coarser one, of paths of sensitivity 1024.
fn gaussian_path_law() -> Findings {
    let mut entropy = Seeded::new(113);
    let (id, sensitivity) = (PathId::new([1; 32]), L2::new(1024.0)?);
    let truth = Exact::new(0, L1::new(1024.0)?);
    let (mut fine, mut coarse) = (Vec::new(), Vec::new());
    for _ in 0..DRAWS / 3 {
        let mut account = account();
        let mut path = GaussianPath::open(id, sensitivity);
        let mut finest = 0;
        for to in ["0.1", "0.25", "0.5"] {
            finest = shown(&mut account, &mut path, &truth, to.parse()?, &mut entropy)?;
        }
        fine.push(double(finest));
        let coarser = shown(&mut account, &mut path, &truth, "0.32".parse()?, &mut entropy)?;
        coarse.push(double(coarser));
    }
    // Deviations: 1024/sqrt(2 rho).
    let mut found = Vec::from(findings("the point at 0.5", fine.into_iter(), 1024.0, normal));
    found.extend(findings("the point at 0.32", coarse.into_iter(), 1280.0, normal));
    Ok(found)
}
