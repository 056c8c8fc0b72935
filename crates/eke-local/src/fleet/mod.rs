//! Many devices in one process, as columns: their values, their accounts, and the chains of each
//! question.
//!
//! A fleet answers as its devices would one by one: the same requests are faults, the same devices
//! halt, each has spent as much, and reports have the same laws. (A question at a step is the same
//! for all of them, and they are all at the same step.) But it holds everybody's values in the
//! clear, in memory, and stores nothing: it is for research and for load tests, and protects nobody
//! from the program that runs it. (One device keeps at most
//! [`MOST_CHAINS`](crate::device::MOST_CHAINS) chains; a fleet keeps as many as there is memory
//! for.)

pub(crate) mod simulation;

pub use simulation::{MOST_USERS, Simulated, SimulatedTier, Simulation, SimulationError};

use std::collections::BTreeMap;
use std::fmt;

use eke_budget::Amount;
use eke_budget::account::{Prices, Sheet, SheetError, Who};
use eke_noise::Entropy;
use eke_noise::local::{Chain, ChainError, ChainPrice};

use crate::device::Component;
use crate::device::mechanism::Currency;
use crate::device::request::{Request, RequestError};

/// The devices of a fleet.
pub struct Fleet<C: ChainPrice> {
    sheet: Sheet<C>,
    components: BTreeMap<String, Values>,
    questions: BTreeMap<(String, u64), Rows>,
}

/// The column of a component.
struct Values {
    categories: u32,
    otherwise: u32,
    step: u64,
    values: Vec<u32>,
}

/// The chains of a question at a step.
struct Rows {
    component: String,
    chain: Chain,
    /// The rows of those that were drawn, one after the other.
    reports: Vec<u64>,
    /// Where the row of a device is; none before it is drawn.
    places: Vec<Option<u32>>,
    /// The finest report that a device has paid for.
    finest: Vec<u16>,
}

/// What devices answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replies {
    /// Those that sent a report, in rising order.
    pub answered: Vec<u32>,
    /// Those that halted.
    pub halted: Vec<u32>,
    /// Those that had drawn nothing for the question when its step was over.
    pub gone: Vec<u32>,
    /// How many words a report has.
    pub words: usize,
    /// The reports, in the order of those that answered.
    pub reports: Vec<u64>,
}

/// Why a fleet did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The request is at fault, for every device.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Devices that there are not.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// A value that there is not.
    #[error(transparent)]
    Value(#[from] ChainError),
    /// A component that there is not, or twice, or of other length.
    #[error("component `{0}` is one of the fleet's, once, with a value for every device")]
    Component(String),
    /// Steps go up.
    #[error("the step is {now} already: steps only go up")]
    StepBack {
        /// The step of the component.
        now: u64,
    },
}

impl<C: ChainPrice> Fleet<C> {
    /// Devices with these accounts, which hold nothing yet.
    #[must_use]
    pub fn new(sheet: Sheet<C>) -> Self {
        Self { sheet, components: BTreeMap::new(), questions: BTreeMap::new() }
    }

    /// Their accounts.
    #[must_use]
    pub fn sheet(&self) -> &Sheet<C> {
        &self.sheet
    }

    /// Gives the devices a component, with what each of them holds.
    ///
    /// # Errors
    /// There is one of this name, a value is out of range, or there are not as many values as
    /// devices.
    pub fn hold(&mut self, component: Component, values: Vec<u32>) -> Result<(), FleetError> {
        let Component { name, categories, otherwise } = component;
        let categories = categories.get();
        if self.components.contains_key(&name) || values.len() != self.sheet.len() {
            return Err(FleetError::Component(name));
        }
        if otherwise >= categories || values.iter().any(|&value| value >= categories) {
            return Err(ChainError::Outside(categories).into());
        }
        self.components.insert(name, Values { categories, otherwise, step: 0, values });
        Ok(())
    }

    /// Begins a step of a component on all devices, with what each of them holds then; nothing
    /// recorded where it is none.
    ///
    /// # Errors
    /// There is no such component, the step is not a later one, or values are out of range or
    /// missing.
    pub fn begin(
        &mut self,
        component: &str,
        step: u64,
        values: Option<Vec<u32>>,
    ) -> Result<(), FleetError> {
        let devices = self.sheet.len();
        let column = self.components.get_mut(component);
        let column = column.ok_or_else(|| FleetError::Component(component.to_owned()))?;
        if step <= column.step {
            return Err(FleetError::StepBack { now: column.step });
        }
        let values = values.unwrap_or_else(|| vec![column.otherwise; devices]);
        if values.len() != devices {
            return Err(FleetError::Component(component.to_owned()));
        }
        if values.iter().any(|&value| value >= column.categories) {
            return Err(ChainError::Outside(column.categories).into());
        }
        (column.step, column.values) = (step, values);
        Ok(())
    }

