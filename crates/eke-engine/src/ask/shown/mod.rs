//! What an asker is shown: values with their intervals, what they cover, and what is lacking.

pub(crate) mod additive;
pub(crate) mod answer;
pub(crate) mod covers;
pub(crate) mod derived;
pub(crate) mod lacking;
pub(crate) mod post;
