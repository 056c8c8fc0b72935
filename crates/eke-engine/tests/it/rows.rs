//! Runs over rows.
