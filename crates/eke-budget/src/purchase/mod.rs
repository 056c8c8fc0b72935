//! What is bought from an account: a release, a point of a path, groups of a bundle, a round.

pub(crate) mod charge;
pub(crate) mod group;
pub(crate) mod path;
pub(crate) mod paths;
pub(crate) mod round;
pub(crate) mod weights;

pub use charge::{Charge, ChargeError, Purchase};
pub use group::{GroupError, GroupOffer, GroupPrices, GroupRaise, GroupRound, GroupStep};
pub use path::{Coarsen, Level, NotAPathId, PathError, PathId, Raise, Reveal, RevealReceipt};
pub use paths::PathPrices;
pub use round::{
    AboveWorstCase, ExtendError, Extension, OtherRound, Round, Rounds, Settlement, Unsettled,
    UnsettledReason,
};
pub use weights::{AddedBy, GroupWeights, RowBounds};
