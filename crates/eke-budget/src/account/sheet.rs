//! Many accounts in one currency, as columns.
//!
//! An account here is a budget and what has been spent of it, in exact amounts, and the filter is
//! that of a purse. A sheet has no history, as an account with [`NoHistory`](crate::NoHistory):
//! its budgets are what was reserved for everybody elsewhere, on disk, and its totals are settled
//! there afterwards.
//!
//! One charge of many accounts is one [`PaidColumn`], which a mechanism uses up when it draws. It
//! cannot be made by hand, copied, or used twice:
//!
//! ```compile_fail,E0451
//! use eke_budget::Rho;
//! use eke_budget::account::{PaidColumn, SamePrice};
//! fn forge<'a>(accounts: &'a [u32], prices: &'a [SamePrice<Rho>]) -> PaidColumn<'a, Rho> {
//!     PaidColumn { accounts, prices }
//! }
//! ```
//! ```compile_fail,E0599
//! # use eke_budget::Rho;
//! # use eke_budget::account::PaidColumn;
//! fn copy<'a>(paid: PaidColumn<'a, Rho>) -> [PaidColumn<'a, Rho>; 2] {
//!     [paid.clone(), paid]
//! }
//! ```
//! ```compile_fail,E0382
//! # use eke_budget::Rho;
//! # use eke_budget::account::PaidColumn;
//! fn draw_twice(paid: PaidColumn<'_, Rho>) {
//!     let once = paid.redeem();
//!     let twice = paid.redeem();
//! }
//! ```
//! While it is held, nobody is added to those who paid:
//! ```compile_fail,E0499
//! # use eke_budget::Rho;
//! # use eke_budget::account::{SamePrice, Sheet};
//! fn bring_a_friend(sheet: &mut Sheet<Rho>, who: &mut Vec<u32>, prices: &mut [SamePrice<Rho>]) {
//!     let paid = sheet.charge_column(who, prices).unwrap();
//!     who.push(7);
//!     paid.redeem().count();
//! }
//! ```

use crate::Amount;
use crate::number::Currency;

/// Which accounts.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// All of them.
    Everyone,
    /// These, in rising order.
    These(&'a [u32]),
}

/// What each of them is charged.
#[derive(Clone, Copy, Debug)]
pub enum Prices<'a, C> {
    /// All the same.
    Same(Amount<C>),
    /// Each its own, in the order in which they are named.
    Each(&'a [Amount<C>]),
}

/// Accounts in a row that are charged the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamePrice<C> {
    /// What each of them is charged.
    pub price: Amount<C>,
    /// How many they are.
    pub accounts: usize,
}

/// Proof that many accounts were charged, each its own price. Good for one draw.
#[must_use = "a column of charges is paid for: hand it to the mechanism that draws"]
#[derive(Debug)]
pub struct PaidColumn<'a, C: Currency> {
    accounts: &'a [u32],
    prices: &'a [SamePrice<C>],
}

impl<'a, C: Currency> PaidColumn<'a, C> {
    /// Who paid, in rising order.
    #[must_use]
    pub fn accounts(&self) -> &'a [u32] {
        self.accounts
    }

    /// What they paid, in their order.
    #[must_use]
    pub fn prices(&self) -> &'a [SamePrice<C>] {
        self.prices
    }

    /// Uses the proof up: each price, and those who paid it. Called by the mechanism that draws,
    /// which may draw once for each of them.
    pub fn redeem(self) -> impl Iterator<Item = (Amount<C>, &'a [u32])> {
        let mut rest = self.accounts;
        self.prices.iter().map(move |same| {
            let (these, after) = rest.split_at(same.accounts);
            rest = after;
            (same.price, these)
        })
    }
}

/// Why nobody was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SheetError {
    /// An account that there is not.
    #[error("there are accounts 0 to {last}", last = .0 - 1)]
    NoAccount(usize),
    /// An account named twice, or out of order.
    #[error("accounts are named in rising order, each once")]
    Order,
    /// Another number of prices than of accounts.
    #[error("{accounts} accounts are charged, but there are {prices} prices")]
    Prices {
        /// How many accounts were named.
        accounts: usize,
        /// How many prices were given.
        prices: usize,
    },
    /// More accounts than are counted.
    #[error("a sheet has 1 to 2^32 - 1 accounts")]
    TooMany,
}

