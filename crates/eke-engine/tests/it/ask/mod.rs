//! Questions, asked as programs ask them.

mod asking;
mod chosen;
mod identity;
mod prices;
mod racing;
mod steward;
mod top;
