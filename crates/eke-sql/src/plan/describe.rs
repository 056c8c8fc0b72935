//! Plans in words, for `eke explain` and for golden files. From public information alone.

use std::fmt::Write as _;

use crate::expr::display::{identifier, list};
use crate::{Expr, Key, LeastUnits, Measure, Order, Plan, Query, Shows, Sum, Summand, UnitColumns};

impl Plan {
    /// What is computed from rows, and what one unit can change it by, one thing a line.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.rows {
            Some(rows) => rows.describe(&mut lines),
            None => lines.push(format!("rows of {}", identifier(&self.dataset))),
        }
        if let Some(filter) = &self.filter {
            lines.push(format!("where {filter}"));
        }
        for (index, key) in self.keys.iter().enumerate() {
            lines.push(format!("key {}: {}", index + 1, key.describe()));
        }
        for (index, sum) in self.sums.iter().enumerate() {
            lines.push(format!("sum {}: {}", index + 1, sum.describe(self.max_rows)));
        }
        let adjacency = match self.adjacency {
            eke_budget::Adjacency::AddRemove => "one unit more or less",
            eke_budget::Adjacency::Replace => "one unit replaced",
        };
        let unit = match self.unit_column.as_str() {
            "" => "each row is one".to_owned(),
            several if UnitColumns::read(several).is_composed() => several.to_owned(),
            column => identifier(column),
        };
        let in_all = self.max_rows_in_all.map_or_else(String::new, |rows| {
            format!(", and for {} in all of them", plural(u64::from(rows), "row"))
        });
        lines.push(format!(
            "a unit ({unit}) counts in {} and for {} in each{in_all}; neighbours have {adjacency}",
            plural(u64::from(self.max_groups), "group"),
            plural(u64::from(self.max_rows), "row"),
        ));
        printable(&lines)
    }
}

impl Query {
    /// What is computed and what is done with it, one thing a line.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let mut lines = self.plan.describe();
        // Whom it counts comes last.
        let counts = lines.pop();
        for (index, search) in self.searches.iter().enumerate() {
            let described = search.describe(self.plan.max_rows);
            lines.push(crate::error::line(
                &format!("search {}: {described}", index + 1),
                usize::MAX,
            ));
        }
        lines.extend(counts);
        for (index, measure) in self.measures.iter().enumerate() {
            let from = match measure {
                Measure::Sum(sum) => format!("sum {}", sum + 1),
                Measure::Total(sum) => format!("sum {} of all groups together", sum + 1),
                Measure::Average { sum, count } => {
                    format!("sum {} / sum {} + centre", sum + 1, count + 1)
                }
                Measure::Derived { value, .. } => value.to_string(),
                Measure::Beside(sum) => format!("sum {}, which is not shown", sum + 1),
                Measure::Quantile { search, rank } => format!("{rank} of search {}", search + 1),
            };
            lines.push(format!("measure {}: {from}", index + 1));
        }
        for output in &self.outputs {
            let shows = match output.shows {
                Shows::Key(index) => Expr::Key(index).to_string(),
                Shows::OfKeys(index) => {
                    self.of_keys.get(index).map_or_else(String::new, ToString::to_string)
                }
                Shows::All => "all of it together".to_owned(),
                Shows::Measure(index) => Expr::Measure(index).to_string(),
                Shows::Low(index) => format!("the lower end of {}", Expr::Measure(index)),
                Shows::High(index) => format!("the upper end of {}", Expr::Measure(index)),
                Shows::Met(index) => format!("whether the goal of {} is met", Expr::Measure(index)),
            };
            lines.push(format!("shows {}: {shows}", identifier(&output.name)));
        }
        if let Some(LeastUnits { count, measure }) = self.least {
            let (units, by) = (plural(u64::from(count), "unit"), Expr::Measure(measure));
            lines.push(format!("rows of fewer than {units} by {by} are not shown"));
        }
        if let Some(having) = &self.having {
            lines.push(format!("having {having}"));
        }
        if !self.order.is_empty() {
            lines.push(format!("sorted by {}", list(&self.order)));
        }
        if self.offset > 0 {
            lines.push(format!("without the first {}", self.offset));
        }
        if let Some(limit) = self.limit {
            lines.push(format!("{limit} at most"));
        }
        printable(&lines)
    }
}

impl Key {
    /// The expression, its type and its values, or that they are selected.
    #[must_use]
    pub fn describe(&self) -> String {
        let Some(values) = &self.public else {
            return format!("{} ({}), selected privately", self.expr, self.kind);
        };
        let mut text = format!(
            "{} ({}), {}: {}",
            self.expr,
            self.kind,
            plural(u64::try_from(values.len()).unwrap_or(u64::MAX), "public value"),
            list(&values[..values.len().min(8)])
        );
        if values.len() > 8 {
            text.push_str(", …");
        }
        text
    }
}

impl Sum {
    /// What is added up, what it is clamped to, the step, and what one unit can change it by.
    #[must_use]
    pub fn describe(&self, max_rows: u32) -> String {
        let mut text = match &self.summand {
            Summand::Rows => "rows".to_owned(),
            Summand::Units => "units".to_owned(),
            Summand::Present(expr) => format!("rows where {expr} is present"),
            Summand::Value { expr, .. } => format!("{expr}"),
            Summand::Distinct { expr, kind, most } => format!(
                "different values of {expr} ({kind}), at most {} of each unit and group",
                plural(u64::from(*most), "value")
            ),
            Summand::Ranks { expr, kind, low, high, grid } => {
                format!("rows by where {expr} ({kind}) lies, at places {low} .. {high} of 2^{grid}")
            }
        };
        if let Summand::Value { low, high, centre, .. } = self.summand {
            // Writing to a text does not fail.
            let _ = write!(text, ", clamped to {} .. {}", self.natural(low), self.natural(high));
            if centre != 0 {
                let _ = write!(text, ", centred at {}", self.natural(centre));
            }
        }
        let steps = self.sensitivity(max_rows);
        let most = self.natural(i64::try_from(steps).unwrap_or(i64::MAX));
        let _ = write!(
            text,
            ", in steps of 2^{}; a unit changes a group's by {most} at most ({steps} steps)",
            self.exponent
        );
        text
    }

    /// A number of steps, in the unit of what is added up.
    fn natural(&self, steps: i64) -> f64 {
        crate::expr::evaluate::float_of_int(steps) * self.step()
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let way = if self.descending { " descending" } else { "" };
        let nulls = if self.nulls_first { "first" } else { "last" };
        write!(f, "{}{way} (NULL {nulls})", self.by)
    }
}

/// Names are the analyst's or the file's: control characters in them stay out of terminals.
fn printable(lines: &[String]) -> Vec<String> {
    lines.iter().map(|text| crate::error::line(text, usize::MAX)).collect()
}

fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
