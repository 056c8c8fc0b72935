//! The accounts that a question draws on: the unit's, and those of the asker.

use eke_budget::{Budget, Metric};

use super::{Policy, PolicyError};
use crate::purchase::payers::Payers;

/// An account that a question is charged to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSpec {
    /// What it is called in the ledger: `rider`, `rider/analyst/ana` or `rider/circle/partners`.
    pub name: String,
    /// Whose it is.
    pub kind: AccountKind,
    /// What it is opened with.
    pub budget: Budget,
}

/// Whose account it is, and so against whom its promise holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccountKind {
    /// The unit's: its promise holds whatever people tell each other.
    Unit,
    /// One analyst's: its promise holds against that analyst alone.
    Analyst,
    /// A circle's: its promise holds against its members alone, and all of them together.
    Circle,
}

impl Policy {
    /// The accounts that a question about those units is charged to: theirs first, then the
    /// analyst's own, then those of its circles by name. The steward, who is nobody here, uses the
    /// unit's account alone.
    ///
    /// An analyst's account has its tier's budget, and the unit's if the tier has none.
    ///
    /// # Errors
    /// There is no such unit or no such analyst.
    pub fn payers(&self, unit: &str, analyst: Option<&str>) -> Result<Payers, PolicyError> {
        let unit = self.unit(unit)?;
        let of_unit = AccountSpec {
            name: unit.name.clone(),
            kind: AccountKind::Unit,
            budget: unit.budget.clone(),
        };
        let Some(analyst) = analyst else {
            return Ok(Payers { unit: of_unit, others: Vec::new() });
        };
        let analyst = self.analyst(analyst)?;
        let metric = Metric::Hamming(unit.adjacency);
        let tier = analyst.tier.as_ref().and_then(|name| self.tiers.get(name));
        let budget = match tier.and_then(|tier| Some((tier.budget?, tier.line))) {
            None => unit.budget.clone(),
            Some((spec, line)) => self.resolve(spec, metric, line)?,
        };
        let name = format!("{}/analyst/{}", unit.name, analyst.name);
        let mut others = vec![AccountSpec { name, kind: AccountKind::Analyst, budget }];
        for circle in self.circles.values() {
            if circle.analysts.contains(&analyst.name) {
                others.push(AccountSpec {
                    name: format!("{}/circle/{}", unit.name, circle.name),
                    kind: AccountKind::Circle,
                    budget: self.resolve(circle.budget, metric, circle.line)?,
                });
            }
        }
        Ok(Payers { unit: of_unit, others })
    }

    /// Whether an analyst has a budget of its own, and not all that the unit's account holds.
    #[must_use]
    pub fn has_own_budget(&self, analyst: &str) -> bool {
        let tier = self.analysts.get(analyst).and_then(|analyst| analyst.tier.as_ref());
        tier.and_then(|tier| self.tiers.get(tier)).is_some_and(|tier| tier.budget.is_some())
    }

    fn resolve(
        &self,
        spec: eke_budget::BudgetSpec,
        metric: Metric,
        line: usize,
    ) -> Result<Budget, PolicyError> {
        spec.resolve(metric).map_err(|error| PolicyError::Wrong {
            path: self.path.clone(),
            line,
            problem: error.to_string(),
        })
    }
}
