//! Tickets: an answer that somebody else is working on, to be waited for or awaited.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::LedgerError;

/// A result that will come. Threads [`wait`](Ticket::wait) for it, tasks `.await` it.
///
/// Dropping it does not take back what was asked: a charge that is under way is made, and stays
/// made.
#[must_use = "what was asked is under way: wait for the ticket to know how it went"]
#[derive(Debug)]
pub struct Ticket<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
}

#[derive(Debug)]
struct State<T> {
    result: Option<Result<T, LedgerError>>,
    waker: Option<Waker>,
}

/// The other end of a ticket. Dropped without a result, it says that the ledger has stopped.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    shared: Option<Arc<Shared<T>>>,
}

/// A ticket and its other end.
pub(crate) fn ticket<T>() -> (Reply<T>, Ticket<T>) {
    let state = Mutex::new(State { result: None, waker: None });
    let shared = Arc::new(Shared { state, ready: Condvar::new() });
    (Reply { shared: Some(Arc::clone(&shared)) }, Ticket { shared })
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Ticket<T> {
    /// Waits for the result.
    ///
    /// # Errors
    /// What was asked was not done; the error says why.
    pub fn wait(self) -> Result<T, LedgerError> {
        let mut state = self.shared.state();
        loop {
            if let Some(result) = state.result.take() {
                return result;
            }
            state = self.shared.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Future for Ticket<T> {
    type Output = Result<T, LedgerError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.state();
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Reply<T> {
    pub(crate) fn send(mut self, result: Result<T, LedgerError>) {
        self.fulfil(result);
    }

    fn fulfil(&mut self, result: Result<T, LedgerError>) {
        let Some(shared) = self.shared.take() else { return };
        let mut state = shared.state();
        state.result = Some(result);
        let waker = state.waker.take();
        drop(state);
        shared.ready.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.fulfil(Err(LedgerError::Stopped("its writer has ended".into())));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;

    use super::*;

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_ticket_can_be_awaited() {
        let (reply, mut ticket) = ticket();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut ticket).poll(&mut context).is_pending());
        reply.send(Ok(7));
        assert!(woken.0.load(Ordering::SeqCst));
        assert!(matches!(Pin::new(&mut ticket).poll(&mut context), Poll::Ready(Ok(7))));
    }

    #[test]
    fn a_ticket_whose_other_end_is_gone_says_that_the_ledger_has_stopped() {
        let (reply, ticket) = ticket::<()>();
        drop(reply);
        assert!(matches!(ticket.wait(), Err(LedgerError::Stopped(_))));
    }
}
