//! Readers, one for each form of file.

pub(crate) mod mpip;
pub(crate) mod perf;
pub(crate) mod regions;
pub(crate) mod sacct;
pub(crate) mod time;
