//! Many accounts in one currency, as columns.
//!
//! An account here is a budget and what has been spent of it, in exact amounts, and the filter is
//! that of a purse. There is no history and no receipt: a sheet is for fleets in one process, for
//! research and for load tests.

use eke_budget::Amount;
use eke_budget::number::Currency;

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
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet<C: Currency> {
    budgets: Budgets<C>,
    spent: Vec<Amount<C>>,
}

#[derive(Clone, Debug, PartialEq)]
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
                clippy::cast_precision_loss,
                reason = "between 0 and the last account, of which there are fewer than 2^32"
            )]
            let rank = (fraction * last as f64).round() as usize;
            Some(*left.select_nth_unstable(rank.min(last)).1)
        };
        fractions.iter().map(|&fraction| at(fraction)).collect()
    }

    /// How many accounts are named, if each is one and they rise.
    pub(crate) fn check(&self, who: Who<'_>) -> Result<usize, SheetError> {
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
