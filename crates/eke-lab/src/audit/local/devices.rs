//! Devices that answer somebody who chooses what to ask by what was answered, by trying everything
//! they can draw.

use std::error::Error;

use eke_budget::{Amount, BudgetSpec, Charge, Epsilon, Metric};
use eke_local::device::Currency;
use eke_local::{Component, Device, Mechanism, MemoryStorage, Method, Plan, Reply, Request};
use eke_noise::local::Categories;
use eke_testkit::oracle::{End, Oracle, enumerate};

use crate::audit::{Audit, Finding, Method as How, loss_finding};

pub(in crate::audit) fn audits() -> Vec<Audit> {
    vec![Audit::once("device", How::Enumeration, device).about(
        "a conversation with a device costs its budget, whatever is asked and whenever it \
             starts again",
    )]
}

/// What a device said: a report, or that it halted.
type Said = Option<u64>;

/// What is asked, and whether the device starts again before it.
struct Asker {
    mechanism: Mechanism,
    /// What its two reports cost.
    prices: [Charge; 2],
    budget: f64,
}

impl Asker {
    fn new(categories: u32, budget: f64) -> Result<Self, Box<dyn Error>> {
        let tiers = [Amount::<Epsilon>::parse_up("1")?, Amount::parse_up("0.4")?];
        let plan = Plan::new(categories, &tiers, Method::RandomizedResponse)?;
        let mechanism = Mechanism::from(&plan);
        let chain = mechanism.chain()?;
        let prices = [Currency::Pure.price(&chain, 0)?, Currency::Pure.price(&chain, 1)?];
        Ok(Self { mechanism, prices, budget })
    }

    fn device(&self, value: u32) -> Result<Device<MemoryStorage>, Box<dyn Error>> {
        let budget = BudgetSpec::promising(Epsilon::new(self.budget)?).resolve(Metric::Discrete)?;
        let categories = Categories::new(self.mechanism.categories)?;
        let colour = Component { name: "colour".into(), categories, otherwise: 0 };
        let mut device = Device::create("audited", budget, vec![colour], MemoryStorage::new())?;
        device.record("colour", value)?;
        Ok(device)
    }

    fn ask(
        &self,
        device: &mut Device<MemoryStorage>,
        question: &str,
        report: usize,
        oracle: &mut Oracle,
    ) -> Result<Said, Box<dyn Error>> {
        let request = Request {
            question: question.into(),
            component: "colour".into(),
            step: 0,
            mechanism: self.mechanism.clone(),
            report,
            price: self.prices[report],
        };
        Ok(match device.answer(&request, oracle)? {
            Reply::Report(report) => report.words().first().copied(),
            Reply::Halted => None,
        })
    }

    /// The coarse report of a question. Where it names category 0 the fine one is wanted too, else
    /// another question's. Then the device starts again, and is asked for more than it has left,
    /// and for the most that it can still say.
    fn conversation(&self, value: u32, oracle: &mut Oracle) -> Result<Vec<Said>, Box<dyn Error>> {
        let mut device = self.device(value)?;
        let first = self.ask(&mut device, "a", 1, oracle)?;
        let second = if first == Some(1) {
            self.ask(&mut device, "a", 0, oracle)?
        } else {
            self.ask(&mut device, "b", 1, oracle)?
        };
        let mut device = Device::open(device.close())?;
        let third = self.ask(&mut device, "c", 0, oracle)?;
        let fourth = self.ask(&mut device, "c", 1, oracle)?;
        Ok(vec![first, second, third, fourth])
    }
}

fn device() -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = Vec::new();
    // With a budget of 1 the second question does not fit after the fine report of the first.
    for (budget, least) in [(1.4, 1e-6), (1.0, 1e-6)] {
        let asker = Asker::new(2, budget)?;
        let mut failed = None;
        let laws = [0, 1].map(|value| {
            enumerate(End::First, least, |oracle| {
                asker.conversation(value, oracle).unwrap_or_else(|error| {
                    failed = Some(error.to_string());
                    Vec::new()
                })
            })
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        findings.push(loss_finding(format!("conversation at a budget of {budget}"), budget, laws));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_conversation_with_a_device_costs_its_budget_and_no_less() {
        for finding in super::device().unwrap() {
            assert!(finding.passes(), "{finding:?}");
        }
    }
}
