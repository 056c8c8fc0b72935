//! The commands, one file for each: arguments, the call, what is printed.

pub(crate) mod ask;
pub(crate) mod budget;
pub(crate) mod calc;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod geo;
pub(crate) mod init;
pub(crate) mod ledger;
pub(crate) mod local;
pub(crate) mod profile;
pub(crate) mod rehearse;
pub(crate) mod shell;
pub(crate) mod tables;
pub(crate) mod tiers;
pub(crate) mod watch;
