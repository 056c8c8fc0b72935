//! The account of one person, whose places lie in files.
//!
//! The account lies in a ledger, and its budget is for good: rho per square metre, epsilon per
//! metre, or both. Pinned beside it are what its prices mean (how far apart two tuples of places
//! are, and from which distance on that is promised), and the files that were asked about: how many
//! places each has, and a fingerprint. A file that has changed is not asked about until the
//! steward says so: whether it has changed never decides by itself what is charged.
//!
//! What is pinned is kept as JSON with a version. Ledgers outlive code: what version 1 says may
//! never change.

use std::cell::Cell;
use std::collections::BTreeMap;

use eke_budget::metric::Reach;
use eke_budget::{
    Amount, BudgetSpec, Charge, Epsilon, Metres, Metric, PathId, Purchase, Receipt, Reveal, Rho,
};
use eke_geo::TupleMetric;
use eke_ledger::patience::{Patience, Silently};
use eke_ledger::store::Currencies;
use eke_ledger::{Address, Key, Ledger, LedgerError, Request, Show, Spend, Stamp};
use serde::{Deserialize, Serialize};

use super::{PlaceFile, PlacesError, WrongAsking};
use crate::ask::question::Who;
use crate::ask::shown::answer::rho_of;
use crate::data::source::Fingerprint;
use crate::purchase::identity::{Identity, Purpose};
use crate::purchase::request_key::{AskingName, RequestKey};
use crate::purchase::{self, Again, Bought, Buyer, Drawn, Offer, Order};

const VERSION: u32 = 1;

/// The account of one person, open: it pays for what is released about the person's places
/// (geo-indistinguishability).
#[doc(alias = "geo-indistinguishability")]
pub struct Person {
    ledger: Ledger,
    address: Address,
    account: String,
    pinned: Pinned,
    /// What requests of this program begin with.
    name: AskingName,
    /// How many there were.
    requests: Cell<u32>,
    waiting: Silently,
}

/// What an account is opened with, once.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// What may be spent, for good.
    pub budget: BudgetSpec,
    /// How far apart places may be and still be promised to look alike.
    pub reach: Reach,
    /// How far apart two tuples of places are.
    pub metric: TupleMetric,
    /// The distance from which on prices per metre hold.
    pub least: Metres,
}

/// What a release may cost in all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacePrice {
    /// Rho per square metre, for Gaussian noise and choices.
    Rho(Amount<Rho>),
    /// Epsilon per metre, for planar Laplace noise and pure choices.
    Epsilon(Amount<Epsilon>),
}

/// What an account has spent and has left, in the currencies that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PersonStanding {
    /// Rho per square metre that was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_rho: Option<f64>,
    /// What is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_rho: Option<f64>,
    /// Epsilon per metre that was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent_epsilon: Option<f64>,
    /// What is left of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_epsilon: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    version: u32,
    metric: TupleMetric,
    least: Metres,
    /// Files by name, and their snapshots, the first one first.
    files: BTreeMap<String, Vec<Snapshot>>,
}

/// A file as it was when it was first asked about, or when it was said to have changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snapshot {
    declared: String,
    places: usize,
    fingerprint: Fingerprint,
}

