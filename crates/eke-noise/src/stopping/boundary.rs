//! Where a relative goal stops.
//!
//! Stop at the first look with `|y| sqrt(u) >= K` and release `y (1 - b)`, where u is the precision
//! of the answer y (one over its variance). In units of the truth the law of what is released does
//! not depend on the truth, so K is computed once for a tolerance, a confidence and the spacing of
//! the looks: `eke-lab calibrate` prints the table below. For b the square of the tolerance is
//! about best.

/// The half-width, in normal quantiles, of the interval of an answer that ends without having
/// stopped. (Answers that have not stopped are not those of one look: they are the smaller ones of
/// it.)
pub(crate) const END: f64 = 1.1;
/// What is added to kappa between rows, where it need not be between the neighbours'.
const BETWEEN: f64 = 0.01;
/// Below this K the law depends on the truth.
const LEAST: f64 = 8.0;

/// Where to stop, and how much to take off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Boundary {
    pub(crate) k: f64,
    pub(crate) b: f64,
}

impl Boundary {
    /// The boundary of a goal for looks whose precisions have this ratio; none if the table does
    /// not go there. Between rows, the dearest neighbour counts, and a little is added.
    ///
    /// - Theorem: relative-stopping (docs/theorems.md)
    /// - Proves: what is released is within the tolerance with the confidence, whatever the truth
    /// - Assumes: looks are geometrically spaced, by the ratio (schedule)
    /// - Deviates: looks at which stopping is all but impossible are skipped; noise is discrete,
    ///   and answers are rounded to the grid
    /// - Checked by: `boundaries_cover_between_the_rows_of_the_table`,
    ///   `the_table_is_what_the_program_works_out`, `within_five_per_cent_holds_for_every_truth`
    pub(crate) fn new(tolerance: f64, confidence: f64, quantile: f64, ratio: f64) -> Option<Self> {
        let last = TABLE.last().map_or(0.0, |row| row.ratio);
        let ratio = ratio.min(last);
        let ratios = neighbours(TABLE.iter().map(|row| row.ratio), ratio)?;
        let tolerances = neighbours(TABLE.iter().map(|row| row.tolerance), tolerance)?;
        let confidences = neighbours(TABLE.iter().map(|row| row.confidence), confidence)?;
        let is_near = |ends: (f64, f64), at: f64| ends.0 <= at && at <= ends.1;
        let (mut kappa, mut rows): (f64, u32) = (0.0, 0);
        for row in TABLE {
            if is_near(ratios, row.ratio)
                && is_near(tolerances, row.tolerance)
                && is_near(confidences, row.confidence)
            {
                kappa = kappa.max(row.kappa);
                rows += 1;
            }
        }
        if rows > 1 {
            kappa += BETWEEN;
        }
        let k = kappa * quantile / tolerance;
        (k >= LEAST).then_some(Self { k, b: tolerance * tolerance })
    }
}

/// The largest value that is not above one, and the smallest that is not below it.
fn neighbours(values: impl Iterator<Item = f64> + Clone, at: f64) -> Option<(f64, f64)> {
    let below = values.clone().filter(|&value| value <= at * (1.0 + 1e-9)).fold(0.0, f64::max);
    let above = values.filter(|&value| value >= at * (1.0 - 1e-9)).fold(f64::INFINITY, f64::min);
    (below > 0.0 && above.is_finite()).then_some((below, above))
}

/// A row of the table.
pub(crate) struct Row {
    pub(crate) ratio: f64,
    pub(crate) confidence: f64,
    pub(crate) tolerance: f64,
    /// K over `quantile/tolerance`.
    pub(crate) kappa: f64,
}

const fn row(ratio: f64, confidence: f64, tolerance: f64, kappa: f64) -> Row {
    Row { ratio, confidence, tolerance, kappa }
}

