//! Slots: the moments at which answers leave, so that how long they took tells next to nothing.
//!
//! An answer to an analyst leaves a first slot after its question came in, or 2, 4, 8 times as long
//! after it. How long the first slot is follows from the policy alone. One that misses it counts as
//! a failure: which slot it took may have been up to rows.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The first slot where a policy does not say it.
pub const USUAL_SLOT: Duration = Duration::from_secs(1);

/// What time it is, and waiting.
pub trait Clock: Sync {
    /// How long it is since some moment, the same one every time.
    fn now(&self) -> Duration;

    /// Waits until it is so long since that moment.
    fn wait_until(&self, moment: Duration);
}

/// The clock of the system.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        START.elapsed()
    }

    fn wait_until(&self, moment: Duration) {
        std::thread::sleep(moment.saturating_sub(self.now()));
    }
}

/// A clock that stands still: nothing is late, and nothing is waited for. For tests, and for
/// programs whose answers leave on slots of their own.
#[derive(Clone, Copy, Debug)]
pub struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait_until(&self, _: Duration) {}
}

/// The slot that something leaves on which has taken so long: how long it lasts in all.
#[must_use]
pub fn slot(first: Duration, taken: Duration) -> Duration {
    let mut slot = first.max(Duration::from_millis(1));
    while slot < taken {
        slot = slot.saturating_mul(2);
    }
    slot
}

/// A question that came in, and the slots on which its answer may leave.
pub(crate) struct Leaving<'a> {
    clock: &'a dyn Clock,
    came: Duration,
    first: Duration,
}

impl<'a> Leaving<'a> {
    pub(crate) fn since(clock: &'a dyn Clock, came: Duration, first: Duration) -> Self {
        Self { clock, came, first }
    }

    fn taken(&self) -> Duration {
        self.clock.now().saturating_sub(self.came)
    }

    /// How long it has taken, if that is longer than the first slot.
    pub(crate) fn late(&self) -> Option<Duration> {
        Some(self.taken()).filter(|taken| *taken > self.first)
    }

    /// Waits for the first slot.
    pub(crate) fn wait_first(&self) {
        self.clock.wait_until(self.came.saturating_add(self.first));
    }

    /// Waits for the next slot.
    pub(crate) fn wait(&self) {
        self.clock.wait_until(self.came.saturating_add(slot(self.first, self.taken())));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A clock that is set by hand and notes what it was asked to wait for.
    struct ByHand(Mutex<(Duration, Vec<Duration>)>);

    impl Clock for ByHand {
        fn now(&self) -> Duration {
            self.0.lock().unwrap().0
        }

        fn wait_until(&self, moment: Duration) {
            let mut state = self.0.lock().unwrap();
            state.0 = state.0.max(moment);
            state.1.push(moment);
        }
    }

    #[test]
    fn answers_leave_at_the_first_slot_or_a_power_of_two_times_it() {
        let millis = Duration::from_millis;
        let clock = ByHand(Mutex::new((millis(10_000), Vec::new())));
        let expected = [(1, 500), (500, 500), (501, 1_000), (1_001, 2_000), (17_000, 32_000)];
        for (taken, leaves) in expected {
            let came = clock.now();
            let leaving = Leaving::since(&clock, came, millis(500));
            clock.0.lock().unwrap().0 += millis(taken);
            assert_eq!(leaving.late().is_some(), taken > 500);
            if leaving.late().is_none() {
                leaving.wait_first();
            } else {
                leaving.wait();
            }
            assert_eq!(clock.now() - came, millis(leaves), "{taken}");
            assert_eq!(slot(millis(500), millis(taken)), millis(leaves));
        }
        // A slot of nothing is no slot, and what never ends has no end.
        assert_eq!(slot(Duration::ZERO, Duration::ZERO), millis(1));
        assert!(slot(millis(1), Duration::MAX) == Duration::MAX);
    }
}
