//! The law of a mechanism, computed by trying everything that it can draw.
//!
//! The oracle stands where randomness stands. Whenever a mechanism asks for bits it says which
//! cells of them it tells apart; the oracle takes the first cell, and runs the mechanism again with
//! the next one until all have been taken, depth first. A run's probability is the product of its
//! cells' shares of the 2⁶⁴ words. Branches below a smallest probability are left out, and their
//! mass is counted.

use std::collections::BTreeMap;

use eke_noise::Entropy;
use eke_noise::sampler::Cell;

/// Which word of a cell to hand out. The law must not depend on it: that it does not is the check
/// that the cells a sampler declares are those it really tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The smallest.
    First,
    /// The largest.
    Last,
}

/// Where randomness stands while a law is computed.
pub struct Oracle {
    end: End,
    least: f64,
    /// What has been taken, and what is left to take, from the first draw on.
    branches: Vec<Branch>,
    /// How many draws this run has made.
    depth: usize,
    /// The probability of this run so far.
    weight: f64,
    /// Whether this run is too improbable to count, and only has to come to an end.
    abandoned: bool,
    /// The mass left out.
    lost: f64,
    /// Bits for abandoned runs.
    state: u64,
}

struct Branch {
    cells: Vec<Cell>,
    taken: usize,
    /// The probability of the run before it.
    before: f64,
}

/// A law that was computed.
#[derive(Clone, Debug)]
pub struct Enumerated<K> {
    /// The probability of every outcome found.
    pub outcomes: BTreeMap<K, f64>,
    /// What is left out, of all outcomes together.
    pub lost: f64,
    /// How many runs it took.
    pub runs: u64,
}

/// The law of what a mechanism returns, but for branches less probable than `least`.
pub fn enumerate<K: Ord>(
    end: End,
    least: f64,
    mut mechanism: impl FnMut(&mut Oracle) -> K,
) -> Enumerated<K> {
    let mut oracle = Oracle {
        end,
        least,
        branches: Vec::new(),
        depth: 0,
        weight: 1.0,
        abandoned: false,
        lost: 0.0,
        state: 0x9E37_79B9_7F4A_7C15,
    };
    let (mut outcomes, mut runs) = (BTreeMap::new(), 0);
    loop {
        let outcome = mechanism(&mut oracle);
        runs += 1;
        if oracle.abandoned {
            oracle.lost += oracle.weight;
        } else {
            *outcomes.entry(outcome).or_insert(0.0) += oracle.weight;
        }
        if !oracle.next_run() {
            return Enumerated { outcomes, lost: oracle.lost, runs };
        }
    }
}

impl Oracle {
    /// Prepares the next run; false if there is none.
    fn next_run(&mut self) -> bool {
        (self.depth, self.weight, self.abandoned) = (0, 1.0, false);
        while let Some(branch) = self.branches.last_mut() {
            if let Some(next) = branch.next_above(branch.taken + 1, self.least, &mut self.lost) {
                branch.taken = next;
                return true;
            }
            self.branches.pop();
        }
        false
    }

    /// Bits of no meaning, with which an abandoned run comes to an end.
    fn any(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn word_of(&self, cell: Cell) -> u64 {
        match self.end {
            End::First => cell.first,
            End::Last => cell.last,
        }
    }
}

impl Branch {
    /// The next cell that is probable enough, from one on; the mass of those that are not is lost.
    fn next_above(&self, from: usize, least: f64, lost: &mut f64) -> Option<usize> {
        for index in from..self.cells.len() {
            let weight = self.before * share(self.cells[index]);
            if weight >= least {
                return Some(index);
            }
            *lost += weight;
        }
        None
    }
}

/// A cell's share of all words.
fn share(cell: Cell) -> f64 {
    let words = cell.words as f64;
    words / 18_446_744_073_709_551_616.0
}

impl Entropy for Oracle {
    /// Bits that decide nothing: only bits beyond those of a cell's word are asked for so.
    fn word(&mut self) -> u64 {
        match self.end {
            _ if self.abandoned => self.any(),
            End::First => 0,
            End::Last => u64::MAX,
        }
    }

    fn audits(&self) -> bool {
        true
    }

