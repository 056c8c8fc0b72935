//! Many people with one place each, and an account for everyone.
//!
//! The accounts lie in a register: a region, a least distance and a reach are pinned when it is
//! made, and everybody's budget, rho per square metre, when they are enrolled. People whom a file
//! names are enrolled: who takes part is public. Everybody who is enrolled is asked and pays by the
//! same rules, whatever the file says of them, so that nothing shows who has rows: somebody without
//! a place counts as being at the centre of the region, and of several places the last one counts.
//!
//! What a question may cost is reserved on disk for everybody before anything is drawn, and settled
//! at what was spent before anything is shown. A question whose program died stays paid in full.
//! What has been released of people's places is kept, so that a later question about the same
//! places goes on from there.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eke_budget::metric::Reach;
use eke_budget::{Amount, Metres, Metric, Rho};
use eke_geo::{Lattice, Place, Region};
use eke_ledger::register::{Asking, RegisterError, Reserved, Short};
use eke_ledger::{Person as Account, Register, Stamp, Terms};
use eke_sql::Value;

use super::input::PlaceRow;
use super::release::damaged;
use super::{PlaceFile, PlacesError, WrongAsking};
use crate::purchase::process::Program;
use crate::purchase::reservation;

/// The accounts of many people with one place each, open (geo-indistinguishability).
#[doc(alias = "geo-indistinguishability")]
pub struct People {
    pub(super) register: Register,
    path: PathBuf,
    lattice: Lattice,
    reach: Metres,
    pub(super) rounds: Option<RoundsTold>,
}

/// Told how many rounds of a question there were, how many there may be, and how many people go on.
pub(super) type RoundsTold = Arc<dyn Fn(usize, usize, usize) + Send + Sync>;

impl fmt::Debug for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("People").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What a register is made for, once and for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeopleOpening {
    /// Where people are.
    pub region: Region,
    /// The distance from which on prices per metre hold; a metre unless said.
    pub least: Option<Metres>,
    /// How far apart two places of somebody may be and still be promised to look alike; all of the
    /// region unless said.
    pub reach: Option<Metres>,
}

/// How accounts stand, all of them: what is left to everyone, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PeopleStanding {
    /// How many people are enrolled.
    pub people: usize,
    /// The most that anybody may spend for good, rho per square metre.
    pub budget: f64,
    /// The least that anybody has left, rho per square metre.
    pub least: f64,
    /// What a quarter of them have no more than.
    pub quarter: f64,
    /// What half of them have no more than.
    pub half: f64,
    /// What three quarters of them have no more than.
    pub three_quarters: f64,
    /// The most that anybody has left.
    pub most: f64,
}

/// Everybody who is enrolled, by number, and where they are.
pub(super) struct Everyone {
    /// How many they are. People who are enrolled later are not asked.
    pub(super) people: u32,
    /// As on the lattice, two coordinates each.
    pub(super) points: Vec<i64>,
}

impl People {
    /// Opens the accounts in a file. If there is none it is made, if it is said for what; what it
    /// was made for stays.
    ///
    /// # Errors
    /// There is no such file and nothing to make it for, or it was made for something else.
    pub fn open(path: &Path, opening: Option<&PeopleOpening>) -> Result<Self, PlacesError> {
        if !path.exists() {
            let Some(opening) = opening else {
                return Err(WrongAsking::NoPeople { path: path.to_owned() }.into());
            };
            let least = opening.least.unwrap_or(Metres::ONE);
            let lattice = Lattice::of(opening.region, least).map_err(WrongAsking::from)?;
            let radius = opening.region.radius().get();
            let reach = opening.reach.map_or_else(|| Metres::new(2.0 * radius), Ok)?;
            let space = serde_json::to_string(&lattice).map_err(damaged)?;
            let metric = Metric::Euclidean(Reach::Within(reach));
            let terms = Terms { metric, space: space.into() };
            Register::create(path, &terms, &Stamp::now("steward"))?;
        }
        let register = Register::open(path)?;
        let other = || PlacesError::from(WrongAsking::OtherFile { path: path.to_owned() });
        let Metric::Euclidean(Reach::Within(reach)) = register.terms().metric else {
            return Err(other());
        };
        let lattice: Lattice =
            serde_json::from_str(&register.terms().space).map_err(|_| other())?;
        let region = lattice.region().ok_or_else(other)?;
        let people = Self { register, path: path.to_owned(), lattice, reach, rounds: None };
        if let Some(opening) = opening {
            people.check(region, opening)?;
        }
        Ok(people)
    }

