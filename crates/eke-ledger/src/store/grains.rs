//! Money as stores keep it: 16 bytes, largest first, so that comparing bytes compares amounts.

use eke_budget::{Amount, Charge};

use crate::store::Currencies;

/// The bytes of an amount.
pub(crate) fn bytes<C>(amount: Amount<C>) -> [u8; 16] {
    amount.grains().to_be_bytes()
}

/// The amount of some bytes; none if there are not 16.
pub(crate) fn amount<C>(bytes: &[u8]) -> Option<Amount<C>> {
    bytes.try_into().ok().map(|bytes| Amount::from_grains(u128::from_be_bytes(bytes)))
}

/// The number of a currency.
pub(crate) fn currency(currency: Currencies) -> i16 {
    match currency {
        Currencies::Rho => 0,
        Currencies::Epsilon => 1,
    }
}

/// The number and the bytes of a price, which has no delta.
pub(crate) fn price(charge: Charge) -> (i16, [u8; 16]) {
    let price = match charge {
        Charge::Zcdp { rho, .. } => bytes(rho),
        Charge::Pure { epsilon, .. } => bytes(epsilon),
    };
    (currency(Currencies::of(charge)), price)
}

/// The price of a number and some bytes; none if they are not one.
pub(crate) fn charge(currency: i16, price: &[u8]) -> Option<Charge> {
    match currency {
        0 => Some(Charge::Zcdp { rho: amount(price)?, delta: Amount::ZERO }),
        1 => Some(Charge::Pure { epsilon: amount(price)?, delta: Amount::ZERO }),
        _ => None,
    }
}

/// A count as stores keep it.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).expect("nobody counts to 2^63 lines")
}

/// A count as it was stored.
pub(crate) fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

/// What an account row says of its money, in the order of the columns.
pub(crate) struct Money {
    pub(crate) rho_budget: [u8; 16],
    pub(crate) rho_spent: [u8; 16],
    pub(crate) rho_delta_budget: [u8; 16],
    pub(crate) rho_delta_spent: [u8; 16],
    pub(crate) epsilon_budget: [u8; 16],
    pub(crate) epsilon_taken: [u8; 16],
    pub(crate) epsilon_spent: [u8; 16],
    pub(crate) epsilon_delta_budget: [u8; 16],
    pub(crate) epsilon_delta_spent: [u8; 16],
}

impl Money {
    /// The money of an account; none if it is more than an amount holds.
    pub(crate) fn of(standing: &eke_budget::account::Standing) -> Option<Self> {
        use eke_budget::account::{Limits, Totals};
        let rho = standing.zcdp.unwrap_or(Totals::ZERO);
        let epsilon = standing.pure.unwrap_or(Totals::ZERO);
        let zcdp = standing.budget.zcdp();
        let pure = standing.budget.pure();
        let (rho_limits, epsilon_limits) = (
            zcdp.unwrap_or(Limits { budget: Amount::ZERO, delta: Amount::ZERO }),
            pure.unwrap_or(Limits { budget: Amount::ZERO, delta: Amount::ZERO }),
        );
        Some(Self {
            rho_budget: bytes(rho_limits.budget),
            rho_spent: bytes(rho.taken()?),
            rho_delta_budget: bytes(rho_limits.delta),
            rho_delta_spent: bytes(rho.delta_spent),
            epsilon_budget: bytes(epsilon_limits.budget),
            epsilon_taken: bytes(epsilon.taken()?),
            epsilon_spent: bytes(epsilon.spent),
            epsilon_delta_budget: bytes(epsilon_limits.delta),
            epsilon_delta_spent: bytes(epsilon.delta_spent),
        })
    }
}

/// The columns of an account row, for both stores.
pub(crate) struct AccountColumns {
    pub(crate) name: String,
    pub(crate) budget: String,
    pub(crate) lines: i64,
    pub(crate) head: Vec<u8>,
    pub(crate) next_sequence: i64,
    pub(crate) next_round: i64,
    pub(crate) rho_spent: Vec<u8>,
    pub(crate) rho_delta_spent: Vec<u8>,
    pub(crate) epsilon_taken: Vec<u8>,
    pub(crate) epsilon_spent: Vec<u8>,
    pub(crate) epsilon_delta_spent: Vec<u8>,
    /// What the store compares the others with: rho and its delta, epsilon and its delta.
    pub(crate) budgets: [Vec<u8>; 4],
}

impl AccountColumns {
    /// The account, with its rounds; none if the columns cannot be one.
    pub(crate) fn read(self, rounds: &[(i64, Vec<u8>)]) -> Option<crate::store::StoredAccount> {
        use eke_budget::Budget;
        use eke_budget::account::{Standing, Totals};
        let budget: Budget = serde_json::from_str(&self.budget).ok()?;
        let spent = amount(&self.epsilon_spent)?;
        let reserved = amount(&self.epsilon_taken)?.minus(spent)?;
        let zcdp = Totals {
            spent: amount(&self.rho_spent)?,
            reserved: Amount::ZERO,
            delta_spent: amount(&self.rho_delta_spent)?,
        };
        let pure = Totals { spent, reserved, delta_spent: amount(&self.epsilon_delta_spent)? };
        let count = |count: i64| u64::try_from(count).ok();
        let rounds = rounds.iter().map(|(round, worst)| Some((count(*round)?, amount(worst)?)));
        let standing = Standing {
            account: self.name.into(),
            next_sequence: count(self.next_sequence)?,
            next_round: count(self.next_round)?,
            zcdp: budget.zcdp().map(|_| zcdp),
            pure: budget.pure().map(|_| pure),
            rounds: rounds.collect::<Option<Vec<_>>>()?,
            budget,
        };
        // What the store checks is what the budget says.
        let money = Money::of(&standing)?;
        let budgets = [
            money.rho_budget,
            money.rho_delta_budget,
            money.epsilon_budget,
            money.epsilon_delta_budget,
        ];
        if self.budgets != budgets {
            return None;
        }
        let head = crate::Digest::from_slice(&self.head)?;
        let position = crate::store::Position { lines: count(self.lines)?, head };
        Some(crate::store::StoredAccount { standing, position })
    }
}
