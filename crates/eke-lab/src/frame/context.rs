//! What an experiment is given: how much of it to run, from which seed, on which data and cores.
//!
//! Every trial has a generator of its own, which follows from the seed, the experiment, the point
//! (what is tried, in words) and the number of the trial. So results do not depend on how many
//! cores there are, or on which other points are tried.

use std::error::Error;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use indicatif::ProgressBar;

use crate::frame::data::Data;
use crate::frame::experiment::{Experiment, Size};
use eke_testkit::Seeded;

/// What an experiment is given.
pub struct Context {
    name: &'static str,
    size: Size,
    trials: u32,
    seed: u64,
    threads: usize,
    data: Data,
    bar: ProgressBar,
}

impl Context {
    /// For an experiment of a size, with its own number of trials, seed 1, all cores, and the data
    /// of that size.
    #[must_use]
    pub fn new(experiment: &Experiment, size: Size) -> Self {
        let data = match size {
            Size::Smoke => Data::made_up(1),
            Size::Full | Size::Quick => Data::of_environment(),
        };
        Self {
            name: experiment.name,
            size,
            trials: experiment.trials.of(size),
            seed: 1,
            threads: thread::available_parallelism().map_or(1, usize::from),
            data,
            bar: ProgressBar::hidden(),
        }
    }

    /// With another number of trials.
    #[must_use]
    pub fn with_trials(self, trials: u32) -> Self {
        Self { trials: trials.max(1), ..self }
    }

    /// With another seed, from which made-up data follow too.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        let data = self.data.with_seed(seed);
        Self { seed, data, ..self }
    }

    /// On this number of cores.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// With a bar that shows how far it is.
    #[must_use]
    pub fn with_bar(self, bar: ProgressBar) -> Self {
        Self { bar, ..self }
    }

    /// How much to run.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// What is meant for this size.
    #[must_use]
    pub fn pick<T>(&self, full: T, quick: T, smoke: T) -> T {
        self.size.pick(full, quick, smoke)
    }

    /// How many trials of each point.
    #[must_use]
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// What decides all draws.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The data: real ones, or made up if the size is [`Size::Smoke`].
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The generator of one trial of a point.
    #[must_use]
    pub fn entropy(&self, point: &str, trial: u32) -> Seeded {
        Seeded::of(self.seed, &[self.name, point], trial)
    }

    /// What `n` trials of a point come to, in their order.
    ///
    /// # Errors
    /// The error of the first trial that has one, in words.
    pub fn each_trial<T: Send>(
        &self,
        point: &str,
        n: u32,
        trial: impl Fn(u32, &mut Seeded) -> Result<T, Box<dyn Error>> + Sync,
    ) -> Result<Vec<T>, Box<dyn Error>> {
        self.each(n as usize, |index| {
            let number = u32::try_from(index)?;
            trial(number, &mut self.entropy(point, number))
        })
    }

    /// The results of n jobs, in their order; all cores take part. A job that draws takes its
    /// generator from [`Self::entropy`].
    ///
    /// # Errors
    /// The error of the first job that has one, in words.
    pub fn each<T: Send>(
        &self,
        jobs: usize,
        job: impl Fn(usize) -> Result<T, Box<dyn Error>> + Sync,
    ) -> Result<Vec<T>, Box<dyn Error>> {
        self.bar.inc_length(jobs as u64);
        let threads = self.threads.min(jobs.max(1));
        // Blocks large enough that taking one costs nothing, and small enough that no thread waits
        // at the end.
        let block = (jobs / (threads * 16)).clamp(1, 4096);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done = Mutex::new(Vec::<(usize, Vec<_>)>::new());
        let work = || {
            loop {
                let start = next.fetch_add(block, Ordering::Relaxed);
                if start >= jobs || failed.load(Ordering::Relaxed) {
                    break;
                }
                let end = (start + block).min(jobs);
                let mut results = Vec::with_capacity(end - start);
                for index in start..end {
                    let result = job(index).map_err(|error| error.to_string());
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    results.push(result);
                }
                self.bar.inc((end - start) as u64);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((start, results));
            }
        };
        if threads == 1 {
            work();
        } else {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            });
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(start, _)| *start);
        let results = done.into_iter().flat_map(|(_, results)| results);
        Ok(results.collect::<Result<Vec<T>, String>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context::new(&crate::frame::experiment::experiments()[0], Size::Smoke)
    }

    #[test]
    fn trials_are_the_same_on_one_core_and_on_many() {
        let words = |threads: usize, n: u32| {
            let context = context().with_threads(threads);
            context.each_trial("here", n, |trial, entropy| Ok((trial, entropy.word()))).unwrap()
        };
        let one = words(1, 1000);
        assert_eq!(one, words(2, 1000));
        assert_eq!(one, words(7, 1000));
        assert_eq!(one[..10], words(3, 10)[..], "more trials are more of the same");
        assert!(
            one.iter().enumerate().all(|(index, (trial, _))| u32::try_from(index) == Ok(*trial))
        );
        assert_eq!(words(2, 0), []);
    }

    #[test]
    fn seeds_points_experiments_and_trials_have_generators_of_their_own() {
        let first = &crate::frame::experiment::experiments()[0];
        let second = &crate::frame::experiment::experiments()[1];
        let of = |experiment, seed, point, trial| {
            let context = Context::new(experiment, Size::Smoke).with_seed(seed);
            context.entropy(point, trial).word()
        };
        let words = [
            of(first, 1, "a", 0),
            of(first, 2, "a", 0),
            of(first, 1, "b", 0),
            of(first, 1, "a", 1),
            of(second, 1, "a", 0),
        ];
        for (index, word) in words.iter().enumerate() {
            assert!(!words[..index].contains(word), "{index}");
        }
        assert_eq!(words[0], of(first, 1, "a", 0));
    }

    #[test]
    fn the_first_error_is_told() {
        let failing = |index: usize| if index == 700 { Err("no".into()) } else { Ok(index) };
        for threads in [1, 2] {
            let error = context().with_threads(threads).each(1000, failing).unwrap_err();
            assert_eq!(error.to_string(), "no");
        }
    }
}
