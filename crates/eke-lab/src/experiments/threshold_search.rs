//! Searching a stream of daily answers for those above a line: how good it is, and what it costs by
//! each way of accounting for it.
//!
//! The experiment of Lebensold, Precup and Balle on bikes and on energy, with everything drawn
//! exactly and priced with the bounds that hold. Runs follow one another, a day a step; when one
//! has hit, the next day starts another. The truth is what a line without noise would say, and
//! verdicts are compared with it by their F1 score.
//!
//! Two things are asked. With the noise that the paper uses, all days are answered: what did it
//! cost in the end? And with a budget fixed beforehand, where every filter stops when it has to and
//! days that are not answered count as not above: how good is the best that each accounting can do?
//! The second is the fair one: all have spent at most the same.

mod accounting;
mod bikes;
mod experiment;
mod figure;
mod london;
mod mechanism;
mod reported;
mod stream;
mod transcript;

pub(crate) use bikes::BIKES;
pub(crate) use london::LONDON;
pub(crate) use stream::Stream;
