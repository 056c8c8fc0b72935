//! Images of written digits.

use super::{Data, DataError};

/// How many pixels an image has: 28 rows of 28.
pub const PIXELS: usize = 784;

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The digit.
    pub label: u8,
    /// Its pixels, from 0 to 255, row by row.
    pub pixels: Vec<u8>,
}

impl Data {
    /// MNIST's images to learn from (`mnist_train.parquet`): 60,000, none left out. Made up, there
    /// are 200.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn digits(&self) -> Result<Vec<Image>, DataError> {
        self.images("mnist_train.parquet", 200)
    }

    /// MNIST's images to be tested on (`mnist_test.parquet`): 10,000, none left out. Made up, there
    /// are 50.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn test_digits(&self) -> Result<Vec<Image>, DataError> {
        self.images("mnist_test.parquet", 50)
    }

    fn images(&self, file: &'static str, made_up: u32) -> Result<Vec<Image>, DataError> {
        if let Some(mut seeded) = self.generator(file) {
            let mut image = |number: u32| {
                // Digits differ by where their ink is.
                let label = u8::try_from(number % 10).unwrap_or(0);
                let inked = |pixel: usize| (pixel / 28 + pixel % 28) % 10 == usize::from(label);
                let mut grey = || u8::try_from(128 + seeded.below(128)).unwrap_or(255);
                let ink = |pixel| if inked(pixel) { grey() } else { 0 };
                Image { label, pixels: (0..PIXELS).map(ink).collect() }
            };
            return Ok((0..made_up).map(&mut image).collect());
        }
        let mut columns = self.columns(file, &["label", "pixels"])?;
        let (labels, pixels) = (columns.whole("label")?, columns.bytes("pixels")?);
        let path = self.path(file)?;
        let images = labels.into_iter().zip(pixels).map(|(label, pixels)| {
            let label = label.and_then(|label| u8::try_from(label).ok());
            let pixels = pixels.filter(|pixels| pixels.len() == PIXELS);
            let both = label.zip(pixels).map(|(label, pixels)| Image { label, pixels });
            both.ok_or_else(|| DataError::other(&path, "pixels"))
        });
        images.collect()
    }
}
