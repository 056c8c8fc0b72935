//! Mutants: plausible mistakes, made on purpose in a copy of the source, each of which an audit
//! must catch. What an audit cannot catch it does not audit.

mod list;
pub mod reach;
mod workshop;

use list::MUTANTS;
pub use workshop::{Tried, Workshop};

/// A mistake.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// What it is called.
    pub name: &'static str,
    /// The mistake, in words.
    pub about: &'static str,
    /// The audit that must catch it.
    pub audit: &'static str,
    file: &'static str,
    find: &'static str,
    replace: &'static str,
}

/// Every mutant there is.
#[must_use]
pub fn all() -> &'static [Mutant] {
    MUTANTS
}

/// Mutants that may be made in one copy: mistakes in mechanisms that have nothing to do with each
/// other, each caught by an audit of its own mechanism. A mistake in what everything is drawn or
/// paid with is made alone.
#[must_use]
pub fn batches(mutants: &[&'static Mutant]) -> Vec<Vec<&'static Mutant>> {
    let mut batches: Vec<Vec<&Mutant>> = Vec::new();
    let mut alone = Vec::new();
    for &mutant in mutants {
        let Some(family) = mutant.family() else {
            alone.push(vec![mutant]);
            continue;
        };
        let free = |batch: &&mut Vec<&Mutant>| {
            batch.iter().all(|other| other.family() != Some(family) && other.file != mutant.file)
        };
        match batches.iter_mut().find(free) {
            Some(batch) => batch.push(mutant),
            None => batches.push(vec![mutant]),
        }
    }
    batches.extend(alone);
    batches
}

impl Mutant {
    /// The mechanisms that what it changes is part of; none where others stand on it too.
    fn family(&self) -> Option<&'static str> {
        /// Families, and how the files of each end.
        const FAMILIES: [(&str, &str); 40] = [
            ("choices", "select/sampler.rs"),
            ("choices", "select/choose.rs"),
            ("choices", "eke-select/src/exponential.rs"),
            ("choices", "noisy_max.rs"),
            ("choices", "select/ranking.rs"),
            ("choices", "sampler/exponential.rs"),
            ("lines", "select/threshold.rs"),
            ("lines", "eke-select/src/line.rs"),
            ("lines", "quadrature.rs"),
            ("lines", "sparse_vector.rs"),
            ("gaussian", "stopping/boundary.rs"),
            ("gaussian", "path/bundle.rs"),
            ("gaussian", "law/gaussian_step.rs"),
            ("gaussian", "path/gaussian.rs"),
            ("gaussian", "group.rs"),
            ("gaussian", "stopping/sequence.rs"),
            ("geometric", "path/bundle_law.rs"),
            ("geometric", "law/geometric_level.rs"),
            ("geometric", "path/geometric.rs"),
            ("geometric", "law/msdlap.rs"),
            ("geometric", "path/msdlap.rs"),
            ("laplace", "law/laplace_level.rs"),
            ("laplace", "law/rounded_laplace.rs"),
            ("skellam", "law/skellam_level.rs"),
            ("skellam", "path/skellam.rs"),
            ("planar", "law/planar.rs"),
            ("planar", "release/point.rs"),
            ("elimination", "release/rows.rs"),
            ("elimination", "account/sheet.rs"),
            ("tuples", "person/tuple.rs"),
            ("categories", "local/category_path.rs"),
            ("categories", "local/chain.rs"),
            ("categories", "local/hash.rs"),
            ("categories", "eke-local/src/plan/mod.rs"),
            ("categories", "local/sets.rs"),
            ("categories", "local/share.rs"),
            ("categories", "worth/subset.rs"),
            ("categories", "local/subset.rs"),
            ("shapes", "shape/edges.rs"),
            ("shapes", "shape/mod.rs"),
        ];
        let found = FAMILIES.iter().find(|(_, end)| self.file.ends_with(end));
        found.map(|(family, _)| *family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_is_in_one_batch_and_shares_it_with_strangers_only() {
        let all: Vec<&Mutant> = MUTANTS.iter().collect();
        let batches = batches(&all);
        let mut names: Vec<_> = batches.iter().flatten().map(|mutant| mutant.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len(), "names are unique, and every mutant is in a batch");
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), all.len());
        for batch in batches.iter().filter(|batch| batch.len() > 1) {
            let mut families: Vec<_> = batch.iter().map(|mutant| mutant.family()).collect();
            assert!(families.iter().all(Option::is_some), "{batch:?}");
            families.sort_unstable();
            families.dedup();
            assert_eq!(families.len(), batch.len(), "{batch:?}");
        }
        // What everything is drawn with is not shared.
        let coin = all.iter().find(|mutant| mutant.file.ends_with("/coin.rs")).unwrap();
        assert_eq!(coin.family(), None);
    }
}
