//! Questions, asked as programs ask them.

mod asking;
mod bounds;
mod chosen;
mod cuts;
mod derived;
mod distinct;
mod generated;
mod identity;
mod lacking;
mod many;
mod parts;
mod prices;
mod racing;
mod sight;
mod steward;
mod top;
mod typed;
mod units;