impl Person {
    /// Opens an account in a ledger. One that is not there is made, if it is said with what; one
    /// that is there keeps what it was opened with.
    ///
    /// # Errors
    /// There is no such account and nothing to open it with, or it was opened with something else.
    pub fn open(
        address: &Address,
        account: &str,
        opening: Option<&Opening>,
    ) -> Result<Self, PlacesError> {
        let budget = opening
            .map(|opening| opening.budget.resolve(Metric::Euclidean(opening.reach)))
            .transpose()?;
        let missing = || {
            let (account, address) = (account.to_owned(), address.to_string());
            PlacesError::from(WrongAsking::NoAccount { account, address })
        };
        if opening.is_none() {
            // A ledger that is not there is not made.
            drop(address.read_only().map_err(|_| missing())?);
        }
        let is_there = address.is_begun();
        let ledger = Ledger::open(address)?;
        if is_there {
            eke_ledger::journal::check(address)?;
        }
        let stamp = Stamp::now(account);
        if let Some(budget) = budget {
            ledger.open_account(account, budget, stamp.clone()).wait()?;
        }
        let sheet = ledger.sheet(account).wait()?;
        let pinned = match (sheet, opening) {
            (Some((_, bytes)), _) => Pinned::read(&bytes)?,
            (None, Some(opening)) => {
                let pinned = Pinned {
                    version: VERSION,
                    metric: opening.metric,
                    least: opening.least,
                    files: BTreeMap::new(),
                };
                ledger.file_sheet(account, 0, pinned.write(), stamp).wait()?;
                pinned
            }
            (None, None) => return Err(missing()),
        };
        if let Some(opening) = opening {
            pinned.check(account, opening)?;
        }
        ledger.account(account).wait()?.ok_or_else(missing)?;
        let name = AskingName::new(&Who::Steward)
            .map_err(|error| PlacesError::Entropy(error.to_string()))?;
        let (address, account) = (address.clone(), account.to_owned());
        let requests = Cell::new(0);
        let waiting = Silently::default();
        Ok(Self { ledger, address, account, pinned, name, requests, waiting })
    }

    /// How far apart two tuples of places are, for this account.
    #[must_use]
    pub fn metric(&self) -> TupleMetric {
        self.pinned.metric
    }

    /// The distance from which on its prices per metre hold.
    #[must_use]
    pub fn least(&self) -> Metres {
        self.pinned.least
    }

