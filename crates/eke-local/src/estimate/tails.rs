//! How likely a count of reports is: the sum of two binomial numbers, one of users who hold a
//! category and one of users who do not.
//!
//! Computed in doubles by adding up what is likely, from the middle outwards and each term from the
//! one before it. What is left out is less than 10⁻²⁵ of all, and what is computed is off by less
//! than a billionth of itself; no table and no logarithm is needed.

/// What is left out, relative to the likeliest number.
const LEAST: f64 = 1e-30;

/// The law of a count: some users with one chance to be counted, the others with another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) holders: u64,
    pub(crate) hit: f64,
    pub(crate) others: u64,
    pub(crate) miss: f64,
}

impl Count {
    /// The chance of this count or a larger one.
    pub(crate) fn at_least(&self, count: u64) -> f64 {
        let (holders, others) = self.parts();
        let mut others_tail = others.chances;
        for at in (1..others_tail.len()).rev() {
            others_tail[at - 1] += others_tail[at];
        }
        // Below all that is likely everything is at least as much; above it nothing is.
        holders.over(|number| {
            let needed = count.saturating_sub(number);
            if needed <= others.first {
                return 1.0;
            }
            at(&others_tail, needed - others.first).unwrap_or(0.0)
        })
    }

    /// The chance of this count or a smaller one.
    pub(crate) fn at_most(&self, count: u64) -> f64 {
        let (holders, others) = self.parts();
        let mut others_tail = others.chances;
        for at in 1..others_tail.len() {
            others_tail[at] += others_tail[at - 1];
        }
        holders.over(|number| {
            let Some(left) =
                count.checked_sub(number).and_then(|left| left.checked_sub(others.first))
            else {
                return 0.0;
            };
            at(&others_tail, left).unwrap_or(1.0)
        })
    }

    fn parts(&self) -> (Binomial, Binomial) {
        (Binomial::new(self.holders, self.hit), Binomial::new(self.others, self.miss))
    }
}

fn at(chances: &[f64], index: u64) -> Option<f64> {
    chances.get(usize::try_from(index).ok()?).copied()
}

/// The chances of the numbers from the first on that are likely.
struct Binomial {
    first: u64,
    chances: Vec<f64>,
}

impl Binomial {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "users are fewer than 2^53, and the likeliest number is one of theirs"
    )]
    fn new(users: u64, chance: f64) -> Self {
        let n = users as f64;
        if users == 0 || chance <= 0.0 {
            return Self { first: 0, chances: vec![1.0] };
        }
        if chance >= 1.0 {
            return Self { first: users, chances: vec![1.0] };
        }
        let likeliest = (((n + 1.0) * chance) as u64).min(users);
        let odds = chance / (1.0 - chance);
        let mut chances = Vec::new();
        let (mut term, mut number) = (1.0, likeliest as f64);
        while term >= LEAST && number > 0.0 {
            term *= number / ((n - number + 1.0) * odds);
            number -= 1.0;
            chances.push(term);
        }
        let first = likeliest - chances.len() as u64;
        chances.reverse();
        chances.push(1.0);
        (term, number) = (1.0, likeliest as f64);
        while term >= LEAST && number < n {
            term *= (n - number) * odds / (number + 1.0);
            number += 1.0;
            chances.push(term);
        }
        let total: f64 = chances.iter().sum();
        for chance in &mut chances {
            *chance /= total;
        }
        Self { first, chances }
    }

    /// The mean of something over the numbers.
    fn over(&self, of: impl Fn(u64) -> f64) -> f64 {
        let chances = (self.first..).zip(&self.chances);
        chances.map(|(number, chance)| chance * of(number)).sum::<f64>().min(1.0)
    }
}

/// The first number up to a last one at which something becomes true and stays so, looked for from
/// a guess on; the last one if it never does.
pub(crate) fn first(guess: u64, last: u64, is: impl Fn(u64) -> bool) -> u64 {
    let guess = guess.min(last);
    let mut step = 1;
    // Between these two: not true at the lower one, or it is below zero; true at the upper one, or
    // the last.
    let (mut low, mut high);
    if is(guess) {
        high = guess;
        loop {
            let Some(below) = high.checked_sub(step) else {
                low = None;
                break;
            };
            if !is(below) {
                low = Some(below);
                break;
            }
            high = below;
            step *= 2;
        }
    } else {
        let mut below = guess;
        loop {
            high = below.saturating_add(step).min(last);
            if high == last || is(high) {
                low = Some(below);
                break;
            }
            below = high;
            step *= 2;
        }
    }
    loop {
        let from = low.map_or(0, |low| low + 1);
        if from >= high {
            return high;
        }
        let middle = from + (high - from) / 2;
        if is(middle) { high = middle } else { low = Some(middle) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of holders and others, by trying everybody's coin.
    #[test]
    fn tails_are_those_of_the_coins() {
        for (holders, hit, others, miss) in [
            (3u64, 0.7, 5u64, 0.2),
            (0, 0.9, 6, 0.5),
            (7, 0.25, 0, 0.1),
            (4, 1.0, 4, 0.0),
            (2, 0.999, 9, 1e-3),
        ] {
            let users = holders + others;
            let mut chances = vec![0.0; 1 + usize::try_from(users).unwrap()];
            for coins in 0..1u32 << users {
                let chance: f64 = (0..users)
                    .map(|user| {
                        let heads = if user < holders { hit } else { miss };
                        if coins >> user & 1 == 1 { heads } else { 1.0 - heads }
                    })
                    .product();
                chances[coins.count_ones() as usize] += chance;
            }
            let count = Count { holders, hit, others, miss };
            for at in 0..=users {
                let index = usize::try_from(at).unwrap();
                let (below, above) = chances.split_at(index);
                let above: f64 = above.iter().sum();
                let most = below.iter().sum::<f64>() + chances[index];
                assert!((count.at_least(at) - above).abs() < 1e-14, "{count:?} {at}");
                assert!((count.at_most(at) - most).abs() < 1e-14, "{count:?} {at}");
            }
            assert!(count.at_least(users + 1) <= 0.0);
        }
    }

    /// Far out, where one less the rest would be nothing but rounding.
    #[test]
    fn small_tails_keep_their_digits() {
        // (1/2)^60 and the same times 61.
        let count = Count { holders: 60, hit: 0.5, others: 0, miss: 0.1 };
        let all = 0.5f64.powi(60);
        assert!((count.at_least(60) / all - 1.0).abs() < 1e-12);
        assert!((count.at_most(1) / (61.0 * all) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_is_found_from_any_guess() {
        for last in [0u64, 1, 2, 7, 100] {
            for from in 0..=last + 1 {
                for guess in [0, 1, last / 2, last, last + 5] {
                    assert_eq!(first(guess, last, |n| n >= from), from.min(last));
                }
            }
        }
    }
}
