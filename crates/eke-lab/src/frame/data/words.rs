//! Words of titles, and how many people used each.

use super::{Data, DataError};

impl Data {
    /// How many distinct authors used each of the words of the titles of a year's posts on Reddit,
    /// most first (`reddit_top2013_titles_hist_top5000.csv.gz`): the 5,000 commonest. Nothing is
    /// left out. Made up, they are 500 words.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn word_counts(&self) -> Result<Vec<u32>, DataError> {
        if self.is_made_up() {
            return Ok((1..=500).map(|rank| 60_000 / rank).collect());
        }
        let file = "reddit_top2013_titles_hist_top5000.csv.gz";
        self.rows(file, ["distinct_authors"], |[people]| people.parse().ok())
    }
}
