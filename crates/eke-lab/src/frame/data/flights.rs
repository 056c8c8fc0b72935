//! Flights out of New York in 2013; a unit is an aircraft, by its tail number.

use std::collections::BTreeMap;

use super::{Data, DataError};

/// Flights, as columns: one entry of each for every flight.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    /// The aircraft, numbered in the order of tail numbers.
    pub aircraft: Vec<u32>,
    /// The carrier, in two letters.
    pub carrier: Vec<String>,
    /// Where from, in three letters.
    pub origin: Vec<String>,
    /// Where to, in three letters.
    pub destination: Vec<String>,
    /// The month, from 1 to 12.
    pub month: Vec<i64>,
    /// The hour it was to leave in.
    pub hour: Vec<i64>,
    /// How late it left, in minutes; none if it did not.
    pub delay: Vec<Option<i64>>,
    /// How far it flew, in miles.
    pub distance: Vec<i64>,
}

impl Flights {
    /// How many flights there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.aircraft.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.aircraft.is_empty()
    }
}

impl Data {
    /// Flights out of New York in 2013 (`nycflights13_flights.parquet`). Those without a tail
    /// number belong to nobody, and are left out. Made up, there are 6,000 flights of 300 aircraft.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn flights(&self) -> Result<Flights, DataError> {
        const FILE: &str = "nycflights13_flights.parquet";
        if let Some(mut seeded) = self.generator(FILE) {
            let mut flights = Flights::default();
            for _ in 0..6000 {
                flights.aircraft.push(seeded.below(300));
                // Some of everything is common and some is rare.
                let mut some = |of: u32| (seeded.below(256).pow(2) * of) >> 16;
                flights.carrier.push(format!("C{}", some(8)));
                flights.origin.push(["EWR", "JFK", "LGA"][some(3) as usize].to_owned());
                flights.destination.push(format!("D{:02}", some(20)));
                flights.month.push(1 + i64::from(some(12)));
                flights.hour.push(5 + i64::from(some(18)));
                flights.delay.push(Some(i64::from(some(120)) - 10));
                flights.distance.push(100 + i64::from(some(2000)));
            }
            return Ok(flights);
        }
        let (path, columns) = (self.path(FILE)?, self.columns(FILE)?);
        let text = |name: &'static str| -> Result<Vec<Option<String>>, DataError> {
            let words = columns.bytes(name)?.into_iter();
            let read =
                |word: Vec<u8>| String::from_utf8(word).map_err(|_| DataError::other(&path, name));
            words.map(|word| word.map(read).transpose()).collect()
        };
        let (tails, carriers) = (text("tailnum")?, text("carrier")?);
        let (origins, destinations) = (text("origin")?, text("dest")?);
        let (months, hours) = (columns.whole("month")?, columns.whole("hour")?);
        let (delays, distances) = (columns.whole("dep_delay")?, columns.whole("distance")?);
        let mut numbers: BTreeMap<&str, u32> =
            tails.iter().flatten().map(|tail| (tail.as_str(), 0)).collect();
        for (number, (_, place)) in (0..).zip(&mut numbers) {
            *place = number;
        }
        let mut flights = Flights::default();
        for (row, tail) in tails.iter().enumerate() {
            let Some(tail) = tail else { continue };
            flights.aircraft.push(numbers[tail.as_str()]);
            flights.carrier.push(carriers[row].clone().unwrap_or_default());
            flights.origin.push(origins[row].clone().unwrap_or_default());
            flights.destination.push(destinations[row].clone().unwrap_or_default());
            flights.month.push(months[row].unwrap_or(0));
            flights.hour.push(hours[row].unwrap_or(0));
            flights.delay.push(delays[row]);
            flights.distance.push(distances[row].unwrap_or(0));
        }
        Ok(flights)
    }
}
