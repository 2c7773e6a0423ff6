//! Tables and paragraphs of an answer, as text and as Markdown.

use std::fmt::Write as _;

use notation::{neutral, text};

/// Columns of a paragraph: what fits on a terminal of 100 columns.
const WIDTH: usize = 96;

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Text of at most 25 lines.
    Text,
    /// Text with all tables.
    Full,
    /// Markdown with all tables.
    Markdown,
    /// JSON with all numbers.
    Json,
}

/// A table; the first column names the rows.
pub(crate) struct Table {
    /// The head.
    pub(crate) head: Vec<String>,
    /// The rows, each as long as the head.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// The table in the form, with an empty line behind it in Markdown.
    fn written(&self, form: Form) -> String {
        if form == Form::Markdown { self.markdown() } else { self.text() }
    }

    /// Columns as wide as their widest cell: the first one left, the others right.
    fn text(&self) -> String {
        let lines = || [&self.head].into_iter().chain(&self.rows);
        let cell = |line: &Vec<String>, at: usize| line.get(at).map_or(0, |cell| cell.chars().count());
        let wide = |at: usize| lines().map(|line| cell(line, at)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(wide).collect();
        let mut out = String::new();
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            let joined: Vec<String> = cells.collect();
            out.push_str(joined.join("  ").trim_end());
            out.push('\n');
        }
        out
    }

    fn markdown(&self) -> String {
        let row = |line: &Vec<String>| {
            let cells: Vec<String> = line.iter().map(|cell| neutral::markdown(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let under: Vec<&str> =
            self.head.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }).collect();
        let rows: String = self.rows.iter().map(row).collect();
        format!("{}| {} |\n{rows}", row(&self.head), under.join(" | "))
    }
}

/// The page that an answer becomes.
pub(crate) struct Page {
    form: Form,
    out: String,
}

impl Page {
    pub(crate) const fn new(form: Form) -> Self {
        Self { form, out: String::new() }
    }

    /// A sentence or some, as lines of their own.
    pub(crate) fn paragraph(&mut self, words: &str) {
        let words = neutral::line(words);
        if self.form == Form::Markdown {
            self.gap();
            self.out.push_str(&neutral::markdown_paragraph(&words));
            self.out.push('\n');
            return;
        }
        for line in text::wrapped(&words, WIDTH) {
            self.out.push_str(&line);
            self.out.push('\n');
        }
    }

    /// A label with what it says, continued below what it says.
    pub(crate) fn labelled(&mut self, label: &str, words: &str) {
        let words = neutral::line(words);
        if self.form == Form::Markdown {
            self.gap();
            // Writing to a text does not fail.
            let _ = writeln!(self.out, "**{label}:** {}", neutral::markdown(&words));
            return;
        }
        let label = format!("{label:<12}");
        for line in text::hanging(&words, [&label, &" ".repeat(12)], WIDTH) {
            self.out.push_str(&line);
            self.out.push('\n');
        }
    }

    /// What is to be typed: lines as they are.
    pub(crate) fn typed(&mut self, lines: &[String]) {
        if self.form == Form::Markdown {
            self.gap();
            self.out.push_str("```sh\n");
        }
        for (at, line) in lines.iter().enumerate() {
            let label = if self.form == Form::Markdown {
                ""
            } else if at == 0 {
                "Type        "
            } else {
                "            "
            };
            let _ = writeln!(self.out, "{label}{}", neutral::line(line));
        }
        if self.form == Form::Markdown {
            self.out.push_str("```\n");
        }
    }

    /// A table between empty lines.
    pub(crate) fn table(&mut self, table: &Table) {
        self.gap();
        self.out.push_str(&table.written(self.form));
        self.gap();
    }

    /// An empty line, unless there is one.
    pub(crate) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    pub(crate) fn done(self) -> String {
        format!("{}\n", self.out.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_as_text_and_escaped_as_markdown() {
        let table = Table {
            head: vec!["a".into(), "b|c".into()],
            rows: vec![vec!["long".into(), "1".into()], vec!["x".into(), "20".into()]],
        };
        assert_eq!(table.text(), "a     b|c\nlong    1\nx      20\n");
        assert_eq!(table.markdown(), "| a | b\\|c |\n| --- | ---: |\n| long | 1 |\n| x | 20 |\n");
    }
}
