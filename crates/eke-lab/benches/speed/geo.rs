//! What questions about one person's 20,000 places take on one core.

use std::sync::LazyLock;

use divan::Bencher;
use eke_budget::{Amount, Epsilon, Metres, NoHistory, Rho};
use eke_geo::person::{HullPlan, NearestMethod};
use eke_geo::{Lattice, Nearest, PlacePrice, Places, hull, nearest};
use eke_lab::account;
use eke_noise::select::{Allotment, Prepaid};
use eke_testkit::Seeded;

/// Places around a few centres of a city, by a seed.
static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let lattice = Lattice::boxed(2, Metres::new(50_000.0).unwrap(), Metres::ONE).unwrap();
    let mut seeded = Seeded::new(5);
    let mut place = |number: u32| {
        let (far, angle) = (9000.0 * seeded.unit().powi(2), std::f64::consts::TAU * seeded.unit());
        let centre = f64::from(number % 5) * 1000.0;
        [centre + far * angle.cos(), centre - far * angle.sin()]
    };
    Places::new(lattice, (0..20_000).map(&mut place).collect::<Vec<_>>())
});

/// A currency, and how much of it is paid.
trait Paid: PlacePrice + std::fmt::Debug {
    const PRICE: &str;

    fn bought() -> Prepaid<Self> {
        let mut account = account();
        let price: Amount<Self> = Self::PRICE.parse().unwrap();
        let approved = account.approve(Allotment { price }).unwrap();
        Prepaid::open(account.commit(approved, &mut NoHistory).unwrap())
    }
}

impl Paid for Rho {
    const PRICE: &str = "0.00005";
}

impl Paid for Epsilon {
    const PRICE: &str = "0.0745668";
}

fn ten_nearest<C: Paid>(bencher: Bencher, method: NearestMethod) {
    let question = Nearest { to: PLACES.lattice().put(&[300.0, -200.0]), count: 10, method };
    let mut seeded = Seeded::new(1);
    bencher.bench_local(|| nearest(&PLACES, &question, C::bought(), &mut seeded).unwrap());
}

#[divan::bench(types = [Rho, Epsilon])]
fn ten_nearest_picked<C: Paid>(bencher: Bencher) {
    ten_nearest::<C>(bencher, NearestMethod::Ranked);
}

#[divan::bench(types = [Rho, Epsilon])]
fn ten_nearest_searched_as_published<C: Paid>(bencher: Bencher) {
    ten_nearest::<C>(bencher, NearestMethod::Paper { margin: None });
}

fn hull_by<C: Paid>(bencher: Bencher, plan: HullPlan) {
    let mut seeded = Seeded::new(1);
    bencher.bench_local(|| hull(&PLACES, &plan, C::bought(), &mut seeded).unwrap());
}

#[divan::bench(types = [Rho, Epsilon])]
fn hull_ours<C: Paid>(bencher: Bencher) {
    hull_by::<C>(bencher, HullPlan::default());
}

#[divan::bench(types = [Rho, Epsilon])]
fn hull_as_published<C: Paid>(bencher: Bencher) {
    hull_by::<C>(bencher, HullPlan::published());
}
