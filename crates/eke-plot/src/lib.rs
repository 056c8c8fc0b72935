//! Figures as SVG, in one style, for the command line and the lab. It depends on nothing and knows nothing of
//! privacy: what is drawn has been released before.
//!
//! | | |
//! |---|---|
//! | [`histogram`] | bars side by side |
//! | [`plot`] | lines in panels, with a legend |
//! | [`svg`] | the shapes they are made of |

pub mod histogram;
pub mod plot;
pub mod svg;
