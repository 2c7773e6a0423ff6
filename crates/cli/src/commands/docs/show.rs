//! A page of the manual for a terminal.

use std::io::{self, Write};

use experiment::text::{cut, hanging};

use super::bold;
use crate::markdown::plain;

/// Before lines of code.
const INDENT: &str = "  ";

/// Writes a page, lines of at most `width` columns but for code.
pub(super) fn write(text: &str, out: &mut dyn Write, width: usize) -> io::Result<()> {
    let blocks = blocks(text);
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        match block {
            Block::Heading(line) => writeln!(out, "{}", bold(&plain(line.trim_start_matches('#'))))?,
            Block::Code(lines) => {
                lines
                    .iter()
                    .try_for_each(|line| writeln!(out, "{}", format!("{INDENT}{line}").trim_end()))?;
            }
            Block::Table(rows) => table(rows, out, width)?,
            Block::Text(items) => {
                for item in items {
                    let mark = mark(item);
                    let rest = " ".repeat(mark.chars().count());
                    let text = plain(&item[mark.len()..]);
                    if !text.is_empty() {
                        writeln!(out, "{}", hanging(&text, [mark, &rest], width).join("\n"))?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// A part of a page.
#[derive(PartialEq, Eq, Debug)]
enum Block<'a> {
    /// A heading with its marks.
    Heading(&'a str),
    /// The lines of a block of code.
    Code(Vec<&'a str>),
    /// The rows of a table, the first one is its head.
    Table(Vec<Vec<String>>),
    /// A paragraph, or the items of a list.
    Text(Vec<String>),
}

/// The blanks and the mark at the beginning of an item of a list; nothing at the beginning of other lines.
fn mark(line: &str) -> &str {
    let indent = line.len() - line.trim_start().len();
    let text = &line[indent..];
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let wide = match &text[digits..] {
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        rest if digits == 0 && (rest.starts_with("- ") || rest.starts_with("* ")) => 2,
        _ => return "",
    };
    &line[..indent + wide]
}

/// Whether a line is shown by a browser only.
fn is_hidden(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("<!--") || line.starts_with("![") || line.starts_with('<') && line.ends_with('>')
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_code, mut is_new) = (false, true);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            is_new = !is_code;
            if is_code {
                blocks.push(Block::Code(Vec::new()));
            }
            continue;
        }
        if let (true, Some(Block::Code(lines))) = (is_code, blocks.last_mut()) {
            lines.push(line);
            continue;
        }
        if line.trim().is_empty() || is_hidden(line) {
            is_new = true;
        } else if line.starts_with('#') {
            blocks.push(Block::Heading(line));
            is_new = true;
        } else if line.starts_with('|') {
            let row = cells(line);
            match blocks.last_mut() {
                Some(Block::Table(rows)) if !is_new => rows.push(row),
                _ => blocks.push(Block::Table(vec![row])),
            }
            is_new = false;
        } else {
            match blocks.last_mut() {
                Some(Block::Text(items)) if !is_new => match items.last_mut() {
                    Some(item) if mark(line).is_empty() => {
                        item.push(' ');
                        item.push_str(line.trim());
                    }
                    _ => items.push(line.to_owned()),
                },
                _ => blocks.push(Block::Text(vec![line.to_owned()])),
            }
            is_new = false;
        }
    }
    for block in &mut blocks {
        if let Block::Table(rows) = block {
            let is_line = |cell: &String| cell.contains('-') && cell.trim_matches(['-', ':']).is_empty();
            rows.retain(|row| !row.iter().all(is_line));
        }
    }
    blocks
}

/// The cells of a row; a bar in a span of code with a backslash before it is no border.
fn cells(line: &str) -> Vec<String> {
    let bare = line.trim().trim_matches('|').replace("\\|", "\u{1}");
    bare.split('|').map(|cell| plain(cell.trim()).replace('\u{1}', "|")).collect()
}

/// Columns next to each other where they fit, else the cells of a row below its first one.
fn table(rows: &[Vec<String>], out: &mut dyn Write, width: usize) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |at: usize| rows.iter().filter_map(|row| Some(row.get(at)?.chars().count())).max();
    let widths: Vec<usize> = (0..columns).map(|at| wide(at).unwrap_or(0)).collect();
    if widths.iter().sum::<usize>() + 2 * columns <= width {
        // A head may be empty.
        for row in rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())) {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, wide)| format!("{cell:wide$}")).collect();
            writeln!(out, "{}", cut(&cells.join("  "), width).trim_end())?;
        }
        return Ok(());
    }
    let Some((head, rows)) = rows.split_first() else { return Ok(()) };
    for row in rows {
        let mut cells = row.iter().zip(head);
        if let Some((first, _)) = cells.next() {
            writeln!(out, "{}", hanging(first, ["- ", "  "], width).join("\n"))?;
        }
        for (cell, name) in cells.filter(|(cell, _)| !cell.is_empty()) {
            let cell = if name.is_empty() { cell.clone() } else { format!("{name}: {cell}") };
            writeln!(out, "{}", hanging(&cell, ["    ", "      "], width).join("\n"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> String {
        let mut out = Vec::new();
        write(text, &mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn paragraphs_lists_code_and_tables_are_shown() {
        let page = "# One *page*\n<!-- note -->\ntext with\na [link](x.md)\n\n- a\n  b\n- c\n\n\
            ```sh\n# run | it\n```\n| a | b |\n|---|---|\n| `x` | 1 |\n";
        assert_eq!(
            shown(page, 60),
            "One page\n\ntext with a link\n\n- a b\n- c\n\n  # run | it\n\na    b\n`x`  1\n"
        );
    }

    #[test]
    fn a_wide_table_is_shown_as_a_list() {
        let page = "| name | what it does |\n|---|---|\n| a | some words that do not fit |\n";
        assert_eq!(shown(page, 24), "- a\n    what it does: some\n      words that do not\n      fit\n");
    }

    #[test]
    fn numbers_are_marks_of_lists_and_stay() {
        assert_eq!(mark("10. ten"), "10. ");
        assert_eq!(mark("  - deep"), "  - ");
        assert_eq!((mark("-5 is"), mark("2.5 is")), ("", ""));
        assert_eq!(shown("1. a\n   b\n2. c\n", 60), "1. a b\n2. c\n");
    }
}
