//! What an asker sees of a group's paths in a search, and what seeing more of one costs.

use eke_budget::{Amount, Rho};
use eke_noise::stopping::search::{Point, Seen};

use crate::ask::read::double;
use crate::ask::state::State;
use crate::rows::Place;

/// The paths of one group, as far as an asker has paid for them.
#[derive(Clone, Copy)]
pub(crate) struct SeenPaths<'s> {
    pub(crate) state: &'s State,
    /// What the asker has paid for each path.
    pub(crate) paid: &'s [Amount<Rho>],
    pub(crate) group: u32,
    /// What one unit changes a path by, in rows.
    pub(crate) sensitivity: f64,
    /// The step of paths, in rows.
    pub(crate) step: f64,
}

impl SeenPaths<'_> {
    /// The path at a place, and what was paid for it; none if nothing was.
    fn path(&self, place: Place) -> Option<(u32, Amount<Rho>)> {
        let path = self.state.cuts()?.path(self.group, place)?;
        let paid = self.paid.get(path as usize).copied().filter(|paid| !paid.is_zero())?;
        Some((path, paid))
    }

    fn point(&self, place: Place) -> Option<Point> {
        let (path, paid) = self.path(place)?;
        let (_, value) = self.state.bundle.nearest(path, 0, paid)?;
        let precision = self.precision(self.state.bundle.worth(path, 0, paid));
        (precision > 0.0).then(|| Point { value: double(value.get()) * self.step, precision })
    }

    /// One over the variance of a path of this price, in rows.
    fn precision(&self, worth: Amount<Rho>) -> f64 {
        2.0 * worth.to_f64() / self.sensitivity.powi(2)
    }

    /// The price up to which a path must be paid for to come to a precision, from where it stands;
    /// none if it is there.
    pub(crate) fn price_of(&self, place: Place, precision: f64) -> Option<Amount<Rho>> {
        let now = self.path(place);
        let has =
            now.map_or(0.0, |(path, paid)| self.precision(self.state.bundle.worth(path, 0, paid)));
        let paid = now.map_or(Amount::ZERO, |(_, paid)| paid);
        let more = (precision - has) * self.sensitivity.powi(2) / 2.0;
        let more = Amount::ceil(more).ok().filter(|more| !more.is_zero())?;
        paid.plus(more)
    }
}

impl Seen for SeenPaths<'_> {
    fn cut(&self, cut: u64) -> Option<Point> {
        self.point(Place::Cut(cut))
    }

    fn count(&self) -> Option<Point> {
        self.point(Place::All)
    }
}