    /// Calls this after every round of a question: how many rounds there were, how many there may
    /// be, and how many people go on. All of it may be shown.
    pub fn watch_rounds(&mut self, told: impl Fn(usize, usize, usize) + Send + Sync + 'static) {
        self.rounds = Some(Arc::new(told));
    }

    /// Where people are put.
    #[must_use]
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// How accounts stand.
    ///
    /// # Errors
    /// The register cannot be read.
    pub fn standing(&mut self) -> Result<PeopleStanding, PlacesError> {
        let accounts = self.register.people()?;
        let budget = accounts.iter().map(|account| account.budget).max();
        let mut left: Vec<Amount<Rho>> = accounts.iter().map(Account::left).collect();
        left.sort_unstable();
        let at = |quarters: usize| match left.len() {
            0 => 0.0,
            people => left[(people - 1) * quarters / 4].to_f64(),
        };
        Ok(PeopleStanding {
            people: left.len(),
            budget: budget.map_or(0.0, Amount::to_f64),
            least: at(0),
            quarter: at(1),
            half: at(2),
            three_quarters: at(3),
            most: at(4),
        })
    }

    /// Whether places of a name are those that were asked about before, if they were.
    pub(super) fn check_same(
        &mut self,
        dataset: &str,
        fingerprint: &str,
    ) -> Result<(), PlacesError> {
        match self.register.fingerprint(dataset)? {
            Some(pinned) if pinned != fingerprint => {
                Err(RegisterError::OtherPlaces(dataset.into()).into())
            }
            _ => Ok(()),
        }
    }

    /// Enrols the people whom a file names and who are not enrolled yet, and says where everybody
    /// is. The first function gets the number of rows read so far, the second the number of people
    /// that there will be: nobody is enrolled if it says no.
    pub(super) fn everyone(
        &mut self,
        file: &PlaceFile,
        budget: Option<Amount<Rho>>,
        seen: &dyn Fn(u64),
        check: impl FnOnce(usize) -> Result<(), PlacesError>,
    ) -> Result<Everyone, PlacesError> {
        let rows = file.rows(seen)?;
        let mut enrolled = self.register.people()?;
        let known: HashSet<&str> = enrolled.iter().map(|person| &*person.id).collect();
        let is_new = |row: &PlaceRow| row.id.as_deref().is_some_and(|id| !known.contains(id));
        // Before anybody gets an account, and then never again.
        if rows.iter().any(is_new) {
            file.check_rows(&rows)?;
        }
        let (ids, places) = last_places(rows);
        let new = ids.iter().filter(|id| !known.contains(id.as_str())).count();
        if enrolled.is_empty() && new == 0 {
            return Err(WrongAsking::Nobody { file: file.name().to_owned() }.into());
        }
        check(enrolled.len() + new)?;
        if new > 0 {
            let budget = budget.ok_or_else(|| WrongAsking::NotEnrolled {
                people: new,
                file: file.name().to_owned(),
            })?;
            self.register.enrol(&ids, budget, &Stamp::now("steward"))?;
            enrolled = self.register.people()?;
        }
        let centre = vec![0i64; self.lattice.dimensions()];
        let mut points = Vec::with_capacity(enrolled.len() * centre.len());
        for person in &enrolled {
            let place = places.get(&person.id).copied().flatten();
            let point = place.and_then(|place| self.lattice.put_place(place));
            points.extend(point.as_ref().unwrap_or(&centre));
        }
        Ok(Everyone { people: u32::try_from(enrolled.len()).unwrap_or(u32::MAX), points })
    }

