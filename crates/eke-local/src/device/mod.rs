//! A device: what it holds, its account, and the requests that it answers or does not.
//!
//! Invariants: nothing leaves before what it cost and the chain it is of are stored, together;
//! whether a request is answered, halted or an error depends on requests, prices and the budget,
//! never on a value; one account pays for all components and steps; a question at a step has one
//! chain, whatever happens in between.

pub(crate) mod mechanism;
pub(crate) mod request;
pub(crate) mod state;
pub(crate) mod storage;
pub(crate) mod wire;

pub use mechanism::{Currency, MOST_REPORTS, MOST_WORDS, Mechanism, MechanismError};
pub use request::{LONGEST_REQUEST, Reply, Request, RequestError};
pub use state::DamagedDevice;
pub use storage::{FileStorage, MemoryStorage, Storage, StorageError};
pub use wire::{VERSION, Wire, WireError};

use std::fmt;

use eke_budget::purchase::{PathError, RevealReceipt};
use eke_budget::{Account, Budget, Metric, NoHistory, Odometer};
use eke_budget::{Amount, Charge, Epsilon, Rho};
use eke_noise::local::{Categories, ChainError, ChainPrice, Report};
use eke_noise::{Category, CategoryPath, Entropy, Released};

use crate::device::state::{Forgotten, Held, Kept, State, one, path_id};

/// The most chains that a device keeps.
pub const MOST_CHAINS: usize = 256;

/// The most reports of all chains that a device keeps: it prices all of them when it is opened.
pub const MOST_KEPT_REPORTS: usize = 1 << 12;

/// The most words of all reports that a device keeps: two mebibytes.
pub const MOST_KEPT_WORDS: usize = 1 << 18;

/// One of the things that a device can be asked about. It is public: all devices of a collection
/// have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// How many categories it has.
    pub categories: Categories,
    /// The category that counts where nothing was recorded, so that having nothing to say does not
    /// show.
    pub otherwise: u32,
}

/// A device, and where it is stored.
///
/// - Theorem: device-filter (docs/theorems.md)
/// - Proves: whatever is asked, in whatever order, after whatever was seen of this and other
///   devices, all replies together are private in all that the device ever holds, at its budget
/// - Assumes: the storage is this device's alone while it is open ([`Storage`]); it is not put back
///   to an older copy (its keeper, see [`Device::open_after`]); values are recorded, steps are
///   begun and chains are forgotten without regard to replies that others should not learn of
///   (host)
/// - Deviates: it goes on after it has halted, which the paper's does not
/// - Checked by: `what_a_device_says_besides_reports_does_not_depend_on_its_value`,
///   `a_device_never_pays_more_than_its_budget_and_pays_for_the_finest_of_each_chain`,
///   `a_failing_storage_never_shows_what_is_not_stored`,
///   `two_devices_on_one_storage_do_not_spend_its_budget_twice`
pub struct Device<S> {
    storage: S,
    state: State,
    account: Account,
    /// The digest of what this device has loaded or stored last; none if nothing was there.
    seen: Option<blake3::Hash>,
    /// The storage failed: only opening it again tells what is stored.
    has_stopped: bool,
}

/// Why a device did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The request is at fault.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// What is stored is no device.
    #[error(transparent)]
    Damaged(#[from] DamagedDevice),
    /// A device is stored there.
    #[error(
        "there is a device in this storage already: open it, since a new one would have a full budget"
    )]
    Exists,
    /// None is stored there.
    #[error("there is no device in this storage: create one, once")]
    Missing,
    /// An older copy than is known of.
    #[error(
        "the device was stored {stored} times, but {known} times are known of: this is an older copy, which would spend the same budget twice"
    )]
    RolledBack {
        /// How often it was stored.
        stored: u64,
        /// How often it had been.
        known: u64,
    },
    /// The storage failed before.
    #[error(
        "the device's storage has failed, so nobody knows what is stored: open the device again"
    )]
    Stopped,
    /// Somebody else has stored something.
    #[error(
        "another device has used this storage since this one did, so what it knows is old and nothing was shown: run one at a time, and open it again"
    )]
    Shared,
    /// A budget in another metric.
    #[error("a device's budget is one of the local model: its metric is discrete")]
    Metric,
    /// Components that are none.
    #[error(
        "a device has components with names of their own, each with a category where nothing is recorded"
    )]
    Components,
    /// A component that there is not.
    #[error("the device has no component `{0}`")]
    NoComponent(String),
    /// A category that there is not.
    #[error(transparent)]
    Category(#[from] ChainError),
    /// Steps go up.
    #[error("the step is {now} already: steps only go up")]
    StepBack {
        /// The step of the component.
        now: u64,
    },
}

