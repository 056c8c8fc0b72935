//! Many questions to the same taxis, minute after minute: figure 6.

use eke_budget::account::Sheet;
use std::error::Error;

use eke_budget::Amount;
use eke_geo::crowd::{Carry, Rule, Series, Way};
use eke_geo::{Allowance, Crowd, Place, Plan, count};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_testkit::Seeded;

use super::range::{centre, square};
use super::{People, asks, price};
use crate::frame::context::Context;
use crate::frame::data::Taxi;
use crate::frame::experiment::{Experiment, Paper, Trials};
use crate::frame::report::Report;
use crate::frame::summary::Summary;
use crate::frame::table::Table;

/// Many questions to the same taxis.
pub(crate) const MANY_QUERIES: Experiment = Experiment {
    name: "many-queries",
    paper: Paper::Budgeting,
    figure: "figure 6",
    about: "Counts in squares, minute after minute, from one budget for each taxi: how far off they are when savings are carried over.",
    data: &["tdrive_1h_20080202.parquet"],
    time: "8 min",
    trials: Trials { full: 30, quick: 5, smoke: 2 },
    run,
};

/// Where every taxi is at moments of the hour, evenly spread: where it was last, or will be first.
fn moments(taxis: &[Taxi], count: u32) -> Vec<Vec<Place>> {
    let times = || taxis.iter().flat_map(|taxi| &taxi.fixes).map(|fix| fix.time);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let at = |moment: u32| first + (last - first) * i64::from(moment + 1) / i64::from(count);
    let place = |taxi: &Taxi, time: i64| {
        let before = taxi.fixes.partition_point(|fix| fix.time <= time);
        taxi.fixes.get(before.saturating_sub(1)).map(|fix| fix.place)
    };
    let of = |moment| taxis.iter().filter_map(|taxi| place(taxi, at(moment))).collect();
    (0..count).map(of).collect()
}

/// How a budget is used.
#[derive(Clone, Copy)]
enum Use {
    /// An equal share for each question, and nothing carried over.
    Equal(Plan),
    Carried(Plan, Carry),
}

fn uses() -> Result<Vec<(&'static str, Use)>, Box<dyn Error>> {
    let distances = asks(Way::Distance)?;
    let named = |label: &str| {
        distances
            .iter()
            .find(|ask| ask.label.contains(label))
            .map(|ask| ask.plan)
            .ok_or("no such plan")
    };
    let (once, paper, ours) = (named("BM1")?, named("c64")?, named("eke")?);
    debug_assert!(once.rule == Rule::Once);
    Ok(vec![
        ("BM1, equal shares", Use::Equal(once)),
        ("PM1 c64, linear (paper)", Use::Carried(paper, Carry::Linear)),
        ("PM1 c64, even (paper)", Use::Carried(paper, Carry::Even)),
        ("eke's rule, linear", Use::Carried(ours, Carry::Linear)),
        ("eke's rule, even", Use::Carried(ours, Carry::Even)),
        ("eke's rule, eke's carry", Use::Carried(ours, Carry::Ours)),
    ])
}

/// The mean error of the counts, as shares, and what is left of budgets.
fn asked(
    moments: &[People],
    used: Use,
    budget: Amount<eke_budget::Rho>,
    width: f64,
    places: &mut Seeded,
    entropy: &mut Seeded,
) -> Result<(f64, f64), Box<dyn Error>> {
    let people = moments[0].count();
    let accounts = Sheet::same(budget, people)?;
    let questions = u32::try_from(moments.len())?;
    let carry = match used {
        Use::Equal(_) => Carry::Linear,
        Use::Carried(_, carry) => carry,
    };
    let mut series = Series::new(carry, questions, &accounts);
    let mut crowd = Crowd::new(moments[0].lattice, moments[0].points.clone(), accounts)?;
    let mut sum = 0.0;
    for moment in moments {
        let (shape, truth) = square(moment, width, places)?;
        crowd.move_to(moment.points.clone())?;
        let carried = series.next(crowd.accounts()).ok_or("no question is left")?;
        let (plan, allowance) = match used {
            Use::Equal(plan) => {
                let share = Amount::from_grains(budget.grains() / u128::from(questions));
                (plan, Allowance::Same(share))
            }
            Use::Carried(plan, _) => (plan, carried),
        };
        let counted = count(&mut crowd, &shape, &allowance, &plan, entropy)?;
        series.settle(&counted.spending);
        sum += (counted.estimate - truth).abs() / truth;
    }
    let left = (0..people).filter_map(|person| crowd.accounts().left(person));
    let left = left.map(Amount::to_f64).sum::<f64>() / budget.to_f64() / people as f64;
    Ok((sum / f64::from(questions), left))
}

fn run(context: &Context) -> Result<Report, Box<dyn Error>> {
    let taxis = context.data().beijing()?;
    let all: &[u32] = context.pick(&[7, 28, 56], &[28], &[4]);
    let budgets: &[f64] = context.pick(&[1e-5, 1e-4, 1e-3], &[1e-4], &[1e-4]);
    let width = context.pick(5000.0, 5000.0, 8000.0);
    let mut table = Table::new(
        "counts in squares of one budget: the mean error of the counts, as a share, and what is left of budgets",
        ["questions", "way", "budget"],
        ["error", "left"],
    )
    .across("budget");
    let uses = uses()?;
    let mut panels = Vec::new();
    for &questions in all {
        let moments: Vec<People> = moments(&taxis, questions)
            .iter()
            .map(|places| People::of(centre()?, places))
            .collect::<Result<_, _>>()?;
        let mut lines = Vec::new();
        for (label, used) in &uses {
            let mut line = Vec::new();
            for &budget in budgets {
                let point = format!("{questions}");
                let found = context.each_trial(&point, context.trials(), |trial, seeded| {
                    let mut entropy =
                        context.entropy(&format!("{questions} {budget} {label}"), trial);
                    asked(&moments, *used, price(budget)?, width, seeded, &mut entropy)
                })?;
                let error = Summary::of(found.iter().map(|found| found.0));
                let left = Summary::of(found.iter().map(|found| found.1));
                table.row(
                    [questions.into(), (*label).into(), budget.into()],
                    [error.into(), left.into()],
                );
                line.push((budget, error.mean));
            }
            lines.push(line);
        }
        panels.push(Lines { title: format!("{questions} questions"), lines });
    }
    let title = format!("many counts of one budget; means of {} runs", context.trials());
    let plot = Plot {
        title: title.clone(),
        across: "budget, rho per square metre".to_owned(),
        upwards: "mean error of the counts, as a share".to_owned(),
        scales: (Scale::Logarithmic, Scale::Logarithmic),
        columns: 3,
        lines: uses.iter().map(|(label, _)| (*label).to_owned()).collect(),
        panels,
    };
    Ok(Report::new(title)
        .with_table(table)
        .with_plot(&plot)
        .with_note("Moments of one hour, where the paper has those of a week. Squares are 5 km wide, around places close to a taxi, and have ten taxis or more."))
}
