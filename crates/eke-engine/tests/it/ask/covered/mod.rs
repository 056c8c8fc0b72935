//! What is counted of whom: bounds of policies and questions, units, and how many are cut.

mod bounds;
mod cuts;
mod parts;
mod real;
mod units;
mod whole;
