//! Where the pages of `docs/reference` are, and links to them.

use scenario::built_in;

use crate::page::{Kind, Link, Page};
use crate::search::find;

/// Pages that hold all entries of some kinds: file, title, introduction, kinds.
pub(crate) const FILES: &[(&str, &str, &str, &[Kind])] = &[
    (
        "kernels.md",
        "Kernels",
        "The names that a scenario's `kernel:` accepts: operating-system models with the scheduler of each \
            cpu.",
        &[Kind::Kernel],
    ),
    (
        "runtimes.md",
        "Runtimes",
        "The names that an application's `runtime:` accepts: how its tasks start, wait and meet at barriers.",
        &[Kind::Runtime],
    ),
    (
        "waiting.md",
        "Waiting",
        "The ways to wait and the barriers that the parameters of a runtime choose.",
        &[Kind::Wait, Kind::Barrier],
    ),
    (
        "locks.md",
        "Locks",
        "The kinds of locks that the parameter `lock` of the workload `critical-section` chooses. How they \
            compare with more threads than cpus: [which lock?](../how-to/locks.md).",
        &[Kind::Lock],
    ),
    (
        "workloads.md",
        "Workloads",
        "The names that an application's `workload:` accepts: the programs.",
        &[Kind::Workload],
    ),
    (
        "machines.md",
        "Machines",
        "The names that a scenario's `machine:` accepts. `oversim explain PARAMETER` gives the meaning of a \
            value.",
        &[Kind::Machine],
    ),
    (
        "metrics.md",
        "Metrics",
        "What is measured, and how it is computed. The form of results: [results](../results.md).",
        &[Kind::Metric],
    ),
    (
        "references.md",
        "References",
        "Lines of reports to compare policies with. How to read them: [results](../results.md#references).",
        &[Kind::Reference],
    ),
    (
        "keys.md",
        "Keys",
        "The keys of a scenario and of its applications, with an example each. The manual: [scenario \
            files](../scenario-files.md).",
        &[Kind::Key],
    ),
];

/// A reference as a link, seen from `docs`.
pub(crate) fn link(link: &Link) -> String {
    let Link { kind, name } = link;
    let words = format!("{kind} {name}");
    match kind.as_str() {
        "" => format!("[{name}]({})", name.strip_prefix("docs/").unwrap_or(name)),
        "scenario" => match built_in::find(name) {
            Some(scenario) => format!("[{words}](../{})", scenario.path),
            None => words,
        },
        // A parameter is described where its owner is.
        "parameter" => {
            match name.rsplit_once('.').and_then(|(owner, _)| find(owner).ok()?.into_iter().next()) {
                Some(owner) => format!("[{words}](reference/{})", target(&owner)),
                None => format!("{kind} `{name}`"),
            }
        }
        _ => match find(&format!("{kind}:{name}")).ok().and_then(|pages| pages.into_iter().next()) {
            Some(page) if page.kind == Kind::Term => format!("[{name}](#{})", anchor(&page.name)),
            Some(page) => format!("[{words}](reference/{})", target(&page)),
            None => words,
        },
    }
}

/// Where a page is, seen from the index.
pub(crate) fn target(page: &Page) -> String {
    if page.kind == Kind::Policy {
        return format!("policies/{}.md", page.name);
    }
    let file = FILES.iter().find(|(.., kinds)| kinds.contains(&page.kind)).map_or("", |(file, ..)| file);
    format!("{file}#{}", anchor(&page.name))
}

/// The anchor of a heading: lower case, `-` for blanks, without punctuation other than `-` and `_`.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_headings() {
        let of = |kind: &str, name: &str| link(&Link { kind: kind.into(), name: name.into() });
        assert_eq!(of("policy", "LOAD"), "[policy LOAD](reference/policies/LOAD.md)");
        assert_eq!(of("kernel", "linux-6.18"), "[kernel linux-6.18](reference/kernels.md#linux-618)");
        assert_eq!(
            of("parameter", "libgomp.spin_count"),
            "[parameter libgomp.spin_count](reference/runtimes.md#libgomp)"
        );
        assert_eq!(of("parameter", "grain"), "parameter `grain`");
        assert_eq!(
            of("scenario", "odd_thread"),
            "[scenario odd_thread](../scenarios/policies/odd_thread.yaml)"
        );
        assert_eq!(of("term", "O(1) scheduler"), "[O(1) scheduler](#o1-scheduler)");
        assert_eq!(of("", "docs/model.md"), "[docs/model.md](model.md)");
    }
}
