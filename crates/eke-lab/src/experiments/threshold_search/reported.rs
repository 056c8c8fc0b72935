//! The results of a search, as tables.

use std::error::Error;

use super::accounting::Accounting;
use super::experiment::{AtThreshold, Results, SearchPlan, run};
use super::figure::figure;
use super::stream::Stream;
use crate::frame::context::Context;
use crate::frame::experiment::Size;
use crate::frame::report::Report;
use crate::frame::table::{Table, TableKey};

/// All lines of a plan, or only one of them where it has to be quick.
pub(super) fn reported(
    stream: &Stream,
    mut plan: SearchPlan,
    line: f64,
    context: &Context,
) -> Result<Report, Box<dyn Error>> {
    plan.seed = context.seed();
    if context.size() != Size::Full {
        plan.thresholds = vec![line];
    }
    if context.size() == Size::Smoke {
        plan.printed.truncate(2);
        plan.wide = vec![0.02, 0.3];
        plan.budgets = vec![0.5, 2.0, 8.0];
    }
    let results = run(stream, &plan, context)?;
    let Results { stream: name, about, days, people, delta, .. } = &results;
    let shown: Vec<TableKey> = plan.shown().map(TableKey::from).collect();
    let shown = if context.size() == Size::Smoke { Vec::new() } else { shown };
    Ok(Report::new(format!(
        "{name}: {days} days of {people} people ({about}); {} searches of each",
        plan.runs
    ))
    .with_table(within(&results, shown))
    .with_table(spreads(&results))
    .with_note(format!(
        "Ex-post accounting has no delta; ex-ante accounting and zCDP have delta {delta:.2e}, one over the people."
    ))
    .with_note("Within a budget, days that were not answered count as not above; noise is the best for each way and budget.")
    .with_svg("", figure(&results)))
}

/// The best within budgets.
fn within(results: &Results, shown: Vec<TableKey>) -> Table {
    let keys = ["line", "above", "accounting", "budget of epsilon"];
    let mut table = Table::new("the best within a budget", keys, ["F1", "share of days answered"])
        .across_at("budget of epsilon", shown);
    for AtThreshold { threshold, above, best, .. } in &results.thresholds {
        for accounting in Accounting::ALL {
            for one in best.iter().filter(|best| best.accounting == accounting) {
                let keys =
                    [(*threshold).into(), (*above).into(), label(accounting), one.budget.into()];
                table.row(keys, [one.f1.summary.into(), one.answered.into()]);
            }
        }
    }
    table
}

/// What all days cost with the paper's noise.
fn spreads(results: &Results) -> Table {
    let mut table = Table::new(
        "all days answered with the paper's noise",
        ["line", "accounting", "noise of the line"],
        ["epsilon", "F1"],
    )
    .across("noise of the line");
    for line in &results.thresholds {
        for accounting in Accounting::ALL {
            for spread in line.spreads.iter().filter(|spread| spread.accounting == accounting) {
                let keys = [line.threshold.into(), label(accounting), spread.deviation.into()];
                table.row(keys, [spread.epsilon.summary.into(), spread.f1.summary.into()]);
            }
        }
    }
    table
}

fn label(accounting: Accounting) -> TableKey {
    accounting.label().into()
}
