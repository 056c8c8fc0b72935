//! Households of the United States, and what they earned.

use super::{Data, DataError};

/// A household.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Household {
    /// The year it was asked in.
    pub year: i64,
    /// Its income in dollars; may be below zero.
    pub income: i64,
    /// Its wages in dollars.
    pub wages: i64,
}

impl Data {
    /// Households of the Current Population Survey (`cps_asec_2012_2014_households.parquet`). Those
    /// without an income are left out; the largest incomes are altered by who published them, so
    /// clamp them. Made up, there are 1,000.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn households(&self) -> Result<Vec<Household>, DataError> {
        const FILE: &str = "cps_asec_2012_2014_households.parquet";
        if let Some(mut seeded) = self.generator(FILE) {
            let mut drawn = || {
                let income = i64::from(seeded.below(120_000));
                Household { year: 2013, income, wages: income / 2 }
            };
            return Ok((0..1000).map(|_| drawn()).collect());
        }
        let mut columns = self.columns(FILE, &["year", "household_income", "wages"])?;
        let (years, incomes) = (columns.whole("year")?, columns.whole("household_income")?);
        let wages = columns.whole("wages")?;
        let rows = years.into_iter().zip(incomes).zip(wages);
        let known = rows.filter_map(|((year, income), wages)| {
            Some(Household { year: year?, income: income?, wages: wages.unwrap_or(0) })
        });
        Ok(known.collect())
    }
}
