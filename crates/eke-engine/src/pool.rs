//! Memory: how much of it a run may hold before it spills to disk.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// A pool that is shared out fairly, but for what lies between partitions on its way from one to another:
/// that is never refused.
///
/// DataFusion's exchange between partitions spills where it is refused memory, and in version 55.2 it may
/// then wait for itself for ever (apache/datafusion issue 24883). It holds a few batches for every pair of
/// partitions, and more only if one of them is much slower than the others.
#[derive(Debug)]
pub(crate) struct Pool {
    shared: FairSpillPool,
    between: AtomicUsize,
}

impl Pool {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { shared: FairSpillPool::new(bytes), between: AtomicUsize::new(0) }
    }
}

fn is_between(consumer: &MemoryConsumer) -> bool {
    consumer.can_spill() && consumer.name().starts_with("RepartitionExec")
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} bytes between", self.shared, self.between.load(Ordering::Relaxed))
    }
}

impl MemoryPool for Pool {
    fn name(&self) -> &'static str {
        "eke"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if !is_between(consumer) {
            self.shared.register(consumer);
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if !is_between(consumer) {
            self.shared.unregister(consumer);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if is_between(reservation.consumer()) {
            self.between.fetch_add(additional, Ordering::Relaxed);
        } else {
            self.shared.grow(reservation, additional);
        }
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if is_between(reservation.consumer()) {
            self.between.fetch_sub(shrink, Ordering::Relaxed);
        } else {
            self.shared.shrink(reservation, shrink);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if is_between(reservation.consumer()) {
            self.between.fetch_add(additional, Ordering::Relaxed);
            return Ok(());
        }
        self.shared.try_grow(reservation, additional)
    }

    fn reserved(&self) -> usize {
        self.shared.reserved() + self.between.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.shared.memory_limit()
    }
}