    /// Reserves an allowance for each of the people; for people who have less left, that. What a
    /// program that died has reserved is given up.
    pub(super) fn reserve(
        &mut self,
        question: &str,
        (dataset, fingerprint): (&str, &str),
        (people, allowance): (u32, Amount<Rho>),
    ) -> Result<Reserved, PlacesError> {
        let wanted: Vec<(u32, Amount<Rho>)> =
            (0..people).map(|person| (person, allowance)).collect();
        let holder = format!("{}/places", Program::current());
        let stamp = Stamp::now("steward");
        let asking = Asking { question, dataset, fingerprint, holder: &holder, stamp };
        let (register, file) = (&mut self.register, &self.path);
        Ok(reservation::reserve(register, file, &asking, &wanted, Short::Fit)?)
    }

    fn check(&self, region: Region, opening: &PeopleOpening) -> Result<(), PlacesError> {
        let same = opening.region == region
            && opening.least.is_none_or(|least| least == self.lattice.least())
            && opening.reach.is_none_or(|reach| reach == self.reach);
        if same {
            return Ok(());
        }
        Err(WrongAsking::MadeFor {
            path: self.path.clone(),
            region,
            least: self.lattice.least(),
            reach: self.reach,
        }
        .into())
    }
}

/// Everybody whom rows name, in the order in which they are named first, and their last place: that
/// of the latest time, if there are times, and of equal ones the last row's. A row without an id is
/// nobody's.
fn last_places(rows: Vec<PlaceRow>) -> (Vec<String>, HashMap<String, Option<Place>>) {
    let mut ids = Vec::new();
    let mut last: HashMap<String, (Moment, Option<Place>)> = HashMap::new();
    for row in rows {
        let Some(id) = row.id else { continue };
        let moment = Moment::of(row.time);
        match last.get_mut(&id) {
            None => {
                ids.push(id.clone());
                last.insert(id, (moment, row.place));
            }
            Some(at) if at.0 <= moment => *at = (moment, row.place),
            Some(_) => {}
        }
    }
    (ids, last.into_iter().map(|(id, (_, place))| (id, place)).collect())
}

/// When a row was: numbers by size, whichever way they are written, and before texts.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Moment {
    Unknown,
    Number(f64),
    Text(String),
}

impl Moment {
    fn of(value: Option<Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Unknown,
            Some(Value::Bool(truth)) => Self::Number(f64::from(u8::from(truth))),
            Some(Value::Int(number) | Value::Timestamp(number)) => Self::Number(number as f64),
            Some(Value::Float(number)) => Self::Number(number),
            Some(Value::Date(days)) => Self::Number(f64::from(days)),
            Some(Value::Text(text)) => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Self::Number(number),
                _ => Self::Text(text),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, time: Option<Value>, longitude: f64) -> PlaceRow {
        PlaceRow {
            place: Place::new(longitude, 0.0).ok(),
            id: Some(id.into()),
            time,
            ..PlaceRow::default()
        }
    }

    #[test]
    fn of_several_places_the_last_one_counts() {
        let text = |time: &str| Some(Value::Text(time.into()));
        let east = |rows: Vec<PlaceRow>| {
            let (ids, places) = last_places(rows);
            let east = |id: &String| places[id].map(Place::longitude);
            ids.iter().map(east).collect::<Vec<_>>()
        };
        let plain = vec![row("b", None, 1.0), row("a", None, 2.0), row("b", None, 3.0)];
        assert_eq!(east(plain), [Some(3.0), Some(2.0)]);
        let timed = vec![row("a", text("10"), 1.0), row("a", text("9"), 2.0)];
        assert_eq!(east(timed), [Some(1.0)]);
        let days = vec![
            row("a", text("2026-11-16T09:00"), 1.0),
            row("a", None, 2.0),
            row("a", text("2026-11-15T23:00"), 3.0),
            row("a", text("2026-11-16T09:00"), 4.0),
        ];
        assert_eq!(east(days), [Some(4.0)]);
        // The last row counts even where it is no place.
        assert_eq!(east(vec![row("a", None, 1.0), row("a", None, 1e9)]), [None]);
        let nobody = PlaceRow { id: None, ..row("a", None, 1.0) };
        assert_eq!(east(vec![nobody]), []);
    }
}
