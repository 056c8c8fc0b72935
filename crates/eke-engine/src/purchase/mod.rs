//! Buying: what is charged, held, drawn, stored and shown, in this order and in this place alone.
//!
//! An order says what there is already and what the rest costs (`Order::offer`). All accounts are
//! charged for that or none, on disk. From then on the program that has the receipts holds the
//! path, and nobody else changes it. Only now are rows read and noise is drawn (`Order::draw`), and
//! what was drawn is stored before anybody sees it. If drawing fails, what was charged stays paid,
//! and the path is given up for others.
//!
//! | what happens | what is done |
//! |---|---|
//! | the store is busy, or somebody else was faster | look again, for a minute |
//! | somebody else holds the path | wait for it, or give it up if its program has ended |
//! | it was charged under this name and lost | the order goes on under the next number |
//! | it was answered under this name | the order finds the answer |
//! | an account refuses | nothing was charged to any |
//!
//! Mutants that tests must catch: drawing before the charge is on disk, two draws for one charge,
//! an attempt that was lost used again, an error that is shown to an analyst as it is.

pub(crate) mod audience;
pub(crate) mod circles;
pub(crate) mod context;
pub(crate) mod identity;
pub(crate) mod payers;
pub(crate) mod process;
pub(crate) mod reading;
pub(crate) mod request_key;
pub(crate) mod reservation;
pub(crate) mod turn;

pub use payers::Payers;
pub use reading::{FAILURES_OF_ALL, FAILURES_OF_ONE, Failed, failure_bits};

use eke_budget::purchase::PathError;
use eke_budget::{PathId, Receipt, Refusal};
use eke_ledger::patience::Patience;
use eke_ledger::{
    Answer as Body, Charged, Item, Key, Ledger, LedgerError, Outcome, Request, Stamp,
};

/// A buyer: a question, a watch, or a person whose places are released.
pub(crate) trait Buyer<'a> {
    /// What can go wrong.
    type Error: From<LedgerError>;

    /// Where accounts and paths are kept.
    fn ledger(&self) -> &Ledger;

    /// The account that holds the paths: the unit's.
    fn holder(&self) -> &str;

    /// Who asks, and when.
    fn stamp(&self) -> Stamp;

    /// How long a busy store is waited for.
    fn patience(&self) -> Patience<'a>;

    /// Waits for a request that holds a path, and gives it up if its program has ended.
    fn wait_for(&self, path: PathId, holder: &Key) -> Result<(), Self::Error>;

    /// What is said when the patience has ended.
    fn unavailable(&self) -> Self::Error;
}

/// Something that is bought.
pub(crate) trait Order<'a, B: Buyer<'a>> {
    /// What the unit's account pays for.
    type Own: Item;
    /// What the asker's accounts pay for.
    type Others: Item;
    /// What comes of it.
    type Made;

    /// What there is already, or what to charge for the rest. It is asked again whenever something
    /// came between.
    fn offer(&mut self, buyer: &mut B, again: Again) -> Result<OfferOf<'a, B, Self>, B::Error>;

    /// Whether what the offer was made for is still so, now that nobody else can change it.
    fn still_holds(&mut self, _buyer: &mut B) -> Result<bool, B::Error> {
        Ok(true)
    }

    /// Reads rows and draws, for receipts that are on disk.
    fn draw(
        &mut self,
        buyer: &mut B,
        own: Receipt<<Self::Own as Item>::Bought>,
        others: Vec<Receipt<<Self::Others as Item>::Bought>>,
    ) -> Result<Drawn<Self::Made>, B::Error>;
}

/// The offers of an order.
pub(crate) type OfferOf<'a, B, O> =
    Offer<<O as Order<'a, B>>::Own, <O as Order<'a, B>>::Others, <O as Order<'a, B>>::Made>;

/// Why an offer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It is the first time.
    First,
    /// Somebody else was faster, or holds the path no longer.
    Moved,
    /// Its request was charged before, and answered, lost or somebody else's.
    Taken,
}

