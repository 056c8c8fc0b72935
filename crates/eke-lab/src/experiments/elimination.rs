//! Many people asked round by round, and who stops early: the experiments of Liang and Yi's
//! adaptive budgeting, with their baselines, their elimination and our rule side by side.
//!
//! *Saved* is the mean share of their allowance that people still have after a question.

mod density;
mod many_queries;
mod neighbours;
mod range;
mod threshold;

use std::error::Error;

use eke_budget::account::Sheet;
use eke_budget::{Amount, Metres, Rho};
use eke_geo::crowd::{Rule, Seen, Split, Way};
use eke_geo::width::Miss;
use eke_geo::{Allowance, Crowd, Lattice, Place, Plan, Region};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use crate::frame::context::Context;
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::{Table, TableCell, TableKey, TableRow};

pub(crate) use density::DENSITY;
pub(crate) use many_queries::MANY_QUERIES;
pub(crate) use neighbours::NEIGHBOURS;
pub(crate) use range::RANGE;
pub(crate) use threshold::THRESHOLD;

/// A way to ask.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ask {
    label: &'static str,
    plan: Plan,
}

/// The paper's baselines, its elimination with its three splits, and ours: for points, or for
/// distances.
fn asks(way: Way) -> Result<Vec<Ask>, Box<dyn Error>> {
    // A quarter of a doubt of 0.2, as the paper has it.
    let beta = Miss::new(0.05)?;
    let ours = Plan { way, ..Plan::default() };
    let plan = |rule, split| Plan { way, split, rule, beta };
    let labels = match way {
        Way::Point => [
            "BM0, all at once",
            "PM0 c4 (paper)",
            "PM0 c64 (paper)",
            "PM0 log-c10 (paper)",
            "points (eke)",
        ],
        Way::Distance => [
            "BM1, all at once",
            "PM1 c4 (paper)",
            "PM1 c64 (paper)",
            "PM1 log-c10 (paper)",
            "distances (eke)",
        ],
    };
    let plans = [
        plan(Rule::Once, Split::Even(1)),
        plan(Rule::Paper, Split::Even(4)),
        plan(Rule::Paper, Split::Even(64)),
        plan(Rule::Paper, Split::Doubling(10)),
        ours,
    ];
    Ok(labels.into_iter().zip(plans).map(|(label, plan)| Ask { label, plan }).collect())
}

/// A price per square metre.
fn price(rho: f64) -> Result<Amount<Rho>, Box<dyn Error>> {
    Ok(Amount::at_most(Rho::new(rho)?))
}

/// People on a lattice. Every question is put to a crowd of its own: what was prepared for another
/// would change what is drawn.
struct People {
    lattice: Lattice,
    points: Vec<i64>,
}

impl People {
    fn new(lattice: Lattice, points: Vec<i64>) -> Self {
        Self { lattice, points }
    }

    /// Places in a region of 60 km around a centre.
    fn of(centre: Place, places: &[Place]) -> Result<Self, Box<dyn Error>> {
        let region = Region::new(centre, Metres::new(60_000.0)?)?;
        let lattice = Lattice::of(region, Metres::ONE)?;
        let points = places.iter().filter_map(|&place| lattice.put_place(place)).flatten();
        Ok(Self::new(lattice, points.collect()))
    }

    fn count(&self) -> usize {
        self.points.len() / self.lattice.dimensions()
    }

    fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.points.chunks_exact(self.lattice.dimensions())
    }

    fn row(&self, person: usize) -> &[i64] {
        let dimensions = self.lattice.dimensions();
        &self.points[person * dimensions..(person + 1) * dimensions]
    }

    /// Asks a crowd of which nothing has been seen, and that can pay for anything.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Crowd) -> Result<T, Box<dyn Error>>,
    ) -> Result<T, Box<dyn Error>> {
        let accounts = Sheet::same(Amount::MAX, self.count())?;
        let mut crowd = Crowd::new(self.lattice, self.points.clone(), accounts)?;
        question(&mut crowd)
    }
}

/// What was found at each price, way by way: the error, and what was saved.
type Found = Vec<Vec<(f64, [Summary; 2])>>;

