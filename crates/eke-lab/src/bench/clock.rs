//! How long something takes, on the clock and of the processor.
//!
//! Processor time is what the operating system says, where it says it: on Linux, in files. It is of
//! one thread, or of all children that have ended; work that is measured by a thread's own time
//! must not start others.

use std::error::Error;
use std::fs;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// What every turn took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Seconds on the clock.
    pub seconds: Vec<f64>,
    /// Seconds of the processor, turn by turn; empty if they are not known.
    #[serde(default)]
    pub cpu: Vec<f64>,
}

impl Times {
    /// The median turn on the clock.
    #[must_use]
    pub fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// The median turn of the processor, if it is known.
    #[must_use]
    pub fn cpu(&self) -> Option<f64> {
        (!self.cpu.is_empty()).then(|| median(&self.cpu))
    }
}

/// Does something once to warm up and then in turns, and says how long they took and what came out
/// of the last.
///
/// # Errors
/// Those of what is done.
pub fn timed<T>(
    turns: usize,
    mut run: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<(Times, T), Box<dyn Error>> {
    let mut times = Times::default();
    let mut last = run()?;
    for _ in 0..turns.max(1) {
        let busy = thread();
        let start = Instant::now();
        last = run()?;
        let seconds = start.elapsed().as_secs_f64();
        times.seconds.push(seconds);
        if let (Some(before), Some(after)) = (busy, thread()) {
            // A thread is never busy for longer than the clock says; what is more is asking.
            times.cpu.push((after - before).min(seconds));
        }
    }
    if times.cpu.len() < times.seconds.len() {
        times.cpu.clear();
    }
    Ok((times, last))
}

/// The middle one, or the mean of the two in the middle; zero of none.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        many if many % 2 == 1 => values[many / 2],
        many => f64::midpoint(values[many / 2 - 1], values[many / 2]),
    }
}

/// Seconds of the processor that this thread has had up to now.
fn thread() -> Option<f64> {
    // Giving way once brings the books up to date.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

/// The same of all children that have ended.
pub(super) fn children() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold anything; after it, the fourteenth and fifteenth are what we
    // look for.
    let mut numbers = text.rsplit_once(") ")?.1.split(' ').skip(13);
    let user: f64 = numbers.next()?.parse().ok()?;
    let system: f64 = numbers.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]).to_bits(), 2.0f64.to_bits());
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]).to_bits(), 2.5f64.to_bits());
        assert_eq!(median(&[]).to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn the_first_turn_is_not_counted() {
        let mut runs = 0;
        let both = timed(3, || {
            runs += 1;
            Ok(runs)
        });
        let (times, last) = both.unwrap();
        assert_eq!((times.seconds.len(), last), (3, 4));
        assert!(times.cpu.is_empty() || times.cpu.len() == 3);
    }
}
