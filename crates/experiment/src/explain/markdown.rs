//! Pages as Markdown, for the reference and for `--format markdown`.

use std::io::{self, Write};

use super::reference::link;
use super::text::range;
use super::{Block, Link, Page};

/// Writes pages one after another; `level` is the level of their headings, 1 to 4.
///
/// # Errors
/// Those of `out`.
pub fn write_markdown(pages: &[Page], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for (i, page) in pages.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} {}\n\n{}.", "#".repeat(level), page.name, escaped(&capital(&page.summary)))?;
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
        Block::Text(text) => writeln!(out, "{}", escaped(text)),
        Block::Yaml(yaml) => writeln!(out, "```yaml\n{}\n```", yaml.trim_end()),
        Block::Command(command) => writeln!(out, "```console\n$ {command}\n```"),
        Block::Parameters(rows) => {
            writeln!(out, "| parameter | default | range | meaning |\n|---|---|---|---|")?;
            for row in rows {
                let (range, about) = (cell(&range(row)), cell(&row.about));
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
    escaped(text).replace('|', "\\|").replace('\n', " ")
}

/// Text without what Markdown would take for HTML or links, outside of code.
fn escaped(text: &str) -> String {
    let part = |(i, part): (usize, &str)| {
        if i % 2 == 1 {
            part.to_owned()
        } else {
            part.replace('<', "&lt;").replace('[', "\\[").replace('*', "\\*")
        }
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_left_alone_and_the_rest_escaped() {
        assert_eq!(escaped("a < b, `a < b`, [c] * d"), "a &lt; b, `a < b`, \\[c] \\* d");
        assert_eq!(cell("never | always"), "never \\| always");
        assert_eq!(capital("each task"), "Each task");
    }
}
