//! Items that a request buys from an account: a release, a point of a path, groups of a bundle, a
//! round.
//!
//! Items are data, so that the writer can price them where the account is. Only this crate makes
//! new kinds: a program that holds an account could make receipts that nobody recorded.

use eke_budget::account::Entered;
use eke_budget::columns::{ColumnReader, ColumnWriter};
use eke_budget::purchase::{GroupOffer, GroupRaise, Level, PathError, Round};
use eke_budget::{
    Account, Amount, Approved, Charge, Delta, Epsilon, PathId, Price, Purchase, Refusal, Reveal,
};

use crate::store::{Currencies, StoredLevel};

mod sealed {
    pub trait Sealed {}
}

/// Something that is bought from an account.
pub trait Item: sealed::Sealed + Send + 'static {
    /// What the receipt is for.
    type Bought: Send + 'static;

    /// The path or bundle that it is a step of, and the currency of its price.
    #[doc(hidden)]
    fn path(&self) -> Option<(PathId, Currencies)> {
        None
    }

    /// Tells an account how far it has paid for the path.
    #[doc(hidden)]
    fn learn(&self, _: &mut Account, _: &StoredLevel) {}

    /// Whether an account knows how far it has paid for the path.
    #[doc(hidden)]
    fn knows(&self, _: &Account) -> bool {
        true
    }

    #[doc(hidden)]
    fn approve(&mut self, account: &mut Account) -> Result<Approved<Self::Bought>, No>;

    /// Takes back what was entered into a batch that was not recorded.
    #[doc(hidden)]
    fn take_back(&mut self, _: Entered<Self::Bought>) {}

    /// The same item, the same text.
    #[doc(hidden)]
    fn describe(&self) -> String;

    /// Whether it can be asked once only, and so not before the accounts are locked.
    #[doc(hidden)]
    fn needs_lock(&self) -> bool {
        false
    }

    /// What is stored beside an increment.
    #[doc(hidden)]
    fn plan(&self) -> Option<Vec<u8>> {
        None
    }
}

/// Why an account said no.
#[doc(hidden)]
#[derive(Debug)]
pub enum No {
    Refused(Refusal),
    Path(PathError),
    /// The offer went to a batch that was not recorded, and did not come back.
    OfferGone,
}

impl From<PathError> for No {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Refused(refusal) => Self::Refused(refusal),
            other => Self::Path(other),
        }
    }
}

/// A release that has no path, at its price.
#[derive(Clone, Debug)]
pub struct Spend<P>(pub P);

impl<P> sealed::Sealed for Spend<P> {}

impl<P: Purchase + Clone + Send + 'static> Item for Spend<P> {
    type Bought = P;

    fn approve(&mut self, account: &mut Account) -> Result<Approved<P>, No> {
        account.approve(self.0.clone()).map_err(No::Refused)
    }

    fn describe(&self) -> String {
        format!("spend {}", self.0.charge())
    }
}

/// A point of a path: the next increment where it is finer than what the account has paid for,
/// and otherwise a coarser point, for nothing.
#[derive(Clone, Copy, Debug)]
pub struct Show<C: Price> {
    /// The path.
    pub path: PathId,
    /// The price of the point.
    pub to: Amount<C>,
    /// What one unit can change the truth by.
    pub sensitivity: C::Sensitivity,
}

impl<C: Price> sealed::Sealed for Show<C> {}

impl<C: Price + Send + Sync> Item for Show<C>
where
    C::Sensitivity: Send + Sync,
{
    type Bought = Reveal<C>;

    fn path(&self) -> Option<(PathId, Currencies)> {
        Some((self.path, currency::<C>()))
    }

    fn learn(&self, account: &mut Account, stored: &StoredLevel) {
        let sensitivity = stored.sensitivity.map(C::Sensitivity::try_from);
        if let (Some(Ok(sensitivity)), Some(at)) = (sensitivity, amount::<C>(stored.at)) {
            let level = Level { increments: stored.increments, at, sensitivity };
            account.learn_level(self.path, level);
        }
    }

    fn knows(&self, account: &Account) -> bool {
        account.level::<C>(self.path).is_some()
    }

    fn approve(&mut self, account: &mut Account) -> Result<Approved<Reveal<C>>, No> {
        Ok(account.reveal(self.path, self.to, self.sensitivity)?)
    }

    fn describe(&self) -> String {
        let to = C::charge(self.to, Amount::ZERO);
        let sensitivity: f64 = self.sensitivity.into();
        format!("show {} to {to} at {sensitivity}", self.path)
    }
}

