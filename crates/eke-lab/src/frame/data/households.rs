//! Households of the United States, and what they earned.

use super::{Data, DataError};

impl Data {
    /// What households of the Current Population Survey earn a year, in dollars, which may be below
    /// zero (`cps_asec_2012_2014_households.parquet`). Those without an income are left out; the
    /// largest incomes are altered by who published them, so clamp them. Made up, there are 1,000.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn household_incomes(&self) -> Result<Vec<i64>, DataError> {
        const FILE: &str = "cps_asec_2012_2014_households.parquet";
        if let Some(mut seeded) = self.generator(FILE) {
            return Ok((0..1000).map(|_| seeded.below(120_000).into()).collect());
        }
        let incomes = self.columns(FILE)?.whole("household_income")?;
        Ok(incomes.into_iter().flatten().collect())
    }
}
