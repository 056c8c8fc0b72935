//! Telling where somebody's places are, each with noise: how far they are off, by price and by how
//! many there are, with planar Laplace noise (GP) and with Gaussian noise (CGP).
//!
//! The tuples are traces of taxis. They are laid out flat in metres that are metres: the paper's
//! are those of Mercator, 1.26 of which are a metre in San Francisco. The noise does not depend on
//! where places are, so that changes what a price means and not what is compared. GP has the larger
//! budget that the paper gives it.

use std::error::Error;

use eke_budget::{Amount, Epsilon, Metres, NoHistory, PathId, Rho};
use eke_geo::{Blur, Place, Region, Tuple, TupleMetric};
use eke_noise::release::{PointsRelease, release_points};
use eke_noise::{GaussianPath, NoisePath};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use crate::frame::context::Context;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::{Table, TableCell};
use crate::{account, paid};

/// Places told with noise.
pub(crate) const IDENTITY: Experiment = Experiment {
    name: "geo-identity",
    paper: Paper::Concentrated,
    figure: "figure 2",
    about: "Taxis' places told with noise: how far the farthest of them is off, and all together.",
    data: &["cabspotting_part1.parquet"],
    time: "1 min",
    trials: Trials { full: 25, quick: 3, smoke: 2 },
    run: reported,
};

/// The delta that GP's budget is compared at.
const DELTA: f64 = 1e-10;

/// The noise of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    Planar,
    Gaussian,
}

impl Noise {
    const ALL: [Self; 2] = [Self::Planar, Self::Gaussian];

    fn label(self) -> &'static str {
        match self {
            Self::Planar => "GP, planar Laplace",
            Self::Gaussian => "CGP, Gaussian",
        }
    }
}

/// The budget that the paper gives GP beside a rho: that of lemma 3.7, at epsilon times reach of
/// ten.
pub(crate) fn advantaged(rho: f64, delta: f64) -> f64 {
    let log = (1.0 / delta).ln();
    rho.sqrt() * (log.sqrt() + (log + 10.0).sqrt())
}

/// What one release came to.
#[derive(Clone, Copy, Debug)]
struct Errors {
    farthest: f64,
    root: f64,
    mean: f64,
}

/// What releases of one price and size came to.
struct Point {
    noise: Noise,
    rho: f64,
    places: usize,
    farthest: Summary,
    root: Summary,
    mean: Summary,
    /// The mean that is stated with a release of this price.
    stated: f64,
    /// How often all places were within what is stated for nineteen of twenty times.
    held: Summary,
}

impl Point {
    fn size(&self) -> f64 {
        self.places as f64
    }
}

fn reported(context: &Context) -> Result<Report, Box<dyn Error>> {
    let taxis = context.data().taxis()?;
    let mut picking = context.entropy("taxis", 0);
    let count = context.pick(50, 10, 3);
    let traces: Vec<Vec<Place>> = (0..count)
        .map(|_| {
            let taxi = &taxis[picking.roll(taxis.len())];
            taxi.fixes.iter().map(|fix| fix.place).collect()
        })
        .collect();
    let rhos =
        context.pick(vec![5e-8, 5e-7, 5e-6, 5e-5, 5e-4], vec![5e-8, 5e-6, 5e-4], vec![5e-7, 5e-5]);
    let sizes = context.pick(
        vec![10, 100, 1000, 5000, 10_000, 20_000],
        vec![10, 1000, 10_000],
        vec![5, 50],
    );
    let (middle, usual) = (context.pick(1000, 1000, 50), context.pick(5e-5, 5e-6, 5e-5));
    let region = Region::new(Place::new(-122.4, 37.75)?, Metres::new(75_000.0)?)?;
    let along = |points: Vec<(f64, usize)>| -> Result<Vec<Point>, Box<dyn Error>> {
        let mut all = Vec::new();
        for noise in Noise::ALL {
            for &(rho, places) in &points {
                all.push(point(context, &traces, region, noise, rho, places)?);
            }
        }
        Ok(all)
    };
    let by_price = along(rhos.iter().map(|&rho| (rho, middle)).collect())?;
    let by_size = along(sizes.iter().map(|&places| (usual, places)).collect())?;
    let table = |title: String, points: &[Point]| {
        let keys = ["noise", "rho", "places"];
        let measures = ["farthest", "root of all", "mean", "stated mean", "within what is stated"];
        let mut table = Table::new(title, keys, measures);
        for point in points {
            table.row(
                [point.noise.label().into(), point.rho.into(), point.places.into()],
                [
                    point.farthest.into(),
                    point.root.into(),
                    point.mean.into(),
                    TableCell::from(point.stated),
                    point.held.into(),
                ],
            );
        }
        table
    };
    let priced = table(format!("by price, {middle} places, in metres"), &by_price);
    let sized = table(format!("by how many there are, rho {usual:e}, in metres"), &by_size);
    Ok(Report::new(format!(
        "places of {count} taxis, told {} times each; the farthest counts",
        context.trials()
    ))
    .with_table(priced)
    .with_table(sized)
    .with_note(format!(
        "GP has epsilon {:.3} sqrt(rho) per metre, as in the paper: what rho is worth at delta 1e-10 where epsilon times the reach is ten.",
        advantaged(1.0, DELTA)
    ))
    .with_note("Metres are metres on the ground; the paper's are Mercator's, which are 1.26 times shorter in San Francisco. A trace with fewer fixes than places gives all it has.")
    .with_plot(&figure(&by_price, "rho per square metre", |point| point.rho))
    .with_svg("places", figure(&by_size, "places", Point::size).finish()))
}

