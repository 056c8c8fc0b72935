//! One person's places, and what can be asked of them.

pub(crate) mod hull;
pub(crate) mod hull_plan;
pub(crate) mod nearest;
pub(crate) mod places;
pub(crate) mod tuple;
