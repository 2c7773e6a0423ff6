//! The one place that writes: to standard output, to pipes and devices, and to files, which appear whole or
//! not at all.

mod folder;
mod target;

use std::io::{self, Write};

use experiment::report::{DEFAULT_WIDTH, Exported, FORMATS, View};
use experiment::result::Results;
use experiment::text::hanging;
use scenario::inputs::{self, Inputs};

pub(crate) use folder::{Folder, bytes, write_new};
pub(crate) use target::{Stream, Target, distinct, write_together};

use crate::failure::Failure;

/// Lines have at least this width, because tables need it.
const MIN_WIDTH: usize = 60;

/// Columns of pictures in text when the width is unknown, and the largest number of them.
const DEFAULT_COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 1000;

/// Standard output, buffered. A reader that goes away ends the output and nothing else.
pub(crate) fn standard() -> Stream {
    Stream::through(Box::new(io::stdout()))
}

/// Whether standard output is what the Rust runtime opens in the place of a closed one (`>&-`): /dev/null,
/// for reading and writing. A program may start another one with the same on purpose (Python's `DEVNULL`), so
/// this is no failure. Known from `/proc`; false without it.
pub(crate) fn is_lost() -> bool {
    let flags = std::fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
    let flags =
        flags.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    let file = std::fs::read_link("/proc/self/fd/1").unwrap_or_default();
    // The access mode O_RDWR; a shell opens `> /dev/null` with O_WRONLY.
    flags.is_some_and(|flags| flags & 3 == 2) && file == std::path::Path::new("/dev/null")
}

/// Calls `write` with standard output, buffered.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = standard();
    write(&mut out).and_then(|()| out.flush()).map_err(|e| Failure::stdout(&e))
}

/// Columns of the terminal on standard output, or the variable COLUMNS; none where both are missing.
fn known_columns() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(variable)
}

/// Columns for text: the known ones, or the default.
pub(crate) fn width() -> usize {
    known_columns().map_or(DEFAULT_WIDTH, |columns| columns.max(MIN_WIDTH))
}

/// Columns for what is drawn with characters: the known ones, or 80.
pub(crate) fn columns() -> usize {
    known_columns().unwrap_or(DEFAULT_COLUMNS).clamp(MIN_WIDTH, MOST_COLUMNS)
}

/// True when standard output shows colours: a terminal, and NO_COLOR is not set.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// A line of at most `width` columns, broken at its blanks where it is longer. What follows stands below the
/// last column of the line, as far as there is room.
pub(crate) fn folded(line: &str, width: usize) -> String {
    let columns: Vec<char> = line.chars().collect();
    if columns.len() <= width {
        return line.to_owned();
    }
    let blank = |at: usize| columns.get(at).is_some_and(|c| *c == ' ');
    let leading = columns.iter().take_while(|c| **c == ' ').count();
    let begins = |at: &usize| *at > leading + 2 && blank(at - 1) && blank(at - 2) && !blank(*at);
    let last = (0..columns.len().min(width / 2 + 1)).rev().find(begins);
    let first = last.unwrap_or(leading);
    let head: String = columns.iter().take(first).collect();
    let words: String = columns.iter().skip(first).collect();
    let rest = " ".repeat(last.unwrap_or(leading + 2));
    hanging(&words, [&head, &rest], width).join("\n")
}

/// As [`folded`], for each line of a text.
pub(crate) fn write_folded(text: &str, out: &mut dyn Write) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "{}", folded(line, width())))
}

/// The names of the files that every directory of results receives.
pub(crate) fn result_names() -> impl Iterator<Item = String> {
    let forms = FORMATS.iter().filter_map(|format| format.form().file).map(str::to_owned);
    forms.chain([inputs::RECORD, inputs::SCENARIO].map(|name| format!("{}/{name}", inputs::DIRECTORY)))
}

/// Writes the result in every form, and what it was calculated from.
pub(crate) fn write_results(results: &Results, inputs: &Inputs, folder: &Folder) -> Result<(), Failure> {
    type Content<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;
    let named = |format: &Exported<Results>| {
        let format = *format;
        let write = move |out: &mut dyn Write| format.write(results, out, &View::FILE);
        Some((format.form().file?.to_owned(), Box::new(write) as Content<'_>))
    };
    let stored = inputs.contents().into_iter().map(|(name, all)| {
        let write = move |out: &mut dyn Write| out.write_all(&all);
        (format!("{}/{name}", inputs::DIRECTORY), Box::new(write) as Content<'_>)
    });
    let files: Vec<_> = FORMATS.iter().filter_map(named).chain(stored).collect();
    folder.write(&files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_below_its_last_column() {
        assert_eq!(folded("short", 10), "short");
        assert_eq!(folded("! code  LOAD takes longer", 18), "! code  LOAD takes\n        longer");
        assert_eq!(folded("  4 x core: two words more", 16), "  4 x core: two\n    words more");
        assert_eq!(folded("a  b  long words", 12), "a  b  long\n      words");
        assert_eq!(folded("one two three", 8), "one two\n  three");
    }
}
