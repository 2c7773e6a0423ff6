//! What was simulated, in words: machine, kernel, applications, policies, sweep.

use experiment::number::plural;
use explain::{Block, Page, find_with};
use maud::{Markup, html};
use notation::yaml::{Content, Node, tree};
use scenario::plan::RunPlan;

use super::{Grid, Story, paragraphs, strings};
use crate::figures::words;

/// The scenario at a glance.
pub(super) fn facts(story: &Story<'_>) -> Markup {
    let p = &story.results.provenance;
    let seeds = match p.repeat {
        1 => format!("seed {}", p.seed),
        repeat => format!("seeds {} to {}", p.seed, p.seed.wrapping_add(u64::from(repeat - 1))),
    };
    let parts = [
        plural(p.configurations.len(), "configuration", "configurations"),
        plural(p.policies.len(), "policy", "policies"),
        seeds,
    ];
    html! {
        dl class="facts" {
            dt { "Machine" } dd { (words::listed(&words::machines(&p.machines))) }
            dt { "Operating system" } dd { (words::listed(&p.kernels)) }
            dt { "Applications" } dd { (p.apps.join(", ")) }
            dt { "Policies" } dd { (p.policies.join(", ")) }
            dt { "Runs" } dd { (p.runs) ": " (parts.join(", ")) }
        }
    }
}

/// The section.
pub(super) fn subject(story: &Story<'_>) -> Markup {
    let p = &story.results.provenance;
    html! {
        @for machine in &p.machines { (named(story, "machine", "Machine", &machine.name)) }
        @for name in &p.kernels { (named(story, "kernel", "Operating-system model", name)) }
        h3 { "Applications" }
        (applications(story))
        h3 { "Policies" }
        (policies(story))
        @if p.configurations.len() > 1 {
            h3 { "Sweep" }
            p { "Every policy runs each of these configurations with the same random work:" }
            ul { @for configuration in &p.configurations { li { (configuration.label) } } }
        }
    }
}

/// A page of the reference, if there is one of this name.
fn page(story: &Story<'_>, registry: &str, name: &str) -> Option<Page> {
    find_with(story.policies, &format!("{registry}:{name}")).ok()?.into_iter().next()
}

fn named(story: &Story<'_>, registry: &str, title: &str, name: &str) -> Markup {
    let page = page(story, registry, name);
    html! {
        h3 { (title) ": " (name) }
        @match &page {
            Some(page) => {
                p { (sentence(&page.summary)) }
                details { summary { "More about " (name) } (opening(page)) }
            }
            None => p { (machine_of(story, name)) }
        }
    }
}

/// The opening paragraphs of a page.
fn opening(page: &Page) -> Markup {
    let blocks = page.sections.iter().take(1).flat_map(|section| &section.blocks);
    html! { @for block in blocks { @if let Block::Text(text) = block { (paragraphs(text)) } } }
}

/// Size and shape of a machine that is not built in.
fn machine_of(story: &Story<'_>, name: &str) -> String {
    let found = story.experiment.runs.iter().find(|run| run.machine.name == name);
    found.map_or_else(String::new, |run| {
        let topology = &run.machine.topology;
        let levels: Vec<String> = topology
            .levels()
            .iter()
            .map(|(level, count)| format!("{count} x {level:?}").to_lowercase())
            .collect();
        format!("A machine that the scenario describes: {} cpus ({}).", run.machine.cpus(), levels.join(", "))
    })
}

/// With a capital at the beginning and a full stop at the end.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).chain(['.']).collect()
}

fn applications(story: &Story<'_>) -> Markup {
    let experiment = story.experiment;
    let written = tree(0, &experiment.scenario_text).ok();
    let rows: Vec<Vec<String>> = experiment
        .apps
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let workload = written.as_ref().and_then(|root| workload(story, root, name));
            let role = if experiment.background[at] { "background" } else { "foreground" };
            vec![
                name.clone(),
                workload.unwrap_or_else(|| "-".into()),
                tasks(story, at),
                runtimes(story, at),
                role.into(),
            ]
        })
        .collect();
    let head = strings(&["Name", "Program", "Tasks", "How tasks wait", "Role"]);
    Grid::new("Applications", head, rows).markup()
}

/// The name of an application's workload with what it is.
fn workload(story: &Story<'_>, root: &Node, app: &str) -> Option<String> {
    let written = &root.get("apps")?.value.get(app)?.value.get("workload")?.value;
    let name = match &written.content {
        Content::Scalar(name) => name.clone(),
        Content::Map(entries) => entries.first()?.key.clone(),
        _ => return None,
    };
    let about = page(story, "workload", &name).map(|page| page.summary);
    Some(about.map_or_else(|| name.clone(), |about| format!("{name}: {about}")))
}

/// Runs of a policy, not those of applications alone.
fn shared<'a>(story: &Story<'a>) -> impl Iterator<Item = &'a RunPlan> {
    story.experiment.runs.iter().filter(|run| run.alone.is_none())
}

/// Different values of something over the runs, in order of first appearance.
fn different<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// Numbers of tasks over the configurations, and copies.
fn tasks(story: &Story<'_>, app: usize) -> String {
    let of_run = |run: &RunPlan| {
        let own = run.entries.iter().zip(&run.apps).filter(|(entry, _)| **entry == app);
        let tasks: Vec<u32> = own.map(|(_, spec)| spec.tasks).collect();
        (tasks.len(), tasks.first().copied().unwrap_or(0))
    };
    let each = different(shared(story).map(of_run)).into_iter().map(|(copies, tasks)| {
        if copies == 1 { tasks.to_string() } else { format!("{copies} copies of {tasks}") }
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Names of the runtimes over the configurations.
fn runtimes(story: &Story<'_>, app: usize) -> String {
    let of_run = |run: &RunPlan| {
        let own = run.entries.iter().zip(&run.apps).find(|(entry, _)| **entry == app);
        own.map_or_else(Vec::new, |(_, spec)| spec.runtimes().map(|of| of.name.clone()).collect())
    };
    let names = different(shared(story).flat_map(of_run));
    let each = names.into_iter().map(|name| match page(story, "runtime", &name) {
        Some(page) => format!("{name}: {}", page.summary),
        None => name,
    });
    each.collect::<Vec<_>>().join("; ")
}

fn policies(story: &Story<'_>) -> Markup {
    let p = &story.results.provenance;
    html! {
        @for (at, label) in p.policies.iter().enumerate() {
            @let run = story.experiment.runs.iter().find(|run| run.policy == at);
            @let page = run.and_then(|run| page(story, "policy", run.policy_choice.entry.name));
            @let stack = p.stacks.get(at).filter(|stack| *stack != label);
            details {
                summary {
                    (label)
                    @if let Some(stack) = stack { " (" (stack) ")" }
                    @if let Some(page) = &page { ": " (page.summary) }
                }
                @if let Some(page) = &page { (opening(page)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_and_end_as_such() {
        assert_eq!(sentence("four cores"), "Four cores.");
        assert_eq!(sentence("Done."), "Done.");
    }
}
