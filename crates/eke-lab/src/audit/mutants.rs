//! Mutants: plausible mistakes, made on purpose in a copy of the source, each of which an audit
//! must catch. What an audit cannot catch it does not audit.

pub mod reach;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

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

/// What became of a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// The mutant.
    pub mutant: &'static str,
    /// The audit that was to catch it.
    pub audit: &'static str,
    /// Whether it did.
    pub caught: bool,
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

/// Where mutants are made and built: beside everything else that is built, in folders of their own.
pub struct Workshop {
    root: PathBuf,
    copy: PathBuf,
    build: PathBuf,
}

impl Workshop {
    /// A workshop for the source that this program was built from, with a fresh copy of it. Those
    /// of other numbers are apart from it.
    ///
    /// # Errors
    /// The source is not there any more, or could not be copied.
    pub fn new(number: usize) -> io::Result<Self> {
        let root = root()?;
        let folder = root.join("target").join("mutants");
        let folder = folder.join(number.to_string());
        let (copy, build) = (folder.join("source"), folder.join("build"));
        fs::create_dir_all(&copy)?;
        for entry in ["Cargo.toml", "Cargo.lock", "crates"] {
            copy_changed(&root.join(entry), &copy.join(entry))?;
        }
        Ok(Self { root, copy, build })
    }

    /// Makes mutants in one copy, builds it, and runs the audit of each.
    ///
    /// # Errors
    /// The source is not as a mutant expects it, does not build, or an audit could not be run.
    pub fn try_mutants(&self, mutants: &[&Mutant]) -> io::Result<Vec<Tried>> {
        let mut originals = Vec::new();
        for mutant in mutants {
            let original = fs::read_to_string(self.root.join(mutant.file))?;
            if original.matches(mutant.find).count() != 1 {
                let sentence = format!(
                    "mutant `{}` does not fit {}: what it changes must stand there once",
                    mutant.name, mutant.file
                );
                return Err(io::Error::other(sentence));
            }
            fs::write(
                self.copy.join(mutant.file),
                original.replacen(mutant.find, mutant.replace, 1),
            )?;
            originals.push((mutant.file, original));
        }
        let outcomes = self.build().and_then(|()| {
            mutants
                .iter()
                .map(|mutant| {
                    let caught = self.is_caught(mutant.audit)?;
                    Ok(Tried { mutant: mutant.name, audit: mutant.audit, caught })
                })
                .collect()
        });
        for (file, original) in originals {
            fs::write(self.copy.join(file), original)?;
        }
        outcomes
    }

    /// Builds the copy.
    ///
    /// # Errors
    /// It does not build.
    pub fn build(&self) -> io::Result<()> {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "-j2", "-p", "eke-lab"])
            .arg("--no-default-features")
            .current_dir(&self.copy)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("RUSTFLAGS", "-Awarnings")
            .status()?;
        if built.success() { Ok(()) } else { Err(io::Error::other("the mutant does not build")) }
    }

    /// Whether the audit of the copy that was built fails; with no mistake in it, it must not.
    ///
    /// # Errors
    /// The audit could not be run.
    pub fn is_caught(&self, audit: &str) -> io::Result<bool> {
        let audited = Command::new(self.build.join("debug").join("eke-lab"))
            .args(["audit", audit, "--json"])
            .output()?;
        match audited.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(io::Error::other(String::from_utf8_lossy(&audited.stderr).into_owned())),
        }
    }
}

/// The folder of the source that this program was built from.
fn root() -> io::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()
}

