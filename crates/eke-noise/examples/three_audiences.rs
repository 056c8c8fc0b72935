//! One count, drawn once, for three audiences: the finer the point of its noise path that an
//! audience may see, the dearer it is, and the people in the data pay for the finest point alone.
//!
//! `cargo run -p eke-noise --example three_audiences`

use std::error::Error;

use eke_budget::{
    Account, Adjacency, Amount, BudgetSpec, Delta, Epsilon, L1, L2, MemoryJournal, Metric, PathId,
    Rho,
};
use eke_noise::{Exact, GaussianPath, Grid, NoisePath, SystemEntropy};

fn main() -> Result<(), Box<dyn Error>> {
    let budget = BudgetSpec::promising(Epsilon::new(1.0)?)
        .with_delta(Delta::new(1e-6)?)
        .resolve(Metric::Hamming(Adjacency::AddRemove))?;
    let mut journal = MemoryJournal::new();
    let mut riders = Account::open("riders", budget, &mut journal)?;

    // The truth, which one rider changes by one: nothing but a path can open it.
    let grid = Grid::new(-10)?;
    let trips = Exact::new(12_000.0, L1::new(1.0)?).on(grid)?;
    let sensitivity = L2::new(trips.sensitivity().get())?;
    let mut path = GaussianPath::open(PathId::new([1; 32]), sensitivity);
    let mut entropy = SystemEntropy::new()?;

    // The city's analysts see furthest. Their point is charged first, and then drawn.
    let [public, partners, city]: [Amount<Rho>; 3] =
        ["0.0001".parse()?, "0.001".parse()?, "0.01".parse()?];
    let approved = riders.raise(path.id(), city, sensitivity)?;
    let receipt = riders.commit(approved, &mut journal)?;
    let finest = path.refine(&trips, receipt, &mut entropy).map_err(|no| no.reason)?;

    // Partners and the public see earlier points of the same path, which cost nothing more.
    let mut coarser = |to| -> Result<_, Box<dyn Error>> {
        let approved = riders.coarsen(path.id(), to)?;
        let receipt = riders.commit(approved, &mut journal)?;
        Ok(path.coarsen(receipt, &mut entropy).map_err(|no| no.reason)?)
    };
    let (middle, coarsest) = (coarser(partners)?, coarser(public)?);

    for (audience, price, point) in [
        ("the public", public, coarsest),
        ("partners", partners, middle),
        ("the city", city, finest),
    ] {
        println!("{audience:<11}{:>9.0}  at rho {price}", point.get() as f64 * grid.step());
    }
    let spent = riders.odometer().zcdp().map(|purse| purse.spent());
    assert_eq!(spent, Some(city), "the finest point is all that is paid for");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
