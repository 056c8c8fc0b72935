//! Tickets: an answer that somebody else is working on, to be waited for or awaited.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

use oneshot::{AsyncReceiver, Receiver, RecvError, Sender};

use crate::LedgerError;

/// A result that will come. Threads [`wait`](Ticket::wait) for it, tasks `.await` it.
///
/// Dropping it does not take back what was asked: a charge that is under way is made, and stays
/// made.
#[must_use = "what was asked is under way: wait for the ticket to know how it went"]
#[derive(Debug)]
pub struct Ticket<T> {
    result: Receiver<Result<T, LedgerError>>,
}

/// A ticket that a task awaits.
#[must_use = "what was asked is under way: await it to know how it went"]
#[derive(Debug)]
pub struct AwaitedTicket<T> {
    result: AsyncReceiver<Result<T, LedgerError>>,
}

/// The other end of a ticket. Dropped without a result, it says that the ledger has stopped.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    result: Sender<Result<T, LedgerError>>,
}

/// A ticket and its other end.
pub(crate) fn ticket<T>() -> (Reply<T>, Ticket<T>) {
    let (reply, ticket) = oneshot::channel();
    (Reply { result: reply }, Ticket { result: ticket })
}

impl<T> Ticket<T> {
    /// Waits for the result.
    ///
    /// # Errors
    /// What was asked was not done; the error says why.
    pub fn wait(self) -> Result<T, LedgerError> {
        self.result.recv().unwrap_or_else(ended)
    }
}

impl<T> IntoFuture for Ticket<T> {
    type Output = Result<T, LedgerError>;
    type IntoFuture = AwaitedTicket<T>;

    fn into_future(self) -> AwaitedTicket<T> {
        AwaitedTicket { result: self.result.into_future() }
    }
}

impl<T> Future for AwaitedTicket<T> {
    type Output = Result<T, LedgerError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(context).map(|result| result.unwrap_or_else(ended))
    }
}

fn ended<T>(_: RecvError) -> Result<T, LedgerError> {
    Err(LedgerError::Stopped("its writer has ended".into()))
}

impl<T> Reply<T> {
    pub(crate) fn send(self, result: Result<T, LedgerError>) {
        // A caller that dropped its ticket does not want to know.
        let _ = self.result.send(result);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Wake, Waker};

    use super::*;

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_ticket_can_be_awaited() {
        let (reply, ticket) = ticket();
        let mut ticket = ticket.into_future();
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
