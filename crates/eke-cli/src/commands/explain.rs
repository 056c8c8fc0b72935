//! `eke explain`: what questions would do and cost, without reading a row.

use std::io::{self, Write};

use clap::Args;
use eke_engine::ask::{InEpsilon, Keys, Total, explain_for};
use eke_engine::policy::Policy;
use eke_engine::{Accuracy, Cost, Explanation, Question, Who};

use crate::Failure;
use crate::commands::ask::{Asker, SqlArgs, one_line, with_goals};
use crate::input::goal::{GoalArgs, Within};
use crate::show::number::{cost, cost_in_both, grouped, short};
use crate::show::{Table, note, print_json};

/// What to explain.
#[derive(Args)]
#[command(after_help = "\
Examples:
  eke explain \"SELECT district, AVG(fare) FROM trips GROUP BY district\" --within 2%
  eke explain -f questions.sql --within 10%
Of several questions, separated by semicolons, it shows what each is expected to cost, and the sum.")]
pub(crate) struct Explain {
    #[command(flatten)]
    sql: SqlArgs,
    #[command(flatten)]
    goal: GoalArgs,
    #[command(flatten)]
    asker: Asker,
    /// Print JSON: one object for each question, and of several the sum.
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let policy = Policy::read(&self.asker.policy).map_err(eke_engine::EngineError::from)?;
        let who = self.asker.who();
        let questions = with_goals(&self.goal, self.sql.questions()?, &policy, &who)?;
        let mut told: Vec<(&str, Explanation, Question)> = Vec::new();
        for (number, (sql, goal)) in questions.iter().enumerate() {
            let explained = explained(&policy, sql, &who, goal);
            let explained = explained.map_err(|failure| match questions.len() {
                1 => failure,
                all => failure.at_question(number + 1, all),
            });
            let (explanation, question) = explained?;
            told.push((sql, explanation, question));
        }
        if let [(_, explanation, question)] = &told[..] {
            return match self.json {
                true => print_json(out, explanation),
                false => Ok(print(explanation, question, out)?),
            };
        }
        if self.json {
            for (_, explanation, _) in &told {
                print_json(out, explanation)?;
            }
            let sum: Vec<Total> = sums(&told).into_iter().map(|(_, total)| total).collect();
            return print_json(out, &serde_json::json!({ "questions": told.len(), "sum": sum }));
        }
        Ok(print_several(&told, out)?)
    }
}

/// Explains a question with its goal, or with 5 % if it has none.
pub(crate) fn explained(
    policy: &Policy,
    sql: &str,
    who: &Who,
    goal: &GoalArgs,
) -> Result<(Explanation, Question), Failure> {
    let (goal, _) = goal.said(policy, sql, who)?;
    let usual = || GoalArgs { within: "5%".parse().ok(), ..goal.clone() };
    let question = match goal.question(policy, sql, who)? {
        Some(question) => Some(question),
        None => usual().question(policy, sql, who)?,
    };
    let question = question.ok_or_else(|| Failure::Usage("there is no goal".into()))?;
    Ok((explain_for(policy, &question)?, question))
}

/// How many units make up values, and what all questions cost then. Questions that are the same
/// cost nothing after the first.
fn sums(told: &[(&str, Explanation, Question)]) -> Vec<(Option<f64>, Total)> {
    let mut sizes: Vec<f64> =
        told.iter().flat_map(|(_, one, _)| &one.totals).filter_map(|total| total.units).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let sizes: Vec<Option<f64>> =
        if sizes.is_empty() { vec![None] } else { sizes.into_iter().map(Some).collect() };
    let sum = |units: Option<f64>| {
        let mut sum = Some(Cost::default());
        for (index, (_, one, _)) in told.iter().enumerate() {
            let cost = at(one, units).and_then(|total| total.cost);
            let cost = if is_again(told, index) { Some(Cost::default()) } else { cost };
            sum = sum.zip(cost).map(|(sum, cost)| Cost {
                rho: sum.rho + cost.rho,
                mechanism_delta: sum.mechanism_delta + cost.mechanism_delta,
            });
        }
        (units, Total { units, cost: sum })
    };
    sizes.into_iter().map(sum).collect()
}

