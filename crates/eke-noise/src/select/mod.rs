//! Choosing by noisy scores: maxima, comparisons, thresholds, rankings and keys.

pub(crate) mod choose;
pub(crate) mod compare;
pub(crate) mod noisy;
pub(crate) mod partition;
pub(crate) mod prepaid;
pub(crate) mod ranking;
pub(crate) mod sampler;
pub(crate) mod threshold;

pub use choose::{ChoiceLaw, ChoiceRule, choose};
pub use compare::{Comparison, compare};
pub use noisy::{NoisyScore, noisy_max};
pub use partition::{KeyCounts, KeySelection, Touched, select_keys};
pub use prepaid::{Allotment, DrawPrice, Prepaid, PrepaidError};
pub use ranking::{Moves, PickPrice, Ranking, RankingError};
pub use sampler::{choose_exponentially, permute_and_flip, uniform_subset};
pub use threshold::{Ended, LineError, LineLaw, NoisyLine, Run};
