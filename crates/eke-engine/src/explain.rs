//! What a question would do and cost, from public information alone: no row is read, and no ledger.

use eke_budget::{Amount, Charge, Metric, Purchase, Rho};
use eke_noise::Confidence;
use eke_sql::{Measure, Plan, Shows};
use serde::Serialize;

use crate::answer::Cost;
use crate::engine::{Understood, understand};
use crate::error::EngineError;
use crate::keys;
use crate::policy::Policy;
use crate::question::Who;
use crate::top::{self, Sorting};

/// What a question would do and cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What would be computed, line by line.
    pub plan: Vec<String>,
    /// How keys come about.
    pub keys: Keys,
    /// The accounts that would pay.
    pub accounts: Vec<String>,
    /// How groups are sorted, where they are by a value.
    pub sorting: Option<Sorting>,
    /// What a few prices give: absolute errors.
    pub errors: Vec<ErrorAt>,
    /// What a relative error of 5 % costs, by how large the value turns out to be.
    pub sizes: Vec<SizeAt>,
}

/// How the keys of a question come about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keys {
    /// There are none: one row.
    None,
    /// So many combinations are public, and all of them are answered.
    Public(usize),
    /// They are selected: those that enough units have.
    Selected {
        /// About how many units a key needs to be shown.
        units: i64,
        /// What that costs, once for all questions with the same rows and keys.
        cost: Cost,
    },
}

/// What a price gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorAt {
    /// The name of the value.
    pub name: String,
    /// The price of the question.
    pub cost: Cost,
    /// The half-width of its interval, at 95 %.
    pub error: f64,
}

/// What a relative error of 5 % costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeAt {
    /// The name of the value.
    pub name: String,
    /// How large it is.
    pub size: f64,
    /// The price of the question, about.
    pub cost: Cost,
}

/// Explains a question.
///
/// # Errors
/// The question cannot be answered privately, or something in the policy is wrong.
pub fn explain(policy: &Policy, sql: &str, who: &Who) -> Result<Explanation, EngineError> {
    let Understood { query, accounts, .. } = understand(policy, sql, who)?;
    let (plan, own) = (&query.plan, accounts.get(1).unwrap_or(&accounts[0]));
    let keys = match keys::public_groups(plan) {
        _ if plan.keys.is_empty() => Keys::None,
        Some(groups) => Keys::Public(groups.len()),
        None => {
            let selection = keys::selection(plan, &accounts[0].budget)?;
            let Charge::Zcdp { rho, delta } = selection.charge() else {
                return Err(EngineError::Keys("a selection has a price in rho".into()));
            };
            let units = selection.threshold().unwrap_or(i64::MAX);
            Keys::Selected { units, cost: Cost::new(rho, delta) }
        }
    };
    let name = |index: usize| {
        let shown = query.outputs.iter().find(|output| output.shows == Shows::Measure(index));
        shown.map(|output| output.name.clone())
    };
    let whole = own.budget.zcdp().map_or(Amount::ZERO, |limits| limits.budget);
    let cost =
        |rho: f64| Amount::ceil(rho).ok().map(|rho: Amount<Rho>| Cost::new(rho, Amount::ZERO));
    let z = Confidence::new(0.95).map_or(1.96, Confidence::quantile);
    let (mut errors, mut sizes) = (Vec::new(), Vec::new());
    for (index, measure) in query.measures.iter().enumerate() {
        let (Some(name), Measure::Sum(column)) = (name(index), measure) else { continue };
        let sum = &plan.sums[*column];
        #[expect(clippy::cast_precision_loss, reason = "shown in three digits")]
        let unit = sum.sensitivity(plan.max_rows) as f64 * sum.step();
        let times = price_times(plan);
        for part in [0.001, 0.01, 0.1] {
            let price = whole.to_f64() * part;
            let error = z * unit / (2.0 * price / times).sqrt();
            errors.extend(cost(price).map(|cost| ErrorAt { name: name.clone(), cost, error }));
        }
        for size in [100.0, 1_000.0, 10_000.0].map(|factor| factor * unit) {
            let price = (z * unit / (0.05 * size)).powi(2) / 2.0 * times;
            sizes.extend(cost(price).map(|cost| SizeAt { name: name.clone(), size, cost }));
        }
    }
    let sorting = top::explain(&query, &accounts[0].budget);
    let accounts = accounts.iter().map(|account| account.name.clone()).collect();
    Ok(Explanation { plan: query.describe(), keys, accounts, sorting, errors, sizes })
}

/// How many times the price of one column a question costs that takes all groups equally far.
fn price_times(plan: &Plan) -> f64 {
    let groups = keys::public_groups(plan).map_or(usize::MAX, |groups| groups.len());
    let groups = u32::try_from(groups).unwrap_or(u32::MAX).min(plan.max_groups);
    let factor = Metric::Hamming(plan.adjacency).group_factor::<Rho>();
    let columns = u32::try_from(plan.sums.len()).unwrap_or(u32::MAX);
    f64::from(groups) * f64::from(factor) * f64::from(columns)
}