/// What a question costs if its values are as of that many units.
fn at(one: &Explanation, units: Option<f64>) -> Option<&Total> {
    one.totals.iter().find(|total| total.units.is_none() || total.units == units)
}

/// Whether the same was asked before.
fn is_again(told: &[(&str, Explanation, Question)], index: usize) -> bool {
    let (_, one, question) = &told[index];
    // What columns are called makes no other question.
    let computed = |of: &Explanation| -> Vec<String> {
        of.plan.iter().filter(|line| !line.starts_with("shows ")).cloned().collect()
    };
    let is_same = |earlier: &Explanation| computed(earlier) == computed(one);
    told[..index].iter().any(|(_, earlier, before)| {
        (before.goal, &before.columns) == (question.goal, &question.columns) && is_same(earlier)
    })
}

fn print_several(told: &[(&str, Explanation, Question)], out: &mut impl Write) -> io::Result<()> {
    let sums = sums(told);
    let mut head = vec![String::new(), "question".to_owned()];
    head.extend(sums.iter().map(|(units, _)| match units {
        Some(units) => format!("as of {} units", grouped(*units, 0)),
        None => "price".to_owned(),
    }));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    let price = |cost: Option<Cost>| match cost {
        Some(cost) => format!("rho {}", short(cost.rho)),
        None => "beyond your tier".to_owned(),
    };
    for (index, (sql, one, _)) in told.iter().enumerate() {
        let mut cells = vec![(index + 1).to_string(), shortened(&one_line(sql), 32)];
        cells.extend(sums.iter().map(|(units, _)| {
            if is_again(told, index) {
                "nothing".to_owned()
            } else {
                at(one, *units).map_or_else(|| "unknown".to_owned(), |total| price(total.cost))
            }
        }));
        table.row(cells);
    }
    let mut cells = vec![String::new(), "all of them".to_owned()];
    cells.extend(sums.iter().map(|(_, total)| price(total.cost)));
    table.row(cells);
    table.print(out)?;
    if let Some(delta) = told.first().and_then(|(_, one, _)| one.delta) {
        let whole = sums.iter().filter_map(|(units, total)| {
            let epsilon = InEpsilon::at(total.cost?.rho, delta)?;
            let of = units.map_or(String::new(), |units| format!(" as of {}", grouped(units, 0)));
            Some(format!("epsilon {}{of}", short(epsilon.cost)))
        });
        let whole: Vec<String> = whole.collect();
        if !whole.is_empty() {
            note("", &format!("all of them, in epsilon: {}", whole.join(", ")), out)?;
        }
    }
    if sums.iter().any(|(units, _)| units.is_some()) {
        note(
            "",
            "as of 100 units: if every value is as large as 100 units make it that contribute all \
             they may; the larger it turns out to be, the less it costs",
            out,
        )?;
    }
    Ok(())
}

/// A text of at most that many characters, its end left out if it is longer.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The goal of a question as a title says it.
fn said(Question { goal, columns, .. }: &Question) -> String {
    let said = |accuracy: &Accuracy| match accuracy {
        Accuracy::Relative(tolerance) => Within::Relative(*tolerance).to_string(),
        Accuracy::Absolute(error) => format!("± {error}"),
        Accuracy::Price(price) => format!("rho={price}"),
    };
    let own = columns.own.iter().map(|(name, accuracy)| format!("{name} {}", said(accuracy)));
    let all = (!columns.all_named).then(|| said(&goal.accuracy));
    all.into_iter().chain(own).collect::<Vec<_>>().join(", ")
}

