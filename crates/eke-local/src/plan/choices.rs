//! One choice for each tier, in an order, such that the worst tier is as good as can be.
//!
//! Reports of a chain are ordered twice: what a report is (its size, or its bits) only moves on,
//! and how much of it is kept only falls. A tier that chooses an early option leaves more choice to
//! later tiers; one that keeps little leaves them less.

/// What there is to choose from.
pub(crate) struct Choices<Most, Ratio> {
    /// How many tiers there are, the one that may see most first.
    pub(crate) tiers: usize,
    /// How many options each has, in the order in which chains go through them.
    pub(crate) options: usize,
    /// The most that a tier may keep with an option.
    pub(crate) most: Most,
    /// How bad an option is for a tier, by how much of it is kept: the more is kept, the less bad.
    pub(crate) ratio: Ratio,
}

/// The option of each tier.
///
/// For a ratio that is to be reached, the most that can be kept with every option is computed tier
/// after tier: as much as the best of the options up to it kept before, and no more than the tier
/// allows. More is better for this tier and all later ones, so nothing else needs to be remembered.
/// The ratio is found by bisection of its logarithm, from the worst there is when any will do:
/// tiers that no option suits can be off by many powers of ten.
pub(crate) fn best<Most, Ratio>(choices: &Choices<Most, Ratio>) -> Vec<usize>
where
    Most: Fn(usize, usize) -> f64,
    Ratio: Fn(usize, usize, f64) -> f64,
{
    // Whatever is kept is more than nothing, so without a limit there are always options.
    let Some(mut best) = feasible(choices, f64::INFINITY) else { return vec![0; choices.tiers] };
    let (mut low, mut high) = (1.0f64, best.worst);
    for _ in 0..60 {
        if high - low < 1e-9 * low {
            break;
        }
        let limit = low.sqrt() * high.sqrt();
        match feasible(choices, limit) {
            Some(found) => {
                high = limit.min(found.worst);
                best = found;
            }
            None => low = limit,
        }
    }
    best.options
}

/// The option of each tier, and the worst ratio of any.
struct Chosen {
    options: Vec<usize>,
    worst: f64,
}

/// Options that keep every tier's ratio within a limit, if there are any.
fn feasible<Most, Ratio>(choices: &Choices<Most, Ratio>, limit: f64) -> Option<Chosen>
where
    Most: Fn(usize, usize) -> f64,
    Ratio: Fn(usize, usize, f64) -> f64,
{
    // The most that can be kept with each option at each tier; zero where the limit would be
    // exceeded.
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(choices.tiers);
    let mut before = vec![f64::INFINITY; choices.options];
    for tier in 0..choices.tiers {
        let mut reach = 0.0f64;
        let row: Vec<f64> = before
            .iter()
            .enumerate()
            .map(|(option, &from)| {
                reach = reach.max(from);
                let kept = reach.min((choices.most)(tier, option));
                if kept <= 0.0 {
                    return 0.0;
                }
                let ratio = (choices.ratio)(tier, option, kept);
                if ratio <= limit * (1.0 + 1e-12) { kept } else { 0.0 }
            })
            .collect();
        if row.iter().all(|kept| *kept <= 0.0) {
            return None;
        }
        before.clone_from(&row);
        rows.push(row);
    }
    // Backwards: the last tier takes the option that is best for it, every tier before it the one
    // that is best for it among those that leave the next one what it keeps.
    let mut chosen = Chosen { options: vec![0; choices.tiers], worst: 0.0 };
    let (mut last, mut needed) = (choices.options - 1, 0.0);
    for (tier, row) in rows.iter().enumerate().rev() {
        let (option, ratio) = (0..=last)
            .filter(|&option| row[option] > 0.0 && row[option] >= needed)
            .map(|option| (option, (choices.ratio)(tier, option, row[option])))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        chosen.options[tier] = option;
        chosen.worst = chosen.worst.max(ratio);
        (last, needed) = (option, row[option]);
    }
    Some(chosen)
}
