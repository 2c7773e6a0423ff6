//! `oversim` as a user sees it: one program for the tests of all commands, which links faster than one for
//! each.

mod advice;
mod columns;
mod commands;
mod compare;
mod completions;
mod decisions;
mod files;
mod help;
mod import;
mod kernel;
mod lesson;
mod machine;
mod machine_set;
mod measure;
mod neutral;
mod new;
mod next;
mod plot;
mod report;
mod reproduce;
mod requests;
mod run;
mod scenarios;
mod schemas;
mod size;
#[path = "../support/mod.rs"]
mod support;
mod sweep;
mod timeline;
mod trace;
mod twin_import;
mod twin_record;
mod twin_reports;