pub(crate) fn print(
    explanation: &Explanation,
    question: &Question,
    out: &mut impl Write,
) -> io::Result<()> {
    let epsilon = |rho: f64| explanation.delta.and_then(|delta| InEpsilon::at(rho, delta));
    writeln!(out, "What {} is expected to cost", said(question))?;
    for total in &explanation.totals {
        let price = match &total.cost {
            Some(cost) => cost_in_both(cost, epsilon(cost.rho)),
            None => "beyond your tier".to_owned(),
        };
        match total.units {
            None => writeln!(out, "  {price}")?,
            Some(units) => {
                writeln!(out, "  {price}, if its values are as of {} units", grouped(units, 0))?;
            }
        }
    }
    if let Some(delta) = explanation.delta {
        writeln!(
            out,
            "  epsilon: what that rho alone would promise at delta {}; epsilons do not add up",
            short(delta)
        )?;
    }
    writeln!(out)?;
    writeln!(out, "What is computed")?;
    for line in &explanation.plan {
        writeln!(out, "  {line}")?;
    }
    let picks = explanation.sorting.as_ref().is_some_and(|sorting| sorting.pick.is_some());
    match &explanation.keys {
        Keys::None => {}
        Keys::Public(count) if picks => writeln!(out, "  {count} groups are public")?,
        Keys::Public(count) => {
            writeln!(
                out,
                "  {count} groups are public, and each is answered, also where it is empty"
            )?;
        }
        Keys::Selected { units, cost: price } => {
            writeln!(
                out,
                "  keys are shown that about {units} units or more have; selecting them costs {}, once",
                cost(price)
            )?;
        }
    }
    if let Some(sorting) = &explanation.sorting {
        writeln!(out, "\nHow it is sorted")?;
        writeln!(out, "  with --within, {}", sorting.within)?;
        writeln!(out, "  with --price, {}", sorting.price)?;
        if let Some(pick) = &sorting.pick {
            writeln!(out, "  a pick costs {}", cost(pick))?;
        }
    }
    writeln!(out, "\nWho pays\n  {}", explanation.accounts.join(", "))?;
    if let Some(part) = explanation.cut_counts {
        let percent = short(part * 100.0);
        writeln!(out, "  at most {percent}% more, for counts of units that lose rows or groups")?;
    }
    if let Some(tier) = &explanation.tier {
        writeln!(out, "\nWhat your tier sees")?;
        writeln!(
            out,
            "  no path further than {}: this question costs you {} for its values at most, whatever \
             price you allow, and is not answered closer",
            cost(&tier.finest),
            cost(&tier.cost)
        )?;
        match tier.picks {
            Some(0) => writeln!(
                out,
                "  no pick of the largest: with --within it is refused, so ask with --price"
            )?,
            Some(1) => writeln!(out, "  one pick of the largest")?,
            Some(picks) => writeln!(out, "  {picks} picks of the largest at most")?,
            None => {}
        }
    }
    if explanation.errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat a price gives")?;
    let interval = format!("{}% interval", short(question.goal.confidence.get() * 100.0));
    let mut table = Table::new(&["price", "epsilon", "value", &interval, ""]);
    for line in &explanation.errors {
        let of = line.rows.map_or_else(String::new, |rows| format!("of {} rows", short(rows)));
        let error = format!("± {}", short(line.error));
        let as_epsilon = epsilon(line.cost.rho);
        let as_epsilon = as_epsilon.map_or_else(String::new, |epsilon| short(epsilon.cost));
        table.row([cost(&line.cost), as_epsilon, line.name.clone(), error, of]);
    }
    table.print(out)?;
    if explanation.sizes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat {} costs, by how large the value turns out to be", said(question))?;
    let mut table = Table::new(&["value", "if it is about", "price", "after an earlier answer"]);
    let price = |price: &Option<Cost>| match price {
        Some(price) => cost(price),
        None => "beyond your tier".to_owned(),
    };
    for line in &explanation.sizes {
        let of = line.rows.map_or_else(String::new, |rows| format!(" in {} rows", short(rows)));
        let size = line.size.map_or_else(|| "any number".to_owned(), short);
        let size = format!("{size}{of}");
        table.row([line.name.clone(), size, price(&line.cost), price(&line.after)]);
    }
    table.print(out)?;
    note(
        "",
        &format!(
            "An earlier answer is one that {} seen to the same question, at another accuracy or \
             price: intervals must then hold for all looks together, so ask for what you need at \
             once",
            explanation.earlier
        ),
        out,
    )
}
