//! Work that may break down while it reads rows, without a word on the terminal.
//!
//! A library that is given a damaged file may panic, and what a panic prints may quote what it
//! stumbled over. On threads that read rows nothing is printed: what was said is an error's detail,
//! which is the steward's.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// What the threads that read rows are called.
pub(crate) const THREADS: &str = "eke-rows";

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does something, and returns what was said if it broke down.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install();
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    done.map_err(|said| text(&*said))
}

/// What a panic said.
pub(crate) fn text(said: &(dyn Any + Send)) -> String {
    let text = said.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| said.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something broke down".to_owned())
}

/// Keeps panics of threads that read rows to themselves, and leaves others as they are.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| {
            let is_ours = std::thread::current().name() == Some(THREADS);
            if !is_ours && !QUIET.try_with(Cell::get).unwrap_or(false) {
                others(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_down_is_told_to_the_caller_alone() {
        assert_eq!(quietly(|| 7), Ok(7));
        let number = 3;
        assert_eq!(quietly(|| assert!(number < 2, "cell {number}")), Err("cell 3".to_owned()));
        assert!(!QUIET.get());
        // Inside other quiet work it stays quiet.
        let both = quietly(|| (quietly(|| panic!("one")), QUIET.get()));
        assert_eq!(both, Ok((Err("one".to_owned()), true)));
    }

    /// In a program of its own, since what is printed is the program's: quiet work, a thread that
    /// reads rows, and, as a control, work that is neither.
    #[test]
    fn what_breaks_down_prints_nothing() {
        const PART: &str = "EKE_TEST_BREAKS_DOWN";
        let breaks_down = || panic!("alice's cell");
        match std::env::var(PART).as_deref() {
            Ok("quietly") => assert!(quietly(breaks_down).is_err()),
            Ok("thread") => {
                install();
                let thread = std::thread::Builder::new().name(THREADS.to_owned());
                assert!(thread.spawn(breaks_down).unwrap().join().is_err());
            }
            Ok(_) => {
                install();
                assert!(catch_unwind(breaks_down).is_err());
            }
            Err(_) => {
                for (part, printed) in [("quietly", false), ("thread", false), ("aloud", true)] {
                    let name = concat!(module_path!(), "::what_breaks_down_prints_nothing");
                    let (_, name) = name.split_once("::").unwrap();
                    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
                    let program = program.args([name, "--exact", "--nocapture"]).env(PART, part);
                    let output = program.output().unwrap();
                    let said = [output.stdout, output.stderr].concat();
                    let said = String::from_utf8_lossy(&said);
                    assert!(output.status.success(), "{part}: {said}");
                    assert_eq!(said.contains("alice's cell"), printed, "{part}: {said}");
                }
            }
        }
    }
}
