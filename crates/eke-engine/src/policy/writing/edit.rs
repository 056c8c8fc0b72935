//! Bounds put into the text of a policy: the numbers that are there are changed, lines that are not
//! there are added, and everything else stays as it is, comments too.
//!
//! What comes out is read again before anybody writes it: it is a policy, and says what it should.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::draft::{key, number};
use crate::policy::{Policy, PolicyError, PolicyProtection};
use crate::profile::Proposal;

impl Policy {
    /// The text of a policy with the bounds of a proposal in it.
    ///
    /// # Errors
    /// The text is no policy, or is written so that the bounds cannot be put in: the error says
    /// which lines to write by hand.
    pub fn with_bounds(
        text: &str,
        path: &Path,
        dataset: &str,
        proposal: &Proposal,
    ) -> Result<String, PolicyError> {
        Self::parse(text, path)?;
        let edited = Edits::of(text, dataset, proposal).map(|edits| edits.made(text));
        let edited = edited.filter(|edited| says(edited, path, dataset, proposal));
        edited.ok_or_else(|| PolicyError::Unreadable {
            path: path.to_owned(),
            problem: format!(
                "`[dataset.{dataset}]` is written in a way that bounds cannot be put into: write \
                 these lines by hand\n{}",
                lines(dataset, proposal)
            ),
        })
    }
}

/// The lines of a policy that a proposal comes to.
#[must_use]
pub fn lines(dataset: &str, proposal: &Proposal) -> String {
    let mut out = format!("[dataset.{}]\n", key(dataset));
    if let Some(groups) = proposal.max_groups {
        let _ = writeln!(out, "max_groups = {groups}");
    }
    let _ = writeln!(out, "max_rows = {}", proposal.max_rows);
    if !proposal.bounds.is_empty() {
        let _ = writeln!(out, "\n[dataset.{}.columns]", key(dataset));
    }
    for (column, min, max) in &proposal.bounds {
        let _ = writeln!(out, "{} = {{ {} }}", key(column), min_and_max(*min, *max));
    }
    out
}

fn min_and_max(min: f64, max: f64) -> String {
    format!("min = {}, max = {}", number(min), number(max))
}

/// Whether a text is a policy that says what is proposed.
fn says(text: &str, path: &Path, dataset: &str, proposal: &Proposal) -> bool {
    let Ok(policy) = Policy::parse(text, path) else { return false };
    let Ok(dataset) = policy.dataset(dataset) else { return false };
    let PolicyProtection::Private { max_groups, max_rows, .. } = &dataset.protection else {
        return false;
    };
    let has = |(column, min, max): &(String, f64, f64)| {
        let bounds = dataset.columns.get(column).and_then(|column| column.bounds);
        bounds.is_some_and(|(low, high)| low.total_cmp(min).is_eq() && high.total_cmp(max).is_eq())
    };
    proposal.max_groups.is_none_or(|groups| groups == *max_groups)
        && proposal.max_rows == *max_rows
        && proposal.bounds.iter().all(has)
}

/// What is written instead of parts of a text.
struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// What to change; none if the text has no such dataset in a place of its own.
    fn of(text: &str, dataset: &str, proposal: &Proposal) -> Option<Self> {
        let document = DeTable::parse(text).ok()?;
        let datasets = table(document.get_ref(), "dataset")?;
        let own = table(datasets, dataset)?;
        let mut edits = Self(Vec::new());
        // A new line goes below one that is there.
        let below = ["unit_column", "unit", "source"].iter().find_map(|name| own.get(*name))?;
        let after = end_of_line(text, below.span().end);
        let mut added = String::new();
        let wanted = [("max_groups", proposal.max_groups), ("max_rows", Some(proposal.max_rows))];
        for (name, value) in wanted {
            match (own.get(name), value) {
                (_, None) => {}
                (Some(there), Some(value)) => edits.replace(there.span(), value.to_string()),
                (None, Some(value)) => {
                    let _ = writeln!(added, "{name} = {value}");
                }
            }
        }
        edits.insert(text, after, added);
        let columns = table(own, "columns");
        let mut missing = String::new();
        for (column, min, max) in &proposal.bounds {
            let Some(said) = columns.and_then(|columns| columns.get(column.as_str())) else {
                let _ = writeln!(missing, "{} = {{ {} }}", key(column), min_and_max(*min, *max));
                continue;
            };
            let DeValue::Table(bounds) = said.get_ref() else { return None };
            match (bounds.get("min"), bounds.get("max")) {
                (Some(low), Some(high)) => {
                    edits.replace(low.span(), number(*min));
                    edits.replace(high.span(), number(*max));
                }
                (None, None) => {
                    let close = text[..said.span().end].rfind('}')?;
                    let inside = text[said.span().start..close].trim_end();
                    let at = said.span().start + inside.len();
                    let comma = if bounds.is_empty() { " " } else { ", " };
                    edits.replace(at..close, format!("{comma}{} ", min_and_max(*min, *max)));
                }
                _ => return None,
            }
        }
        if !missing.is_empty() {
            let header = format!("[dataset.{}.columns]", key(dataset));
            match text.match_indices(&header).find(|(at, _)| is_line_start(text, *at)) {
                Some((at, _)) => {
                    let after = end_of_line(text, at);
                    edits.insert(text, after, missing);
                }
                None if columns.is_none() => {
                    edits.insert(text, text.len(), format!("\n{header}\n{missing}"));
                }
                None => return None,
            }
        }
        Some(edits)
    }

    fn replace(&mut self, range: Range<usize>, with: String) {
        self.0.push((range, with));
    }

    /// Lines at the start of a line, or below the last one.
    fn insert(&mut self, text: &str, at: usize, lines: String) {
        let is_below = !lines.is_empty() && !text[..at].ends_with('\n');
        let lines = if is_below { format!("\n{lines}") } else { lines };
        self.replace(at..at, lines);
    }

    fn made(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut out, mut at) = (String::with_capacity(text.len() + 100), 0);
        for (range, with) in self.0 {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(&with);
            at = range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        out
    }
}

