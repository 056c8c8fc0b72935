//! Probabilities of outcomes, computed the plain way: no logarithms, no modes, a fine fixed grid.
//! For parameters that are mild enough for it.

/// The distribution function of noise, and its density, of scale or deviation one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    Normal,
    Laplace,
}

impl Law {
    pub(crate) fn below(self, x: f64) -> f64 {
        match self {
            Self::Normal => 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2),
            Self::Laplace if x < 0.0 => 0.5 * libm::exp(x),
            Self::Laplace => 1.0 - 0.5 * libm::exp(-x),
        }
    }

    fn density(self, x: f64) -> f64 {
        match self {
            Self::Normal => libm::exp(-x * x / 2.0) / std::f64::consts::TAU.sqrt(),
            Self::Laplace => 0.5 * libm::exp(-x.abs()),
        }
    }

    /// The mean of a function of the noise, by the midpoint rule.
    pub(crate) fn mean(self, function: impl Fn(f64) -> f64) -> f64 {
        let (reach, cells) = match self {
            Self::Normal => (14.0, 2_000),
            Self::Laplace => (60.0, 30_000),
        };
        let width = 2.0 * reach / f64::from(cells);
        let middle = |cell: i32| (f64::from(cell) + 0.5) * width - reach;
        (0..cells).map(|cell| self.density(middle(cell)) * function(middle(cell))).sum::<f64>()
            * width
    }
}

/// Noise on a line and on answers, and where the line is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoisyLine {
    pub(crate) law: Law,
    pub(crate) threshold: f64,
    pub(crate) line: f64,
    pub(crate) query: f64,
    pub(crate) above: bool,
}

impl NoisyLine {
    /// The probability that no answer is a hit, but the last if `halts`.
    pub(crate) fn probability(&self, answers: &[f64], halts: bool) -> f64 {
        self.law.mean(|noise| {
            let line = self.threshold + self.line * noise;
            let (last, others) = answers.split_last().unwrap();
            let misses = |answer: &f64| {
                let apart = (line - answer) / self.query;
                self.law.below(if self.above { apart } else { -apart })
            };
            let hits = |answer: &f64| {
                let apart = (answer - line) / self.query;
                self.law.below(if self.above { apart } else { -apart })
            };
            let end = if halts { hits(last) } else { misses(last) };
            others.iter().map(misses).product::<f64>() * end
        })
    }
}

/// The probability that each of several scores is the largest, with normal noise.
pub(crate) fn winners(scores: &[f64], deviation: f64) -> Vec<f64> {
    let wins = |winner: usize| {
        Law::Normal.mean(|noise| {
            let others = scores.iter().enumerate().filter(|(item, _)| *item != winner);
            others
                .map(|(_, score)| Law::Normal.below(noise + (scores[winner] - score) / deviation))
                .product()
        })
    };
    (0..scores.len()).map(wins).collect()
}

/// The same with Laplace noise.
pub(crate) fn laplace_winners(scores: &[f64], scale: f64) -> Vec<f64> {
    let wins = |winner: usize| {
        Law::Laplace.mean(|noise| {
            let others = scores.iter().enumerate().filter(|(item, _)| *item != winner);
            others
                .map(|(_, score)| Law::Laplace.below(noise + (scores[winner] - score) / scale))
                .product()
        })
    };
    (0..scores.len()).map(wins).collect()
}
