//! Scenarios of `oversim twin import`: taken as they are, with the ranges of what a recording does not show.

use import::Refused;
use notation::yaml::{self, Node};

use crate::asked::{Asked, DEMAND, Topic};
use crate::source::Source;
use crate::values::Unit;

/// How a twin begins.
const FIRST: &str = "# Made by `oversim twin import`.";
/// Workloads that have a demand.
const WITH_DEMAND: [&str; 3] = ["spmd", "hog", "make"];

pub(crate) fn fits(text: &str) -> bool {
    text.lines().take(20).any(|line| line.trim_end() == FIRST || line.starts_with("about: \"A twin of "))
}

/// The ranges that are added, and what is asked for.
pub(crate) fn read(source: &Source<'_>) -> Result<(String, Vec<Asked>), Refused> {
    let root = yaml::tree(0, source.text).map_err(|problem| {
        let sources = notation::diagnostics::Sources::new(source.name, source.text);
        Refused::Rendered(sources.render(&[problem]))
    })?;
    let Some(apps) = root.get("apps") else {
        return Err(source.refused("there are no `apps`", "a twin is a scenario of `oversim twin import`"));
    };
    let (mut ranges, mut asked) = (String::new(), Vec::new());
    // A twin has no demand, and a value lies in its range.
    let (low, high) = (Unit::Rate.show(0.0), Unit::Rate.show(DEMAND.1));
    for app in apps.value.entries() {
        if !lacks_demand(&app.value) || root.get("uncertain").is_some() {
            continue;
        }
        let why = "a recording shows no memory traffic; up to what one core can draw";
        ranges += &format!("  apps.{}.workload.demand: {low}..{high}  # assumed: {why}\n", app.key);
        asked.push(Asked::new(Topic::Demand, &app.key, "workload.demand", (&low, &high)));
    }
    if !ranges.is_empty() {
        ranges.insert_str(0, "uncertain:\n");
    }
    Ok((ranges, asked))
}

/// An application whose workload could have a demand and has none.
fn lacks_demand(app: &Node) -> bool {
    let Some(workload) = app.get("workload") else { return false };
    let entries = workload.value.entries();
    entries
        .iter()
        .any(|entry| WITH_DEMAND.contains(&entry.key.as_str()) && entry.value.get("demand").is_none())
}