/// Releases every trace the given number of times.
fn point(
    context: &Context,
    traces: &[Vec<Place>],
    region: Region,
    noise: Noise,
    rho: f64,
    places: usize,
) -> Result<Point, Box<dyn Error>> {
    let name = format!("{noise:?} {rho:e} {places}");
    let price: Amount<Rho> = format!("{rho}").parse()?;
    let epsilon: Amount<Epsilon> = format!("{}", advantaged(rho, DELTA)).parse()?;
    let trials = context.trials() as usize;
    let tuples = context.each(traces.len(), |number| {
        let trace = &traces[number];
        let mut picking = context.entropy(&name, u32::try_from(number)?);
        let tuple = Tuple::of(region, Metres::ONE, places.min(trace.len()), TupleMetric::Farthest)?;
        let picked = picked(trace, tuple.points(), &mut picking);
        Ok((tuple, tuple.put_places(picked.into_iter().map(Some))))
    })?;
    let told = context.each(traces.len() * trials, |job| {
        let (tuple, points) = &tuples[job / trials];
        let mut entropy = context.entropy(&format!("{name} told"), u32::try_from(job)?);
        let mut account = account();
        let (released, blur) = match noise {
            Noise::Planar => {
                let release = PointsRelease { epsilon, sensitivity: tuple.lengths() };
                let receipt = paid(&mut account, release)?;
                let truth = tuple.exact_points(points.clone());
                let released = release_points(&truth, receipt, &mut entropy)?;
                (released, Blur::planar(tuple, epsilon))
            }
            Noise::Gaussian => {
                let id = PathId::new([1; 32]);
                let mut path = GaussianPath::open(id, tuple.length());
                let approved = account.raise(id, price, tuple.length())?;
                let receipt = account.commit(approved, &mut NoHistory)?;
                let truth = tuple.exact(points.clone());
                (path.refine(&truth, receipt, &mut entropy)?, Blur::gaussian(tuple, price))
            }
        };
        let blur = blur.ok_or("noise of no size")?;
        let errors = errors(tuple, points, released.peek());
        let stated = blur.all_within(0.05).ok_or("noise of no size")?;
        Ok((errors, blur.mean(), errors.farthest <= stated))
    })?;
    let over = |of: fn(&Errors) -> f64| Summary::of(told.iter().map(|(errors, _, _)| of(errors)));
    Ok(Point {
        noise,
        rho,
        places,
        farthest: over(|errors| errors.farthest),
        root: over(|errors| errors.root),
        mean: over(|errors| errors.mean),
        stated: Summary::of(told.iter().map(|(_, mean, _)| *mean)).mean,
        held: Summary::of_share(told.iter().filter(|(_, _, held)| *held).count(), told.len()),
    })
}

/// `count` places of a trace, each at most once.
fn picked(trace: &[Place], count: usize, seeded: &mut Seeded) -> Vec<Place> {
    let mut left = trace.to_vec();
    (0..count).map(|_| left.swap_remove(seeded.roll(left.len()))).collect()
}

/// How far points of the plane are off, in metres.
fn errors(tuple: &Tuple, truth: &[i64], released: &[i64]) -> Errors {
    let step = tuple.lattice().grid().step();
    let apart = |one: i64, two: i64| (one - two) as f64 * step;
    let points = truth.as_chunks::<2>().0.iter().zip(released.as_chunks::<2>().0);
    let (mut farthest, mut square, mut sum, mut count) = (0.0f64, 0.0, 0.0, 0.0);
    for (truth, released) in points {
        let metres = apart(truth[0], released[0]).hypot(apart(truth[1], released[1]));
        farthest = farthest.max(metres);
        square += metres * metres;
        sum += metres;
        count += 1.0;
    }
    Errors { farthest, root: square.sqrt(), mean: sum / count }
}

/// The farthest and all together, over one of the two.
fn figure(points: &[Point], across: &str, of: fn(&Point) -> f64) -> Plot {
    let lines = |upwards: fn(&Point) -> f64| {
        let line = |noise: Noise| {
            let points = points.iter().filter(move |point| point.noise == noise);
            points.map(|point| (of(point), upwards(point))).collect()
        };
        Noise::ALL.map(line).to_vec()
    };
    let panel = |title: &str, lines| Lines { title: title.to_owned(), lines };
    Plot {
        title: "places told with noise: how far they are off".to_owned(),
        across: across.to_owned(),
        upwards: "metres".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 2,
        lines: Noise::ALL.map(|noise| noise.label().to_owned()).to_vec(),
        panels: vec![
            panel("the farthest", lines(|point| point.farthest.mean)),
            panel("the root of all", lines(|point| point.root.mean)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's range: rho from 5e-8 to 5e-4 is about 0.002 to 0.2 per metre.
    #[test]
    fn the_budget_of_gp_is_the_papers() {
        assert!((advantaged(5e-8, DELTA) - 0.002).abs() < 0.0005);
        assert!((advantaged(5e-4, DELTA) - 0.2).abs() < 0.05);
    }

    #[test]
    fn places_are_picked_once() {
        let places: Vec<Place> = (0..9).map(|n| Place::new(f64::from(n), 0.0).unwrap()).collect();
        let mut picked = picked(&places, 9, &mut Seeded::new(3));
        picked.sort_by(|one, two| one.longitude().total_cmp(&two.longitude()));
        assert_eq!(picked, places);
    }
}
