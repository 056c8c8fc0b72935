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
        let tolerances = neighbours(TOLERANCES.into_iter(), tolerance)?;
        let confidences = neighbours(TABLE.iter().map(|row| row.confidence), confidence)?;
        let is_near = |ends: (f64, f64), at: f64| ends.0 <= at && at <= ends.1;
        let (mut kappa, mut rows): (f64, u32) = (0.0, 0);
        for row in TABLE {
            if is_near(ratios, row.ratio) && is_near(confidences, row.confidence) {
                let columns = TOLERANCES.into_iter().zip(row.kappas);
                for (_, &near) in columns.filter(|&(at, _)| is_near(tolerances, at)) {
                    kappa = kappa.max(near);
                    rows += 1;
                }
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
struct Row {
    ratio: f64,
    confidence: f64,
    /// K over `quantile/tolerance`, for each of the tolerances as far as the law of what is
    /// released does not depend on the truth.
    kappas: &'static [f64],
}

const fn row(ratio: f64, confidence: f64, kappas: &'static [f64]) -> Row {
    Row { ratio, confidence, kappas }
}

/// The tolerances of the columns.
const TOLERANCES: [f64; 9] = [1e-4, 1e-3, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

/// The ratio of the looks, the confidence, and kappa for each tolerance.
const TABLE: &[Row] = &[
    row(1.05, 0.8, &[1.015, 1.016, 1.018, 1.019, 1.024, 1.023, 1.012, 1.017]),
    row(1.05, 0.9, &[1.008, 1.009, 1.011, 1.012, 1.017, 1.016, 1.007, 1.000, 1.003]),
    row(1.05, 0.95, &[1.004, 1.005, 1.007, 1.009, 1.015, 1.013, 1.009, 1.000, 1.000]),
    row(1.05, 0.99, &[1.003, 1.003, 1.004, 1.006, 1.011, 1.009, 1.006, 1.001, 1.001]),
    row(1.05, 0.999, &[1.020, 1.019, 1.017, 1.019, 1.023, 1.021, 1.014, 1.015, 1.016]),
    row(1.1, 0.8, &[1.011, 1.012, 1.014, 1.015, 1.021, 1.028, 1.024, 1.018]),
    row(1.1, 0.9, &[1.002, 1.003, 1.005, 1.006, 1.010, 1.020, 1.019, 1.013, 1.000]),
    row(1.1, 0.95, &[1.001, 1.000, 1.000, 1.001, 1.006, 1.015, 1.000, 1.005, 1.000]),
    row(1.1, 0.99, &[1.003, 1.002, 1.000, 1.000, 1.001, 1.010, 1.008, 1.004, 1.002]),
    row(1.1, 0.999, &[1.020, 1.019, 1.016, 1.014, 1.013, 1.022, 1.009, 1.008, 1.009]),
    row(1.3, 0.8, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.022, 1.017]),
    row(1.3, 0.9, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.009, 1.000, 1.002]),
    row(1.3, 0.95, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.002, 1.000, 1.000]),
    row(1.3, 0.99, &[1.003, 1.002, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
    row(1.3, 0.999, &[1.020, 1.018, 1.016, 1.013, 1.007, 1.000, 1.008, 1.002, 1.005]),
    row(2.0, 0.8, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
    row(2.0, 0.9, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
    row(2.0, 0.95, &[1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
    row(2.0, 0.99, &[1.003, 1.001, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000]),
    row(2.0, 0.999, &[1.020, 1.018, 1.015, 1.013, 1.006, 1.000, 1.000, 1.000, 1.006]),
];
