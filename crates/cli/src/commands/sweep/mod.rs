//! `oversim sweep`: all runs of a study in shards.

#[cfg(test)]
pub(crate) mod script;