/// Raises of a bundle's groups, as they were offered. What each group goes to is stored with the
/// charge, as one blob.
#[derive(Debug)]
pub struct RaiseGroups<C: Price> {
    bundle: PathId,
    plan: Vec<u8>,
    offer: Option<GroupOffer<C>>,
}

impl<C: Price> RaiseGroups<C> {
    /// What was offered.
    #[must_use]
    pub fn new(offer: GroupOffer<C>) -> Self {
        Self { bundle: offer.bundle(), plan: plan(&offer), offer: Some(offer) }
    }
}

/// What a plan begins with.
const PLAN: &[u8] = b"eke plan\x01";
/// How many bytes a raise took in the first form of plans, which began with nothing: the group, and
/// the grains of the price it goes to. So a plan of another form is never a multiple of it long.
const LISTED: usize = 20;

/// Every raise: which group goes to which price.
fn plan<C: Price>(offer: &GroupOffer<C>) -> Vec<u8> {
    let raises: Vec<_> = offer.steps().iter().map(|step| (step.group(), step.to())).collect();
    write_plan(&raises)
}

/// Writes which group goes to which price.
#[must_use]
pub fn write_plan<C: Price>(raises: &[(u32, Amount<C>)]) -> Vec<u8> {
    let mut plan = ColumnWriter::new();
    plan.raw(PLAN);
    plan.raises(raises);
    let mut bytes = plan.into_bytes();
    if bytes.len().is_multiple_of(LISTED) {
        bytes.push(0);
    }
    bytes
}

/// Reads a stored plan: which group goes to which price. None if it is not one.
#[must_use]
pub fn read_plan<C: Price>(bytes: &[u8]) -> Option<Vec<(u32, Amount<C>)>> {
    if !bytes.len().is_multiple_of(LISTED) {
        let mut plan = ColumnReader::new(bytes.strip_prefix(PLAN)?);
        let raises = plan.raises()?;
        let padding: &[u8] = if (bytes.len() - 1).is_multiple_of(LISTED) { &[0] } else { &[] };
        return (plan.rest() == padding || plan.is_at_end()).then_some(raises);
    }
    let steps = bytes.chunks(LISTED).map(|step| {
        let (group, to) = step.split_first_chunk::<4>()?;
        let to = u128::from_le_bytes(to.try_into().ok()?);
        Some((u32::from_le_bytes(*group), Amount::from_grains(to)))
    });
    steps.collect()
}

impl<C: Price> sealed::Sealed for RaiseGroups<C> {}

impl<C: Price + Send + Sync> Item for RaiseGroups<C> {
    type Bought = GroupRaise<C>;

    fn path(&self) -> Option<(PathId, Currencies)> {
        Some((self.bundle, currency::<C>()))
    }

    fn learn(&self, account: &mut Account, stored: &StoredLevel) {
        if let Some(at) = amount::<C>(stored.at) {
            account.learn_bundle(self.bundle, stored.increments, at);
        }
    }

    fn knows(&self, account: &Account) -> bool {
        account.bundle::<C>(self.bundle).is_some()
    }

    fn approve(&mut self, account: &mut Account) -> Result<Approved<GroupRaise<C>>, No> {
        let offer = self.offer.take().ok_or(No::OfferGone)?;
        Ok(account.raise_groups(offer)?)
    }

    fn take_back(&mut self, entered: Entered<GroupRaise<C>>) {
        self.offer = Some(entered.into());
    }

    fn describe(&self) -> String {
        format!("groups {} {}", self.bundle, crate::Digest::of(&self.plan))
    }

    fn needs_lock(&self) -> bool {
        true
    }

    fn plan(&self) -> Option<Vec<u8>> {
        Some(self.plan.clone())
    }
}

/// The worst case of an ex-post round, set aside.
#[derive(Clone, Copy, Debug)]
pub struct Reserve {
    /// The worst case.
    pub worst: Amount<Epsilon>,
    /// The probability that its price does not bound its loss.
    pub delta: Amount<Delta>,
}

impl sealed::Sealed for Reserve {}

impl Item for Reserve {
    type Bought = Round;

    fn approve(&mut self, account: &mut Account) -> Result<Approved<Round>, No> {
        account.reserve(self.worst, self.delta).map_err(No::Refused)
    }

    fn describe(&self) -> String {
        format!("reserve {}", Charge::Pure { epsilon: self.worst, delta: self.delta })
    }
}

fn currency<C: Price>() -> Currencies {
    Currencies::of(C::charge(Amount::ZERO, Amount::ZERO))
}

/// The amount of a charge in its own currency; none if that is another one.
fn amount<C: Price>(charge: Charge) -> Option<Amount<C>> {
    (Currencies::of(charge) == currency::<C>()).then(|| Amount::from_grains(charge.grains()))
}
