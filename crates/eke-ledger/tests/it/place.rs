//! Places where tests keep ledgers: a scratch folder, or a scratch schema in PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use eke_ledger::journal::Report;
use eke_ledger::store::{Sqlite, Store};
use eke_ledger::{Address, Ledger, verify};
use postgres::{Client, NoTls};
use tempfile::TempDir;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Where a test keeps its ledger. It is taken away afterwards.
pub(crate) struct Place {
    folder: TempDir,
    schema: Option<(String, String)>,
}

impl Place {
    /// A file in a folder of its own.
    pub(crate) fn file() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), schema: None }
    }

    /// A schema of its own; none where the tests have no PostgreSQL.
    pub(crate) fn postgres() -> Option<Self> {
        let Ok(url) = std::env::var("EKE_TEST_POSTGRES") else {
            eprintln!("skipped on PostgreSQL: run ./test, or scripts/with-postgres cargo test");
            return None;
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        client(&url).batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        Some(Self { folder: tempfile::tempdir().unwrap(), schema: Some((url, schema)) })
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.schema.is_some()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file of the ledger.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("eke.ledger")
    }

    pub(crate) fn address(&self) -> Address {
        match &self.schema {
            None => Address::File(self.path()),
            Some((url, schema)) => {
                Address::Postgres(format!("{url}?options=-csearch_path%3D{schema}"))
            }
        }
    }

    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::open(&self.address()).unwrap()
    }

    pub(crate) fn store(&self) -> Box<dyn Store> {
        match self.address() {
            Address::File(path) => Box::new(Sqlite::open(&path).unwrap()),
            Address::Postgres(url) => Box::new(eke_ledger::store::Postgres::open(&url).unwrap()),
        }
    }

    pub(crate) fn verify(&self) -> Report {
        verify(&mut *self.address().read_only().unwrap(), None).unwrap()
    }

    /// Checks that an audit finds nothing.
    pub(crate) fn is_sound(&self) {
        assert_eq!(self.verify().findings, []);
    }

    /// Runs SQL behind the ledger's back, with its triggers out of the way. Tables are named as in
    /// SQLite.
    pub(crate) fn tamper(&self, sql: &str) -> u64 {
        match &self.schema {
            None => {
                let connection = rusqlite::Connection::open(self.path()).unwrap();
                let drop = "DROP TRIGGER IF EXISTS journal_is_not_edited; \
                            DROP TRIGGER IF EXISTS journal_is_not_cut; \
                            DROP TRIGGER IF EXISTS account_never_gives_back; \
                            DROP TRIGGER IF EXISTS account_budget_is_for_good; \
                            DROP TRIGGER IF EXISTS account_stays;";
                connection.execute_batch(drop).unwrap();
                connection.execute(sql, []).unwrap() as u64
            }
            Some((url, schema)) => {
                let mut client = client(url);
                let drop =
                    format!("SET search_path = {schema}; SET session_replication_role = replica;");
                client.batch_execute(&drop).unwrap();
                let mut sql = sql.to_owned();
                for table in
                    ["account", "journal", "question", "request", "answer", "level", "point"]
                {
                    for word in ["UPDATE", "FROM", "INTO"] {
                        let (from, to) =
                            (format!("{word} {table} "), format!("{word} eke_{table} "));
                        sql = sql.replace(&from, &to);
                    }
                }
                let sql = sql.replace("x'", "'\\x");
                client.execute(sql.as_str(), &[]).unwrap()
            }
        }
    }
}

fn client(url: &str) -> Client {
    Client::connect(url, NoTls).unwrap()
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((url, schema)) = &self.schema {
            let _ = client(url).batch_execute(&format!("DROP SCHEMA {schema} CASCADE"));
        }
    }
}

/// Runs a test on a file, and on PostgreSQL where there is one.
pub(crate) fn on_every_store(test: impl Fn(&Place)) {
    test(&Place::file());
    if let Some(place) = Place::postgres() {
        test(&place);
    }
}
