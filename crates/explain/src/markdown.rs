//! Pages as Markdown, for the reference and for `--format markdown`.

use std::io::{self, Write};

use notation::neutral::markdown_prose;

use crate::link::link;
use crate::page::{Block, Link, Page};

/// Writes pages one after another; `level` is the level of their headings, 1 to 4.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_markdown(pages: &[Page], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for (i, page) in pages.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} {}\n\n{}.", "#".repeat(level), page.name, markdown_prose(&capital(&page.summary)))?;
        for section in &page.sections {
            writeln!(out)?;
            if !section.title.is_empty() {
                writeln!(out, "{} {}\n", "#".repeat(level + 1), section.title)?;
            }
            for (i, block) in section.blocks.iter().enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                write_block(out, block)?;
            }
        }
    }
    Ok(())
}

fn write_block(out: &mut dyn Write, block: &Block) -> io::Result<()> {
    match block {
        Block::Text(text) => writeln!(out, "{}", markdown_prose(text)),
        Block::Yaml(yaml) => writeln!(out, "```yaml\n{}\n```", yaml.trim_end()),
        Block::Command(command) => writeln!(out, "```console\n$ {command}\n```"),
        Block::Parameters(rows) => {
            writeln!(out, "| parameter | default | range | meaning |\n|---|---|---|---|")?;
            for row in rows {
                let (range, about) = (cell(&row.range()), cell(&row.about));
                writeln!(out, "| `{}` | {} | {range} | {about} |", row.name, row.default)?;
            }
            Ok(())
        }
        Block::Facts(facts) => {
            writeln!(out, "| | value | source |\n|---|---|---|")?;
            for fact in facts {
                writeln!(out, "| `{}` | {} | {} |", fact.name, cell(&fact.value), cell(&fact.about))?;
            }
            Ok(())
        }
        Block::See(links) => writeln!(out, "{}", see(links)),
    }
}

/// References with links as seen from `docs/`, where the glossary is.
pub(super) fn see(links: &[Link]) -> String {
    links.iter().map(link).collect::<Vec<_>>().join(", ")
}

/// The text with its first letter in upper case, unless that is a name such as `make`.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    markdown_prose(text).replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_one_line_and_names_keep_their_case() {
        assert_eq!(cell("never | always"), "never \\| always");
        assert_eq!(capital("each task"), "Each task");
    }
}
