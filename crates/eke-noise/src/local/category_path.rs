//! Paths of reports about one category: a chain, drawn once and revealed report by report.
//!
//! A chain is made from its finest report to its coarsest, so nothing finer can be drawn after
//! something coarser has been shown. A path therefore draws the whole chain when it is first
//! revealed, keeps it, and hands out what is paid for. What it keeps tells more than what has been
//! paid for: it stays where the truth is.

use std::fmt;
use std::sync::Arc;

use eke_budget::convert::pure_to_zcdp;
use eke_budget::number::Currency;
use eke_budget::purchase::Coarsen;
use eke_budget::{Amount, Epsilon, Metric, PathId, Price, Raise, Receipt, Rho};
use serde::{Deserialize, Serialize};

use crate::local::sets;
use crate::local::{Chain, HashChain, ReportLaw};
use crate::path::points::{DamagedPath, is_next};
use crate::path::{Mismatch, MismatchReason};
use crate::{Category, Entropy, Exact, Released};

/// One report of a chain, as the words of its kind ([`Chain`]): what they mean follows from its
/// law.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Report {
    words: Vec<u64>,
}

impl Report {
    /// Its words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// A currency that chains of reports are paid in: [`Epsilon`], report by report, or [`Rho`], all at
/// once.
pub trait ChainPrice: Price + sealed::Sealed {
    /// What a path has cost once this report has been revealed, and none before it; none if there
    /// is no such report, or it costs more than any account holds.
    fn price(chain: &Chain, report: usize) -> Option<Amount<Self>>;
}

/// - Theorem: subset-chain (docs/theorems.md)
/// - Proves: a report and all that come after it cost what the report costs
/// - Assumes: nothing
/// - Deviates: prices round up; where rounding makes a later report dearer, the dearer price counts
/// - Checked by: `a_path_of_reports_costs_its_finest_and_what_is_coarser_is_free`,
///   `the_laws_of_a_long_chain_are_priced_once`
impl ChainPrice for Epsilon {
    fn price(chain: &Chain, report: usize) -> Option<Amount<Self>> {
        chain.epsilon(report)
    }
}

/// - Theorem: device-filter (docs/theorems.md)
/// - Proves: all reports of a chain, in whatever order they are asked for, are `e tanh(e/2)`-zCDP,
///   e being what the first of them costs
/// - Assumes: nothing: the whole chain is paid for before any of it is shown
/// - Deviates: rounded up
/// - Checked by: `a_path_paid_in_rho_is_paid_for_as_a_whole`
impl ChainPrice for Rho {
    fn price(chain: &Chain, report: usize) -> Option<Amount<Self>> {
        chain.law(report)?;
        let whole = <Epsilon as ChainPrice>::price(chain, 0)?.to_parameter().ok()?;
        Some(Amount::at_least(pure_to_zcdp(whole, Metric::Discrete).ok()?))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for eke_budget::Epsilon {}
    impl Sealed for eke_budget::Rho {}
}

/// One category's reports, from the one that tells most to the one that tells least.
///
/// - Theorem: subset-chain (docs/theorems.md)
/// - Proves: what has been revealed of the path costs the price of its finest revealed report
/// - Assumes: the step was charged to an account of the local model (receipt)
/// - Deviates: the truth is looked at once, when the chain is drawn; later it may be gone, or
///   another
/// - Checked by: `a_path_of_reports_costs_its_finest_and_what_is_coarser_is_free`,
///   `a_path_of_reports_takes_only_its_own_receipts`, `a_stored_path_goes_on_with_the_same_reports`
///
/// Its stored form holds reports that nobody has paid for. A reader of it knows what the whole
/// chain tells, so it must never leave the device. `Debug` does not show the reports.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct CategoryPath {
    id: PathId,
    chain: Chain,
    payment: Option<Payment>,
    /// The words of all reports, one after the other; empty before anything was paid for.
    words: Vec<u64>,
}

/// Who has paid so far, and how far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payment {
    account: Arc<str>,
    currency: String,
    /// The first report that is paid for.
    finest: usize,
}

/// A path as it is stored, before anybody has looked whether it hangs together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    id: PathId,
    categories: u32,
    laws: Vec<ReportLaw>,
    payment: Option<Payment>,
    #[serde(with = "digits")]
    words: Vec<u64>,
}

/// Words as sixteen hexadecimal digits each, so that how long a path is does not tell what is in
/// it.
mod digits {
    use std::fmt::Write;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(words: &[u64], to: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(16 * words.len());
        for word in words {
            let _ = write!(text, "{word:016x}");
        }
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
        let text = String::deserialize(from)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() % 16 != 0 || !text.bytes().all(is_digit) {
            return Err(de::Error::custom("words are sixteen hexadecimal digits each"));
        }
        let word = |at| u64::from_str_radix(&text[at..at + 16], 16).map_err(de::Error::custom);
        (0..text.len()).step_by(16).map(word).collect()
    }
}

impl TryFrom<Stored> for CategoryPath {
    type Error = DamagedPath;

