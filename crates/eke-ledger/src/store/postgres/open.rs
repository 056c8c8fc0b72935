//! Making, opening and upgrading a ledger in a database.

use std::collections::HashMap;
use std::time::Duration;

use ::postgres::{Client, Config, NoTls};

use super::{Postgres, sentence};
use crate::LedgerError;

/// How the format came to be, a step a version. Steps are added, never changed.
const STEPS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];
/// The version of the format that this program writes.
const FORMAT: i64 = 2;
/// A lock that a program holds while it makes or upgrades a ledger: `ekel`.
const UPGRADE_LOCK: i64 = 0x656b_656c;
/// How long a connection may take to be made, and another program may hold a lock.
const PATIENCE: Duration = Duration::from_secs(10);

impl Postgres {
    /// Opens the ledger in a database, and makes it if there is none. Blocks until it is open.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or was written by a newer eke.
    pub fn open(url: &str) -> Result<Self, LedgerError> {
        Self::on_its_own_thread(url, true)
    }

    /// Opens the ledger in a database to read it. It must be there, and of this version.
    ///
    /// # Errors
    /// It cannot be opened, is not a ledger, or is of another version.
    pub fn read_only(url: &str) -> Result<Self, LedgerError> {
        Self::on_its_own_thread(url, false)
    }

    /// The client has an event loop of its own, which cannot start on a thread that runs one.
    fn on_its_own_thread(url: &str, makes: bool) -> Result<Self, LedgerError> {
        let opened = std::thread::scope(|scope| {
            scope.spawn(|| Self::open_with(url, makes)).join().unwrap_or_else(|_| {
                Err("its client ended early, which is a defect of eke's".to_owned())
            })
        });
        opened.map_err(|why| {
            LedgerError::Open(format!("the ledger in PostgreSQL cannot be opened: {why}").into())
        })
    }

    fn open_with(url: &str, makes: bool) -> Result<Self, String> {
        let mut config: Config = url.parse().map_err(|_| {
            "its address is not one: write postgres://user:password@host:port/database".to_owned()
        })?;
        config.connect_timeout(PATIENCE);
        config.application_name("eke");
        let mut client = config.connect(NoTls).map_err(|error| sentence(&error))?;
        settings(&mut client)?;
        if makes {
            upgrade(&mut client)?;
        }
        let format = check(&mut client)?;
        if format < FORMAT {
            return Err(format!(
                "it has format {format}, and this eke reads format {FORMAT}: open it once for writing, which upgrades it"
            ));
        }
        let ledger = client
            .query_one("SELECT value FROM eke_meta WHERE name = 'ledger'", &[])
            .map_err(|error| sentence(&error))?
            .get(0);
        Ok(Self { client, ledger, statements: HashMap::new(), in_transaction: false })
    }
}

/// A commit is on disk when it returns, and nobody waits for a lock for ever.
fn settings(client: &mut Client) -> Result<(), String> {
    let said = |error: ::postgres::Error| sentence(&error);
    for setting in ["fsync", "full_page_writes"] {
        let row = client.query_one(&format!("SHOW {setting}"), &[]).map_err(said)?;
        if row.get::<_, &str>(0) != "on" {
            return Err(format!(
                "PostgreSQL does not keep what it commits (`{setting}` is off): switch it on"
            ));
        }
    }
    // `on` waits for this server's disk, and for those of its synchronous standbys if it has some.
    // A program that waits longer for a lock tries again.
    let wanted = "SET synchronous_commit = on; SET lock_timeout = '1s'; \
                  SET standard_conforming_strings = on";
    client.batch_execute(wanted).map_err(said)
}

/// The version of the ledger that is there; zero if there is none.
fn format_of(client: &mut Client) -> Result<i64, String> {
    let said = |error: ::postgres::Error| sentence(&error);
    let there: bool =
        client.query_one("SELECT to_regclass('eke_meta') IS NOT NULL", &[]).map_err(said)?.get(0);
    if !there {
        return Ok(0);
    }
    let row =
        client.query_opt("SELECT value FROM eke_meta WHERE name = 'format'", &[]).map_err(said)?;
    let format = row.and_then(|row| row.get::<_, String>(0).parse().ok());
    let format =
        format.ok_or("its table `eke_meta` is not an eke ledger's: look at the address")?;
    if format > FORMAT {
        return Err(format!(
            "it has format {format}, and this eke knows formats up to {FORMAT}: use the newer eke that wrote it"
        ));
    }
    Ok(format)
}

fn check(client: &mut Client) -> Result<i64, String> {
    match format_of(client)? {
        0 => Err("there is no ledger in the database: look at the address".into()),
        format => Ok(format),
    }
}

/// Makes the tables, or those that are missing.
fn upgrade(client: &mut Client) -> Result<(), String> {
    if format_of(client)? == FORMAT {
        return Ok(());
    }
    let said = |error: ::postgres::Error| sentence(&error);
    client.batch_execute("BEGIN").map_err(said)?;
    client.execute("SELECT pg_advisory_xact_lock($1)", &[&UPGRADE_LOCK]).map_err(said)?;
    // Somebody else may have come first.
    let format = format_of(client)?;
    for (step, version) in STEPS.iter().zip(1..) {
        if version > format {
            client.batch_execute(step).map_err(said)?;
        }
    }
    if format == 0 {
        let sql =
            "INSERT INTO eke_meta VALUES ('ledger', replace(gen_random_uuid()::text, '-', ''))";
        client.batch_execute(sql).map_err(said)?;
    }
    let sql = "INSERT INTO eke_meta VALUES ('format', $1) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    client.execute(sql, &[&FORMAT.to_string()]).map_err(said)?;
    client.batch_execute("COMMIT").map_err(said)
}
