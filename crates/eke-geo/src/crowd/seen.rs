//! What has been released of everybody's points.

use eke_budget::{Amount, Rho};
use serde::{Deserialize, Serialize};

/// How far everybody's path has been followed, and what was seen there. It may be shown, and
/// stored; what is stored is checked when it is read.
///
/// It is made by asking, or read from where it was stored:
/// ```compile_fail,E0451
/// # use eke_geo::crowd::Seen;
/// fn pretend(points: Vec<f64>) -> Seen {
///     Seen { prices: Vec::new(), points }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Seen {
    prices: Vec<Amount<Rho>>,
    points: Vec<f64>,
}

/// What is stored does not hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what has been seen is a price for each person and as many numbers for each, all finite")]
pub struct SeenError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    prices: Vec<Amount<Rho>>,
    points: Vec<f64>,
}

impl Seen {
    /// What was stored: prices person by person, and points coordinate by coordinate and person by
    /// person, in steps of the lattice. A person who paid nothing has no point there: zeros are
    /// read.
    ///
    /// # Errors
    /// There is another number of coordinates for some people than for others, or one is not a
    /// number.
    pub fn stored(prices: Vec<Amount<Rho>>, points: Vec<f64>) -> Result<Self, SeenError> {
        let fits = match prices.len() {
            0 => points.is_empty(),
            people => !points.is_empty() && points.len().is_multiple_of(people),
        };
        let finite = points.iter().all(|steps| steps.is_finite());
        (fits && finite).then_some(Self { prices, points }).ok_or(SeenError)
    }

    /// What was paid for, and what was reported.
    pub(super) fn reported(prices: Vec<Amount<Rho>>, points: Vec<f64>) -> Self {
        Self { prices, points }
    }

    /// How far each person's path has been followed; empty if nobody's has.
    #[must_use]
    pub fn prices(&self) -> &[Amount<Rho>] {
        &self.prices
    }

    /// What was seen there, in steps of the lattice, coordinate by coordinate and person by person.
    #[must_use]
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    pub(super) fn into_points(self) -> Vec<f64> {
        self.points
    }

    /// Whether it is of as many people and coordinates, or of nobody.
    pub(super) fn fits(&self, people: usize, dimensions: usize) -> bool {
        self.prices.is_empty()
            || (self.prices.len() == people && self.points.len() == people * dimensions)
    }
}

impl TryFrom<Stored> for Seen {
    type Error = SeenError;

    fn try_from(Stored { prices, points }: Stored) -> Result<Self, SeenError> {
        Self::stored(prices, points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_checked_when_it_is_read() {
        let read = |text: &str| serde_json::from_str::<Seen>(text);
        let seen = read(r#"{"prices":["1","0"],"points":[1.5,2,0,0]}"#).unwrap();
        assert_eq!((seen.prices().len(), seen.points()), (2, &[1.5, 2.0, 0.0, 0.0][..]));
        assert!(seen.fits(2, 2) && !seen.fits(2, 1) && !seen.fits(4, 1));
        assert_eq!(read(&serde_json::to_string(&seen).unwrap()).unwrap(), seen);
        assert_eq!(read(r#"{"prices":[],"points":[]}"#).unwrap(), Seen::default());
        for bad in [
            r#"{"prices":["1","0"],"points":[1.5,2,0]}"#,
            r#"{"prices":["1"],"points":[]}"#,
            r#"{"prices":[],"points":[0.5]}"#,
            r#"{"prices":["1"],"points":[1],"truth":[1]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(Seen::stored(vec![Amount::ONE], vec![f64::NAN]).is_err());
    }
}
