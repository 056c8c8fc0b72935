//! The two sides of an account: each a purse and the paths paid from it.

use std::collections::{HashMap, HashSet};

use crate::account::{Limits, Purse};
use crate::purchase::charge::in_currency;
use crate::purchase::path::{Level, PathId};
use crate::{Amount, Budget, Charge, Delta, Epsilon, Price, Rho};

/// A purse, and how far the paths and bundles paid from it have been revealed. Levels are those of
/// recorded steps only.
#[derive(Debug)]
pub struct Book<C: Price> {
    pub(crate) purse: Purse<C>,
    pub(crate) paths: HashMap<PathId, Level<C>>,
    /// The increments bought and the price of all groups together, by bundle.
    pub(crate) bundles: HashMap<PathId, (u32, Amount<C>)>,
    /// Paths and bundles whose next step is approved and not recorded yet.
    pub(crate) under_way: HashSet<PathId>,
}

/// Both sides of an account.
#[derive(Debug)]
pub struct Books {
    pub(crate) zcdp: Option<Book<Rho>>,
    pub(crate) pure: Option<Book<Epsilon>>,
}

impl<C: Price> Book<C> {
    fn open(limits: Limits<C>) -> Self {
        Self {
            purse: Purse::new(limits),
            paths: HashMap::new(),
            bundles: HashMap::new(),
            under_way: HashSet::new(),
        }
    }
}

impl Books {
    pub(crate) fn open(budget: &Budget) -> Self {
        Self { zcdp: budget.zcdp().map(Book::open), pure: budget.pure().map(Book::open) }
    }

    /// Pays a charge from its purse if it fits, and says whether it did.
    pub(crate) fn spend(&mut self, charge: Charge) -> bool {
        in_currency!(charge, price => self.spend_in(price, charge.delta()))
    }

    /// Takes back a charge that was never recorded.
    pub(crate) fn unspend(&mut self, charge: Charge) {
        in_currency!(charge, price => self.unspend_in(price, charge.delta()));
    }

    /// The purse a charge is paid from, as it was opened and as it is now.
    pub(crate) fn budget_and_left(&self, charge: Charge) -> Option<(Charge, Charge)> {
        fn both<C: Price>(book: &Book<C>) -> (Charge, Charge) {
            let purse = &book.purse;
            let budget = C::charge(purse.budget(), purse.delta_budget());
            (budget, C::charge(purse.left(), purse.delta_left()))
        }
        match charge {
            Charge::Zcdp { .. } => self.zcdp.as_ref().map(both),
            Charge::Pure { .. } => self.pure.as_ref().map(both),
        }
    }

    /// Says that the next step of a path or bundle is, or is no longer, under way.
    pub(crate) fn set_under_way(&mut self, path: PathId, currency: Charge, under_way: bool) {
        fn set<C: Price>(book: Option<&mut Book<C>>, path: PathId, under_way: bool) {
            if let Some(book) = book {
                if under_way {
                    book.under_way.insert(path);
                } else {
                    book.under_way.remove(&path);
                }
            }
        }
        match currency {
            Charge::Zcdp { .. } => set(self.zcdp.as_mut(), path, under_way),
            Charge::Pure { .. } => set(self.pure.as_mut(), path, under_way),
        }
    }

    fn spend_in<C: Price>(&mut self, price: Amount<C>, delta: Amount<Delta>) -> bool {
        C::book_mut(self).is_some_and(|book| book.purse.spend(price, delta))
    }

    fn unspend_in<C: Price>(&mut self, price: Amount<C>, delta: Amount<Delta>) {
        if let Some(book) = C::book_mut(self) {
            book.purse.unspend(price, delta);
        }
    }
}
