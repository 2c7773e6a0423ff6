//! The shelf of workloads and parallel runtimes: parameter tables, and builders from values to programs.

pub mod hog;
pub mod npb;
mod registry;
pub mod runtimes;
pub mod small;
pub mod spmd;

pub use registry::{Built, Context, Entry, entries, names, resolve};

/// `; did you mean ...?` for a misspelt name, or nothing.
fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = notation::suggest::nearest(word, names);
    near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
