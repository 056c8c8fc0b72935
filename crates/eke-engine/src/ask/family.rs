//! Families of paths: all that differ only in their bounds.
//!
//! A tier's `finest` says how far its analysts see any one path. A question may choose its bounds,
//! and other bounds are another path; were each of them seen that far, rows=20, 21 and 22 would
//! tell three times as much about the same thing. So what an analyst sees of all paths of a family
//! adds up, and the sum stays within `finest`.
//!
//! The sum is kept in the ledger, as an account of its own for each analyst and family. Every path
//! of the family raises its own level there, in the same transaction that charges those who pay: a
//! crash loses none of it, and whoever draws has looked at the sum after the charge. What it holds
//! is no budget: it is never more than what the analyst's own account was charged.
//!
//! Mutants that tests must catch: paths that are not summed, a sum that is looked at before the
//! charge alone, a family with bounds, or what depends on them, in its name.

use eke_budget::purchase::GroupPrices;
use eke_budget::{Adjacency, Amount, Charge, Metric, PathId, Rho};
use eke_ledger::RaiseGroups;
use eke_ledger::store::Currencies;
use eke_sql::{Measure, Plan, Query, Sum, Summand};

use crate::ask::Asking;
use crate::error::{EngineError, NotAllowed};
use crate::policy::{AccountKind, AccountSpec};
use crate::purchase::identity::{Identity, Purpose};

/// What an analyst has seen of a family of paths.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    /// The account that it is summed in.
    pub(crate) account: String,
    /// What was seen of all of it.
    seen: Amount<Rho>,
    /// How far the tier sees it.
    finest: Amount<Rho>,
}

impl Family {
    /// How far a path of it may be seen in all, of which this far was seen before.
    pub(crate) fn furthest(&self, before: Amount<Rho>) -> Amount<Rho> {
        let left = self.finest.minus(self.seen).unwrap_or(Amount::ZERO);
        before.plus(left).unwrap_or(Amount::MAX).min(self.finest)
    }

    /// That more of it is beyond the tier.
    pub(crate) fn beyond(&self) -> EngineError {
        NotAllowed::FamilyBeyondTier { finest: self.finest }.into()
    }
}

/// Where the names of families begin in those of accounts. Nobody is called so: names have no
/// slash.
const FAMILIES: &str = "/finest/";

/// Whether an account is a family's, which is nobody's budget.
pub(crate) fn is_family(account: &str) -> bool {
    account.contains(FAMILIES)
}

/// A plan without its bounds: what its family is found by. What else follows from bounds (the centre
/// of an average or of a variance, the order of sums) is that of the plan without those that were
/// asked for.
fn unbounded(plan: &Plan) -> Plan {
    let sum = |Sum { summand, .. }: &Sum| {
        let summand = match summand {
            Summand::Value { expr, centre, .. } => {
                // A sum and an average of the same numbers are two.
                let (low, high, centre) = (0, 0, i64::from(*centre != 0));
                Summand::Value { expr: expr.clone(), low, high, centre }
            }
            Summand::Distinct { expr, kind, .. } => {
                Summand::Distinct { expr: expr.clone(), kind: *kind, most: 0 }
            }
            Summand::Ranks { expr, kind, .. } => {
                Summand::Ranks { expr: expr.clone(), kind: *kind, low: 0, high: 0, grid: 0 }
            }
            other => other.clone(),
        };
        Sum { summand, exponent: 0 }
    };
    let sums = plan.sums.iter().map(sum).collect();
    Plan { sums, max_groups: 0, max_rows: 0, max_rows_in_all: None, ..plan.clone() }
}

