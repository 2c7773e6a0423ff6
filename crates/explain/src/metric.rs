//! Pages of metrics: how each is computed, with numbers.

use experiment::metrics::{METRICS, Metric, Reduction, Scope};
use experiment::statements::causes::PARTS;
use sim_core::account::Category;

use crate::page::{Block, Kind, Page};

use Scope::App;

pub(super) fn pages() -> Vec<Page> {
    METRICS.iter().map(page).collect()
}

fn page(m: &Metric) -> Page {
    let of = if m.scope == App { "of each application" } else { "of the whole run" };
    let mut page = Page::new(Kind::Metric, m.name, &format!("{} ({}, {of})", m.about, m.unit));
    let text = m.text();
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    if let Some(category) = m.name.strip_prefix("breakdown_") {
        page.aliases.push(category.into());
        // As tables and sentences call the part in which it is.
        for part in PARTS.iter().filter(|part| part.metrics.contains(&m.name)) {
            let head = part.head.join(" ").trim().to_owned();
            let plural = format!("{head}s");
            // The name of another metric is the page of that one.
            let names = [part.name.to_owned(), head, plural];
            page.aliases.extend(names.into_iter().filter(|name| METRICS.iter().all(|m| m.name != name)));
        }
        return breakdown(page, category, first);
    }
    page.text("", first).with("", cells(m)).text("Example", paragraphs.next().unwrap_or_default())
}

fn breakdown(page: Page, category: &str, about: &str) -> Page {
    let all: Vec<String> = Category::ALL.iter().map(|c| format!("`{}`", c.name())).collect();
    let formula = format!(
        "Time of all cpus in the category `{}` / (cpus x makespan). Every nanosecond of every cpu belongs \
            to exactly one of {} categories: {}. The shares sum to 1.",
        category,
        Category::COUNT,
        all.join(", ")
    );
    let example = "Two cpus run for 2 s. One computes all the time. The other computes for 1 s, polls for \
        0.4 s and is idle for \
0.6 s. compute = 3 / 4 = 0.75, spin = 0.4 / 4 = 0.1, idle = 0.6 / 4 = 0.15.";
    page.text("", about).text("", &formula).text("Example", example)
}

/// How replicates become a cell.
fn cells(m: &Metric) -> Vec<Block> {
    let app = if m.scope == App { "NAME" } else { "all" };
    let text = match m.reduction {
        Reduction::Statistics => format!(
            "Results have one cell per configuration, policy and application (`app` is {app}) with mean, \
                median, smallest and largest value and the 95 % confidence interval of the mean over the \
            replicates."
        ),
        Reduction::Variation => {
            format!("All replicates of a configuration and policy together have one value (`app` is {app}).")
        }
    };
    vec![Block::Text(text)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_formula_and_an_example() {
        for m in METRICS {
            let paragraphs = m.text().split("\n\n").filter(|text| text.ends_with(['.', '%'])).count();
            let expected = if m.name.starts_with("breakdown_") { 1 } else { 2 };
            assert_eq!(paragraphs, expected, "{:?} {}: {}", m.scope, m.name, m.text());
        }
        let categories = METRICS.iter().filter_map(|m| m.name.strip_prefix("breakdown_"));
        assert!(categories.eq(Category::ALL.iter().map(|category| category.name())));
    }
}
