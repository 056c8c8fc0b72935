//! Patience: how long a ledger waits for another program that holds its store.
//!
//! A minute in all, for everything that is asked at once. After a few seconds the ledger says what
//! it waits for. After the minute the caller gets an error, and nothing was written.

use std::time::{Duration, Instant};

/// How long a caller waits in all.
pub const LONGEST: Duration = Duration::from_secs(60);
/// How long it waits before it says so.
const SAID_AFTER: Duration = Duration::from_secs(3);
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// What it says.
const WAITING: &str =
    "another program holds the ledger: waiting for it, for a minute at the longest";

/// How time passes for a caller that waits. Tests put clocks here that do not wait.
pub trait Waiting: Send + Sync {
    /// The time since some moment.
    fn now(&self) -> Duration;

    /// Lets the given time pass.
    fn pause(&self, time: Duration);

    /// Says that something is waited for, once it has taken a few seconds.
    fn say(&self, sentence: &str);
}

/// The system's time, waited for without a word.
#[derive(Clone, Copy, Debug)]
pub struct Silently(Instant);

impl Default for Silently {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Waiting for Silently {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn say(&self, _: &str) {}
}

/// What is left of the minute.
pub struct Patience<'a> {
    waiting: &'a dyn Waiting,
    /// When the first try failed.
    since: Option<Duration>,
    said: bool,
}

impl<'a> Patience<'a> {
    /// All of it.
    #[must_use]
    pub fn new(waiting: &'a dyn Waiting) -> Self {
        Self { waiting, since: None, said: false }
    }

    /// Pauses, and says whether to try again: not once the minute is over.
    #[must_use]
    pub fn again(&mut self) -> bool {
        let now = self.waiting.now();
        let waited = now.saturating_sub(*self.since.get_or_insert(now));
        if waited >= LONGEST {
            return false;
        }
        if waited >= SAID_AFTER && !self.said {
            self.said = true;
            self.waiting.say(WAITING);
        }
        self.waiting.pause(PAUSE);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Clock(Mutex<(Duration, Vec<String>)>);

    impl Waiting for Clock {
        fn now(&self) -> Duration {
            self.0.lock().unwrap().0
        }

        fn pause(&self, time: Duration) {
            self.0.lock().unwrap().0 += time;
        }

        fn say(&self, sentence: &str) {
            self.0.lock().unwrap().1.push(sentence.into());
        }
    }

    #[test]
    fn a_minute_is_waited_and_said_once() {
        let clock = Clock::default();
        let mut patience = Patience::new(&clock);
        let mut tries = 0;
        while patience.again() {
            tries += 1;
        }
        assert_eq!((tries, clock.now()), (3000, LONGEST));
        assert!(!patience.again());
        assert_eq!(clock.0.lock().unwrap().1, [WAITING]);
    }
}
