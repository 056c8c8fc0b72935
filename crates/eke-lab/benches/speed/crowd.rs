//! What questions to many people take on one core, of whom nothing has been seen. Noise is prepared
//! once and kept, so the first question of a kind, the slowest of its row, takes longer.

use std::fmt;

use divan::{Bencher, black_box};
use eke_budget::account::Sheet;
use eke_budget::{Amount, Metres};
use eke_geo::crowd::{Rule, Seen, Split};
use eke_geo::{Allowance, Crowd, Lattice, Plan, Shape, count, density, neighbours};
use eke_testkit::Seeded;

/// How people are asked.
#[derive(Clone, Copy, Debug)]
enum Way {
    Ours31,
    Ours64,
    Published64,
}

const WAYS: [Way; 3] = [Way::Ours31, Way::Ours64, Way::Published64];

impl Way {
    fn plan(self) -> Plan {
        let ours = Plan::default();
        match self {
            Self::Ours31 => ours,
            Self::Ours64 => Plan { split: Split::Geometric { rounds: 64, ratio: 1.12 }, ..ours },
            Self::Published64 => Plan { rule: Rule::Paper, split: Split::Even(64), ..ours },
        }
    }
}

/// A question, again and again, each time as if nothing had been seen.
fn asked<T, E: fmt::Debug>(
    bencher: Bencher,
    mut crowd: Crowd,
    ask: impl Fn(&mut Crowd, &mut Seeded) -> Result<T, E>,
) {
    let mut seeded = Seeded::new(1);
    bencher.bench_local(|| {
        crowd.restore(Seen::default()).unwrap();
        black_box(ask(&mut crowd, &mut seeded).unwrap());
    });
}

fn allowance(rho: &str) -> Allowance {
    Allowance::Same(rho.parse().unwrap())
}

#[divan::bench(args = WAYS, sample_count = 15, sample_size = 1)]
fn count_of_9740(bencher: Bencher, way: Way) {
    let taxis = town(9740, Spread::Even);
    let sides = [Metres::new(5000.0).unwrap(); 2];
    let square = Shape::rectangle(taxis.lattice(), [2000.0, 1000.0], sides, 0.0).unwrap();
    let (allowance, plan) = (allowance("0.0001"), way.plan());
    asked(bencher, taxis, |crowd, seeded| count(crowd, &square, &allowance, &plan, seeded));
}

fn density_of(bencher: Bencher, way: Way, places: Crowd) {
    let at = places.lattice().put(&[1000.0, 500.0]);
    let bandwidth = Metres::new(500.0).unwrap();
    let (allowance, plan) = (allowance("0.0001"), way.plan());
    asked(bencher, places, |crowd, seeded| {
        density(crowd, &at, bandwidth, &allowance, &plan, seeded)
    });
}

#[divan::bench(args = WAYS, sample_count = 15, sample_size = 1)]
fn density_of_200000(bencher: Bencher, way: Way) {
    density_of(bencher, way, town(200_000, Spread::Even));
}

#[divan::bench(args = WAYS, sample_count = 15, sample_size = 1)]
fn density_of_200000_around_it(bencher: Bencher, way: Way) {
    density_of(bencher, way, town(200_000, Spread::Middle));
}

#[divan::bench(args = WAYS, sample_count = 15, sample_size = 1)]
fn ten_nearest_of_60000_in_784_dimensions(bencher: Bencher, way: Way) {
    let (at, allowance, plan) = (vec![0; 784], allowance("0.001"), way.plan());
    asked(bencher, images(60_000), |crowd, seeded| {
        neighbours(crowd, &at, 10, &allowance, &plan, seeded)
    });
}

/// Where people are in a town of 50 km across.
#[derive(Clone, Copy)]
enum Spread {
    /// Everywhere alike.
    Even,
    /// The closer to its middle the more, so that half of them are within half its radius: many
    /// near any point there.
    Middle,
}

/// People of a town.
fn town(people: usize, spread: Spread) -> Crowd {
    let lattice = Lattice::boxed(2, Metres::new(60_000.0).unwrap(), Metres::ONE).unwrap();
    let mut seeded = Seeded::new(5);
    let mut points = Vec::with_capacity(2 * people);
    for _ in 0..people {
        let (part, turn) = (seeded.unit(), std::f64::consts::TAU * seeded.unit());
        let far = 25_000.0
            * match spread {
                Spread::Even => part.sqrt(),
                Spread::Middle => part,
            };
        points.extend(lattice.put(&[far * turn.cos(), far * turn.sin()]));
    }
    Crowd::new(lattice, points, Sheet::same(Amount::MAX, people).unwrap()).unwrap()
}

/// Images, some darker than others.
fn images(people: usize) -> Crowd {
    let lattice = Lattice::boxed(784, Metres::new(255.0).unwrap(), Metres::ONE).unwrap();
    let mut seeded = Seeded::new(6);
    let mut points = Vec::with_capacity(784 * people);
    let grey = lattice.grid().steps(1.0);
    for _ in 0..people {
        let shade = 40.0 + 80.0 * seeded.unit();
        #[expect(clippy::cast_possible_truncation, reason = "up to 255")]
        points.extend((0..784).map(|_| (shade * 2.0 * seeded.unit()) as i64 * grey));
    }
    Crowd::new(lattice, points, Sheet::same(Amount::MAX, people).unwrap()).unwrap()
}
