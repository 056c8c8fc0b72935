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
        const FAMILIES: &[(&str, &[&str])] = &[
            (
                "choices",
                &[
                    "select/sampler.rs",
                    "select/choose.rs",
                    "eke-select/src/exponential.rs",
                    "noisy_max.rs",
                    "select/ranking.rs",
                    "sampler/exponential.rs",
                ],
            ),
            (
                "lines",
                &[
                    "select/threshold.rs",
                    "eke-select/src/line.rs",
                    "quadrature.rs",
                    "sparse_vector.rs",
                ],
            ),
            (
                "gaussian",
                &[
                    "stopping/boundary.rs",
                    "path/bundle.rs",
                    "law/gaussian_step.rs",
                    "path/gaussian.rs",
                    "group.rs",
                    "stopping/sequence.rs",
                ],
            ),
            (
                "geometric",
                &[
                    "path/bundle_law.rs",
                    "law/geometric_level.rs",
                    "path/geometric.rs",
                    "law/msdlap.rs",
                    "path/msdlap.rs",
                ],
            ),
            (
                "laplace",
                &[
                    "law/laplace_level.rs",
                    "path/laplace.rs",
                    "number/real.rs",
                    "law/rounded_laplace.rs",
                ],
            ),
            (
                "skellam",
                &["sampler/ladder.rs", "law/skellam.rs", "law/skellam_level.rs", "path/skellam.rs"],
            ),
            ("planar", &["law/planar.rs", "release/point.rs"]),
            ("elimination", &["release/rows.rs", "account/sheet.rs"]),
            ("tuples", &["person/tuple.rs"]),
            (
                "categories",
                &[
                    "local/bits.rs",
                    "local/category_path.rs",
                    "local/chain.rs",
                    "device/mod.rs",
                    "estimate/mod.rs",
                    "local/hash.rs",
                    "eke-local/src/plan/mod.rs",
                    "local/sets.rs",
                    "local/share.rs",
                    "worth/subset.rs",
                    "local/subset.rs",
                    "plan/subset_templates.rs",
                    "estimate/tally.rs",
                ],
            ),
            ("shapes", &["shape/edges.rs", "shape/offset.rs", "shape/outline.rs", "shape/mod.rs"]),
        ];
        let is_in = |files: &[&str]| files.iter().any(|end| self.file.ends_with(end));
        let found = FAMILIES.iter().find(|(_, files)| is_in(files));
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