/// Budgets and what has been spent of them, account by account.
///
/// - Theorem: device-filter (docs/theorems.md)
/// - Proves: no account ever spends more than its budget, whatever the others are charged
/// - Assumes: prices are fixed before what they pay for is drawn (caller)
/// - Deviates: nothing; amounts are exact
/// - Checked by: `a_sheet_charges_and_refuses_as_accounts_do`
///
/// A sheet is not `Clone`: a copy would spend the same budgets twice.
/// ```compile_fail,E0308
/// # use eke_budget::Rho;
/// # use eke_budget::account::Sheet;
/// fn copy(sheet: &Sheet<Rho>) -> Sheet<Rho> {
///     sheet.clone()
/// }
/// ```
#[derive(Debug, PartialEq)]
pub struct Sheet<C: Currency> {
    budgets: Budgets<C>,
    spent: Vec<Amount<C>>,
}

#[derive(Debug, PartialEq)]
enum Budgets<C: Currency> {
    Same(Amount<C>),
    Each(Vec<Amount<C>>),
}

impl<C: Currency> Sheet<C> {
    /// The given number of accounts, each with the same budget.
    ///
    /// # Errors
    /// There are none, or too many.
    pub fn same(budget: Amount<C>, accounts: usize) -> Result<Self, SheetError> {
        Self::new(Budgets::Same(budget), accounts)
    }

    /// Accounts with these budgets.
    ///
    /// # Errors
    /// There are none, or too many.
    pub fn each(budgets: Vec<Amount<C>>) -> Result<Self, SheetError> {
        let accounts = budgets.len();
        Self::new(Budgets::Each(budgets), accounts)
    }

    fn new(budgets: Budgets<C>, accounts: usize) -> Result<Self, SheetError> {
        if accounts == 0 || u32::try_from(accounts).is_err() {
            return Err(SheetError::TooMany);
        }
        Ok(Self { budgets, spent: vec![Amount::ZERO; accounts] })
    }

