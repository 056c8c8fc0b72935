//! The templates of subsets for tiers: ours, planned, and the paper's two lists.

use std::collections::BTreeSet;

use eke_budget::{Amount, Epsilon};
use eke_noise::{Share, Template, Weight};

use crate::plan::choices::{self, Choices};
use crate::worth::subset;

/// The templates whose largest ratio is smallest, for epsilons that fall.
pub(crate) fn planned(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let tiers: Vec<f64> = falling.iter().map(|tier| tier.to_f64()).collect();
    let alone: Vec<f64> =
        tiers.iter().map(|&epsilon| subset::best_variance(categories, epsilon)).collect();
    let sizes = sizes(categories, &tiers);
    let chosen = choices::best(&Choices {
        tiers: tiers.len(),
        options: sizes.len(),
        most: |tier: usize, option: usize| subset::weight(sizes[option], tiers[tier]),
        ratio: |tier: usize, option: usize, weight: f64| {
            subset::variance(categories, sizes[option], weight) / alone[tier]
        },
    });
    // The weight of a report is the least that any tier so far allows.
    let mut templates: Vec<Template> = Vec::with_capacity(falling.len());
    for (&epsilon, option) in falling.iter().zip(chosen) {
        let size = sizes[option];
        let own = Weight::Of { epsilon, size };
        let weight = match templates.last() {
            Some(before) if !is_lighter(own, before.weight) => before.weight,
            _ => own,
        };
        templates.push(Template { size, weight });
    }
    templates
}

/// The sizes to choose from: all of them up to a few hundred, then every one that is a little
/// larger than the one before, and those that are best for a tier alone.
fn sizes(categories: u32, tiers: &[f64]) -> Vec<u32> {
    const ALL: u32 = 512;
    let largest = (categories / 2).max(1);
    let mut sizes: BTreeSet<u32> = (1..=largest.min(ALL)).collect();
    let steps = std::iter::successors(Some(ALL), |size| Some(size + size / 256));
    sizes.extend(steps.take_while(|size| *size < largest));
    sizes.extend(tiers.iter().map(|&epsilon| subset::best_size(categories, epsilon)));
    sizes.insert(largest);
    sizes.into_iter().filter(|size| *size <= largest).collect()
}

/// Whether one weight is less than another: by doubles where they are far apart, exactly where not.
fn is_lighter(one: Weight, two: Weight) -> bool {
    let (a, b) = (one.to_f64(), two.to_f64());
    if (a - b).abs() > 1e-9 * b {
        return a < b;
    }
    let share = |weight| Share { weight, among: 2 };
    share(one).compare(share(two)).is_lt()
}

/// The weight at which a report of size k is at `ln((d + more)/k - 1)`: `d + more - 2k`.
fn milestone(categories: u32, more: i64, size: u32) -> Option<Weight> {
    let weight = i64::from(categories) + more - 2 * i64::from(size);
    u32::try_from(weight).ok().filter(|&weight| weight > 0).map(Weight::Whole)
}

/// The paper's first list: the tiers above all reports of one category; a template at `ln(d/k - 1)`
/// for each size below half of the categories; for even d one of half of them; the tiers below it.
pub(crate) fn reference(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let mut list = List::new(categories);
    list.high(falling);
    for size in 1..=(categories - 1) / 2 {
        list.expand(size, false);
        if let Some(weight) = milestone(categories, 0, size) {
            list.lower(weight);
        }
    }
    list.finish(falling)
}

/// The paper's improved list: for each size also a template right after it was reached, one at
/// `ln((d+1)/k - 1)`, and the tiers in between.
pub(crate) fn improved(categories: u32, falling: &[Amount<Epsilon>]) -> Vec<Template> {
    let mut list = List::new(categories);
    list.high(falling);
    let last = (categories - 1) / 2;
    let powers: Vec<f64> = falling.iter().map(|tier| subset::weight(1, tier.to_f64())).collect();
    for size in 1..=last {
        list.expand(size, true);
        let least = if size == last { 0 } else { -1 };
        let Some(end) = milestone(categories, least, size).or(milestone(categories, 0, size))
        else {
            continue;
        };
        // Levels of other sizes lie outside of this size's stretch. What is surely above where the
        // list is has no place in it either.
        let start = list.weight.map_or(f64::INFINITY, |weight| 1.001 * weight.to_f64());
        let end = end.to_f64();
        let mut weights: Vec<(f64, Weight)> = falling
            .iter()
            .zip(&powers)
            .map(|(&epsilon, power)| (f64::from(size) * power, Weight::Of { epsilon, size }))
            .chain([0, 1].into_iter().filter_map(|more| {
                let weight = milestone(categories, more, size)?;
                Some((weight.to_f64(), weight))
            }))
            .filter(|(about, _)| (end..=start).contains(about))
            .collect();
        weights.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, weight) in weights {
            list.lower(weight);
        }
    }
    list.finish(falling)
}

/// A list of templates as it is made.
struct List {
    categories: u32,
    size: u32,
    /// None before anything has been drawn: the true category itself.
    weight: Option<Weight>,
    templates: Vec<Template>,
}

impl List {
    fn new(categories: u32) -> Self {
        Self { categories, size: 1, weight: None, templates: Vec::new() }
    }

    fn record(&mut self, weight: Weight) {
        self.weight = Some(weight);
        self.templates.push(Template { size: self.size, weight });
    }

    /// Tiers for which one category is best: `exp(epsilon) + 1 > d`.
    fn high(&mut self, falling: &[Amount<Epsilon>]) {
        let edge = (f64::from(self.categories) - 1.0).ln();
        for &epsilon in falling.iter().filter(|tier| tier.to_f64() > edge) {
            self.lower(Weight::Of { epsilon, size: 1 });
        }
    }

    fn expand(&mut self, size: u32, recorded: bool) {
        if size > self.size {
            self.size = size;
            if let (true, Some(weight)) = (recorded, self.weight) {
                self.record(weight);
            }
        }
    }

    /// Takes weight away, if there is more.
    fn lower(&mut self, weight: Weight) {
        if self.weight.is_none_or(|before| is_lighter(weight, before)) {
            self.record(weight);
        }
    }

    fn finish(mut self, falling: &[Amount<Epsilon>]) -> Vec<Template> {
        if self.categories.is_multiple_of(2) && self.size < self.categories / 2 {
            self.expand(self.categories / 2, true);
        }
        for &epsilon in falling {
            self.lower(Weight::Of { epsilon, size: self.size });
        }
        self.templates
    }
}
