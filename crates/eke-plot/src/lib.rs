//! Figures as SVG, in one style, for the command line and the lab. It depends on nothing and knows
//! nothing of privacy: what is drawn has been released before.
//!
//! | | |
//! |---|---|
//! | [`histogram`] | bars side by side |
//! | [`map`] | places, areas and what was released about them, in metres |
//! | [`plot`] | lines in panels, with a legend |
//! | [`svg`] | the shapes they are made of |

pub mod histogram;
pub mod map;
pub mod plot;
pub mod svg;
