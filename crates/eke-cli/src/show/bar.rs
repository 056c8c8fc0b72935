//! A bar for work that takes a while, on a terminal.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

/// How many of these are done.
pub(crate) fn bar(what: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let template = format!("{{bar:40}} {{pos}}/{{len}} {what} {{elapsed}}");
    style(&bar, &template);
    bar
}

/// Changes how a bar looks.
pub(crate) fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
