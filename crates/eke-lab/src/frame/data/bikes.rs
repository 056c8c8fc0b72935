//! Daily totals: rides on hired bikes, and electricity of households.

use super::{Data, DataError};

impl Data {
    /// Rides of registered users on each of 731 days (`bike_day.csv.gz`).
    ///
    /// # Errors
    /// The file is not there, or is not what it should be. It is not made up.
    pub fn rides(&self) -> Result<Vec<i64>, DataError> {
        self.rows("bike_day.csv.gz", ["registered"], |[value]| value.parse().ok())
    }

    /// What all households used on each of 825 days, in kWh (`lcl_daily_aggregate.csv.gz`). The
    /// last day of the file is half an hour, and is left out.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be. It is not made up.
    pub fn electricity(&self) -> Result<Vec<f64>, DataError> {
        const UNFINISHED: &str = "2014-02-28";
        let columns = ["day", "total_kwh"];
        let days = self.rows("lcl_daily_aggregate.csv.gz", columns, |[day, kwh]| {
            Some((day != UNFINISHED, kwh.parse::<f64>().ok()?))
        })?;
        Ok(days.into_iter().filter(|(whole, _)| *whole).map(|(_, kwh)| kwh).collect())
    }
}
