//! A run of a program: how long it took, of the clock and of the processor, and how much memory it
//! had at most.
//!
//! Memory is what Linux keeps of a process while it runs (`VmHWM`), looked at every few
//! milliseconds: what grows in its last moments is not seen.

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::clock::{Times, children};
use super::peer::{WorkLimits, complaint};

const EVERY: Duration = Duration::from_millis(2);

/// What runs of a program took, and what the last of them printed.
#[derive(Debug, Default)]
pub struct Runs {
    /// How long.
    pub times: Times,
    /// The most bytes of memory that one had.
    pub memory: Option<u64>,
    /// What the last printed.
    pub printed: String,
}

impl Runs {
    /// Runs what `ready` makes, once to warm up and then in turns; only once if that takes long.
    /// Making it is not counted.
    ///
    /// # Errors
    /// It could not be started, or ended badly.
    pub fn new(
        limits: WorkLimits,
        mut ready: impl FnMut() -> Result<Command, Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let mut runs = Self::default();
        let mut spent = runs.run(&mut ready()?)?;
        if limits.turns > 1 && spent < limits.seconds {
            (runs.times, spent) = (Times::default(), 0.0);
        }
        while runs.times.seconds.len() < limits.turns.max(1)
            && spent + runs.times.median() <= 3.0 * limits.seconds
        {
            spent += runs.run(&mut ready()?)?;
        }
        Ok(runs)
    }

    /// Once more.
    fn run(&mut self, command: &mut Command) -> Result<f64, Box<dyn Error>> {
        let busy = children();
        let start = Instant::now();
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (process, has_ended) = (child.id(), AtomicBool::new(false));
        let (output, memory) = thread::scope(|scope| {
            let memory = scope.spawn(|| {
                let mut most = None;
                while !has_ended.load(Ordering::Relaxed) {
                    most = most.max(peak(process));
                    thread::sleep(EVERY);
                }
                most
            });
            let output = child.wait_with_output();
            has_ended.store(true, Ordering::Relaxed);
            (output, memory.join().unwrap_or_default())
        });
        let seconds = start.elapsed().as_secs_f64();
        let output = output?;
        if !output.status.success() {
            return Err(complaint(&output.stderr).into());
        }
        self.times.seconds.push(seconds);
        self.times.cpu.extend(busy.zip(children()).map(|(before, after)| after - before));
        self.memory = self.memory.max(memory);
        self.printed = String::from_utf8(output.stdout)?;
        Ok(seconds)
    }
}

/// The most bytes that a process has had, if the system says it.
fn peak(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    const LIMITS: WorkLimits =
        WorkLimits { turns: 3, seconds: 1000.0, most: Duration::from_secs(1000) };

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn every_turn_is_made_ready_and_the_first_is_not_counted() {
        let mut ready = 0;
        let runs = Runs::new(LIMITS, || {
            ready += 1;
            Ok(shell(&format!("echo {ready}")))
        });
        let runs = runs.unwrap();
        assert_eq!((ready, runs.times.seconds.len(), &*runs.printed), (4, 3, "4\n"));
        assert!(runs.times.cpu.is_empty() || runs.times.cpu.len() == 3);
    }

    #[test]
    fn what_takes_long_is_run_once_and_counted() {
        let runs = Runs::new(WorkLimits { seconds: 0.0, ..LIMITS }, || Ok(shell("echo one")));
        assert_eq!(runs.unwrap().times.seconds.len(), 1);
    }

    #[test]
    fn a_program_that_fails_says_why() {
        let failed = Runs::new(LIMITS, || Ok(shell("echo because >&2; exit 3")));
        assert_eq!(failed.unwrap_err().to_string(), "because");
    }

    #[test]
    fn the_memory_of_this_process_is_known_where_the_system_says_it() {
        let peak = peak(std::process::id());
        assert_eq!(peak.is_some(), cfg!(target_os = "linux"));
        assert!(peak.is_none_or(|bytes| bytes > 100_000));
    }
}
