//! The figures with their numbers, and the timeline.

use maud::{Markup, PreEscaped, html};

use super::{Slot, table};
use crate::{Drawn, Figure};

/// Rows of a figure's numbers on the page; the rest is in its CSV.
const MOST_ROWS: usize = 400;

/// Every figure with its numbers, and what was left out.
pub(super) fn figures(drawn: &Drawn) -> Markup {
    html! {
        @for figure in &drawn.figures { (one(figure)) }
        @if !drawn.omitted.is_empty() {
            details {
                summary { "Figures left out, and why" }
                ul { @for omitted in &drawn.omitted { li { strong { (omitted.name) } ": " (omitted.why) } } }
            }
        }
    }
}

fn one(figure: &Figure) -> Markup {
    let data = &figure.data;
    let head: Vec<String> = data.header.iter().map(|name| (*name).to_owned()).collect();
    let rows = &data.rows[..data.rows.len().min(MOST_ROWS)];
    html! {
        figure {
            (PreEscaped(drawing::canvas::themed(&figure.svg)))
            figcaption {
                details class="data" {
                    summary { "Numbers of the figure " (figure.name) }
                    @if data.rows.len() > MOST_ROWS {
                        p { "The first " (MOST_ROWS) " of " (data.rows.len()) " rows; all are in the CSV that `oversim plot` writes." }
                    }
                    (table(&figure.title, &head, rows))
                }
            }
        }
    }
}

/// The timeline on a light panel of its own: its colours are made for it.
pub(super) fn timeline(slot: &Slot) -> Markup {
    html! {
        p { (slot.about) }
        figure {
            div class="light scroll" role="region" tabindex="0" aria-label="Timeline" { (PreEscaped(&slot.svg)) }
            figcaption { "Alone and with other windows: " code { (slot.command) } }
        }
    }
}
