//! A question about flights: its groups' counts, bounded by what one aircraft may add.

use std::collections::BTreeMap;

use crate::frame::data::Flights;

/// Counts by group.
#[derive(Clone, Debug)]
pub(crate) struct GroupCounts {
    /// What groups are.
    pub name: &'static str,
    /// The bounded counts, by group.
    pub counts: Vec<i64>,
    /// Groups that one aircraft is counted in, at most.
    pub most_groups: u32,
    /// Rows that it counts for in each, at most.
    pub most_rows: u32,
    /// An error that is good enough whatever the count.
    pub floor: f64,
}

impl GroupCounts {
    /// The questions that are asked of flights.
    pub(crate) fn all(flights: &Flights) -> Vec<Self> {
        let by = |key: fn(&Flights, usize) -> String| move |row: usize| key(flights, row);
        vec![
            Self::of("carrier", 2, 50, 250.0, flights, by(|f, row| f.carrier[row].clone())),
            Self::of("destination", 10, 10, 50.0, flights, by(|f, row| f.destination[row].clone())),
            Self::of("month", 12, 20, 100.0, flights, by(|f, row| f.month[row].to_string())),
            Self::of(
                "origin and hour",
                20,
                10,
                50.0,
                flights,
                by(|f, row| format!("{} {}", f.origin[row], f.hour[row])),
            ),
        ]
    }

    /// Counts, of which an aircraft is in the groups that a hash of both puts first, and for a
    /// limited number of rows in each.
    fn of(
        name: &'static str,
        most_groups: u32,
        most_rows: u32,
        floor: f64,
        flights: &Flights,
        key: impl Fn(usize) -> String,
    ) -> Self {
        let mut rows: BTreeMap<u32, BTreeMap<String, u32>> = BTreeMap::new();
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for (row, &aircraft) in flights.aircraft.iter().enumerate() {
            let group = key(row);
            counts.entry(group.clone()).or_insert(0);
            *rows.entry(aircraft).or_default().entry(group).or_insert(0) += 1;
        }
        for (aircraft, groups) in rows {
            let mut groups: Vec<(u64, String, u32)> = groups
                .into_iter()
                .map(|(group, rows)| (hash(aircraft, &group), group, rows))
                .collect();
            groups.sort_unstable();
            for (_, group, rows) in groups.into_iter().take(most_groups as usize) {
                *counts.entry(group).or_insert(0) += i64::from(rows.min(most_rows));
            }
        }
        Self { name, counts: counts.into_values().collect(), most_groups, most_rows, floor }
    }

    /// The geometric middle between the smallest and the largest count.
    pub(crate) fn middle(&self) -> f64 {
        let counts = || self.counts.iter().map(|&count| count.max(1) as f64);
        (counts().fold(f64::MAX, f64::min) * counts().fold(1.0, f64::max)).sqrt()
    }
}

/// FNV-1a: here it must only be fair, and not secret.
fn hash(aircraft: u32, group: &str) -> u64 {
    let bytes = aircraft.to_le_bytes().into_iter().chain(group.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aircraft_adds_no_more_than_it_may() {
        let mut flights = Flights::default();
        for month in [1, 1, 1, 2, 3] {
            flights.aircraft.push(0);
            flights.month.push(month);
        }
        flights.aircraft.push(1);
        flights.month.push(2);
        let by = |row: usize| flights.month[row].to_string();
        let all = GroupCounts::of("month", 3, 100, 1.0, &flights, by);
        assert_eq!(all.counts, [3, 2, 1]);
        let rows = GroupCounts::of("month", 3, 2, 1.0, &flights, by);
        assert_eq!(rows.counts, [2, 2, 1]);
        let groups = GroupCounts::of("month", 1, 2, 1.0, &flights, by);
        assert!(groups.counts.iter().sum::<i64>() <= 3, "{groups:?}");
        assert_eq!(groups.counts.len(), 3, "keys do not depend on bounds");
    }
}
