//! What a collector asks of a device, and what it gets.
//!
//! A request is public, and so is everything that is computed from it before the value is looked
//! at. On the way it is a version byte and JSON; the version never means anything else.

use std::cmp::Ordering;

use eke_budget::Charge;
use eke_noise::local::{Chain, Report};
use serde::{Deserialize, Serialize};

use crate::device::mechanism::{Currency, Mechanism, MechanismError};

/// The version byte of requests.
const VERSION: u8 = 1;

/// The longest request that is read.
pub const LONGEST_REQUEST: usize = 1 << 16;

/// The longest name of a question or component.
const LONGEST_NAME: usize = 128;

/// One report about one component of what a device holds, at one step of time.
///
/// A question at a step is one chain: asked again, it has the same reports. Under other laws, about
/// another component or paid for otherwise it is another question, and needs another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the question.
    pub question: String,
    /// What it is about.
    pub component: String,
    /// When.
    pub step: u64,
    /// What the reports are drawn from.
    pub mechanism: Mechanism,
    /// Which of them is asked for.
    pub report: usize,
    /// What the collector says that it costs as the finest of its chain: the device works it out
    /// itself.
    pub price: Charge,
}

/// What a device answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The report. A device makes it of what its path has released; the collector has the word of
    /// its sender.
    Report(Report),
    /// The account cannot pay for it, and has not. Cheaper reports and those shown before are still
    /// to be had.
    Halted,
}

/// Why a request has no reply. The collector knows all of it: none of it depends on a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// Bytes that are no request.
    #[error(
        "this is not a request that can be read: send version {VERSION}, as JSON with all of its fields"
    )]
    Unreadable,
    /// Too many bytes.
    #[error("a request takes at most {LONGEST_REQUEST} bytes")]
    TooLong,
    /// A name that is none.
    #[error("questions and components have names of 1 to {LONGEST_NAME} bytes")]
    Name,
    /// Laws that are not drawn from.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A claim that is not true.
    #[error("the report costs {price}, not {claimed}: work its price out from its laws")]
    Price {
        /// What the collector said.
        claimed: Charge,
        /// What it costs.
        price: Charge,
    },
    /// A currency that the device does not have.
    #[error("the device has no purse for {0}: ask in the other currency")]
    NoPurse(Charge),
    /// A component that there is not.
    #[error("the device has no component `{0}`")]
    NoComponent(String),
    /// The component has another number of categories.
    #[error("component `{component}` has {categories} categories: plan for as many")]
    OtherCategories {
        /// The component.
        component: String,
        /// How many it has.
        categories: u32,
    },
    /// The same question, asked in another way.
    #[error(
        "question `{question}` was asked otherwise at step {step}: what has changed is another question, and needs another name"
    )]
    OtherQuestion {
        /// The question.
        question: String,
        /// The step.
        step: u64,
    },
    /// A step that is over.
    #[error(
        "step {step} is over: nothing was drawn for this question then, and its value is gone; the step is {now} now"
    )]
    Past {
        /// The step asked for.
        step: u64,
        /// The step of the component.
        now: u64,
    },
    /// A step to come.
    #[error("step {step} has not begun: the step is {now} now")]
    Future {
        /// The step asked for.
        step: u64,
        /// The step of the component.
        now: u64,
    },
    /// Too many chains are kept.
    #[error(
        "the device keeps as many chains as it can: it has to forget those of past steps first"
    )]
    Full,
}

impl Request {
    /// The request as it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        // Nothing in a request fails to be written to memory.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes
    }

    /// Reads a request. What it asks for is checked by the device.
    ///
    /// # Errors
    /// The bytes are too many, or no request.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RequestError> {
        if bytes.len() > LONGEST_REQUEST {
            return Err(RequestError::TooLong);
        }
        match bytes.split_first() {
            Some((&VERSION, body)) => {
                serde_json::from_slice(body).map_err(|_| RequestError::Unreadable)
            }
            _ => Err(RequestError::Unreadable),
        }
    }

    /// Which purse is asked to pay.
    #[must_use]
    pub fn currency(&self) -> Currency {
        Currency::of(self.price)
    }

    /// Checks the names.
    pub(crate) fn check_names(&self) -> Result<(), RequestError> {
        let fits = |name: &str| (1..=LONGEST_NAME).contains(&name.len());
        if fits(&self.question) && fits(&self.component) { Ok(()) } else { Err(RequestError::Name) }
    }

    /// Checks that it is about what a component holds now: its categories, at its step.
    pub(crate) fn check_now(&self, now: u64, categories: u32) -> Result<(), RequestError> {
        if self.mechanism.categories != categories {
            let component = self.component.clone();
            return Err(RequestError::OtherCategories { component, categories });
        }
        let step = self.step;
        match step.cmp(&now) {
            Ordering::Less => Err(RequestError::Past { step, now }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(RequestError::Future { step, now }),
        }
    }

    /// Checks that the price it claims is that of its report of a chain.
    pub(crate) fn check_price(&self, chain: &Chain) -> Result<(), RequestError> {
        let price = self.currency().price(chain, self.report)?;
        if price != self.price {
            return Err(RequestError::Price { claimed: self.price, price });
        }
        Ok(())
    }
}
