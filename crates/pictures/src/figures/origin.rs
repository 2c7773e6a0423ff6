//! What the figures of a response state besides its numbers: machine, kernel, seeds, and the source.

use experiment::result::Results;
use experiment::statements::Table;
use experiment::statements::ranking;

use super::page::Page;
use super::words;

/// Where a response comes from.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Origin {
    /// Machine, kernel and number of seeds; `12 seeds`.
    pub setting: String,
    /// What is needed to find the numbers again: a line below the figure.
    pub source: String,
    /// What the figure is drawn for.
    pub page: Page,
}

impl Origin {
    /// The origin of a result.
    #[must_use]
    pub fn of(results: &Results) -> Self {
        let index = Table::of(results);
        let work =
            if ranking::work_differs(&index) { "; the work differs between configurations" } else { "" };
        let fixed = &index.sweep.fixed;
        let fixed = if fixed.is_empty() { String::new() } else { format!("; {}", fixed.join(", ")) };
        Self {
            setting: format!("{}{fixed}{work}", words::setting(results)),
            source: words::source(results),
            page: Page::SCREEN,
        }
    }
}
