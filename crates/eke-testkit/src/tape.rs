//! Bits that are written down beforehand, that are not to be drawn, or that are counted.

use eke_noise::Entropy;

/// Words one after the other, and then none, or another for good.
#[derive(Clone, Debug)]
pub struct Tape {
    words: Vec<u64>,
    used: usize,
    follow: Option<u64>,
}

impl Tape {
    /// These words. Drawing another one is a panic.
    pub fn new(words: impl AsRef<[u64]>) -> Self {
        Self { words: words.as_ref().to_vec(), used: 0, follow: None }
    }

    /// The same word for good.
    #[must_use]
    pub fn always(word: u64) -> Self {
        Self { words: Vec::new(), used: 0, follow: Some(word) }
    }

    /// These words, and then another one for good.
    #[must_use]
    pub fn then(self, word: u64) -> Self {
        Self { follow: Some(word), ..self }
    }

    /// The number of words that were drawn.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used
    }

    /// The next word.
    ///
    /// # Panics
    /// The tape is at its end.
    pub fn word(&mut self) -> u64 {
        let word = self.words.get(self.used).copied().or(self.follow);
        self.used += 1;
        word.expect("a word on the tape")
    }
}

impl Entropy for Tape {
    fn word(&mut self) -> u64 {
        self.word()
    }
}

/// Where nothing may be drawn: to draw is a panic.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Entropy for Nothing {
    fn word(&mut self) -> u64 {
        panic!("something was drawn");
    }
}

/// Counts the words that are drawn from another source.
#[derive(Clone, Debug)]
pub struct Counted<E> {
    entropy: E,
    words: u64,
}

impl<E> Counted<E> {
    /// Counts from zero.
    #[must_use]
    pub fn new(entropy: E) -> Self {
        Self { entropy, words: 0 }
    }

    /// The number of words that were drawn.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.words
    }
}

impl<E: Entropy> Entropy for Counted<E> {
    fn word(&mut self) -> u64 {
        self.words += 1;
        self.entropy.word()
    }
}
