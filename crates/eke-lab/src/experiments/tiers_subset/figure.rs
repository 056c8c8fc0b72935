//! The figures: errors over numbers of tiers, and the paper's bounds as a map.

use super::bounds::{self, List};
use super::{Point, Results, TIERS, Way};
use eke_plot::plot::{Lines, Plot, Scale};
use eke_plot::svg::{Align, Svg};

/// What a figure shows of every point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The errors of all tiers together.
    Total,
    /// The largest ratio to a tier alone.
    Worst,
}

/// A panel for every kind of lists, with a line for every way.
pub(crate) fn figure(results: &Results, shown: Shown) -> String {
    let value = |point: &Point| match shown {
        Shown::Total => point.total,
        Shown::Worst => point.worst,
    };
    let panels = results.panels.iter().map(|panel| Lines {
        title: panel.lists.to_string(),
        lines: Way::ALL
            .iter()
            .map(|&way| {
                let of = panel.points.iter().filter(|point| point.way == way);
                of.map(|point| (f64::from(point.tiers), value(point))).collect()
            })
            .collect(),
    });
    let what = match shown {
        Shown::Total => "total squared error of all tiers",
        Shown::Worst => "worst tier's error, in that of the tier alone",
    };
    let plot = Plot {
        title: format!(
            "{} categories: {what}; random lists are means of {}",
            results.categories, results.lists
        ),
        across: format!("tiers, up to {}", TIERS[TIERS.len() - 1]),
        upwards: match shown {
            Shown::Total => "squared error".to_owned(),
            Shown::Worst => "ratio".to_owned(),
        },
        scales: (Scale::Linear, Scale::Logarithmic),
        columns: 4,
        lines: Way::ALL.iter().map(|way| way.label().to_owned()).collect(),
        panels: panels.collect(),
    };
    plot.finish()
}

/// Colours of a map, from one up, dark to light.
const SHADES: [(f64, &str); 9] = [
    (1.05, "#30123b"),
    (1.2, "#4145ab"),
    (1.4, "#4675ed"),
    (1.6, "#39a2fc"),
    (1.8, "#1bcfd4"),
    (2.0, "#61fc6c"),
    (2.5, "#d1e834"),
    (3.5, "#fe9b2d"),
    (f64::INFINITY, "#d93806"),
];

/// The colour of a bound, for a tier of `step` tenths and one more.
fn shade(list: List, categories: u32, step: u32) -> &'static str {
    let factor = bounds::factor(list, categories, 0.1 * f64::from(step + 1));
    SHADES.iter().find(|(most, _)| factor <= *most).map_or("#d93806", |shade| shade.1)
}

/// The paper's bounds over categories and epsilons, for both of its lists.
pub(crate) fn heatmap() -> String {
    const CELL: (f64, f64) = (7.0, 4.0);
    const CATEGORIES: u32 = 64;
    const STEPS: u32 = 60;
    let size = (CELL.0 * f64::from(CATEGORIES - 2), CELL.1 * f64::from(STEPS));
    let mut svg = Svg::new(2.0 * (size.0 + 90.0), size.1 + 170.0);
    svg.text(
        (60.0, 26.0),
        16.0,
        Align::Start,
        "how far a tier can be from what it would have alone, at most",
    );
    for (index, (list, title)) in [
        (List::Reference, "the paper's first templates"),
        (List::Improved, "the paper's improved templates"),
    ]
    .into_iter()
    .enumerate()
    {
        let left = 60.0 + index as f64 * (size.0 + 90.0);
        let top = 64.0;
        svg.text((left + size.0 / 2.0, top - 10.0), 13.0, Align::Middle, title);
        for categories in 3..=CATEGORIES {
            // A box for every stretch of one colour.
            let mut from = 0;
            for step in 0..STEPS {
                let colour = shade(list, categories, step);
                if step + 1 < STEPS && shade(list, categories, step + 1) == colour {
                    continue;
                }
                let corner = (
                    left + CELL.0 * f64::from(categories - 3),
                    top + CELL.1 * f64::from(STEPS - 1 - step),
                );
                svg.cell(corner, (CELL.0, CELL.1 * f64::from(step + 1 - from)), colour);
                from = step + 1;
            }
        }
        for categories in (8..=CATEGORIES).step_by(8) {
            let x = left + CELL.0 * (f64::from(categories - 3) + 0.5);
            svg.text((x, top + size.1 + 15.0), 11.0, Align::Middle, &categories.to_string());
        }
        for epsilon in 1..=6u32 {
            let y = top + size.1 - CELL.1 * (f64::from(epsilon * 10) - 0.5);
            svg.text((left - 6.0, y + 4.0), 11.0, Align::End, &epsilon.to_string());
        }
        svg.text((left + size.0 / 2.0, top + size.1 + 34.0), 12.0, Align::Middle, "categories");
        svg.upright((left - 32.0, top + size.1 / 2.0), 12.0, "epsilon of the tier");
    }
    let mut x = 60.0;
    let y = size.1 + 122.0;
    for (most, colour) in SHADES {
        svg.cell((x, y), (20.0, 14.0), colour);
        let label = if most.is_finite() { format!("to {most}") } else { "above".to_owned() };
        svg.text((x + 26.0, y + 12.0), 12.0, Align::Start, &label);
        x += 88.0;
    }
    svg.finish()
}
