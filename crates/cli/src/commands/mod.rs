//! The commands, one file each.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod timeline;
