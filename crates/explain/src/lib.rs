//! Pages that explain policies, kernels, runtimes, workloads, machines, metrics, keys and terms.

pub mod catalogue;
mod entries;
mod example;
pub mod kernel_view;
mod key;
mod link;
mod machine;
pub mod machine_import;
pub mod machine_set;
pub mod machine_view;
mod markdown;
mod metric;
mod page;
mod parameter;
mod policy;
pub mod reference;
mod reference_value;
mod search;
mod term;
mod text;
mod waiting;

pub use markdown::write_markdown;
pub use page::{Block, Fact, Kind, Link, Page, Section};
pub use search::{find, find_with, pages, pages_with};
pub use text::{write_overview, write_text};

/// Writes pages as one JSON array.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_json(pages: &[Page], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, pages)?;
    out.write_all(b"\n")
}