/// Puts a question in all ways and at all prices, trial by trial: an error, and what was saved. All
/// that is asked in a trial is asked of one crowd, of which nothing has been seen, so that noise is
/// prepared once.
fn tried<Q>(
    context: &Context,
    people: &People,
    (name, asks, rhos): (&str, &[Ask], &[f64]),
    prepare: impl Fn(&mut Seeded) -> Result<Q, Box<dyn Error>> + Sync,
    put: impl Fn(&mut Crowd, &Q, &Allowance, &Plan, &mut Seeded) -> Result<(f64, f64), Box<dyn Error>>
    + Sync,
) -> Result<Found, Box<dyn Error>> {
    let points: Vec<(&Ask, f64)> =
        asks.iter().flat_map(|ask| rhos.iter().map(move |&rho| (ask, rho))).collect();
    let trials = context.each_trial(name, context.trials(), |trial, seeded| {
        let question = prepare(seeded)?;
        people.ask(|crowd| {
            let one = |(ask, rho): &(&Ask, f64)| {
                let name = format!("{name} {rho} {}", ask.label);
                let mut entropy = context.entropy(&name, trial);
                crowd.restore(Seen::default())?;
                let allowance = Allowance::Same(price(*rho)?);
                put(crowd, &question, &allowance, &ask.plan, &mut entropy)
            };
            points.iter().map(one).collect::<Result<Vec<(f64, f64)>, _>>()
        })
    })?;
    let column = |at: usize| {
        let error = Summary::of(trials.iter().map(|trial| trial[at].0));
        let saved = Summary::of(trials.iter().map(|trial| trial[at].1));
        (points[at].1, [error, saved])
    };
    let columns: Vec<_> = (0..points.len()).map(column).collect();
    Ok(columns.chunks(rhos.len()).map(<[_]>::to_vec).collect())
}

/// What ways are called whatever noise is added to, and what they are known by.
const WAYS: [(&str, &str); 5] = [
    ("all at once (the baseline)", "all at once"),
    ("c4 (paper)", " c4 "),
    ("c64 (paper)", " c64 "),
    ("log-c10 (paper)", " log-c10 "),
    ("eke", "(eke)"),
];

/// Questions of one kind: a table of all that was found, and panels of figures.
struct Panels {
    table: Table,
    found: Vec<(String, Found)>,
}

impl Panels {
    /// A table by these labels, of which the last are the way and the price.
    fn new<const K: usize>(title: &str, labels: [&'static str; K]) -> Self {
        let table = Table::new(title, labels, ["error", "saved"]).across("rho");
        Self { table, found: Vec::new() }
    }

    /// Adds what was found in the ways that were asked in.
    fn add(&mut self, title: String, labels: &[TableKey], asks: &[Ask], found: &Found) {
        for (ask, line) in asks.iter().zip(found) {
            for &(rho, measured) in line {
                let keys = [labels, &[ask.label.into(), rho.into()]].concat();
                let cells = measured.map(TableCell::from).into();
                self.table.rows.push(TableRow { keys, cells });
            }
        }
        let of = |key: &str| {
            let at = asks.iter().position(|ask| ask.label.contains(key));
            at.map_or_else(Vec::new, |at| found[at].clone())
        };
        self.found.push((title, WAYS.iter().map(|(_, key)| of(key)).collect()));
    }

    /// The table, and two figures: the error and what was saved, over the price.
    fn report(self, title: &str, error: &str) -> Report {
        let plot = |upwards: &str, scale: Scale, which: usize| Plot {
            title: title.to_owned(),
            across: "allowance, rho per square metre".to_owned(),
            upwards: upwards.to_owned(),
            scales: (Scale::Logarithmic, scale),
            columns: 3,
            lines: WAYS.map(|(label, _)| label.to_owned()).into(),
            panels: panels(&self.found, which, scale),
        };
        let errors = plot(error, Scale::Logarithmic, 0);
        let saved = plot("share of the allowance saved", Scale::Linear, 1);
        Report::new(title)
            .with_table(self.table)
            .with_plot(&errors)
            .with_svg("saved", saved.finish())
    }
}

/// Lines through the means of one of the two measures, panel by panel.
fn panels(found: &[(String, Found)], which: usize, scale: Scale) -> Vec<Lines> {
    let line = |line: &Vec<(f64, [Summary; 2])>| {
        let points = line.iter().map(|(rho, found)| (*rho, found[which].mean));
        // Nothing is at no height where heights are ratios.
        points.filter(|point| scale == Scale::Linear || point.1 > 0.0).collect()
    };
    let lines = |(title, found): &(String, Found)| Lines {
        title: title.clone(),
        lines: found.iter().map(line).collect(),
    };
    found.iter().map(lines).collect()
}
