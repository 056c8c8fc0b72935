//! Ctrl-C, and being asked to end in other ways: what is paid for is kept first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody wants to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    asked: Arc<AtomicBool>,
    /// Whether somebody is being asked something, and nothing is under way.
    idle: Arc<AtomicBool>,
}

impl Stop {
    /// Listens from now on. The first signal asks; the second ends the program at once, and loses
    /// what was paid for and not stored.
    #[cfg(unix)]
    pub(crate) fn listen() -> Self {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let stop = Self::default();
        // Without it, a signal ends the program as it always did.
        if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            let asked = stop.clone();
            std::thread::spawn(move || {
                for _ in signals.forever() {
                    let is_idle = asked.idle.load(Ordering::SeqCst);
                    if asked.asked.swap(true, Ordering::SeqCst) || is_idle {
                        std::process::exit(i32::from(INTERRUPTED));
                    }
                    // Nobody may be there to read it.
                    let _ = std::io::Write::write_all(
                        &mut std::io::stderr(),
                        b"\neke: stopping when what is paid for is kept; once more to stop at once\n",
                    );
                }
            });
        }
        stop
    }

    /// Nothing to listen to.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> Self {
        Self::default()
    }

    /// Whether somebody has asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// While nothing is under way, one signal ends the program.
    pub(crate) fn idle<T>(&self, during: impl FnOnce() -> T) -> T {
        self.idle.store(true, Ordering::SeqCst);
        let done = during();
        self.idle.store(false, Ordering::SeqCst);
        done
    }
}

/// The exit code of what was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;
