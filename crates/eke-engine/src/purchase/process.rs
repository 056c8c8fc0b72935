//! Which program a request belongs to, so that a dead program is distinguished from a slow one.

use std::fmt;

use eke_ledger::Address;

/// A program for as long as it runs: the machine since it was started, the process, and when that
/// was started. Requests are named after it, and such names are kept: how it is written may never
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program(String);

impl Program {
    /// The program that this is.
    pub(crate) fn current() -> Self {
        let id = std::process::id();
        Self(format!("{}.{id}.{}", boot(), started(id).unwrap_or_default()))
    }

    /// The program that holds a reservation, which is named after it.
    pub(crate) fn of_holder(holder: &str) -> Self {
        Self(holder.split_once('/').map_or(holder, |(program, _)| program).to_owned())
    }

    /// Whether it has surely ended. A name that is no program's says nothing.
    pub(crate) fn has_ended(&self, ledger: &Address) -> bool {
        let mut parts = self.0.split('.');
        let (Some(machine), Some(id), Some(start), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let (Ok(id), false) = (id.parse::<u32>(), machine.is_empty() || start.is_empty()) else {
            return false;
        };
        if machine == boot() {
            return started(id).as_deref() != Some(start);
        }
        // A file is one machine's, which has been started anew since. A database may be many
        // machines'.
        matches!(ledger, Address::File(_)) && !boot().is_empty()
    }
}

impl Program {
    /// Whether it runs, or ran, on another machine, or before this one was started anew.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.0.split('.').next().is_none_or(|machine| machine != boot())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The machine since it was started; empty where that is not known.
fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().chars().filter(|c| *c != '-').take(12).collect()
}

/// When a process was started, in ticks; none if there is none.
fn started(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program comes second, in parentheses, and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_runs_has_not_ended() {
        let file = Address::File("eke.ledger".into());
        assert!(!Program::current().has_ended(&file));
        let gone = Program(format!("{}.{}.1", boot(), u32::MAX - 3));
        assert!(gone.has_ended(&file));
        // Another machine, or the same one before it was started anew.
        let other = Program("abcdefabcdef.7.99".to_owned());
        assert!(other.has_ended(&file) && !other.has_ended(&Address::Postgres(String::new())));
        // A name that is no program's says nothing.
        assert!(!Program("keys".to_owned()).has_ended(&file));
        assert!(!Program("a..b".to_owned()).has_ended(&file));
        let holder = format!("{}/rows", Program::current());
        assert_eq!(Program::of_holder(&holder), Program::current());
    }
}
