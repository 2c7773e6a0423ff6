//! Pages of policies.

use experiment::metrics::ALL_APPS;
use policies::{Entry, Level, PolicyRegistry, Showcase};

use crate::catalogue::parameter;
use crate::page::{Block, Kind, Page};

pub(super) fn pages(policies: &PolicyRegistry) -> Vec<Page> {
    policies.entries().map(page).collect()
}

fn page(e: &Entry) -> Page {
    let level = match e.level {
        Level::InKernel => "This is a kernel-level policy: the kernel's own placement and balancing.",
        Level::UserLevel => {
            "This is a user-level policy. It runs on top of a kernel-level policy (by default `LOAD` on \
                Linux, `ULE` on FreeBSD and `LGROUP` on Solaris) and acts by setting affinities."
        }
    };
    Page::new(Kind::Policy, e.name, e.summary)
        .text("", &format!("{}\n\n{level}", e.about()))
        .text("What the real policy observes", &e.observes())
        .text("What it costs", &e.costs())
        .with("Parameters", vec![Block::Parameters(e.parameters.iter().map(parameter).collect())])
        .text("Worked example", &e.example())
        .with("Where it wins", showcase(&e.wins, &e.wins_because()))
        .with("Where it loses", showcase(&e.loses, &e.loses_because()))
        .text("Source", e.source)
}

/// The scenario, what happens there, and which numbers to compare.
fn showcase(case: &Showcase, because: &str) -> Vec<Block> {
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
        Block::Text(format!("{because}\n\n{compare}")),
        Block::Command(format!("oversim run {}", case.scenario)),
    ]
}
