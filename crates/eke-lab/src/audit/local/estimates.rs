//! What collectors make of reports, by trying every report that can be drawn.

use std::error::Error;

use eke_local::{Law, Tally};
use eke_noise::local::{BitTemplate, Chain, ReportLaw, Template};
use eke_testkit::oracle::{End, enumerate};

use crate::audit::{Audit, Finding, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("report-counts", Method::Enumeration, report_counts)
            .about("estimates from one report are right on average, for every category"),
    ]
}

/// The mean of the estimates of all categories, for every true one, against one for it and none for
/// the others.
fn report_counts() -> Result<Vec<Finding>, Box<dyn Error>> {
    let subset = |size, text: &str| {
        Ok::<_, Box<dyn Error>>(ReportLaw::Subset(Template::new(size, text.parse()?)))
    };
    let mut findings = Vec::new();
    for (categories, report) in [
        (4, subset(2, "0.5")?),
        (5, subset(2, "1")?),
        (6, subset(1, "3")?),
        (3, ReportLaw::Bits(BitTemplate::new("1".parse()?))),
    ] {
        let law = Law::new(categories, report)?;
        let chain = Chain::new(categories, &[report])?;
        let mut off: f64 = 0.0;
        for truth in 0..categories {
            let reports = enumerate(End::First, 1e-9, |oracle| {
                let mut report = vec![0; law.words()];
                // There is room for it, and the category is one.
                let _ = chain.draw(truth, &mut report, oracle);
                report
            });
            let mut means = vec![0.0; categories as usize];
            let mut largest: f64 = 0.0;
            for (report, chance) in &reports.outcomes {
                let mut tally = Tally::new(law);
                tally.add(report)?;
                for (mean, users) in means.iter_mut().zip(tally.estimates().all_users()) {
                    *mean += chance * users;
                    largest = largest.max(users.abs());
                }
            }
            for (category, mean) in (0..).zip(means) {
                let expected = if category == truth { 1.0 } else { 0.0 };
                off = off.max((mean - expected).abs() - reports.lost * largest);
            }
        }
        findings.push(
            Finding::new(
                format!("one report of {report:?} about {categories} categories"),
                "error of mean",
                off.max(0.0),
            )
            .at_most(1e-9),
        );
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn estimates_of_one_report_are_right_on_average() {
        for finding in super::report_counts().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }
}
