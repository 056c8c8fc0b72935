//! A register: durable accounts of many people in one SQLite file, a row each.
//!
//! What a question may cost each person is reserved on disk before anything is drawn, for all of
//! them in one transaction, and settled at what was spent, together with the answer and what has
//! been released of each person's place. What was reserved and never settled stays taken: a crash
//! can lose budget, never privacy. What a register is for is pinned when it is made, budgets never
//! change, nobody is ever removed, and what somebody has spent never falls.
//!
//! Who is enrolled, with which budget, and what everybody has spent follow from what is public or
//! was released. A dataset has the name that the steward gives it and not a digest of its rows:
//! whether two questions are about the same places would otherwise show whether somebody has moved.

mod entry;
mod error;
mod open;
mod people;
mod work;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use eke_budget::{Amount, Metric, Rho};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

pub use entry::{Happened, RegisterLine};
pub use error::RegisterError;
pub use people::Person;

use crate::request::{LONGEST_NAME, LONGEST_TEXT};
use crate::store::grains::signed;
use crate::store::sqlite::sentence;
use crate::{Digest, Stamp};
use people::People;
use work::{Work, bytes_of, disagree, seen_digest};

/// What a register is for: pinned when it is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// What distances are measured by, and how far the promise reaches.
    pub metric: Metric,
    /// Where places are: a text that means something to the maker of the register.
    pub space: Arc<str>,
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// A question that amounts are to be reserved for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking<'a> {
    /// Its text: all of what the answer depends on but the places.
    pub question: &'a str,
    /// What the places are called.
    pub dataset: &'a str,
    /// What tells places that have changed from those that were asked about before.
    pub fingerprint: &'a str,
    /// Which program answers it.
    pub holder: &'a str,
    /// Who asks, and when.
    pub stamp: Stamp,
}

/// What somebody gets whose account cannot pay what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// What is left.
    Fit,
    /// Nothing.
    Nothing,
}

/// What comes of asking.
#[derive(Debug, PartialEq, Eq)]
pub enum Reserved {
    /// Amounts are reserved.
    Granted(Reservation),
    /// The question was answered before: this is what was said, free.
    Answered(Vec<u8>),
}

/// What is reserved for a question, person by person: the right to spend that much of it, once.
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    number: u64,
    dataset: Digest,
    question: Digest,
    granted: Vec<(u32, Amount<Rho>)>,
}

impl Reservation {
    /// The number of the question.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Who has how much reserved, in the order in which they were named.
    #[must_use]
    pub fn granted(&self) -> &[(u32, Amount<Rho>)] {
        &self.granted
    }
}

/// How a question ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// What everybody has spent, in the order in which they were granted something.
    pub spent: Vec<Amount<Rho>>,
    /// What has now been released of people's places, by their numbers; the rest is as it was.
    pub seen: Vec<(u32, Vec<u8>)>,
    /// The answer; none if there is none after all, and then the question may be asked again.
    pub answer: Option<Vec<u8>>,
}

/// A question that is being answered, or whose program has died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Its number.
    pub number: u64,
    /// Its text.
    pub question: Arc<str>,
    /// What the places are called.
    pub dataset: Arc<str>,
    /// Which program answers it.
    pub holder: Arc<str>,
    /// When it was asked.
    pub at: String,
    /// How many people take part.
    pub people: u64,
}

/// Where a register's journal ended at some time, to be kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterAnchor {
    /// The name that the register was given when it was made.
    pub register: String,
    /// How many lines there were.
    pub lines: u64,
    /// The head of the chain after them.
    pub head: Digest,
}

/// Accounts of many people in one file.
///
/// - Theorem: register (docs/theorems.md)
/// - Proves: no account ever has more spent and reserved than its budget, whatever is asked in
///   whatever order, by however many programs, and however they end
/// - Assumes: nothing is drawn beyond what was reserved and the prices of draws are fixed before
///   them (caller); the disk keeps what it says it has synced
/// - Deviates: nothing; amounts are exact
/// - Checked by: `no_order_of_questions_ever_exceeds_an_account`,
///   `killed_at_random_moments_a_register_gives_nothing_back`
#[derive(Debug)]
pub struct Register {
    connection: Connection,
    name: String,
    terms: Terms,
    /// Why nothing is done any more.
    stopped: Option<String>,
    /// The folder of the file, until it has been synced.
    folder: Option<PathBuf>,
}