    /// The templates are a chain, and the sets are ones that it could have drawn.
    fn try_from(stored: Stored) -> Result<Self, DamagedPath> {
        let Stored { id, categories, laws, payment, words } = stored;
        let chain = Chain::new(categories, &laws).map_err(|_| DamagedPath)?;
        let Some(paid) = &payment else {
            return if words.is_empty() {
                Ok(Self { id, chain, payment, words })
            } else {
                Err(DamagedPath)
            };
        };
        let width = chain.words();
        let currency = [<Epsilon as Currency>::NAME, <Rho as Currency>::NAME]
            .contains(&paid.currency.as_str());
        if !currency || paid.finest >= laws.len() || words.len() != width * laws.len() {
            return Err(DamagedPath);
        }
        let hash = |row: &[u64]| matches!(chain, Chain::Hash(_)).then(|| [row[0], row[1]]);
        let mut rows = words.chunks_exact(width).zip(&laws);
        let fits = rows.all(|(row, law)| is_of(law, row, categories) && hash(row) == hash(&words));
        if fits { Ok(Self { id, chain, payment, words }) } else { Err(DamagedPath) }
    }
}

impl From<CategoryPath> for Stored {
    fn from(path: CategoryPath) -> Self {
        let CategoryPath { id, chain, payment, words } = path;
        let (categories, laws) = (chain.categories(), chain.laws());
        Self { id, categories, laws, payment, words }
    }
}

/// Whether a report could have been drawn by a law.
fn is_of(law: &ReportLaw, words: &[u64], categories: u32) -> bool {
    match law {
        ReportLaw::Subset(template) => {
            sets::size(words) == template.size && sets::fits(words, categories)
        }
        ReportLaw::Hash(template) => {
            words.len() == HashChain::WORDS && words[2] >> template.bits == 0
        }
        ReportLaw::Bits(_) => sets::fits(words, categories),
    }
}

impl CategoryPath {
    /// A path of which nothing has been drawn.
    #[must_use]
    pub fn open(id: PathId, chain: impl Into<Chain>) -> Self {
        Self { id, chain: chain.into(), payment: None, words: Vec::new() }
    }

    /// Which path it is.
    #[must_use]
    pub fn id(&self) -> PathId {
        self.id
    }

    /// The laws of its reports.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// What the path has cost so far, in this currency: the price of the finest report that is paid
    /// for.
    #[must_use]
    pub fn paid<C: ChainPrice>(&self) -> Amount<C> {
        let own = self.payment.as_ref().filter(|paid| paid.currency == C::NAME);
        own.and_then(|paid| C::price(&self.chain, paid.finest)).unwrap_or(Amount::ZERO)
    }

