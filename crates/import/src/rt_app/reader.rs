//! Values of a file of rt-app with their places, and what is wrong with them.

use super::model::Global;
use crate::json::Value;
use crate::note::Notes;
use crate::units::LONGEST;
use crate::{Refused, Source};

/// What is read, with its notes.
pub(super) struct Reader<'s, 'n> {
    pub(super) source: Source<'s>,
    pub(super) notes: &'n mut Notes,
    pub(super) global: Global,
}

impl Reader<'_, '_> {
    /// What is wrong at a value.
    pub(super) fn wrong(&self, line: usize, message: &str) -> Refused {
        let start = self.source.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        self.source.wrong(start, message)
    }

    /// A whole number of a key from `least` on.
    pub(super) fn whole(&self, value: &Value, path: &str, least: i64, most: u64) -> Result<i64, Refused> {
        let number = value.whole().filter(|n| *n >= least && u64::try_from(*n).unwrap_or(0) <= most);
        number.ok_or_else(|| {
            let message = format!("`{path}` is a whole number from {least} to {most}, not {}", value.kind());
            self.wrong(value.line, &message)
        })
    }

    /// A time in us, as ns.
    pub(super) fn micros(&self, value: &Value, path: &str) -> Result<u64, Refused> {
        Ok(self.whole(value, path, 0, LONGEST / 1_000)? as u64 * 1_000)
    }

    pub(super) fn text(&self, value: &Value, path: &str) -> Result<String, Refused> {
        let text = value.text().map(str::to_owned);
        text.ok_or_else(|| self.wrong(value.line, &format!("`{path}` is a text, not {}", value.kind())))
    }
}
