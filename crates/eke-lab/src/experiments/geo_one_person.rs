//! Experiments of Liang and Yi on one person's places: the nearest of them (figures 3 and 4) and
//! their hull (figure 5).
//!
//! A person's places are those of one taxi, some or all of its fixes. The paper's algorithms and
//! eke's own are bought and drawn through the same calls; the two baselines put noise on every
//! place and look for the nearest, or the hull, of what comes out. Where an algorithm is priced in
//! epsilon it gets as much as the paper gives it: `sqrt(rho) (sqrt(L) + sqrt(L + 10))`, L the
//! logarithm of 1e10. Metres are metres; the paper's are Mercator's, which are 1.26 times as long
//! here.

mod experiment;
mod geo_hull;
mod geo_nearest;
mod trace;
mod way;

pub(crate) use geo_hull::HULL;
pub(crate) use geo_nearest::NEAREST;
