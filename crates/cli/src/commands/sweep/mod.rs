//! `oversim sweep`: one file for each of its commands.

pub(crate) mod phase;
