//! What picks of a ranking tell, computed exactly: the divergences that zCDP bounds.

use std::error::Error;

use eke_budget::{L1, NoHistory, PathId, Rho};
use eke_noise::evidence::Scores;
use eke_noise::select::Moves;
use eke_noise::{Exact, Ranking};
use eke_testkit::oracle::{End, Enumerated, Oracle, enumerate};

use crate::account;
use crate::audit::{Audit, Finding, Method};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![
        Audit::once("ranking-loss", Method::Enumeration, ranking_loss)
            .about("picks of a ranking cost their rho, no more and hardly less"),
    ]
}

/// The price of a pick: rate 1/2 at a spread of one.
const EACH: &str = "0.03125";

fn ranking_loss() -> Result<Vec<Finding>, Box<dyn Error>> {
    let each = EACH.parse::<eke_budget::Amount<Rho>>()?;
    let mut findings = Vec::new();
    for (what, moves, picks, sides, least) in [
        ("one of two, one score up", Moves::OneWay, 1, [&[5, 5][..], &[5, 6]], 0.95),
        ("one of two, one up and one down", Moves::EitherWay, 1, [&[5, 5], &[4, 6]], 0.95),
        ("two of three, two scores up", Moves::OneWay, 2, [&[5, 5, 5], &[5, 6, 6]], 0.7),
        ("two of three, one far behind", Moves::OneWay, 2, [&[0, 6, 6], &[1, 6, 6]], 0.05),
    ] {
        let laws = sides.map(|scores: &[i64]| {
            enumerate(End::First, 1e-9, |oracle| picked(scores, moves, picks, oracle))
        });
        let rho = each.times(picks).ok_or("a price beyond all bounds")?.to_f64();
        let [one, two] = &laws;
        let found = divergence_by_order(&[1.1, 2.0, 4.0, 8.0, 32.0], one, two) / rho;
        // But for what was left out.
        findings.push(Finding::new(what, "of the price", found).within(least..=1.0 + 1e-6));
    }
    Ok(findings)
}

fn picked(scores: &[i64], moves: Moves, picks: u32, oracle: &mut Oracle) -> Option<Vec<u32>> {
    let (mut account, sensitivity, each) = (account(), L1::new(1.0).ok()?, EACH.parse().ok()?);
    let candidates = u32::try_from(scores.len()).ok()?;
    let id = PathId::new([1; 32]);
    let mut ranking = Ranking::<Rho>::open(id, candidates, &sensitivity, moves, each).ok()?;
    let approved = account.raise(id, each.times(picks)?, ranking.spread()).ok()?;
    let receipt = account.commit(approved, &mut NoHistory).ok()?;
    let scores = Exact::new(Scores(scores.to_vec()), sensitivity);
    ranking.pick(&scores, receipt, oracle).ok().map(eke_noise::Released::get)
}

/// The largest Rényi divergence between two laws, either way round, over its order.
pub(in crate::audit) fn divergence_by_order<K: Ord>(
    orders: &[f64],
    one: &Enumerated<K>,
    two: &Enumerated<K>,
) -> f64 {
    let both = |&order: &f64| divergence(order, one, two).max(divergence(order, two, one)) / order;
    orders.iter().map(both).fold(0.0, f64::max)
}

/// The Rényi divergence of an order between two laws.
fn divergence<K: Ord>(order: f64, one: &Enumerated<K>, two: &Enumerated<K>) -> f64 {
    let term = |(outcome, p): (&K, &f64)| {
        let q = two.outcomes.get(outcome).copied().unwrap_or(0.0);
        p.powf(order) * q.powf(1.0 - order)
    };
    one.outcomes.iter().map(term).sum::<f64>().ln() / (order - 1.0)
}
