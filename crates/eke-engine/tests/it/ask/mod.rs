//! Questions, asked as programs ask them.

mod asking;
mod chosen;
mod covered;
mod derived;
mod distinct;
mod few;
mod generated;
mod identity;
mod lacking;
mod many;
mod prices;
mod quantiles;
mod racing;
mod sight;
mod steward;
mod top;
mod totals;
mod typed;