impl Asking<'_> {
    /// The family of the question's own paths; none if nothing limits how far they are seen.
    ///
    /// A count of units that was added for the policy's `min_units` is no part of its name: whether
    /// one is added depends on the bounds.
    pub(crate) fn question_family(&self) -> Result<Option<Family>, EngineError> {
        let query = self.unasked();
        let mut plan = query.plan.clone();
        if let Some(added) = query.added_units() {
            plan.sums.remove(added);
        }
        self.family(Purpose::Question, &plan, "")
    }

    /// The question without the bounds that it chooses; as it is if it is none without them.
    fn unasked(&self) -> &Query {
        let prepared = self.context.prepared;
        prepared.unasked.as_ref().unwrap_or(&prepared.query)
    }

    /// The plan of it, with this one of the question's sums alone.
    pub(crate) fn unasked_plan_of(&self, sum: usize) -> Plan {
        let (query, unasked) = (&self.context.prepared.query, self.unasked());
        // Both have the same measures, whose sums may be in another order.
        let is_it = |measure: &Measure| *measure == Measure::Sum(sum);
        let place = query.measures.iter().position(is_it);
        let same = match place.and_then(|place| unasked.measures.get(place)) {
            Some(Measure::Sum(sum)) => unasked.plan.sums.get(*sum),
            _ => query.plan.sums.get(sum),
        };
        Plan { sums: same.cloned().into_iter().collect(), ..unasked.plan.clone() }
    }

    /// The plan of it, with a count of units alone.
    pub(crate) fn unasked_plan_of_units(&self) -> Plan {
        let units = vec![Sum { summand: Summand::Units, exponent: 0 }];
        Plan { sums: units, ..self.unasked().plan.clone() }
    }

    /// The family of the question's cut counts; none if nothing limits how far they are seen.
    pub(crate) fn cut_family(&self) -> Result<Option<Family>, EngineError> {
        let plan = Plan { sums: Vec::new(), ..self.unasked().plan.clone() };
        self.family(Purpose::Cuts, &plan, "")
    }

    /// The family that a plan of this purpose is in, as it stands in the ledger; none if nothing
    /// limits how far the asker sees a path.
    ///
    /// - Theorem: bounds-of-questions (docs/theorems.md)
    /// - Proves: whatever bounds the asker chose, all it has seen of a column of a group costs a
    ///   unit no more than the tier's finest
    /// - Assumes: every path of the family raises its level with its charge (`seen_up_to`), and is
    ///   drawn after a look at the sum (`family_holds`)
    /// - Deviates: a path counts with its dearest group, for all of them
    /// - Checked by: `what_a_tier_sees_of_a_question_adds_up_over_bounds`,
    ///   `what_a_tier_sees_of_picks_and_keys_adds_up_over_bounds`,
    ///   `what_follows_from_bounds_makes_no_family_of_its_own`,
    ///   `what_a_tier_sees_of_cut_counts_adds_up_over_bounds`,
    ///   `programs_that_race_with_other_bounds_see_no_more_together`
    pub(crate) fn family(
        &self,
        purpose: Purpose,
        plan: &Plan,
        also: &str,
    ) -> Result<Option<Family>, EngineError> {
        let Some(finest) = self.context.prepared.finest else { return Ok(None) };
        let identity = Identity::new(Purpose::Family).bytes(purpose.context().as_bytes());
        let identity = identity.plan(&unbounded(plan)).rows(self.context.prepared);
        let digest = identity.bytes(also.as_bytes()).named()?.to_hex();
        let account = format!("{}{FAMILIES}{}", self.context.own().name, &digest[..32]);
        let engine = self.context.engine;
        let opened = engine.ledger().account(&account).wait()?;
        let seen = match opened {
            Some(opened) => opened.odometer().zcdp().map_or(Amount::ZERO, |purse| purse.spent()),
            None => {
                let (name, kind) = (account.clone(), AccountKind::Analyst);
                let budget = self.context.unit().budget.clone();
                let opened = AccountSpec { name, kind, budget };
                engine.open_account(&opened, &self.context.stamp())?;
                Amount::ZERO
            }
        };
        Ok(Some(Family { account, seen, finest }))
    }

    /// How far a path was seen before, as its family has it.
    pub(crate) fn seen_of(
        &self,
        family: &Family,
        path: PathId,
    ) -> Result<Amount<Rho>, EngineError> {
        let level = self.context.ledger().level(&family.account, path, Currencies::Rho).wait()?;
        Ok(match level.map(|level| level.at) {
            Some(Charge::Zcdp { rho, .. }) => rho,
            _ => Amount::ZERO,
        })
    }

    /// What the family of a path is charged, where the asker sees it up to a price and had paid for
    /// another before: with the charge for the path, or not at all. None if there is nothing to
    /// write down.
    pub(crate) fn seen_up_to(
        &self,
        family: &Family,
        path: PathId,
        (paid, to): (Amount<Rho>, Amount<Rho>),
    ) -> Result<Option<(String, RaiseGroups<Rho>)>, EngineError> {
        let before = self.seen_of(family, path)?;
        if to <= before {
            return Ok(None);
        }
        if to > family.furthest(before) {
            // An older program showed it, and nothing more is shown now.
            if to <= paid {
                return Ok(None);
            }
            return Err(family.beyond());
        }
        let damaged = |error: eke_budget::purchase::GroupError| EngineError::damaged(error);
        let metric = Metric::Hamming(Adjacency::AddRemove);
        let mut seen = GroupPrices::at(&[before], std::num::NonZeroU32::MIN, metric);
        let seen = seen.as_mut().map_err(|&mut error| damaged(error))?;
        let mut round = seen.round();
        round.raise(0, to).map_err(damaged)?;
        Ok(Some((family.account.clone(), RaiseGroups::new(round.offer(path)))))
    }

    /// Whether all that was charged to a family is within what the tier sees: looked at once the
    /// charge is on disk, so that of two that were charged at the same time neither is drawn if
    /// both are too much.
    pub(crate) fn family_holds(&self, family: Option<&Family>) -> Result<(), EngineError> {
        let Some(family) = family else { return Ok(()) };
        let account = self.context.ledger().account(&family.account).wait()?;
        let seen = account.and_then(|account| Some(account.odometer().zcdp()?.spent()));
        if seen.is_some_and(|seen| seen > family.finest) {
            return Err(family.beyond());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use eke_sql::{Expr, Type};

    use super::*;

    #[test]
    fn a_family_is_a_plan_without_its_bounds() {
        let plan = |bounds: (u32, u32, Option<u32>), high: i64, most: u32, column: &str| {
            let expr = Expr::Column(column.to_owned());
            let value = Summand::Value { expr: expr.clone(), low: 0, high, centre: high / 2 };
            let distinct = Summand::Distinct { expr, kind: Type::Int, most };
            let exponent = i32::try_from(high).unwrap();
            let sums = [Summand::Rows, value, distinct];
            unbounded(&Plan {
                version: eke_sql::VERSION,
                dataset: "trips".into(),
                unit_column: "who".into(),
                adjacency: Adjacency::AddRemove,
                rows: None,
                filter: None,
                keys: Vec::new(),
                sums: sums.map(|summand| Sum { summand, exponent }).to_vec(),
                max_groups: bounds.0,
                max_rows: bounds.1,
                max_rows_in_all: bounds.2,
            })
        };
        let one = plan((3, 20, None), 100, 5, "fare");
        assert_eq!(one, plan((4, 21, Some(50)), 90, 6, "fare"));
        assert_ne!(one, plan((3, 20, None), 100, 5, "tip"));
    }
}