    fn word_among(&mut self, cells: &dyn Fn() -> Vec<Cell>) -> u64 {
        if self.abandoned {
            return self.any();
        }
        if self.depth == self.branches.len() {
            let mut branch = Branch { cells: cells(), taken: 0, before: self.weight };
            // What is lost is lost whether or not the run goes on.
            let mut lost = 0.0;
            match branch.next_above(0, self.least, &mut lost) {
                Some(first) => {
                    branch.taken = first;
                    self.lost += lost;
                    self.branches.push(branch);
                }
                None => {
                    self.abandoned = true;
                    return self.any();
                }
            }
        }
        let branch = &self.branches[self.depth];
        let cell = branch.cells[branch.taken];
        self.depth += 1;
        self.weight *= share(cell);
        self.word_of(cell)
    }
}

impl<K: Ord> Enumerated<K> {
    /// The probability of an outcome, at least.
    pub fn of(&self, outcome: &K) -> f64 {
        self.outcomes.get(outcome).copied().unwrap_or(0.0)
    }

    /// The furthest that an outcome's probability is outside what another law allows it, given what
    /// this one left out: zero or rounding if they are the same.
    pub fn off(&self, other: impl Fn(&K) -> f64) -> f64 {
        self.outcomes
            .iter()
            .map(|(outcome, &found)| {
                let expected = other(outcome);
                (found - expected).max(expected - found - self.lost).max(0.0)
            })
            .fold(0.0, f64::max)
    }

    /// A lower bound on the largest privacy loss between this law and another, close where what was
    /// left out is little.
    #[must_use]
    pub fn loss(&self, other: &Self) -> f64 {
        let one_way = |from: &Self, to: &Self| {
            let losses = from
                .outcomes
                .iter()
                .map(|(outcome, &probability)| (probability / (to.of(outcome) + to.lost)).ln());
            losses.fold(0.0, f64::max)
        };
        one_way(self, other).max(one_way(other, self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eke_noise::sampler::{bernoulli, uniform_below};

    #[test]
    fn coins_and_dice_have_their_laws_whichever_word_is_taken() {
        for end in [End::First, End::Last] {
            let coin = enumerate(end, 1e-12, |oracle| bernoulli(1, 3, oracle));
            assert!((coin.of(&true) - 1.0 / 3.0).abs() < 1e-15 && coin.lost < 1e-15, "{coin:?}");
            let sum =
                enumerate(end, 1e-12, |oracle| uniform_below(6, oracle) + uniform_below(6, oracle));
            assert!((sum.of(&5) - 6.0 / 36.0).abs() < 1e-15, "{sum:?}");
            assert!((sum.outcomes.values().sum::<f64>() + sum.lost - 1.0).abs() < 1e-12);
        }
    }

    /// A sampler that tells apart what it does not say shows: its two ends disagree.
    #[test]
    fn cells_that_are_not_true_show() {
        let wrong = |oracle: &mut Oracle| {
            let cells = || {
                let half = 1u64 << 63;
                vec![
                    Cell { words: 1 << 63, first: 0, last: half - 1 },
                    Cell { words: 1 << 63, first: half, last: u64::MAX },
                ]
            };
            // Claims a fair coin, and is not.
            oracle.word_among(&cells) < (1 << 63) - 5
        };
        let [first, last] =
            [End::First, End::Last].map(|end| enumerate(end, 1e-12, wrong).of(&true));
        assert!((first - 0.5).abs() < 1e-15 && last < 1e-15);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let law = enumerate(End::First, 1e-3, |oracle| {
            let mut heads = 0;
            while bernoulli(1, 2, oracle) {
                heads += 1;
            }
            heads
        });
        assert!((law.lost - 2f64.powi(-9)).abs() < 1e-4, "{law:?}");
        assert!((law.of(&3) - 1.0 / 16.0).abs() < 1e-12);
        assert!((law.outcomes.values().sum::<f64>() + law.lost - 1.0).abs() < 1e-12);
    }

    #[test]
    fn losses_are_found_and_impossible_outcomes_are_large() {
        let law = |of: &[(i32, f64)]| Enumerated {
            outcomes: of.iter().copied().collect(),
            lost: 1e-12,
            runs: 1,
        };
        let loss = law(&[(0, 0.25), (1, 0.75)]).loss(&law(&[(0, 0.5), (1, 0.5)]));
        assert!((loss - 2f64.ln()).abs() < 1e-11);
        let loss = law(&[(0, 0.5), (1, 0.5)]).loss(&law(&[(0, 1.0)]));
        assert!(loss > 25.0);
    }
}
