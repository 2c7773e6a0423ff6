//! Markdown: the text report with its tables as GitHub-flavoured Markdown.

use std::io::{self, Write};

use notation::neutral::{self, markdown};

use crate::export::{Exporter, Form, View};
use crate::result::{Results, counted};
use crate::statements::{self, Extremes};

use super::table::{Column, Comparison, legend};
use super::text::{footer, note_lines, replay_line, setting};

/// Writes the report.
#[derive(Debug)]
pub(super) struct Markdown;

impl Exporter<Results> for Markdown {
    fn form(&self) -> Form {
        Form { name: "markdown", file: Some("report.md"), about: "The text report in Markdown" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let p = &results.provenance;
        writeln!(out, "# {}\n", markdown(&p.scenario))?;
        if !p.about.is_empty() {
            let about = p.about.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "{}\n", neutral::markdown_paragraph(&about))?;
        }
        writeln!(out, "{}\n", markdown(&setting(results)))?;
        let index = statements::Table::of(results);
        let extremes = Extremes::of(&index);
        for said in extremes.iter().flat_map(|extremes| statements::answer::said(&index, extremes)) {
            writeln!(out, "- **{}**: {}", said.label, markdown(&said.text))?;
        }
        for doubt in statements::doubts::doubts(&index, extremes.as_ref()) {
            writeln!(out, "- **Doubt**: {}", markdown(&doubt))?;
        }
        for (at, configuration) in p.configurations.iter().enumerate() {
            writeln!(out)?;
            if !configuration.label.is_empty() {
                writeln!(out, "## {}\n", markdown(&configuration.label))?;
            }
            table(out, &Comparison::at(&index, at))?;
            let sentences = statements::each::at(&index, at);
            if !sentences.is_empty() {
                writeln!(out, "\n{}", markdown(&sentences.join(" ")))?;
            }
        }
        writeln!(out, "\n{}\n", markdown(&legend(results)))?;
        let lines = note_lines(&results.notes).into_iter().chain(replay_line(results));
        for line in lines.chain(counted::lines(results)) {
            writeln!(out, "- {}", markdown(&line))?;
        }
        writeln!(out, "\n`{}`", markdown(&footer(results)))
    }
}

fn table(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let groups = comparison.groups.iter().flatten();
    let columns: Vec<&Column> = [&comparison.rows].into_iter().chain(groups).collect();
    let heads: Vec<String> = columns.iter().map(|c| markdown(&head(c))).collect();
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|:---{}|", "|---:".repeat(columns.len() - 1))?;
    for row in 0..comparison.rows.entries.len() {
        let cells: Vec<String> =
            columns.iter().map(|c| markdown(c.entries.get(row).map_or("", String::as_str))).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// Both header lines as one.
pub(super) fn head(column: &Column) -> String {
    column.head.join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_become_one_line() {
        let column = |a: &str, b: &str| Column { head: [a.into(), b.into()], entries: Vec::new() };
        assert_eq!(head(&column("context", "switch %")), "context switch %");
        assert_eq!(head(&column("cg", "slowdown")), "cg slowdown");
        assert_eq!(head(&column("policy", "")), "policy");
    }
}
