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
        use signal_hook::iterator::Signals;
        let stop = Self::default();
        let asked = stop.clone();
        let (ready, is_ready) = std::sync::mpsc::channel();
        // Without it, a signal ends the program as it always did.
        let _ = std::thread::Builder::new().spawn(move || {
            let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
            let _ = ready.send(());
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
        // Nothing is sent where nobody listens.
        let _ = is_ready.recv();
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

    /// What was asked for has been done: from now on somebody may ask again.
    pub(crate) fn forget(&self) {
        self.asked.store(false, Ordering::SeqCst);
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