    /// What it has spent and has left.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn standing(&self) -> Result<PersonStanding, PlacesError> {
        let account = self.ledger.account(&self.account).wait()?;
        let account =
            account.ok_or_else(|| LedgerError::NoAccount(self.account.as_str().into()))?;
        let odometer = account.odometer();
        let mut standing = PersonStanding::default();
        if let Some(purse) = odometer.zcdp() {
            standing.spent_rho = Some(purse.spent().to_f64());
            standing.left_rho = Some(purse.left().to_f64());
        }
        if let Some(purse) = odometer.pure() {
            standing.spent_epsilon = Some(purse.spent().to_f64());
            standing.left_epsilon = Some(purse.left().to_f64());
        }
        Ok(standing)
    }

    /// Declares that a file has changed: it is asked about as it is now, and what is released about
    /// it is charged anew.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn declare_changed(&mut self, file: &PlaceFile) -> Result<(), PlacesError> {
        self.declare(file, true).map(|_| ())
    }

    /// How many places a file has in the snapshot that questions are about; in its first one, if it
    /// was never asked about.
    pub(super) fn snapshot(&mut self, file: &PlaceFile) -> Result<usize, PlacesError> {
        let Some(last) = self.pinned.latest(file.name()) else { return self.declare(file, false) };
        let now = file.fingerprint_since(&last.fingerprint)?;
        if now.digest != last.fingerprint.digest {
            return Err(WrongAsking::Changed { file: file.name().to_owned() }.into());
        }
        Ok(last.places)
    }

    fn declare(&mut self, file: &PlaceFile, again: bool) -> Result<usize, PlacesError> {
        let (fingerprint, places) = (file.fingerprint()?, file.count()?);
        let mut patience = Patience::new(&self.waiting);
        loop {
            let stamp = Stamp::now(&self.account);
            let sheet = self.ledger.sheet(&self.account).wait()?;
            let (version, bytes) =
                sheet.ok_or_else(|| LedgerError::NoAccount(self.account.as_str().into()))?;
            let mut pinned = Pinned::read(&bytes)?;
            let snapshots = pinned.files.entry(file.name().to_owned()).or_default();
            if again || snapshots.is_empty() {
                let (declared, fingerprint) = (stamp.at.to_string(), fingerprint.clone());
                snapshots.push(Snapshot { declared, places, fingerprint });
                let filed = self.ledger.file_sheet(&self.account, version, pinned.write(), stamp);
                match filed.wait() {
                    Ok(_) => {}
                    Err(LedgerError::SheetMoved { .. } | LedgerError::Moved(_))
                        if patience.again() =>
                    {
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.pinned = pinned;
            return Ok(self.pinned.latest(file.name()).map_or(0, |latest| latest.places));
        }
    }

    /// What a path is found by: whose it is, which places it is about (the file, and the columns
    /// that are read of it), and everything that it depends on besides.
    pub(super) fn path(
        &self,
        kind: &str,
        file: &PlaceFile,
        depends: &impl Serialize,
    ) -> Result<PathId, PlacesError> {
        let snapshots = self.pinned.files.get(file.name()).map_or(0, Vec::len);
        let name = (kind, &self.account, file.name(), snapshots, file.columns(), depends);
        let identity =
            Identity::new(Purpose::Places).json(&name).hash().map_err(super::release::damaged)?;
        Ok(PathId::new(*identity.as_bytes()))
    }

    /// What is stored of a path.
    pub(super) fn stored(&self, path: PathId) -> Result<Option<Vec<u8>>, PlacesError> {
        Ok(self.ledger.path(path).wait()?.and_then(|path| path.state))
    }

    /// How far the account has paid for a path.
    pub(super) fn level(&self, path: PathId) -> Result<Amount<Rho>, PlacesError> {
        let level = self.ledger.level(&self.account, path, Currencies::Rho).wait()?;
        Ok(level.map_or(Amount::ZERO, |level| rho_of(level.at)))
    }

    /// Buys a point of a path: what is drawn for the receipt is what the path is then.
    pub(super) fn along(
        &self,
        question: &str,
        show: Show<Rho>,
        draw: impl FnOnce(Receipt<Reveal<Rho>>) -> Result<Vec<u8>, PlacesError>,
    ) -> Result<(), PlacesError> {
        let mut buyer = self;
        match purchase::buy(&mut buyer, &mut PointOfPath { question, show, draw: Some(draw) })? {
            Bought::Made(()) => Ok(()),
            Bought::Refused(refusal) => Err(LedgerError::Refused(refusal).into()),
        }
    }

    /// Buys an answer under the name of what is asked. What was answered under the name before is
    /// answered again, for nothing: then the second value is true.
    pub(super) fn spend<P: Purchase + Clone + Send + 'static>(
        &self,
        question: &str,
        name: PathId,
        purchase: &P,
        draw: impl FnOnce(Receipt<P>) -> Result<Vec<u8>, PlacesError>,
    ) -> Result<(Vec<u8>, bool), PlacesError> {
        let mut buyer = self;
        let mut once = Once { question, name, number: 0, purchase, draw: Some(draw) };
        match purchase::buy(&mut buyer, &mut once)? {
            Bought::Made(made) => Ok(made),
            Bought::Refused(refusal) => Err(LedgerError::Refused(refusal).into()),
        }
    }
}

impl<'a> Buyer<'a> for &'a Person {
    type Error = PlacesError;

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn holder(&self) -> &str {
        &self.account
    }

    fn stamp(&self) -> Stamp {
        Stamp::now(&self.account)
    }

    fn patience(&self) -> Patience<'a> {
        Patience::new(&self.waiting)
    }

    /// A request whose program has ended is given up; another one is not waited for.
    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), PlacesError> {
        let request = holder.as_str().parse::<RequestKey>().ok();
        let asking = request.as_ref().and_then(RequestKey::asking);
        if !asking.is_some_and(|asking| asking.program.has_ended(&self.address)) {
            return Err(LedgerError::UnderWay { path, holder: holder.clone() }.into());
        }
        match self.ledger.give_up(&self.account, path, holder.clone(), self.stamp()).wait() {
            Ok(()) | Err(LedgerError::NotHeld(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn unavailable(&self) -> PlacesError {
        LedgerError::Moved(self.account.as_str().into()).into()
    }
}

/// A point of a path that is bought.
struct PointOfPath<'q, D> {
    question: &'q str,
    show: Show<Rho>,
    draw: Option<D>,
}

impl<'a, D> Order<'a, &'a Person> for PointOfPath<'_, D>
where
    D: FnOnce(Receipt<Reveal<Rho>>) -> Result<Vec<u8>, PlacesError>,
{
    type Own = Show<Rho>;
    type Others = Show<Rho>;
    type Made = ();

    fn offer(
        &mut self,
        person: &mut &'a Person,
        _: Again,
    ) -> Result<Offer<Show<Rho>, Show<Rho>, ()>, PlacesError> {
        person.requests.set(person.requests.get() + 1);
        let (asking, number) = (person.name.clone(), person.requests.get());
        let key = RequestKey::Round { asking, number }.to_string();
        let request = Request::new(&key, person.stamp(), self.question)?;
        let path = Some(self.show.path);
        Ok(Offer::Charge { request, own: self.show, others: Vec::new(), path })
    }

    fn draw(
        &mut self,
        _: &mut &'a Person,
        own: Receipt<Reveal<Rho>>,
        _: Vec<Receipt<Reveal<Rho>>>,
    ) -> Result<Drawn<()>, PlacesError> {
        let draw = self.draw.take().ok_or_else(drawn_twice)?;
        Ok(Drawn { body: Vec::new(), state: Some(draw(own)?), round: None, made: () })
    }
}

/// An answer that is bought once.
struct Once<'q, P, D> {
    question: &'q str,
    name: PathId,
    /// How often it was charged and lost, which stays paid.
    number: u32,
    purchase: &'q P,
    draw: Option<D>,
}

impl<'a, P, D> Order<'a, &'a Person> for Once<'_, P, D>
where
    P: Purchase + Clone + Send + 'static,
    D: FnOnce(Receipt<P>) -> Result<Vec<u8>, PlacesError>,
{
    type Own = Spend<P>;
    type Others = Spend<Charge>;
    type Made = (Vec<u8>, bool);

    fn offer(
        &mut self,
        person: &mut &'a Person,
        again: Again,
    ) -> Result<Offer<Spend<P>, Spend<Charge>, (Vec<u8>, bool)>, PlacesError> {
        let key = |number: u32| RequestKey::places(self.name, number);
        if again == Again::Taken {
            let stored = person.ledger.stored_request(key(self.number).key()?).wait()?;
            if let Some(Some(answered)) = stored {
                return Ok(Offer::Made((answered.body().to_vec(), true)));
            }
            self.number += 1;
        }
        let request = Request::new(&key(self.number).to_string(), person.stamp(), self.question)?;
        let own = Spend(self.purchase.clone());
        Ok(Offer::Charge { request, own, others: Vec::new(), path: None })
    }

    fn draw(
        &mut self,
        _: &mut &'a Person,
        own: Receipt<P>,
        _: Vec<Receipt<Charge>>,
    ) -> Result<Drawn<(Vec<u8>, bool)>, PlacesError> {
        let draw = self.draw.take().ok_or_else(drawn_twice)?;
        let body = draw(own)?;
        Ok(Drawn { body: body.clone(), state: None, round: None, made: (body, false) })
    }
}

fn drawn_twice() -> PlacesError {
    WrongAsking::DrawnTwice.into()
}

impl Pinned {
    fn read(bytes: &[u8]) -> Result<Self, PlacesError> {
        let pinned: Self = serde_json::from_slice(bytes).map_err(|_| WrongAsking::OtherAccount)?;
        if pinned.version == VERSION { Ok(pinned) } else { Err(WrongAsking::OtherAccount.into()) }
    }

    fn write(&self) -> Vec<u8> {
        // Keys are texts, so this cannot fail; what is no JSON would not be read.
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn check(&self, account: &str, opening: &Opening) -> Result<(), PlacesError> {
        if (self.metric, self.least) == (opening.metric, opening.least) {
            return Ok(());
        }
        let (account, metric, least) = (account.to_owned(), self.metric, self.least);
        Err(WrongAsking::OpenedWith { account, metric, least }.into())
    }

    fn latest(&self, file: &str) -> Option<&Snapshot> {
        self.files.get(file).and_then(|snapshots| snapshots.last())
    }
}

impl std::fmt::Debug for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Person({} in {})", self.account, self.address)
    }
}
