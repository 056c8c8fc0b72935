//! What a search said: runs, one after another.

/// One run: its number of days, and whether the last of them was a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The days.
    pub steps: u64,
    /// Whether it ended with a hit.
    pub hit: bool,
}

/// All runs of a search, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript(pub Vec<Stretch>);

impl Transcript {
    /// How good the verdicts on the first `answered` days are, all later days counting as not
    /// above: twice the hits that are right, over all hits and all that should be. 1 where there is
    /// nothing to find and nothing was found.
    pub(crate) fn f1(&self, truth: &[bool], answered: u64) -> f64 {
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

    /// The days of the first n runs.
    pub(crate) fn days_of(&self, runs: usize) -> u64 {
        self.0.iter().take(runs).map(|stretch| stretch.steps).sum()
    }

    /// All days.
    pub(crate) fn days(&self) -> u64 {
        self.days_of(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(runs: &[(u64, bool)]) -> Transcript {
        Transcript(runs.iter().map(|&(steps, hit)| Stretch { steps, hit }).collect())
    }

    #[test]
    fn hits_count_where_the_truth_has_them() {
        let truth = [false, true, true, false, true];
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-15, "{found}");
        // Days 2, 3 and 5: all of them.
        close(runs(&[(2, true), (1, true), (2, true)]).f1(&truth, 5), 1.0);
        // Days 2 and 4: one of three, and one that is not.
        let some = runs(&[(2, true), (2, true), (1, false)]);
        close(some.f1(&truth, 5), 2.0 / 5.0);
        // Only the first three days are answered: the wrong one is gone.
        close(some.f1(&truth, 3), 2.0 / 4.0);
        close(some.f1(&truth, 0), 0.0);
        assert_eq!((some.days(), some.days_of(2)), (5, 4));
    }

    #[test]
    fn finding_nothing_is_right_where_there_is_nothing() {
        let nothing = runs(&[(3, false)]);
        assert!((nothing.f1(&[false; 3], 3) - 1.0).abs() < 1e-15);
        assert!(nothing.f1(&[false, true, false], 3).abs() < 1e-15);
    }
}
