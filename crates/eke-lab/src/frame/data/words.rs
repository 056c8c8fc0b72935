//! Words of titles, and how many people used each.

use super::{Data, DataError};

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordCount {
    /// The word.
    pub word: String,
    /// How many people used it.
    pub people: u32,
}

impl Data {
    /// Words of the titles of a year's posts on Reddit, by the number of distinct authors, most
    /// first (`reddit_top2013_titles_hist_top5000.csv.gz`): the 5,000 commonest. Nothing is left
    /// out. Made up, they are 500 words.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn words(&self) -> Result<Vec<WordCount>, DataError> {
        const FILE: &str = "reddit_top2013_titles_hist_top5000.csv.gz";
        if self.is_made_up() {
            let word = |rank: u32| WordCount { word: format!("word{rank}"), people: 60_000 / rank };
            return Ok((1..=500).map(word).collect());
        }
        self.rows(FILE, ["word", "distinct_authors"], |[word, people]| {
            Some(WordCount { word: word.to_owned(), people: people.parse().ok()? })
        })
    }
}
