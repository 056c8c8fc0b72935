//! Older copies of paths: whether a receipt for a small step buys a whole point from one.

use std::error::Error;

use eke_budget::{Account, Amount, Epsilon, L1, NoHistory, PathId, Raise, Receipt};
use eke_noise::{Exact, GeometricPath, LaplacePath, MsdlapPath, NoisePath};

use super::{Audit, Finding, Method, Run};
use crate::seeded::Seeded;

pub(super) fn audits() -> Vec<Audit> {
    vec![Audit {
        name: "older-copies",
        about: "what is paid for from a point on is not drawn by a copy that has not come so far",
        method: Method::Neighbours,
        run: Run::Once(older_copies),
    }]
}

fn raise(account: &mut Account, to: &str) -> Result<Receipt<Raise<Epsilon>>, Box<dyn Error>> {
    let to: Amount<Epsilon> = to.parse()?;
    let approved = account.raise(PathId::new([3; 32]), to, L1::new(1.0)?)?;
    Ok(account.commit(approved, &mut NoHistory)?)
}

/// Epsilons of independent points that were drawn, against what was charged for them.
fn drawn<P>(name: &str, mut path: P) -> Result<Finding, Box<dyn Error>>
where
    P: NoisePath<Value = i64, Currency = Epsilon> + Clone,
{
    let (mut account, mut entropy) = (crate::account(), Seeded::new(11));
    let truth = Exact::new(100, L1::new(1.0)?);
    let mut older = path.clone();
    let first = raise(&mut account, "1")?;
    path.refine(&truth, first, &mut entropy).map_err(|mismatch| mismatch.to_string())?;
    let next = raise(&mut account, "1.001")?;
    let again = older.refine(&truth, next, &mut entropy).is_ok();
    Ok(Finding {
        what: format!("{name}, and an older copy of it"),
        measure: "epsilon",
        claim: 1.001,
        at_least: Some(1.0),
        found: if again { 2.001 } else { 1.0 },
    })
}

fn older_copies() -> Result<Vec<Finding>, Box<dyn Error>> {
    let (id, one) = (PathId::new([3; 32]), L1::new(1.0)?);
    Ok(vec![
        drawn("a geometric path", GeometricPath::open(id, one))?,
        drawn("a Laplace path", LaplacePath::open(id, one))?,
        drawn("an MSDLap path", MsdlapPath::open(id, one)?)?,
    ])
}
