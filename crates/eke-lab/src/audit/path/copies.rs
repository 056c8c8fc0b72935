//! Older copies of paths: whether a receipt for a small step buys a whole point from one.

use std::error::Error;
use std::num::NonZeroU32;

use eke_budget::purchase::GroupPrices;
use eke_budget::{
    Account, Adjacency, Amount, Epsilon, L1, Metric, NoHistory, PathId, Raise, Receipt,
};
use eke_noise::path::{Column, Columns, MsdlapPath};
use eke_noise::{Bundle, Exact, GeometricPath, LaplacePath, NoisePath};
use eke_testkit::Seeded;
use eke_testkit::oracle::{End, Oracle, enumerate};

use crate::audit::{Audit, Finding, Method};
use crate::{account, paid_groups};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("older-copies", Method::Neighbours, older_copies).about(
            "what is paid for from a point on is not drawn by a copy that has not come so far",
        ),
        Audit::once("older-bundles", Method::Enumeration, older_bundles)
            .about("a geometric bundle and its older copy together lose what was charged"),
    ]
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
    let (mut account, mut entropy) = (account(), Seeded::new(11));
    let truth = Exact::new(100, L1::new(1.0)?);
    let mut older = path.clone();
    let first = raise(&mut account, "1")?;
    path.refine(&truth, first, &mut entropy).map_err(|mismatch| mismatch.to_string())?;
    let next = raise(&mut account, "1.001")?;
    let again = older.refine(&truth, next, &mut entropy).is_ok();
    let (what, found) =
        (format!("{name}, and an older copy of it"), if again { 2.001 } else { 1.0 });
    Ok(Finding::new(what, "epsilon", found).within(1.0..=1.001))
}

fn older_copies() -> Result<Vec<Finding>, Box<dyn Error>> {
    let (id, one) = (PathId::new([3; 32]), L1::new(1.0)?);
    Ok(vec![
        drawn("a geometric path", GeometricPath::open(id, one))?,
        drawn("a Laplace path", LaplacePath::open(id, one))?,
        drawn("an MSDLap path", MsdlapPath::open(id, one)?)?,
    ])
}

/// A bundle to 1, then to 3, and what an older copy draws for the receipt to 4; none where it
/// refuses, and then the bundle itself takes it.
fn copied(truth: i64, oracle: &mut Oracle) -> Option<(i64, i64, Option<i64>, i64)> {
    let one = L1::new(1.0).ok()?;
    let columns = vec![Column { sensitivity: one, share: 1 }];
    let mut account = account();
    let mut prices = GroupPrices::new(1, NonZeroU32::MIN, Metric::Hamming(Adjacency::AddRemove));
    let mut bundle = Bundle::<Epsilon>::open(PathId::new([3; 32]), columns, 1).ok()?;
    let exact = Exact::new(Columns(vec![vec![truth]]), vec![one]);
    let last = |bundle: &Bundle<Epsilon>| Some(bundle.nearest(0, 0, Amount::MAX)?.1.get());
    let id = bundle.id();
    let mut pay =
        |to: &str| paid_groups(&mut account, &mut prices, id, [(0, to.parse().ok()?)]).ok();
    bundle.refine(&exact, pay("1")?, oracle).ok()?;
    let (first, mut older) = (last(&bundle)?, bundle.clone());
    bundle.refine(&exact, pay("3")?, oracle).ok()?;
    let second = last(&bundle)?;
    let (copy, third) = match older.refine(&exact, pay("4")?, oracle) {
        Ok(()) => (last(&older), second),
        Err(mismatch) => {
            bundle.refine(&exact, *mismatch.receipt, oracle).ok()?;
            (None, last(&bundle)?)
        }
    };
    Some((first, second, copy, third))
}

fn older_bundles() -> Result<Vec<Finding>, Box<dyn Error>> {
    let side = |truth| enumerate(End::First, 1e-7, |oracle| copied(truth, oracle));
    let laws = [side(0), side(1)];
    Ok(vec![crate::audit::loss_finding("to 1, 3 and 4, truths 0 and 1", 4.0, laws)])
}
