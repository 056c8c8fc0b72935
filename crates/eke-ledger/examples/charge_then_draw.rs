//! A durable account: the charge is on disk before anything is drawn, the answer before it is sent,
//! and a request that is sent again is neither charged nor drawn again.
//!
//! `cargo run -p eke-ledger --example charge_then_draw`

use std::error::Error;

use eke_budget::{Adjacency, BudgetSpec, Charge, Metric, Rho};
use eke_ledger::{Address, Answer, Ledger, Outcome, Request, Spend, Stamp, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let address = Address::File(folder.path().join("eke.ledger"));
    let ledger = Ledger::open(&address)?;
    let budget = BudgetSpec::zcdp(Rho::new(1.0)?).resolve(Metric::Hamming(Adjacency::AddRemove))?;
    ledger.open_account("riders", budget, Stamp::now("steward")).wait()?;

    let ask = || -> Result<_, Box<dyn Error>> {
        let request = Request::new("q-1", Stamp::now("ana"), "SELECT COUNT(*) FROM trips")?;
        let price = Spend(Charge::zcdp(Rho::new(0.01)?));
        let nobody_else = Vec::<(&str, Spend<Charge>)>::new();
        Ok(ledger.charge(request, "riders", price, nobody_else).wait()?)
    };
    let Outcome::Charged(charged) = ask()? else { return Err("the key was used before".into()) };
    charged.own.redeem(); // Here the noise is drawn.
    let answer = Answer::new("about 12000 trips");
    let sent = ledger.answer(charged.claim, answer, Stamp::now("ana")).wait()?;

    // The network lost it, and the analyst asks again.
    let again = ask()?.answered().ok_or("it was not answered")?;
    assert_eq!(again, sent, "the same answer, for nothing");
    drop(ledger);

    let report = verify(address.read_only()?.as_mut(), None)?;
    assert!(report.findings.is_empty(), "the journal is as it was written");
    println!("asked twice, charged once, in {} lines of the journal", report.lines);
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
