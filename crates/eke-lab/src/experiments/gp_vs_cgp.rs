//! What concentrated geo-privacy is worth as geo-privacy: the epsilon per metre that a rho per
//! square metre keeps, by how far apart places may be and by delta; and what the two kinds of noise
//! are off by at the same level. All of it is computed; nothing is drawn.

use std::error::Error;

use eke_budget::convert::{Curve, GaussianCurve, Method};
use eke_budget::{Delta, Epsilon, Metres, Rho};
use eke_geo::Level;
use eke_geo::earth::{error_of_epsilon, error_of_rho};
use eke_plot::plot::{Lines, Plot, Scale};

use crate::experiments::geo_identity::advantaged;
use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::table::Table;

/// GP and CGP side by side.
pub(crate) const REACH: Experiment = Experiment {
    name: "gp-vs-cgp",
    paper: Paper::Concentrated,
    figure: "figure 6, and the calibration of section 5",
    about: "The epsilon per metre that a rho per square metre keeps, and what either kind of noise is off by.",
    data: &[],
    time: "1 s",
    trials: Trials { full: 1, quick: 1, smoke: 1 },
    run: reported,
};

/// The paper's rho.
const RHO: f64 = 5e-5;

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let reaches = context.pick(
        vec![1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4],
        vec![1.0, 10.0, 100.0, 1e3, 1e4],
        vec![10.0, 1e3],
    );
    let deltas = context.pick(vec![1e-12, 1e-10, 1e-6, 1e-3], vec![1e-10, 1e-6], vec![1e-10]);
    let rho = Rho::new(RHO)?;
    let curves: [(&str, &dyn Curve); 3] =
        [("simple", &Method::Simple), ("tight", &Method::Tight), ("exact", &GaussianCurve)];
    let mut kept = Table::new(
        "epsilon per metre that rho 5e-5 keeps",
        ["delta", "reach"],
        ["simple (the paper's)", "tight (accounts)", "exact, continuous noise only"],
    );
    let mut panels = Vec::new();
    for &delta in &deltas {
        let mut lines = vec![Vec::new(); curves.len()];
        for &reach in &reaches {
            let (d, r) = (Delta::new(delta)?, Metres::new(reach)?);
            let mut epsilons = [0.0; 3];
            for (at, (_, curve)) in curves.iter().enumerate() {
                epsilons[at] = curve.epsilon_within(rho, d, r)?.get();
                lines[at].push((reach, epsilons[at]));
            }
            kept.row([delta.into(), reach.into()], epsilons.map(Into::into));
        }
        panels.push(Lines { title: format!("delta {delta:e}"), lines });
    }
    // What the paper gives GP beside a rho, and what it would be by the tight conversion where it
    // is ten within its reach.
    let mut calibrated = Table::new(
        "GP beside CGP at delta 1e-10, where epsilon times the reach is ten",
        ["rho"],
        [
            "epsilon (the paper's)",
            "epsilon (tight)",
            "GP is off by, metres",
            "tight GP is off by",
            "CGP is off by",
        ],
    );
    let delta = Delta::new(1e-10)?;
    for rho in [5e-8, 5e-7, 5e-6, 5e-5, 5e-4] {
        let papers = Epsilon::new(advantaged(rho, 1e-10))?;
        let rho = Rho::new(rho)?;
        let tight = tight(rho, delta)?;
        calibrated.row(
            [rho.get().into()],
            [
                papers.get().into(),
                tight.get().into(),
                error_of_epsilon(papers).into(),
                error_of_epsilon(tight).into(),
                error_of_rho(rho).into(),
            ],
        );
    }
    let figure = Plot {
        title: format!("epsilon per metre that rho {RHO:e} per square metre keeps"),
        across: "reach in metres".to_owned(),
        upwards: "epsilon per metre".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 2,
        lines: curves.map(|(name, _)| name.to_owned()).to_vec(),
        panels,
    };
    Ok(Report::new("concentrated geo-privacy as geo-privacy")
        .with_table(kept)
        .with_table(calibrated)
        .with_note("One place with Gaussian noise is off by less than one with planar Laplace noise only where the reach is small beside the error; what Gaussian noise is for is many places: its error grows with the root of their number.")
        .with_plot(&figure))
}

/// The epsilon per metre of a rho at the reach where the two multiply to ten.
fn tight(rho: Rho, delta: Delta) -> Result<Epsilon, Box<dyn Error>> {
    let level = |reach: f64| -> Result<f64, Box<dyn Error>> {
        Ok(Level::of_rho(rho, delta, Metres::new(reach)?)?.level.get())
    };
    let (mut low, mut high) = (1e-3, 1e9);
    for _ in 0..100 {
        let middle = f64::sqrt(low * high);
        if level(middle)? < 10.0 { low = middle } else { high = middle }
    }
    Ok(Epsilon::new(10.0 / high)?)
}
