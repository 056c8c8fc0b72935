//! Which of my saved places is near the station? Privacy is measured by distance: the closer two
//! sets of places are, the less they can be told apart.
//!
//! `cargo run -p eke-geo --example nearest_cafe`

use std::error::Error;

use eke_budget::metric::Reach;
use eke_budget::{Account, Amount, BudgetSpec, Epsilon, Metres, Metric, NoHistory};
use eke_geo::person::NearestMethod;
use eke_geo::{Lattice, Nearest, Place, Places, Region, nearest};
use eke_noise::SystemEntropy;
use eke_noise::select::{Allotment, Prepaid};

fn main() -> Result<(), Box<dyn Error>> {
    // A disc around the city, laid out flat; places that are less than a metre apart count as a
    // metre apart.
    let delft = Region::new(Place::new(4.36, 52.01)?, Metres::new(10_000.0)?)?;
    let lattice = Lattice::of(delft, Metres::ONE)?;
    let saved = [(4.3571, 52.0116), (4.3710, 52.0021), (4.3565, 52.0067), (4.3200, 52.0500)];
    let saved: Vec<Place> =
        saved.iter().map(|&(east, north)| Place::new(east, north)).collect::<Result<_, _>>()?;
    let places = Places::on_earth(lattice, saved).ok_or("the lattice has a region")?;

    // The account measures in metres: this price tells places apart that are some twenty metres
    // from each other.
    let price: Amount<Epsilon> = "0.5".parse()?;
    let metric = Metric::Euclidean(Reach::Within(Metres::new(5_000.0)?));
    let budget = BudgetSpec::promising(Epsilon::new(5_000.0)?).resolve(metric)?;
    let mut me = Account::open("me", budget, &mut NoHistory)?;
    let approved = me.approve(Allotment { price })?;
    let prepaid = Prepaid::open(me.commit(approved, &mut NoHistory)?);

    let station = lattice.put_place(Place::new(4.3566, 52.0066)?).ok_or("it is in the region")?;
    let question = Nearest { to: station, count: 1, method: NearestMethod::Ranked };
    let found = nearest(&places, &question, prepaid, &mut SystemEntropy::new()?)?.get();
    println!("place {} of {} is near the station", found[0], places.count());
    assert_eq!(found, [2], "the others are hundreds of metres further away");
    Ok(())
}

#[test]
fn the_example_runs() {
    main().expect("the example runs");
}
