//! Reports of a reproduction, one form per file.

mod cells;
mod csv;
mod json;
mod markdown;
mod numbers;
pub mod page;
mod text;

pub use cells::write as cells;
pub use numbers::{short, simulated};

use experiment::export::Exported;

use crate::reproduce::Reproduction;

/// All forms.
pub const FORMS: &[Exported<Reproduction>] = &[&text::Text, &json::AsJson, &csv::Csv, &markdown::Markdown];
