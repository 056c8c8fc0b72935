//! The goals of a question's values: one for all, and those of columns that have their own.
//!
//! Every measure is followed by its own rule as if it were alone (`walk.rs`), so columns may differ
//! in what is good enough for them. A group goes as far as the dearest of its values needs.

use std::collections::BTreeMap;

use eke_sql::{Expr, Query};

use crate::ask::question::{Accuracy, ColumnGoals, Goal};
use crate::error::WrongGoal;

/// What each measure of a question must come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Goals {
    all: Goal,
    /// By the index of the measure.
    own: BTreeMap<usize, Accuracy>,
}

impl From<Goal> for Goals {
    /// One for all.
    fn from(all: Goal) -> Self {
        Self { all, own: BTreeMap::new() }
    }
}

impl Goals {
    /// The goals of a question, by the names of its columns.
    ///
    /// # Errors
    /// A column is not there or shows no value, has two goals or a price; or one is left without.
    pub(crate) fn new(all: Goal, columns: &ColumnGoals, query: &Query) -> Result<Self, WrongGoal> {
        let mut own = BTreeMap::new();
        let values = || {
            let outputs = query.outputs.iter();
            outputs.filter_map(|output| Some((&*output.name, output.shows.measure()?)))
        };
        if !columns.own.is_empty() && !all.is_one() {
            return Err(WrongGoal::PriceAndColumns);
        }
        for (column, accuracy) in &columns.own {
            let exact = values().find(|(name, _)| name == column);
            let found = exact.or_else(|| values().find(|(n, _)| n.eq_ignore_ascii_case(column)));
            let Some((_, measure)) = found else {
                let known = values().map(|(name, _)| name.to_owned()).collect();
                return Err(WrongGoal::NoSuchColumn { column: column.clone(), known });
            };
            if matches!(accuracy, Accuracy::Price(_)) {
                return Err(WrongGoal::PriceAndColumns);
            }
            if own.insert(measure, *accuracy).is_some_and(|other| other != *accuracy) {
                return Err(WrongGoal::ColumnTwice { column: column.clone() });
            }
        }
        let unnamed = values().find(|(_, measure)| !own.contains_key(measure));
        if let Some((column, _)) = unnamed.filter(|_| columns.all_named) {
            return Err(WrongGoal::ColumnWithout { column: column.to_owned() });
        }
        // Where all columns say the same it is one goal, and the same question.
        own.retain(|_, accuracy| *accuracy != all.accuracy);
        Ok(Self { all, own })
    }

    /// That of all columns that have none of their own.
    pub(crate) fn all(&self) -> &Goal {
        &self.all
    }

    /// With another goal for all others.
    pub(crate) fn with(&self, all: Goal) -> Self {
        Self { all, own: self.own.clone() }
    }

    /// That of a measure.
    pub(crate) fn of(&self, measure: usize) -> Goal {
        let accuracy = self.own.get(&measure).copied().unwrap_or(self.all.accuracy);
        Goal { accuracy, ..self.all }
    }

    /// Whether a column has a goal of its own.
    pub(crate) fn differ(&self) -> bool {
        !self.own.is_empty()
    }

    /// Whether some goal depends on how large the value is.
    pub(crate) fn has_relative(&self) -> bool {
        let mut all = self.own.values().chain([&self.all.accuracy]);
        all.any(|accuracy| matches!(accuracy, Accuracy::Relative(_)))
    }

    /// That of the value that groups are sorted by, if they are by one.
    pub(crate) fn of_order(&self, query: &Query) -> Goal {
        match query.order.first().map(|order| &order.by) {
            Some(Expr::Measure(measure)) => self.of(*measure),
            _ => self.all,
        }
    }

    /// The same goals, the same text: what a stored answer is found by.
    pub(crate) fn describe(&self) -> String {
        let own = self.own.keys().map(|&measure| {
            let accuracy = self.of(measure).accuracy.describe();
            format!(", {measure}: {accuracy}")
        });
        own.fold(self.all.describe(), |text, own| text + &own)
    }
}

#[cfg(test)]
mod tests {
    use eke_noise::{Confidence, Tolerance};
    use eke_sql::{Measure, Output, Plan, Shows};

    use super::*;

    fn query(names: &[&str]) -> Query {
        let plan: Plan = serde_json::from_value(serde_json::json!({
            "version": 2, "dataset": "t", "unit_column": "u", "adjacency": "add-remove",
            "filter": null, "keys": [], "sums": [], "max_groups": 1, "max_rows": 1
        }))
        .unwrap();
        let output = |(index, name): (usize, &&str)| Output {
            name: (*name).to_owned(),
            shows: Shows::Measure(index),
        };
        Query {
            plan,
            measures: (0..names.len()).map(Measure::Sum).collect(),
            outputs: names.iter().enumerate().map(output).collect(),
            of_keys: Vec::new(),
            having: None,
            order: Vec::new(),
            offset: 0,
            limit: None,
            passes: 0,
            least: None,
            searches: Vec::new(),
        }
    }

    fn relative(tolerance: f64) -> Accuracy {
        Accuracy::Relative(Tolerance::new(tolerance).unwrap())
    }

    #[test]
    fn columns_have_the_goals_that_they_are_given() {
        let accuracy = relative(0.05);
        let confidence = Confidence::new(0.95).unwrap();
        let all = Goal { accuracy, floor: Some(3.0), at_most: None, confidence };
        let query = query(&["n", "Fare", "fare"]);
        let goals = |own: &[(&str, Accuracy)], all_named: bool| {
            let own = own.iter().map(|(name, accuracy)| ((*name).to_owned(), *accuracy));
            Goals::new(all, &ColumnGoals { own: own.collect(), all_named }, &query)
        };
        let half = Accuracy::Absolute(0.5);
        // By its exact name first, and then whatever the case.
        let one = goals(&[("fare", half)], false).unwrap();
        assert_eq!([0, 1, 2].map(|index| one.of(index).accuracy), [accuracy, accuracy, half]);
        let other = goals(&[("N", half)], false).unwrap();
        assert_eq!((other.of(0).accuracy, other.of(0).floor), (half, Some(3.0)));
        assert!(one.differ() && one.has_relative() && one.describe() != other.describe());
        // What says the same for all is the same.
        let same = goals(&[("n", accuracy)], false).unwrap();
        assert_eq!(same, Goals::from(all));
        assert_eq!(same.describe(), all.describe());
        let wrong = [
            (goals(&[("x", half)], false), "no column"),
            (goals(&[("n", half), ("N", accuracy)], false), "two goals"),
            (goals(&[("n", half), ("Fare", half)], true), "`fare`"),
            (goals(&[("n", Accuracy::Price("0.1".parse().unwrap()))], false), "price"),
        ];
        for (found, says) in wrong {
            let said = found.unwrap_err().to_string();
            assert!(said.contains(says), "{said}");
        }
        assert!(goals(&[("n", half), ("Fare", half), ("fare", half)], true).is_ok());
    }
}
