//! A count in several tiers: how far off each answer is, along one path and by other ways.
//!
//! The experiment of *Multi-tier DP Query Release* on count queries. Tiers are lists of epsilons.
//! Along a path all of them cost the finest. *Gradual release* costs the same: it buys an
//! independent answer for what each tier has beyond the next coarser one, and averages all that a
//! tier has bought by inverse variance. *Single tier* is an independent answer for each tier's
//! whole epsilon: nothing can be better with the same noise, but an observer who compares answers
//! learns the sum of their epsilons.
//!
//! Two things are asked, as in the paper. How far off is the finest of m tiers that are evenly
//! spaced? And for random lists, how much worse than alone is the tier that fares worst? The first
//! is drawn, and compared with its variance; the second is computed from variances, list by list.

mod experiment;
mod figure;
mod reported;
mod way;

pub(crate) use reported::COUNT;
