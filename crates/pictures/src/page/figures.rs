//! The figures with their numbers, and the timeline.

use maud::{Markup, PreEscaped, html};

use super::{Grid, Slot};
use crate::figures::{Drawn, Figure};

/// Rows of a figure's numbers on the page; the rest is in its CSV.
const MOST_ROWS: usize = 400;

/// Every figure with its numbers, and what was left out.
pub(super) fn figures(drawn: &Drawn) -> Markup {
    html! {
        @for figure in &drawn.figures { (one(figure)) }
        @if !drawn.omitted.is_empty() {
            details {
                summary { "Figures that were skipped, and why" }
                ul { @for omitted in &drawn.omitted { li { strong { (omitted.name) } ": " (omitted.why) } } }
            }
        }
    }
}

fn one(figure: &Figure) -> Markup {
    let data = &figure.data;
    let head: Vec<String> = data.header.iter().map(|name| (*name).to_owned()).collect();
    // The settings behind them are part of the configuration.
    let shown = |row: &Vec<String>| row[..head.len()].to_vec();
    let rows = data.rows.iter().take(MOST_ROWS).map(shown).collect();
    html! {
        figure {
            (cue(&figure.title))
            (picture(&format!("Figure {}", figure.name), &figure.picture.themed()))
            figcaption {
                details class="data" {
                    summary { "Numbers of the figure " (figure.name) }
                    @if data.rows.len() > MOST_ROWS {
                        p { "The first " (MOST_ROWS) " of " (data.rows.len()) " rows. The CSV of `oversim \
                            plot` has all." }
                    }
                    (Grid::new(&figure.title, head, rows).markup())
                }
            }
        }
    }
}

/// A picture. On a narrow page it scrolls, so that its letters can be read.
fn picture(label: &str, svg: &str) -> Markup {
    html! { div class="scroll" role="region" tabindex="0" aria-label=(label) { (PreEscaped(svg)) } }
}

/// What a picture shows, and how to see all of it, on a narrow page.
fn cue(title: &str) -> Markup {
    html! { p class="cue" { strong { (title) } " (Scroll the picture sideways.)" } }
}

/// The timeline. Its colours are those of a light page; a dark one inverts them and keeps the hues.
pub(super) fn timeline(slot: &Slot) -> Markup {
    html! {
        p { (slot.about) }
        figure class="timeline" {
            (cue("Who ran where."))
            (picture("Timeline", &slot.picture.svg()))
            figcaption { p { "Alone and with other windows: " code { (slot.command) } } }
        }
        // The script shows it.
        @if let Some(detail) = &slot.detail {
            details class="enlarge" hidden {
                summary { "Enlarge the timeline" }
                div data-timeline=(detail) {}
            }
        }
    }
}
