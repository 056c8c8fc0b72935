//! Older copies of paths: a step is paid for from where the path stands, so nothing but the path as it stands takes it.

use std::fmt::Debug;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Epsilon, L1, L2, Metric, NoHistory, PathId, Price,
    Raise, Receipt,
};
use eke_noise::{
    Categories, Category, CategoryPath, Chain, ChainPrice, Exact, GeometricPath, LaplacePath,
    MismatchReason, MsdlapPath, NoisePath, ReportLaw, SkellamPath, Template,
};

use crate::Seeded;

fn id() -> PathId {
    PathId::new([9; 32])
}

/// An account with both purses.
fn account(metric: Metric) -> Account {
    let budget = BudgetSpec::promising(Epsilon::new(2e4).unwrap())
        .with_delta("1e-6".parse().unwrap())
        .with_pure(Epsilon::new(1e4).unwrap())
        .resolve(metric)
        .unwrap();
    Account::open("riders", budget, &mut NoHistory).unwrap()
}

fn raise<C: Price + Debug>(
    account: &mut Account,
    to: Amount<C>,
    sensitivity: C::Sensitivity,
) -> Receipt<Raise<C>> {
    let approved = account.raise(id(), to, sensitivity).unwrap();
    account.commit(approved, &mut NoHistory).unwrap()
}

/// A path that has come to one point, an older copy of it, and the receipt for a little more.
fn stale<P>(mut path: P, sensitivity: <P::Currency as Price>::Sensitivity)
where
    P: NoisePath<Value = i64> + Clone + Debug + PartialEq,
    P::Currency: Debug,
{
    let (mut account, e) = (account(Metric::Hamming(Adjacency::AddRemove)), &mut Seeded::new(401));
    let truth = Exact::new(1000, L1::new(2.0).unwrap());
    let older = path.clone();
    let first = raise(&mut account, "0.5".parse().unwrap(), sensitivity);
    path.refine(&truth, first, e).unwrap();
    let next = raise(&mut account, "0.501".parse().unwrap(), sensitivity);
    let mut copy = older.clone();
    let mismatch = copy.refine(&truth, next, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Gap, "{path:?}");
    assert_eq!(copy, older);
}

#[test]
fn an_older_copy_of_a_path_takes_no_later_step() {
    let (one, two) = (L1::new(2.0).unwrap(), L2::new(2.0).unwrap());
    stale(GeometricPath::open(id(), one), one);
    stale(LaplacePath::open(id(), one), one);
    stale(MsdlapPath::open(id(), one).unwrap(), one);
    stale(SkellamPath::open(id(), two).unwrap(), two);
}

#[test]
fn an_older_copy_of_a_chain_shows_no_later_report() {
    let laws = ["2", "1"]
        .map(|epsilon| ReportLaw::Subset(Template::new(1, Amount::parse_up(epsilon).unwrap())));
    let chain = Chain::new(4, &laws).unwrap();
    let truth = Category::exact(2, Categories::new(4).unwrap()).unwrap();
    let (mut account, e) = (account(Metric::Discrete), &mut Seeded::new(402));
    let price = |report| <Epsilon as ChainPrice>::price(&chain, report).unwrap();
    let one = L1::new(1.0).unwrap();
    let mut path = CategoryPath::open(id(), chain.clone());
    let coarse = raise(&mut account, price(1), one);
    path.refine(1, Some(&truth), coarse, e).unwrap();
    let fine = raise(&mut account, price(0), one);
    let mut older = CategoryPath::open(id(), chain.clone());
    let mismatch = older.refine(0, Some(&truth), fine, e).unwrap_err();
    assert_eq!(mismatch.reason, MismatchReason::Gap);
    assert!(!older.is_drawn());
    // Where it belongs the receipt is taken.
    assert!(path.refine(0, None, *mismatch.receipt, e).is_ok());
}