    /// Whether the chain has been drawn: from then on the truth is not needed any more.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        !self.words.is_empty()
    }

    /// Reveals a report that costs more than all before it. The first time the whole chain is
    /// drawn, from the truth; later reports are of that chain, and the truth may be gone. The
    /// account that pays for the first is the one that pays for all of them, in one currency.
    ///
    /// # Errors
    /// The receipt or the truth is not for this report of this path. Nothing is drawn, and the
    /// receipt comes back.
    pub fn refine<C: ChainPrice, E: Entropy + ?Sized>(
        &mut self,
        report: usize,
        truth: Option<&Exact<Category>>,
        receipt: Receipt<Raise<C>>,
        entropy: &mut E,
    ) -> Result<Released<Report>, Mismatch<Raise<C>>> {
        match self.draw_finer(report, truth, &receipt, entropy) {
            Ok(payment) => {
                self.payment = Some(payment);
                receipt.redeem();
                Ok(self.released(report))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    /// Reveals a report that is paid for already, or the same again.
    ///
    /// # Errors
    /// The receipt is not for this report of this path, or the path has not been revealed so far.
    /// The receipt comes back.
    pub fn coarsen<C: ChainPrice>(
        &mut self,
        report: usize,
        receipt: Receipt<Coarsen<C>>,
    ) -> Result<Released<Report>, Mismatch<Coarsen<C>>> {
        match self.may_coarsen(report, &receipt) {
            Ok(()) => {
                receipt.redeem();
                Ok(self.released(report))
            }
            Err(reason) => Err(Mismatch { receipt: Box::new(receipt), reason }),
        }
    }

    fn draw_finer<C: ChainPrice, E: Entropy + ?Sized>(
        &mut self,
        report: usize,
        truth: Option<&Exact<Category>>,
        receipt: &Receipt<Raise<C>>,
        entropy: &mut E,
    ) -> Result<Payment, MismatchReason> {
        let raise = receipt.purchase();
        self.is_own::<C>(raise.path(), receipt.metric(), raise.sensitivity())?;
        self.is_payer::<C>(&receipt.entry().account)?;
        if C::price(&self.chain, report) != Some(raise.to()) {
            return Err(MismatchReason::OtherStep);
        }
        // Paid for from what was shown on, and from nowhere else: an older copy would draw another
        // chain.
        is_next(raise.from(), self.paid::<C>(), false)?;
        if !self.is_drawn() {
            let truth = truth.ok_or(MismatchReason::NoTruth)?;
            let categories = self.chain.categories();
            if truth.sensitivity().get() != categories {
                return Err(MismatchReason::OtherCategories);
            }
            let mut words = vec![0; self.chain.words() * self.chain.reports()];
            // A caller that maps a truth may make it a category that does not exist: it counts as
            // the last one.
            let category = truth.open().index().min(categories - 1);
            self.chain
                .draw(category, &mut words, entropy)
                .map_err(|_| MismatchReason::OtherCategories)?;
            self.words = words;
        }
        // Everything that costs no more is paid for too.
        let paid = |&report: &usize| {
            C::price(&self.chain, report).is_some_and(|price| price <= raise.to())
        };
        let mut reports = 0..self.chain.reports();
        let finest = reports.find(paid).unwrap_or(report);
        Ok(Payment {
            account: Arc::clone(&receipt.entry().account),
            currency: C::NAME.to_owned(),
            finest,
        })
    }

    fn may_coarsen<C: ChainPrice>(
        &self,
        report: usize,
        receipt: &Receipt<Coarsen<C>>,
    ) -> Result<(), MismatchReason> {
        let coarsen = receipt.purchase();
        self.is_own::<C>(coarsen.path(), receipt.metric(), coarsen.sensitivity())?;
        self.is_payer::<C>(&receipt.entry().account)?;
        let revealed = self.payment.as_ref().is_some_and(|paid| paid.finest <= report);
        if !revealed || C::price(&self.chain, report) != Some(coarsen.to()) {
            return Err(MismatchReason::OtherStep);
        }
        Ok(())
    }

    /// Whether a receipt is for this path. Any two categories are at distance 1.
    fn is_own<C: ChainPrice>(
        &self,
        path: PathId,
        metric: Metric,
        sensitivity: C::Sensitivity,
    ) -> Result<(), MismatchReason> {
        if path != self.id {
            return Err(MismatchReason::OtherPath);
        }
        if metric != Metric::Discrete {
            return Err(MismatchReason::OtherMetric);
        }
        if C::Sensitivity::try_from(1.0).ok() != Some(sensitivity) {
            return Err(MismatchReason::OtherSensitivity);
        }
        Ok(())
    }

    fn is_payer<C: ChainPrice>(&self, account: &str) -> Result<(), MismatchReason> {
        match &self.payment {
            Some(paid) if *paid.account != *account || paid.currency != C::NAME => {
                Err(MismatchReason::OtherAccount)
            }
            _ => Ok(()),
        }
    }

    fn released(&self, report: usize) -> Released<Report> {
        let width = self.chain.words();
        let words = self.words.get(report * width..(report + 1) * width).unwrap_or_default();
        Released::new(Report { words: words.to_vec() })
    }
}

impl fmt::Debug for CategoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CategoryPath")
            .field("id", &self.id)
            .field("categories", &self.chain.categories())
            .field("laws", &self.chain.laws())
            .field("payment", &self.payment)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use eke_budget::{Account, BudgetSpec, L1, NoHistory};
    use eke_testkit::Dice;

    use super::*;
    use crate::local::share::PRICED;
    use crate::local::{Categories, HashTemplate};

    /// 256 different laws, whose prices all take logarithms: what is done with them is counted, not
    /// timed. A path that priced them report by report would do so more than 30 000 times.
    #[test]
    fn the_laws_of_a_long_chain_are_priced_once() {
        let one = Amount::<Epsilon>::ONE.grains();
        let law = |report: u128| {
            let epsilon = Amount::from_grains((64_000 - report) * one / 1000);
            HashTemplate { bits: 11, ..HashTemplate::new(12, epsilon) }
        };
        let laws: Vec<ReportLaw> = (0..256).map(law).map(ReportLaw::Hash).collect();
        let before = PRICED.get();
        let chain = Chain::new(4096, &laws).unwrap();
        assert_eq!(PRICED.get() - before, 256);
        for (report, law) in laws.iter().enumerate() {
            assert_eq!(Epsilon::price(&chain, report), Some(law.epsilon()));
        }
        assert_eq!(Epsilon::price(&chain, 256), None);
        let budget = BudgetSpec::promising(Epsilon::new(100.0).unwrap());
        let budget = budget.resolve(Metric::Discrete).unwrap();
        let mut account = Account::open("device", budget, &mut NoHistory).unwrap();
        let before = PRICED.get();
        let mut path = CategoryPath::open(PathId::new([1; 32]), chain.clone());
        let truth = Category::exact(5, Categories::new(4096).unwrap()).unwrap();
        for report in [255, 100, 0] {
            let price = Epsilon::price(&chain, report).unwrap();
            let approved = account.raise(path.id(), price, L1::new(1.0).unwrap()).unwrap();
            let receipt = account.commit(approved, &mut NoHistory).unwrap();
            let _ = path.refine(report, Some(&truth), receipt, &mut Dice(7)).unwrap();
            assert_eq!(path.paid::<Epsilon>(), price);
        }
        assert_eq!(PRICED.get(), before);
    }
}
