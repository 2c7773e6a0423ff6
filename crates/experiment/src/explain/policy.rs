//! Pages of policies.

use policies::{Entry, Level, PolicyShelf, Showcase};

use super::{Block, Page, Shelf};
use crate::catalogue::parameter;
use crate::metrics::ALL_APPS;

pub(super) fn pages(policies: &PolicyShelf) -> Vec<Page> {
    policies.entries().map(page).collect()
}

fn page(e: &Entry) -> Page {
    let level = match e.level {
        Level::Kernel => "It is the kernel's own placement and balancing.",
        Level::User => {
            "A user-level policy: it stands on the kernel's own (`LOAD` on Linux, `ULE` on FreeBSD, `LGROUP` on Solaris) and acts by setting affinities."
        }
    };
    Page::new(Shelf::Policy, e.name, e.summary)
        .text("", &format!("{}\n\n{level}", e.about.trim()))
        .text("What the real one sees", e.sees)
        .text("What it costs", e.costs)
        .with("Parameters", vec![Block::Parameters(e.parameters.iter().map(parameter).collect())])
        .text("Worked example", e.example)
        .with("Where it wins", showcase(&e.wins))
        .with("Where it loses", showcase(&e.loses))
        .text("Source", e.source)
}

/// The scenario, what happens there, and which numbers to compare.
fn showcase(case: &Showcase) -> Vec<Block> {
    if case.scenario.is_empty() {
        return Vec::new();
    }
    let what = match case.app {
        ALL_APPS => "the makespan".to_owned(),
        app => format!("the run time of `{app}`"),
    };
    let at = if case.point.is_empty() { String::new() } else { format!(" at `{}`", case.point) };
    let compare = format!("Compare {what} under `{}` and `{}`{at}:", case.label, case.against);
    vec![
        Block::Text(format!("{}\n\n{compare}", case.about.trim())),
        Block::Command(format!("oversim run scenarios/policies/{}.yaml", case.scenario)),
    ]
}
