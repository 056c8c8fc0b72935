//! What a search said: runs, one after another.

/// One run: so many days, and whether the last of them was a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The days.
    pub steps: u64,
    /// Whether it ended with a hit.
    pub hit: bool,
}

/// All runs of a search, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript(pub Vec<Stretch>);

impl Transcript {
    /// How good the verdicts on the first `answered` days are, all later days counting as not above: twice the hits that
    /// are right, over all hits and all that should be. 1 where there is nothing to find and nothing was found.
    #[must_use]
    pub fn f1(&self, truth: &[bool], answered: u64) -> f64 {
        let (mut found, mut right) = (0u32, 0u32);
        let mut day = 0;
        for stretch in &self.0 {
            day += stretch.steps;
            if day > answered {
                break;
            }
            if stretch.hit {
                found += 1;
                let last = usize::try_from(day - 1).ok();
                right += u32::from(last.and_then(|last| truth.get(last)) == Some(&true));
            }
        }
        let there = truth.iter().map(|&above| u32::from(above)).sum::<u32>();
        if found + there == 0 { 1.0 } else { f64::from(2 * right) / f64::from(found + there) }
    }

    /// The days of the first so many runs.
    #[must_use]
    pub fn days_of(&self, runs: usize) -> u64 {
        self.0.iter().take(runs).map(|stretch| stretch.steps).sum()
    }

    /// All days.
    #[must_use]
    pub fn days(&self) -> u64 {
        self.days_of(self.0.len())
    }
}