    /// Sends a request to some devices.
    ///
    /// - Theorem: device-filter (docs/theorems.md)
    /// - Proves: every device pays and halts as a [`Device`](crate::Device) does
    /// - Assumes: nothing
    /// - Deviates: values are in the clear and nothing is stored
    /// - Checked by: `a_fleet_answers_as_its_devices_do_one_by_one`
    ///
    /// # Errors
    /// The request is at fault, or a device is not one. Nothing has changed.
    pub fn answer<E: Entropy + ?Sized>(
        &mut self,
        request: &Request,
        who: Who<'_>,
        entropy: &mut E,
    ) -> Result<Replies, FleetError> {
        self.sheet.check(who)?;
        let (price, new) = self.price(request)?;
        let key = (request.question.clone(), request.step);
        let column = &self.components[&request.component];
        let rows = self.questions.remove(&key);
        let Some(mut rows) = rows.or(new.map(|chain| Rows::new(request, chain, self.sheet.len())))
        else {
            return Err(FleetError::Component(request.component.clone()));
        };
        let prices: Vec<Amount<C>> = (0..rows.chain.reports())
            .map(|report| C::price(&rows.chain, report).unwrap_or(Amount::MAX))
            .collect();
        let asked: Vec<u32> = match who {
            Who::Everyone => (0u32..).take(self.sheet.len()).collect(),
            Who::These(these) => these.to_vec(),
        };
        // When the step is over, those that have drawn go on; of the others the value is gone.
        let is_over = request.step < column.step;
        let (asked, gone): (Vec<u32>, Vec<u32>) =
            asked.into_iter().partition(|&device| !is_over || rows.is_drawn(device));
        let due = |&device: &u32| {
            let paid = prices.get(usize::from(rows.finest[device as usize]));
            price.minus(paid.copied().unwrap_or(Amount::ZERO)).unwrap_or(Amount::ZERO)
        };
        let dues: Vec<Amount<C>> = asked.iter().map(due).collect();
        let halted = self.sheet.charge(Who::These(&asked), Prices::Each(&dues))?;
        let mut rest = halted.iter().copied().peekable();
        let answered: Vec<u32> =
            asked.into_iter().filter(|device| rest.next_if_eq(device).is_none()).collect();
        rows.draw(&answered, &column.values, entropy)?;
        rows.pay(&answered, &prices, price);
        let words = rows.chain.words();
        let reports = rows.shown(&answered, request.report);
        // A question that nobody has answered is none yet.
        if !rows.reports.is_empty() {
            self.questions.insert(key, rows);
        }
        Ok(Replies { answered, halted, gone, words, reports })
    }

    /// What a request costs as the finest of its chain, and its chain if it is new: what a device
    /// checks before it pays.
    fn price(&self, request: &Request) -> Result<(Amount<C>, Option<Chain>), RequestError> {
        request.check_names()?;
        if Currency::of(C::charge(Amount::ZERO, Amount::ZERO)) != request.currency() {
            return Err(RequestError::NoPurse(request.price));
        }
        let component = &request.component;
        let no_component = || RequestError::NoComponent(component.clone());
        let column = self.components.get(component).ok_or_else(no_component)?;
        let (question, step) = (request.question.clone(), request.step);
        let known = self.questions.get(&(question.clone(), step));
        let new = match known {
            Some(rows) if rows.component != *component || !request.mechanism.is_of(&rows.chain) => {
                return Err(RequestError::OtherQuestion { question, step });
            }
            Some(_) => None,
            None => {
                request.check_now(column.step, column.categories)?;
                Some(request.mechanism.chain()?)
            }
        };
        if let Some(chain) = known.map(|rows| &rows.chain).or(new.as_ref()) {
            request.check_price(chain)?;
        }
        Ok((Amount::from_grains(request.price.grains()), new))
    }
}

impl Rows {
    fn new(request: &Request, chain: Chain, devices: usize) -> Self {
        Self {
            component: request.component.clone(),
            chain,
            reports: Vec::new(),
            places: vec![None; devices],
            finest: vec![u16::MAX; devices],
        }
    }

    fn is_drawn(&self, device: u32) -> bool {
        self.places[device as usize].is_some()
    }

    /// How many words the chain of one device takes.
    fn width(&self) -> usize {
        self.chain.words() * self.chain.reports()
    }

    /// Draws the chains of those that have none yet.
    fn draw<E: Entropy + ?Sized>(
        &mut self,
        devices: &[u32],
        values: &[u32],
        entropy: &mut E,
    ) -> Result<(), ChainError> {
        let new: Vec<u32> =
            devices.iter().copied().filter(|&device| !self.is_drawn(device)).collect();
        let of_new: Vec<u32> = new.iter().map(|&device| values[device as usize]).collect();
        let (start, width) = (self.reports.len(), self.width());
        self.reports.resize(start + new.len() * width, 0);
        self.chain.fill(&of_new, &mut self.reports[start..], entropy)?;
        for (place, device) in (start / width..).zip(new) {
            self.places[device as usize] = u32::try_from(place).ok();
        }
        Ok(())
    }

    /// Marks what has been paid for: everything that costs no more than this.
    fn pay<C: ChainPrice>(&mut self, devices: &[u32], prices: &[Amount<C>], price: Amount<C>) {
        let reached = prices.iter().position(|other| *other <= price).unwrap_or(prices.len());
        let reached = u16::try_from(reached).unwrap_or(u16::MAX);
        for &device in devices {
            let finest = &mut self.finest[device as usize];
            *finest = reached.min(*finest);
        }
    }

    fn shown(&self, devices: &[u32], report: usize) -> Vec<u64> {
        let (words, width) = (self.chain.words(), self.width());
        let mut reports = Vec::with_capacity(devices.len() * words);
        for place in devices.iter().filter_map(|&device| self.places[device as usize]) {
            let start = place as usize * width + report * words;
            reports.extend_from_slice(&self.reports[start..start + words]);
        }
        reports
    }
}

impl<C: ChainPrice> fmt::Debug for Fleet<C> {
    /// Neither values nor chains are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("devices", &self.sheet.len()).finish_non_exhaustive()
    }
}
