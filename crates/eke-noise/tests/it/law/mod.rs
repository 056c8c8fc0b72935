//! Laws of noise, one draw at a time.

mod coins;
mod laws;
mod levels;
mod planar;