fn table<'t>(table: &'t DeTable<'t>, name: &str) -> Option<&'t DeTable<'t>> {
    match table.get(name).map(Spanned::get_ref) {
        Some(DeValue::Table(table)) => Some(table),
        _ => None,
    }
}

/// Where the line ends that something is in, with its line break.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

fn is_line_start(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"# The city's trips.
[unit.rider]
adjacency = "add-remove"   # for good
budget = { epsilon = 2.0, delta = 1e-7 }

[dataset.trips]
source = "trips.csv"
unit = "rider"
unit_column = "rider_id"   # whose
max_rows = 20              # was a guess

[dataset.trips.columns]
# Prices.
fare = { type = "float", min = 0, max = 200 }  # in euros
tip = { type = "float" }
city = { values = ["Delft", "Leiden"] }

[analyst.ana]
"#;

    fn proposal(bounds: &[(&str, f64, f64)]) -> Proposal {
        let bounds = bounds.iter().map(|(name, min, max)| ((*name).to_owned(), *min, *max));
        let (max_groups, noise) = (Some(4), Vec::new());
        Proposal { max_rows: 64, max_groups, bounds: bounds.collect(), noise }
    }

    #[test]
    fn bounds_are_put_in_and_the_rest_stays_as_it_is() {
        let proposal = proposal(&[("fare", 0.0, 128.0), ("tip", -0.5, 16.0), ("km", 0.0, 32.0)]);
        let edited = Policy::with_bounds(POLICY, Path::new("eke.toml"), "trips", &proposal);
        let expected = POLICY
            .replace("# whose\n", "# whose\nmax_groups = 4\n")
            .replace("max_rows = 20  ", "max_rows = 64  ")
            .replace("max = 200", "max = 128")
            .replace(
                "tip = { type = \"float\" }",
                "tip = { type = \"float\", min = -0.5, max = 16 }",
            )
            .replace(".columns]\n", ".columns]\nkm = { min = 0, max = 32 }\n");
        assert_eq!(edited.unwrap(), expected);
        // The same again changes nothing.
        let again = Policy::with_bounds(&expected, Path::new("eke.toml"), "trips", &proposal);
        assert_eq!(again.unwrap(), expected);
    }

    #[test]
    fn a_section_that_is_not_there_is_added() {
        let (start, rest) = POLICY.split_once("[dataset.trips.columns]").unwrap();
        let (_, end) = rest.split_once("[analyst.ana]").unwrap();
        let text = format!("{start}[analyst.ana]{end}");
        let proposal = proposal(&[("fare", 0.0, 1.0)]);
        let edited = Policy::with_bounds(&text, Path::new("eke.toml"), "trips", &proposal).unwrap();
        assert!(
            edited.ends_with(
                "[analyst.ana]\n\n[dataset.trips.columns]\nfare = { min = 0, max = 1 }\n"
            )
        );
    }

    #[test]
    fn what_cannot_be_put_in_is_said_as_lines() {
        let inline = POLICY.replace("[dataset.trips.columns]\n# Prices.\n", "columns.");
        let inline = inline.replace(
            "tip = { type = \"float\" }\ncity = { values = [\"Delft\", \"Leiden\"] }\n",
            "",
        );
        let proposal = proposal(&[("km", 0.0, 1.0)]);
        let error =
            Policy::with_bounds(&inline, Path::new("eke.toml"), "trips", &proposal).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("max_rows = 64\n") && said.contains("km = { min = 0, max = 1 }"),
            "{said}"
        );
    }
}
