//! `eke demo`: an account, charges, a refusal and the odometer, told as they happen.

use std::error::Error;
use std::io::{self, Write};

use eke_budget::convert::gaussian_release;
use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Charge, Currency, Delta, Epsilon, L2, MemoryJournal,
    Metric, PathId, Purse, Rho, TimeUniform, Variance,
};

use crate::Failure;

/// Tells the story. Its numbers are fixed, so a part that fails is a defect of eke's.
pub(crate) fn run(out: &mut impl Write) -> Result<(), Failure> {
    story(out).map_err(Failure::Failed)
}

fn story(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    writeln!(out, "eke: a privacy budget, spent and guarded\n")?;

    writeln!(out, "1. The promise")?;
    let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
    let budget = BudgetSpec::promising(epsilon)
        .with_delta(delta)
        .with_pure(Epsilon::new(0.2)?)
        .resolve(Metric::Hamming(Adjacency::AddRemove))?;
    let rho = budget.zcdp().map_or(0.0, |limits| limits.budget.to_f64());
    let shape = TimeUniform::tightest_at(Rho::new(rho)?, Delta::new(1e-7)?);
    let mut journal = MemoryJournal::new();
    let mut riders = Account::open("riders", budget, &mut journal)?;
    writeln!(
        out,
        "   Every rider of a city is promised epsilon 1 at delta 1e-6, for good, whatever is asked."
    )?;
    writeln!(
        out,
        "   That fills two purses: rho for noisy counts, epsilon for questions priced afterwards."
    )?;
    bars(out, &riders)?;

    writeln!(out, "2. A first question: how many trips start in the old town?")?;
    let one = L2::new(1.0)?;
    let trips = PathId::new([1; 32]);
    let coarse = gaussian_release(one, Variance::new(400.0)?)?;
    let approved = riders.raise(trips, coarse, one)?;
    let receipt = riders.commit(approved, &mut journal)?;
    writeln!(
        out,
        "   With noise of standard deviation 20 it costs rho {}.",
        receipt.purchase().price()
    )?;
    writeln!(
        out,
        "   The charge is recorded, then there is a receipt, and only a receipt lets noise be drawn."
    )?;
    receipt.redeem();
    bars(out, &riders)?;

    writeln!(out, "3. The same question, more exactly")?;
    let fine = gaussian_release(one, Variance::new(100.0)?)?;
    let approved = riders.raise(trips, fine, one)?;
    let receipt = riders.commit(approved, &mut journal)?;
    writeln!(
        out,
        "   Standard deviation 10 is a point further along the same noise path. It costs the difference,"
    )?;
    writeln!(
        out,
        "   rho {}; a fresh answer would have cost rho {}.",
        receipt.purchase().price(),
        receipt.purchase().to()
    )?;
    receipt.redeem();
    bars(out, &riders)?;

    writeln!(out, "4. The same question from a partner who may see less")?;
    let approved = riders.coarsen(trips, coarse)?;
    riders.commit(approved, &mut journal)?.redeem();
    writeln!(
        out,
        "   An earlier point of the path, at standard deviation 20, costs the riders nothing.\n"
    )?;

    writeln!(out, "5. A question priced afterwards: tell me when the count crosses the line")?;
    let worst = "0.15".parse()?;
    let approved = riders.reserve(worst, Amount::ZERO)?;
    let round = riders.commit(approved, &mut journal)?.redeem();
    writeln!(
        out,
        "   It may cost up to epsilon {worst}, so that much is set aside before it starts."
    )?;
    bars(out, &riders)?;
    let realised = "0.04".parse()?;
    let settlement = round.settle_at(realised)?;
    riders.settle(settlement, &mut journal).map_err(|unsettled| unsettled.reason)?;
    writeln!(out, "   It came to epsilon {realised}; the rest goes back.")?;
    bars(out, &riders)?;

    writeln!(out, "6. One question too many")?;
    let Err(refusal) = riders.approve(Charge::zcdp(Rho::new(0.02)?)) else {
        return Err("the demonstration overspent its account".into());
    };
    writeln!(out, "   {refusal}.")?;
    writeln!(out, "   Nothing has changed, and what fits can still be asked.\n")?;

    writeln!(out, "7. The odometer")?;
    let odometer = riders.odometer();
    if let Some(bound) = odometer.bound(shape)? {
        let (epsilon, delta) = (bound.epsilon.get(), bound.delta.get());
        writeln!(
            out,
            "   Spent so far: rho {} and epsilon {}.",
            spent(odometer.zcdp()),
            spent(odometer.pure())
        )?;
        writeln!(
            out,
            "   The loss so far is below {epsilon:.3} with probability 1 - {delta:.0e}, at all times at once."
        )?;
    }
    if let Some(promise) = riders.promise() {
        writeln!(
            out,
            "   The promise is the budget's, and holds when all of it is spent: {promise}."
        )?;
    }
    writeln!(
        out,
        "   The journal has {} entries, and replaying them gives the same totals.",
        journal.entries().len()
    )?;
    let replayed = Account::replay(journal.entries())?;
    if replayed.odometer().zcdp() != riders.odometer().zcdp()
        || replayed.odometer().pure() != riders.odometer().pure()
    {
        return Err("the journal does not replay".into());
    }
    Ok(())
}

fn spent<C: Currency>(purse: Option<&Purse<C>>) -> Amount<C> {
    purse.map_or(Amount::ZERO, Purse::spent)
}

/// Both purses as bars: spent, reserved, left.
fn bars(out: &mut impl Write, account: &Account) -> io::Result<()> {
    let odometer = account.odometer();
    writeln!(out)?;
    if let Some(purse) = odometer.zcdp() {
        bar(out, purse)?;
    }
    if let Some(purse) = odometer.pure() {
        bar(out, purse)?;
    }
    writeln!(out)
}

fn bar<C: Currency>(out: &mut impl Write, purse: &Purse<C>) -> io::Result<()> {
    const WIDTH: u128 = 40;
    // Whole cells, so that a bar is full only when nothing is left.
    let cells = |amount: Amount<C>| {
        let cells = amount.grains().saturating_mul(WIDTH) / purse.budget().grains().max(1);
        usize::try_from(cells).unwrap_or(0)
    };
    let spent = cells(purse.spent());
    let taken = cells(purse.spent().plus(purse.reserved()).unwrap_or(purse.budget()));
    let bar: String = (0..cells(purse.budget()))
        .map(|cell| {
            if cell < spent {
                '█'
            } else if cell < taken {
                '▒'
            } else {
                '·'
            }
        })
        .collect();
    let reserved = if purse.reserved().is_zero() {
        String::new()
    } else {
        format!(", {:.4} reserved", purse.reserved().to_f64())
    };
    writeln!(
        out,
        "   {:8} {bar} {:.4} of {:.4} spent{reserved}",
        C::NAME,
        purse.spent().to_f64(),
        purse.budget().to_f64(),
    )
}