impl<S: Storage> Device<S> {
    /// A device with a full budget, stored before it is used.
    ///
    /// # Errors
    /// There is one in the storage already, the storage fails, or the budget or a component is not
    /// one of a device.
    pub fn create(
        name: &str,
        budget: Budget,
        components: Vec<Component>,
        mut storage: S,
    ) -> Result<Self, DeviceError> {
        if budget.metric() != Metric::Discrete {
            return Err(DeviceError::Metric);
        }
        if storage.load()?.is_some() {
            return Err(DeviceError::Exists);
        }
        let (many, mut held) = (components.len(), std::collections::BTreeMap::new());
        for Component { name, categories, otherwise } in components {
            if otherwise >= categories.get() {
                return Err(DeviceError::Components);
            }
            held.insert(name, Held { categories, step: 0, otherwise, value: otherwise });
        }
        if held.is_empty() || held.len() < many || held.contains_key("") {
            return Err(DeviceError::Components);
        }
        let state = State {
            name: name.to_owned(),
            budget,
            generation: 0,
            components: held,
            chains: Vec::new(),
            forgotten: Forgotten { epsilon: Amount::ZERO, rho: Amount::ZERO },
        };
        let account = state.account()?;
        let mut device = Self { storage, state, account, seen: None, has_stopped: false };
        device.store()?;
        Ok(device)
    }

    /// The device that is stored.
    ///
    /// # Errors
    /// There is none, or it is damaged or lost. There is never a new one instead.
    pub fn open(storage: S) -> Result<Self, DeviceError> {
        Self::open_after(storage, 0)
    }

    /// The device that is stored, if it has been stored at least as often as is known. A host that
    /// keeps [`Device::generation`] where it cannot be rolled back notices when the storage was.
    ///
    /// # Errors
    /// As for [`Device::open`]; or what is stored is older.
    pub fn open_after(mut storage: S, known: u64) -> Result<Self, DeviceError> {
        let bytes = storage.load()?.ok_or(DeviceError::Missing)?;
        let state = State::from_bytes(&bytes)?;
        if state.generation < known {
            return Err(DeviceError::RolledBack { stored: state.generation, known });
        }
        let account = state.account()?;
        let seen = Some(blake3::hash(&bytes));
        Ok(Self { storage, state, account, seen, has_stopped: false })
    }