/// The ratio of the looks, confidence, tolerance and kappa.
pub(crate) const TABLE: &[Row] = &[
    row(1.05, 0.8, 0.0001, 1.015),
    row(1.05, 0.8, 0.001, 1.016),
    row(1.05, 0.8, 0.003, 1.018),
    row(1.05, 0.8, 0.005, 1.019),
    row(1.05, 0.8, 0.01, 1.024),
    row(1.05, 0.8, 0.02, 1.023),
    row(1.05, 0.8, 0.05, 1.012),
    row(1.05, 0.8, 0.1, 1.017),
    row(1.05, 0.9, 0.0001, 1.008),
    row(1.05, 0.9, 0.001, 1.009),
    row(1.05, 0.9, 0.003, 1.011),
    row(1.05, 0.9, 0.005, 1.012),
    row(1.05, 0.9, 0.01, 1.017),
    row(1.05, 0.9, 0.02, 1.016),
    row(1.05, 0.9, 0.05, 1.007),
    row(1.05, 0.9, 0.1, 1.000),
    row(1.05, 0.9, 0.2, 1.003),
    row(1.05, 0.95, 0.0001, 1.004),
    row(1.05, 0.95, 0.001, 1.005),
    row(1.05, 0.95, 0.003, 1.007),
    row(1.05, 0.95, 0.005, 1.009),
    row(1.05, 0.95, 0.01, 1.015),
    row(1.05, 0.95, 0.02, 1.013),
    row(1.05, 0.95, 0.05, 1.009),
    row(1.05, 0.95, 0.1, 1.000),
    row(1.05, 0.95, 0.2, 1.000),
    row(1.05, 0.99, 0.0001, 1.003),
    row(1.05, 0.99, 0.001, 1.003),
    row(1.05, 0.99, 0.003, 1.004),
    row(1.05, 0.99, 0.005, 1.006),
    row(1.05, 0.99, 0.01, 1.011),
    row(1.05, 0.99, 0.02, 1.009),
    row(1.05, 0.99, 0.05, 1.006),
    row(1.05, 0.99, 0.1, 1.001),
    row(1.05, 0.99, 0.2, 1.001),
    row(1.05, 0.999, 0.0001, 1.020),
    row(1.05, 0.999, 0.001, 1.019),
    row(1.05, 0.999, 0.003, 1.017),
    row(1.05, 0.999, 0.005, 1.019),
    row(1.05, 0.999, 0.01, 1.023),
    row(1.05, 0.999, 0.02, 1.021),
    row(1.05, 0.999, 0.05, 1.014),
    row(1.05, 0.999, 0.1, 1.015),
    row(1.05, 0.999, 0.2, 1.016),
    row(1.1, 0.8, 0.0001, 1.011),
    row(1.1, 0.8, 0.001, 1.012),
    row(1.1, 0.8, 0.003, 1.014),
    row(1.1, 0.8, 0.005, 1.015),
    row(1.1, 0.8, 0.01, 1.021),
    row(1.1, 0.8, 0.02, 1.028),
    row(1.1, 0.8, 0.05, 1.024),
    row(1.1, 0.8, 0.1, 1.018),
    row(1.1, 0.9, 0.0001, 1.002),
    row(1.1, 0.9, 0.001, 1.003),
    row(1.1, 0.9, 0.003, 1.005),
    row(1.1, 0.9, 0.005, 1.006),
    row(1.1, 0.9, 0.01, 1.010),
    row(1.1, 0.9, 0.02, 1.020),
    row(1.1, 0.9, 0.05, 1.019),
    row(1.1, 0.9, 0.1, 1.013),
    row(1.1, 0.9, 0.2, 1.000),
    row(1.1, 0.95, 0.0001, 1.001),
    row(1.1, 0.95, 0.001, 1.000),
    row(1.1, 0.95, 0.003, 1.000),
    row(1.1, 0.95, 0.005, 1.001),
    row(1.1, 0.95, 0.01, 1.006),
    row(1.1, 0.95, 0.02, 1.015),
    row(1.1, 0.95, 0.05, 1.000),
    row(1.1, 0.95, 0.1, 1.005),
    row(1.1, 0.95, 0.2, 1.000),
    row(1.1, 0.99, 0.0001, 1.003),
    row(1.1, 0.99, 0.001, 1.002),
    row(1.1, 0.99, 0.003, 1.000),
    row(1.1, 0.99, 0.005, 1.000),
    row(1.1, 0.99, 0.01, 1.001),
    row(1.1, 0.99, 0.02, 1.010),
    row(1.1, 0.99, 0.05, 1.008),
    row(1.1, 0.99, 0.1, 1.004),
    row(1.1, 0.99, 0.2, 1.002),
    row(1.1, 0.999, 0.0001, 1.020),
    row(1.1, 0.999, 0.001, 1.019),
    row(1.1, 0.999, 0.003, 1.016),
    row(1.1, 0.999, 0.005, 1.014),
    row(1.1, 0.999, 0.01, 1.013),
    row(1.1, 0.999, 0.02, 1.022),
    row(1.1, 0.999, 0.05, 1.009),
    row(1.1, 0.999, 0.1, 1.008),
    row(1.1, 0.999, 0.2, 1.009),
    row(1.3, 0.8, 0.0001, 1.001),
    row(1.3, 0.8, 0.001, 1.000),
    row(1.3, 0.8, 0.003, 1.000),
    row(1.3, 0.8, 0.005, 1.000),
    row(1.3, 0.8, 0.01, 1.000),
    row(1.3, 0.8, 0.02, 1.000),
    row(1.3, 0.8, 0.05, 1.022),
    row(1.3, 0.8, 0.1, 1.017),
    row(1.3, 0.9, 0.0001, 1.001),
    row(1.3, 0.9, 0.001, 1.000),
    row(1.3, 0.9, 0.003, 1.000),
    row(1.3, 0.9, 0.005, 1.000),
    row(1.3, 0.9, 0.01, 1.000),
    row(1.3, 0.9, 0.02, 1.000),
    row(1.3, 0.9, 0.05, 1.009),
    row(1.3, 0.9, 0.1, 1.000),
    row(1.3, 0.9, 0.2, 1.002),
    row(1.3, 0.95, 0.0001, 1.001),
    row(1.3, 0.95, 0.001, 1.000),
    row(1.3, 0.95, 0.003, 1.000),
    row(1.3, 0.95, 0.005, 1.000),
    row(1.3, 0.95, 0.01, 1.000),
    row(1.3, 0.95, 0.02, 1.000),
    row(1.3, 0.95, 0.05, 1.002),
    row(1.3, 0.95, 0.1, 1.000),
    row(1.3, 0.95, 0.2, 1.000),
    row(1.3, 0.99, 0.0001, 1.003),
    row(1.3, 0.99, 0.001, 1.002),
    row(1.3, 0.99, 0.003, 1.000),
    row(1.3, 0.99, 0.005, 1.000),
    row(1.3, 0.99, 0.01, 1.000),
    row(1.3, 0.99, 0.02, 1.000),
    row(1.3, 0.99, 0.05, 1.000),
    row(1.3, 0.99, 0.1, 1.000),
    row(1.3, 0.99, 0.2, 1.000),
    row(1.3, 0.999, 0.0001, 1.020),
    row(1.3, 0.999, 0.001, 1.018),
    row(1.3, 0.999, 0.003, 1.016),
    row(1.3, 0.999, 0.005, 1.013),
    row(1.3, 0.999, 0.01, 1.007),
    row(1.3, 0.999, 0.02, 1.000),
    row(1.3, 0.999, 0.05, 1.008),
    row(1.3, 0.999, 0.1, 1.002),
    row(1.3, 0.999, 0.2, 1.005),
    row(2.0, 0.8, 0.0001, 1.001),
    row(2.0, 0.8, 0.001, 1.000),
    row(2.0, 0.8, 0.003, 1.000),
    row(2.0, 0.8, 0.005, 1.000),
    row(2.0, 0.8, 0.01, 1.000),
    row(2.0, 0.8, 0.02, 1.000),
    row(2.0, 0.8, 0.05, 1.000),
    row(2.0, 0.8, 0.1, 1.000),
    row(2.0, 0.9, 0.0001, 1.001),
    row(2.0, 0.9, 0.001, 1.000),
    row(2.0, 0.9, 0.003, 1.000),
    row(2.0, 0.9, 0.005, 1.000),
    row(2.0, 0.9, 0.01, 1.000),
    row(2.0, 0.9, 0.02, 1.000),
    row(2.0, 0.9, 0.05, 1.000),
    row(2.0, 0.9, 0.1, 1.000),
    row(2.0, 0.9, 0.2, 1.000),
    row(2.0, 0.95, 0.0001, 1.001),
    row(2.0, 0.95, 0.001, 1.000),
    row(2.0, 0.95, 0.003, 1.000),
    row(2.0, 0.95, 0.005, 1.000),
    row(2.0, 0.95, 0.01, 1.000),
    row(2.0, 0.95, 0.02, 1.000),
    row(2.0, 0.95, 0.05, 1.000),
    row(2.0, 0.95, 0.1, 1.000),
    row(2.0, 0.95, 0.2, 1.000),
    row(2.0, 0.99, 0.0001, 1.003),
    row(2.0, 0.99, 0.001, 1.001),
    row(2.0, 0.99, 0.003, 1.000),
    row(2.0, 0.99, 0.005, 1.000),
    row(2.0, 0.99, 0.01, 1.000),
    row(2.0, 0.99, 0.02, 1.000),
    row(2.0, 0.99, 0.05, 1.000),
    row(2.0, 0.99, 0.1, 1.000),
    row(2.0, 0.99, 0.2, 1.000),
    row(2.0, 0.999, 0.0001, 1.020),
    row(2.0, 0.999, 0.001, 1.018),
    row(2.0, 0.999, 0.003, 1.015),
    row(2.0, 0.999, 0.005, 1.013),
    row(2.0, 0.999, 0.01, 1.006),
    row(2.0, 0.999, 0.02, 1.000),
    row(2.0, 0.999, 0.05, 1.000),
    row(2.0, 0.999, 0.1, 1.000),
    row(2.0, 0.999, 0.2, 1.006),
];