    /// How many accounts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spent.len()
    }

    /// Whether there are none; there always are some.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spent.is_empty()
    }

    /// What each account has spent.
    #[must_use]
    pub fn spent(&self) -> &[Amount<C>] {
        &self.spent
    }

    /// What an account has left; none if there is no such account.
    #[must_use]
    pub fn left(&self, account: usize) -> Option<Amount<C>> {
        let spent = *self.spent.get(account)?;
        self.budget(account).minus(spent)
    }

    /// Charges accounts, each on its own: those that cannot pay are left as they are, and come
    /// back.
    ///
    /// # Errors
    /// An account that there is not or that is named twice, or prices that do not match. Nobody is
    /// charged.
    pub fn charge(&mut self, who: Who<'_>, prices: Prices<'_, C>) -> Result<Vec<u32>, SheetError> {
        let accounts = self.check(who)?;
        if let Prices::Each(each) = prices
            && each.len() != accounts
        {
            return Err(SheetError::Prices { accounts, prices: each.len() });
        }
        Ok(match (who, prices) {
            (Who::Everyone, Prices::Same(price)) => {
                self.charge_all((0u32..).zip(std::iter::repeat_n(price, accounts)))
            }
            (Who::Everyone, Prices::Each(each)) => {
                self.charge_all((0u32..).zip(each.iter().copied()))
            }
            (Who::These(these), Prices::Same(price)) => {
                self.charge_all(these.iter().map(|&account| (account, price)))
            }
            (Who::These(these), Prices::Each(each)) => {
                self.charge_all(these.iter().copied().zip(each.iter().copied()))
            }
        })
    }

    /// Charges accounts, named in rising order, for what is drawn next. Those that cannot pay are
    /// left as they are, and struck from the names and from the numbers of accounts: what remains
    /// of both is who paid what.
    ///
    /// - Theorem: device-filter (docs/theorems.md)
    /// - Proves: no account spends more than its budget, and who is named afterwards has paid
    /// - Assumes: prices are fixed before what they pay for is drawn (caller)
    /// - Deviates: nothing; amounts are exact
    /// - Checked by: `a_column_of_charges_is_paid_by_those_it_names`
    ///
    /// # Errors
    /// An account that there is not or that is named twice, or other numbers of accounts than are
    /// named. Nobody is charged.
    pub fn charge_column<'a>(
        &mut self,
        accounts: &'a mut Vec<u32>,
        prices: &'a mut [SamePrice<C>],
    ) -> Result<PaidColumn<'a, C>, SheetError> {
        let named = self.check(Who::These(accounts))?;
        let priced = prices.iter().map(|same| same.accounts).sum();
        if priced != named {
            return Err(SheetError::Prices { accounts: named, prices: priced });
        }
        // One loop for each kind of budgets, which are many accounts and few instructions.
        let paid = match &self.budgets {
            Budgets::Same(budget) => strike(&mut self.spent, accounts, prices, |_| *budget),
            Budgets::Each(each) => {
                strike(&mut self.spent, accounts, prices, |account| each[account])
            }
        };
        accounts.truncate(paid);
        Ok(PaidColumn { accounts, prices })
    }

    /// What is left, from the least to the most, at these fractions of the accounts: at 0.5 the
    /// median. None where a fraction is not between 0 and 1.
    #[must_use]
    pub fn left_at(&self, fractions: &[f64]) -> Vec<Option<Amount<C>>> {
        let mut left: Vec<Amount<C>> =
            (0..self.len()).filter_map(|account| self.left(account)).collect();
        let last = left.len() - 1;
        let mut at = |fraction: f64| {
            if !(0.0..=1.0).contains(&fraction) {
                return None;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and the last account, of which there are fewer than 2^32"
            )]
            let rank = (fraction * last as f64).round() as usize;
            Some(*left.select_nth_unstable(rank.min(last)).1)
        };
        fractions.iter().map(|&fraction| at(fraction)).collect()
    }

    /// How many accounts are named, if each is one and they rise.
    ///
    /// # Errors
    /// One is not, or they do not.
    pub fn check(&self, who: Who<'_>) -> Result<usize, SheetError> {
        let Who::These(these) = who else { return Ok(self.len()) };
        if these.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(SheetError::Order);
        }
        match these.last() {
            Some(&last) if last as usize >= self.len() => Err(SheetError::NoAccount(self.len())),
            _ => Ok(these.len()),
        }
    }

    fn budget(&self, account: usize) -> Amount<C> {
        match &self.budgets {
            Budgets::Same(budget) => *budget,
            Budgets::Each(budgets) => budgets[account],
        }
    }

    fn charge_all(&mut self, charges: impl Iterator<Item = (u32, Amount<C>)>) -> Vec<u32> {
        // One loop for each kind of budgets, which are many accounts and few instructions.
        match &self.budgets {
            Budgets::Same(budget) => charge_each(&mut self.spent, charges, |_| *budget),
            Budgets::Each(budgets) => {
                charge_each(&mut self.spent, charges, |account| budgets[account])
            }
        }
    }
}

fn charge_each<C: Currency>(
    spent: &mut [Amount<C>],
    charges: impl Iterator<Item = (u32, Amount<C>)>,
    budget: impl Fn(usize) -> Amount<C>,
) -> Vec<u32> {
    let mut refused = Vec::new();
    for (account, price) in charges {
        let index = account as usize;
        match spent[index].plus(price).filter(|after| *after <= budget(index)) {
            Some(after) => spent[index] = after,
            None => refused.push(account),
        }
    }
    refused
}

/// Charges accounts, and brings those that paid to the front: how many they are.
fn strike<C: Currency>(
    spent: &mut [Amount<C>],
    accounts: &mut [u32],
    prices: &mut [SamePrice<C>],
    budget: impl Fn(usize) -> Amount<C>,
) -> usize {
    let (mut next, mut paid) = (0, 0);
    for same in prices {
        let (first, end) = (paid, next + same.accounts);
        for at in next..end {
            let account = accounts[at];
            let index = account as usize;
            let after = spent[index].plus(same.price).filter(|after| *after <= budget(index));
            if let Some(after) = after {
                spent[index] = after;
                accounts[paid] = account;
                paid += 1;
            }
        }
        (next, same.accounts) = (end, paid - first);
    }
    paid
}
