//! The commands, one file each.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod source;
pub(crate) mod timeline;
mod trace;
