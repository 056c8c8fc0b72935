//! An account that cannot be overspent: a charge is approved, recorded, and only then redeemed.
//!
//! `cargo run -p eke-budget --example spending`

use std::error::Error;

use eke_budget::{
    Account, Adjacency, BudgetSpec, Charge, Delta, Epsilon, MemoryJournal, Metric, Rho,
};

fn main() -> Result<(), Box<dyn Error>> {
    let budget = BudgetSpec::promising(Epsilon::new(1.0)?)
        .with_delta(Delta::new(1e-6)?)
        .resolve(Metric::Hamming(Adjacency::AddRemove))?;
    let mut journal = MemoryJournal::new();
    let mut riders = Account::open("riders", budget, &mut journal)?;

    // Questions are paid for until one does not fit.
    let price = Charge::zcdp(Rho::new(0.004)?);
    let mut paid = 0;
    let refusal = loop {
        match riders.approve(price) {
            Ok(approved) => riders.commit(approved, &mut journal)?.redeem(),
            Err(refusal) => break refusal,
        };
        paid += 1;
    };
    println!("{paid} questions at {price}, and then: {refusal}");

    // A refusal leaves everything as it was, and a cheaper question may still fit.
    let left = riders.odometer().zcdp().map(|purse| purse.left()).ok_or("no purse")?;
    assert!(paid > 1 && left < "0.004".parse()?);
    assert!(riders.approve(price).is_err());
    println!("left: rho {left}");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