    /// How often it has been stored.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.state.generation
    }

    /// What has been spent.
    #[must_use]
    pub fn odometer(&self) -> Odometer<'_> {
        self.account.odometer()
    }

    /// The step of a component.
    #[must_use]
    pub fn step(&self, component: &str) -> Option<u64> {
        Some(self.state.components.get(component)?.step)
    }

    /// Records what a component is now. Chains that were drawn stay what they are.
    ///
    /// # Errors
    /// There is no such component or category, or the storage failed.
    pub fn record(&mut self, component: &str, category: u32) -> Result<(), DeviceError> {
        let held = self.held(component)?;
        if category >= held.categories.get() {
            return Err(ChainError::Outside(held.categories.get()).into());
        }
        held.value = category;
        self.store()
    }

    /// Begins a step of a component. Nothing is recorded for it yet, and what was before is gone;
    /// chains that were drawn from it stay.
    ///
    /// # Errors
    /// There is no such component, the step is not a later one, or the storage failed.
    pub fn begin(&mut self, component: &str, step: u64) -> Result<(), DeviceError> {
        let held = self.held(component)?;
        if step <= held.step {
            return Err(DeviceError::StepBack { now: held.step });
        }
        (held.step, held.value) = (step, held.otherwise);
        self.store()
    }

    /// Forgets the chains of steps that are over, up to and without this one. What they have cost
    /// stays spent, and nobody can ask for them again.
    ///
    /// # Errors
    /// The storage failed.
    pub fn forget_before(&mut self, step: u64) -> Result<(), DeviceError> {
        self.runs()?;
        let components = &self.state.components;
        let is_over = |kept: &Kept| {
            kept.step < step
                && components.get(&kept.component).is_some_and(|held| kept.step < held.step)
        };
        let mut forgotten = self.state.forgotten;
        for kept in self.state.chains.iter().filter(|kept| is_over(kept)) {
            let more = (kept.path.paid::<Epsilon>(), kept.path.paid::<Rho>());
            // They fit the account, so they add up.
            forgotten.epsilon = forgotten.epsilon.plus(more.0).unwrap_or(Amount::MAX);
            forgotten.rho = forgotten.rho.plus(more.1).unwrap_or(Amount::MAX);
        }
        self.state.chains.retain(|kept| !is_over(kept));
        self.state.forgotten = forgotten;
        self.store()
    }

    /// Answers a request, or does not. The same request has the same reply for ever, and is paid
    /// for once.
    ///
    /// The price is computed from the laws. A claim that is not true is an error and not ignored: a
    /// collector that makes it keeps wrong books, or lies, and either should show before something
    /// is spent.
    ///
    /// # Errors
    /// The request is at fault, and nothing has changed; or the storage failed, and the device has
    /// stopped: nothing left it, and opening it again tells whether the request was paid for.
    pub fn answer<E: Entropy + ?Sized>(
        &mut self,
        request: &Request,
        entropy: &mut E,
    ) -> Result<Reply, DeviceError> {
        self.runs()?;
        let place = self.place(request)?;
        match request.price {
            Charge::Pure { epsilon, .. } => self.reveal(request, place, epsilon, entropy),
            Charge::Zcdp { rho, .. } => self.reveal(request, place, rho, entropy),
        }
    }

    /// The storage, to open the device from again.
    pub fn close(self) -> S {
        self.storage
    }

    /// Where the chain of a request is kept, or a chain that is not yet; its price is what was
    /// claimed.
    fn place(&self, request: &Request) -> Result<Place, RequestError> {
        request.check_names()?;
        let has_purse = match request.currency() {
            Currency::Pure => self.state.budget.pure().is_some(),
            Currency::Zcdp => self.state.budget.zcdp().is_some(),
        };
        if !has_purse {
            return Err(RequestError::NoPurse(request.price));
        }
        let component = &request.component;
        let no_component = || RequestError::NoComponent(component.clone());
        let held = self.state.components.get(component).ok_or_else(no_component)?;
        let is_same = |kept: &&Kept| kept.question == request.question && kept.step == request.step;
        let place = match self.state.chains.iter().position(|kept| is_same(&kept)) {
            Some(index) => Place::Kept(index),
            None => {
                // Before anything is computed.
                self.may_begin(request, held)?;
                let path = path_id(&self.state.name, &request.question, component, request.step);
                Place::New(Box::new(CategoryPath::open(path, request.mechanism.chain()?)))
            }
        };
        let chain = match &place {
            Place::Kept(index) => self.state.chains[*index].path.chain(),
            Place::New(path) => path.chain(),
        };
        if let Place::Kept(index) = place {
            let kept = &self.state.chains[index];
            if kept.component != *component
                || kept.currency != request.currency()
                || !request.mechanism.is_of(chain)
            {
                let (question, step) = (request.question.clone(), request.step);
                return Err(RequestError::OtherQuestion { question, step });
            }
        }
        request.check_price(chain)?;
        Ok(place)
    }

    /// Whether a chain may be new: it is about what there is now, and there is room for it.
    fn may_begin(&self, request: &Request, held: &Held) -> Result<(), RequestError> {
        request.check_now(held.step, held.categories.get())?;
        // One that no device keeps is at fault itself, however much room there is.
        request.mechanism.fits()?;
        let chains = &self.state.chains;
        let kept = chains.iter().map(|kept| kept.path.chain());
        let (reports, words) = kept.fold((0, 0), |(reports, words), chain| {
            (reports + chain.reports(), words + chain.reports() * chain.words())
        });
        if chains.len() >= MOST_CHAINS
            || reports + request.mechanism.laws.len() > MOST_KEPT_REPORTS
            || words + request.mechanism.words() > MOST_KEPT_WORDS
        {
            return Err(RequestError::Full);
        }
        Ok(())
    }

    /// Pays for a report, draws its chain if that is new, and stores both before it is shown.
    fn reveal<C: ChainPrice, E: Entropy + ?Sized>(
        &mut self,
        request: &Request,
        place: Place,
        price: Amount<C>,
        entropy: &mut E,
    ) -> Result<Reply, DeviceError> {
        let damaged = DamagedDevice::Damaged;
        let path = match &place {
            Place::Kept(index) => self.state.chains[*index].path.id(),
            Place::New(path) => path.id(),
        };
        let one = one::<C>().ok_or(damaged)?;
        let approved = match self.account.reveal::<C>(path, price, one) {
            Ok(approved) => approved,
            Err(PathError::Refused(_)) => return Ok(Reply::Halted),
            Err(_) => return Err(damaged.into()),
        };
        // What is paid from here on and not stored is not shown, so if anything fails the device
        // stops.
        self.has_stopped = true;
        let receipt = self.account.commit(approved, &mut NoHistory).map_err(|_| damaged)?;
        let report = request.report;
        let (released, is_new) = match receipt.sorted() {
            RevealReceipt::Coarser(receipt) => {
                let Place::Kept(index) = place else { return Err(damaged.into()) };
                let path = &mut self.state.chains[index].path;
                (path.coarsen(report, receipt).map_err(|_| damaged)?, false)
            }
            RevealReceipt::Finer(receipt) => {
                let truth = self.truth(&request.component)?;
                let index = match place {
                    Place::Kept(index) => index,
                    Place::New(path) => {
                        self.state.chains.push(Kept {
                            question: request.question.clone(),
                            component: request.component.clone(),
                            step: request.step,
                            currency: request.currency(),
                            path: *path,
                        });
                        self.state.chains.len() - 1
                    }
                };
                let path = &mut self.state.chains[index].path;
                let released = path.refine(report, Some(&truth), receipt, entropy);
                (released.map_err(|_| damaged)?, true)
            }
        };
        self.has_stopped = false;
        self.shown(released, is_new)
    }

    fn shown(&mut self, report: Released<Report>, is_new: bool) -> Result<Reply, DeviceError> {
        if is_new {
            self.store()?;
        }
        Ok(Reply::Report(report.get()))
    }

    fn truth(&self, component: &str) -> Result<eke_noise::Exact<Category>, DeviceError> {
        let no_component = || DeviceError::NoComponent(component.to_owned());
        let held = self.state.components.get(component).ok_or_else(no_component)?;
        Ok(Category::exact(held.value, held.categories)?)
    }

    fn held(&mut self, component: &str) -> Result<&mut Held, DeviceError> {
        self.runs()?;
        let held = self.state.components.get_mut(component);
        held.ok_or_else(|| DeviceError::NoComponent(component.to_owned()))
    }

    fn runs(&self) -> Result<(), DeviceError> {
        if self.has_stopped { Err(DeviceError::Stopped) } else { Ok(()) }
    }

    /// Stores the device, if what is stored is still what it has seen last. If anything fails it
    /// has stopped.
    fn store(&mut self) -> Result<(), DeviceError> {
        self.has_stopped = true;
        let stored = self.storage.load()?;
        if stored.as_deref().map(blake3::hash) != self.seen {
            return Err(DeviceError::Shared);
        }
        self.state.generation += 1;
        let bytes = self.state.to_bytes();
        self.storage.store(&bytes)?;
        self.seen = Some(blake3::hash(&bytes));
        self.has_stopped = false;
        Ok(())
    }
}

/// The chain of a request.
enum Place {
    /// It is kept there.
    Kept(usize),
    /// Nothing has been drawn of it.
    New(Box<CategoryPath>),
}

impl<S> fmt::Debug for Device<S> {
    /// Neither values nor chains are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.state.name)
            .field("generation", &self.state.generation)
            .field("chains", &self.state.chains.len())
            .finish_non_exhaustive()
    }
}
