//! Somebody at a terminal who follows a question: a spinner, Ctrl-C, and whether to go on.

use std::io::{self, BufRead, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eke_budget::{Amount, Rho};
use eke_engine::ask::{InEpsilon, SoFar, Total, explain_for};
use eke_engine::policy::Policy;
use eke_engine::watch::Paid;
use eke_engine::{Observer, Question};
use indicatif::ProgressBar;

use crate::commands::watch::paid;
use crate::show::answer::key;
use crate::show::bar::style;
use crate::show::number::{grouped, in_both, percent, short};
use crate::terminal::stop::Stop;

/// A spinner on a terminal. It turns with rounds of looks. Only the steward sees how many rows were
/// read.
pub(crate) struct Progress {
    pub(crate) bar: ProgressBar,
    yes: bool,
    stop: Stop,
    /// The question and its policy, to say what it is expected to cost.
    asked: Option<(Policy, Question)>,
    /// Whether the asker was asked whether an error was meant, and did not say so.
    doubts: AtomicBool,
}

const SPINNER: &str = "{spinner} {msg} {elapsed}";

impl Progress {
    pub(crate) fn new(yes: bool) -> Self {
        Self::following(yes, Stop::listen())
    }

    /// The same, where somebody listens for signals already.
    pub(crate) fn following(yes: bool, stop: Stop) -> Self {
        let bar = ProgressBar::new_spinner();
        style(&bar, SPINNER);
        if io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, yes, stop, asked: None, doubts: AtomicBool::new(false) }
    }

    /// Of this question.
    pub(crate) fn of(mut self, policy: &Policy, question: &Question) -> Self {
        if !self.yes && is_at_a_terminal() {
            self.asked = Some((policy.clone(), question.clone()));
        }
        self
    }

    /// Whether the asker did not confirm an error.
    pub(crate) fn doubts(&self) -> bool {
        self.doubts.load(Ordering::Relaxed)
    }

    /// Asks the user for confirmation. Without a terminal the answer is yes.
    fn ask(&self, text: &str) -> bool {
        if self.yes || !is_at_a_terminal() {
            return true;
        }
        self.bar.suspend(|| {
            eprint!("{text}");
            let mut line = String::new();
            let read = self.stop.idle(|| io::stdin().lock().read_line(&mut line));
            read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
        })
    }
}

pub(crate) fn is_at_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What a question is expected to cost, as a sentence; none if nothing can be said.
pub(crate) fn expected(totals: &[Total], delta: Option<f64>, most: f64) -> Option<String> {
    let price = |rho: f64| in_both(rho, delta.and_then(|delta| InEpsilon::at(rho, delta)));
    let within = |total: &&Total| total.cost.is_some_and(|cost| cost.rho <= most * 1.001);
    match totals.iter().filter(within).collect::<Vec<_>>()[..] {
        [] => None,
        [Total { units: None, cost }] => {
            Some(format!("is expected to cost {}", price(cost.as_ref()?.rho)))
        }
        ref several => {
            let by_units = several.iter().rev().filter_map(|total| {
                Some(format!("{} as of {}", price(total.cost?.rho), grouped(total.units?, 0)))
            });
            let by_units: Vec<String> = by_units.collect();
            let first = by_units.join(", ").replacen("as of", "if its values are as of", 1);
            Some(format!("is expected to cost {first} units"))
        }
    }
}

impl Observer for Progress {
    fn rows(&self, seen: u64, of: Option<u64>) {
        if self.bar.length().is_none()
            && let Some(all) = of
        {
            self.bar.set_length(all);
            style(&self.bar, "{bar:30} {percent}% of the rows {elapsed}");
        }
        self.bar.set_position(seen);
        self.bar.set_message(format!("{seen} rows read"));
    }

    fn look(&self, number: u32) {
        style(&self.bar, SPINNER);
        self.bar.set_message(format!("look {number}"));
    }

    fn follows(&self) -> bool {
        io::stderr().is_terminal()
    }

    fn so_far(&self, found: &SoFar) {
        let value = |(keys, value): &(Vec<serde_json::Value>, f64)| {
            let keys: Vec<String> = keys.iter().map(key).collect();
            format!("{} {}", keys.join(" "), short(*value)).trim_start().to_owned()
        };
        let first: Vec<String> = found.first.iter().map(value).collect();
        let look = self.bar.message();
        let look = look.split(':').next().unwrap_or_default();
        let SoFar { ended, all, .. } = found;
        self.bar.set_message(format!("{look}: {}; {ended} of {all} ended", first.join(", ")));
    }

    /// Asks whether the error was meant. Without a terminal the answer is no, unlike for a price:
    /// it is almost surely a mistake.
    fn confirm_error(&self, error: f64) -> bool {
        let is_meant = self.yes
            || is_at_a_terminal()
                && self.ask(&format!(
                    "This asks for a count within {error} rows or units, and not within {}% of it. Ask? [y/N] ",
                    short(error * 100.0)
                ));
        self.doubts.store(!is_meant, Ordering::Relaxed);
        is_meant
    }

    fn is_over(&self) -> bool {
        self.stop.is_asked()
    }

    fn confirm(&self, may_cost: Amount<Rho>, left: Amount<Rho>) -> bool {
        let (most, left) = (may_cost.to_f64(), left.to_f64());
        let explained = self.asked.as_ref().and_then(|(policy, question)| {
            let told = explain_for(policy, question).ok()?;
            expected(&told.totals, told.delta, most)
        });
        let most = format!("rho {}, {} of what is left", short(most), percent(most, left));
        self.ask(&match explained {
            Some(explained) => format!("This {explained}; at most {most}. Ask? [y/N] "),
            None => format!("This may cost up to {most}. Ask? [y/N] "),
        })
    }

    fn confirm_watch(&self, sets_aside: Paid, left: Paid) -> bool {
        self.ask(&format!(
            "A hit may cost up to {}, {} of what is left, and there may be several. Watch? [y/N] ",
            paid(sets_aside),
            percent(sets_aside.get(), left.get())
        ))
    }
}
