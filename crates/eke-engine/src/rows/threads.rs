//! The threads that rows are read on, and how much memory they may take: found out before anything
//! is charged.

use std::fs;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::rows::quiet::{self, THREADS, quietly};

/// We go through expressions by recursion, which takes more stack than a caller may have.
const STACK: usize = 32 << 20;
/// Threads that wait for disks. They are all started at once: one that the system refuses later
/// would be waited for for ever.
const WAITING: usize = 4;
/// How long threads may take to start.
const PATIENCE: Duration = Duration::from_secs(5);
/// What a run takes before it spills, if there is as much.
const USUAL_MEMORY: usize = 2 << 30;
/// Less than this is too little to start with.
const LEAST_MEMORY: usize = 64 << 20;

/// The threads, all of them started.
///
/// # Errors
/// The system does not give them, or not enough memory.
pub(crate) fn threads() -> Result<&'static Runtime, String> {
    static STARTED: Mutex<Option<&'static Runtime>> = Mutex::new(None);
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = *started {
        return Ok(runtime);
    }
    let too_little = || "there is too little memory to read rows".to_owned();
    if memory() < LEAST_MEMORY {
        return Err(too_little());
    }
    quiet::install();
    let runtime = quietly(start).map_err(|_| no_threads())??;
    // Threads take some of it themselves, for their stacks and what they allocate from.
    if memory() < LEAST_MEMORY {
        runtime.shutdown_background();
        return Err(too_little());
    }
    Ok(*started.insert(Box::leak(Box::new(runtime))))
}

fn start() -> Result<Runtime, String> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let runtime = Builder::new_multi_thread()
        .worker_threads(cores)
        .max_blocking_threads(WAITING)
        .thread_keep_alive(Duration::from_secs(1 << 30))
        .thread_stack_size(STACK)
        .thread_name(THREADS)
        .build()
        .map_err(|_| no_threads())?;
    let (told, starts) = mpsc::channel();
    let ends: Vec<mpsc::Sender<()>> = (0..WAITING)
        .map(|_| {
            let (end, ended) = mpsc::channel::<()>();
            let told = told.clone();
            let begun = quietly(|| {
                runtime.spawn_blocking(move || {
                    let _ = told.send(());
                    // Until all of them have started.
                    let _ = ended.recv();
                });
            });
            begun.map(|()| end)
        })
        .collect::<Result<_, _>>()
        .map_err(|_| no_threads())?;
    let started = (0..WAITING).all(|_| starts.recv_timeout(PATIENCE).is_ok());
    drop(ends);
    if started {
        return Ok(runtime);
    }
    runtime.shutdown_background();
    Err(no_threads())
}

fn no_threads() -> String {
    "the system does not let as many threads start as it takes to read rows".to_owned()
}

/// How much memory a run may take before it spills: two gigabytes, or half of what the system has
/// for us.
pub(crate) fn memory() -> usize {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let limits = read("/proc/self/limits");
    let space = field(&limits, "Max address space").map(|limit| {
        let used = field(&read("/proc/self/statm"), "").unwrap_or(0).saturating_mul(4096);
        limit.saturating_sub(used)
    });
    let free = field(&read("/proc/meminfo"), "MemAvailable:").map(|kilobytes| kilobytes << 10);
    let group = field(&read("/sys/fs/cgroup/memory.max"), "");
    let least = [space, free, group].into_iter().flatten().min();
    let half = least.map_or(u64::MAX, |least| least / 2);
    usize::try_from(half).unwrap_or(usize::MAX).min(USUAL_MEMORY)
}

/// The number after a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_system_are_read() {
        let limits = "Limit   Soft   Hard\nMax address space         314572800            unlimited            bytes\n";
        assert_eq!(field(limits, "Max address space"), Some(314_572_800));
        assert_eq!(field("Max address space   unlimited  unlimited", "Max address space"), None);
        assert_eq!(field("MemTotal: 5 kB\nMemAvailable:   77 kB\n", "MemAvailable:"), Some(77));
        assert_eq!((field("max\n", ""), field("1234 56\n", "")), (None, Some(1234)));
        assert!((LEAST_MEMORY..=USUAL_MEMORY).contains(&memory()));
    }

    #[test]
    fn threads_are_started_once() {
        let (one, other) = (threads().unwrap(), threads().unwrap());
        assert!(std::ptr::eq(one, other));
    }
}
