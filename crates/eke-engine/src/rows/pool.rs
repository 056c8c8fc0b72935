//! Memory: how much of it a run may hold before it spills to disk.
//!
//! Nothing here decides whether there is an answer: an operator that can spill is made to, and one
//! that cannot gets what it asks for.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// A pool that is shared out fairly among those who can spill, beyond what each needs to go on at
/// all. Others are never refused: they hold a few batches each, and would fail.
///
/// Nor is what lies between partitions on its way from one to another. DataFusion's exchange
/// between partitions spills where it is refused memory, and in version 55.2 it may then wait for
/// itself for ever (apache/datafusion issue 24883). It holds a few batches for every pair of
/// partitions, and more only if one of them is much slower than the others.
#[derive(Debug)]
pub(crate) struct Pool {
    shared: FairSpillPool,
    /// What an operator that can spill has without asking.
    least: usize,
    given: AtomicUsize,
}

/// What an operator that can spill has at least: enough for a batch, whatever it holds.
const LEAST: usize = 4 << 20;
/// Or, if that is more, this part of all there is.
const PART: usize = 32;

impl Pool {
    pub(crate) fn new(bytes: usize) -> Self {
        let least = (bytes / PART).max(LEAST);
        Self { shared: FairSpillPool::new(bytes), least, given: AtomicUsize::new(0) }
    }
}

fn is_given(consumer: &MemoryConsumer) -> bool {
    !consumer.can_spill() || consumer.name().starts_with("RepartitionExec")
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} bytes given", self.shared, self.given.load(Ordering::Relaxed))
    }
}

impl MemoryPool for Pool {
    fn name(&self) -> &'static str {
        "eke"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if !is_given(consumer) {
            self.shared.register(consumer);
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if !is_given(consumer) {
            self.shared.unregister(consumer);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if is_given(reservation.consumer()) {
            self.given.fetch_add(additional, Ordering::Relaxed);
        } else {
            self.shared.grow(reservation, additional);
        }
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if is_given(reservation.consumer()) {
            self.given.fetch_sub(shrink, Ordering::Relaxed);
        } else {
            self.shared.shrink(reservation, shrink);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if is_given(reservation.consumer()) {
            self.given.fetch_add(additional, Ordering::Relaxed);
            return Ok(());
        }
        if reservation.size().saturating_add(additional) <= self.least {
            self.shared.grow(reservation, additional);
            return Ok(());
        }
        self.shared.try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.shared.reserved() + self.given.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.shared.memory_limit()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_consumer_that_cannot_spill_is_never_refused_and_others_only_beyond_what_they_need() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(1000));
        let cannot = MemoryConsumer::new("merge").register(&pool);
        let can = MemoryConsumer::new("aggregate").with_can_spill(true).register(&pool);
        let between =
            MemoryConsumer::new("RepartitionExec[0]").with_can_spill(true).register(&pool);
        for reservation in [&cannot, &between] {
            assert!(reservation.try_grow(64 << 20).is_ok());
        }
        assert!(can.try_grow(LEAST).is_ok());
        assert!(can.try_grow(1).is_err());
        assert_eq!(pool.reserved(), (128 << 20) + LEAST);
        drop((cannot, can, between));
        assert_eq!(pool.reserved(), 0);
    }
}
