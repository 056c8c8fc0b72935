//! Who pays for a question: the unit, and the asker's accounts.

use crate::policy::AccountSpec;

/// The accounts that a question is charged to, all of them or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payers {
    /// The unit's: its promise holds whatever people tell each other.
    pub unit: AccountSpec,
    /// The analyst's own, and then those of its circles; none for the steward.
    pub others: Vec<AccountSpec>,
}

impl Payers {
    /// The account whose points are seen: the analyst's own, or the unit's.
    #[must_use]
    pub fn own(&self) -> &AccountSpec {
        self.others.first().unwrap_or(&self.unit)
    }

    /// The accounts whose standing is shown: those of the analyst, or the unit's.
    #[must_use]
    pub fn shown(&self) -> &[AccountSpec] {
        if self.others.is_empty() { std::slice::from_ref(&self.unit) } else { &self.others }
    }

    /// All of them, the unit's first.
    pub fn iter(&self) -> impl Iterator<Item = &AccountSpec> {
        std::iter::once(&self.unit).chain(&self.others)
    }

    /// Their names, the unit's first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.iter().map(|account| account.name.clone()).collect()
    }
}
