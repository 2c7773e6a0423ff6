//! The forms in which a search is written.

use std::io::{self, Write};

use experiment::export::Exported;

use super::Tuned;
use super::text::{sentences, write_text};
use crate::flow;
use crate::matrix::Written;

/// The forms of a search.
pub const FORMATS: &[Exported<Tuned>] = &[
    &Written { name: "text", about: "What to type, how sure that is, gains and losses", write: write_text },
    &Written { name: "yaml", about: "The key `policies` of a scenario, with comments", write: write_yaml },
    &Written { name: "json", about: "Everything", write: write_json },
];

fn write_json(tuned: &Tuned, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, tuned)?;
    writeln!(out)
}

fn write_yaml(tuned: &Tuned, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(snippet(tuned).as_bytes())
}

/// The key `policies` of a scenario, the answer beside the default, or the order that was found, with what is
/// known of it as comments.
#[must_use]
pub fn snippet(tuned: &Tuned) -> String {
    let mut text = String::new();
    for (title, sentence) in sentences(tuned) {
        for line in notation::text::wrapped(&format!("{title}: {sentence}"), 98) {
            text.push_str(&format!("# {}\n", notation::neutral::line(&line)));
        }
    }
    if let (Some(order), true) = (&tuned.order, tuned.gains) {
        return text + order;
    }
    let default = flow::scalar(&tuned.policy);
    text.push_str(&format!("policies:\n  - {default}\n"));
    if tuned.gains {
        let labelled = tuned.candidate.strip_suffix(" }").unwrap_or(&tuned.candidate);
        text.push_str(&format!("  - {labelled}, as: tuned }}\n"));
    }
    text
}
