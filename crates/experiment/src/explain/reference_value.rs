//! Pages of the references.

use super::{Block, Page, Shelf};
use crate::references::REFERENCES;

/// How each is worked out, on a small case.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "best-partition",
        "Two programs on eight cores: the search simulates 4 + 4, then moves two cores from the one that ends first to the one that ends last, then one, as long as the makespan falls. It shows what a fixed division can reach; a policy that ends later loses more by sharing than it wins. Asked for with `best_partition: true` or `--best-partition`.",
    ),
    (
        "fair-share",
        "16 cpus, two programs of 16 tasks each that take 10 s and 4 s alone: while both run each gets half the machine. The short one ends after 8 s; the long one has done 4 s of its work by then and needs 6 s more: 14 s. A policy that needs 15 s, beside a first one that needs 18 s, closes (18 - 15) / (18 - 14) = 75 % of the gap.",
    ),
    (
        "lower-bound",
        "100 s of work on 16 cores of speed 1: no schedule ends before 100 / 16 = 6.25 s. If rank 0 has 10 s of it one after the other, none before 10 s.",
    ),
];

pub(super) fn pages() -> Vec<Page> {
    REFERENCES.iter().map(|y| page(y.label, y.about)).collect()
}

fn page(label: &str, about: &str) -> Page {
    let example = EXAMPLES.iter().find(|(name, _)| *name == label).map_or("", |(_, text)| *text);
    Page::new(Shelf::Reference, label, about)
        .with(
            "",
            vec![Block::Text(
                "It stands where a policy would, in tables and in cells of `run_time`, `slowdown`, `makespan` and `throughput`."
                    .into(),
            )],
        )
        .text("Worked example", example)
}
