//! Which program a request belongs to, so that one that has died can be told from one that is slow.

use eke_ledger::Address;

/// The name of this program for as long as it runs: the machine since it was started, the process,
/// and when that was started.
pub(crate) fn name() -> String {
    let id = std::process::id();
    format!("{}.{id}.{}", boot(), started(id).unwrap_or_default())
}

/// Whether the program that made a key of ours has surely ended.
pub(crate) fn has_ended(key: &str, ledger: &Address) -> bool {
    let Some((program, _)) = key.split_once('/') else { return false };
    let mut parts = program.split('.');
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
    // A file is one machine's, which has been started anew since. A database may be many machines'.
    matches!(ledger, Address::File(_)) && !boot().is_empty()
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
        let key = format!("{}/0123/7", name());
        assert!(!has_ended(&key, &file));
        let gone = format!("{}.{}.1/0123/7", boot(), u32::MAX - 3);
        assert!(has_ended(&gone, &file));
        // Another machine, or the same one before it was started anew.
        let other = "abcdefabcdef.7.99/0123/7";
        assert!(has_ended(other, &file) && !has_ended(other, &Address::Postgres(String::new())));
        // A key that is not ours says nothing.
        assert!(!has_ended("keys/12/0", &file) && !has_ended("x", &file));
    }
}
