//! Places: traces of taxis, and collisions of vehicles.

use std::collections::BTreeMap;

use eke_geo::Place;
use eke_testkit::Seeded;

use super::{Data, DataError, FileColumns};

/// Where a taxi was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// When, in seconds since 1970.
    pub time: i64,
    /// Where.
    pub place: Place,
}

/// A taxi, and where it was, in the order of time.
#[derive(Clone, Debug)]
pub struct Taxi {
    /// Where it was.
    pub fixes: Vec<Fix>,
}

impl Data {
    /// Traces of taxis of San Francisco over some weeks (`cabspotting_part1.parquet`), by taxi.
    /// Fixes more than half a degree from the centre of the bay (37.75 N, 122.4 W) are left out; so
    /// are repeated times of a taxi but for the first. Made up, there are 20 taxis with 300 fixes
    /// each.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn taxis(&self) -> Result<Vec<Taxi>, DataError> {
        const FILE: &str = "cabspotting_part1.parquet";
        let bay = Window { longitude: -122.4, latitude: 37.75, reach: 0.5 };
        if let Some(mut seeded) = self.generator(FILE) {
            return Ok(wandering(&mut seeded, bay, 20, 300));
        }
        by_taxi(&self.columns(FILE)?, bay)
    }

    /// Taxis of Beijing in one hour (`tdrive_1h_20080202.parquet`), by taxi. Fixes more than half a
    /// degree from the centre of the city (39.9 N, 116.4 E) are left out, among them those at 0, 0;
    /// so are repeated times of a taxi but for the first. Made up, there are 300 taxis with 10
    /// fixes each.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn beijing(&self) -> Result<Vec<Taxi>, DataError> {
        const FILE: &str = "tdrive_1h_20080202.parquet";
        let city = Window { longitude: 116.4, latitude: 39.9, reach: 0.5 };
        if let Some(mut seeded) = self.generator(FILE) {
            return Ok(wandering(&mut seeded, city, 300, 10));
        }
        by_taxi(&self.columns(FILE)?, city)
    }

    /// Where vehicles collided in New York (`nyc_collisions_sample.parquet`). Those without a
    /// place, and those more than half a degree from 40.7 N, 73.95 W (among them those at 0, 0),
    /// are left out. Made up, there are 500.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn collisions(&self) -> Result<Vec<Place>, DataError> {
        const FILE: &str = "nyc_collisions_sample.parquet";
        let city = Window { longitude: -73.95, latitude: 40.7, reach: 0.5 };
        if let Some(mut seeded) = self.generator(FILE) {
            let traces = wandering(&mut seeded, city, 500, 1);
            return Ok(traces.iter().flat_map(|taxi| &taxi.fixes).map(|fix| fix.place).collect());
        }
        let columns = self.columns(FILE)?;
        let (north, east) = (columns.numbers("latitude")?, columns.numbers("longitude")?);
        let places = north.into_iter().zip(east).filter_map(|(n, e)| city.place(e?, n?));
        Ok(places.collect())
    }
}

/// A part of the world, in degrees.
#[derive(Clone, Copy)]
struct Window {
    longitude: f64,
    latitude: f64,
    reach: f64,
}

impl Window {
    /// A place, if it is inside.
    fn place(self, longitude: f64, latitude: f64) -> Option<Place> {
        let inside = (longitude - self.longitude).abs() <= self.reach
            && (latitude - self.latitude).abs() <= self.reach;
        if inside { Place::new(longitude, latitude).ok() } else { None }
    }
}

fn by_taxi(columns: &FileColumns, window: Window) -> Result<Vec<Taxi>, DataError> {
    let (numbers, times) = (columns.whole("taxi")?, columns.whole("ts")?);
    let (north, east) = (columns.numbers("lat_e5")?, columns.numbers("lon_e5")?);
    let mut taxis = BTreeMap::<i64, Vec<Fix>>::new();
    for (row, (number, time)) in numbers.into_iter().zip(times).enumerate() {
        let (Some(number), Some(time), Some(n), Some(e)) = (number, time, north[row], east[row])
        else {
            continue;
        };
        if let Some(place) = window.place(e / 1e5, n / 1e5) {
            taxis.entry(number).or_default().push(Fix { time, place });
        }
    }
    let sorted = taxis.into_values().map(|mut fixes| {
        fixes.sort_by_key(|fix| fix.time);
        fixes.dedup_by_key(|fix| fix.time);
        Taxi { fixes }
    });
    Ok(sorted.collect())
}

/// Taxis that go a little way at a time, around the middle of a window.
fn wandering(seeded: &mut Seeded, window: Window, taxis: u32, fixes: u32) -> Vec<Taxi> {
    let mut uniform = || seeded.unit() - 0.5;
    let mut all = Vec::new();
    for _ in 0..taxis {
        let mut at = (uniform() * 0.2, uniform() * 0.2);
        let mut taxi = Taxi { fixes: Vec::new() };
        for step in 0..fixes {
            let place = window.place(window.longitude + at.0, window.latitude + at.1);
            let time = 1_200_000_000 + 60 * i64::from(step);
            taxi.fixes.extend(place.map(|place| Fix { time, place }));
            at = (at.0 * 0.99 + uniform() * 0.01, at.1 * 0.99 + uniform() * 0.01);
        }
        all.push(taxi);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_taxis_follow_from_their_seed() {
        let of = |seed| Data::made_up(seed).taxis().unwrap();
        assert_eq!(of(1).len(), 20);
        assert!(of(1).iter().all(|taxi| taxi.fixes.len() == 300));
        let first = |taxis: &[Taxi]| taxis[0].fixes[7];
        assert_eq!(first(&of(1)), first(&of(1)));
        assert_ne!(first(&of(1)).place, first(&of(2)).place);
        assert_eq!(Data::made_up(1).collisions().unwrap().len(), 500);
    }

    #[test]
    fn places_outside_of_the_window_are_left_out() {
        let window = Window { longitude: 10.0, latitude: 50.0, reach: 0.5 };
        assert!(window.place(10.4, 49.6).is_some());
        assert!(window.place(10.6, 49.6).is_none());
        assert!(window.place(0.0, 0.0).is_none());
    }
}
