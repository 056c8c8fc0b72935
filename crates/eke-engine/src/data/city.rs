//! A city made up for demonstrations and benchmarks: riders, their trips, and a policy for them.
//!
//! Nobody's data, so that its truth may be shown. The same size gives the same city.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;

/// The districts, and how many in a hundred riders live there.
const DISTRICTS: [(&str, u64); 6] =
    [("Centre", 34), ("North", 22), ("East", 18), ("South", 14), ("Harbour", 8), ("Island", 4)];

/// What is true of the city.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// How many riders there are.
    pub riders: u64,
    /// How many trips they took.
    pub trips: u64,
    /// By district: trips, and the sum of their fares.
    pub districts: Vec<(String, u64, f64)>,
    /// How many trips started between midnight and five.
    pub night_trips: u64,
}

/// Where a city was written, and what is true of it.
#[derive(Clone, Debug, PartialEq)]
pub struct City {
    /// The policy.
    pub policy: PathBuf,
    /// What is true of it.
    pub truth: Truth,
}

/// Writes the trips of n riders and a policy for them into a folder.
///
/// # Errors
/// A file cannot be written.
pub fn write_city(folder: &Path, riders: u32) -> io::Result<City> {
    std::fs::create_dir_all(folder)?;
    let mut truth = Truth {
        riders: u64::from(riders),
        districts: DISTRICTS.iter().map(|(name, _)| ((*name).to_owned(), 0, 0.0)).collect(),
        ..Truth::default()
    };
    let mut dice = Dice(0x05ee_d0f0_c17e);
    let file = File::create(folder.join("trips.parquet"))?;
    let mut writer = ArrowWriter::try_new(file, Trips::default().batch()?.schema(), None)?;
    let mut trips = Trips::default();
    for rider in 0..riders {
        trips.add_rider(rider, &mut dice, &mut truth);
        if trips.riders.len() >= 100_000 || rider + 1 == riders {
            writer.write(&std::mem::take(&mut trips).batch()?)?;
        }
    }
    writer.close()?;
    let policy = folder.join("eke.toml");
    std::fs::write(&policy, policy_text())?;
    Ok(City { policy, truth })
}

fn policy_text() -> String {
    let districts: Vec<String> = DISTRICTS.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    format!(
        r#"# Whose privacy is protected, and what all questions together may cost them.
[unit.rider]
adjacency = "add-remove"
budget = {{ epsilon = 1.0, delta = 1e-6 }}

[dataset.trips]
source = "trips.parquet"
unit = "rider"
unit_column = "rider_id"
max_groups = 2      # districts that one rider may count in
max_rows = 35       # trips that one rider may count for in each

[dataset.trips.columns]
district = {{ values = [{}] }}
fare = {{ min = 0, max = 50 }}

# Ana works for the city. Partners see coarser points of the same answers.
[tier.internal]
[tier.partner]
finest = {{ rho = 1e-4 }}
budget = {{ epsilon = 0.3, delta = 1e-7 }}

[analyst.ana]
tier = "internal"
[analyst.bob]
tier = "partner"
"#,
        districts.join(", ")
    )
}

/// Rows that have not been written yet.
#[derive(Default)]
struct Trips {
    riders: Vec<i64>,
    districts: Vec<&'static str>,
    started: Vec<i64>,
    kilometres: Vec<f64>,
    fares: Vec<f64>,
}

impl Trips {
    fn add_rider(&mut self, rider: u32, dice: &mut Dice, truth: &mut Truth) {
        let home = dice.district();
        // Most riders take about as many trips, some hardly any.
        let trips = if dice.below(10) == 0 { 1 + dice.below(4) } else { 10 + dice.below(25) };
        for _ in 0..trips {
            let district = if dice.below(8) == 0 { (home + 1) % DISTRICTS.len() } else { home };
            // More at eight and at five than in between, and few at night.
            let hour = match dice.below(20) {
                0 => dice.below(5),
                1..=6 => 7 + dice.below(3),
                7..=12 => 16 + dice.below(3),
                _ => 6 + dice.below(17),
            };
            let second = dice.below(28) * 86_400 + hour * 3_600 + dice.below(3_600);
            let kilometres = 0.5 + dice.part() * dice.part() * 20.0;
            let fare = (2.5 + 1.8 * kilometres + dice.part() * 2.0).min(50.0);
            let fare = (fare * 100.0).round() / 100.0;
            self.riders.push(i64::from(rider) + 1_000_000);
            self.districts.push(DISTRICTS[district].0);
            // In March 2026.
            let micros = (1_772_323_200 + second) * 1_000_000;
            self.started.push(i64::try_from(micros).unwrap_or(i64::MAX));
            self.kilometres.push((kilometres * 10.0).round() / 10.0);
            self.fares.push(fare);
            truth.trips += 1;
            truth.districts[district].1 += 1;
            truth.districts[district].2 += fare;
            truth.night_trips += u64::from(hour < 5);
        }
    }

    fn batch(self) -> io::Result<RecordBatch> {
        let columns: [(&str, ArrayRef); 5] = [
            ("rider_id", Arc::new(Int64Array::from(self.riders))),
            ("district", Arc::new(StringArray::from(self.districts))),
            ("started", Arc::new(TimestampMicrosecondArray::from(self.started))),
            ("kilometres", Arc::new(Float64Array::from(self.kilometres))),
            ("fare", Arc::new(Float64Array::from(self.fares))),
        ];
        RecordBatch::try_from_iter(columns).map_err(io::Error::other)
    }
}

/// Numbers that look random and are always the same: for made-up data, never for noise.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    fn district(&mut self) -> usize {
        let mut dice = self.below(100);
        for (index, (_, weight)) in DISTRICTS.iter().enumerate() {
            if dice < *weight {
                return index;
            }
            dice -= weight;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    #[test]
    fn a_city_is_always_the_same_and_its_policy_is_read() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let (one, other) = (write_city(folder, 500).unwrap(), write_city(folder, 500).unwrap());
        assert_eq!(one, other);
        let trips: u64 = one.truth.districts.iter().map(|district| district.1).sum();
        assert_eq!((one.truth.riders, one.truth.trips), (500, trips));
        assert!(one.truth.night_trips > 100);
        let policy = Policy::read(&one.policy).unwrap();
        assert_eq!(policy.analysts.len(), 2);
    }
}
