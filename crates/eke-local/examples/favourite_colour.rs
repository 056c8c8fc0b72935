//! A survey that no collector has to be trusted with: each device randomizes its own answer, pays
//! from its own account, and still the crowd's favourite shows.
//!
//! `cargo run -p eke-local --example favourite_colour`

use std::error::Error;

use eke_budget::{BudgetSpec, Epsilon, Metric};
use eke_local::device::Currency;
use eke_local::{
    Component, Coordinator, Device, Law, Mechanism, MemoryStorage, Method, Plan, Question, Reply,
    Tally,
};
use eke_noise::SystemEntropy;
use eke_noise::local::Categories;

const COLOURS: [&str; 4] = ["red", "green", "blue", "other"];
const PEOPLE: u32 = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let budget = BudgetSpec::promising(Epsilon::new(2.0)?).resolve(Metric::Discrete)?;
    let plan = Plan::new(4, &["2".parse()?], Method::Planned)?;
    let question = Question {
        name: "favourite".into(),
        component: "colour".into(),
        mechanism: Mechanism::of(plan.chain()),
        currency: Currency::Pure,
    };

    // The collector asks everybody for the one report of the plan, and counts what comes back.
    let mut collector = Coordinator::new(budget.clone());
    let request = collector.ask(&question, 0, 0, 0..PEOPLE)?;
    let law = plan.chain().law(0).ok_or("a plan has a report")?;
    let mut tally = Tally::new(Law::new(4, law)?);
    let mut entropy = SystemEntropy::new()?;
    for person in 0..PEOPLE {
        let colour =
            Component { name: "colour".into(), categories: Categories::new(4)?, otherwise: 3 };
        let name = format!("device {person}");
        let mut device = Device::create(&name, budget.clone(), vec![colour], MemoryStorage::new())?;
        // Two of three like blue.
        device.record("colour", if person % 2 == 0 { 2 } else { person % 3 })?;
        let reply = device.answer(&request, &mut entropy)?;
        collector.take(&person, &request, &reply)?;
        if let Reply::Report(report) = reply {
            tally.add_one(report.words())?;
        }
    }

    let users = tally.estimates().all_users();
    for (colour, users) in COLOURS.iter().zip(&users) {
        println!("{colour:<6} about {users:.0} of {PEOPLE}");
    }
    let blue = (0..4).max_by(|&a, &b| users[a].total_cmp(&users[b]));
    assert_eq!(blue, Some(2), "blue wins by more than the noise");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