/// What there is, or what to charge.
pub(crate) enum Offer<W, V, M> {
    /// It is there, and paid for.
    Made(M),
    /// Somebody else holds the path.
    Held(PathId, Key),
    /// Somebody else was faster, and what is there cannot be charged for yet.
    Moved,
    /// What to charge, and the path that is held for it.
    Charge {
        /// The request, under a name of its own.
        request: Request,
        /// What the unit's account pays for.
        own: W,
        /// What the others pay for, by their names.
        others: Vec<(String, V)>,
        /// The path.
        path: Option<PathId>,
    },
    /// What one account alone is charged, for something that is stored.
    ChargeOne {
        /// The request, under a name of its own.
        request: Request,
        /// The account.
        account: String,
        /// What it pays for.
        own: W,
    },
}

/// What was drawn.
pub(crate) struct Drawn<M> {
    /// What is stored of it under the request.
    pub(crate) body: Vec<u8>,
    /// What the path is now, if there is one.
    pub(crate) state: Option<Vec<u8>>,
    /// What was added to a bundle, which is stored beside what was added before.
    pub(crate) round: Option<Vec<u8>>,
    /// What comes of it.
    pub(crate) made: M,
}

/// What came of an order.
pub(crate) enum Bought<M> {
    /// It is stored, and may be shown.
    Made(M),
    /// An account does not allow it, and nothing was charged for it.
    Refused(Refusal),
}

/// Buys something.
///
/// # Errors
/// The ledger or the order fails. What was charged then stays paid, and its path is free.
pub(crate) fn buy<'a, B: Buyer<'a>, O: Order<'a, B>>(
    buyer: &mut B,
    order: &mut O,
) -> Result<Bought<O::Made>, B::Error> {
    let mut patience = buyer.patience();
    let mut again = Again::First;
    loop {
        let (request, account, own, others, path) = match order.offer(buyer, again)? {
            Offer::Made(made) => return Ok(Bought::Made(made)),
            Offer::Held(path, holder) => {
                buyer.wait_for(path, &holder)?;
                again = Again::Moved;
                continue;
            }
            Offer::Moved if patience.again() => {
                again = Again::Moved;
                continue;
            }
            Offer::Moved => return Err(buyer.unavailable()),
            Offer::Charge { request, own, others, path } => {
                (request, buyer.holder().to_owned(), own, others, path)
            }
            Offer::ChargeOne { request, account, own } => (request, account, own, Vec::new(), None),
        };
        let (names, wants): (Vec<String>, Vec<O::Others>) = others.into_iter().unzip();
        let others = names.iter().map(String::as_str).zip(wants).collect();
        let charged = buyer.ledger().charge(request, &account, own, others).wait();
        let Charged { own, others, claim } = match charged {
            Ok(Outcome::Charged(charged)) => *charged,
            Ok(Outcome::Answered(_))
            | Err(LedgerError::Unanswered(_) | LedgerError::OtherRequest(_)) => {
                again = Again::Taken;
                continue;
            }
            Err(LedgerError::Refused(refusal)) => return Ok(Bought::Refused(refusal)),
            Err(LedgerError::UnderWay { path, holder }) => {
                buyer.wait_for(path, &holder)?;
                again = Again::Moved;
                continue;
            }
            Err(LedgerError::Moved(_) | LedgerError::Path(PathError::OutOfStep { .. })) => {
                if !patience.again() {
                    return Err(buyer.unavailable());
                }
                again = Again::Moved;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let key = claim.key().clone();
        let drawn = match order.still_holds(buyer) {
            Ok(true) => order.draw(buyer, own, others),
            Ok(false) => {
                give_up(buyer, path, key)?;
                again = Again::Moved;
                continue;
            }
            Err(error) => Err(error),
        };
        let stored = drawn.and_then(|Drawn { body, state, round, made }| {
            let mut body = Body::new(body);
            if let Some(state) = state {
                body = body.with_state(state);
            }
            if let Some(round) = round {
                body = body.with_round(round);
            }
            buyer.ledger().answer(claim, body, buyer.stamp()).wait()?;
            Ok(made)
        });
        if stored.is_err() {
            // What was paid for is lost; somebody else may go on.
            let _ = give_up(buyer, path, key);
        }
        return stored.map(Bought::Made);
    }
}

/// Gives up what was charged and is not drawn: it stays paid, and its path is free.
fn give_up<'a, B: Buyer<'a>>(buyer: &B, path: Option<PathId>, key: Key) -> Result<(), B::Error> {
    let Some(path) = path else { return Ok(()) };
    match buyer.ledger().give_up(buyer.holder(), path, key, buyer.stamp()).wait() {
        Ok(()) | Err(LedgerError::NotHeld(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