/// Copies a file or folder, leaving alone what is the same, so that it is not built again.
fn copy_changed(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy_changed(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    let text = fs::read(from)?;
    if fs::read(to).ok().as_ref() != Some(&text) {
        fs::write(to, text)?;
    }
    Ok(())
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "pick-rate",
        about: "picks of a ranking are drawn at twice the rate that was paid for",
        audit: "ranking-loss",
        file: "crates/eke-noise/src/select/ranking.rs",
        find: "        let paid = Ratio::new(each.grains(), Amount::<Self>::ONE.grains())?.times(&8u8.into());",
        replace: "        let paid = Ratio::new(each.grains(), Amount::<Self>::ONE.grains())?.times(&32u8.into());",
    },
    Mutant {
        name: "pick-spread",
        about: "scores that move either way are picked from as if they moved one way",
        audit: "ranking-loss",
        file: "crates/eke-noise/src/select/ranking.rs",
        find: "            Self::EitherWay => 2,\n",
        replace: "            Self::EitherWay => 1,\n",
    },
    Mutant {
        name: "residual-weight",
        about: "the weight of a geometric residual is 1 % too large",
        audit: "geometric-orders",
        file: "crates/eke-noise/src/law/geometric_level.rs",
        find: "        power(&self.difference) * part * part\n",
        replace: "        1.01 * power(&self.difference) * part * part\n",
    },
    Mutant {
        name: "finer-parts",
        about: "the finer noise is too often the coarser one's",
        audit: "geometric-orders",
        file: "crates/eke-noise/src/law/geometric_level.rs",
        find: "            to_n * power(&self.difference) * one_less(",
        replace: "            to_n * one_less(",
    },
    Mutant {
        name: "equal-neighbours",
        about: "equal neighbours are taken for different ones",
        audit: "geometric-orders",
        file: "crates/eke-noise/src/law/geometric_level.rs",
        find: "        let equal = difference == 0;\n",
        replace: "        let equal = difference == i64::MIN;\n",
    },
    Mutant {
        name: "independent-finer",
        about: "a finer point of a geometric path is drawn without looking at the coarser one",
        audit: "geometric-path-loss",
        file: "crates/eke-noise/src/path/geometric.rs",
        find: "level.around(clamped(truth.coordinate(coordinate)), coarser, entropy)",
        replace: "level.around(clamped(truth.coordinate(coordinate)), coarser.filter(|_| false), entropy)",
    },
    Mutant {
        name: "increments-reused",
        about: "an increment of a Gaussian path is the one before it again",
        audit: "gaussian-path-law",
        file: "crates/eke-noise/src/path/gaussian.rs",
        find: "        _: Option<&GaussianPoint<T>>,\n        (truth, count): (&T, usize),\n        entropy: &mut E,\n    ) -> Result<GaussianPoint<T>, MismatchReason> {\n",
        replace: "        last: Option<&GaussianPoint<T>>,\n        (truth, count): (&T, usize),\n        entropy: &mut E,\n    ) -> Result<GaussianPoint<T>, MismatchReason> {\n        if let Some(last) = last { return Ok(GaussianPoint { from, version: last.version.clone() }); }\n",
    },
    Mutant {
        name: "seed-shared",
        about: "two paths share their noise",
        audit: "two-paths",
        file: "crates/eke-noise/src/path/gaussian.rs",
        find: "            let noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?;\n",
        replace: "            thread_local! { static LAST: std::cell::Cell<Option<i64>> = const { std::cell::Cell::new(None) }; }\n            let noise = match LAST.take() { Some(last) => last, None => { let noise = DiscreteGaussian::once(&variance, entropy).map_err(too_wide)?; LAST.set(Some(noise)); noise } };\n",
    },
    Mutant {
        name: "half-noise",
        about: "Gaussian noise has half its variance",
        audit: "gaussian-path",
        file: "crates/eke-noise/src/law/gaussian_step.rs",
        find: "        Some(sensitivity.squared().over(&twice))\n",
        replace: "        Some(sensitivity.squared().over(&twice.times(&2u8.into())))\n",
    },
    Mutant {
        name: "independent-residuals",
        about: "a point between two others is drawn from the finer one alone",
        audit: "gaussian-tiers",
        file: "crates/eke-noise/src/law/gaussian_step.rs",
        find: "        let Some(coarser) = coarser else { return Ok(Version::Residual { at, residual }) };\n",
        replace: "        let Some(coarser) = coarser.filter(|_| false) else { return Ok(Version::Residual { at, residual }) };\n",
    },
    Mutant {
        name: "bridge-reversed",
        about: "a point between two others is drawn at the wrong part of the way",
        audit: "gaussian-tiers",
        file: "crates/eke-noise/src/law/gaussian_step.rs",
        find: "        let part = residual.over(&residual.plus(&beyond));\n        let variance = part.by(&beyond);\n",
        replace: "        let part = beyond.over(&residual.plus(&beyond));\n        let variance = part.by(&residual);\n",
    },
    Mutant {
        name: "no-residual",
        about: "a coarser point is the finer one",
        audit: "gaussian-tiers",
        file: "crates/eke-noise/src/law/gaussian_step.rs",
        find: "            Self::Residual { residual, .. } => DiscreteGaussian::once(residual, entropy),\n",
        replace: "            Self::Residual { .. } => Ok(0),\n",
    },
    Mutant {
        name: "weights-dropped",
        about: "increments are averaged as if they were equally precise",
        audit: "gaussian-path-law",
        file: "crates/eke-noise/src/path/gaussian.rs",
        find: "                (to.grains() - increment.from.grains(), release)\n",
        replace: "                let _ = to;\n                (weight, release)\n",
    },
    Mutant {
        name: "undercharged-raise",
        about: "a step of a path is charged half its price",
        audit: "gaussian-path",
        file: "crates/eke-budget/src/account/mod.rs",
        find: "        let price = C::charge(raise.price(), Amount::ZERO);\n",
        replace: "        let price = C::charge(Amount::from_grains(raise.price().grains() / 2), Amount::ZERO);\n",
    },
    Mutant {
        name: "one-group",
        about: "groups are charged as if a unit touched one",
        audit: "bundle",
        file: "crates/eke-budget/src/purchase/group.rs",
        find: "        let dearest = most.get().min(groups);\n",
        replace: "        let dearest = most.get().min(groups).min(1);\n",
    },
    Mutant {
        name: "whole-share",
        about: "every column of a bundle gets the group's whole price",
        audit: "bundle",
        file: "crates/eke-noise/src/path/bundle.rs",
        find: "        Amount::from_grains(price / shares * share + price % shares * share / shares)\n",
        replace: "        let _ = (share, shares);\n        Amount::from_grains(price)\n",
    },
    Mutant {
        name: "no-noise-again",
        about: "the second round of a bundle adds no noise",
        audit: "bundle",
        file: "crates/eke-noise/src/path/bundle.rs",
        find: "                let value = C::draw(law, truth(column, group), coarse, entropy);\n",
        replace: "                let value = if coarse.is_some() { truth(column, group) } else { C::draw(law, truth(column, group), coarse, entropy) };\n",
    },
    Mutant {
        name: "bundle-independent",
        about: "points between two others of a bundle are drawn from the finer one alone",
        audit: "bundle-tiers",
        file: "crates/eke-noise/src/path/bundle.rs",
        find: "                    inside: inside.then(|| part(stored.price(coarser))),\n",
        replace: "                    inside: None,\n",
    },
    Mutant {
        name: "bundle-weights",
        about: "a version of a bundle's increment is weighed from the next point, not from its start",
        audit: "bundle-tiers",
        file: "crates/eke-noise/src/path/bundle.rs",
        find: "        part(self.stored.price(node)) - part(self.stored.start(node))\n",
        replace: "        part(self.stored.price(node)) - part(self.stored.price(self.stored.next(node)))\n",
    },
    Mutant {
        name: "two-zeros",
        about: "zero has both signs",
        audit: "laplace-law",
        file: "crates/eke-noise/src/law/laplace.rs",
        find: "            if magnitude != 0 || !negative {\n",
        replace: "            if magnitude != u128::MAX {\n",
    },
    Mutant {
        name: "flat-bins",
        about: "places in a bin are equally likely",
        audit: "laplace-law",
        file: "crates/eke-noise/src/sampler/binned.rs",
        find: "            _ if excess == 0 => true,\n",
        replace: "            _ if excess < 9 => true,\n",
    },
    Mutant {
        name: "biased-coin",
        about: "a coin of probability exp(-x) is 1 % off in x",
        audit: "laplace-law",
        file: "crates/eke-noise/src/sampler/coin.rs",
        find: "        let power = libm::exp(-self.about);\n",
        replace: "        let power = libm::exp(-1.01 * self.about);\n",
    },
    Mutant {
        name: "one-sided-table",
        about: "a table forgets that numbers have two signs",
        audit: "laplace-law",
        file: "crates/eke-noise/src/sampler/binned.rs",
        find: "Self::with(shape, rate, shift, shift == 0)",
        replace: "Self::with(shape, rate, shift, false)",
    },
    Mutant {
        name: "loose-proposals",
        about: "a Gaussian keeps too many of its proposals",
        audit: "gaussian-law",
        file: "crates/eke-noise/src/law/gaussian.rs",
        find: "        let about = apart * apart * 0.5 / variance + extra;\n",
        replace: "        let about = apart * apart * 0.4 / variance + extra;\n",
    },
    Mutant {
        name: "unpermuted",
        about: "permute and flip looks at candidates in their own order",
        audit: "choice-law",
        file: "crates/eke-noise/src/sampler/exponential.rs",
        find: "            let next = place + below(order.len() - place, entropy);\n",
        replace: "            let next = place;\n",
    },
    Mutant {
        name: "monotone-rate",
        about: "a choice between general scores is priced like one between monotone ones",
        audit: "choice-loss",
        file: "crates/eke-select/src/exponential.rs",
        find: "        Change::General => 2.0 * sensitivity.get(),\n",
        replace: "        Change::General => sensitivity.get(),\n",
    },
    Mutant {
        name: "subset-overlap",
        about: "a subset forgets what it has moved",
        audit: "choice-law",
        file: "crates/eke-noise/src/select/sampler.rs",
        find: "            moved.insert(other, here);\n",
        replace: "            let _ = here;\n",
    },
    Mutant {
        name: "normal-kept",
        about: "normal numbers keep every fraction",
        audit: "normal-law",
        file: "crates/eke-noise/src/law/lazy.rs",
        find: "            if number.keeps(shape, entropy) {\n",
        replace: "            if number.keeps(shape, entropy) || number.whole == 0 {\n",
    },
    Mutant {
        name: "narrow-comparison",
        about: "a comparison's noise is for rho, not for twice rho",
        audit: "comparison",
        file: "crates/eke-noise/src/select/compare.rs",
        find: "    let variance = Ratio::from_f64(sensitivity.get())?.squared().over(&twice);\n    let about",
        replace: "    let variance = Ratio::from_f64(sensitivity.get())?.squared().over(&twice.times(&2u8.into()));\n    let about",
    },
    Mutant {
        name: "early-boundary",
        about: "a relative goal stops at a boundary a tenth too low",
        audit: "coverage",
        file: "crates/eke-noise/src/stopping/boundary.rs",
        find: "        let k = kappa * quantile / tolerance;\n",
        replace: "        let k = 0.9 * kappa * quantile / tolerance;\n",
    },
    Mutant {
        name: "one-look-interval",
        about: "the confidence sequence forgets that there are many looks",
        audit: "sequence",
        file: "crates/eke-noise/src/stopping/sequence.rs",
        find: "        let log = libm::log(total / self.gamma) + self.log;\n",
        replace: "        let log = self.log;\n",
    },
    Mutant {
        name: "half-line-noise",
        about: "the line has half its noise",
        audit: "above-threshold",
        file: "crates/eke-select/src/line.rs",
        find: "        let noise = (law(scale(line)?), law(scale(query)?));\n",
        replace: "        let noise = (law(scale(line / 2.0)?), law(scale(query)?));\n",
    },
    Mutant {
        name: "half-query-noise",
        about: "the answers held against a line have half their noise",
        audit: "above-threshold",
        file: "crates/eke-select/src/line.rs",
        find: "        let noise = (law(scale(line)?), law(scale(query)?));\n",
        replace: "        let noise = (law(scale(line)?), law(scale(query / 2.0)?));\n",
    },
    Mutant {
        name: "answers-unclamped",
        about: "answers held against a line are not clamped to their range",
        audit: "above-threshold",
        file: "crates/eke-noise/src/select/threshold.rs",
        find: "(*truth.open()).max(low).min(high)",
        replace: "{ let _ = (low, high); *truth.open() }",
    },
    Mutant {
        name: "misses-free",
        about: "steps without a hit cost nothing",
        audit: "above-threshold",
        file: "crates/eke-noise/src/select/threshold.rs",
        find: "            steps => self.law.stopped(steps),\n",
        replace: "            _ => Amount::ZERO,\n",
    },
    Mutant {
        name: "line-reused",
        about: "the noise of the first line is that of the lines after it",
        audit: "sparse-vector",
        file: "crates/eke-select/src/sparse_vector.rs",
        find: "            None => self.run = Some(NoisyLine::draw(self.law.clone(), round, entropy)),\n",
        replace: "            None => {\n                thread_local! { static SEED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) }; }\n                struct Same(u64);\n                impl Entropy for Same { fn word(&mut self) -> u64 { self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407); let w = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9); w ^ (w >> 32) } }\n                if self.hits == 0 { SEED.set(entropy.word()); }\n                self.run = Some(NoisyLine::draw(self.law.clone(), round, &mut Same(SEED.get())));\n            }\n",
    },
    Mutant {
        name: "log-dropped",
        about: "the price of selection is a ratio, and not its logarithm",
        audit: "line-loss",
        file: "crates/eke-select/src/quadrature.rs",
        find: "        let high = libm::log1p((self.growth + growth_error) / weights);\n",
        replace: "        let high = 1.0 + (self.growth + growth_error) / weights;\n",
    },
    Mutant {
        name: "one-way-maximum",
        about: "a noisy maximum of general scores is priced like one of monotone scores",
        audit: "noisy-max-loss",
        file: "crates/eke-select/src/noisy_max.rs",
        find: "            Change::General => 2.0 * moved,\n",
        replace: "            Change::General => moved,\n",
    },
    Mutant {
        name: "scores-unclamped",
        about: "scores of a noisy maximum are not clamped to their range",
        audit: "noisy-max",
        file: "crates/eke-noise/src/select/choose.rs",
        find: "                *score = (*score).max(low).min(high);\n",
        replace: "                let _ = (low, high, score);\n",
    },
    Mutant {
        name: "deltas-not-added",
        about: "every round may have the whole delta",
        audit: "filter-deltas",
        file: "crates/eke-budget/src/account/purse.rs",
        find: "            self.reserved = add(self.reserved, worst);\n            self.delta_spent = add(self.delta_spent, delta);\n",
        replace: "            self.reserved = add(self.reserved, worst);\n",
    },
    Mutant {
        name: "atom-recomputed",
        about: "a level of Laplace noise that has the point of another computes it anew, in doubles",
        audit: "laplace-path-law",
        file: "crates/eke-noise/src/law/laplace_level.rs",
        find: "        if happens(&pair.same(), entropy) {\n            return Ok(point);\n",
        replace: "        if happens(&pair.same(), entropy) {\n            let (whole, head, key, more) = point.into();\n            #[expect(clippy::cast_possible_truncation)]\n            return Ok((whole as f64 as i64, head, key, more).into());\n",
    },
    Mutant {
        name: "laplace-weight",
        about: "the residual of Laplace noise is nothing with b/a, and not its square",
        audit: "laplace-path-law",
        file: "crates/eke-noise/src/law/laplace_level.rs",
        find: "        self.coarse.over(&self.fine).squared()\n",
        replace: "        self.coarse.over(&self.fine)\n",
    },
    Mutant {
        name: "halves-cut-off",
        about: "rounded Laplace noise is cut off towards zero",
        audit: "rounded-laplace",
        file: "crates/eke-noise/src/law/rounded_laplace.rs",
        find: "signed(halves.div_ceil(2), negative)",
        replace: "signed(halves / 2, negative)",
    },
    Mutant {
        name: "skellam-printed",
        about: "Skellam noise has the scale that is in print as a pure price",
        audit: "skellam-loss",
        file: "crates/eke-budget/src/convert/skellam.rs",
        find: "        if rho.is_zero() {\n            return Err(SkellamError::NoPrice);\n        }\n",
        replace: "        if !rho.is_zero() {\n            let printed = 2.0 * sensitivity.get() / libm::expm1((2.0 * rho.to_f64()).sqrt());\n            return Ok(Variance::new(printed)?);\n        }\n",
    },
    Mutant {
        name: "skellam-differences",
        about: "a Skellam path sells one point after another, for the differences of their prices",
        audit: "skellam-stopping",
        file: "crates/eke-noise/src/path/skellam.rs",
        find: "    const STEPS: StepRule = StepRule::Once;\n",
        replace: "    const STEPS: StepRule = StepRule::Next;\n",
    },
    Mutant {
        name: "skellam-residual",
        about: "the residual of Skellam noise is as wide as the coarser level",
        audit: "skellam-orders",
        file: "crates/eke-noise/src/law/skellam_level.rs",
        find: "        let residual = coarser.above(self)?;\n",
        replace: "        coarser.above(self)?;\n        let residual = coarser.clone();\n",
    },
    Mutant {
        name: "residual-unweighted",
        about: "every part of MSDLap noise is added once, and not as often as its shift says",
        audit: "msdlap-tiers",
        file: "crates/eke-noise/src/law/msdlap.rs",
        find: "sum.saturating_add(i128::from(shift) * i128::from(part))",
        replace: "sum.saturating_add(i128::from(part) + 0 * i128::from(shift))",
    },
    Mutant {
        name: "tier-in-between",
        about: "an MSDLap point in between is drawn from the finer one alone",
        audit: "msdlap-tiers",
        file: "crates/eke-noise/src/path/msdlap.rs",
        find: "                wanted.beside(fine, coarser, entropy)\n",
        replace: "                wanted.beside(fine, coarser.filter(|_| false), entropy)\n",
    },
    Mutant {
        name: "planar-all-kept",
        about: "every proposal of planar noise is kept",
        audit: "planar-law",
        file: "crates/eke-noise/src/law/planar.rs",
        find: "        is_zero || self.coin(point)",
        replace: "        is_zero || true || self.coin(point)",
    },
    Mutant {
        name: "point-sensitivity",
        about: "a point is released as if one unit moved it by one step",
        audit: "planar-point",
        file: "crates/eke-noise/src/release/point.rs",
        find: "epsilon.over(&steps))",
        replace: "{ let _ = steps; epsilon })",
    },
    Mutant {
        name: "printed-rescale",
        about: "a report is kept with the odds of being kept, or always where they are above one",
        audit: "subset-chain",
        file: "crates/eke-noise/src/local/share.rs",
        find: "        &self.to.fixed(bits) / &from.fixed(bits)\n",
        replace: "        let kept = &self.to.fixed(bits) / &from.fixed(bits);\n        let rest = kept.complement();\n        if rest.hi <= kept.lo { Fixed::one(bits) } else { &kept / &rest }\n",
    },
    Mutant {
        name: "free-growth",
        about: "categories added to a report keep its epsilon, and not its weight",
        audit: "subset-chain",
        file: "crates/eke-noise/src/local/subset.rs",
        find: "        Share { weight: self.weight, among: categories }\n",
        replace: "        let weight = match self.weight {\n            Weight::Of { epsilon, .. } => Weight::Of { epsilon, size: 1 },\n            whole => whole,\n        };\n        Share { weight, among: categories }\n",
    },
    Mutant {
        name: "template-too-fine",
        about: "a tier gets the report before the first that it may see",
        audit: "tier-steps",
        file: "crates/eke-local/src/plan/mod.rs",
        find: "list[first..].iter().filter(|law| law.epsilon() <= tiers[tier]);",
        replace: "list[first.saturating_sub(1)..].iter();",
    },
    Mutant {
        name: "one-uniform",
        about: "one uniform number decides whether all reports of a chain are kept",
        audit: "hash-chain",
        file: "crates/eke-noise/src/local/hash.rs",
        find: "            let value = if keep.flip(entropy) {\n",
        replace: "            thread_local! { static LOST: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }\n            LOST.set(!keep.flip(entropy) || (before.is_some() && LOST.get()));\n            let value = if !LOST.get() {\n",
    },
    Mutant {
        name: "left-over-numbers",
        about: "numbers that are left over when categories are drawn fall to some of them",
        audit: "subset-chain",
        file: "crates/eke-noise/src/local/sets.rs",
        find: "                if u64::from(product & 0xffff) >= self.left_over {\n",
        replace: "                if product & 0xffff < u32::MAX {\n",
    },
    Mutant {
        name: "undecided-kept",
        about: "a report is kept where the first bits of its coin do not decide",
        audit: "subset-chain",
        file: "crates/eke-noise/src/local/share.rs",
        find: "        if part < least {\n",
        replace: "        if part <= most {\n",
    },
    Mutant {
        name: "miss-of-nothing",
        about: "estimates take a category that is not the true one for one of a uniform report",
        audit: "report-counts",
        file: "crates/eke-local/src/worth/subset.rs",
        find: "    (k + weight * (k - 1.0) / (d - 1.0)) / (d + weight)\n",
        replace: "    (k + 0.0 * weight) / d\n",
    },
    Mutant {
        name: "chain-redrawn",
        about: "a finer report is drawn anew, and not of the chain that is kept",
        audit: "device",
        file: "crates/eke-noise/src/local/category_path.rs",
        find: "        if !self.is_drawn() {\n",
        replace: "        if truth.is_some() {\n",
    },
    Mutant {
        name: "chain-at-its-coarsest",
        about: "a report is charged what the last of its chain costs",
        audit: "device",
        file: "crates/eke-noise/src/local/chain.rs",
        find: "        epsilons[report - 1] = epsilons[report - 1].max(epsilons[report]);\n",
        replace: "        epsilons[report - 1] = epsilons[report - 1].min(epsilons[report]);\n",
    },
    Mutant {
        name: "account-refilled",
        about: "a device that starts again has its whole budget",
        audit: "device",
        file: "crates/eke-local/src/device/state.rs",
        find: "            Some(Totals { spent, ..Totals::ZERO })\n",
        replace: "            let _ = spent;\n            Some(Totals::ZERO)\n",
    },
    Mutant {
        name: "older-copy",
        about: "an older copy of a geometric path takes a later step, and draws another point",
        audit: "older-copies",
        file: "crates/eke-noise/src/path/geometric.rs",
        find: "    const STEPS: StepRule = StepRule::Next;\n",
        replace: "    const STEPS: StepRule = StepRule::WithGaps;\n",
    },
    Mutant {
        name: "older-bundle",
        about: "an older copy of a geometric bundle takes a later step, and draws another point",
        audit: "older-bundles",
        file: "crates/eke-noise/src/path/bundle_law.rs",
        find: "    const HAS_GAPS: bool = false;\n",
        replace: "    const HAS_GAPS: bool = true;\n",
    },
    Mutant {
        name: "refund-after-draw",
        about: "a round that was drawn gives back its whole reservation",
        audit: "account",
        file: "crates/eke-budget/src/account/purse.rs",
        find: "        self.spent = add(self.spent, realised);\n",
        replace: "",
    },
    Mutant {
        name: "record-missing",
        about: "a receipt is given before its charge is recorded",
        audit: "account",
        file: "crates/eke-budget/src/account/mod.rs",
        find: "if let Err(error) = journal.record(&entries) {",
        replace: "if let Err(error) = journal.record(&entries[..0]) {",
    },
    Mutant {
        name: "delta-undivided",
        about: "every key of a unit may be shown with the whole delta",
        audit: "keys",
        file: "crates/eke-noise/src/select/partition.rs",
        find: "self.delta.to_f64() / f64::from(self.most.get())",
        replace: "self.delta.to_f64()",
    },
    Mutant {
        name: "stretch-ignored",
        about: "distances on the plane are taken for those on the earth",
        audit: "projection",
        file: "crates/eke-geo/src/earth/lattice.rs",
        find: "            Space::Earth(region) => (region.stretch(), SLACK),\n",
        replace: "            Space::Earth(_) => (1.0, SLACK),\n",
    },
    Mutant {
        name: "cells-ignored",
        about: "being put on a lattice moves nobody",
        audit: "projection",
        file: "crates/eke-geo/src/earth/lattice.rs",
        find: "        let each = slack / step + root(self.dimensions);\n",
        replace: "        let each = slack / step;\n",
    },
    Mutant {
        name: "tuple-as-one-point",
        about: "all points of a tuple move, and one is charged",
        audit: "places-identity",
        file: "crates/eke-geo/src/person/tuple.rs",
        find: "            TupleMetric::Farthest => number(self.points).sqrt(),\n",
        replace: "            TupleMetric::Farthest => 1.0,\n",
    },
    Mutant {
        name: "tuple-on-a-coarse-lattice",
        about: "many points that each move by a hair cross an edge for nothing",
        audit: "places-identity",
        file: "crates/eke-geo/src/person/tuple.rs",
        find: "            TupleMetric::Sum => number(points),\n",
        replace: "            TupleMetric::Sum => 1.0,\n",
    },
    Mutant {
        name: "distance-stretched",
        about: "distances from outside a shape are a fifth too long",
        audit: "distance-to-shape",
        file: "crates/eke-geo/src/shape/mod.rs",
        find: "        edges.distance(point, Rounded::Down)\n",
        replace: "        edges.distance(point, Rounded::Down) * 6 / 5\n",
    },
    Mutant {
        name: "hole-jump",
        about: "a hole is inside, with a jump at its edge",
        audit: "distance-to-shape",
        file: "crates/eke-geo/src/shape/edges.rs",
        find: "        self.edges.iter().filter(crosses).count() % 2 == 1\n",
        replace: "        self.edges.iter().filter(crosses).count() > 0\n",
    },
    Mutant {
        name: "distance-rounded-free",
        about: "rounding a distance to whole steps costs nothing",
        audit: "distance-to-shape",
        file: "crates/eke-geo/src/earth/lattice.rs",
        find: "        self.steps_per_metre(factor, 1.0)\n",
        replace: "        self.steps_per_metre(factor, 0.0)\n",
    },
    Mutant {
        name: "elimination-sees-truths",
        about: "whether people are heard depends on where they are, and not on what was seen of it",
        audit: "elimination-loss",
        file: "crates/eke-noise/src/release/rows.rs",
        find: "            each(index, people, Released::new(batch.as_slice()));\n",
        replace: "            let near = people.iter().filter(|&&person| rows[person as usize * width] < 9000).count();\n            each(index, &people[..near], Released::new(&batch[..near * width]));\n",
    },
    Mutant {
        name: "elimination-refused-walk",
        about: "whoever cannot pay reports all the same",
        audit: "elimination-noise",
        file: "crates/eke-budget/src/account/sheet.rs",
        find: "                accounts[paid] = account;\n                paid += 1;\n            }\n",
        replace: "            }\n            accounts[paid] = account;\n            paid += 1;\n",
    },
    Mutant {
        name: "elimination-twice-the-price",
        about: "a round draws noise for twice what people were charged for it",
        audit: "elimination-noise",
        file: "crates/eke-noise/src/release/rows.rs",
        find: "        let variance = variance_for(length, price).ok_or(RowError::Wide(price))?;\n",
        replace: "        let twice = price.plus(price).ok_or(RowError::Wide(price))?;\n        let variance = variance_for(length, twice).ok_or(RowError::Wide(price))?;\n",
    },
    Mutant {
        name: "centre-root",
        about: "the centre of places is taken to move along one axis at a time",
        audit: "hull-price",
        file: "crates/eke-geo/src/person/places.rs",
        find: "        let sensitivity = 2.0 * root * self",
        replace: "        let sensitivity = 2.0 * (0.0 * root + 1.0) * self",
    },
    Mutant {
        name: "nearest-spread",
        about: "distances are picked from as if all grew or all shrank",
        audit: "nearest-loss",
        file: "crates/eke-geo/src/person/nearest.rs",
        find: "prepaid.pick(&scores, Moves::EitherWay, count,",
        replace: "prepaid.pick(&scores, Moves::OneWay, count,",
    },
    Mutant {
        name: "unsplit-picks",
        about: "every one of several nearest places costs all of the price, and one of them is charged",
        audit: "nearest-loss",
        file: "crates/eke-noise/src/select/prepaid.rs",
        find: "        let rate = C::rate(each, spread).ok_or(PrepaidError::Price)?;\n",
        replace: "        let rate = C::rate(each.times(count).unwrap_or(each), spread).ok_or(PrepaidError::Price)?;\n",
    },
    Mutant {
        name: "shared-line",
        about: "the line of a search after the first is laid with the noise of the first",
        audit: "nearest-search",
        file: "crates/eke-noise/src/select/prepaid.rs",
        find: "        let laid = DiscreteLaplace::once(&self.scale, entropy).map_err(too_wide)?;\n",
        replace: "        thread_local! { static LAID: std::cell::Cell<i64> = const { std::cell::Cell::new(0) }; }\n        if among.len() == scores.len() {\n            LAID.set(DiscreteLaplace::once(&self.scale, entropy).map_err(too_wide)?);\n        }\n        let laid = LAID.get();\n",
    },
];

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
