//! Places of taxis on a plane, and tuples of them.

use std::error::Error;

use eke_budget::Metres;
use eke_geo::{Lattice, Region};
use eke_testkit::Seeded;

use crate::frame::context::Context;

/// Where taxis were, in metres on the plane of a region.
pub(super) struct Traces {
    pub(super) lattice: Lattice,
    taxis: Vec<Vec<[f64; 2]>>,
    /// Ways between places one after the other, and how long they are up to each.
    ways: Vec<([[f64; 2]; 2], f64)>,
}

/// Ways longer than this are not ways: something is missing in between.
const LONGEST: f64 = 2000.0;

impl Traces {
    /// Those of the data.
    pub(super) fn new(context: &Context) -> Result<Self, Box<dyn Error>> {
        let region = Region::around(-122.9, 37.25, -121.9, 38.25)?;
        let lattice = Lattice::of(region, Metres::ONE)?;
        let mut taxis: Vec<Vec<[f64; 2]>> = Vec::new();
        for taxi in context.data().taxis()? {
            taxis.push(taxi.fixes.iter().map(|fix| region.project(fix.place)).collect());
        }
        taxis.retain(|fixes| fixes.len() > 1);
        if taxis.is_empty() {
            return Err("there are no taxis with two places".into());
        }
        let (mut ways, mut length) = (Vec::new(), 0.0);
        for pair in taxis.iter().flat_map(|fixes| fixes.windows(2)) {
            let long = apart(pair[0], pair[1]);
            if long > 0.0 && long <= LONGEST {
                length += long;
                ways.push(([pair[0], pair[1]], length));
            }
        }
        Ok(Self { lattice, taxis, ways })
    }

    /// The given number of places of one taxi, none of them twice; all if there are no more.
    pub(super) fn tuple(&self, places: usize, seeded: &mut Seeded) -> Vec<[f64; 2]> {
        let mut fixes = self.taxis[seeded.roll(self.taxis.len())].clone();
        let places = places.min(fixes.len());
        for place in 0..places {
            let other = place + seeded.roll(fixes.len() - place);
            fixes.swap(place, other);
        }
        fixes.truncate(places);
        fixes
    }

    /// The middle of a square metre that some taxi came through, longer ways the more likely.
    pub(super) fn on_the_way(&self, seeded: &mut Seeded) -> [f64; 2] {
        let whole = self.ways.last().map_or(0.0, |(_, length)| *length);
        let at = seeded.unit() * whole;
        let way = self.ways.partition_point(|(_, length)| *length <= at).min(self.ways.len() - 1);
        let ([from, to], _) = self.ways[way];
        let part = seeded.unit();
        [0, 1].map(|axis| (from[axis] + part * (to[axis] - from[axis])).floor() + 0.5)
    }
}

/// How far apart two places are.
pub(super) fn apart(one: [f64; 2], two: [f64; 2]) -> f64 {
    (one[0] - two[0]).hypot(one[1] - two[1])
}
