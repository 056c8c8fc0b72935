//! What Laplace noise costs above a line, by comparing a line with one that is moved.

use crate::Change;

/// Prices for one unit of sensitivity, the scales of the two noises given in that unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaplaceLine {
    pub(crate) line: f64,
    pub(crate) query: f64,
    pub(crate) change: Change,
}

impl LaplaceLine {
    /// For halting at step t.
    ///
    /// - Theorem: laplace-line (docs/theorems.md)
    /// - Proves: the line compared with one moved by the sensitivity up, down or not at all bounds
    ///   the loss of every transcript; the least of these bounds holds
    /// - Assumes: one unit changes every answer by at most the sensitivity (caller)
    /// - Deviates: nothing
    /// - Checked by: `laplace_lines_never_cost_more_than_is_said`
    pub(crate) fn halting_at(&self, t: u64) -> f64 {
        let before = (t - 1) as f64;
        let (line, query) = (1.0 / self.line, 1.0 / self.query);
        match self.change {
            Change::General => {
                let still = (before + 1.0) * query;
                still.min(line + 2.0 * query).min(line + 2.0 * before * query)
            }
            Change::Monotone => {
                // All answers up, so that the last one halts sooner, or all down, so that the
                // others do not.
                let raised = query.min(line + before * query);
                let lowered = (before * query).min(line + query);
                raised.max(lowered)
            }
        }
    }

    /// For having stopped after t steps without a halt.
    pub(crate) fn without_halt(&self, t: u64) -> f64 {
        let steps = t as f64;
        (steps / self.query).min(1.0 / self.line)
    }
}
