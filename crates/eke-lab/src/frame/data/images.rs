//! Images of written digits.

use super::{Data, DataError};

/// How many pixels an image has: 28 rows of 28.
pub const PIXELS: usize = 784;

/// The pixels of an image, from 0 to 255, row by row.
pub type Pixels = Vec<u8>;

impl Data {
    /// MNIST's images to learn from (`mnist_train.parquet`): 60,000, none left out. Made up, there
    /// are 200.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn digits(&self) -> Result<Vec<Pixels>, DataError> {
        self.images("mnist_train.parquet", 200)
    }

    /// MNIST's images to be tested on (`mnist_test.parquet`): 10,000, none left out. Made up, there
    /// are 50.
    ///
    /// # Errors
    /// The file is not there, or is not what it should be.
    pub fn test_digits(&self) -> Result<Vec<Pixels>, DataError> {
        self.images("mnist_test.parquet", 50)
    }

    fn images(&self, file: &'static str, made_up: usize) -> Result<Vec<Pixels>, DataError> {
        if let Some(mut seeded) = self.generator(file) {
            let mut image = |number: usize| {
                // Digits differ by where their ink is.
                let inked = |pixel: usize| (pixel / 28 + pixel % 28) % 10 == number % 10;
                let mut grey = || u8::try_from(128 + seeded.below(128)).unwrap_or(255);
                (0..PIXELS).map(|pixel| if inked(pixel) { grey() } else { 0 }).collect()
            };
            return Ok((0..made_up).map(&mut image).collect());
        }
        let (path, images) = (self.path(file)?, self.columns(file)?.bytes("pixels")?);
        let whole = images.into_iter().map(|image| image.filter(|image| image.len() == PIXELS));
        whole.map(|image| image.ok_or_else(|| DataError::other(&path, "pixels"))).collect()
    }
}
