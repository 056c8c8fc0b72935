//! A network that fails: the connection to PostgreSQL is cut at every message of a script, before
//! it arrives and before it is answered.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use eke_ledger::{Address, Ledger, LedgerError};

use crate::Place;
use crate::script::{check, check_retries, play};

/// A connection passed on, and cut when a given number of messages has been sent to the server.
struct Wire {
    address: Address,
    left: Arc<AtomicI64>,
}

impl Wire {
    /// Puts a wire between a place and its server. Messages count from when it is armed.
    fn new(place: &Place, arrives: bool) -> Self {
        let Address::Postgres(url) = place.address() else { panic!("not PostgreSQL") };
        // postgres://eke@%2Ffolder:port/database?options
        let (user, rest) = url.split_once('@').unwrap();
        let (host, rest) = rest.split_once(':').unwrap();
        let (port, rest) = rest.split_once('/').unwrap();
        let server = PathBuf::from(host.replace("%2F", "/")).join(format!(".s.PGSQL.{port}"));
        let socket = place.folder().join(format!(".s.PGSQL.{port}"));
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let counter = Arc::clone(&left);
        // Both threads of a connection end with it, and this one with the tests.
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&server) else { return };
                pass_on(client, server, Arc::clone(&counter), arrives);
            }
        });
        let host = place.folder().to_str().unwrap().replace('/', "%2F");
        Self { address: Address::Postgres(format!("{user}@{host}:{port}/{rest}")), left }
    }
}

fn pass_on(client: UnixStream, server: UnixStream, left: Arc<AtomicI64>, arrives: bool) {
    let (mut from_server, mut to_client) =
        (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let (mut client, mut server) = (client, server);
        let mut buffer = vec![0; 1 << 20];
        while let Ok(read) = client.read(&mut buffer) {
            if read == 0 {
                break;
            }
            let now = left.fetch_sub(1, Ordering::SeqCst) == 1;
            if now {
                // Nobody hears the answer, whether the message arrives or not.
                let _ = client.shutdown(Shutdown::Both);
            }
            if now && !arrives {
                break;
            }
            if server.write_all(&buffer[..read]).is_err() || now {
                break;
            }
        }
        if arrives {
            // The server finishes what it was asked before it notices.
            let _ = server.shutdown(Shutdown::Write);
        } else {
            let _ = server.shutdown(Shutdown::Both);
        }
    });
}

#[test]
fn a_connection_cut_at_any_message_loses_no_charge_and_gives_no_answer() {
    for arrives in [false, true] {
        let mut cuts = 0;
        loop {
            let Some(place) = Place::postgres() else { return };
            drop(crate::riders(&place, "1"));
            let wire = Wire::new(&place, arrives);
            let ledger = Ledger::open(&wire.address).unwrap();
            cuts += 1;
            wire.left.store(cuts, Ordering::SeqCst);
            let told = play(&ledger, |_| {});
            if let Some(end) = &told.end {
                assert!(matches!(end, LedgerError::Stopped(_)), "{end}");
                let said = end.to_string();
                assert!(said.contains("the connection to PostgreSQL was lost"), "{said}");
                assert!(crate::charge(&ledger, "late", crate::spend("0.01")).is_err());
            }
            drop(ledger);
            // Waits until the server has finished with what it was asked.
            let other = crate::riders(&place, "1");
            other
                .give_up("riders", crate::path(9), crate::key("none"), crate::stamp("s"))
                .wait()
                .ok();
            check(&place, &told);
            check_retries(&other, &told);
            if told.end.is_none() {
                break;
            }
        }
        assert!(cuts > 15, "the connection was cut {cuts} times only");
    }
}
