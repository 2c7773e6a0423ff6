//! The commands, one file each.

pub(crate) mod advise;
#[cfg(feature = "artifact")]
pub(crate) mod artifact;
#[cfg(feature = "measured")]
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod conformance;
pub(crate) mod deadlines;
pub(crate) mod docs;
pub(crate) mod duel;
#[cfg(all(feature = "measured", not(target_os = "linux")))]
pub(crate) mod elsewhere;
pub(crate) mod explain;
mod figure;
#[cfg(all(feature = "measured", target_os = "linux"))]
pub(crate) mod host_costs;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod kernel;
pub(crate) mod leaderboard;
pub(crate) mod lesson;
pub(crate) mod list;
pub(crate) mod machine;
#[cfg(feature = "formats")]
pub(crate) mod man;
pub(crate) mod matrix;
#[cfg(all(feature = "measured", target_os = "linux"))]
pub(crate) mod measure;
pub(crate) mod new;
mod pair;
pub(crate) mod plot;
pub(crate) mod profile;
pub(crate) mod report;
#[cfg(feature = "measured")]
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schema;
#[cfg(feature = "scx")]
pub(crate) mod scx;
pub(crate) mod selftest;
pub(crate) mod source;
pub(crate) mod step;
pub(crate) mod sweep;
pub(crate) mod timeline;
mod trace;
pub(crate) mod tune;
#[cfg(feature = "measured")]
pub(crate) mod twin;
pub(crate) mod why;
