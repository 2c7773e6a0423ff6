//! Pages of the references.

use experiment::references::{BEST_PARTITION, REFERENCES};

use crate::page::{Kind, Page};

/// How each is computed, for a small case.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "best-partition",
        "Two programs share eight cores. The search simulates 4 + 4 cores. It then moves two cores from the \
            program that ends first to the one that ends last, then one core, as long as the makespan \
        falls. The result shows what a fixed division can reach. A policy that ends later than this loses \
        more by sharing cores than it gains. `best_partition: true` or `--best-partition` requests the \
        search.",
    ),
    (
        "fair-share",
        "Two programs of 16 tasks share 16 cpus. Their dedicated runs take 10 s and 4 s. While both run, \
            each gets half of the machine. The short program ends after 8 s. By then the long one has done \
        4 s of its work and needs 6 s more, so it ends after 14 s. If the first policy takes 18 s and \
        another one 15 s, the other one has `recovered` (18 - 15) / (18 - 14) = 75 %. A user who thinks 1 s \
        between requests of 5 ms needs 1.005 s for each however many cpus there are. There is no value where \
        a policy ended more than 2 % sooner: one that prefers the program that takes longest is not bound by \
        equal shares.",
    ),
    (
        "lower-bound",
        "The programs have 100 s of work for 16 cores of speed 1: no schedule ends before 100 / 16 = 6.25 \
            s. If rank 0 has to do 10 s of it in sequence, no schedule ends before 10 s.",
    ),
];

pub(super) fn pages() -> Vec<Page> {
    REFERENCES.iter().map(|reference| page(reference.label, reference.about)).collect()
}

fn page(label: &str, about: &str) -> Page {
    let example = EXAMPLES.iter().find(|(name, _)| *name == label).map_or("", |(_, text)| *text);
    let values = if label == BEST_PARTITION.label {
        "Tables and results list it like a policy."
    } else {
        "Tables and results list it like a policy, with values of `run_time`, `slowdown`, `makespan` and \
            `throughput`."
    };
    let mut page = Page::new(Kind::Reference, label, about).text("", values).text("Worked example", example);
    // As the table of the answer calls it.
    page.aliases.push(format!("{}, ideal", label.replace('-', " ")));
    page
}