impl Register {
    /// What the register is for.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Everybody, in the order in which they were enrolled: the first has number 0.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn people(&mut self) -> Result<Vec<Person>, RegisterError> {
        self.read(|work| Ok(std::mem::take(&mut work.people.rows)))
    }

    /// Enrols those who are not enrolled yet, each with this budget, and says how many they were.
    /// People who are enrolled keep their accounts.
    ///
    /// # Errors
    /// An id is empty or too long, or the file failed.
    pub fn enrol(
        &mut self,
        ids: &[impl AsRef<str>],
        budget: Amount<Rho>,
        stamp: &Stamp,
    ) -> Result<u64, RegisterError> {
        for id in ids {
            check_length("an id", id.as_ref(), LONGEST_NAME)?;
        }
        self.write(|work| {
            let mut known: HashSet<String> =
                work.people.rows.iter().map(|person| person.id.clone()).collect();
            let before = work.people.count();
            for id in ids {
                if known.insert(id.as_ref().to_owned()) {
                    work.people.add(work.connection, id.as_ref(), budget)?;
                }
            }
            let people = work.people.count() - before;
            if people > 0 {
                work.append(stamp, Happened::Enrolled { people, budget })?;
            }
            Ok(people)
        })
    }

    /// Reserves amounts for a question, on disk and in one transaction; or gives the answer that it
    /// has had. People are named by their numbers, rising.
    ///
    /// # Errors
    /// Another question about the same places is being answered, people are not named in order, or
    /// the file failed.
    pub fn reserve(
        &mut self,
        asking: &Asking<'_>,
        wanted: &[(u32, Amount<Rho>)],
        short: Short,
    ) -> Result<Reserved, RegisterError> {
        check_length("a question", asking.question, LONGEST_TEXT)?;
        check_length("the name of a dataset", asking.dataset, LONGEST_NAME)?;
        check_length("a fingerprint", asking.fingerprint, LONGEST_NAME)?;
        check_length("the name of a program", asking.holder, LONGEST_NAME)?;
        let dataset = Digest::of_parts([asking.dataset]);
        let question = Digest::of_parts([asking.dataset, asking.question]);
        self.write(|work| {
            work.pin(dataset, asking)?;
            if let Some(answer) = work.answer(question)? {
                return Ok(Reserved::Answered(answer));
            }
            if let Some((number, holder)) = work.holder(dataset)? {
                return Err(RegisterError::UnderWay { number, holder });
            }
            let people = work.people.rows.len();
            let rising = wanted.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !rising || wanted.last().is_some_and(|last| last.0 as usize >= people) {
                return Err(RegisterError::Who(people));
            }
            let granted: Vec<(u32, Amount<Rho>)> = wanted
                .iter()
                .map(|&(number, amount)| {
                    let left = work.people.rows[number as usize].left();
                    let granted = match short {
                        _ if amount <= left => amount,
                        Short::Fit => left,
                        Short::Nothing => Amount::ZERO,
                    };
                    (number, granted)
                })
                .collect();
            let number = work.last.entry.line + 1;
            let held = bytes_of(&granted);
            let sql =
                "INSERT INTO reservation (line, dataset, holder, held) VALUES (?1, ?2, ?3, ?4)";
            work.connection.prepare_cached(sql)?.execute(params![
                signed(number),
                dataset.bytes(),
                asking.holder,
                held
            ])?;
            for &(person, amount) in &granted {
                let account = &work.people.rows[person as usize];
                let reserved = account.reserved.plus(amount).unwrap_or(Amount::MAX);
                let spent = account.spent;
                work.people.update(work.connection, person, (spent, reserved))?;
            }
            let what = Happened::Reserved {
                question: asking.question.into(),
                dataset: asking.dataset.into(),
                holder: asking.holder.into(),
                people: granted.len() as u64,
                amounts: Digest::of(&held),
            };
            work.append(&asking.stamp, what)?;
            Ok(Reserved::Granted(Reservation { number, dataset, question, granted }))
        })
    }

    /// Ends a question: what each has spent is spent, the rest goes back, and the answer and what
    /// was released of places are stored, in one transaction. Only then may the answer be shown.
    ///
    /// # Errors
    /// Somebody is said to have spent more than was reserved, the question was given up, or the
    /// file failed. All of it stays reserved.
    pub fn settle(
        &mut self,
        reservation: &Reservation,
        settled: &Settled,
        stamp: &Stamp,
    ) -> Result<(), RegisterError> {
        let &Reservation { number, dataset, question, ref granted } = reservation;
        let (people, amounts) = (granted.len(), settled.spent.len());
        if people != amounts {
            return Err(RegisterError::Amounts { people, amounts });
        }
        self.write(|work| {
            if work.held(number)? != *granted {
                return Err(RegisterError::NotUnderWay(number));
            }
            let mut paid = Vec::with_capacity(people);
            for (&(person, held), &spent) in granted.iter().zip(&settled.spent) {
                if spent > held {
                    return Err(RegisterError::TooMuch(number));
                }
                work.take(person, held, spent)?;
                paid.push((person, spent));
            }
            let sql = "INSERT INTO seen (dataset, person, bytes, digest) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (dataset, person) DO UPDATE SET bytes = excluded.bytes, digest = excluded.digest";
            let mut write = work.connection.prepare_cached(sql)?;
            for (person, bytes) in &settled.seen {
                let digest = seen_digest(dataset, *person, bytes);
                write.execute(params![dataset.bytes(), person, bytes, digest.bytes()])?;
            }
            work.end(number)?;
            let answer = settled.answer.as_deref().map(Digest::of);
            let what = Happened::Settled { question: number, amounts: Digest::of(&bytes_of(&paid)), answer };
            let line = work.append(stamp, what)?;
            if let Some(answer) = &settled.answer {
                let sql = "INSERT INTO answer (question, line, body) VALUES (?1, ?2, ?3)";
                let stored = params![question.bytes(), signed(line), answer];
                work.connection.prepare_cached(sql)?.execute(stored)?;
            }
            Ok(())
        })
    }

    /// Gives a question up that will never be answered: what was reserved for it is spent, for
    /// good.
    ///
    /// # Errors
    /// It is not being answered, or the file failed.
    pub fn give_up(&mut self, number: u64, stamp: &Stamp) -> Result<(), RegisterError> {
        self.write(|work| {
            for (person, held) in work.held(number)? {
                work.take(person, held, held)?;
            }
            work.end(number)?;
            work.append(stamp, Happened::GivenUp { question: number })?;
            Ok(())
        })
    }

    /// The questions that are being answered, or whose program has died, the first asked first.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn under_way(&mut self) -> Result<Vec<UnderWay>, RegisterError> {
        self.look(|work| {
            let mut found = Vec::new();
            for number in work.under_way()? {
                let entry = entry::read(work.connection, number)?;
                let Happened::Reserved { question, dataset, holder, people, .. } = entry.what
                else {
                    return Err(RegisterError::Damaged(
                        "a reservation is not in its journal".into(),
                    ));
                };
                let (number, at) = (entry.line, entry.at);
                found.push(UnderWay { number, question, dataset, holder, at, people });
            }
            Ok(found)
        })
    }

    /// The answer that a question about a dataset has had.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn answer(
        &mut self,
        dataset: &str,
        question: &str,
    ) -> Result<Option<Vec<u8>>, RegisterError> {
        self.look(|work| work.answer(Digest::of_parts([dataset, question])))
    }

    /// What the places of a dataset were pinned as when they were first asked about.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn fingerprint(&mut self, dataset: &str) -> Result<Option<String>, RegisterError> {
        let dataset = Digest::of_parts([dataset]);
        self.look(|work| work.pinned(dataset))
    }

    /// What has been released of the places of a dataset, by people's numbers.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn seen(&mut self, dataset: &str) -> Result<Vec<(u32, Vec<u8>)>, RegisterError> {
        let dataset = Digest::of_parts([dataset]);
        self.look(|work| {
            let sql = "SELECT person, bytes, digest FROM seen WHERE dataset = ?1 ORDER BY person";
            let mut statement = work.connection.prepare_cached(sql)?;
            let mut rows = statement.query([dataset.bytes()])?;
            let mut seen = Vec::new();
            while let Some(row) = rows.next()? {
                let (person, bytes): (u32, Vec<u8>) = (row.get(0)?, row.get(1)?);
                let digest: Vec<u8> = row.get(2)?;
                if seen_digest(dataset, person, &bytes).bytes()[..] != digest[..] {
                    return Err(RegisterError::Damaged(
                        "what was released of a place cannot be read".into(),
                    ));
                }
                seen.push((person, bytes));
            }
            Ok(seen)
        })
    }

    /// The journal, from its first line on.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn journal(&mut self) -> Result<Vec<RegisterLine>, RegisterError> {
        self.look(|work| {
            let mut entries = Vec::new();
            entry::walk(work.connection, work.name, |entry| entries.push(entry))?;
            Ok(entries)
        })
    }

    /// Where the journal ends now.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn anchor(&mut self) -> Result<RegisterAnchor, RegisterError> {
        self.look(|work| {
            let (lines, head) = (work.last.entry.line + 1, work.last.head);
            Ok(RegisterAnchor { register: work.name.to_owned(), lines, head })
        })
    }

    /// Looks through all of it: every line follows from the one before, accounts come to what the
    /// last line says, and what is reserved is what open questions hold.
    ///
    /// # Errors
    /// Something does not agree, or the file cannot be read.
    pub fn verify(&mut self) -> Result<(), RegisterError> {
        self.read(|work| {
            entry::walk(work.connection, work.name, |_| {})?;
            let mut reserved = vec![Amount::<Rho>::ZERO; work.people.rows.len()];
            for number in work.under_way()? {
                for (person, held) in work.held(number)? {
                    let sum = reserved.get_mut(person as usize);
                    let sum = sum.ok_or_else(|| disagree("somebody who is not enrolled"))?;
                    *sum = sum.plus(held).ok_or_else(|| disagree("more than there is"))?;
                }
            }
            let agree = work.people.rows.iter().zip(&reserved);
            if !agree.into_iter().all(|(person, held)| person.reserved == *held) {
                return Err(disagree("other amounts than accounts do"));
            }
            Ok(())
        })
    }

    /// Whether the journal still begins as an anchor says.
    ///
    /// # Errors
    /// It does not, or the file cannot be read.
    pub fn check_anchor(&mut self, anchor: &RegisterAnchor) -> Result<(), RegisterError> {
        self.look(|work| {
            let sql = "SELECT digest FROM journal WHERE line = ?1";
            let line = anchor.lines.checked_sub(1).map(signed);
            let head: Option<Vec<u8>> =
                work.connection.query_row(sql, [line], |row| row.get(0)).optional()?;
            entry::walk(work.connection, work.name, |_| {})?;
            let same = head.is_some_and(|head| head[..] == anchor.head.bytes()[..]);
            if work.name == anchor.register && same {
                return Ok(());
            }
            Err(RegisterError::Damaged("it is not the register that the anchor was made of".into()))
        })
    }

    /// Works on a snapshot, and writes nothing.
    fn read<T>(
        &mut self,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        self.look(|at| {
            at.people = People::read(at.connection, at.last.entry.people, at.last.entry.seal)?;
            work(at)
        })
    }

    /// Works on a snapshot without its accounts.
    fn look<T>(
        &mut self,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        self.go("BEGIN")?;
        let result = entry::last(&self.connection, &self.name).and_then(|last| {
            let (connection, name) = (&self.connection, &*self.name);
            work(&mut Work { connection, name, last, people: People::none() })
        });
        self.connection.execute_batch("ROLLBACK")?;
        result
    }

    /// Works in a transaction that is on disk when this returns; an error leaves everything as it
    /// was.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Work<'_>) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        self.go("BEGIN IMMEDIATE")?;
        let result = Work::begin(&self.connection, &self.name).and_then(|mut at| work(&mut at));
        let done = match result {
            Ok(done) => done,
            Err(error) => {
                if let Err(error) = self.connection.execute_batch("ROLLBACK") {
                    self.stopped = Some(sentence(&error));
                }
                return Err(error);
            }
        };
        // Whatever goes wrong from here on, it may be on disk or not.
        let end = || {
            self.connection.execute_batch("COMMIT")?;
            let checkpoint = "PRAGMA wal_checkpoint(PASSIVE)";
            self.connection.query_row(checkpoint, [], |row| row.get::<_, i64>(0))
        };
        let ended = end().map_err(|error| sentence(&error)).and_then(|_| sync(&mut self.folder));
        if let Err(why) = ended {
            self.stopped = Some(why.clone());
            return Err(RegisterError::Stopped(why));
        }
        Ok(done)
    }

    fn go(&self, begin: &str) -> Result<(), RegisterError> {
        match &self.stopped {
            Some(why) => Err(RegisterError::Stopped(why.clone())),
            None => Ok(self.connection.execute_batch(begin)?),
        }
    }
}

fn check_length(what: &'static str, text: &str, most: usize) -> Result<(), RegisterError> {
    let length = text.len();
    if length == 0 || length > most || text.contains('\0') {
        return Err(RegisterError::Length { what, most, length });
    }
    Ok(())
}

/// Makes sure that the log is found again: it may be new, and SQLite does not tell when the folder
/// that names it could not be synced.
fn sync(folder: &mut Option<PathBuf>) -> Result<(), String> {
    let Some(folder) = folder.take() else { return Ok(()) };
    // Folders cannot be opened or synced everywhere; where they can, it must succeed.
    #[cfg(unix)]
    std::fs::File::open(&folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| format!("the folder of its file could not be synced: {error}"))?;
    Ok(())
}
